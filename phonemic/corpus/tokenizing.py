"""One chunk of lines: which are kept, and their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from phonemic.corpus.counts import EMPTY, FOREIGN, KEPT, Counts, id_counts, line_counts
from phonemic.corpus.filtering import characters, native_units, without_forms
from phonemic.corpus.lines import Chunk, checked, texts_of_json, without_line_ends
from phonemic.corpus.options import Options
from phonemic.errors import InputError
from phonemic.tokenizer import encode_rows

#: The columns of a shard. No null is possible, which makes the file faster to write and to read.
SCHEMA = pa.schema(
    [
        pa.field("ids", pa.list_(pa.field("element", pa.int32(), nullable=False)), nullable=False),
        pa.field("characters", pa.int32(), nullable=False),
    ]
)


@dataclass(frozen=True)
class TokenizedLines:
    """The lines of a chunk, tokenized, and which of them are of the language.

    Attributes:
        data: UTF-8 of the lines.
        offsets: line i is ``data[offsets[i]:offsets[i + 1]]``, int64 (B + 1,).
        ids: packed ids of all lines, int32 (N,).
        ends: where each line's ids begin and end, int64 (B + 1,).
        sounds: as ``ids``, without forms and the positions that only forms have: the same without ``form=True``.
        sound_ends: as ``ends``, of ``sounds``.
        native: native units of each line, int64 (B,).
        units: units of each line, int64 (B,).
        statuses: KEPT, EMPTY or FOREIGN, int64 (B,).
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    sounds: NDArray[np.int32]
    sound_ends: NDArray[np.int64]
    native: NDArray[np.int64]
    units: NDArray[np.int64]
    statuses: NDArray[np.int64]


def tokenize(chunk: Chunk, path: str, options: Options) -> TokenizedLines:
    """Tokenizes lines and finds those to keep.

    Raises:
        InputError: lines that are not JSON, or text that is not UTF-8; the message names the file and the byte.
    """
    core = options.tokenizer.core

    def encoded(lines: Chunk) -> tuple[Chunk, Any]:
        data, offsets = lines.data, lines.offsets
        if options.tokenizer.form:  # to which a line end would be white space of the document
            data, offsets = without_line_ends(data, offsets)
        return lines, encode_rows(core, data, offsets, 1, spans=True, word_ids=False)

    texts = texts_of_json(chunk, path, options.column, options.errors) if chunk.json else chunk
    try:
        lines, (ids, ends, spans, _) = encoded(texts)
    except InputError:
        # The text is looked at only now that something is wrong: this names the place, or mends it.
        lines, (ids, ends, spans, _) = encoded(checked(texts, path, options.errors))
    sounds = ids, ends, spans
    if options.tokenizer.form:
        sounds = without_forms(lines.data, lines.offsets, *sounds, options.tokenizer.word_joiner)
    native, units = native_units(lines.data, lines.offsets, *sounds, options.tokenizer.lang)
    statuses = np.where(native >= options.min_native * units, KEPT, FOREIGN)
    statuses[units == 0] = EMPTY
    return TokenizedLines(lines.data, lines.offsets, ids, ends, *sounds[:2], native, units, statuses)


def rows_of(tokenized: TokenizedLines, statuses: NDArray[np.int64], options: Options) -> tuple[pa.Table, Counts]:
    """The rows of a shard for the lines that are kept.

    Arguments:
        tokenized: the lines.
        statuses: what becomes of them in the end, int64 (B,).
        options: the baseline, if one gives the ids.

    Returns:
        A table of SCHEMA, and what was counted.
    """
    kept = np.flatnonzero(statuses == KEPT)
    sizes = np.diff(tokenized.offsets)
    counts = Counts(line_counts(statuses, sizes, tokenized.native, tokenized.units))
    counted = characters(tokenized.data, tokenized.offsets)[kept]
    baseline = options.load_baseline()
    if baseline is None:
        ends, ids = pa.array(tokenized.ends, pa.int32()), pa.array(tokenized.ids)
        lists = pa.ListArray.from_arrays(ends, ids, type=SCHEMA[0].type)
        lists = lists.take(pa.array(kept))
    else:
        text, bounds = tokenized.data.tobytes(), tokenized.offsets
        texts = [text[bounds[at] : bounds[at + 1]].decode().strip() for at in kept.tolist()]
        lists = pa.array(baseline.encode_batch(texts), SCHEMA[0].type)
    ids, lengths = lists.flatten().to_numpy(), lists.value_lengths().to_numpy().astype(np.int64)
    counts.add(id_counts(ids, lengths, counted, None if baseline is None else baseline.id_count))
    return pa.table([lists, pa.array(counted)], schema=SCHEMA), counts

"""Texts as rows of model input in flat arrays: as our tokenizers make them, or from the lists of any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic_bert.finetuning.alignment import bare
from phonemic_bert.tokenization.base import RowsTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import BatchEncoding, PreTrainedTokenizerBase

#: Fields of a tokenizer's result that a model takes.
_INPUTS = ("input_ids", "token_type_ids", "attention_mask")


@dataclass(frozen=True, slots=True)
class Encoded:
    """The rows of a batch, one behind the other, without padding.

    Attributes:
        inputs: what a model takes, integers (P,) each, by name.
        offsets: row i is ``[offsets[i]:offsets[i + 1]]``, int64 (W + 1,).
        samples: the text that each row is of, in ascending order, (W,).
        sequences: 0 for a position of the text, 1 for one of the second text of a pair, -1 for neither, int8 (P,); None
            where windows were not asked for.
        spans: start and end of each position in its text, in characters and without white space at the ends, int32
            (P, 2); None likewise.
        begins: the position of the text, and of the second one, with which each row begins, (W, 2); None where all that
            is known is how many positions two rows share.
    """

    inputs: dict[str, NDArray[Any]]
    offsets: NDArray[np.int64]
    samples: NDArray[Any]
    sequences: NDArray[np.int8] | None = None
    spans: NDArray[np.int32] | None = None
    begins: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> dict[str, NDArray[Any]]:
        """The model input of a row, (N,) each: views."""
        here = slice(self.offsets[index], self.offsets[index + 1])
        return {name: values[here] for name, values in self.inputs.items()}


def encode(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    pairs: Sequence[str] | None = None,
    *,
    max_length: int,
    truncation: str = "longest_first",
    stride: int | None = None,
) -> Encoded:
    """Rows of texts, or of pairs of texts, cut to a length.

    Arguments:
        tokenizer: transformers', of any kind.
        texts: the texts.
        pairs: the second texts.
        max_length: of a row, special positions included.
        truncation: what is cut: ``"longest_first"``, ``"only_first"`` or ``"only_second"``.
        stride: positions that windows of a text share, each a row; None: what is cut off is left out.
    """
    if isinstance(tokenizer, RowsTokenizer):
        rows = tokenizer.rows(
            list(texts),
            None if pairs is None else list(pairs),
            truncation=truncation,
            max_length=max_length,
            stride=stride or 0,
            overflowing=stride is not None,
        )
        arrays = {"input_ids": rows.ids, "token_type_ids": rows.type_ids, "attention_mask": rows.attention_mask}
        inputs = {name: arrays[name] for name in _INPUTS if name in tokenizer.model_input_names}
        return Encoded(inputs, rows.offsets, rows.samples, rows.sequences, rows.spans, rows.begins)
    options: dict[str, Any] = {"truncation": truncation, "max_length": max_length, "padding": False}
    if stride is not None:
        options |= {"stride": stride, "return_overflowing_tokens": True, "return_offsets_mapping": True}
    batch = tokenizer(list(texts), None if pairs is None else list(pairs), **options)
    return _from_lists(batch, texts, pairs, stride is not None)


def _from_lists(batch: BatchEncoding, texts: Sequence[str], pairs: Sequence[str] | None, windows: bool) -> Encoded:
    """The lists of a tokenizer that is not ours as flat arrays."""
    lengths = [len(row) for row in batch["input_ids"]]
    size = sum(lengths)
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    inputs = {name: np.fromiter(chain.from_iterable(batch[name]), np.int32, size) for name in _INPUTS if name in batch}
    numbers = batch.get("overflow_to_sample_mapping")
    samples = np.arange(len(lengths)) if numbers is None else np.asarray(numbers)
    if not windows:
        return Encoded(inputs, offsets, samples)
    both = [batch.sequence_ids(row) for row in range(len(lengths))]
    sequences = np.fromiter((-1 if one is None else one for one in chain.from_iterable(both)), np.int8, size)
    spans = np.zeros((size, 2), np.int32)
    of = (texts, pairs or texts)
    for row, (start, sample) in enumerate(zip(offsets[:-1], samples, strict=True)):
        for number in (0, 1) if pairs is not None else (0,):
            places = [at for at, one in enumerate(both[row]) if one == number]
            if places:
                here = slice(places[0], places[-1] + 1)
                trimmed = bare(batch["offset_mapping"][row][here], of[number][sample])
                spans[start + here.start : start + here.stop] = trimmed
    return Encoded(inputs, offsets, samples, sequences, spans)

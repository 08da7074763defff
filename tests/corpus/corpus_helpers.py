"""The plain program that prepared corpora are compared with, and what their tests share."""

from __future__ import annotations

import errno
import unicodedata
from pathlib import Path

from phonemic import Tokenizer
from phonemic.characters import LETTER, kind_of
from phonemic.corpus import Options
from phonemic.inventory import FALLBACK, NATIVE

EXAMPLES = Path(__file__).parents[2] / "examples"
TOKENIZERS = {lang: Tokenizer(lang) for lang in ("vi", "zh")}
PACKED = {lang: Tokenizer(lang, fallback="packed") for lang in TOKENIZERS}


def is_alphanumeric(char):
    return kind_of(char) == LETTER or char.isalnum()


def native_and_units(text, lang):
    """Native units, and all units, of a line, position by position."""
    encoding = TOKENIZERS[lang].encode(text)
    native = foreign = 0
    joinable_end = None
    for kind, triple, (start, end) in zip(encoding.kinds, encoding.triples, encoding.spans.tolist(), strict=True):
        if kind == NATIVE:
            native += 1
            joinable_end = None
        elif is_alphanumeric(triple.onset if kind == FALLBACK else text[start]):
            foreign += not (lang == "vi" and joinable_end == start)
            joinable_end = end
        else:
            joinable_end = None
    return native, native + foreign


def characters(text):
    return len("".join(unicodedata.normalize("NFC", text).split()))


def expected_rows(texts, lang, min_native=0.7, exact=False):
    """Ids and characters of the lines that a plain program keeps."""
    rows, seen = [], set()
    for line in (line for text in texts for line in text.split("\n")):
        native, units = native_and_units(line, lang)
        if not units or native / units < min_native or (exact and line.strip() in seen):
            continue
        seen.add(line.strip())
        rows.append((TOKENIZERS[lang].encode(line).ids.tolist(), characters(line)))
    return rows


def rows_of(corpus):
    """Ids and characters of all documents of a corpus."""
    return [
        (shard.ids[start:stop].tolist(), int(characters))
        for shard in corpus
        for start, stop, characters in zip(shard.offsets[:-1], shard.offsets[1:], shard.characters, strict=True)
    ]


def files_of(folder):
    """The content of every file below a folder, by its path there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def options(**changed):
    """Options for many small shards of Vietnamese."""
    return Options(TOKENIZERS["vi"], **{"shard_bytes": 1500, **changed})


def failing_after(count, call):
    """A function that is another for some calls, and then raises."""
    left = [count]

    def failing(*args, **options):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.EIO, "a wire was cut")
        return call(*args, **options)

    return failing

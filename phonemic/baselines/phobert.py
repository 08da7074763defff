"""PhoBERT: text cut into words, whose syllables are joined by "_", then its BPE."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from phonemic.baselines.base import Baseline, BaselineError, counted, library, read_lines, register
from phonemic.baselines.offsets import Rewritten, Span
from phonemic.baselines.segmented import aligned, composed

#: The ids that stand before the vocabulary's: <s>, <pad>, </s>, <unk>. <mask> comes behind it.
RESERVED, UNKNOWN = 4, 3

END = "</w>"

_PUBLISHED = "https://huggingface.co/vinai/phobert-base"


@register
class PhoBert(Baseline):
    """PhoBERT's BPE over segmented text.

    Arguments:
        path: the folder of ``vocab.txt`` and ``bpe.codes``.
        segment: writes a text with ``_`` within words. The default is pyvi (a conditional random field, which puts
            text into NFC first); PhoBERT was trained on VnCoreNLP's RDRSegmenter, whose ``word_segment`` of the
            package py_vncorenlp can be given: ``lambda text: " ".join(model.word_segment(text))``.
    """

    name = "PhoBERT"
    langs = ("vi",)
    folder = "phobert"
    files: ClassVar = {"vocab.txt": _PUBLISHED, "bpe.codes": _PUBLISHED}
    preprocessing = "words segmented by pyvi"
    unknown_id = UNKNOWN

    def __init__(self, path: Path, segment: Callable[[str], str] | None = None) -> None:
        super().__init__(path)
        self._given = segment
        self._segment = segment or self.segmenter()
        self._entries = list(counted(path / "vocab.txt"))
        self._model, self._id_of = _bpe(path, self._entries)
        #: transformers' vocab_size; <mask>, which is a control symbol, is not in it.
        self.vocab_size = len(self._entries) + RESERVED

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self._given)

    @staticmethod
    def segmenter() -> Callable[[str], str]:
        """The default segmenter."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its saved model is older than the libraries that read it
            segment: Callable[[str], str] = library("pyvi.ViTokenizer").tokenize
        return segment

    def ids(self, texts: list[str]) -> list[list[int]]:
        """The BPE's ids of the segmented texts."""
        encodings = self._model.encode_batch_fast(self._segmented(texts), add_special_tokens=False)
        return [[self._id_of[number] for number in encoding.ids] for encoding in encodings]

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """The BPE's ids and spans; a "_" within a word stands for the white space in its place.

        Raises:
            BaselineError: the segmenter changes more than white space and the normal form.
        """
        written = self._segmented(texts)
        encodings = self._model.encode_batch(written, add_special_tokens=False)
        return [
            ([self._id_of[number] for number in encoding.ids], self._origin(text, words).spans(encoding.offsets))
            for text, words, encoding in zip(texts, written, encodings, strict=True)
        ]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The entries, with "@@" behind what does not end a word."""
        entries = ["<s>", "<pad>", "</s>", "<unk>", *self._entries]
        return [entries[number] for number in ids]

    def _segmented(self, texts: list[str]) -> list[str]:
        return [self._segment(text) if text.strip() else "" for text in texts]

    def _origin(self, text: str, words: str) -> Rewritten:
        for pieces in (zip(text, text, strict=True), composed(text)):
            found = aligned(pieces, words)
            if found is not None:
                return found
        raise BaselineError(
            f"{self.name}: its segmenter writes {text!r} as {words!r}, which are not the same characters"
        )


@register
class PhoBertUnsegmented(PhoBert):
    """PhoBERT's BPE over text as it is: what its tokenizer does when nobody segments."""

    name = "PhoBERT-unsegmented"
    preprocessing = "none"

    @staticmethod
    def segmenter() -> Callable[[str], str]:
        """No segmenter."""
        return str


def _bpe(path: Path, entries: list[str]) -> tuple[Any, dict[int, int]]:
    """FastBPE's codes as a BPE of the library tokenizers, and PhoBERT's id for each of that one's.

    A merge may give a symbol that the vocabulary lacks; it is <unk> then, but may still be merged.
    """
    tokenizers = library("tokenizers")
    id_of_symbol: dict[str, int] = {}
    for number, entry in enumerate(entries, start=RESERVED):
        id_of_symbol.setdefault(entry[:-2] if entry.endswith("@@") else entry + END, number)
    merges = []
    for number, line in enumerate(read_lines(path / "bpe.codes"), start=1):
        if line:
            parts = line.split(" ")
            if len(parts) < 2:
                raise BaselineError(f"{path / 'bpe.codes'}, line {number}: not LEFT RIGHT COUNT")
            merges.append((parts[0], parts[1]))
    symbols = dict.fromkeys(["<unk>", *id_of_symbol])
    for left, right in merges:
        symbols |= dict.fromkeys([left, right, left + right])
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    model = tokenizers.Tokenizer(
        tokenizers.models.BPE(numbers, merges, unk_token="<unk>", end_of_word_suffix=END, fuse_unk=False)
    )
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return model, {number: id_of_symbol.get(symbol, UNKNOWN) for symbol, number in numbers.items()}

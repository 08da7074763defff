"""XLM-R: its SentencePiece model, with the ids that fairseq gave it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from phonemic.baselines.base import Baseline, SentencePiece, register
from phonemic.baselines.offsets import Span

#: fairseq begins with <s>, <pad>, </s>, <unk>; the model with <unk>, <s>, </s>. <mask> comes last.
SHIFT, UNKNOWN = 1, 3
CONTROL = ("<s>", "<pad>", "</s>", "<unk>")


@register
class XlmRoberta(Baseline):
    """XLM-R's multilingual pieces."""

    name = "XLM-R"
    langs = ("vi", "zh")
    folder = "xlm-r"
    files: ClassVar = {"sentencepiece.bpe.model": "https://huggingface.co/FacebookAI/xlm-roberta-base"}
    preprocessing = "SentencePiece's NFKC"
    unknown_id = UNKNOWN

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._model = SentencePiece(path / "sentencepiece.bpe.model")
        self.vocab_size = self._model.size + SHIFT + 1

    def ids(self, texts: list[str]) -> list[list[int]]:
        """SentencePiece's ids, shifted."""
        return [[_shifted(number) for number in row] for row in self._model.ids(texts)]

    def spans(self, texts: list[str]) -> list[tuple[list[int], list[Span]]]:
        """SentencePiece's ids, shifted, and their spans."""
        return [([_shifted(number) for number in ids], spans) for ids, spans in self._model.spans(texts)]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The pieces, and fairseq's names of the others."""
        last = self.vocab_size - 1
        named = {**dict(enumerate(CONTROL)), last: "<mask>"}
        return [named.get(number) or self._model.tokens([number - SHIFT])[0] for number in ids]

    def unknown(self, texts: list[str]) -> Counter[str]:
        """The strings that the pieces could not write."""
        return self._model.unknown(texts)


def _shifted(number: int) -> int:
    return number + SHIFT if number else UNKNOWN

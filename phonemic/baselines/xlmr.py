"""XLM-R: its SentencePiece model, with the ids that fairseq gave it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import ClassVar

from phonemic.baselines.base import Baseline, SentencePiece, register

#: fairseq begins with <s>, <pad>, </s>, <unk>; the model with <unk>, <s>, </s>. <mask> comes last.
SHIFT, UNKNOWN = 1, 3


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
        return [[number + SHIFT if number else UNKNOWN for number in row] for row in self._model.ids(texts)]

    def unknown_tokens(self, texts: list[str]) -> Counter[str]:
        """The strings that the pieces could not write."""
        return self._model.unknown_tokens(texts)

"""Inspected texts, syllable by syllable, with the labels of a model or a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from phonemic.encoding import Syllable, syllable_of
from phonemic.inventory import KINDS, NATIVE, kinds_of
from phonemic_bert.inspection.masking import Masked
from phonemic_bert.inspection.nearest import NearestSyllable
from phonemic_bert.tokenization import PhonemicBertTokenizer


@dataclass(frozen=True)
class AnnotatedPosition:
    """One position of a text.

    Attributes:
        syllable: its text, onset, rime, tone, IPA and place in the text.
        kind: "native", "fallback", "unknown" or "special".
        packed: its packed id.
    """

    syllable: Syllable
    kind: str
    packed: int


@dataclass
class AnnotatedText:
    """A text syllable by syllable. The lists next to ``positions`` have one entry a position, or are None.

    Attributes:
        text: the text.
        positions: its positions.
        masked: what H-MLM predicts at each when it is masked; None at special ones and those behind the model's limit.
        nearest: the syllables that are embedded nearest to each.
        gold: the label of each, "" where it has none.
        predicted: likewise.
    """

    text: str
    positions: list[AnnotatedPosition]
    masked: list[Masked | None] | None = None
    nearest: list[tuple[NearestSyllable, ...] | None] | None = None
    gold: list[str] | None = None
    predicted: list[str] | None = None


@dataclass
class Example:
    """One text, or a pair, with what is known about it.

    Attributes:
        line: its number in the input, from 1.
        readings: of the text, and of the second one of a pair.
        gold: the annotation as the file has it; None where there is none.
        predicted: what was predicted, in the same form.
        probabilities: of a classifier's labels, the likeliest first.
        correct: whether ``predicted`` is right; None where one of the two is missing.
        notes: the question and the choices, where there are any.
    """

    line: int
    readings: tuple[AnnotatedText, ...]
    gold: Any = None
    predicted: Any = None
    probabilities: dict[str, float] | None = None
    correct: bool | None = None
    notes: dict[str, Any] = field(default_factory=dict)


def read(tokenizer: PhonemicBertTokenizer, text: str) -> AnnotatedText:
    """Reads one text; special symbols that are written in it (``[MASK]``) are positions of their own."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    ids = encoded["input_ids"]
    positions = []
    for packed, kind, (start, end) in zip(ids, kinds_of(ids).tolist(), encoded["offset_mapping"], strict=True):
        triple = tokenizer.phonemic.vocab.unpack(packed)
        positions.append(
            AnnotatedPosition(syllable_of(triple, kind == NATIVE, text, int(start), int(end)), KINDS[kind], int(packed))
        )
    return AnnotatedText(text, positions)

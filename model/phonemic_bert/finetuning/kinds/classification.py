"""One label an example: single texts, pairs of texts, coreference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from phonemic.tasks import CoreferenceExample, Span
from phonemic_bert.finetuning.kinds.base import Instance, Kind, cross_entropy


class Classification(Kind):
    """Single-text classification. The row is the text; what does not fit in is cut off behind."""

    head = "classification"

    def names(self) -> tuple[str, ...]:
        """The target's labels."""
        return tuple(self.dataset.labels[self.target])

    def gold(self, example: Any) -> str | None:
        """The label of the target."""
        label: str | None = example.labels.get(self.target)
        return label

    def texts(self, example: Any) -> tuple[str, ...]:
        """The input: one text, or two."""
        return (example.text,)

    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """A row an example; labels are indices into ``labels``."""
        if not examples:
            return []
        texts, *pairs = map(list, zip(*map(self.texts, examples), strict=True))
        encoded = self.encode(texts, pairs[0] if pairs else None)
        number = {label: at for at, label in enumerate(self.labels)}
        return [
            Instance(encoded.row(at), at, number[self.gold(example)] if train else None)  # type: ignore[index]
            for at, example in enumerate(examples)
        ]

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy."""
        return cross_entropy(logits, labels)

    def predicted(self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[Any]) -> list[str]:
        """The likeliest label."""
        return [self.labels[int(output.argmax())] for output in outputs]


class Pairs(Classification):
    """Sentence pairs. The row holds both, the longer one being cut where they do not fit in."""

    def gold(self, example: Any) -> str | None:
        """The label."""
        label: str | None = example.label
        return label

    def texts(self, example: Any) -> tuple[str, ...]:
        """Both texts."""
        return example.text_a, example.text_b

    def record(self, example: Any, gold: Any, predicted: Any) -> dict[str, Any]:
        """The first text, the second as ``text_b``."""
        return {"text": example.text_a, "text_b": example.text_b, "gold": gold, "predicted": predicted}


class Coreference(Pairs):
    """Coreference: the text with the candidate and the pronoun set between marks.

    Where the text does not fit in, it is cut around the middle of what is marked.
    """

    #: Before and behind the candidate and the pronoun: signs that every tokenizer here has, Mandarin triples too.
    marks = ("[", "]", "(", ")")

    def texts(self, example: CoreferenceExample) -> tuple[str, ...]:
        """The text with marks."""
        return (mark(example, *self.marks),)

    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """A row an example; labels are indices into ``labels``."""
        return super().rows([self._around(example) for example in examples], train)

    def record(self, example: Any, gold: Any, predicted: Any) -> dict[str, Any]:
        """The text with marks."""
        return {"text": self.texts(example)[0], "gold": gold, "predicted": predicted}

    def _around(self, example: CoreferenceExample) -> CoreferenceExample:
        """The example with so much less text before what is marked that all of that fits in."""
        spans = (example.candidate, example.pronoun)
        while self._positions(example.text[: max(span.end for span in spans)]) > self.max_seq_length - _MARGIN:
            first = min(span.start for span in spans)
            if first == 0:
                break
            cut = max(first // 2, 1)
            candidate, pronoun = (Span(span.start - cut, span.end - cut, span.label) for span in spans)
            example = CoreferenceExample(example.text[cut:], candidate, pronoun, example.label)
            spans = (example.candidate, example.pronoun)
        return example

    def _positions(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


#: Positions that marks and special symbols take at most.
_MARGIN = 12


def mark(example: CoreferenceExample, *marks: str) -> str:
    """The text with marks around the candidate and the pronoun."""
    places = []
    for number, span in enumerate((example.candidate, example.pronoun)):
        places += [(span.start, 1, marks[2 * number]), (span.end, 0, marks[2 * number + 1])]
    text = example.text
    for at, _, written in sorted(places, reverse=True):
        text = text[:at] + written + text[at:]
    return text

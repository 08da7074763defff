"""Extractive question answering: the best span of the passage, over all windows of a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from phonemic_bert.errors import RunError
from phonemic_bert.finetuning.kinds.base import Instance, Kind, Window, cross_entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic.tasks import Answer


class Questions(Kind):
    """Extractive question answering. A row is the question and a window of the passage.

    A window without the answer is trained on its first position, [CLS]. Questions whose answers the passage does not
    hold are not trained on. At most as much of a question is read as the settings say.
    """

    head = "question"

    def names(self) -> tuple[str, ...]:
        """None: the head has the start and the end."""
        return ()

    def gold(self, example: Any) -> tuple[str, ...] | None:
        """The texts of the accepted answers."""
        return tuple(answer.text for answer in example.answers) or None

    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """A row a window; labels are the row's positions of the answer's start and end."""
        answers = [next((one for one in example.answers if one.start is not None), None) for example in examples]
        chosen = [at for at, answer in enumerate(answers) if answer is not None or not train]
        asked = self._questions([examples[at].question for at in chosen])
        passages = [examples[at].context for at in chosen]
        rows = []
        for number, inputs, window in self.windows(asked, passages, truncation="only_second"):
            answer = answers[chosen[number]]
            rows.append(Instance(inputs, chosen[number], answer and _labels(answer, window) if train else None, window))
        return rows

    def _questions(self, questions: list[str]) -> list[str]:
        """The questions without what is too long."""
        limit = min(self.text.max_query_length, self.max_seq_length // 2 - 3)
        if limit < 1:
            raise RunError(f"text.max_seq_length = {self.max_seq_length} leaves no room for questions and passages")
        if not questions:
            return []
        offsets = self.tokenizer(questions, add_special_tokens=False, return_offsets_mapping=True, verbose=False)[
            "offset_mapping"
        ]
        return [
            question if len(spans) <= limit else question[: spans[limit - 1][1]]
            for question, spans in zip(questions, offsets, strict=True)
        ]

    def outputs(self, model_output: Any) -> Tensor:
        """Logits of start and end: (B, N, 2)."""
        return torch.stack((model_output.start_logits, model_output.end_logits), dim=-1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The mean of the cross-entropies of start and end."""
        sides = zip(logits.unbind(-1), labels.unbind(-1), strict=True)
        return torch.stack([cross_entropy(side, label) for side, label in sides]).mean()

    def padded_labels(self, rows: Sequence[Instance]) -> Tensor:
        """Start and end, (B, 2)."""
        return torch.tensor([row.labels for row in rows])

    def spans(self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[Any]) -> list[tuple[int, int]]:
        """The best span an example, in characters of the passage; (0, 0) where no window has one."""
        best: list[tuple[float, int, int]] = [(-np.inf, 0, 0)] * len(examples)
        for row, output in zip(rows, outputs, strict=True):
            if row.window is not None:
                found = best_span(output[row.window.here], row.window.offsets, self.text.max_answer_length)
                best[row.example] = max(best[row.example], found, key=lambda span: span[0])
        return [(start, end) for _, start, end in best]

    def predicted(self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[Any]) -> list[str]:
        """The text of the best span."""
        spans = self.spans(examples, rows, outputs)
        return [example.context[start:end] for example, (start, end) in zip(examples, spans, strict=True)]

    def lost(self, examples: Sequence[Any]) -> int:
        """Questions whose passage holds an answer, but none that can be predicted.

        It may begin or end within a position, lie in no window as a whole, or be longer than the settings allow.
        """
        edges = [{_edges(answer) for answer in example.answers if answer.start is not None} for example in examples]
        found = set()
        for row in self.rows(examples):
            assert row.window is not None
            starts, ends = (set(side.tolist()) for side in row.window.offsets.T)
            longest = self.text.max_answer_length
            if any(start in starts and end in ends and end - start <= longest for start, end in edges[row.example]):
                found.add(row.example)
        return sum(bool(some) and number not in found for number, some in enumerate(edges))

    def record(self, example: Any, gold: Any, predicted: Any) -> dict[str, Any]:
        """The passage, and ``question``."""
        return {"text": example.context, "question": example.question, "gold": list(gold), "predicted": predicted}


def best_span(scores: NDArray[np.float32], offsets: NDArray[np.int32], longest: int) -> tuple[float, int, int]:
    """The span with the largest sum of its start's and its end's score.

    Arguments:
        scores: of start and end at each position, (M, 2).
        offsets: the positions' start and end in characters, (M, 2).
        longest: characters that a span may have.

    Returns:
        The score, and start and end in characters; (-inf, 0, 0) where no span is short enough.
    """
    if not len(offsets):
        return -np.inf, 0, 0
    lengths = offsets[None, :, 1] - offsets[:, None, 0]
    allowed = np.triu((lengths > 0) & (lengths <= longest))
    sums = np.where(allowed, scores[:, None, 0].astype(np.float64) + scores[None, :, 1], -np.inf)
    first, last = divmod(int(sums.argmax()), len(offsets))
    if not allowed[first, last]:
        return -np.inf, 0, 0
    return float(sums[first, last]), int(offsets[first, 0]), int(offsets[last, 1])


def _labels(answer: Answer, window: Window) -> tuple[int, int]:
    """The row's positions of an answer; (0, 0), [CLS], where the window does not hold all of it."""
    (start, end), (starts, ends) = _edges(answer), window.offsets.T
    inside = np.flatnonzero((starts < end) & (ends > start))
    if not len(inside) or (starts[0] > start and window.start) or ends[-1] < end:
        return 0, 0
    return window.first + int(inside[0]), window.first + int(inside[-1])


def _edges(answer: Answer) -> tuple[int, int]:
    """Start and end of an answer, without whitespace at its edges."""
    assert answer.start is not None
    start = answer.start + len(answer.text) - len(answer.text.lstrip())
    return start, start + len(answer.text.strip())

"""Multiple choice: each choice next to the context, and a softmax over the choices of a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from phonemic_bert.errors import RunError
from phonemic_bert.finetuning.kinds.base import Instance, Kind, cross_entropy


class Choices(Kind):
    """Multiple choice. A row is the context, and the question and a choice; only the context is cut, behind."""

    head = "choice"

    def names(self) -> tuple[str, ...]:
        """None: the head has one output a choice."""
        return ()

    def gold(self, example: Any) -> int | None:
        """The index of the right choice."""
        answer: int | None = example.answer
        return answer

    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """A row an example, which holds its choices; the label is the index of the right one."""
        flat = [(example, choice) for example in examples for choice in example.choices]
        if not flat:
            return []
        asked = [f"{example.question} {choice}" for example, choice in flat]
        self._check(asked)
        encoded = self.encode([example.context for example, _ in flat], asked, truncation="only_first")
        rows, start = [], 0
        for at, example in enumerate(examples):
            end = start + len(example.choices)
            inputs = [encoded.row(number) for number in range(start, end)]
            rows.append(Instance(inputs, at, example.answer if train else None))
            start = end
        return rows

    def _check(self, asked: list[str]) -> None:
        """Refuses a question that leaves nothing of its context."""
        ids = self.tokenizer(asked, add_special_tokens=False, verbose=False)["input_ids"]
        longest = max(range(len(ids)), key=lambda at: len(ids[at]))
        if len(ids[longest]) > self.max_seq_length - 4:
            raise RunError(
                f"{asked[longest]!r}: this question and choice take {len(ids[longest])} positions, too many "
                f"for rows of {self.max_seq_length}; raise text.max_seq_length"
            )

    def collate(self, rows: Sequence[Instance]) -> dict[str, Tensor]:
        """A batch (B, C, N); questions with fewer choices repeat their first, whose outputs are left out."""
        most = max(len(row.inputs) for row in rows)
        flat = [row.inputs[at if at < len(row.inputs) else 0] for row in rows for at in range(most)]
        batch = {name: values.unflatten(0, (len(rows), most)) for name, values in self.padded(flat).items()}
        if rows[0].labels is not None:
            choices = torch.tensor([len(row.inputs) for row in rows])
            batch["labels"] = torch.stack([torch.tensor([row.labels for row in rows]), choices], dim=-1)
        return batch

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy over the choices that there are; labels are (B, 2): the right choice, and how many."""
        right, choices = labels.unbind(-1)
        absent = torch.arange(logits.shape[-1], device=logits.device) >= choices[:, None]
        return cross_entropy(logits.float().masked_fill(absent, float("-inf")), right)

    def predicted(self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[Any]) -> list[int]:
        """The index of the likeliest choice."""
        return [int(np.argmax(output[: len(row.inputs)])) for row, output in zip(rows, outputs, strict=True)]

    def record(self, example: Any, gold: Any, predicted: Any) -> dict[str, Any]:
        """The context, ``question`` and ``choices``."""
        more = {"question": example.question, "choices": list(example.choices)}
        return {"text": example.context, **more, "gold": gold, "predicted": predicted}

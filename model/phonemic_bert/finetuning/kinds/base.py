"""The base of all kinds of task: examples to rows that a model takes, its outputs to predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from phonemic_bert.finetuning.encoded import Encoded, encode
from phonemic_bert.finetuning.windows import windows_of
from phonemic_bert.modeling import IGNORE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic.tasks import Dataset
    from phonemic_bert.finetuning.encoders import Encoder
    from phonemic_bert.finetuning.settings import Text


@dataclass(slots=True)
class Instance:
    """One row of model input, and what is to be predicted of it.

    Attributes:
        inputs: the tokenizer's arrays, (N,) each; for multiple choice a list of such dictionaries.
        example: the number of the example that the row belongs to.
        labels: what is to be predicted; the kind says in which form.
        window: the piece of a long text that the row holds, for the kinds that read in windows.
    """

    inputs: Any
    example: int
    labels: Any = None
    window: Window | None = None

    @property
    def length(self) -> int:
        """Positions, of the longest choice where there are several."""
        choices = self.inputs if isinstance(self.inputs, list) else [self.inputs]
        return max(len(choice["input_ids"]) for choice in choices)


@dataclass(slots=True)
class Window:
    """A piece of a text in a row.

    Attributes:
        first: the row's first position that is in the text; the others of the text follow it.
        start: the place of that position among all positions of the text.
        offsets: of the row's positions in the text, (M, 2), in characters.
    """

    first: int
    start: int
    offsets: NDArray[np.int32]

    @property
    def here(self) -> slice:
        """The text's positions in the row."""
        return slice(self.first, self.first + len(self.offsets))


class Kind(ABC):
    """A kind of task for one dataset, one target and one encoder.

    Arguments:
        dataset: what to read.
        target: one of its ``labels`` for single-text classification.
        encoder: its tokenizer makes the rows.
        text: the settings that concern rows.
    """

    #: Of :meth:`Encoder.model`.
    head: ClassVar[str]

    def __init__(self, dataset: Dataset, target: str, encoder: Encoder, text: Text) -> None:
        self.dataset, self.target, self.encoder, self.text = dataset, target, encoder, text
        self.tokenizer = encoder.tokenizer
        self.max_seq_length = min(text.max_seq_length, encoder.max_seq_length)
        self.labels = self.names()

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The labels of the head's outputs, in their order."""

    @abstractmethod
    def gold(self, example: Any) -> Any:
        """The annotation, as :func:`~phonemic_bert.finetuning.metrics.score` takes it; None where there is none."""

    @abstractmethod
    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """Rows of model input, with labels where they are for training."""

    @abstractmethod
    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The training loss, a scalar in nats; ``labels`` are those of :meth:`collate`."""

    @abstractmethod
    def predicted(
        self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[NDArray[Any]]
    ) -> list[Any]:
        """A prediction an example, in the form of :meth:`gold`, from the output of each row."""

    def outputs(self, model_output: Any) -> Tensor:
        """The part of a model's output to keep: (B, labels), or (B, N, labels)."""
        logits: Tensor = model_output.logits
        return logits

    def collate(self, rows: Sequence[Instance]) -> dict[str, Tensor]:
        """A batch: inputs (B, N), padded on the right, and ``labels`` where the rows have them."""
        batch = self.padded([row.inputs for row in rows])
        if rows[0].labels is not None:
            batch["labels"] = self.padded_labels(rows)
        return batch

    def padded_labels(self, rows: Sequence[Instance]) -> Tensor:
        """The rows' labels as one tensor."""
        return torch.as_tensor([row.labels for row in rows])

    def lost(self, examples: Sequence[Any]) -> int:
        """How many gold annotations the tokenizer's positions cannot express."""
        return 0

    def record(self, example: Any, gold: Any, predicted: Any) -> dict[str, Any]:
        """An example as a line of the file of predictions."""
        return {"text": example.texts[0], "gold": gold, "predicted": predicted}

    # --- for the kinds

    def encode(
        self, texts: Sequence[str], pairs: Sequence[str] | None = None, truncation: str = "longest_first"
    ) -> Encoded:
        """One row per text, or per pair of texts, cut to the row's length."""
        return encode(self.tokenizer, texts, pairs, max_length=self.max_seq_length, truncation=truncation)

    def windows(
        self, texts: Sequence[str], pairs: Sequence[str] | None = None, truncation: str = "longest_first"
    ) -> Iterator[tuple[int, dict[str, NDArray[Any]], Window]]:
        """Rows that cover long texts: the number of the text, the inputs, and the window of it.

        Arguments:
            texts: the texts; the windows are of the second one of each pair where there are pairs.
            pairs: the second texts.
            truncation: which of the two is cut.
        """
        if not texts:
            return
        stride = min(self.text.stride, max(self.max_seq_length // 4, 1))
        encoded = encode(
            self.tokenizer, texts, pairs, max_length=self.max_seq_length, truncation=truncation, stride=stride
        )
        assert encoded.spans is not None
        for text, cut in enumerate(windows_of(encoded, stride, int(pairs is not None))):
            for row, first, count, start in zip(cut.rows, cut.starts, cut.counts, cut.begins, strict=True):
                begin = int(encoded.offsets[row]) + first
                yield text, encoded.row(row), Window(first, start, encoded.spans[begin : begin + count])

    def padded(self, inputs: Sequence[dict[str, NDArray[Any]]]) -> dict[str, Tensor]:
        """Rows of model input as tensors (B, N)."""
        fill = {"input_ids": self.tokenizer.pad_token_id, "token_type_ids": self.tokenizer.pad_token_type_id}
        return {name: pad([row[name] for row in inputs], fill.get(name, 0)) for name in inputs[0]}


def pad(arrays: Sequence[NDArray[Any]], fill: int = IGNORE) -> Tensor:
    """Arrays (N,) or (N, ...) of different lengths as one int64 tensor (B, N, ...), filled up on the right."""
    shape = len(arrays), max(map(len, arrays)), *arrays[0].shape[1:]
    padded = np.full(shape, fill, np.int64)
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array
    return torch.from_numpy(padded)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean over what has a label, in single precision; 0 where nothing has: (..., labels), (...) to a scalar."""
    flat = labels.reshape(-1)
    total = functional.cross_entropy(logits.float().reshape(len(flat), -1), flat, ignore_index=IGNORE, reduction="sum")
    return total / (flat != IGNORE).sum().clamp(min=1)

"""What the kinds of task have in common: examples to rows that a model takes, its outputs to predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from phonemic_bert.finetuning.alignment import bare
from phonemic_bert.finetuning.windows import windows_of
from phonemic_bert.modeling import IGNORE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic.tasks import DataSet
    from phonemic_bert.finetuning.encoders import Encoder
    from phonemic_bert.finetuning.settings import Text

#: What a tokenizer may give that a model takes, (N,) each.
_INPUTS = ("input_ids", "token_type_ids", "attention_mask")


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
        first: the row's first position that stands in the text; the others of the text follow it.
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
    """A kind of task for one data set, one target and one encoder.

    Arguments:
        dataset: what to read.
        target: one of its ``labels`` for single-text classification.
        encoder: its tokenizer makes the rows.
        text: the settings that concern rows.
    """

    #: Of :meth:`Encoder.model`.
    head: ClassVar[str]

    def __init__(self, dataset: DataSet, target: str, encoder: Encoder, text: Text) -> None:
        self.dataset, self.target, self.encoder, self.text = dataset, target, encoder, text
        self.tokenizer = encoder.tokenizer
        self.max_length = min(text.max_length, encoder.max_length)
        self.labels = self.names()

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What the head's outputs stand for, in their order."""

    @abstractmethod
    def gold(self, example: Any) -> Any:
        """The annotation, as :func:`~phonemic_bert.finetuning.metrics.score` takes it; None where there is none."""

    @abstractmethod
    def rows(self, examples: Sequence[Any], train: bool = False) -> list[Instance]:
        """Rows of model input, with labels where they are for training."""

    @abstractmethod
    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """What training lowers, a scalar in nats; ``labels`` is what :meth:`collate` made of the rows'."""

    @abstractmethod
    def predicted(
        self, examples: Sequence[Any], rows: Sequence[Instance], outputs: Sequence[NDArray[Any]]
    ) -> list[Any]:
        """A prediction an example, in the form of :meth:`gold`, from the output of each row."""

    def outputs(self, model_output: Any) -> Tensor:
        """What is kept of a model's output: (B, labels), or (B, N, labels)."""
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

    def encode(self, texts: Iterable[str], pairs: Iterable[str] | None = None, **options: Any) -> Any:
        """The tokenizer's BatchEncoding, cut to the row's length."""
        options = {"truncation": True, "max_length": self.max_length, "padding": False, **options}
        return self.tokenizer(list(texts), None if pairs is None else list(pairs), **options)

    def inputs(self, encoded: Any, row: int) -> dict[str, NDArray[np.int32]]:
        """One row of a BatchEncoding as arrays."""
        return {name: np.asarray(encoded[name][row], np.int32) for name in _INPUTS if name in encoded}

    def windows(
        self, texts: Sequence[str], pairs: Sequence[str] | None = None, **options: Any
    ) -> Iterator[tuple[int, dict[str, NDArray[np.int32]], Window]]:
        """Rows that cover long texts: the number of the text, the inputs, and the window of it.

        Arguments:
            texts: the texts; the windows are of the second one of each pair where there are pairs.
            pairs: the second texts.
            options: for the tokenizer.
        """
        if not texts:
            return
        stride = min(self.text.stride, max(self.max_length // 4, 1))
        options = {"stride": stride, "return_overflowing_tokens": True, "return_offsets_mapping": True, **options}
        encoded = self.encode(texts, pairs, **options)
        which = int(pairs is not None)
        for text, cut in enumerate(windows_of(encoded, stride, which)):
            for row, first, count, start in zip(cut.rows, cut.starts, cut.counts, cut.begins, strict=True):
                offsets = bare(encoded["offset_mapping"][row][first : first + count], (pairs or texts)[text])
                here = np.array(offsets, np.int32).reshape(-1, 2)
                yield text, self.inputs(encoded, row), Window(first, start, here)

    def padded(self, inputs: Sequence[dict[str, NDArray[np.int32]]]) -> dict[str, Tensor]:
        """Rows of model input as tensors (B, N)."""
        fill = {"input_ids": self.tokenizer.pad_token_id, "token_type_ids": self.tokenizer.pad_token_type_id}
        return {name: pad([row[name] for row in inputs], fill.get(name, 0)) for name in inputs[0]}


def pad(arrays: Sequence[Any], fill: int = IGNORE) -> Tensor:
    """Arrays (N,) or (N, ...) of different lengths as one tensor (B, N, ...) of integers, filled up on the right."""
    tensors = [torch.as_tensor(np.asarray(array), dtype=torch.long) for array in arrays]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=fill)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean over what has a label, in single precision; 0 where nothing has: (..., labels), (...) to a scalar."""
    flat = labels.reshape(-1)
    total = functional.cross_entropy(logits.float().reshape(len(flat), -1), flat, ignore_index=IGNORE, reduction="sum")
    return total / (flat != IGNORE).sum().clamp(min=1)

"""The base of the transformers tokenizers here: rows, pairs, windows, offsets and padding over flat arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import AddedToken, BatchEncoding, PreTrainedTokenizerBase
from transformers.utils import logging
from transformers.utils.generic import PaddingStrategy

from phonemic.inventory import TRIPLE
from phonemic_bert.errors import CheckpointError
from phonemic_bert.tokenization.positions import Positions
from phonemic_bert.tokenization.rows import Rows
from phonemic_bert.tokenization.truncation import anywhere, windows

#: Attributes that are lists of special tokens.
_EXTRA = ("additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens")
_OF_LOADING = ("is_local", "local_files_only")
logger = logging.get_logger(__name__)


class RowsTokenizer(PreTrainedTokenizerBase):
    """A tokenizer with a fixed vocabulary that gives all that BERT's fast tokenizer gives.

    A class derived from it says what a text's positions are; rows, pairs, truncation, windows and padding are here.

    Attributes:
        special_ids: the special symbols that are added or may be written, and their input ids.
    """

    model_input_names = ["input_ids", "token_type_ids", "attention_mask"]  # noqa: RUF012
    special_ids: Mapping[str, int]

    #: The attributes that are special tokens, and what they are; set by a class derived from it.
    special_names: Mapping[str, str]

    def _fixed(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keywords with the special tokens, which cannot be others: ``pad_token`` is [PAD].

        Raises:
            CheckpointError: one is.
        """
        # Settings that transformers 5 adds when it loads a tokenizer; they are not saved.
        kwargs = {**self.special_names, **{name: kwargs[name] for name in kwargs if name not in _OF_LOADING}}
        for name, value in kwargs.items():
            self._check_special(name, value)
        return kwargs

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute, but no special token that is not one of this vocabulary.

        Raises:
            CheckpointError: it is one.
        """
        self._check_special(name, value)
        super().__setattr__(name, value)

    def _check_special(self, name: str, value: Any) -> None:
        ids = name.endswith(("_token_id", "_tokens_ids"))
        token = name.removesuffix("_ids").removesuffix("_id")
        if token in self.special_names:
            wanted: Any = self.special_ids[self.special_names[token]] if ids else self.special_names[token]
            if (value if ids else str(value)) != wanted:
                raise CheckpointError(f"{name} is {wanted} and cannot be {value}: the vocabulary is fixed")
        elif token.endswith("_token") or token in _EXTRA:
            several = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            )
            known = [None, *(self.special_ids.values() if ids else self.special_ids)]
            if unknown := [one for one in several if (one if ids or one is None else str(one)) not in known]:
                raise CheckpointError(f"{name} cannot be {unknown[0]}: the vocabulary is fixed")

    @abstractmethod
    def _positions_of_texts(self, texts: list[str], written_specials: bool) -> Positions:
        """The positions of texts; ``written_specials``: a special symbol in a text is one, where that is known."""

    @abstractmethod
    def _positions_of_words(self, samples: Sequence[Sequence[str]], written_specials: bool) -> Positions:
        """The positions of texts that are split into words; spans are into the word that a position begins in."""

    @abstractmethod
    def _tokens(self, ids: NDArray[np.int32]) -> list[str]:
        """One string an input id."""

    # --- vocabulary

    @property
    def is_fast(self) -> bool:
        """True: offsets, word ids and overflow are there. There is no ``backend_tokenizer``."""
        return True

    def __len__(self) -> int:
        return self.vocab_size

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """Empty: the vocabulary is fixed."""
        return {}

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Empty: the vocabulary is fixed."""
        return {}

    def add_special_tokens(self, special_tokens_dict: Any, *args: Any, **kwargs: Any) -> int:
        """None can be added; what is requested must be the special symbols as they are.

        Raises:
            ValueError: a token is another; the tokenizer stays as it was.
            TypeError: no dict.
        """
        if not isinstance(special_tokens_dict, Mapping):
            raise TypeError(f"add_special_tokens takes a dict, not {type(special_tokens_dict).__name__}")
        values = [value if isinstance(value, list | tuple) else [value] for value in special_tokens_dict.values()]
        self._add_tokens([token for several in values for token in several])
        for name, value in special_tokens_dict.items():
            if not isinstance(value, list | tuple) and str(value) != str(getattr(self, name, None)):
                raise ValueError(
                    f"{name} is {getattr(self, name, None)} and cannot be {value}: the vocabulary is fixed"
                )
        return 0

    def _add_tokens(self, new_tokens: Sequence[Any], special_tokens: bool = False) -> int:
        unknown = [str(token) for token in new_tokens if str(token) not in self.special_ids]
        if unknown:
            raise ValueError(f"cannot add {', '.join(unknown)}: the vocabulary is fixed")
        return 0

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an input id, or a list of those of several."""
        if isinstance(ids, int | np.integer):
            return self._tokens(np.array([ids], np.int32))[0]
        values = np.array([int(number) for number in ids], np.int32)
        if skip_special_tokens:
            values = values[~np.isin(values, list(self.special_ids.values()))]
        return self._tokens(values)

    def get_special_tokens_mask(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """1 for the special positions of a row, which masking passes over."""
        if not already_has_special_tokens:
            token_ids_0 = self.build_inputs_with_special_tokens(token_ids_0, token_ids_1)
        ids = np.asarray(token_ids_0, np.int64) & TRIPLE
        mask: list[int] = np.isin(ids, list(self.special_ids.values())).astype(int).tolist()
        return mask

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """[CLS] text [SEP], or [CLS] text [SEP] text [SEP]."""
        cls, sep = [self.special_ids["[CLS]"]], [self.special_ids["[SEP]"]]
        return [*cls, *token_ids_0, *sep, *([] if token_ids_1 is None else [*token_ids_1, *sep])]

    def create_token_type_ids_from_sequences(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """0 for the text and its specials, 1 for the second text and its [SEP]."""
        return [0] * (len(token_ids_0) + 2) + [1] * (0 if token_ids_1 is None else len(token_ids_1) + 1)

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """2 for a text, 3 for a pair."""
        return 3 if pair else 2

    # --- text

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """The tokens of a text, or of a pair one behind the other."""
        encoded = self(text, pair, add_special_tokens=add_special_tokens, **kwargs)
        tokens: list[str] = self.convert_ids_to_tokens(encoded["input_ids"])
        return tokens

    def rows(
        self,
        texts: list[Any],
        pairs: list[Any] | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: str = "do_not_truncate",
        max_length: int | None = None,
        stride: int = 0,
        overflowing: bool = False,
        width: Callable[[int], int] = lambda longest: 0,
        padding_side: str | None = None,
        split_into_words: bool = False,
        split_special_tokens: bool | None = None,
    ) -> Rows:
        """Rows of model input as flat arrays: what calling the tokenizer gives, before it becomes lists.

        Arguments:
            texts: the texts; with ``split_into_words`` lists of words.
            pairs: the second texts.
            add_special_tokens: put [CLS] before the text and [SEP] behind each.
            truncation: ``"do_not_truncate"``, ``"longest_first"``, ``"only_first"`` or ``"only_second"``.
            max_length: that rows are cut to; None: they are not.
            stride: positions that two windows of a text share.
            overflowing: what is cut off becomes windows, each a row.
            width: the least length of a row, given the longest one's; shorter ones are padded.
            padding_side: ``"right"`` or ``"left"``; None: the tokenizer's.
            split_into_words: the texts are lists of words.
            split_special_tokens: special symbols in a text are read as text; None: as the tokenizer says.

        Raises:
            ValueError: ``max_length`` leaves no room for the special positions.
        """
        specials = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        read: Any = self._positions_of_words if split_into_words else self._positions_of_texts
        first = read(texts, not specials)
        second = None if pairs is None else read(pairs, not specials)
        added = self.num_special_tokens_to_add(pairs is not None) if add_special_tokens else 0
        if truncation != "do_not_truncate" and max_length is not None and max_length < added:
            raise ValueError(f"max_length={max_length} leaves no room for {added} special tokens")
        limit = None if max_length is None else max_length - added
        others = None if second is None else second.lengths
        places = first.places, anywhere if second is None else second.places
        cut = windows(first.lengths, others, truncation, limit, stride, self.truncation_side, overflowing, places)
        side = padding_side or self.padding_side
        return Rows(first, second, cut, add_special_tokens, width, side, self.special_ids, self._tokens)

    def _batch_encode_plus(self, batch_text_or_text_pairs: Any, **kwargs: Any) -> BatchEncoding:
        """The method that transformers 4 calls for a batch; 5 calls ``_encode_plus`` for everything."""
        return self._encode_plus(list(batch_text_or_text_pairs), **kwargs, is_batch=True)

    def _encode_plus(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding_strategy: Any = PaddingStrategy.DO_NOT_PAD,
        truncation_strategy: Any = "do_not_truncate",
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: Any = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        split_special_tokens: bool | None = None,
        is_batch: bool | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        if kwargs:
            raise TypeError(f"unknown arguments: {', '.join(kwargs)}")
        if is_batch is None:
            nested = isinstance(text, list | tuple)
            is_batch = nested and (not is_split_into_words or (len(text) > 0 and isinstance(text[0], list | tuple)))
        texts, pairs = _as_batch(text, text_pair, is_batch, is_split_into_words)
        rows = self.rows(
            texts,
            pairs,
            add_special_tokens=add_special_tokens,
            truncation=getattr(truncation_strategy, "value", truncation_strategy),
            max_length=max_length,
            stride=stride,
            overflowing=bool(return_overflowing_tokens),
            width=partial(_width, PaddingStrategy(padding_strategy), max_length, pad_to_multiple_of),
            padding_side=padding_side,
            split_into_words=is_split_into_words,
            split_special_tokens=split_special_tokens,
        )
        longest = int(np.diff(rows.offsets).max(initial=0))
        if verbose and max_length is None and longest > self.model_max_length:
            logger.warning_once(
                f"a row of {longest} positions is longer than the model's {self.model_max_length}: "
                "tokenize with truncation=True"
            )

        arrays: dict[str, Any] = {"input_ids": rows.ids}
        if self._wanted("token_type_ids", return_token_type_ids):
            arrays["token_type_ids"] = rows.type_ids
        if self._wanted("attention_mask", return_attention_mask):
            arrays["attention_mask"] = rows.attention_mask
        if return_special_tokens_mask:
            arrays["special_tokens_mask"] = rows.special_tokens_mask
        if return_offsets_mapping:
            arrays["offset_mapping"] = rows.spans
        convert = rows.lists if return_tensors is None else rows.shaped
        data: dict[str, Any] = {name: convert(array) for name, array in arrays.items()}
        if return_length:
            data["length"] = np.diff(rows.offsets).tolist()
        if return_overflowing_tokens:
            data["overflow_to_sample_mapping"] = rows.samples.tolist()
        elif not is_batch and return_tensors is None:
            data = {name: value[0] if isinstance(value[0], list) else value for name, value in data.items()}
        return BatchEncoding(data, rows, return_tensors, n_sequences=rows.n_sequences)  # type: ignore[arg-type]

    def _wanted(self, name: str, asked: bool | None) -> bool:
        return name in self.model_input_names if asked is None else asked


def _as_batch(text: Any, text_pair: Any, is_batch: bool, split: bool) -> tuple[list[Any], list[Any] | None]:
    """Texts and, for pairs, the second texts: given apart, or as a list of pairs."""
    if not is_batch:
        texts, pairs = [text], None if text_pair is None else [text_pair]
    elif text_pair is not None:
        texts, pairs = list(text), list(text_pair)
    else:
        texts, pairs = list(text), None
        paired = [isinstance(sample, tuple) and not _is_words(sample, split) for sample in texts]
        if texts and not split:
            paired = [isinstance(sample, list | tuple) and len(sample) == 2 for sample in texts]
        if texts and all(paired):
            texts, pairs = [list(side) for side in zip(*texts, strict=True)]
    for one in (texts, pairs or []):
        for row, sample in enumerate(one):
            _check(sample, row, split)
    return texts, pairs


def _is_words(sample: Sequence[Any], split: bool) -> bool:
    return split and all(isinstance(word, str) for word in sample)


def _check(sample: Any, row: int, split: bool) -> None:
    if split:
        if not isinstance(sample, list | tuple) or not all(isinstance(word, str) for word in sample):
            raise TypeError(f"text {row}: with is_split_into_words=True each text is a list of str")
    elif not isinstance(sample, str):
        raise TypeError(f"text {row}: a text is a str, not {type(sample).__name__}")


def _width(strategy: PaddingStrategy, max_length: int | None, multiple: int | None, longest: int) -> int:
    """The length that rows are padded to."""
    if strategy == PaddingStrategy.DO_NOT_PAD:
        return 0
    width = max_length if strategy == PaddingStrategy.MAX_LENGTH and max_length is not None else longest
    return -(-width // multiple) * multiple if multiple else width

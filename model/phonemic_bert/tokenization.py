"""The transformers tokenizer over ``phonemic.Tokenizer``, with all that BERT's fast tokenizer gives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AddedToken, BatchEncoding, PreTrainedTokenizerBase
from transformers.utils.generic import PaddingStrategy

from phonemic import Tokenizer
from phonemic.encoding import token_of
from phonemic.inventory import EMPTY, fallback_triple, kinds_of, packs
from phonemic_bert import positions
from phonemic_bert.checkpoints import resolve
from phonemic_bert.errors import CheckpointError
from phonemic_bert.positions import SPECIAL_IDS, Positions
from phonemic_bert.rows import Rows
from phonemic_bert.truncation import windows

FILE = "phonemic.json"
_NAMES = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}


class PhonemicBertTokenizer(PreTrainedTokenizerBase):
    """Text to packed ids: one position a syllable, ``onset | rime << 8 | tone << 16``.

    Call it like any transformers tokenizer: ``padding``, ``truncation``, ``max_length``, ``stride``, ``text_pair``,
    ``return_tensors``, ``return_offsets_mapping``, ``return_overflowing_tokens``, ``is_split_into_words`` and the
    others do what they do in BERT's fast tokenizer. ``word_ids`` counts whitespace-delimited units, or the given words.
    ``[MASK]`` and the other special symbols may be written in a text (``split_special_tokens=True`` turns that off).
    Mandarin that is split into words is read as the joined text, so that a word's reading fits its context.

    The vocabulary is fixed: tokens cannot be added. ``len(tokenizer)`` is the size of the embedding table.

    Arguments:
        lang: ``"vi"`` or ``"zh"``; needed unless ``vocab_file`` is given.
        strict: see ``phonemic.Tokenizer``.
        word_joiner: likewise.
        phrases: likewise.
        fallback: likewise.
        vocab_file: what ``phonemic.Tokenizer.save`` wrote; ``from_pretrained`` passes it.
        model_max_length: the longest row, special tokens included, that ``truncation=True`` cuts to.
        kwargs: what every transformers tokenizer takes (``padding_side``, ``truncation_side`` ...).

    Raises:
        CheckpointError: neither a language nor a saved tokenizer, or special tokens other than BERT's.
        SavedTokenizerError: the saved tokenizer's vocabulary is not this version's.
    """

    vocab_files_names = {"vocab_file": FILE}  # noqa: RUF012
    model_input_names = ["input_ids", "token_type_ids", "attention_mask"]  # noqa: RUF012

    def __init__(
        self,
        lang: str | None = None,
        strict: bool = False,
        word_joiner: str | None = None,
        phrases: Any = None,
        vocab_file: str | os.PathLike[str] | None = None,
        model_max_length: int = 512,
        fallback: str = "character",
        **kwargs: Any,
    ) -> None:
        if vocab_file is not None:
            self.phonemic = Tokenizer.load(vocab_file)
        elif lang is not None:
            self.phonemic = Tokenizer(lang, strict, word_joiner, phrases, fallback)
        else:
            raise CheckpointError('say the language: lang="vi" or "zh"')
        for name, token in _NAMES.items():
            if str(kwargs.setdefault(name, token)) != token:
                raise CheckpointError(f"{name} is {token} and cannot be {kwargs[name]}: the vocabulary is fixed")
        super().__init__(model_max_length=model_max_length, **kwargs)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        """Loads the tokenizer of a folder, of an installed checkpoint by its name, or of a model on a hub.

        Raises:
            CheckpointError: it holds no such tokenizer, or no checkpoint of that name is installed.
            SavedTokenizerError: its vocabulary is not this version's.
        """
        return super().from_pretrained(resolve(pretrained_model_name_or_path), *args, **kwargs)

    @classmethod
    def _from_pretrained(  # type: ignore[override,unused-ignore]
        cls, resolved_vocab_files: dict[str, Any], path: Any, *args: Any, **kwargs: Any
    ) -> Any:
        # transformers 4 hides what goes wrong while it makes the tokenizer, so the file is tried before.
        saved = resolved_vocab_files.get("vocab_file")
        if saved is None:
            raise CheckpointError(f"{path}: there is no {FILE} in it, so it holds no PhonemicBertTokenizer")
        Tokenizer.load(saved)
        return super()._from_pretrained(resolved_vocab_files, path, *args, **kwargs)

    # --- vocabulary

    @property
    def is_fast(self) -> bool:
        """True: offsets, word ids and overflow are there. There is no ``backend_tokenizer``."""
        return True

    @property
    def vocab_size(self) -> int:
        """Symbols of the vocabulary: 256 for Vietnamese, 112 for Mandarin."""
        return self.phonemic.vocab_size

    def __len__(self) -> int:
        return self.vocab_size

    def get_vocab(self) -> dict[str, int]:
        """Every special symbol, fallback character and syllable, and its packed id; not what the fallback packs."""
        from phonemic_bert.syllables import syllables

        vocab = self.phonemic.vocab
        single = [vocab.pack((symbol,) * 3) for symbol in vocab.by_role("fallback")]
        ids = [*SPECIAL_IDS.values(), *single, *syllables(self.phonemic.lang).tolist()]
        return dict(zip(self.convert_ids_to_tokens(ids), ids, strict=True))

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """Empty: the vocabulary is fixed."""
        return {}

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Empty: the vocabulary is fixed."""
        return {}

    def _add_tokens(self, new_tokens: Sequence[Any], special_tokens: bool = False) -> int:
        unknown = [str(token) for token in new_tokens if str(token) not in SPECIAL_IDS]
        if unknown:
            raise ValueError(f"cannot add {', '.join(unknown)}: the vocabulary is fixed")
        return 0

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """Packed ids of tokens as :meth:`convert_ids_to_tokens` writes them; that of [UNK] for any other string."""
        if isinstance(tokens, str):
            vocab = self.phonemic.vocab
            if self.phonemic.fallback == "packed" and packs(tokens):
                parts: tuple[str, ...] = fallback_triple(tokens)
            elif tokens in vocab:
                parts = (tokens,) * 3
            else:
                parts = tuple(part or EMPTY for part in tokens.split("|"))
            known = len(parts) == 3 and parts[1] != EMPTY and all(part in vocab for part in parts)
            return vocab.pack(parts) if known else SPECIAL_IDS["[UNK]"]  # type: ignore[arg-type]
        return [self.convert_tokens_to_ids(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """Tokens of packed ids: ``onset|rime|tone`` for a syllable, the symbol or characters of any other position."""
        if isinstance(ids, int | np.integer):
            return token_of(self.phonemic.vocab.unpack(int(ids)), int(kinds_of(np.asarray(ids, np.int32))))
        values = [int(packed) for packed in ids]
        if skip_special_tokens:
            special = set(SPECIAL_IDS.values())
            values = [packed for packed in values if packed not in special]
        return [self.convert_ids_to_tokens(packed) for packed in values]

    def get_special_tokens_mask(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """1 for the special positions of a row, [UNK] among them, which masking passes over."""
        if not already_has_special_tokens:
            token_ids_0 = self.build_inputs_with_special_tokens(token_ids_0, token_ids_1)
        mask: list[int] = np.isin(token_ids_0, list(SPECIAL_IDS.values())).astype(int).tolist()
        return mask

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """[CLS] text [SEP], or [CLS] text [SEP] text [SEP]."""
        cls, sep = [SPECIAL_IDS["[CLS]"]], [SPECIAL_IDS["[SEP]"]]
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

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Tokens written as text."""
        return self.phonemic.decode(self.convert_tokens_to_ids(tokens), skip_special_tokens=False)

    def _decode(self, token_ids: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any) -> str:
        return self.phonemic.decode(np.atleast_1d(np.asarray(token_ids, np.int64)), None, "new", skip_special_tokens)

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Writes the options and the vocabulary's checksum."""
        path = Path(save_directory) / (f"{filename_prefix}-{FILE}" if filename_prefix else FILE)
        self.phonemic.save(path)
        return (str(path),)

    def _batch_encode_plus(self, batch_text_or_text_pairs: Any, **kwargs: Any) -> BatchEncoding:
        """What transformers 4 calls for a batch; 5 calls ``_encode_plus`` for everything."""
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
        specials = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        read = positions.of_words if is_split_into_words else positions.of_texts
        first = read(self.phonemic, texts, not specials)
        second: Positions | None = None if pairs is None else read(self.phonemic, pairs, not specials)

        added = self.num_special_tokens_to_add(pairs is not None) if add_special_tokens else 0
        strategy = getattr(truncation_strategy, "value", truncation_strategy)
        if strategy != "do_not_truncate" and max_length is not None and max_length < added:
            raise ValueError(f"max_length={max_length} leaves no room for {added} special tokens")
        limit = None if max_length is None else max_length - added
        others = None if second is None else second.lengths
        cut = windows(
            first.lengths, others, strategy, limit, stride, self.truncation_side, bool(return_overflowing_tokens)
        )
        width = partial(_width, PaddingStrategy(padding_strategy), max_length, pad_to_multiple_of)
        side = padding_side or self.padding_side
        rows = Rows(first, second, cut, add_special_tokens, width, side, self.phonemic.vocab)
        self._warn_of_long_rows(rows, max_length, verbose)

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

    def _warn_of_long_rows(self, rows: Rows, max_length: int | None, verbose: bool) -> None:
        longest = np.diff(rows.offsets).max(initial=0)
        self._eventual_warn_about_too_long_sequence([0] * int(longest), max_length, verbose)


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

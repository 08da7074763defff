"""The transformers tokenizer over ``phonemic.Tokenizer``, with all that BERT's fast tokenizer gives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic import Encoding, Tokenizer
from phonemic.files.jsons import read_object
from phonemic.forms import FORMS
from phonemic.inventory import EMPTY, FORM_SHIFT, fallback_triple, forms_of, packs
from phonemic.options import TokenizerOptions, option_names
from phonemic_bert.checkpoints import keep_name, resolve
from phonemic_bert.errors import CheckpointError
from phonemic_bert.tokenization import positions
from phonemic_bert.tokenization.base import RowsTokenizer
from phonemic_bert.tokenization.positions import SPECIAL_IDS, Positions
from phonemic_bert.untrusted import loading

FILE = "phonemic.json"


def learned_options(checkpoint: object) -> TokenizerOptions | None:
    """How the text was read that a checkpoint has learned from; None where its folder does not say.

    Arguments:
        checkpoint: a folder, or the name of an installed one; what is neither says nothing.

    Raises:
        SavedTokenizerError: the folder's file is damaged.
    """
    file = Path(resolve(checkpoint) or ".") / FILE
    return Tokenizer.load(file).options if checkpoint and file.is_file() else None


class PhonemicBertTokenizer(RowsTokenizer):
    """Text to packed ids: one position a syllable, ``onset | rime << 8 | tone << 16``.

    Call it like any transformers tokenizer: ``padding``, ``truncation``, ``max_length``, ``stride``, ``text_pair``,
    ``return_tensors``, ``return_offsets_mapping``, ``return_overflowing_tokens``, ``is_split_into_words`` and the
    others do what they do in BERT's fast tokenizer. ``word_ids`` counts whitespace-delimited units, or the given words.
    ``[MASK]`` and the other special symbols may be written in a text (``split_special_tokens=True`` turns that off).
    Mandarin that is split into words is read as the joined text, so that a word's reading fits its context.

    With ``form=True`` ids also say how the text is written (``form << 24``), and :meth:`decode` gives it back. White
    space has positions of its own, of no word, and an unknown character one for each of its bytes; truncation and
    windows keep what belongs together. A special symbol that is written in a text takes the space before it along.

    The vocabulary is fixed: tokens cannot be added. ``len(tokenizer)`` is the size of the embedding table.

    Arguments:
        lang: ``"vi"`` or ``"zh"``; needed unless ``vocab_file`` is given.
        vocab_file: what ``phonemic.Tokenizer.save`` wrote; ``from_pretrained`` passes it.
        model_max_length: the longest row, special tokens included, that ``truncation=True`` cuts to.
        kwargs: the options of :class:`phonemic.TokenizerOptions` (``strict``, ``word_joiner``, ``phrases``,
            ``fallback``, ``readings``, ``sandhi``, ``erhua``, ``form``), and what every transformers tokenizer takes
            (``padding_side``, ``truncation_side`` ...).

    Raises:
        CheckpointError: neither a language nor a saved tokenizer, options that are not those of the saved one, or
            special tokens other than BERT's.
        SavedTokenizerError: the saved tokenizer's vocabulary is not this version's.
    """

    vocab_files_names = {"vocab_file": FILE}  # noqa: RUF012
    special_ids = SPECIAL_IDS
    special_names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}  # noqa: RUF012

    def __init__(
        self,
        lang: str | None = None,
        *,
        vocab_file: str | os.PathLike[str] | None = None,
        model_max_length: int = 512,
        **kwargs: Any,
    ) -> None:
        options = {name: kwargs.pop(name) for name in option_names() if name in kwargs}
        if vocab_file is not None:
            self.phonemic = Tokenizer.load(vocab_file)
            _check_saved(self.phonemic, options, vocab_file)
        elif lang is not None:
            self.phonemic = Tokenizer(lang, **options)
        else:
            raise CheckpointError('give the language: lang="vi" or "zh"')
        super().__init__(model_max_length=model_max_length, **self._fixed(kwargs))

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        """Loads the tokenizer of a checkpoint.

        Arguments:
            pretrained_model_name_or_path: a folder, the name of an installed checkpoint, or that of a model on a hub.
            args: what every transformers tokenizer takes.
            kwargs: what every transformers tokenizer takes.

        Raises:
            CheckpointError: it does not hold such a tokenizer, or no checkpoint of that name is installed.
            SavedTokenizerError: its vocabulary is not this version's.
        """
        where = resolve(pretrained_model_name_or_path)
        with loading(where):
            found = super().from_pretrained(where, *args, **kwargs)
        return keep_name(found, pretrained_model_name_or_path, where)

    @classmethod
    def _from_pretrained(  # type: ignore[override,unused-ignore]
        cls, resolved_vocab_files: dict[str, Any], path: Any, *args: Any, **kwargs: Any
    ) -> Any:
        # transformers 4 hides what goes wrong while it makes the tokenizer, so the file is tried before.
        saved = resolved_vocab_files.get("vocab_file")
        if saved is None:
            raise CheckpointError(f"{path}: there is no {FILE} in it, so it holds no PhonemicBertTokenizer")
        _check_config(resolved_vocab_files.get("tokenizer_config_file"))
        Tokenizer.load(saved)
        return super()._from_pretrained(resolved_vocab_files, path, *args, **kwargs)

    # --- vocabulary

    @property
    def vocab_size(self) -> int:
        """Symbols of the vocabulary: 256 for Vietnamese, 112 for Mandarin."""
        return self.phonemic.vocab_size

    def get_vocab(self) -> dict[str, int]:
        """Every special symbol, fallback character and syllable, and its packed id, without a form; not what the
        fallback packs.
        """
        from phonemic_bert.syllables import syllables

        vocab = self.phonemic.vocab
        single = [vocab.pack((symbol,) * 3) for symbol in vocab.by_role("fallback")]
        ids = [*SPECIAL_IDS.values(), *single, *syllables(self.phonemic.lang).tolist()]
        return dict(zip(self.convert_ids_to_tokens(ids), ids, strict=True))

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """Packed ids of tokens as :meth:`convert_ids_to_tokens` writes them; that of [UNK] for any other string."""
        if isinstance(tokens, str):
            token, bar, form = tokens.rpartition("|")
            if self.phonemic.form and bar and form.isdecimal() and int(form) < FORMS:
                found = self.convert_tokens_to_ids(token)
                if found != SPECIAL_IDS["[UNK]"] or token == "[UNK]":
                    return found | int(form) << FORM_SHIFT
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

    def _tokens(self, ids: NDArray[np.int32]) -> list[str]:
        """``onset|rime|tone`` for a syllable, the symbol or the characters of any other position; ``|form`` behind it
        where there is one.
        """
        tokens = Encoding("", ids, None, None, self.phonemic.vocab).tokens
        return [
            f"{token}|{form}" if form else token for token, form in zip(tokens, forms_of(ids).tolist(), strict=True)
        ]

    # --- text

    def _positions_of_texts(self, texts: list[str], written_specials: bool) -> Positions:
        return positions.of_texts(self.phonemic, texts, written_specials)

    def _positions_of_words(self, samples: Sequence[Sequence[str]], written_specials: bool) -> Positions:
        return positions.of_words(self.phonemic, samples, written_specials)

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Tokens written as text."""
        return self.phonemic.decode(self.convert_tokens_to_ids(tokens), skip_special_tokens=False)

    def _decode(self, token_ids: Any, skip_special_tokens: bool = False, *args: Any, **kwargs: Any) -> str:
        return self.phonemic.decode(np.atleast_1d(np.asarray(token_ids, np.int64)), None, "new", skip_special_tokens)

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Writes the options and the vocabulary's checksum.

        Arguments:
            save_directory: the folder, which must exist.
            filename_prefix: what the file's name begins with, before a hyphen.

        Returns:
            The path of the file.
        """
        path = Path(save_directory) / (f"{filename_prefix}-{FILE}" if filename_prefix else FILE)
        self.phonemic.save(path)
        return (str(path),)


def _check_config(path: str | None) -> None:
    """Refuses what transformers saved of a tokenizer where it names a file, or holds an option of another type.

    Raises:
        CheckpointError: it names a file, which transformers would pass on as if a user had typed it.
        SavedTokenizerError: an option is none that a file can hold.
    """
    if path is None:
        return
    config = read_object(path, CheckpointError)
    if named := [name for name in config if name.endswith("_file") and config[name] is not None]:
        raise CheckpointError(f"{path}: {named[0]} is {config[named[0]]!r}: a checkpoint must not name files")
    TokenizerOptions.check_json(config, path)


def _check_saved(saved: Tokenizer, given: dict[str, Any], where: object) -> None:
    """Refuses options that a saved tokenizer does not have: its model has learned from texts as it reads them."""
    asked = TokenizerOptions(saved.lang, **given)
    for name, value in given.items():
        own = getattr(saved.options, name)
        if getattr(asked, name) != own:
            raise CheckpointError(
                f"{where}: this tokenizer was saved with {name}={own!r}, and its model has learned from texts that are "
                f"read so; leave {name} out, or make a tokenizer for another model: "
                f"PhonemicBertTokenizer({saved.lang!r}, {name}={value!r})"
            )

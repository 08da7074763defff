"""Encoders of every kind behind one interface: PhonemicBERT, a baseline that was pretrained here, any other model."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import transformers
from transformers import AutoConfig, AutoTokenizer, PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

import phonemic_bert  # noqa: F401  registers PhonemicBERT with the Auto classes
from phonemic import PhonemicError
from phonemic.baselines import load_registered
from phonemic_bert.checkpoints import OF_RUN, checkpoint_folder, silent_transformers
from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.errors import CheckpointError, RunError
from phonemic_bert.origin import ORIGIN, read_origin
from phonemic_bert.tokenization import FILE as PHONEMIC_FILE
from phonemic_bert.tokenization import PhonemicBertTokenizer
from phonemic_bert.tokenization.baselines import (
    FILE,
    BaselineTokenizer,
    check_files,
    checked,
    describe,
    saved_options,
)
from phonemic_bert.untrusted import check_folder, loading

Kind = Literal["phonemic", "baseline", "transformers"]
Folder = str | os.PathLike[str]

#: The head that is requested, and transformers' class with that head.
HEADS = {
    "classification": "AutoModelForSequenceClassification",
    "tokens": "AutoModelForTokenClassification",
    "question": "AutoModelForQuestionAnswering",
    "choice": "AutoModelForMultipleChoice",
}

#: The heads whose labels are aligned with positions by offset.
_BY_OFFSET = ("tokens", "question")

#: Models that count positions from behind the padding symbol's id, so that their table has rows that no text uses.
_PADDED_POSITIONS = ("camembert", "data2vec-text", "longformer", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl")

#: The folders of a run that hold a checkpoint: it is called by the run's name.

#: What transformers' tokenizers lie in.
_VOCABULARIES = ("tokenizer.json", "vocab.*", "*.model", "*.vocab", "*.codes", "merges.txt")
#: All files of a checkpoint that decide what its tokenizer does.
TOKENIZER_FILES = (*_VOCABULARIES, "tokenizer_config.json", "added_tokens.json", PHONEMIC_FILE)


@dataclass(frozen=True)
class Encoder:
    """A pretrained encoder: its tokenizer, and models made of it.

    Attributes:
        name: what tables call it.
        path: its folder.
        kind: ``"phonemic"``, ``"baseline"`` or ``"transformers"``.
        lang: ``"vi"``, ``"zh"``, or None where it says none.
        tokenizer: transformers' tokenizer; ``truncation=True`` cuts to ``max_seq_length``. It gives offsets, unless it
            is one of transformers' slow ones.
        max_seq_length: positions that a row may have, special ones included.
        config: the model's configuration.
    """

    name: str
    path: Path
    kind: Kind
    lang: str | None
    tokenizer: PreTrainedTokenizerBase
    max_seq_length: int
    config: PretrainedConfig = field(repr=False)

    def model(self, head: str, num_labels: int = 2, **fields: Any) -> PreTrainedModel:
        """The encoder under a head with fresh weights, which are drawn from torch's generator.

        The pooler of ``"classification"`` and ``"choice"`` is a part of the head here: where the checkpoint has none,
        as after masked language modelling, it is fresh too.

        Arguments:
            head: ``"classification"``, ``"tokens"``, ``"question"`` or ``"choice"``.
            num_labels: classes of the first two.
            fields: of the configuration, which win over the checkpoint's (``hidden_dropout_prob=0.1``).

        Raises:
            CheckpointError: there is no such head for this model; labels or answers are requested and the tokenizer
                gives no offsets; or weights of the encoder itself are missing.
            OSError: the checkpoint has no weights.
        """
        if head not in HEADS:
            raise CheckpointError(f"unknown head {head!r}: choose one of {', '.join(HEADS)}")
        if head in _BY_OFFSET and not self.tokenizer.is_fast:
            raise CheckpointError(
                f"{self.path}: {type(self.tokenizer).__name__} gives no offsets, which labels and answers need; save a "
                "fast tokenizer (tokenizer.json) into the folder"
            )
        if head in ("classification", "tokens"):
            fields["num_labels"] = num_labels
        auto = getattr(transformers, HEADS[head])
        check_folder(self.path)
        with silent_transformers(), loading(self.path):
            try:
                model, info = auto.from_pretrained(
                    self.path, trust_remote_code=False, ignore_mismatched_sizes=True, output_loading_info=True, **fields
                )
            except ValueError as error:
                if "Unrecognized configuration class" not in str(error):
                    raise
                raise CheckpointError(f"{self.path}: transformers has no {HEADS[head]} of this model") from error
        body = f"{model.base_model_prefix}."
        fresh = {*info["missing_keys"], *(name for name, *_ in info["mismatched_keys"])}
        lost = sorted(name for name in fresh if name.startswith(body) and not name.startswith(f"{body}pooler."))
        if lost:
            raise CheckpointError(
                f"{self.path}: no weights for {lost[0]} and {len(lost) - 1} more of the encoder: the checkpoint "
                "is damaged, or its config.json is another model's"
            )
        return model  # type: ignore[no-any-return]


def named(written: Folder) -> tuple[str | None, str]:
    """``NAME=FOLDER`` in its two parts; the name is None where only a folder, or a checkpoint's name, is given.

    Raises:
        CheckpointError: a folder of results cannot have this name.
    """
    written = os.fspath(written)
    name, equals, where = written.partition("=")
    if not equals or Path(written).exists():
        return None, written
    if not re.fullmatch(r"[\w.+-]*\w[\w.+-]*", name):
        raise CheckpointError(f"{written}: a name consists of letters, digits and . + - _, unlike {name!r}")
    return name, where


def load_encoder(where: Folder, tokenizers: Folder | None = None, name: str | None = None) -> Encoder:
    """Loads an encoder, without its weights, which :meth:`Encoder.model` reads.

    Arguments:
        where: a folder with PhonemicBERT, with a baseline's model as ``phonemic-bert pretrain`` leaves it in ``final``,
            or with any transformers checkpoint; or an installed checkpoint's name.
        tokenizers: the folder of the baselines' files, see ``phonemic.baselines.load``; by default what the environment
            variable PHONEMIC_TOKENIZERS names.
        name: what tables call it; by default the folder's name, or that of the run for its ``final``.

    Raises:
        CheckpointError: no such folder or name; neither checkpoint nor tokenizer in it; or the tokenizer is not the one
            that the model was pretrained with.
        PhonemicError: a baseline's file or package is missing.
    """
    path = checkpoint_folder(where)
    check_folder(path)
    with loading(path):
        config = AutoConfig.from_pretrained(path, trust_remote_code=False)
    kind, lang, tokenizer = _tokenizer(path, config, tokenizers)
    limit = _max_seq_length(config, tokenizer)
    tokenizer.model_max_length = limit
    called = path.resolve()
    called = called.parent if called.name in OF_RUN else called
    return Encoder(name or called.name, path, kind, lang, tokenizer, limit, config)


def _tokenizer(
    path: Path, config: PretrainedConfig, tokenizers: Folder | None
) -> tuple[Kind, str | None, PreTrainedTokenizerBase]:
    if isinstance(config, PhonemicBertConfig):
        if not (path / PHONEMIC_FILE).is_file():
            raise CheckpointError(f"{path}: no {PHONEMIC_FILE} in it, so its tokenizer is missing")
        return "phonemic", config.lang, PhonemicBertTokenizer.from_pretrained(path)
    if (described := _described(path)) is not None:
        return "baseline", described.get("lang"), _baseline_tokenizer(path, config, described, tokenizers)
    return "transformers", None, _any_tokenizer(path, config)


def _described(path: Path) -> dict[str, Any] | None:
    """The tokenizer's record in a checkpoint of a baseline: of a pretraining run, or one fine-tuned from it."""
    if (path / FILE).is_file():
        return describe(path)
    if not (path / ORIGIN).is_file():
        return None
    try:
        described = checked(read_origin(path)["corpus"]["tokenizer"])
        return None if described["name"] == "phonemic" else described
    except (RunError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path / ORIGIN}: it does not name its tokenizer ({error})") from error


def _baseline_tokenizer(
    path: Path, config: PretrainedConfig, described: dict[str, Any], tokenizers: Folder | None
) -> BaselineTokenizer:
    try:
        baseline = load_registered(described["name"], tokenizers)
    except PhonemicError as error:
        raise CheckpointError(f"{path}: its tokenizer cannot be loaded: {error}") from error
    check_files(baseline, described, path)
    options = {"model_max_length": _table(config), **saved_options(path)}
    tokenizer = BaselineTokenizer(baseline, described.get("lang"), **options)
    if config.vocab_size != len(tokenizer):
        raise CheckpointError(
            f"{path}: the model has {config.vocab_size} symbols, but {baseline.name} in {baseline.path} has "
            f"{len(tokenizer)}, the special ones included: these are not the files that it was pretrained with"
        )
    return tokenizer


def _any_tokenizer(path: Path, config: PretrainedConfig) -> PreTrainedTokenizerBase:
    if not any(file for pattern in _VOCABULARIES for file in path.glob(pattern)):
        raise CheckpointError(f"{path}: no tokenizer in it, none of {', '.join(_VOCABULARIES)}")
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
    except MemoryError:
        raise
    except Exception as error:  # the library tokenizers raises Exception itself
        raise CheckpointError(f"{path}: its tokenizer cannot be loaded: {error}") from error
    if len(tokenizer) > config.vocab_size:
        raise CheckpointError(
            f"{path}: the tokenizer has {len(tokenizer)} symbols, but the model {config.vocab_size}: they do not "
            "belong together"
        )
    return tokenizer


def _max_seq_length(config: PretrainedConfig, tokenizer: PreTrainedTokenizerBase) -> int:
    """Positions that the model takes: its table of positions, or the tokenizer's limit where that is less."""
    limit = _table(config)
    return min(limit, tokenizer.model_max_length) if isinstance(tokenizer.model_max_length, int) else limit


def _table(config: PretrainedConfig) -> int:
    """Positions of the model's table that a text may use; BERT's 512 where the configuration does not say."""
    table = getattr(config, "max_position_embeddings", None)
    limit = 512 if table is None or table < 1 else int(table)
    return limit - config.pad_token_id - 1 if config.model_type in _PADDED_POSITIONS else limit

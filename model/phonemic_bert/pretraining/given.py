"""Checkpoints that a run is given: a teacher, or weights to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM

from phonemic.corpus.manifest import sha256
from phonemic_bert.checkpoints import resolve
from phonemic_bert.errors import CheckpointError, SettingsError
from phonemic_bert.origin import read_origin
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.symbols import Symbols
from phonemic_bert.untrusted import CONFIG, check_folder, loading

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The settings of [model] that weights depend on, for some models also the scale of the first ones; a plain model has
#: fewer.
_SHAPE = (
    "num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "backbone", "composition", "head",
    "output_embeddings", "syllable_inventory", "component_scale", "conv_kernel_size", "num_bigram_buckets", "forms",
    "num_form_bigram_buckets", "initializer_range",
)  # fmt: skip

#: Those that a checkpoint which does not read forms need not share with a run that does.
_FORMS = ("forms", "num_form_bigram_buckets")

#: The parameters that only a model which reads forms has.
_FORM_PARAMETERS = re.compile(r"\b(forms|form_bigrams|form_biases)\b")

#: Of a tokenizer's description: what may be another's where a run only begins with a checkpoint's weights. Some words
#: are then read otherwise; what it says of forms may be missing.
_READINGS, _WRITING = ("tables", "speech", "version"), ("form", "forms")

_BIGRAMS = "bigrams.table"


def identify(checkpoint: str, setting: str) -> list[str]:
    """SHA-256 of a checkpoint's configuration and weights, which tell it from others wherever it is.

    Arguments:
        checkpoint: its folder, or the name of an installed one.
        setting: what gives it.

    Raises:
        SettingsError: there is none.
        CheckpointError: its files point elsewhere.
    """
    folder = Path(resolve(checkpoint))
    if folder.is_dir():
        check_folder(folder)
    weights = sorted(path for path in folder.glob("*.safetensors") if path.is_file())
    if not weights or not (folder / CONFIG).is_file():
        raise SettingsError(f"{setting} = {checkpoint!r}: there are no weights (*.safetensors) and no {CONFIG} in it")
    return [sha256(path) for path in (folder / CONFIG, *weights)]


def load_given(
    checkpoint: str,
    setting: str,
    symbols: Symbols,
    corpus: object,
    attention: str,
    begins: bool = False,
) -> Any:
    """Loads a checkpoint of a run, and makes sure that it is whole and reads a corpus's ids.

    Arguments:
        checkpoint: its folder, or the name of an installed one.
        setting: what gives it.
        symbols: of the corpus.
        corpus: the corpus's folder, for messages.
        attention: which implementation it computes with.
        begins: it is what a run begins with, so that words may be read otherwise and forms be new.

    Raises:
        SettingsError: it was trained on the ids of another tokenizer.
        CheckpointError: it is damaged.
        RunError: it does not say what it was trained on.
    """
    folder = Path(resolve(checkpoint))
    check_folder(folder)
    theirs = read_origin(folder)["corpus"].get("tokenizer") or {}
    anew = (*_READINGS, *(() if theirs.get("form") else _WRITING)) if begins else ()
    if any(theirs.get(name) != symbols.tokenizer.get(name) for name in {*theirs, *symbols.tokenizer} - {*anew}):
        raise SettingsError(
            f"{setting} = {checkpoint!r} was trained on the ids of another tokenizer than that of {corpus}: give a "
            "corpus that was prepared as the one that it was trained on"
        )
    with loading(folder):
        model, info = AutoModelForMaskedLM.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            attn_implementation=attention,
            output_loading_info=True,
        )
    if wrong := sorted([*info["missing_keys"], *info["unexpected_keys"]]):
        raise CheckpointError(
            f"{folder}: its weights and its {CONFIG} do not fit: {wrong[0]} and {len(wrong) - 1} more"
        )
    if not all(bool(part.isfinite().all()) for part in model.parameters()):
        raise CheckpointError(f"{folder}: not all of its weights are numbers; give another checkpoint of that run")
    if not symbols.phonemic and model.config.vocab_size != symbols.size:
        raise SettingsError(
            f"{setting} = {checkpoint!r} has {model.config.vocab_size:,} symbols, those of {corpus} are "
            f"{symbols.size:,}: give the corpus that it was trained on"
        )
    return model


def identify_weights(settings: Settings) -> list[str] | None:
    """:func:`identify` of the weights that a run begins with; None where they are fresh.

    Raises:
        SettingsError: there is no such checkpoint.
        CheckpointError: its files point elsewhere.
    """
    return identify(settings.model.init_checkpoint, "model.init_checkpoint") if settings.model.init_checkpoint else None


def begin(model: Any, settings: Settings, corpus: FlatCorpus) -> None:
    """Gives a fresh model the weights of ``model.init_checkpoint``, where there are any.

    A checkpoint that does not read forms may begin a model that does, which first predicts what the checkpoint does
    (:func:`begin_forms`). A table of bigrams may begin one that has half, a third, ... of its rows: the rows that
    become one are averaged.

    Arguments:
        model: of the run's shape.
        settings: of the run.
        corpus: that is learned.

    Raises:
        SettingsError: the checkpoint has another shape, or was trained on the ids of another tokenizer.
        CheckpointError: it is damaged.
        RunError: it does not say what it was trained on.
    """
    name = settings.model.init_checkpoint
    if not name:
        return
    given = load_given(
        name,
        "model.init_checkpoint",
        corpus.symbols,
        corpus.folder,
        settings.sequences.attn_implementation,
        begins=True,
    )
    forms_are_new = getattr(given.config, "forms", "none") == "none" != getattr(model.config, "forms", "none")
    others = []
    for field in _SHAPE:
        own, theirs = (getattr(one.config, field, None) for one in (model, given))
        folds = field == "num_bigram_buckets" and own and theirs and theirs % own == 0
        if own != theirs and not folds and not (forms_are_new and field in _FORMS):
            others.append(f"--set model.{field}={theirs}")
    if others:
        raise SettingsError(f"model.init_checkpoint = {name!r} has another shape: add {' '.join(others)}")
    room = given.config.max_position_embeddings
    if settings.model.backbone == "bert" and room != settings.sequences.max_seq_length:
        raise SettingsError(
            f"model.init_checkpoint = {name!r} has embeddings of {room} positions: add "
            f"--set sequences.max_seq_length={room}"
        )
    own, theirs = model.state_dict(), given.state_dict()
    fresh = {key: value for key, value in own.items() if forms_are_new and _FORM_PARAMETERS.search(key)}
    for key in (key for key in theirs if key.endswith(_BIGRAMS) and key in own):
        theirs[key] = folded(theirs[key], len(own[key]))
    try:
        model.load_state_dict(fresh | theirs)
    except RuntimeError as error:
        said = " ".join(str(error).split())[:300]
        raise SettingsError(
            f"model.init_checkpoint = {name!r} is not the kind of model that the settings make: {said}"
        ) from error
    if forms_are_new:
        begin_forms(model, corpus.ids)


@torch.no_grad()
def begin_forms(model: Any, ids: NDArray[np.int32]) -> None:
    """Begin the weights of forms next to those of a checkpoint: none is seen yet, each is as likely as it is common.

    Arguments:
        model: a model with forms.
        ids: of the corpus, with forms, (N,).
    """
    for parameter in model.base_model.embeddings.forms.parameters():
        parameter.zero_()
    pairs, listed = model.heads.pairs, model.heads.listed
    values, counts = np.unique(ids, return_counts=True)
    packed = torch.from_numpy(values).long()
    rows = pairs.rows(packed, listed.rows(packed))
    found = torch.ones(pairs.count).index_add_(0, rows[rows >= 0], torch.from_numpy(counts).float()[rows >= 0])
    totals = torch.zeros(len(pairs.begins) - 1).index_add_(0, pairs.triples, found)
    model.heads.form_biases.copy_((found / totals[pairs.triples]).log())


def folded(table: Tensor, rows: int) -> Tensor:
    """Average the rows of a hashed table that become one in a table of fewer rows.

    Arguments:
        table: (R, d).
        rows: of the new one; R is a multiple of it, so that a hash modulo ``rows`` meets what it met modulo R.

    Returns:
        (rows, d).
    """
    return table.view(-1, rows, table.shape[1]).mean(0)

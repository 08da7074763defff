"""Checkpoints that a run is given: a teacher, or weights to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoModelForMaskedLM

from phonemic.corpus.manifest import sha256
from phonemic_bert.checkpoints import resolve
from phonemic_bert.errors import CheckpointError, SettingsError
from phonemic_bert.origin import read_origin
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.symbols import Symbols
from phonemic_bert.untrusted import CONFIG, check_folder, loading

#: What a setting of [model] is called in a configuration, where the names differ.
_CONFIG_NAMES = {"layers": "num_hidden_layers", "attention_heads": "num_attention_heads"}

#: The settings of [model] that weights depend on, for some models also the scale of the first ones; a plain model has
#: fewer.
_SHAPE = (
    "layers", "hidden_size", "attention_heads", "intermediate_size", "backbone", "composition", "head", "vectors",
    "syllables", "shared_scale", "neighbours", "bigrams", "forms", "form_bigrams", "initializer_range",
)  # fmt: skip


def identify(checkpoint: str, setting: str) -> list[str]:
    """SHA-256 of a checkpoint's configuration and weights, which tell it from others wherever it lies.

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


def load_given(checkpoint: str, setting: str, symbols: Symbols, corpus: object, attention: str) -> Any:
    """Loads a checkpoint of a run, and makes sure that it is whole and reads a corpus's ids.

    Arguments:
        checkpoint: its folder, or the name of an installed one.
        setting: what gives it.
        symbols: of the corpus.
        corpus: the corpus's folder, for messages.
        attention: which implementation it computes with.

    Raises:
        SettingsError: it was trained on the ids of another tokenizer.
        CheckpointError: it is damaged.
        RunError: it does not say what it was trained on.
    """
    folder = Path(resolve(checkpoint))
    check_folder(folder)
    if read_origin(folder)["corpus"].get("tokenizer") != symbols.tokenizer:
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
    return identify(settings.model.weights, "model.weights") if settings.model.weights else None


def begin(model: Any, settings: Settings, symbols: Symbols, corpus: object) -> None:
    """Gives a fresh model the weights of ``model.weights``, where there are any.

    Arguments:
        model: of the run's shape.
        settings: of the run.
        symbols: of the corpus.
        corpus: the corpus's folder, for messages.

    Raises:
        SettingsError: the checkpoint has another shape, or was trained on the ids of another tokenizer.
        CheckpointError: it is damaged.
        RunError: it does not say what it was trained on.
    """
    name = settings.model.weights
    if not name:
        return
    given = load_given(name, "model.weights", symbols, corpus, settings.sequences.attention)
    others = []
    for field in _SHAPE:
        known = _CONFIG_NAMES.get(field, field)
        own, theirs = (getattr(one.config, known, None) for one in (model, given))
        if own != theirs:
            others.append(f"--set model.{field}={theirs}")
    if others:
        raise SettingsError(f"model.weights = {name!r} has another shape: add {' '.join(others)}")
    room = given.config.max_position_embeddings
    if settings.model.backbone == "bert" and room != settings.sequences.length:
        raise SettingsError(
            f"model.weights = {name!r} has embeddings of {room} positions: add --set sequences.length={room}"
        )
    try:
        model.load_state_dict(given.state_dict())
    except RuntimeError as error:
        said = " ".join(str(error).split())[:300]
        raise SettingsError(
            f"model.weights = {name!r} is not the kind of model that the settings make: {said}"
        ) from error

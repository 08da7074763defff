"""Checks of a checkpoint's files before transformers reads them, and one error for all that may go wrong.

transformers takes a configuration at its word: it names kernels to download, weights in other folders, another model
that an adapter is for, and any number of layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from phonemic.errors import PhonemicError
from phonemic.files.jsons import checked, read_object
from phonemic.files.writing import is_stream
from phonemic_bert.errors import CheckpointError
from phonemic_bert.shapes import BIGRAM_SIZE

CONFIG = "config.json"

#: Numbers of a configuration, and how large they may be.
SIZES = {
    "hidden_size": 1 << 16, "intermediate_size": 1 << 20, "num_hidden_layers": 1 << 12, "num_attention_heads": 1 << 12,
    "max_position_embeddings": 1 << 24, "vocab_size": 1 << 24, "type_vocab_size": 1 << 16, "num_labels": 1 << 20,
    "conv_kernel_size": 1 << 10, "num_bigram_buckets": 1 << 24, "num_form_bigram_buckets": 1 << 24, "first_id": 1 << 24,
}  # fmt: skip

#: Fields of one type only, and what that is.
_TYPES = {
    "id2label": (dict, "a JSON object"), "label2id": (dict, "a JSON object"),
    "hidden_act": (str, "the name of a function"), "hidden_activation": (str, "the name of a function"),
}  # fmt: skip

#: Parameters that a configuration may ask for beyond what the weights hold: heads that are made anew.
_FRESH = 20_000_000


@contextmanager
def loading(where: object) -> Iterator[None]:
    """Makes one error, which names it, of whatever comes of a checkpoint that is damaged or was forged.

    Raises:
        CheckpointError: instead of any error but this project's, the system's, and that memory is out.
    """
    try:
        yield
    except CheckpointError as error:
        if str(where) in str(error):
            raise
        raise CheckpointError(f"{where}: {error}") from error
    except (PhonemicError, OSError, MemoryError):
        raise
    except Exception as error:
        # transformers 4 asks for protobuf while it handles another error, and hides it where that is not installed.
        if isinstance(error, ImportError) and isinstance(error.__context__, PhonemicError):
            with loading(where):
                raise error.__context__ from None
        said = " ".join(str(error).split())
        raise CheckpointError(
            f"{where}: cannot be loaded ({type(error).__name__}: {said[:300]}{'…' if len(said) > 300 else ''})"
        ) from error


def check_folder(folder: Path) -> None:
    """Refuses a checkpoint whose files point elsewhere, or ask for more than its weights can be.

    Arguments:
        folder: of the checkpoint; one without a configuration is passed over.

    Raises:
        CheckpointError: it is one of these; the message names the file and the field.
    """
    if (folder / "adapter_config.json").exists():
        raise CheckpointError(
            f"{folder}: holds an adapter, which names another checkpoint; load that one, then the adapter with peft"
        )
    for path in folder.iterdir():
        if is_stream(path):  # reading would wait, or never end
            raise CheckpointError(f"{path}: is a device or a FIFO, not a file of a checkpoint")
    if not (folder / CONFIG).is_file():
        return
    config = read_object(folder / CONFIG, CheckpointError)
    check_config(config, folder / CONFIG)
    for path in sorted(folder.glob("*.index.json")):
        index = checked(read_object(path, CheckpointError), {"weight_map": dict}, path, CheckpointError)
        for name in index["weight_map"].values():
            _check_name(name, path)
    held = sum(path.stat().st_size for kind in ("*.safetensors", "*.bin") for path in folder.glob(kind))
    if held:
        check_size(config, held, folder / CONFIG)


def check_size(config: dict[str, Any], held: int, where: object) -> None:
    """Refuses a configuration that asks for more than its weights can be.

    Arguments:
        config: the configuration, see :func:`check_config`.
        held: bytes of the weights.
        where: names the configuration in errors.

    Raises:
        CheckpointError: it does.
    """
    layers, tables = _parameters(config)
    if layers > 4 * held or layers + tables > 4 * held + _FRESH:
        raise CheckpointError(
            f"{where}: describes a model of about {layers + tables:,} parameters, but its weights have {held:,} bytes"
        )


def check_if_ours(where: object) -> None:
    """:func:`check_folder`, of a folder whose configuration is one of this project's; all else is passed over.

    transformers 4 looks for an adapter, and takes the checkpoint that it names, before it reads the configuration.

    Raises:
        CheckpointError: see there.
    """
    if not isinstance(where, str | PathLike) or not (Path(where) / CONFIG).is_file():
        return
    try:
        kind = read_object(Path(where) / CONFIG, CheckpointError).get("model_type")
    except CheckpointError:  # what it is, transformers says
        return
    if isinstance(kind, str) and kind.startswith("phonemic-"):
        check_folder(Path(where))


def check_config(config: object, where: object) -> None:
    """Refuses a configuration, or a part of one, that names files or programs, or has numbers out of all proportion.

    Raises:
        CheckpointError: it is one of these; the message names the field.
    """
    if isinstance(config, list):
        for value in config:
            check_config(value, where)
    if not isinstance(config, Mapping):
        return
    for name, value in config.items():
        if str(name).endswith("_implementation"):
            for one in value.values() if isinstance(value, dict) else [value]:
                if one is not None and (not isinstance(one, str) or "/" in one):
                    raise CheckpointError(f"{where}: {name} is {one!r}: a checkpoint must not name code to run")
        elif name == "transformers_weights" and value is not None:
            _check_name(value, where)
        elif name in SIZES and value is not None:
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= SIZES[name]:
                raise CheckpointError(f"{where}: {name} is {value!r}, not a number from 0 to {SIZES[name]:,}")
        elif name in _TYPES and value is not None and not isinstance(value, _TYPES[name][0]):
            raise CheckpointError(f"{where}: {name} is of type {type(value).__name__}, not {_TYPES[name][1]}")
        else:
            check_config(value, where)


def _check_name(name: object, where: object) -> None:
    if not isinstance(name, str) or name in ("", "..") or Path(name).name != name or set(name) & set("\\:\0"):
        raise CheckpointError(f"{where}: {name!r} cannot be the name of a file of this folder")


def _parameters(config: dict[str, Any]) -> tuple[int, int]:
    """About how many parameters an encoder of BERT's fields has in its layers, and in its tables and a new head."""
    width, inner = config.get("hidden_size") or 0, config.get("intermediate_size") or 0
    rows = sum(config.get(name) or 0 for name in ("vocab_size", "max_position_embeddings", "type_vocab_size"))
    labels = max(config.get("num_labels") or 0, len(config.get("id2label") or ()))
    layers = config.get("num_hidden_layers") or 0
    kernel, buckets = config.get("conv_kernel_size") or 0, config.get("num_bigram_buckets") or 0
    buckets += config.get("num_form_bigram_buckets") or 0
    tables = (rows + labels + kernel * width) * width + buckets * BIGRAM_SIZE
    return layers * (4 * width + 2 * inner) * width, tables

"""Where a checkpoint comes from, and what its ids mean: the file next to those of ``save_pretrained``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phonemic.files.jsons import checked, read_object
from phonemic_bert.errors import RunError

ORIGIN = "pretraining.json"


def read_origin(checkpoint: Path) -> dict[str, Any]:
    """The record of a checkpoint's pretraining.

    Raises:
        RunError: it was not made by ``phonemic-bert pretrain``.
    """
    try:
        origin = read_object(checkpoint / ORIGIN, RunError)
    except (OSError, RunError) as error:
        raise RunError(f"{checkpoint}: no readable {ORIGIN} in it; give the final folder of a run ({error})") from error
    return checked(
        origin, {"settings": dict, "corpus": dict, "log": list, "versions": dict}, checkpoint / ORIGIN, RunError
    )

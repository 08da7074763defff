"""Where a checkpoint comes from, and what its ids mean: the file beside those of ``save_pretrained``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from phonemic_bert.errors import RunError

ORIGIN = "pretraining.json"


def read_origin(checkpoint: Path) -> dict[str, Any]:
    """What a checkpoint says of its pretraining.

    Raises:
        RunError: it was not made by ``phonemic-bert pretrain``.
    """
    try:
        origin: dict[str, Any] = json.loads((checkpoint / ORIGIN).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{checkpoint}: no readable {ORIGIN} in it; give the final folder of a run") from error
    return origin

"""Packages that an extra installs, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from phonemic.errors import PhonemicError


def require(package: str, extra: str = "cli") -> Any:
    """Imports an optional package, which an extra of this one installs.

    Raises:
        PhonemicError: it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise PhonemicError(f'this needs {package.partition(".")[0]}: pip install "phonemic[{extra}]"') from error

"""The tree that the tests stand in; a source distribution lacks parts of it, and tests of those skip there."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def needs(*parts: str, whole_module: bool = False) -> pytest.MarkDecorator:
    """Marks a test that reads parts of the tree.

    Arguments:
        parts: their paths from its root; the first that is missing is the reason.
        whole_module: skips here and now what imports or reads the parts at its top.
    """
    missing = [part for part in parts if not (ROOT / part).exists()]
    reason = f"needs the source tree's {missing[0]}" if missing else ""
    if missing and whole_module:
        pytest.skip(reason, allow_module_level=True)
    return pytest.mark.skipif(bool(missing), reason=reason)

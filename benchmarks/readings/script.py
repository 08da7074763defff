"""Traditional characters as the simplified ones that they are read like, from OpenCC's tables (Apache-2.0)."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path


def _table(name: str) -> dict[str, list[str]]:
    spec = find_spec("opencc")
    if spec is None or spec.origin is None:
        raise ImportError("opencc is not installed: pip install opencc-python-reimplemented")
    lines = (Path(spec.origin).with_name("dictionary") / f"{name}.txt").read_text("utf-8").splitlines()
    return {key: values.split() for key, _, values in (line.partition("\t") for line in lines) if values}


@cache
def simplified() -> dict[str, str]:
    """Traditional, Taiwan and Hong Kong form of a character -> the simplified character."""
    table = {char: others[0] for char, others in _table("TSCharacters").items() if len(char) == 1}
    simple = set(table.values())  # 么 and 抬 are simplified characters, whatever else the tables have for them
    for name in ("TWVariants", "HKVariants"):
        for char, forms in _table(name).items():
            for form in forms:
                if len(form) == 1 and form not in table:
                    table[form] = table.get(char, char)
    return {char: other for char, other in table.items() if char != other and char not in simple}

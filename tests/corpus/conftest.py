"""Fixtures of the corpus tests: text of all kinds."""

from __future__ import annotations

import random
import unicodedata

import pytest

pytest.importorskip("pyarrow", reason="needs the corpus extra")
pytest.importorskip("matplotlib", reason="needs the corpus extra")

from corpus_helpers import EXAMPLES


@pytest.fixture(autouse=True)
def empty_figures_but_where_they_are_tested(request):
    if request.node.get_closest_marker("figures") is None:
        request.getfixturevalue("empty_figures")


@pytest.fixture(scope="session")
def lines():
    """Lines of a language with foreign, empty, decomposed and repeated ones among them: make(lang, count, seed)."""

    def make(lang, count, seed=0):
        chance = random.Random(seed)
        sentences = (EXAMPLES / f"sentences-{lang}.txt").read_text("utf-8").split("\n")
        words = " ".join(sentences).split() if lang == "vi" else list("".join(sentences))
        others = [
            "The quick brown fox",
            "",
            "  ",
            "!!! ...",
            "Привет мир",
            "COVID-19 iPhone 15",
            "🎉🎉",
            "Tôi rất like it",
        ]
        made = []
        for _ in range(count):
            kind = chance.random()
            line = (" " if lang == "vi" else "").join(chance.choices(words, k=chance.randint(1, 40)))
            if kind < 0.2:
                line = chance.choice(others)
            elif kind < 0.3 and made:
                line = chance.choice(made)
            elif kind < 0.4:
                line = unicodedata.normalize("NFD", line) + "\u3000\u00a0\r"
            made.append(line)
        return made

    return make


@pytest.fixture
def source(tmp_path, lines):
    """A file of Vietnamese lines."""
    path = tmp_path / "in.txt"
    path.write_text("\n".join(lines("vi", 150)) + "\n", "utf-8")
    return path

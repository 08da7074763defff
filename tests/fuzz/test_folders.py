"""Damaged and forged folders, as many as take seconds; ``fuzz_folders.py`` makes more."""

from importlib.util import find_spec

import pytest

pytest.importorskip("resource", reason="limits of POSIX")

import forking
from folder_checks import TARGETS, batch

NEEDS = ("torch", "transformers", "accelerate", "pyarrow", "matplotlib", "sklearn", "seqeval", "tokenizers", "spacy")

pytestmark = [
    pytest.mark.skipif(not forking.AVAILABLE, reason="forks"),
    pytest.mark.filterwarnings("ignore::phonemic.OtherTablesWarning"),  # of damaged digests
]


@pytest.mark.parametrize("target", TARGETS)
def test_cases(target):
    for package in NEEDS:
        if find_spec(package) is None:
            pytest.skip(f"needs {package}")
    assert batch(target, list(range(8))) == ""

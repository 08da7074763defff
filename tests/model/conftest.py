"""Fixtures of the model tests: tiny models, packed ids, and lines of text in both languages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Models this small compute faster in one thread, by far where other processes want the cores."""
    pytest.importorskip("torch", reason="needs the model extra").set_num_threads(1)


@pytest.fixture(autouse=True)
def no_curves(request, monkeypatch):
    """Leave out the curve of a run's losses, which takes longer to draw than many a run, unless the test is of it."""
    card = sys.modules.get("phonemic_bert.pretraining.card")
    if card is not None and request.node.get_closest_marker("figures") is None:
        monkeypatch.setattr(card, "_draw", lambda *_: False)


@pytest.fixture(scope="session")
def vi_lines() -> list[str]:
    return (EXAMPLES / "sentences-vi.txt").read_text("utf-8").splitlines()


@pytest.fixture(scope="session")
def zh_lines() -> list[str]:
    return (EXAMPLES / "sentences-zh.txt").read_text("utf-8").splitlines()


@pytest.fixture
def tiny():
    """Makes the configuration of a two-layer model small enough for a test; BERT's fields as keywords."""
    pytest.importorskip("torch", reason="needs the model extra")
    from phonemic_bert import PhonemicBertConfig

    def make(lang="vi", **fields):
        shape = {"num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
        return PhonemicBertConfig(lang, **{**shape, "max_position_embeddings": 64, **fields})

    return make


@pytest.fixture
def random_ids():
    """Makes packed ids (B, N) of random symbols that are not special, and a mask of random lengths, from a seed."""
    torch = pytest.importorskip("torch", reason="needs the model extra")

    def make(batch=4, length=11, vocab_size=256, seed=0):
        generator = torch.Generator().manual_seed(seed)
        parts = torch.randint(6, vocab_size, (batch, length, 3), generator=generator)
        ids = parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16
        lengths = torch.randint(length // 2, length + 1, (batch,), generator=generator)
        lengths[0] = length
        mask = (torch.arange(length) < lengths[:, None]).long()
        return ids * mask, mask

    return make


@pytest.fixture(scope="session")
def corpus(tmp_path_factory, vi_lines):
    """A small prepared corpus."""
    from corpora import phonemic_corpus

    return phonemic_corpus(tmp_path_factory.mktemp("corpora") / "vi", vi_lines, repeat=6)


@pytest.fixture(scope="session")
def straight(tmp_path_factory, corpus):
    """A pretraining run that nothing interrupted."""
    from pretraining_helpers import settings
    from rich.console import Console

    from phonemic_bert.pretraining.run import pretrain

    folder = tmp_path_factory.mktemp("runs") / "straight"
    assert pretrain(settings(), corpus, folder, Console(quiet=True)) == 0
    return folder

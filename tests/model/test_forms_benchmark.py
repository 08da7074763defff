"""The benchmark of forms asks all models the same: noise that all of them see, bits that their own losses have."""

import json
import math

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from click.testing import CliRunner

from benchmarks import forms
from phonemic import Tokenizer, baselines
from phonemic.corpus import open_corpus
from phonemic.inventory import TRIPLE
from phonemic_bert.pretraining.flat import FlatCorpus

pytestmark = pytest.mark.benchmarks

SMALL = [
    "model.num_hidden_layers=1",
    "model.hidden_size=24",
    "model.num_attention_heads=3",
    "model.intermediate_size=40",
    "sequences.max_seq_length=32",
    "optimization.max_steps=3",
    "optimization.batch_size=8",
    "machine.per_device_train_batch_size=8",
    "evaluation.held_out_documents=20",
    "output.tensorboard=false",
]
LINES = [
    "银行行长在重庆开会，会上说了很重要的事。",
    "他的头发长得很长，朋友都觉得应该理发了。",
    "我们去公园玩，天气很好。",
]


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A table of four designs, a folder of texts and a folder to work in."""
    data = tmp_path / "data"
    (data / "tokenizers").mkdir(parents=True)
    texts = [f"{line[:at]}{other}" for line in LINES for at in range(3, len(line)) for other in LINES]
    (data / "text.txt").write_text("\n".join(texts) + "\n", "utf-8")
    baselines.train("Character", texts, data / "tokenizers", 1_000)
    table = {
        "corpora": {
            "zh-form": {"lang": "zh", "texts": ["text.txt"], "options": ["--form"]},
            "zh-character": {"lang": "zh", "texts": ["text.txt"], "tokenizer": "Character"},
            "zh-subword": {"lang": "zh", "texts": ["text.txt"], "tokenizer": "Subword", "vocab_size": 80},
        },
        "settings": {"preset": "micro", "seeds": [0], "noise": [0.0, 0.5], "overrides": SMALL},
        "designs": {
            "form": {"on": ["zh-form"], "set": ["model.forms=joint"]},
            "sound": {"on": ["zh-form"], "set": []},
            "Character": {"on": ["zh-character"], "set": []},
            "Subword": {"on": ["zh-subword"], "set": []},
        },
    }
    monkeypatch.setattr(forms, "TABLE", table)
    monkeypatch.setattr(forms, "FIGURES", tmp_path / "forms.json")
    return data, tmp_path / "work"


def test_all_models_are_asked_the_same(small, tmp_path, monkeypatch):
    data, work = small
    done = CliRunner().invoke(forms.main, [str(data), str(work)], catch_exceptions=False)
    assert done.exit_code == 0
    form, sound, character, subword = json.loads((tmp_path / "forms.json").read_text())["results"]
    assert [one["design"] for one in (form, sound, character, subword)] == ["form", "sound", "Character", "Subword"]
    assert subword["noise"] == {}
    assert all(one["bits_per_character"] > 0 for one in (form, sound, character, subword))
    assert len({part["positions"] for one in (form, sound, character) for part in one["noise"].values()}) == 1
    assert sound["noise"]["0"] == sound["noise"]["0.5"]
    assert "character_bits" not in sound["noise"]["0"]
    for one in (form, character):
        assert one["noise"]["0"]["bits"] != one["noise"]["0.5"]["bits"]
        for part in one["noise"].values():
            assert 0 < part["bits"] <= part["character_bits"] + 1e-6
            assert part["character_right"] <= part["right"] + 0.5
        assert one["seconds"]["processor"] > 0

    monkeypatch.setattr(forms, "learn", lambda *arguments: pytest.fail("ran again"))
    again = CliRunner().invoke(forms.main, [str(data), str(work)], catch_exceptions=False)
    assert again.output.count("nan") == 1

    flat, characters = (
        FlatCorpus(open_corpus(work / "corpora" / name), verify=False) for name in ("zh-form", "zh-character")
    )
    tokens = forms.tokens_of(characters, data / "tokenizers")
    held = forms.Held(flat, characters, tokens, 32)
    noisy, tokenizer = held.noisy(0.5), Tokenizer("zh", form=True)
    changed = 0
    for heard, seen, before, plain in zip(*noisy.values(), *held.rows.values(), strict=True):
        assert (heard & TRIPLE == before & TRIPLE).all()
        assert (heard != before).tolist() == (seen != plain).tolist()
        for at in (heard != before).nonzero()[:, 0].tolist():
            changed += 1
            assert tokenizer.decode([int(heard[at])]) == tokens[int(seen[at]) - characters.symbols.shift]
    assert changed


def test_bits_are_the_models_own_losses(small):
    data, work = small
    CliRunner().invoke(forms.main, [str(data), str(work), "--only", "form"], catch_exceptions=False)
    flat = FlatCorpus(open_corpus(work / "corpora" / "zh-form"), verify=False)
    scorer = forms.Scorer(work / "runs" / "zh-form" / "form" / "final", flat)
    symbols = flat.symbols
    row = torch.tensor([symbols.cls, *flat.ids[:20].tolist(), symbols.sep])
    mask = torch.arange(len(row)) == 3
    found = forms.scores(scorer, [row], [row], [mask])
    labels = torch.where(mask, row, -100)[None]
    with torch.no_grad():
        loss = scorer.model(row.masked_fill(mask, symbols.mask)[None], labels=labels).loss
    assert found["character_bits"] == pytest.approx(loss.item() / math.log(2), rel=1e-4)
    assert found["positions"] == 1

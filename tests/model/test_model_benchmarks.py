"""The model's benchmarks measure what they say."""

import importlib.util
import json
import lzma
import math
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("click", reason="needs the model extra")

from torch.utils.flop_counter import FlopCounterMode

from phonemic_bert import COMPONENTS

pytestmark = pytest.mark.benchmarks

FOLDER = Path(__file__).parents[2] / "benchmarks"


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_baselines_are_counted_right():
    generator = np.random.default_rng(0)
    parts = generator.integers(0, 5, (2, 30, 8, 3))
    train, test = parts[..., 0] | parts[..., 1] << 8 | parts[..., 2] << 16
    train, test = train % 0x020000, test % 0x020000  # few enough for pairs to come again
    chosen = generator.random(test.shape) < 0.4
    chosen[:, 0] = False
    found = load("learning").baselines(train.astype(np.int64), test.astype(np.int64), chosen, 7)
    for slot, name in enumerate(COMPONENTS):
        symbol = lambda packed, at=slot: int(packed) >> 8 * at & 255  # noqa: E731
        singles = Counter(symbol(packed) for row in train for packed in row[1:])
        pairs = {
            "bigram": Counter((symbol(a), symbol(b)) for row in train for a, b in pairwise(row)),
            "syllable bigram": Counter((int(a), symbol(b)) for row in train for a, b in pairwise(row)),
        }
        entropies = []
        for row, places in zip(test, chosen, strict=True):
            for at in np.flatnonzero(places):
                target = symbol(row[at])
                single = (singles[target] + 1) / (singles.total() + 7)
                scores = [single]
                for kind, before in (("bigram", symbol(row[at - 1])), ("syllable bigram", int(row[at - 1]))):
                    followers = {b: n for (a, b), n in pairs[kind].items() if a == before}
                    total, types = sum(followers.values()), len(followers)
                    scores.append((followers.get(target, 0) + types * single) / (total + types) if total else single)
                entropies.append(-np.log(scores))
        assert [found[kind][name] for kind in found] == pytest.approx(np.mean(entropies, axis=0).tolist())


@pytest.mark.parametrize("name", ["PhonemicBERT 256", "BERT 22,675"])
def test_arithmetic_is_what_torch_counts(name):
    speed = load("training_speed")
    entries = speed.MODELS[name]
    model = speed.build(entries, "paper-tiny", 64).train()
    model.set_attn_implementation("eager") if hasattr(model, "set_attn_implementation") else None
    batch = speed.batches(entries, 4, 64, 1, "cpu")[0]
    with FlopCounterMode(display=False) as counter:
        model(**batch).loss.backward()
    assert speed.arithmetic(entries, model.config, 64) * 4 * 64 == pytest.approx(counter.get_total_flops(), rel=0.05)


def test_learning_runs(tmp_path, vi_lines):
    text = tmp_path / "lines.txt"
    text.write_text("\n".join(vi_lines * 20), "utf-8")
    command = [
        sys.executable,
        FOLDER / "learning.py",
        text,
        "--out",
        tmp_path / "out",
        "--steps",
        "40",
        "--length",
        "32",
    ]
    done = subprocess.run([*map(str, command), "--threads", "1"], capture_output=True, text=True, check=False)
    assert "nats a position" in done.stdout, done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["curve"][-1]["step"] == 40
    assert record["curve"][-1]["rime"] == record["model"]["rime"] < record["unigram"]["rime"] < math.log(256)


def test_curves_are_those_of_the_checkpoints(tmp_path, monkeypatch):
    from click.testing import CliRunner

    curves = load("curves")
    monkeypatch.setattr(curves, "FIGURES", tmp_path / "curves.json")
    folder = Path(__file__).parents[2] / "model" / "checkpoints" / "phonemic-bert-mini-zh"
    log = json.loads((folder / "pretraining.json").read_text("utf-8"))["log"]
    ends = [row["eval_bits_per_character"] for row in log if "eval_loss" in row]
    for given in (["--zh", f"ours={folder}"], []):  # then from what was kept
        done = CliRunner().invoke(curves.main, [*given, "--out", str(tmp_path / "curves.svg")])
        assert done.exit_code == 0, done.output
        drawn = (tmp_path / "curves.svg").read_text("utf-8")
        assert f"ours, {ends[-1]:.2f}" in drawn
    kept = json.loads((tmp_path / "curves.json").read_text("utf-8"))["zh"]["ours"]
    assert kept["bits"] == pytest.approx(ends, abs=1e-4)
    (tmp_path / "curves.json").unlink()
    assert "nothing to draw" in CliRunner().invoke(curves.main, ["--out", str(tmp_path / "none.svg")]).output


def test_attested_syllables_are_counted_as_a_counter_counts_them(tmp_path, monkeypatch):
    from phonemic import Tokenizer
    from phonemic_bert.triples import triples

    attested = load("attested")
    monkeypatch.setattr(attested, "TEXTS", {"zh": ("one", "two")})
    (tmp_path / "zh" / "raw").mkdir(parents=True)
    texts = {"one": "银行行长慢慢地走\n\nabc 123", "two": "跑得快，地上有雪"}
    for name, text in texts.items():
        (tmp_path / "zh" / "raw" / f"{name}.txt.xz").write_bytes(lzma.compress(text.encode()))
    found = attested.counted("zh", tmp_path)
    listed = triples("zh")
    assert set(found) == set(listed.packed[: -listed.characters].tolist())
    for packed, count in found.items():
        each = [
            sum(Tokenizer("zh", readings=one).encode(text).ids.tolist().count(packed) for text in texts.values())
            for one in ("pypinyin", "context")
        ]
        assert count == max(each)
    assert sum(found.values()) > 15


def test_pairs_are_counted_as_a_counter_counts_them(tmp_path, monkeypatch):
    from phonemic import Tokenizer
    from phonemic.inventory import TRIPLE
    from phonemic_bert.triples import triples

    attested = load("attested")
    texts = {"raw/one": "银行行长慢慢地走\n\nAbc abc，, 123 é", "more/two": "跑得快，地上有雪 ㊗️"}
    for name, text in texts.items():
        path = tmp_path / "zh" / f"{name}.txt.xz"
        path.parent.mkdir(parents=True)
        path.write_bytes(lzma.compress(text.encode()))
    most = {}
    for readings in ("pypinyin", "context"):
        tokenizer = Tokenizer("zh", readings=readings, form=True)
        ids = [
            one for text in texts.values() for line in text.split("\n") for one in tokenizer.encode(line).ids.tolist()
        ]
        for one in ids:
            if one & TRIPLE in triples("zh", "attested").packed and 0 < one >> 24 < 127:
                most[one] = max(most.get(one, 0), ids.count(one))
    assert attested.counted_forms("zh", tmp_path) == most
    assert len(most) > 20


def test_the_costs_of_heads_are_of_steps_that_learn():
    costs = load("head_cost")
    heads = [
        (type(one.model.heads).__name__, one.model.config.syllable_inventory)
        for one in (costs.Trained("zh", fields) for fields in costs.DESIGNS.values())
    ]
    assert heads == [("IndependentHeads", "attested"), ("JointHead", "attested"), ("JointHead", "full")]
    batch = costs.batch("zh")
    chosen = batch["labels"] != -100
    assert abs(chosen.float().mean() - costs.MASKED) < 0.03
    assert (batch["input_ids"][chosen] == batch["input_ids"][chosen][0]).all()
    trained = costs.Trained("zh", {})
    before = trained.model.heads.biases.detach().clone()
    assert trained.step() > 0
    assert not torch.equal(trained.model.heads.biases, before)

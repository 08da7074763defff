"""The benchmark of designs learns, measures, continues where it was, and judges all models in one unit."""

import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from click.testing import CliRunner

from benchmarks import designs
from benchmarks.held_out import Scorer, _summed
from phonemic.corpus import open_corpus
from phonemic_bert.pretraining.flat import FlatCorpus

pytestmark = pytest.mark.benchmarks

SMALL = [
    "model.num_hidden_layers=1",
    "model.hidden_size=24",
    "model.num_attention_heads=3",
    "model.intermediate_size=40",
    "sequences.max_seq_length=48",
    "optimization.max_steps=3",
    "optimization.batch_size=8",
    "machine.per_device_train_batch_size=8",
    "evaluation.held_out_documents=20",
    "output.tensorboard=false",
]


@pytest.fixture
def small(monkeypatch, tmp_path, vi_lines):
    """A table of three designs, a folder of texts and a treebank, and a folder to work in."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "text.txt").write_text("\n".join(vi_lines * 4) + "\n", "utf-8")
    (data / "bank.conllu").write_text("".join(f"# text = {line}\n" for line in vi_lines), "utf-8")
    table = {
        "corpora": {"vi": {"lang": "vi", "texts": ["text.txt"]}},
        "treebanks": {"sentences": 9, "vi": ["bank.conllu"]},
        "settings": {"preset": "paper-tiny", "seeds": [0, 1], "overrides": SMALL},
        "designs": {
            "paper": {"on": ["vi"], "set": []},
            "joint, 5 %": {"on": ["vi"], "set": ["model.head=joint", "model.backbone=modernbert"]},
            "longer": {
                "on": ["vi"],
                "after": "joint, 5 %",
                "set": ["model.head=joint", "model.backbone=modernbert", "sequences.max_seq_length=64"],
            },
        },
    }
    monkeypatch.setattr(designs, "TABLE", table)
    monkeypatch.setattr(designs, "FIGURES", tmp_path / "designs.json")
    return data, tmp_path / "work"


def test_from_text_to_a_table(small, tmp_path, monkeypatch):
    data, work = small
    done = CliRunner().invoke(designs.main, [str(data), str(work)], catch_exceptions=False)
    assert done.exit_code == 0
    figures = json.loads((tmp_path / "designs.json").read_text())
    assert [(one["design"], one["seed"]) for one in figures] == [
        (name, seed) for name in ("paper", "joint, 5 %", "longer") for seed in (0, 1)
    ]
    assert [one["steps"] for one in figures] == [3, 3, 3, 3, 6, 6]
    assert figures[4]["seconds"]["processor"] > figures[2]["seconds"]["processor"]
    assert figures[0]["bits"] != figures[1]["bits"]
    for one in figures:
        assert one["seconds"]["processor"] > 0
        assert one["bits"] > 8
        assert 0 <= one["treebank"] < 1
    assert figures[0]["existing"] < figures[0]["bits"]
    assert "existing" not in figures[2]
    for first, second in zip(figures[::2], figures[1::2], strict=True):
        mean = (first["bits"] + second["bits"]) / 2
        assert f"| {mean:.2f} | {first['bits']:.2f}, {second['bits']:.2f} |" in done.output

    monkeypatch.setattr(designs, "_run", lambda *arguments: arguments[0][1] == "prepare" or pytest.fail("ran again"))
    again = CliRunner().invoke(designs.main, [str(data), str(work), "--only", "joint*"], catch_exceptions=False)
    assert "joint, 5 %" in again.output
    assert "paper" not in again.output

    (tmp_path / "designs.json").write_text(json.dumps(figures[:1]))
    shutil.rmtree(work)
    kept = CliRunner().invoke(designs.main, [str(data), str(work), "--finished"], catch_exceptions=False)
    assert f"| {figures[0]['bits']:.2f} | {figures[0]['bits']:.2f} |" in kept.output
    assert "joint, 5 %" not in kept.output
    assert json.loads((tmp_path / "designs.json").read_text()) == figures[:1]


def test_a_pattern_that_fits_nothing_is_an_error(small):
    data, work = small
    done = CliRunner().invoke(designs.main, [str(data), str(work), "--only", "x*"])
    assert done.exit_code == 2
    assert "no design is called 'x*': there are paper, joint, 5 %, longer" in done.output


def test_judged_is_the_mean_of_the_models_own_losses(straight, corpus):
    """The scores of a run of the paper's design: against its heads, one row and one position at a time."""
    flat = FlatCorpus(open_corpus(corpus), verify=False)
    scorer = Scorer(straight / "final", flat)
    symbols = flat.symbols
    rows = [
        torch.tensor([symbols.cls, *flat.ids[flat.offsets[n] : flat.offsets[n + 1]][:20].tolist(), symbols.sep])
        for n in range(5)
    ]
    masks = [torch.arange(len(row)) == 3 for row in rows]
    found = scorer.score(rows, masks)
    for row, mask, bits, right in zip(rows, masks, found.bits, found.right, strict=True):
        with torch.no_grad():
            logits = scorer.model(row.masked_fill(mask, symbols.mask)[None]).logits
        parts = [int(row[3]) & 255, int(row[3]) >> 8 & 255, int(row[3]) >> 16]
        likely = sum(part[0, 3].log_softmax(-1)[one].item() for part, one in zip(logits, parts, strict=True))
        assert bits.item() == pytest.approx(-likely / 0.6931471805599453, rel=1e-4)
        assert right.dtype == torch.bool
    assert (found.existing <= found.bits).all()


def test_entries_that_are_read_alike_are_added_up():
    logits = torch.tensor([[0.1, 0.2, 0.3, 0.25, 0.15]]).log()
    found = _summed(logits, torch.tensor([1]), torch.tensor([0, 1, 2, 1, 0]))
    assert found.bits.item() == pytest.approx(-torch.tensor(0.45).log2().item())
    assert found.right.all()

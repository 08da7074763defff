"""The benchmark of the shipped checkpoints asks all of them for the same positions, as a run masks them."""

import json

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")

from click.testing import CliRunner
from source_tree import needs

from benchmarks import checkpoints
from phonemic_bert.tokenization.positions import SPECIAL_IDS

pytestmark = [pytest.mark.benchmarks, needs("model/checkpoints")]
LINES = ["今天天气很好，我们去公园吧。", "他 在 home 等你🎉", "银行行长在重庆开会。", "好", ""]


def test_every_checkpoint_is_asked_the_same(tmp_path, monkeypatch):
    held = tmp_path / "zh" / "held-out"
    held.mkdir(parents=True)
    monkeypatch.setattr(checkpoints, "FIGURES", tmp_path / "checkpoints.json")
    monkeypatch.setattr(checkpoints, "cloze", lambda checkpoint, lang: (1, 2))
    monkeypatch.setattr(checkpoints, "held_out", lambda work, lang: LINES * 20)
    done = CliRunner().invoke(checkpoints.main, [str(tmp_path), "--lang", "zh"], catch_exceptions=False)
    assert done.exit_code == 0
    results = json.loads((tmp_path / "checkpoints.json").read_text())["results"]
    assert len(results) == len(list(checkpoints.CHECKPOINTS.glob("phonemic-bert-*-zh"))) >= 1
    assert len({(one["positions"], one["lines"]) for one in results}) == 1
    for one in results:
        assert 0 < one["bits"] < 12
        assert one["bits"] < one["character_bits"] < 14


def test_only_everyday_lines_are_asked(tmp_path):
    held = tmp_path / "vi" / "held-out"
    held.mkdir(parents=True)
    table = checkpoints.tomllib.loads(checkpoints.SHARES.read_text("utf-8"))["vi"]
    for source in table:
        (held / f"{source.split('/')[-1]}.txt").write_text(f"{source}\n", "utf-8")
    assert checkpoints.held_out(tmp_path, "vi") == [source for source in table if source.startswith("vi/more/")]


def test_neither_ends_nor_unknown_positions_are_masked():
    name = next(path.name for path in sorted(checkpoints.CHECKPOINTS.glob("phonemic-bert-*-zh")))
    checkpoint = checkpoints.Checkpoint(name)
    rows = [checkpoint.row("好🎉" * 60)]
    chosen = torch.stack([checkpoints.mask(number, rows, checkpoint.symbols) for number in range(50)])
    hit = rows[0][chosen.any(0)]
    assert chosen.any()
    assert not set(hit.tolist()) & set(SPECIAL_IDS.values())
    assert 0.1 < chosen[:, rows[0] == checkpoint.row("好")[1]].float().mean() < 0.2

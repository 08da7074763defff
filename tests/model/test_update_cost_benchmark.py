"""The benchmark of what an update costs makes the updates of a real run."""

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from click.testing import CliRunner
from corpora import character_corpus, phonemic_corpus
from pretraining_helpers import EXPECTED_WARNINGS, log, overrides, settings
from rich.console import Console

from benchmarks import update_cost
from phonemic_bert.pretraining.run import pretrain

pytestmark = [pytest.mark.benchmarks, EXPECTED_WARNINGS]

#: Nothing is random but the first weights and the masks, and a batch is not parted.
PLAIN = {
    "model__hidden_dropout_prob": 0.0,
    "model__attention_probs_dropout_prob": 0.0,
    "machine__per_device_train_batch_size": 8,
    "output__logging_steps": 1,
    "optimization__max_steps": 2,
    "optimization__bf16": False,
    "sequences__attn_implementation": "eager",
}


@pytest.mark.parametrize("make", [phonemic_corpus, character_corpus])
def test_an_update_learns_from_what_a_run_learns_from(make, tmp_path, vi_lines):
    corpus = make(tmp_path / "corpus", vi_lines)
    assert pretrain(settings(**PLAIN), corpus, tmp_path / "run", Console(quiet=True)) == 0
    first = next(row["loss"] for row in log(tmp_path / "run") if row["step"] == 1)
    one = update_cost.Updating(corpus, settings(**PLAIN), compiled=False)
    before = {name: value.clone() for name, value in one.model.state_dict().items()}
    assert one.update(0) > 0
    assert one.loss == pytest.approx(first, rel=1e-5)
    assert any(not torch.equal(before[name], value) for name, value in one.model.state_dict().items())


def test_corpora_take_turns(tmp_path, vi_lines, monkeypatch):
    """Without compiling, which takes long."""
    monkeypatch.setattr(update_cost, "compile_training", lambda model: None)
    corpora = [phonemic_corpus(tmp_path / "vi", vi_lines), character_corpus(tmp_path / "characters", vi_lines)]
    options = [part for value in overrides(**PLAIN) for part in ("--set", value)]
    command = [*map(str, corpora), "--preset", "paper-tiny", "--turns", "2", "--before", "1", *options]
    done = CliRunner().invoke(update_cost.main, command, catch_exceptions=False)
    rows = [line.split(" | ") for line in done.output.splitlines()[-4:]]
    assert [(row[0], row[1]) for row in rows] == [
        (f"| {name}", how) for how in ("compiled", "plain") for name in ("vi", "characters")
    ]
    assert [row[3] for row in rows[::2]] == ["1.00", "1.00"]

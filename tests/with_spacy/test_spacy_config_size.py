"""Configs whose steps are chosen by the size of the training set."""

import pytest

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402

from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.configs import ENCODERS, TASKS, config_text, steps_for  # noqa: E402


def training(*given):
    return spacy.util.load_config_from_str(config_text(*given[:4], **given[4]), interpolate=True)["training"]


@pytest.mark.parametrize("task", TASKS)
def test_four_times_the_words_take_twice_the_steps(task):
    small, large = (steps_for(task, words, True) for words in (100_000, 400_000))
    assert large == pytest.approx(2 * small, rel=0.01)
    assert steps_for(task, 100_000, False) == pytest.approx(2 * small, rel=0.01)
    assert steps_for(task, 1, True) >= 100
    with pytest.raises(ValueError, match="at least 1"):
        steps_for(task, 0, True)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("task", TASKS)
def test_encoders_see_as_many_words_whatever_their_batches(task, encoder):
    found = training(task, "zh", encoder, None, {"train_words": 90_000})
    bert = training(task, "zh", "bert", None, {"train_words": 90_000})
    words = [one["max_steps"] * one["batcher"]["size"] for one in (found, bert)]
    assert words[0] == pytest.approx(words[1], rel=0.01)


def test_a_configs_times_go_by_its_steps():
    found = training("ner", "vi", "bert", "folder", {"train_words": 100_000})
    steps = found["max_steps"]
    assert found["optimizer"]["learn_rate"]["total_steps"] == steps
    assert found["eval_frequency"] < found["patience"] < steps
    assert training("ner", "vi", "bert", "folder", {"train_words": 100_000, "steps": 70})["max_steps"] == 70
    assert training("ner", "vi", "bert", "folder", {})["max_steps"] == 20_000


def test_the_command_counts_the_words_of_a_file(tmp_path, capsys):
    vocab = spacy.blank(
        "vi", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}}
    ).vocab
    docs = [Doc(vocab, ["một", "hai", "ba"] * 400) for _ in range(50)]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    assert main(["config", "pos", "--train", str(tmp_path / "train.spacy")]) == 0
    assert f"max_steps = {steps_for('pos', 60_000, False)}\n" in capsys.readouterr().out
    (tmp_path / "bad.spacy").write_text("no")
    assert main(["config", "pos", "--train", str(tmp_path / "bad.spacy")]) == 1
    assert "is not a .spacy file" in capsys.readouterr().err
    assert main(["config", "pos", "--train", str(tmp_path / "none.spacy")]) == 1

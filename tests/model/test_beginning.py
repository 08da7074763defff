"""Runs that begin with the weights of a checkpoint: other text, or longer sequences, after what is learned already."""

import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from corpora import character_corpus, phonemic_corpus, write_corpus
from pretraining_helpers import EXPECTED_WARNINGS, assert_same_run, log, settings, weights
from rich.console import Console
from safetensors.torch import save_file

from phonemic import Tokenizer
from phonemic.corpus.options import describe
from phonemic_bert.errors import CheckpointError, RunError, SettingsError
from phonemic_bert.pretraining.run import pretrain

pytestmark = EXPECTED_WARNINGS

MODERN = {"model__backbone": "modernbert", "model__position_init": "random", "model__conv_kernel_size": 3}
SHORT = {"optimization__max_steps": 2}
BEYOND = {**MODERN, "model__composition": "both", "model__head": "joint", "model__output_embeddings": "tied"}


@pytest.fixture(scope="module", params=["paper", "beyond", "plain"])
def first(request, tmp_path_factory, zh_lines):
    """A corpus, the settings of a run over it that has finished, and its checkpoint."""
    folder = tmp_path_factory.mktemp(request.param)
    make = character_corpus if request.param == "plain" else phonemic_corpus
    corpus = make(folder / "corpus", zh_lines, lang="zh", repeat=6)
    changes = {"paper": {}, "beyond": BEYOND, "plain": MODERN}[request.param]
    assert run(corpus, folder / "run", changes) == 0
    return corpus, changes, folder / "run" / "final"


def run(corpus, folder, changes):
    return pretrain(settings(**changes), corpus, folder, Console(quiet=True))


def test_a_run_begins_where_another_ended(first, tmp_path):
    """A rate of nothing shows it: what is learned is what was given, and the first evaluation is the last one's."""
    corpus, changes, checkpoint = first
    still = {**changes, "model__init_checkpoint": str(checkpoint), "optimization__learning_rate": 0.0}
    assert run(corpus, tmp_path / "still", still) == 0
    given, got = weights(checkpoint), weights(tmp_path / "still" / "final")
    assert given.keys() == got.keys()
    assert all(torch.equal(given[name], got[name]) for name in given)
    losses = {row["eval_loss"] for row in log(tmp_path / "still") if "eval_loss" in row}
    assert len(losses) == 1
    ended = json.loads((checkpoint / "pretraining.json").read_text("utf-8"))
    assert losses == {row["eval_loss"] for row in ended["log"] if row["step"] == ended["step"] and "eval_loss" in row}


def test_what_was_learned_helps(first, tmp_path):
    corpus, changes, checkpoint = first
    for name, more in (("fresh", {}), ("given", {"model__init_checkpoint": str(checkpoint)})):
        assert (
            run(corpus, tmp_path / name, {**changes, "optimization__max_steps": 12, "optimization__seed": 7, **more})
            == 0
        )
    fresh, given = (
        [row["eval_loss"] for row in log(tmp_path / name) if "eval_loss" in row] for name in ("fresh", "given")
    )
    assert given[0] < fresh[0]
    assert given[-1] < fresh[-1]


@pytest.mark.parametrize("first", ["beyond"], indirect=True)
def test_it_continues_bit_for_bit_wherever_the_weights_lie(first, tmp_path):
    corpus, changes, checkpoint = first
    changes = {**changes, "model__init_checkpoint": str(checkpoint), "output__save_total_limit": 3}
    assert run(corpus, tmp_path / "straight", changes) == 0
    again = shutil.copytree(tmp_path / "straight", tmp_path / "again", ignore=shutil.ignore_patterns("final"))
    for step in (16, 24):
        shutil.rmtree(again / "checkpoints" / f"checkpoint-{step}")
    shutil.copytree(checkpoint, tmp_path / "moved")
    assert run(corpus, again, {**changes, "model__init_checkpoint": str(tmp_path / "moved")}) == 0
    assert_same_run(again, tmp_path / "straight")


@pytest.mark.parametrize("first", ["beyond"], indirect=True)
def test_other_weights_are_refused_when_a_run_is_continued(first, tmp_path):
    corpus, changes, checkpoint = first
    changes = {**changes, **SHORT}
    begun = {**changes, "model__init_checkpoint": str(checkpoint)}
    assert run(corpus, tmp_path / "run", begun) == 0
    shutil.rmtree(tmp_path / "run" / "final")
    other = shutil.copytree(checkpoint, tmp_path / "other")
    save_file(
        {name: value + 1 for name, value in weights(other).items()}, other / "model.safetensors", {"format": "pt"}
    )
    for given, message in (
        (str(other), "with the weights of model.init_checkpoint but with others"),
        ("", "but with others"),
    ):
        with pytest.raises(RunError, match=message):
            run(corpus, tmp_path / "run", {**begun, "model__init_checkpoint": given})
    assert run(corpus, tmp_path / "fresh", changes) == 0
    with pytest.raises(RunError, match="but with fresh ones"):
        run(corpus, tmp_path / "fresh", begun)


def test_the_checkpoint_says_so_and_names_no_folder(first, tmp_path):
    corpus, changes, checkpoint = first
    assert run(corpus, tmp_path / "run", {**changes, **SHORT, "model__init_checkpoint": str(checkpoint)}) == 0
    final = tmp_path / "run" / "final"
    assert str(checkpoint) not in (final / "pretraining.json").read_text("utf-8")
    assert "Training began with the weights of another checkpoint." in (final / "README.md").read_text("utf-8")


def test_longer_sequences(first, tmp_path):
    """Rotations have no end; the paper's embeddings of positions do."""
    corpus, changes, checkpoint = first
    longer = {**changes, **SHORT, "model__init_checkpoint": str(checkpoint), "sequences__max_seq_length": 64}
    if changes:
        assert run(corpus, tmp_path / "run", longer) == 0
        config = json.loads((tmp_path / "run" / "final" / "config.json").read_text("utf-8"))
        assert config["max_position_embeddings"] == 64
    else:
        with pytest.raises(SettingsError, match=r"embeddings of 48 positions: add --set sequences\.max_seq_length=48"):
            run(corpus, tmp_path / "run", longer)


def test_another_shape_is_refused_with_the_settings_that_fit(first, tmp_path):
    """And what is refused leaves no run behind, so that the corrected command continues."""
    corpus, changes, checkpoint = first
    other = {
        **changes,
        "model__init_checkpoint": str(checkpoint),
        "model__hidden_size": 48,
        "model__num_hidden_layers": 3,
    }
    with pytest.raises(
        SettingsError, match=r"another shape: add --set model\.num_hidden_layers=2 --set model\.hidden_size=24"
    ):
        run(corpus, tmp_path / "run", other)
    assert run(corpus, tmp_path / "run", {**changes, **SHORT, "model__init_checkpoint": str(checkpoint)}) == 0


def test_another_scale_of_the_first_weights_is_refused_too(first, tmp_path):
    """Products and the joint head divide by it, so that the same weights would be another model."""
    corpus, changes, checkpoint = first
    other = {**changes, "model__init_checkpoint": str(checkpoint), "model__initializer_range": 0.02}
    with pytest.raises(SettingsError, match=r"another shape: add --set model\.initializer_range=0\.05$"):
        run(corpus, tmp_path / "run", other)


def test_what_does_not_fit_is_refused(first, tmp_path, zh_lines):
    corpus, changes, checkpoint = first
    with pytest.raises(SettingsError, match=r"model\.init_checkpoint = 'nowhere': there are no weights"):
        run(corpus, tmp_path / "run", {**changes, "model__init_checkpoint": "nowhere"})
    with pytest.raises(CheckpointError, match="neither a folder nor installed"):
        run(corpus, tmp_path / "run", {**changes, "model__init_checkpoint": "phonemic-bert-none"})
    make = phonemic_corpus if changes == MODERN else character_corpus
    other = make(tmp_path / "corpus", zh_lines, lang="zh", repeat=6)
    with pytest.raises(SettingsError, match="was trained on the ids of another tokenizer"):
        run(other, tmp_path / "run", {**MODERN, "model__init_checkpoint": str(checkpoint)})
    held = weights(checkpoint)
    held[max(held)].fill_(float("nan"))
    broken = shutil.copytree(checkpoint, tmp_path / "broken")
    save_file(held, broken / "model.safetensors", {"format": "pt"})
    with pytest.raises(CheckpointError, match="not all of its weights are numbers"):
        run(corpus, tmp_path / "run", {**changes, "model__init_checkpoint": str(broken)})


LISTED = {**BEYOND, "model__syllable_inventory": "attested", "model__num_bigram_buckets": 64}


def corpus_of(folder, lines, form):
    """Every line a document, without white space, which would be positions in one of two corpora only."""
    tokenizer = Tokenizer("zh", form=form)
    texts = ["".join(line.split()) for line in lines * 6]
    ids = [one.ids for one in tokenizer.encode_batch(texts)]
    return write_corpus(folder, ids, list(map(len, texts)), describe(tokenizer))


@pytest.fixture(scope="module")
def of_sounds(tmp_path_factory, zh_lines):
    """The checkpoint of a run over a corpus without forms, and its last evaluation."""
    folder = tmp_path_factory.mktemp("sounds")
    assert run(corpus_of(folder / "corpus", zh_lines, form=False), folder / "run", LISTED) == 0
    return folder / "run" / "final", [row["eval_loss"] for row in log(folder / "run") if "eval_loss" in row][-1]


@pytest.mark.parametrize("forms", ["joint", "conditional"])
def test_a_model_that_learns_forms_first_predicts_the_syllables_of_its_checkpoint(of_sounds, forms, tmp_path, zh_lines):
    checkpoint, loss = of_sounds
    changes = {
        **LISTED,
        "model__forms": forms,
        "model__num_form_bigram_buckets": 32,
        "model__init_checkpoint": str(checkpoint),
    }
    corpus = corpus_of(tmp_path / "corpus", zh_lines, form=True)
    assert run(corpus, tmp_path / "still", {**changes, **SHORT, "optimization__learning_rate": 0.0}) == 0
    first = next(row for row in log(tmp_path / "still") if "eval_loss" in row)
    assert first["eval_loss_syllable"] == pytest.approx(loss, rel=1e-4)
    assert run(corpus, tmp_path / "run", changes) == 0
    last = [row for row in log(tmp_path / "run") if "eval_loss" in row][-1]
    assert last["eval_loss"] < first["eval_loss"]


def test_a_checkpoint_with_forms_does_not_begin_a_model_without(of_sounds, tmp_path, zh_lines):
    corpus = corpus_of(tmp_path / "corpus", zh_lines, form=True)
    assert run(corpus, tmp_path / "run", {**LISTED, **SHORT, "model__forms": "joint"}) == 0
    begun = {**LISTED, "model__init_checkpoint": str(tmp_path / "run" / "final")}
    with pytest.raises(SettingsError, match=r"another shape: add --set model\.forms=joint"):
        run(corpus, tmp_path / "without", begun)
    other = corpus_of(tmp_path / "other", zh_lines, form=False)
    with pytest.raises(SettingsError, match="the ids of another tokenizer"):
        run(other, tmp_path / "other-run", begun)


def test_fewer_rows_of_bigrams(of_sounds, tmp_path, zh_lines):
    checkpoint, _ = of_sounds
    corpus = corpus_of(tmp_path / "corpus", zh_lines, form=False)
    still = {"model__init_checkpoint": str(checkpoint), "optimization__learning_rate": 0.0}
    assert run(corpus, tmp_path / "run", {**LISTED, **SHORT, **still, "model__num_bigram_buckets": 16}) == 0
    name = "bert.embeddings.bigrams.table"
    many, few = weights(checkpoint)[name], weights(tmp_path / "run" / "final")[name]
    assert torch.allclose(few[5], (many[5] + many[21] + many[37] + many[53]) / 4)
    with pytest.raises(SettingsError, match=r"add --set model\.num_bigram_buckets=64"):
        run(corpus, tmp_path / "more", {**LISTED, **still, "model__num_bigram_buckets": 48})

"""Pretraining of designs beyond the paper, and of plain models with the same encoder."""

import shutil

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from corpora import character_corpus, phonemic_corpus
from pretraining_helpers import EXPECTED_WARNINGS, assert_same_run, log, settings
from rich.console import Console
from transformers import AutoModelForMaskedLM

from phonemic.corpus import open_corpus
from phonemic_bert import PhonemicBertForMaskedLM
from phonemic_bert.errors import SettingsError
from phonemic_bert.modeling.plain import PlainModernBertForMaskedLM
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.run import pretrain, split
from phonemic_bert.pretraining.sequences import collate
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.pretraining.trainer import separate

pytestmark = EXPECTED_WARNINGS

MODERN = {"model__backbone": "modernbert", "model__position_init": "random"}
DESIGNS = {
    "recipe": {
        **MODERN,
        "model__composition": "product",
        "model__head": "joint",
        "model__conv_kernel_size": 3,
        "model__num_bigram_buckets": 64,
    },
    "table": {"model__composition": "table", "model__head": "joint"},
    "plain": {**MODERN, "model__conv_kernel_size": 3, "model__num_bigram_buckets": 64},
}


@pytest.fixture(scope="module", params=DESIGNS)
def run(request, tmp_path_factory, zh_lines):
    """The changed settings, the corpus and the folder of a finished run."""
    changes = {**DESIGNS[request.param], "optimization__decay_ratio": 0.5, "output__save_total_limit": 3}
    make = character_corpus if request.param == "plain" else phonemic_corpus
    corpus = make(tmp_path_factory.mktemp("designs") / "zh", zh_lines, lang="zh", repeat=6)
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert pretrain(settings(**changes), corpus, folder, Console(quiet=True)) == 0
    return changes, corpus, folder


def test_continued_bit_for_bit(run, tmp_path):
    changes, corpus, folder = run
    shutil.copytree(
        folder, tmp_path / "run", ignore=shutil.ignore_patterns("final", "best", "checkpoint-16", "checkpoint-24")
    )
    assert pretrain(settings(**changes), corpus, tmp_path / "run", Console(quiet=True)) == 0
    assert_same_run(tmp_path / "run", folder)


def test_the_log_says_what_the_model_makes_of_the_held_out_text(run):
    changes, corpus, folder = run
    wanted = settings(**changes)
    _, held_out, _ = split(FlatCorpus(open_corpus(corpus)), wanted)
    model = AutoModelForMaskedLM.from_pretrained(folder / "final").eval()
    plain = not isinstance(model, PhonemicBertForMaskedLM)
    assert not plain or isinstance(model, PlainModernBertForMaskedLM)
    batch = separate(collate([held_out[number] for number in range(len(held_out))]), held_out.symbols.pad)
    labels = batch.pop("labels")
    with torch.no_grad():
        if plain:
            chosen = model(**batch).logits[labels != -100].log_softmax(-1)
            target = labels[labels != -100]
            losses, right = -chosen.gather(1, target[:, None])[:, 0], chosen.argmax(-1) == target
        else:
            output = model(**batch, labels=labels)
            losses, right = output.losses, output.best == labels[labels != -100]
    best = min((row for row in log(folder) if "eval_loss" in row), key=lambda row: row["eval_loss"])
    assert losses.mean().item() == pytest.approx(best["eval_loss"], rel=1e-4)
    assert right.float().mean().item() == pytest.approx(best["eval_accuracy"])
    assert best["eval_predicted"] == len(losses)


def test_the_rate_rises_stays_and_falls(run):
    _, _, folder = run
    rates = {row["step"]: row["learning_rate"] for row in log(folder) if "learning_rate" in row}
    assert rates[3] == rates[12] == 1e-3
    assert rates[12] > rates[15] > rates[21] > rates[24]


def test_the_card_names_the_design(run):
    changes, _, folder = run
    card = (folder / "final" / "README.md").read_text("utf-8")
    assert ("ModernBERT" in card) == ("model__backbone" in changes)
    assert ("a joint softmax over all syllables" in card) == ("model__head" in changes)
    assert "then constant, falling to 0 over the last 50%" in card
    assert "summed over onset" not in card


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.backbone=roberta", "choose one of 'bert', 'modernbert'"),
        ("model.head=two", "choose one of 'independent', 'joint'"),
        ("model.composition=sum", "choose one of 'linear', 'product', 'table'"),
        ("model.conv_kernel_size=4", "conv_kernel_size must be 0 or an odd number from 3"),
        ("model.num_bigram_buckets=-1", "model.num_bigram_buckets"),
        ("model.conv_kernel_size=1", "conv_kernel_size must be 0 or an odd number from 3"),
        ("optimization.decay_ratio=1.5", "must not be more than 1 together"),
    ],
)
def test_what_is_wrong_is_named(override, message):
    with pytest.raises(SettingsError, match=message):
        Settings.load("paper-12", [override])


@pytest.mark.parametrize("name", ["conv_kernel_size", "num_bigram_buckets"])
def test_plain_bert_has_no_neighbours(name, tmp_path, zh_lines):
    corpus = character_corpus(tmp_path / "zh", zh_lines, lang="zh", repeat=1)
    with pytest.raises(SettingsError, match=f"{name} = 3: a plain model has them with"):
        pretrain(settings(**{f"model__{name}": 3}), corpus, tmp_path / "run", Console(quiet=True))


def test_modernbert_has_no_position_embeddings_to_begin_with():
    overrides = ["model.backbone=modernbert", "model.position_init=sinusoidal"]
    with pytest.raises(SettingsError, match="position_init must be"):
        Settings.load("paper-tiny", overrides)

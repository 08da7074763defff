"""Pretraining a model that reads and predicts forms: runs that learn, are continued, computed otherwise, and refused."""

import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from corpora import write_corpus
from pretraining_helpers import EXPECTED_WARNINGS, assert_alike, assert_same_run, log, settings
from rich.console import Console

from phonemic import Tokenizer
from phonemic.corpus.options import describe
from phonemic.inventory import TRIPLE
from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertForSequenceClassification, PhonemicBertTokenizer
from phonemic_bert.errors import SettingsError
from phonemic_bert.pretraining.fitting import Computer, fit
from phonemic_bert.pretraining.run import pretrain
from phonemic_bert.pretraining.settings import Settings

pytestmark = EXPECTED_WARNINGS

FORMS = {
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
    "forms": "joint",
}
FORMS |= {"form_dropout": 0.3, "form_noise": 0.1, "num_form_bigram_buckets": 64, "backbone": "modernbert"}
kinds = pytest.mark.parametrize("forms", ["joint", "conditional"])


def corpus_of(folder, lines, form=True):
    """Lines in several orders, of the language that they are in."""
    random = np.random.default_rng(0)
    texts = ["".join(random.permutation(list(line)).tolist()) for _ in range(6) for line in lines]
    tokenizer = Tokenizer("zh", form=form)
    ids = [one.ids for one in tokenizer.encode_batch(texts)]
    return write_corpus(folder, ids, [len(text) for text in texts], describe(tokenizer))


@pytest.fixture(scope="module")
def written(tmp_path_factory, zh_lines):
    return corpus_of(tmp_path_factory.mktemp("written") / "zh", zh_lines)


def asked(**changes):
    return settings(**{**{f"model__{name}": value for name, value in FORMS.items()}, **changes})


@kinds
def test_a_run_learns_pairs_and_its_model_loads(written, tmp_path, forms):
    folder = tmp_path / "run"
    given = asked(optimization__max_steps=30, optimization__learning_rate=3e-3, model__forms=forms)
    assert pretrain(given, written, folder, Console(quiet=True)) == 0
    rows = [row for row in log(folder) if "eval_loss" in row]
    assert rows[-1]["eval_loss"] < rows[0]["eval_loss"] - 0.3
    for row in rows:
        assert row["eval_loss_syllable"] < row["eval_loss"]
    model = PhonemicBertForMaskedLM.from_pretrained(folder / "final")
    assert (model.config.forms, model.config.form_dropout, model.config.form_noise) == (forms, 0.3, 0.1)
    assert PhonemicBertTokenizer.from_pretrained(folder / "final").phonemic.form
    card = (folder / "final" / "README.md").read_text("utf-8")
    assert "in training 30% of the forms are dropped and 10% are replaced" in card
    assert "same reading are the same to the model" not in card


def test_continued_bit_for_bit(written, tmp_path):
    """Which forms are dropped is drawn from the states that a checkpoint keeps."""
    whole, part = tmp_path / "whole", tmp_path / "part"
    pretrain(asked(output__save_total_limit=3), written, whole, Console(quiet=True))
    shutil.copytree(whole, part, ignore=shutil.ignore_patterns("final", "best", "checkpoint-16", "checkpoint-24"))
    assert pretrain(asked(output__save_total_limit=3), written, part, Console(quiet=True)) == 0
    assert_same_run(part, whole)


# Where dynamo leaves the graph, it looks at gradients of tensors that have none.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@pytest.mark.compiled
@kinds
def test_compiled_as_not_compiled(written, tmp_path, monkeypatch, forms):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    module_compile = torch.nn.Module.compile
    monkeypatch.setattr(torch.nn.Module, "compile", lambda self, **kw: module_compile(self, backend="eager", **kw))
    logs = []
    for compiled in (False, True):
        changes = {"machine__torch_compile": compiled, "optimization__max_steps": 6, "model__forms": forms}
        pretrain(asked(**changes), written, tmp_path / str(compiled), Console(quiet=True))
        logs.append(log(tmp_path / str(compiled)))
    assert len(logs[0]) > 2
    assert_alike(*logs, rel=1e-4)


def test_a_corpus_without_forms_is_refused(tmp_path, zh_lines):
    corpus = corpus_of(tmp_path / "heard", zh_lines, form=False)
    with pytest.raises(SettingsError, match=r"model\.forms = 'joint', but the corpus does not say how its text is"):
        pretrain(asked(), corpus, tmp_path / "run", Console(quiet=True))
    assert not (tmp_path / "run" / "run.json").exists()


def test_pairs_take_more_of_a_gpu_than_triples():
    computer, sizes = Computer(True, 40 << 30, True, True), []
    for forms in ("none", "conditional", "joint"):
        given = Settings.load("mini-sound", ["optimization.batch_size=4096"])
        sizes.append(
            fit(replace(given, model=replace(given.model, forms=forms)), computer).machine.per_device_train_batch_size
        )
    assert sizes[0] == sizes[1] > sizes[2]


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # peft calls it
def test_adapters_of_peft(tiny):
    peft = pytest.importorskip("peft", reason="needs peft")
    torch.manual_seed(0)
    config = tiny("zh", **{**FORMS, "backbone": "bert"})
    lora = peft.LoraConfig(task_type="SEQ_CLS", target_modules=["query"], modules_to_save=["pooler"])
    model = peft.get_peft_model(PhonemicBertForSequenceClassification(config), lora)
    ids = torch.from_numpy(Tokenizer("zh", form=True).encode("今天天气很好").ids).long()[None]
    model.train()(ids, labels=torch.tensor([1])).loss.backward()
    trained = [name for name, one in model.named_parameters() if one.grad is not None]
    assert any("lora" in name for name in trained)
    assert not any("forms" in name for name in trained)
    model.eval()
    with torch.no_grad():
        assert torch.equal(model(ids).logits, model(ids).logits)
        assert not torch.equal(model(ids).logits, model(ids & TRIPLE).logits)

"""Fine-tuning a model that reads forms: they are dropped and exchanged as in pretraining, and not in evaluation."""

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")
pytest.importorskip("seqeval", reason="needs the finetune extra")

from synthetic import RULES, dataset, made, settings

from phonemic.inventory import FORM_SHIFT
from phonemic_bert import CheckpointError, PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer
from phonemic_bert.finetuning.encoders import load_encoder
from phonemic_bert.finetuning.kinds import make_kind
from phonemic_bert.finetuning.training import predict, train
from phonemic_bert.modeling.forms import FormEmbedding

SHAPE = {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
FORMS = {
    "forms": "joint",
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint that lost 30 % of its forms in pretraining, and had 10 % wrong ones."""
    torch.manual_seed(0)
    place = tmp_path_factory.mktemp("forms") / "tiny"
    config = PhonemicBertConfig("vi", **SHAPE, **FORMS, backbone="modernbert", form_dropout=0.3, form_noise=0.1)
    PhonemicBertForMaskedLM(config).save_pretrained(place)
    PhonemicBertTokenizer("vi", form=True).save_pretrained(place)
    return place


@pytest.fixture
def seen(monkeypatch):
    """Ids before and after they are disturbed, by whether it was in training."""
    kept, disturbed = {True: [], False: []}, FormEmbedding.disturbed

    def watched(self, packed):
        read = disturbed(self, packed)
        has = packed >> FORM_SHIFT > 0
        kept[self.training].append((packed[has], read[has]))
        return read

    monkeypatch.setattr(FormEmbedding, "disturbed", watched)
    return kept


def trained(tmp_path, folder, name=("classification", "macro-f1"), **more):
    asked = settings(grid__num_train_epochs=2, optimization__dropout=0.1, **more)
    kind = make_kind(dataset(tmp_path, *name), "label", load_encoder(folder), asked.text)
    rows = kind.rows(made("train", RULES[name][0])[:48], train=True)

    def score(model):
        predict(kind, model, rows[:4], asked)
        return {"score": 0.0}

    return train(kind, asked.points()[0], asked, 1, rows, score).model


def shares(pairs):
    before, after = (torch.cat(part) for part in zip(*pairs, strict=True))
    dropped = after >> FORM_SHIFT == 0
    return dropped.double().mean().item(), ((after != before) & ~dropped).double().mean().item()


TASKS = [("classification", "macro-f1"), ("sequence-labelling", "span-f1"), ("multiple-choice", "accuracy")]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({}, (0.3, 0.1)),
        ({"text__form_dropout": 0.5, "text__form_noise": 0.0}, (0.5, 0.0)),
        ({"text__form_dropout": 0.0, "text__form_noise": 0.0}, (0.0, 0.0)),
    ],
)
def test_forms_are_disturbed_in_training_only(tmp_path, folder, seen, name, given, want):
    model = trained(tmp_path, folder, name, **given)
    assert (model.config.form_dropout, model.config.form_noise) == want
    dropped, wrong = shares(seen[True])
    assert dropped == pytest.approx(want[0], abs=0.04)
    assert want[1] / 2 <= wrong <= want[1] + 0.03  # some have no other form
    assert shares(seen[False]) == (0, 0)


def test_the_seed_says_which(tmp_path, folder):
    first, second = (trained(tmp_path, folder).state_dict() for _ in range(2))
    assert all(torch.equal(second[name], value) for name, value in first.items())


def test_shares_above_one_are_refused(tmp_path, folder):
    with pytest.raises(CheckpointError, match=r"form_dropout=0\.95, form_noise=0\.1: together they are at most 1"):
        trained(tmp_path, folder, text__form_dropout=0.95)

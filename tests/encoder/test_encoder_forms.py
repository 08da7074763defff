"""A checkpoint that reads how a text is written: which Docs it takes, and forms dropped and wrong in training only."""

import shutil

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import VI, docs_of, encoder  # noqa: E402
from spacy.cli.train import train  # noqa: E402

from phonemic.errors import SavedTokenizerError  # noqa: E402
from phonemic.inventory import FORM_SHIFT  # noqa: E402
from phonemic_bert import (  # noqa: E402
    CheckpointError,
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertTokenizer,
)
from phonemic_bert.modeling.forms import FormEmbedding  # noqa: E402
from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.configs import check_checkpoint  # noqa: E402
from spacy_phonemic.encoder import phonemic_bert  # noqa: E402

SHAPE = {"num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
FORMS = {
    "forms": "joint",
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
}
FORMS |= {"form_dropout": 0.3, "form_noise": 0.1, "initializer_range": 0.3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch.manual_seed(0)
    place = str(tmp_path_factory.mktemp("forms") / "tiny")
    config = PhonemicBertConfig("vi", **SHAPE, **FORMS, backbone="modernbert", max_position_embeddings=64)
    PhonemicBertForMaskedLM(config).save_pretrained(place)
    PhonemicBertTokenizer("vi", form=True).save_pretrained(place)
    return place


def read(texts):
    nlp = spacy.blank("vi")
    nlp.add_pipe("phonemic", config={"form": True})
    return [nlp(text) for text in texts]


def seen(monkeypatch):
    """Shares of the forms that were dropped and exchanged, of each batch."""
    kept, disturbed = [], FormEmbedding.disturbed

    def watched(self, packed):
        after = disturbed(self, packed)
        before = packed[packed >> FORM_SHIFT > 0]
        after_it = after[packed >> FORM_SHIFT > 0]
        dropped = after_it >> FORM_SHIFT == 0
        wrong = (after_it != before) & ~dropped
        kept.append((dropped.double().mean().item(), wrong.double().mean().item()))
        return after

    monkeypatch.setattr(FormEmbedding, "disturbed", watched)
    return kept


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({}, (0.3, 0.1)),
        ({"form_dropout": 0.0, "form_noise": 0.0}, (0, 0)),
        ({"form_dropout": 0.6, "form_noise": 0.0}, (0.6, 0)),
    ],
)
def test_forms_are_disturbed_in_training_only_and_so_after_saving(folder, monkeypatch, options, want):
    docs, kept = read(["Tôi yêu Hà Nội, và bạn bè ở Huế nữa"] * 100), seen(monkeypatch)
    model = encoder(folder, docs, **options)
    again = phonemic_bert(checkpoint=folder, window=62, stride=40, **options).from_bytes(model.to_bytes())
    for one in (model, again):
        first = one.predict(docs)
        assert all(np.array_equal(a, b) for a, b in zip(first, one.predict(docs), strict=True))
        assert set(kept) <= {(0, 0)}
        kept.clear()
        torch.manual_seed(0)
        vectors, _ = one.begin_update(docs)
        assert np.mean(kept, 0) == pytest.approx(want, abs=0.05)
        torch.manual_seed(0)
        assert all(np.array_equal(a, b) for a, b in zip(vectors, one.begin_update(docs)[0], strict=True))
        kept.clear()


def test_vectors_are_those_of_the_form(folder):
    docs = read(["Hà nội", "hà nội"])
    upper, lower = encoder(folder, docs).predict(docs)
    assert np.abs(upper - lower).max() > 1e-3


def test_documents_without_forms_are_refused(folder):
    with pytest.raises(
        CheckpointError, match=r"read with form=False, but the checkpoint .* learned from text with form=True"
    ):
        encoder(folder, docs_of("vi", [VI]))


def test_shares_of_a_checkpoint_without_forms_are_refused(checkpoint):
    with pytest.raises(CheckpointError, match=r"reads no forms: leave form_dropout out"):
        encoder(checkpoint["vi"], docs_of("vi", [VI]), form_dropout=0.1)
    with pytest.raises(CheckpointError, match=r"does not read forms"):
        encoder(None, docs_of("vi", [VI]), preset="paper-tiny", form_noise=0.1)


@pytest.mark.parametrize("name", ["form_dropout", "form_noise"])
def test_a_share_is_below_one(name):
    with pytest.raises(ValueError, match=f"{name}=1: must be at least 0 and below 1"):
        phonemic_bert(**{name: 1})


@pytest.mark.parametrize("name", ["bert", "both"])
def test_a_config_reads_text_as_its_checkpoint_did(folder, tmp_path, name):
    """The command's config trains with an unchanged checkpoint of forms, and the saved pipeline reads forms."""
    docs = read(["Tôi ở Hà Nội", "Bạn ở Huế"] * 4)
    for doc in docs:
        doc.ents = [spacy.tokens.Span(doc, 2, len(doc), label="LOC")]
    spacy.tokens.DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    config = tmp_path / "ner.cfg"
    options = ["--encoder", name, "--checkpoint", folder, "--steps", "2", "--output", str(config)]
    assert main(["config", "ner", *options]) == 0
    paths = {"paths.train": str(tmp_path / "train.spacy"), "paths.dev": str(tmp_path / "train.spacy")}
    train(config, tmp_path / "out", overrides={**paths, "training.eval_frequency": 1})
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert nlp.tokenizer.tokenizer.form
    [upper, lower] = (nlp(text) for text in ("Hà Nội", "hà nội"))
    assert np.abs(upper.tensor - lower.tensor).max() > 1e-3
    assert check_checkpoint(folder, "vi") == {"form": True}


def test_a_damaged_description_of_the_tokenizer_is_named(folder, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "copied")
    (copied / "phonemic.json").write_text("{", "utf-8")
    with pytest.raises(SavedTokenizerError, match=r"phonemic\.json"):
        check_checkpoint(str(copied), "vi")
    (copied / "phonemic.json").unlink()
    assert check_checkpoint(str(copied), "vi") == {}

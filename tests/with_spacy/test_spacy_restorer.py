"""The component phonemic_restorer: suggestions next to the text, and a pipeline that is saved whole."""

# ruff: noqa: E402
import shutil
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
pytest.importorskip("transformers", reason="needs the model extra")

import srsly
from spacy.tokens import Doc

from phonemic import SavedTokenizerError
from phonemic_bert.errors import CheckpointError
from phonemic_bert.restoration.counting import vietnamese_model
from spacy_phonemic.restorer import PhonemicRestorer

TEXTS = ["Hôm nay tôi đi học ở Hà Nội."] * 6


@pytest.fixture
def checkpoint(tmp_path):
    vietnamese_model(lambda: TEXTS, 3, 0.0).save(tmp_path / "vi.ngrams")
    return str(tmp_path / "vi.ngrams")


def test_suggestions(checkpoint):
    nlp = spacy.blank("vi", config={"nlp": {"tokenizer": {"use_pyvi": False}}})
    nlp.add_pipe("phonemic_restorer", config={"checkpoint": checkpoint})
    doc = nlp("Hom nay, toi di hoc.")
    assert doc.text == "Hom nay, toi di hoc."
    assert doc._.restored == "Hôm nay, tôi đi học."
    assert [(span.text, span._.restored) for span in doc.spans["restored"]] == [
        ("Hom", "Hôm"), ("toi", "tôi"), ("di", "đi"), ("hoc.", "học."),
    ]  # fmt: skip
    assert [each._.restored for each in nlp.pipe(["toi", "", "đi"])] == ["tôi", "", "đi"]


def test_n_grams_of_another_language_are_refused(checkpoint):
    nlp = spacy.blank("zh")
    nlp.add_pipe("phonemic_restorer", config={"checkpoint": checkpoint})
    with pytest.raises(ValueError, match="n-grams are for vi, and the pipeline's language is zh"):
        nlp("wo")
    assert PhonemicRestorer(checkpoint)(spacy.blank("xx")("toi"))._.restored == "tôi"
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match=f"threshold {wrong}: must be finite"):
            PhonemicRestorer(checkpoint, threshold=wrong)


def test_words_of_several_syllables(checkpoint):
    nlp = spacy.blank("vi")
    pipe = nlp.add_pipe("phonemic_restorer", config={"checkpoint": checkpoint})
    doc = pipe(Doc(nlp.vocab, words=["toi", "di hoc o", "ha"], spaces=[True, True, False]))
    assert [(span.text, span._.restored) for span in doc.spans["restored"]] == [
        ("toi", "tôi"), ("di hoc o", "đi học ở"), ("ha", "hà"),
    ]  # fmt: skip


def test_the_pipeline_needs_its_checkpoint_no_more(checkpoint, tmp_path):
    nlp = spacy.blank("vi")
    nlp.add_pipe("phonemic_restorer", config={"checkpoint": checkpoint})
    nlp.to_disk(tmp_path / "pipeline")
    data = nlp.to_bytes()
    Path(checkpoint).unlink()
    for back in (spacy.load(tmp_path / "pipeline"), spacy.blank("vi", config=nlp.config).from_bytes(data)):
        assert back("toi di hoc")._.restored == "tôi đi học"


def test_the_network_goes_along(checkpoint, tmp_path):
    """A restorer's folder with a network is saved whole, and restores as it does; without it on request."""
    import torch

    from phonemic_bert import PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer
    from phonemic_bert.restoration.restoring import load

    folder = tmp_path / "restorer"
    (folder / "network").mkdir(parents=True)
    Path(checkpoint).rename(folder / "ngrams.zip")
    torch.manual_seed(1)
    sizes = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 32}
    PhonemicBertForMaskedLM(PhonemicBertConfig(lang="vi", head="joint", **sizes)).save_pretrained(folder / "network")
    PhonemicBertTokenizer("vi").save_pretrained(str(folder / "network"))
    text, expected = "hom nay toi di hoc o ha noi", {}
    nlp = spacy.blank("vi")
    nlp.add_pipe("phonemic_restorer", config={"checkpoint": str(folder)})
    nlp.add_pipe("phonemic_restorer", "plain", config={"checkpoint": str(folder), "ngrams_only": True})
    for name, only in (("phonemic_restorer", False), ("plain", True)):
        expected[name] = load(folder, ngrams_only=only).restore(text).changes
        assert (load(folder, ngrams_only=only).scorer is None) == only
        assert nlp.get_pipe(name)._loaded().restore(text).changes == expected[name]
    nlp.to_disk(tmp_path / "pipeline")
    data = nlp.to_bytes()
    shutil.rmtree(folder)
    for back in (spacy.load(tmp_path / "pipeline"), spacy.blank("vi", config=nlp.config).from_bytes(data)):
        for name, changes in expected.items():
            assert back.get_pipe(name)._loaded().restore(text).changes == changes
            assert (back.get_pipe(name)._loaded().scorer is None) == (name == "plain")


@pytest.mark.parametrize("network", [{"../a": b""}, {"a": 5}, {5: b""}, {"config.json": b"{}"}])
def test_a_forged_network(checkpoint, network):
    data = srsly.msgpack_dumps({"ngrams": Path(checkpoint).read_bytes(), "network": network})
    with pytest.raises((CheckpointError, SavedTokenizerError)):
        PhonemicRestorer().from_bytes(data)._loaded()


def test_the_default_is_the_restorer_of_the_language(checkpoint, tmp_path, monkeypatch):
    info = tmp_path / "package" / "own-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 0\n", "utf-8")
    (info / "entry_points.txt").write_text("[phonemic_bert.restorers]\nphonemic-restorer-vi = own_restorers\n", "utf-8")
    held = tmp_path / "package" / "own_restorers" / "phonemic-restorer-vi"
    held.mkdir(parents=True)
    (held.parent / "__init__.py").touch()
    Path(checkpoint).rename(held / "ngrams.zip")
    monkeypatch.syspath_prepend(tmp_path / "package")
    nlp = spacy.blank("vi")
    nlp.add_pipe("phonemic_restorer")
    assert nlp("toi di hoc")._.restored == "tôi đi học"


def test_without_a_checkpoint():
    nlp = spacy.blank("en")
    nlp.add_pipe("phonemic_restorer")
    with pytest.raises(CheckpointError, match="needs a checkpoint"):
        nlp("toi")

"""Saving, loading, copying and packing, with the checkpoint gone."""

import json
import pickle
import shutil

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import TEXTS, VI, docs_of, encoder, example, pipeline  # noqa: E402
from spacy_helpers import install, said_by_installed, spacy_command  # noqa: E402

from phonemic_bert import CheckpointError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


class TestSaving:
    @pytest.fixture(params=[[1, 2], "all"], ids=str)
    def saved(self, request, checkpoint, tmp_path):
        """A pipeline made from a checkpoint that is then deleted."""
        folder = shutil.copytree(checkpoint["vi"], tmp_path / "checkpoint")
        nlp = pipeline(str(folder), layers=request.param)
        examples = [example(nlp, text) for text in TEXTS]
        sgd = nlp.initialize(lambda: examples)
        nlp.update(examples, sgd=sgd)
        shutil.rmtree(folder)
        return nlp

    def check(self, nlp, again):
        for text in (VI, " ".join(TEXTS), ""):
            one, other = nlp(text), again(text)
            assert np.array_equal(one.tensor, other.tensor)
            assert [(token.tag_, token.ent_iob_, token.ent_type_) for token in one] == [
                (token.tag_, token.ent_iob_, token.ent_type_) for token in other
            ]
        assert nlp(VI).tensor.any()

    def test_disk(self, saved, tmp_path):
        saved.to_disk(tmp_path / "model")
        self.check(saved, spacy.load(tmp_path / "model"))

    def test_bytes(self, saved):
        again = spacy.blank("vi", config=saved.config)
        self.check(saved, type(saved).from_config(saved.config).from_bytes(saved.to_bytes()))
        assert again.get_pipe("phonemic_transformer").model.shims[0]._model.bert is None

    def test_pickle(self, saved):
        self.check(saved, pickle.loads(pickle.dumps(saved)))

    def test_uninitialized(self, tmp_path):
        nlp = pipeline()
        nlp.to_disk(tmp_path / "empty")
        assert spacy.load(tmp_path / "empty").pipe_names == nlp.pipe_names

    def test_bytes_hold_safetensors(self, checkpoint):
        import safetensors.torch
        import srsly

        model = encoder(checkpoint["vi"], docs_of("vi", [VI]))
        state = srsly.msgpack_loads(srsly.msgpack_loads(model.shims[0].to_bytes())["state"])
        assert json.loads(state["config"])["lang"] == "vi"
        assert checkpoint["vi"] not in state["config"]
        weights = safetensors.torch.load(state["weights"])
        assert weights["bert.embeddings.projection.weight"].shape == (24, 72)

    def test_options_of_the_config_win_when_loaded(self, saved, tmp_path):
        saved.to_disk(tmp_path / "model")
        setting = {"components.phonemic_transformer.model.max_batch_positions": 99}
        again = spacy.load(tmp_path / "model", config=setting)
        assert again.get_pipe("phonemic_transformer").model.shims[0]._model.options.max_batch_positions == 99
        one, other = saved(VI).tensor, again(VI).tensor
        assert np.allclose(one, other, atol=1e-5)

    def test_replace_listeners(self, saved, tmp_path):
        before = [(ent.text, ent.label_) for ent in saved(TEXTS[0]).ents], [token.tag_ for token in saved(TEXTS[0])]
        saved.replace_listeners("phonemic_transformer", "ner", ["model.tok2vec"])
        from spacy_phonemic.network import NetworkShim

        copies = [
            shim.id
            for node in saved.get_pipe("ner").model.walk()
            for shim in node.shims
            if isinstance(shim, NetworkShim)
        ]
        assert len(copies) == 1
        assert copies[0] != saved.get_pipe("phonemic_transformer").model.shims[0].id
        saved.to_disk(tmp_path / "model")
        for nlp in (saved, spacy.load(tmp_path / "model")):
            doc = nlp(TEXTS[0])
            assert ([(ent.text, ent.label_) for ent in doc.ents], [token.tag_ for token in doc]) == before

    @pytest.mark.parametrize("saved", ["all"], indirect=True)
    def test_package(self, saved, tmp_path):
        """Packed, installed in a folder of its own and loaded by name, in another process, without the checkpoint."""
        saved.to_disk(tmp_path / "model")
        names = ["--name", "by_sound", "--version", "1.0.0"]
        done = spacy_command("package", tmp_path / "model", tmp_path, *names, "--build", "none")
        assert done.returncode == 0, done.stderr
        install(tmp_path / "vi_by_sound-1.0.0", tmp_path / "site", {"model", "spacy"})
        _, sums = said_by_installed(tmp_path / "site", "vi_by_sound", VI)
        assert sums == pytest.approx(saved(VI).tensor.sum(axis=1).tolist(), abs=1e-4)

    def test_a_component_of_another_pipeline_needs_the_same(self, saved, tmp_path):
        nlp = spacy.blank("vi")
        nlp.add_pipe("phonemic_transformer", source=saved)
        nlp.to_disk(tmp_path / "model")
        (found,) = spacy.load(tmp_path / "model").meta["requirements"]
        assert found.startswith("phonemic[model,spacy]")

    def test_another_versions_vocabulary_is_refused(self, saved, tmp_path):
        import srsly

        network = saved.get_pipe("phonemic_transformer").model.shims[0]._model
        state = srsly.msgpack_loads(network.save())
        state["config"] = json.dumps({**json.loads(state["config"]), "vocabulary_checksum": "0" * 8})
        with pytest.raises(CheckpointError, match="checksum"):
            network.load(srsly.msgpack_dumps(state))

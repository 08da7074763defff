"""What the options do, and which are refused."""

import shutil

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import TEXTS, VI, ZH, docs_of, encoder, run  # noqa: E402
from thinc.api import Adam, Config  # noqa: E402

from phonemic_bert import CheckpointError  # noqa: E402
from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.configs import TASKS, config_text  # noqa: E402
from spacy_phonemic.encoder import phonemic_bert  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"stride": 0}, "stride=0"),
            ({"window": 10, "stride": 11}, "at most the window"),
            ({"pooling": "max"}, "pooling='max'"),
            ({"lang": "th"}, "lang='th'"),
            ({"freeze_layers": -1}, "freeze_layers=-1"),
            ({"max_batch_positions": 0}, "max_batch_positions=0"),
            ({"preset": "huge"}, "unknown preset 'huge'"),
            ({"layers": []}, "layers"),
        ],
    )
    def test_refused_when_built(self, options, message):
        with pytest.raises(ValueError, match=message):
            phonemic_bert(**options)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"window": 63}, "room for 62 positions"),
            ({"layers": [3]}, "layers"),
            ({"freeze_layers": 3}, "freeze_layers=3"),
            ({"lang": "zh"}, "is of 'vi'"),
        ],
    )
    def test_refused_when_initialized(self, checkpoint, options, message):
        with pytest.raises(ValueError, match=message):
            encoder(checkpoint["vi"], docs_of("vi", [VI]), **options)

    def test_windows_fit_the_checkpoint_unless_given(self, checkpoint):
        docs = docs_of("vi", [" ".join(TEXTS[:15])])
        vectors = encoder(checkpoint["vi"], docs, window=None, stride=None).predict(docs)[0]
        for window, stride, same in ((62, 46, True), (None, 46, True), (62, None, True), (62, 40, False)):
            found = encoder(checkpoint["vi"], docs, window=window, stride=stride).predict(docs)[0]
            assert np.array_equal(found, vectors) == same
        with pytest.raises(ValueError, match="stride=63, window=62"):
            encoder(checkpoint["vi"], docs, window=None, stride=63)

    def test_no_checkpoint_there(self, tmp_path):
        with pytest.raises(CheckpointError, match="save_pretrained"):
            encoder(str(tmp_path / "nothing"), docs_of("vi", [VI]))

    def test_half_a_checkpoint(self, checkpoint, tmp_path):
        from safetensors.torch import load_file, save_file

        shutil.copytree(checkpoint["vi"], tmp_path / "half")
        weights = load_file(tmp_path / "half" / "model.safetensors")
        weights.pop("bert.encoder.layer.1.output.dense.weight")
        save_file(weights, tmp_path / "half" / "model.safetensors", {"format": "pt"})
        with pytest.raises(CheckpointError, match=r"lacks weights.*layer\.1"):
            encoder(str(tmp_path / "half"), docs_of("vi", [VI]))

    def test_documents_of_another_language(self, checkpoint):
        model = encoder(checkpoint["vi"], docs_of("vi", [VI]))
        with pytest.raises(ValueError, match=r"made for 'vi'.*'zh'"):
            model.predict(docs_of("zh", [ZH]))

    def test_used_before_it_has_weights(self):
        with pytest.raises(ValueError, match="initialize"):
            phonemic_bert(preset="tiny").predict(docs_of("vi", [VI]))

    def test_frozen_layers(self, checkpoint):
        docs = docs_of("vi", TEXTS[:4])
        for frozen in (0, 1, 2):
            model = encoder(checkpoint["vi"], docs, freeze_layers=frozen)
            again = phonemic_bert(checkpoint="gone", window=62, stride=40, freeze_layers=frozen)
            again.from_bytes(model.to_bytes())
            for each in (model, again):
                before = {name: value.clone() for name, value in each.shims[0]._model.named_parameters()}
                vectors, backprop = each.begin_update(docs)
                backprop([np.ones_like(vector) + vector for vector in vectors])

                each.finish_update(Adam(0.01))
                changed = {
                    name for name, value in each.shims[0]._model.named_parameters() if (value != before[name]).any()
                }
                layers = {name.split(".")[3] for name in changed if ".layer." in name}
                assert layers == {str(layer) for layer in range(frozen, 2)}
                assert any("embeddings" in name for name in changed) == (frozen == 0)

    def test_learning_rate_of_its_own(self, checkpoint):

        docs = docs_of("vi", TEXTS[:4])
        moved = []
        for factor in (1.0, 0.1):
            torch.manual_seed(0)
            model = encoder(checkpoint["vi"], docs, learn_rate_factor=factor)
            weight = model.shims[0]._model.bert.encoder.layer[0].output.dense.weight
            before = weight.detach().clone()
            vectors, backprop = model.begin_update(docs)
            backprop([np.ones_like(vector) + vector for vector in vectors])
            model.finish_update(Adam(0.01))
            weight = model.shims[0]._model.bert.encoder.layer[0].output.dense.weight
            moved.append(float((weight.detach() - before).abs().mean()))
        assert moved[1] / moved[0] == pytest.approx(0.1, rel=0.01)

    def test_mixed_precision_is_for_gpus(self, checkpoint):
        """Without one, what was trained on one is computed in full."""
        docs = docs_of("vi", TEXTS[:4])
        model = encoder(checkpoint["vi"], docs, mixed_precision=True)
        vectors, backprop = model.begin_update(docs)
        assert backprop(vectors) == []
        for one, other in zip(vectors, encoder(checkpoint["vi"], docs).predict(docs), strict=True):
            assert np.allclose(one, other, atol=1e-6)

    def test_gradient_checkpointing_changes_no_gradient(self, checkpoint):
        docs = docs_of("vi", TEXTS[:4])
        gradients = []
        for checkpointing in (False, True):
            model = encoder(checkpoint["vi"], docs, grad_checkpointing=checkpointing)
            torch.manual_seed(0)
            vectors, backprop = model.begin_update(docs)
            backprop([np.ones_like(vector) + vector for vector in vectors])
            gradients.append(model.shims[0]._model.bert.encoder.layer[0].output.dense.weight.grad.clone())
        assert gradients[0].abs().sum() > 0
        assert torch.allclose(*gradients, atol=1e-5)


class TestConfigs:
    @pytest.mark.parametrize("lang", ["vi", "zh"])
    @pytest.mark.parametrize("task", TASKS)
    def test_fill_config_leaves_them_unchanged(self, task, lang, tmp_path):
        from spacy.cli.init_config import fill_config

        (tmp_path / "config.cfg").write_text(config_text(task, lang), encoding="utf-8")
        fill_config(tmp_path / "filled.cfg", tmp_path / "config.cfg", silent=True)
        before = Config().from_disk(tmp_path / "config.cfg", interpolate=False)
        after = Config().from_disk(tmp_path / "filled.cfg", interpolate=False)
        assert dict(before) == dict(after)
        assert before["nlp"]["lang"] == lang

    def test_the_command(self, tmp_path):
        done = run("-m", "spacy_phonemic", "config", "ner", "--lang", "zh")
        assert done.stdout == config_text("ner", "zh")
        assert main(["config", "pos", "--output", str(tmp_path / "new" / "pos.cfg")]) == 0
        assert (tmp_path / "new" / "pos.cfg").read_text("utf-8") == config_text("pos", "vi")
        done = run("-m", "spacy_phonemic", "config", "sentiment")
        assert done.returncode == 2
        assert "ner_pos" in done.stderr

    def test_unknown(self):
        with pytest.raises(ValueError, match="ner_pos"):
            config_text("parse", "vi")
        with pytest.raises(ValueError, match="'vi'"):
            config_text("ner", "th")

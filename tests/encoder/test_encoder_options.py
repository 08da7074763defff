"""The effects of the options, and the ones that are refused."""

import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import TEXTS, VI, ZH, docs_of, encoder, run  # noqa: E402
from thinc.api import Adam, Config  # noqa: E402

from phonemic_bert import CheckpointError, PhonemicBertTokenizer  # noqa: E402
from spacy_phonemic import encoder as module  # noqa: E402
from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.configs import ENCODERS, TASKS, config_text  # noqa: E402
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
            ({"layers": "most"}, "layers='most'"),
            ({"layer_decay": 0}, "layer_decay=0"),
            ({"layer_decay": 1.5}, "at most 1"),
            ({"diacritic_noise": 1}, "diacritic_noise=1: must be at least 0 and below 1"),
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
            ({"lang": "zh"}, "is for 'vi'"),
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
        for given, told in ((str(tmp_path / "nothing"), "there is no"), ("nothing", "save_pretrained")):
            with pytest.raises(CheckpointError, match=told):
                encoder(given, docs_of("vi", [VI]))

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

    def test_documents_that_are_read_otherwise_than_the_checkpoints_text(self, checkpoint, tmp_path):
        folder = shutil.copytree(checkpoint["zh"], tmp_path / "checkpoint")
        PhonemicBertTokenizer("zh").save_pretrained(folder)
        nlp = spacy.blank("zh")
        nlp.add_pipe("phonemic", config={"readings": "context", "sandhi": True, "fallback": "packed"})
        docs = [nlp(ZH)]
        with pytest.raises(
            CheckpointError, match=r"with readings='context', sandhi=True, but .* readings='pypinyin', sandhi=False"
        ):
            encoder(str(folder), docs)
        PhonemicBertTokenizer("zh", readings="context", sandhi=True).save_pretrained(folder)
        assert encoder(str(folder), docs).predict(docs)

    def test_used_before_it_has_weights(self):
        with pytest.raises(ValueError, match="initialize"):
            phonemic_bert(preset="paper-tiny").predict(docs_of("vi", [VI]))

    @pytest.mark.parametrize("lang", ["vi", "zh"])  # BERT and ModernBERT
    def test_frozen_layers(self, checkpoint, lang):
        docs = docs_of(lang, TEXTS[:4] if lang == "vi" else [ZH, "今天天气很好"])
        for frozen in (0, 1, 2):
            model = encoder(checkpoint[lang], docs, freeze_layers=frozen)
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
                layers = {name.split(".")[3] for name in changed if ".layer." in name or ".layers." in name}
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

    def test_learning_rates_that_fit(self, checkpoint):
        """Whole for fresh weights, less for pretrained ones, and told where a fresh model is to learn too slowly."""
        docs = docs_of("vi", [VI])
        assert encoder(checkpoint["vi"], docs).shims[0]._model.rate("mix") == 0.3
        fresh = {"checkpoint": None, "preset": "paper-tiny", "window": None, "stride": None}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert encoder(docs=docs, **fresh).shims[0]._model.rate("mix") == 1.0
        with pytest.warns(UserWarning, match=r"fresh weights at 0\.05 of the learning rate.*learn_rate_factor to null"):
            encoder(docs=docs, **fresh, learn_rate_factor=0.05)

    @pytest.mark.parametrize("lang", ["vi", "zh"])
    def test_rates_fall_with_depth(self, checkpoint, lang):
        docs = docs_of(lang, TEXTS[:4] if lang == "vi" else [ZH, "今天天气很好"])
        moved = []
        for decay in (1.0, 0.5):
            torch.manual_seed(0)
            model = encoder(checkpoint[lang], docs, learn_rate_factor=0.5, layer_decay=decay)
            before = {name: weight.detach().clone() for name, weight in model.shims[0]._model.named_parameters()}
            vectors, backprop = model.begin_update(docs)
            backprop([np.ones_like(vector) + vector for vector in vectors])
            model.finish_update(Adam(0.01))
            after = {name: weight.detach() for name, weight in model.shims[0]._model.named_parameters()}
            moved.append({name: float((after[name] - before[name]).abs().mean()) for name in before})
        for name, whole in moved[0].items():
            below = 2 if "embeddings" in name else 0 if ".1." in name or "final_norm" in name else 1
            if not name.endswith("key.bias"):  # its gradient is rounding alone
                assert moved[1][name] / whole == pytest.approx(0.5**below, rel=0.02), name

    def test_mixed_precision_is_for_gpus(self, checkpoint):
        """Without one, what was trained on one is computed in full."""
        docs = docs_of("vi", TEXTS[:4])
        model = encoder(checkpoint["vi"], docs, mixed_precision=True)
        vectors, backprop = model.begin_update(docs)
        assert backprop(vectors) == []
        for one, other in zip(vectors, encoder(checkpoint["vi"], docs).predict(docs), strict=True):
            assert np.allclose(one, other, atol=1e-6)

    def test_mark_errors_are_for_training_only(self, checkpoint, monkeypatch):
        docs, seen = docs_of("vi", TEXTS[:4]), []
        aligned = module._aligned
        monkeypatch.setattr(module, "_aligned", lambda doc, lang: seen.append(doc) or aligned(doc, lang))
        model = encoder(checkpoint["vi"], docs, diacritic_noise=0.5)
        seen.clear()
        model.predict(docs)
        assert [doc.text for doc in seen] == [doc.text for doc in docs]
        spacy.util.fix_random_seed(0)
        changed = 0
        for _ in range(50):
            seen.clear()
            vectors, _ = model.begin_update(docs)
            assert [*map(len, vectors)] == [*map(len, seen)] == [*map(len, docs)]
            changed += sum(one.text != other.text for one, other in zip(seen, docs, strict=True))
        assert 60 < changed < 120  # half of 200 Docs
        with pytest.raises(ValueError, match="diacritic_noise is for Vietnamese: set it to 0"):
            encoder(checkpoint["zh"], docs_of("zh", [ZH]), diacritic_noise=0.5)

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

    @pytest.mark.parametrize("checkpointing", [False, True])
    def test_no_gradient_of_attention_is_cudnns(self, checkpointing, checkpoint, monkeypatch):
        attention, seen = torch.nn.functional.scaled_dot_product_attention, []

        def recording(*args, **kwargs):
            seen.append((torch.is_grad_enabled(), torch.backends.cuda.cudnn_sdp_enabled()))
            return attention(*args, **kwargs)

        docs = docs_of("vi", TEXTS[:4])
        model = encoder(checkpoint["vi"], docs, grad_checkpointing=checkpointing)
        monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", recording)
        vectors, backprop = model.begin_update(docs)
        once = len(seen)
        backprop(vectors)
        assert once
        assert len(seen) == once * (1 + checkpointing)
        assert (True, True) not in seen
        assert torch.backends.cuda.cudnn_sdp_enabled()


class TestConfigs:
    @pytest.mark.parametrize("lang", ["vi", "zh"])
    @pytest.mark.parametrize("encoder", ["hash", "both"])
    @pytest.mark.parametrize("task", TASKS)
    def test_bigrams_are_of_mandarin_names_and_letters_of_vietnamese(self, task, encoder, lang):
        config = Config().from_str(config_text(task, lang, encoder), interpolate=False)
        component, *layer = {"hash": ["tok2vec"], "both": ["phonemic_transformer", "features"]}[encoder]
        model = config["components"][component]["model"]
        components = (model[layer[0]] if layer else model)["embed"]["components"]
        assert ("bigram" in components) == (lang == "zh" and "ner" in task)
        assert ("undiacritized" in components) == (lang == "vi")

    @pytest.mark.parametrize("lang", ["vi", "zh"])
    @pytest.mark.parametrize("encoder", ENCODERS)
    @pytest.mark.parametrize("task", TASKS)
    def test_fill_config_leaves_them_unchanged(self, task, encoder, lang, tmp_path):
        from spacy.cli.init_config import fill_config

        text = config_text(task, lang, encoder, None if encoder == "hash" else "folder", 300, True)
        (tmp_path / "config.cfg").write_text(text, encoding="utf-8")
        fill_config(tmp_path / "filled.cfg", tmp_path / "config.cfg", silent=True)
        before = Config().from_disk(tmp_path / "config.cfg", interpolate=False)
        after = Config().from_disk(tmp_path / "filled.cfg", interpolate=False)
        assert dict(before) == dict(after)
        assert before["nlp"]["lang"] == lang
        assert before["training"]["max_steps"] == 300
        rates = before["training"]["optimizer"]["learn_rate"]
        assert (rates["warmup_steps"], rates["total_steps"]) == (30, 300)
        assert before["paths"]["checkpoint"] == (None if encoder == "hash" else "folder")
        weights = before["training"]["score_weights"].values()
        assert sum(weight for weight in weights if weight) == 1

    def test_the_command(self, tmp_path, capsys):
        done = run("-m", "spacy_phonemic", "config", "ner", "--lang", "zh")
        assert done.stdout == config_text("ner", "zh")
        assert main(["config", "ner", "--lang", "zh", "--output", "-"]) == 0
        assert capsys.readouterr().out == config_text("ner", "zh")
        assert main(["config", "pos", "--output", str(tmp_path / "new" / "pos.cfg")]) == 0
        assert (tmp_path / "new" / "pos.cfg").read_text("utf-8") == config_text("pos", "vi")
        with pytest.raises(SystemExit) as error:
            main(["config", "sentiment"])
        assert error.value.code == 2
        assert "ner_pos" in capsys.readouterr().err

    def test_the_learning_rate_beside_features_is_what_was_measured(self):
        for name, checkpoint, factor in (
            ("both", "folder", 0.1),
            ("both", None, None),
            ("bert", "folder", None),
            ("bert", None, None),
        ):
            config = Config().from_str(config_text("ner", "vi", name, checkpoint), interpolate=False)
            model = config["components"]["phonemic_transformer"]["model"]
            assert model.get("encoder", model)["learn_rate_factor"] == factor

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("name", ENCODERS)
    def test_weights_are_averaged(self, task, name):
        config = Config().from_str(config_text(task, "zh", name), interpolate=False)
        assert config["training"]["optimizer"]["use_averages"] is True

    @pytest.mark.parametrize(
        ("task", "encoder", "share"),
        [
            ("ner", "hash", 0.5),
            ("ner_pos", "hash", 0.5),
            ("pos", "hash", 0.3),
            ("ner", "both", 0.3),
            ("pos", "bert", 0.3),
        ],
    )
    def test_errors_in_training_are_as_measured(self, task, encoder, share):
        def shares(lang):
            config = Config().from_str(config_text(task, lang, encoder), interpolate=False)
            model = next(iter(config["components"].values()))["model"]
            return [part["diacritic_noise"] for part in (model, model.get("embed", {})) if "diacritic_noise" in part]

        assert shares("vi") == [share]
        assert shares("zh") == [0.0]

    @pytest.mark.parametrize("lang", ["vi", "zh"])
    @pytest.mark.parametrize("encoder", ENCODERS)
    def test_batches_are_smaller_where_names_are_learned_or_phonemic_bert_is_alone(self, lang, encoder):
        def size(task, encoder, gpu=False):
            config = Config().from_str(config_text(task, lang, encoder, gpu=gpu), interpolate=False)
            return config["training"]["batcher"]["size"]

        config = Config().from_str(config_text("ner", lang, encoder), interpolate=False)["training"]
        base = Config().from_str(config_text("pos", lang, encoder), interpolate=False)["training"]
        assert config["patience"] * config["batcher"]["size"] == base["patience"] * base["batcher"]["size"]
        assert size("ner", encoder) == size("ner_pos", encoder) == size("pos", "bert")
        assert (size("pos", encoder) > size("ner", encoder)) == (encoder != "bert")
        assert all(size(task, encoder) < size(task, encoder, gpu=True) for task in TASKS)

    @pytest.mark.parametrize("encoder", ["bert", "both"])
    def test_checkpoints_that_do_not_fit(self, checkpoint, encoder, tmp_path, capsys):
        command = ["config", "ner", "--lang", "vi", "--encoder", encoder, "--checkpoint"]
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "config.json").write_text("{}", encoding="utf-8")
        for given, told in (
            (str(tmp_path / "nothing"), "there is no "),
            ("nothing", "there is no checkpoint 'nothing': give the folder that save_pretrained wrote"),
            ("phonemic-bert-nothing", "is neither a folder nor installed"),
            (str(tmp_path / "other"), "lang is missing"),
            (checkpoint["zh"], "is for 'zh', but the config for 'vi'"),
        ):
            assert main([*command, given]) == 1
            output = capsys.readouterr()
            assert output.out == ""
            assert told in output.err
            assert output.err.count("\n") == 1
        assert main([*command, checkpoint["vi"]]) == 0
        assert capsys.readouterr().out == config_text("ner", "vi", encoder, checkpoint["vi"])

    @pytest.mark.parametrize(("missing", "status"), [("torch", 1), ("transformers", 1), ("phonemic_bert", 0)])
    def test_checkpoints_are_looked_into_without_torch(self, checkpoint, missing, status):
        """Where phonemic_bert is not there either, they are not."""
        words = ["config", "ner", "--lang", "vi", "--checkpoint", checkpoint["zh"]]
        code = f"import sys; sys.modules[{missing!r}] = None; from spacy_phonemic.__main__ import main; "
        done = run("-c", code + f"sys.exit(main({words!r}))")
        assert done.returncode == status, done.stderr
        assert ("is for 'zh'" in done.stderr) == bool(status)
        assert "Traceback" not in done.stderr

    def test_ctrl_c_and_a_closed_pipe(self, monkeypatch, capsys):
        def interrupted(*given):
            raise KeyboardInterrupt

        monkeypatch.setattr("spacy_phonemic.__main__.config_text", interrupted)
        assert main(["config", "ner"]) == 130
        assert capsys.readouterr().err == "interrupted\n"
        read, write = os.pipe()
        os.close(read)
        with open(write, "wb") as closed:
            command = [sys.executable, "-m", "spacy_phonemic", "config", "ner"]
            done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (1, b"")

    @pytest.mark.parametrize(
        "words", [["convert", "conll", "in.txt", "out.spacy", "--lang", "vi"], ["check", "ner.cfg"]]
    )
    def test_ctrl_c_while_spacy_is_imported(self, tmp_path, words):
        """Importing it takes seconds: a stand-in for it is interrupted at once."""
        (tmp_path / "spacy.py").write_text("raise KeyboardInterrupt", "utf-8")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
        command = [sys.executable, "-m", "spacy_phonemic", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")

    @pytest.mark.parametrize("option", ["--foo", "--output", "-o", "--code", "--verbose", "--output=out"])
    def test_check_says_what_it_takes(self, option, tmp_path, capsys):
        assert main(["check", str(tmp_path / "ner.cfg"), option, "x"]) == 1
        assert f"--training.max_steps 100, but not {option!r}" in capsys.readouterr().err

    def test_unknown(self, capsys):
        with pytest.raises(ValueError, match="ner_pos"):
            config_text("parse", "vi")
        with pytest.raises(ValueError, match="'vi'"):
            config_text("ner", "th")
        with pytest.raises(ValueError, match="hash, bert, both"):
            config_text("ner", "vi", "cnn")
        assert main(["config", "ner", "--encoder", "hash", "--checkpoint", "x"]) == 1
        assert "reads no checkpoint" in capsys.readouterr().err
        assert main(["config", "ner", "--steps", "0"]) == 1
        assert "steps=0" in capsys.readouterr().err

"""PhonemicBERT in spaCy: windows, vectors against a slow reference, training, saving, processes."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.training import Example  # noqa: E402
from thinc.api import Config  # noqa: E402

from phonemic import Tokenizer  # noqa: E402
from phonemic.encoding import PACKED_CLS, PACKED_SEP  # noqa: E402
from phonemic_bert import CheckpointError, PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertModel  # noqa: E402
from spacy_phonemic import windows  # noqa: E402
from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.configs import TASKS, config_text  # noqa: E402
from spacy_phonemic.encoder import phonemic_bert  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

LISTENER = {"@architectures": "spacy_phonemic.PhonemicListener.v1"}
NER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 16,
    "maxout_pieces": 2,
    "use_upper": False,
    "tok2vec": LISTENER,
}
SYLLABLES = {"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}}
PLACES = ["Hà Nội", "Huế", "Cần Thơ", "Đà Lạt", "Vũng Tàu"]
TEXTS = [
    text.format(place)
    for place in PLACES
    for text in ("Tôi sống ở {}.", "{} mưa cả ngày.", "Ai yêu {}, người ấy về.", "Năm 2024 {} có 3 trường mới.")
]
VI = "Cái giếng ở quốc lộ, COVID-19 🎉  hoà bình"
ZH = "银行行长觉得 GDP 还不错，了不起。"


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """A masked language model, two layers of 24, room for 64 positions: heads and all, as pretraining saves it."""

    def make(lang):
        folder = tmp_path_factory.mktemp(f"checkpoint-{lang}")
        torch.manual_seed(1)
        config = PhonemicBertConfig(
            lang,
            num_hidden_layers=2,
            hidden_size=24,
            num_attention_heads=3,
            intermediate_size=40,
            max_position_embeddings=64,
            initializer_range=0.2,  # so that vectors differ by more than rounding
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        PhonemicBertForMaskedLM(config).save_pretrained(folder)
        return str(folder)

    return {"vi": make("vi"), "zh": make("zh")}


@pytest.fixture(scope="session")
def vi_encoder(checkpoint):
    return encoder(checkpoint["vi"], docs_of("vi", [VI]))


def docs_of(lang, texts):
    nlp = spacy.blank(lang, config=SYLLABLES)
    return [nlp.make_doc(text) for text in texts]


def encoder(checkpoint, docs, **options):
    model = phonemic_bert(**{"checkpoint": checkpoint, "window": 62, "stride": 40, **options})
    model.initialize(X=docs)
    return model


def plain_hidden(bert, ids, layer=-1):
    """The hidden states of one text without windows: one forward pass of the model as transformers has it."""
    bert.eval()
    row = torch.tensor([[PACKED_CLS, *ids.tolist(), PACKED_SEP]])
    with torch.no_grad():
        return bert(row, output_hidden_states=True).hidden_states[layer][0, 1:-1].numpy()


def own_positions(doc, spans):
    for token in doc:
        end = token.idx + len(token.text)
        yield [at for at, (start, stop) in enumerate(spans.tolist()) if start < end and stop > token.idx]


def reference(bert, doc, lang, pooling="mean"):
    """Token by token: the mean over the positions that share a character with it, of one plain pass."""
    encoding = Tokenizer(lang).encode(doc.text)
    hidden = plain_hidden(bert, encoding.ids) if len(encoding.ids) else np.zeros((0, bert.config.hidden_size))
    rows = []
    for own in own_positions(doc, encoding.spans):
        chosen = own[:1] if pooling == "first" else own
        rows.append(hidden[chosen].mean(0) if own else np.zeros(bert.config.hidden_size))
    return np.array(rows, np.float32).reshape(len(doc), bert.config.hidden_size)


class TestWindows:
    @given(st.integers(0, 3000), st.integers(1, 600), st.data())
    def test_every_position_is_in_a_window(self, length, window, data):
        stride = data.draw(st.integers(1, window))
        length = min(length, 200 * stride)
        starts = windows.window_starts(length, window, stride)
        covered = np.zeros(length, int)
        for start in starts:
            assert start >= 0
            assert start + min(window, length) <= length
            covered[start : start + window] += 1
        assert (covered > 0).all()
        assert starts == sorted(set(starts))
        assert all(after - before <= stride for before, after in pairwise(starts))

    @given(st.data(), st.sampled_from(["mean", "first"]))
    def test_pooling_is_the_mean_of_the_tokens_positions(self, data, pooling):
        """With an "encoder" that returns the id at each place, pooling must give the mean of the token's ids."""
        window = data.draw(st.integers(1, 12))
        stride = data.draw(st.integers(1, window))
        size = data.draw(st.integers(1, 60))
        docs = []
        for number in range(data.draw(st.integers(0, 4))):
            length = data.draw(st.integers(0, 40))
            ids = np.arange(1, length + 1, dtype=np.int32) + 1000 * number
            tokens = data.draw(st.lists(st.tuples(st.integers(0, length), st.integers(0, 5)), max_size=8))
            first = np.array([first for first, _ in tokens], np.int64)
            last = np.minimum(first + np.array([more for _, more in tokens], np.int64), length)
            docs.append(windows.Aligned(ids, first, last))
        plan = windows.plan(docs, window, stride, pooling, size)
        for ids, mask in plan.batches:
            assert ids.shape == mask.shape
            assert len(ids) == 1 or ids.size <= size
            assert (ids[:, 0] == PACKED_CLS).all()
            assert (np.where(mask, ids, 0) == ids).all()
            assert (np.where(mask, ids, -1) == PACKED_SEP).sum(axis=1).tolist() == [1] * len(ids)
        hidden = np.concatenate([np.zeros(0), *[ids.ravel() for ids, _ in plan.batches]]).astype(float)
        got = [
            float((hidden[plan.rows[low:high]] * plan.weights[low:high]).sum()) for low, high in pairwise(plan.offsets)
        ]
        want = [
            float(doc.ids[first : first + 1 if pooling == "first" else last].mean()) if last > first else 0.0
            for doc in docs
            for first, last in zip(doc.first, doc.last, strict=True)
        ]
        assert np.allclose(got, want, rtol=1e-5)

    def test_a_token_shares_characters_with_its_positions(self):
        spans = np.array([[0, 3], [4, 6], [6, 9]], np.int32)
        first, last = windows.align(spans, np.array([0, 1, 3, 4, 5, 9]), np.array([1, 3, 4, 9, 7, 9]))
        assert list(zip(first.tolist(), last.tolist(), strict=True)) == [(0, 1), (0, 1), (1, 1), (1, 3), (1, 3), (3, 3)]

    def test_batches_hold_windows_of_like_length(self):
        docs = [windows.Aligned(np.ones(n, np.int32), *np.zeros((2, 0), np.int64)) for n in (3, 90, 4, 88, 5)]
        plan = windows.plan(docs, 100, 50, "mean", 190)
        assert [ids.shape for ids, _ in plan.batches] == [(3, 7), (2, 92)]


class TestVectors:
    @pytest.mark.parametrize("pooling", ["mean", "first"])
    @pytest.mark.parametrize(("lang", "text"), [("vi", VI), ("zh", ZH)])
    def test_equal_a_plain_forward_pass(self, checkpoint, lang, text, pooling):
        docs = docs_of(lang, [text, text[:5], ""])
        model = encoder(checkpoint[lang], docs, pooling=pooling)
        bert = PhonemicBertModel.from_pretrained(checkpoint[lang])
        for doc, vectors in zip(docs, model.predict(docs), strict=True):
            assert vectors.shape == (len(doc), 24)
            assert vectors.dtype == np.float32
            assert np.allclose(vectors, reference(bert, doc, lang, pooling), atol=1e-5)

    @given(st.text("ab hoàngếquốc🎉,1\u0301 ", max_size=30), st.lists(st.integers(1, 6), max_size=30))
    @settings(max_examples=40)
    def test_whatever_the_tokenizer(self, vi_encoder, text, cuts):
        """Tokens cut at random, through the middle of syllables, over white space."""
        nlp = spacy.blank("vi", config=SYLLABLES)
        words, rest = [], text
        for cut in cuts:
            words, rest = [*words, rest[:cut]], rest[cut:]
        words = [word for word in [*words, rest] if word]
        doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
        assert doc.text == text
        bert = vi_encoder.shims[0]._model.bert
        assert np.allclose(vi_encoder.predict([doc])[0], reference(bert, doc, "vi"), atol=1e-5)

    def test_treebank_words(self, checkpoint, data):
        from spacy_phonemic.convert import read_conllu

        nlp = spacy.blank("vi", config=SYLLABLES)
        read = read_conllu(data("vi/ud_vtb/vi_vtb-ud-dev.conllu"), nlp)
        docs = [doc for doc in read.docs if len(doc) < 30][:40]
        assert sum(" " in token.text for doc in docs for token in doc) > 50
        model = encoder(checkpoint["vi"], docs)
        bert = PhonemicBertModel.from_pretrained(checkpoint["vi"])
        for doc, vectors in zip(docs, model.predict(docs), strict=True):
            assert np.allclose(vectors, reference(bert, doc, "vi"), atol=1e-5)

    def test_tokens_without_positions(self, checkpoint):
        docs = docs_of("vi", ["", "   ", "\n", "hoà  bình", "\u200b"])
        vectors = encoder(checkpoint["vi"], docs).predict(docs)
        assert [len(each) for each in vectors] == [len(doc) for doc in docs]
        for doc, each in zip(docs, vectors, strict=True):
            for token, vector in zip(doc, each, strict=True):
                assert bool(vector.any()) == token.text.strip("\u200b \n").isalpha()
        model = encoder(checkpoint["vi"], docs)
        assert [each.shape for each in model.predict(docs[:3])] == [(0, 24), (1, 24), (1, 24)]
        empty, backprop = model.begin_update(docs[:3])
        assert backprop([np.ones_like(each) for each in empty]) == []

    def test_long_documents_average_where_windows_overlap(self, checkpoint):
        """Seven syllables in windows of four, three apart: the fourth lies in both."""
        docs = docs_of("vi", ["một hai ba bốn năm sáu bảy"])
        model = encoder(checkpoint["vi"], docs, window=4, stride=3)
        bert = model.shims[0]._model.bert
        ids = Tokenizer("vi").encode(docs[0].text).ids
        left, right = plain_hidden(bert, ids[:4]), plain_hidden(bert, ids[3:])
        by_hand = np.vstack([left[:3], (left[3] + right[0]) / 2, right[1:]])
        assert np.allclose(model.predict(docs)[0], by_hand, atol=1e-5)
        assert not np.allclose(left[3], right[0], atol=1e-2)

    def test_longer_than_512(self):
        docs = docs_of("vi", ["hoà bình ở Huế " * 300])
        model = encoder(None, docs, preset="tiny", window=510, stride=384)
        (vectors,) = model.predict(docs)
        assert vectors.shape == (1200, 128)
        assert np.abs(vectors).min(axis=1).max() > 0
        bert, ids = model.shims[0]._model.bert, Tokenizer("vi").encode(docs[0].text).ids
        assert np.allclose(vectors[:384], plain_hidden(bert, ids[:510])[:384], atol=1e-4)
        assert np.allclose(vectors[-180:], plain_hidden(bert, ids[-510:])[-180:], atol=1e-4)

    def test_neither_order_nor_padding_matters(self, checkpoint):
        docs = docs_of("vi", [*TEXTS[:7], "", VI, " ".join(TEXTS), "Huế"])
        model = encoder(checkpoint["vi"], docs)
        alone = [model.predict([doc])[0] for doc in docs]
        for size in (1, 70, 100_000):
            other = encoder(checkpoint["vi"], docs, max_batch_positions=size)
            for one, each in zip(alone, other.predict(docs), strict=True):
                assert np.allclose(one, each, atol=1e-5)
        for one, each in zip(alone[::-1], model.predict(docs[::-1]), strict=True):
            assert np.allclose(one, each, atol=1e-5)

    def test_layers(self, checkpoint):
        docs = docs_of("vi", [VI])
        ids = Tokenizer("vi").encode(VI).ids
        for layer in (0, 1, 2, -1, -3):
            model = encoder(checkpoint["vi"], docs, layers=[layer])
            hidden = plain_hidden(model.shims[0]._model.bert, ids, layer)
            spans = Tokenizer("vi").encode(VI).spans
            want = [hidden[own].mean(0) if own else np.zeros(24) for own in own_positions(docs[0], spans)]
            assert np.allclose(model.predict(docs)[0], want, atol=1e-5)
        mixed = encoder(checkpoint["vi"], docs, layers=[0, 1, 2])
        singles = [encoder(checkpoint["vi"], docs, layers=[layer]).predict(docs)[0] for layer in (0, 1, 2)]
        assert np.allclose(mixed.predict(docs)[0], np.mean(singles, axis=0), atol=1e-5)
        vectors, backprop = mixed.begin_update(docs)
        backprop([np.random.default_rng(0).normal(size=vectors[0].shape).astype(np.float32)])
        assert mixed.shims[0]._model.mix.grad.abs().sum() > 0

    def test_dropout_is_for_training(self):
        docs = docs_of("vi", [VI])
        model = encoder(None, docs, preset="tiny")
        one, other = (model.predict(docs)[0] for _ in range(2))
        assert np.array_equal(one, other)
        (one,), (other,) = (model.begin_update(docs)[0] for _ in range(2))
        assert not np.allclose(one, other, atol=1e-3)

    def test_gradient_is_the_derivative(self, checkpoint):
        """Through the pooling and the windows: a numerical derivative by one weight of the embedding table."""
        docs = docs_of("vi", TEXTS[:2])
        model = encoder(checkpoint["vi"], docs, window=5, stride=3)
        network = model.shims[0]._model
        vectors, backprop = model.begin_update(docs)
        rng = np.random.default_rng(0)
        weights = [rng.normal(size=each.shape).astype(np.float32) for each in vectors]
        backprop(weights)
        table = network.bert.embeddings.word_embeddings.weight
        row = int(Tokenizer("vi").encode(docs[0].text).components[0, 1])
        network.double()
        step, losses = 1e-3, []
        for sign in (1, -1):
            with torch.no_grad():
                table[row, 3] += sign * step
            losses.append(sum(float((w * v).sum()) for w, v in zip(weights, model.predict(docs), strict=True)))
            with torch.no_grad():
                table[row, 3] -= sign * step
        assert table.grad[row, 3] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=0.02)


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
                from thinc.api import Adam

                each.finish_update(Adam(0.01))
                changed = {
                    name for name, value in each.shims[0]._model.named_parameters() if (value != before[name]).any()
                }
                layers = {name.split(".")[3] for name in changed if ".layer." in name}
                assert layers == {str(layer) for layer in range(frozen, 2)}
                assert any("embeddings" in name for name in changed) == (frozen == 0)

    def test_learning_rate_of_its_own(self, checkpoint):
        from thinc.api import Adam

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


def example(nlp, text):
    """Places are entities; a word's tag is a made-up one of three, always the same."""
    doc = nlp.make_doc(text)
    tags = [f"T{zlib.crc32(token.lower_.encode()) % 3}" for token in doc]
    places = [(text.index(place), text.index(place) + len(place), "PLACE") for place in PLACES if place in text]
    return Example.from_dict(doc, {"tags": tags, "pos": ["NOUN"] * len(doc), "entities": places})


def pipeline(checkpoint=None, **options):
    nlp = spacy.blank("vi", config=SYLLABLES)
    model = {"checkpoint": checkpoint, "preset": "tiny", **options}
    if checkpoint:
        model.update(window=62, stride=40)
    nlp.add_pipe("phonemic_transformer", config={"model": model})
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}})
    nlp.add_pipe("ner", config={"model": NER})
    return nlp


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The pipeline of the shipped ner_pos.cfg, trained by the real command on twenty sentences."""
    folder = tmp_path_factory.mktemp("trained")
    nlp = spacy.blank("vi", config=SYLLABLES)
    DocBin(docs=[example(nlp, text).reference for text in TEXTS]).to_disk(folder / "train.spacy")
    (folder / "config.cfg").write_text(config_text("ner_pos", "vi"), encoding="utf-8")
    options = {
        "paths.train": folder / "train.spacy",
        "paths.dev": folder / "train.spacy",
        "components.phonemic_transformer.model.preset": "tiny",
        "components.phonemic_transformer.model.learn_rate_factor": 0.5,
        "training.max_steps": 120,
        "training.eval_frequency": 40,
        "training.optimizer.learn_rate.warmup_steps": 10,
        "training.optimizer.learn_rate.initial_rate": 0.003,
    }
    overrides = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    done = run("-m", "spacy", "train", folder / "config.cfg", "--output", folder / "out", *overrides)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(*command, timeout=240):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *map(str, command)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=timeout, check=False)


class TestTraining:
    def test_the_command_overfits(self, trained):
        nlp = spacy.load(trained / "out" / "model-best")
        scores = nlp.evaluate([example(nlp, text) for text in TEXTS])
        assert scores["ents_f"] > 0.95
        assert scores["tag_acc"] > 0.95

    def test_spacy_evaluate(self, trained):
        done = run("-m", "spacy", "evaluate", trained / "out" / "model-best", trained / "train.spacy")
        assert done.returncode == 0, done.stderr
        assert "NER F" in done.stdout

    def test_gradients_reach_the_encoder_through_the_listeners(self, checkpoint):
        """The slope of two taggers' cross-entropies along the gradient of the embedding table is its length."""
        nlp = spacy.blank("vi", config=SYLLABLES)
        nlp.add_pipe(
            "phonemic_transformer", config={"model": {"checkpoint": checkpoint["vi"], "window": 9, "stride": 5}}
        )
        for name in ("tagger", "other"):
            nlp.add_pipe("tagger", name, config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}})
        examples = [example(nlp, text) for text in TEXTS]
        nlp.initialize(lambda: examples)
        network = nlp.get_pipe("phonemic_transformer").model.shims[0]._model
        rng = np.random.default_rng(0)
        for name in ("tagger", "other"):
            output = nlp.get_pipe(name).model.get_ref("softmax")
            output.set_param("W", rng.normal(size=output.get_param("W").shape).astype(np.float32))
        nlp.update(examples, sgd=False, drop=0.0)
        table = network.bert.embeddings.word_embeddings.weight
        length = float(table.grad.norm())
        step = 0.02 * table.grad / length

        def loss():
            docs = [eg.predicted.copy() for eg in examples]
            for doc, vectors in zip(docs, nlp.get_pipe("phonemic_transformer").predict(docs), strict=True):
                doc.tensor = vectors
            total = 0.0
            for name in ("tagger", "other"):
                tagger = nlp.get_pipe(name)
                for eg, scores in zip(examples, tagger.model.predict(docs), strict=True):
                    gold = [tagger.labels.index(token.tag_) for token in eg.reference]
                    logits = torch.tensor(scores, dtype=torch.float64)
                    total += float(torch.nn.functional.cross_entropy(logits, torch.tensor(gold), reduction="sum"))
            return total

        losses = []
        with torch.no_grad():
            for sign in (1, -2):
                table += sign * step
                losses.append(loss())
        assert (losses[0] - losses[1]) / 0.04 == pytest.approx(length, rel=0.02)

    def test_the_loss_falls(self, checkpoint):
        nlp = pipeline(checkpoint["vi"])
        examples = [example(nlp, text) for text in TEXTS]
        sgd = nlp.initialize(lambda: examples)
        sgd.learn_rate = 0.003
        losses = [nlp.update(examples, sgd=sgd, losses={}) for _ in range(60)]
        assert losses[-1]["tagger"] < losses[0]["tagger"] / 3
        assert losses[-1]["ner"] < losses[0]["ner"] / 3

    def test_frozen_encoder(self, checkpoint):
        nlp = pipeline(checkpoint["vi"])
        examples = [example(nlp, text) for text in TEXTS]
        sgd = nlp.initialize(lambda: examples)
        encoder = nlp.get_pipe("phonemic_transformer").model
        before, losses = encoder.to_bytes(), []
        for _ in range(10):
            frozen = ["phonemic_transformer"]
            losses.append(nlp.update(examples, sgd=sgd, losses={}, exclude=frozen, annotates=frozen)["tagger"])
        assert encoder.to_bytes() == before
        assert losses[-1] < losses[0]

    def test_as_a_sublayer(self, checkpoint):
        nlp = spacy.blank("vi", config=SYLLABLES)
        layer = {
            "@architectures": "spacy_phonemic.PhonemicBert.v1",
            "checkpoint": checkpoint["vi"],
            "window": 62,
            "stride": 40,
        }
        nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": layer}})
        examples = [example(nlp, text) for text in TEXTS]
        sgd = nlp.initialize(lambda: examples)
        sgd.learn_rate = 0.005
        losses = [nlp.update(examples, sgd=sgd, losses={})["tagger"] for _ in range(12)]
        assert losses[-1] < losses[0] / 2
        again = pickle.loads(pickle.dumps(nlp))
        assert [token.tag_ for token in again(VI)] == [token.tag_ for token in nlp(VI)]

    def test_other_components(self, checkpoint):
        """Parser, spancat and textcat share the encoder."""
        nlp = spacy.blank("zh", config=SYLLABLES)
        model = {"checkpoint": checkpoint["zh"], "window": 62, "stride": 40}
        nlp.add_pipe("phonemic_transformer", config={"model": model})
        nlp.add_pipe("parser", config={"model": {**NER, "state_type": "parser"}, "min_action_freq": 1})
        reduce = {
            "@architectures": "spacy.TextCatReduce.v1",
            "exclusive_classes": True,
            "use_reduce_mean": True,
            "use_reduce_max": False,
            "use_reduce_first": False,
            "use_reduce_last": False,
            "tok2vec": LISTENER,
        }
        nlp.add_pipe("textcat", config={"model": reduce})
        spans = {
            "@architectures": "spacy.SpanCategorizer.v1",
            "reducer": {"@layers": "spacy.mean_max_reducer.v1", "hidden_size": 8},
            "scorer": {"@layers": "spacy.LinearLogistic.v1"},
            "tok2vec": LISTENER,
        }
        nlp.add_pipe("spancat", config={"model": spans})
        doc = nlp.make_doc("行长很忙")
        annotations = {
            "heads": [1, 3, 3, 3],
            "deps": ["a", "b", "c", "ROOT"],
            "cats": {"x": 1.0, "y": 0.0},
            "spans": {"sc": [(0, 2, "P")]},
        }
        examples = [Example.from_dict(doc, annotations)]
        sgd = nlp.initialize(lambda: examples)
        losses = nlp.update(examples, sgd=sgd, losses={})
        assert {"parser", "textcat", "spancat"} <= losses.keys()
        assert nlp("行长很忙").tensor.shape == (4, 24)

    def test_a_wrong_width_is_refused(self, checkpoint):
        nlp = spacy.blank("vi", config=SYLLABLES)
        nlp.add_pipe(
            "phonemic_transformer", config={"model": {"checkpoint": checkpoint["vi"], "window": 62, "stride": 40}}
        )
        nlp.add_pipe(
            "tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": {**LISTENER, "width": 96}}}
        )
        with pytest.raises(ValueError, match="width 96"):
            nlp.initialize(lambda: [example(nlp, text) for text in TEXTS])


class TestSaving:
    @pytest.fixture
    def saved(self, checkpoint, tmp_path):
        """A pipeline made from a checkpoint that is then deleted."""
        folder = shutil.copytree(checkpoint["vi"], tmp_path / "checkpoint")
        nlp = pipeline(str(folder), layers=[1, 2])
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

    def test_package(self, saved, tmp_path):
        """Packed, installed in a folder of its own and loaded by name, in another process, without the checkpoint."""
        saved.to_disk(tmp_path / "model")
        names = ["--name", "by_sound", "--version", "1.0.0"]
        done = run("-m", "spacy", "package", tmp_path / "model", tmp_path, *names, "--build", "sdist")
        assert done.returncode == 0, done.stderr
        (archive,) = tmp_path.glob("vi_by_sound-1.0.0/dist/*.tar.gz")
        meta = json.loads((tmp_path / "vi_by_sound-1.0.0" / "meta.json").read_text("utf-8"))
        assert any(requirement.startswith("phonemic") for requirement in meta["requirements"])
        install = [
            "-m",
            "pip",
            "install",
            "--no-deps",
            "--no-build-isolation",
            "--quiet",
            "--target",
            tmp_path / "site",
        ]
        assert run(*install, archive).returncode == 0
        code = "import sys, spacy; sys.path.insert(0, sys.argv[1]); "
        code += "print(spacy.load('vi_by_sound')(sys.argv[2]).tensor.sum(axis=1).tolist())"
        done = run("-c", code, tmp_path / "site", VI)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == pytest.approx(saved(VI).tensor.sum(axis=1).tolist(), abs=1e-4)

    def test_another_versions_vocabulary_is_refused(self, saved, tmp_path):
        import srsly

        network = saved.get_pipe("phonemic_transformer").model.shims[0]._model
        state = srsly.msgpack_loads(network.save())
        state["config"] = json.dumps({**json.loads(state["config"]), "vocabulary_checksum": "0" * 8})
        with pytest.raises(CheckpointError, match="checksum"):
            network.load(srsly.msgpack_dumps(state))


PROCESSES = """
import multiprocessing, sys, warnings
import spacy, torch
from spacy.tokens import Doc

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    torch.set_num_threads(2)
    nlp = spacy.load(sys.argv[1])
    texts = ["Hoà bình ở Huế, hai ba bốn." * 20] * 12
    want = [[token.tag_ for token in doc] for doc in nlp.pipe(texts)]  # torch's threads are up
    got = [[token.tag_ for token in doc] for doc in nlp.pipe(texts, n_process=2, batch_size=3)]
    assert got == want
    print("same")
"""


class TestProcesses:
    @pytest.mark.parametrize("method", ["spawn", "fork"])
    def test_pipe_in_two(self, trained, tmp_path, method):
        script = tmp_path / "script.py"
        script.write_text(PROCESSES, encoding="utf-8")
        environment = {**os.environ, "OMP_NUM_THREADS": "2"}
        done = subprocess.run(
            [sys.executable, str(script), str(trained / "out" / "model-best"), method],
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
            check=False,
        )
        assert done.stdout.strip() == "same", done.stderr

    def test_a_gpu_and_fork_are_refused(self, monkeypatch):
        from spacy_phonemic import network

        monkeypatch.setattr(network, "_forked", True)
        with pytest.raises(RuntimeError, match="spawn"):
            network._spare_forked_threads(torch.device("cuda:0"))

    def test_nothing_of_the_model_is_imported_before_it_is_built(self):
        """spaCy's own thinc imports torch where it finds it; transformers and the model wait for an encoder."""
        code = (
            "import spacy, sys; nlp = spacy.blank('vi', config={'nlp': {'tokenizer': {'use_pyvi': False}}}); "
            "nlp.add_pipe('phonemic'); import spacy_phonemic.encoder; "
            "assert not {'transformers', 'phonemic_bert', 'spacy_phonemic.network'} & set(sys.modules)"
        )
        done = run("-c", code)
        assert done.returncode == 0, done.stderr


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

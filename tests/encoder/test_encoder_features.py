"""PhonemicBERT next to hash-embedded columns, and what a config is told to cost."""

import re

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import SYLLABLES, TEXTS, example  # noqa: E402
from spacy.tokens import DocBin  # noqa: E402
from spacy.util import load_model_from_config  # noqa: E402
from thinc.api import Adam, Config, Model  # noqa: E402
from thinc.compat import has_gpu  # noqa: E402

from phonemic import Tokenizer  # noqa: E402
from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.checking import report  # noqa: E402
from spacy_phonemic.configs import config_text  # noqa: E402
from spacy_phonemic.features import phonemic_bert_and_features  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


def made(checkpoint=None):
    """The pipeline of the ready config with both encoders, small."""
    config = Config().from_str(config_text("ner_pos", "vi", "both"))
    encoder = config["components"]["phonemic_transformer"]["model"]["encoder"]
    encoder.update(checkpoint=checkpoint, preset="paper-tiny", window=62 if checkpoint else None)
    return load_model_from_config(config, auto_fill=True)


@pytest.fixture(scope="module")
def learnt(checkpoint):
    spacy.util.fix_random_seed(0)
    nlp = made(checkpoint["vi"])
    examples = [example(nlp, text) for text in TEXTS]
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.002)  # the config's warms up
    losses = [nlp.update(examples, sgd=optimizer)["ner"] for _ in range(40)]
    return nlp, examples, losses


def test_both_learn(learnt):
    nlp, examples, losses = learnt
    assert losses[-1] < losses[0] / 10
    assert nlp.evaluate(examples)["ents_f"] == 1.0


def test_the_vectors_are_one_linear_layer_over_both(learnt):
    nlp, examples, _ = learnt
    model = nlp.get_pipe("phonemic_transformer").model
    docs = [each.predicted for each in examples[:3]]
    misreading = model.layers[0]
    encoder, features = misreading.layers[0].layers
    [linear] = [node for node in model.walk() if node.name == "linear" and node.get_dim("nO") == 96 and node in
                list(model.layers[2].walk())]  # fmt: skip
    weights, bias = linear.get_param("W"), linear.get_param("b")
    encoded, embedded = encoder.predict(docs), features.predict(docs)
    for vectors, one, other in zip(model.predict(docs), encoded, embedded, strict=True):
        assert np.allclose(vectors, np.hstack([one, other]) @ weights.T + bias, atol=1e-4)


def test_gradients_reach_both(checkpoint):
    nlp = made(checkpoint["vi"])
    examples = [example(nlp, text) for text in TEXTS[:4]]
    nlp.initialize(lambda: examples)
    model = nlp.get_pipe("phonemic_transformer").model
    bert = next(node for node in model.walk() if node.name == "phonemic_bert").shims[0]._model
    table = next(node for node in model.walk() if node.name == "hashembed")
    before = bert.bert.embeddings.projection.weight.detach().clone(), table.get_param("E").copy()
    optimizer = Adam(0.002)
    for _ in range(3):  # the heads begin with zeros, which pass no gradient on
        nlp.update(examples, sgd=optimizer)
    assert not torch.equal(bert.bert.embeddings.projection.weight.detach(), before[0])
    assert not np.array_equal(table.get_param("E"), before[1])


def test_saving(learnt, tmp_path):
    nlp, *_ = learnt
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    for text in (*TEXTS[:3], "", " "):
        assert np.allclose(again(text).tensor, nlp(text).tensor, atol=1e-6)
        assert [entity.text for entity in again(text).ents] == [entity.text for entity in nlp(text).ents]


def recording(seen):
    """A layer of zeros that keeps the words of each step's Docs."""

    def forward(model, docs, is_train):
        seen.append([[token.text for token in doc] for doc in docs])
        return [np.zeros((len(doc), 4), "f") for doc in docs], lambda gradients: []

    return Model("recording", forward, dims={"nO": 4})


def test_both_are_shown_the_same_mark_errors_in_training_only():
    nlp = spacy.blank("vi", config=SYLLABLES)
    docs = [nlp.make_doc(text) for text in ("Tôi yêu tiếng Việt", "Hà Nội", "")]
    clean = [[token.text for token in doc] for doc in docs]
    encoder, features = [], []
    model = phonemic_bert_and_features(3, recording(encoder), recording(features), diacritic_noise=0.5)
    model.initialize(docs)
    model.predict(docs)
    assert encoder[-1] == features[-1] == clean
    spacy.util.fix_random_seed(0)
    changed = 0
    for _ in range(200):
        vectors, backprop = model.begin_update(docs)
        assert [len(each) for each in vectors] == [4, 2, 0]
        assert encoder[-1] == features[-1]
        assert list(map(len, encoder[-1])) == [4, 2, 0]
        backprop([np.zeros_like(each) for each in vectors])
        changed += encoder[-1][0] != clean[0]
    assert 70 < changed < 110  # half of the Docs, and in a few of those none of the four syllables
    assert encoder[0] == clean
    assert len({words[0][2] for words in encoder}) > 4


def test_mark_errors_are_a_share_and_vietnamese():
    with pytest.raises(ValueError, match=r"diacritic_noise=1\.5: must be at least 0 and below 1"):
        phonemic_bert_and_features(3, recording([]), recording([]), diacritic_noise=1.5)
    nlp = spacy.blank("zh", config=SYLLABLES)
    model = phonemic_bert_and_features(3, recording([]), recording([]), diacritic_noise=0.5)
    with pytest.raises(ValueError, match="diacritic_noise is for Vietnamese"):
        model.begin_update([nlp.make_doc("银行行长")] * 30)
    with pytest.raises(ValueError, match="diacritic_noise is for Vietnamese"):
        model.initialize([nlp.make_doc("银行行长")])


class TestCheck:
    @pytest.fixture
    def corpus(self, tmp_path):
        nlp = spacy.blank("vi", config=SYLLABLES)
        DocBin(docs=[example(nlp, text).reference for text in TEXTS]).to_disk(tmp_path / "a.spacy")
        return tmp_path / "a.spacy"

    def test_tells_what_will_be_read(self, corpus, tmp_path, capsys):
        config = tmp_path / "ner.cfg"
        config.write_text(config_text("ner", "vi", steps=70), encoding="utf-8")
        option = "--components.phonemic_transformer.model"
        paths = [
            f"--paths.train={corpus}",
            f"--paths.dev={corpus}",
            f"{option}.preset=paper-tiny",
            f"{option}.window=6",
        ]
        before = sorted(tmp_path.iterdir())
        assert main(["check", str(config), *paths]) == 0
        told = capsys.readouterr().out
        tokens = sum(len(example(spacy.blank("vi", config=SYLLABLES), text).predicted) for text in TEXTS)
        lengths = [len(Tokenizer("vi").encode(text)) for text in TEXTS]
        assert told.count(f"{len(TEXTS)} documents, {tokens} tokens, {sum(lengths)} positions") == 2
        windows, longer = map(int, re.search(r"(\d+) windows of at most 6 positions, (\d+) documents", told).groups())
        assert longer == sum(length > 6 for length in lengths)
        assert windows >= len(TEXTS) + longer
        assert re.search(r"a step: \d+\.\d\d s", told)
        assert re.search(r"70 steps: \d+ \w+ without evaluation, \d+\.\d epochs", told)
        assert sorted(tmp_path.iterdir()) == before

    def test_entities_across_tokens(self, tmp_path, capsys):
        nlp = spacy.blank("vi", config={"nlp": {"tokenizer": {"use_pyvi": False}}})
        doc = nlp.make_doc("x Hà-Nội")
        doc.ents = [doc.char_span(2, 8, label="A")]
        wrong = spacy.tokens.Doc(nlp.vocab, words=["x", "H", "à"], spaces=[True, False, False])
        wrong.ents = [spacy.tokens.Span(wrong, 1, 2, "A")]
        DocBin(docs=[doc, wrong]).to_disk(tmp_path / "a.spacy")
        (tmp_path / "ner.cfg").write_text(config_text("ner", "vi", "hash", steps=5), encoding="utf-8")
        paths = [f"--paths.{part}={tmp_path / 'a.spacy'}" for part in ("train", "dev")]
        assert main(["check", str(tmp_path / "ner.cfg"), *paths]) == 0
        assert "train: 1 entities begin or end within a token" in capsys.readouterr().out

    def test_what_is_no_config_or_names_no_corpora(self, corpus, tmp_path, capsys):
        assert main(["check", str(corpus)]) == 1
        assert "no training config, not even text" in capsys.readouterr().err
        (tmp_path / "a.cfg").write_text(config_text("ner", "vi", "hash", steps=5), encoding="utf-8")
        assert main(["check", str(tmp_path / "a.cfg")]) == 1
        assert "names no corpora: give --paths.train train.spacy" in capsys.readouterr().err

    @pytest.fixture
    def check(self, corpus, tmp_path, capsys):
        """Checks a small config with settings, and gives the status and the two outputs."""

        def checked(*options, encoder="hash", task="ner", train=corpus, dev=corpus):
            text = config_text(task, "vi", encoder, steps=5)
            (tmp_path / "a.cfg").write_text(text, encoding="utf-8")
            status = main(["check", str(tmp_path / "a.cfg"), f"--paths.train={train}", f"--paths.dev={dev}", *options])
            return status, *capsys.readouterr()

        return checked

    def test_another_tasks_corpus(self, tmp_path, check):
        nlp = spacy.blank("vi", config=SYLLABLES)
        DocBin(docs=[nlp.make_doc("Hà Nội mưa")]).to_disk(tmp_path / "bare.spacy")
        status, _, errors = check(task="pos", train=tmp_path / "bare.spacy", dev=tmp_path / "bare.spacy")
        assert status == 1
        assert "Labels for component 'tagger' not initialized: the training corpus has nothing" in errors

    def test_nothing_to_warn_of(self, check):
        status, told, errors = check()
        assert (status, errors) == (0, "")
        assert "warning" not in told

    @pytest.mark.parametrize("encoder", ["bert", "both"])
    def test_fresh_weights_at_a_low_rate(self, check, checkpoint, encoder):
        model = "--components.phonemic_transformer.model" + (".encoder" if encoder == "both" else "")
        rate = "--training.optimizer.learn_rate.initial_rate"
        tiny = [f"{model}.preset=paper-tiny", "--training.optimizer.learn_rate.warmup_steps=2"]
        pretrained = [f"--paths.checkpoint={checkpoint['vi']}", f"{model}.window=62"]
        for options, warned in (
            ([*tiny], None),
            ([*tiny, f"{rate}=0.0002"], None),
            ([*tiny, f"{rate}=0.00005"], "learns at 5e-05 at most"),
            ([*tiny, f"{model}.learn_rate_factor=0.5", f"{rate}=0.0003"], "learns at 0.00015 at most"),
            ([*tiny, *pretrained, f"{rate}=0.00005"], None),
        ):
            status, told, _ = check(*options, encoder=encoder)
            assert status == 0
            assert ("warning" in told) == (warned is not None), told
            if warned:
                assert f"PhonemicBERT has fresh weights and {warned}" in told
                assert "set training.optimizer.learn_rate.initial_rate to 0.001" in told

    def test_a_learning_rate_that_is_the_same_throughout(self, corpus, tmp_path):
        config = Config().from_str(config_text("ner", "vi", "bert", steps=5), interpolate=False)
        config["training"]["optimizer"]["learn_rate"] = 0.0001
        config.to_disk(tmp_path / "same.cfg")
        settings = {"paths.train": str(corpus), "paths.dev": str(corpus)}
        settings["components.phonemic_transformer.model.preset"] = "paper-tiny"
        assert any("learns at 0.0001 at most" in line for line in report(tmp_path / "same.cfg", settings))

    def test_corpora_with_nothing_to_learn(self, check, tmp_path):
        nlp = spacy.blank("vi", config=SYLLABLES)
        DocBin().to_disk(tmp_path / "empty.spacy")
        DocBin(docs=[nlp.make_doc(text) for text in TEXTS]).to_disk(tmp_path / "plain.spacy")
        (tmp_path / "plain.txt").write_text("Huế B-LOC\n", encoding="utf-8")
        for name in ("empty.spacy", "plain.txt"):
            status, told, errors = check(train=tmp_path / name)
            assert (status, told) == (1, "")
            assert re.fullmatch(rf".*a\.cfg: the training corpus .*{name} holds no texts: give .*\n", errors)
            status, told, errors = check(dev=tmp_path / name)
            assert (status, errors) == (0, "")
            assert "warning: dev: nothing to evaluate with" in told
        assert "warning: train: there is not one entity, which ner would" in check(train=tmp_path / "plain.spacy")[1]

    def test_text_of_another_language(self, check, tmp_path):
        for foreign, warned in ((4, True), (3, True), (2, False), (0, False)):
            words = ["Hà", *"我在北京"[:foreign], "Nội"]
            doc = spacy.tokens.Doc(spacy.blank("vi").vocab, words=words, ents=["B-A"] + ["O"] * (foreign + 1))
            DocBin(docs=[doc]).to_disk(tmp_path / "other.spacy")
            told = check(train=tmp_path / "other.spacy")[1]
            assert ("of the tokens have no syllable of 'vi'" in told) == warned, (foreign, told)

    def test_what_is_no_training_config(self, tmp_path, capsys):
        for text, told in (
            ("", "it lacks [nlp] and [training]"),
            ("[nlp]\nlang = 'vi'\n", "it lacks [training]"),
            ("hello\n", "no section headers"),
            ("[nlp]\nlang = 'vi'\n[training]\nseed = 0\n", "gpu_allocator"),
        ):
            (tmp_path / "wrong.cfg").write_text(text, encoding="utf-8")
            assert main(["check", str(tmp_path / "wrong.cfg")]) == 1
            output = capsys.readouterr()
            assert output.out == ""
            assert output.err.startswith(f"{tmp_path / 'wrong.cfg'}: ")
            assert told in output.err
            assert output.err.count("\n") == 1

    @pytest.mark.skipif(has_gpu, reason="there is one")
    def test_a_gpu_that_is_not_there(self, check):
        status, told, errors = check("--gpu-id", "0")
        assert (status, told) == (1, "")
        assert re.fullmatch(r"GPU \d+ cannot be used \(.*\): leave --gpu-id out to take the CPU\n", errors)

    @pytest.mark.parametrize("broken", ["no file", "no corpus", "no config", "another setting"])
    def test_what_is_wrong_is_told(self, broken, corpus, tmp_path, capsys):
        config = tmp_path / "ner.cfg"
        if broken != "no file":
            config.write_text("[nlp" if broken == "no config" else config_text("ner", "vi", "hash"), encoding="utf-8")
        options = {
            "no corpus": [f"--paths.train={tmp_path}/gone.spacy", f"--paths.dev={corpus}"],
            "another setting": [
                f"--paths.train={corpus}",
                f"--paths.dev={corpus}",
                "--components.tok2vec.model.encode.depht=5",
            ],
        }.get(broken, [])
        assert main(["check", str(config), *options]) == 1
        assert "ner.cfg: " in capsys.readouterr().err

"""Training: the real command, gradients through listeners, frozen and shared encoders."""

import pickle

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import LISTENER, NER, SYLLABLES, TEXTS, VI, example, pipeline  # noqa: E402
from spacy.training import Example  # noqa: E402
from thinc.api import Adam  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


class TestTraining:
    def test_the_command_overfits(self, trained):
        nlp = spacy.load(trained / "out" / "model-best")
        scores = nlp.evaluate([example(nlp, text) for text in TEXTS])
        assert scores["ents_f"] > 0.95
        assert scores["tag_acc"] > 0.95

    def test_spacy_evaluate(self, trained):
        from spacy.cli.evaluate import evaluate

        scores = evaluate(str(trained / "out" / "model-best"), trained / "train.spacy", silent=True)
        assert 0 <= scores["ents_f"] <= 1
        assert 0 <= scores["tag_acc"] <= 1

    def test_gradients_reach_the_encoder_through_the_listeners(self, checkpoint):
        """The slope of two taggers' cross-entropies along the gradient of the embedding table is its length."""
        nlp = spacy.blank("vi", config=SYLLABLES)
        model = {"checkpoint": checkpoint["vi"], "window": 9, "stride": 5, "int8_inference": False}
        nlp.add_pipe("phonemic_transformer", config={"model": model})
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
        losses = [nlp.update(examples, sgd=sgd, losses={}) for _ in range(100)]
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

    def test_a_new_component_of_a_frozen_encoder_that_is_sourced(self, checkpoint):
        trained = pipeline(checkpoint["vi"])
        examples = [example(trained, text) for text in TEXTS]
        trained.initialize(lambda: examples)
        nlp = spacy.blank("vi", config=SYLLABLES)
        nlp.add_pipe("phonemic_transformer", source=trained)
        nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}})
        encoder = nlp.get_pipe("phonemic_transformer")
        before, frozen = encoder.model.to_bytes(), ["phonemic_transformer"]
        examples = [example(nlp, text) for text in TEXTS]
        with nlp.select_pipes(disable=frozen):  # as spaCy does with what is frozen
            sgd = nlp.initialize(lambda: examples)
        losses = [
            nlp.update(examples, sgd=sgd, losses={}, exclude=frozen, annotates=frozen)["tagger"] for _ in range(10)
        ]
        assert losses[-1] < losses[0]
        assert encoder.model.to_bytes() == before

    def test_a_frozen_encoder_without_weights_is_told(self, checkpoint):
        nlp = pipeline(checkpoint["vi"])
        examples = [example(nlp, text) for text in TEXTS]
        with (
            nlp.select_pipes(disable=["phonemic_transformer"]),
            pytest.raises(ValueError, match=r"has no weights.*source it from a trained pipeline"),
        ):
            nlp.initialize(lambda: examples)

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
        losses = [nlp.update(examples, sgd=sgd, losses={})["tagger"] for _ in range(20)]
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


class TestAverages:
    def train(self, checkpoint, steps=30, **options):
        """A pipeline, its optimizer, and the averages of the encoder's weights as thinc defines them, the slow way."""
        nlp = pipeline(checkpoint, **options)
        examples = [example(nlp, text) for text in TEXTS]
        nlp.initialize(lambda: examples)
        sgd = Adam(0.003, use_averages=True)
        network = nlp.get_pipe("phonemic_transformer").model.shims[0]._model
        averages = {name: torch.zeros_like(weights) for name, weights in network.named_parameters()}
        for step in range(1, steps + 1):
            nlp.update(examples, sgd=False, drop=0.0)
            for _, component in nlp.pipeline:  # after all of them, as spacy train does
                component.finish_update(sgd)
            for name, weights in network.named_parameters():
                averages[name] += (1 - (1 + step) / (10 + step)) * (weights.detach() - averages[name])
        return nlp, sgd, network, averages

    @staticmethod
    def weights_of(network):
        return {name: weights.detach().clone() for name, weights in network.named_parameters()}

    def test_the_encoder_has_them_for_a_while(self, checkpoint, tmp_path):
        nlp, sgd, network, averages = self.train(checkpoint["vi"])
        trained, docs = self.weights_of(network), [nlp.make_doc(VI)]
        (vectors,) = nlp.get_pipe("phonemic_transformer").predict(docs)
        with nlp.use_params(sgd.averages):
            for name, weights in network.named_parameters():
                torch.testing.assert_close(weights, averages[name], rtol=1e-4, atol=1e-6)
            (averaged,) = nlp.get_pipe("phonemic_transformer").predict(docs)
            nlp.to_disk(tmp_path / "averaged")
        assert np.abs(averaged - vectors).max() > 1e-3
        assert all(torch.equal(weights, trained[name]) for name, weights in network.named_parameters())
        assert (nlp.get_pipe("phonemic_transformer").predict(docs)[0] == vectors).all()
        loaded = spacy.load(tmp_path / "averaged")
        np.testing.assert_allclose(loaded.get_pipe("phonemic_transformer").predict(docs)[0], averaged, atol=1e-5)

    def test_an_error_meanwhile_leaves_the_trained_weights(self, checkpoint):
        nlp, sgd, network, _ = self.train(checkpoint["vi"], 2)
        trained = self.weights_of(network)
        with pytest.raises(RuntimeError, match="no disk"), nlp.use_params(sgd.averages):
            raise RuntimeError("no disk")
        assert all(torch.equal(weights, trained[name]) for name, weights in network.named_parameters())

    def test_others_that_do_not_fit_are_refused_and_leave_no_trace(self, checkpoint):
        nlp, sgd, network, _ = self.train(checkpoint["vi"], 2)
        trained = self.weights_of(network)
        last = max((key for key in sgd.averages if key[1] in trained), key=lambda key: [*trained].index(key[1]))
        for other in (np.zeros((1,), "f"), np.zeros((7, 5), "f")):
            with (
                pytest.raises(ValueError, match=f"{last[1]} has the shape"),
                nlp.use_params({**sgd.averages, last: other}),
            ):
                pass
            assert all(torch.equal(weights, trained[name]) for name, weights in network.named_parameters())

    def test_each_of_several_encoders_has_its_own(self, checkpoint):
        """A component with a copy of an encoder, frozen, before another encoder: what thinc knows them by differs."""
        first = pipeline(checkpoint["vi"])
        first.initialize(lambda: [example(first, text) for text in TEXTS])
        first.replace_listeners("phonemic_transformer", "ner", ["model.tok2vec"])
        nlp, sgd, _, _ = self.train(checkpoint["vi"], 2)
        shims = [
            shim
            for pipe in (*(component for _, component in first.pipeline), nlp.get_pipe("phonemic_transformer"))
            for node in pipe.model.walk()
            for shim in node.shims
        ]
        assert len({shim.id for shim in shims}) == len(shims) == 3
        kept = self.weights_of(shims[1]._model)
        with nlp.use_params(sgd.averages), first.use_params(sgd.averages):
            assert all(torch.equal(weights, kept[name]) for name, weights in shims[1]._model.named_parameters())

    def test_what_is_frozen_has_none(self, checkpoint):
        nlp, sgd, network, _ = self.train(checkpoint["vi"], 2, freeze_layers=1)
        frozen = {name for name, weights in network.named_parameters() if not weights.requires_grad}
        assert frozen
        trained = self.weights_of(network)
        with nlp.use_params(sgd.averages):
            kept = {name for name, weights in network.named_parameters() if torch.equal(weights, trained[name])}
        assert kept == frozen

    def test_another_optimizer_s_are_not_taken(self, checkpoint):
        _, other, _, _ = self.train(checkpoint["vi"], 2)
        nlp, _, network, _ = self.train(checkpoint["vi"], 2)
        trained = self.weights_of(network)
        with nlp.use_params(other.averages):
            assert all(torch.equal(weights, trained[name]) for name, weights in network.named_parameters())

"""Runs and sweeps: what they leave, what is not repeated, what fails, and that the same seed gives the same."""

import json
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")
pytest.importorskip("seqeval", reason="needs the finetune extra")

from synthetic import FEW, SHORT, classification, clockless, dataset, files, made, results_in, settings, spans, sweep
from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

from phonemic.tasks import PairExample, custom
from phonemic_bert.finetuning.encoders import load_encoder
from phonemic_bert.finetuning.jobs import Job, Limits
from phonemic_bert.finetuning.noise import parse
from phonemic_bert.finetuning.runs import Run, RunOutputs


def lines_of(path):
    return path.read_text("utf-8").splitlines()


@pytest.fixture
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


# --- results


def test_what_a_run_leaves(checkpoint, data, tmp_path):
    outputs = RunOutputs(predictions=True, save=tmp_path / "models")
    outcome = sweep(
        tmp_path / "results", [(dataset(data), data)], [checkpoint()], outputs=outputs, grid__num_train_epochs=4
    )
    [path], [result] = zip(*results_in(tmp_path / "results").items(), strict=True)
    assert outcome.results == [result]
    assert re.fullmatch(r"classification-macro-f1/tiny-vi/[0-9a-f]{12}-seed-1\.json", path)
    assert files(tmp_path / "results") == [path, path.replace(".json", ".predictions.jsonl")]
    want = {"format": 1, "lang": "vi", "kind": "classification", "metric": "macro-f1", "target": "label", "seed": 1}
    want |= {"encoder": "tiny-vi", "encoder_kind": "phonemic", "noise": [], "unreachable_gold": 0, "divided": None}
    want |= {"hyperparameters": {"learning_rate": 3e-3, "batch_size": 16, "epochs": 4}}
    assert want.items() <= result.items()
    assert result["settings"]["text"]["max_seq_length"] == 64  # the encoder's limit
    assert 1 <= result["epochs"] <= 4
    assert result["seconds"] > 0
    assert result["versions"]["torch"] == torch.__version__

    rows = [json.loads(line) for line in lines_of(tmp_path / "results" / path.replace(".json", ".predictions.jsonl"))]
    assert [(row["text"], row["gold"]) for row in rows] == [
        (one.text, one.labels["label"]) for one in made("test", classification)
    ]
    right = sum(row["gold"] == row["predicted"] for row in rows)
    assert right / len(rows) == pytest.approx(result["test"]["accuracy"])

    saved = tmp_path / "models" / path.removesuffix(".json")
    model = AutoModelForSequenceClassification.from_pretrained(saved)
    assert model.config.id2label == {0: "tốt", 1: "xấu"}
    assert result["parameters"] == model.num_parameters()
    classify = pipeline("text-classification", model=model, tokenizer=AutoTokenizer.from_pretrained(saved))
    assert [one["label"] for one in classify([row["text"] for row in rows])] == [row["predicted"] for row in rows]


def test_predictions_of_spans_are_lists(checkpoint, data, tmp_path):
    one = dataset(data, "sequence-labelling", "span-f1")
    sweep(tmp_path, [(one, data)], [checkpoint()], outputs=RunOutputs(predictions=True), limits=FEW, **SHORT)
    [path] = tmp_path.rglob("*.predictions.jsonl")
    rows = [json.loads(line) for line in lines_of(path)]
    gold = {
        example.text: [[span.start, span.end, span.label] for span in example.spans] for example in made("test", spans)
    }
    assert all(row["gold"] == gold[row["text"]] for row in rows)
    assert all(len(span) == 3 for row in rows for span in row["predicted"])


def test_the_same_seed_gives_the_same(checkpoint, data, tmp_path):
    for name in ("one", "two"):
        sweep(
            tmp_path / name,
            [(dataset(data), data)],
            [checkpoint()],
            (1, 2),
            limits=FEW,
            optimization__dropout=0.3,
            **SHORT,
        )
    first, second = (
        {path: clockless(result) for path, result in results_in(tmp_path / name).items()} for name in ("one", "two")
    )
    assert first == second
    assert len(first) == 2
    losses = [json.dumps(result["dev"]) + json.dumps(result["test"]) for result in first.values()]
    assert losses[0] != losses[1]


@pytest.mark.filterwarnings("ignore:`torch.cpu.amp.autocast:FutureWarning")  # of transformers 4
def test_bfloat16_on_the_cpu(checkpoint, data, tmp_path):
    outcome = sweep(tmp_path, [(dataset(data), data)], [checkpoint()], optimization__bf16=True)
    assert outcome.results[0]["test"]["accuracy"] > 0.9


def test_accumulated_batches_learn_as_whole_ones(checkpoint, data, tmp_path):
    scores = [
        sweep(
            tmp_path / str(size),
            [(dataset(data), data)],
            [checkpoint()],
            machine__per_device_train_batch_size=size,
            **SHORT,
        )
        for size in (16, 4)
    ]
    whole, parts = (outcome.results[0]["test"]["accuracy"] for outcome in scores)
    assert parts == pytest.approx(whole, abs=0.1)


def test_a_run_that_gets_no_better_ends(checkpoint, data, tmp_path, monkeypatch):
    epochs = []
    score = {1: 0.3, 2: 0.5, 3: 0.5, 4: 0.4, 5: 0.9}

    def fake(self, gold, predicted):
        epochs.append(len(epochs) + 1)
        return {"macro-f1": score.get(len(epochs), 0.0)}

    monkeypatch.setattr("phonemic_bert.finetuning.runs.Prepared.score", fake)
    outcome = sweep(
        tmp_path,
        [(dataset(data), data)],
        [checkpoint()],
        limits=FEW,
        grid__num_train_epochs=9,
        optimization__early_stopping_patience=2,
    )
    assert outcome.results[0]["epochs"] == 2
    assert outcome.results[0]["dev"] == {"macro-f1": 0.5}
    assert len(epochs) == 4 + 1  # and the test set


# --- sweeps


def test_nothing_is_repeated_that_is_finished(checkpoint, data, tmp_path):
    job = [(dataset(data), data)]
    first = sweep(tmp_path, job, [checkpoint()], (1, 2), limits=FEW, grid__learning_rate=[1e-3, 2e-3], **SHORT)
    assert len(first.results) == 4
    assert not first.repeated
    times = {path: (tmp_path / path).stat().st_mtime_ns for path in files(tmp_path)}
    again = sweep(tmp_path, job, [checkpoint()], (1, 2, 3), limits=FEW, grid__learning_rate=[1e-3, 2e-3], **SHORT)
    assert again.repeated == 4
    assert len(again.results) == 6
    assert all((tmp_path / path).stat().st_mtime_ns == time for path, time in times.items())
    assert len(files(tmp_path)) == 6


def test_the_key_knows_all_that_determines_a_run(checkpoint, data, tmp_path):
    plain = Run(
        Job(dataset(data), "label", data), load_encoder(checkpoint()), settings(), settings().points()[0], 1, tmp_path
    )
    others = [
        replace(plain, job=replace(plain.job, limits=Limits(train=7))),
        replace(plain, job=replace(plain.job, divide="dev")),
        replace(plain, job=replace(plain.job, dataset=dataset(data, "sentence-pair", "accuracy"))),
        replace(plain, settings=settings(optimization__weight_decay=0.5)),
        replace(plain, settings=settings(text__max_seq_length=32)),
        replace(plain, point=settings(grid__num_train_epochs=3).points()[0]),
        replace(plain, encoder=load_encoder(checkpoint("zh"))),
        replace(plain, encoder=load_encoder(other_tokenizer(checkpoint(), tmp_path / "packed"))),
    ]
    keys = [plain.key, *(run.key for run in others)]
    assert len(set(keys)) == len(keys)
    assert plain.key == replace(plain, seed=2, settings=settings(machine__per_device_train_batch_size=4)).key
    again = replace(plain, job=Job(dataset(data), "label", data))
    assert again.key == plain.key
    (data / "test.txt").write_text("dev")
    assert replace(plain, job=Job(again.job.dataset, "label", data)).key != plain.key


def other_tokenizer(folder, copy):
    """The same model, which reads otherwise."""
    shutil.copytree(folder, copy)
    options = json.loads((copy / "phonemic.json").read_text())
    (copy / "phonemic.json").write_text(json.dumps({**options, "fallback": "packed"}))
    return copy


def test_the_key_knows_the_columns_of_ones_own_files(checkpoint, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("body,title,label\ntốt,xấu,a\nxấu,tốt,b\n", "utf-8")

    def key(**fields):
        files = {"lang": "vi", "train": own, "test": own}
        job = Job(custom.dataset("classification", **files, **fields), "label", tmp_path)
        return Run(job, load_encoder(checkpoint()), settings(), settings().points()[0], 1, tmp_path).key

    assert key(text="body") == key(text="body")
    assert len({key(text="body"), key(text="title"), key(text="body", quoting=False)}) == 3


def test_results_of_other_tables_are_others(checkpoint, data, tmp_path, monkeypatch):
    """Texts are read otherwise with them."""
    job = Job(dataset(data), "label", data)
    run = Run(job, load_encoder(checkpoint()), settings(), settings().points()[0], 1, tmp_path)
    before = run.key
    monkeypatch.setattr("phonemic.lexicon.digests.tables_digest", lambda name: f"others of {name}")
    assert run.key != before


def test_noise_that_was_tested_before_stays(checkpoint, data, tmp_path):
    job, ways = [(dataset(data), data)], ("adjacent-key", "without-tone")
    for way in ways:
        sweep(tmp_path, job, [checkpoint()], outputs=RunOutputs(tuple(parse(way, [0.3]))), limits=FEW, **SHORT)
    both = RunOutputs(tuple(noise for way in ways for noise in parse(way, [0.3])))
    outcome = sweep(tmp_path, job, [checkpoint()], outputs=both, limits=FEW, **SHORT)
    assert outcome.repeated == 1
    assert [one["name"] for one in outcome.results[0]["noise"]] == [*ways]


def test_a_finished_run_is_repeated_for_what_it_lacks(checkpoint, data, tmp_path):
    job = [(dataset(data), data)]
    sweep(tmp_path / "results", job, [checkpoint()], limits=FEW, **SHORT)
    more = RunOutputs(tuple(parse("adjacent-key", [0.3])), True, tmp_path / "models")
    outcome = sweep(tmp_path / "results", job, [checkpoint()], outputs=more, limits=FEW, **SHORT)
    assert not outcome.repeated
    assert [one["name"] for one in outcome.results[0]["noise"]] == ["adjacent-key"]
    assert len(list((tmp_path / "models").rglob("config.json"))) == 1
    assert sweep(tmp_path / "results", job, [checkpoint()], outputs=more, limits=FEW, **SHORT).repeated == 1
    assert sweep(tmp_path / "results", job, [checkpoint()], limits=FEW, **SHORT).repeated == 1


def test_an_interrupted_sweep_continues(checkpoint, data, tmp_path, monkeypatch):
    execute, runs = Run.execute, []

    def interrupted(self, *args):
        runs.append(self.seed)
        if len(runs) == 2:
            raise KeyboardInterrupt
        return execute(self, *args)

    monkeypatch.setattr(Run, "execute", interrupted)
    job = [(dataset(data), data)]
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path, job, [checkpoint()], (1, 2, 3), limits=FEW, **SHORT)
    assert len(files(tmp_path)) == 1
    outcome = sweep(tmp_path, job, [checkpoint()], (1, 2, 3), limits=FEW, **SHORT)
    assert runs == [1, 2, 2, 3]
    assert outcome.repeated == 1
    assert len(files(tmp_path)) == 3


def test_what_fails_does_not_end_the_sweep(checkpoint, data, tmp_path, monkeypatch):
    execute = Run.execute

    def failing(self, *args):
        if self.seed == 1 and self.job.dataset.kind == "classification":
            raise torch.OutOfMemoryError("out of memory")
        return execute(self, *args)

    monkeypatch.setattr(Run, "execute", failing)
    other, empty = tmp_path / "other", tmp_path / "empty"
    other.mkdir()
    empty.mkdir()
    sets = [(dataset(data), data), (dataset(other, "sentence-pair", "accuracy"), other)]
    missing = dataset(other, "multiple-choice", "accuracy")
    encoders = [checkpoint(), "/nowhere", checkpoint("zh")]
    outcome = sweep(tmp_path / "results", [*sets, (missing, empty)], encoders, limits=FEW, **SHORT)
    assert len(outcome.results) == 1
    told = "\n".join(outcome.failures)
    assert "classification-macro-f1, tiny-vi, seed 1: out of memory" in told
    assert told.count("multiple-choice lacks its") == 1
    assert "'/nowhere' is neither a folder nor installed" in told
    assert "tiny-zh is an encoder for zh, but sentence-pair-accuracy is vi" in told


def test_two_encoders_of_one_name(checkpoint, data, tmp_path):
    other = tmp_path / "copies" / Path(checkpoint()).name
    shutil.copytree(checkpoint(), other)
    job = [(dataset(data), data)]
    given = [checkpoint(), checkpoint(), other, f"copy={other}", f"a/b={other}"]
    outcome = sweep(tmp_path / "results", job, given, limits=FEW, **SHORT)
    told = "\n".join(outcome.failures)
    assert len(outcome.failures) == 2
    assert f"{other} and {checkpoint()} are both called tiny-vi: give --encoder NAME={other}" in told
    assert "a name consists of letters, digits and . + - _, unlike 'a/b'" in told
    assert [one["encoder"] for one in outcome.results] == ["tiny-vi", "tiny-vi", "copy"]
    assert outcome.repeated == 1


def test_a_diverging_run_fails(checkpoint, data, tmp_path):
    outcome = sweep(tmp_path, [(dataset(data), data)], [checkpoint()], limits=FEW, grid__learning_rate=1e30, **SHORT)
    assert "NaN: try a lower learning rate" in outcome.failures[0]
    assert not files(tmp_path)


def test_a_damaged_result_is_named(checkpoint, data, tmp_path):
    sweep(tmp_path, [(dataset(data), data)], [checkpoint()], limits=FEW, **SHORT)
    [path] = files(tmp_path)
    (tmp_path / path).write_text("{")
    outcome = sweep(tmp_path, [(dataset(data), data)], [checkpoint()], limits=FEW, **SHORT)
    assert path in outcome.failures[0]
    assert "remove it to repeat" in outcome.failures[0]


# --- folds


def test_limits_are_drawn_by_seed_and_the_test_set_stays(data):
    job = Job(dataset(data), "label", data, limits=Limits(train=30, dev=10, test=20))
    one, two = job.folds(1), job.folds(2)
    assert [len(fold) for fold in one] == [30, 10, 20]
    assert one.test == two.test
    assert one.train != two.train
    assert one.dev != two.dev
    assert one == job.folds(1)


def test_one_split_becomes_three_and_texts_stay_together(data, monkeypatch):
    draw = random.Random(0)
    examples = [PairExample(f"text {draw.randrange(60)}", str(at), "có") for at in range(300)]
    one = dataset(data, "sentence-pair", "accuracy")
    one = replace(one, parse=lambda paths: iter(examples))
    folds = Job(one, "label", data, "dev").folds(3)
    assert sorted(int(example.text_b) for fold in folds for example in fold) == list(range(300))
    firsts = [{example.text_a for example in fold} for fold in folds]
    assert not firsts[0] & firsts[1]
    assert not firsts[0] & firsts[2]
    assert not firsts[1] & firsts[2]
    assert 60 <= len(folds.test) <= 70
    assert 24 <= len(folds.dev) <= 32
    other = Job(one, "label", data, "dev").folds(4)
    assert other.test == folds.test
    assert other.dev != folds.dev

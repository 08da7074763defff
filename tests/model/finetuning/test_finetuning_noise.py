"""Noise in test sets: what is recorded, what is refused, and which options there are."""

import pytest

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")
pytest.importorskip("seqeval", reason="needs the finetune extra")

from synthetic import FEW, SHORT, dataset, files, sweep

from phonemic.errors import InputError
from phonemic.noise.respelling import without_diacritics
from phonemic_bert.errors import SettingsError
from phonemic_bert.finetuning.encoders import load_encoder
from phonemic_bert.finetuning.jobs import Job
from phonemic_bert.finetuning.noise import NoiseCondition, parse
from phonemic_bert.finetuning.results import read
from phonemic_bert.finetuning.runs import Prepared, RunOutputs
from phonemic_bert.finetuning.settings import Settings


@pytest.fixture
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


def test_noise_is_put_into_the_test_set_and_recorded(checkpoint, data, tmp_path):
    outputs = RunOutputs(tuple(parse("without-diacritics", [0.0, 0.2, 1.0])))
    outcome = sweep(tmp_path, [(dataset(data), data)], [checkpoint()], outputs=outputs)
    result = outcome.results[0]
    clean, some, all_ = result["noise"]
    assert (clean["ratio"], clean["changed"], clean["test"]) == (0.0, 0.0, result["test"])
    assert some["changed"] == pytest.approx(0.2, abs=0.02)
    assert some["options"] == {}
    assert all_["changed"] > 0.5
    assert all_["test"]["accuracy"] < result["test"]["accuracy"]  # tốt and xấu are not what was learned any more


@pytest.mark.parametrize(("kind", "metric"), [("question-answering", "exact-match"), ("sequence-labelling", "span-f1")])
def test_noise_that_changes_lengths_is_refused_where_places_count(checkpoint, data, tmp_path, kind, metric):
    job = [(dataset(data, kind, metric), data)]
    refused = sweep(
        tmp_path, job, [checkpoint()], outputs=RunOutputs(tuple(parse("normal-form", [0.5]))), limits=FEW, **SHORT
    )
    assert "it changes lengths" in refused.failures[0]
    assert not files(tmp_path)
    kept = sweep(
        tmp_path, job, [checkpoint()], outputs=RunOutputs(tuple(parse("without-tone", [0.5]))), limits=FEW, **SHORT
    )
    assert not kept.failures
    assert kept.results[0]["noise"][0]["changed"] > 0.2


@pytest.mark.parametrize("ratio", [0.2, 1.0])
def test_noise_of_training_rewrites_half_of_the_training_set_only(checkpoint, data, ratio):
    job = Job(dataset(data), "label", data)
    options = ["text.training_noise=without-diacritics", f"text.training_noise_ratio={ratio}"]
    encoder = load_encoder(checkpoint())
    clean, noisy, again, other = (
        Prepared(job, encoder, Settings.load("small", given), seed)
        for given, seed in (((), 1), (options, 1), (options, 1), (options, 2))
    )
    for fold in ("dev", "test"):
        assert getattr(clean, fold).examples == getattr(noisy, fold).examples
    assert noisy.train.examples == again.train.examples
    before, after = clean.train.examples, noisy.train.examples
    assert [one.labels for one in before] == [one.labels for one in after]
    changed = [one.text != two.text for one, two in zip(before, after, strict=True)]
    assert 0.3 < sum(changed) / len(changed) < 0.7
    assert changed != [one.text != two.text for one, two in zip(other.train.examples, before, strict=False)]
    plain = [without_diacritics(one.text)[0] for one in before]
    assert [without_diacritics(one.text)[0] for one in after] == plain
    if ratio == 1:
        assert all(two.text == bare for two, bare, noise in zip(after, plain, changed, strict=True) if noise)


def test_runs_with_noise_in_training_are_rows_of_their_own(checkpoint, data, tmp_path):
    job = [(dataset(data), data)]
    for options in ({}, {"text__training_noise": "without-tone", "text__training_noise_ratio": 0.3}):
        assert not sweep(tmp_path, job, [checkpoint()], limits=FEW, **SHORT, **options).failures
    rows = read(tmp_path).rows("vi")
    assert len(rows) == 2
    assert any("training_noise=without-tone, training_noise_ratio=0.3" in row for row in rows)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("text.training_noise=echo", "unknown noise 'echo'"),
        ("text.training_noise=homophones:counts=README.md", "counts is for the noise of test sets only"),
        ("text.training_noise=homophones:counts=nowhere.txt", "nowhere.txt"),
        ("text.training_noise=homophones:pool", "name=value"),
        ("text.training_noise_ratio=1.5", "between 0 and 1"),
    ],
)
def test_wrong_noise_of_training_is_an_error_of_the_settings(given, message):
    with pytest.raises(SettingsError, match=message):
        Settings.load("small", ["text.training_noise=homophones", given])


def test_noise_of_training_in_the_other_language_is_refused(checkpoint, data, tmp_path):
    outcome = sweep(tmp_path, [(dataset(data), data)], [checkpoint()], text__training_noise="homophones")
    assert "noise homophones is for zh, but classification-macro-f1 is vi" in outcome.failures[0]


def test_noise_of_the_other_language_is_refused(checkpoint, data, tmp_path):
    outcome = sweep(
        tmp_path, [(dataset(data), data)], [checkpoint()], outputs=RunOutputs((NoiseCondition("homophones", 0.1),))
    )
    assert "noise homophones is for zh, but classification-macro-f1 is vi" in outcome.failures[0]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("homophones:same_ids=True", r"noise homophones: same_ids must be true or false, not 'True'"),
        ("homophones:tokenizer=x", r"has no option 'tokenizer': choose one of pool, counts,"),
        ("homophones:seed=3", r"has no option 'seed'"),
        ("without-tone:pool=all", r"has no option 'pool': choose one of share, draw, nested"),
        ("homophones:pool=big5-1,pool=all", r"an option is given twice"),
        ("homophones:by_count=true", r"min_count and by_count need counts"),
        ("homophones:pool=some", r"unknown pool 'some'"),
        ("homophones:counts=nowhere.txt", r"nowhere.txt"),
    ],
)
def test_wrong_options_of_noise_are_named(written, message):
    with pytest.raises((InputError, OSError), match=message):
        parse(written, [0.5])


def test_homophones_by_frequency(tmp_path):
    from phonemic.tasks import TextExample
    from phonemic_bert.finetuning.noise import noised

    texts = tmp_path / "texts.txt"
    texts.write_text("它它她她她牠", "utf-8")
    example = TextExample("他" * 40)
    for options, written in (("", {"它", "她", "牠"}), (",min_count=2", {"它", "她"}), (",min_count=3", {"她"})):
        [noise] = parse(f"homophones:counts={texts}{options}", [1.0])
        [found], changed = noised([example], noise, 1, True)
        assert set(found.text) == written
        assert changed == 1
    texts.write_text("它", "utf-8")
    [again] = parse(f"homophones:counts={texts}", [1.0])
    [found], _ = noised([example], again, 1, True)
    assert set(found.text) == {"它"}


def test_noise_keeps_all_but_the_texts_and_differs_by_example():
    from phonemic.tasks import ChoiceExample, Span, TaggedExample
    from phonemic_bert.finetuning.noise import noised

    example = ChoiceExample("银行在北京大学旁边", "银行在哪里", ("北京大学", "天津"), 1)
    [first, second], changed = noised(
        [example, example], NoiseCondition("homophones", 0.5, (("pool", "gb2312-1"),)), 1, False
    )
    assert first != second
    assert first != example
    assert (first.answer, len(first.choices), len(first.context)) == (1, 2, 9)
    assert changed == pytest.approx(0.5, abs=0.15)
    tagged = TaggedExample("北京大学", (Span(0, 2, "place"),))
    [other], _ = noised([tagged], NoiseCondition("homophones", 1.0), 1, True)
    assert other.spans == tagged.spans
    assert other.text != tagged.text
    assert len(other.text) == 4

"""Learning from a teacher: its ids stand at the same positions, its tokens are read as the text is, the loss is its."""

import dataclasses
import json
import pickle
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from corpora import character_corpus, phonemic_corpus
from hypothesis import given
from hypothesis import strategies as st
from pretraining_helpers import EXPECTED_WARNINGS, assert_same_run, log, settings
from rich.console import Console
from safetensors.torch import load_file, save_file

from phonemic import Tokenizer
from phonemic.corpus import open_corpus
from phonemic_bert import PhonemicBertForMaskedLM
from phonemic_bert.errors import CheckpointError, CorpusError, RunError, SettingsError
from phonemic_bert.pretraining import distillation
from phonemic_bert.pretraining.distillation import Teacher, TeacherIds, make_teacher, readings
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.run import pretrain, split
from phonemic_bert.pretraining.settings import Settings
from phonemic_bert.triples import triples

pytestmark = EXPECTED_WARNINGS

MODERN = {"model__backbone": "modernbert", "model__position_init": "random", "model__conv_kernel_size": 3}
STUDENT = {**MODERN, "model__composition": "both", "model__head": "joint", "model__output_embeddings": "tied"}


@pytest.fixture(scope="module")
def taught(tmp_path_factory, zh_lines):
    """Two corpora of the same text, a teacher that has learned the one, and what teaches a run on the other."""
    folder = tmp_path_factory.mktemp("taught")
    corpus = phonemic_corpus(folder / "zh", zh_lines, lang="zh", repeat=6)
    other = character_corpus(folder / "characters", zh_lines, lang="zh", repeat=6)
    assert pretrain(settings(**MODERN), other, folder / "teacher", Console(quiet=True)) == 0
    given = {
        "distillation__teacher": str(folder / "teacher" / "final"),
        "distillation__corpus": str(other),
        "distillation__until": 0.75,
    }
    return SimpleNamespace(corpus=corpus, other=other, changes={**STUDENT, **given}, folder=folder)


@pytest.fixture(scope="module")
def run(taught):
    """The folder of a finished run that had a teacher."""
    assert pretrain(settings(**taught.changes), taught.corpus, taught.folder / "run", Console(quiet=True)) == 0
    return taught.folder / "run"


def flat(folder):
    return FlatCorpus(open_corpus(folder))


def symbols(shift=4):
    return SimpleNamespace(shift=shift, special=(0, 1, 2, 3), mask=3)


def documents(lengths, ids):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return SimpleNamespace(ids=ids[: offsets[-1]], offsets=offsets, symbols=symbols(), folder="there")


class Documents(SimpleNamespace):
    def __len__(self):
        return len(self.offsets) - 1


@given(st.lists(st.tuples(st.integers(0, 7), st.booleans()), min_size=1, max_size=12), st.data())
def test_ids_are_those_of_the_same_document_and_place(drawn, data):
    own = [length for length, _ in drawn]
    others = [length + longer for length, longer in drawn]
    other = Documents(**vars(documents(others, np.arange(sum(others), dtype=np.int32))))
    offsets = documents(own, np.arange(sum(own))).offsets
    want = []
    for number, (length, longer) in enumerate(drawn):
        start = int(other.offsets[number])
        want += [-1] * length if longer else [place + 4 for place in range(start, start + length)]
    start = data.draw(st.integers(0, len(want)))
    stop = data.draw(st.integers(start, len(want)))
    ids = TeacherIds(offsets, other)
    assert ids.of(start, stop).tolist() == want[start:stop]
    assert pickle.loads(pickle.dumps(ids)).of(start, stop).tolist() == want[start:stop]


def test_the_same_positions_are_masked(taught):
    wanted = settings(**taught.changes)
    own, other = flat(taught.corpus), flat(taught.other)
    train, _, _ = split(own, wanted)
    train.teacher = TeacherIds(own.offsets, other)
    shift, seen = other.symbols.shift, 0
    for number in range(20):
        item = train[number]
        masked, read = item["labels"] != -100, item["teacher_ids"]
        known = read >= 0
        assert (read[masked & known] == other.symbols.mask).all()
        assert not (read[~masked] == other.symbols.mask).any()
        for name in ("cls", "sep", "pad"):
            mine, theirs = (
                item[key] == getattr(one.symbols, name) for key, one in (("input_ids", own), ("teacher_ids", other))
            )
            assert torch.equal(mine, theirs)
        seen += int((read >= shift).sum())
    assert seen > 100


def test_a_teacher_is_not_asked_about_what_is_unknown_to_it(taught):
    own, other = flat(taught.corpus), flat(taught.other)
    train, _, _ = split(own, settings(**taught.changes))
    train.teacher = TeacherIds(own.offsets, other)
    before = [train[number] for number in range(20)]
    unknown = np.bincount(other.ids).argmax() + other.symbols.shift
    train.teacher.symbols = dataclasses.replace(other.symbols, special=(*other.symbols.special, unknown))
    fewer = 0
    for number, item in enumerate(before):
        masked = item["labels"] != -100
        sequence = int(train.order(0)[number])
        truth = train._laid_out(train.teacher.of(*train.packed[sequence]), train._lengths(sequence), other.symbols)
        want = torch.where(masked & torch.from_numpy(truth == unknown), -1, item["teacher_ids"])
        assert torch.equal(train[number]["teacher_ids"], want)
        fewer += int((want != item["teacher_ids"]).sum())
    assert fewer > 5


def test_tokens_are_read_as_the_tokenizer_reads_them(taught, zh_lines):
    own, other = flat(taught.corpus), flat(taught.other)
    tokens, read, shares = readings(own, other)
    known = sorted(set("".join(zh_lines)) - {" "})  # as corpora.character_corpus numbers them
    sums = np.bincount(tokens, shares)
    assert (sums < 1 + 1e-6).all()
    alone = 0
    for char, number in zip(known, range(len(known)), strict=True):
        rows = read[tokens == number + other.symbols.shift].tolist()
        ids = Tokenizer("zh").encode(char).ids.tolist()
        if len(ids) == 1 and len(rows) == 1:
            alone += rows == ids
    assert alone > 0.9 * len(known)


def test_other_documents_are_refused(taught, zh_lines, tmp_path):
    fewer = character_corpus(tmp_path / "fewer", zh_lines, lang="zh", repeat=5)
    own = flat(taught.corpus)
    with pytest.raises(CorpusError, match="documents, the run's"):
        TeacherIds(own.offsets, flat(fewer))
    longer = [line + line for line in zh_lines]
    with pytest.raises(CorpusError, match="tokens that are one position each"):
        readings(own, flat(character_corpus(tmp_path / "longer", longer, lang="zh", repeat=6)))


def test_another_text_of_the_same_lengths_is_refused(taught):
    own, other = flat(taught.corpus), flat(taught.other)
    mixed = np.random.default_rng(0).permutation(own.ids)
    with pytest.raises(CorpusError, match="its tokens are not read as the syllables of"):
        readings(Documents(**{**documents([1], mixed).__dict__, "ids": mixed, "offsets": own.offsets}), other)


@pytest.mark.parametrize("counted", [1, 50, 1000])
def test_long_documents_are_counted_in_blocks(monkeypatch, taught, counted):
    """Whatever part of the text is counted, a token is read as in all of it."""
    own, other = flat(taught.corpus), flat(taught.other)
    whole = {(int(token), int(read)) for token, read, _ in zip(*readings(own, other), strict=True)}
    monkeypatch.setattr(distillation, "_BLOCK", 10)
    monkeypatch.setattr(distillation, "_COUNTED", counted)
    tokens, read, shares = readings(own, other)
    assert len(tokens) > 0
    assert {(int(token), int(one)) for token, one in zip(tokens, read, strict=True)} <= whole
    assert (np.bincount(tokens, shares) < 1 + 1e-6).all()


def test_expectations_are_sums_over_what_is_read_alike(tiny):
    """Against a loop over tokens, with a model whose scores are given."""
    config = tiny("zh", head="joint", syllable_inventory="attested")
    listed = triples("zh", "attested").packed
    scores = torch.randn(3, 9, generator=torch.Generator().manual_seed(0))

    class Model(torch.nn.Module):
        def base_model(self, ids, **_):
            return SimpleNamespace(last_hidden_state=torch.arange(ids.numel()).view(*ids.shape, 1))

        def predict(self, states):
            return scores[: len(states)]

    tokens, read = np.array([4, 5, 5, 8]), listed[[7, 7, 2, 0]].astype(np.int64)
    shares = np.array([1, 0.25, 0.75, 0.5], np.float32)
    ids = SimpleNamespace(symbols=symbols())
    teacher = Teacher(Model(), config, ids, (tokens, read, shares), 0.5, 1)
    labels = torch.tensor([[-100, 1, 1, 1]])
    given = torch.tensor([[4, 3, -1, 3]])
    got = teacher.expect(given, {"input_ids": given, "labels": labels}, 0.5)
    want = torch.zeros(3, len(listed))
    for row, likely in enumerate(scores.softmax(-1)):
        want[row, 7] += 0.5 * (likely[4] + 0.25 * likely[5])
        want[row, 2] += 0.5 * 0.75 * likely[5]
        want[row, 0] += 0.5 * 0.5 * likely[8]
    want[1] = 0
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("training", [True, False])
def test_the_loss_is_a_part_of_each_target(tiny, training):
    """Against the definition in float64: the label's part, and what is spread over the list."""
    config = tiny(
        "zh", head="joint", backbone="modernbert", composition="both", output_embeddings="tied", syllable_inventory="attested",
        hidden_dropout_prob=0, attention_probs_dropout_prob=0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(config).double().train(training)
    listed = torch.from_numpy(triples("zh", "attested").packed).long()
    ids = listed[torch.randint(len(listed), (2, 9))]
    labels = torch.where(torch.rand(2, 9) < 0.5, ids, -100)
    aims = labels[labels != -100]
    soft = torch.rand(len(aims), len(listed), dtype=torch.float64).softmax(-1) * torch.rand(len(aims), 1)
    output = model(ids, labels=labels, soft_targets=soft)
    predicted = model.predict(model.bert(ids).last_hidden_state[labels != -100])
    total = torch.logsumexp(torch.cat([predicted.scores, predicted.outside[:, None]], -1), -1, keepdim=True)
    want = (1 - soft.sum(-1)) * predicted.losses(aims) - (soft * (predicted.scores - total)).sum(-1)
    torch.testing.assert_close(output.losses, want)
    assert output.loss.item() == pytest.approx(want.mean().item())
    same = model(ids, labels=labels, soft_targets=torch.zeros_like(soft))
    torch.testing.assert_close(same.losses, model(ids, labels=labels).losses)


def test_three_heads_have_no_list(tiny, random_ids):
    ids, _ = random_ids(vocab_size=100)
    with pytest.raises(ValueError, match="soft_targets are for a joint head"):
        PhonemicBertForMaskedLM(tiny())(ids, labels=ids, soft_targets=torch.zeros(ids.numel(), 5))


def test_a_student_comes_closer_to_its_teacher_than_one_without(taught, run, tmp_path):
    alone = {name: value for name, value in taught.changes.items() if "distillation" not in name}
    assert pretrain(settings(**alone), taught.corpus, tmp_path / "alone", Console(quiet=True)) == 0
    wanted, own = settings(**taught.changes), flat(taught.corpus)
    distances = []
    for folder in (run, tmp_path / "alone"):
        model = PhonemicBertForMaskedLM.from_pretrained(folder / "final").eval()
        teacher = make_teacher(wanted, own, model.config)
        train, _, _ = split(own, wanted)
        train.teacher = teacher.ids
        item = {name: value[None] for name, value in train[3].items() if name != "documents"}
        soft = teacher.expect(item.pop("teacher_ids"), item, 0.9)
        with torch.no_grad():
            distances.append(model(**item, soft_targets=soft).loss.item())
    assert distances[0] < distances[1]


def test_a_run_with_a_teacher_continues_bit_for_bit_wherever_it_lies(taught, run, tmp_path):
    ignored = shutil.ignore_patterns("final", "best", "checkpoint-16", "checkpoint-24")
    shutil.copytree(run, tmp_path / "run", ignore=ignored)
    shutil.copytree(taught.folder / "teacher" / "final", tmp_path / "moved")
    changes = {**taught.changes, "distillation__teacher": str(tmp_path / "moved"), "output__save_total_limit": 3}
    with pytest.raises(RunError, match=r"output\.save_total_limit"):
        pretrain(settings(**changes), taught.corpus, tmp_path / "run", Console(quiet=True))
    changes.pop("output__save_total_limit")
    assert pretrain(settings(**changes), taught.corpus, tmp_path / "run", Console(quiet=True)) == 0
    assert_same_run(tmp_path / "run", run)


def test_the_teacher_falls_silent(taught, tmp_path, monkeypatch):
    """It is asked in the first steps only, and for less each time."""
    asked, expect = [], Teacher.expect

    def listening(self, teacher_ids, inputs, weight):
        asked.append(weight)
        soft = expect(self, teacher_ids, inputs, weight)
        assert soft.sum(-1).max() <= weight * (1 + 1e-5)
        return soft

    monkeypatch.setattr(Teacher, "expect", listening)
    changes = {**taught.changes, "distillation__weight": 0.8, "distillation__until": 0.25}
    assert pretrain(settings(**changes), taught.corpus, tmp_path / "run", Console(quiet=True)) == 0
    run = settings()
    parts, quarter = (
        run.optimization.batch_size // run.machine.per_device_train_batch_size,
        run.optimization.max_steps // 4,
    )
    assert asked == pytest.approx([0.8 * (1 - step / quarter) for step in range(quarter) for _ in range(parts)])


def test_another_teacher_is_refused(taught, run, tmp_path):
    other = shutil.copytree(taught.folder / "teacher" / "final", tmp_path / "other")
    held = load_file(other / "model.safetensors")
    save_file({name: value + 1 for name, value in held.items()}, other / "model.safetensors", {"format": "pt"})
    folder = shutil.copytree(run, tmp_path / "run", ignore=shutil.ignore_patterns("final"))
    changes = {**taught.changes, "distillation__teacher": str(other)}
    with pytest.raises(RunError, match="this run has another teacher"):
        pretrain(settings(**changes), taught.corpus, folder, Console(quiet=True))
    without = {name: value for name, value in taught.changes.items() if "distillation" not in name}
    with pytest.raises(RunError, match="this run has another teacher"):
        pretrain(settings(**without), taught.corpus, folder, Console(quiet=True))


def test_the_checkpoint_says_who_taught_and_names_no_folder(taught, run):
    origin = (run / "final" / "pretraining.json").read_text("utf-8")
    assert json.loads(origin)["teacher"]["tokenizer"] == "character"
    assert str(taught.folder) not in origin
    card = (run / "final" / "README.md").read_text("utf-8")
    assert "the teacher is a model of the same text over character." in card
    assert "90% of each target at first; their weight falls to 0 over the first 75% of the steps" in card
    assert len([row for row in log(run) if "eval_loss" in row]) > 2


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"model__head": "independent", "model__output_embeddings": "composed"}, SettingsError, 'only a PhonemicBERT with model.head = "joint"'),
        ({"distillation__teacher": "nowhere"}, SettingsError, "there are no weights"),
        ({"distillation__corpus": "own"}, SettingsError, "a teacher reads other tokens"),
        ({"sequences__max_seq_length": 64}, SettingsError, "takes 48 positions"),
    ],
)  # fmt: skip
def test_a_teacher_that_does_not_fit_is_refused(taught, tmp_path, changes, error, message):
    changes = {name: str(taught.corpus) if value == "own" else value for name, value in changes.items()}
    with pytest.raises(error, match=message):
        pretrain(settings(**{**taught.changes, **changes}), taught.corpus, tmp_path / "run", Console(quiet=True))


def test_a_teacher_is_for_a_joint_head():
    """It is refused before anything is written, so that the corrected command runs."""
    with pytest.raises(SettingsError, match=r'only a PhonemicBERT with model\.head = "joint"'):
        Settings.load(
            "paper-tiny", ["distillation.teacher=there", "distillation.corpus=there", "model.head=independent"]
        )


def broken(folder, change):
    held = load_file(folder / "model.safetensors")
    change(held)
    save_file(held, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda held: held.pop(max(held)), "its weights and its config.json do not fit"),
        (lambda held: held[max(held)].fill_(float("nan")), "not all of its weights are numbers"),
    ],
)
def test_a_teacher_that_is_not_whole_is_refused(taught, tmp_path, change, message):
    folder = shutil.copytree(taught.folder / "teacher" / "final", tmp_path / "teacher")
    broken(folder, change)
    changes = {**taught.changes, "distillation__teacher": str(folder)}
    with pytest.raises(CheckpointError, match=message):
        pretrain(settings(**changes), taught.corpus, tmp_path / "run", Console(quiet=True))


def test_a_teacher_of_another_vocabulary_is_refused(taught, tmp_path):
    folder = shutil.copytree(taught.folder / "teacher" / "final", tmp_path / "teacher")
    origin = json.loads((folder / "pretraining.json").read_text("utf-8"))
    origin["corpus"]["tokenizer"]["files"] = {"vocab.txt": "0" * 64}
    (folder / "pretraining.json").write_text(json.dumps(origin), "utf-8")
    changes = {**taught.changes, "distillation__teacher": str(folder)}
    with pytest.raises(SettingsError, match="was trained on the ids of another tokenizer"):
        pretrain(settings(**changes), taught.corpus, tmp_path / "run", Console(quiet=True))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("distillation.teacher=there", "give both, or neither"),
        ("distillation.corpus=there", "give both, or neither"),
        ("distillation.weight=1.5", "weight must be at most 1"),
        ("distillation.until=1.5", "until must be at most 1"),
        ("distillation.until=0", "until = 0.0: this must be at least"),
    ],
)
def test_what_is_wrong_is_named(override, message):
    with pytest.raises(SettingsError, match=message):
        Settings.load("paper-tiny", [override])

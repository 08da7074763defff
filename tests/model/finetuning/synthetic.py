"""Small sets of each kind with a rule that a tiny model can learn, and what makes runs of them."""

import json
import random

from rich.console import Console

from phonemic.tasks import (
    Answer,
    AspectExample,
    ChoiceExample,
    CoreferenceExample,
    Dataset,
    PairExample,
    QuestionExample,
    Span,
    TaggedExample,
    TextExample,
    layout,
)
from phonemic_bert.finetuning.jobs import Limits, jobs_of
from phonemic_bert.finetuning.runs import RunOutputs
from phonemic_bert.finetuning.settings import Settings
from phonemic_bert.finetuning.sweep import Sweep

WORDS = [
    "nhà",
    "trường",
    "học",
    "sinh",
    "đi",
    "chơi",
    "xem",
    "phim",
    "hôm",
    "nay",
    "trời",
    "mưa",
    "nắng",
    "sách",
    "vở",
    "bàn",
    "ghế",
    "cây",
    "hoa",
    "lá",
]
NAMES, NUMBERS = ("An", "Bình", "Chi"), ("một", "hai", "ba")


def words(draw, least=3, most=8):
    return draw.choices(WORDS, k=draw.randint(least, most))


def put(draw, text, *more):
    """The words with more of them somewhere among them."""
    for word in more:
        text.insert(draw.randint(0, len(text)), word)
    return text


def classification(draw):
    label = draw.choice(["tốt", "xấu"])
    return TextExample(" ".join(put(draw, words(draw), label)), {"label": label})


def pair(draw):
    label = draw.choice(["có", "không"])
    return PairExample(" ".join(words(draw)), " ".join(put(draw, words(draw), label)), label)


def aspects(draw):
    given = draw.sample([("PIN", "Positive"), ("PIN", "Negative"), ("GIÁ", "Positive"), ("OTHERS", None)], 1)
    said = {("PIN", "Positive"): "vàng", ("PIN", "Negative"): "xanh", ("GIÁ", "Positive"): "đỏ"}
    return AspectExample(" ".join(put(draw, words(draw), said.get(given[0], "đen"))), tuple(given))


def coreference(draw):
    """True where the candidate is the first word: only the marks tell."""
    start, length, label = draw.choice([(0, 3, "true"), (4, 3, "false")])
    text = " ".join(["mèo", "chó", *words(draw), "nó"])
    candidate = Span(start, start + length, "span1")
    return CoreferenceExample(text, candidate, Span(len(text) - 2, len(text), "span2"), label)


def choice(draw):
    choices = draw.sample(WORDS, draw.randint(2, 3))
    answer = draw.randrange(len(choices))
    choices[answer] = "đúng"
    return ChoiceExample(" ".join(words(draw)), "gì", tuple(choices), answer)


def question(draw):
    text, answer = " ".join(words(draw)), draw.choice(NAMES)
    context = f"{text} là {answer} {' '.join(words(draw))}"
    return QuestionExample("1", context, "ai", (Answer(answer, len(text) + 4),))


def spans(draw):
    text = put(draw, words(draw), *draw.sample(NAMES, draw.randint(1, 2)))
    places = [sum(map(len, text[:at])) + at for at in range(len(text))]
    found = [Span(start, start + len(word), "PER") for start, word in zip(places, text, strict=True) if word in NAMES]
    return TaggedExample(" ".join(text), tuple(found))


def tags(draw):
    text = put(draw, words(draw), *draw.sample(NUMBERS, draw.randint(1, 3)))
    places = [sum(map(len, text[:at])) + at for at in range(len(text))]
    tokens = tuple((start, start + len(word)) for start, word in zip(places, text, strict=True))
    return TaggedExample(" ".join(text), (), tokens, tuple("M" if word in NUMBERS else "N" for word in text))


SENTIMENTS = ("Positive", "Negative")
#: kind and metric: how an example is made, and the labels.
RULES = {
    ("classification", "macro-f1"): (classification, {"label": ("tốt", "xấu")}),
    ("sentence-pair", "accuracy"): (pair, {"label": ("có", "không")}),
    ("aspect-sentiment", "macro-f1"): (aspects, {"PIN": SENTIMENTS, "GIÁ": SENTIMENTS, "OTHERS": ()}),
    ("coreference", "accuracy"): (coreference, {"label": ("true", "false")}),
    ("multiple-choice", "accuracy"): (choice, {}),
    ("question-answering", "exact-match"): (question, {}),
    ("sequence-labelling", "span-f1"): (spans, {"label": ("PER",)}),
    ("sequence-labelling", "macro-f1"): (tags, {"label": ("M", "N")}),
}
SIZES = {"train": 240, "dev": 40, "test": 60}


def made(split, make):
    draw = random.Random(split)
    return [make(draw) for _ in range(SIZES[split])]


def dataset(folder, kind="classification", metric="macro-f1", **fields):
    """A set whose files hold the names of their splits; the examples are made of them."""
    make, labels = RULES[kind, metric]
    for split in SIZES:
        (folder / f"{split}.txt").write_text(split)
    given = {"labels": labels, "name": f"{kind}-{metric}", "title": kind, "lang": "vi", **fields}
    return Dataset(
        kind=kind,
        metric=metric,
        layouts=(layout("{}.txt"),),
        parse=lambda paths: iter(made(paths[0].read_text(), make)),
        **given,
    )


SETTINGS = {
    "grid.learning_rate": 3e-3,
    "grid.batch_size": 16,
    "grid.num_train_epochs": 6,
    "optimization.dropout": 0.0,
    "machine.device": "cpu",
}


def settings(**more):
    values = {**SETTINGS, **{name.replace("__", "."): value for name, value in more.items()}}
    return Settings.load("small", [f"{name}={json.dumps(value)}" for name, value in values.items()])


def sweep(folder, sets, encoders, seeds=(1,), outputs=None, limits=None, divide=None, **more):
    """The outcome of every set with every encoder."""
    jobs = [job for one, where in sets for job in jobs_of(one, where, None, divide, limits or Limits())]
    made = settings(**more)
    return Sweep(
        jobs, encoders, lambda task: made, seeds, folder, outputs or RunOutputs(), console=Console(quiet=True)
    ).execute()


def clockless(result):
    """A result without what the clock says."""
    return {name: value for name, value in result.items() if name not in ("seconds", "date")}


#: One short run.
SHORT = {"grid__num_train_epochs": 1}
FEW = Limits(train=64, dev=20, test=30)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def results_in(folder):
    return {path: json.loads((folder / path).read_text()) for path in files(folder) if path.endswith(".json")}

"""Makes ``phonemic/lexicon/readings.npz``, and measures the models on CPP's dev set, fold by fold.

``python -m benchmarks.readings.make DATA WORK`` with the folder of all data (cpp, raw) and one for what is made. Run
``benchmarks.readings.teacher DATA/zh/raw WORK/teacher`` before. Needs g2pM, pypinyin-dict, opencc and torch.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jieba.posseg
import numpy as np
from numpy.typing import NDArray

from benchmarks.readings import borders, everyday, export, features, labels, names, prepare, tagged, train, words
from benchmarks.readings.cpp import Case, cases
from benchmarks.readings.fold import Votes
from benchmarks.readings.other_tools import RAW, raw
from benchmarks.readings.rules import CHARS
from benchmarks.readings.teacher import BATCH, Teacher
from phonemic.characters import DATA
from phonemic.reading.models import reviewed

RIDGE, STEPS, DEV_RIDGE, DEV_STEPS, DEV_WEIGHT, LEAST = 0.25, 60, 0.03, 25, 100.0, 0.4
#: The same where there are enough sentences of our own, and so large a share has another reading than most; the weight
#: of one that was written, of one with a family in it, and of one that was made of a pattern.
OWN_RIDGE, OWN_STEPS, ENOUGH, SECOND, WRITTEN, NAMED, MADE = 1.0, 60, 20, 0.15, 6.0, 10.0, 1.0
#: Examples of a character that models are still fitted to when they are moved towards sentences: of teachers, of words,
#: and of a family's, which is a name in few of a thousand.
KEPT, KEPT_WORDS, KEPT_FAMILIES, ALL = 2_500, 10_000, 30_000, 10**9
#: The weight of a reviewed word; and characters of each raw text that words are framed with.
REVIEWED, FRAME_SIZE = 4.0, 200_000
#: Rules tell more of them than our sentences and lexicons do.
RULED = "为地"
#: So frequent that more windows would cost more time than they are worth.
EVERYWHERE = "的了和大上为中发应没地将通系单任正相查区什要会"
#: Read by pypinyin's phrases: teachers differ from them in how they write 儿 that merges, and in an interjection.
AS_BY_DEFAULT = "儿喔"


def asked(teacher: Teacher, judged: list[Case]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The network's reading of each case, and how sure it is."""
    found = np.zeros(len(judged), np.int32)
    sure = np.zeros(len(judged), np.uint8)
    order = sorted(range(len(judged)), key=lambda number: len(judged[number].text))
    for begin in range(0, len(order), BATCH):
        part = order[begin : begin + BATCH]
        for number, (at, classes, certain) in zip(
            part, teacher.label([judged[number].text for number in part]), strict=True
        ):
            place = int(np.flatnonzero(at == judged[number].at)[0])
            found[number], sure[number] = classes[place], certain[place]
    return found, sure


def once(cache: Path, make: Callable[[], Any]) -> Any:
    """Return what was made before, or make it now and keep it."""
    if not cache.exists():
        cache.write_bytes(pickle.dumps(make(), protocol=5))
    return pickle.loads(cache.read_bytes())


def word_examples(data: Path, made: prepare.Setting) -> train.Examples:
    """Words of lexicons and of the reviewed list, alone and between others."""
    numbers = {name: number for number, name in enumerate(made.names)}
    chars = frozenset(map(chr, made.candidates))
    texts = [text for name in RAW for text in raw(data, name, FRAME_SIZE)]
    rows = [
        (*row, weight)
        for listed, weight in ((words.listed(data, chars), 1.0), (reviewed(without="CPP dev"), REVIEWED))
        for row in borders.framed(listed, texts, chars)
    ]
    rows = [row for row in rows if row[2] in numbers]
    where = features.places([row[0] for row in rows], [row[1] for row in rows])
    readings = np.full((len(rows), labels.MOST), -1, np.int32)
    readings[:, 0] = [numbers[row[2]] for row in rows]
    shares = np.zeros(readings.shape, np.float32)
    shares[:, 0] = [row[3] * row[4] for row in rows]
    return train.Examples(where.points[where.at], made.keys(where), readings, shares)


def own_sentences(made: prepare.Setting, numbers: dict[str, int]) -> dict[int, train.Sentences]:
    """Ours, by character."""
    weighted = [(case, WRITTEN) for case in everyday.sentences()]
    weighted += [(case, NAMED if case.char in names.FAMILIES else WRITTEN) for case in names.sentences()]
    weighted += [(case, MADE) for case in [*everyday.patterns(), *names.cases(made.phrases)]]
    weighted = [
        (case, weight)
        for case, weight in weighted
        if case.reading in numbers and case.char not in RULED and ord(case.char) in made.candidates
    ]
    written, weights = [case for case, _ in weighted], np.array([weight for _, weight in weighted])
    where = features.places([case.text for case in written], [case.at for case in written])
    keys = made.keys(where)
    gold, chars = np.array([numbers[case.reading] for case in written], np.int32), where.points[where.at]
    rows = {char: np.flatnonzero(chars == char) for char in np.unique(chars).tolist()}
    return {char: train.Sentences(keys[at], gold[at], weights[at]) for char, at in rows.items()}


def believed(examples: train.Examples, made: prepare.Setting) -> train.Examples:
    """The examples without apparent names of people, which neither network nor lexicons know well enough."""
    words = {word for word, tag in jieba.posseg.dt.word_tag_tab.items() if not tag.startswith("nr")}
    named = names.likely(examples.chars, examples.keys, names.others(made.phrases), words)
    return train.some(examples, np.flatnonzero(~named))


def held_to(examples: train.Examples, words: train.Examples, families: train.Examples) -> dict[int, train.Examples]:
    """Return the examples that moved models are still fitted to, by character; few windows of common families."""
    kept = train.by_char(examples, KEPT) | train.by_char(words, KEPT_WORDS)
    for char, rows in train.by_char(families, KEPT_FAMILIES).items():
        kept[char] = rows._replace(keys=export.few_windows(rows.keys)) if chr(char) in EVERYWHERE else rows
    return kept


def voting(made: prepare.Setting) -> Votes:
    """The votes of phrases, to be added to windows."""
    numbers = {name: number for number, name in enumerate(made.names)}
    return Votes(
        made.phrases, prepare.parts(made.phrases), *made.against, frozenset(map(chr, made.candidates)), numbers
    )


def enough(own: dict[int, train.Sentences]) -> set[int]:
    """The characters that our sentences tell enough of: families, and those in two readings that are not everywhere."""
    told = {char: rows.gold for char, rows in own.items() if chr(char) not in EVERYWHERE}
    others = {char: gold != np.bincount(gold).argmax() for char, gold in told.items()}
    varied = {char for char, other in others.items() if len(other) >= ENOUGH and other.mean() > SECOND}
    return varied | {*map(ord, names.FAMILIES)}


def narrow_of(
    moved: dict[int, train.Model], own: dict[int, train.Sentences], kept: dict[int, train.Examples]
) -> set[int]:
    """The characters of our sentences that few windows are enough for, and the characters that are everywhere."""
    few = {char for char, model in moved.items() if export.changed_by_fewer(model, own[char].keys) < export.NARROW}
    few = {char for char in few if export.changed_by_fewer(moved[char], kept[char].keys) < export.NARROW}
    return (few - {*map(ord, names.FAMILIES)}) | (moved.keys() & {*map(ord, EVERYWHERE)})


def taught_models(
    work: Path, examples: train.Examples, words: train.Examples, made: prepare.Setting
) -> dict[int, train.Model]:
    """The models before they are moved towards sentences, made once."""

    def teach() -> dict[int, train.Model]:
        models = train.teach(examples, made.candidates, RIDGE, STEPS)
        return models | train.teach(words, made.candidates, RIDGE, STEPS, frozenset(map(ord, CHARS)))

    found: dict[int, train.Model] = once(work / "taught.pkl", teach)
    return found


def labelled(
    arguments: argparse.Namespace, made: prepare.Setting, trust: NDArray[np.float64]
) -> tuple[train.Examples, train.Examples, train.Examples]:
    """The examples of all characters, those of CHARS by words and tags, and all of the families' characters."""
    work, beside = arguments.work, borders.Borders(made.phrases, made.names, RULED)
    polyphones = frozenset(map(chr, made.candidates))
    listed: dict[str, Sequence[str]] = {**words.listed(arguments.data, polyphones), **reviewed(without="CPP dev")}
    numbers = {name: number for number, name in enumerate(made.names)}
    teachers = work / "teacher", made.voters, trust, features.Voter(listed, numbers, polyphones)

    def with_more(marked: train.Marked) -> tuple[train.Examples, train.Examples]:
        return borders.with_more(marked, beside, made.keys)

    framed = once(work / "framed.pkl", lambda: word_examples(arguments.data, made))
    examples, made_ones = once(work / "examples.pkl", lambda: with_more(train.taught(*teachers)))
    tagged_ones, more = once(work / "tagged.pkl", lambda: with_more(tagged.tagged(work / "teacher", made, listed)))
    common = train.some(framed, np.flatnonzero(np.isin(framed.chars, [*map(ord, CHARS.difference(RULED))])))
    families = train.taught(*teachers, most=ALL, only=map(ord, names.FAMILIES)).examples(made.keys)
    return examples.and_more(made_ones).and_more(framed), tagged_ones.and_more(more).and_more(common), families


def _given() -> argparse.Namespace:
    """The words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--no-folds", action="store_true", help="do not measure")
    parser.add_argument("--out", type=Path, default=DATA / "readings.npz")
    return parser.parse_args()


def main() -> None:
    """Makes and measures."""
    arguments = _given()
    begun, figures = time.monotonic(), dict[str, Any]()

    def tell(**measured: Any) -> None:
        figures.update(measured)
        print(f"{time.monotonic() - begun:5.0f} s", measured, flush=True)

    judged = cases(arguments.data / "zh" / "cpp")
    made = prepare.setting(arguments.work / "setting.pkl")
    numbers = {name: number for number, name in enumerate(made.names)}
    gold = np.array([numbers[case.reading] for case in judged], np.int32)
    where = features.places([case.text for case in judged], [case.at for case in judged], words=True)
    told, sure = asked(Teacher(), judged)
    tell(cases=len(judged), network=float((told == gold).mean()))
    trust = labels.trust(labels.opinions(where, told, sure, made.voters), gold)
    examples, words, of_families = labelled(arguments, made, trust)
    tell(examples=len(examples.chars), trust=trust.round(2).tolist())
    kept, votes = held_to(examples, words, believed(of_families, made)), voting(made)
    models = taught_models(arguments.work, examples, words, made)

    def finish(char: int, model: train.Model, narrow: frozenset[int] = frozenset()) -> train.Model:
        return export.finished(char, model, votes, made.names, LEAST, narrow)

    own = own_sentences(made, numbers)
    narrow = export.narrow_enough(models, examples, finish) - own.keys()
    keys = made.keys(where)
    chars = where.points[where.at]

    told_enough = enough(own)

    def move(char: int, rows: NDArray[np.intp], kept: dict[int, train.Examples] = kept) -> train.Model:
        told = train.Sentences(keys[rows], gold[rows], np.full(len(rows), DEV_WEIGHT)).and_more(own.get(char))
        if not len(told.gold):
            return models[char]
        ridge, steps = (OWN_RIDGE, OWN_STEPS) if char in told_enough else (DEV_RIDGE, DEV_STEPS)
        if chr(char) in names.FAMILIES and chr(char) in EVERYWHERE:
            told = told._replace(keys=export.few_windows(told.keys))
        return train.adapt(models[char], told, ridge, kept.get(char), steps)

    every = {char: np.flatnonzero(chars == char) for char in sorted({*chars.tolist(), *own})}
    moved = {char: move(char, rows) for char, rows in every.items()}
    narrow |= narrow_of({char: finish(char, moved[char]) for char in own}, own, kept)
    tell(narrow=len(narrow), taught=float((train.read(models, chars, keys) == gold).mean()))
    if not arguments.no_folds:
        alone = train.judge(judged, keys, gold, move, partial(finish, narrow=narrow))
        tell(folds=float((alone == gold).mean()))
        np.savez(arguments.work / "folds.npz", told=np.array(["", *made.names])[alone + 1])
        tested, fitted = ({char: part(kept[char]) for char in own} for part in (train.sixth, train.without_sixth))
        without = {char: finish(char, move(char, every[char], fitted)) for char in own}
        tell(running=float(np.concatenate([train.right(without[char], tested[char]) for char in own]).mean()))
    models |= moved
    (arguments.work / "models.pkl").write_bytes(pickle.dumps((models, narrow)))
    learnt = {char for char, model in models.items() if len(model.readings) and chr(char) not in AS_BY_DEFAULT}
    finals = {char: finish(char, models[char], narrow) for char in sorted(learnt)}
    tell(characters=len(finals), features=sum(len(model.keys) for model in finals.values()))
    export.export(arguments.out, finals, made, narrow)
    (arguments.work / "accuracy.json").write_text(json.dumps(figures, indent=1), "utf-8")


if __name__ == "__main__":
    main()

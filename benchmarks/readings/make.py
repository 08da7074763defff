"""Makes ``phonemic/lexicon/readings.npz``, and measures the models on CPP's dev set, fold by fold.

``python -m benchmarks.readings.make DATA WORK`` with the folder of all data (cpp, raw) and one for what is made. Run
``benchmarks.readings.teacher DATA/zh/raw WORK/teacher`` before. Needs g2pM, pypinyin-dict, opencc and torch.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.readings import export, features, labels, prepare, tagged, train
from benchmarks.readings.cpp import Case, cases
from benchmarks.readings.fold import Votes
from benchmarks.readings.rules import CHARS
from benchmarks.readings.teacher import BATCH, Teacher
from phonemic.characters import DATA

RIDGE, STEPS, DEV_RIDGE, DEV_WEIGHT, LEAST = 0.25, 60, 0.03, 100.0, 0.4
#: Examples of a character, of teachers and of words, that models are still fitted to when they are moved towards CPP.
KEPT, KEPT_WORDS = 2_000, 10_000
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


def tagged_examples(work: Path, made: prepare.Setting) -> train.Examples:
    """What words and tags say of common characters, made once."""
    cache = work / "tagged.pkl"
    if not cache.exists():
        cache.write_bytes(pickle.dumps(tagged.tagged(work / "teacher", made)))
    found: train.Examples = pickle.loads(cache.read_bytes())
    return found


def main() -> None:
    """Makes and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--no-folds", action="store_true", help="do not measure")
    parser.add_argument("--out", type=Path, default=DATA / "readings.npz")
    arguments = parser.parse_args()
    begun, figures = time.monotonic(), dict[str, Any]()

    def tell(**measured: Any) -> None:
        figures.update(measured)
        print(f"{time.monotonic() - begun:5.0f} s", measured, flush=True)

    judged = cases(arguments.data / "zh" / "cpp")
    made = prepare.setting(arguments.work / "setting.pkl")
    numbers = {name: number for number, name in enumerate(made.names)}
    gold = np.array([numbers[case.reading] for case in judged], np.int32)
    where = features.places([case.text for case in judged], [case.at for case in judged])
    told, sure = asked(Teacher(), judged)
    tell(cases=len(judged), network=float((told == gold).mean()))
    trust = labels.trust(labels.opinions(where, told, sure, made.voters), gold)
    examples = train.taught(arguments.work / "teacher", made.voters, trust, made.voter, made.parts, made.classes)
    tell(examples=len(examples.chars), trust=trust.round(2).tolist())
    words = tagged_examples(arguments.work, made)
    kept = train.by_char(examples, KEPT) | train.by_char(words, KEPT_WORDS)
    cache = arguments.work / "taught.pkl"
    if not cache.exists():
        models = train.teach(examples, made.candidates, RIDGE, STEPS)
        models |= train.teach(words, made.candidates, RIDGE, STEPS, frozenset(map(ord, CHARS)))
        cache.write_bytes(pickle.dumps(models))
    models = pickle.loads(cache.read_bytes())
    votes = Votes(made.phrases, prepare.parts(made.phrases), frozenset(map(chr, made.candidates)), numbers)

    def finish(char: int, model: train.Model, narrow: frozenset[int] = frozenset()) -> train.Model:
        return export.finished(char, model, votes, made.names, LEAST, narrow)

    narrow = export.narrow_enough(models, examples, finish)
    tell(narrow=len(narrow))
    keys = features.keys(where, made.voter, made.parts, made.classes)
    chars = where.points[where.at]
    tell(taught=float((train.read(models, chars, keys) == gold).mean()))
    if not arguments.no_folds:
        alone = train.judge(models, judged, keys, gold, DEV_RIDGE, DEV_WEIGHT, partial(finish, narrow=narrow), kept)
        tell(folds=float((alone == gold).mean()))
        np.savez(arguments.work / "folds.npz", told=np.array(["", *made.names])[alone + 1])
    for char in np.unique(chars).tolist():
        rows = np.flatnonzero(chars == char)
        models[char] = train.adapt(models[char], keys[rows], gold[rows], DEV_RIDGE, DEV_WEIGHT, kept.get(char))
    learnt = {char: model for char, model in models.items() if len(model.readings) and chr(char) not in AS_BY_DEFAULT}
    finals = {char: finish(char, model, narrow) for char, model in learnt.items()}
    tell(characters=len(finals), features=sum(len(model.keys) for model in finals.values()))
    export.export(arguments.out, finals, made, narrow)
    (arguments.work / "accuracy.json").write_text(json.dumps(figures, indent=1), "utf-8")


if __name__ == "__main__":
    main()

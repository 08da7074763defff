"""How well the distance predicts the mergers of dialects: the area under the ROC curve, from transcriptions of words.

``python tests/sound/mergers.py FOLDER`` prints it for FOLDER/vi/dialects/wikipron-*-dev.tsv, against random
pairs and against pairs that differ in the same parts, with the table of confusions and without it.
"""

from __future__ import annotations

import csv
import random
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from phonemic import Tokenizer, distance
from phonemic.sound import sounds
from phonemic.writing.dialects import DIALECTS

VI = Tokenizer("vi")


def transcribed(path):
    """Each syllable that is a word of the list, as a triple, with the ways in which it is said."""
    found = defaultdict(set)
    with Path(path).open(encoding="utf-8", newline="") as file:
        for word, phones in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            encoding = VI.encode(word)
            if len(encoding) == 1 and not encoding.kinds[0]:
                found[encoding.triples[0]].add(phones)
    return found


def merged(said):
    """Pairs of triples that the spelling tells apart and that sound the same."""
    alike = defaultdict(set)
    for triple, ways in said.items():
        for phones in ways:
            alike[phones].add(triple)
    return {frozenset(pair) for triples in alike.values() for pair in combinations(sorted(triples), 2)}


def parts(one, other):
    """Which of onset, rime and tone are not the same."""
    return tuple(a != b for a, b in zip(one, other, strict=True))


def area(near, far):
    """The share of pairs, one of each, in which the first is the smaller; a tie is half."""
    far = sorted(far)
    wins = sum(2 * len(far) - bisect_left(far, value) - bisect_right(far, value) for value in near)
    return wins / (2 * len(near) * len(far))


def areas(folder, most=4000, seed=1):
    """Dialect -> area against random pairs, against pairs that differ in the same parts, and how many pairs merge."""
    said = {dialect: transcribed(Path(folder) / f"wikipron-{dialect}-dev.tsv") for dialect in DIALECTS}
    all_merged = set().union(*(merged(own) for own in said.values()))
    dice, found = random.Random(seed), {}
    for dialect, own in said.items():
        pairs = sorted(sorted(pair) for pair in merged(own))
        pairs = dice.sample(pairs, min(most, len(pairs)))
        triples = sorted(own)
        by_parts = defaultdict(list)
        anywhere = []
        while len(anywhere) < most:
            one, other = dice.sample(triples, 2)
            if frozenset((one, other)) not in all_merged:
                anywhere.append((one, other))
        wanted = {parts(*pair) for pair in pairs}
        for one in triples:
            for other in dice.sample(triples, 50):
                if parts(one, other) in wanted and frozenset((one, other)) not in all_merged:
                    by_parts[parts(one, other)].append((one, other))
        like = [dice.choice(by_parts[parts(*pair)]) for pair in pairs]
        near, far, alike = ([measured(*pair) for pair in some] for some in (pairs, anywhere, like))
        found[dialect] = area(near, far), area(near, alike), len(merged(own))
    return found


def measured(one, other):
    return distance(*(VI.spell(triple) for triple in (one, other)), "vi")


def without_confusions():
    """Leaves the features alone to say what is near."""
    rows = sounds.table_rows
    sounds.table_rows = lambda lang: [row for row in rows(lang) if row.row != "confusion"]
    sounds.sounds.cache_clear()


if __name__ == "__main__":
    for title, prepare in (("with the usual confusions", lambda: None), ("the features alone", without_confusions)):
        prepare()
        for dialect, (against_random, against_like, count) in areas(Path(sys.argv[1], "vi", "dialects")).items():
            sys.stdout.write(f"{title}, {dialect}: {against_random:.4f} {against_like:.4f}, {count} pairs merge\n")

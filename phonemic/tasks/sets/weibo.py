"""Weibo NER: entities in social media, 4 types, each a name (NAM) or a noun phrase (NOM). Beyond the paper's sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.errors import InputError
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TaggedExample
from phonemic.tasks.tagging import sentences, tagged_words

LABELS = tuple(f"{kind}.{form}" for kind in ("GPE", "LOC", "ORG", "PER") for form in ("NAM", "NOM"))

_NUMBERED = re.compile(r"(.\D*)\d+")  # a character may be a digit; a lost emoji is two


def parse(paths: Sequence[Path]) -> Iterator[TaggedExample]:
    """A character and its number in its word, a tab, and a tag: ``山1<TAB>I-LOC.NAM``."""
    for path in paths:
        for places, rows in sentences(path, tabs=True):
            words = [_NUMBERED.fullmatch(row[0]) if len(row) == 2 else None for row in rows]
            if None in words:
                raise InputError(f"{places[words.index(None)]}: not a character with its number, a tab and a tag")
            plain = [word[1] for word in words if word]
            yield tagged_words(plain, [row[1] for row in rows], places, LABELS, between="")


DATASET = Dataset(
    name="weibo-ner",
    title="Weibo NER",
    lang="zh",
    kind="sequence-labelling",
    metric="span-f1",
    labels={"label": LABELS},
    layouts=(layout("weiboNER_2nd_conll.{}"),),
    folders=("zh/weibo_ner", "weibo_ner", "weibo-ner"),
    home="https://github.com/hltcoe/golden-horse",
    parse=parse,
)

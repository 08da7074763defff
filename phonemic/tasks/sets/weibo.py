"""Weibo NER: entities in social media, 4 types, each a name (NAM) or a noun phrase (NOM). Beyond the paper's sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.errors import InputError
from phonemic.tasks.dataset import DataSet, layout
from phonemic.tasks.examples import TaggedExample
from phonemic.tasks.tagging import sentences, tagged_words

LABELS = tuple(f"{kind}.{form}" for kind in ("GPE", "LOC", "ORG", "PER") for form in ("NAM", "NOM"))


def parse(paths: Sequence[Path]) -> Iterator[TaggedExample]:
    """A character and its number in its word, a tab, and a tag: ``山1<TAB>I-LOC.NAM``."""
    for path in paths:
        for places, rows in sentences(path, tabs=True):
            for place, row in zip(places, rows, strict=True):
                if len(row) != 2 or not row[0][1:].isdecimal():
                    raise InputError(f"{place}: not a character with its number, a tab and a tag")
            yield tagged_words([row[0][0] for row in rows], [row[1] for row in rows], places, LABELS, between="")


DATASET = DataSet(
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

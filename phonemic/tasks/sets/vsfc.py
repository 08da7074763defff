"""UIT-VSFC: sentiment and topic of what students say about their lectures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from phonemic.errors import InputError
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TextExample
from phonemic.tasks.records import Record, lines

SENTIMENTS = {"0": "negative", "1": "neutral", "2": "positive"}
TOPICS = {"0": "lecturer", "1": "training_program", "2": "facility", "3": "others"}
TARGETS = {"sentiment": SENTIMENTS, "topic": TOPICS}


def parse(paths: Sequence[Path]) -> Iterator[TextExample]:
    """Three files with a line a sentence: the sentence, its sentiment, its topic."""
    for rows in zip_longest(*map(lines, paths)):
        if None in rows:
            ended, number = paths[rows.index(None)], max(row[0] for row in rows if row)
            raise InputError(f"{ended}:{number}: the file ends, but the other files of the split have this line")
        (_, text), *columns = rows
        labels = {}
        for (target, values), path, (number, written) in zip(TARGETS.items(), paths[1:], columns, strict=True):
            labels[target] = Record(f"{path}:{number}", {target: written}).known_label(target, values)
        yield TextExample(text.rstrip("\r\n"), labels)


DATASET = Dataset(
    name="uit-vsfc",
    title="UIT-VSFC",
    lang="vi",
    kind="classification",
    metric="macro-f1",
    labels={target: tuple(values.values()) for target, values in TARGETS.items()},
    layouts=(layout("{}/sents.txt", "{}/sentiments.txt", "{}/topics.txt"),),
    folders=("vi/vsfc", "vi/uit-vsfc", "vsfc", "UIT-VSFC"),
    home="https://nlp.uit.edu.vn/datasets",
    licence="research, on request",
    parse=parse,
)

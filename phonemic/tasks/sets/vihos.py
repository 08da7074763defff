"""ViHOS: which pieces of a comment are hateful or offensive?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from phonemic.files.jsons import loads
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import Span, TaggedExample
from phonemic.tasks.records import Record, table
from phonemic.tasks.tagging import tagged_words

#: The one label: a toxic span.
LABELS = ("T",)


def parse(paths: Sequence[Path]) -> Iterator[TaggedExample]:
    """The span version (``content``, ``index_spans``), or the syllable version (``Word``, ``Tag``, ``sentence_id``)."""
    if paths[0].name.endswith("_BIO_syllable.csv"):
        rows = table(paths[0], ("Word", "Tag", "sentence_id"))
        for _, sentence in groupby(rows, lambda row: row.text("sentence_id")):
            yield _sentence(list(sentence))
    else:
        for record in table(paths[0], ("content", "index_spans")):
            yield _comment(record)


def _sentence(rows: list[Record]) -> TaggedExample:
    words, tags = [row.text("Word") for row in rows], [row.text("Tag") for row in rows]
    return tagged_words(words, tags, [row.place for row in rows], LABELS)


def _comment(record: Record) -> TaggedExample:
    """The characters that are listed, as runs; the tokens lie between whitespace, as in the syllable version."""
    text = record.text("content")
    try:
        listed = loads(record.text("index_spans"))
    except ValueError as error:
        raise record.error(f"index_spans is not a list of integers ({error})") from error
    if not isinstance(listed, list) or any(type(place) is not int for place in listed):
        raise record.error("index_spans is not a list of integers")
    places = sorted(set(listed))
    outside = [place for place in places if not 0 <= place < len(text)]
    if outside:
        raise record.error(f"index_spans: no character {outside[0]}, the comment has {len(text)}")
    spans = [Span(run[0], run[-1] + 1, "T") for run in _runs(places)]
    tokens = tuple(_units(text))
    return TaggedExample(text, tuple(spans), tokens, tuple(_tags(tokens, spans)), place=record.place)


def _runs(places: Iterable[int]) -> Iterator[list[int]]:
    for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0]):
        yield [place for _, place in run]


def _units(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for unit in text.split():
        start = text.index(unit, end)
        end = start + len(unit)
        yield start, end


def _tags(tokens: Iterable[tuple[int, int]], spans: Sequence[Span]) -> Iterator[str]:
    """The tag of each token: of the first span that it meets."""
    begun = -1
    for start, end in tokens:
        at = next((at for at, span in enumerate(spans) if span.start < end and start < span.end), -1)
        yield "O" if at < 0 else "I-T" if at == begun else "B-T"
        begun = max(begun, at)


DATASET = Dataset(
    name="vihos",
    title="ViHOS",
    lang="vi",
    kind="sequence-labelling",
    metric="token-macro-f1",
    labels={"label": LABELS},
    layouts=(
        layout("data/Span_Extraction_based_version/{}.csv", splits=("train", "dev")),
        layout("data/Test_data/{}.csv", splits=("test",)),
        layout("{}_BIO_syllable.csv"),
        layout("data/Sequence_labeling_based_version/Syllable/{}_BIO_syllable.csv"),
        layout("{}.csv"),
    ),
    folders=("vi/vihos", "vihos", "ViHOS"),
    home="https://github.com/phusroyal/ViHOS",
    licence="MIT",
    parse=parse,
)

"""CSL: are these keywords all true keywords of this abstract of a Chinese paper?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import PairExample
from phonemic.tasks.records import Record, csv_rows, json_lines, same
from phonemic.tasks.tagging import strings

LABELS = same("0", "1")


def parse(paths: Sequence[Path]) -> Iterator[PairExample]:
    """CLUE's lines ``{"abst": ..., "keyword": [...], "label": "1"}``: the keywords with a comma between, the abstract.

    The rows ``to title<TAB>abstract<TAB>title`` of the corpus behind CLUE have no label: they give title and abstract.
    """
    if paths[0].suffix == ".json":
        for record in json_lines(paths[0]):
            keywords = "，".join(strings(record, "keyword"))
            yield PairExample(keywords, record.text("abst"), record.label("label", LABELS))
        return
    for place, row in csv_rows(paths[0], "\t", quoting=False):
        if len(row) != 3:
            raise Record(place, {}).error(f"{len(row)} columns, not a task, an abstract and its title")
        yield PairExample(row[2], row[1], None)


def abstracts(examples: Iterable[PairExample]) -> Iterator[str]:
    """The abstracts alone: with the keywords neither the paper's length nor its Rényi efficiency comes out."""
    return (example.text_b for example in examples)


DATASET = Dataset(
    name="csl",
    title="CSL",
    lang="zh",
    kind="sentence-pair",
    metric="accuracy",
    labels={"label": tuple(LABELS.values())},
    layouts=(layout("{}.json"), layout("{}.tsv")),
    folders=("zh/csl", "csl", "csl_public", "zh/csl_ydli"),
    home="https://github.com/CLUEbenchmark/CLUE",
    licence="Apache-2.0",
    parse=parse,
    intrinsic=("train", "dev"),
    test="dev",
    dev=None,
    texts_of=abstracts,
)

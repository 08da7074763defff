"""VietMed: entities in transcripts of medical speech (VietMed-NER), 18 types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from phonemic.errors import InputError
from phonemic.files import require
from phonemic.tasks.dataset import Dataset, layout
from phonemic.tasks.examples import TaggedExample
from phonemic.tasks.records import Record, json_lines
from phonemic.tasks.tagging import strings, tagged_words

LABELS = tuple(
    "AGE DATETIME DIAGNOSTICS DISEASESYMTOM DRUGCHEMICAL FOODDRINK GENDER LOCATION MEDDEVICETECHNIQUE OCCUPATION ORGAN "
    "ORGANIZATION PERSONALCARE PREVENTIVEMED SURGERY TRANSPORTATION TREATMENT UNITCALIBRATOR".split()
)


def parse(paths: Sequence[Path]) -> Iterator[TaggedExample]:
    """Lists ``words`` and ``labels``, in Parquet or in JSON lines. The set writes ``0`` for ``O``."""
    for path in paths:
        for record in _parquet(path) if path.suffix == ".parquet" else json_lines(path):
            tags = ["O" if tag == "0" else tag for tag in strings(record, "labels")]
            yield tagged_words(strings(record, "words"), tags, [record.place], LABELS, joiner="_")


def _parquet(path: Path) -> Iterator[Record]:
    parquet, arrow_error = require("pyarrow.parquet", "tasks"), require("pyarrow", "tasks").ArrowException
    row = 0
    try:
        with parquet.ParquetFile(path) as file:
            absent = [name for name in ("words", "labels") if name not in file.schema_arrow.names]
            if absent:
                raise InputError(f"{path}: no column {', '.join(absent)}")
            for batch in file.iter_batches(columns=["words", "labels"]):
                for fields in batch.to_pylist():
                    yield Record(f"{path}: row {row}", fields)
                    row += 1
    except arrow_error as error:
        raise InputError(f"{path}: damaged, or not a Parquet file ({error})") from error


DATASET = Dataset(
    name="vietmed",
    title="VietMed",
    lang="vi",
    kind="sequence-labelling",
    metric="span-f1",
    labels={"label": LABELS},
    layouts=(
        layout("data/{}-*.parquet", dev="validation"),
        layout("{}-*.parquet", dev="validation"),
        layout("{}.json", dev="val"),
    ),
    folders=("vi/vietmed", "vietmed", "VietMed-NER"),
    home="https://huggingface.co/datasets/leduckhai/VietMed-NER",
    parse=parse,
)

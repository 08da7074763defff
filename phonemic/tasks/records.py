"""Lines, JSON and tables from files, one entry at a time, with errors that name file and line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.files import MAX_LINE, require
from phonemic.files.jsons import is_blank, line_object, loads

#: Labels as a file writes them, to their names.
Values = Mapping[str, str]


def same(*labels: str) -> dict[str, str]:
    """Labels that the file writes by their names."""
    return {label: label for label in labels}


class Record:
    """One entry of a file: its fields, and where it is."""

    def __init__(self, place: str, fields: Mapping[str, Any]) -> None:
        self.place = place
        self.fields = fields

    def error(self, reason: str) -> InputError:
        """The error to raise about this entry."""
        return InputError(f"{self.place}: {reason}")

    def get(self, key: str, kind: type[Any], default: Any = None) -> Any:
        """A field of one type; without a default it must be there, and not null."""
        value = self.fields.get(key)
        if value is None:
            value = default
        if value is None:
            if key in self.fields:
                raise self.error(f"{key!r} is null")
            raise self.error(f"no field {key!r}; the fields are {', '.join(map(str, self.fields)) or 'none'}")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(f"{key!r} is {type(value).__name__}, not {kind.__name__}")
        return value

    def text(self, key: str) -> str:
        """A field that is a str."""
        text: str = self.get(key, str)
        return text

    def label(self, key: str, values: Values) -> str | None:
        """The name of a label; None where the field is absent or empty.

        Raises:
            InputError: the set does not know the label.
        """
        raw = self.fields.get(key)
        return None if raw is None or raw == "" else self.known_label(key, values)

    def known_label(self, key: str, values: Values) -> str:
        """The name of a label that must be there; see :meth:`label`."""
        written = str(self.fields.get(key, "")).strip()
        if written not in values:
            raise self.error(f"{key} {written!r} is not a label of this set: {', '.join(values)}")
        return values[written]

    def labels(self, targets: Mapping[str, tuple[str, Values]]) -> dict[str, str]:
        """The labels of several targets, each from its field."""
        found = {target: self.label(key, values) for target, (key, values) in targets.items()}
        return {target: label for target, label in found.items() if label is not None}


def lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""The number and the text of each line; only "\n" ends one. A byte order mark at the start is left out.

    Raises:
        InputError: a line is not UTF-8.
    """
    with open(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(f"{path}:{number}: not UTF-8 ({error.reason} at byte {error.start})") from error


def json_lines(path: Path) -> Iterator[Record]:
    """The JSON objects of a file that holds one a line; blank lines are left out."""
    for number, line in lines(path):
        if not is_blank(line):
            place = f"{path}:{number}"
            yield Record(place, line_object(line, place))


def json_document(path: Path) -> Any:
    """The one JSON value of a file.

    Raises:
        InputError: it is damaged; the message names the line.
    """
    try:
        return loads("".join(line for _, line in lines(path)))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: is not JSON: {error.msg} at column {error.colno}") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path}: is not JSON: {error}") from error


def entries(path: Path, items: Any, what: str = "entry") -> Iterator[Record]:
    """The objects of a list in a JSON document, each with its index (the first is 0)."""
    if not isinstance(items, list):
        raise InputError(f"{path}: a list of {what}s is missing")
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            raise InputError(f"{path}: {what} {at}: is not a JSON object")
        yield Record(f"{path}: {what} {at}", item)


def table(
    path: Path, columns: Sequence[str], delimiter: str = ",", quoting: bool = True, workbook: bool | None = None
) -> Iterator[Record]:
    """The rows of a CSV file (or of an .xlsx workbook's first sheet) with a header.

    Arguments:
        path: the file.
        columns: the ones that it must have.
        delimiter: between the fields of a CSV file.
        quoting: a field of a CSV file may stand in double quotes.
        workbook: whether it is one; None if its suffix says so.

    Raises:
        InputError: a column is missing or there twice, or a row has not as many fields as the header.
        PhonemicError: it is a workbook and openpyxl is not installed.
    """
    if workbook is None:
        workbook = path.suffix.lower() == ".xlsx"
    rows = workbook_rows(path) if workbook else csv_rows(path, delimiter, quoting)
    header: list[Any] = next((row for _, row in rows), [])
    absent = [column for column in columns if column not in header]
    if absent:
        raise InputError(f"{path}:1: no column {', '.join(absent)}; the columns are {', '.join(map(str, header))}")
    for column in columns:
        if (count := header.count(column)) > 1:
            raise InputError(f"{path}:1: {count} columns are named {column!r}; rename all but one")
    for place, row in rows:
        if len(row) != len(header):
            raise InputError(f"{place}: {len(row)} fields, but the header has {len(header)}")
        yield Record(place, dict(zip(header, row, strict=True)))


def csv_rows(path: Path, delimiter: str = ",", quoting: bool = True) -> Iterator[tuple[str, list[Any]]]:
    """The place and the fields of each row of a CSV file; blank lines are left out.

    Arguments:
        path: the file.
        delimiter: between fields.
        quoting: a field may stand in double quotes.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))  # for the whole process; Python's own is 128 KiB
    text: Iterable[str] = (line for _, line in lines(path))
    reader = csv.reader(
        text, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE, strict=True
    )
    number = 1
    try:
        for row in reader:
            if row:
                yield f"{path}:{number}", row
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}:{number}: is not CSV: {error}") from error


def workbook_rows(path: Path) -> Iterator[tuple[str, list[Any]]]:
    """The place and the cells of each row of a workbook's first sheet, as str; empty cells are empty strings."""
    openpyxl = require("openpyxl", "tasks")
    number = 0
    with open(path, "rb") as file:  # of a path it would look at the suffix
        try:
            sheet = openpyxl.load_workbook(file, read_only=True).worksheets[0]
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                if any(cell is not None for cell in row):
                    yield f"{path}:{number}", [_written(cell) for cell in row]
        except Exception as error:  # a damaged workbook may fail in the zip, in the XML or in openpyxl itself
            place = f"{path}, behind row {number}" if number else path
            raise InputError(f"{place}: is not a workbook: {error}") from error


def _written(cell: Any) -> str:
    """A cell as it looks: a whole number has no point."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else str(cell)

"""Reading JSON that somebody else wrote, or damaged."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any

from phonemic.errors import InputError, PhonemicError
from phonemic.files.writing import AnyPath, is_stream

#: Half of a surrogate pair, which JSON can write, and UTF-8 cannot.
HALF = re.compile(r"[\ud800-\udfff]")


def loads(text: str | bytes) -> Any:
    """As ``json.loads``, with one class of error.

    Raises:
        ValueError: it is not JSON, or is nested thousands of times.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_json(path: AnyPath, error: type[PhonemicError] = InputError) -> Any:
    """The value in a JSON file.

    Arguments:
        path: the file.
        error: what is raised where it is none.

    Raises:
        PhonemicError: as ``error`` says: the file is not JSON, or a device or a FIFO; the message names it.
        OSError: it cannot be read.
    """
    if is_stream(path):  # reading might wait, or never end
        raise error(f"{os.fspath(path)}: is a device or a FIFO, not a file of JSON")
    try:
        return loads(Path(path).read_bytes())
    except ValueError as wrong:
        raise error(f"{path}: is not JSON: {wrong}") from wrong


def read_object(path: AnyPath, error: type[PhonemicError] = InputError) -> dict[str, Any]:
    """As :func:`read_json`, of a file that holds a JSON object."""
    return checked(read_json(path, error), {}, path, error)


def line_object(line: str, place: str, fields: Mapping[str, type | UnionType] = MappingProxyType({})) -> dict[str, Any]:
    """The object of one of JSON lines, see :func:`checked`.

    Arguments:
        line: the line.
        place: the file and the line's number, for errors.
        fields: the type of each field that there must be.

    Raises:
        InputError: the line is not JSON, not an object, or lacks a field; the message begins with ``place``.
    """
    try:
        value = loads(line)
    except ValueError as error:
        raise InputError(f"{place}: is not JSON ({error})") from error
    return checked(value, fields, place)


def is_blank(line: str) -> bool:
    """Whether one of JSON lines holds nothing but JSON's white space; all readers leave such lines out."""
    return not line.strip(" \t\r\n")


def text_of(value: Mapping[str, Any], field: str, place: str, errors: str = "strict") -> str | None:
    """The text of one of JSON lines; None where the field is null or missing.

    Arguments:
        value: the line's object, see :func:`line_object`.
        field: the name of the field.
        place: the file and the line, for errors.
        errors: "strict" or "replace", what to do about halves of surrogate pairs.

    Raises:
        InputError: the field is not a string, or not Unicode text and ``errors`` is "strict".
    """
    text = value.get(field)
    if not isinstance(text, str | None):
        raise InputError(f"{place}: the field {field!r} is not a string")
    try:
        (text or "").encode()
    except UnicodeEncodeError as error:
        if errors == "strict":
            raise InputError(f"{place}: the field {field!r} is not Unicode text ({error.reason})") from error
        text = HALF.sub("\ufffd", value[field])
    return text


def checked(
    value: object,
    fields: Mapping[str, type | UnionType],
    where: object,
    error: type[PhonemicError] = InputError,
    optional: bool = False,
) -> dict[str, Any]:
    """A JSON object whose fields are of the right types.

    Arguments:
        value: what a file holds.
        fields: the type of each field that is looked at; a bool is not an int.
        where: names the file in the error.
        error: what is raised.
        optional: a field may be missing.

    Raises:
        PhonemicError: as ``error`` says; the message names the field.
    """
    if not isinstance(value, dict):
        raise error(f"{where}: a JSON object is expected, not {_kind(value)}")
    for name, kind in fields.items():
        if name not in value:
            if not optional:
                raise error(f"{where}: damaged ({name} is missing)")
        elif not isinstance(value[name], kind) or (isinstance(value[name], bool) and kind in (int, int | float)):
            raise error(f"{where}: damaged ({name} is {_kind(value[name])})")
    return value


@contextmanager
def damaged(where: object, error: type[PhonemicError] = InputError, hint: str = "") -> Iterator[None]:
    """Makes one error of whatever comes of values that somebody changed, where not every field is looked at before.

    Arguments:
        where: names the file, or the folder, in the error.
        error: what is raised.
        hint: what to do.

    Raises:
        PhonemicError: as ``error`` says.
    """
    try:
        yield
    except (PhonemicError, OSError):
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as wrong:
        raise error(f"{where}: damaged ({type(wrong).__name__}: {wrong}){hint and '; '}{hint}") from wrong


def _kind(value: object) -> str:
    return "null" if value is None else f"of type {type(value).__name__}"

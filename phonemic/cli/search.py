"""``phonemic search``: names found by how they sound."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from phonemic.cli.common import (
    check_column,
    claim,
    column_option,
    encoding_option,
    errors_option,
    files_of,
    force_option,
    input_texts,
    language_option,
    make_tokenizer,
    max_line_option,
    tokenizer_option,
)
from phonemic.cli.wordlists import cell, check_heard, check_language, format_option, is_heard, words_of
from phonemic.errors import InputError
from phonemic.terminal import json_text, say, standard_output

if TYPE_CHECKING:
    from phonemic.sound import Index, Match


@click.command()
@click.argument("names")
@click.argument("query", nargs=-1)
@language_option(required=False, description="The language, which a list of names needs; a saved index has its own.")
@tokenizer_option("phrases")
@tokenizer_option("readings")
@click.option("--ignore-diacritics", is_flag=True, help="Vietnamese: compare without diacritics, as names are typed.")
@click.option(
    "-k", "--limit", type=click.IntRange(1), default=10, show_default=True, help="The largest number of names."
)
@click.option("--all", "every", is_flag=True, help="Find all names within the distance, not only the nearest.")
@click.option(
    "--max-distance",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="The greatest distance, in syllables; inf for any.",
)
@format_option
@click.option("--save", "output", metavar="FILE", help="Write the index to a file that can be searched as NAMES.")
@column_option
@errors_option
@encoding_option
@max_line_option
@force_option
def search(
    *,
    names: str,
    query: tuple[str, ...],
    lang: str | None,
    phrases: Path | None,
    readings: str,
    ignore_diacritics: bool,
    limit: int,
    every: bool,
    max_distance: float,
    form: str,
    output: str | None,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    force: bool,
) -> None:
    """Finds the names that sound like QUERY, or like each line of a file, or of standard input for "-".

    NAMES is a text with one name per line, or an index that --save wrote. Each name is written with its distance: 0 if
    it sounds the same, and 1 for each syllable that is missing, extra or shares nothing. A line of standard input in
    which nothing is heard has no names. Mandarin names are also found by pinyin, with tones or without, and by the
    first letter of each syllable. Where nothing is found, the exit status is 1.
    """
    if not query and not output:
        raise click.UsageError("give a QUERY, or --save FILE to keep the index")
    given = click.get_current_context().get_parameter_source("limit") is click.core.ParameterSource.COMMANDLINE
    if every and given:
        raise click.UsageError("--all finds all names: leave -k out")
    files = files_of(query)
    if "-" in files and names == "-":
        raise click.UsageError('NAMES and QUERY cannot both be "-"')
    check_column([names, *files], column)
    claim([output], force, [names, *files])
    index = _index(names, lang, phrases, readings, ignore_diacritics, column, errors, encoding, max_line)
    if query and not files:
        check_heard(" ".join(query), index.tokenizer, "QUERY")
    if output:
        index.save(output, overwrite=force)
    if not query:
        return
    anything = False
    with standard_output() as file:
        if form == "tsv":
            file.write(b"query\tdistance\tindex\tname\n")
        for text in _queries(query, files, column, errors, encoding, max_line):
            try:
                heard = is_heard(text, index.tokenizer)
                search = partial(index.search, text, None if every else limit, max_distance, pinyin=index.lang == "zh")
                found = search() if heard else []
            except ValueError as error:
                raise InputError(f"{cell(text)[:40]!r}: {error}") from error
            file.write(_shown(text, found, form, bool(files)).encode("utf-8", "surrogateescape"))
            anything = anything or bool(found)
    if not anything:
        say(f"no name within {max_distance:g} of {'any query' if files else cell(' '.join(query))[:40]}", err=True)
        click.get_current_context().exit(1)


def _index(
    names: str,
    lang: str | None,
    phrases: Path | None,
    readings: str,
    ignore_diacritics: bool,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
) -> Index:
    """The index of a file, which holds one or the names for one."""
    from phonemic.sound.index import Index
    from phonemic.sound.storage import is_index

    if names != "-" and is_index(names):
        index = Index.load(names)
        given = click.get_current_context().get_parameter_source("readings") is click.core.ParameterSource.COMMANDLINE
        other = (given and readings != index.tokenizer.readings) or (ignore_diacritics and not index.ignore_diacritics)
        if phrases or lang not in (None, index.lang) or other:
            raise click.UsageError(f"{names} is an index for {index.lang} with its own options; leave the others out")
        return index
    if lang is None:
        raise click.UsageError(f"{names} is a text: give its language with --lang")
    if ignore_diacritics and lang != "vi":
        raise click.UsageError("--ignore-diacritics is for Vietnamese: Chinese characters have none")
    tokenizer = make_tokenizer(lang, phrases=phrases, readings=readings)
    texts = words_of([names], column, errors, max_line, encoding)
    check_language(texts, tokenizer)
    try:
        return Index(texts, tokenizer=tokenizer, ignore_diacritics=ignore_diacritics)
    except ValueError as error:
        raise InputError(f"{names}: {error} (counted from 0, without blank lines)") from error


def _queries(
    query: tuple[str, ...], files: tuple[str, ...], column: str, errors: str, encoding: str, max_line: int
) -> Iterator[str]:
    if not files:
        yield " ".join(query)
        return
    with input_texts(files, column, errors, max_line, encoding) as lines:
        yield from ((line or "").strip() for line in chain.from_iterable(lines))


def _shown(query: str, found: list[Match], form: str, several: bool) -> str:
    if form == "json":
        return json_text({"query": query, "matches": [match._asdict() for match in found]}, indent=None) + "\n"
    if form == "tsv":
        rows = ((cell(query), f"{match.distance:.3f}", str(match.index), cell(match.name)) for match in found)
        return "".join("\t".join(row) + "\n" for row in rows)
    lines = [f"{match.distance:.3f}  {match.name}\n" for match in found]
    return "".join([f"{query}\n", *("  " + line for line in lines)] if several else lines)

"""Parts that the commands over lists of words share: reading a list, and writing groups of its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from phonemic.cli.common import (
    Command,
    LanguageCheck,
    claim,
    force_option,
    input_options,
    input_texts,
    language_option,
    make_tokenizer,
    output_file,
    output_option,
    tokenizer_option,
)
from phonemic.errors import InputError
from phonemic.terminal import json_text
from phonemic.tokenizer import Tokenizer

if TYPE_CHECKING:
    from phonemic.sound import Group

#: The names of the formats, and what they are.
FORMATS = ("text", "tsv", "json")
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Write plain lines, a tab-separated table, or one JSON object per line.",
)


def group_options(command: Command) -> Command:
    """IN..., how it is read, which group is wanted, and where it goes."""

    @wraps(command)
    def with_tokenizer(*args: Any, lang: str, phrases: Path | None, readings: str, **options: Any) -> None:
        command(*args, tokenizer=make_tokenizer(lang, phrases=phrases, readings=readings), **options)

    added: Command = with_tokenizer
    for option in (
        force_option,
        output_option(),
        format_option,
        click.option("--of", "word", metavar="WORD", help="Write only the group of this word."),
        tokenizer_option("readings"),
        tokenizer_option("phrases"),
        language_option(),
        input_options(threads=False),
    ):
        added = option(added)
    return added


def words_of(inputs: Sequence[str], column: str, errors: str, max_line: int, encoding: str = "utf-8") -> list[str]:
    """The lines of all inputs that are not blank, without the spaces around them."""
    with input_texts(inputs, column, errors, max_line, encoding) as lines:
        return [word for line in chain.from_iterable(lines) if (word := (line or "").strip())]


def check_language(words: Sequence[str], tokenizer: Tokenizer) -> None:
    """Says so where hardly a word is of the language that was named."""
    check = LanguageCheck(tokenizer.lang)
    check.add(tokenizer.encode_batch(list(words)).kinds)
    check.warn()


def is_heard(text: str, tokenizer: Tokenizer) -> bool:
    """Whether a text has a sound."""
    from phonemic.sound.sounds import sounds

    return len(sounds(tokenizer.lang).heard(tokenizer.encode(text).ids)[0]) > 0


def check_heard(text: str, tokenizer: Tokenizer, name: str) -> None:
    """Refuses a text of the command line that has no sound.

    Arguments:
        text: the text.
        tokenizer: reads it.
        name: what the help calls it.

    Raises:
        InputError: nothing of it is heard.
    """
    if not is_heard(text, tokenizer):
        raise InputError(f"{cell(text)[:40]!r} has no sound: give a {name} with a syllable, a letter or a digit")


def write_groups(
    make: Callable[[list[str]], list[Group]],
    tokenizer: Tokenizer,
    *,
    inputs: Sequence[str],
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    word: str | None,
    form: str,
    output: str | None,
    force: bool,
) -> None:
    """Reads words, groups them and writes the groups, or what goes with one word."""
    if word is not None:
        check_heard(word, tokenizer, "WORD")
    claim([output], force, inputs)
    words = words_of(inputs, column, errors, max_line, encoding)
    check_language(words, tokenizer)
    if word is None:
        groups = make(words)
    else:
        listed = set(words)
        groups = [
            group._replace(words=tuple(each for each in group.words if each != word or word in listed))
            for group in make([*words, word])
            if word in group.words
        ]
    with output_file(output, force) as file:
        if form == "tsv":
            file.write(b"sound\tword\n")
        for group in groups:
            file.write((_shown(group, form) + "\n").encode("utf-8", "surrogateescape"))


def _shown(group: Group, form: str) -> str:
    if form == "json":
        return json_text(group._asdict(), indent=None)
    if form == "tsv":
        return "\n".join(f"{group.sound}\t{cell(word)}" for word in group.words)
    return ", ".join(group.words)


def cell(text: str) -> str:
    """A text as a cell of a table with tabs."""
    return " ".join(text.split())

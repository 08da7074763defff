"""``phonemic transcribe``: a text as it is read, in one step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from html import escape

import click

from phonemic.cli.common import (
    LanguageCheck,
    check_column,
    claim,
    column_option,
    dialect_option,
    encoding_option,
    errors_option,
    files_of,
    force_option,
    input_texts,
    max_line_option,
    output_file,
    output_option,
    reading_options,
)
from phonemic.drawing import COLOR, FONT, page
from phonemic.encoding import Batch, Encoding
from phonemic.errors import PinyinError
from phonemic.inventory import NATIVE
from phonemic.lexicon.user_phrases import is_han
from phonemic.options import TokenizerOptions
from phonemic.reading.markup import unmarked, with_readings
from phonemic.reading.polyphones import readings_of
from phonemic.terminal import json_text
from phonemic.tokenizer import Tokenizer
from phonemic.writing.notations import NOTATIONS, is_erhua, notation, speller, with_erhua

_TO = (*dict.fromkeys(name for names in NOTATIONS.values() for name in names), "triples")

#: Ruby above its characters, large enough to be read.
_RUBY = f"line-height: 2.4; font-size: 1.4em; max-width: 32em; font-family: {FONT}; color: {COLOR}"
_SYLLABLE = '<ruby>{}<rp>(</rp><rt style="padding: 0 0.25em">{}</rt><rp>)</rp></ruby>'

#: Characters that are not allowed in a page. Format characters are: some join emoji.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

#: Texts that are encoded and written together.
_TOGETHER = 1024

Write = Callable[[Batch | list[Encoding]], str]


@click.command()
@click.argument("text", nargs=-1)
@reading_options
@click.option("--to", type=click.Choice(_TO), help="The notation to write. [default: pinyin, or IPA for Vietnamese]")
@dialect_option()
@click.option(
    "--format",
    "layout",
    type=click.Choice(["text", "tsv", "json", "ruby"]),
    default="text",
    show_default=True,
    help="Write the readings as text, one row per position, one JSON object per line, or an HTML page.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="All readings of each Chinese character, and how common each is, one row per character.",
)
@click.option("--markup", is_flag=True, help="Pinyin in braces states how characters are read: 银行{yín háng}.")
@output_option()
@column_option
@errors_option
@encoding_option
@max_line_option
@force_option
def transcribe(
    *,
    text: tuple[str, ...],
    tokenizer: Tokenizer,
    to: str | None,
    dialect: str | None,
    layout: str,
    every: bool,
    markup: bool,
    output: str | None,
    column: str,
    errors: str,
    encoding: str,
    max_line: int,
    force: bool,
) -> None:
    """Writes the reading of TEXT, or of each line of files or of stdin, in pinyin, zhuyin or IPA.

    Where TEXT is the name of a file, or names of files, these are read: plain text, JSON lines or Parquet, also
    compressed. Other text stays as it is.
    """
    files = files_of(text) if text else ("-",)
    check_column(files, column)
    claim([output], force, files)
    lang = tokenizer.lang
    to = to or ("ipa" if lang == "vi" else "pinyin")
    try:
        if to == "triples" and dialect:
            raise ValueError("--dialect is for Vietnamese in IPA, not for triples")
        name = to if to == "triples" else notation(lang, to, dialect)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if markup and lang != "zh":
        raise click.UsageError("--markup is for Mandarin")
    if every and (lang != "zh" or layout != "text" or name == "triples"):
        raise click.UsageError("--all is for Mandarin, without --format and without --to triples")
    if every and (markup or tokenizer.options != TokenizerOptions("zh")):
        raise click.UsageError("--all has all readings of a character: it takes no option of how a text is read")
    spell = "|".join if name == "triples" else speller(lang, name, dialect=dialect)
    if every or layout != "text" or name == "triples":
        one = partial(_all, name=name) if every else partial(_WRITERS[layout], spell=spell, name=name)
    else:
        one = partial(_plain, decode=partial(tokenizer.decode, to=name, dialect=dialect, preserve_text=True))
    write: Write = lambda batch: "".join(map(one, batch))  # noqa: E731
    if one.func is _plain and not markup:
        rows = partial(tokenizer.decode_batch, to=name, dialect=dialect, preserve_text=True)
        write = lambda batch: "".join(f"{line}\n" for line in rows(batch))  # noqa: E731
    check = LanguageCheck(lang)
    with output_file(output, force) as file:
        before, after = _around(layout, lang)
        file.write(before.encode())
        words: list[str | None] = [" ".join(text)]
        given = input_texts(files, column, errors, max_line, encoding) if files else nullcontext(iter([words]))
        with given as chunks:
            for batch in _stated(chunks, tokenizer, check) if markup else _batches(chunks, tokenizer, check):
                file.write(write(batch).encode("utf-8", "surrogateescape"))
        file.write(after.encode())
    check.warn()


def _batches(chunks: Iterator[list[str | None]], tokenizer: Tokenizer, check: LanguageCheck) -> Iterator[Batch]:
    """The texts, encoded with spans, some at a time; a null is an empty text."""
    for texts in chunks:
        for at in range(0, len(texts), _TOGETHER):
            batch = tokenizer.encode_batch([text or "" for text in texts[at : at + _TOGETHER]], spans=True)
            check.add(batch.kinds)
            yield batch


def _stated(chunks: Iterator[list[str | None]], tokenizer: Tokenizer, check: LanguageCheck) -> Iterator[list[Encoding]]:
    """As :func:`_batches`, with the readings that the texts state.

    Raises:
        PinyinError: a text states what is not a reading of it; the message has its number, where there are several.
    """
    number = 0
    for texts in chunks:
        found = []
        for text in texts:
            number += 1
            try:
                plain, stated = unmarked(text or "")
                found.append(with_readings(tokenizer.encode(plain), stated))
            except PinyinError as error:
                raise PinyinError(f"text {number}: {error}" if number > 1 or len(texts) > 1 else str(error)) from error
            check.add(found[-1].kinds)
        yield found


def _rows(
    encoding: Encoding, spell: Callable[..., str], name: str
) -> Iterator[tuple[str, str, str, str, str, int, int]]:
    """Text, reading, onset, rime, tone, start and end of each position; the reading of what is none is the text."""
    positions = zip(encoding.syllables, encoding.triples, encoding.kinds, encoding.spans.tolist(), strict=True)
    for syllable, triple, kind, (start, end) in positions:
        reading = spell(triple) if kind == NATIVE else syllable.text
        if kind == NATIVE and name != "triples" and is_erhua(encoding.vocabulary.lang, syllable.text):
            reading = with_erhua(reading, name)
        yield syllable.text, reading, syllable.onset, syllable.rime, syllable.tone, start, end


def _line(encoding: Encoding, spell: Callable[..., str], name: str) -> str:
    """The readings, separated by spaces."""
    return " ".join(reading for _, reading, *_ in _rows(encoding, spell, name)) + "\n"


def _tsv(encoding: Encoding, spell: Callable[..., str], name: str) -> str:
    """One line per position, and an empty one behind each text."""
    lines = ["\t".join(" ".join(str(cell).split()) for cell in row) for row in _rows(encoding, spell, name)]
    return "\n".join([*lines, "", ""])


def _plain(encoding: Encoding, decode: Callable[[Encoding], str]) -> str:
    """The text with its readings."""
    return decode(encoding) + "\n"


def _all(encoding: Encoding, name: str) -> str:
    """A line per Chinese character: itself, then the readings that are known and their shares, the commonest first."""
    lines = []
    for syllable, kind in zip(encoding.syllables, encoding.kinds, strict=True):
        for char in syllable.text if kind == NATIVE or is_han(syllable.text[:1]) else "":
            cells = (f"{reading} {share:.1%}" for reading, share in readings_of(char, name).items())
            lines.append("\t".join([char, *cells]) + "\n")
    return "".join(lines)


def _json(encoding: Encoding, spell: Callable[..., str], name: str) -> str:
    """An object on one line."""
    keys = ("text", name, "onset", "rime", "tone", "start", "end")
    rows = [dict(zip(keys, row, strict=True)) for row in _rows(encoding, spell, name)]
    return json_text({"text": encoding.text, "syllables": rows}, indent=None) + "\n"


def _ruby(encoding: Encoding, spell: Callable[..., str], name: str) -> str:
    """A paragraph, with the reading above each syllable."""
    pieces, at = [], 0
    for (own, reading, *_, start, end), kind in zip(_rows(encoding, spell, name), encoding.kinds, strict=True):
        pieces.append(escape(encoding.text[at:start]))
        pieces.append(_SYLLABLE.format(escape(own), escape(reading)) if kind == NATIVE else escape(own))
        at = end
    html = "".join([*pieces, escape(encoding.text[at:])]).replace("\r\n", "\n").replace("\r", "\n")
    shown = _CONTROL.sub(lambda found: repr(found[0])[1:-1], html).replace("\n", "<br>\n")
    return f"<p>{shown}</p>\n"


_WRITERS = {"text": _line, "tsv": _tsv, "json": _json, "ruby": _ruby}


def _around(layout: str, lang: str) -> tuple[str, str]:
    """The head and the tail of the page around the texts."""
    if layout == "tsv":
        return "\t".join(("text", "reading", "onset", "rime", "tone", "start", "end")) + "\n", ""
    if layout != "ruby":
        return "", ""
    before, _, after = page(f'<main style="{_RUBY}">\0</main>', "phonemic transcribe", lang).partition("\0")
    return before + "\n", after

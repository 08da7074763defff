"""``phonemic read``: a text as it is read, in one step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from html import escape

import click

from phonemic.cli.common import (
    LanguageCheck,
    claim,
    dialect_option,
    errors_option,
    force_option,
    input_texts,
    max_line_option,
    output_file,
    output_option,
    tokenizer_options,
)
from phonemic.drawing import COLOR, FONT, page
from phonemic.encoding import Encoding
from phonemic.inventory import NATIVE
from phonemic.markup import unmarked, with_readings
from phonemic.notations import NOTATIONS, is_erhua, notation, speller, with_erhua
from phonemic.polyphones import readings_of
from phonemic.terminal import json_text
from phonemic.tokenizer import Tokenizer

_TO = (*dict.fromkeys(name for names in NOTATIONS.values() for name in names), "triples")

#: Ruby above its characters, large enough to be read.
_RUBY = f"line-height: 2.4; font-size: 1.4em; max-width: 32em; font-family: {FONT}; color: {COLOR}"
_SYLLABLE = '<ruby>{}<rp>(</rp><rt style="padding: 0 0.25em">{}</rt><rp>)</rp></ruby>'

#: What may not stand in a page. Format characters may: some join emoji.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

Write = Callable[[Encoding], str]


@click.command()
@click.argument("text", nargs=-1)
@tokenizer_options
@click.option("--to", type=click.Choice(_TO), help="[default: pinyin, or IPA for Vietnamese]")
@dialect_option()
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "tsv", "json", "ruby"]),
    default="text",
    show_default=True,
    help="The text with its readings; one row per position; one JSON object per line; an HTML page.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="All readings of each Chinese character, and how common each is, one row per character.",
)
@click.option("--markup", is_flag=True, help="Pinyin in braces states how characters are read: 银行{yín háng}.")
@output_option()
@errors_option
@max_line_option
@force_option
def read(
    *,
    text: tuple[str, ...],
    tokenizer: Tokenizer,
    to: str | None,
    dialect: str | None,
    form: str,
    every: bool,
    markup: bool,
    output: str | None,
    errors: str,
    max_line: int,
    force: bool,
) -> None:
    """Writes the reading of TEXT, or of each line of standard input, in pinyin, zhuyin or IPA.

    What is not a syllable stays as it is.
    """
    claim([output], force)
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
    if every and (lang != "zh" or form != "text" or name == "triples"):
        raise click.UsageError("--all is for Mandarin, without --format and without --to triples")
    spell = "|".join if name == "triples" else speller(lang, name, dialect=dialect)
    writers: dict[str, Write] = {
        "text": lambda encoding: (
            tokenizer.decode(encoding, keep="spacing", to=name, dialect=dialect) + "\n"
            if name != "triples"
            else " ".join(cell for _, cell, *_ in _rows(encoding, spell, name)) + "\n"
        ),
        "tsv": partial(_tsv, spell=spell, name=name),
        "json": partial(_json, spell=spell, name=name),
        "ruby": partial(_ruby, spell=spell, name=name),
    }
    write, check = partial(_all, name=name) if every else writers[form], LanguageCheck(lang)
    with output_file(output, force) as file:
        before, after = _around(form, lang)
        file.write(before.encode())
        for encoding in _encodings(text, tokenizer, errors, max_line, check, markup):
            file.write(write(encoding).encode("utf-8", "surrogateescape"))
        file.write(after.encode())
    check.warn()


def _encodings(
    text: tuple[str, ...], tokenizer: Tokenizer, errors: str, max_line: int, check: LanguageCheck, markup: bool
) -> Iterator[Encoding]:
    """The texts that are given, or the lines of standard input, encoded with spans."""
    if text and text != ("-",):
        chunks: Iterator[list[str]] = iter([[" ".join(text)]])
        yield from _checked(tokenizer, chunks, check, markup)
        return
    with input_texts(["-"], "text", errors, max_line) as lines:
        yield from _checked(tokenizer, ([line or "" for line in chunk] for chunk in lines), check, markup)


def _checked(
    tokenizer: Tokenizer, chunks: Iterator[list[str]], check: LanguageCheck, markup: bool
) -> Iterator[Encoding]:
    for texts in chunks:
        pairs = [unmarked(text) if markup else (text, {}) for text in texts]
        batch = tokenizer.encode_batch([text for text, _ in pairs], spans=True)
        check.add(batch.kinds)
        for encoding, (_, stated) in zip(batch, pairs, strict=True):
            yield with_readings(encoding, stated) if stated else encoding


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


def _tsv(encoding: Encoding, spell: Callable[..., str], name: str) -> str:
    """A line a position, and an empty one behind each text."""
    lines = ["\t".join(" ".join(str(cell).split()) for cell in row) for row in _rows(encoding, spell, name)]
    return "\n".join([*lines, "", ""])


def _all(encoding: Encoding, name: str) -> str:
    """A line per Chinese character: itself, then its readings and their shares, the commonest first."""
    lines = []
    for syllable, kind in zip(encoding.syllables, encoding.kinds, strict=True):
        for char in syllable.text if kind == NATIVE else "":
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


def _around(form: str, lang: str) -> tuple[str, str]:
    """What stands before and behind the texts."""
    if form == "tsv":
        return "\t".join(("text", "reading", "onset", "rime", "tone", "start", "end")) + "\n", ""
    if form != "ruby":
        return "", ""
    before, _, after = page(f'<main style="{_RUBY}">\0</main>', "phonemic read", lang).partition("\0")
    return before + "\n", after

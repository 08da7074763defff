"""``phonemic noise``: texts with a share of their characters or syllables rewritten."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, BinaryIO

import click
from rich.table import Table

from phonemic.cli.common import (
    claim,
    column_option,
    encoding_option,
    errors_option,
    force_option,
    input_texts,
    make_tokenizer,
    max_line_option,
    output_option,
    tokenizer_option,
)
from phonemic.errors import InputError, PhonemicError
from phonemic.files import kind_of, read_texts, replacing, require
from phonemic.inventory import LANGUAGES
from phonemic.noise import DRAWS, SHARES, Noise, Noisy
from phonemic.noise.homophones import POOLS, READINGS, SOUNDS, Homophones, count_characters, frequent
from phonemic.noise.misspellings import GROUPS, Misspellings
from phonemic.noise.respelling import KINDS
from phonemic.terminal import console, json_text, say, standard_output

#: Writes the texts of a chunk; None is a null.
Write = Callable[[list[str | None]], None]

#: The options that are for one language.
_ONLY = {
    "zh": ("pool", "counts", "min_count", "by_count", "match", "sound", "same_ids", "phrases", "readings"),
    "vi": ("kinds", "strict"),
}


@click.command()
@click.argument("inputs", metavar="IN...", nargs=-1, required=True)
@click.option("--lang", type=click.Choice(LANGUAGES), required=True, help="The language.")
@click.option(
    "--ratio",
    "ratios",
    multiple=True,
    required=True,
    metavar="SHARE",
    help="The share of the units to rewrite, from 0 to 1. Repeatable: each ratio makes an output.",
)
@output_option("The output, text or .parquet; {ratio} in its name is replaced. [default: standard output]")
@click.option("--changes", metavar="FILE", help="Write the changes to a file of JSON lines.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the noise.")
@click.option(
    "--share",
    type=click.Choice(SHARES),
    default="all",
    show_default=True,
    help="Take the ratio of all units, or of the units that can be changed.",
)
@click.option(
    "--draw",
    type=click.Choice(DRAWS),
    default="exact",
    show_default=True,
    help="Rewrite exactly this share of the units, or each unit with this probability.",
)
@click.option(
    "--nested/--not-nested",
    default=True,
    show_default=True,
    help="Let a higher ratio keep the changes of a lower one, or draw anew.",
)
@click.option("--by-row", is_flag=True, help="Give equal texts different noise.")
@click.option(
    "--pool",
    type=click.Choice(POOLS),
    default="all",
    show_default=True,
    help="Mandarin: the characters to choose from.",
)
@click.option(
    "--counts",
    metavar="FILE",
    multiple=True,
    help="Mandarin: choose only characters that occur in this text. Repeatable.",
)
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Mandarin: how often a character must occur in the texts of --counts.",
)
@click.option("--by-count", is_flag=True, help="Mandarin: choose in proportion to how often characters occur there.")
@click.option(
    "--match",
    type=click.Choice(READINGS),
    default="context",
    show_default=True,
    help="Mandarin: match a character's reading in its context, or its default reading.",
)
@click.option(
    "--sound",
    type=click.Choice([*SOUNDS]),
    default="same",
    show_default=True,
    help="Mandarin: write characters of the same sound, of another tone, or of a sound that people confuse with it.",
)
@click.option("--same-ids", is_flag=True, help="Mandarin: make only changes that keep the ids of the whole text.")
@tokenizer_option("phrases")
@tokenizer_option("readings")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice([*GROUPS, *KINDS]),
    multiple=True,
    help="Vietnamese: the kind of misspelling to write. Repeatable.",
)
@tokenizer_option("strict", "Vietnamese: take only syllables that the strict orthography allows as units.")
@tokenizer_option("word_joiner")
@column_option
@errors_option
@encoding_option
@max_line_option
@click.option("--json", "as_json", is_flag=True, help="Write the summary as JSON.")
@force_option
def noise(
    *,
    inputs: tuple[str, ...],
    ratios: tuple[str, ...],
    output: str | None,
    changes: str | None,
    force: bool,
    **options: Any,
) -> None:
    """Rewrites a share of the characters or syllables of texts.

    Chinese characters become homophones, Vietnamese syllables are respelled. IN is plain text with one text per line,
    or JSON lines (.jsonl, .ndjson, .json), also as .gz, .bz2, .xz or .zst; or Parquet; or "-" for plain text on
    standard input. The summary goes to standard output, or to standard error if the texts go to standard output.
    """
    shares = _shares(ratios)
    outputs = _outputs([*shares], output, changes)
    claim([*outputs.values(), changes], force, [*inputs, *options["counts"]])
    maker = _maker(options)
    totals = {ratio: Counter[str]() for ratio in shares}
    with ExitStack() as stack:
        writes = {ratio: stack.enter_context(_writer(outputs[ratio], options["column"], force)) for ratio in shares}
        log = stack.enter_context(replacing(changes, force)) if changes else None
        row = 0
        read = [options[name] for name in ("column", "errors", "max_line", "encoding")]
        for texts in stack.enter_context(input_texts(inputs, *read)):
            for name, ratio in shares.items():
                noisy = [
                    None if text is None else maker.apply(text, ratio, number if options["by_row"] else "")
                    for number, text in enumerate(texts, start=row)
                ]
                writes[name]([None if one is None else one.text for one in noisy])
                _count(totals[name], maker, texts, noisy)
                if log:
                    _log(log, name, row, noisy)
            row += len(texts)
    _summarise(totals, options["lang"], options["as_json"], to_stderr=output is None)


def _shares(ratios: Sequence[str]) -> dict[str, float]:
    """The ratios as typed, which also name the outputs, and their values."""
    shares: dict[str, float] = {}
    for typed in ratios:
        try:
            value = float(typed)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise click.BadParameter(f"{typed!r} is not a share between 0 and 1 (7.5 % is 0.075)", param_hint="--ratio")
        if value in shares.values():
            raise click.BadParameter(f"{typed} is given twice", param_hint="--ratio")
        shares[typed] = value
    return shares


def _outputs(ratios: list[str], output: str | None, changes: str | None) -> dict[str, str | None]:
    """Ratio -> where its texts go, None being standard output."""
    if len(ratios) > 1 and "{ratio}" not in (output or ""):
        raise click.UsageError("several ratios need an --output with {ratio} in its name, such as noisy-{ratio}.txt")
    outputs = {ratio: output.replace("{ratio}", ratio) if output else None for ratio in ratios}
    for name in filter(None, outputs.values()):
        kind, compression = kind_of(name)
        if compression:
            told = "compress it afterwards"
        elif kind == "json":
            told = "JSON lines are not written"
        else:
            continue
        raise click.BadParameter(f"{name}: write text or .parquet; {told}", param_hint="--output")
    if changes and changes in outputs.values():
        raise click.UsageError(f"--changes and --output are both {changes}")
    return outputs


def _maker(options: dict[str, Any]) -> Noise:
    """The noise that the options ask for."""
    lang = options["lang"]
    context = click.get_current_context()
    for name in _ONLY["zh" if lang == "vi" else "vi"]:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "kind" if name == "kinds" else name.replace("_", "-")
            raise click.UsageError(f"--{option} does not apply to {lang}")
    common = {name: options[name] for name in ("seed", "share", "draw", "nested")}
    tokenizer = make_tokenizer(
        lang, **{name: options[name] for name in ("strict", "word_joiner", "phrases", "readings")}
    )
    try:
        if lang == "vi":
            return Misspellings(options["kinds"], tokenizer, **common)
        return Homophones(
            _pool(options), options["match"], options["same_ids"], tokenizer, sound=options["sound"], **common
        )
    except PhonemicError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _pool(options: dict[str, Any]) -> str | list[str] | dict[str, int]:
    """The named pool, or those of its characters that occur often enough, with their counts where these matter."""
    if not options["counts"]:
        if options["by_count"] or options["min_count"] > 1:
            raise click.UsageError("--by-count and --min-count need --counts")
        return str(options["pool"])
    counts: Counter[str] = Counter()
    for path in options["counts"]:
        for texts in read_texts(
            path,
            options["column"],
            options["errors"],
            max_line=options["max_line"],
            encoding=options["encoding"],
        ):
            counts.update(count_characters(text for text in texts if text is not None))
    return frequent(counts, options["pool"], options["min_count"], options["by_count"])


@contextmanager
def _writer(path: str | None, column: str, force: bool) -> Iterator[Write]:
    """A writer of chunks of texts to standard output, a text file or a Parquet file."""
    if path and kind_of(path)[0] == "parquet":
        arrow, parquet = require("pyarrow"), require("pyarrow.parquet")
        schema = arrow.schema({column: arrow.string()}.items())
        with replacing(path, force) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            yield lambda texts: writer.write_table(arrow.table({column: texts}, schema=schema))
    elif path:
        with replacing(path, force) as file:
            yield partial(_write_lines, file, path)
    else:
        with standard_output() as stdout:
            yield partial(_write_lines, stdout, "standard output")


def _write_lines(file: BinaryIO, name: str, texts: list[str | None]) -> None:
    for text in texts:
        if text and "\n" in text:
            raise InputError(f"{name}: {text[:40]!r} holds a line break, so it is not one line; write to .parquet")
    file.write("".join(f"{text or ''}\n" for text in texts).encode())


def _log(file: BinaryIO, ratio: str, row: int, noisy: list[Noisy | None]) -> None:
    for number, one in enumerate(noisy, start=row):
        for change in one.changes if one else ():
            line = {"ratio": float(ratio), "row": number, **change._asdict()}
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")


def _count(total: Counter[str], maker: Noise, texts: list[str | None], noisy: list[Noisy | None]) -> None:
    for text, one in zip(texts, noisy, strict=True):
        if text is not None and one is not None:
            total["texts"] += 1
            total["units"] += one.units
            total["changeable"] += one.changeable
            total["changed"] += len(one.changes)
            total["ids_changed"] += maker.ids_changed(text, one)


def _summarise(totals: dict[str, Counter[str]], lang: str, as_json: bool, to_stderr: bool) -> None:
    rows: list[dict[str, float]] = [
        {"ratio": float(ratio)}
        | {name: total[name] for name in ("texts", "units", "changeable", "changed")}
        | {
            "achieved": total["changed"] / total["units"] if total["units"] else 0.0,
            "ids_changed": total["ids_changed"],
        }
        for ratio, total in totals.items()
    ]
    if as_json:
        say(json_text(rows), err=to_stderr)
        return
    units = {"zh": "Han characters", "vi": "syllables"}[lang]
    table = Table("ratio", "texts", units, "changeable", "changed", "achieved", "ids changed")
    for row in rows:
        table.add_row(*(f"{row[name]:.4f}" if name == "achieved" else f"{row[name]:,}" for name in row))
    console(stderr=to_stderr).print(table)

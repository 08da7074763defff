"""The ``phonemic`` command."""

from __future__ import annotations

import signal
import sys

try:
    import click
    from rich import console as _  # noqa: F401
except ImportError as missing:
    raise SystemExit(f'phonemic: the command needs {missing.name}: pip install "phonemic[cli]"') from missing

from phonemic.cli_common import (
    Group,
    LanguageCheck,
    claim,
    errors_option,
    force_option,
    input_options,
    input_texts,
    json_option,
    language_option,
    max_line_option,
    output_file,
    print_json,
    print_table,
    tokenizer_options,
)
from phonemic.cli_stats import stats, train_baseline
from phonemic.errors import InputError
from phonemic.files import ids_tokenizer, ids_writer, read_ids, read_texts
from phonemic.inventory import vocabulary
from phonemic.noise_command import noise
from phonemic.terminal import guard_streams
from phonemic.tokenizer import Tokenizer
from phonemic.version import __version__


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="phonemic")
def cli() -> None:
    """Vietnamese and Chinese text, syllable by syllable, as an onset, a rime and a tone."""


def _parquet_name(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value.lower().endswith(".parquet"):
        raise click.BadParameter(f"{value!r} must end in .parquet (the last file named is the output)")
    return value


# --- commands


@cli.command()
@click.argument("text", nargs=-1, required=True)
@tokenizer_options
@errors_option
@max_line_option
def show(text: tuple[str, ...], tokenizer: Tokenizer, errors: str, max_line: int) -> None:
    """Shows the positions of TEXT, or of standard input for "-"."""
    joined = " ".join(text)
    if text == ("-",):
        joined = "\n".join(line or "" for lines in read_texts("-", errors=errors, max_line=max_line) for line in lines)
    encoding = tokenizer.encode(joined)
    rows = zip(encoding.syllables, encoding.components.tolist(), strict=True)
    print_table(
        ("text", "onset", "rime", "tone", "IPA", "ids"),
        ((*syllable[:5], "/".join(map(str, ids))) for syllable, ids in rows),
    )


@cli.command()
@input_options()
@click.argument("out", metavar="OUT.parquet", callback=_parquet_name)
@tokenizer_options
@click.option("--spans", is_flag=True, help="Also write the positions' spans: start and end in turn.")
@click.option("--text", "keep_text", is_flag=True, help="Also write the texts.")
@force_option
def encode(
    *,
    inputs: tuple[str, ...],
    out: str,
    column: str,
    errors: str,
    max_line: int,
    threads: int,
    tokenizer: Tokenizer,
    spans: bool,
    keep_text: bool,
    force: bool,
) -> None:
    """Encodes texts to packed ids in a Parquet file.

    IN is plain text, one text a line, also as .gz, .bz2, .xz or .zst; or Parquet; or "-" for standard input.
    """
    claim([out], force, inputs)
    with (
        input_texts(inputs, column, errors, max_line) as chunks,
        ids_writer(out, tokenizer, threads, spans, keep_text, overwrite=force) as write,
    ):
        check = LanguageCheck(tokenizer.lang)
        for texts in chunks:
            check.add(write(texts))
    check.warn()


@cli.command()
@click.argument("path", metavar="IN.parquet")
@language_option(required=False)
@click.option("--to", type=click.Choice(["spelling", "pinyin", "ipa"]), help="[default: spelling or pinyin]")
@click.option("--style", type=click.Choice(["new", "old"]), default="new", help="Vietnamese tone marks: hoà or hòa.")
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
@max_line_option
@force_option
def decode(
    *, path: str, lang: str | None, to: str | None, style: str, output: str | None, max_line: int, force: bool
) -> None:
    """Writes the ids of a Parquet file as text.

    One line a row; a null is an empty line.
    """
    claim([output], force, [path])
    tokenizer = ids_tokenizer(path, lang)
    if to == {"vi": "pinyin", "zh": "spelling"}[tokenizer.lang]:
        raise click.UsageError(f"--to {to} is not for {tokenizer.lang}")
    with output_file(output, force) as file:
        for row, ids in enumerate(read_ids(path, max_line), start=1):
            try:
                line = tokenizer.decode(ids or [], to, style)
            except ValueError as error:
                raise InputError(f"{path}, row {row}: {error}") from error
            file.write(line.encode() + b"\n")


@cli.command()
@language_option()
@json_option
def vocab(lang: str, as_json: bool) -> None:
    """Lists the vocabulary: ids, symbols and what they stand for."""
    symbols = vocabulary(lang)
    rows = [(number, symbol, sorted(symbols.roles(number))) for number, symbol in enumerate(symbols)]
    if as_json:
        print_json([dict(zip(("id", "symbol", "roles"), row, strict=True)) for row in rows])
    else:
        print_table(("id", "symbol", "roles"), ((number, symbol, ", ".join(roles)) for number, symbol, roles in rows))


cli.add_command(stats)
cli.add_command(train_baseline)
cli.add_command(noise)


def main() -> None:
    """Runs the command, which writes UTF-8 everywhere; a termination signal leaves nothing half-written either."""
    guard_streams()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    cli(prog_name="phonemic")


if __name__ == "__main__":
    main()

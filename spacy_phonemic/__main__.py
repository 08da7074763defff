"""``python -m spacy_phonemic``: prints ready training configs, converts corpora, checks both before a training."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from pathlib import Path

from phonemic.errors import InputError, PhonemicError, message, printable
from phonemic.files.outputs import claim
from phonemic.files.writing import write_text
from phonemic.inventory import LANGUAGES
from phonemic.tasks.tagging import StrayTagWarning
from spacy_phonemic.configs import ENCODERS, TASKS, check_checkpoint, config_text

#: Exit status of a command that Ctrl-C ended, as that of the command phonemic.
INTERRUPTED = 130

#: The fields of a file of one's own that the command names.
_FIELDS = ("text", "label", "word", "tag", "joiner", "comment")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m spacy_phonemic", description="Training spaCy with PhonemicBERT.")
    commands = made.add_subparsers(required=True)

    config = commands.add_parser("config", help="Print a training config: config ner --lang zh > config.cfg")
    config.add_argument("task", choices=TASKS, help="The task to train: entities, parts of speech, or both.")
    config.add_argument("--lang", choices=LANGUAGES, default="vi", help="The language of the pipeline.")
    config.add_argument(
        "--encoder",
        choices=ENCODERS,
        default="bert",
        help="The encoder: spaCy's tok2vec on spelling and sound without torch (hash), PhonemicBERT (bert), or both.",
    )
    config.add_argument(
        "--checkpoint", help="The checkpoint of PhonemicBERT, a folder or an installed checkpoint's name."
    )
    config.add_argument(
        "--train", type=Path, help="The training set, a .spacy file, whose size determines steps and patience."
    )
    config.add_argument(
        "--steps",
        type=int,
        help="The number of training steps; by default it depends on the size of --train, or is 20000.",
    )
    config.add_argument("--gpu", action="store_true", help="Use larger batches and half precision, for a GPU.")
    config.add_argument("--output", type=_file, help="Write the config to this file instead of standard output.")
    config.add_argument("--force", action="store_true", help="Replace an existing output.")
    config.set_defaults(run=_config)

    _add_convert(
        commands.add_parser("convert", help="Convert a corpus: convert conllu train.conllu train.spacy --lang vi")
    )

    check = commands.add_parser(
        "check",
        help="Report what a training config reads and costs: check ner.cfg --paths.train train.spacy ...",
        description="Reads the corpora and trains for a few steps; further options replace settings of the config.",
    )
    check.add_argument("config", type=Path, help="A training config.")
    check.add_argument("--gpu-id", type=int, default=-1, help="The number of the GPU; -1 is the CPU.")
    check.set_defaults(run=_check, output=None, force=False)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; the exit status is 1 where something could not be done, 130 where Ctrl-C ended it.

    Arguments:
        arguments: the words of the command line; None: those of the process.
    """
    given, rest = parser().parse_known_args(arguments)
    if rest and given.run is not _check:
        parser().error(f"unrecognized arguments: {' '.join(rest)}")
    given.overrides = rest
    try:
        claim([given.output], given.force, [given.input] if "input" in given else ())
        status: int = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return 1
    except (PhonemicError, OSError, MemoryError) as error:
        sys.stderr.write(f"{printable(message(error))}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    return status


def _discard_output() -> None:
    """Has what is still to be written go nowhere; at the end of the process Python would write it into the pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _add_convert(convert: argparse.ArgumentParser) -> None:
    convert.add_argument(
        "format",
        help="The format: conll, conllu, csv, tsv, xlsx or jsonl; or a dataset, such as cluener, phoner or tnews.",
    )
    convert.add_argument("input", type=Path, help="The file to convert; for a dataset also its folder, with --split.")
    convert.add_argument("output", type=Path, help="The .spacy file to write.")
    convert.add_argument("--lang", choices=LANGUAGES, help="The language; a dataset has its own.")
    convert.add_argument("--split", help="The split of the dataset to convert: train, dev or test.")
    convert.add_argument("--limit", type=_limit, default=0, help="Convert only this many sentences; 0 converts all.")
    convert.add_argument(
        "--strict", action="store_true", help="Write nothing and exit with status 1 if anything cannot be used."
    )
    convert.add_argument("--force", action="store_true", help="Replace an existing output.")
    own = convert.add_argument_group("the fields of a file of your own")
    own.add_argument(
        "--kind", choices=("classification", "sequence-labelling"), help="The kind of task that JSON lines contain."
    )
    own.add_argument("--pos", action="store_true", help="Read the tags as parts of speech, not as entities.")
    own.add_argument("--text", help="The column or field of the text.")
    own.add_argument(
        "--label", action="append", help="The column or field of the label. Repeatable: one for each target."
    )
    own.add_argument("--word", type=_column, help="The column of the word, counted from 0, or its field of JSON lines.")
    own.add_argument("--tag", type=_column, help="The column or field of the tag; in CoNLL-U upos or xpos.")
    own.add_argument(
        "--joiner", help='The character that joins the syllables of a word, "_" in Hà_Nội; it becomes a space.'
    )
    own.add_argument("--comment", help="The characters that a comment line of a CoNLL file begins with.")
    convert.set_defaults(run=_convert)


def _limit(written: str) -> int:
    if not written.isdecimal():
        raise argparse.ArgumentTypeError(f"{written!r}: give how many sentences, or 0 for all")
    return int(written)


def _column(written: str) -> int | str:
    return int(written) if written.lstrip("-").isdecimal() else written


def _config(given: argparse.Namespace) -> int:
    reading = None
    if given.checkpoint is not None and given.encoder != "hash":
        reading = check_checkpoint(given.checkpoint, given.lang)
    try:
        words = None if given.train is None else _words(given.train)
        made = (given.task, given.lang, given.encoder, given.checkpoint, given.steps, given.gpu, words, reading)
        text = config_text(*made)
    except ValueError as error:
        raise InputError(str(error)) from None
    if given.output is None:
        sys.stdout.write(text)
    else:
        given.output.parent.mkdir(parents=True, exist_ok=True)
        write_text(given.output, text, given.force)
    return 0


def _words(path: Path) -> int:
    from spacy.tokens import DocBin

    try:
        return sum(map(len, DocBin().from_disk(path).tokens))
    except OSError:
        raise
    except Exception as error:
        raise InputError(f"{path} is not a .spacy file: convert writes one") from error


def _file(name: str) -> Path | None:
    return None if name == "-" else Path(name)


def _check(given: argparse.Namespace) -> int:
    for word in given.overrides:
        if re.match("--?[a-zA-Z]", word) and not re.match(r"--[^=]*\.", word):
            raise InputError(
                f"check takes --gpu-id and settings of the config, such as --training.max_steps 100, but not {word!r}"
            )
    from spacy.cli._util import parse_config_overrides

    from spacy_phonemic.checking import report

    for line in report(given.config, parse_config_overrides(given.overrides), given.gpu_id):
        sys.stdout.write(f"{printable(line)}\n")
        sys.stdout.flush()
    return 0


def _convert(given: argparse.Namespace) -> int:
    import spacy

    from spacy_phonemic.convert import FORMATS, language_of, read, write

    lang = given.lang or language_of(given.format)
    if lang is None:
        raise InputError(f"{given.format} does not imply a language: give --lang {' or --lang '.join(LANGUAGES)}")
    tokenizer = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}
    nlp = spacy.blank(lang, config={"nlp": {"tokenizer": tokenizer}})
    options = {name: value for name in _FIELDS if (value := getattr(given, name)) is not None}
    if "label" in options and len(given.label) == 1:
        [options["label"]] = given.label
    if given.format in FORMATS:
        options |= {"kind": given.kind, "entities": not given.pos, "strict": given.strict}
    elif options or given.kind or given.pos:
        raise InputError(
            f"{given.format} is a dataset, which defines its own fields: leave --kind, --pos, --text ... out"
        )
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", StrayTagWarning)
        docs, problems = read(given.format, given.input, nlp, split=given.split, **options)
    said = [*map(str, problems), *(f"{given.input}: {each.message}" for each in warned)]
    for line in said:
        sys.stderr.write(f"{printable(line)}\n")
    docs = docs[: given.limit or None]
    tokens, entities = sum(map(len, docs)), sum(len(doc.ents) for doc in docs)
    counts = f"{len(docs)} sentences, {tokens} tokens, {entities} entities; {len(said)} problems"
    if not docs or (given.strict and said):
        sys.stderr.write(printable(f"{given.input}: {counts}; nothing written\n"))
        return 1
    write(docs, given.output, given.force)
    sys.stdout.write(printable(f"{given.output}: {counts}\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""``python -m spacy_phonemic``: prints ready training configs, converts corpora."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from phonemic.errors import PhonemicError, message, printable
from phonemic.files.outputs import claim
from phonemic.files.writing import write_text
from phonemic.inventory import LANGUAGES
from spacy_phonemic.configs import TASKS, config_text


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; the exit status is 1 where something could not be done.

    Arguments:
        arguments: the words of the command line; None: those of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m spacy_phonemic", description="Training spaCy with PhonemicBERT.")
    commands = parser.add_subparsers(required=True)

    config = commands.add_parser("config", help="print a training config: config ner --lang zh > config.cfg")
    config.add_argument("task", choices=TASKS)
    config.add_argument("--lang", choices=LANGUAGES, default="vi")
    config.add_argument("--output", type=Path, help="write it into this file instead")
    config.add_argument("--force", action="store_true", help="replace a file that is there")
    config.set_defaults(run=_config)

    convert = commands.add_parser("convert", help="convert a corpus: convert conllu train.conllu train.spacy --lang vi")
    convert.add_argument("format", choices=("conllu", "conll", "weibo", "cluener"))
    convert.add_argument("input", type=Path)
    convert.add_argument("output", type=Path, help="a .spacy file")
    convert.add_argument("--lang", choices=LANGUAGES, required=True)
    convert.add_argument("--limit", type=int, default=0, help="the first sentences only, this many; 0: all")
    convert.add_argument("--strict", action="store_true", help="write nothing, exit 1, where a line could not be used")
    convert.add_argument("--force", action="store_true", help="replace a file that is there")
    convert.set_defaults(run=_convert)

    given = parser.parse_args(arguments)
    try:
        claim([given.output], given.force, [given.input] if "input" in given else ())
        status: int = given.run(given)
    except (PhonemicError, OSError) as error:
        sys.stderr.write(f"{printable(message(error))}\n")
        return 1
    return status


def _config(given: argparse.Namespace) -> int:
    text = config_text(given.task, given.lang)
    if given.output is None:
        sys.stdout.write(text)
    else:
        given.output.parent.mkdir(parents=True, exist_ok=True)
        write_text(given.output, text, given.force)
    return 0


def _convert(given: argparse.Namespace) -> int:
    import spacy

    from spacy_phonemic.convert import FORMATS, write

    tokenizer = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}
    nlp = spacy.blank(given.lang, config={"nlp": {"tokenizer": tokenizer}})
    try:
        docs, problems = FORMATS[given.format](given.input, nlp)
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(printable(f"{given.input}: cannot be read: {error}\n"))
        return 1
    for problem in problems:
        sys.stderr.write(f"{printable(str(problem))}\n")
    docs = docs[: given.limit or None]
    tokens, entities = sum(map(len, docs)), sum(len(doc.ents) for doc in docs)
    counts = f"{len(docs)} sentences, {tokens} tokens, {entities} entities; {len(problems)} problems"
    doubtful = 2 * len(problems) > tokens
    if not docs or doubtful or (given.strict and problems):
        hint = f"; is it {given.format}?" if doubtful else ""
        sys.stderr.write(printable(f"{given.input}: {counts}; nothing written{hint}\n"))
        return 1
    write(docs, given.output, given.force)
    sys.stdout.write(printable(f"{given.output}: {counts}\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

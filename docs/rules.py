"""Check how pages and sources are written: ``python docs/rules.py [FILES]``. CONTRIBUTING.md explains the rules.

Pages: words that have a better one, prose lines over 140 characters, sentences over 35 words, headings that repeat,
commit hashes in sentences, pages over their length. Sources: the same words in comments, docstrings and messages.
Docstrings must not begin with What, Of, Those or Whose.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".cfg", ".pxd", ".py", ".pyi", ".pyx", ".toml", ".yml"}
FOLDERS = ("phonemic", "model", "nltk_phonemic", "spacy_phonemic", "benchmarks", "docs", "examples", "tests")
LINE, SENTENCE, WORDS = 140, 35, 600
#: Words of prose that a page may have, where it is not 600.
LENGTHS = {
    "docs/index.md": 200,
    "docs/install.md": 150,
    "docs/quickstart.md": 500,
    "docs/tutorials/*": 500,
    "README.md": 500,
    "CHANGELOG.md": 900,
    "CONTRIBUTING.md": 2000,
    "SECURITY.md": 1500,
    "docs/reference/commands.md": 2000,
}
#: Patterns of our own dialect, and what to write.
INSTEAD = {
    r"updates(?! of\b)": "steps",
    r"processor (time|s)\b|time of the processor|seconds of the processor|time of a core|processor's time": "CPU time",
    r"by the clock": "wall-clock time",
    r"\b(bits?|calls?|lines?|MB|nats?|panels?|rows?|tokens?) an? "
    r"(call|character|language|line|masked|position|run|second|syllable|text|token)": "per",
    r"\btells? what\b": "shows, estimates",
    r"\ba (line|row|file|position) each\b": "one line per",
    r"numbers that are none|are not numbers": "NaN",
    r"what seeds differ by": "the standard deviation across seeds",
    r"level with\b": "on par with",
    r"(?<!sound )(?<!look-)\balike\b": "under the same conditions",
    r"\bbeside\b": "compared with, next to",
    r"\b(a|an|two|three) (tenth|fifth|quarter|third|half|sixth)s? of a (bit|point)": "the figure",
    r"rises no more": "early stopping on the development set",
    r"\bthe teacher (says|speaks)|\btaught\b": "distilled",
    r"\brivals?\b": "baseline",
    r"\bneighbours \(3\)|\b(three|3|five) neighbours\b": "convolution, kernel size 3",
    r"\bpossible syllables\b": "full syllable inventory",
    r"\blost marks\b": "missing diacritics",
    r"words that decide": "lexicon overrides",
    r"(?<![Tt]here )\bis (no|none of)\b(?! (longer|more|release|text|such|published)\b)": "is not a",
    r"\bmended\b": "fixed",
    r"\bof (before|then)\b(?! version)": "nothing: it belongs to the experiments log",
    r"\bdata sets?\b": "dataset",
    r"\bthose that\b": "the thing",
    r"\b(stands(?! (in )?for\b)|lies|goes on|comes along|come along)\b": "is, continues, ships with",
    r"\b(was|were|is|are) asked for\b|\bthe aim\b|\bwas the target\b": "nothing: no targets",
    r"(?:^|[.!] )What (?![^.!]*\?)": "the thing, as a subject",
}
#: A comment, or a string of Python, Cython and TOML.
PIECE = re.compile(
    r"""\#[:!]?[ ]?(?P<comment>[^\n]*)
    |[a-zA-Z]{,2}(?P<quote>\"{3}|\'{3}|"|')(?P<string>(?:\\.|(?!(?P=quote)).)*)(?P=quote)""",
    re.DOTALL | re.VERBOSE,
)
HASH = re.compile(r"\bcommits? [0-9a-f]{7,40}\b|(?<![\w.])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7}(?![\w.])")


def prose(text: str) -> list[tuple[int, str]]:
    """Return the numbered lines of prose: no code, tables, comments, HTML, front matter or generated parts."""
    found, skipped = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        if skipped:
            if re.match(skipped, line):
                skipped = ""
            continue
        if line.startswith("```"):
            skipped = "```"
        elif number == 1 and line == "---":
            skipped = "---"
        elif mark := re.match(r"<!-- (?:generated: (.*)|table: .*) -->", line):
            skipped = f"<!-- end of {mark[1] or 'table'} -->"
        elif not re.match(r"\||<!--|<div|:::|    ", line):
            found.append((number, line))
    return found


def plain(line: str) -> str:
    """Return a line without code, links and pictures."""
    line = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", line)
    line = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
    return re.sub(r"`+[^`]*`+", lambda code: "CODE" + "\n" * code[0].count("\n"), line)


def sentences(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a page with the line that each paragraph begins at."""
    paragraph, start = "", 0
    for number, line in [*lines, (0, "")]:
        begins = re.match(r"\s*(- |\d+\. |#)", line)
        if not line.strip() or begins:
            for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z*\d\u3400-\u9fff])", paragraph):
                if sentence:
                    yield start, sentence
            paragraph, start = "", number
        if line.strip() and not line.startswith("#"):
            paragraph, start = f"{paragraph} {plain(line).strip()}".strip(), start or number


def words(text: str) -> int:
    """Return the number of words of prose, headings included."""
    return sum(len(plain(line).split()) for _, line in prose(text))


def problems(name: str, text: str) -> Iterator[str]:
    """Yield the problems of a page as lines that begin with its name."""
    log = name.startswith("docs/experiments/")
    lines = prose(text)
    for number, line in lines:
        if len(line) > LINE:
            yield f"{name}:{number}: {len(line)} characters, at most {LINE}"
        if HASH.search(plain(line)):
            yield f"{name}:{number}: a commit in a sentence"
    headings = [line for _, line in lines if line.startswith("#")]
    for heading in sorted({one for one in headings if headings.count(one) > 1}):
        yield f"{name}: the heading {heading!r} repeats"
    if log:
        return
    for number, sentence in sentences(lines):
        if (length := len(sentence.split())) > SENTENCE:
            yield f"{name}:{number}: a sentence of {length} words, at most {SENTENCE}: {sentence[:60]}..."
    yield from card_problems(name, text)
    limit = next((most for page, most in LENGTHS.items() if Path(name).match(page)), WORDS)
    if (count := words(text)) > limit:
        yield f"{name}: {count} words of prose, at most {limit}"


def card_problems(name: str, text: str) -> Iterator[str]:
    """Yield the words of a page that have a better one: in prose, tables and alt texts."""
    kept, generated = {number for number, _ in prose(text)}, _generated(text)
    for number, line in enumerate(text.splitlines(), 1):
        if number not in generated and (number in kept or line.startswith("|")):
            yield from told(name, number, plain(line.replace("![", "[")))


def told(name: str, number: int, text: str) -> Iterator[str]:
    """Yield the words of a text that have a better one; its first line has the number."""
    flat = text.replace("\n", " ")
    for pattern, better in INSTEAD.items():
        for found in re.finditer(pattern, flat):
            yield f"{name}:{number + text.count(chr(10), 0, found.start())}: {found[0].strip()!r}: write {better}"


def pieces(source: str) -> list[tuple[int, str, str]]:
    """Return the comments and strings of a source: the number of the first line, ``#`` or the quote, and the text.

    Adjacent comments are one, and so are adjacent strings.
    """
    found: list[tuple[int, str, str]] = []
    end = 0
    for piece in PIECE.finditer(source):
        mark, text = piece["quote"] or "#", piece["comment"] or piece["string"] or ""
        if mark != "#":
            text = re.sub(r"\{[^{}]*\}", "CODE", text.replace(r"\n", " "))
        number, between = source.count("\n", 0, piece.start()) + 1, source[end : piece.start()]
        if found and (found[-1][1] == "#") == (mark == "#") and not between.strip():
            number, mark, before = found.pop()
            text = before + "\n" * between.count("\n") + text
        found.append((number, mark, text))
        end = piece.end()
    return found


def source_problems(name: str, source: str) -> Iterator[str]:
    """Yield the words of comments, docstrings and messages that have a better one, and docstrings that begin wrongly.

    Strings are left out where nobody reads them: in tests, without a space, and in YAML, configs and the Makefile.
    """
    if name.endswith((".py", ".pyi", ".pyx", ".pxd", ".toml")):
        found = pieces(source)
    else:
        lines = enumerate(source.splitlines(), 1)
        found = [(number, "#", said[1]) for number, line in lines if (said := re.search(r"(?:^|\s)# (.*)", line))]
    for number, mark, text in found:
        if mark in ("#", '"""') or (" " in text and not name.startswith("tests/")):
            yield from told(name, number, plain(re.sub(r"\n[ \t]+", "\n", text)))
        if mark == '"""' and re.match(r"(Of|Those|Whose)\b", text):
            yield f"{name}:{number}: begin with a verb or a noun phrase: {text.partition(chr(10))[0][:60]}"


def _generated(text: str) -> set[int]:
    """Return the numbers of the lines between marks."""
    found, inside = set(), False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"<!-- (table|generated): ", line):
            inside = True
        if inside:
            found.add(number)
        if line.startswith("<!-- end of"):
            inside = False
    return found


def sources() -> list[Path]:
    """Return the sources whose comments, docstrings and messages are held to the rules."""
    top = [ROOT / name for name in ("Makefile", "MANIFEST.in", "mkdocs.yml", "pyproject.toml", "setup.py")]
    found = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*") if path.suffix in SUFFIXES)
    return [*top, *(path for path in found if path != Path(__file__).resolve())]


def pages() -> list[Path]:
    """Return the pages that are held to the rules."""
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def cards() -> list[Path]:
    """Return the model cards, of which only the words are held to the rules."""
    return sorted((ROOT / "model" / "checkpoints").glob("*/README.md"))


def main() -> None:
    """Print the problems of the pages, model cards and sources."""
    found = []
    for path in [Path(name).resolve() for name in sys.argv[1:]] or [*pages(), *cards(), *sources()]:
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        check = source_problems if path.suffix != ".md" else card_problems if name.startswith("model/") else problems
        found += check(name, path.read_text("utf-8"))
    sys.stdout.write("".join(f"{problem}\n" for problem in found))
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()

"""Check how pages are written: ``python docs/rules.py [FILES]``. CONTRIBUTING.md explains the rules.

Words that have a better one, prose lines over 140 characters, sentences over 35 words, headings that repeat, commit
hashes in sentences, pages over their length. Docstrings must not begin with What, Of, Those or Whose.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
    r"processor time|time of the processor|seconds of the processor|time of a core|processor's time": "CPU time",
    r"by the clock": "wall-clock time",
    r"bits an? (character|syllable)": "bits per character",
    r"\ba (line|row|file|position) each\b": "one line per",
    r"numbers that are none|are not numbers": "NaN",
    r"what seeds differ by": "the standard deviation across seeds",
    r"level with\b": "on par with",
    r"\balike\b": "under the same conditions",
    r"\bbeside\b": "compared with, next to",
    r"\b(a|an|two|three) (tenth|fifth|quarter|third|half|sixth)s? of a (bit|point)": "the figure",
    r"rises no more": "early stopping on the development set",
    r"\bthe teacher (says|speaks)|\btaught\b": "distilled",
    r"\brivals?\b": "baseline",
    r"\bneighbours \(3\)|\b(three|3|five) neighbours\b": "convolution, kernel size 3",
    r"\bpossible syllables\b": "full syllable inventory",
    r"\blost marks\b": "missing diacritics",
    r"words that decide": "lexicon overrides",
    r"\bis (no|none of)\b(?! (longer|more|release|text|such|published)\b)": "is not a",
    r"\bmended\b": "fixed",
    r"\bof (before|then)\b(?! version)": "nothing: it belongs to the experiments log",
    r"\bdata sets?\b": "dataset",
    r"\bthose that\b": "the thing",
    r"\b(stands|lies|goes on|comes along|come along)\b": "is, continues, ships with",
    r"\b(was|were|is|are) asked for\b|\bthe aim\b|\bwas the target\b": "nothing: no targets",
    r"(?:^|[.!] )What (?![^.!]*\?)": "the thing, as a subject",
}
HASH = re.compile(r"\bcommits? [0-9a-f]{7,40}\b|(?<![\w.])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7}(?![\w.])")


def prose(text: str) -> list[tuple[int, str]]:
    """Return the numbered lines of prose: no code, tables, comments, front matter or generated parts."""
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
        elif not re.match(r"\||<!--|:::|    ", line):
            found.append((number, line))
    return found


def plain(line: str) -> str:
    """Return a line without code, links and pictures."""
    line = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", line)
    line = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
    return re.sub(r"`[^`]*`", "CODE", line)


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
    kept, generated = {number for number, _ in lines}, _generated(text)
    for number, line in enumerate(text.splitlines(), 1):
        if number in generated or not (number in kept or line.startswith("|")):
            continue
        for pattern, better in INSTEAD.items():
            if found := re.search(pattern, plain(line)):
                yield f"{name}:{number}: {found[0].strip()!r}: write {better}"
    limit = next((most for page, most in LENGTHS.items() if Path(name).match(page)), WORDS)
    if (count := words(text)) > limit:
        yield f"{name}: {count} words of prose, at most {limit}"


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


def docstrings(name: str, text: str) -> Iterator[str]:
    """Yield the docstrings of a module's source that do not begin with a verb or a noun phrase."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            said = ast.get_docstring(node) or ""
            if re.match(r"(What|Of|Those|Whose)\b", said):
                line = getattr(node, "lineno", 1)
                yield f"{name}:{line}: begin with a verb or a noun phrase: {said.partition(chr(10))[0][:60]}"


def modules() -> list[Path]:
    """Return the modules whose docstrings are held to the rules."""
    folders = ("phonemic", "model/phonemic_bert", "nltk_phonemic", "spacy_phonemic", "benchmarks", "docs")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def pages() -> list[Path]:
    """Return the pages that are held to the rules."""
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> None:
    """Print the problems of the pages and docstrings."""
    found = []
    for page in [Path(name).resolve() for name in sys.argv[1:]] or [*pages(), *modules()]:
        name = page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name
        check = docstrings if page.suffix == ".py" else problems
        found += check(name, page.read_text("utf-8"))
    sys.stdout.write("".join(f"{problem}\n" for problem in found))
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()

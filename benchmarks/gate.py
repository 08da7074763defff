"""Counts the instructions of the core's loops for fixed texts, and compares them with those kept in gate.json.

    python benchmarks/gate.py             fails where a count has grown by more than 2 %, or does not grow linearly
    python benchmarks/gate.py --record    writes the counts of this build to gate.json

Counts do not depend on the load of the machine. They do depend on the compiler and the processor's architecture, so
they are kept by both. Needs valgrind.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

from phonemic.native import _batch

HERE = Path(__file__).parent
KEPT = HERE / "gate.json"
TOLERANCE = 0.02
#: How much more a character of a text of twice the length may cost. A cost that grows with the square doubles it; the
#: rest is the text's other half, and what a call costs whatever its length.
LINEAR = 1.25
#: Characters of the shorter text; the longer one is twice that.
SIZE = 20_000
#: The core's method that encodes, as the compiled module names them.
CALLS = rb"__pyx_pw_\w+_4Work_\d+run_alone"


def texts() -> dict[str, tuple[str, list[str]]]:
    """Case -> (language, the text in rows); the same on every machine."""
    from pypinyin.phrases_dict import phrases_dict

    from phonemic import vietnamese

    choose = random.Random(20)
    examples = HERE.parent / "examples"
    lines = {
        lang: (examples / f"sentences-{lang}.txt").read_text(encoding="utf-8").splitlines() for lang in ("vi", "zh")
    }
    rare = sorted(vietnamese.spellings())
    phrases = sorted(phrases_dict)
    plain = {"vi": "", "zh": ""}
    while len(plain["vi"]) < 2 * SIZE:
        plain["vi"] += choose.choice(lines["vi"]) + " " + " ".join(choose.sample(rare, 2)) + ". "
    while len(plain["zh"]) < 2 * SIZE:
        plain["zh"] += choose.choice(lines["zh"]) + "".join(choose.sample(phrases, 4)) + "，"
    letters = "".join(choose.choices("abcdeghiklmnopqrstuvxy", k=2 * SIZE))
    prefixes = "".join(phrase[:-1] for phrase in choose.sample(phrases, SIZE))
    whole = {
        "vi": ("vi", plain["vi"]),
        "vi, upper case": ("vi", plain["vi"].upper()),
        "vi, decomposed (NFD)": ("vi", unicodedata.normalize("NFD", plain["vi"])),
        "vi, letters without a space": ("vi", letters),
        "vi, no word a syllable": ("vi", re.sub("(.{6})", r"\1 ", letters)),
        "vi, marks alone": ("vi", "\u0301\u0323" * SIZE),
        "zh": ("zh", plain["zh"]),
        "zh, beginnings of phrases": ("zh", prefixes),
        "zh, one phrase's beginning": ("zh", "一" * 2 * SIZE),
        "zh, letters": ("zh", letters),
    }
    return {case: (lang, re.findall(f".{{1,{SIZE}}}", text[: 2 * SIZE])) for case, (lang, text) in whole.items()}


def run(path: str) -> None:
    """The calls that are counted, in the order of ``WAYS``."""
    import pyarrow as pa

    from phonemic import Tokenizer, arrow

    for lang, rows in json.loads(Path(path).read_text(encoding="utf-8")).values():
        tokenizer, joined = Tokenizer(lang), "".join(rows)
        tokenizer.encode_batch([joined])  # these two are not counted
        arrow.encode(pa.array([joined]), tokenizer)
        tokenizer.encode_batch([joined[:SIZE]])
        tokenizer.encode_batch([joined])
        tokenizer.encode_batch([joined], spans=True)
        arrow.encode(pa.array([joined]), tokenizer)


WAYS = ("half the text", "list of str", "with spans", "Arrow")
#: The first calls of a case are not counted: what they cost depends on the memory that the system happens to hand out,
#: and they learn what later batches remember.
NOT_COUNTED = 2
CALLS_A_CASE = NOT_COUNTED + len(WAYS)


def count() -> dict[str, dict[str, float]]:
    """Case -> way -> instructions for one character."""
    cases = texts()
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder, "texts.json")
        inputs.write_text(json.dumps(cases), encoding="utf-8")
        names = sorted({name.decode() for name in re.findall(CALLS, Path(_batch.__file__).read_bytes())})
        # --dump-after takes no wildcard, and a function named to both options is not counted: hence the two spellings.
        tool = ["valgrind", "--tool=callgrind", "--toggle-collect=__pyx_pw_*_4Work_*run_alone"]
        tool += [f"--dump-after={name}" for name in names] + [f"--callgrind-out-file={folder}/out"]
        command = [*tool, sys.executable, __file__, "--run", str(inputs)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"the counted run failed:\n{done.stderr[-2000:]}")
        files = [Path(folder, f"out.{number + 1}") for number in range(len(cases) * CALLS_A_CASE)]
        totals = [int(*re.findall(r"^summary: (\d+)", file.read_text(), re.MULTILINE)) for file in files]
    counts = iter(total for number, total in enumerate(totals) if number % CALLS_A_CASE >= NOT_COUNTED)
    return {case: {way: next(counts) / (SIZE if way == WAYS[0] else 2 * SIZE) for way in WAYS} for case in cases}


def build() -> str:
    """The versions that the counts depend on."""
    text = Path(_batch.__file__).read_bytes()
    compiler = re.search(rb"(GCC: \([^)]*\) [\d.]+|clang version [\d.]+)", text)
    return f"{platform.machine()}, {compiler.group(1).decode() if compiler else 'unknown compiler'}"


def problems(counts: dict[str, dict[str, float]], kept: dict[str, dict[str, float]]) -> list[str]:
    """The problems of the counts, one line per problem."""
    found = []
    for case, ways in counts.items():
        if ways["list of str"] > LINEAR * ways["half the text"]:
            found.append(
                f"{case}: {ways['half the text']:.2f} instructions a character for a text, "
                f"{ways['list of str']:.2f} for one of twice the length: not linear"
            )
        for way, number in ways.items():
            before = kept.get(case, {}).get(way)
            if before and number > before * (1 + TOLERANCE):
                found.append(f"{case}, {way}: {number:.2f} instructions a character, were {before:.2f}")
    return found


def main() -> None:
    """Counts, prints a table, and compares or records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="keep the counts in gate.json")
    parser.add_argument("--run", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run)
        return
    if not shutil.which("valgrind"):
        raise SystemExit("needs valgrind, which counts the instructions: install it (Debian: apt-get install valgrind)")
    counts, here = count(), build()
    everything = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept = everything.get(here, {})
    print(f"Instructions a character ({here}); in brackets the change against gate.json, in per cent\n")
    print(f"{'':30}" + "".join(f"{way:>22}" for way in WAYS))
    for case, ways in counts.items():
        cells = []
        for way, number in ways.items():
            before = kept.get(case, {}).get(way)
            cells.append(f"{number:.2f}" + (f" ({100 * (number / before - 1):+.1f})" if before else " (new)"))
        print(f"{case:30}" + "".join(f"{cell:>22}" for cell in cells))
    if options.record:
        everything[here] = {case: {way: round(n, 3) for way, n in ways.items()} for case, ways in counts.items()}
        KEPT.write_text(json.dumps(everything, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        print(f"\nRecorded in {KEPT.name}.")
        kept = {}
    elif not kept:
        print(f"\n{KEPT.name} has no counts for this compiler; keep these with --record.")
    found = problems(counts, kept)
    if found:
        raise SystemExit("\n" + "\n".join(found))


if __name__ == "__main__":
    main()

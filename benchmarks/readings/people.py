"""How the families of people in CLUENER and Weibo are read: those of ``names.FAMILIES``.

``python -m benchmarks.readings.people DATA``. Left out are transliterations of 盖 (盖茨, 盖蒂), 单车 and 解解, who are
called so, and 华佗, whose name is a word of pypinyin's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.readings.cpp import Case, normal
from benchmarks.readings.judge import context_reader, pypinyin_reader
from benchmarks.readings.names import FAMILIES

LEFT_OUT = frozenset(("单车", "解解", "华佗"))
LONGEST = 4


def cluener(folder: Path) -> Iterator[tuple[str, int, int]]:
    """A text, and where a name in it begins and ends."""
    for part in ("train", "dev"):
        for line in (folder / f"{part}.json").read_text("utf-8").splitlines():
            row = json.loads(line)
            for spans in row["label"].get("name", {}).values():
                yield from ((row["text"], begin, last + 1) for begin, last in spans)


def weibo(folder: Path) -> Iterator[tuple[str, int, int]]:
    """The same: a line has a character, its number in the word, and its tag; empty lines end texts."""
    for part in ("dev", "test"):
        text, tags = "", list[str]()
        for line in [*(folder / f"weiboNER_2nd_conll.{part}").read_text("utf-8").splitlines(), ""]:
            if line:
                text, tags = text + line[0], [*tags, line.split("\t")[-1]]
                continue
            for begin in (at for at, tag in enumerate(tags) if tag == "B-PER.NAM"):
                end = begin + 1
                while end < len(tags) and tags[end] == "I-PER.NAM":
                    end += 1
                yield text, begin, end
            text, tags = "", []


def cases(data: Path) -> list[Case]:
    """A case for each mention that begins with a family."""
    found = dict[tuple[str, int], Case]()
    for text, begin, end in [*cluener(data / "zh" / "cluener"), *weibo(data / "zh" / "weibo_ner")]:
        family = text[begin]
        if family in FAMILIES and family != "盖" and 2 <= end - begin <= LONGEST and text[begin:end] not in LEFT_OUT:
            found[text, begin] = Case(text, begin, FAMILIES[family])
    return list(found.values())


def main() -> None:
    """Prints how many are right, and ours that are not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    judged = cases(parser.parse_args().data)
    for name, reader in (("pypinyin", pypinyin_reader), ("context", context_reader)):
        wrong = [case for case in judged if normal(reader(case.text)[case.at]) != case.reading]
        print(f"{name}: {len(judged) - len(wrong)} of {len(judged)}")
    print(*(case.text[max(0, case.at - 5) : case.at + 6] for case in wrong), sep="\n")


if __name__ == "__main__":
    main()

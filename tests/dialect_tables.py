"""The tables of docs/reference/dialects.md, from the rules: ``python tests/dialect_tables.py`` writes them anew."""

from collections import defaultdict
from pathlib import Path

from phonemic.inventory import EMPTY
from phonemic.writing.dialects import DIALECTS, rules

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "dialects.md"
_WHERE = {"": "", "glide": "before a glide", "open": "in an open syllable"}


def tables():
    """Marker -> Markdown."""
    found = {dialect: merged(number) for number, dialect in enumerate(DIALECTS)}
    rows = [
        f"| {rule.part} | {shown(rule.symbol)} | {_WHERE[rule.where]} | {' | '.join(map(shown, rule.sounds))} | {rule.note} |"
        for rule in rules()
    ]
    found["all"] = "\n".join(
        [
            "| part | spelling's | where | Hà Nội | Huế | Sài Gòn | |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *rows,
        ]
    )
    return found


def shown(symbol):
    return {"": "nothing", EMPTY: "none"}.get(symbol, symbol)


def merged(number):
    """Spellings that a dialect merges."""
    lines = ["| part | sound | of the spelling's |", "| --- | --- | --- |"]
    for part in ("onset", "rime", "tone"):
        alike = defaultdict(list)
        for rule in rules():
            if rule.part == part and not rule.where:
                alike[rule.sounds[number]].append(shown(rule.symbol))
        lines += [
            f"| {part} | {sound} | {', '.join(symbols)} |" for sound, symbols in alike.items() if len(symbols) > 1
        ]
    return "\n".join(lines)


def filled(page):
    """The page with the tables between its markers."""
    for marker, table in tables().items():
        begin, end = f"<!-- generated: {marker} -->", f"<!-- end of {marker} -->"
        head, _, rest = page.partition(begin)
        page = f"{head}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")

"""Examples and errors on a terminal: a line a position, errors marked by a sign and by colour."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from phonemic.inventory import EMPTY
from phonemic_bert.inspection.confusions import Confusions
from phonemic_bert.inspection.examples import Example, Reading
from phonemic_bert.inspection.masking import Candidate, Guess, Masked
from phonemic_bert.inspection.nearest import Neighbour

RIGHT, WRONG = "✓", "✗"

#: Labels that a table of labels by labels is shown for at most, and confusions that are listed.
TABLE_LABELS, LISTED = 12, 20

_WIDE = 200
_RED, _GREEN, _DIM = "bold red", "green", "dim"


def console() -> Console:
    """Standard output; where that is no terminal, wide."""
    made = Console(markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = _WIDE
    return made


def visible(text: str) -> str:
    """A text with its control characters written out."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def probability(share: float) -> str:
    """Two digits: ``.93``; ``1.0`` and ``<.01`` at the ends."""
    return "1.0" if share >= 0.995 else "<.01" if share < 0.005 else f"{share:.2f}"[1:]


def guess_text(guess: Guess) -> str:
    """``t .93``; ``t .12 → k .40`` where another symbol is likelier; ``→ k .40`` where nothing stands there."""
    best = f"→ {symbol(guess.best)} {probability(guess.best_probability)}"
    if guess.true is None or guess.probability is None:
        return best
    own = f"{symbol(guess.true)} {probability(guess.probability)}"
    return own if guess.true == guess.best else f"{own} {best}"


def symbol(name: str) -> str:
    """A symbol as it is shown: ∅ where a component is empty."""
    return "∅" if name == EMPTY else name


def candidate_text(one: Candidate) -> str:
    """``tôi .83``; Mandarin with characters: ``shì 是事 .40``."""
    characters = f" {''.join(one.characters[:2])}" if one.characters else ""
    return f"{one.syllable}{characters} {probability(one.score)}"


def neighbour_text(one: Neighbour) -> str:
    """``tối .91``; Mandarin with characters."""
    characters = f" {''.join(one.characters[:2])}" if one.characters else ""
    return f"{one.syllable}{characters} {one.cosine:.2f}"


def true_text(masked: Masked) -> str:
    """The share that the true syllable has among the real ones, and its rank."""
    if masked.score is None or masked.rank is None:
        return ""
    return f"{probability(masked.score)} #{masked.rank}"


def best_of(masked: Masked | None, kind: str) -> tuple[Candidate, ...]:
    """The best syllables; none where a character of the fallback stands, with which they do not compete."""
    return masked.best if masked is not None and kind != "fallback" else ()


def annotation(value: Any, text: str = "") -> str:
    """A gold or predicted annotation in one line."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return visible(value) or "(nothing)"
    parts = []
    for one in value:
        if isinstance(one, str):
            parts.append(one)
        elif len(one) == 3:
            parts.append(f"{text[one[0] : one[1]]} [{one[2]}]")
        else:
            parts.append(one[0] if one[1] is None else f"{one[0]}#{one[1]}")
    return visible(" · ".join(parts)) or "(nothing)"


def print_example(to: Console, example: Example) -> None:
    """One example: its annotation, then its positions."""
    mark = {True: f" {RIGHT}", False: f" {WRONG}", None: ""}[example.correct]
    for number, reading in enumerate(example.readings):
        head = f"{example.line}{'b' if number else ''}  {visible(reading.text)}"
        to.print(Text(head, "bold"))
    for name, value in example.notes.items():
        to.print(Text(f"{name}: {visible(str(value))}"))
    text = example.readings[0].text
    if example.gold is not None:
        to.print(Text(f"gold:      {annotation(example.gold, text)}"))
    if example.predicted is not None:
        style = _RED if example.correct is False else _GREEN if example.correct else ""
        to.print(Text(f"predicted: {annotation(example.predicted, text)}{mark}", style))
    if example.probabilities:
        shown = [f"{label} {probability(share)}" for label, share in list(example.probabilities.items())[:5]]
        to.print(Text(f"labels:    {' · '.join(shown)}"))
    for reading in example.readings:
        to.print(_table(reading))


def _table(reading: Reading) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    columns: list[tuple[str, Callable[[int], Text]]] = [
        ("#", lambda at: Text(str(at + 1), _DIM)),
        ("text", lambda at: Text(visible(reading.positions[at].syllable.text))),
    ]
    columns += [(name, partial(_component, reading, name)) for name in ("onset", "rime", "tone")]
    if reading.masked is not None:
        columns += [("true (rank)", partial(_true, reading)), ("best syllables", partial(_best, reading))]
    if (gold := reading.gold) is not None:
        columns.append(("gold", lambda at: Text(visible(gold[at]))))
    if reading.predicted is not None:
        columns.append(("predicted", partial(_predicted, reading)))
    if (nearest := reading.nearest) is not None:
        columns.append(("nearest syllables", lambda at: _joined(nearest[at] or (), neighbour_text)))
    for name, _ in columns:
        table.add_column(name, overflow="fold")
    for at in range(len(reading.positions)):
        table.add_row(*(cell(at) for _, cell in columns))
    return table


def _component(reading: Reading, name: str, at: int) -> Text:
    masked = reading.masked[at] if reading.masked else None
    if masked is not None:
        guess: Guess = getattr(masked, name)
        return Text(guess_text(guess), _RED if guess.true not in (None, guess.best) else "")
    position = reading.positions[at]
    if position.kind == "native":
        return Text(getattr(position.syllable, name) or "∅")
    return Text(position.kind if name == "onset" else "", _DIM)


def _true(reading: Reading, at: int) -> Text:
    masked = reading.masked[at] if reading.masked else None
    return Text(true_text(masked) if masked else "")


def _best(reading: Reading, at: int) -> Text:
    masked = reading.masked[at] if reading.masked else None
    return _joined(best_of(masked, reading.positions[at].kind), candidate_text)


def _predicted(reading: Reading, at: int) -> Text:
    label = (reading.predicted or [])[at]
    if reading.gold is None or label == reading.gold[at]:
        return Text(visible(label))
    return Text(f"{visible(label) or '–'} {WRONG}", _RED)


def _joined(items: Any, write: Callable[[Any], str]) -> Text:
    return Text(" · ".join(map(write, items)))


def print_confusions(to: Console, found: Confusions) -> None:
    """The counts, the table of labels by labels where they are few, and the most frequent errors."""
    to.print(Text(f"{found.texts} texts, {found.wrong_texts} of them with an error", "bold"))
    to.print(Text(" · ".join(f"{name} {count}" for name, count in found.outcomes.items())))
    rows, columns = labels_of(found)
    if 1 < len(columns) <= TABLE_LABELS and len(rows) <= TABLE_LABELS:
        table = Table(title="gold by predicted", title_justify="left", box=SIMPLE_HEAD)
        table.add_column("gold \\ predicted", overflow="fold")
        for name in columns:
            table.add_column(visible(name) or "(missed)", justify="right", overflow="fold")
        for gold in rows:
            counts = found.table.get(gold, {})
            cells = [
                Text(str(counts.get(name, 0) or "·"), "" if name == gold else _RED if counts.get(name) else _DIM)
                for name in columns
            ]
            table.add_row(Text(visible(gold) or "(spurious)"), *cells)
        to.print(table)
    if not found.frequent:
        return
    table = Table(title="most frequent errors", title_justify="left", box=SIMPLE_HEAD)
    for name in ("count", "error", "gold", "predicted", "examples (line: text)"):
        table.add_column(name, overflow="fold", justify="right" if name == "count" else "left")
    for one in found.frequent[:LISTED]:
        places = " · ".join(f"{line}: {text}" if text else str(line) for line, text in one.examples)
        row = (str(one.count), one.outcome, one.gold or "–", one.predicted or "–", places)
        table.add_row(*(Text(visible(text)) for text in row))
    to.print(table)
    if len(found.frequent) > LISTED:
        to.print(Text(f"and {len(found.frequent) - LISTED} rarer kinds of error (--json has all)", _DIM))


def labels_of(found: Confusions) -> tuple[list[str], list[str]]:
    """Gold and predicted labels for a table of them, the commonest first, "" last."""
    sums: dict[str, int] = {}
    for gold, row in found.table.items():
        for predicted, count in row.items():
            sums[gold] = sums.get(gold, 0) + count
            sums[predicted] = sums.get(predicted, 0) + count
    order = sorted(sums, key=lambda name: (name == "", -sums[name], name))
    predicted_names = {name for row in found.table.values() for name in row}
    rows = [name for name in order if name in found.table]
    return rows, [name for name in order if name in predicted_names or (name and name in found.table)]

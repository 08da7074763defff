"""Examples and errors on a terminal: one line per position, errors marked by a sign and by colour."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from phonemic_bert.inspection.confusions import Confusions
from phonemic_bert.inspection.examples import AnnotatedText, Example
from phonemic_bert.inspection.masking import Guess
from phonemic_bert.inspection.wording import (
    LISTED,
    RIGHT,
    TABLE_LABELS,
    WRONG,
    annotation,
    best_of,
    candidate_text,
    guess_text,
    labels_of,
    nearest_text,
    probability,
    true_text,
    visible,
)

_RED, _GREEN, _DIM = "bold red", "green", "dim"


def print_example(to: Console, example: Example) -> None:
    """One example: its annotation, then its positions."""
    mark = {True: f" {RIGHT}", False: f" {WRONG}", None: ""}[example.correct]
    for number, annotated in enumerate(example.readings):
        head = f"{example.line}{'b' if number else ''}  {visible(annotated.text)}"
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
    for annotated in example.readings:
        to.print(_table(annotated))


def _table(annotated: AnnotatedText) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    columns: list[tuple[str, Callable[[int], Text]]] = [
        ("#", lambda at: Text(str(at + 1), _DIM)),
        ("text", lambda at: Text(visible(annotated.positions[at].syllable.text))),
    ]
    columns += [(name, partial(_component, annotated, name)) for name in ("onset", "rime", "tone")]
    if annotated.masked is not None:
        columns += [("true (rank)", partial(_true, annotated)), ("best syllables", partial(_best, annotated))]
    if (gold := annotated.gold) is not None:
        columns.append(("gold", lambda at: Text(visible(gold[at]))))
    if annotated.predicted is not None:
        columns.append(("predicted", partial(_predicted, annotated)))
    if (nearest := annotated.nearest) is not None:
        columns.append(("nearest syllables", lambda at: _joined(nearest[at] or (), nearest_text)))
    for name, _ in columns:
        table.add_column(name, overflow="fold")
    for at in range(len(annotated.positions)):
        table.add_row(*(cell(at) for _, cell in columns))
    return table


def _component(annotated: AnnotatedText, name: str, at: int) -> Text:
    masked = annotated.masked[at] if annotated.masked else None
    if masked is not None:
        guess: Guess = getattr(masked, name)
        return Text(guess_text(guess), _RED if guess.true not in (None, guess.best) else "")
    position = annotated.positions[at]
    if position.kind == "native":
        return Text(getattr(position.syllable, name) or "∅")
    return Text(position.kind if name == "onset" else "", _DIM)


def _true(annotated: AnnotatedText, at: int) -> Text:
    masked = annotated.masked[at] if annotated.masked else None
    return Text(true_text(masked) if masked else "")


def _best(annotated: AnnotatedText, at: int) -> Text:
    masked = annotated.masked[at] if annotated.masked else None
    return _joined(best_of(masked, annotated.positions[at].kind), candidate_text)


def _predicted(annotated: AnnotatedText, at: int) -> Text:
    label = (annotated.predicted or [])[at]
    if annotated.gold is None or label == annotated.gold[at]:
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

"""Examples and errors as one HTML page: no script, no style sheet, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from phonemic import drawing
from phonemic_bert.inspection.confusions import Confusions
from phonemic_bert.inspection.examples import AnnotatedPosition, AnnotatedText, Example
from phonemic_bert.inspection.masking import Masked
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

_BAD, _GOOD, _QUIET = "#b3261e", "#1b6e3c", "#66717d"
_BODY = '<div lang="{lang}" style="font: 17px/1.35 {font}; color: {color}">{parts}</div>'
_H1 = '<h1 style="font-size: 1.3em; margin: 0 0 0.8em">{}</h1>'
_EXAMPLE = '<section style="border-top: 1px solid #d5dae0; padding: 0.9em 0 0.4em">{}</section>'
_LINE = '<p style="margin: 0 0 0.35em; {look}">{text}</p>'
_POSITION = (
    '<span style="display: inline-block; vertical-align: top; text-align: center; margin: 0.3em 0.3em 0.6em 0">'
    '<span style="display: block; margin-bottom: 0.15em; white-space: pre">{text}</span>{box}{labels}</span>'
)
_LABEL = '<span style="display: block; font-size: 0.62em; {look}">{text}</span>'
_DETAILS = (
    '<details style="margin: 0 0 0.6em"><summary style="font-size: 0.75em; color: {quiet}">{name}</summary>{table}'
    "</details>"
)
_TABLE = '<table style="border-collapse: collapse; font-size: 0.78em; margin: 0.4em 0">{}</table>'
_TH = '<th style="text-align: left; padding: 0.15em 0.7em 0.15em 0; border-bottom: 1px solid #b9c2cc">{}</th>'
_TD = '<td style="padding: 0.15em 0.7em 0.15em 0; vertical-align: top; {look}">{text}</td>'


def page(title: str, lang: str, examples: Sequence[Example], found: Confusions | None, note: str = "") -> str:
    """The whole page.

    Arguments:
        title: plain text.
        lang: the language of the texts.
        examples: what to show.
        found: the errors; None leaves them out.
        note: plain text under the title.
    """
    parts = [_H1.format(escape(title))]
    if note:
        parts.append(_line(note, f"color: {_QUIET}"))
    if found is not None:
        parts.append(_errors(found))
    parts += [_example(one, lang) for one in examples]
    body = _BODY.format(lang=lang, font=drawing.FONT, color=drawing.COLOR, parts="\n".join(parts))
    return drawing.page(body, title, lang)


def _line(text: str, look: str = "") -> str:
    return _LINE.format(look=look, text=escape(visible(text)))


def _example(example: Example, lang: str) -> str:
    look = {True: f"color: {_GOOD}", False: f"color: {_BAD}; font-weight: 600", None: ""}[example.correct]
    mark = {True: f" {RIGHT}", False: f" {WRONG}", None: ""}[example.correct]
    text = example.readings[0].text
    parts = [_line(f"{example.line}", f"color: {_QUIET}; font-size: 0.75em")]
    for name, value in example.notes.items():
        parts.append(_line(f"{name}: {value}"))
    if example.gold is not None:
        parts.append(_line(f"gold: {annotation(example.gold, text)}"))
    if example.predicted is not None:
        parts.append(_line(f"predicted: {annotation(example.predicted, text)}{mark}", look))
    if example.probabilities:
        shown = [f"{label} {probability(share)}" for label, share in list(example.probabilities.items())[:5]]
        parts.append(_line(f"labels: {' · '.join(shown)}", f"color: {_QUIET}; font-size: 0.85em"))
    for annotated in example.readings:
        boxes = "".join(_position(annotated, at, one, lang) for at, one in enumerate(annotated.positions))
        parts.append(f"<div>{boxes}</div>")
        if annotated.masked is not None:
            parts.append(_details("each syllable masked in turn", _masked(annotated)))
        if annotated.nearest is not None:
            parts.append(_details("nearest syllables in embedding space", _nearest(annotated)))
    return _EXAMPLE.format("\n".join(parts))


def _position(annotated: AnnotatedText, at: int, position: AnnotatedPosition, lang: str) -> str:
    syllable = position.syllable
    native = position.kind == "native"
    box = drawing.syllable(lang, syllable.onset, syllable.rime, syllable.tone, syllable.ipa) if native else ""
    labels = []
    gold = annotated.gold[at] if annotated.gold else ""
    if gold:
        labels.append(_LABEL.format(look=f"color: {_GOOD}", text=escape(visible(gold))))
    if annotated.predicted is not None:
        label = annotated.predicted[at]
        wrong = annotated.gold is not None and label != gold
        if wrong:
            shown = escape(visible(label)) or "–"
            labels.append(_LABEL.format(look=f"color: {_BAD}; font-weight: 600", text=f"{shown} {WRONG}"))
        elif label and not gold:
            labels.append(_LABEL.format(look="", text=escape(visible(label))))
    masked = annotated.masked[at] if annotated.masked else None
    if masked is not None and masked.score is not None:
        look = f"color: {_GOOD if masked.rank == 1 else _BAD}"
        labels.append(_LABEL.format(look=look, text=escape(true_text(masked))))
    return _POSITION.format(text=escape(visible(syllable.text)), box=box, labels="".join(labels))


def _details(name: str, table: str) -> str:
    return _DETAILS.format(name=name, quiet=_QUIET, table=table)


def _rows(heads: Sequence[str], rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    """A table; a cell is its text and its look."""
    head = "".join(_TH.format(escape(visible(name))) for name in heads)
    body = "".join(
        "<tr>" + "".join(_TD.format(text=escape(visible(text)), look=look) for text, look in row) + "</tr>"
        for row in rows
    )
    return _TABLE.format(f"<tr>{head}</tr>{body}")


def _masked(annotated: AnnotatedText) -> str:
    rows = []
    for position, masked in zip(annotated.positions, annotated.masked or [], strict=True):
        if masked is not None:
            best = best_of(masked, position.kind)
            rows.append(
                [
                    (position.syllable.text, ""),
                    *_guesses(masked),
                    (true_text(masked), ""),
                    (" · ".join(map(candidate_text, best)), ""),
                ]
            )
    return _rows(("text", "onset", "rime", "tone", "true (rank)", "best syllables"), rows)


def _guesses(masked: Masked) -> list[tuple[str, str]]:
    return [
        (guess_text(guess), f"color: {_BAD}" if guess.true not in (None, guess.best) else "")
        for guess in (masked.onset, masked.rime, masked.tone)
    ]


def _nearest(annotated: AnnotatedText) -> str:
    rows = [
        [(position.syllable.text, ""), (" · ".join(map(nearest_text, nearest)), "")]
        for position, nearest in zip(annotated.positions, annotated.nearest or [], strict=True)
        if nearest
    ]
    return _rows(("text", "nearest syllables (cosine)"), rows)


def _errors(found: Confusions) -> str:
    parts = [
        _line(f"{found.texts} texts, {found.wrong_texts} of them with an error", "font-weight: 600"),
        _line(" · ".join(f"{name} {count}" for name, count in found.outcomes.items())),
    ]
    rows, columns = labels_of(found)
    if 1 < len(columns) <= TABLE_LABELS and len(rows) <= TABLE_LABELS:
        body = []
        for gold in rows:
            counts = found.table.get(gold, {})
            cells = [_count(counts.get(name, 0), name == gold) for name in columns]
            body.append([(gold or "(spurious)", ""), *cells])
        parts.append(_rows(["gold \\ predicted", *(name or "(missed)" for name in columns)], body))
    if found.frequent:
        listed = [
            [
                (str(one.count), "text-align: right"),
                (one.outcome, ""),
                (one.gold or "–", ""),
                (one.predicted or "–", ""),
                (" · ".join(f"{line}: {text}" if text else str(line) for line, text in one.examples), ""),
            ]
            for one in found.frequent[:LISTED]
        ]
        parts.append(_rows(("count", "error", "gold", "predicted", "examples (line: text)"), listed))
    return "\n".join(parts)


def _count(count: int, right: bool) -> tuple[str, str]:
    look = f"color: {_GOOD}" if right else f"color: {_BAD}; font-weight: 600" if count else f"color: {_QUIET}"
    return str(count or "·"), f"text-align: right; {look}"

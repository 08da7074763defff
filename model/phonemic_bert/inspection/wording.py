"""How figures, symbols and annotations are written, on a terminal and on a page."""

from __future__ import annotations

from typing import Any

from phonemic.errors import printable
from phonemic.inventory import EMPTY
from phonemic_bert.inspection.confusions import Confusions
from phonemic_bert.inspection.masking import Candidate, Guess, Masked
from phonemic_bert.inspection.nearest import NearestSyllable

RIGHT, WRONG = "✓", "✗"

#: Labels that a table of labels by labels is shown for at most, and confusions that are listed.
TABLE_LABELS, LISTED = 12, 20


def visible(text: str) -> str:
    """A text in one line, with its control characters written out."""
    return printable(text, keep="")


def probability(share: float) -> str:
    """Two digits, three where it is small: ``.93``, ``.004``; ``1.0`` and ``<.001`` at the ends."""
    if share >= 0.995 or share < 0.0005:
        return "1.0" if share >= 0.5 else "<.001"
    return (f"{share:.2f}" if share >= 0.0095 else f"{share:.3f}")[1:]


def guess_text(guess: Guess) -> str:
    """``t .93``; ``t .12 → k .40`` where another symbol is likelier; ``→ k .40`` where nothing is there."""
    best = f"→ {symbol(guess.best)} {probability(guess.best_probability)}"
    if guess.true is None or guess.probability is None:
        return best
    own = f"{symbol(guess.true)} {probability(guess.probability)}"
    return own if guess.true == guess.best else f"{own} {best}"


def symbol(name: str) -> str:
    """A symbol as it is shown: ∅ where a component is empty."""
    return "∅" if name == EMPTY else name


def candidate_text(one: Candidate) -> str:
    """``tôi .83``; Mandarin with characters: ``shì 是事 .40``; ``Tôi .83`` and ``是 shì .40`` of a model with forms."""
    if one.text != one.syllable:
        shown = one.text if one.text.casefold() == one.syllable else f"{one.text} {one.syllable}"
        return f"{shown} {probability(one.score)}"
    characters = f" {''.join(one.characters[:2])}" if one.characters else ""
    return f"{one.syllable}{characters} {probability(one.score)}"


def nearest_text(one: NearestSyllable) -> str:
    """``tối .91``; Mandarin with characters."""
    characters = f" {''.join(one.characters[:2])}" if one.characters else ""
    return f"{one.syllable}{characters} {one.cosine:.2f}"


def true_text(masked: Masked) -> str:
    """The share that the true syllable has among the real ones, and its rank."""
    if masked.score is None or masked.rank is None:
        return ""
    return f"{probability(masked.score)} #{masked.rank}"


def best_of(masked: Masked | None, kind: str) -> tuple[Candidate, ...]:
    """The best syllables; none where a character of the fallback is, with which they do not compete."""
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

"""The result of restoring: a text, and the changes in it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Change(NamedTuple):
    """A part of a text that was restored.

    Attributes:
        start: where it begins in the text as given, in code points.
        end: where it ends.
        before: what stood there.
        text: what is there now.
        probability: how likely that is among the alternatives, all else being as restored.
        alternatives: the likeliest, with their probabilities, the best first.
    """

    start: int
    end: int
    before: str
    text: str
    probability: float
    alternatives: tuple[tuple[str, float], ...]


class Restored(NamedTuple):
    """A restored text.

    Attributes:
        source: the text as given.
        text: the restored text.
        changes: what was changed, from left to right.
    """

    source: str
    text: str
    changes: tuple[Change, ...]

    def to_json(self) -> dict[str, Any]:
        """As a dict of what JSON can hold."""
        changes = [
            {
                "start": change.start,
                "end": change.end,
                "before": change.before,
                "text": change.text,
                "probability": round(change.probability, 4),
                "alternatives": [[text, round(share, 4)] for text, share in change.alternatives],
            }
            for change in self.changes
        ]
        return {"source": self.source, "text": self.text, "changes": changes}


def applied(source: str, changes: list[Change]) -> Restored:
    """A text with its changes."""
    pieces, at = [], 0
    for change in changes:
        pieces += [source[at : change.start], change.text]
        at = change.end
    return Restored(source, "".join([*pieces, source[at:]]), tuple(changes))

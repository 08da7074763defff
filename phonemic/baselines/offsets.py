"""Which characters of a text the pieces of what was made of it stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from phonemic.characters import plain

#: Half-open, in characters.
Span = tuple[int, int]


class Rewritten(NamedTuple):
    """A text that was made of another: of which of its characters each of the new ones is made.

    Attributes:
        starts: where the source of each character starts; then the end of the other text.
        ends: where it ends; then the end of the other text. Neither ever goes back.
    """

    starts: list[int]
    ends: list[int]

    @classmethod
    def of_starts(cls, starts: list[int], written: str = "") -> Rewritten:
        """For a rewriting that tells starts alone, the end of the other text last: a source ends where the next starts.

        A mark that SentencePiece puts before a text has no source.
        """
        ends = [starts[-1]] * len(starts)
        for at in range(len(starts) - 2, -1, -1):
            ends[at] = starts[at + 1] if starts[at + 1] > starts[at] else ends[at + 1]
        if len(starts) > 2 and written[:1] == "\u2581" and starts[1] == starts[0]:
            ends[0] = starts[0]
        return cls(starts, ends)

    @classmethod
    def of_characters(cls, text: str, rewrite: Callable[[str], str]) -> Rewritten:
        """For a rewriting of each character by itself, or so that as many characters come of it."""
        starts = [at for at, char in enumerate(text) for _ in rewrite(char)]
        return cls([*starts, len(text)], [*(at + 1 for at in starts), len(text)])

    def spans(self, spans: Iterable[Span]) -> list[Span]:
        """Spans in the new text as spans in the other one."""
        return [(self.starts[start], self.ends[end - 1] if end > start else self.starts[start]) for start, end in spans]


def cut(pieces: Sequence[str]) -> list[Span]:
    """The spans of pieces that lie one behind the other."""
    return list(pairwise(accumulate(map(len, pieces), initial=0)))


def trimmed(spans: Iterable[Span], text: str) -> list[Span]:
    """Spans without the white space at their ends, unless they hold nothing else."""
    found = []
    for start, end in spans:
        piece = text[start:end]
        before, behind = len(piece) - len(piece.lstrip()), len(piece) - len(piece.rstrip())
        found.append((start, end) if before == len(piece) else (start + before, end - behind))
    return found


def scalar(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no library takes."""
    text = plain(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def covered(spans: Iterable[Span], given: str) -> list[Span]:
    """Spans in ``scalar(given)`` as spans in ``given``, where two surrogates may have been one character."""
    starts, at = [], 0
    while at < len(given):
        starts.append(at)
        at += 2 if len(scalar(given[at : at + 2])) == 1 else 1
    return Rewritten.of_starts([*starts, len(given)]).spans(spans)

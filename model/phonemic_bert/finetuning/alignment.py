"""Gold labels to positions and back, by character offset, so that nothing of the annotation is lost on the way.

A position has one label. Where an entity begins and ends with positions that is its IOB2 tag. Where it does not, or
where entities lie in one another, the label says so:

    B-name              the position begins a name
    B-name@1:3          its characters 1 and 2 do
    I-book + B-company  it continues with a book, and begins a company in it
    None                ignored: it stands for no character of its own
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from phonemic.baselines.offsets import trimmed
from phonemic.tasks.examples import Span

#: Half-open, in characters: of a position, or of a word.
Offsets = tuple[int, int]

#: The label of a position; None where it is ignored.
Label = str | None

OUTSIDE = "O"
JOINER = " + "
_PART = re.compile(r"([BI])-(.+?)(?:@(\d+):(\d+))?", re.DOTALL)


def labels_of(spans: Iterable[Span], offsets: Sequence[Offsets]) -> list[Label]:
    """The label of each position of a text.

    Arguments:
        spans: the gold annotation, in any order.
        offsets: the characters of each position, as a tokenizer gives them; (0, 0) for a special symbol.

    Raises:
        ValueError: a label cannot be told from its notation here (it holds " + ", or ends like "@1:3").
    """
    ordered = sorted(spans, key=lambda span: (span.start, -span.end, span.label))
    for span in ordered:
        if JOINER in span.label or not (match := _PART.fullmatch(f"B-{span.label}")) or match[3]:
            raise ValueError(
                f"{span.label!r} cannot be the name of a label: it contains {JOINER!r}, or ends in numbers such as @1:3"
            )
    parts: list[list[str]] = []
    pieces = own(offsets)
    begun: set[int] = set()
    running: list[int] = []
    coming = 0
    for start, end in pieces:
        while coming < len(ordered) and ordered[coming].start < end:
            running.append(coming)
            coming += 1
        running = [at for at in running if ordered[at].end > start]
        here: list[str] = []
        for at in running if end > start else ():
            span = ordered[at]
            first, last = max(span.start, start) - start, min(span.end, end) - start
            whole = (first, last) == (0, end - start)
            here.append(f"{'I' if at in begun else 'B'}-{span.label}" + ("" if whole else f"@{first}:{last}"))
            begun.add(at)
        parts.append(here)
    return [
        (JOINER.join(here) or OUTSIDE) if end > start else None
        for here, (start, end) in zip(parts, pieces, strict=True)
    ]


def spans_of(labels: Sequence[Label], offsets: Sequence[Offsets]) -> tuple[Span, ...]:
    """The spans that labels stand for, in the order of their begins: the inverse of :func:`labels_of`.

    Labels that a model predicts need not fit: an ``I-`` that continues nothing begins a span.

    Arguments:
        labels: one per position.
        offsets: as for :func:`labels_of`.

    Raises:
        ValueError: one of them is not a label of a position.
    """
    found: list[Span] = []
    reaching: list[int] = []  # of the position before, the spans that reach its end
    for label, (start, end) in zip(labels, own(offsets), strict=True):
        if label is None or start == end:
            continue
        continued, now = set(), []
        for prefix, name, first, last in _parts(label, end - start):
            at = next((at for at in reaching if found[at].label == name and at not in continued), None)
            if prefix == "I" and first == 0 and at is not None:
                continued.add(at)
                found[at] = Span(found[at].start, start + last, name)
            else:
                at = len(found)
                found.append(Span(start + first, start + last, name))
            if last == end - start:
                now.append(at)
        reaching = sorted(now)
    return tuple(sorted(found, key=lambda span: (span.start, -span.end, span.label)))


def _parts(label: str, length: int) -> Iterator[tuple[str, str, int, int]]:
    """Prefix, name, and which of the position's characters, of each part of a label."""
    for part in () if label == OUTSIDE else label.split(JOINER):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{label!r} is not a label of a position")
        first, last = int(match[3] or 0), int(match[4] or length)
        last = min(last, length)
        if first < last:
            yield match[1], match[2], first, last


def own(offsets: Sequence[Offsets]) -> list[Offsets]:
    """The characters of each position that no position before it has; an empty span where it has none.

    They differ from the offsets where several positions stand for parts of one character (bytes, pieces of its code).

    Arguments:
        offsets: as for :func:`labels_of`.
    """
    found, behind = [], 0
    for start, end in offsets:
        begin = max(start, behind)
        found.append((begin, max(begin, end)))
        behind = max(behind, end)
    return found


def lost(spans: Iterable[Span], labels: Sequence[Label], offsets: Sequence[Offsets]) -> int:
    """The number of gold spans that do not come back from labels: the ones that even the best prediction misses.

    Arguments:
        spans: the gold annotation.
        labels: one per position.
        offsets: as for :func:`labels_of`.
    """
    wanted = Counter(spans)
    return (wanted - Counter(spans_of(labels, offsets))).total()


def word_labels(tags: Sequence[str], words: Sequence[Offsets], offsets: Sequence[Offsets]) -> list[Label]:
    """Tags of words (parts of speech, say) as labels of positions: on the first of each word; the others are ignored.

    Two words that begin in one position have their tags joined in one label. So has a word without a position of its
    own, with the word behind it.

    Arguments:
        tags: one per word.
        words: the characters of each word, in order.
        offsets: the characters of each position, as a tokenizer gives them; (0, 0) for a special symbol.

    Raises:
        ValueError: a tag holds " + ", or there are not as many tags as words.
    """
    found: dict[int, list[str]] = {}
    for tag, at in zip(tags, _firsts(words, offsets), strict=True):
        if JOINER in tag:
            raise ValueError(f"{tag!r} cannot be the name of a tag: it contains {JOINER!r}")
        if at is not None:
            found.setdefault(at, []).append(tag)
    return [JOINER.join(found[at]) if at in found else None for at in range(len(offsets))]


def word_tags_of(
    labels: Sequence[Label], words: Sequence[Offsets], offsets: Sequence[Offsets], missing: str = OUTSIDE
) -> list[str]:
    """The tag of each word, from the labels of positions: the inverse of :func:`word_labels`.

    Arguments:
        labels: one per position; the ones that no word begins in are not read.
        words: as for :func:`word_labels`.
        offsets: likewise.
        missing: the tag of a word that no position stands for.
    """
    tags, before, number = [], None, 0
    for at in _firsts(words, offsets):
        number = number + 1 if at == before else 0
        before = at
        label = None if at is None else labels[at]
        parts = label.split(JOINER) if label is not None else [missing]
        tags.append(parts[min(number, len(parts) - 1)])
    return tags


def _firsts(words: Sequence[Offsets], offsets: Sequence[Offsets]) -> list[int | None]:
    """The first position of each word; of one without any that of what follows, or the last."""
    positions = [(at, end) for at, (start, end) in enumerate(own(offsets)) if end > start]
    places, ends = [at for at, _ in positions], [end for _, end in positions]
    firsts: list[int | None] = []
    for start, _ in words:
        at = min(bisect_right(ends, start), len(places) - 1)
        firsts.append(places[at] if places else None)
    return firsts


def text_offsets(offsets: Iterable[Offsets], word_ids: Iterable[int | None], words: Sequence[Offsets]) -> list[Offsets]:
    """Offsets into given words (``is_split_into_words``) as offsets into the text of these words.

    Arguments:
        offsets: the characters of each position in its word.
        word_ids: the number of each position's word; None for a special symbol.
        words: the characters of each word in the text.
    """
    return [
        (0, 0) if word is None else (words[word][0] + start, words[word][0] + end)
        for (start, end), word in zip(offsets, word_ids, strict=True)
    ]


def bare(offsets: Iterable[Offsets], text: str) -> list[Offsets]:
    """Offsets without the white space at their ends, which some of transformers' tokenizers (DeBERTa's, say) count in.

    Without this an entity would begin within such a position. PhonemicBERT's and the baselines' offsets are so already.

    Arguments:
        offsets: the characters of each position.
        text: the text.
    """
    return trimmed(offsets, text)


class LabelSet:
    """The labels of a training set and their numbers.

    What is joined or partial in a label is rare; where the training set does not have it, the label is simplified:
    to its first part, without the characters, and at last to "O".

    Arguments:
        rows: the labels of each text's positions.
        min_count: how often a label that is joined or partial must be there to be one of its own.
    """

    def __init__(self, rows: Iterable[Iterable[Label]], min_count: int = 1) -> None:
        counts = Counter(label for row in rows for label in row if label is not None)
        plain = {self._plain(label) for label in counts}
        kept = {label for label, count in counts.items() if count >= min_count}
        self.labels = tuple(sorted(kept | plain))
        self._numbers = {label: number for number, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.labels)

    def simplify(self, label: Label) -> Label:
        """The nearest label of this set; None for a label that is ignored, and where none is near.

        Arguments:
            label: of a position.
        """
        if label is None or label in self._numbers:
            return label
        for near in (self._plain(label), OUTSIDE):
            if near in self._numbers:
                return near
        return None

    def number(self, label: Label, ignored: int = -100) -> int:
        """The number of the nearest label.

        Arguments:
            label: of a position.
            ignored: the number where there is none.
        """
        near = self.simplify(label)
        return ignored if near is None else self._numbers[near]

    @staticmethod
    def _plain(label: str) -> str:
        first = label.partition(JOINER)[0]
        match = _PART.fullmatch(first)
        return f"{match[1]}-{match[2]}" if match else first

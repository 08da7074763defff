"""The tokenizer in plain, slow Python: what ``_core.pyx`` computes, readable on one page a language.

The tests hold the core equal to this. It shares the core's rules and Unicode facts (they are data) and nothing else:
spellings are parsed by ``vietnamese.factorize``, phrases are looked up in pypinyin's own dictionaries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from phonemic import mandarin, vietnamese
from phonemic.characters import IGNORABLE, JAMO, LETTER, MARK, SPACE, WORD_BREAKS, fold, kind_of, normalize
from phonemic.inventory import SPECIALS, UNK, Triple, Vocabulary, fallback_triple, packs, vocabulary
from phonemic.lexicon.user_phrases import LONGEST_PHRASE, latin
from phonemic.reading import context
from phonemic.reading.speech import speak

#: No phrase of the lexicon is longer, and no user's.
MAX_PHRASE = LONGEST_PHRASE
_UNKNOWN = Triple(*(SPECIALS[UNK],) * 3)


class Position(NamedTuple):
    """Three symbols, the half-open span of the text they come from, the whitespace-delimited unit they lie in (-1 for
    none), and the form.
    """

    triple: Triple
    start: int
    end: int
    word: int
    form: int = 0


class Cluster(NamedTuple):
    """A character that makes a position, and the marks and ignorable characters behind it."""

    text: str
    start: int
    end: int
    word: int


def clusters(text: str, joiners: Collection[str | None]) -> Iterator[Cluster | None]:
    """The clusters of a text in order, with None where white space or one of the joiners separates."""
    word, gap = -1, True
    opened: tuple[int, int] | None = None  # where the cluster began, and in which word
    for at, char in enumerate(text):
        kind = kind_of(char)
        if kind != SPACE:
            word += gap
            gap = False
        separates = kind == SPACE or char in joiners
        if kind in (IGNORABLE, MARK, JAMO) and (opened or kind != JAMO) and not separates:
            continue
        if opened:
            yield Cluster(text[opened[0] : at], opened[0], at, opened[1])
        opened = None if separates else (at, word)
        gap = gap or kind == SPACE
        if not opened:
            yield None
    if opened:
        yield Cluster(text[opened[0] :], opened[0], len(text), opened[1])


def fallback(cluster: Cluster, vocab: Vocabulary) -> Triple:
    """(x, x, x): the cluster's first character folded, with the quality marks that make a Vietnamese letter of it.

    It is [UNK] where ``vocab`` does not have it.
    """
    symbol = fold(cluster.text[0]) or SPECIALS[UNK]
    marks = normalize("NFD", cluster.text[1:])
    for mark in sorted(marks, key=lambda mark: mark != "\u031b"):
        horned = symbol in "ôơ" and mark == "\u031b"
        symbol = "ơ" if horned else vietnamese.QUALITY_MARKS.get(mark, {}).get(symbol, symbol)
    if symbol not in vocab:
        symbol = normalize("NFD", symbol)[0].replace("đ", "d")
    if symbol not in vocab:
        symbol = SPECIALS[UNK]
    return Triple(symbol, symbol, symbol)


def packed(positions: list[Position]) -> list[Position]:
    """The packed fallback: letters that touch, or digits that touch, up to three to a position, from left to right.

    Arguments:
        positions: those of a text with a character each.
    """
    made: list[Position] = []
    held = ""  # the characters of the last position, if it may take another
    for position in positions:
        symbol = position.triple.onset
        single = symbol == position.triple.rime == position.triple.tone and symbol not in SPECIALS
        if not single or not (symbol.isalpha() or symbol.isdigit()):
            held = ""
            made.append(position)
            continue
        if held and made[-1].end == position.start and packs(held + symbol):
            held += symbol
            made[-1] = made[-1]._replace(triple=fallback_triple(held), end=position.end)
        else:
            held = symbol
            made.append(position)
    return made


# --- Vietnamese


def encode_vietnamese(text: str, strict: bool = False, joiner: str | None = None) -> list[Position]:
    """Runs of letters are syllables where they can be; all else goes to the fallback, a position a character.

    ``text``, ``strict`` and ``joiner`` are those of :func:`encode`.
    """
    vocab = vocabulary("vi")
    positions: list[Position] = []
    run: list[Cluster] = []

    def finish_run() -> None:
        if run:
            letters = "".join(char for cluster in run for char in cluster.text if kind_of(char) != IGNORABLE)
            triple = vietnamese.factorize(letters, strict)
            if triple:
                positions.append(Position(triple, run[0].start, run[-1].end, run[0].word))
            else:
                positions.extend(Position(fallback(c, vocab), c.start, c.end, c.word) for c in run)
        run.clear()

    for cluster in clusters(text, (joiner, *WORD_BREAKS)):
        if cluster and kind_of(cluster.text[0]) == LETTER:
            run.append(cluster)
            continue
        finish_run()
        if cluster:  # marks make another letter of a letter alone
            symbol = fallback(cluster._replace(text=cluster.text[0]), vocab)
            positions.append(Position(symbol, cluster.start, cluster.end, cluster.word))
    finish_run()
    return positions


# --- Mandarin


@cache
def _prefixes() -> frozenset[str]:
    return frozenset(phrase[:end] for phrase in mandarin.lexicon().phrases for end in range(1, len(phrase) + 1))


def _longest(run: str, phrases: Mapping[str, list[str]]) -> str | None:
    return next((run[:end] for end in range(min(len(run), MAX_PHRASE), 1, -1) if run[:end] in phrases), None)


class Read(NamedTuple):
    """How a character is read, and whether a user's phrase says so."""

    triple: Triple
    own: bool


def _read(run: str, pinyin: list[tuple[str | None, bool]]) -> list[Read]:
    """The triples of a run; those of letters and digits are put in later."""
    texts = ((None if latin(char) else text, own) for char, (text, own) in zip(run, pinyin, strict=True))
    return [Read(mandarin.factorize(text) if text else _UNKNOWN, own) for text, own in texts]


def _han(run: str) -> str:
    """The Han characters that a run begins with."""
    return "".join(takewhile(lambda char: not latin(char), run))


def readings(run: str, user: Mapping[str, list[str]]) -> list[Read]:
    """The readings of a run of Han characters: longest phrase first, left to right, the user's before the lexicon's.

    As in pypinyin, a run that ends in the middle of a phrase, with no phrase where that one begins, is read character
    by character from there on.
    """
    lexicon, whole = mandarin.lexicon(), run
    pinyin: list[tuple[str | None, bool]] = []
    while run:
        phrase = _longest(run, user)
        own = bool(phrase)
        found = user.get(phrase) if phrase else None
        if not phrase:
            phrase = _longest(run, lexicon.phrases)
            found = lexicon.phrases.get(phrase) if phrase else None
        if phrase and found:
            pinyin += [(text, own) for text in found]
            run = run[len(phrase) :]
            continue
        singles = _han(run) if _han(run) in _prefixes() else run[0]
        pinyin += [(user[char][0] if char in user else lexicon.characters.get(char), False) for char in singles]
        run = run[len(singles) :]
    return _read(whole, pinyin)


def readings_in_context(run: str, places: list[int], text: str, user: Mapping[str, list[str]]) -> list[Read]:
    """The readings of a run of Han characters by what is around each in the text; the user's phrases before that.

    Arguments:
        run: the characters, compatibility ideographs as what they are equal to.
        places: where each is in the text.
        text: the text.
        user: the user's phrases; traditional characters that they have not got are found as simplified ones.
    """
    pinyin: list[tuple[str | None, bool]] = []
    simplified, written = context.reader().data.simplified, set().union(*(phrase for phrase in user if phrase[1:]))
    plain = "".join(char if char in written else simplified.get(char, char) for char in run)
    while len(pinyin) < len(run):
        at = len(pinyin)
        phrase = _longest(plain[at:], user)
        if phrase:
            pinyin += [(reading, True) for reading in user[phrase]]
        else:
            pinyin.append((user[run[at]][0] if run[at] in user else context.reader().read(text, places[at]), False))
    return _read(run, pinyin)


def encode_mandarin(
    text: str,
    joiner: str | None = None,
    phrases: Mapping[str, list[str]] | None = None,
    in_context: bool = False,
    sandhi: bool = False,
    erhua: bool = False,
) -> list[Position]:
    """Every character that is not white space is a position; Han characters that touch are read together.

    ``text``, ``joiner``, ``phrases``, ``sandhi`` and ``erhua`` are those of :func:`encode`; ``in_context`` is
    ``readings="context"``.
    """
    vocab, han, same = vocabulary("zh"), mandarin.lexicon().han, mandarin.compatibility_ideographs()
    latins = {latin(char) for phrase in phrases or {} for char in phrase} - {""}
    positions: list[Position] = []
    run: list[Cluster] = []

    def finish_run() -> None:
        chars = (cluster.text[0] for cluster in run)
        texts = "".join(latin(char) or same.get(char, char) for char in chars)
        if in_context:
            read = readings_in_context(texts, [cluster.start for cluster in run], text, phrases or {})
        else:
            read = readings(texts, phrases or {})
        at = 0
        triples = [fallback(c, vocab) if latin(char) else r.triple for c, char, r in zip(run, texts, read, strict=True)]
        for triple, length in speak(texts, triples, [one.own for one in read], sandhi, erhua):
            first, last = run[at], run[at + length - 1]
            positions.append(Position(triple, first.start, last.end, first.word))
            at += length
        run.clear()

    for cluster in clusters(text, (joiner,)):
        if cluster and (cluster.text[0] in same or han.match(cluster.text[0]) or latin(cluster.text[0]) in latins):
            run.append(cluster)
            if len(cluster.text) == 1:  # a mark or a variation selector ends the run
                continue
            finish_run()
        else:
            finish_run()
            if cluster:
                positions.append(Position(fallback(cluster, vocab), cluster.start, cluster.end, cluster.word))
    finish_run()
    return positions


def encode(
    text: str,
    lang: str,
    strict: bool = False,
    joiner: str | None = None,
    phrases: Mapping[str, list[str]] | None = None,
    fallback: str = "character",
    readings: str = "pypinyin",
    sandhi: bool = False,
    erhua: bool = False,
) -> list[Position]:
    """Encodes a text as ``Tokenizer.encode`` does.

    Arguments:
        text: any str.
        lang: ``"vi"`` or ``"zh"``.
        strict: the strict reading of Vietnamese.
        joiner: the character that joins the syllables of a word, or None.
        phrases: a user's Mandarin phrases, phrase -> pinyin syllables.
        fallback: ``"character"`` or ``"packed"``.
        readings: ``"pypinyin"`` or ``"context"``.
        sandhi: tones as they change in speech.
        erhua: 儿 that is not a syllable of its own merges with the one before it.
    """
    if lang == "vi":
        positions = encode_vietnamese(text, strict, joiner)
    else:
        positions = encode_mandarin(text, joiner, phrases, readings == "context", sandhi, erhua)
    return packed(positions) if fallback == "packed" else positions

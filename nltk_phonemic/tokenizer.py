"""NLTK tokenizers: a text into syllables, a word into onsets and rimes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Unpack

from nltk.tokenize.api import TokenizerI

from nltk_phonemic.onsets import onset_end
from phonemic import Tokenizer
from phonemic.characters import plain
from phonemic.options import OptionArguments
from phonemic.units import UnitSpan, units

Span = tuple[int, int]


class _SpanTokenizer(TokenizerI):
    """The base of the tokenizers here: the tokens are the text at the spans, and many texts are one call of the core.

    Arguments: those of :class:`phonemic.Tokenizer`, kept as ``self.tokenizer``.
    """

    def __init__(self, lang: str, **options: Unpack[OptionArguments]) -> None:
        self.tokenizer = Tokenizer(lang, **options)

    @abstractmethod
    def _spans(self, text: str, found: list[UnitSpan]) -> list[Span]:
        """The spans of the tokens of a text, from its units."""

    def tokenize(self, s: str) -> list[str]:
        """The tokens of a text, as they are written in it.

        Raises:
            TypeError: ``s`` is not a str.
        """
        spans = self.span_tokenize(s)
        return [plain(s)[start:end] for start, end in spans]

    def span_tokenize(self, s: str) -> Iterator[Span]:
        """The half-open spans of the tokens, in characters: ``s[start:end]`` is the token.

        Raises:
            TypeError: ``s`` is not a str.
        """
        if not isinstance(s, str):
            raise TypeError(f"one text is a str, not {type(s).__name__}; for a list of them call tokenize_sents")
        return iter(next(self.span_tokenize_sents([s])))

    def tokenize_sents(self, strings: Iterable[str]) -> list[list[str]]:
        """The tokens of each text, all encoded in one call.

        Raises:
            TypeError: a text is not a str; the message names its index.
        """
        texts = strings if isinstance(strings, str) else list(strings)
        rows = zip(texts, self.span_tokenize_sents(texts), strict=True)
        return [[plain(text)[start:end] for start, end in spans] for text, spans in rows]

    def span_tokenize_sents(self, strings: Iterable[str]) -> Iterator[list[Span]]:
        """The spans of each text's tokens, all encoded in one call.

        Raises:
            TypeError: a text is not a str; the message names its index.
        """
        if isinstance(strings, str):
            raise TypeError(
                "tokenize_sents and span_tokenize_sents take a list of str, not one str; call tokenize or span_tokenize"
            )
        batch = self.tokenizer.encode_batch(strings, spans=True)
        return map(self._spans, map(plain, batch.texts), units(batch, self.tokenizer.word_joiner))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({repr(self.tokenizer).removeprefix('Tokenizer(')}"


class PhonemicTokenizer(_SpanTokenizer):
    """Splits a text into syllables.

    Letters and digits that are not a syllable stay together where they touch (foreign words, numbers); any other
    character is a token. Between tokens nothing is left out but white space, the word joiner, and marks or ignorable
    characters with no character before them to belong to. The tokens have, tagged by :class:`PhonemicTagger`, the
    values of the text; in Mandarin, where the text has no space between Han characters.

    >>> from nltk_phonemic import PhonemicTokenizer
    >>> vi = PhonemicTokenizer("vi", word_joiner="_")
    >>> vi.tokenize("Sinh_viên học tiếng Việt.")
    ['Sinh', 'viên', 'học', 'tiếng', 'Việt', '.']
    >>> list(vi.span_tokenize("Sinh_viên học"))
    [(0, 4), (5, 9), (10, 13)]
    >>> vi.tokenize_sents(["Hà Nội", "Huế"])
    [['Hà', 'Nội'], ['Huế']]
    >>> PhonemicTokenizer("zh").tokenize("音乐 pop!")
    ['音', '乐', 'pop', '!']

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        options: ``strict``, ``word_joiner``, ``phrases``, ``fallback``, ``readings``, ``sandhi``, ``erhua``, ``form``:
            see :class:`phonemic.TokenizerOptions`. The
            word joiner separates and is not a token; the tokens are the same with either fallback and with forms.

    Raises:
        ValueError: an option does not fit, see :class:`phonemic.TokenizerOptions`.
    """

    def _spans(self, text: str, found: list[UnitSpan]) -> list[Span]:
        return [(start, end) for start, end, _ in found]


class OnsetRimeTokenizer(_SpanTokenizer):
    """Splits a word into the letters of its onset and of its rime, as NLTK's SyllableTokenizer splits into syllables.

    The cut is where the phonology has it: the *u* of *qu* belongs to the rime, and so does the *i* of *giếng* and
    *gì* (but not that of *gia*, whose rime is *a*). A syllable without an onset is one part. A word of several
    syllables gives the parts of all of them; what is not a syllable stays whole.

    >>> from nltk_phonemic import OnsetRimeTokenizer
    >>> parts = OnsetRimeTokenizer("vi")
    >>> [parts.tokenize(word) for word in "nghiêng quốc giếng gia ông".split()]
    [['ngh', 'iêng'], ['q', 'uốc'], ['g', 'iếng'], ['gi', 'a'], ['ông']]
    >>> parts.tokenize("COVID-19")
    ['COVID', '-', '19']

    For Mandarin the letters are those of a pinyin syllable; a Han character has no letters to part and stays whole.

    >>> pinyin = OnsetRimeTokenizer("zh")
    >>> [pinyin.tokenize(word) for word in ["zhǎng", "hang2", "yuè", "音乐"]]
    [['zh', 'ǎng'], ['h', 'ang2'], ['yuè'], ['音', '乐']]

    Arguments: those of :class:`PhonemicTokenizer`.
    """

    def _spans(self, text: str, found: list[UnitSpan]) -> list[Span]:
        spans = []
        for start, end, native in found:
            middle = start + onset_end(text[start:end], self.tokenizer.lang, native)
            spans += [(start, middle), (middle, end)] if start < middle else [(start, end)]
        return spans

"""A spaCy tokenizer: one token a syllable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import from_bytes, minibatch, registry, to_bytes
from spacy.vocab import Vocab

from phonemic import Tokenizer
from phonemic.inventory import LANGUAGES
from phonemic.units import Unit, units
from spacy_phonemic.reading import KEY, check_phrases, keep, make_tokenizer, set_tokenizer, tokenizer_of
from spacy_phonemic.requirements import require

#: What may stand between two units: a run of white space, or of something else (a word joiner, stray marks).
_GAPS = re.compile(r"\s+|\S+")


@registry.tokenizers("spacy_phonemic.SyllableTokenizer.v1")
def make_syllable_tokenizer(
    lang: str | None = None,
    strict: bool = False,
    word_joiner: str | None = None,
    phrases: str | dict[str, str] | None = None,
    fallback: str = "character",
) -> Callable[[Language], SyllableTokenizer]:
    """A maker of :class:`SyllableTokenizer` for ``[nlp.tokenizer]``.

    Arguments:
        lang: ``"vi"`` or ``"zh"``; None: the pipeline's.
        strict: Vietnamese: the strict reading, see :class:`phonemic.Tokenizer`.
        word_joiner: the character that joins the syllables of a word; it becomes a token of its own.
        phrases: Mandarin: your own readings, a dict or the path of a file.
        fallback: see :class:`phonemic.Tokenizer`; the tokens are the same with either, but not their positions.
    """

    def make(nlp: Language) -> SyllableTokenizer:
        require(nlp, "spacy")
        return SyllableTokenizer(nlp.vocab, lang or str(nlp.lang), strict, word_joiner, phrases, fallback)

    return make


class SyllableTokenizer:
    """Cuts a text into syllables; letters and digits that are no syllable stay together where they touch.

    Non-destructive: ``doc.text`` is the text. Any other character is a token, so punctuation is split off.

    Raises:
        ValueError: an option does not fit.
    """

    def __init__(
        self,
        vocab: Vocab,
        lang: str,
        strict: bool = False,
        word_joiner: str | None = None,
        phrases: str | dict[str, str] | None = None,
        fallback: str = "character",
    ) -> None:
        if lang not in LANGUAGES:
            raise ValueError(
                f"SyllableTokenizer reads 'vi' and 'zh', not {lang!r}; give it a lang: "
                '{"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1", "lang": "vi"}'
            )
        self.vocab = vocab
        self.tokenizer, self._missing = make_tokenizer(lang, strict, word_joiner, phrases, fallback)
        self._compared: Tokenizer | None = None
        self._is_pipelines = False
        if not vocab.lookups.has_table(KEY):  # a component added later gives its own
            set_tokenizer(vocab, self.tokenizer)

    def __call__(self, text: str) -> Doc:
        """One text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], batch_size: int = 256) -> Iterator[Doc]:
        """Many texts, a batch in one call of the core."""
        check_phrases(self._missing)
        for batch in minibatch(texts, batch_size):
            encoded, keeps = self.tokenizer.encode_batch(batch, spans=True), self._reads_as_pipeline()
            for encoding, found in zip(encoded, units(encoded), strict=True):
                doc = Doc(self.vocab, *_words(encoding.text, found))
                if keeps:
                    keep(doc, encoding)
                yield doc

    def _reads_as_pipeline(self) -> bool:
        """Whether the attributes are to come from this tokenizer's options, so that the reading can be kept."""
        made = tokenizer_of(self.vocab)
        if made is not self._compared:
            self._compared, self._is_pipelines = made, made == self.tokenizer
        return self._is_pipelines

    def to_bytes(self, **kwargs: Any) -> bytes:
        """The options and the user's readings."""
        return to_bytes({"options": lambda: self.tokenizer.__reduce__()[1]}, ())

    def from_bytes(self, data: bytes, **kwargs: Any) -> SyllableTokenizer:
        """Reads what :meth:`to_bytes` wrote."""
        from_bytes(data, {"options": self._use}, ())
        return self

    def to_disk(self, path: str | Path, **kwargs: Any) -> None:
        """Writes the options and the user's readings to a file."""
        self.tokenizer.save(path)

    def from_disk(self, path: str | Path, **kwargs: Any) -> SyllableTokenizer:
        """Reads what :meth:`to_disk` wrote."""
        self.tokenizer, self._missing, self._compared = Tokenizer.load(path), None, None
        return self

    def _use(self, options: Any) -> None:
        options = options if isinstance(options, list | tuple) else ()
        named = dict(zip(("lang", "strict", "word_joiner", "phrases", "fallback"), options, strict=False))
        self.tokenizer = Tokenizer.restore(named, "a saved SyllableTokenizer")
        self._missing = self._compared = None


def _words(text: str, found: list[Unit]) -> tuple[list[str], list[bool]]:
    """Words for a Doc, and whether one space follows each; all other white space is in words of its own."""
    words: list[str] = []
    spaces: list[bool] = []
    at = 0
    for start, end, _ in [*found, (len(text), len(text), False)]:
        for piece in _GAPS.findall(text[at:start]):
            followed = bool(words) and piece[0] == " "
            if followed:
                spaces[-1] = True
            if piece[followed:]:
                words.append(piece[followed:])
                spaces.append(False)
        if end > start:
            words.append(text[start:end])
            spaces.append(False)
        at = end
    return words, spaces

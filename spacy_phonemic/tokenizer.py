"""A spaCy tokenizer: one token per syllable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Unpack

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch, registry, to_bytes
from spacy.vocab import Vocab

from phonemic import SavedTokenizerError, Tokenizer
from phonemic.files.jsons import checked, damaged
from phonemic.inventory import LANGUAGES
from phonemic.options import OptionArguments, spell_out
from phonemic.units import UnitSpan, units
from spacy_phonemic.reading import Way, keep, make_tokenizer, read_with, way_of
from spacy_phonemic.requirements import require

#: The text between two units: a run of white space, or of something else (a word joiner, stray marks).
_GAPS = re.compile(r"\s+|\S+")


@registry.tokenizers("spacy_phonemic.SyllableTokenizer.v1")
@spell_out
def make_syllable_tokenizer(
    lang: str | None = None, **options: Unpack[OptionArguments]
) -> Callable[[Language], SyllableTokenizer]:
    """A maker of :class:`SyllableTokenizer` for ``[nlp.tokenizer]``.

    Arguments:
        lang: ``"vi"`` or ``"zh"``; None: the pipeline's language.
        phrases: Mandarin: your own readings, a dict ``{"行长": "hang2 zhang3"}`` that is saved with the pipeline.
        options: ``strict``, ``word_joiner``, ``fallback``, ``readings``, ``sandhi``, ``erhua``, ``form``: see
            :class:`phonemic.TokenizerOptions`. A word joiner becomes a token of its own; the tokens are the same with
            either fallback and with forms, but not their positions.
    """

    def make(nlp: Language) -> SyllableTokenizer:
        require(nlp, "spacy")
        return SyllableTokenizer(nlp.vocab, lang or str(nlp.lang), **options)

    return make


class SyllableTokenizer:
    """Cuts a text into syllables; letters and digits that are not a syllable stay together where they touch.

    Non-destructive: ``doc.text`` is the text. Any other character is a token, so punctuation is split off.

    Arguments:
        vocab: the pipeline's.
        lang: ``"vi"`` or ``"zh"``.
        options: ``strict``, ``word_joiner``, ``phrases``, ``fallback``, ``readings``, ``sandhi``, ``erhua``, ``form``:
            see :class:`phonemic.TokenizerOptions`.

    Raises:
        ValueError: an option does not fit.
    """

    def __init__(self, vocab: Vocab, lang: str, **options: Unpack[OptionArguments]) -> None:
        if lang not in LANGUAGES:
            raise ValueError(
                f"SyllableTokenizer reads 'vi' and 'zh', not {lang!r}; give it a lang: "
                '{"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1", "lang": "vi"}'
            )
        self.vocab = vocab
        self.tokenizer = make_tokenizer(lang, **options)
        read_with(vocab, self, is_component=False)

    def __call__(self, text: str) -> Doc:
        """One text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], batch_size: int = 256) -> Iterator[Doc]:
        """Many texts, a batch in one call of the core.

        Arguments:
            texts: the texts.
            batch_size: texts in a batch.
        """
        for batch in minibatch(texts, batch_size):
            encoded, keeps = self.tokenizer.encode_batch(batch, spans=True), self._reads_as_pipeline()
            found = units(encoded, self.tokenizer.word_joiner)
            for encoding, spans in zip(encoded, found, strict=True):
                doc = Doc(self.vocab, *_words(encoding.text, spans))
                if keeps:
                    keep(doc, encoding, self.way)
                yield doc

    @property
    def way(self) -> Way:
        """How Docs are read where there is no component: with this tokenizer."""
        return Way(self.tokenizer)

    def _reads_as_pipeline(self) -> bool:
        """Whether the attributes are to come from this tokenizer's options, so that the reading can be kept."""
        try:
            return way_of(self.vocab) == self.way
        except ValueError:  # the components are of different minds, and the Doc has yet to go through one
            return False

    def to_bytes(self, **kwargs: Any) -> bytes:
        """The options and the user's readings."""
        getters: Any = {"options": self.tokenizer.to_json}
        return to_bytes(getters, ())

    def from_bytes(self, data: bytes, **kwargs: Any) -> SyllableTokenizer:
        """Reads what :meth:`to_bytes` wrote.

        Raises:
            SavedTokenizerError: ``data`` is not that.
        """
        where = "a saved SyllableTokenizer"
        with damaged(where, SavedTokenizerError):
            state = checked(srsly.msgpack_loads(data), {"options": dict}, where, SavedTokenizerError)
            self._use(Tokenizer.restore(state["options"], where))
        return self

    def to_disk(self, path: str | Path, **kwargs: Any) -> None:
        """Writes the options and the user's readings.

        Arguments:
            path: the file; what is there is replaced once the new file is complete.
            kwargs: not used.
        """
        self.tokenizer.save(path)

    def from_disk(self, path: str | Path, **kwargs: Any) -> SyllableTokenizer:
        """Reads what :meth:`to_disk` wrote.

        Raises:
            SavedTokenizerError: the file is not that.
        """
        self._use(Tokenizer.load(path))
        return self

    def _use(self, tokenizer: Tokenizer) -> None:
        new = tokenizer != self.tokenizer
        self.tokenizer = tokenizer
        if new:  # otherwise the vocab may have been loaded, and say how a component reads that is left out
            read_with(self.vocab, self, is_component=False)


def _words(text: str, found: list[UnitSpan]) -> tuple[list[str], list[bool]]:
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

"""Tokenizer: text to packed (onset, rime, tone) ids, aligned with the text, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from phonemic._core import Core
from phonemic.characters import plain
from phonemic.encoding import Batch, Encoding, Syllable
from phonemic.errors import DecodingError, SavedTokenizerError
from phonemic.inventory import Triple, Vocabulary, vocabulary
from phonemic.lexicon.digests import digests, warn_of_other_tables
from phonemic.lexicon.entries import JOINER, ZH_JOINER, Tables, with_entries, with_packing
from phonemic.lexicon.tables import context_tables, form_tables, speech_tables, tables_of
from phonemic.native._batch import Work
from phonemic.options import OptionArguments, TokenizerOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: More threads than this would only be in each other's way.
MAX_THREADS = 256

_FORMAT = "phonemic tokenizer 1"
_TABLES = "digests"


class Tokenizer:
    """Vietnamese or Mandarin text to (onset, rime, tone) ids, one position a syllable.

    Immutable: one tokenizer serves any number of threads, and it can be pickled.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        options: ``strict``, ``word_joiner``, ``phrases``, ``fallback``, ``readings``, ``sandhi``, ``erhua``, ``form``:
            see :class:`phonemic.TokenizerOptions`.

    Raises:
        TypeError: no such option, or one that is given by position.
        ValueError: an option does not fit, see :class:`phonemic.TokenizerOptions`.
        PhraseError: a phrase is wrong; the message names the line.
        TableError: the lexicon is missing or damaged.
    """

    def __init__(self, lang: str, **options: Unpack[OptionArguments]) -> None:
        self._use(TokenizerOptions(lang, **options))  # type: ignore[arg-type]

    @classmethod
    def from_options(cls, options: TokenizerOptions) -> Tokenizer:
        """The tokenizer with these options.

        Raises:
            PhraseError: a phrase is wrong.
            TableError: the lexicon is missing or damaged.
        """
        made = cls.__new__(cls)
        made._use(options)
        return made

    def _use(self, options: TokenizerOptions) -> None:
        lang, joiner = options.lang, options.word_joiner
        tables = _tables(lang, options.readings, options.fallback)
        if joiner:
            tables = with_entries(tables, {joiner: JOINER if lang == "vi" else ZH_JOINER})
        if options.phrases:
            from phonemic.lexicon.user_phrases import with_phrases

            tables = with_phrases(tables, options.phrases)
        if options.sandhi or options.erhua:
            tables = tables | speech_tables() | {"speech.does": np.array([options.sandhi, options.erhua])}
        if options.form:
            tables = tables | _written(lang, joiner)
        self._options = options
        self._vocabulary: Vocabulary = vocabulary(lang)
        self._core = _core_class(options)(tables, options.strict)
        self.writers: dict[tuple[Any, ...], Any] = {}
        self._without_form: Tokenizer | None = None

    @property
    def options(self) -> TokenizerOptions:
        """All options."""
        return self._options

    @property
    def lang(self) -> str:
        """``"vi"`` or ``"zh"``."""
        return self._options.lang

    @property
    def strict(self) -> bool:
        """Whether syllables that Vietnamese orthography does not allow are rejected."""
        return self._options.strict

    @property
    def word_joiner(self) -> str | None:
        """The character that joins the syllables of a word, or None."""
        return self._options.word_joiner

    @property
    def phrases(self) -> Mapping[str, str]:
        """The user's own Mandarin readings: phrase to pinyin with tone numbers."""
        return self._options.phrases

    @property
    def readings(self) -> str:
        """How Mandarin characters are read: ``"pypinyin"`` or ``"context"``."""
        return self._options.readings

    @property
    def sandhi(self) -> bool:
        """Whether Mandarin tones are as they change in speech."""
        return self._options.sandhi

    @property
    def erhua(self) -> bool:
        """Whether 儿 that is not a syllable of its own is part of the one before it."""
        return self._options.erhua

    @property
    def fallback(self) -> str:
        """The fallback for text that is not a syllable: ``"character"`` or ``"packed"``."""
        return self._options.fallback

    @property
    def form(self) -> bool:
        """Whether ids say how the text is written, so that it can be given back from them alone."""
        return self._options.form

    @property
    def without_form(self) -> Tokenizer:
        """The tokenizer that reads the same without forms, for what hears a text and does not write it back; itself
        where it tells none.
        """
        if not self.form:
            return self
        if self._without_form is None:
            self._without_form = Tokenizer.from_options(replace(self.options, form=False))
        return self._without_form

    @property
    def vocabulary(self) -> Vocabulary:
        """The symbols that the ids stand for; the same object as that of an Encoding."""
        return self._vocabulary

    vocab = vocabulary

    @property
    def checksums(self) -> dict[str, str]:
        """The checksums that saved files hold: ``vocabulary_checksum`` and, with ``form=True``, ``forms_checksum``.

        Ids of another vocabulary mean other symbols, those of other forms other spellings.
        """
        found = {"vocabulary_checksum": self._vocabulary.checksum}
        if self.form:
            from phonemic.lexicon.forms import forms

            found["forms_checksum"] = forms(self.lang).checksum
        return found

    @property
    def core(self) -> Core:
        """The compiled loops over this tokenizer's tables."""
        return self._core

    @property
    def vocab_size(self) -> int:
        """256 for Vietnamese, 112 for Mandarin."""
        return len(self._vocabulary)

    def encode(self, text: str) -> Encoding:
        """Encodes one text.

        Returns:
            Its positions with ids, spans and word ids.

        Raises:
            TypeError: ``text`` is not a str.
        """
        if not isinstance(text, str):
            raise TypeError(f"encode takes a str, not {type(text).__name__}; for a list of them call encode_batch")
        text = text if type(text) is str else plain(text)
        block = self._core.encode(text)
        return Encoding.of_block(text, block, self._vocabulary)

    def encode_batch(
        self, texts: Iterable[str], num_threads: int = 1, spans: bool = False, word_ids: bool = False
    ) -> Batch:
        """Encodes many texts into one flat array.

        Arguments:
            texts: the texts; a list is used as it is.
            num_threads: threads that share the work (the GIL is released); no more than there are texts, or 256, run.
            spans: also return each position's span.
            word_ids: also return each position's word id.

        Raises:
            TypeError: an element is not a str; the message names its index.
            ValueError: num_threads is below 1.
        """
        if isinstance(texts, str):
            raise TypeError("encode_batch takes a list of str, not one str; call encode")
        rows = texts if type(texts) is list else list(texts)
        return Batch.made(rows, *encode_rows(self._core, rows, None, num_threads, spans, word_ids), self._vocabulary)

    def __call__(
        self, texts: str | Iterable[str], max_length: int | None = None, special_tokens: bool = True
    ) -> dict[str, NDArray[np.int32]]:
        """``input_ids`` and ``attention_mask`` for a model: (N,) for a str, (B, N) for many, see ``Batch.pad``."""
        if isinstance(texts, str):
            return self.encode(texts).pad(max_length, special_tokens)
        return self.encode_batch(texts).pad(max_length, special_tokens)

    def syllables(self, text: str | Any) -> list[Syllable]:
        """One Syllable per position.

        Arguments:
            text: a text; or, with ``form=True``, packed ids, which have the text themselves. Their spans are into what
                :meth:`decode` gives.

        Raises:
            DecodingError: ids that no text has.
            TypeError: ids, without ``form=True``.
        """
        if isinstance(text, str):
            return self.encode(text).syllables
        if not self.form:
            raise TypeError("only with form=True do ids have their text; give the text")
        from phonemic.writing.decoding import packed_ids
        from phonemic.writing.written import syllables_of

        return syllables_of(packed_ids(text, self.lang), self._vocabulary)

    def factorize(self, unit: str) -> Triple | None:
        """The symbols of one written syllable, None where it is not one.

        Arguments:
            unit: a Vietnamese spelling, or pinyin for Mandarin.
        """
        from phonemic import mandarin, vietnamese

        if self.lang == "vi":
            return vietnamese.factorize(unit, self.strict)
        try:
            return mandarin.factorize(unit)
        except ValueError:
            return None

    def spell(self, triple: Any, style: str = "new") -> str:
        """Writes one syllable: Vietnamese in standard orthography, Mandarin in pinyin.

        Arguments:
            triple: three symbols, three ids or one packed id.
            style: Vietnamese tone-mark placement, ``"new"`` (*hoà*) or ``"old"`` (*hòa*).

        Raises:
            ValueError: no syllable has these components, an id is not in the vocabulary, or there is no such style.
        """
        from phonemic.writing.notations import speller

        write = speller(self.lang, style=style)
        if isinstance(triple, int | np.integer):
            triple = self.vocabulary.unpack(int(triple))
        for part in triple:
            if not isinstance(part, str) and not 0 <= part < len(self.vocabulary):
                raise ValueError(f"{part} is not in the {self.lang} vocabulary")
        symbols = [part if isinstance(part, str) else self.vocabulary[int(part)] for part in triple]
        if len(symbols) != 3:
            raise ValueError(f"a triple has three components, not {len(symbols)}")
        return write(Triple(*symbols))

    def decode(
        self,
        ids: Any,
        to: str | None = None,
        style: str = "new",
        skip_special_tokens: bool = True,
        dialect: str | None = None,
        preserve_text: bool = False,
        errors: str = "strict",
    ) -> str:
        """Writes ids as text.

        With ``form=True`` and no ``to`` it is the text itself, to the byte. A position without a form is then written
        as without ``form=True``, between spaces; a character that is cut off gives U+FFFD.

        Arguments:
            ids: packed ids (an Encoding, an array, a list) or triples of ids, shape (N, 3). An Encoding also tells
                where ``erhua=True`` merged 儿 (*huār*); its ids alone do not (*huā*).
            to: ``"spelling"`` or ``"ipa"`` for Vietnamese; ``"pinyin"``, ``"numbers"`` (pinyin with tone numbers),
                ``"zhuyin"`` or ``"ipa"`` for Mandarin; None: the text where ids have forms, else the first.
            style: Vietnamese tone-mark placement, ``"new"`` or ``"old"``, where no form says how a syllable is written.
            skip_special_tokens: leave out [CLS], [PAD] and the others; an unknown character is always written, as
                U+FFFD.
            dialect: Vietnamese in IPA: ``"hanoi"``, ``"hue"`` or ``"saigon"``, as it is spoken there, see
                :mod:`phonemic.writing.dialects`; None writes the sounds that the spelling keeps apart.
            preserve_text: leave all but the syllables as it was in the text of an Encoding: case, punctuation,
                digits, unknown characters, white space.
            errors: ``"strict"``, or ``"replace"`` for U+FFFD where an id is of no text.

        Returns:
            Units separated by spaces, lower-case; letters and digits of the fallback are joined. Vietnamese spelling
            encodes to the same ids again, unless the fallback had folded an accent away (*bün* comes back as *bun*) or
            letters touch one that the vocabulary does not have (*Straße* as *stra � e*).
            Runs of the fallback are joined as they must have been for this tokenizer's own ``fallback``. With
            ``preserve_text=True`` the text, with its syllables written anew; Mandarin ones are parted by spaces.

        Raises:
            DecodingError: an id is not in the vocabulary, or no position can have its form; the message names the
                position.
            ValueError: ``ids`` is an Encoding of another language, ``to``, ``style``, ``dialect`` or ``errors`` does
                not fit, there is no text whose spacing could be kept, or the positions do not follow one another in it.
        """
        from phonemic.writing.decoding import decoder, has_erhua, packed_ids, spaced_texts

        write = decoder(self, to, style, skip_special_tokens, dialect, errors)
        packed = packed_ids(ids, self.lang)
        if preserve_text:
            return spaced_texts(write, ids, self.lang)[0]
        if has_erhua(ids):
            return write.merged(ids)
        return write.rows(packed, np.array([0, len(packed)], np.int64))[0]

    def decode_batch(
        self,
        ids: Any,
        offsets: Any = None,
        to: str | None = None,
        style: str = "new",
        skip_special_tokens: bool = True,
        dialect: str | None = None,
        preserve_text: bool = False,
        errors: str = "strict",
    ) -> list[str]:
        """Writes many rows of ids as text; see :meth:`decode`. :func:`phonemic.arrow.decode` does it for Arrow.

        Arguments:
            ids: a Batch; packed ids, int32 (N,), with ``offsets``; or a list of what :meth:`decode` takes.
            offsets: row i is ``ids[offsets[i]:offsets[i + 1]]``; integers (B + 1,).
            to: see :meth:`decode`, as the arguments that follow.
            style: tone-mark placement.
            skip_special_tokens: leave out the special symbols.
            dialect: a city.
            preserve_text: as in :meth:`decode`, for a Batch with spans.
            errors: ``"strict"`` or ``"replace"``.

        Raises:
            DecodingError: an id is not in the vocabulary, or no position can have its form; the message names the row
                and the position.
            ValueError: an argument does not fit, or the offsets are not of these ids.
        """
        from phonemic.writing.decoding import decoder, packed_rows, spaced_texts

        write = decoder(self, to, style, skip_special_tokens, dialect, errors)
        if preserve_text:
            return spaced_texts(write, ids, self.lang)
        packed, bounds = packed_rows(ids, offsets, self.lang)
        try:
            return write.rows(packed, bounds)
        except DecodingError as error:
            error.args = (f"row {error.row}: {error}",)
            raise

    def to_json(self) -> dict[str, Any]:
        """The options, and the digests of the tables that readings come from: what JSON can hold.

        :meth:`restore` reads it, and warns where the installed tables are others.
        """
        return self.options.to_json() | {_TABLES: digests(self.options)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the options and the checksums as a small JSON file.

        Arguments:
            path: the file; what is there is replaced once the new file is complete.

        Raises:
            OSError: it cannot be written.
        """
        from phonemic.files.writing import write_json

        state = {"format": _FORMAT, **self.to_json(), **self.checksums}
        write_json(path, state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Reads what :meth:`save` wrote.

        Raises:
            SavedTokenizerError: the file is not a saved tokenizer, or its vocabulary or forms are not this version's.
                Of other tables, by which some texts are read otherwise, an :class:`OtherTablesWarning` tells.
            OSError: it cannot be read.
        """
        from phonemic.files.jsons import read_object

        state = read_object(path, SavedTokenizerError)
        if state.get("format") != _FORMAT:
            raise SavedTokenizerError(f"{path}: not a saved tokenizer of this version (format {_FORMAT!r})")
        made = cls.restore(state, path)
        said = {
            "vocabulary_checksum": "vocabulary is not this version's, so its ids mean other symbols",
            "forms_checksum": "forms are not this version's, so its ids say other spellings",
        }
        for name, checksum in made.checksums.items():
            if state.get(name) != checksum:
                raise SavedTokenizerError(f"{path}: its {said[name]}; use the phonemic version that wrote it")
        return made

    @classmethod
    def restore(cls, options: object, where: object) -> Tokenizer:
        """Makes a tokenizer of what a file holds. Nothing that it names is opened: phrases are a dict.

        Arguments:
            options: what :meth:`to_json` or :meth:`TokenizerOptions.to_json` gave; what else is in it is passed over.
            where: names the file in errors.

        Raises:
            SavedTokenizerError: they are not the options of a tokenizer.
        """
        made = cls.from_options(TokenizerOptions.from_json(options, where))
        warn_of_other_tables(cast("dict[str, Any]", options).get(_TABLES), made.options, where)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_options, (self.options,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.options == other.options

    def __hash__(self) -> int:
        return hash(self.options)

    def __repr__(self) -> str:
        return repr(self.options).replace(TokenizerOptions.__name__, type(self).__name__, 1)


@cache
def _tables(lang: str, readings: str, fallback: str) -> Tables:
    if fallback == "packed":
        return with_packing(_tables(lang, readings, "character"), vocabulary(lang))
    if readings == "context":
        return context_tables()
    return tables_of(lang)


def _written(lang: str, joiner: str | None) -> Tables:
    """The tables of forms; the joiner, which makes no position, has none."""
    tables = form_tables(lang)
    if joiner:
        first = {name.removeprefix("first."): tables[name] for name in tables if name.startswith("first.")}
        changed = with_entries(first, {joiner: 0})
        tables = tables | {f"first.{name}": array for name, array in changed.items()}
    if lang == "zh":
        alone = tables_of(lang)
        tables = tables | {f"default.{name}": alone[name] for name in ("bmp", "astral", "astral_index")}
    return {f"written.{name}": array for name, array in tables.items()}


def _core_class(options: TokenizerOptions) -> type[Core]:
    if options.form:
        from phonemic.native._written import WrittenCore

        return WrittenCore
    if options.sandhi or options.erhua:
        from phonemic.native._speech import SpokenCore

        return SpokenCore
    if options.readings != "context":
        return Core
    from phonemic.native._context import ContextCore

    return ContextCore


def encode_rows(
    core: Core, texts: Any, offsets: NDArray[np.integer[Any]] | None, num_threads: int, spans: bool, word_ids: bool
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32] | None, NDArray[np.int32] | None]:
    """Encodes a list of str, or UTF-8 with offsets, with as many threads; see ``Work``.

    Raises:
        ValueError: num_threads is below 1.
    """
    if num_threads < 1:
        raise ValueError(f"num_threads must be at least 1, not {num_threads}")
    work = Work(core, texts, offsets, spans, word_ids)
    num_threads = min(num_threads, len(texts) if offsets is None else len(offsets) - 1, MAX_THREADS)
    if num_threads <= 1:
        work.run_alone()
        return work.result()
    from concurrent.futures import ThreadPoolExecutor

    work.share(num_threads)
    with ThreadPoolExecutor(num_threads - 1) as pool:
        others = [pool.submit(work.run) for _ in range(num_threads - 1)]
        work.run()
        for other in others:
            other.result()
    return work.result()

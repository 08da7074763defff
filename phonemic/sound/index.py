"""Names found by how they sound."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from phonemic.encoding import Encoding
from phonemic.errors import SavedIndexError
from phonemic.files.jsons import checked, damaged, loads
from phonemic.files.writing import AnyPath, replacing
from phonemic.lexicon.digests import digests
from phonemic.sound import storage
from phonemic.sound._search import Names
from phonemic.sound.distances import costs, listed, reader
from phonemic.sound.parts import parts_near
from phonemic.sound.sequences import DTYPES, LONGEST, build, check
from phonemic.sound.sounds import SYLLABLE, sounds
from phonemic.sound.typed import typed
from phonemic.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DTYPES = {**DTYPES, "offsets": "<i8", "text": "|u1", "options": "|u1"}


class Match(NamedTuple):
    """A name that was found.

    Attributes:
        name: as it was given.
        distance: from the query, in syllables; see :func:`phonemic.distance`.
        index: the place of the name in the index, from 0.
    """

    name: str
    distance: float
    index: int  # type: ignore[assignment]  # instead of tuple.index


class Index(Sequence[str]):
    """Names, found by how they sound: the nearest of a million in milliseconds, and the very ones.

    What is found is what comparing the query with every name by :func:`phonemic.distance` would find. Of names that are
    equally far the one that was given first comes first. Immutable: one index serves any number of threads, and it can
    be pickled. It is also the sequence of its names.

    A name without any syllable, letter or digit (``"..."``, in Vietnamese ``"Олег"``) has no sound: it is at distance 0
    from what has none either, and as far from any other query as that is long. Names may occur more than once.

    Arguments:
        names: the names, of at most 1,000 syllables each; an Arrow array of strings, too.
        lang: ``"vi"`` or ``"zh"``.
        tokenizer: reads names and queries instead of ``Tokenizer(lang)``, with phrases of your own perhaps.
        ignore_diacritics: compare names and queries without their diacritics, for Vietnamese that is typed without:
            *Nguyen Van Lam* is near *Nguyễn Văn Lan*.

    Raises:
        TypeError: a name is not a str, or nothing says the language.
        ValueError: an unknown language, a name that is too long (the message says which), or
            ``ignore_diacritics=True`` for Mandarin.
    """

    def __init__(
        self,
        names: Iterable[str],
        lang: str | None = None,
        *,
        tokenizer: Tokenizer | None = None,
        ignore_diacritics: bool = False,
    ) -> None:
        if isinstance(names, str):
            raise TypeError("Index takes a list of names, not one str")
        texts = listed(names)
        own = reader(lang, tokenizer)
        if ignore_diacritics and own.lang != "vi":
            raise ValueError("ignore_diacritics=True is for Vietnamese: Chinese characters have none")
        found = sounds(own.lang)
        rows, offsets = found.heard_batch(
            own.encode_batch([_bare(text) for text in texts] if ignore_diacritics else texts)
        )
        lengths = np.diff(offsets)
        if int(lengths.max(initial=0)) > LONGEST:
            longest = int(lengths.argmax())
            raise ValueError(
                f"name {longest} has {lengths[longest]:,} positions; an index takes at most {LONGEST:,} per name"
            )
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        options = {
            "tokenizer": own.options.to_json(),
            "tables": _tables(own),
            "ignore_diacritics": bool(ignore_diacritics),
        }
        arrays: dict[str, NDArray[Any]] = build(rows, offsets, found)
        arrays["offsets"] = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        arrays["text"] = np.frombuffer(b"".join(encoded), np.uint8)
        arrays["options"] = np.frombuffer(json.dumps(options, ensure_ascii=False).encode(), np.uint8)
        self._use(arrays, own, bool(ignore_diacritics), "an index")

    def _use(
        self, arrays: dict[str, NDArray[Any]], tokenizer: Tokenizer, ignore_diacritics: bool, where: object
    ) -> None:
        found = sounds(tokenizer.lang)
        offsets, names = arrays["offsets"], len(arrays["offsets"]) - 1
        with damaged(where, SavedIndexError, "build it again"):
            check(arrays, found, names)
            if offsets[0] or offsets[-1] != len(arrays["text"]) or np.any(np.diff(offsets) < 0):
                raise ValueError("its names do not fit together")
        self._arrays, self._tokenizer, self._where = arrays, tokenizer, where
        self._ignore_diacritics = ignore_diacritics
        table, groups = arrays["sounds"].reshape(-1, 3), arrays["groups"].reshape(-1, 3)
        self._names = Names(table, arrays["symbols"], groups, arrays["rows"], arrays["order"], costs(found), SYLLABLE)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of names and queries."""
        return self._tokenizer

    @property
    def lang(self) -> str:
        """``"vi"`` or ``"zh"``."""
        return self._tokenizer.lang

    @property
    def ignore_diacritics(self) -> bool:
        """Whether names are compared without their diacritics."""
        return self._ignore_diacritics

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, names included."""
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many positions of each name are heard, int64 (N,)."""
        lengths, _, counts = self._arrays["groups"].reshape(-1, 3).T
        of_row = np.repeat(lengths, counts)
        made = np.zeros(len(self), np.int64)
        made[self._arrays["order"]] = np.repeat(of_row, np.diff(self._arrays["rows"]))
        return made

    def search(
        self,
        query: str | Encoding,
        limit: int | None = 10,
        max_distance: float | None = 1.0,
        *,
        pinyin: bool = False,
    ) -> list[Match]:
        """The names that sound most like a query, the nearest first.

        Arguments:
            query: a name as it was heard or typed, of at most 1,000 syllables.
            limit: how many names at most; None for all that are near enough.
            max_distance: the greatest distance, in syllables; None for any, which takes longer where nothing is near.
            pinyin: Mandarin: a query in Latin letters is also read as pinyin (*zhāng sān*, *zhang1 san1*), whose tones
                may be left out (*zhangsan*), or as first letters (*zs*), with characters among them, too (*zhang三*,
                *张s*). Syllables written together are cut in every way (*xian* finds 先 and 西安).

        Raises:
            TypeError: the query is not a text, ``limit`` not a whole number or ``max_distance`` not a number.
            ValueError: ``limit`` is below 1, ``max_distance`` is negative or NaN, the query is too long, or
                ``pinyin`` is requested in Vietnamese.
        """
        if limit is not None and not _is_number(limit, Integral):
            raise TypeError(f"limit must be a whole number, or None for all, not {limit!r}")
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be at least 1, or None for all, not {limit}")
        if pinyin and self.lang != "zh":
            raise ValueError("pinyin=True is for Mandarin")
        rows, most = self._heard(self._encoded(query))[0], min(limit or 0, len(self) or 1)
        reach = thousandths(max_distance)
        keys = self._names.search(rows, reach, most).tolist()
        if pinyin and isinstance(query, str):
            for read in typed(query, lambda part: self._heard(self._encoded(part))[0]):
                if len(read.rows) <= LONGEST:
                    keys += self._names.search(read.rows, min(reach, read.limit), most).tolist()
            nearest = {key & 0xFFFFFFFF: key for key in sorted(keys, reverse=True)}
            keys = sorted(nearest.values())[: limit or None]
        return [self._match(key) for key in keys]

    def occurrences(
        self,
        text: Encoding,
        max_distance: float,
        *,
        starts: Iterable[int] | None = None,
        ends: Iterable[int] | None = None,
        breaks: Iterable[int] = (),
    ) -> list[tuple[Match, int, int]]:
        """Everywhere in a text that a name is heard, overlaps included.

        Arguments:
            text: the text, encoded.
            max_distance: the greatest distance, in syllables.
            starts: the positions of the text at which a name may begin; None for all.
            ends: those before which it may end; None for all, and the end of the text.
            breaks: those before which no name continues.

        Returns:
            Every match, its first position and the one behind its last, by these two, then the nearest first.

        Raises:
            TypeError: ``max_distance`` is not a number.
            ValueError: it is negative, or the index ignores diacritics.
        """
        if self._ignore_diacritics:
            raise ValueError("an index with ignore_diacritics=True finds names, not places in a text: leave it out")
        rows, where = sounds(self.lang).heard(self._encoded(text).ids)
        reach, size = thousandths(max_distance), len(text)
        begin = _numbers(where, starts, size)
        end = np.unique(np.searchsorted(where, sorted({*(range(1, size + 1) if ends is None else ends)})))
        cuts = np.append(np.searchsorted(where, sorted({*breaks})), len(rows))
        found = []
        weights, gaps = self._arrays["groups"].reshape(-1, 3)[:, 1], sounds(self.lang).gaps[rows[:, 0]]
        for first, last in parts_near(weights, gaps, begin, end, cuts, reach):
            start, stop = int(first[0]), int(last.max())
            near = self._names.parts(rows[start:stop], reach, first - start, last - start)
            for part, keys in near:
                place = int(where[first[part]]), int(where[last[part] - 1]) + 1
                found += [(self._match(key), *place) for key in keys.tolist()]
        return found

    def _encoded(self, query: str | Encoding) -> Encoding:
        if not isinstance(query, Encoding):
            return self._tokenizer.encode(_bare(query) if self._ignore_diacritics else query)
        if query.vocabulary.lang != self.lang:
            raise ValueError(f"the names are read as {self.lang!r}, but the query as {query.vocabulary.lang!r}")
        if not self._ignore_diacritics:
            return query
        text = query.text
        if query.has_spans:  # of a part of a text, which may be one, that part
            spans = query.spans
            text = text[spans[:, 0].min(initial=len(text)) : spans[:, 1].max(initial=0)]
        return self._tokenizer.encode(_bare(text))

    def _heard(self, query: Encoding) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
        rows, where = sounds(self.lang).heard(query.ids)
        if len(rows) > LONGEST:
            raise ValueError(f"the query has {len(rows):,} positions; at most {LONGEST:,} can be searched for")
        return rows, where

    def _match(self, key: int) -> Match:
        row = key & 0xFFFFFFFF
        return Match(self[row], (key >> 32) / SYLLABLE, row)

    def __len__(self) -> int:
        return len(self._arrays["offsets"]) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} is out of range for an index of {len(self)} names")
        start, stop = self._arrays["offsets"][index % len(self) :][:2].tolist()
        with damaged(self._where, SavedIndexError, "build it again"):
            return self._arrays["text"][start:stop].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        ignoring = ", ignore_diacritics=True" if self._ignore_diacritics else ""
        return f"Index({len(self):,} names, {self._tokenizer!r}{ignoring})"

    def save(self, path: AnyPath, overwrite: bool = True) -> None:
        """Writes the index to a file, which :meth:`load` reads.

        Arguments:
            path: the file.
            overwrite: whether one that is there is replaced, once the new one is complete.

        Raises:
            FileExistsError: the file is there, and is not to be replaced.
            OSError: it cannot be written.
        """
        with replacing(path, overwrite) as file:
            storage.write(file, self._little())

    @classmethod
    def load(cls, path: AnyPath) -> Index:
        """Reads what :meth:`save` wrote, checks it, and needs the file no more.

        Raises:
            TypeError: ``path`` is not a path.
            SavedIndexError: the file is not a saved index, is damaged, or was made by another version.
            OSError: it cannot be read.
        """
        return cls._read(storage.whole(os.fspath(path)), path)

    def to_bytes(self) -> bytes:
        """The index as :meth:`save` writes it."""
        file = io.BytesIO()
        storage.write(file, self._little())
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Index:
        """Reads what :meth:`to_bytes` gave.

        Raises:
            SavedIndexError: ``data`` is not that.
        """
        return cls._read(bytes(data), "a saved index")

    @classmethod
    def _read(cls, data: bytes, where: object) -> Index:
        arrays = storage.read(data, _DTYPES, where)
        with damaged(where, SavedIndexError, "build it again"):
            options = loads(arrays["options"].tobytes())
        fields = {"tokenizer": dict, "tables": dict, "ignore_diacritics": bool}
        state = checked(options, fields, where, SavedIndexError)
        tokenizer = Tokenizer.restore(state["tokenizer"], where)
        now = _tables(tokenizer)
        if other := sorted(name for name in {*now, *state["tables"]} if now.get(name) != state["tables"].get(name)):
            raise SavedIndexError(
                f"{where}: an index of another version of phonemic, made with other tables ({', '.join(other)}); build "
                "it again from its names"
            )
        made = cls.__new__(cls)
        made._use(arrays, tokenizer, state["ignore_diacritics"], where)
        return made

    def _little(self) -> dict[str, NDArray[Any]]:
        return {name: self._arrays[name].astype(dtype, copy=False) for name, dtype in _DTYPES.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)


def _tables(tokenizer: Tokenizer) -> dict[str, str]:
    """The digests of all that the rows of names depend on: symbols, sounds, and how texts are read."""
    vocab, own = tokenizer.vocabulary, sounds(tokenizer.lang).digest
    return {"vocabulary": vocab.checksum, "sounds": own, **digests(tokenizer.options)}


def _bare(text: str) -> str:
    """Without diacritics, *đ* as *d*."""
    from phonemic.noise.respelling import without_diacritics

    if not isinstance(text, str):
        raise TypeError(f"a name or a query must be a str, not {type(text).__name__}")
    return without_diacritics(text)[0]


def _numbers(where: NDArray[np.intp], positions: Iterable[int] | None, size: int) -> NDArray[np.intp]:
    """The numbers, among what is heard, of the beginnings of some positions."""
    wanted = np.zeros(size, bool)
    wanted[slice(None) if positions is None else list(positions)] = True
    return np.flatnonzero(wanted[where] & (np.diff(where, prepend=-1) > 0))


def _is_number(value: object, kind: type[Integral] | type[Real]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def thousandths(max_distance: float | None) -> int:
    """A distance in syllables as the index has it; any is as far as two names can be from each other.

    Raises:
        TypeError: it is not a number.
        ValueError: it is negative, or nan.
    """
    if max_distance is not None and not _is_number(max_distance, Real):
        raise TypeError(f"max_distance must be a number, or None for any distance, not {max_distance!r}")
    most = 2 * LONGEST * SYLLABLE
    if max_distance is None:
        return most
    if not max_distance >= 0:
        raise ValueError(f"max_distance must be 0 or more, not {max_distance}")
    return min(most, math.floor(max_distance * SYLLABLE + 1e-6)) if max_distance < most else most

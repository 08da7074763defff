"""n-gram models of words as tables, saved and searched; :mod:`phonemic_bert.restoration.estimation` estimates them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic.files.writing import replacing
from phonemic.inventory import check_ids, vocabulary
from phonemic.native._paths import build, paths
from phonemic_bert.errors import CheckpointError
from phonemic_bert.restoration.estimation import Level

#: The words that every model has: what begins and ends a row, any other word, a number.
BORDER, OTHER, NUMBER = 0, 1, 2
SPECIAL = ("", "<other>", "<number>")

#: Paths that go on from a position to the next.
BEAM = 48
_FORMAT = "phonemic n-grams 1"
_STEPS = 16  # of a nat
#: Bytes that a file unfolds to at most.
_MOST = 1 << 30
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, ArithmeticError, AttributeError, EOFError, LookupError, MemoryError,
    RuntimeError, SyntaxError, TypeError, ValueError,
)  # fmt: skip
_ARRAYS = ("keys", "probabilities", "weights")


class Ngrams:
    """A model of which word follows which.

    Arguments:
        lang: ``"vi"`` or ``"zh"``.
        words: all words, from those of :data:`SPECIAL` on.
        parts: of n-grams of two words and more ``keys``, ``probabilities`` and ``weights``, by their number of words;
            of one word ``logs`` and ``weights``, float32.
        more: other arrays that are saved along.
    """

    def __init__(
        self,
        lang: str,
        words: Sequence[str],
        parts: Sequence[Mapping[str, NDArray[Any]]],
        more: Mapping[str, NDArray[Any]] = {},
    ) -> None:
        self.lang, self.words, self.parts, self.more = lang, list(words), list(parts), dict(more)
        self.index = {word: number for number, word in enumerate(self.words)}
        self.order = len(self.parts)
        if not len(self.words) == len(self.parts[0]["logs"]) == len(self.parts[0]["weights"]):
            raise ValueError("there are not as many probabilities as words")
        self.unigrams = np.ascontiguousarray(self.parts[0]["logs"], np.float32)
        self._weights = np.ascontiguousarray(self.parts[0]["weights"], np.float32)
        longer = self.parts[1:]
        together = {name: np.concatenate([part[name] for part in longer]) for name in _ARRAYS}
        sizes = np.repeat(np.arange(2, self.order + 1, dtype=np.uint8), [len(part["keys"]) for part in longer])
        self._cells = build(together["keys"], sizes, together["probabilities"], together["weights"])

    @classmethod
    def of_levels(
        cls,
        lang: str,
        words: Sequence[str],
        levels: Sequence[Level],
        more: Mapping[str, NDArray[Any]] = {},
    ) -> Ngrams:
        """Make the tables of an estimated model, in eight bits a number.

        Arguments:
            lang: ``"vi"`` or ``"zh"``.
            words: all words.
            levels: what :func:`phonemic_bert.restoration.estimation.estimate` gave.
            more: other arrays that are saved along, of any shape.
        """
        first = {"logs": levels[0].logs.astype(np.float32), "weights": levels[0].weights.astype(np.float32)}
        return cls(lang, words, [first, *map(_quantized, levels[1:])], more)

    def paths(
        self,
        words: NDArray[np.int32],
        costs: NDArray[np.float32],
        bounds: NDArray[np.int64],
        rows: NDArray[np.int64],
        judged: bool = False,
        beam: int = BEAM,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The best path through the candidates of each row's positions, see ``phonemic.native._paths``."""
        return paths(self._cells, self.unigrams, self._weights, self.order, words, costs, bounds, rows, beam, judged)

    def __len__(self) -> int:
        return sum(len(part["weights"]) for part in self.parts)

    def save(self, path: Path) -> None:
        """Writes the model.

        Arguments:
            path: the file; what is there is replaced once the new file is complete.
        """
        with replacing(path) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The model as :meth:`from_bytes` reads it: a ZIP archive of arrays."""
        arrays: dict[str, NDArray[Any]] = {"unigrams": self.parts[0]["logs"], "weights": self.parts[0]["weights"]}
        for size, part in enumerate(self.parts[1:], 2):
            histories, counts = np.unique(part["keys"] >> np.uint64(16), return_counts=True)
            arrays |= {
                f"last{size}": (part["keys"] & np.uint64(0xFFFF)).astype(np.uint16),
                f"count{size}": _of_histories(self.parts, size, histories, counts),
                f"probabilities{size}": part["probabilities"],
                f"weights{size}": part["weights"],
            }
        arrays |= {f"more.{name}": array for name, array in self.more.items()}
        head = {"format": _FORMAT, "lang": self.lang, "order": self.order, "words": self.words}
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as packed:

            def add(name: str, content: bytes) -> None:
                packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # at no time: the same each time

            add("model.json", json.dumps(head, ensure_ascii=False).encode())
            for name, array in arrays.items():
                content = io.BytesIO()
                np.lib.format.write_array(content, _planes(array), allow_pickle=False)
                add(f"{name}.npy", content.getvalue())
        return made.getvalue()

    @classmethod
    def load(cls, path: Path) -> Ngrams:
        """Reads what :meth:`save` wrote.

        Raises:
            CheckpointError: it is not that, or damaged.
            OSError: it cannot be read.
        """
        return cls.from_bytes(path.read_bytes(), path)

    @classmethod
    def from_bytes(cls, data: bytes, where: object) -> Ngrams:
        """Reads what :meth:`to_bytes` gave.

        Arguments:
            data: the bytes.
            where: names them in errors.

        Raises:
            CheckpointError: they are not that, or damaged.
        """
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                if sum(each.file_size for each in packed.infolist()) > _MOST:
                    raise CheckpointError(f"{where}: unfolds to more than {_MOST:,} bytes")
                head = json.loads(packed.read("model.json"))
                if head["format"] != _FORMAT:
                    raise CheckpointError(f"{where}: not n-grams of this version (format {_FORMAT!r})")
                names = [each.removesuffix(".npy") for each in packed.namelist() if each.endswith(".npy")]
                arrays = {name: _array(packed.read(f"{name}.npy")) for name in names}
            return cls(head["lang"], _words(head["words"]), _parts(arrays, head["order"]), _more(arrays, head))
        except _DAMAGED as error:
            raise CheckpointError(f"{where}: damaged, or not saved n-grams ({error})") from error


def _planes(array: NDArray[Any]) -> NDArray[Any]:
    """Return unsigned integers as one row per byte, lowest first, which is compressed better; others as they are."""
    if array.dtype.kind != "u" or array.dtype.itemsize == 1:
        return array
    parts = array.astype(array.dtype.newbyteorder("<"), copy=False).view(np.uint8)
    return np.ascontiguousarray(parts.reshape(len(array), array.dtype.itemsize).T)


def _array(data: bytes) -> NDArray[Any]:
    found: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    if found.ndim == 2 and found.dtype == np.uint8:
        found = np.ascontiguousarray(found.T).view(np.dtype(f"<u{found.shape[0]}"))[:, 0]
    if found.ndim != 1 or found.dtype.kind not in "fiu" or not np.isfinite(found).all():
        raise ValueError(f"an array {found.dtype} {found.shape}, not one of finite numbers")
    return found


def _words(words: object) -> list[str]:
    if not isinstance(words, list) or not len(SPECIAL) < len(words) <= 1 << 16:
        raise ValueError("its words are no list, too few or too many")
    if not all(isinstance(word, str) for word in words):
        raise ValueError("a word is not a string")
    return words


def _parts(arrays: Mapping[str, NDArray[Any]], order: int) -> list[dict[str, NDArray[Any]]]:
    parts = [{"logs": arrays["unigrams"], "weights": arrays["weights"]}]
    keys = np.arange(len(arrays["unigrams"]), dtype=np.uint64)
    for size in range(2, order + 1):
        counts, last = arrays[f"count{size}"], arrays[f"last{size}"].astype(np.uint16)
        if counts.dtype.kind != "u" or counts.sum(dtype=np.uint64) != len(last) or len(counts) != len(keys):
            raise ValueError(f"its n-grams of {size} words do not fit")
        keys = np.repeat(keys, counts.astype(np.int64)) << np.uint64(16) | last
        part = {name: arrays[f"{name}{size}"].astype(np.uint8) for name in ("probabilities", "weights")}
        parts.append({"keys": keys, **part})
    return parts


def _more(arrays: Mapping[str, NDArray[Any]], head: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """How Chinese characters are read, and how probable capitals are in Vietnamese."""
    found = {name.removeprefix("more."): array for name, array in arrays.items() if name.startswith("more.")}
    capitals = found.get("capitals")
    if capitals is not None and not (len(capitals) == len(head["words"]) and ((capitals > 0) & (capitals < 1)).all()):
        raise ValueError("its capitals do not fit")
    if head["lang"] == "zh":
        words, triples, logs = (found[name] for name in ("words", "triples", "logs"))
        if not len(words) == len(triples) == len(logs) or words.dtype.kind != "u":
            raise ValueError("its readings do not fit")
        if len(words) and (words.max() >= len(head["words"]) or triples.dtype != np.int32):
            raise ValueError("a reading is of none of its words")
        check_ids(triples, vocabulary("zh"))
    return found


def _quantized(level: Level) -> dict[str, NDArray[Any]]:
    return {"keys": level.keys, "probabilities": _steps(-level.logs), "weights": _steps(2 - level.weights)}


def _steps(nats: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return sixteenths of a nat, even ones: what is finer makes files larger and restores no better."""
    return (2 * np.rint(_STEPS / 2 * nats).clip(0, 127)).astype(np.uint8)


def _of_histories(
    parts: Sequence[Mapping[str, NDArray[Any]]], size: int, histories: NDArray[np.uint64], counts: NDArray[np.intp]
) -> NDArray[Any]:
    """How many n-grams each shorter one begins."""
    shorter = np.arange(len(parts[0]["logs"]), dtype=np.uint64) if size == 2 else parts[size - 2]["keys"]
    found = np.zeros(len(shorter), np.min_scalar_type(int(counts.max(initial=0))))
    found[np.searchsorted(shorter, histories)] = counts
    return found

"""The meaning of a corpus's ids: packed syllables, or the ids of another tokenizer, and the special symbols to add."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic import Tokenizer, __version__
from phonemic.corpus.options import describe
from phonemic.forms import ESCAPED
from phonemic.inventory import EMPTY_ID, FORM_SHIFT, TRIPLE, UNKNOWN_ID, unpack, vocabulary
from phonemic_bert.errors import CorpusError
from phonemic_bert.tokenization.positions import PLAIN_SPECIALS, SPECIAL_IDS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Symbols:
    """The ids of a corpus and those of the model's input.

    Attributes:
        tokenizer: the manifest's description of the tokenizer.
        pad: the input id of [PAD].
        cls: of [CLS].
        sep: of [SEP].
        mask: of [MASK].
        special: input ids of the special symbols, [UNK] among them.
        shift: what is added to the corpus's ids to give input ids.
        size: entries of the embedding table.
    """

    tokenizer: dict[str, Any]
    pad: int
    cls: int
    sep: int
    mask: int
    special: tuple[int, ...]
    shift: int
    size: int

    @classmethod
    def of_manifest(cls, tokenizer: dict[str, Any], where: Path) -> Symbols:
        """Reads the manifest's description of the tokenizer.

        Raises:
            CorpusError: it is not that of the installed phonemic.
        """
        if tokenizer.get("name") == "phonemic":
            _same_version(tokenizer, where)
            special = {name.strip("[]").lower(): packed for name, packed in SPECIAL_IDS.items()}
            places = {name: special[name] for name in ("pad", "cls", "sep", "mask")}
            size = len(vocabulary(tokenizer["lang"]))
            return cls(tokenizer, **places, special=tuple(special.values()), shift=0, size=size)
        try:
            count = int(tokenizer.get("id_count", tokenizer["vocab_size"]))
        except (KeyError, TypeError, ValueError) as error:
            raise CorpusError(f"{where}: the tokenizer's vocab_size is missing or not a number") from error
        shift = len(PLAIN_SPECIALS)
        unknown = tokenizer.get("unknown_id")
        never_masked = (*range(shift), *([] if unknown is None else [unknown + shift]))
        pad, bos, sep, mask = range(shift)
        return cls(tokenizer, pad, bos, sep, mask, never_masked, shift, count + shift)

    @property
    def phonemic(self) -> bool:
        """Whether the ids are packed onsets, rimes and tones."""
        return bool(self.tokenizer["name"] == "phonemic")

    @property
    def form(self) -> bool:
        """Whether packed ids also say how they are written."""
        return self.phonemic and bool(self.tokenizer.get("form"))

    def never_masked(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Which input ids are never masked: special symbols, [UNK] among them whatever its form, and what is escaped.

        The bytes behind an escaped position would reveal the masked character.
        """
        found: NDArray[np.bool_] = np.isin(ids & TRIPLE if self.form else ids, self.special)
        return found | (ids >> FORM_SHIFT == ESCAPED) if self.form else found

    @property
    def lang(self) -> str | None:
        """The language, where the tokenizer has one."""
        return self.tokenizer.get("lang")

    def make_tokenizer(self) -> Tokenizer:
        """The phonemic tokenizer that made the corpus."""
        return _tokenizer(self.tokenizer)

    def check(self, ids: NDArray[np.int32], where: Path) -> None:
        """Checks the corpus's ids.

        Raises:
            CorpusError: an id is not one of the tokenizer's.
        """
        if not len(ids):
            return
        low, high, limit = int(ids.min()), int(ids.max()), self.size - self.shift
        if self.phonemic:
            high = max(int(unpack(ids).max()), 0 if self.form else high >> 16)
        if low < 0 or high >= limit:
            raise CorpusError(f"{where}: it holds ids from {low} to {high}, but the tokenizer has {limit}")
        if self.phonemic:
            parts = unpack(ids)
            special = ids[(parts < EMPTY_ID).any(-1)]
            mixed = special[special != (special & 255) * 0x010101]
            if self.form:
                mixed = mixed[mixed & TRIPLE != UNKNOWN_ID]
            if len(mixed):
                raise CorpusError(
                    f"{where}: it holds {mixed[0]}, components {tuple(unpack(mixed[0]).tolist())}, which is not a "
                    "position: special symbols stand alone"
                )


def _tokenizer(description: dict[str, Any]) -> Tokenizer:
    return Tokenizer.restore(description, "the manifest's tokenizer")


def _same_version(tokenizer: dict[str, Any], where: Path) -> None:
    try:
        installed = describe(_tokenizer(tokenizer))
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(f"{where}: the tokenizer it describes cannot be made ({error})") from error
    for name, value in installed.items():
        if tokenizer.get(name) != value:
            raise CorpusError(
                f"{where}: the corpus was tokenized by phonemic {tokenizer.get('version')} ({name} "
                f"{tokenizer.get(name)}), but phonemic {__version__} ({name} {value}) is installed: the same text "
                "would give different ids. Prepare the corpus again, or install that version"
            )

"""Vietnamese spelling noise: syllables respelled so that they sound alike, and mistyped so that they do not."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Literal

import numpy as np

from phonemic import vietnamese
from phonemic.characters import normalize
from phonemic.inventory import NATIVE
from phonemic.noise.base import Noise, Noisy, RewriteOptions, Unit
from phonemic.noise.respelling import KINDS
from phonemic.tokenizer import Tokenizer

#: Names for several kinds. Those of ``same-sound`` never change an id.
GROUPS = {
    "same-sound": ("i-y", "tone-placement", "normal-form"),
    "missing-diacritics": ("without-tone", "without-diacritics"),
    "typing": ("adjacent-key", "doubled-letter", "dropped-letter", "swapped-letters", "telex", "vni"),
}

#: Syllables whose respellings are remembered at a time.
_REMEMBERED = 1 << 13
_UNSEEN = RewriteOptions((), (), None)


class Misspellings(Noise):
    """Respells Vietnamese syllables.

    A unit is a syllable that the tokenizer reads as one. Of the kinds that can respell it one is drawn, and of that
    kind's respellings one; so a syllable is respelled once at most.

    Arguments:
        kinds: names from ``KINDS``, or from ``GROUPS`` for several.
        tokenizer: a ``Tokenizer("vi")``, strict or with a joiner perhaps.
        seed: see :class:`~phonemic.noise.Noise`.
        share: see :class:`~phonemic.noise.Noise`.
        draw: see :class:`~phonemic.noise.Noise`.
        nested: see :class:`~phonemic.noise.Noise`.

    Raises:
        ValueError: an unknown kind or option, no kind at all, a tokenizer for another language.
    """

    lang = "vi"

    def __init__(
        self,
        kinds: Iterable[str],
        tokenizer: Tokenizer | None = None,
        seed: int = 0,
        share: str = "all",
        draw: str = "exact",
        nested: bool = True,
    ) -> None:
        super().__init__(tokenizer, seed, share, draw, nested)
        named = [kinds] if isinstance(kinds, str) else list(kinds)
        wanted = {kind for name in named for kind in GROUPS.get(name, (name,))}
        unknown = sorted(wanted - KINDS.keys())
        if unknown or not wanted:
            known = ", ".join([*KINDS, *GROUPS])
            raise ValueError(
                f"unknown kind {unknown[0]!r}: choose from {known}" if unknown else f"choose at least one of {known}"
            )
        self.kinds = tuple(kind for kind in KINDS if kind in wanted)
        self._options: dict[str, RewriteOptions | None] = {}

    def units(self, text: str) -> list[Unit]:
        """The syllables of a text."""
        encoding = self.tokenizer.encode(text)
        units = []
        for (start, end), kind in zip(encoding.spans.tolist(), encoding.kinds.tolist(), strict=True):
            if kind == NATIVE:
                units.append(Unit(start, end, self._options_of(text[start:end]), (start, end)))
        return units

    def ids_changed(self, text: str, noisy: Noisy) -> int:
        """How many of the respelled syllables have other ids, or are not syllables any more.

        Arguments:
            text: the clean text.
            noisy: what :meth:`apply` made of it.
        """
        encode = self.tokenizer.encode
        return sum(not np.array_equal(encode(change.old).ids, encode(change.new).ids) for change in noisy.changes)

    def _options_of(self, syllable: str) -> RewriteOptions | None:
        found = self._options.get(syllable, _UNSEEN)
        if found is _UNSEEN:
            if len(self._options) >= _REMEMBERED:
                self._options.clear()
            found = self._options[syllable] = self._made(syllable)
        return found

    def _made(self, syllable: str) -> RewriteOptions | None:
        """All kinds are equally likely, whatever the number of its respellings."""
        # An ignorable character inside a syllable (a soft hyphen) is nothing that the rules of spelling know.
        if vietnamese.factorize(syllable) is None:
            return None
        texts: list[str] = []
        kinds: list[str] = []
        weights: list[float] = []
        for kind in self.kinds:
            found = KINDS[kind](syllable) if kind == "normal-form" else _in_form(KINDS[kind](syllable), syllable)
            found = [text for text in dict.fromkeys(found) if text != syllable]
            texts += found
            kinds += [kind] * len(found)
            weights += [1 / len(found) for _ in found]
        return RewriteOptions(texts, kinds, np.array(weights)) if texts else None


def _in_form(texts: list[str], syllable: str) -> list[str]:
    """The texts in the normal form of a syllable, without the ones that differ from it in that alone."""
    composed = normalize("NFC", syllable)
    form: Literal["NFC", "NFD"] = "NFD" if unicodedata.is_normalized("NFD", syllable) else "NFC"
    return [normalize(form, text) for text in texts if normalize("NFC", text) != composed]

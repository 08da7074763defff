"""The ways to respell a Vietnamese syllable, with the same sound or not.

Each takes a syllable that ``vietnamese.factorize`` reads, in any case and normal form, and returns its respellings;
the syllable itself, and one in another normal form, may be among them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache

from phonemic import vietnamese
from phonemic.characters import normalize
from phonemic.vietnamese import LOOKALIKES, TONES
from phonemic.writing.notations import cased

_TONE_MARKS = {mark: name for name, (_, mark) in TONES.items() if mark}
#: The onsets before which *i* and *y* are both written, in one orthography or another.
_BEFORE_I_OR_Y = frozenset({"", "h", "k", "l", "m", "qu", "s", "t", "v"})
#: Finals after whose medial the old rule puts the tone mark that the new rule puts behind it (hòa, hoà).
_MOVABLE = ("oa", "oe", "uy")
_KEY_ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_TELEX_TONES = {"huyền": "f", "sắc": "s", "hỏi": "r", "ngã": "x", "nặng": "j"}
_TELEX_LETTERS = {"ă": "aw", "â": "aa", "đ": "dd", "ê": "ee", "ô": "oo", "ơ": "ow", "ư": "uw"}
_VNI_TONES = {"sắc": "1", "huyền": "2", "hỏi": "3", "ngã": "4", "nặng": "5"}
_VNI_LETTERS = {"ă": "a8", "â": "a6", "đ": "d9", "ê": "e6", "ô": "o6", "ơ": "o7", "ư": "u7"}


# --- respelling: letters and tone apart


def _nfc(text: str) -> str:
    return normalize("NFC", text)


def _nfd(text: str) -> str:
    return normalize("NFD", text)


def _toneless(syllable: str) -> tuple[list[str], str, int]:
    """The letters of a syllable without its tone, in their case, the tone mark ("" for none) and its letter's place."""
    bare, mark, at = "", "", -1
    for char in _nfd(syllable):
        if char in _TONE_MARKS:
            mark, at = char, len(_nfc(bare)) - 1
        else:
            bare += char
    return list(_nfc(bare)), mark, at


def _toned(letters: list[str], mark: str, at: int) -> str:
    return _nfc("".join([*letters[: at + 1], mark, *letters[at + 1 :]]))


def i_y(syllable: str) -> list[str]:
    """*i* for *y* and *y* for *i* where people write both and both have one reading: *lí, lý; quít, quýt; yêu, iêu*."""
    letters, mark, at = _toneless(syllable)
    other = {"i": "y", "y": "i", "I": "Y", "Y": "I"}
    clean = vietnamese.spellings()[_plain("".join(letters))]
    found = []
    for number, letter in enumerate(letters):
        if letter in other and _plain("".join(letters[:number])) in _BEFORE_I_OR_Y:
            changed = [*letters[:number], other[letter], *letters[number + 1 :]]
            spelling = vietnamese.spellings().get(_plain("".join(changed)))
            if spelling and (spelling.onset, spelling.rime, spelling.irregular) == (clean.onset, clean.rime, False):
                found.append(_toned(changed, mark, at))
    return found


def tone_placement(syllable: str) -> list[str]:
    """The tone mark on the other vowel: *hoà, hòa; khoẻ, khỏe; thuỷ, thủy*."""
    letters, mark, at = _toneless(syllable)
    plain = _plain("".join(letters))
    last = len(letters) - 1
    if not mark or at < last - 1 or not plain.endswith(_MOVABLE) or plain.startswith("qu"):
        return []
    return [_toned(letters, mark, last - 1 if at == last else last)]


def normal_form(syllable: str) -> list[str]:
    """NFC, NFD, and letters whose tone mark alone is a combining one, as in code page 1258."""
    letters, mark, at = _toneless(syllable)
    return [_nfc(syllable), _nfd(syllable), "".join([*letters[: at + 1], mark, *letters[at + 1 :]])]


@cache
def _d_gi() -> dict[str, str]:
    """Spellings with *d* to those with *gi* and the other way, without tone marks."""
    table, pairs = vietnamese.spellings(), {}
    for one in table.values():
        for text in (f"gi{one.text[1:]}", f"g{one.text[1:]}") if one.text.startswith("d") else ():
            other = table.get(text)
            if other and (other.onset, other.rime) == ("z", one.rime):
                pairs[one.text], pairs[text] = text, one.text
    return pairs


def d_gi(syllable: str) -> list[str]:
    """*gi* for *d* and *d* for *gi*, which sound alike in most accents: *dành, giành*."""
    letters, mark, at = _toneless(syllable)
    text = "".join(letters)
    other = _d_gi().get(_plain(text))
    if other is None:
        return []
    # The mark keeps its place counted from the end, where both have the same letters; no consonant takes it (gìa, dà).
    place = max(1, len(other) - len(letters) + at) if mark else -1
    return [_toned(list(cased(other, text)), mark, place)]


# --- lost and wrong marks


def without_tone(syllable: str) -> list[str]:
    """Without its tone mark: *tiêng*."""
    letters, _, _ = _toneless(syllable)
    return ["".join(letters)]


def without_diacritics(syllable: str) -> list[str]:
    """Without any mark, *đ* as *d*: *tieng*."""
    bare = "".join(char for char in _nfd(syllable) if not unicodedata.combining(char))
    return [bare.translate(str.maketrans("đðɖĐÐƉ", "dddDDD"))]


def wrong_tone(syllable: str) -> list[str]:
    """With another tone mark that the syllable can bear: *tiểng, tiễng; hỏi, hõi*; none where there is none."""
    letters, mark, at = _toneless(syllable)
    if not mark:
        return []
    others = (_toned(letters, other, at) for other in _TONE_MARKS if other != mark)
    return [other for other in others if vietnamese.factorize(_plain(other), strict=True)]


# --- typing


@cache
def _neighbours() -> dict[str, list[str]]:
    """Each letter's neighbours on a QWERTY keyboard: those at most one and a quarter keys away."""
    places = {key: (row, shift + at) for row, (keys, shift) in enumerate(_KEY_ROWS) for at, key in enumerate(keys)}
    return {
        key: [other for other, (r, x) in places.items() if other != key and (r - row) ** 2 + (x - at) ** 2 <= 1.25**2]
        for key, (row, at) in places.items()
    }


def adjacent_key(syllable: str) -> list[str]:
    """A letter without marks as its neighbour on a QWERTY keyboard."""
    letters = _nfc(syllable)
    return [
        letters[:at] + cased(other, letter) + letters[at + 1 :]
        for at, letter in enumerate(letters)
        for other in _neighbours().get(letter.lower(), ())
    ]


def doubled_letter(syllable: str) -> list[str]:
    """A letter typed twice, the second time without the capital."""
    letters = _nfc(syllable)
    upper = len(letters) > 1 and letters.isupper()
    return [
        letters[: at + 1] + (letter if upper else letter.lower()) + letters[at + 1 :]
        for at, letter in enumerate(letters)
    ]


def dropped_letter(syllable: str) -> list[str]:
    """A letter not typed; something is left."""
    letters = _nfc(syllable)
    return [letters[:at] + letters[at + 1 :] for at in range(len(letters)) if len(letters) > 1]


def swapped_letters(syllable: str) -> list[str]:
    """Two letters typed in the wrong order."""
    letters = _nfc(syllable)
    return [letters[:at] + letters[at + 1] + letters[at] + letters[at + 2 :] for at in range(len(letters) - 1)]


def _residue(syllable: str, keys: dict[str, str], tones: dict[str, str]) -> list[str]:
    """A syllable where the input method did not act: all keys, the tone's last or behind its vowel;
    or the tone's key alone.
    """
    letters, mark, at = _toneless(syllable)
    typed = [_cased_keys(keys.get(_plain(letter), letter), letter) for letter in letters]
    if not mark:
        return ["".join(typed)]
    tone = tones[_TONE_MARKS[mark]]
    tone = tone.upper() if len(letters) > 1 and "".join(letters).isupper() else tone
    return ["".join(typed) + tone, "".join([*typed[: at + 1], tone, *typed[at + 1 :]]), "".join(letters) + tone]


def _cased_keys(keys: str, letter: str) -> str:
    return keys.upper() if letter.isupper() else keys


def telex(syllable: str) -> list[str]:
    """The Telex keys of the syllable: *tieengs, tieesng, tiêngs*."""
    return _residue(syllable, _TELEX_LETTERS, _TELEX_TONES)


def vni(syllable: str) -> list[str]:
    """The VNI keys of the syllable: *tie6ng1, tie61ng, tiêng1*."""
    return _residue(syllable, _VNI_LETTERS, _VNI_TONES)


def _plain(letters: str) -> str:
    """Lower case, look-alikes as what they stand for."""
    return "".join(LOOKALIKES.get(letter, letter) for letter in letters.lower())


# --- the kinds by name

#: Kinds of misspelling, by name.
KINDS: dict[str, Callable[[str], list[str]]] = {
    "i-y": i_y,
    "tone-placement": tone_placement,
    "normal-form": normal_form,
    "d-gi": d_gi,
    "without-tone": without_tone,
    "without-diacritics": without_diacritics,
    "wrong-tone": wrong_tone,
    "adjacent-key": adjacent_key,
    "doubled-letter": doubled_letter,
    "dropped-letter": dropped_letter,
    "swapped-letters": swapped_letters,
    "telex": telex,
    "vni": vni,
}

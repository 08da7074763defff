"""Noise in test sets, and in training sets: the texts are rewritten before they are tokenized, the annotation stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from phonemic.errors import InputError
from phonemic.files import read_texts
from phonemic.noise import Noise, Noisy
from phonemic.noise.homophones import Homophones, count_characters, frequent
from phonemic.noise.misspellings import GROUPS, Misspellings
from phonemic.noise.respelling import KINDS as RESPELLINGS
from phonemic_bert.finetuning.jobs import hash_file

#: Kinds of task whose annotation has places in the text: noise must keep lengths.
PLACED = ("coreference", "question-answering", "sequence-labelling")

#: The fields of examples that hold texts.
_FIELDS = ("text", "text_a", "text_b", "context", "question", "choices")

HOMOPHONES = "homophones"
#: The option that names a file of texts.
COUNTS = "counts"
#: The kinds of noise that :func:`parse` takes.
NAMES = (HOMOPHONES, *GROUPS, *RESPELLINGS)

#: The options of all noise, those of homophones besides, and which of them are "true" or "false".
_OPTIONS = ("share", "draw", "nested")
_OF_HOMOPHONES = ("pool", COUNTS, "min_count", "by_count", "match", "sound", "same_ids")
_FLAGS = ("nested", "by_count", "same_ids")
#: Recorded next to ``counts``, as the start of the file's SHA-256: another file is other noise.
_DIGEST = "counts_sha256"


@dataclass(frozen=True)
class NoiseCondition:
    """A kind of noise at one ratio.

    Attributes:
        name: one of ``NAMES``.
        ratio: the share of characters or syllables to rewrite.
        options: of :class:`~phonemic.noise.Homophones` or :class:`~phonemic.noise.Misspellings`, as pairs;
            ``counts``, a file of texts, and ``min_count`` and ``by_count`` limit the pool as ``phonemic noise`` does.
    """

    name: str
    ratio: float
    options: tuple[tuple[str, str], ...] = ()

    @property
    def lang(self) -> str:
        """The language whose texts it rewrites."""
        return (Homophones if self.name == HOMOPHONES else Misspellings).lang


def parse(written: str, ratios: Sequence[float]) -> list[NoiseCondition]:
    """``homophones`` or ``homophones:pool=gb2312-1,match=default`` at some ratios.

    Raises:
        InputError: there is no such noise or option, an option's value is wrong, or a ratio is not between 0 and 1.
        OSError: the file of ``counts`` cannot be read.
    """
    name, _, rest = written.partition(":")
    if name not in NAMES:
        raise InputError(f"unknown noise {name!r}: choose one of {', '.join(NAMES)}")
    pairs = [part.partition("=") for part in rest.split(",") if part]
    if any(not equals for _, equals, _ in pairs):
        raise InputError(f"{written!r}: the options of noise are written name=value, separated by commas")
    known = (*_OF_HOMOPHONES, *_OPTIONS) if name == HOMOPHONES else _OPTIONS
    unknown = next((key for key, *_ in pairs if key not in known), None)
    if unknown is not None:
        raise InputError(f"{written!r}: noise {name} has no option {unknown!r}: choose one of {', '.join(known)}")
    options = {key: value for key, _, value in pairs}
    if len(options) < len(pairs):
        raise InputError(f"{written!r}: an option is given twice")
    if COUNTS in options:
        options[_DIGEST] = hash_file(Path(options[COUNTS])).hex()[:16]
    for ratio in ratios:
        if not 0 <= ratio <= 1:
            raise InputError(f"the ratio of noise must be between 0 and 1, not {ratio} (7.5 % is 0.075)")
    conditions = [NoiseCondition(name, ratio, tuple(options.items())) for ratio in ratios]
    if conditions:
        _maker(name, conditions[0].options, 0)
    return conditions


def _pool(values: dict[str, Any]) -> Any:
    """The pool of homophones, without the options that it is made of."""
    values.pop(_DIGEST, None)
    pool, path = values.pop("pool", "all"), values.pop(COUNTS, None)
    min_count, by_count = values.pop("min_count", None), values.pop("by_count", None)
    if path is None:
        if min_count is not None or by_count is not None:
            raise ValueError("min_count and by_count need counts, a file of texts")
        return pool
    counts: Counter[str] = Counter()
    for texts in read_texts(path):
        counts.update(count_characters(text for text in texts if text is not None))
    return frequent(counts, pool, int(min_count or 1), bool(by_count))


@cache
def _maker(name: str, options: tuple[tuple[str, str], ...], seed: int) -> Noise:
    values: dict[str, Any] = dict(options)
    for key in values.keys() & set(_FLAGS):
        if values[key] not in ("true", "false"):
            raise InputError(f"noise {name}: {key} must be true or false, not {values[key]!r}")
        values[key] = values[key] == "true"
    try:
        if name == HOMOPHONES:
            values["pool"] = _pool(values)
        return Homophones(**values, seed=seed) if name == HOMOPHONES else Misspellings(name, **values, seed=seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"noise {name}: {error}") from error


def noised(examples: Sequence[Any], condition: NoiseCondition, seed: int, places: bool) -> tuple[list[Any], float]:
    """Examples with noise in every text, and the share of characters or syllables that were really rewritten.

    Arguments:
        examples: the clean ones; the noise of each is drawn from its number.
        condition: which noise.
        seed: another seed is other noise.
        places: the annotation has places in the text, so that lengths must stay.

    Raises:
        InputError: ``places``, and the noise changes a length.
    """
    maker = _maker(condition.name, condition.options, seed)
    units = changes = 0

    def rewrite(text: str, key: str) -> str:
        nonlocal units, changes
        noisy: Noisy = maker.apply(text, condition.ratio, key)
        moved = next((one for one in noisy.changes if len(one.old) != len(one.new)), None) if places else None
        if moved is not None:
            raise InputError(
                f"noise {condition.name} writes {moved.new!r} for {moved.old!r}: it changes lengths, so it cannot be "
                "put into texts whose annotation has places (coreference, questions, tagging)"
            )
        units, changes = units + noisy.units, changes + len(noisy.changes)
        return noisy.text

    rewritten = [_rewritten(example, rewrite, number) for number, example in enumerate(examples)]
    return rewritten, changes / units if units else 0.0


def _rewritten(example: Any, rewrite: Callable[[str, str], str], number: int) -> Any:
    values: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(example, name, None)
        if isinstance(value, str):
            values[name] = rewrite(value, f"{number} {name}")
        elif value is not None:
            values[name] = tuple(rewrite(one, f"{number} {name} {at}") for at, one in enumerate(value))
    return replace(example, **values)

"""Compiles the readings in context into tables-zh-context.bin: sections next to those of tables-zh.bin.

``native/context.pxd`` reads them under the same names:

* ``context.layout``: uint32, the number of this layout.
* ``bmp``, ``astral``, ``astral_index``: in place of the default's, uint32 a character: its reading, or with MODEL the
  number of its model.
* ``looks.bmp``, ``looks.astral``, ``looks.astral_index``: uint32 a character, laid out as its entries are: what models
  see of it, whether it takes a place, its class, and flags.
* ``models``: (models, 21) int32, see ``Model`` there: nine numbers, four biases, eight packed readings.
* ``models.first``: (models, 4) int32, see ``First`` there: what most places need no more of a model than.
* ``buckets``: (buckets, 2) uint64: four keys, each the lower 15 bits of a feature's hash and whether the bucket that it
  belongs to has an odd number; and their payloads: DECIDES and the number of a reading, or weights, the lowest bits
  first. An entry that has no room in its bucket is in the next.
* ``words``: as ``buckets``; a payload is a word's number and how each of its characters is read alone, three bits;
  ``words.count``, how many buckets it is; ``words.filters``, bits of words of two characters.
* ``filters``: uint64, some of each model, and one behind the last, which a model without any reads: where no window of
  a place has both its bits set, the bias decides. ``filters.beside``: the like for the characters next to a place; the
  first, in which all bits are set, is that of models without any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phonemic import mandarin
from phonemic.characters import kind_of
from phonemic.inventory import vocabulary
from phonemic.lexicon.entries import (
    CONTEXT_LAYOUT,
    PACKED,
    ZH_FIRST,
    ZH_HAN,
    ZH_MODEL,
    ZH_SECOND,
    Tables,
    character_table,
    entry,
    with_entries,
)
from phonemic.reading.buckets import IN_BUCKET
from phonemic.reading.context import PASSED, Reader, all_readings
from phonemic.reading.filters import Filters
from phonemic.reading.models import (
    DECIDING,
    MOST_READINGS,
    MOST_SCORED,
    WIDTHS,
    Model,
    ReadingData,
    reading_data,
)

PLACED_FLAG, CLASS_SHIFT, ENDS_FLAG, TRADITIONAL_FLAG = 1 << 16, 17, 1 << 24, 1 << 25
DECIDES = 1 << 15
READINGS_SHIFT = 7
BEGINS, ENDS_WITH = 0x85EBCA6B, 0x9E3779B1
_SCALARS = 9
_FIELDS = _SCALARS + MOST_SCORED + MOST_READINGS


def _packed(reading: str) -> int:
    return vocabulary("zh").pack(mandarin.factorize(reading))


def _looks(data: ReadingData) -> Tables:
    reader = Reader(data)
    table = np.zeros(0x110000, np.uint32)
    for code in range(len(table)):
        look = reader.look(chr(code))
        flags = PLACED_FLAG | (ENDS_FLAG if look.ends else 0) | (TRADITIONAL_FLAG if look.traditional else 0)
        if kind_of(chr(code)) not in PASSED:
            table[code] = look.seen | look.kind << CLASS_SHIFT | flags
    return {f"looks.{name}": part for name, part in character_table(table).items()}


def _payload(model: Model, key: int) -> int:
    if key in model.decides:
        more, reading = model.decides[key]
        return DECIDES | more << 3 | reading
    width = WIDTHS[len(model.bias)]
    return sum((weight & (1 << width) - 1) << width * place for place, weight in enumerate(model.weights[key]))


def _arrays(models: list[Model], settling: set[int]) -> Tables:
    rows, firsts = np.zeros((len(models), _FIELDS), np.int32), np.zeros((len(models), 4), np.int32)
    buckets = np.zeros((sum(model.buckets + 1 for model in models), 2, IN_BUCKET), np.uint16)
    windows: list[NDArray[np.uint64]] = []
    beside = [np.array([~np.uint64(0)])]  # for a model that any character next to it may tell something
    begin = windows_begin = 0
    beside_begin = 1
    for row, first, model in zip(rows, firsts, models, strict=True):
        filters = Filters.of(model)
        windows.append(filters.windows)
        readings = [*map(_packed, all_readings(model))]
        first[:] = readings[model.bias.index(max(model.bias))], 0, 1, model.slots > DECIDING
        if len(filters.beside):
            first[1:3] = beside_begin, len(filters.beside)
            beside.append(filters.beside)
            beside_begin += len(filters.beside)
        row[:_SCALARS] = (
            begin, model.buckets, windows_begin, len(filters.windows), model.slots, model.by_script, len(model.bias),
            WIDTHS[len(model.bias)], id(model) in settling,
        )  # fmt: skip
        row[_SCALARS : _SCALARS + len(model.bias)] = model.bias
        row[_SCALARS + MOST_SCORED :] = readings
        for bucket, keys in zip(buckets[begin:], model.layout(model.buckets) or [], strict=False):
            for lane, key in enumerate(keys):
                bucket[:, lane] = (key & 0x7FFF) << 1 | key >> 15 & 1, _payload(model, key)
        begin += model.buckets + 1
        windows_begin += len(filters.windows)
    return {
        "models": rows.reshape(-1),
        "models.first": firsts.reshape(-1),
        "buckets": buckets.reshape(-1).view(np.uint64),
        "filters": np.concatenate([*windows, np.zeros(1, np.uint64)]),
        "filters.beside": np.concatenate(beside),
    }


def _word_arrays(reader: Reader) -> Tables:
    words = reader.words
    buckets = np.zeros((len(words.buckets), 2, IN_BUCKET), np.uint16)
    for bucket, own in zip(buckets, words.buckets, strict=True):
        for lane, (key, word) in enumerate(own.items()):
            number = words.numbers[word]
            for place in range(len(word)):
                number |= reader.number_alone(word, place) << READINGS_SHIFT + 3 * place
            bucket[:, lane] = (key & 0x7FFF) << 1 | key >> 15 & 1, number
    return {
        "words": buckets.reshape(-1).view(np.uint64),
        "words.count": np.array([words.count], np.uint32),
        "words.filters": _word_filters(reader),
    }


def _word_filters(reader: Reader) -> NDArray[np.uint64]:
    """Bits of words of two characters one of which varies; behind them, of the words in which it is read unusually."""
    found, telling = np.zeros(1 << 18, bool), np.zeros(1 << 16, bool)
    kept = (word for bucket in reader.words.buckets for word in bucket.values())
    for word in kept:
        for place, char in enumerate(word if len(word) == 2 else ""):
            if model := reader.data.models.get(char):
                value = (ord(word[0]) << 16 | ord(word[1])) * (ENDS_WITH if place else BEGINS) % (1 << 32)
                found[value >> 14] = True
                telling[value >> 16] |= reader.number_alone(word, place) != model.bias.index(max(model.bias))
    return np.packbits(np.concatenate([found, telling]), bitorder="little").view(np.uint64)


def compiled_contexts(base: Tables) -> Tables:
    """All sections of tables-zh-context.bin.

    Arguments:
        base: those of tables-zh.bin.
    """
    data = reading_data()
    base = base | {name: base[name] & ~np.uint32(ZH_FIRST | ZH_SECOND) for name in ("bmp", "astral")}
    bmp = base["bmp"]
    for char, reading in data.alone.items():
        if ord(char) < 0x10000 and bmp[ord(char)] & ZH_HAN:
            bmp[ord(char)] = bmp[ord(char)] & ~np.uint32(PACKED) | np.uint32(_packed(reading))
    reader = Reader(data)
    settling = {id(model) for char, model in data.models.items() if reader.settles(char)}
    models: list[Model] = []
    numbers: dict[int, int] = {}
    changes: dict[str, int] = {}
    for char, model in sorted(data.models.items()):
        number = numbers.setdefault(id(model), len(models))
        if number == len(models):
            models.append(model)
        changes[char] = entry(base, char) & ~PACKED | ZH_MODEL | number
    changed = with_entries(base, changes)
    entries = {name: changed[name] for name in ("bmp", "astral", "astral_index")}
    layout = {"context.layout": np.array([CONTEXT_LAYOUT], np.uint32)}
    return layout | entries | _looks(data) | _arrays(models, settling) | _word_arrays(reader)

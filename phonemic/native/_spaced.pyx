# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Texts with their syllables written anew and all else as it stood; ``decoding.spaced`` is the plain twin.

A row that needs more than a look-up (positions that do not follow one another, a merged 儿) is left to the twin.
"""

cimport numpy as cnp
from cpython.unicode cimport Py_UNICODE_ISALNUM, Py_UNICODE_ISLOWER, Py_UNICODE_ISTITLE, Py_UNICODE_ISUPPER
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

from phonemic.native.cells cimport (
    CLASS, DONE, NEEDS_CELLS, NEEDS_MORE, NEEDS_WIDTH, NO_MEMORY, ROOM, SKIPPED, SLOW, WIDE, Buffer, Cells,
    PyUnicode_FromKindAndData, Result, append, cell_of, cells_at, make_room, text_of, unit_t, widths,
)
from phonemic.native.strings cimport Text, take
from phonemic.native.text cimport unlikely

cnp.import_array()

cdef enum:
    IDS = (1 << 24) - 1     # all bits of an id without a form
    CASE_SHIFT = 24         # the place of a Vietnamese syllable's case in the key of its cell; see decoding.py
    LOWER = 0
    FIRST = 1
    UPPER = 2


cdef enum Before:           # what kind of piece is before
    NOTHING
    WORD
    SYLLABLE


cdef struct Way:
    bint forms              # whether positions have forms
    bint part               # whether the text ends where its positions do
    bint cased              # whether syllables take the case of their letters; else they are parted by spaces
    bint merging            # whether 儿 may be merged with the syllable before it


cdef inline uint32_t at_of(const Text* text, Py_ssize_t at) noexcept nogil:
    if text.kind == 1:
        return (<const uint8_t*>text.data)[at]
    return (<const uint16_t*>text.data)[at] if text.kind == 2 else (<const uint32_t*>text.data)[at]


cdef inline uint32_t case_of(const Text* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    """The case of letters, as ``notations.cased`` has it."""
    cdef Py_ssize_t at
    cdef uint32_t char
    cdef bint upper = False
    if end == start:
        return LOWER
    if end - start > 1:
        for at in range(start, end):
            char = at_of(text, at)
            if Py_UNICODE_ISLOWER(char) or Py_UNICODE_ISTITLE(char):
                break
            upper = upper or Py_UNICODE_ISUPPER(char)
        else:
            if upper:
                return UPPER
    return FIRST if Py_UNICODE_ISUPPER(at_of(text, start)) else LOWER


cdef inline bint has_merged(const Text* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Whether 儿 or 兒 is behind the first character."""
    cdef Py_ssize_t at
    for at in range(start + 1, end):
        if at_of(text, at) == 0x513F or at_of(text, at) == 0x5152:
            return True
    return False


cdef inline unit_t* copy(unit_t* to, const Text* text, Py_ssize_t start, Py_ssize_t end, uint32_t* seen) noexcept nogil:
    """Copies a part of a text; ``seen`` gets the bits of its characters."""
    cdef Py_ssize_t at
    cdef uint32_t char, bits = 0
    for at in range(start, end):
        char = at_of(text, at)
        bits |= char
        to[0] = <unit_t>char
        to += 1
    seen[0] |= bits
    return to


cdef inline Result write_spaced(const Cells* table, const int32_t* ids, const int32_t* spans, Py_ssize_t count,
                                const Text* text, const Way* way, unit_t* begin, Buffer* buffer, uint32_t* wide,
                                Py_ssize_t* size, list missing):
    """The text of a row."""
    cdef Py_ssize_t number, start, end, at = 0, last = text.length
    cdef unit_t* to = begin
    cdef uint32_t key, seen = 0
    cdef Before before = NOTHING
    cdef bint native, word, lacking = False
    cdef const uint16_t* cell
    if way.part:
        at = spans[0] if count else 0
        last = spans[2 * count - 1] if count else 0
        if not 0 <= at <= text.length or not 0 <= last <= text.length:
            return NEEDS_MORE
    for number in range(count):
        start, end, key = spans[2 * number], spans[2 * number + 1], <uint32_t>ids[number]
        if way.forms:
            key &= IDS
            if number and start == spans[2 * number - 2] and end == spans[2 * number - 1]:
                continue  # bytes have the span of what they belong to
        if unlikely(key > IDS or start < at or end < start or end > text.length):
            return NEEDS_MORE
        if unlikely(not make_room(buffer, &to, ROOM + end - at)):
            return NO_MEMORY
        if way.cased:
            key |= case_of(text, start, end) << CASE_SHIFT
        cell = cell_of(table, key)
        if unlikely(cell == NULL):
            missing.append(<int32_t>key)
            lacking, at = True, end
            continue
        if unlikely(cell[1] & CLASS == SLOW):
            return NEEDS_MORE
        native = cell[1] & CLASS != SKIPPED
        if unlikely(native and way.merging and end - start > 1 and has_merged(text, start, end)):
            return NEEDS_MORE
        word = native or (end > start and Py_UNICODE_ISALNUM(at_of(text, start)))
        if not way.cased and at == start and before != NOTHING and word and (native or before == SYLLABLE):
            to[0] = 32
            to += 1
        to = copy(to, text, at, start, &seen)
        if native:
            wide[0] |= cell[1]
            if unit_t is uint16_t:
                if unlikely(cell[1] & WIDE == WIDE):
                    return NEEDS_WIDTH
            to = append(to, cell)
        else:
            to = copy(to, text, start, end, &seen)
        at, before = end, SYLLABLE if native else WORD if word else NOTHING
    if last > at:
        if unlikely(not make_room(buffer, &to, ROOM + last - at)):
            return NO_MEMORY
        to = copy(to, text, at, last, &seen)
    wide[0] |= widths(seen)
    size[0] = to - <unit_t*>buffer.data
    return NEEDS_CELLS if lacking else DONE


def space_rows(list texts not None, const int32_t[::1] ids not None, const int64_t[::1] offsets not None,
               const int32_t[:, ::1] spans not None, const uint32_t[::1] keys not None,
               const uint16_t[:, ::1] cells not None, bint forms, bint cased, bint merging,
               const uint8_t[::1] parts not None, list written not None, const uint8_t[::1] waiting not None):
    """Writes rows of ids into their texts, of the waiting ones, as far as the table of cells allows.

    Arguments:
        texts: the text of each row.
        ids, offsets: row i is ``ids[offsets[i]:offsets[i + 1]]``; they are checked by the caller.
        spans: of each id, into its own text; shape (N, 2).
        keys, cells: the table.
        forms: whether positions have forms.
        cased: whether syllables take the case of their letters; else they are parted by spaces.
        merging: whether 儿 may be merged with the syllable before it.
        parts: of each row, whether only the part of its text is written that the positions cover.
        written: gets the texts of the rows.
        waiting: which rows are to be written; the others stay as they are.

    Returns:
        (rows that need cells, the ids that do, rows that are left): three lists.
    """
    cdef Cells table = cells_at(keys, cells)
    cdef Buffer buffer
    cdef Way way
    cdef Text text
    cdef Py_ssize_t row, size = 0, count, rows = len(offsets) - 1
    cdef uint32_t wide
    cdef const int32_t* first = &ids[0] if len(ids) else NULL
    cdef const int32_t* bounds = &spans[0, 0] if len(ids) else NULL
    cdef Result result
    cdef list missing = [], again = [], left = []
    way.forms, way.cased, way.merging = forms, cased, merging
    buffer.size = 1 << 12
    buffer.data = malloc(buffer.size)
    if buffer.data == NULL:
        raise MemoryError("no memory for the text")
    try:
        for row in range(rows):
            if not waiting[row]:
                continue
            take(texts[row], &text)
            way.part = parts[row]
            count, wide, result = offsets[row + 1] - offsets[row], 0, NEEDS_WIDTH
            if text.kind < 4:
                result = write_spaced(
                    &table, first + offsets[row], bounds + 2 * offsets[row], count, &text, &way,
                    <uint16_t*>buffer.data, &buffer, &wide, &size, missing
                )
            if result == NEEDS_WIDTH:
                result = write_spaced(
                    &table, first + offsets[row], bounds + 2 * offsets[row], count, &text, &way,
                    <uint32_t*>buffer.data, &buffer, &wide, &size, missing
                )
                if result == DONE:
                    written[row] = PyUnicode_FromKindAndData(4, buffer.data, size)
                    continue
            if result == DONE:
                written[row] = text_of(<uint16_t*>buffer.data, size, wide & WIDE)
            elif result == NO_MEMORY:
                raise MemoryError(f"no memory for the text of row {row}")
            elif result == NEEDS_CELLS:
                again.append(row)
            else:
                left.append(row)
    finally:
        free(buffer.data)
    return again, missing, left

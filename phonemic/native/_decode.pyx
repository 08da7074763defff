# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Ids back to text: rows of ids to strings, each id's text looked up in a table (``phonemic/writing/pieces.py``).

A row that needs more than a look-up (damaged or cut escapes, positions with and without forms side by side, letters
that would be read as a syllable) is left to ``phonemic/writing/decoding.py``.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from phonemic._core cimport Core
from phonemic.native.cells cimport (
    CELL, CLASS, CODE_SHIFT, DONE, LETTER, NEEDS_CELLS, NEEDS_MORE, NEEDS_WIDTH, NO_MEMORY, ROOM, SKIPPED, SLOW, WIDE,
    Buffer, Cells, PyUnicode_FromKindAndData, Result, append, cell_of, cells_at, make_room,
    phonemic_store, shift_of, text_of, unit_t, widths,
)
from phonemic.native.text cimport UNKNOWN, unlikely
from phonemic.native.vietnamese cimport KEY_LETTERS, Syllables, find_syllable
from phonemic.native.written cimport CONTINUATION, EMOJI, EMOJI_SELECTOR, END_OF_ESCAPE, ESCAPED, FORM, LEAD, WHITE

cnp.import_array()

cdef enum:
    TRIPLE = (1 << FORM) - 1


cdef inline uint32_t read_bytes(const int32_t* ids, Py_ssize_t left, Py_ssize_t* taken) noexcept nogil:
    """The character whose first byte is at ``ids``, and how many positions it takes; 0 positions where it is none."""
    cdef uint32_t form = <uint32_t>ids[0] >> FORM, char, least, more
    cdef Py_ssize_t number
    taken[0] = 0
    if form == EMOJI:
        char, more, least = 0x1F, 2, 0
    elif form < LEAD or form >= WHITE:
        return 0
    elif form < LEAD + 0x20:
        char, more, least = form - LEAD, 1, 0
    elif form < LEAD + 0x30:
        char, more, least = form - LEAD - 0x20, 2, 0x800
    else:
        char, more, least = form - LEAD - 0x30, 3, 0x10000
    if <Py_ssize_t>more >= left:
        return 0
    for number in range(1, more + 1):
        if ids[number] & TRIPLE != UNKNOWN:
            return 0
        form = <uint32_t>ids[number] >> FORM
        if not CONTINUATION <= form < LEAD:
            return 0
        char = char << 6 | form - CONTINUATION
    if char < least or char > 0x10FFFF:
        return 0
    taken[0] = more + 1
    return char


cdef inline uint32_t white_space(uint32_t form) noexcept nogil:
    if form == WHITE:
        return 0x20
    if form == WHITE + 1:
        return 0x0A
    if form == WHITE + 2:
        return 0x09
    if form == WHITE + 3:
        return 0x0D
    return 0x3000 if form == WHITE + 4 else 0xA0


cdef inline Result put_bytes(const int32_t* ids, Py_ssize_t left, bint* escaped, unit_t** at, uint32_t* wide,
                             Py_ssize_t* taken) noexcept nogil:
    """A position or more of [UNK] with forms: bytes, white space, or the end of an escape."""
    cdef uint32_t form = <uint32_t>ids[0] >> FORM, char
    taken[0] = 1
    if form == END_OF_ESCAPE:
        if not escaped[0] or <uint32_t>(ids - 1)[0] >> FORM == ESCAPED:
            return NEEDS_MORE
        escaped[0] = False
        return DONE
    if WHITE <= form < END_OF_ESCAPE:
        char = white_space(form)
    elif form == EMOJI_SELECTOR:
        char = 0xFE0F
    else:
        char = read_bytes(ids, left, taken)
        if taken[0] == 0:
            return NEEDS_MORE
    wide[0] |= widths(char)
    if unit_t is uint16_t:
        if char > 0xFFFF:
            return NEEDS_WIDTH
    at[0][0] = <unit_t>char
    at[0] += 1
    return DONE


cdef inline Result write_with_forms(const Cells* table, const int32_t* ids, Py_ssize_t count, unit_t* begin,
                                    Buffer* buffer, uint32_t* wide, Py_ssize_t* size, list missing):
    """The text that positions with forms write."""
    cdef Py_ssize_t number = 0, taken = 0
    cdef unit_t* at = begin
    cdef uint32_t id
    cdef bint escaped = False, lacking = False
    cdef const uint16_t* cell
    cdef Result result
    while number < count:
        id = <uint32_t>ids[number]
        if unlikely(not make_room(buffer, &at, ROOM)):
            return NO_MEMORY
        if id >> 31:
            return NEEDS_MORE
        if id & TRIPLE == UNKNOWN and id != UNKNOWN:
            result = put_bytes(ids + number, count - number, &escaped, &at, wide, &taken)
            if result != DONE:
                return result
            number += taken
            continue
        if escaped:
            return NEEDS_MORE
        cell = cell_of(table, id)
        if unlikely(cell == NULL):
            missing.append(ids[number])
            lacking = True
        elif unlikely(cell[1] & CLASS):
            if cell[1] & CLASS == SLOW:
                return NEEDS_MORE
            escaped = id >> FORM == ESCAPED
        else:
            wide[0] |= cell[1]
            if unit_t is uint16_t:
                if unlikely(cell[1] & WIDE == WIDE):
                    return NEEDS_WIDTH
            at = append(at, cell)
        number += 1
    size[0] = at - <unit_t*>buffer.data
    return NEEDS_MORE if escaped else NEEDS_CELLS if lacking else DONE


cdef inline bint ends_as_syllable(const Syllables* syllables, bint strict, uint64_t key,
                                  Py_ssize_t letters) noexcept nogil:
    """Whether a run of letters that ends would be read as a syllable."""
    return syllables != NULL and 0 < letters <= KEY_LETTERS and find_syllable(syllables, key, 0, strict) != 0


cdef inline Result write_units(const Cells* table, const Syllables* syllables, bint strict, const int32_t* ids,
                               Py_ssize_t count, unit_t* begin, Buffer* buffer, uint32_t* wide, Py_ssize_t* size,
                               list missing):
    """Units separated by spaces; letters, and digits, that follow one another are written together."""
    cdef Py_ssize_t number, letters = 0
    cdef unit_t* at = begin
    cdef uint32_t before = 0, flags
    cdef uint64_t key = 0
    cdef bint first = True, lacking = False
    cdef const uint16_t* cell
    for number in range(count):
        if unlikely(not make_room(buffer, &at, ROOM)):
            return NO_MEMORY
        if ids[number] < 0:
            return NEEDS_MORE
        cell = cell_of(table, <uint32_t>ids[number])
        if unlikely(cell == NULL):
            missing.append(ids[number])
            lacking = True
            continue
        flags = cell[1]
        if flags & CLASS == SKIPPED:
            if flags & CLASS != before:
                if ends_as_syllable(syllables, strict, key, letters):
                    return NEEDS_MORE
                letters = 0
            before = SKIPPED
            continue
        if unlikely(flags & CLASS == SLOW):
            return NEEDS_MORE
        wide[0] |= flags
        if unit_t is uint16_t:
            if unlikely(flags & WIDE == WIDE):
                return NEEDS_WIDTH
        if not (flags & CLASS and flags & CLASS == before):
            if ends_as_syllable(syllables, strict, key, letters):
                return NEEDS_MORE
            letters, key = 0, 0
            if not first:
                at[0] = 32
                at += 1
        before = flags & CLASS
        if before == LETTER:
            key = key << 6 | flags >> CODE_SHIFT
            letters += 1
        first = False
        at = append(at, cell)
    if ends_as_syllable(syllables, strict, key, letters):
        return NEEDS_MORE
    size[0] = at - <unit_t*>buffer.data
    return NEEDS_CELLS if lacking else DONE


cdef inline Result write_row(const Cells* table, const Syllables* syllables, bint strict, bint forms,
                             const int32_t* ids, Py_ssize_t count, unit_t* begin, Buffer* buffer, uint32_t* wide,
                             Py_ssize_t* size, list missing):
    if forms:
        return write_with_forms(table, ids, count, begin, buffer, wide, size, missing)
    return write_units(table, syllables, strict, ids, count, begin, buffer, wide, size, missing)


def decode_rows(const int32_t[::1] ids not None, const int64_t[::1] offsets not None, const uint32_t[::1] keys not None,
                const uint16_t[:, ::1] cells not None, bint forms, Core core, list texts not None,
                const uint8_t[::1] waiting not None):
    """Writes rows of ids, of the waiting ones, as far as the table of cells allows.

    Arguments:
        ids, offsets: row i is ``ids[offsets[i]:offsets[i + 1]]``; they are checked by the caller.
        keys, cells: the table.
        forms: whether positions have forms; else units are separated by spaces.
        core: reads letters of Vietnamese, so that no run of them is written that would be read as a syllable; or None.
        texts: gets the texts of the rows.
        waiting: which rows are to be written; the others stay as they are.

    Returns:
        (rows that need cells, the ids that do, rows that are left): three lists.
    """
    cdef Cells table = cells_at(keys, cells)
    cdef Buffer buffer
    cdef Py_ssize_t row, size = 0, count, rows = len(offsets) - 1
    cdef uint32_t wide
    cdef const int32_t* first = &ids[0] if len(ids) else NULL
    cdef const Syllables* syllables = &core.syllables if core is not None else NULL
    cdef bint strict = core is not None and core.strict
    cdef Result result
    cdef list missing = [], again = [], left = []
    buffer.size = 1 << 12
    buffer.data = malloc(buffer.size)
    if buffer.data == NULL:
        raise MemoryError("no memory for the text")
    try:
        for row in range(rows):
            if not waiting[row]:
                continue
            count, wide = offsets[row + 1] - offsets[row], 0
            result = write_row(
                &table, syllables, strict, forms, first + offsets[row], count, <uint16_t*>buffer.data, &buffer, &wide,
                &size, missing
            )
            if result == DONE:
                texts[row] = text_of(<uint16_t*>buffer.data, size, wide & WIDE)
                continue
            if result == NEEDS_WIDTH:
                result = write_row(
                    &table, syllables, strict, forms, first + offsets[row], count, <uint32_t*>buffer.data, &buffer,
                    &wide, &size, missing
                )
                if result == DONE:
                    texts[row] = PyUnicode_FromKindAndData(4, buffer.data, size)
                    continue
            if result == NO_MEMORY:
                raise MemoryError(f"no memory for the text of row {row}")
            if result == NEEDS_CELLS:
                again.append(row)
            else:
                left.append(row)
    finally:
        free(buffer.data)
    return again, missing, left


cdef bint put(uint32_t* keys, uint16_t* cells, uint32_t size, uint32_t key, const uint16_t* cell) noexcept nogil:
    """Puts a cell where it has none. Its key comes last: another thread may be looking it up."""
    cdef uint32_t slot = (key - 1) * <uint32_t>0x9E3779B1 >> shift_of(size)
    while keys[slot]:
        if keys[slot] == key:
            return False
        slot = (slot + 1) & (size - 1)
    memcpy(cells + <size_t>slot * CELL, cell, CELL * sizeof(uint16_t))
    phonemic_store(&keys[slot], key)
    return True


def put_cell(uint32_t[::1] keys not None, uint16_t[:, ::1] cells not None, uint32_t packed,
             const uint16_t[::1] cell not None):
    """Puts an id's cell into a table that has room for it; returns whether it had none."""
    return put(&keys[0], &cells[0, 0], <uint32_t>len(keys), packed + 1, &cell[0])


def move_cells(const uint32_t[::1] keys not None, const uint16_t[:, ::1] cells not None,
               uint32_t[::1] to_keys not None, uint16_t[:, ::1] to_cells not None):
    """Puts all that one table has into another one, which has room for it."""
    cdef Py_ssize_t slot
    for slot in range(len(keys)):
        if keys[slot]:
            put(&to_keys[0], &to_cells[0, 0], <uint32_t>len(to_keys), keys[slot], &cells[slot, 0])

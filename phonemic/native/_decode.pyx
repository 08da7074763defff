# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Ids back to text: rows of ids to strings, each id's text looked up in a table of cells (``phonemic/pieces.py``).

A row that needs more than a look-up (damaged or cut escapes, positions with and without forms side by side, letters
that would be read as a syllable) is left to ``phonemic/decoding.py``.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from phonemic._core cimport Core
from phonemic.native.text cimport UNKNOWN, unlikely
from phonemic.native.vietnamese cimport KEY_LETTERS, Syllables, find_syllable
from phonemic.native.written cimport CONTINUATION, EMOJI, EMOJI_SELECTOR, END_OF_ESCAPE, ESCAPED, FORM, LEAD, WHITE

cnp.import_array()

cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)
    object PyUnicode_FromKindAndData(int kind, const void* buffer, Py_ssize_t size)
    void* PyUnicode_DATA(object text)

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define phonemic_load(place) (*(const volatile uint32_t *)(place))
    #define phonemic_store(place, value) ((void)_InterlockedExchange((volatile long *)(place), (long)(value)))
    #else
    #define phonemic_load(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
    #define phonemic_store(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
    #endif
    """
    uint32_t phonemic_load(const uint32_t* place) noexcept nogil
    void phonemic_store(uint32_t* place, uint32_t value) noexcept nogil

# A cell: 16 numbers of 16 bits. Layout shared with pieces.py.
cdef enum:
    UNITS = 14              # of text in a cell
    CELL = UNITS + 2        # before them the number of units; flags
    TRIPLE = (1 << FORM) - 1
    ROOM = 64               # units that are free before a position is written

    WIDE = 7                # flags: 0 for ASCII, 1 Latin-1, 3 the basic plane, 7 pairs of halves for other planes
    CLASS = 7 << 3          # what kind of piece it is:
    LETTER = 1 << 3         # runs of these are written together, with the letter's code above CODE_SHIFT
    DIGIT = 2 << 3          # of these, too
    SKIPPED = 3 << 3        # a special symbol
    SLOW = 4 << 3           # decoding.py writes it
    CODE_SHIFT = 8

ctypedef fused unit_t:
    uint16_t
    uint32_t

cdef enum Result:
    DONE
    NEEDS_CELLS             # an id has no cell yet
    NEEDS_MORE              # left to decoding.py
    NEEDS_WIDTH             # a character of another plane among units of 16 bits
    NO_MEMORY


cdef struct Cells:
    const uint32_t* keys    # id + 1 in a table with open addressing, 0 where it is empty
    const uint16_t* cells
    uint32_t mask
    int shift


cdef struct Buffer:
    void* data
    Py_ssize_t size         # in bytes


cdef inline int shift_of(uint32_t size) noexcept nogil:
    """The bits of a hash that are too many for a table of a power of two."""
    cdef int shift = 32
    while size > 1:
        size >>= 1
        shift -= 1
    return shift


cdef inline const uint16_t* cell_of(const Cells* table, uint32_t id) noexcept nogil:
    """The cell of an id, which is not negative; NULL where it has none."""
    cdef uint32_t slot = id * <uint32_t>0x9E3779B1 >> table.shift
    cdef uint32_t key = phonemic_load(&table.keys[slot])
    while key != id + 1:
        if key == 0:
            return NULL
        slot = (slot + 1) & table.mask
        key = phonemic_load(&table.keys[slot])
    return table.cells + <size_t>slot * CELL


cdef inline bint grow(Buffer* buffer, size_t size) noexcept nogil:
    cdef void* moved = realloc(buffer.data, size)
    if moved == NULL:
        return False
    buffer.data, buffer.size = moved, size
    return True


cdef inline uint32_t widths(uint32_t char) noexcept nogil:
    return (char > 0x7F) | (char > 0xFF) << 1 | (char > 0xFFFF) << 2


cdef inline unit_t* append(unit_t* at, const uint16_t* cell) noexcept nogil:
    """Copies a cell's text, with more behind it that is written over."""
    cdef Py_ssize_t number = 0, size = cell[0]
    if unit_t is uint16_t:
        memcpy(at, cell + 2, UNITS * sizeof(uint16_t))
        return at + size
    else:
        while number < size:
            at[0] = cell[2 + number]
            if cell[1] & WIDE == WIDE and 0xD800 <= at[0] < 0xDC00:
                number += 1
                at[0] = 0x10000 + ((at[0] - 0xD800) << 10) + (cell[2 + number] - 0xDC00)
            at += 1
            number += 1
        return at


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


cdef inline bint make_room(Buffer* buffer, unit_t** at) noexcept nogil:
    """Sees to it that the next piece fits."""
    cdef Py_ssize_t used = <char*>at[0] - <char*>buffer.data
    if buffer.size - used >= ROOM * <Py_ssize_t>sizeof(unit_t):
        return True
    if not grow(buffer, buffer.size + buffer.size // 2 + 2 * ROOM * sizeof(unit_t)):
        return False
    at[0] = <unit_t*>(<char*>buffer.data + used)
    return True


cdef inline Result put_bytes(const int32_t* ids, Py_ssize_t left, bint* escaped, unit_t** at, uint32_t* wide,
                             Py_ssize_t* taken) noexcept nogil:
    """A position or more of [UNK] with forms: bytes, white space, or the end of an escape."""
    cdef uint32_t form = <uint32_t>ids[0] >> FORM, char
    taken[0] = 1
    if form == END_OF_ESCAPE:
        if not escaped[0] or <uint32_t>ids[-1] >> FORM == ESCAPED:
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
        if unlikely(not make_room(buffer, &at)):
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
        if unlikely(not make_room(buffer, &at)):
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


cdef str text_of(const uint16_t* units, Py_ssize_t size, uint32_t wide):
    """A string of units of 16 bits."""
    cdef Py_ssize_t at
    cdef uint8_t* narrow
    text = PyUnicode_New(size, 0x7F if wide == 0 else 0xFF if wide == 1 else 0xFFFF)
    if size == 0:
        return text
    if wide > 1:
        memcpy(PyUnicode_DATA(text), units, size * sizeof(uint16_t))
    else:
        narrow = <uint8_t*>PyUnicode_DATA(text)
        for at in range(size):
            narrow[at] = <uint8_t>units[at]
    return text


def decode_rows(const int32_t[::1] ids not None, const int64_t[::1] offsets not None, const uint32_t[::1] keys not None,
                const uint16_t[:, ::1] cells not None, bint forms, Core core, list texts not None,
                const uint8_t[::1] waiting not None):
    """Writes rows of ids, of those that wait, as far as the table of cells allows.

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
    cdef Cells table
    cdef Buffer buffer
    cdef Py_ssize_t row, size = 0, count, rows = len(offsets) - 1
    cdef uint32_t wide
    cdef const int32_t* first = &ids[0] if len(ids) else NULL
    cdef const Syllables* syllables = &core.syllables if core is not None else NULL
    cdef bint strict = core is not None and core.strict
    cdef Result result
    cdef list missing = [], again = [], left = []
    table.keys, table.cells = &keys[0], &cells[0, 0]
    table.mask = <uint32_t>(len(keys) - 1)
    table.shift = shift_of(<uint32_t>len(keys))
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

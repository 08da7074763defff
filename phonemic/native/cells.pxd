"""Texts of ids, looked up in a table of cells (``phonemic/writing/pieces.py``), and the buffer that they go to."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

from phonemic.native.text cimport unlikely

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


cdef inline Cells cells_at(const uint32_t[::1] keys, const uint16_t[:, ::1] cells):
    """The table in two arrays; the number of keys is a power of two."""
    cdef Cells table
    table.keys, table.cells = &keys[0], &cells[0, 0]
    table.mask = <uint32_t>(len(keys) - 1)
    table.shift = shift_of(<uint32_t>len(keys))
    return table


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


cdef inline bint make_room(Buffer* buffer, unit_t** at, Py_ssize_t units) noexcept nogil:
    """Sees to it that so many units fit."""
    cdef Py_ssize_t used = <char*>at[0] - <char*>buffer.data
    if buffer.size - used >= units * <Py_ssize_t>sizeof(unit_t):
        return True
    if not grow(buffer, buffer.size + buffer.size // 2 + 2 * units * sizeof(unit_t)):
        return False
    at[0] = <unit_t*>(<char*>buffer.data + used)
    return True


cdef inline str text_of(const uint16_t* units, Py_ssize_t size, uint32_t wide):
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

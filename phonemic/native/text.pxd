"""Reading characters where they lie, and writing positions: what both languages' loops are made of."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t

ctypedef signed char utf8_t

#: The code units that the loops are compiled for: Latin-1, UCS-2 and UCS-4 strings, and UTF-8.
ctypedef fused text_t:
    uint8_t
    uint16_t
    uint32_t
    utf8_t

cdef extern from *:
    bint unlikely(bint condition) noexcept nogil  # Cython's own: keeps what is rare out of the loops' registers

cdef enum:
    UNKNOWN = 0x010101  # [UNK] three times
    INVALID = 0xDC00    # a code point that no valid UTF-8 has
    LONGEST_CHARACTER = 4  # bytes of UTF-8
    EMPTY = 5           # [EMPTY]


cdef struct Characters:
    const uint32_t* bmp
    const uint32_t* astral
    const uint16_t* astral_index


cdef struct Output:
    int32_t* ids
    int32_t* spans  # NULL where not asked for; two numbers a position
    int32_t* words  # NULL where not asked for
    Py_ssize_t count
    Py_ssize_t capacity
    Py_ssize_t invalid  # the place of the first byte that is not UTF-8, -1 where there is none


# Where a text has come to: the whitespace-delimited unit, whether white space came last, and whether a mark would
# belong to the position before it.
cdef struct State:
    int32_t word
    bint gap
    bint open


cdef inline uint32_t char_at(const text_t* text, Py_ssize_t at, Py_ssize_t length, Py_ssize_t* step) noexcept nogil:
    """The code point at ``at``; ``step`` becomes the units it takes.

    A byte that is not UTF-8 comes as INVALID plus the byte, as in Python's surrogateescape.
    """
    if text_t is utf8_t:
        return utf8_at(<const uint8_t*>text, at, length, step)
    else:
        step[0] = 1
        return text[at]


cdef inline uint32_t utf8_at(const uint8_t* text, Py_ssize_t at, Py_ssize_t length, Py_ssize_t* step) noexcept nogil:
    cdef uint32_t first = text[at], char
    if first < 0x80:
        step[0] = 1
        return first
    if 0xE0 <= first < 0xF0:
        if at + 2 < length and text[at + 1] & 0xC0 == 0x80 and text[at + 2] & 0xC0 == 0x80:
            char = (first & 15) << 12 | <uint32_t>(text[at + 1] & 63) << 6 | (text[at + 2] & 63)
            if char >= 0x800 and char >> 11 != 0x1B:  # not overlong, no surrogate
                step[0] = 3
                return char
    elif 0xC2 <= first < 0xE0:
        if at + 1 < length and text[at + 1] & 0xC0 == 0x80:
            step[0] = 2
            return (first & 31) << 6 | (text[at + 1] & 63)
    elif 0xF0 <= first < 0xF5 and at + 3 < length:
        if text[at + 1] & 0xC0 == 0x80 and text[at + 2] & 0xC0 == 0x80 and text[at + 3] & 0xC0 == 0x80:
            char = (first & 7) << 18 | <uint32_t>(text[at + 1] & 63) << 12 | <uint32_t>(text[at + 2] & 63) << 6
            if 0x10000 <= char < 0x110000:
                step[0] = 4
                return char | (text[at + 3] & 63)
    step[0] = 1
    return INVALID | first


cdef inline void check(const text_t* text, uint32_t char, Py_ssize_t at, Output* out) noexcept nogil:
    """Notes the first byte of a text that is not UTF-8."""
    if text_t is utf8_t:
        if char >> 8 == INVALID >> 8 and out.invalid < 0:
            out.invalid = at


cdef inline uint32_t entry_of(const Characters* table, uint32_t char) noexcept nogil:
    if char < 0x10000:
        return table.bmp[char]
    return table.astral[(<size_t>table.astral_index[(char >> 8) - 256] << 8) | (char & 255)]


cdef inline void emit(Output* out, int32_t packed, Py_ssize_t start, Py_ssize_t end, int32_t word) noexcept nogil:
    cdef Py_ssize_t at = out.count
    out.ids[at] = packed
    if out.spans != NULL:
        out.spans[2 * at] = <int32_t>start
        out.spans[2 * at + 1] = <int32_t>end
    if out.words != NULL:
        out.words[at] = word
    out.count = at + 1


cdef inline void extend_last(Output* out, Py_ssize_t end) noexcept nogil:
    if out.spans != NULL:
        out.spans[2 * out.count - 1] = <int32_t>end


cdef inline bint joins_last(Output* out, const uint8_t* classes, Py_ssize_t at) noexcept nogil:
    """Puts the one character of position ``at`` into the last position, where that has room for it.

    ``classes`` says of a symbol whether it is a letter, a digit or neither (0), as tones are.
    """
    cdef uint32_t symbol = <uint32_t>out.ids[at] & 255, last = <uint32_t>out.ids[out.count - 1]
    cdef uint32_t one = last & 255, other = last >> 8 & 255, third = last >> 16
    if not classes[symbol] or classes[symbol] != classes[third]:
        return False
    if last == third * UNKNOWN:
        one, other = EMPTY, third
    elif one == EMPTY and not (other == third and third == symbol):  # three equal symbols are one character
        one, other = other, third
    else:
        return False
    out.ids[out.count - 1] = <int32_t>(one | other << 8 | symbol << 16)
    if out.spans != NULL:
        extend_last(out, out.spans[2 * at + 1])
    return True


cdef inline void pack_from(Output* out, const uint8_t* classes, Py_ssize_t first, bint open) noexcept nogil:
    """Packs the positions from ``first`` on, a character each, which touch, up to three into one.

    Arguments:
        classes: see :func:`joins_last`.
        open: whether ``first`` touches the position before it.
    """
    cdef Py_ssize_t at, count = out.count
    out.count = first
    for at in range(first, count):
        if (open or at > first) and joins_last(out, classes, at):
            continue
        out.ids[out.count] = out.ids[at]
        if out.spans != NULL:
            out.spans[2 * out.count] = out.spans[2 * at]
            out.spans[2 * out.count + 1] = out.spans[2 * at + 1]
        if out.words != NULL:
            out.words[out.count] = out.words[at]
        out.count += 1


cdef inline void new_word(State* state) noexcept nogil:
    """Called before each character that is not white space."""
    state.word += state.gap
    state.gap = False

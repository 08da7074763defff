"""The written form of each position, in the highest byte of its id, and the bytes of what no symbol stands for.

``phonemic/forms.py`` says what a form means; the layout of the tables is in ``lexicon/forms.py``. The ids of a text are
made first, by the loops that make them without forms; then text and ids are walked together, so that a form never
changes what is heard. A text of n units has at most ``EXPANSION`` * n positions, so the ids without forms are written
that far behind, and read from there while the positions with forms are written in front of them.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from phonemic.native.text cimport UNKNOWN, Characters, Output, char_at, emit, entry_of, text_t

cdef enum:
    EXPANSION = 6           # positions that a unit of text takes at most
    FORM = 24               # the place of a form in an id
    SPACED = 1 << FORM      # added to the form of a character of the fallback: a space before it
    CASES = 3               # of a syllable; also what a space before it adds to its form
    NORMS = 6               # what the next normalization adds
    SPELLINGS = 18          # what the next spelling adds
    ESCAPED = 127           # the bytes that follow say how it is written, up to END_OF_ESCAPE
    CONTINUATION = 1        # [UNK]: a byte from 0x80 on
    LEAD = 65               # a byte from 0xC0 on, in which C0 and C1 begin a character of ASCII
    WHITE = 118             # a space, newline, tab, return, ideographic or no-break space
    END_OF_ESCAPE = 124
    EMOJI_SELECTOR = 125    # the three bytes of U+FE0F
    EMOJI = 126             # the first two bytes of U+1F000 to U+1FFFF
    NFC = 1
    NFD = 2
    TONE_APART = 4

# Layout of a letter: lexicon/forms.py.
cdef enum:
    LETTERS = 0x1F00
    KIND = 3 << 10
    LETTER = 1 << 10
    TONE_MARK = 2 << 10
    QUALITY_MARK = 3 << 10
    UPPER = 1 << 9
    HAS_QUALITY = 1 << 12
    HORN = 2                # the number of this quality mark
    DOT_BELOW = 5           # the number of this tone


cdef struct Written:
    const uint8_t* bmp              # the form of a character alone, 0 for none
    const uint8_t* astral
    const uint16_t* astral_index
    # Mandarin
    Characters defaults             # how the lexicon reads a character alone
    const uint8_t* slots
    const int32_t* shape
    const uint16_t* begins
    const uint32_t* ranked
    # Vietnamese
    const uint16_t* letters
    const uint64_t* spellings
    int shift


# Where the walk has come to.
cdef struct Walk:
    int32_t word            # the whitespace-delimited unit
    bint gap                # white space came since its last character
    bint open               # a mark would belong to the position before it
    Py_ssize_t space        # the place of a space that may become part of the next position's form, -1 where none does
    Py_ssize_t cluster      # the first position of the character, or syllable, that marks would belong to
    const int32_t* ids      # the ids without forms that follow


cdef inline void begin_walk(Walk* walk, const int32_t* ids) noexcept nogil:
    walk.word, walk.gap, walk.open, walk.space, walk.cluster, walk.ids = -1, True, False, -1, 0, ids


cdef inline uint32_t form_of(const Written* written, uint32_t char) noexcept nogil:
    if char < 0x10000:
        return written.bmp[char]
    return written.astral[(<size_t>written.astral_index[(char >> 8) - 256] << 8) | (char & 255)]


cdef inline void put(Output* out, int32_t packed, uint32_t form, Py_ssize_t start, Py_ssize_t end,
                     int32_t word) noexcept nogil:
    emit(out, packed | <int32_t>(form << FORM), start, end, word)


cdef inline void put_known(Output* out, int32_t id, Py_ssize_t start, Py_ssize_t end, int32_t word,
                           bint ids_only) noexcept nogil:
    """A position; nothing but its id where it is known that spans and words are not asked for."""
    if ids_only:
        out.ids[out.count] = id
        out.count += 1
    else:
        emit(out, id, start, end, word)


cdef inline void put_byte(Output* out, uint32_t byte, Py_ssize_t start, Py_ssize_t end, int32_t word) noexcept nogil:
    put(out, UNKNOWN, byte - 0xC0 + LEAD if byte >= 0xC0 else byte - 0x80 + CONTINUATION, start, end, word)


cdef inline void put_character(Output* out, uint32_t char, Py_ssize_t start, Py_ssize_t end,
                               int32_t word) noexcept nogil:
    """The bytes of a character: UTF-8, in which halves of surrogate pairs are written, too, and ASCII takes two."""
    if char == 0xFE0F:
        put(out, UNKNOWN, EMOJI_SELECTOR, start, end, word)
        return
    if char < 0x800:
        put_byte(out, 0xC0 | char >> 6, start, end, word)
    elif char >> 12 == 0x1F:
        put(out, UNKNOWN, EMOJI, start, end, word)
        put_byte(out, 0x80 | (char >> 6 & 63), start, end, word)
    elif char < 0x10000:
        put_byte(out, 0xE0 | char >> 12, start, end, word)
        put_byte(out, 0x80 | (char >> 6 & 63), start, end, word)
    else:
        put_byte(out, 0xF0 | char >> 18, start, end, word)
        put_byte(out, 0x80 | (char >> 12 & 63), start, end, word)
        put_byte(out, 0x80 | (char >> 6 & 63), start, end, word)
    put_byte(out, 0x80 | (char & 63), start, end, word)


cdef inline void put_characters(Output* out, const text_t* text, Py_ssize_t at, Py_ssize_t stop, Py_ssize_t length,
                                Py_ssize_t start, Py_ssize_t end, int32_t word) noexcept nogil:
    """The bytes of ``text[at:stop]``, whose span is ``start`` to ``end``."""
    cdef Py_ssize_t step = 0
    while at < stop:
        put_character(out, char_at(text, at, length, &step), start, end, word)
        at += step


cdef inline void put_space(Output* out, Walk* walk) noexcept nogil:
    """A position for the space before a character whose form cannot hold it."""
    if walk.space >= 0:
        put(out, UNKNOWN, WHITE, walk.space, walk.space + 1, -1)
        walk.space = -1


cdef inline void put_white(Output* out, Walk* walk, uint32_t char, Py_ssize_t at, Py_ssize_t end) noexcept nogil:
    """White space: a position, but that the last space waits for what follows it."""
    cdef uint32_t form = 0
    put_space(out, walk)
    walk.gap, walk.open = True, False
    if char == 0x20:
        walk.space = at
        return
    if char == 0x0A:
        form = WHITE + 1
    elif char == 0x09:
        form = WHITE + 2
    elif char == 0x0D:
        form = WHITE + 3
    elif char == 0x3000:
        form = WHITE + 4
    elif char == 0xA0:
        form = WHITE + 5
    if form:
        put(out, UNKNOWN, form, at, end, -1)
    else:
        put_character(out, char, at, end, -1)


cdef inline void put_escaped(Output* out, const text_t* text, int32_t packed, Py_ssize_t at, Py_ssize_t stop,
                             Py_ssize_t length, Py_ssize_t end, int32_t word) noexcept nogil:
    """A position that is written as ``text[at:stop]``, in a way that no form of it says; its span ends at ``end``."""
    put(out, packed, ESCAPED, at, end, word)
    put_characters(out, text, at, stop, length, at, end, word)
    put(out, UNKNOWN, END_OF_ESCAPE, at, end, word)


cdef inline Py_ssize_t run_end(const Characters* chars, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                               uint32_t flags) noexcept nogil:
    """Where the characters from ``at`` on end that have one of the flags."""
    cdef Py_ssize_t step = 0
    while at < length and entry_of(chars, char_at(text, at, length, &step)) & flags:
        at += step
    return at


cdef inline void put_marks(const text_t* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t length, const Walk* walk,
                           Output* out) noexcept nogil:
    """The bytes of ``text[at:end]``, marks of the last character, whose positions' spans then end where they do."""
    cdef Py_ssize_t number, start = at
    if out.spans != NULL:
        start = out.spans[2 * walk.cluster]
        for number in range(walk.cluster, out.count):
            out.spans[2 * number + 1] = <int32_t>end
    put_characters(out, text, at, end, length, start, end, walk.word)

# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The native core: text where it lies -> packed ids, spans and word ids, without the GIL.

It reads CPython's own string buffer (1, 2 or 4 bytes a character) or UTF-8 bytes, in one pass, against immutable tables
made by ``data/compile.py`` (which defines the layout of every entry). ``reference.py`` is the same function in plain
Python.
"""

cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030C0000
    #define phonemic_ready(text) PyUnicode_READY(text)
    #else
    #define phonemic_ready(text) 0
    #endif
    """
    int phonemic_ready(object text) except -1
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

ctypedef signed char utf8_t

#: The code units that the loops below are compiled for: Latin-1, UCS-2 and UCS-4 strings, and (valid) UTF-8.
ctypedef fused text_t:
    uint8_t
    uint16_t
    uint32_t
    utf8_t

# Vietnamese entries: symbol | letter code << 8 | flags | tone value << 24.
cdef enum:
    NATIVE = 1 << 16
    FOREIGN = 1 << 17
    TRANSPARENT = 1 << 18
    SPACE = 1 << 19
    MARK = 3 << 20
    OTHER_MARK = 1 << 20
    TONE_MARK = 2 << 20
    QUALITY_MARK = 3 << 20
    JOINER = 1 << 22  # with none of the flags above
    JAMO = 1 << 23
    ONE_TONE = 32
    IRREGULAR = 1 << 16
    STOP_CODA = 2 << 16
    TONES = 6
    SAC = 2
    NANG = 5

# Mandarin entries: packed reading or fallback | flags << 24.
cdef enum:
    ZH_SPACE = 1 << 24
    ZH_TRANSPARENT = 1 << 25
    ZH_JAMO = 1 << 26
    ZH_HAN = 1 << 27
    ZH_JOINER = 1 << 28
    ZH_EXACT = 1 << 29
    PACKED = 0xFFFFFF

cdef enum:
    UNKNOWN = 0x010101  # [UNK] three times
    CODE_BITS = 13
    HAS_CHILDREN = 2
    IS_END = 1
    BLOCK = 512         # texts whose buffers are looked up between two releases of the GIL
    ON_STACK = 256      # characters of a text whose output fits the stack

cdef uint64_t SYLLABLE_HASH = <uint64_t>0x9E3779B97F4A7C15
cdef uint32_t PHRASE_HASH = <uint32_t>0x9E3779B1


cdef struct Characters:
    const uint32_t* bmp
    const uint32_t* astral
    const uint16_t* astral_index


cdef struct Syllables:
    const uint64_t* cells
    uint64_t mask
    int shift
    const uint8_t* tone_symbols
    const uint8_t* compose
    const uint8_t* compose_fallback
    const uint8_t* letter_symbols
    const uint8_t* vowels


cdef struct Phrases:
    const uint16_t* code_index
    const uint16_t* code_pages
    const uint64_t* cells
    uint32_t mask
    int shift
    const uint32_t* values
    const int32_t* pool


cdef struct Readings:
    Phrases all       # every phrase of the lexicon
    Phrases changing  # those that change the reading of one of their characters
    Phrases user
    bint has_user
    const uint64_t* changing_pairs  # the first two characters of changing phrases
    const uint64_t* inner           # any two characters that touch in a phrase
    int changing_shift
    int inner_shift


cdef struct Output:
    int32_t* ids
    int32_t* spans  # NULL where not asked for; two numbers a position
    int32_t* words  # NULL where not asked for
    Py_ssize_t count
    Py_ssize_t capacity


# --- reading and writing

cdef inline uint32_t char_at(const text_t* text, Py_ssize_t at, Py_ssize_t* step) noexcept nogil:
    """The code point at ``at``; ``step`` becomes the units it takes."""
    cdef uint32_t first
    if text_t is utf8_t:
        first = <uint8_t>text[at]
        if first < 0x80:
            step[0] = 1
            return first
        if first < 0xE0:
            step[0] = 2
            return (first & 31) << 6 | (text[at + 1] & 63)
        if first < 0xF0:
            step[0] = 3
            return (first & 15) << 12 | (text[at + 1] & 63) << 6 | (text[at + 2] & 63)
        step[0] = 4
        return (first & 7) << 18 | (text[at + 1] & 63) << 12 | (text[at + 2] & 63) << 6 | (text[at + 3] & 63)
    else:
        step[0] = 1
        return text[at]


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


# --- Vietnamese

cdef inline uint32_t find_syllable(const Syllables* table, uint64_t key, uint32_t tones, bint strict) noexcept nogil:
    """The packed syllable of a spelling (6 bits a letter) and the sum of its tone values; 0 where it is none."""
    cdef uint32_t tone = 0, value
    cdef uint64_t slot, cell
    if tones:
        tone = tones - ONE_TONE
        if tone >= TONES:
            return 0
    slot = key * SYLLABLE_HASH >> table.shift
    while True:
        cell = table.cells[slot]
        if cell >> 22 == key:
            break
        if cell == 0:
            return 0
        slot = (slot + 1) & table.mask
    value = <uint32_t>cell
    if strict and (value & IRREGULAR or (value & STOP_CODA and tone != SAC and tone != NANG)):
        return 0
    return (value & 0xFFFF) | <uint32_t>table.tone_symbols[tone] << 16


cdef inline void add_mark(const Syllables* table, uint32_t entry, uint64_t* key, uint32_t* tones,
                          bint* foreign) noexcept nogil:
    """A combining mark (or an ignorable character) behind the last letter of a run."""
    cdef uint32_t kind = entry & MARK, letter = <uint32_t>(key[0] & 63), made
    if kind == 0:
        return
    if kind == TONE_MARK and table.vowels[letter]:
        tones[0] += entry >> 24
        return
    if kind == QUALITY_MARK:
        made = table.compose[(entry >> 8 & 63) * 64 + letter]
        if made:
            key[0] ^= letter ^ made
            return
    foreign[0] = True


cdef void spell_out(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t start,
                    Py_ssize_t end, int32_t word, Output* out) noexcept nogil:
    """A run of letters that is no syllable: one position a letter."""
    cdef Py_ssize_t at = start, begin = start, step = 0
    cdef uint32_t entry, symbol = 0, letter = 0, made
    while at < end:
        entry = entry_of(chars, char_at(text, at, &step))
        if not entry & TRANSPARENT:
            if at > start:
                emit(out, <int32_t>(symbol * UNKNOWN), begin, at, word)
            begin, symbol, letter = at, entry & 255, entry >> 8 & 63
        elif entry & MARK == QUALITY_MARK:
            made = table.compose_fallback[(entry >> 8 & 63) * 64 + letter]
            if made:
                letter, symbol = made, table.letter_symbols[made]
        at += step
    emit(out, <int32_t>(symbol * UNKNOWN), begin, end, word)


cdef void encode_vietnamese(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t length,
                            bint strict, Output* out) noexcept nogil:
    cdef Py_ssize_t at = 0, start, step = 0
    cdef uint32_t entry, tones, packed
    cdef uint64_t key
    cdef bint foreign, gap = True, open = False
    cdef int32_t word = -1
    while at < length:
        entry = entry_of(chars, char_at(text, at, &step))
        if entry & SPACE:
            gap, open = True, False
            at += step
            continue
        word += gap
        gap = False
        if entry & (NATIVE | FOREIGN):
            start, key, tones, foreign = at, 0, 0, False
            while True:
                if entry & NATIVE:
                    key = key << 6 | (entry >> 8 & 63)
                    tones += entry >> 24
                elif entry & TRANSPARENT:
                    add_mark(table, entry, &key, &tones, &foreign)
                elif entry & FOREIGN:
                    foreign = True
                else:
                    break
                at += step
                if at >= length:
                    break
                entry = entry_of(chars, char_at(text, at, &step))
            packed = 0 if foreign else find_syllable(table, key, tones, strict)
            if packed:
                emit(out, <int32_t>packed, start, at, word)
            else:
                spell_out(chars, table, text, start, at, word, out)
            open = True
        else:
            if entry & TRANSPARENT and (open or not entry & JAMO):
                if open:
                    extend_last(out, at + step)
            elif entry & JOINER:
                open = False
            else:
                emit(out, <int32_t>((entry & 255) * UNKNOWN), at, at + step, word)
                open = True
            at += step


# --- Mandarin

cdef inline uint32_t code_of(const Phrases* phrases, uint32_t char) noexcept nogil:
    return phrases.code_pages[(<size_t>phrases.code_index[char >> 8] << 8) | (char & 255)]


cdef struct Match:
    Py_ssize_t characters  # of the longest phrase that begins here, 0 where there is none
    uint32_t value         # where its readings begin in the pool
    Py_ssize_t dangling    # characters up to the end of the Han run, if all are a prefix of a phrase and none fits


cdef inline Match longest_phrase(const Characters* chars, const Phrases* phrases, const text_t* text, Py_ssize_t at,
                                 Py_ssize_t length, uint32_t char, Py_ssize_t step) noexcept nogil:
    cdef Match match
    cdef uint32_t node = code_of(phrases, char), code, key, slot
    cdef uint64_t cell
    cdef Py_ssize_t characters = 1
    match.characters = match.dangling = 0
    match.value = 0
    if node == 0:
        return match
    while True:
        at += step
        if at >= length:
            code = 0
            char = 0
        else:
            char = char_at(text, at, &step)
            code = code_of(phrases, char)
        if code == 0:
            if match.characters == 0 and characters > 1 and (at >= length or not entry_of(chars, char) & ZH_HAN):
                match.dangling = characters
            return match
        key = node << CODE_BITS | code
        slot = key * PHRASE_HASH >> phrases.shift
        while True:
            cell = phrases.cells[slot]
            if <uint32_t>cell == key:
                break
            if cell == 0:
                return match
            slot = (slot + 1) & phrases.mask
        characters += 1
        node = <uint32_t>(cell >> 34)
        if cell >> 32 & IS_END:
            match.characters = characters
            match.value = phrases.values[node] - 1
        if not cell >> 32 & HAS_CHILDREN:
            return match


cdef inline bint has_pair(const uint64_t* pairs, int shift, uint32_t first, uint32_t second) noexcept nogil:
    """Whether two characters are in a set of pairs; a few that are not answer true."""
    cdef uint32_t slot = (first * <uint32_t>0x9E3779B1 + second * <uint32_t>0x85EBCA6B) >> shift
    return pairs[slot >> 6] >> (slot & 63) & 1


cdef inline uint32_t char_before(const text_t* text, Py_ssize_t at, Py_ssize_t* before) noexcept nogil:
    """The character that ends at ``at`` (above 0), and where it begins."""
    cdef Py_ssize_t step = 0
    before[0] = at - 1
    if text_t is utf8_t:
        while text[before[0]] & 0xC0 == 0x80:
            before[0] -= 1
    return char_at(text, before[0], &step)


cdef Py_ssize_t read_phrases(const Characters* chars, const Readings* readings, const text_t* text, Py_ssize_t at,
                             Py_ssize_t length, int32_t word, Output* out) noexcept nogil:
    """Reads the Han characters around ``at`` phrase by phrase, from where no phrase can lie across to where none can.

    Takes back the positions that were written of the characters before ``at``; returns where it ends.
    """
    cdef Py_ssize_t step = 0, number, begin = at, before = 0
    cdef uint32_t char = char_at(text, at, &step), entry, previous
    cdef const int32_t* phrase
    cdef Match match
    while begin > 0:
        previous = char_before(text, begin, &before)
        if not (entry_of(chars, previous) & ZH_HAN and has_pair(readings.inner, readings.inner_shift, previous, char)):
            break
        begin, char = before, previous
        out.count -= 1
    while begin < length:
        char = char_at(text, begin, &step)
        entry = entry_of(chars, char)
        if not entry & ZH_HAN:
            break
        if begin > at and not has_pair(readings.inner, readings.inner_shift, previous, char):
            break
        match.characters = match.dangling = 0
        phrase = NULL
        if readings.has_user:
            match = longest_phrase(chars, &readings.user, text, begin, length, char, step)
            phrase = readings.user.pool + match.value
        if match.characters == 0:
            match = longest_phrase(chars, &readings.all, text, begin, length, char, step)
            phrase = readings.all.pool + match.value
        for number in range(max(match.characters, match.dangling, 1)):
            if number:
                char = char_at(text, begin, &step)
                entry = entry_of(chars, char)
            # pypinyin reads a dangling prefix character by character, without a look for phrases inside it.
            emit(out, phrase[number] if match.characters else <int32_t>(entry & PACKED), begin, begin + step, word)
            begin += step
        previous = char
    return begin


cdef inline bint begins_changing(const Characters* chars, const Readings* readings, const text_t* text, Py_ssize_t at,
                                 Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t step = 0
    cdef uint32_t char = char_at(text, at, &step)
    return longest_phrase(chars, &readings.changing, text, at, length, char, step).characters > 0


cdef void encode_mandarin(const Characters* chars, const Readings* readings, const text_t* text, Py_ssize_t length,
                          Output* out) noexcept nogil:
    """Default readings straight from the table; where a phrase that changes one occurs, phrase by phrase around it.

    That is exact: where no such phrase occurs, no segmentation changes a reading.
    """
    cdef Py_ssize_t at = 0, step = 0, previous_at = 0
    cdef uint32_t char, entry, previous = 0
    cdef bint gap = True, open = False
    cdef int32_t word = -1
    while at < length:
        char = char_at(text, at, &step)
        entry = entry_of(chars, char)
        if entry & (ZH_SPACE | ZH_TRANSPARENT | ZH_JOINER | ZH_EXACT):
            previous = 0
            if entry & ZH_SPACE:
                gap, open = True, False
            else:
                word += gap
                gap = False
                if entry & ZH_EXACT:
                    at, open = read_phrases(chars, readings, text, at, length, word, out), True
                    continue
                if entry & ZH_JOINER:
                    open = False
                elif open:
                    extend_last(out, at + step)
                elif entry & ZH_JAMO:
                    emit(out, UNKNOWN, at, at + step, word)
                    open = True
            at += step
            continue
        word += gap
        gap, open = False, True
        if has_pair(readings.changing_pairs, readings.changing_shift, previous, char) and previous:
            if begins_changing(chars, readings, text, previous_at, length):
                out.count -= 1
                at = read_phrases(chars, readings, text, previous_at, length, word, out)
                previous = 0
                continue
        emit(out, <int32_t>(entry & PACKED), at, at + step, word)
        previous, previous_at = char, at
        at += step


# --- Python's side

cdef class Block:
    """Owns memory that arrays are views of."""

    cdef void* data

    def __dealloc__(self):
        free(self.data)


cdef object array_of(int32_t* data, Py_ssize_t count, int columns):
    """An int32 array that owns ``data`` (malloc'ed), shape (count,) or (count, columns); the memory is cut to size."""
    cdef cnp.npy_intp[2] shape
    cdef Block block = Block()
    cdef void* shrunk
    block.data = data
    shrunk = realloc(data, max(<size_t>count * columns, 1) * sizeof(int32_t))
    if shrunk != NULL:
        block.data = shrunk
    shape[0] = count
    shape[1] = columns
    array = cnp.PyArray_SimpleNewFromData(1 if columns == 1 else 2, shape, cnp.NPY_INT32, block.data)
    cnp.set_array_base(array, block)
    return array


cdef bint reserve(Output* out, Py_ssize_t more, bint spans, bint words) noexcept nogil:
    """Room for ``more`` positions; false where memory ran out."""
    cdef Py_ssize_t capacity = out.count + more
    cdef void* grown
    if capacity <= out.capacity:
        return True
    capacity = max(capacity, out.capacity + out.capacity // 2)
    grown = realloc(out.ids, capacity * sizeof(int32_t))
    if grown == NULL:
        return False
    out.ids = <int32_t*>grown
    if spans:
        grown = realloc(out.spans, 2 * capacity * sizeof(int32_t))
        if grown == NULL:
            return False
        out.spans = <int32_t*>grown
    if words:
        grown = realloc(out.words, capacity * sizeof(int32_t))
        if grown == NULL:
            return False
        out.words = <int32_t*>grown
    out.capacity = capacity
    return True


cdef struct Text:
    void* data
    Py_ssize_t length
    int kind


cdef const void* pointer(dict sections, str name, type dtype) except NULL:
    """Where a section's numbers lie. The arrays are kept alive by the object that holds the sections."""
    array = sections[name]
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"section {name} must be {dtype.__name__}, not {array.dtype}")
    return cnp.PyArray_DATA(<cnp.ndarray>array)


cdef class Core:
    """One language's tables and options; immutable, so that any number of threads may use one.

    Arguments:
        sections: the arrays of the table file (``data/compile.py`` lists them).
        strict: the strict reading (Vietnamese).
    """

    cdef object _alive
    cdef Characters chars
    cdef Syllables syllables
    cdef Readings readings
    cdef bint is_mandarin, strict

    def __init__(self, dict sections, bint strict=False):
        self._alive = sections
        self.strict = strict
        self.chars.bmp = <const uint32_t*>pointer(sections, "bmp", np.uint32)
        self.chars.astral = <const uint32_t*>pointer(sections, "astral", np.uint32)
        self.chars.astral_index = <const uint16_t*>pointer(sections, "astral_index", np.uint16)
        self.is_mandarin = "inner" in sections
        if self.is_mandarin:
            self._take_phrases(&self.readings.all, sections, "all")
            self._take_phrases(&self.readings.changing, sections, "changing")
            self.readings.has_user = "user.cells" in sections
            if self.readings.has_user:
                self._take_phrases(&self.readings.user, sections, "user")
            self.readings.changing_pairs = <const uint64_t*>pointer(sections, "changing_pairs", np.uint64)
            self.readings.changing_shift = 27 - int(len(sections["changing_pairs"])).bit_length()
            self.readings.inner = <const uint64_t*>pointer(sections, "inner", np.uint64)
            self.readings.inner_shift = 27 - int(len(sections["inner"])).bit_length()
        else:
            self._take_syllables(sections)

    cdef int _take_phrases(self, Phrases* phrases, dict sections, str name) except -1:
        cdef Py_ssize_t cells = len(sections[name + ".cells"])
        phrases.code_index = <const uint16_t*>pointer(sections, name + ".code_index", np.uint16)
        phrases.code_pages = <const uint16_t*>pointer(sections, name + ".code_pages", np.uint16)
        phrases.cells = <const uint64_t*>pointer(sections, name + ".cells", np.uint64)
        phrases.values = <const uint32_t*>pointer(sections, name + ".values", np.uint32)
        phrases.pool = <const int32_t*>pointer(sections, name + ".pool", np.int32)
        phrases.mask = <uint32_t>(cells - 1)
        phrases.shift = 33 - int(cells).bit_length()
        return 0

    cdef int _take_syllables(self, dict sections) except -1:
        cdef Py_ssize_t cells = len(sections["cells"])
        self.syllables.cells = <const uint64_t*>pointer(sections, "cells", np.uint64)
        self.syllables.mask = <uint64_t>(cells - 1)
        self.syllables.shift = 65 - int(cells).bit_length()
        self.syllables.tone_symbols = <const uint8_t*>pointer(sections, "tone_symbols", np.uint8)
        self.syllables.compose = <const uint8_t*>pointer(sections, "compose", np.uint8)
        self.syllables.compose_fallback = <const uint8_t*>pointer(sections, "compose_fallback", np.uint8)
        self.syllables.letter_symbols = <const uint8_t*>pointer(sections, "letter_symbols", np.uint8)
        self.syllables.vowels = <const uint8_t*>pointer(sections, "vowels", np.uint8)
        return 0

    cdef void _run(self, const text_t* text, Py_ssize_t length, Output* out) noexcept nogil:
        if self.is_mandarin:
            encode_mandarin(&self.chars, &self.readings, text, length, out)
        else:
            encode_vietnamese(&self.chars, &self.syllables, text, length, self.strict, out)

    cdef void _run_kind(self, const Text* text, Output* out) noexcept nogil:
        if text.kind == 1:
            self._run(<const uint8_t*>text.data, text.length, out)
        elif text.kind == 2:
            self._run(<const uint16_t*>text.data, text.length, out)
        else:
            self._run(<const uint32_t*>text.data, text.length, out)

    def encode(self, str text not None):
        """One text.

        Returns:
            int32 array of 4 n numbers: n packed ids, n word ids, n pairs of span ends, in code points.
        """
        cdef Text source
        cdef Output out
        cdef int32_t[4 * ON_STACK] stack
        cdef int32_t* room = stack
        cdef cnp.npy_intp size
        cdef int32_t* target
        take(text, &source)
        if source.length > ON_STACK:
            room = <int32_t*>malloc(4 * source.length * sizeof(int32_t))
            if room == NULL:
                raise MemoryError
        out.ids = room
        out.words = room + source.length
        out.spans = room + 2 * source.length
        out.count = 0
        out.capacity = source.length
        try:
            if source.length > ON_STACK:
                with nogil:
                    self._run_kind(&source, &out)
            else:
                self._run_kind(&source, &out)
            size = 4 * out.count
            result = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT32, 0)
            target = <int32_t*>cnp.PyArray_DATA(<cnp.ndarray>result)
            for at in range(out.count):
                target[at] = out.ids[at]
                target[out.count + at] = out.words[at]
            for at in range(2 * out.count):
                target[2 * out.count + at] = out.spans[at]
        finally:
            if room != stack:
                free(room)
        return result

    @cython.boundscheck(True)  # another thread may shorten the list
    def encode_range(self, list texts not None, Py_ssize_t start, Py_ssize_t stop, bint spans, bint words):
        """``texts[start:stop]``, with the GIL released around blocks of them.

        Returns:
            (ids int32 (N,), ends int64 (stop - start,) with the running count after each text, spans int32 (N, 2) or
            None, word ids int32 (N,) or None).
        """
        cdef Output out
        cdef Text[BLOCK] block
        cdef list held = []
        cdef Py_ssize_t at = start, number, size
        cdef bint failed = False
        cdef cnp.npy_intp count = stop - start
        ends = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INT64, 0)
        cdef int64_t* end = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>ends)
        out.ids = out.spans = out.words = NULL
        out.count = out.capacity = 0
        try:
            if not reserve(&out, 1, spans, words):
                raise MemoryError
            while at < stop:
                size = min(BLOCK, stop - at)
                held.clear()
                for number in range(size):
                    text = texts[at + number]
                    text = as_text(text, at + number)
                    held.append(text)
                    take(text, &block[number])
                with nogil:
                    for number in range(size):
                        if not reserve(&out, block[number].length, spans, words):
                            failed = True
                            break
                        self._run_kind(&block[number], &out)
                        end[at - start + number] = out.count
                if failed:
                    raise MemoryError(f"no memory for the ids of text {at + number}")
                at += size
            ids, out.ids = array_of(out.ids, out.count, 1), NULL
            span_array = word_array = None
            if spans:
                span_array, out.spans = array_of(out.spans, out.count, 2), NULL
            if words:
                word_array, out.words = array_of(out.words, out.count, 1), NULL
        finally:
            free(out.ids)
            free(out.spans)
            free(out.words)
        return ids, ends, span_array, word_array


cdef str as_text(object text, Py_ssize_t index):
    """The str itself; a plain copy of an instance of a subclass."""
    if type(text) is str:
        return text
    if not isinstance(text, str):
        raise TypeError(f"text {index} is {type(text).__name__}, not str")
    return str.__str__(text)


cdef int take(str text, Text* into) except -1:
    """Where a string lies. Spans are int32, so a text holds at most 2**31 - 1 characters."""
    phonemic_ready(text)
    into.data = PyUnicode_DATA(text)
    into.length = PyUnicode_GET_LENGTH(text)
    into.kind = PyUnicode_KIND(text)
    if into.length > 0x7FFFFFFF:
        raise ValueError(f"a text of {into.length} characters is too long: at most 2147483647; split it")
    return 0


def cut(list texts not None, int parts):
    """Boundaries that cut a list of str into ``parts`` runs of about the same number of characters.

    Raises:
        TypeError: an element is no str; the message names its index.
    """
    cdef Py_ssize_t total = 0, running = 0, index = 0
    for text in texts:
        if not isinstance(text, str):
            as_text(text, index)
        total += PyUnicode_GET_LENGTH(text)
        index += 1
    boundaries = [0]
    index = 0
    for text in texts:
        if running * parts >= total * len(boundaries) and len(boundaries) < parts:
            boundaries.append(index)
        running += PyUnicode_GET_LENGTH(text)
        index += 1
    return [*boundaries, len(texts)]

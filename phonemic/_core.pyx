# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The native core: text where it lies -> packed ids, spans and word ids, without the GIL.

It reads CPython's own string buffer (1, 2 or 4 bytes a character) or UTF-8 bytes, in one pass, against immutable tables
made by ``data/compile.py``. The loops are in ``_vietnamese.pxd`` and ``_mandarin.pxd``; ``reference.py`` is the same in
plain Python.
"""

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc

import numpy as np

from phonemic.errors import InputError

from phonemic._mandarin cimport PairSet, Phrases, Readings, encode_mandarin
from phonemic._text cimport Characters, Output, text_t, utf8_t
from phonemic._vietnamese cimport MEMO_BITS, Remembered, Syllables, encode_vietnamese

cnp.import_array()

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030C0000
    #define phonemic_ready(text) PyUnicode_READY(text)
    #else
    #define phonemic_ready(text) 0
    #endif
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    /* Asks for large pages: first touching memory in small ones costs as much as encoding. A wish; it may fail. */
    static inline void phonemic_huge_pages(void *data, size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        uintptr_t begin = ((uintptr_t)data + 4095) & ~(uintptr_t)4095;
        uintptr_t end = ((uintptr_t)data + size) & ~(uintptr_t)4095;
        if (begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    #else
        (void)data, (void)size;
    #endif
    }
    """
    int phonemic_ready(object text) except -1
    void phonemic_huge_pages(void* data, size_t size) noexcept nogil
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef enum:
    BLOCK = 512     # texts whose buffers are looked up between two releases of the GIL
    WORTH_A_MEMO = 1 << 14  # code units from which on a range of texts has a memo of its own
    SMALLEST = 1 << 12      # positions there is room for at first
    HUGE = 1 << 22          # bytes from which on an array asks for large pages
    LONGEST = 0x7FFFFFFF    # units of one text: spans are int32
    ON_STACK = 256  # characters of a text whose output fits the stack


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


cdef void begin_output(Output* out) noexcept nogil:
    out.ids = out.spans = out.words = NULL
    out.count = out.capacity = 0
    out.invalid = -1


cdef void drop_output(Output* out) noexcept nogil:
    free(out.ids)
    free(out.spans)
    free(out.words)


cdef tuple finish_output(Output* out, object ends, bint spans, bint words):
    """The arrays of ``encode_range``, which take the memory over."""
    span_array = word_array = None
    if not reserve(out, 1, spans, words):
        raise MemoryError
    ids, out.ids = array_of(out.ids, out.count, 1), NULL
    if spans:
        span_array, out.spans = array_of(out.spans, out.count, 2), NULL
    if words:
        word_array, out.words = array_of(out.words, out.count, 1), NULL
    return ids, ends, span_array, word_array


cdef int32_t* grown(int32_t* data, Py_ssize_t count) noexcept nogil:
    """``data`` with room for ``count`` numbers; NULL where memory ran out, and ``data`` is as it was."""
    cdef int32_t* moved = <int32_t*>realloc(data, count * sizeof(int32_t))
    if moved != NULL and count * <Py_ssize_t>sizeof(int32_t) >= HUGE:
        phonemic_huge_pages(moved, count * sizeof(int32_t))
    return moved


cdef bint reserve(Output* out, Py_ssize_t more, bint spans, bint words) noexcept nogil:
    """Room for ``more`` positions; false where memory ran out."""
    cdef Py_ssize_t capacity = out.count + more
    cdef int32_t* moved
    if capacity <= out.capacity:
        return True
    capacity = max(capacity, out.capacity + out.capacity // 2, SMALLEST)
    moved = grown(out.ids, capacity)
    if moved == NULL:
        return False
    out.ids = moved
    if spans:
        moved = grown(out.spans, 2 * capacity)
        if moved == NULL:
            return False
        out.spans = moved
    if words:
        moved = grown(out.words, capacity)
        if moved == NULL:
            return False
        out.words = moved
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


cdef int take_pairs(PairSet* pairs, dict sections, str name) except -1:
    pairs.bits = <const uint64_t*>pointer(sections, name, np.uint64)
    pairs.shift = 27 - int(len(sections[name])).bit_length()
    return 0


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
            self._take_phrases(&self.readings.lexicon, sections, "lexicon")
            self.readings.has_user = "user.cells" in sections
            if self.readings.has_user:
                self._take_phrases(&self.readings.user, sections, "user")
            take_pairs(&self.readings.inner, sections, "inner")
            take_pairs(&self.readings.changing_pairs, sections, "changing_pairs")
            take_pairs(&self.readings.changing_whole, sections, "changing_whole")
            take_pairs(&self.readings.changing_triples, sections, "changing_triples")
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

    cdef void _run(self, const text_t* text, Py_ssize_t length, Remembered* memo, Output* out) noexcept nogil:
        if self.is_mandarin:
            encode_mandarin(&self.chars, &self.readings, text, length, out)
        else:
            encode_vietnamese(&self.chars, &self.syllables, memo, text, length, self.strict, out)

    cdef void _run_kind(self, const Text* text, Remembered* memo, Output* out) noexcept nogil:
        if text.kind == 1:
            self._run(<const uint8_t*>text.data, text.length, memo, out)
        elif text.kind == 2:
            self._run(<const uint16_t*>text.data, text.length, memo, out)
        else:
            self._run(<const uint32_t*>text.data, text.length, memo, out)

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
        out.invalid = -1
        try:
            if source.length > ON_STACK:
                with nogil:
                    self._run_kind(&source, NULL, &out)
            else:
                self._run_kind(&source, NULL, &out)
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

    def encode_utf8(self, const uint8_t[::1] data, const int64_t[::1] offsets, Py_ssize_t start, Py_ssize_t stop,
                    bint spans, bint words):
        """Texts ``start`` to ``stop`` of a buffer of UTF-8, text i being ``data[offsets[i]:offsets[i + 1]]``.

        Returns:
            As ``encode_range``; spans are in bytes.

        Raises:
            InputError: a text is not UTF-8, or the offsets are none; the message names the row.
        """
        cdef Output out
        cdef Remembered* memo = NULL
        cdef Py_ssize_t row = start, size = len(data)
        cdef bint failed = False, wrong = False
        cdef cnp.npy_intp count = stop - start
        cdef const utf8_t* text = <const utf8_t*>&data[0] if size else NULL
        ends = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INT64, 0)
        cdef int64_t* end = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>ends)
        begin_output(&out)
        try:
            if stop > start and not reserve(&out, min(max(offsets[stop] - offsets[start], 0), size), spans, words):
                raise MemoryError("no memory for the ids")
            with nogil:
                if not self.is_mandarin and stop > start and offsets[stop] - offsets[start] > WORTH_A_MEMO:
                    memo = <Remembered*>calloc(1 << MEMO_BITS, sizeof(Remembered))
                while row < stop:
                    wrong = not 0 <= offsets[row] <= offsets[row + 1] <= size
                    wrong = wrong or offsets[row + 1] - offsets[row] > LONGEST
                    failed = wrong or not reserve(&out, offsets[row + 1] - offsets[row], spans, words)
                    if failed:
                        break
                    self._run(text + offsets[row], offsets[row + 1] - offsets[row], memo, &out)
                    if out.invalid >= 0:
                        break
                    end[row - start] = out.count
                    row += 1
            if wrong:
                where = f"{offsets[row]} to {offsets[row + 1]}"
                raise InputError(f"row {row}: its offsets {where} are wrong or too far apart")
            if failed:
                raise MemoryError(f"no memory for the ids of row {row}")
            if out.invalid >= 0:
                raise InputError(f"row {row}: byte {out.invalid} of the text is not UTF-8")
            return finish_output(&out, ends, spans, words)
        finally:
            free(memo)
            drop_output(&out)

    @cython.boundscheck(True)  # another thread may shorten the list
    def encode_range(self, list texts not None, Py_ssize_t start, Py_ssize_t stop, bint spans, bint words):
        """``texts[start:stop]``, with the GIL released around blocks of them.

        Returns:
            (ids int32 (N,), ends int64 (stop - start,) with the running count after each text, spans int32 (N, 2) or
            None, word ids int32 (N,) or None).
        """
        cdef Output out
        cdef Text[BLOCK] block
        cdef PyObject* held[BLOCK]
        cdef Py_ssize_t holding = 0
        cdef Py_ssize_t at = start, number, size
        cdef Py_ssize_t units = 0
        cdef Remembered* memo = NULL
        cdef bint failed = False
        cdef cnp.npy_intp count = stop - start
        ends = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INT64, 0)
        cdef int64_t* end = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>ends)
        begin_output(&out)
        try:
            if not reserve(&out, total_length(texts, start, stop), spans, words):
                raise MemoryError("no memory for the ids")
            while at < stop:
                size = min(BLOCK, stop - at)
                for number in range(size):
                    text = texts[at + number]
                    text = as_text(text, at + number)
                    take(text, &block[number])
                    held[number] = <PyObject*>text  # the list may lose it while the GIL is released
                    Py_INCREF(text)
                    holding += 1
                    units += block[number].length
                with nogil:
                    if memo == NULL and units > WORTH_A_MEMO and not self.is_mandarin:
                        memo = <Remembered*>calloc(1 << MEMO_BITS, sizeof(Remembered))  # it does without, too
                    for number in range(size):
                        # Already there, unless another thread has put a longer text into the list since.
                        failed = not reserve(&out, block[number].length, spans, words)
                        if failed:
                            break
                        self._run_kind(&block[number], memo, &out)
                        end[at - start + number] = out.count
                if failed:
                    raise MemoryError(f"no memory for the ids of text {at + number}")
                while holding:
                    holding -= 1
                    Py_DECREF(<object>held[holding])
                at += size
            return finish_output(&out, ends, spans, words)
        finally:
            while holding:
                holding -= 1
                Py_DECREF(<object>held[holding])
            free(memo)
            drop_output(&out)


@cython.boundscheck(True)
cdef Py_ssize_t total_length(list texts, Py_ssize_t start, Py_ssize_t stop) except -1:
    """Characters in ``texts[start:stop]``: no text has more positions, and pages that are not touched cost nothing."""
    cdef Py_ssize_t index, total = 0
    for index in range(start, stop):
        text = texts[index]
        if not isinstance(text, str):
            as_text(text, index)
        total += PyUnicode_GET_LENGTH(text)
    return total


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
    if into.length > LONGEST:
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

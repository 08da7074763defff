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
from libc.string cimport memcpy

import numpy as np

from phonemic.errors import InputError

from phonemic._mandarin cimport (
    CHANGING_PAIRS, CHANGING_TRIPLES, CHANGING_WHOLE, INNER, Phrases, Readings, encode_mandarin,
)
from phonemic._output cimport begin_output, drop_output, reserve
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
    #if defined(__GNUC__)
    #define phonemic_prefetch(address) __builtin_prefetch(address)
    #else
    #define phonemic_prefetch(address) ((void)(address))
    #endif
    """
    int phonemic_ready(object text) except -1
    void phonemic_prefetch(const void* address) noexcept nogil
    PyObject* PyList_GET_ITEM(object texts, Py_ssize_t index)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef enum:
    BLOCK = 1024    # texts whose buffers are looked up between two releases of the GIL
    WORTH_A_MEMO = 1 << 14  # code units from which on a range of texts has a memo of its own
    SMALL_PIECE = 1 << 16   # units that a thread takes at a time: at least, and at most
    LARGE_PIECE = 1 << 20
    AHEAD = 8       # texts whose headers are fetched before they are looked at
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


cdef const uint64_t* bits_of(dict sections, str name, int size) except NULL:
    if len(sections[name]) != 1 << (size - 6):
        raise ValueError(f"section {name} must have 2 ** {size} bits, not {64 * len(sections[name])}")
    return <const uint64_t*>pointer(sections, name, np.uint64)


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
        if "classes" in sections:
            self.readings.classes = self.syllables.classes = <const uint8_t*>pointer(sections, "classes", np.uint8)
        if self.is_mandarin:
            self._take_phrases(&self.readings.lexicon, sections, "lexicon")
            self.readings.has_user = "user.cells" in sections
            if self.readings.has_user:
                self._take_phrases(&self.readings.user, sections, "user")
            self.readings.inner = bits_of(sections, "inner", INNER)
            self.readings.changing_pairs = bits_of(sections, "changing_pairs", CHANGING_PAIRS)
            self.readings.changing_whole = bits_of(sections, "changing_whole", CHANGING_WHOLE)
            self.readings.changing_triples = bits_of(sections, "changing_triples", CHANGING_TRIPLES)
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
        cdef int32_t[4 * ON_STACK + 2] stack
        cdef int32_t* room = stack
        cdef cnp.npy_intp size
        cdef int32_t* target
        take(text, &source)
        if source.length > ON_STACK:
            room = <int32_t*>malloc((4 * source.length + 2) * sizeof(int32_t))
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
            memcpy(target, out.ids, out.count * sizeof(int32_t))
            memcpy(target + out.count, out.words, out.count * sizeof(int32_t))
            memcpy(target + 2 * out.count, out.spans, 2 * out.count * sizeof(int32_t))
        finally:
            if room != stack:
                free(room)
        return result


cdef class Work:
    """Texts being encoded: by one thread (:meth:`run_alone`), or by several that each call :meth:`run`.

    Arguments:
        core: encodes.
        texts: a list of str; or a uint8 array of UTF-8, text i being ``texts[offsets[i]:offsets[i + 1]]``.
        offsets: int32 or int64 array, for UTF-8.
        spans: write spans, in code points for str and in bytes for UTF-8.
        words: write word ids.

    Raises:
        TypeError: an element of the list is no str; the message names its index.
    """

    cdef Core core
    cdef list texts
    cdef const utf8_t* data
    cdef const int64_t* offsets
    cdef const int32_t* narrow_offsets
    cdef object _alive
    cdef Py_ssize_t size, rows, units  # units: not yet taken by a thread
    cdef int threads
    cdef bint spans, words, failed
    cdef Output out
    cdef int64_t* ends
    cdef object ends_array, turn
    cdef Py_ssize_t claimed, claims, placed

    def __cinit__(self):
        begin_output(&self.out)

    def __init__(self, Core core not None, object texts, object offsets, bint spans, bint words):
        cdef const uint8_t[::1] data
        cdef const int64_t[::1] bounds
        cdef const int32_t[::1] narrow_bounds
        cdef cnp.npy_intp count
        self.core, self.spans, self.words = core, spans, words
        if offsets is None:
            self.texts, self.rows = texts, len(texts)
            self.units = total_length(self.texts)
        else:
            data = texts
            self._alive = (texts, offsets)
            self.data = <const utf8_t*>&data[0] if len(data) else NULL
            self.size, self.rows = len(data), len(offsets) - 1
            if offsets.dtype == np.int32:
                narrow_bounds = offsets
                self.narrow_offsets = &narrow_bounds[0]
            else:
                bounds = offsets
                self.offsets = &bounds[0]
            self.units = min(max(self._offset(self.rows) - self._offset(0), 0), self.size)
        count = self.rows + 1
        self.ends_array = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INT64, 0)
        self.ends = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.ends_array)
        self.ends[0] = 0
        # No text has more positions than units; pages that are not touched cost nothing.
        if not reserve(&self.out, self.units, spans, words):
            raise MemoryError("no memory for the ids")

    def __dealloc__(self):
        drop_output(&self.out)

    cdef inline int64_t _offset(self, Py_ssize_t row) noexcept nogil:
        return self.offsets[row] if self.narrow_offsets == NULL else self.narrow_offsets[row]

    def run_alone(self):
        """Encodes everything in this thread.

        Raises:
            InputError: a text is not UTF-8, or the offsets are none; the message names the row.
            TypeError: another thread has put something that is no str into the list.
        """
        cdef Remembered* memo = NULL
        try:
            if not self.core.is_mandarin and self.out.capacity > WORTH_A_MEMO:
                memo = <Remembered*>calloc(1 << MEMO_BITS, sizeof(Remembered))  # it does without, too
            self._encode(0, self.rows, memo, &self.out, self.ends + 1)
        finally:
            free(memo)

    def share(self, int threads):
        """To be called before so many threads call :meth:`run`."""
        from threading import Condition

        self.turn, self.threads = Condition(), threads

    def run(self):
        """Encodes pieces of the texts, one after another, until none is left.

        A piece is encoded into memory of the thread's own and put behind the one before it, so that the texts' ids
        come to lie in one array, in order, and there is never a second copy of them all.

        Raises:
            InputError, TypeError: as :meth:`run_alone`; only the thread that met the first such text raises.
            RuntimeError: the list has changed meanwhile.
        """
        cdef Remembered* memo = NULL
        cdef Output own
        cdef Py_ssize_t start, stop, units, number, base
        begin_output(&own)
        try:
            if not self.core.is_mandarin:
                memo = <Remembered*>calloc(1 << MEMO_BITS, sizeof(Remembered))
            while True:
                with self.turn:
                    start, number = self.claimed, self.claims
                    stop = self.claimed = self._end_of_piece(start, &units)
                    self.claims += 1
                if start == stop or self.failed:
                    return
                own.count = 0
                try:
                    if not reserve(&own, units, self.spans, self.words):
                        raise MemoryError("no memory for the ids")
                    self._encode(start, stop, memo, &own, self.ends + start + 1)
                    base = self._place(number, own.count)
                except Exception:
                    if self._wait_for(number):
                        self._fail()
                        raise
                    return
                except BaseException:
                    self._fail()
                    raise
                if base < 0:
                    return
                with nogil:
                    self._copy(&own, base, start, stop)
        finally:
            free(memo)
            drop_output(&own)

    def result(self):
        """What was encoded; to be called once, when all threads are done.

        Returns:
            (ids int32 (N,), offsets int64 (B + 1,), spans int32 (N, 2) or None, word ids int32 (N,) or None).
        """
        spans = words = None
        if not reserve(&self.out, 0, self.spans, self.words):
            raise MemoryError
        ids, self.out.ids = array_of(self.out.ids, self.out.count, 1), NULL
        if self.spans:
            spans, self.out.spans = array_of(self.out.spans, self.out.count, 2), NULL
        if self.words:
            words, self.out.words = array_of(self.out.words, self.out.count, 1), NULL
        return ids, self.ends_array, spans, words

    @cython.boundscheck(True)
    cdef Py_ssize_t _end_of_piece(self, Py_ssize_t row, Py_ssize_t* units) except -1:
        """Large pieces first, because taking one may be a wait; small ones last, so that the threads end together."""
        cdef Py_ssize_t enough = min(max(self.units // (4 * self.threads), SMALL_PIECE), LARGE_PIECE)
        units[0] = 0
        while row < self.rows and units[0] < enough:
            if self.texts is None:
                units[0] += min(max(self._offset(row + 1) - self._offset(row), 0), self.size)
            else:
                text = self.texts[row]
                units[0] += PyUnicode_GET_LENGTH(text) if isinstance(text, str) else 0
            row += 1
        self.units -= units[0]
        return row

    cdef bint _wait_for(self, Py_ssize_t number) except -1:
        """Until all pieces before this one have their place; false where one of them failed."""
        with self.turn:
            while self.placed < number and not self.failed:
                self.turn.wait()
            return not self.failed

    cdef Py_ssize_t _place(self, Py_ssize_t number, Py_ssize_t count) except -2:
        """Where a piece begins in the output, -1 where an earlier one has failed."""
        cdef Py_ssize_t base
        if not self._wait_for(number):
            return -1
        with self.turn:
            base = self.out.count
            if base + count > self.out.capacity:
                raise RuntimeError("the list of texts was changed while it was encoded")
            self.out.count += count
            self.placed += 1
            self.turn.notify_all()
        return base

    cdef int _fail(self) except -1:
        with self.turn:
            self.failed = True
            self.turn.notify_all()
        return 0

    cdef void _copy(self, const Output* own, Py_ssize_t base, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        cdef Py_ssize_t row
        memcpy(self.out.ids + base, own.ids, own.count * sizeof(int32_t))
        if self.spans:
            memcpy(self.out.spans + 2 * base, own.spans, 2 * own.count * sizeof(int32_t))
        if self.words:
            memcpy(self.out.words + base, own.words, own.count * sizeof(int32_t))
        for row in range(start + 1, stop + 1):
            self.ends[row] += base

    cdef int _encode(self, Py_ssize_t start, Py_ssize_t stop, Remembered* memo, Output* out,
                     int64_t* ends) except -1:
        """Rows ``start`` to ``stop``, and the count of positions after each."""
        if self.texts is None:
            return self._encode_utf8(start, stop, memo, out, ends)
        return self._encode_list(start, stop, memo, out, ends)

    cdef int _encode_utf8(self, Py_ssize_t start, Py_ssize_t stop, Remembered* memo, Output* out,
                          int64_t* ends) except -1:
        cdef Py_ssize_t row, begin, end
        cdef bint failed = False, wrong = False
        with nogil:
            for row in range(start, stop):
                begin, end = self._offset(row), self._offset(row + 1)
                wrong = not 0 <= begin <= end <= self.size or end - begin > LONGEST
                failed = wrong or not reserve(out, end - begin, self.spans, self.words)
                if failed:
                    break
                self.core._run(self.data + begin, end - begin, memo, out)
                if out.invalid >= 0:
                    break
                ends[row - start] = out.count
        if wrong:
            raise InputError(f"row {row}: its offsets {begin} to {end} are wrong or too far apart")
        if failed:
            raise MemoryError(f"no memory for the ids of row {row}")
        if out.invalid >= 0:
            raise InputError(f"row {row}: byte {out.invalid} of the text is not UTF-8")
        return 0

    @cython.boundscheck(True)  # another thread may shorten the list
    cdef int _encode_list(self, Py_ssize_t start, Py_ssize_t stop, Remembered* memo, Output* out,
                          int64_t* ends) except -1:
        """With the GIL released around blocks of texts."""
        cdef Text[BLOCK] block
        cdef PyObject* held[BLOCK]
        cdef Py_ssize_t holding = 0, at = start, number, size
        cdef bint failed = False
        try:
            while at < stop:
                size = min(BLOCK, stop - at)
                for number in range(size):
                    fetch_ahead(self.texts, at + number)
                    text = self.texts[at + number]
                    text = as_text(text, at + number)
                    take(text, &block[number])
                    held[number] = <PyObject*>text  # the list may lose it while the GIL is released
                    Py_INCREF(text)
                    holding += 1
                with nogil:
                    for number in range(size):
                        # There is room, unless another thread has put a longer text into the list since.
                        failed = not reserve(out, block[number].length, self.spans, self.words)
                        if failed:
                            break
                        self.core._run_kind(&block[number], memo, out)
                        ends[at - start + number] = out.count
                if failed:
                    raise MemoryError(f"no memory for the ids of text {at + number}")
                while holding:
                    holding -= 1
                    Py_DECREF(<object>held[holding])
                at += size
        finally:
            while holding:
                holding -= 1
                Py_DECREF(<object>held[holding])
        return 0


cdef inline void fetch_ahead(list texts, Py_ssize_t index) noexcept:
    if index + AHEAD < len(texts):
        phonemic_prefetch(PyList_GET_ITEM(texts, index + AHEAD))


@cython.boundscheck(True)
cdef Py_ssize_t total_length(list texts) except -1:
    cdef Py_ssize_t index, total = 0
    for index in range(len(texts)):
        fetch_ahead(texts, index)
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

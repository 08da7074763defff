# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The native core: text in its own memory -> packed ids, spans and word ids, without the GIL.

It reads CPython's own string buffer (1, 2 or 4 bytes a character) or UTF-8 bytes, in one pass, against immutable tables
made by ``compiling/tables.py``. The loops are in ``native/vietnamese.pxd`` and ``native/mandarin.pxd``;
``reference.py`` is the same in plain Python.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from phonemic.native.mandarin cimport (
    CHANGING_PAIRS, CHANGING_TRIPLES, CHANGING_WHOLE, INNER, Phrases, encode_mandarin,
)
from phonemic.native.strings cimport UTF8, Text, take
from phonemic.native.text cimport Characters, Output, text_t, utf8_t
from phonemic.native.vietnamese cimport Memo, Syllables, encode_vietnamese

cnp.import_array()

cdef enum:
    ON_STACK = 256  # characters of a text whose output fits the stack


cdef const void* pointer(dict sections, str name, type dtype) except NULL:
    """Where a section's numbers lie. The arrays are kept alive by the object that holds them."""
    array = sections[name]
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"section {name} must be {dtype.__name__}, not {array.dtype}")
    return cnp.PyArray_DATA(<cnp.ndarray>array)


cdef const uint64_t* bits_of(dict sections, str name, int size) except NULL:
    if len(sections[name]) != 1 << (size - 6):
        raise ValueError(f"section {name} must have 2 ** {size} bits, not {64 * len(sections[name])}")
    return <const uint64_t*>pointer(sections, name, np.uint64)


cdef int take_phrases(Phrases* phrases, dict sections, str name) except -1:
    phrases.codes = <const uint16_t*>pointer(sections, name + ".codes", np.uint16)
    phrases.astral_codes = <const uint16_t*>pointer(sections, name + ".astral_codes", np.uint16)
    phrases.astral_index = <const uint16_t*>pointer(sections, name + ".astral_index", np.uint16)
    phrases.units = <const uint64_t*>pointer(sections, name + ".units", np.uint64)
    phrases.records = <const uint16_t*>pointer(sections, name + ".records", np.uint16)
    phrases.readings = <const int32_t*>pointer(sections, name + ".readings", np.int32)
    return 0


cdef int take_characters(Characters* chars, dict sections, str name) except -1:
    chars.bmp = <const uint32_t*>pointer(sections, name + "bmp", np.uint32)
    chars.astral = <const uint32_t*>pointer(sections, name + "astral", np.uint32)
    chars.astral_index = <const uint16_t*>pointer(sections, name + "astral_index", np.uint16)
    return 0


cdef int take_syllables(Syllables* syllables, dict sections) except -1:
    cdef Py_ssize_t cells = len(sections["cells"])
    syllables.cells = <const uint64_t*>pointer(sections, "cells", np.uint64)
    syllables.mask = <uint64_t>(cells - 1)
    syllables.shift = 65 - int(cells).bit_length()
    syllables.tone_symbols = <const uint8_t*>pointer(sections, "tone_symbols", np.uint8)
    syllables.compose = <const uint8_t*>pointer(sections, "compose", np.uint8)
    syllables.compose_fallback = <const uint8_t*>pointer(sections, "compose_fallback", np.uint8)
    syllables.letter_symbols = <const uint8_t*>pointer(sections, "letter_symbols", np.uint8)
    syllables.vowels = <const uint8_t*>pointer(sections, "vowels", np.uint8)
    return 0


# A function for each language, so that what the compiler makes of one depends less on the other.
cdef void run_mandarin(Core core, const text_t* text, Py_ssize_t length, Output* out) noexcept nogil:
    encode_mandarin(&core.chars, &core.readings, text, length, out)


cdef void run_vietnamese(Core core, const text_t* text, Py_ssize_t length, Memo* memo, Output* out) noexcept nogil:
    encode_vietnamese(&core.chars, &core.syllables, memo, text, length, core.strict, out)


cdef inline void run(Core core, const text_t* text, Py_ssize_t length, Memo* memo, Output* out) noexcept nogil:
    if core.is_mandarin:
        run_mandarin(core, text, length, out)
    else:
        run_vietnamese(core, text, length, memo, out)


cdef class Core:
    """One language's tables and options; immutable, so that any number of threads may use one.

    The memos that it keeps for batches change hands by atomic exchange.

    Arguments:
        sections: the arrays of the table file (``data/compile.py`` lists them).
        strict: the strict reading (Vietnamese).
    """

    def __dealloc__(self):
        free(self.spare[0])
        free(self.spare[1])

    def __cinit__(self, dict sections not None, bint strict=False):
        self._alive = tuple(sections.values())  # the arrays themselves: the dictionary may change
        self.strict, self.expansion, self.slack = strict, 1, 0
        take_characters(&self.chars, sections, "")
        self.is_mandarin = "inner" in sections
        if "classes" in sections:
            self.readings.classes = self.syllables.classes = <const uint8_t*>pointer(sections, "classes", np.uint8)
        if self.is_mandarin:
            take_phrases(&self.readings.lexicon, sections, "lexicon")
            take_characters(&self.readings.defaults, sections, "default." if "default.bmp" in sections else "")
            self.readings.has_user = "user.units" in sections
            if self.readings.has_user:
                take_phrases(&self.readings.user, sections, "user")
            self.readings.inner = bits_of(sections, "inner", INNER)
            self.readings.changing_pairs = bits_of(sections, "changing_pairs", CHANGING_PAIRS)
            self.readings.changing_whole = bits_of(sections, "changing_whole", CHANGING_WHOLE)
            self.readings.changing_triples = bits_of(sections, "changing_triples", CHANGING_TRIPLES)
        else:
            take_syllables(&self.syllables, sections)

    cdef void read(self, const Text* text, Memo* memo, Output* out) noexcept nogil:
        """Encodes one text behind what the output holds; it must have room for as many positions as there are units."""
        if text.kind == UTF8:
            run(self, <const utf8_t*>text.data, text.length, memo, out)
        elif text.kind == 1:
            run(self, <const uint8_t*>text.data, text.length, memo, out)
        elif text.kind == 2:
            run(self, <const uint16_t*>text.data, text.length, memo, out)
        else:
            run(self, <const uint32_t*>text.data, text.length, memo, out)

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
                    self.read(&source, NULL, &out)
            else:
                self.read(&source, NULL, &out)
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

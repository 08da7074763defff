# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The core whose ids say how a text is written (``form=True``); apart from ``_core.pyx``, so that ids without forms
cost what they did."""

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from phonemic._core cimport Core
from phonemic.native.output cimport begin_output, drop_output, reserve
from phonemic.native.sections cimport numbers_in
from phonemic.native.strings cimport UTF8, Text, take
from phonemic.native.text cimport Output, text_t, utf8_t
from phonemic.native.vietnamese cimport Memo
from phonemic.native.written cimport EXPANSION, Written
from phonemic.native.written_mandarin cimport write_mandarin, write_read
from phonemic.native.written_vietnamese cimport write_vietnamese

cnp.import_array()

cdef enum:
    SLACK = 1 << 12


cdef int take_written(Written* written, dict tables, bint is_mandarin) except -1:
    written.bmp = <const uint8_t*>numbers_in(tables, "written.first.bmp", np.uint8)
    written.astral = <const uint8_t*>numbers_in(tables, "written.first.astral", np.uint8)
    written.astral_index = <const uint16_t*>numbers_in(tables, "written.first.astral_index", np.uint16)
    if is_mandarin:
        written.defaults.bmp = <const uint32_t*>numbers_in(tables, "written.default.bmp", np.uint32)
        written.defaults.astral = <const uint32_t*>numbers_in(tables, "written.default.astral", np.uint32)
        written.defaults.astral_index = <const uint16_t*>numbers_in(tables, "written.default.astral_index", np.uint16)
        written.slots = <const uint8_t*>numbers_in(tables, "written.slots", np.uint8)
        written.shape = <const int32_t*>numbers_in(tables, "written.shape", np.int32)
        written.begins = <const uint16_t*>numbers_in(tables, "written.begins", np.uint16)
        written.ranked = <const uint32_t*>numbers_in(tables, "written.ranked", np.uint32)
    else:
        written.letters = <const uint16_t*>numbers_in(tables, "written.letters", np.uint16)
        written.spellings = <const uint64_t*>numbers_in(tables, "written.spellings", np.uint64)
        written.shift = 65 - int(len(tables["written.spellings"])).bit_length()
    return 0


cdef Core _in_context(dict sections, bint strict):
    """The core of readings in context, imported for them only."""
    from phonemic.native._context import ContextCore

    return ContextCore(sections, strict)


cdef class WrittenCore(Core):
    """The tables of a language with those of its written forms; otherwise as :class:`phonemic._core.Core`.

    Arguments:
        sections: the arrays of the language's tables, and those of its forms (``lexicon/forms.py``), whose names begin
            with "written.".
        strict: the strict reading (Vietnamese).
    """

    cdef Core heard  # reads Mandarin in context; None: readings are those of the lexicon
    cdef Written written

    def __cinit__(self, dict sections not None, bint strict=False):
        self.heard = _in_context(sections, strict) if "models" in sections else None
        self.expansion, self.slack = EXPANSION, SLACK
        take_written(&self.written, sections, self.is_mandarin)

    cdef void read(self, const Text* text, Memo* memo, Output* out) noexcept nogil:
        if text.kind == UTF8:
            write(self, text, <const utf8_t*>text.data, memo, out)
        elif text.kind == 1:
            write(self, text, <const uint8_t*>text.data, memo, out)
        elif text.kind == 2:
            write(self, text, <const uint16_t*>text.data, memo, out)
        else:
            write(self, text, <const uint32_t*>text.data, memo, out)

    def encode(self, str text not None):
        """One text; see :meth:`phonemic._core.Core.encode`."""
        cdef Text source
        cdef Output out
        cdef cnp.npy_intp size
        cdef int32_t* target
        take(text, &source)
        begin_output(&out)
        try:
            with nogil:
                if reserve(&out, EXPANSION * source.length, True, True):
                    self.read(&source, NULL, &out)
                else:
                    out.capacity = 0
            if out.capacity == 0:
                raise MemoryError("no memory for the ids")
            size = 4 * out.count
            result = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT32, 0)
            target = <int32_t*>cnp.PyArray_DATA(<cnp.ndarray>result)
            memcpy(target, out.ids, out.count * sizeof(int32_t))
            memcpy(target + out.count, out.words, out.count * sizeof(int32_t))
            memcpy(target + 2 * out.count, out.spans, 2 * out.count * sizeof(int32_t))
        finally:
            drop_output(&out)
        return result


cdef inline void write(WrittenCore core, const Text* source, const text_t* text, Memo* memo,
                       Output* out) noexcept nogil:
    cdef Output heard
    if not core.is_mandarin:
        write_vietnamese(&core.written, &core.chars, &core.syllables, memo, text, source.length, core.strict, out)
        return
    if core.heard is None:
        write_mandarin(&core.written, &core.chars, &core.readings, text, source.length, out)
        return
    heard = out[0]
    heard.ids += out.count + (EXPANSION - 1) * source.length
    heard.spans = heard.words = NULL
    heard.count = 0
    core.heard.read(source, NULL, &heard)
    out.invalid = heard.invalid
    if heard.invalid < 0:
        write_read(&core.written, &core.chars, text, source.length, heard.ids, out)

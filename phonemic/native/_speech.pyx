# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The core that changes what it has read as speech does; apart from the others, so that these cost what they did."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from phonemic._core cimport Core
from phonemic.native._context cimport take_contexts
from phonemic.native.context cimport Contexts, encode_in_context
from phonemic.native.sections cimport numbers_in
from phonemic.native.speech cimport Speech, encode_spoken
from phonemic.native.strings cimport UTF8, Text
from phonemic.native.text cimport Output, text_t, utf8_t
from phonemic.native.vietnamese cimport Memo


cdef class SpokenCore(Core):
    """The tables and options of Mandarin as it is spoken; otherwise as :class:`phonemic._core.Core`.

    Arguments:
        sections: the arrays of Mandarin's table files, those of readings in context among them if it is so read; and
            those of ``reading/spoken.py``.
        strict: of no use in Mandarin.
    """

    cdef Contexts contexts
    cdef object both
    cdef Speech speech

    def __cinit__(self, dict sections not None, bint strict=False):
        self.speech.chars, self.speech.readings = &self.chars, &self.readings
        self.speech.in_context = "models" in sections
        if self.speech.in_context:
            self.both = take_contexts(&self.contexts, sections)
        self.speech.words.codes = <const uint16_t*>numbers_in(sections, "speech.codes", np.uint16)
        self.speech.words.astral_codes = <const uint16_t*>numbers_in(sections, "speech.astral_codes", np.uint16)
        self.speech.words.astral_index = <const uint16_t*>numbers_in(sections, "speech.astral_index", np.uint16)
        self.speech.words.units = <const uint64_t*>numbers_in(sections, "speech.units", np.uint64)
        self.speech.words.records = <const uint16_t*>numbers_in(sections, "speech.records", np.uint16)
        self.speech.words.readings = <const int32_t*>numbers_in(sections, "speech.readings", np.int32)
        self.speech.kinds = <const uint8_t*>numbers_in(sections, "speech.kinds", np.uint8)
        self.speech.symbols = <const int32_t*>numbers_in(sections, "speech.symbols", np.int32)
        self.speech.sandhi, self.speech.erhua = sections["speech.does"]

    cdef void read(self, const Text* text, Memo* memo, Output* out) noexcept nogil:
        if text.kind == UTF8:
            run(self, <const utf8_t*>text.data, text.length, out)
        elif text.kind == 1:
            run(self, <const uint8_t*>text.data, text.length, out)
        elif text.kind == 2:
            run(self, <const uint16_t*>text.data, text.length, out)
        else:
            run(self, <const uint32_t*>text.data, text.length, out)


cdef inline void run(SpokenCore core, const text_t* text, Py_ssize_t length, Output* out) noexcept nogil:
    if core.speech.in_context:
        encode_in_context(&core.chars, &core.readings, &core.contexts, &core.speech, text, length, out)
    else:
        encode_spoken(&core.speech, text, length, out)

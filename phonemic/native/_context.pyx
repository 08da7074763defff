# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The core that reads Mandarin in context; apart from ``_core.pyx``, so that the other readings cost what they did."""

cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from phonemic._core cimport Core
from phonemic.native.context cimport Both, Contexts, First, encode_in_context
from phonemic.native.sections cimport numbers_in
from phonemic.native.segmentation cimport Bucket
from phonemic.native.strings cimport UTF8, Text
from phonemic.native.text cimport Output, utf8_t
from phonemic.native.vietnamese cimport Memo
from phonemic.native.windows cimport Model, phonemic_has_avx2

from phonemic.errors import TableError
from phonemic.lexicon.entries import CONTEXT_LAYOUT

cnp.import_array()


cdef object take_contexts(Contexts* contexts, dict sections):
    if [*sections.get("context.layout", ())] != [CONTEXT_LAYOUT]:
        raise TableError("the tables of readings in context were compiled for another version; reinstall phonemic")
    both = np.stack([sections["bmp"], sections["looks.bmp"]], axis=1)
    contexts.both = <const Both*>cnp.PyArray_DATA(<cnp.ndarray>both)
    contexts.looks.bmp = <const uint32_t*>numbers_in(sections, "looks.bmp", np.uint32)
    contexts.looks.astral = <const uint32_t*>numbers_in(sections, "looks.astral", np.uint32)
    contexts.looks.astral_index = <const uint16_t*>numbers_in(sections, "looks.astral_index", np.uint16)
    contexts.models = <const Model*>numbers_in(sections, "models", np.int32)
    contexts.first = <const First*>numbers_in(sections, "models.first", np.int32)
    contexts.buckets = <const Bucket*>numbers_in(sections, "buckets", np.uint64)
    contexts.filters = <const uint64_t*>numbers_in(sections, "filters", np.uint64)
    contexts.beside = <const uint64_t*>numbers_in(sections, "filters.beside", np.uint64)
    contexts.words.buckets = <const Bucket*>numbers_in(sections, "words", np.uint64)
    contexts.words.count = (<const uint32_t*>numbers_in(sections, "words.count", np.uint32))[0]
    contexts.words.filters = <const uint64_t*>numbers_in(sections, "words.filters", np.uint64)
    contexts.has_avx2 = phonemic_has_avx2()
    return both


cdef class ContextCore(Core):
    """The tables and options of Mandarin read in context; otherwise as :class:`phonemic._core.Core`.

    Arguments:
        sections: the arrays of both of Mandarin's table files, see ``compiling/contexts.py``.
        strict: of no use in Mandarin.
    """

    cdef Contexts contexts
    cdef object both

    def __cinit__(self, dict sections not None, bint strict=False):
        self.both = take_contexts(&self.contexts, sections)

    def leave_avx2(self):
        """From now on, reads as on a processor without AVX2: the same, and slower. For tests, before anything is read.
        """
        self.contexts.has_avx2 = False

    cdef void read(self, const Text* text, Memo* memo, Output* out) noexcept nogil:
        if text.kind == UTF8:
            encode_in_context(
                &self.chars, &self.readings, &self.contexts, NULL, <const utf8_t*>text.data, text.length, out
            )
        elif text.kind == 1:
            encode_in_context(
                &self.chars, &self.readings, &self.contexts, NULL, <const uint8_t*>text.data, text.length, out
            )
        elif text.kind == 2:
            encode_in_context(
                &self.chars, &self.readings, &self.contexts, NULL, <const uint16_t*>text.data, text.length, out
            )
        else:
            encode_in_context(
                &self.chars, &self.readings, &self.contexts, NULL, <const uint32_t*>text.data, text.length, out
            )

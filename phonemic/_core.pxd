"""The tables of one language, and a text read against them: what ``_batch.pyx`` calls without the GIL."""

from phonemic._mandarin cimport Readings
from phonemic._strings cimport Text
from phonemic._text cimport Characters, Output
from phonemic._vietnamese cimport Memo, Syllables


cdef class Core:
    cdef object _alive
    cdef Characters chars
    cdef Syllables syllables
    cdef Readings readings
    cdef bint is_mandarin, strict
    cdef void* spare[2]  # a Memo of str and one of UTF-8 that no batch is using, or NULL

    cdef void read(self, const Text* text, Memo* memo, Output* out) noexcept nogil

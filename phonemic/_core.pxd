"""The tables of one language, and a text read against them: what ``native/_batch.pyx`` calls without the GIL."""

from phonemic.native.mandarin cimport Readings
from phonemic.native.strings cimport Text
from phonemic.native.text cimport Characters, Output
from phonemic.native.vietnamese cimport Memo, Syllables


cdef class Core:
    cdef object _alive
    cdef Characters chars
    cdef Syllables syllables
    cdef Readings readings
    cdef bint is_mandarin, strict
    cdef Py_ssize_t expansion  # positions that a unit of text takes at most
    cdef Py_ssize_t slack      # room for this many is made in addition to one per unit, so that it seldom grows
    cdef void* spare[2]  # a Memo of str and one of UTF-8 that no batch is using, or NULL

    cdef void read(self, const Text* text, Memo* memo, Output* out) noexcept nogil

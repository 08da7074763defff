"""What other cores take of a table file as this one does."""

from phonemic.native.context cimport Contexts

cdef const void* numbers_in(dict sections, str name, type dtype) except NULL
cdef int take_contexts(Contexts* contexts, dict sections) except -1

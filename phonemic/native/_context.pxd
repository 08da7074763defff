"""What other cores take of a table file as this one does."""

from phonemic.native.context cimport Contexts

cdef int take_contexts(Contexts* contexts, dict sections) except -1

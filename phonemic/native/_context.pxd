"""The models of a table file, as other cores take them, too."""

from phonemic.native.context cimport Contexts

cdef int take_contexts(Contexts* contexts, dict sections) except -1

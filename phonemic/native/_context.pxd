"""The models of a table file, as other cores take them, too."""

from phonemic.native.context cimport Contexts

# Takes the sections; what it returns must be kept as long as the models.
cdef object take_contexts(Contexts* contexts, dict sections)

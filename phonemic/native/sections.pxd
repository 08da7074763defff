"""The numbers of a table file's sections."""

cimport numpy as cnp


cdef inline const void* numbers_in(dict sections, str name, type dtype) except NULL:
    """Where a section's numbers lie. ``Core`` keeps the arrays alive; its own is not exported, which slowed it."""
    array = sections[name]
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"section {name} must be {dtype.__name__}, not {array.dtype}")
    return cnp.PyArray_DATA(<cnp.ndarray>array)

"""Where a text's characters lie: CPython's own string buffer, or UTF-8."""

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030C0000
    #define phonemic_ready(text) PyUnicode_READY(text)
    #else
    #define phonemic_ready(text) 0
    #endif
    """
    int phonemic_ready(object text) except -1
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef enum:
    UTF8 = 8                # a Text's kind, in addition to CPython's 1, 2 and 4 bytes a character
    LONGEST = 0x7FFFFFFF    # units of one text: spans are int32


cdef struct Text:
    const void* data
    Py_ssize_t length
    int kind


cdef inline int take(str text, Text* into) except -1:
    """The place of a string. Spans are int32, so a text holds at most 2**31 - 1 characters."""
    phonemic_ready(text)
    into.data = PyUnicode_DATA(text)
    into.length = PyUnicode_GET_LENGTH(text)
    into.kind = PyUnicode_KIND(text)
    if into.length > LONGEST:
        raise ValueError(f"a text of {into.length} characters is too long: at most 2147483647; split it")
    return 0

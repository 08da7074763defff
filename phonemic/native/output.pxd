"""Where positions are written: room for them, and its growth."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc

from phonemic.native.text cimport Output

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    enum { PHONEMIC_LARGE_PAGE = 1 << 21 };

    /* Asks for large pages: first touching memory in small ones costs as much as encoding. A wish; it may fail. Without
       it 20 MB of text with spans take 1.18 times as long in Vietnamese and 1.22 times in Mandarin. */
    static inline void phonemic_want_large_pages(void *data, size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        uintptr_t begin = ((uintptr_t)data + 4095) & ~(uintptr_t)4095;
        uintptr_t end = ((uintptr_t)data + size) & ~(uintptr_t)(PHONEMIC_LARGE_PAGE - 1);
        if (begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    #else
        (void)data, (void)size;
    #endif
    }
    """
    void phonemic_want_large_pages(void* data, size_t size) noexcept nogil

cdef enum:
    SMALLEST = 1 << 12      # positions there is room for at first
    LARGE = 1 << 22         # bytes from which on an array asks for large pages


cdef inline void begin_output(Output* out) noexcept nogil:
    out.ids = out.spans = out.words = NULL
    out.count = out.capacity = 0
    out.invalid = -1


cdef inline void drop_output(Output* out) noexcept nogil:
    free(out.ids)
    free(out.spans)
    free(out.words)


cdef inline int32_t* grown(int32_t* data, Py_ssize_t count) noexcept nogil:
    """``data`` with room for ``count`` numbers; NULL where memory ran out, and ``data`` is as it was."""
    cdef size_t size = count * sizeof(int32_t)
    cdef int32_t* moved = <int32_t*>realloc(data, size)
    if moved != NULL and size >= LARGE:
        phonemic_want_large_pages(moved, size)
    return moved


cdef inline bint reserve(Output* out, Py_ssize_t more, bint spans, bint words) noexcept nogil:
    """Room for ``more`` positions, and one over, which the loops may write to; false where memory ran out."""
    cdef Py_ssize_t capacity = out.count + more + 1
    cdef int32_t* moved
    if capacity <= out.capacity:
        return True
    capacity = max(capacity, out.capacity + out.capacity // 2, SMALLEST)
    moved = grown(out.ids, capacity)
    if moved == NULL:
        return False
    out.ids = moved
    if spans:
        moved = grown(out.spans, 2 * capacity)
        if moved == NULL:
            return False
        out.spans = moved
    if words:
        moved = grown(out.words, capacity)
        if moved == NULL:
            return False
        out.words = moved
    out.capacity = capacity
    return True

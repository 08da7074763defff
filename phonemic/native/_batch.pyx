# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Many texts into one array: piece by piece, by one thread or by several, with the GIL released."""

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from phonemic.errors import InputError

from phonemic._core cimport Core
from phonemic.native.output cimport begin_output, drop_output, reserve
from phonemic.native.strings cimport LONGEST, UTF8, Text, take
from phonemic.native.text cimport Output
from phonemic.native.vietnamese cimport MEMO_BITS, Memo

cnp.import_array()

cdef extern from *:
    """
    /* The header of a list's item. Without the GIL another thread may move the items while one is looked up. */
    #if defined(__GNUC__) && !defined(Py_GIL_DISABLED)
    #define phonemic_prefetch_item(list, index) __builtin_prefetch(PyList_GET_ITEM(list, index))
    #else
    #define phonemic_prefetch_item(list, index) ((void)(index))
    #endif
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define phonemic_exchange(place, value) _InterlockedExchangePointer(place, value)
    #else
    #define phonemic_exchange(place, value) __atomic_exchange_n(place, value, __ATOMIC_ACQ_REL)
    #endif
    """
    void* phonemic_exchange(void** place, void* value) noexcept nogil
    void phonemic_prefetch_item(list texts, Py_ssize_t index)

cdef enum:
    PIECE = 1 << 17                  # units that are encoded at a time, with the GIL released
    TEXTS = 1 << 12                  # texts of a piece at most
    PREFETCH = 8                     # texts whose headers are fetched before they are looked at
    SLOTS = 4                        # pieces for each thread that may be done, or on the way, before an earlier one is
    MEMO_THRESHOLD = 1 << 14         # units from which on a batch has a memo
    MEMO_LIMIT = 1 << MEMO_BITS - 1  # syllables after which a memo is forgotten at the end of the batch
    MAX_GROWTH = 1 << 10             # times what there is that room is then made for at most
    MAX_THREADS = 1 << 10


cdef class Block:
    """Owns memory that arrays are views of."""

    cdef void* data

    def __dealloc__(self):
        free(self.data)


cdef object array_of(int32_t** owner, Py_ssize_t count, Py_ssize_t capacity, int columns):
    """An int32 array that takes over what ``owner`` owns, shape (count,) or (count, columns), cut where much is over.

    Where little is over it stays: malloc then gets back what it gave, and has it for the next call.
    """
    cdef cnp.npy_intp[2] shape
    cdef Block block = Block()
    cdef void* data = owner[0]
    cdef void* shrunk
    block.data, owner[0] = data, NULL
    if capacity - count > capacity // 4:
        shrunk = realloc(data, max(<size_t>count * columns, 1) * sizeof(int32_t))
        if shrunk != NULL:
            block.data = shrunk
    shape[0] = count
    shape[1] = columns
    array = cnp.PyArray_SimpleNewFromData(1 if columns == 1 else 2, shape, cnp.NPY_INT32, block.data)
    cnp.set_array_base(array, block)
    return array


# Rows that are encoded at a time. Of a list, the strings are held, so that their characters may be read without the
# GIL while another thread changes the list.
cdef struct Piece:
    Py_ssize_t start, stop, units
    Text* texts
    PyObject** held
    Py_ssize_t holding


# A piece that one of several threads encodes into memory of its own, until its place in the output is known.
cdef struct Slot:
    Output* out
    Py_ssize_t start, stop
    bint done


cdef class Work:
    """Texts being encoded: by one thread (:meth:`run_alone`), or by several that each call :meth:`run`.

    Arguments:
        core: encodes.
        texts: a list of str; or a uint8 array of UTF-8, text i being ``texts[offsets[i]:offsets[i + 1]]``.
        offsets: int32 or int64 array, for UTF-8.
        spans: write spans, in code points for str and in bytes for UTF-8.
        words: write word ids.
    """

    cdef Core core
    cdef list texts
    cdef const uint8_t* data
    cdef const int64_t* offsets
    cdef const int32_t* narrow_offsets
    cdef object _alive
    cdef Py_ssize_t size, rows
    cdef bint spans, words
    cdef Output out
    cdef int64_t* ends
    cdef object ends_array
    # of several threads:
    cdef object turn
    cdef dict errors  # number of a piece -> what went wrong
    cdef Slot* slots
    cdef Output* rooms
    cdef Output** spare  # of the rooms, the one used last on top: it is still in the processor's cache
    cdef Py_ssize_t size_of_ring, spares  # how many slots and rooms there are, and of these not in use
    cdef Py_ssize_t rows_taken, taken, placed  # rows and pieces taken; pieces that are in the output
    cdef bint placing

    def __cinit__(self, Core core not None, object texts, object offsets, bint spans, bint words):
        cdef const uint8_t[::1] data
        cdef const int64_t[::1] bounds
        cdef const int32_t[::1] narrow_bounds
        cdef cnp.npy_intp count
        begin_output(&self.out)
        self.core, self.spans, self.words = core, spans, words
        if offsets is None:
            self.texts, self.rows = texts, len(texts)
        elif len(offsets) == 0:
            raise InputError("the offsets of no row have one number, where it would begin, not none")
        else:
            data = texts
            self._alive = (texts, offsets)
            self.data = &data[0] if len(data) else NULL
            self.size, self.rows = len(data), len(offsets) - 1
            if offsets.dtype == np.int32:
                narrow_bounds = offsets
                self.narrow_offsets = &narrow_bounds[0]
            else:
                bounds = offsets
                self.offsets = &bounds[0]
        count = self.rows + 1
        self.ends_array = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INT64, 0)
        self.ends = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.ends_array)
        self.ends[0] = 0

    def __dealloc__(self):
        cdef Py_ssize_t number
        drop_output(&self.out)
        for number in range(self.size_of_ring):
            drop_output(&self.rooms[number])
        free(self.slots)
        free(self.rooms)
        free(self.spare)

    def run_alone(self):
        """Encodes everything in this thread; a signal (Ctrl-C) is looked for between the pieces.

        Raises:
            InputError: a text is not UTF-8, or the offsets are wrong; the message names the row.
            TypeError: an element of the list is not a str; the message names its index.
            IndexError: another thread has shortened the list.
        """
        cdef Memo* memo = NULL
        cdef Piece piece
        begin_piece(&piece)
        try:
            self._hold(&piece)
            while piece.stop < self.rows:
                self._take(&piece, piece.stop)
                if memo == NULL and piece.units > MEMO_THRESHOLD:
                    memo = self._borrow_memo()
                if not self._make_room(&self.out, piece.units + self.core.slack, piece.start):
                    raise MemoryError("no memory for the ids")
                self._encode(&piece, memo, &self.out, self.ends + piece.start + 1)
                PyErr_CheckSignals()
        finally:
            end_piece(&piece)
            self._give_back(memo)

    def share(self, int threads):
        """To be called once, before so many threads call :meth:`run`."""
        from threading import Condition

        cdef Py_ssize_t number, size = SLOTS * <Py_ssize_t>threads
        if self.slots != NULL or not 0 < threads <= MAX_THREADS:
            raise ValueError(f"{threads} threads cannot share the texts: 1 to {MAX_THREADS} can, once")
        self.turn, self.errors = Condition(), {}
        self.slots = <Slot*>calloc(size, sizeof(Slot))
        self.rooms = <Output*>calloc(size, sizeof(Output))
        self.spare = <Output**>calloc(size, sizeof(Output*))
        if self.slots == NULL or self.rooms == NULL or self.spare == NULL:
            raise MemoryError("no memory to share the texts between threads")
        for number in range(size):
            begin_output(&self.rooms[number])
            self.spare[number] = &self.rooms[number]
        self.size_of_ring = self.spares = size

    def run(self):
        """Encodes pieces of the texts, one after another, until none is left or one is wrong.

        A piece is encoded into memory of its own and put behind the one before it when that has its place; whichever
        thread comes first does that, and none waits unless another is several pieces behind. So the ids come to lie in
        one array, in order, and there is never a second copy of them all. :meth:`result` raises what was wrong.
        """
        cdef Memo* memo = NULL
        cdef Py_ssize_t number = -1
        cdef Piece piece
        cdef Slot* slot
        begin_piece(&piece)
        try:
            self._hold(&piece)
            memo = self._borrow_memo()
            while True:
                with self.turn:
                    while self.taken - self.placed == self.size_of_ring and not self.errors:
                        self.turn.wait()
                    if self.errors or self.rows_taken == self.rows:
                        return
                    number = self.taken
                    self.taken += 1
                    self._take(&piece, self.rows_taken)
                    self.rows_taken = piece.stop
                    self.spares -= 1
                    slot = &self.slots[number % self.size_of_ring]
                    slot.start, slot.stop, slot.out = piece.start, piece.stop, self.spare[self.spares]
                slot.out.count = 0
                if not reserve(slot.out, piece.units + self.core.slack, self.spans, self.words):
                    raise MemoryError("no memory for the ids")
                self._encode(&piece, memo, slot.out, self.ends + piece.start + 1)
                self._put(slot)
                PyErr_CheckSignals()
        except BaseException as error:
            with self.turn:
                self.errors[number] = error
                self.turn.notify_all()
            if not isinstance(error, Exception):
                raise
        finally:
            end_piece(&piece)
            self._give_back(memo)

    def result(self):
        """The encoded batch; to be called once, when all threads are done.

        Returns:
            (ids int32 (N,), offsets int64 (B + 1,), spans int32 (N, 2) or None, word ids int32 (N,) or None).

        Raises:
            InputError, TypeError, IndexError: as :meth:`run_alone`; of several threads' errors, the first text's.
        """
        if self.errors:
            raise self.errors[min(self.errors)]
        spans = words = None
        if not reserve(&self.out, 0, self.spans, self.words):
            raise MemoryError
        ids = array_of(&self.out.ids, self.out.count, self.out.capacity, 1)
        if self.spans:
            spans = array_of(&self.out.spans, self.out.count, self.out.capacity, 2)
        if self.words:
            words = array_of(&self.out.words, self.out.count, self.out.capacity, 1)
        self.out.count = self.out.capacity = 0
        return ids, self.ends_array, spans, words

    cdef Memo* _borrow_memo(self) noexcept:
        """The core's memo, or a fresh one while another batch has it; NULL where the language has none, or memory is
        short: it does without, too."""
        cdef void* memo = NULL
        if not self.core.is_mandarin:
            memo = phonemic_exchange(&self.core.spare[self.texts is None], NULL)
            if memo == NULL:
                memo = calloc(1, sizeof(Memo))
        return <Memo*>memo

    cdef void _give_back(self, Memo* memo) noexcept:
        """Leaves the memo to the next batch, empty where it is so full that frequent syllables may have no place."""
        if memo != NULL:
            if memo.learned > MEMO_LIMIT:
                memset(memo, 0, sizeof(Memo))
            free(phonemic_exchange(&self.core.spare[self.texts is None], memo))

    cdef inline int64_t _offset(self, Py_ssize_t row) noexcept nogil:
        return self.offsets[row] if self.narrow_offsets == NULL else self.narrow_offsets[row]

    cdef int _hold(self, Piece* piece) except -1:
        """Makes room for the strings of a piece."""
        cdef Py_ssize_t most = max(min(self.rows, TEXTS), 1)
        if self.texts is not None:
            piece.texts = <Text*>malloc(most * sizeof(Text))
            piece.held = <PyObject**>malloc(most * sizeof(PyObject*))
            if piece.texts == NULL or piece.held == NULL:
                raise MemoryError("no memory to hold the texts")
        return 0

    @cython.boundscheck(True)  # another thread may shorten the list
    cdef int _take(self, Piece* piece, Py_ssize_t start) except -1:
        """Makes ``piece`` the rows from ``start`` on, as many as are encoded at a time, at least one."""
        let_go(piece)
        piece.start = piece.stop = start
        piece.units = 0
        while piece.stop < self.rows and piece.units < PIECE and piece.holding < TEXTS:
            if self.texts is None:
                piece.units += min(max(self._offset(piece.stop + 1) - self._offset(piece.stop), 0), self.size)
            else:
                if piece.stop + PREFETCH < len(self.texts):
                    phonemic_prefetch_item(self.texts, piece.stop + PREFETCH)
                text = as_text(self.texts[piece.stop], piece.stop)
                take(text, &piece.texts[piece.holding])
                piece.units += piece.texts[piece.holding].length
                piece.held[piece.holding] = <PyObject*>text
                Py_INCREF(text)
                piece.holding += 1
            piece.stop += 1
        return 0

    cdef bint _make_room(self, Output* out, Py_ssize_t more, Py_ssize_t start) noexcept nogil:
        """Room for ``more`` positions, and for later rows what earlier ones took; false where memory ran out.

        Moving what was written costs time: without this, 20 MB of text with spans take 1.8 times as long in Vietnamese
        and 2.2 times in Mandarin; with at most 8 times what there is, 1.27 times in Vietnamese. Pages that are not
        touched cost nothing.
        """
        cdef double later, most
        if out.count + more < out.capacity:
            return True
        if start > 0:
            later = 1.125 * out.count * (self.rows - start) / start
            most = <double>out.count * MAX_GROWTH
            if reserve(out, more + <Py_ssize_t>min(later, most), self.spans, self.words):
                return True
        return reserve(out, more, self.spans, self.words)

    cdef int _encode(self, const Piece* piece, Memo* memo, Output* out, int64_t* ends) except -1:
        """The rows of a piece, and the count of positions after each."""
        cdef Py_ssize_t row = 0, begin = 0, end = 0
        cdef bint failed = False, wrong = False, is_list = self.texts is not None
        cdef Text utf8
        cdef const Text* text = &utf8
        cdef Output local = out[0]  # away from all that another thread writes: a count is kept for each position
        utf8.kind = UTF8
        with nogil:
            for row in range(piece.start, piece.stop):
                if is_list:
                    text = &piece.texts[row - piece.start]
                else:
                    begin, end = self._offset(row), self._offset(row + 1)
                    wrong = not 0 <= begin <= end <= self.size or end - begin > LONGEST
                    if wrong:
                        break
                    utf8.data, utf8.length = self.data + begin, end - begin
                failed = not reserve(&local, text.length * self.core.expansion, self.spans, self.words)
                if failed:
                    break
                self.core.read(text, memo, &local)
                if local.invalid >= 0:
                    break
                ends[row - piece.start] = local.count
        out[0] = local
        if wrong:
            raise InputError(f"row {row}: its offsets {begin} to {end} are wrong or too far apart")
        if failed:
            raise MemoryError(f"no memory for the ids of row {row}")
        if out.invalid >= 0:
            raise InputError(f"row {row}: byte {out.invalid} of the text is not UTF-8")
        return 0

    cdef int _put(self, Slot* slot) except -1:
        """Notes that a piece is done, and appends all that are next in order, unless another thread is doing that."""
        cdef bint failed
        with self.turn:
            slot.done = True
            if self.placing:
                return 0
            slot = self._next_in_order()
        while slot != NULL:
            with nogil:
                failed = not self._append(slot)
            if failed:
                raise MemoryError("no memory for the ids")
            with self.turn:
                slot.done = False
                self.spare[self.spares] = slot.out
                self.spares += 1
                self.placed += 1
                self.turn.notify_all()
                slot = self._next_in_order()
        return 0

    cdef Slot* _next_in_order(self) noexcept:
        cdef Slot* slot = &self.slots[self.placed % self.size_of_ring]
        self.placing = slot.done
        return slot if slot.done else NULL

    cdef bint _append(self, const Slot* slot) noexcept nogil:
        cdef Py_ssize_t row, base = self.out.count, count = slot.out.count
        if not self._make_room(&self.out, count, slot.start):
            return False
        memcpy(self.out.ids + base, slot.out.ids, count * sizeof(int32_t))
        if self.spans:
            memcpy(self.out.spans + 2 * base, slot.out.spans, 2 * count * sizeof(int32_t))
        if self.words:
            memcpy(self.out.words + base, slot.out.words, count * sizeof(int32_t))
        for row in range(slot.start + 1, slot.stop + 1):
            self.ends[row] += base
        self.out.count += count
        return True


cdef void begin_piece(Piece* piece) noexcept:
    piece.start = piece.stop = piece.units = piece.holding = 0
    piece.texts, piece.held = NULL, NULL


cdef void let_go(Piece* piece) noexcept:
    while piece.holding:
        piece.holding -= 1
        Py_DECREF(<object>piece.held[piece.holding])


cdef void end_piece(Piece* piece) noexcept:
    let_go(piece)
    free(piece.texts)
    free(piece.held)


cdef str as_text(object text, Py_ssize_t index):
    """The str itself; a plain copy of an instance of a subclass."""
    if type(text) is str:
        return text
    if not isinstance(text, str):
        raise TypeError(f"text {index} is {type(text).__name__}, not str")
    return str.__str__(text)

# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Alignment of two texts, and of one with all names of an index; the GIL is released.

A name is aligned only where a bound lets it: each of its positions costs at least what it costs against the cheapest of
the query's positions that it may stand against, and so many of the query's cost what they cost against nothing. Which
positions may stand against each other follows from the limit: every step aside costs an insertion and a deletion. Names
are grouped by length, and in order in a group, so that all with the same first syllable are passed over at once.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

cdef enum:
    CELLS = 1 << 24
    TIERS = 4
    LENGTH = 0
    WEIGHT = 1
    COUNT = 2

#: The runs of a group are looked at in this order: those whose first syllable costs less than this, then the next.
cdef int32_t[TIERS] TIER
TIER[:] = [100, 300, 600, 1 << 30]


cdef struct Query:
    Py_ssize_t size         # how many positions
    Py_ssize_t symbols
    int16_t* costs         # of position j against symbol s: costs[j * symbols + s]
    int16_t* symbol_gaps
    int16_t* gaps          # of each position
    int16_t* bands         # of a name's position against the ones that it may be aligned with; depth * symbols
    int16_t* best           # of a symbol against whatever position is cheapest, or none; symbols
    bint has_best           # whether that was reckoned for this size
    int32_t* row            # of an alignment
    int32_t weight          # of all positions against nothing
    bint uniform            # whether all positions cost as much as a syllable


cdef struct Found:
    int64_t* keys           # distance << 32 | number of the name; a heap with the greatest first, where most is not 0
    Py_ssize_t size
    Py_ssize_t room
    Py_ssize_t most         # keep as many; 0: all
    int32_t limit           # nothing that is farther is looked for


cdef inline int32_t lesser(int32_t a, int32_t b) noexcept nogil:
    return a if a < b else b


cdef inline int32_t greater(int32_t a, int32_t b) noexcept nogil:
    return a if a > b else b


cdef bint add(Found* found, int64_t key) noexcept nogil:
    """Adds a name; False where memory is out."""
    cdef Py_ssize_t at, child
    cdef void* moved
    if found.most and found.size == found.most:
        if key >= found.keys[0]:
            return True
        at = 0
        while True:
            child = 2 * at + 1
            if child >= found.size:
                break
            if child + 1 < found.size and found.keys[child + 1] > found.keys[child]:
                child += 1
            if found.keys[child] <= key:
                break
            found.keys[at] = found.keys[child]
            at = child
        found.keys[at] = key
        found.limit = lesser(found.limit, <int32_t>(found.keys[0] >> 32))
        return True
    if found.size == found.room:
        moved = realloc(found.keys, (2 * found.room + 64) * sizeof(int64_t))
        if moved == NULL:
            return False
        found.keys, found.room = <int64_t*>moved, 2 * found.room + 64
    at = found.size
    found.size += 1
    if found.most:
        while at and found.keys[(at - 1) >> 1] < key:
            found.keys[at] = found.keys[(at - 1) >> 1]
            at = (at - 1) >> 1
    found.keys[at] = key
    if found.size == found.most:
        found.limit = lesser(found.limit, <int32_t>(found.keys[0] >> 32))
    return True


def align(const uint8_t[:, ::1] a, const uint8_t[:, ::1] b, tuple costs):
    """The cost of the cheapest alignment of two texts.

    Arguments:
        a: rows of onset, rime and tone, uint8 (M, 3).
        b: the like, uint8 (N, 3).
        costs: those of onsets, uint16 (O, O), rimes, uint16 (R, R), tones, uint16 (T, T), and what a position with each
            onset costs against none, uint16 (O,).
    """
    cdef const uint16_t[:, ::1] onsets = costs[0]
    cdef const uint16_t[:, ::1] rimes = costs[1]
    cdef const uint16_t[:, ::1] tones = costs[2]
    cdef const uint16_t[::1] gaps = costs[3]
    cdef Py_ssize_t i, j, size = b.shape[0], told = 0
    cdef int64_t above, here, value
    cdef int64_t[::1] cells = np.zeros(size + 1, np.int64)
    for j in range(size):
        cells[j + 1] = cells[j] + gaps[b[j, 0]]
    for i in range(a.shape[0]):
        with nogil:
            above = cells[0]
            cells[0] += gaps[a[i, 0]]
            for j in range(size):
                here = cells[j + 1]
                value = above + onsets[a[i, 0], b[j, 0]] + rimes[a[i, 1], b[j, 1]] + tones[a[i, 2], b[j, 2]]
                value = min(value, here + gaps[a[i, 0]])
                cells[j + 1] = min(value, cells[j] + gaps[b[j, 0]])
                above = here
        told += size
        if told > CELLS:
            PyErr_CheckSignals()
            told = 0
    return cells[size]


cdef class Names:
    """The names of an index as sequences of symbols: each once, by length, and in order among those of a length.

    Arguments:
        sounds: rows of onset, rime and tone of each symbol, uint8 (S, 3).
        symbols: the sequences, one behind the other, uint16 (P,).
        groups: of each group the length of its sequences, what each of them costs against nothing, and how many there
            are; int64 (G, 3).
        rows: the names with sequence q are ``order[rows[q]:rows[q + 1]]``, uint32 (Q + 1,).
        order: numbers of names, ascending within a sequence, uint32 (N,).
        costs: see :func:`align`.
        syllable: what a syllable costs against nothing.

    Nothing is checked here: an index that is out of bounds reads what is not its own.
    """

    cdef const uint8_t[:, ::1] sounds
    cdef const uint16_t[::1] symbols
    cdef const int64_t[:, ::1] groups
    cdef const uint32_t[::1] rows
    cdef const uint32_t[::1] order
    cdef const uint16_t[:, ::1] onsets
    cdef const uint16_t[:, ::1] rimes
    cdef const uint16_t[:, ::1] tones
    cdef const uint16_t[::1] gaps
    cdef int32_t syllable
    cdef Py_ssize_t depth
    cdef int64_t[::1] runs      # where a sequence begins with another symbol than the one before, group by group
    cdef int64_t[::1] bounds    # the runs of group g are those from bounds[g]; each group has one more, its end

    def __init__(self, sounds, symbols, groups, rows, order, costs, syllable):
        self.sounds, self.symbols, self.groups = sounds, symbols, groups
        self.rows, self.order, self.syllable = rows, order, syllable
        self.onsets, self.rimes, self.tones, self.gaps = costs
        runs, at = [np.zeros(0, np.int64)], 0
        for length, _, count in groups.tolist():
            first = symbols[at:at + length * count:length or 1]
            changes = np.flatnonzero(np.diff(first)) + 1 if length else []
            runs.append(np.concatenate([[0], changes, [count]]).astype(np.int64))
            at += length * count
        self.runs = np.concatenate(runs)
        self.bounds = np.cumsum([0, *map(len, runs[1:])], dtype=np.int64)
        self.depth = max(groups[:, 0].tolist(), default=0)

    def search(self, const uint8_t[:, ::1] query, int32_t limit, Py_ssize_t most):
        """The nearest names.

        Arguments:
            query: rows of onset, rime and tone, uint8 (M, 3).
            limit: the greatest distance, in thousandths of a syllable.
            most: how many names; 0 for all.

        Returns:
            ``distance << 32 | number`` of each, ascending: int64 (K,).
        """
        for _, keys in self._found(query, limit, most, np.zeros(1, np.int64), np.array([len(query)], np.int64)):
            return keys
        return np.zeros(0, np.int64)

    def parts(self, const uint8_t[:, ::1] text, int32_t limit, const int64_t[::1] starts, const int64_t[::1] stops):
        """All names that are near to parts of a text.

        Arguments:
            text: rows of onset, rime and tone, uint8 (M, 3).
            limit: the greatest distance, in thousandths of a syllable.
            starts: where each part begins, int64 (P,), at least 0.
            stops: where it ends, int64 (P,), from its start to M.

        Returns:
            The number of each part to which there are names, and what :meth:`search` finds for it.
        """
        return self._found(text, limit, 0, starts, stops)

    cdef list _found(self, const uint8_t[:, ::1] rows, int32_t limit, Py_ssize_t most, const int64_t[::1] starts,
                     const int64_t[::1] stops):
        cdef Py_ssize_t size = rows.shape[0], symbols = self.sounds.shape[0], p
        cdef Query query
        cdef Found found
        cdef bint done = True
        cdef int16_t* costs
        cdef int16_t* gaps
        cdef void* block = malloc(
            (size + 2) * sizeof(int32_t) + (symbols * (size + self.depth + 2) + size) * sizeof(int16_t)
        )
        if block == NULL:
            raise MemoryError("for the search")
        query.row = <int32_t*>block
        query.gaps = gaps = <int16_t*>(query.row + size + 2)
        query.symbol_gaps = gaps + size
        query.costs = costs = query.symbol_gaps + symbols
        query.best = costs + symbols * size
        query.bands = query.best + symbols
        query.symbols = symbols
        found.keys, found.room, found.most = NULL, 0, most
        results = []
        try:
            with nogil:
                self._prepare(&query, rows)
            for p in range(starts.shape[0]):
                query.gaps, query.costs = gaps + starts[p], costs + starts[p] * symbols
                with nogil:
                    done = self._nearest(&query, &found, stops[p] - starts[p], limit)
                if not done:
                    raise MemoryError("for what was found")
                PyErr_CheckSignals()
                if found.size:
                    keys = np.empty(found.size, np.int64)
                    copy(keys, found.keys)
                    keys.sort()
                    results.append((p, keys))
        finally:
            free(block)
            free(found.keys)
        return results

    cdef void _prepare(self, Query* query, const uint8_t[:, ::1] rows) noexcept nogil:
        """The cost of each position against each symbol, and of each of both against nothing."""
        cdef Py_ssize_t s, j
        cdef int16_t* cost = query.costs
        cdef const uint16_t* onset
        cdef const uint16_t* rime
        cdef const uint16_t* tone
        for s in range(query.symbols):
            query.symbol_gaps[s] = self.gaps[self.sounds[s, 0]]
        for j in range(rows.shape[0]):
            query.gaps[j] = self.gaps[rows[j, 0]]
            onset, rime, tone = &self.onsets[rows[j, 0], 0], &self.rimes[rows[j, 1], 0], &self.tones[rows[j, 2], 0]
            for s in range(query.symbols):
                cost[s] = onset[self.sounds[s, 0]] + rime[self.sounds[s, 1]] + tone[self.sounds[s, 2]]
            cost += query.symbols

    cdef bint _nearest(self, Query* query, Found* found, Py_ssize_t size, int32_t limit) noexcept nogil:
        """Looks through all groups; False where memory is out.

        To find the nearest few, names are first aligned without a step aside. How far the last of these is bounds the
        search that counts.
        """
        cdef Py_ssize_t j
        query.size, query.weight, query.uniform, query.has_best = size, 0, True, False
        for j in range(size):
            query.weight += query.gaps[j]
            query.uniform = query.uniform and query.gaps[j] == self.syllable
        found.limit, found.size = limit, 0
        if found.most:
            if not self._groups(query, found, False):
                return False
            if not self._may_step_aside(query, found.limit):
                return True
            limit = found.limit
            found.limit, found.size = limit, 0
        return self._groups(query, found, True)

    cdef bint _may_step_aside(self, Query* query, int32_t limit) noexcept nogil:
        """Whether an alignment within the limit may hold more steps than the difference of lengths asks for."""
        cdef Py_ssize_t g
        for g in range(self.groups.shape[0]):
            if self._least(query, g) + 2 * self.syllable <= limit and self._is_uniform(query, g):
                return True
        return False

    cdef inline int32_t _least(self, Query* query, Py_ssize_t g) noexcept nogil:
        """The least that a name of a group can cost, by what it and the query cost against nothing."""
        cdef int32_t weight = <int32_t>self.groups[g, WEIGHT]
        return greater(query.weight - weight, weight - query.weight)

    cdef inline bint _is_uniform(self, Query* query, Py_ssize_t g) noexcept nogil:
        """Whether every position of the query and of the names of a group costs as much as a syllable."""
        return query.uniform and self.groups[g, WEIGHT] == self.groups[g, LENGTH] * self.syllable

    cdef bint _groups(self, Query* query, Found* found, bint aside) noexcept nogil:
        """Searches the groups, those first that can be nearest; False where memory is out."""
        cdef Py_ssize_t g
        cdef int64_t names, symbols
        cdef int32_t least, near = 0, next_near
        while near <= found.limit:
            next_near = 1 << 30
            names = symbols = 0
            for g in range(self.groups.shape[0]):
                least = self._least(query, g)
                if near <= least < near + self.syllable and least <= found.limit:
                    if not self._group(query, found, g, names, symbols, aside):
                        return False
                elif least >= near + self.syllable:
                    next_near = lesser(next_near, least)
                names += self.groups[g, COUNT]
                symbols += self.groups[g, COUNT] * self.groups[g, LENGTH]
            near = next_near
        return True

    cdef void _cheapest(self, Query* query, int16_t* band, Py_ssize_t first, Py_ssize_t last,
                        bint deletes) noexcept nogil:
        """The cost of each symbol against the cheapest of some positions, or against nothing if that is allowed."""
        cdef Py_ssize_t _j, s
        cdef const int16_t* cost = query.costs + first * query.symbols
        for s in range(query.symbols):
            band[s] = query.symbol_gaps[s] if deletes else 0x7FFF
        for _j in range(first, last + 1):
            for s in range(query.symbols):
                band[s] = cost[s] if cost[s] < band[s] else band[s]
            cost += query.symbols

    cdef int16_t* _bands(self, Query* query, Py_ssize_t g, int32_t limit, bint aside, Py_ssize_t* step) noexcept nogil:
        """The least cost of each symbol at each position of a group's names; from one position to the next ``step``.

        Where all cost as much as a syllable, an alignment within the limit steps aside only so often.
        """
        cdef Py_ssize_t length = self.groups[g, LENGTH], size = query.size, more = length - size, steps = 0, k
        cdef Py_ssize_t first, last
        step[0] = query.symbols
        if not self._is_uniform(query, g):
            step[0] = 0
            if not query.has_best:
                self._cheapest(query, query.best, 0, size - 1, True)
                query.has_best = True
            return query.best
        if aside:
            steps = greater(0, limit - self._least(query, g)) // (2 * self.syllable)
        if not more and not steps:
            return query.costs
        for k in range(length):
            first = k - steps - (more if more > 0 else 0)
            last = k + steps - (more if more < 0 else 0)
            first, last = (first if first > 0 else 0), (last if last < size - 1 else size - 1)
            self._cheapest(query, query.bands + k * query.symbols, first, last, more > 0 or steps > 0)
        return query.bands

    cdef bint _group(self, Query* query, Found* found, Py_ssize_t g, int64_t names, int64_t symbols,
                     bint aside) noexcept nogil:
        """Searches the names of a group, which are those from sequence ``names``; False where memory is out.

        Where no alignment steps aside and the lengths are the same, there is one alignment, and the bound is what it
        costs.
        """
        cdef Py_ssize_t length = self.groups[g, LENGTH], k, tier
        cdef int64_t run, q
        cdef int32_t base, bound, before = -1
        cdef Py_ssize_t step
        cdef const int16_t* bands = self._bands(query, g, found.limit, aside, &step)
        cdef const int16_t* band
        cdef const uint16_t* name
        # By the triangle inequality, the part of the query that is aligned with nothing costs as much as it costs more
        # than the name.
        cdef int32_t besides = greater(0, query.weight - <int32_t>self.groups[g, WEIGHT])
        for tier in range(TIERS):
            for run in range(self.bounds[g], self.bounds[g + 1] - 1):
                q = self.runs[run]
                name = &self.symbols[0] + symbols + q * length
                base = besides + (bands[name[0]] if length else 0)
                if base > found.limit or not before < base - besides <= TIER[tier]:
                    continue
                for q in range(q, self.runs[run + 1]):
                    bound = base
                    band = bands
                    for k in range(1, length):
                        band += step
                        bound += band[name[k]]
                    if bound <= found.limit:
                        if bands != query.costs:
                            bound = self._aligned(query, name, length, found.limit)
                        if bound <= found.limit and not self._take(found, bound, names + q):
                            return False
                    name += length
            before = TIER[tier]
        return True

    cdef int32_t _aligned(self, Query* query, const uint16_t* name, Py_ssize_t length, int32_t limit) noexcept nogil:
        """The cost of the cheapest alignment with a name; something beyond the limit where that is certain."""
        cdef Py_ssize_t j, k
        cdef int32_t above, here, value, least, gap
        cdef int32_t* row = query.row
        cdef const int16_t* cost
        row[0] = 0
        for j in range(query.size):
            row[j + 1] = row[j] + query.gaps[j]
        for k in range(length):
            gap = query.symbol_gaps[name[k]]
            above = row[0]
            least = row[0] = above + gap
            cost = query.costs + name[k]
            for j in range(query.size):
                here = row[j + 1]
                value = lesser(above + cost[j * query.symbols], here + gap)
                value = row[j + 1] = lesser(value, row[j] + query.gaps[j])
                least = lesser(least, value)
                above = here
            if least > limit:
                return least
        return row[query.size]

    cdef bint _take(self, Found* found, int32_t distance, int64_t sequence) noexcept nogil:
        """Adds the names with a sequence; False where memory is out."""
        cdef Py_ssize_t r
        cdef int64_t key
        for r in range(self.rows[sequence], self.rows[sequence + 1]):
            key = (<int64_t>distance << 32) | self.order[r]
            if found.most and found.size == found.most and key >= found.keys[0]:
                break
            if not add(found, key):
                return False
        return True


cdef void copy(int64_t[::1] into, const int64_t* values) noexcept:
    memcpy(&into[0], values, into.shape[0] * sizeof(int64_t))

# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The best path through positions with candidates, by an n-gram model of words; the GIL is released.

The model is a table of cells: 48 bits of a hash of the n-gram, 8 of its probability, 8 of the weight with which what is
not in the table behind it falls back to a shorter history. An n-gram is packed 16 bits a word, the last word lowest.
Words are numbers from 0, which begins and ends each row.

Paths that agree in their last two candidates are one: the better. Of these the best ``beam`` go on, if they are not far
behind.
"""

from libc.math cimport exp, isfinite, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

import numpy as np

cdef enum:
    MOST = 4                    # words of the longest n-gram
    VALUES = 0xFFFF

#: Masks of one, two and three words.
cdef uint64_t ONE = 0xFFFF
cdef uint64_t TWO = 0xFFFFFFFF
cdef uint64_t THREE = 0xFFFFFFFFFFFF

cdef uint64_t[5] SEED
SEED[:] = [0, 0, 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93]

#: Nats a step of the 8 bits, and what the weights begin at.
cdef float STEP = 1.0 / 16
cdef float FIRST_WEIGHT = 2.0


#: A path that is so many nats behind the best goes no further.
cdef float HOPELESS = 12.0


cdef struct Model:
    const uint64_t* cells
    uint64_t mask
    const float* unigrams
    const float* weights
    int order


cdef struct State:
    float score
    float weight2               # of the history of two words
    float weight3               # of that of three
    bint has2                   # whether the table has these histories
    bint has3
    int32_t before              # the state before
    int32_t last                # its candidate, among those of its position
    uint64_t words              # its last words, packed


cdef inline uint64_t hashed(uint64_t key, int size) noexcept nogil:
    key = (key ^ SEED[size]) * <uint64_t>0xFF51AFD7ED558CCD
    key = (key ^ key >> 32) * <uint64_t>0xC4CEB9FE1A85EC53
    return key ^ key >> 29


cdef inline bint find(const Model* model, uint64_t key, int size, uint64_t* cell) noexcept nogil:
    """Looks an n-gram of two words or more up."""
    cdef uint64_t code = hashed(key, size), at = code & model.mask
    cdef uint64_t wanted = code & ~<uint64_t>VALUES
    while model.cells[at]:
        if model.cells[at] & ~<uint64_t>VALUES == wanted:
            cell[0] = model.cells[at]
            return True
        at = at + 1 & model.mask
    return False


cdef inline float probability(uint64_t cell) noexcept nogil:
    return -STEP * <float>(cell & 0xFF)


cdef inline float weight(uint64_t cell) noexcept nogil:
    return FIRST_WEIGHT - STEP * <float>(cell >> 8 & 0xFF)


cdef inline float step(const Model* model, const State* state, uint64_t word) noexcept nogil:
    """The logarithm of a word's probability behind a path."""
    cdef uint64_t cell, words = state.words
    cdef float fallen = 0
    if state.has3:
        if find(model, words << 16 | word, 4, &cell):
            return probability(cell)
        fallen += state.weight3
    if state.has2:
        if find(model, (words & TWO) << 16 | word, 3, &cell):
            return fallen + probability(cell)
        fallen += state.weight2
    if find(model, (words & ONE) << 16 | word, 2, &cell):
        return fallen + probability(cell)
    return fallen + model.weights[words & ONE] + model.unigrams[word]


cdef inline void settle(const Model* model, State* state, int length) noexcept nogil:
    """Looks the histories of a path up, of which ``length`` words are of its row.

    A pruned model may hold three words without their last two.
    """
    cdef uint64_t cell
    state.has2 = state.has3 = False
    state.weight2 = state.weight3 = 0
    if model.order > 2 and length > 1 and find(model, state.words & TWO, 2, &cell):
        state.has2, state.weight2 = True, weight(cell)
    if model.order > 3 and length > 2 and find(model, state.words & THREE, 3, &cell):
        state.has3, state.weight3 = True, weight(cell)


cdef void sift(int32_t* heap, Py_ssize_t size, Py_ssize_t at, const float* scores) noexcept nogil:
    """Puts a place of a heap, the least score first, where it belongs."""
    cdef Py_ssize_t child
    cdef int32_t moved = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and scores[heap[child + 1]] < scores[heap[child]]:
            child += 1
        if scores[heap[child]] >= scores[moved]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


cdef int search(const Model* model, const int32_t* words, const float* costs, const int64_t* bounds, Py_ssize_t count,
                int beam, int32_t* chosen) noexcept nogil:
    """The best path of one row: of each position the candidate's place, among all.

    Returns:
        0; -1 where memory is out, -2 where scores are no numbers.
    """
    cdef Py_ssize_t at, place, here, size, widest = 1, held, begin, kept
    cdef int32_t one, number
    cdef float score, top, least = -3e38
    cdef State* states
    cdef State* state
    cdef int64_t* starts
    cdef float* best
    cdef int32_t* origin
    cdef int32_t* heap
    cdef float final
    for at in range(count):
        size = bounds[at + 1] - bounds[at]
        widest = size if size > widest else widest
    states = <State*>malloc((count * beam + 1) * sizeof(State))
    starts = <int64_t*>malloc((count + 2) * sizeof(int64_t))
    best = <float*>malloc(widest * widest * sizeof(float))
    origin = <int32_t*>malloc(widest * widest * sizeof(int32_t))
    heap = <int32_t*>malloc(beam * sizeof(int32_t))
    if states == NULL or starts == NULL or best == NULL or origin == NULL or heap == NULL:
        free(states)
        free(starts)
        free(best)
        free(origin)
        free(heap)
        return -1
    states[0].score, states[0].words, states[0].last, states[0].before = 0, 0, 0, -1
    settle(model, &states[0], 1)
    starts[0], starts[1] = 0, 1
    begin = 1                   # how many candidates the position before has
    for at in range(count):
        size = bounds[at + 1] - bounds[at]
        for place in range(begin * size):
            best[place] = least
        top = least
        for held in range(starts[at], starts[at + 1]):
            top = states[held].score if states[held].score > top else top
        for held in range(starts[at], starts[at + 1]):
            state = &states[held]
            if state.score < top - HOPELESS:
                continue
            for place in range(size):
                here = state.last * size + place
                score = state.score + costs[bounds[at] + place]
                if score <= best[here]:
                    continue
                score += step(model, state, words[bounds[at] + place])
                if score > best[here]:
                    best[here], origin[here] = score, <int32_t>held
        kept = 0
        for place in range(begin * size):
            if best[place] == least:
                continue
            if kept < beam:
                heap[kept] = <int32_t>place
                kept += 1
                if kept == beam:
                    for here in range(beam // 2, -1, -1):
                        sift(heap, beam, here, best)
            elif best[place] > best[heap[0]]:
                heap[0] = <int32_t>place
                sift(heap, beam, 0, best)
        if not kept:  # the scores are no numbers
            count = -1
            break
        for place in range(kept):
            state = &states[starts[at + 1] + place]
            number = heap[place]
            state.score, state.before = best[number], origin[number]
            state.last = <int32_t>(number % size)
            state.words = states[state.before].words << 16 | <uint64_t>words[bounds[at] + state.last]
            settle(model, state, <int>at + 2)
        starts[at + 2], begin = starts[at + 1] + kept, size
    final, one = least, 0
    if count > 0:
        for held in range(starts[count], starts[count + 1]):
            score = states[held].score + step(model, &states[held], 0)
            if score > final or one == 0:
                final, one = score, <int32_t>held
    for at in range(count - 1, -1, -1):
        chosen[at] = <int32_t>bounds[at] + states[one].last
        one = states[one].before
    free(states)
    free(starts)
    free(best)
    free(origin)
    free(heap)
    return 0 if count >= 0 else -2


cdef void judge(const Model* model, const int32_t* words, const float* costs, const int64_t* bounds, Py_ssize_t count,
                const int32_t* chosen, float* scores) noexcept nogil:
    """The logarithm of each candidate's probability where all others are as chosen."""
    cdef Py_ssize_t at, place, next, last
    cdef State state
    cdef uint64_t history
    cdef int length
    cdef float score, most, total
    for at in range(count):
        most = -3e38
        for place in range(bounds[at], bounds[at + 1]):
            history, length = 0, 1
            for next in range(at - 3 if at > 3 else 0, at):
                history = history << 16 | <uint64_t>words[chosen[next]]
            length = <int>at + 1
            score = costs[place]
            last = at + model.order if at + model.order < count + 1 else count + 1
            for next in range(at, last):
                state.words = history
                settle(model, &state, length)
                history = history << 16
                if next < count:
                    history |= <uint64_t>words[place if next == at else chosen[next]]
                score += step(model, &state, history & ONE)
                length += 1
            scores[place] = score
            most = score if score > most else most
        total = 0
        for place in range(bounds[at], bounds[at + 1]):
            total += exp(scores[place] - most)
        for place in range(bounds[at], bounds[at + 1]):
            scores[place] -= most + log(total)


cdef Model model_of(const uint64_t[::1] cells, const float[::1] unigrams, const float[::1] weights, int order):
    cdef Model model
    if not 2 <= order <= MOST or len(cells) < 2 or len(cells) & (len(cells) - 1) or len(unigrams) != len(weights):
        raise ValueError("the tables of the n-grams do not fit")
    model.cells, model.mask, model.order = &cells[0], len(cells) - 1, order
    model.unigrams, model.weights = &unigrams[0], &weights[0]
    return model


def build(const uint64_t[::1] keys not None, const uint8_t[::1] sizes not None,
          const uint8_t[::1] probabilities not None, const uint8_t[::1] weights not None):
    """The table of n-grams of two words or more.

    Arguments:
        keys: packed n-grams, uint64 (N,).
        sizes: of how many words each is, uint8 (N,).
        probabilities: sixteenths of a nat, negated; uint8 (N,).
        weights: of the history that the n-gram is: 2 nats less sixteenths; uint8 (N,).

    Returns:
        uint64 (a power of two,).
    """
    cdef Py_ssize_t number, count = len(keys)
    cdef uint64_t code, at, mask
    if not len(sizes) == len(probabilities) == len(weights) == count:
        raise ValueError("the arrays of the n-grams do not fit")
    made = np.zeros(1 << max(1, int(count * 3 // 2).bit_length()), np.uint64)
    cdef uint64_t[::1] cells = made
    mask = len(cells) - 1
    for number in range(count):
        if not 2 <= sizes[number] <= MOST:
            raise ValueError("an n-gram has 2 to 4 words")
    with nogil:
        for number in range(count):
            code = hashed(keys[number], sizes[number])
            at = code & mask
            while cells[at]:
                at = at + 1 & mask
            cells[at] = code & ~<uint64_t>VALUES | <uint64_t>weights[number] << 8 | probabilities[number]
            if not cells[at]:
                cells[at] = 1 << 16
    return made


def paths(const uint64_t[::1] cells not None, const float[::1] unigrams not None, const float[::1] weights not None,
          int order, const int32_t[::1] words not None, const float[::1] costs not None,
          const int64_t[::1] bounds not None, const int64_t[::1] rows not None, int beam, bint judged):
    """The best path of each row.

    Arguments:
        cells: the table that :func:`build` made.
        unigrams: logarithms of the words' probabilities, float32 (V,).
        weights: those of the histories of one word, float32 (V,).
        order: words of the longest n-gram, 2 to 4.
        words: the candidates of all positions, int32 (C,).
        costs: what is added to the score of each, float32 (C,).
        bounds: position i has the candidates from ``bounds[i]`` to ``bounds[i + 1]``, one at least; int64 (N + 1,).
        rows: row r has the positions from ``rows[r]`` to ``rows[r + 1]``; int64 (R + 1,).
        beam: how many paths go on.
        judged: also give each candidate's probability, where all others are as chosen.

    Returns:
        Places of the chosen candidates, int32 (N,), and logarithms of probabilities, float32 (C,), empty unless asked
        for.
    """
    cdef Model model = model_of(cells, unigrams, weights, order)
    cdef Py_ssize_t number, count = len(bounds) - 1, most = len(rows) - 1
    cdef int failed = 0
    if len(costs) != len(words) or count < 0 or most < 0 or beam < 1:
        raise ValueError("the arrays of the candidates do not fit")
    if bounds[0] != 0 or bounds[count] != len(words) or rows[0] != 0 or rows[most] != count:
        raise ValueError("the bounds of the candidates do not fit")
    for number in range(count):
        if not 1 <= bounds[number + 1] - bounds[number] <= 1024:
            raise ValueError("a position has 1 to 1024 candidates")
    for number in range(most):
        if rows[number + 1] < rows[number]:
            raise ValueError("rows run upwards")
    for number in range(len(words)):
        if not 0 <= words[number] < len(unigrams) <= 65536:
            raise ValueError("a word is not of the model")
        if not isfinite(costs[number]):
            raise ValueError("costs or probabilities are NaN or infinite")
    chosen = np.zeros(count, np.int32)
    scores = np.zeros(len(words) if judged else 0, np.float32)
    cdef int32_t[::1] into = chosen
    cdef float[::1] told = scores
    if not count:
        return chosen, scores
    with nogil:
        for number in range(most):
            if rows[number + 1] == rows[number]:
                continue
            failed = search(&model, &words[0], &costs[0], &bounds[rows[number]], rows[number + 1] - rows[number], beam,
                            &into[rows[number]])
            if failed:
                break
            if judged:
                judge(&model, &words[0], &costs[0], &bounds[rows[number]], rows[number + 1] - rows[number],
                      &into[rows[number]], &told[0])
    if failed == -2:
        raise ValueError("costs or probabilities are NaN or infinite")
    if failed:
        raise MemoryError("no memory for the paths")
    return chosen, scores

"""The windows of a character: which there are, whether a model's filter has any, and what they weigh.

``windows.h`` computes the same with AVX2.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from phonemic.native.segmentation cimport Bucket, hash_of, phonemic_payload

cdef extern from "windows.h":
    # A character that varies. A score is relative to that of reading 0.
    ctypedef struct Model "phonemic_model":
        uint32_t begin      # where its buckets begin
        uint32_t buckets    # how many it has; there is one more for what has no room in the last
        uint32_t filter     # where its filter begins
        uint32_t filter_size  # its words, 0 where it has none
        uint32_t slots      # windows that are looked at, from the first on
        uint32_t by_script  # whether it is the first reading unless the text is traditional
        uint32_t scored     # readings that have weights; of one, only words decide
        uint32_t width      # bits of a weight
        uint32_t settles    # whether words that share the character may decide
        int32_t bias[4]     # MOST_SCORED
        int32_t readings[8]  # MOST_READINGS

    # Of each window its hash, its key among those of a bucket, and the number of the bucket that it belongs to.
    ctypedef struct Windows "phonemic_windows":
        uint32_t values[12]  # SLOTS
        uint32_t keys[12]
        uint32_t homes[12]

    # Characters, by the numbers of their models and their places.
    ctypedef struct Told "phonemic_told":
        uint32_t count
        uint32_t models[256]  # MOST_READ
        uint32_t places[256]

    bint phonemic_has_avx2() noexcept nogil
    void phonemic_look_up(const Model* models, const uint64_t* filters, const uint32_t* seen, const Told* told,
                          bint wide, Told* kept, Windows* windows) noexcept nogil
    int32_t phonemic_sum(const void* buckets, const Windows* windows, uint32_t slots, uint32_t* words) noexcept nogil
    uint32_t phonemic_best(const void* buckets, const Windows* windows, const Model* model) noexcept nogil

# Layout of the tables: compiling/contexts.py, which also says what the numbers mean.
cdef enum:
    CLASS_SHIFT = 17        # of a character's looks: what it is seen as, a flag, its class, and flags
    CLASS_MASK = 127
    ENDS = 1 << 24
    REACH = 3               # places that are seen on either side
    MOST_SCORED = 4
    DECIDES_SHIFT = 15      # the bit of a payload that is 12 more bits of the hash, and a reading's number of 3 bits
    SLOTS = 12              # windows
    DECIDING = 5            # the ones with words in them: the first
    SEEN_SHIFT = 16         # of a place: which of the characters read together it is, and where its looks lie


cdef inline uint32_t unless_ended(uint32_t looks) noexcept nogil:
    """All bits, or none where these looks end the sentence."""
    return (looks >> 24 & 1) - 1


cdef inline void look_around(const uint32_t* near, uint32_t* around) noexcept nogil:
    """The characters around one: three before it and three behind it, in order.

    0 where the text or the sentence has ended; the mark that ends it is seen from before, not from behind.
    """
    cdef uint32_t kept = unless_ended(near[-1])
    around[2] = near[-1] & kept
    kept &= unless_ended(near[-2])
    around[1] = near[-2] & kept
    kept &= unless_ended(near[-3])
    around[0] = near[-3] & kept
    around[3] = near[1]
    kept = unless_ended(near[1])
    around[4] = near[2] & kept
    kept &= unless_ended(near[2])
    around[5] = near[3] & kept


cdef inline uint32_t is_in(const uint64_t* filter, uint32_t size, uint32_t value) noexcept nogil:
    """Whether a window of this hash may be in a filter: two bits of one of its words."""
    cdef uint64_t bits = <uint64_t>1 << (value >> 15 & 63) | <uint64_t>1 << (value >> 21 & 63)
    return (filter[(value & 0x7FFF) * size >> 15] & bits) == bits


cdef inline uint32_t look_up(const Model* model, const uint64_t* filter, const uint32_t* near,
                             Windows* windows) noexcept nogil:
    """The windows that are looked at, and whether any of them may tell something: 1 or 0."""
    cdef uint32_t* values = windows.values
    cdef uint32_t[2 * REACH] around
    cdef uint32_t[SLOTS] first
    cdef uint32_t[SLOTS] second
    cdef uint32_t slot, home, told = model.filter_size == 0
    look_around(near, around)
    # (-2, -1), (-1, 1), (1, 2), -1, 1, -2, 2, -3, 3; of classes -1, 1, (-1, 1)
    first[0] = around[1] & 0xFFFF
    first[1] = first[3] = second[0] = around[2] & 0xFFFF
    first[2] = first[4] = second[1] = around[3] & 0xFFFF
    second[2] = around[4] & 0xFFFF
    second[3] = second[4] = 0
    if model.slots > DECIDING:
        first[5], first[6], first[7], first[8] = first[0], second[2], around[0] & 0xFFFF, around[5] & 0xFFFF
        first[9] = first[11] = around[2] >> CLASS_SHIFT & CLASS_MASK
        first[10] = second[11] = around[3] >> CLASS_SHIFT & CLASS_MASK
        second[5] = second[6] = second[7] = second[8] = second[9] = second[10] = 0
        for slot in range(DECIDING, SLOTS):
            values[slot] = hash_of(slot, first[slot], second[slot])
    for slot in range(DECIDING):
        values[slot] = hash_of(slot, first[slot], second[slot])
    for slot in range(model.slots):
        home = (values[slot] >> 16) * model.buckets >> 16
        windows.keys[slot] = (values[slot] & 0x7FFF) << 1 | home & 1
        windows.homes[slot] = model.begin + home
    for slot in range(DECIDING):
        told |= is_in(filter, model.filter_size, values[slot])
    if model.slots > DECIDING:
        for slot in range(DECIDING, SLOTS):
            told |= is_in(filter, model.filter_size, values[slot])
    return told


cdef inline void look_up_all(const Model* models, const uint64_t* filters, const uint32_t* seen, const Told* told,
                             Told* kept, Windows* windows) noexcept nogil:
    """Adds those to ``kept``, and their windows, of which a window may tell something."""
    cdef uint32_t number, place
    cdef const Model* model
    for number in range(told.count):
        model, place = models + told.models[number], told.places[number]
        kept.models[kept.count], kept.places[kept.count] = told.models[number], place
        kept.count += look_up(model, filters + model.filter, seen + (place >> SEEN_SHIFT), windows + kept.count)


cdef inline int32_t weight_of(uint32_t payload) noexcept nogil:
    """The one weight of a payload, where two readings have weights."""
    return <int32_t>(payload << 17) >> 17


cdef inline uint32_t payload_at(const Bucket* buckets, const Windows* windows, uint32_t slot) noexcept nogil:
    """The payload of a window."""
    return phonemic_payload(buckets + windows.homes[slot], windows.keys[slot])


cdef inline uint32_t best_of(const Model* model, const Bucket* buckets, const Windows* windows,
                             uint32_t strangers) noexcept nogil:
    """The number of the reading with the highest sum of weights, of three or more; ``strangers`` have none."""
    cdef int32_t[MOST_SCORED] scores
    cdef uint32_t slot, number, payload, best = 0, left = 32 - model.width
    for number in range(MOST_SCORED):
        scores[number] = model.bias[number]
    for slot in range(model.slots):
        payload = payload_at(buckets, windows, slot) * (~strangers >> slot & 1)
        for number in range(1, model.scored):
            scores[number] += <int32_t>(payload << left) >> left
            payload >>= model.width
    for number in range(1, model.scored):
        if scores[number] > scores[best]:
            best = number
    return best


cdef inline int32_t sum_of(const Bucket* buckets, const Windows* windows, uint32_t slots,
                           uint32_t* words) noexcept nogil:
    """The sum of the weights of windows, where two readings have weights; and a bit of each that may be a word."""
    cdef int32_t score = 0
    cdef uint32_t slot, payload
    words[0] = 0
    for slot in range(slots):
        payload = payload_at(buckets, windows, slot)
        words[0] |= (payload >> DECIDES_SHIFT) << slot
        score += weight_of(payload)
    return score

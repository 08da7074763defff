"""The cheapest path of words through a few characters: ``phonemic/reading/segmentation.py`` says what is computed."""

from libc.stdint cimport int32_t, uint32_t, uint64_t

cdef enum:
    LONGEST = 3             # characters of a word
    FIRST_SLOT = 16         # of the hash of a word of one character
    UNKNOWN = 34            # the cost of a character that is not listed
    MARGIN = 3
    SILENT = 1 << 6         # of a word's number, above its cost; then three bits for the reading of each character
    READINGS_SHIFT = 7
    AROUND = 3              # characters on either side
    NO_WORD = 1 << 20       # more than any path costs
    BEGINS = 0x85EBCA6B     # factors of hashes of words that begin with a character, and that end with it
    ENDS_WITH = 0x9E3779B1
    TELLING = 1 << 12       # where in the filters that of words begins in which it is not read in its usual way

cdef extern from "buckets.h":
    uint32_t phonemic_payload(const void* buckets, uint32_t key) noexcept nogil

cdef extern from *:
    """
    #ifdef __GNUC__
    #define PHONEMIC_PREFETCH(place) __builtin_prefetch(place)
    #else
    #define PHONEMIC_PREFETCH(place) ((void)(place))
    #endif
    """
    void prefetch "PHONEMIC_PREFETCH" (const void* place) noexcept nogil


# The keys of four features or words, and what there is for each: a word's reading, weights, or a word's number.
cdef struct Bucket:
    uint64_t keys
    uint64_t payloads


cdef struct Words:
    const Bucket* buckets
    uint32_t count          # buckets; there is one more for what has no room in the last
    const uint64_t* filters  # of words of two characters, see is_one and is_telling


# What the cheapest path through each word around a character costs, and the number of the word, by how many characters
# before, and from it on, the word has.
cdef struct Paths:
    int32_t[LONGEST][LONGEST + 1] costs
    uint32_t[LONGEST][LONGEST + 1] numbers


cdef inline uint32_t hash_of(uint32_t slot, uint32_t first, uint32_t second) noexcept nogil:
    cdef uint32_t value = slot * <uint32_t>0x85EBCA6B + first * <uint32_t>0x9E3779B1 + second * <uint32_t>0xC2B2AE35
    value = (value ^ value >> 15) * <uint32_t>0x2C1B3C6D
    return value ^ value >> 16


cdef inline uint32_t payload_of(const Bucket* buckets, uint32_t home, uint32_t value) noexcept nogil:
    """The entry for a feature or word of this hash; 0 where there is none. It is in its bucket or in the next."""
    return phonemic_payload(buckets + home, (value & 0x7FFF) << 1 | home & 1)


cdef inline uint32_t word_hash(const uint32_t* codes, int length) noexcept nogil:
    """The hash of a word of one to three characters."""
    cdef uint32_t second = 0
    if length > 1:
        second = codes[1]
    if length > 2:
        second |= codes[2] << 16
    return hash_of(FIRST_SLOT - 1 + length, codes[0], second)


cdef inline uint32_t word_home(const Words* words, uint32_t value) noexcept nogil:
    """The number of the bucket that a word of this hash belongs to."""
    return (value >> 16) * words.count >> 16


cdef inline uint32_t number_of(const Words* words, uint32_t value) noexcept nogil:
    """The number of the word of this hash; 0 where there is none."""
    return payload_of(words.buckets, word_home(words, value), value)


cdef inline uint64_t is_one(const Words* words, uint32_t value) noexcept nogil:
    """Whether two characters of this hash may be a word with a character that varies."""
    return words.filters[value >> 20] >> (value >> 14 & 63) & 1


cdef inline uint64_t is_telling(const Words* words, uint32_t value) noexcept nogil:
    """Whether they may be one in which it is not read in its usual way."""
    return words.filters[TELLING + (value >> 22)] >> (value >> 16 & 63) & 1


cdef inline bint may_differ(const Words* words, uint32_t before, uint32_t own, uint32_t behind) noexcept nogil:
    """Whether a character may be read in two ways by words with the ones next to it; of two looked up, few are."""
    cdef uint32_t left = (before << 16 | own) * <uint32_t>ENDS_WITH, right = (own << 16 | behind) * <uint32_t>BEGINS
    return (is_one(words, left) & is_telling(words, right) | is_telling(words, left) & is_one(words, right)) != 0


cdef inline uint32_t reading_in(uint32_t number, int place) noexcept nogil:
    """How the character at a place of a word of this number is read: which reading of its model."""
    return number >> READINGS_SHIFT + 3 * place & 7


cdef inline int32_t cost_of(uint32_t number, int length) noexcept nogil:
    """The cost of a word of a number; any character may stand alone."""
    if number & SILENT - 1:
        return number & SILENT - 1
    return UNKNOWN if length == 1 else NO_WORD


cdef inline void find_numbers(const Words* words, const uint32_t* codes, int count, uint32_t* numbers) noexcept nogil:
    """The number of the word from each of ``count`` characters on, by how many it has: LONGEST for a character.

    All are on their way from memory before the first is needed.
    """
    cdef uint32_t[LONGEST * (2 * AROUND + 1)] values
    cdef int begin, length
    for begin in range(count):
        for length in range(1, min(LONGEST, count - begin) + 1):
            values[LONGEST * begin + length - 1] = word_hash(codes + begin, length)
            prefetch(words.buckets + word_home(words, values[LONGEST * begin + length - 1]))
    for begin in range(count):
        for length in range(1, min(LONGEST, count - begin) + 1):
            numbers[LONGEST * begin + length - 1] = number_of(words, values[LONGEST * begin + length - 1])


cdef inline void find_paths(const Words* words, const uint32_t* codes, int at, int count, Paths* paths) noexcept nogil:
    """The words around a character and the paths through each; they cost NO_WORD and more where there is no such word.

    Arguments:
        codes: Han characters, ``count`` of them.
        at: the place of the character.
    """
    cdef uint32_t[LONGEST * (2 * AROUND + 1)] numbers
    cdef int32_t[2 * AROUND + 2] costs
    cdef int begin, end, length, before, behind
    cdef int32_t cost
    cdef uint32_t number
    find_numbers(words, codes, count, numbers)
    costs[0], costs[count] = 0, 0
    for end in range(1, at + 1):
        costs[end] = NO_WORD
        for length in range(1, min(LONGEST, end) + 1):
            cost = costs[end - length] + cost_of(numbers[LONGEST * (end - length) + length - 1], length)
            costs[end] = min(costs[end], cost)
    for begin in range(count - 1, at, -1):
        costs[begin] = NO_WORD
        for length in range(1, min(LONGEST, count - begin) + 1):
            cost = costs[begin + length] + cost_of(numbers[LONGEST * begin + length - 1], length)
            costs[begin] = min(costs[begin], cost)
    for before in range(LONGEST):
        for behind in range(1, LONGEST + 1):
            paths.costs[before][behind], paths.numbers[before][behind] = NO_WORD, 0
            if before <= at and behind <= count - at and before + behind <= LONGEST:
                number = numbers[LONGEST * (at - before) + before + behind - 1]
                paths.numbers[before][behind] = number
                paths.costs[before][behind] = (
                    costs[at - before] + cost_of(number, before + behind) + costs[at + behind]
                )

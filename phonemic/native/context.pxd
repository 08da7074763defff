"""Mandarin in context: a linear model for each character that varies, over the characters within three places."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from phonemic.native.mandarin cimport (
    PACKED, SPECIAL, ZH_EXACT, Match, Readings, char_before, encode_special, longest_phrase, numbers_of, write_along,
)
from phonemic.native.segmentation cimport (
    FIRST_SLOT, LONGEST, MARGIN, NO_WORD, SILENT, Bucket, Paths, Words, find_paths, hash_of, may_differ,
    number_of, payload_of, prefetch, reading_in, word_hash, word_home,
)
from phonemic.native.speech cimport Speech, speak
from phonemic.native.text cimport Characters, Output, State, char_at, check, entry_of, new_word, text_t

cdef extern from "windows.h":
    bint phonemic_has_avx2() noexcept nogil
    bint phonemic_look_up(const uint32_t* near, const uint64_t* filter, uint32_t filter_size, uint32_t buckets,
                          uint32_t slots, uint32_t* values, uint32_t* homes) noexcept nogil
    int32_t phonemic_sum(const void* buckets, const uint32_t* values, const uint32_t* homes, uint32_t slots,
                         uint32_t* words) noexcept nogil

# Layout of the tables: compiling/contexts.py, which also says what the numbers mean.
cdef enum:
    ZH_MODEL = 1 << 30      # of an entry: its lower bits are a model's number
    CLASS_SHIFT = 16        # of a character's looks: what it is seen as, its class, and these flags
    CLASS_MASK = 127
    ENDS = 1 << 23
    TRADITIONAL = 1 << 24
    PASSED = 1 << 25        # takes no place
    REACH = 3               # places that are seen on either side
    SCRIPT_REACH = 32       # places on either side that tell of the script
    MOST_SCORED = 4
    MOST_READINGS = 8
    DECIDES_SHIFT = 15      # the bit of a payload that is 12 more bits of the hash, and a reading's number of 3 bits
    SLOTS = 12              # windows
    DECIDING = 5            # the ones with words in them: the first
    LONG_SLOTS = 3          # of those, the ones of words of three characters
    FINAL = 1 << 30         # of a reading: such a word has decided
    MOST_WAITING = 128      # characters that are read together
    MOST_SEEN = 1024        # characters among which those are


# A character that varies. A score is relative to that of reading 0.
cdef struct Model:
    uint32_t begin          # where its buckets begin
    uint32_t buckets        # how many it has; there is one more for what has no room in the last
    uint32_t filter         # where its filter begins
    uint32_t filter_size    # its words, 0 where it has none
    uint32_t slots          # windows that are looked at, from the first on
    uint32_t by_script      # whether it is the first reading unless the text is traditional
    uint32_t scored         # readings that have weights; of one, only words decide
    uint32_t width          # bits of a weight
    uint32_t settles        # whether words that share the character may decide
    int32_t bias[MOST_SCORED]
    int32_t readings[MOST_READINGS]


# As much of a model as most places need.
cdef struct First:
    int32_t usual           # the reading of the highest bias
    uint32_t beside         # where its filter of the characters next to it begins
    uint32_t beside_size    # its words, 0 where it has none


# An entry and looks of a character of the basic plane, next to each other because both are needed.
cdef struct Both:
    uint32_t entry
    uint32_t looks


# A character that waits for its model to read it.
cdef struct Waiting:
    Py_ssize_t at           # where it begins
    int32_t* id             # where its reading goes; until then, the number of its model
    const uint32_t* near    # its own looks, between those of the characters around it


# Of each window its hash, and the number of the bucket that it belongs to.
cdef struct Windows:
    uint32_t[SLOTS] values
    uint32_t[SLOTS] homes


cdef struct Contexts:
    Characters looks        # in place of entries, what models see
    const Both* both        # of the basic plane, the entries and the looks
    const Model* models
    const First* first
    const Bucket* buckets
    const uint64_t* filters
    const uint64_t* beside
    Words words
    bint has_avx2           # whether windows.h computes with it


cdef inline uint32_t nearest_before(const Contexts* contexts, uint32_t looks, const text_t* text, Py_ssize_t length,
                                    Py_ssize_t* place) noexcept nogil:
    """``looks``, or where that is PASSED, the looks of the nearest character before that is not; ENDS without one."""
    while looks & PASSED:
        if place[0] == 0:
            return ENDS
        looks = entry_of(&contexts.looks, char_before(text, place[0], length, place))
    return looks


cdef inline uint32_t nearest_behind(const Contexts* contexts, uint32_t looks, const text_t* text, Py_ssize_t length,
                                    Py_ssize_t* place) noexcept nogil:
    """As :func:`nearest_before`, from ``place`` on."""
    cdef Py_ssize_t step = 0
    while looks & PASSED:
        if place[0] >= length:
            return ENDS
        looks = entry_of(&contexts.looks, char_at(text, place[0], length, &step))
        place[0] += step
    return looks


cdef inline void look_before(const Contexts* contexts, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                             uint32_t* seen) noexcept nogil:
    """The looks of the three characters before a place, in order; ENDS from where the sentence begins."""
    cdef uint32_t looks = 0
    cdef int number
    for number in range(REACH):
        if not looks & ENDS:
            looks = nearest_before(contexts, PASSED, text, length, &at)
        seen[REACH - 1 - number] = looks


cdef inline void look_behind(const Contexts* contexts, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                             uint32_t* seen) noexcept nogil:
    """The looks of the three characters from a place on; ENDS behind the text, or again behind the sentence."""
    cdef uint32_t looks = 0
    cdef int number
    for number in range(REACH):
        if not looks & ENDS:
            looks = nearest_behind(contexts, PASSED, text, length, &at)
        seen[number] = looks


cdef inline uint32_t unless_ended(uint32_t looks) noexcept nogil:
    """All bits, or none where these looks end the sentence."""
    return (looks >> 23 & 1) - 1


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


cdef inline bint is_traditional(const Contexts* contexts, const text_t* text, Py_ssize_t at, Py_ssize_t end,
                                Py_ssize_t length) noexcept nogil:
    """Whether a character near by, in the same sentence, is of traditional text only."""
    cdef uint32_t looks
    cdef int _
    for _ in range(SCRIPT_REACH):
        looks = nearest_before(contexts, PASSED, text, length, &at)
        if looks & TRADITIONAL:
            return True
        if looks & ENDS:
            break
    for _ in range(SCRIPT_REACH):
        looks = nearest_behind(contexts, PASSED, text, length, &end)
        if looks & TRADITIONAL:
            return True
        if looks & ENDS:
            break
    return False


cdef inline uint32_t home_of(const Model* model, uint32_t value) noexcept nogil:
    """The number of the bucket that a feature of this hash belongs to."""
    return (value >> 16) * model.buckets >> 16


cdef inline int32_t weight_of(uint32_t payload) noexcept nogil:
    """The one weight of a payload, where two readings have weights."""
    return <int32_t>(payload << 17) >> 17


cdef inline uint32_t payload_at(const Bucket* buckets, const Windows* windows, uint32_t slot) noexcept nogil:
    """The payload of a window."""
    return payload_of(buckets, windows.homes[slot], windows.values[slot])


cdef inline int32_t best_reading(const Model* model, const Bucket* buckets, const Windows* windows,
                                 uint32_t strangers) noexcept nogil:
    """The packed reading with the highest sum of weights, of three or more; ``strangers`` have none."""
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
    return model.readings[best]


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


cdef inline int32_t weigh(const Contexts* contexts, const Model* model, const Windows* windows, const text_t* text,
                          Py_ssize_t at, Py_ssize_t length) noexcept nogil:
    """The packed reading by all windows that are looked at, with FINAL or without."""
    cdef const Bucket* buckets = contexts.buckets + model.begin
    cdef uint32_t slot, words, payload
    cdef int32_t score
    cdef Py_ssize_t step = 0
    if contexts.has_avx2:
        score = phonemic_sum(buckets, windows.values, windows.homes, model.slots, &words)
    else:
        score = sum_of(buckets, windows, model.slots, &words)
    if words:
        for slot in range(model.slots):
            if words >> slot & 1:
                payload = payload_at(buckets, windows, slot)
                if (payload >> 3 ^ windows.values[slot] >> 15) & 0xFFF == 0:
                    return model.readings[payload & (MOST_READINGS - 1)] | (FINAL if slot < LONG_SLOTS else 0)
                score -= weight_of(payload)  # no word: only its key is the same
    if model.by_script:
        char_at(text, at, length, &step)
        if not is_traditional(contexts, text, at, at + step, length):
            return model.readings[0]
    if model.scored == 1:
        return model.readings[0]
    if model.scored > 2:
        return best_reading(model, buckets, windows, words)
    return model.readings[score + model.bias[1] > 0]


cdef inline uint32_t is_in(const uint64_t* filter, uint32_t size, uint32_t value) noexcept nogil:
    """Whether a window of this hash may be in a filter: two bits of one of its words."""
    cdef uint64_t bits = <uint64_t>1 << (value >> 15 & 63) | <uint64_t>1 << (value >> 21 & 63)
    return (filter[(value & 0x7FFF) * size >> 15] & bits) == bits


cdef inline uint64_t is_beside(const uint64_t* filter, uint32_t size, uint32_t seen, uint32_t side) noexcept nogil:
    """Whether what is seen on a side may be in a filter: one bit."""
    cdef uint32_t value = (seen << 1 | side) * <uint32_t>0x9E3779B1
    return filter[(value >> 17) * size >> 15] >> (value >> 11 & 63) & 1


cdef inline bint may_tell(const Contexts* contexts, const First* model, const uint32_t* near) noexcept nogil:
    """Whether the characters next to this one may be part of a window of the model.

    No branches, which a processor would foretell wrong: about half of the characters go on.
    """
    cdef const uint64_t* filter = contexts.beside + model.beside
    return (
        is_beside(filter, model.beside_size, near[-1] & 0xFFFF, 0)
        | is_beside(filter, model.beside_size, near[1] & 0xFFFF, 1)
        | (model.beside_size == 0)
        | ((near[-1] | near[1]) & ENDS)
    ) != 0


cdef inline bint look_up(const Contexts* contexts, const Model* model, const uint32_t* near,
                         Windows* windows) noexcept nogil:
    """The windows that are looked at, and whether any of them may tell something."""
    cdef const uint64_t* filter = contexts.filters + model.filter
    cdef uint32_t* values = windows.values
    cdef uint32_t[2 * REACH] around
    cdef uint32_t[SLOTS] first
    cdef uint32_t[SLOTS] second
    cdef uint32_t slot, told = 0
    if contexts.has_avx2:
        return phonemic_look_up(near, filter, model.filter_size, model.buckets, model.slots, values, windows.homes)
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
        windows.homes[slot] = home_of(model, values[slot])
    if model.filter_size == 0:
        return True
    for slot in range(DECIDING):
        told |= is_in(filter, model.filter_size, values[slot])
    if model.slots > DECIDING:
        for slot in range(DECIDING, SLOTS):
            told |= is_in(filter, model.filter_size, values[slot])
    return told


cdef inline bint is_han(uint32_t code) noexcept nogil:
    return 0x4E00 <= code < 0xA000


cdef inline int32_t settle(const Words* words, const Model* model, const uint32_t* near,
                           int32_t reading) noexcept nogil:
    """``reading``, or where words on both sides share the character, that of the word on the cheapest path."""
    cdef uint32_t[2 * REACH + 1] codes
    cdef uint32_t[2 * REACH] around
    cdef uint32_t left, right
    cdef int number, first = REACH, last = REACH + 1, before, behind, best_before = 0, best_behind = 1
    cdef int32_t chosen, best = NO_WORD, rival = NO_WORD
    cdef Paths paths
    look_around(near, around)
    for number in range(REACH):
        codes[number], codes[REACH + 1 + number] = around[number] & 0xFFFF, around[REACH + number] & 0xFFFF
    codes[REACH] = near[0] & 0xFFFF
    left = number_of(words, word_hash(codes + REACH - 1, 2))
    right = number_of(words, word_hash(codes + REACH, 2))
    if not model.settles or left == 0 or right == 0 or reading_in(left, 1) == reading_in(right, 0):
        return reading
    while first > 0 and is_han(codes[first - 1]):
        first -= 1
    while last < 2 * REACH + 1 and is_han(codes[last]):
        last += 1
    if first == REACH or last == REACH + 1:
        return reading
    find_paths(words, codes + first, REACH - first, last - first, &paths)
    for before in range(LONGEST - 1, -1, -1):
        for behind in range(1, LONGEST + 1):
            if paths.costs[before][behind] < best:
                best, best_before, best_behind = paths.costs[before][behind], before, behind
    chosen = model.readings[reading_in(paths.numbers[best_before][best_behind], best_before)]
    if best_before + best_behind == 1 or paths.numbers[best_before][best_behind] & SILENT or chosen == reading:
        return reading
    for before in range(LONGEST):
        for behind in range(1, LONGEST + 1):
            if (
                (before - best_before) * (behind - best_behind) < 0
                and paths.costs[before][behind] < rival
                and model.readings[reading_in(paths.numbers[before][behind], before)] == reading
            ):
                rival = paths.costs[before][behind]
    return chosen if rival < NO_WORD and rival - best > MARGIN else reading


cdef inline void fetch_pair(const Words* words, const uint32_t* near) noexcept nogil:
    """Fetches the numbers of the two words that share a character."""
    cdef uint32_t left = hash_of(FIRST_SLOT + 1, near[-1] & 0xFFFF, near[0] & 0xFFFF)
    cdef uint32_t right = hash_of(FIRST_SLOT + 1, near[0] & 0xFFFF, near[1] & 0xFFFF)
    prefetch(words.buckets + word_home(words, left))
    prefetch(words.buckets + word_home(words, right))


cdef inline void read_waiting(const Contexts* contexts, const Waiting* waiting, uint32_t count, const text_t* text,
                              Py_ssize_t length) noexcept nogil:
    """Reads the characters that wait. Those whose windows tell something are weighed last, when their buckets are on
    their way from memory.
    """
    cdef Windows[MOST_WAITING] windows
    cdef const Model* models[MOST_WAITING]
    cdef const Waiting* told[MOST_WAITING]
    cdef uint8_t[MOST_WAITING] shared
    cdef uint32_t number, slot, some = 0, kept = 0, doubted = 0
    cdef int32_t reading
    cdef const uint32_t* near
    cdef const First* first
    for number in range(count):  # where nothing is told, the next is written over it
        models[some], told[some] = contexts.models + waiting[number].id[0], waiting + number
        first = contexts.first + waiting[number].id[0]
        waiting[number].id[0] = first.usual
        some += may_tell(contexts, first, waiting[number].near)
    for number in range(some):
        models[kept], told[kept] = models[number], told[number]
        kept += look_up(contexts, models[kept], told[kept].near, windows + kept)
    for number in range(kept):
        for slot in range(models[number].slots):
            prefetch(contexts.buckets + models[number].begin + windows[number].homes[slot])
    for number in range(kept):
        near = told[number].near
        shared[number] = may_differ(&contexts.words, near[-1] & 0xFFFF, near[0] & 0xFFFF, near[1] & 0xFFFF)
    for number in range(kept):
        reading = weigh(contexts, models[number], windows + number, text, told[number].at, length)
        told[number].id[0] = reading & ~FINAL
        models[doubted], told[doubted] = models[number], told[number]
        doubted += shared[number] & (reading & FINAL == 0)
    for number in range(doubted):
        fetch_pair(&contexts.words, told[number].near)
    for number in range(doubted):
        told[number].id[0] = settle(&contexts.words, models[number], told[number].near, told[number].id[0])


cdef inline void encode_in_context(const Characters* chars, const Readings* readings, const Contexts* contexts,
                                   const Speech* speech, const text_t* text, Py_ssize_t length,
                                   Output* out) noexcept nogil:
    """A reading from the table, or by its model, for each character; a user's phrases before both.

    Arguments:
        speech: changes what has been read, or NULL.
    """
    cdef State state
    cdef Py_ssize_t at = 0, start, first, step = 0, prefix = 0
    cdef Waiting[MOST_WAITING] waiting
    cdef uint32_t[MOST_SEEN + REACH + 1] seen
    cdef uint32_t char, looks, entry = 0, number, count = 0, filled
    cdef const uint16_t* numbers
    cdef int32_t* ids
    cdef Match match
    state.word, state.gap, state.open = -1, True, False
    while at < length:
        start, first, ids = at, out.count, out.ids + out.count
        look_before(contexts, text, at, length, seen)
        filled = REACH
        while at < length:
            char = char_at(text, at, length, &step)
            if char < 0x10000:
                entry, looks = contexts.both[char].entry, contexts.both[char].looks
            else:
                entry, looks = entry_of(chars, char), entry_of(&contexts.looks, char)
            if entry & SPECIAL:
                if entry & SPECIAL & ~ZH_EXACT:
                    break
                if readings.has_user:
                    longest_phrase(&readings.user, text, at, length, char, step, &match, &prefix)
                    if match.unit:
                        look_behind(contexts, text, at, length, seen + filled)
                        read_waiting(contexts, waiting, count, text, length)
                        numbers = numbers_of(&readings.user, match.unit)
                        for number in range(match.characters):
                            ids[number] = readings.user.readings[numbers[number]]
                        ids += match.characters
                        at = match.end
                        look_before(contexts, text, at, length, seen)
                        count, filled = 0, REACH
                        continue
            check(text, char, at, out)
            ids[0] = <int32_t>(entry & PACKED)
            seen[filled] = looks
            # no branch: one without a model is written over
            waiting[count].at, waiting[count].id, waiting[count].near = at, ids, seen + filled
            count += (entry & ZH_MODEL) != 0
            filled += (looks & PASSED) == 0
            ids += 1
            at += step
            if count == MOST_WAITING or filled == MOST_SEEN:
                look_behind(contexts, text, at, length, seen + filled)
                read_waiting(contexts, waiting, count, text, length)
                for number in range(REACH):
                    seen[number] = seen[filled - REACH + number]
                count, filled = 0, REACH
        look_behind(contexts, text, at, length, seen + filled)
        read_waiting(contexts, waiting, count, text, length)
        count = 0
        out.count = ids - out.ids
        if out.count > first:
            new_word(&state)
            state.open = True
            write_along(text, start, length, first, state.word, out)
            if speech != NULL:
                speak(speech, text, start, at, length, first, out)
        if at < length:
            at = encode_special(chars, readings, text, at, length, &state, out)

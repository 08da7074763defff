"""Mandarin in context: a linear model for each character that varies, over the characters within three places."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from phonemic.native.mandarin cimport (
    PACKED, SPECIAL, ZH_EXACT, Match, Readings, char_before, encode_special, longest_phrase, numbers_of, write_along,
)
from phonemic.native.segmentation cimport (
    FIRST_SLOT, LONGEST, MARGIN, NO_WORD, SILENT, Bucket, Paths, Words, find_paths, hash_of, may_differ, number_of,
    prefetch, reading_in, word_hash, word_home,
)
from phonemic.native.speech cimport Speech, speak
from phonemic.native.text cimport Characters, Output, State, char_at, check, entry_of, new_word, text_t, utf8_t
from phonemic.native.windows cimport (
    DECIDING, ENDS, REACH, SEEN_SHIFT, SLOTS, Model, Told, Windows, best_of, look_around, look_up_all, payload_at,
    phonemic_best, phonemic_has_avx2, phonemic_look_up, phonemic_sum, sum_of, weight_of,
)

cdef extern from "letters.h":
    int phonemic_lowest(uint64_t bits) noexcept nogil

# Layout of the tables: compiling/contexts.py, which also says what the numbers mean.
cdef enum:
    MODEL_SHIFT = 31        # of an entry's bit that says that its lower bits are a model's number
    PLACED = 1 << 16        # of a character's looks, next to those in windows.pxd: it takes a place; 1 << SEEN_SHIFT
    TRADITIONAL = 1 << 25
    SCRIPT_REACH = 32       # places on either side that tell of the script
    MOST_READINGS = 8
    LONG_SLOTS = 3          # of the deciding windows, the ones of words of three characters
    FINAL = 1 << 30         # of a reading: such a word has decided
    MOST_READ = 256         # units of text that are read together


# As much of a model as most places need.
cdef struct First:
    int32_t usual           # the reading of the highest bias
    uint32_t beside         # where its filter of the characters next to it begins
    uint32_t beside_size    # its words
    uint32_t wide           # whether all windows are looked at, not only the deciding ones


# An entry and looks of a character of the basic plane, next to each other because both are needed.
cdef struct Both:
    uint32_t entry
    uint32_t looks


# Characters that are read together.
cdef struct Together:
    uint32_t place          # the next one's
    uint32_t count          # how many wait for their models to read them
    uint32_t[MOST_READ] waiting  # their places
    uint32_t[MOST_READ + 2 * REACH + 1] seen  # looks of all that take a place, between those of the ones around them


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


cdef inline uint32_t nearest_before(const Contexts* contexts, const text_t* text, Py_ssize_t length,
                                    Py_ssize_t* place) noexcept nogil:
    """The looks of the nearest character before that takes a place; ENDS without one."""
    cdef uint32_t looks = 0
    while not looks & PLACED:
        if place[0] == 0:
            return ENDS
        looks = entry_of(&contexts.looks, char_before(text, place[0], length, place))
    return looks


cdef inline uint32_t nearest_behind(const Contexts* contexts, const text_t* text, Py_ssize_t length,
                                    Py_ssize_t* place) noexcept nogil:
    """As :func:`nearest_before`, from ``place`` on."""
    cdef Py_ssize_t step = 0
    cdef uint32_t looks = 0
    while not looks & PLACED:
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
            looks = nearest_before(contexts, text, length, &at)
        seen[REACH - 1 - number] = looks


cdef inline void look_behind(const Contexts* contexts, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                             uint32_t* seen) noexcept nogil:
    """The looks of the three characters from a place on; ENDS behind the text, or again behind the sentence."""
    cdef uint32_t looks = 0
    cdef int number
    for number in range(REACH):
        if not looks & ENDS:
            looks = nearest_behind(contexts, text, length, &at)
        seen[number] = looks


cdef inline bint is_traditional(const Contexts* contexts, const text_t* text, Py_ssize_t at, Py_ssize_t end,
                                Py_ssize_t length) noexcept nogil:
    """Whether a character near by, in the same sentence, is of traditional text only."""
    cdef uint32_t looks
    cdef int _
    for _ in range(SCRIPT_REACH):
        looks = nearest_before(contexts, text, length, &at)
        if looks & TRADITIONAL:
            return True
        if looks & ENDS:
            break
    for _ in range(SCRIPT_REACH):
        looks = nearest_behind(contexts, text, length, &end)
        if looks & TRADITIONAL:
            return True
        if looks & ENDS:
            break
    return False


cdef inline Py_ssize_t place_of(const text_t* text, Py_ssize_t at, uint32_t number, Py_ssize_t length) noexcept nogil:
    """Where a character begins, by how many there are before it from ``at`` on."""
    cdef Py_ssize_t step = 0
    cdef uint32_t _
    if text_t is utf8_t:
        for _ in range(number):
            char_at(text, at, length, &step)
            at += step
        return at
    else:
        return at + number


cdef inline int32_t weigh(const Contexts* contexts, const Model* model, const Windows* windows, const text_t* text,
                          Py_ssize_t begin, uint32_t number, Py_ssize_t length) noexcept nogil:
    """The packed reading by all windows that are looked at, with FINAL or without.

    Arguments:
        begin, number: where the characters begin that are read together, and which of them it is.
    """
    cdef const Bucket* buckets = contexts.buckets
    cdef uint32_t slot, words, payload, strangers = 0
    cdef int32_t score
    cdef Py_ssize_t at, step = 0
    if contexts.has_avx2:
        score = phonemic_sum(buckets, windows, model.slots, &words)
    else:
        score = sum_of(buckets, windows, model.slots, &words)
    while words:
        slot = phonemic_lowest(words)
        payload = payload_at(buckets, windows, slot)
        if (payload >> 3 ^ windows.values[slot] >> 15) & 0xFFF == 0:
            return model.readings[payload & (MOST_READINGS - 1)] | (FINAL if slot < LONG_SLOTS else 0)
        score -= weight_of(payload)  # no word: only its key is the same
        strangers |= 1 << slot
        words &= words - 1
    if model.by_script:
        at = place_of(text, begin, number, length)
        char_at(text, at, length, &step)
        if not is_traditional(contexts, text, at, at + step, length):
            return model.readings[0]
    if model.scored <= 2:  # of one, bias and score are 0
        return model.readings[score + model.bias[1] > 0]
    if contexts.has_avx2 and not strangers:
        return model.readings[phonemic_best(buckets, windows, model)]
    return model.readings[best_of(model, buckets, windows, strangers)]


cdef inline uint64_t is_beside(const uint64_t* filter, uint32_t size, uint32_t seen, uint32_t side) noexcept nogil:
    """Whether what is seen on a side may be in a filter: one bit."""
    cdef uint32_t value = (2 * seen + side) * <uint32_t>0x9E3779B1
    return filter[<uint64_t>value * size >> 32] >> (value >> 11 & 63) & 1


cdef inline bint may_tell(const Contexts* contexts, const First* model, const uint32_t* near) noexcept nogil:
    """Whether the characters next to this one may be part of a window of the model.

    No branches, which a processor would foretell wrong: about half of the characters go on.
    """
    cdef const uint64_t* filter = contexts.beside + model.beside
    return (
        is_beside(filter, model.beside_size, near[-1] & 0xFFFF, 0)
        | is_beside(filter, model.beside_size, near[1] & 0xFFFF, 1)
        | ((near[-1] | near[1]) & ENDS)
    ) != 0


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


cdef inline void read_waiting(const Contexts* contexts, Together* together, int32_t* ids, const text_t* text,
                              Py_ssize_t begin, Py_ssize_t length) noexcept nogil:
    """Reads the characters that wait. They are weighed, where a window tells something, when their buckets are on their
    way from memory.

    Arguments:
        ids: of the characters, or the numbers of their models where they wait.
        begin: where the first of them begins.
    """
    cdef const uint32_t* seen = together.seen
    cdef Windows[MOST_READ] windows
    cdef Told[2] told       # with models that look at the deciding windows only, and with models that look at all
    cdef Told kept
    cdef uint8_t[MOST_READ] shared
    cdef uint32_t number, slot, wide, place, model, few = 0, doubted = 0
    cdef int32_t reading
    cdef const uint32_t* near
    cdef const First* first
    cdef Told* some
    cdef int32_t* own
    told[0].count = told[1].count = kept.count = 0
    for number in range(together.count):  # where nothing is told, the next is written over it
        place = together.waiting[number]
        own = ids + (place & 0xFFFF)
        first = contexts.first + own[0]
        some = told + first.wide
        some.models[some.count], some.places[some.count] = own[0], place
        own[0] = first.usual
        some.count += may_tell(contexts, first, seen + (place >> SEEN_SHIFT))
    for wide in range(2):
        few = kept.count
        if contexts.has_avx2:
            phonemic_look_up(contexts.models, contexts.filters, seen, told + wide, wide, &kept, windows)
        else:
            look_up_all(contexts.models, contexts.filters, seen, told + wide, &kept, windows)
    for number in range(kept.count):
        for slot in range(DECIDING):
            prefetch(contexts.buckets + windows[number].homes[slot])
        near = seen + (kept.places[number] >> SEEN_SHIFT)
        shared[number] = may_differ(&contexts.words, near[-1] & 0xFFFF, near[0] & 0xFFFF, near[1] & 0xFFFF)
    for number in range(few, kept.count):
        for slot in range(DECIDING, SLOTS):
            prefetch(contexts.buckets + windows[number].homes[slot])
    for number in range(kept.count):
        model, place = kept.models[number], kept.places[number]
        reading = weigh(contexts, contexts.models + model, windows + number, text, begin, place & 0xFFFF, length)
        ids[place & 0xFFFF] = reading & ~FINAL
        kept.models[doubted], kept.places[doubted] = model, place
        doubted += shared[number] & (reading & FINAL == 0)
    for number in range(doubted):
        fetch_pair(&contexts.words, seen + (kept.places[number] >> SEEN_SHIFT))
    for number in range(doubted):
        place = kept.places[number]
        own = ids + (place & 0xFFFF)
        own[0] = settle(&contexts.words, contexts.models + kept.models[number], seen + (place >> SEEN_SHIFT), own[0])


cdef inline Py_ssize_t take_plain(const Characters* chars, const Contexts* contexts, const text_t* text, Py_ssize_t at,
                                  Py_ssize_t stop, Py_ssize_t length, uint32_t special, Together* together,
                                  int32_t* ids, Output* out) noexcept nogil:
    """Takes characters up to ``stop`` or to one whose entry has a bit of ``special``; where that is.

    No branch tells which ones wait: one that does not is written over.
    """
    cdef const Both* both = contexts.both
    cdef uint32_t place = together.place, count = together.count, char, entry, looks
    cdef Py_ssize_t step = 0
    while at < stop:
        char = char_at(text, at, length, &step)
        if char < 0x10000:
            entry, looks = both[char].entry, both[char].looks
        else:
            entry, looks = entry_of(chars, char), entry_of(&contexts.looks, char)
        if entry & special:
            break
        check(text, char, at, out)
        ids[place & 0xFFFF] = <int32_t>(entry & PACKED)
        together.seen[place >> SEEN_SHIFT] = looks
        together.waiting[count] = place
        count += entry >> MODEL_SHIFT & 1
        place += 1 + (looks & PLACED)
        at += step
    together.place, together.count = place, count
    return at


cdef inline void encode_in_context(const Characters* chars, const Readings* readings, const Contexts* contexts,
                                   const Speech* speech, const text_t* text, Py_ssize_t length,
                                   Output* out) noexcept nogil:
    """A reading from the table, or by its model, for each character; a user's phrases before both.

    Arguments:
        speech: changes what has been read, or NULL.
    """
    cdef State state
    cdef Together together
    cdef Py_ssize_t at = 0, start, begin, stop, first, step = 0, prefix = 0
    cdef uint32_t char, number, ends = SPECIAL & ~ZH_EXACT, special = SPECIAL if readings.has_user else ends
    cdef const uint16_t* numbers
    cdef int32_t* ids
    cdef Match match
    cdef bint ended
    state.word, state.gap, state.open = -1, True, False
    while at < length:
        start, first, ids, ended = at, out.count, out.ids + out.count, False
        look_before(contexts, text, at, length, together.seen)
        while at < length and not ended:
            begin, stop = at, min(at + MOST_READ, length)
            together.place, together.count, match.unit = REACH << SEEN_SHIFT, 0, 0
            while True:
                at = take_plain(chars, contexts, text, at, stop, length, special, &together, ids, out)
                if at >= stop:
                    break
                char = char_at(text, at, length, &step)
                ended = (entry_of(chars, char) & ends) != 0
                if ended:
                    break
                longest_phrase(&readings.user, text, at, length, char, step, &match, &prefix)
                if match.unit:
                    break
                at = take_plain(chars, contexts, text, at, at + 1, length, ends, &together, ids, out)
            look_behind(contexts, text, at, length, together.seen + (together.place >> SEEN_SHIFT))
            read_waiting(contexts, &together, ids, text, begin, length)
            ids += together.place & 0xFFFF
            if match.unit:
                numbers = numbers_of(&readings.user, match.unit)
                for number in range(match.characters):
                    ids[number] = readings.user.readings[numbers[number]]
                ids += match.characters
                at = match.end
                look_before(contexts, text, at, length, together.seen)
            else:
                for number in range(REACH):
                    together.seen[number] = together.seen[(together.place >> SEEN_SHIFT) - REACH + number]
        out.count = ids - out.ids
        if out.count > first:
            new_word(&state)
            state.open = True
            write_along(text, start, length, first, state.word, out)
            if speech != NULL:
                speak(speech, text, start, at, length, first, out)
        if at < length:
            at = encode_special(chars, readings, text, at, length, &state, out)

"""Mandarin as it is spoken: tone sandhi and erhua, after the characters of a run have been read.

``phonemic/reading/speech.py`` says the rules, in plain Python; the layout of the tables is in ``reading/spoken.py``.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t

from phonemic.native.mandarin cimport (
    SPECIAL, ZH_EXACT, ZH_HAN, Match, Phrases, Readings, char_before, encode_special, longest_phrase, match_at,
    numbers_of, read_alone, read_phrases, write_along,
)
from phonemic.native.text cimport EMPTY, Characters, Output, State, char_at, entry_of, new_word, text_t

cdef enum:  # of a character
    YI = 1
    BU = 2
    NUMERAL = 4
    GE = 8

cdef enum:  # of a character of a word
    LINKED = 1
    MERGED = 2
    PLAIN = 4
    NEUTRAL = 8
    ADDED = 16              # without sandhi, it is behind the word

cdef enum:  # above a packed id, while it is worked on
    HAN = 1 << 24
    IS_YI = 1 << 25         # whose tone changes
    IS_BU = 1 << 26
    IS_GE = 1 << 27
    LINKS = 1 << 28         # to the syllable behind it, in a word of two syllables
    MERGES = 1 << 29        # with the syllable before it
    OWN = 1 << 30           # of a user's phrase
    LOSES = ~0x7FFFFFFF     # its tone
    TONE = 0xFF0000
    SYLLABLE = 0xFFFF       # onset and rime


cdef struct Speech:
    const Characters* chars
    const Readings* readings
    Phrases words
    const uint8_t* kinds    # of each character of the basic plane
    const int32_t* symbols  # onset and rime of yi and of bu, and the tones 1 to 4
    bint sandhi
    bint erhua
    bint in_context


cdef inline void keep_yi(const Speech* speech, int32_t* one) noexcept nogil:
    """Makes it the first tone, for good."""
    if one[0] & IS_YI:
        one[0] = one[0] & ~(IS_YI | TONE) | speech.symbols[2] << 16


cdef inline void look_for_own(const Speech* speech, const text_t* text, Py_ssize_t at, Py_ssize_t end,
                              Py_ssize_t length, int32_t* ids) noexcept nogil:
    """Notes what was read by a user's phrase."""
    cdef Py_ssize_t step = 0, prefix = 0
    cdef uint32_t char
    cdef int32_t own
    cdef Match match
    while at < end:
        char = char_at(text, at, length, &step)
        own = 0
        match.end = at + step
        if entry_of(speech.chars, char) & (ZH_HAN | ZH_EXACT):
            if speech.in_context:
                longest_phrase(&speech.readings.user, text, at, length, char, step, &match, &prefix)
                own = OWN if match.unit else 0
                if not match.unit:
                    match.end = at + step
            elif match_at(speech.chars, speech.readings, text, at, length, char, step, &match) == &speech.readings.user:
                own = OWN
        while at < match.end:
            char_at(text, at, length, &step)
            at += step
            ids[0] |= own
            ids += 1


cdef inline void look_at_characters(const Speech* speech, const text_t* text, Py_ssize_t at, Py_ssize_t end,
                                    Py_ssize_t length, int32_t* ids) noexcept nogil:
    """Notes which are Han characters, and which of them are 一 and 不 that may change."""
    cdef Py_ssize_t step = 0
    cdef uint32_t char, kind, before = 0
    cdef bint changes
    while at < end:
        char = char_at(text, at, length, &step)
        at += step
        kind = 0
        if entry_of(speech.chars, char) & ZH_HAN:
            kind = speech.kinds[char] if speech.sandhi and char < 0x10000 else 0
            changes = not ids[0] & OWN and ids[0] & TONE != EMPTY << 16
            if kind & NUMERAL and before & YI:
                keep_yi(speech, ids - 1)
            if changes and kind & YI and ids[0] & SYLLABLE == speech.symbols[0]:
                ids[0] |= IS_YI
                if before & NUMERAL:
                    keep_yi(speech, ids)
            elif changes and kind & BU and ids[0] & SYLLABLE == speech.symbols[1]:
                ids[0] |= IS_BU
            elif kind & GE:
                ids[0] |= IS_GE
            ids[0] |= HAN
        before = kind
        ids += 1


cdef inline void look_for_words(const Speech* speech, const text_t* text, Py_ssize_t at, Py_ssize_t end,
                                Py_ssize_t length, int32_t* ids) noexcept nogil:
    """Notes what the words of the list say, the longest first, from left to right."""
    cdef Py_ssize_t step = 0, prefix = 0, number
    cdef uint32_t char
    cdef int32_t said
    cdef const uint16_t* numbers
    cdef Match match, other
    while at < end:
        char = char_at(text, at, length, &step)
        match.unit = 0
        if ids[0] & HAN:
            longest_phrase(&speech.words, text, at, length, char, step, &match, &prefix)
        if match.unit == 0:
            at += step
            ids += 1
            continue
        numbers = numbers_of(&speech.words, match.unit)
        for number in range(match.characters):
            said = speech.words.readings[numbers[number]]
            if said & ADDED and not speech.sandhi:
                if number == 0:
                    at += step
                    ids += 1
                break
            char = char_at(text, at, length, &step)
            if said & LINKED:
                ids[0] |= LINKS
            if said & NEUTRAL:
                ids[0] |= LOSES
            if said & PLAIN:
                keep_yi(speech, ids)
            if said & MERGED:
                longest_phrase(&speech.words, text, at, length, char, step, &other, &prefix)
                if other.unit == 0:  # else it is the first character of the next word
                    ids[0] |= MERGES
            at += step
            ids += 1


cdef inline void merge(Output* out, Py_ssize_t first) noexcept nogil:
    """Makes one position of a syllable and of the 儿 that merges with it."""
    cdef Py_ssize_t at, to = first
    for at in range(first, out.count):
        if out.ids[at] & (MERGES | OWN) == MERGES and not out.ids[to - 1] & OWN:
            if out.spans != NULL:
                out.spans[2 * to - 1] = out.spans[2 * at + 1]
            continue
        out.ids[to] = out.ids[at]
        if out.spans != NULL:
            out.spans[2 * to] = out.spans[2 * at]
            out.spans[2 * to + 1] = out.spans[2 * at + 1]
        if out.words != NULL:
            out.words[to] = out.words[at]
        to += 1
    out.count = to


cdef inline void change_tones(const Speech* speech, int32_t* ids, Py_ssize_t count) noexcept nogil:
    """From right to left, so that a syllable knows how the one behind it is said."""
    cdef int32_t first = speech.symbols[2], second = speech.symbols[3], third = speech.symbols[4]
    cdef int32_t fourth = speech.symbols[5], value, tone, own, next_own = 0, next = 0
    cdef bint next_ge = False
    while count:
        count -= 1
        value = ids[count]
        if not value & HAN:
            next = next_own = 0
            continue
        tone = own = value >> 16 & 0xFF
        if not value & OWN:
            if value & LOSES:
                tone = EMPTY
            elif value & IS_YI:
                tone = first
                if next == fourth or next_ge and next == EMPTY:
                    tone = second
                elif next == first or next == second or next == third:
                    tone = fourth
            elif value & IS_BU:
                tone = second if next == fourth else fourth
            elif tone == third and (next_own if value & LINKS else next) == third:
                tone = second
        ids[count] = value & ~TONE | tone << 16
        next, next_own, next_ge = tone, own, value & IS_GE != 0


cdef inline void speak(const Speech* speech, const text_t* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t length,
                       Py_ssize_t first, Output* out) noexcept nogil:
    """Changes the positions from ``first`` on, each a character from ``start`` to ``end``, as speech does."""
    cdef int32_t* ids = out.ids + first
    cdef Py_ssize_t at
    if speech.readings.has_user:
        look_for_own(speech, text, start, end, length, ids)
    look_at_characters(speech, text, start, end, length, ids)
    look_for_words(speech, text, start, end, length, ids)
    if speech.erhua:
        merge(out, first)
    if speech.sandhi:
        change_tones(speech, ids, out.count - first)
    for at in range(out.count - first):
        ids[at] &= 0xFFFFFF


cdef inline void encode_spoken(const Speech* speech, const text_t* text, Py_ssize_t length, Output* out) noexcept nogil:
    """As ``encode_mandarin``, and as speech does; that one stays as it is, since a branch in it costs even where it is
    never taken."""
    cdef State state
    cdef Py_ssize_t at = 0, start, first
    cdef uint32_t entry = 0
    cdef Match match
    state.word, state.gap, state.open = -1, True, False
    while at < length:
        start, first = at, out.count
        while True:
            at = read_alone(speech.chars, speech.readings, text, at, length, &entry, &match, out)
            if at >= length or entry & SPECIAL & ~ZH_EXACT:
                break
            if entry & ZH_EXACT:
                match.unit = 0
            else:
                out.count -= 1
                char_before(text, at, length, &at)
            at = read_phrases(speech.chars, speech.readings, text, at, length, &match, out)
        if out.count > first:
            new_word(&state)
            state.open = True
            write_along(text, start, length, first, state.word, out)
            speak(speech, text, start, at, length, first, out)
        if at < length:
            at = encode_special(speech.chars, speech.readings, text, at, length, &state, out)

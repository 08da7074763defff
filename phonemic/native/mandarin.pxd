"""Mandarin: a reading for each character, and phrases where they change one."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from phonemic.native.text cimport (
    INVALID, LONGEST_CHARACTER, UNKNOWN, Characters, Output, State, char_at, check, emit, entry_of, extend_last,
    new_word, pack_from, text_t, unlikely, utf8_t,
)

cdef extern from "spans.h":
    void phonemic_unit_spans(int32_t* spans, int32_t begin, size_t count) noexcept nogil

# Layout of the entries: entries.py; of the phrase tables: phrases.py.
cdef enum:
    ZH_SPACE = 1 << 24
    ZH_TRANSPARENT = 1 << 25
    ZH_JAMO = 1 << 26
    ZH_PACKS = ZH_JAMO  # without ZH_TRANSPARENT
    ZH_HAN = 1 << 27
    ZH_JOINER = 1 << 28
    ZH_EXACT = 1 << 29
    ZH_FIRST = 1 << 30
    ZH_SECOND = 1 << 31
    SPECIAL = ZH_SPACE | ZH_TRANSPARENT | ZH_JOINER | ZH_EXACT | ZH_PACKS
    PACKED = 0xFFFFFF

# Bits of the sets of pairs are 2 to the power of these (data/compile.py); constants, because the loop needs registers.
cdef enum:
    INNER = 21
    CHANGING_PAIRS = 19
    CHANGING_WHOLE = 17
    CHANGING_TRIPLES = 18

cdef enum:
    UNIT = (1 << 20) - 1  # of a unit: its parent
    END = 1 << 20
    CHANGES = 1 << 21
    LEAF = 1 << 22
    TAIL = 1 << 23


cdef struct Phrases:
    const uint16_t* codes
    const uint16_t* astral_codes
    const uint16_t* astral_index
    const uint64_t* units
    const uint16_t* records
    const int32_t* readings


cdef struct Readings:
    Phrases lexicon
    Phrases user
    bint has_user
    Characters defaults               # the lexicon's own, where a user gives characters other readings
    const uint64_t* inner             # any two characters that touch in a phrase of the lexicon
    const uint64_t* changing_pairs    # the first two of a phrase that changes the reading of one of its characters
    const uint64_t* changing_whole    # two that are such a phrase
    const uint64_t* changing_triples  # the first three of a longer one: first * 31 + second, third
    const uint8_t* classes            # NULL unless the fallback is packed


cdef inline uint32_t code_of(const Phrases* phrases, uint32_t char) noexcept nogil:
    if char < 0x10000:
        return phrases.codes[char]
    return phrases.astral_codes[(<size_t>phrases.astral_index[(char >> 8) - 256] << 8) | (char & 255)]


cdef struct Match:
    uint64_t unit           # where the longest phrase ends that begins here, 0 where none does
    Py_ssize_t characters   # of it
    Py_ssize_t end          # behind it; where there is none, behind what is read alone


cdef inline uint32_t code_at(const Phrases* phrases, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                             Py_ssize_t* step) noexcept nogil:
    """The code of the character at ``at``; 0 at the end of the text, too."""
    return code_of(phrases, char_at(text, at, length, step)) if at < length else 0


cdef inline void longest_phrase(const Phrases* phrases, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                                uint32_t first, Py_ssize_t step, Match* match, Py_ssize_t* prefix) noexcept nogil:
    """Finds the longest phrase that begins with the character ``first`` at ``at``.

    Arguments:
        match: becomes the phrase.
        prefix: becomes the end of what is the beginning of a phrase, if a character without a code follows, else 0.
    """
    cdef uint32_t node = code_of(phrases, first), code, next, left
    cdef Py_ssize_t characters = 1
    cdef uint64_t unit = phrases.units[node], following
    cdef const uint16_t* record
    match.unit = match.characters = 0
    prefix[0] = 0
    if node == 0:
        return
    at += step
    while not unit & LEAF:
        code = code_at(phrases, text, at, length, &step)
        if code == 0:
            prefix[0] = at
            return
        next = <uint32_t>(unit >> 32) + code
        following = phrases.units[next]
        if <uint32_t>following & UNIT != node:
            return
        node, unit = next, following
        at += step
        characters += 1
        if unit & (END | TAIL) == END:
            match.unit, match.characters, match.end = unit, characters, at
    if not unit & TAIL:
        return
    record = phrases.records + (unit >> 32)
    left = record[0]
    while left:
        record += 1
        code = code_at(phrases, text, at, length, &step)
        if code != record[0]:
            if code == 0:
                prefix[0] = at
            return
        at += step
        left -= 1
        characters += 1
    match.unit, match.characters, match.end = unit, characters, at


cdef inline const uint16_t* numbers_of(const Phrases* phrases, uint64_t unit) noexcept nogil:
    """The numbers of the readings of a phrase that changes one."""
    cdef uint64_t where = unit >> 32
    if not unit & LEAF:
        where = phrases.units[where] >> 32
    elif unit & TAIL:
        where += 1 + phrases.records[where]
    return phrases.records + where


cdef inline uint32_t in_set(const uint64_t* pairs, int size, uint32_t first, uint32_t second) noexcept nogil:
    """1 where two numbers are in a set of 2 ** size bits, else 0; a few pairs that are not in it give 1."""
    cdef uint32_t slot = (first * <uint32_t>0x9E3779B1 + second * <uint32_t>0x85EBCA6B) >> (32 - size)
    return <uint32_t>(pairs[slot >> 6] >> (slot & 63)) & 1


cdef inline uint32_t char_before(const text_t* text, Py_ssize_t at, Py_ssize_t length,
                                 Py_ssize_t* before) noexcept nogil:
    """The character that ends at ``at`` (above 0), and where it begins; INVALID, of one unit, where none ends there.

    A character of UTF-8 is found only where reading forward finds it, too: its first byte is not a byte of another.
    """
    cdef Py_ssize_t step = 0, first = at - 1
    cdef uint32_t char
    if text_t is utf8_t:
        while first > 0 and at - first < LONGEST_CHARACTER and text[first] & 0xC0 == 0x80:
            first -= 1
    char = char_at(text, first, length, &step)
    if text_t is utf8_t and first + step != at:
        first, char = at - 1, INVALID
    before[0] = first
    return char


cdef inline const Phrases* match_at(const Characters* chars, const Readings* readings, const text_t* text,
                                    Py_ssize_t at, Py_ssize_t length, uint32_t char, Py_ssize_t step,
                                    Match* match) noexcept nogil:
    """The next reading at a Han character: a user's phrase, else the lexicon's, else what is read alone.

    That is one character, or all up to the end of the Han run, if they are the beginning of a phrase: pypinyin does so,
    without a look for phrases inside of it.

    Returns:
        The phrases among which it is.
    """
    cdef Py_ssize_t prefix = 0
    if readings.has_user:
        longest_phrase(&readings.user, text, at, length, char, step, match, &prefix)
        if match.unit:
            return &readings.user
    longest_phrase(&readings.lexicon, text, at, length, char, step, match, &prefix)
    if match.unit == 0:
        match.end = at + step
        if prefix > match.end:
            if prefix == length or not entry_of(chars, char_at(text, prefix, length, &step)) & ZH_HAN:
                match.end = prefix
    return &readings.lexicon


cdef inline Py_ssize_t read_phrases(const Characters* chars, const Readings* readings, const text_t* text,
                                    Py_ssize_t at, Py_ssize_t length, Match* match, Output* out) noexcept nogil:
    """Reads the Han characters around ``at`` phrase by phrase, from where no phrase can lie across to where none can.

    Takes back the ids that were written of the characters before ``at``; returns where it ends.

    Arguments:
        match: the lexicon's phrase at ``at``, if it is known that this one is read there unless one overlaps it.
    """
    cdef Py_ssize_t begin = at, before = 0, step = 0, number
    cdef uint32_t char = char_at(text, at, length, &step), previous
    cdef const Characters* table
    cdef const Phrases* phrases
    cdef const uint16_t* numbers
    cdef int32_t* ids
    while begin > 0:
        previous = char_before(text, begin, length, &before)
        if not (entry_of(chars, previous) & ZH_HAN and in_set(readings.inner, INNER, previous, char)):
            break
        step = begin - before
        begin, char = before, previous
        out.count -= 1
    ids = out.ids + out.count
    if begin < at:
        match.unit = 0
    phrases = &readings.lexicon
    while True:
        if match.unit == 0:
            phrases = match_at(chars, readings, text, begin, length, char, step, match)
        if match.unit & CHANGES:
            numbers = numbers_of(phrases, match.unit)
            for number in range(match.characters):
                ids[number] = phrases.readings[numbers[number]]
            ids += match.characters
            begin = match.end
            char = char_before(text, begin, length, &before)
        else:
            table = &readings.defaults if match.unit else chars
            while True:
                ids[0] = <int32_t>(entry_of(table, char) & PACKED)
                ids += 1
                begin += step
                if begin >= match.end:
                    break
                char = char_at(text, begin, length, &step)
        if begin >= length:
            break
        previous, char = char, char_at(text, begin, length, &step)
        # The character at ``at`` is read in any case: a letter of a user's phrase is not Han.
        if begin > at and not (entry_of(chars, char) & ZH_HAN and in_set(readings.inner, INNER, previous, char)):
            break
        match.unit = 0
    out.count = ids - out.ids
    return begin


cdef inline bint begins_changing(const Readings* readings, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                                 uint32_t first, uint32_t second, Py_ssize_t step, Match* match) noexcept nogil:
    """Whether the longest phrase that begins with ``first`` and, at ``at``, ``second`` changes a reading.

    The sets answer first: they are small enough to stay in the cache, and seldom say yes where there is none.
    """
    cdef Py_ssize_t prefix = 0, more = 0
    if not in_set(readings.changing_whole, CHANGING_WHOLE, first, second):
        if at + step >= length:
            return False
        if not in_set(readings.changing_triples, CHANGING_TRIPLES, first * 31 + second,
                      char_at(text, at + step, length, &more)):
            return False
    longest_phrase(&readings.lexicon, text, at, length, first, 0, match, &prefix)
    return match.unit & CHANGES != 0


cdef inline void write_along(const text_t* text, Py_ssize_t start, Py_ssize_t length, Py_ssize_t first, int32_t word,
                             Output* out) noexcept nogil:
    """Spans and word ids of the positions from ``first`` on, each a character of the text from ``start`` on."""
    cdef Py_ssize_t at, count = out.count - first, step = 0
    cdef int32_t begin = <int32_t>start
    cdef int32_t* words = out.words
    cdef int32_t* spans = out.spans
    if words != NULL:
        for at in range(first, out.count):
            words[at] = word
    if spans == NULL:
        return
    spans += 2 * first
    if text_t is utf8_t:
        for at in range(count):
            spans[2 * at] = begin
            char_at(text, begin, length, &step)
            begin += <int32_t>step
            spans[2 * at + 1] = begin
    else:
        phonemic_unit_spans(spans, begin, count)


cdef inline Py_ssize_t read_alone(const Characters* chars, const Readings* readings, const text_t* text,
                                  Py_ssize_t at, Py_ssize_t length, uint32_t* stopped, Match* match,
                                  Output* out) noexcept nogil:
    """Default readings straight from the table, up to a character that needs more.

    Arguments:
        stopped: becomes the entry of that character. If it is not SPECIAL, the character is the second of a phrase that
            changes a reading,
        match: which it becomes.
    """
    cdef Py_ssize_t step = 0
    cdef uint32_t char, entry = 0, previous = 0
    cdef int32_t* ids = out.ids + out.count
    if text_t is not utf8_t:
        ids -= at  # a position a unit
    while at < length:
        char = char_at(text, at, length, &step)
        entry = entry_of(chars, char)
        if entry & SPECIAL:
            break
        if unlikely(in_set(readings.changing_pairs, CHANGING_PAIRS, previous, char)):
            if (entry_of(chars, previous) << 1 & entry) >> 31:
                if begins_changing(readings, text, at, length, previous, char, step, match):
                    break
        check(text, char, at, out)
        if text_t is utf8_t:
            ids[0] = <int32_t>(entry & PACKED)
            ids += 1
        else:
            ids[at] = <int32_t>(entry & PACKED)
        previous = char
        at += step
    if text_t is not utf8_t:
        ids += at
    stopped[0] = entry
    out.count = ids - out.ids
    return at


cdef inline void encode_mandarin(const Characters* chars, const Readings* readings, const text_t* text,
                                 Py_ssize_t length, Output* out) noexcept nogil:
    """Default readings straight from the table; where a phrase that changes one occurs, phrase by phrase around it.

    That is exact: where no such phrase is the longest that begins at any place, no segmentation changes a reading.
    """
    cdef State state
    cdef Py_ssize_t at = 0, start, first
    cdef uint32_t entry = 0
    cdef Match match
    state.word, state.gap, state.open = -1, True, False
    while at < length:
        start, first = at, out.count
        while True:
            at = read_alone(chars, readings, text, at, length, &entry, &match, out)
            if at >= length or entry & SPECIAL & ~ZH_EXACT:
                break
            if entry & ZH_EXACT:
                match.unit = 0
            else:
                out.count -= 1
                char_before(text, at, length, &at)
            at = read_phrases(chars, readings, text, at, length, &match, out)
        if out.count > first:
            new_word(&state)
            state.open = True
            write_along(text, start, length, first, state.word, out)
        if at < length:
            at = encode_special(chars, readings, text, at, length, &state, out)


cdef inline bint packs(uint32_t entry) noexcept nogil:
    return entry & (ZH_PACKS | ZH_TRANSPARENT) == ZH_PACKS


cdef inline Py_ssize_t encode_packed(const Characters* chars, const Readings* readings, const text_t* text,
                                     Py_ssize_t at, Py_ssize_t length, State* state, Output* out) noexcept nogil:
    """Letters and digits that touch; returns where they end."""
    cdef Py_ssize_t first = out.count, step = 0
    cdef uint32_t entry
    while at < length:
        entry = entry_of(chars, char_at(text, at, length, &step))
        if not packs(entry):
            break
        emit(out, <int32_t>(entry & PACKED), at, at + step, state.word)
        at += step
    pack_from(out, readings.classes, first, state.open)
    state.open = True
    return at


cdef inline Py_ssize_t encode_special(const Characters* chars, const Readings* readings, const text_t* text,
                                      Py_ssize_t at, Py_ssize_t length, State* state, Output* out) noexcept nogil:
    """A character that is more than a position with a reading; returns where the text continues."""
    cdef Py_ssize_t step = 0
    cdef uint32_t entry = entry_of(chars, char_at(text, at, length, &step))
    if entry & ZH_SPACE:
        state.gap, state.open = True, False
        return at + step
    new_word(state)
    if packs(entry):
        return encode_packed(chars, readings, text, at, length, state, out)
    if entry & ZH_JOINER:
        state.open = False
    elif state.open:
        extend_last(out, at + step)
    elif entry & ZH_JAMO:
        emit(out, UNKNOWN, at, at + step, state.word)
        state.open = True
    return at + step

"""Mandarin: a reading for each character, and phrases where they change one."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from phonemic.native.text cimport (
    INVALID, LONGEST_CHARACTER, UNKNOWN, Characters, Output, State, char_at, check, emit, entry_of, extend_last,
    new_word, pack_from, text_t, utf8_t,
)

cdef extern from *:
    """
    #define PHONEMIC_PHRASE_HASH 0x9E3779B1u
    """
    const uint32_t PHRASE_HASH "PHONEMIC_PHRASE_HASH"

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
    PACKED = 0xFFFFFF

# Bits of the sets of pairs are 2 to the power of these (data/compile.py); constants, because the loop needs registers.
cdef enum:
    INNER = 20
    CHANGING_PAIRS = 18
    CHANGING_WHOLE = 17
    CHANGING_TRIPLES = 17

cdef enum:
    CODE_BITS = 13
    CHANGES = 4
    HAS_CHILDREN = 2
    IS_END = 1


cdef struct Phrases:
    const uint16_t* code_index
    const uint16_t* code_pages
    const uint64_t* cells
    uint32_t mask
    int shift
    const uint32_t* values
    const int32_t* pool


cdef struct Readings:
    Phrases lexicon
    Phrases user
    bint has_user
    const uint64_t* inner             # any two characters that touch in a phrase of the lexicon
    const uint64_t* changing_pairs    # the first two of a phrase that changes the reading of one of its characters
    const uint64_t* changing_whole    # two that are such a phrase
    const uint64_t* changing_triples  # the first three of a longer one: first * 31 + second, third
    const uint8_t* classes            # NULL unless the fallback is packed


cdef inline uint32_t code_of(const Phrases* phrases, uint32_t char) noexcept nogil:
    return phrases.code_pages[(<size_t>phrases.code_index[char >> 8] << 8) | (char & 255)]


cdef inline uint64_t follow(const Phrases* phrases, uint32_t node, uint32_t code) noexcept nogil:
    """The cell of a node and the next character's code; 0 where no phrase goes on so."""
    cdef uint32_t key = node << CODE_BITS | code
    cdef uint32_t slot = key * PHRASE_HASH >> phrases.shift
    cdef uint64_t cell = phrases.cells[slot]
    while <uint32_t>cell > key:  # the larger keys come first
        slot = (slot + 1) & phrases.mask
        cell = phrases.cells[slot]
    return cell if <uint32_t>cell == key else 0


cdef struct Match:
    Py_ssize_t characters  # of the longest phrase that begins here, 0 where there is none
    uint32_t value         # where its readings begin in the pool
    Py_ssize_t dangling    # characters up to the end of the Han run, if all are a prefix of a phrase and none fits


cdef inline Match longest_phrase(const Characters* chars, const Phrases* phrases, const text_t* text, Py_ssize_t at,
                                 Py_ssize_t length, uint32_t char, Py_ssize_t step) noexcept nogil:
    cdef Match match
    cdef uint32_t node = code_of(phrases, char), code
    cdef uint64_t cell
    cdef Py_ssize_t characters = 1
    match.characters = match.dangling = 0
    match.value = 0
    if node == 0:
        return match
    while True:
        at += step
        if at >= length:
            code = 0
            char = 0
        else:
            char = char_at(text, at, length, &step)
            code = code_of(phrases, char)
        if code == 0:
            if match.characters == 0 and characters > 1 and (at >= length or not entry_of(chars, char) & ZH_HAN):
                match.dangling = characters
            return match
        cell = follow(phrases, node, code)
        if cell == 0:
            return match
        characters += 1
        node = <uint32_t>(cell >> 35)
        if cell >> 32 & IS_END:
            match.characters = characters
            match.value = phrases.values[node] - 1
        if not cell >> 32 & HAS_CHILDREN:
            return match


cdef inline uint32_t in_set(const uint64_t* pairs, int size, uint32_t first, uint32_t second) noexcept nogil:
    """1 where two numbers are in a set of 2 ** size bits, else 0; a few pairs that are not in it give 1."""
    cdef uint32_t slot = (first * <uint32_t>0x9E3779B1 + second * <uint32_t>0x85EBCA6B) >> (32 - size)
    return <uint32_t>(pairs[slot >> 6] >> (slot & 63)) & 1


cdef inline uint32_t char_before(const text_t* text, Py_ssize_t at, Py_ssize_t length,
                                 Py_ssize_t* before) noexcept nogil:
    """The character that ends at ``at`` (above 0), and where it begins; INVALID, of one unit, where none ends there.

    A character of UTF-8 is found only where reading forward finds it, too: its first byte is no byte of another.
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


cdef inline Py_ssize_t read_phrases(const Characters* chars, const Readings* readings, const text_t* text,
                                    Py_ssize_t at, Py_ssize_t length, int32_t word, Output* out) noexcept nogil:
    """Reads the Han characters around ``at`` phrase by phrase, from where no phrase can lie across to where none can.

    Takes back the positions that were written of the characters before ``at``; returns where it ends.
    """
    cdef Py_ssize_t step = 0, number, begin = at, before = 0
    cdef uint32_t char = char_at(text, at, length, &step), entry, previous
    cdef const int32_t* phrase
    cdef Match match
    while begin > 0:
        previous = char_before(text, begin, length, &before)
        if not (entry_of(chars, previous) & ZH_HAN and in_set(readings.inner, INNER, previous, char)):
            break
        begin, char = before, previous
        out.count -= 1
    while begin < length:
        char = char_at(text, begin, length, &step)
        entry = entry_of(chars, char)
        if not entry & ZH_HAN:
            break
        if begin > at and not in_set(readings.inner, INNER, previous, char):
            break
        match.characters = match.dangling = 0
        phrase = NULL
        if readings.has_user:
            match = longest_phrase(chars, &readings.user, text, begin, length, char, step)
            phrase = readings.user.pool + match.value
        if match.characters == 0:
            match = longest_phrase(chars, &readings.lexicon, text, begin, length, char, step)
            phrase = readings.lexicon.pool + match.value
        for number in range(max(match.characters, match.dangling, 1)):
            if number:
                char = char_at(text, begin, length, &step)
                entry = entry_of(chars, char)
            # pypinyin reads a dangling prefix character by character, without a look for phrases inside it.
            emit(out, phrase[number] if match.characters else <int32_t>(entry & PACKED), begin, begin + step, word)
            begin += step
        previous = char
    return begin


cdef inline bint begins_changing(const Readings* readings, const text_t* text, Py_ssize_t after, Py_ssize_t length,
                                 uint32_t first, uint32_t second) noexcept nogil:
    """Whether a phrase that changes a reading begins with two characters, behind which the text goes on.

    The sets answer first: they are small enough to stay in the cache, and seldom say yes where there is none.
    """
    cdef Py_ssize_t step = 0
    cdef uint32_t code, node
    cdef uint64_t cell
    if not in_set(readings.changing_whole, CHANGING_WHOLE, first, second):
        if after >= length:
            return False
        if not in_set(readings.changing_triples, CHANGING_TRIPLES, first * 31 + second,
                      char_at(text, after, length, &step)):
            return False
    node, code = code_of(&readings.lexicon, first), code_of(&readings.lexicon, second)
    while node and code:
        cell = follow(&readings.lexicon, node, code) >> 32
        if cell & CHANGES:
            return True
        if not cell & HAS_CHILDREN or after >= length:
            return False
        node, code = <uint32_t>(cell >> 3), code_of(&readings.lexicon, char_at(text, after, length, &step))
        after += step
    return False


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


cdef inline void encode_mandarin(const Characters* chars, const Readings* readings, const text_t* text,
                                 Py_ssize_t length, Output* out) noexcept nogil:
    """Default readings straight from the table; where a phrase that changes one occurs, phrase by phrase around it.

    That is exact: where no such phrase occurs, no segmentation changes a reading.
    """
    cdef State state
    cdef Py_ssize_t at = 0, start, first, count, step = 0, before = 0
    cdef uint32_t char, entry = 0, previous, pairs
    cdef int32_t* ids
    cdef bint found
    state.word, state.gap, state.open = -1, True, False
    while at < length:
        start, first, count = at, out.count, out.count
        previous, pairs, found = 0, 0, False
        ids = out.ids + first - start  # of a str: a position a unit
        while at < length:
            char = char_at(text, at, length, &step)
            entry = entry_of(chars, char)
            if entry & (ZH_SPACE | ZH_TRANSPARENT | ZH_JOINER | ZH_EXACT | ZH_PACKS):
                break
            if in_set(readings.changing_pairs, CHANGING_PAIRS, previous, char) & (pairs & entry) >> 31:
                if begins_changing(readings, text, at + step, length, previous, char):
                    found = True
                    break
            check(text, char, at, out)
            if text_t is utf8_t:
                out.ids[count] = <int32_t>(entry & PACKED)
                count += 1
                before = at
            else:
                ids[at] = <int32_t>(entry & PACKED)
            previous, pairs = char, entry << 1
            at += step
        if text_t is not utf8_t:
            count = first + at - start
            before = at - 1
        if count > first:
            new_word(&state)
            state.open = True
            out.count = count
            write_along(text, start, length, first, state.word, out)
        if found:
            out.count -= 1
            at = read_phrases(chars, readings, text, before, length, state.word, out)
        elif at < length:
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
    """A character that is more than a position with a reading; returns where the text goes on."""
    cdef Py_ssize_t step = 0
    cdef uint32_t entry = entry_of(chars, char_at(text, at, length, &step))
    if entry & ZH_SPACE:
        state.gap, state.open = True, False
        return at + step
    new_word(state)
    if entry & ZH_EXACT:
        state.open = True
        return read_phrases(chars, readings, text, at, length, state.word, out)
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

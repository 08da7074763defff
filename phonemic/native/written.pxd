"""The written form of each position, in the highest byte of its id, and the bytes of what no symbol stands for.

``phonemic/forms.py`` says what a form means; the layout of the tables is in ``lexicon/forms.py``. The ids of a text are
made first, by the loops that make them without forms; then text and ids are walked together, so that a form never
changes what is heard. A text of n units has at most ``EXPANSION`` * n positions, so the ids without forms are written
that far behind, and read from there while the positions with forms are written in front of them.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from phonemic.native.mandarin cimport (
    CHANGING_PAIRS, INNER, PACKED, SPECIAL, ZH_EXACT, ZH_HAN, ZH_JAMO, ZH_JOINER, ZH_SPACE, ZH_TRANSPARENT, Match,
    Readings, begins_changing, char_before, in_set, read_phrases, write_along,
)
from phonemic.native.text cimport (
    UNKNOWN, Characters, Output, State, char_at, check, emit, entry_of, text_t, unlikely, utf8_t,
)
from phonemic.native.vietnamese cimport (
    FOREIGN, JAMO, JOINER, KEY_LETTERS, MARK, NATIVE, SPACE, SYLLABLE_HASH, TRANSPARENT, Memo, Remembered, Syllables,
    encode_part, find_syllable, holds, is_letter, letter_mask, phonemic_key, phonemic_lowest, place_of,
)

cdef enum:
    EXPANSION = 6           # positions that a unit of text takes at most
    FORM = 24               # where a form lies in an id
    SPACED = 1 << FORM      # added to the form of a character of the fallback: a space before it
    CASES = 3               # of a syllable; also what a space before it adds to its form
    NORMS = 6               # what the next normalization adds
    SPELLINGS = 18          # what the next spelling adds
    ESCAPED = 127           # the bytes that follow say how it is written, up to END_OF_ESCAPE
    CONTINUATION = 1        # [UNK]: a byte from 0x80 on
    LEAD = 65               # a byte from 0xC0 on, in which C0 and C1 begin a character of ASCII
    WHITE = 118             # a space, newline, tab, return, ideographic or no-break space
    END_OF_ESCAPE = 124
    EMOJI_SELECTOR = 125    # the three bytes of U+FE0F
    EMOJI = 126             # the first two bytes of U+1F000 to U+1FFFF
    NFC = 1
    NFD = 2
    TONE_APART = 4

# Layout of a letter: lexicon/forms.py.
cdef enum:
    LETTERS = 0x1F00
    KIND = 3 << 10
    LETTER = 1 << 10
    TONE_MARK = 2 << 10
    QUALITY_MARK = 3 << 10
    UPPER = 1 << 9
    HAS_QUALITY = 1 << 12
    HORN = 2                # the number of this quality mark
    DOT_BELOW = 5           # the number of this tone


cdef struct Written:
    const uint8_t* bmp              # the form of a character alone, 0 for none
    const uint8_t* astral
    const uint16_t* astral_index
    # Mandarin
    Characters defaults             # how the lexicon reads a character alone
    const uint8_t* slots
    const int32_t* shape
    const uint16_t* begins
    const uint32_t* ranked
    # Vietnamese
    const uint16_t* letters
    const uint64_t* spellings
    int shift


# Where the walk has come to.
cdef struct Walk:
    int32_t word            # the whitespace-delimited unit
    bint gap                # white space came since its last character
    bint open               # a mark would belong to the position before it
    Py_ssize_t space        # where a space stands that may become part of the next position's form, -1 where none does
    Py_ssize_t cluster      # the first position of the character, or syllable, that marks would belong to
    const int32_t* ids      # the ids without forms that follow


cdef inline void begin_walk(Walk* walk, const int32_t* ids) noexcept nogil:
    walk.word, walk.gap, walk.open, walk.space, walk.cluster, walk.ids = -1, True, False, -1, 0, ids


cdef inline uint32_t form_of(const Written* written, uint32_t char) noexcept nogil:
    if char < 0x10000:
        return written.bmp[char]
    return written.astral[(<size_t>written.astral_index[(char >> 8) - 256] << 8) | (char & 255)]


cdef inline void put(Output* out, int32_t packed, uint32_t form, Py_ssize_t start, Py_ssize_t end,
                     int32_t word) noexcept nogil:
    emit(out, packed | <int32_t>(form << FORM), start, end, word)


cdef inline void put_known(Output* out, int32_t id, Py_ssize_t start, Py_ssize_t end, int32_t word,
                           bint ids_only) noexcept nogil:
    """A position; nothing but its id where it is known that spans and words are not asked for."""
    if ids_only:
        out.ids[out.count] = id
        out.count += 1
    else:
        emit(out, id, start, end, word)


cdef inline void put_byte(Output* out, uint32_t byte, Py_ssize_t start, Py_ssize_t end, int32_t word) noexcept nogil:
    put(out, UNKNOWN, byte - 0xC0 + LEAD if byte >= 0xC0 else byte - 0x80 + CONTINUATION, start, end, word)


cdef inline void put_character(Output* out, uint32_t char, Py_ssize_t start, Py_ssize_t end,
                               int32_t word) noexcept nogil:
    """The bytes of a character: UTF-8, in which halves of surrogate pairs are written, too, and ASCII takes two."""
    if char == 0xFE0F:
        put(out, UNKNOWN, EMOJI_SELECTOR, start, end, word)
        return
    if char < 0x800:
        put_byte(out, 0xC0 | char >> 6, start, end, word)
    elif char >> 12 == 0x1F:
        put(out, UNKNOWN, EMOJI, start, end, word)
        put_byte(out, 0x80 | (char >> 6 & 63), start, end, word)
    elif char < 0x10000:
        put_byte(out, 0xE0 | char >> 12, start, end, word)
        put_byte(out, 0x80 | (char >> 6 & 63), start, end, word)
    else:
        put_byte(out, 0xF0 | char >> 18, start, end, word)
        put_byte(out, 0x80 | (char >> 12 & 63), start, end, word)
        put_byte(out, 0x80 | (char >> 6 & 63), start, end, word)
    put_byte(out, 0x80 | (char & 63), start, end, word)


cdef inline void put_characters(Output* out, const text_t* text, Py_ssize_t at, Py_ssize_t stop, Py_ssize_t length,
                                Py_ssize_t start, Py_ssize_t end, int32_t word) noexcept nogil:
    """The bytes of ``text[at:stop]``, whose span is ``start`` to ``end``."""
    cdef Py_ssize_t step = 0
    while at < stop:
        put_character(out, char_at(text, at, length, &step), start, end, word)
        at += step


cdef inline void put_space(Output* out, Walk* walk) noexcept nogil:
    """A position for the space that stands before what cannot say so in its form."""
    if walk.space >= 0:
        put(out, UNKNOWN, WHITE, walk.space, walk.space + 1, -1)
        walk.space = -1


cdef inline void put_white(Output* out, Walk* walk, uint32_t char, Py_ssize_t at, Py_ssize_t end) noexcept nogil:
    """White space: a position, but that the last space waits for what follows it."""
    cdef uint32_t form = 0
    put_space(out, walk)
    walk.gap, walk.open = True, False
    if char == 0x20:
        walk.space = at
        return
    if char == 0x0A:
        form = WHITE + 1
    elif char == 0x09:
        form = WHITE + 2
    elif char == 0x0D:
        form = WHITE + 3
    elif char == 0x3000:
        form = WHITE + 4
    elif char == 0xA0:
        form = WHITE + 5
    if form:
        put(out, UNKNOWN, form, at, end, -1)
    else:
        put_character(out, char, at, end, -1)


cdef inline void put_escaped(Output* out, const text_t* text, int32_t packed, Py_ssize_t at, Py_ssize_t stop,
                             Py_ssize_t length, Py_ssize_t end, int32_t word) noexcept nogil:
    """A position that is written as ``text[at:stop]``, in a way that no form of it says; its span ends at ``end``."""
    put(out, packed, ESCAPED, at, end, word)
    put_characters(out, text, at, stop, length, at, end, word)
    put(out, UNKNOWN, END_OF_ESCAPE, at, end, word)


cdef inline Py_ssize_t run_end(const Characters* chars, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                               uint32_t flags) noexcept nogil:
    """Where the characters from ``at`` on end that have one of the flags."""
    cdef Py_ssize_t step = 0
    while at < length and entry_of(chars, char_at(text, at, length, &step)) & flags:
        at += step
    return at


cdef inline void put_marks(const text_t* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t length, const Walk* walk,
                           Output* out) noexcept nogil:
    """The bytes of ``text[at:end]``, marks of the last character, whose positions' spans then end where they do."""
    cdef Py_ssize_t number, start = at
    if out.spans != NULL:
        start = out.spans[2 * walk.cluster]
        for number in range(walk.cluster, out.count):
            out.spans[2 * number + 1] = <int32_t>end
    put_characters(out, text, at, end, length, start, end, walk.word)


# --- Mandarin


cdef inline uint32_t rank_of(const Written* written, uint32_t packed, uint32_t char) noexcept nogil:
    """The rank of a character among those of a syllable; 0 where it has none."""
    cdef uint32_t onset = written.slots[packed & 255], rime = written.slots[256 + (packed >> 8 & 255)]
    cdef uint32_t tone = written.slots[512 + (packed >> 16)], row, at
    if onset == 255 or rime == 255 or tone == 255:
        return 0
    row = (onset * <uint32_t>written.shape[1] + rime) * <uint32_t>written.shape[2] + tone
    for at in range(written.begins[row], written.begins[row + 1]):
        if written.ranked[at] == char:
            return at - written.begins[row] + 1
    return 0


cdef inline uint32_t form_of_mandarin(const Written* written, uint32_t packed, uint32_t char) noexcept nogil:
    """The form of a Han character that is read ``packed``."""
    cdef uint32_t form = form_of(written, char)
    if form and entry_of(&written.defaults, char) & PACKED == packed:
        return form
    return rank_of(written, packed, char)


cdef inline void write_mandarin_at(const Written* written, const Characters* chars, const text_t* text,
                                   Py_ssize_t* place, Py_ssize_t length, Walk* walk, Output* out) noexcept nogil:
    """The character at ``place`` and the marks behind it; ``place`` becomes where they end."""
    cdef Py_ssize_t at = place[0], step = 0, stop
    cdef uint32_t char = char_at(text, at, length, &step), entry = entry_of(chars, char), form, packed
    place[0] = at + step
    if entry & ZH_SPACE:
        put_white(out, walk, char, at, at + step)
        return
    walk.word += walk.gap
    walk.gap = False
    if entry & ZH_JOINER or (entry & ZH_TRANSPARENT and not walk.open and not entry & ZH_JAMO):
        put_space(out, walk)
        put_character(out, char, at, at + step, walk.word)
        walk.open = walk.open and not entry & ZH_JOINER
        return
    stop = at
    if not (entry & ZH_TRANSPARENT and walk.open):
        packed = <uint32_t>walk.ids[0]
        walk.ids += 1
        stop = at + step
    place[0] = run_end(chars, text, at + step, length, ZH_TRANSPARENT)
    if stop == at:
        put_marks(text, at, place[0], length, walk, out)
        return
    walk.open = True
    if packed == UNKNOWN:
        put_space(out, walk)
        walk.cluster = out.count
        put_character(out, char, at, place[0], walk.word)
    else:
        if entry & ZH_HAN:
            put_space(out, walk)
            form = form_of_mandarin(written, packed, char)
        else:
            form = form_of(written, char)
            if form and walk.space >= 0:
                form += 1
                walk.space = -1
        put_space(out, walk)
        walk.cluster = out.count
        if form:
            put(out, <int32_t>packed, form, at, place[0], walk.word)
        else:
            put_escaped(out, text, <int32_t>packed, at, stop, length, place[0], walk.word)
    put_characters(out, text, stop, place[0], length, at, place[0], walk.word)


cdef inline Py_ssize_t write_simple(const Written* written, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                                    Walk* walk, Output* out) noexcept nogil:
    """Characters that have a form, up to one that needs more; returns where that stands."""
    cdef Py_ssize_t step = 0, count = 0
    cdef uint32_t char, form, packed
    cdef const int32_t* ids = walk.ids
    cdef int32_t* made = out.ids + out.count
    while at < length:
        char = char_at(text, at, length, &step)
        form = form_of(written, char)
        if unlikely(not form):
            break
        packed = <uint32_t>ids[count]
        if unlikely(entry_of(&written.defaults, char) & PACKED != packed):
            form = rank_of(written, packed, char)
            if not form:
                break
        made[count] = <int32_t>(packed | form << FORM)
        count += 1
        at += step
    walk.ids += count
    out.count += count
    return at


cdef inline void write_heard(const Written* written, const Characters* chars, const text_t* text, Py_ssize_t at,
                             Py_ssize_t length, Walk* walk, Output* out) noexcept nogil:
    """``text[at:length]``, whose ids without forms are known; most often characters that are read as they are alone."""
    cdef Py_ssize_t start, first
    while at < length:
        if walk.space < 0:
            start, first = at, out.count
            at = write_simple(written, text, at, length, walk, out)
            end_run(text, start, length, first, walk, out)
        if at < length:
            write_mandarin_at(written, chars, text, &at, length, walk, out)


cdef inline void end_run(const text_t* text, Py_ssize_t start, Py_ssize_t length, Py_ssize_t first, Walk* walk,
                         Output* out) noexcept nogil:
    """Spans and word ids of the positions from ``first`` on, each a character from ``start`` on."""
    if out.count > first:
        walk.word += walk.gap
        walk.gap, walk.open, walk.cluster = False, True, out.count - 1
        write_along(text, start, length, first, walk.word, out)


cdef inline Py_ssize_t write_alone_readings(const Written* written, const Characters* chars, const Readings* readings,
                                            const text_t* text, Py_ssize_t at, Py_ssize_t length, uint32_t* stopped,
                                            bint* rest, Match* match, Output* out) noexcept nogil:
    """As ``read_alone``, with forms; stops at a character without a form, too.

    Arguments:
        rest: becomes true where a Han character, at which phrases go on, has no form.
    """
    cdef Py_ssize_t step = 0
    cdef uint32_t char, entry = 0, previous = 0, form
    cdef int32_t* ids = out.ids + out.count
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
        form = form_of(written, char)
        if unlikely(form == 0):
            if not entry & ZH_HAN:
                entry = ZH_TRANSPARENT
                break
            rest[0] = True
        ids[0] = <int32_t>(entry & PACKED | form << FORM)
        ids += 1
        previous = char
        at += step
    stopped[0] = entry
    out.count = ids - out.ids
    return at


cdef inline Py_ssize_t phrases_begin(const Characters* chars, const Readings* readings, const text_t* text,
                                     Py_ssize_t at, Py_ssize_t length, Py_ssize_t* count) noexcept nogil:
    """From where on ``read_phrases`` will read; of ``count`` positions, those that it will write anew are taken."""
    cdef Py_ssize_t step = 0
    cdef uint32_t char = char_at(text, at, length, &step), previous
    while at > 0:
        previous = char_before(text, at, length, &step)
        if not (entry_of(chars, previous) & ZH_HAN and in_set(readings.inner, INNER, previous, char)):
            break
        at, char = step, previous
        count[0] -= 1
    return at


cdef inline bint write_phrases(const Written* written, const text_t* text, Py_ssize_t at, Py_ssize_t first,
                               Py_ssize_t length, Output* out) noexcept nogil:
    """Forms for the positions from ``first`` on, which were read by phrases, each a character from ``at`` on.

    Returns whether one of them has none.
    """
    cdef Py_ssize_t step = 0
    cdef uint32_t form, packed
    cdef bint rest = False
    while first < out.count:
        packed = <uint32_t>out.ids[first]
        form = form_of_mandarin(written, packed, char_at(text, at, length, &step))
        rest = rest or not form
        out.ids[first] = <int32_t>(packed | form << FORM)
        at += step
        first += 1
    return rest


cdef inline void write_again(const Written* written, const Characters* chars, const text_t* text, Py_ssize_t start,
                             Py_ssize_t at, Py_ssize_t first, Walk* walk, Output* out) noexcept nogil:
    """The positions from ``first`` on, each a character of ``text[start:at]``, once more: one of them has no form."""
    cdef Py_ssize_t count = out.count - first, number
    cdef int32_t* ids = out.ids + first + (EXPANSION - 1) * (at - start)
    number = count
    while number:
        number -= 1
        ids[number] = out.ids[first + number] & PACKED
    out.count, walk.ids = first, ids
    write_heard(written, chars, text, start, at, walk, out)


cdef inline void write_mandarin(const Written* written, const Characters* chars, const Readings* readings,
                                const text_t* text, Py_ssize_t length, Output* out) noexcept nogil:
    """As ``encode_mandarin``, with forms, written while the characters are read."""
    cdef Py_ssize_t at = 0, start, first, step = 0, begin, known
    cdef uint32_t entry = 0
    cdef bint rest
    cdef Match match
    cdef Walk walk
    cdef int32_t alone
    begin_walk(&walk, &alone)
    while at < length:
        rest = False
        if walk.space >= 0 and entry_of(chars, char_at(text, at, length, &step)) & ZH_HAN:
            put_space(out, &walk)
        start, first = at, out.count
        while True:
            at = write_alone_readings(written, chars, readings, text, at, length, &entry, &rest, &match, out)
            if at >= length or entry & SPECIAL & ~ZH_EXACT:
                break
            if entry & ZH_EXACT:
                match.unit = 0
            else:
                out.count -= 1
                char_before(text, at, length, &at)
            known = out.count
            begin = phrases_begin(chars, readings, text, at, length, &known)
            at = read_phrases(chars, readings, text, at, length, &match, out)
            rest = write_phrases(written, text, begin, known, length, out) or rest
        if rest:
            write_again(written, chars, text, start, at, first, &walk, out)
        elif out.count > first:
            if walk.space >= 0:
                out.ids[first] += SPACED
                walk.space = -1
            end_run(text, start, length, first, &walk, out)
        if at < length:
            alone = <int32_t>(entry_of(chars, char_at(text, at, length, &step)) & PACKED)
            walk.ids = &alone
            write_mandarin_at(written, chars, text, &at, length, &walk, out)
    put_space(out, &walk)


cdef inline void write_read(const Written* written, const Characters* chars, const text_t* text, Py_ssize_t length,
                            const int32_t* ids, Output* out) noexcept nogil:
    """All of a text whose ids without forms are known."""
    cdef Walk walk
    begin_walk(&walk, ids)
    write_heard(written, chars, text, 0, length, &walk, out)
    put_space(out, &walk)


# --- Vietnamese


cdef inline uint32_t letter_at(const Written* written, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                               Py_ssize_t* step) noexcept nogil:
    """What is known of the letter or mark at ``at``; 0 behind the last one."""
    cdef uint32_t char
    if at >= length:
        return 0
    char = char_at(text, at, length, step)
    return written.letters[char] if char < LETTERS else 0


cdef inline uint32_t compose_marks(const Syllables* table, uint32_t letter, uint32_t first, uint32_t second,
                                   uint32_t* code, uint32_t* tone) noexcept nogil:
    """The normalizations in which a letter and its marks stand so; 0 for none. Sets what they make."""
    cdef uint32_t made
    code[0], tone[0] = letter & 63, letter >> 6 & 7
    if not first:
        if tone[0]:
            return NFC
        return NFC | TONE_APART if letter & HAS_QUALITY else NFC | NFD | TONE_APART
    if tone[0]:
        return 0
    if first & KIND == TONE_MARK:
        tone[0] = first >> 6 & 7
        if not second:
            return TONE_APART if letter & HAS_QUALITY else NFD | TONE_APART
        if tone[0] != DOT_BELOW or second & KIND != QUALITY_MARK or second & 63 == HORN:
            return 0
        first, second = second, first
    elif second:
        tone[0] = second >> 6 & 7
        if second & KIND != TONE_MARK or (tone[0] == DOT_BELOW and first & 63 != HORN):
            return 0
    made = table.compose[(first & 63) * 64 + code[0]]
    code[0] = made
    return NFD if made else 0


cdef inline uint32_t form_of_spelling(const Written* written, uint64_t key, Py_ssize_t bearer) noexcept nogil:
    """The number of a spelling whose tone mark stands on letter ``bearer`` (-1: none), from 1 on; 0 where no form
    says so."""
    cdef uint64_t slot = key * SYLLABLE_HASH >> written.shift, cell
    cdef uint32_t value
    while True:
        cell = written.spellings[slot]
        if cell >> 22 == key:
            break
        if cell == 0:
            return 0
        slot = (slot + 1) & ((<uint64_t>1 << (64 - written.shift)) - 1)
    value = <uint32_t>cell
    if bearer < 0 or bearer == <Py_ssize_t>(value >> 3 & 7):
        return (value & 7) + 1
    return 2 if bearer == <Py_ssize_t>(value >> 6 & 7) else 0


cdef inline uint32_t form_of_syllable(const Written* written, const Syllables* table, const text_t* text,
                                      Py_ssize_t at, Py_ssize_t end, Py_ssize_t* stop) noexcept nogil:
    """The form of ``text[at:end]``, a syllable, up to ``stop``; 0 where it has none. Behind that are ignorables."""
    cdef Py_ssize_t step = 0, count = 0, bearer = -1
    cdef uint32_t letter, first, second, code = 0, tone = 0, norms = NFC | NFD | TONE_APART, uppers = 0, spelling
    cdef uint64_t key = 0
    while True:
        letter = letter_at(written, text, at, end, &step)
        if letter & KIND != LETTER or count > KEY_LETTERS:
            break
        at += step
        second = 0
        first = letter_at(written, text, at, end, &step)
        if first & KIND > LETTER:
            at += step
            second = letter_at(written, text, at, end, &step)
            if second & KIND > LETTER:
                at += step
            else:
                second = 0
        else:
            first = 0
        norms &= compose_marks(table, letter, first, second, &code, &tone)
        if tone:
            bearer = count
        key = key << 6 | code
        uppers |= <uint32_t>(letter & UPPER != 0) << count
        count += 1
    stop[0] = at
    if letter or not norms or count == 0 or count > KEY_LETTERS:
        return 0
    spelling = form_of_spelling(written, key, bearer)
    if spelling == 0 or (uppers > 1 and uppers != (<uint32_t>1 << count) - 1):
        return 0
    return (
        1 + (uppers > 1) + (uppers > 0) + (NORMS if not norms & NFC else 0) + (NORMS if norms == TONE_APART else 0)
        + SPELLINGS * (spelling - 1)
    )


cdef inline bint is_syllable(uint32_t packed) noexcept nogil:
    """Whether it is no character of the fallback, and not unknown."""
    return packed != (packed & 255) * UNKNOWN


cdef inline bint all_ignorable(const Characters* chars, const text_t* text, Py_ssize_t at,
                               Py_ssize_t end) noexcept nogil:
    """Whether ``text[at:end]``, of letters, marks and ignorable characters, has only these."""
    cdef Py_ssize_t step = 0
    while at < end:
        if entry_of(chars, char_at(text, at, end, &step)) & (NATIVE | FOREIGN | MARK):
            return False
        at += step
    return True


cdef inline void write_syllable(const Written* written, const Characters* chars, const Syllables* table,
                                const text_t* text, Py_ssize_t* place, Py_ssize_t length, uint32_t packed,
                                Walk* walk, Output* out) noexcept nogil:
    """A run of letters that is a syllable."""
    cdef Py_ssize_t at = place[0], end = run_end(chars, text, at, length, NATIVE | FOREIGN | TRANSPARENT), stop = at
    cdef uint32_t form = form_of_syllable(written, table, text, at, end, &stop)
    place[0] = end
    if form and all_ignorable(chars, text, stop, end):
        form += CASES * (walk.space >= 0)
        walk.space, walk.cluster = -1, out.count
        put(out, <int32_t>packed, form, at, end, walk.word)
        put_characters(out, text, stop, end, length, at, end, walk.word)
    else:
        put_space(out, walk)
        walk.cluster = out.count
        put_escaped(out, text, <int32_t>packed, at, end, length, end, walk.word)


cdef inline void write_alone(const Written* written, const Characters* chars, const text_t* text, Py_ssize_t* place,
                             Py_ssize_t step, Py_ssize_t length, uint32_t packed, Walk* walk,
                             Output* out) noexcept nogil:
    """A character of the fallback, or unknown, and the marks behind it."""
    cdef Py_ssize_t at = place[0], end = run_end(chars, text, at + step, length, TRANSPARENT), moved = 0
    cdef uint32_t char = char_at(text, at, length, &moved), form
    place[0] = end
    if packed == UNKNOWN:
        put_space(out, walk)
        walk.cluster = out.count
        put_character(out, char, at, end, walk.word)
    else:
        form = form_of(written, char)
        if entry_of(chars, char) & 255 != packed & 255:  # marks make it another symbol
            form = 0
        if form and walk.space >= 0:
            form += 1
            walk.space = -1
        put_space(out, walk)
        walk.cluster = out.count
        if form:
            put(out, <int32_t>packed, form, at, end, walk.word)
        else:
            put_escaped(out, text, <int32_t>packed, at, at + step, length, end, walk.word)
    put_characters(out, text, at + step, end, length, at, end, walk.word)


cdef inline void write_part(const Written* written, const Characters* chars, const Syllables* table,
                            const text_t* text, Py_ssize_t at, Py_ssize_t end, bint strict, Walk* walk,
                            Output* out) noexcept nogil:
    """``text[at:end]``, of which no run of letters or marks goes on behind ``end``, character by character."""
    cdef Py_ssize_t step = 0, stop
    cdef uint32_t char, entry, packed
    cdef State state
    cdef Output heard = out[0]
    heard.ids += out.count + (EXPANSION - 1) * (end - at)
    heard.spans = heard.words = NULL
    heard.count = 0
    state.word, state.gap, state.open = 0, False, walk.open
    encode_part(chars, table, text, at, end, strict, &state, &heard)
    out.invalid = heard.invalid
    walk.ids = heard.ids
    while at < end:
        char = char_at(text, at, end, &step)
        entry = entry_of(chars, char)
        if entry & SPACE:
            put_white(out, walk, char, at, at + step)
            at += step
            continue
        walk.word += walk.gap
        walk.gap = False
        if not entry & (NATIVE | FOREIGN) and entry & JOINER or (
            entry & TRANSPARENT and not walk.open and not entry & JAMO
        ):
            put_space(out, walk)
            put_character(out, char, at, at + step, walk.word)
            walk.open = walk.open and not entry & JOINER
            at += step
        elif entry & TRANSPARENT and walk.open:
            stop = run_end(chars, text, at, end, TRANSPARENT)
            put_marks(text, at, stop, end, walk, out)
            at = stop
        else:
            packed = <uint32_t>walk.ids[0]
            walk.ids += 1
            walk.open = True
            if entry & (NATIVE | FOREIGN) and is_syllable(packed):
                write_syllable(written, chars, table, text, &at, end, packed, walk, out)
            else:
                write_alone(written, chars, text, &at, step, end, packed, walk, out)


cdef inline void write_signs(const Written* written, const Characters* chars, const text_t* text, Py_ssize_t at,
                             Py_ssize_t end, bint ids_only, Walk* walk, Output* out) noexcept nogil:
    """``text[at:end]``, ASCII without letters: most often a space, or a sign and a space."""
    cdef uint32_t char, entry, form
    while at < end:
        char = <uint8_t>text[at]
        if char == 32 and walk.space < 0:
            walk.space, walk.gap, walk.open = at, True, False
            at += 1
            continue
        entry = chars.bmp[char]
        if entry & SPACE:
            put_white(out, walk, char, at, at + 1)
            at += 1
            continue
        walk.word += walk.gap
        walk.gap = False
        form = written.bmp[char]
        if form and not entry & JOINER:
            form += walk.space >= 0
            walk.space, walk.open, walk.cluster = -1, True, out.count
            put_known(out, <int32_t>((entry & 255) * UNKNOWN | form << FORM), at, at + 1, walk.word, ids_only)
        else:
            put_space(out, walk)
            walk.open, walk.cluster = not entry & JOINER, out.count
            put_character(out, char, at, at + 1, walk.word)
        at += 1


cdef inline bint write_word(const Written* written, const Characters* chars, const Syllables* table,
                            const text_t* text, Py_ssize_t start, Py_ssize_t end, bint strict, Walk* walk,
                            Output* out) noexcept nogil:
    """``text[start:end]`` where that is a run of letters without marks, all of which have forms; false where not.

    What is not remembered is most often no syllable, so the letters are written while they are read.
    """
    cdef Py_ssize_t at = start, step = 0, first = out.count, stop = 0
    cdef uint32_t char, entry, form, packed = 0, tones = 0, kinds = 0
    cdef int32_t word = walk.word + walk.gap
    cdef uint64_t key = 0
    while at < end:
        char = char_at(text, at, end, &step)
        entry = entry_of(chars, char)
        form = form_of(written, char)
        if not (entry & (NATIVE | FOREIGN) and form):
            out.count = first
            return False
        kinds |= entry
        key = key << 6 | (entry >> 8 & 63)
        tones += entry >> 24
        put(out, <int32_t>((entry & 255) * UNKNOWN), form, at, at + step, word)
        at += step
    if not kinds & FOREIGN and out.count - first <= KEY_LETTERS:
        packed = find_syllable(table, key, tones, strict)
    if packed:
        out.count = first
        form = form_of_syllable(written, table, text, start, end, &stop)
        if not form or stop != end:
            return False
        put(out, <int32_t>packed, form, start, end, word)
    if walk.space >= 0:
        out.ids[first] += CASES << FORM if packed else SPACED
    walk.word, walk.gap, walk.open, walk.space, walk.cluster = word, False, True, -1, out.count - 1
    return True


cdef inline void write_new(const Written* written, const Characters* chars, const Syllables* table, Memo* memo,
                           uint64_t low, uint64_t high, uint64_t width, const text_t* text, Py_ssize_t start,
                           Py_ssize_t end, Py_ssize_t length, bint strict, Walk* walk, Output* out) noexcept nogil:
    """``text[start:end]``, not remembered. It will be, if ``low`` is not 0, as a syllable whose form says all."""
    cdef Py_ssize_t count = out.count
    cdef uint64_t packed, space = (CASES << FORM) if walk.space >= 0 else 0
    cdef Remembered* cell
    cdef size_t place
    if not write_word(written, chars, table, text, start, end, strict, walk, out):
        write_part(written, chars, table, text, start, end, strict, walk, out)
    if low and out.count == count + 1 and is_letter(chars, text, start, length):
        packed = <uint32_t>out.ids[count]
        if is_syllable(packed & PACKED) and packed >> FORM != ESCAPED:
            place = place_of(low, high)
            if memo.cells[place].packed and not memo.cells[place ^ 1].packed:
                place ^= 1
            cell = &memo.cells[place]
            cell.low, cell.high, cell.packed = low, high, width << 32 | packed - space
            memo.learned += 1


cdef inline void write_letters(const Written* written, const Characters* chars, const Syllables* table, Memo* memo,
                               const text_t* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t length, bint strict,
                               bint ids_only, Walk* walk, Output* out) noexcept nogil:
    """``text[start:end]``, a maximal stretch of ASCII letters and units above ASCII: a remembered syllable, or more."""
    cdef uint64_t low = 0, high = 0
    cdef uint64_t width = 1 if text_t is utf8_t else 1 + sizeof(text_t)
    cdef Py_ssize_t bytes = (end - start) * sizeof(text_t)
    cdef size_t place = 0
    cdef const Remembered* found = NULL
    if bytes <= 16:
        phonemic_key(text + start, bytes, (length - start) * sizeof(text_t), &low, &high)
        place = place_of(low, high)
        if holds(&memo.cells[place], low, high, width):
            found = &memo.cells[place]
        elif holds(&memo.cells[place ^ 1], low, high, width):
            found = &memo.cells[place ^ 1]
    if unlikely(found == NULL):
        write_new(written, chars, table, memo, low, high, width, text, start, end, length, strict, walk, out)
        return
    walk.word += walk.gap
    walk.gap, walk.open, walk.cluster = False, True, out.count
    put_known(
        out, <int32_t>found.packed + ((CASES << FORM) if walk.space >= 0 else 0), start, end, walk.word, ids_only
    )
    walk.space = -1


cdef inline void write_pieces(const Written* written, const Characters* chars, const Syllables* table, Memo* memo,
                              const text_t* text, Py_ssize_t length, bint strict, bint ids_only,
                              Output* out) noexcept nogil:
    """The text cut at ASCII characters that are not letters, 64 units at a time."""
    cdef Walk walk
    cdef Output local = out[0]
    cdef uint64_t mask, edges, carry = 0
    cdef Py_ssize_t base = 0, start = 0, end = 0  # of the stretch of letters, and of the last one
    cdef bint inside = False
    begin_walk(&walk, NULL)
    while base < length:
        mask = letter_mask(text + base, min(64, length - base))
        edges = mask ^ (mask << 1 | carry)
        if length - base < 64:
            edges &= (<uint64_t>1 << (length - base)) - 1
        carry = mask >> 63
        while edges:
            if not inside:
                start = base + phonemic_lowest(edges)
                edges &= edges - 1
                if start > end:
                    write_signs(written, chars, text, end, start, ids_only, &walk, &local)
                inside = True
                if not edges:
                    break
            end = base + phonemic_lowest(edges)
            edges &= edges - 1
            write_letters(written, chars, table, memo, text, start, end, length, strict, ids_only, &walk, &local)
            inside = False
        base += 64
    if inside:
        write_letters(written, chars, table, memo, text, start, length, length, strict, ids_only, &walk, &local)
    elif end < length:
        write_signs(written, chars, text, end, length, ids_only, &walk, &local)
    put_space(&local, &walk)
    out.count, out.invalid = local.count, local.invalid


cdef inline void write_vietnamese(const Written* written, const Characters* chars, const Syllables* table, Memo* memo,
                                  const text_t* text, Py_ssize_t length, bint strict, Output* out) noexcept nogil:
    """A text; see ``encode_vietnamese`` for the memo."""
    cdef Walk walk
    if memo == NULL:
        begin_walk(&walk, NULL)
        write_part(written, chars, table, text, 0, length, strict, &walk, out)
        put_space(out, &walk)
    elif out.spans == NULL and out.words == NULL:
        write_pieces(written, chars, table, memo, text, length, strict, True, out)
    else:
        write_pieces(written, chars, table, memo, text, length, strict, False, out)

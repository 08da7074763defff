"""Vietnamese with forms: runs of letters that are syllables, and what each is written like."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from phonemic.native.mandarin cimport PACKED
from phonemic.native.text cimport UNKNOWN, Characters, Output, State, char_at, entry_of, text_t, unlikely, utf8_t
from phonemic.native.vietnamese cimport (
    FOREIGN, JAMO, JOINER, KEY_LETTERS, MARK, NATIVE, SPACE, SYLLABLE_HASH, TRANSPARENT, Memo, Remembered,
    Syllables, encode_part, find_syllable, holds, is_letter, letter_mask, phonemic_key, phonemic_lowest, place_of,
)
from phonemic.native.written cimport (
    CASES, DOT_BELOW, ESCAPED, EXPANSION, FORM, HAS_QUALITY, HORN, KIND, LETTER, LETTERS, NFC, NFD, NORMS,
    QUALITY_MARK, SPACED, SPELLINGS, TONE_APART, TONE_MARK, UPPER, Walk, Written, begin_walk, form_of, put,
    put_character, put_characters, put_escaped, put_known, put_marks, put_space, put_white, run_end,
)


cdef inline uint32_t letter_at(const Written* written, const text_t* text, Py_ssize_t at, Py_ssize_t length,
                               Py_ssize_t* step) noexcept nogil:
    """The entry of the letter or mark at ``at``; 0 behind the last one."""
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
    """The number of a spelling whose tone mark is on letter ``bearer`` (-1: none), from 1 on; 0 where no form
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
    """Whether it is neither a character of the fallback nor unknown."""
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
    """``text[at:end]``, of which no run of letters or marks continues behind ``end``, character by character."""
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

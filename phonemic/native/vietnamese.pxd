"""Vietnamese: runs of letters are looked up as whole spellings."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from phonemic.native.text cimport (
    UNKNOWN, Characters, Output, State, char_at, check, emit, entry_of, extend_last, new_word, pack_from,
    text_t, unlikely, utf8_t,
)

cdef extern from *:
    """
    #define PHONEMIC_SYLLABLE_HASH 0x9E3779B97F4A7C15ull
    """
    const uint64_t SYLLABLE_HASH "PHONEMIC_SYLLABLE_HASH"

cdef extern from "letters.h":
    uint64_t phonemic_mask8(const uint8_t* units, size_t count) noexcept nogil
    uint64_t phonemic_mask16(const uint16_t* units, size_t count) noexcept nogil
    uint64_t phonemic_mask32(const uint32_t* units, size_t count) noexcept nogil
    int phonemic_lowest(uint64_t bits) noexcept nogil
    void phonemic_key(const void* start, size_t size, size_t readable, uint64_t* low, uint64_t* high) noexcept nogil

# Layout of the entries: entries.py.
cdef enum:
    NATIVE = 1 << 16
    FOREIGN = 1 << 17
    TRANSPARENT = 1 << 18
    SPACE = 1 << 19
    MARK = 3 << 20
    OTHER_MARK = 1 << 20
    TONE_MARK = 2 << 20
    QUALITY_MARK = 3 << 20
    JOINER = 1 << 22  # with none of the flags above
    JAMO = 1 << 23
    PACKS = 1 << 31  # with none of the flags above
    ONE_TONE = 32
    TOO_MANY_TONES = 2 * ONE_TONE
    IRREGULAR = 1 << 16
    STOP_CODA = 2 << 16
    TONES = 6
    KEY_LETTERS = 7  # that a cell of the table has room for
    SAC = 2
    NANG = 5


cdef struct Syllables:
    const uint64_t* cells
    uint64_t mask
    int shift
    const uint8_t* tone_symbols
    const uint8_t* compose
    const uint8_t* compose_fallback
    const uint8_t* letter_symbols
    const uint8_t* vowels
    const uint8_t* classes  # NULL unless the fallback is packed


cdef inline uint32_t find_syllable(const Syllables* table, uint64_t key, uint32_t tones, bint strict) noexcept nogil:
    """The packed syllable of a spelling (6 bits a letter) and the sum of its tone values; 0 where it is none."""
    cdef uint32_t tone = 0, value
    cdef uint64_t slot, cell
    if tones:
        tone = tones - ONE_TONE
        if tone >= TONES:
            return 0
    slot = key * SYLLABLE_HASH >> table.shift
    while True:
        cell = table.cells[slot]
        if cell >> 22 == key:
            break
        if cell == 0:
            return 0
        slot = (slot + 1) & table.mask
    value = <uint32_t>cell
    if strict and (value & IRREGULAR or (value & STOP_CODA and tone != SAC and tone != NANG)):
        return 0
    return (value & 0xFFFF) | <uint32_t>table.tone_symbols[tone] << 16


cdef inline void add_mark(const Syllables* table, uint32_t entry, uint64_t* key, uint32_t* tones,
                          bint* foreign) noexcept nogil:
    """A combining mark (or an ignorable character) behind the last letter of a run."""
    cdef uint32_t kind = entry & MARK, letter = <uint32_t>(key[0] & 63), made
    if kind == 0:
        return
    if kind == TONE_MARK and table.vowels[letter]:
        if tones[0] < TOO_MANY_TONES:  # marks without end would wrap the sum
            tones[0] += entry >> 24
        return
    if kind == QUALITY_MARK:
        made = table.compose[(entry >> 8 & 63) * 64 + letter]
        if made:
            key[0] ^= letter ^ made
            return
    foreign[0] = True


cdef inline void spell_out(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t start,
                           Py_ssize_t end, int32_t word, Output* out) noexcept nogil:
    """A run of letters that is not a syllable: one position a letter."""
    cdef Py_ssize_t at = start, begin = start, step = 0
    cdef uint32_t entry, symbol = 0, letter = 0, made
    while at < end:
        entry = entry_of(chars, char_at(text, at, end, &step))
        if not entry & TRANSPARENT:
            if at > start:
                emit(out, <int32_t>(symbol * UNKNOWN), begin, at, word)
            begin, symbol, letter = at, entry & 255, entry >> 8 & 63
        elif entry & MARK == QUALITY_MARK:
            made = table.compose_fallback[(entry >> 8 & 63) * 64 + letter]
            if made:
                letter, symbol = made, table.letter_symbols[made]
        at += step
    emit(out, <int32_t>(symbol * UNKNOWN), begin, end, word)


cdef inline void spell_packed(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t start,
                              Py_ssize_t end, const State* state, Output* out) noexcept nogil:
    """The same of the packed fallback: up to three letters a position."""
    cdef Py_ssize_t first = out.count
    spell_out(chars, table, text, start, end, state.word, out)
    pack_from(out, table.classes, first, state.open)


cdef inline void read_run(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t* place,
                          Py_ssize_t end, bint strict, State* state, Output* out) noexcept nogil:
    """A maximal run of letters that begins at ``place``, which becomes where it ends."""
    cdef Py_ssize_t at = place[0], step = 0
    cdef uint32_t entry, packed, tones = 0
    cdef uint64_t key = 0
    cdef bint foreign = False
    while at < end:
        entry = entry_of(chars, char_at(text, at, end, &step))
        if entry & NATIVE:
            key = key << 6 | (entry >> 8 & 63)
            tones += entry >> 24
        elif entry & TRANSPARENT:
            add_mark(table, entry, &key, &tones, &foreign)
        elif entry & FOREIGN:
            foreign = True
        else:
            break
        at += step
    packed = 0 if foreign else find_syllable(table, key, tones, strict)
    if packed:
        emit(out, <int32_t>packed, place[0], at, state.word)
    elif unlikely(table.classes != NULL):
        spell_packed(chars, table, text, place[0], at, state, out)
    else:
        spell_out(chars, table, text, place[0], at, state.word, out)
    state.open = True
    place[0] = at


cdef inline bint emit_packed(const Syllables* table, uint32_t entry, Py_ssize_t start, Py_ssize_t end,
                             const State* state, Output* out) noexcept nogil:
    """A digit, or a sign that stands for a letter, of the packed fallback; always true."""
    emit(out, <int32_t>((entry & 255) * UNKNOWN), start, end, state.word)
    pack_from(out, table.classes, out.count - 1, state.open)
    return True


cdef inline void encode_part(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t at,
                             Py_ssize_t end, bint strict, State* state, Output* out) noexcept nogil:
    """``text[at:end]``, character by character."""
    cdef Py_ssize_t step = 0
    cdef uint32_t char, entry
    while at < end:
        char = char_at(text, at, end, &step)
        entry = entry_of(chars, char)
        if entry & SPACE:
            state.gap, state.open = True, False
            at += step
            continue
        new_word(state)
        if entry & (NATIVE | FOREIGN):
            read_run(chars, table, text, &at, end, strict, state, out)
            continue
        if entry & TRANSPARENT and (state.open or not entry & JAMO):
            if state.open:
                extend_last(out, at + step)
        elif unlikely(entry & (JOINER | PACKS)):
            state.open = entry & PACKS != 0 and emit_packed(table, entry, at, at + step, state, out)
        else:
            check(text, char, at, out)
            emit(out, <int32_t>((entry & 255) * UNKNOWN), at, at + step, state.word)
            state.open = True
        at += step


cdef inline bint read_word(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t start,
                           Py_ssize_t end, bint strict, bint ids_only, State* state, Output* out) noexcept nogil:
    """``text[start:end]`` where that is a run of letters without combining marks; false where it is not, or is packed.

    What is not remembered is most often no syllable, so the letters are written while they are read.
    """
    cdef Py_ssize_t at = start, step = 1, first = out.count
    cdef uint32_t entry, packed = 0, tones = 0, kinds = 0
    cdef uint64_t key = 0
    cdef int32_t word = state.word + state.gap
    if table.classes != NULL:
        return False
    while at < end:
        if text_t is utf8_t and text[at] >= 0:  # ASCII, without a call
            entry, step = chars.bmp[text[at]], 1
        else:
            entry = entry_of(chars, char_at(text, at, end, &step))
        if not entry & (NATIVE | FOREIGN):
            out.count = first
            return False
        kinds |= entry
        key = key << 6 | (entry >> 8 & 63)
        tones += entry >> 24
        if ids_only:
            out.ids[out.count] = <int32_t>((entry & 255) * UNKNOWN)
            out.count += 1
        else:
            emit(out, <int32_t>((entry & 255) * UNKNOWN), at, at + step, word)
        at += step
    if not kinds & FOREIGN and out.count - first <= KEY_LETTERS:
        packed = find_syllable(table, key, tones, strict)
    if packed:
        out.count = first
        emit(out, <int32_t>packed, start, end, word)
    state.word, state.gap, state.open = word, False, True
    return True


# One remembered run of letters: its code units as they stand in the text (at most 16 bytes), and its syllable.
cdef struct Remembered:
    uint64_t low
    uint64_t high
    uint64_t packed  # the syllable | 1 + bytes a unit (1: UTF-8) << 32; 0 where nothing is remembered


cdef enum:
    MEMO_BITS = 14


cdef struct Memo:
    Remembered[1 << MEMO_BITS] cells
    uint64_t learned  # how often something was put into a cell


cdef inline size_t place_of(uint64_t low, uint64_t high) noexcept nogil:
    """Which cell is a run's. Where another run has that already, the one next to it, ``place ^ 1``, is."""
    return (low ^ high * <uint64_t>0xD6E8FEB86659FD93) * SYLLABLE_HASH >> (64 - MEMO_BITS)


cdef inline bint holds(const Remembered* cell, uint64_t low, uint64_t high, uint64_t width) noexcept nogil:
    return cell.low == low and cell.high == high and cell.packed >> 32 == width


cdef inline void learn(const Characters* chars, const Syllables* table, Memo* memo, uint64_t low, uint64_t high,
                       uint64_t width, const text_t* text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t length,
                       bint strict, bint ids_only, State* state, Output* out) noexcept nogil:
    """``text[start:end]``, not remembered. It will be, if it is a syllable of at most 16 bytes; else ``low`` is 0."""
    cdef Py_ssize_t count = out.count
    cdef Remembered* cell
    cdef size_t place
    if not low or not read_word(chars, table, text, start, end, strict, ids_only, state, out):
        encode_part(chars, table, text, start, end, strict, state, out)
    # Remembered where it is one run of letters and nothing else, and one position that is not a single character.
    # Behind white space or a joiner, which may stand here too, no mark would belong to that position: it is not open.
    if low and out.count == count + 1 and state.open:
        if out.ids[count] & 255 != out.ids[count] >> 16 and is_letter(chars, text, start, length):
            place = place_of(low, high)
            if memo.cells[place].packed and not memo.cells[place ^ 1].packed:
                place ^= 1
            cell = &memo.cells[place]
            cell.low, cell.high, cell.packed = low, high, width << 32 | <uint32_t>out.ids[count]
            memo.learned += 1


cdef inline void encode_letters(const Characters* chars, const Syllables* table, Memo* memo, const text_t* text,
                                Py_ssize_t start, Py_ssize_t end, Py_ssize_t length, bint strict, bint ids_only,
                                State* state, Output* out) noexcept nogil:
    """``text[start:end]``, a maximal stretch of ASCII letters and units above ASCII: a remembered syllable, or more."""
    cdef uint64_t low = 0, high = 0
    cdef uint64_t width = 1 if text_t is utf8_t else 1 + sizeof(text_t)
    cdef Py_ssize_t bytes = (end - start) * sizeof(text_t)
    cdef size_t place
    cdef const Remembered* found = NULL
    if bytes <= 16:
        phonemic_key(text + start, bytes, (length - start) * sizeof(text_t), &low, &high)
        place = place_of(low, high)
        if holds(&memo.cells[place], low, high, width):
            found = &memo.cells[place]
        elif holds(&memo.cells[place ^ 1], low, high, width):
            found = &memo.cells[place ^ 1]
    if unlikely(found == NULL):
        learn(chars, table, memo, low, high, width, text, start, end, length, strict, ids_only, state, out)
        return
    state.open = True
    if ids_only:
        out.ids[out.count] = <int32_t>found.packed
        out.count += 1
    else:
        new_word(state)
        emit(out, <int32_t>found.packed, start, end, state.word)


cdef inline void encode_others(const Characters* chars, const Syllables* table, const text_t* text, Py_ssize_t start,
                               Py_ssize_t end, bint strict, bint ids_only, State* state,
                               Output* out) noexcept nogil:
    """``text[start:end]``, a stretch between two such, all ASCII: most often a space, or a sign and a space."""
    cdef uint32_t entry = 0
    if text[end - 1] == 32 and end - start <= 2:
        if end - start == 2:
            entry = chars.bmp[<uint8_t>text[start]]
        if not entry & (NATIVE | FOREIGN | TRANSPARENT | SPACE | JOINER | PACKS):
            if end - start == 2:
                new_word(state)
                emit(out, <int32_t>((entry & 255) * UNKNOWN), start, start + 1, state.word)
            state.gap, state.open = True, False
            return
    if unlikely(not read_signs(chars, text, start, end, ids_only, state, out)):
        encode_part(chars, table, text, start, end, strict, state, out)


cdef inline bint read_signs(const Characters* chars, const text_t* text, Py_ssize_t start, Py_ssize_t end,
                            bint ids_only, State* state, Output* out) noexcept nogil:
    """``text[start:end]``, all ASCII, where it is signs, digits and white space; false where there is anything else.

    What comes after what cannot be foreseen, so that no branch depends on it: white space is written, too, and then
    written over.
    """
    cdef Py_ssize_t at, count = out.count
    cdef uint32_t entry, kinds = 0
    cdef int32_t word = state.word
    cdef bint space = state.gap
    for at in range(start, end):
        entry = chars.bmp[<uint8_t>text[at]]
        kinds |= entry
        out.ids[count] = <int32_t>((entry & 255) * UNKNOWN)
        if not ids_only:
            word += space and not entry & SPACE
            if out.spans != NULL:
                out.spans[2 * count] = <int32_t>at
                out.spans[2 * count + 1] = <int32_t>at + 1
            if out.words != NULL:
                out.words[count] = word
        space = entry & SPACE != 0
        count += not space
    if kinds & (NATIVE | FOREIGN | TRANSPARENT | JOINER | PACKS):
        return False
    out.count, state.word, state.gap, state.open = count, word, space, not space
    return True


cdef inline bint is_letter(const Characters* chars, const text_t* text, Py_ssize_t at,
                           Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t step = 0
    return entry_of(chars, char_at(text, at, length, &step)) & (NATIVE | FOREIGN) != 0


cdef inline uint64_t letter_mask(const text_t* text, Py_ssize_t count) noexcept nogil:
    if text_t is uint16_t:
        return phonemic_mask16(text, count)
    elif text_t is uint32_t:
        return phonemic_mask32(text, count)
    else:
        return phonemic_mask8(<const uint8_t*>text, count)


cdef inline void encode_pieces(const Characters* chars, const Syllables* table, Memo* memo, const text_t* text,
                               Py_ssize_t length, bint strict, bint ids_only, Output* out) noexcept nogil:
    """The text cut at ASCII characters that are not letters, 64 units at a time."""
    cdef State state
    cdef Output local = out[0]
    cdef uint64_t mask, edges, carry = 0
    cdef Py_ssize_t base = 0, start = 0, end = 0  # of the stretch of letters, and of the last one
    cdef bint inside = False
    state.word, state.gap, state.open = -1, True, False
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
                    encode_others(chars, table, text, end, start, strict, ids_only, &state, &local)
                inside = True
                if not edges:
                    break
            end = base + phonemic_lowest(edges)
            edges &= edges - 1
            encode_letters(chars, table, memo, text, start, end, length, strict, ids_only, &state, &local)
            inside = False
        base += 64
    if inside:
        encode_letters(chars, table, memo, text, start, length, length, strict, ids_only, &state, &local)
    elif end < length:
        encode_others(chars, table, text, end, length, strict, ids_only, &state, &local)
    out.count, out.invalid = local.count, local.invalid


cdef inline void encode_vietnamese(const Characters* chars, const Syllables* table, Memo* memo,
                                   const text_t* text, Py_ssize_t length, bint strict, Output* out) noexcept nogil:
    """Encodes a text; ``memo`` is the caller's own, or NULL where it would not pay to have one.

    With one, the text is cut at ASCII characters that are not letters, and each piece is looked up as it is. That
    is exact: such characters end every run, and only whole syllables are remembered.
    """
    cdef State state
    if memo == NULL:
        state.word, state.gap, state.open = -1, True, False
        encode_part(chars, table, text, 0, length, strict, &state, out)
    elif out.spans == NULL and out.words == NULL:
        encode_pieces(chars, table, memo, text, length, strict, True, out)
    else:
        encode_pieces(chars, table, memo, text, length, strict, False, out)

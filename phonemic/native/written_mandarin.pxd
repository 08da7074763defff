"""Mandarin with forms: most often characters that are read as they are alone."""

from libc.stdint cimport int32_t, uint32_t

from phonemic.native.mandarin cimport (
    CHANGING_PAIRS, INNER, PACKED, SPECIAL, ZH_EXACT, ZH_HAN, ZH_JAMO, ZH_JOINER, ZH_SPACE, ZH_TRANSPARENT, Match,
    Readings, begins_changing, char_before, in_set, read_phrases, write_along,
)
from phonemic.native.text cimport UNKNOWN, Characters, Output, char_at, check, entry_of, text_t, unlikely
from phonemic.native.written cimport (
    EXPANSION, FORM, SPACED, Walk, Written, begin_walk, form_of, put, put_character, put_characters, put_escaped,
    put_marks, put_space, put_white, run_end,
)


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
    """Characters that have a form, up to one that needs more; returns the place of that one."""
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
    """From where on ``read_phrases`` will read; of ``count`` positions, the ones that it will rewrite are removed."""
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

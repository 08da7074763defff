/* mandarin TEXT CHARACTERS PHRASES: the least work for Mandarin, longest match left to right over a phrase table.

   all-ucs2, all-utf8: every phrase. pruned-ucs2, pruned-utf8: only those that change a reading, which is not equal to
   longest match over all of them, since a phrase that changes nothing can keep another from being found.
   CHARACTERS has a line "code point<TAB>packed id" a character; PHRASES a line "phrase<TAB>0 or 1<TAB>packed ids", 1 where
   the phrase changes a reading. The phrases lie in a double array. */
#include "limit.h"

enum { UNITS = 0x10000, LINE = 1 << 16, CODE = 24, BASE = 37, PAIR_BITS = 18 };

static Buffer text;
static Ucs2 wide;

typedef struct {
    const uint16_t *codes;
    uint32_t length, readings;  /* where its readings begin in the pool */
} Phrase;

typedef struct {
    uint32_t base;  /* state of the child by code c: base / 2 + c; bit 0: a phrase ends here. 0 or 1: no children */
    uint32_t parent;
} State;

typedef struct {
    /* By character: its id; from bit CODE its code, 0 where it is in no phrase; from bit BASE the base of the phrases that
       begin with it, 0 where none does. */
    uint64_t entries[UNITS];
    uint64_t pairs[1 << PAIR_BITS >> 6];  /* a set of the phrases' first two characters, with some others */
    State *states;
    uint32_t *readings;  /* by state: where the readings of the phrase that ends there begin in the pool */
    uint8_t *pool;       /* three bytes a character */
    size_t room, first_free;
} Trie;

static Trie *all, *pruned;

/* ---- The work ---- */

static inline uint32_t code_of(uint64_t entry) {
    return entry >> CODE & 0x1FFF;
}

static inline uint32_t pair_of(uint32_t first, uint32_t second) {
    return (first * 0x9E3779B1u ^ second * 0x85EBCA6Bu) >> (32 - PAIR_BITS);
}

/* With ``by_pair`` the trie is entered only where a set of pairs says that a phrase may begin: worth it where few do. */
static inline uint8_t *longest_match(
    const Trie *trie, int by_pair, const uint16_t *at, const uint16_t *end, uint8_t *out) {
    const uint64_t *entries = trie->entries;
    const State *states = trie->states;
    uint32_t root = states[0].base >> 1;
    while (at < end) {
        uint64_t entry = entries[*at];
        uint32_t base = (uint32_t)(entry >> BASE), state = root + code_of(entry), found = 0, code;
        const uint16_t *next = at + 1, *behind = next;
        if (by_pair) {
            uint32_t pair = pair_of(code_of(entry), code_of(entries[*next]));
            if (!(trie->pairs[pair >> 6] >> (pair & 63) & 1))
                base = 0;
        }
        while (base && (code = code_of(entries[*next]))) {
            State child = states[base + code];
            if (child.parent != state)
                break;
            state = base + code;
            next++;
            if (child.base & 1) {
                found = state;
                behind = next;
            }
            base = child.base >> 1;
        }
        if (!found) {
            uint32_t id = (uint32_t)entry;  /* the fourth byte is overwritten next */
            memcpy(out, &id, 4);
            out += 3;
            at++;
            continue;
        }
        const uint8_t *readings = trie->pool + trie->readings[found];
        size_t size = 3 * (size_t)(behind - at);
        memcpy(out, readings, 16);
        if (size > 16)
            memcpy(out + 16, readings + 16, size - 16);
        out += size;
        at = behind;
    }
    return out;
}

/* Line by line: decoded into a small buffer, then read there. */
static inline uint8_t *by_line(const Trie *trie, int by_pair, uint8_t *out) {
    static uint16_t line[LINE + SLACK];
    const uint8_t *at = text.bytes, *end = at + text.size;
    while (at < end) {
        size_t length = 0;
        uint32_t point = 0;
        while (at < end && point != '\n' && length < LINE) {
            point = decode(&at);
            line[length++] = (uint16_t)point;
        }
        line[length] = 0;
        out = longest_match(trie, by_pair, line, line + length, out);
    }
    return out;
}

static uint8_t *all_ucs2(uint8_t *out) {
    return longest_match(all, 0, wide.units, wide.units + wide.length, out);
}

static uint8_t *all_utf8(uint8_t *out) {
    return by_line(all, 0, out);
}

static uint8_t *pruned_ucs2(uint8_t *out) {
    return longest_match(pruned, 1, wide.units, wide.units + wide.length, out);
}

static uint8_t *pruned_utf8(uint8_t *out) {
    return by_line(pruned, 1, out);
}

/* ---- Its tables ---- */

static int in_order(const void *one, const void *other) {
    const Phrase *a = one, *b = other;
    for (uint32_t at = 0; at < a->length && at < b->length; at++)
        if (a->codes[at] != b->codes[at])
            return a->codes[at] < b->codes[at] ? -1 : 1;
    return (a->length > b->length) - (a->length < b->length);
}

static void make_room(Trie *trie, size_t states) {
    if (states <= trie->room)
        return;
    size_t room = 2 * states;
    trie->states = realloc(trie->states, room * sizeof *trie->states);
    trie->readings = realloc(trie->readings, room * sizeof *trie->readings);
    for (size_t at = trie->room; at < room; at++)
        trie->states[at] = (State){0, UINT32_MAX};  /* free: nobody's child */
    trie->room = room;
}

/* The first base at which the states of all these children are free. */
static size_t free_base(Trie *trie, const uint16_t *children, size_t count) {
    size_t at = trie->first_free, tried = 0;
    for (;; at++) {
        make_room(trie, at + UNITS);
        if (trie->states[at].parent != UINT32_MAX || at <= children[0])
            continue;
        size_t base = at - children[0], child = 1;
        while (child < count && trie->states[base + children[child]].parent == UINT32_MAX)
            child++;
        if (child == count) {
            if (tried > 256)  /* what lies before is nearly full */
                trie->first_free = at;
            return base;
        }
        tried++;
    }
}

/* Places the children of a state: phrases, sorted, that share their first ``depth`` codes. */
static void place(Trie *trie, const Phrase *phrases, size_t count, uint32_t depth, uint32_t state) {
    uint16_t *children = malloc((count + 1) * sizeof *children);
    size_t distinct = 0, start = 0;
    if (count && phrases[0].length == depth) {
        trie->states[state].base |= 1;
        trie->readings[state] = phrases[0].readings;
        start = 1;
    }
    for (size_t at = start; at < count; at++)
        if (!distinct || children[distinct - 1] != phrases[at].codes[depth])
            children[distinct++] = phrases[at].codes[depth];
    if (distinct) {
        size_t base = free_base(trie, children, distinct);
        trie->states[state].base |= (uint32_t)base << 1;
        for (size_t child = 0; child < distinct; child++)
            trie->states[base + children[child]].parent = state;
        for (size_t from = start, to; from < count; from = to) {
            uint16_t code = phrases[from].codes[depth];
            for (to = from; to < count && phrases[to].codes[depth] == code;)
                to++;
            place(trie, phrases + from, to - from, depth + 1, (uint32_t)base + code);
        }
    }
    free(children);
}

static void learn_characters(Trie *trie, const char *path) {
    Buffer file = read_file(path);
    char *at = (char *)file.bytes;
    while (*at) {
        unsigned long unit = strtoul(at, &at, 10), id = strtoul(at, &at, 10);
        if (unit < UNITS)
            trie->entries[unit] |= id;
        at += *at == '\n';
    }
}

static void learn_phrases(Trie *trie, const char *path, int only_changing) {
    Buffer file = read_file(path);
    uint16_t *codes = malloc(file.size * sizeof *codes);
    uint64_t next_code = 1;
    Phrase *phrases = malloc(file.size / 4 * sizeof *phrases);
    size_t count = 0, pooled = 0;
    trie->pool = malloc(file.size + SLACK);
    char *at = (char *)file.bytes;
    while (*at) {
        Phrase phrase = {codes, 0, (uint32_t)pooled};
        char *tab = strchr(at, '\t'), *line_end = strchr(at, '\n');
        if (only_changing && tab[1] == '0') {
            at = line_end + 1;
            continue;
        }
        for (const uint8_t *next = (const uint8_t *)at; next < (const uint8_t *)tab;) {
            uint16_t unit = (uint16_t)decode(&next);
            if (!code_of(trie->entries[unit]))
                trie->entries[unit] |= next_code++ << CODE;
            *codes++ = (uint16_t)code_of(trie->entries[unit]);
            phrase.length++;
        }
        for (at = tab + 2; at < line_end; pooled += 3) {
            uint32_t id = (uint32_t)strtoul(at, &at, 10);
            memcpy(trie->pool + pooled, &id, 4);
        }
        uint32_t pair = pair_of(phrase.codes[0], phrase.codes[1]);
        trie->pairs[pair >> 6] |= (uint64_t)1 << (pair & 63);
        phrases[count++] = phrase;
        at = line_end + 1;
    }
    qsort(phrases, count, sizeof *phrases, in_order);
    trie->first_free = 1;
    make_room(trie, 2);
    trie->states[0].parent = UINT32_MAX - 1;  /* the root: taken, and nobody's child */
    place(trie, phrases, count, 0, 0);
    free(phrases);
    for (size_t unit = 0; unit < UNITS; unit++) {
        uint32_t code = code_of(trie->entries[unit]), state = (trie->states[0].base >> 1) + code;
        if (code && trie->states[state].parent == 0)
            trie->entries[unit] |= (uint64_t)(trie->states[state].base >> 1) << BASE;
    }
}

int main(int argc, char **argv) {
    const Limit limits[] = {
        {"all-ucs2", all_ucs2}, {"all-utf8", all_utf8}, {"pruned-ucs2", pruned_ucs2}, {"pruned-utf8", pruned_utf8}};
    if (argc != 4)
        return fprintf(stderr, "usage: mandarin TEXT CHARACTERS PHRASES\n"), 2;
    text = read_file(argv[1]);
    wide = to_ucs2(text);
    all = zeros(sizeof *all);
    pruned = zeros(sizeof *pruned);
    learn_characters(all, argv[2]);
    learn_characters(pruned, argv[2]);
    learn_phrases(all, argv[3], 0);
    learn_phrases(pruned, argv[3], 1);
    return serve(limits, sizeof limits / sizeof *limits, 3 * text.size);
}

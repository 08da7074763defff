/* vietnamese TEXT LETTERS RUNS: the least work for Vietnamese, one look-up a run of letters.

   E: CPython's UCS-2 buffer; a run's letters are packed into 64 bits, 8 a letter, which is the key.
   F: UTF-8 as it is; vector instructions find the runs and a run's bytes, at most 16, are the key.
   LETTERS has a line "code point<TAB>code 1 to 255" a letter, both cases alike. RUNS has every run of the text as F sees
   it (bytes), a tab, its packed id, and 1 where it is also a run of letters only, as E sees it. */
#include "limit.h"

enum { BITS = 17, CELLS = 1 << BITS, LETTERS = 0x3000, UNKNOWN = 0x010101 };

static Buffer text;
static Ucs2 wide;
static uint8_t codes[LETTERS];

static inline uint8_t *write_id(uint8_t *out, uint32_t id) {
    memcpy(out, &id, 4);
    return out + 3;
}

static inline uint8_t *write_mark(uint8_t *out, uint32_t mark) {
    return write_id(out, (mark & 0xFF) * 0x010101u);
}

/* ---- E ---- */

typedef struct {
    uint64_t key;  /* 0: empty */
    uint32_t id;
} Cell;

static Cell *cells;

static inline uint64_t key_of(uint64_t letters) {
    letters *= 0x9E3779B97F4A7C15u;
    return (letters ^ letters >> 29) | 1;
}

static inline Cell *cell_of(uint64_t key) {
    uint64_t at = key >> (64 - BITS);
    while (cells[at].key != key && cells[at].key)
        at = (at + 1) % CELLS;
    return cells + at;
}

static uint8_t *limit_e(uint8_t *out) {
    const uint16_t *at = wide.units, *end = at + wide.length;
    uint64_t letters = 0;
    for (; at <= end; at++) {  /* the unit behind the end is 0, which ends the last run */
        uint32_t unit = *at;
        uint8_t code;
        if (unit < LETTERS && (code = codes[unit])) {
            letters = letters << 8 | code;
            continue;
        }
        if (letters) {
            out = write_id(out, cell_of(key_of(letters))->id);
            letters = 0;
        }
        if (unit > ' ')
            out = write_mark(out, unit);
    }
    return out;
}

static void learn_letters(const char *path) {
    Buffer file = read_file(path);
    char *at = (char *)file.bytes;
    while (*at) {
        unsigned long point = strtoul(at, &at, 10), code = strtoul(at, &at, 10);
        if (point < LETTERS)
            codes[point] = (uint8_t)code;
        at += *at == '\n';
    }
}

static void learn_e(const uint8_t *run, const uint8_t *end, uint32_t id) {
    uint64_t letters = 0;
    while (run < end)
        letters = letters << 8 | codes[decode(&run) % LETTERS];
    Cell *cell = cell_of(key_of(letters));
    if (!cell->key) {
        cell->key = key_of(letters);
        cell->id = id;
    }
}

/* ---- F ---- */

#ifdef __SSE2__
#include <immintrin.h>

typedef struct {
    __m128i key;  /* zeros: empty */
    uint32_t id;
} WideCell;

static WideCell *wide_cells;
static const uint8_t keep[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

static inline int same(__m128i one, __m128i other) {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) == 0xFFFF;
}

/* The first ``length`` bytes, at most 16, and zeros. */
static inline __m128i load_key(const uint8_t *run, size_t length) {
    __m128i mask = _mm_loadu_si128((const __m128i *)(keep + 16 - length));
    return _mm_and_si128(_mm_loadu_si128((const __m128i *)run), mask);
}

static inline WideCell *wide_cell_of(__m128i key) {
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(key), high = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(key, key));
    uint64_t at = ((low ^ high * 0xD6E8FEB86659FD93u) * 0x9E3779B97F4A7C15u) >> (64 - BITS);
    while (!same(wide_cells[at].key, key) && !same(wide_cells[at].key, _mm_setzero_si128()))
        at = (at + 1) % CELLS;
    return wide_cells + at;
}

/* One bit for each of 64 bytes: an ASCII letter, or a byte of anything beyond ASCII. */
static inline uint64_t letters_of(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int part = 0; part < 4; part++) {
        __m128i block = _mm_loadu_si128((const __m128i *)(bytes + 16 * part));
        __m128i lower = _mm_or_si128(block, _mm_set1_epi8(0x20));
        __m128i moved = _mm_add_epi8(lower, _mm_set1_epi8((char)(0x80 - 'a')));  /* a to z: the 26 lowest, signed */
        __m128i ascii = _mm_cmplt_epi8(moved, _mm_set1_epi8(-0x80 + 26));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(ascii, block)) << 16 * part;
    }
    return bits;
}

static uint8_t *limit_f(uint8_t *out) {
    uint64_t before = 0;  /* whether the byte before the block is a letter */
    size_t start = 0;
    for (size_t block = 0; block <= text.size; block += 64) {
        uint64_t letters = letters_of(text.bytes + block);
        uint64_t edges = letters ^ (letters << 1 | before);
        before = letters >> 63;
        for (; edges; edges &= edges - 1) {
            int bit = __builtin_ctzll(edges);
            if (letters >> bit & 1) {
                start = block + (size_t)bit;
                continue;
            }
            size_t length = block + (size_t)bit - start;
            out = write_id(out, length > 16 ? UNKNOWN : wide_cell_of(load_key(text.bytes + start, length))->id);
        }
    }
    return out;
}

static void learn_f(const uint8_t *run, size_t length, uint32_t id) {
    if (length <= 16) {
        WideCell *cell = wide_cell_of(load_key(run, length));
        cell->key = load_key(run, length);
        cell->id = id;
    }
}
#endif

static void learn_runs(const char *path) {
    Buffer file = read_file(path);
    const uint8_t *at = file.bytes;
    for (size_t count = 0; *at; count++) {
        const uint8_t *run = at, *tab = (const uint8_t *)strchr((const char *)at, '\t');
        char *rest;
        uint32_t id = (uint32_t)strtoul((const char *)tab, &rest, 10);
        if (count >= CELLS / 2) {
            fprintf(stderr, "%s: more than %d runs\n", path, CELLS / 2);
            exit(1);
        }
        if (strtoul(rest, &rest, 10))
            learn_e(run, tab, id);
#ifdef __SSE2__
        learn_f(run, (size_t)(tab - run), id);
#endif
        at = (const uint8_t *)rest + 1;
    }
}

int main(int argc, char **argv) {
    const Limit limits[] = {
        {"E", limit_e},
#ifdef __SSE2__
        {"F", limit_f},
#endif
    };
    if (argc != 4)
        return fprintf(stderr, "usage: vietnamese TEXT LETTERS RUNS\n"), 2;
    text = read_file(argv[1]);
    wide = to_ucs2(text);
    cells = zeros(CELLS * sizeof *cells);
#ifdef __SSE2__
    wide_cells = zeros(CELLS * sizeof *wide_cells);
#endif
    learn_letters(argv[2]);
    learn_runs(argv[3]);
    return serve(limits, sizeof limits / sizeof *limits, 3 * text.size);
}

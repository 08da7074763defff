/* What the least-work programs share: reading files, decoding UTF-8, timing, and the loop that runs a limit by its name.

   A limit reads the text and writes three bytes a position (onset, rime, tone) into memory that is there already. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SLACK = 128 };  /* zero bytes behind each buffer, so that loads may run over its end */

typedef struct {
    uint8_t *bytes;
    size_t size;
} Buffer;

typedef struct {
    uint16_t *units;  /* as CPython keeps such a str; what needs more than 16 bits is U+FFFD */
    size_t length;
} Ucs2;

typedef struct {
    const char *name;
    uint8_t *(*run)(uint8_t *out);  /* returns the end of what it wrote */
} Limit;

/* Zeros, on large pages where the system has them: small ones would make a limit slow by chance. */
static inline void *zeros(size_t size) {
    enum { LARGE = 1 << 21 };
    size_t room = (size + LARGE - 1) / LARGE * LARGE;
    void *memory = aligned_alloc(LARGE, room);
    if (!memory) {
        perror("out of memory");
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    madvise(memory, room, MADV_HUGEPAGE);
#endif
    return memset(memory, 0, room);
}

static inline Buffer read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    Buffer text = {0};
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    text.size = (size_t)ftell(file);
    text.bytes = zeros(text.size + SLACK);
    rewind(file);
    if (fread(text.bytes, 1, text.size, file) != text.size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

/* The code point at *at, which moves behind it. The text is trusted to be UTF-8. */
static inline uint32_t decode(const uint8_t **at) {
    const uint8_t *p = *at;
    if (p[0] < 0x80) {
        *at = p + 1;
        return p[0];
    }
    if (p[0] < 0xE0) {
        *at = p + 2;
        return (uint32_t)(p[0] & 31) << 6 | (p[1] & 63);
    }
    if (p[0] < 0xF0) {
        *at = p + 3;
        return (uint32_t)(p[0] & 15) << 12 | (uint32_t)(p[1] & 63) << 6 | (p[2] & 63);
    }
    *at = p + 4;
    return 0xFFFD;
}

static inline Ucs2 to_ucs2(Buffer text) {
    Ucs2 wide = {zeros(sizeof(uint16_t) * (text.size + SLACK)), 0};
    const uint8_t *at = text.bytes, *end = at + text.size;
    while (at < end)
        wide.units[wide.length++] = (uint16_t)decode(&at);
    return wide;
}

static inline double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);  /* user and system */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Fallback positions are (x, x, x), so a position whose bytes differ is a syllable. */
static inline void print_run(double seconds, const uint8_t *out, const uint8_t *end) {
    unsigned long long syllables = 0, sum = 0;
    for (const uint8_t *p = out; p < end; p += 3)
        if (p[0] != p[1] || p[1] != p[2]) {
            syllables++;
            sum += p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16;
        }
    printf("%.9f %llu %llu %llu\n", seconds, (unsigned long long)(end - out) / 3, syllables, sum);
    fflush(stdout);
}

/* For each name on standard input: runs that limit once and prints CPU seconds, positions, syllables, sum of their ids. */
static inline int serve(const Limit *limits, size_t count, size_t room) {
    char line[64];
    uint8_t *out = zeros(room + SLACK);
    while (fgets(line, sizeof line, stdin)) {
        const Limit *limit = limits;
        line[strcspn(line, "\n")] = 0;
        while (limit < limits + count && strcmp(limit->name, line))
            limit++;
        if (limit == limits + count) {
            fprintf(stderr, "no limit is called %s\n", line);
            return 1;
        }
        double start = cpu_seconds();
        uint8_t *end = limit->run(out);
        print_run(cpu_seconds() - start, out, end);
    }
    return 0;
}

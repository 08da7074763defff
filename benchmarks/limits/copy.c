/* copy TEXT: what it costs to move the text at all (memcpy). */
#include "limit.h"

static Buffer text;

static uint8_t *copy(uint8_t *out) {
    memcpy(out, text.bytes, text.size);
    return out + text.size / 3 * 3;
}

int main(int argc, char **argv) {
    const Limit limits[] = {{"copy", copy}};
    if (argc != 2)
        return fprintf(stderr, "usage: copy TEXT\n"), 2;
    text = read_file(argv[1]);
    return serve(limits, 1, text.size);
}

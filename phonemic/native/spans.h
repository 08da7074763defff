/* Spans of positions that are one code unit each: (begin, begin + 1), (begin + 1, begin + 2), ... */
#ifndef PHONEMIC_SPANS_H
#define PHONEMIC_SPANS_H

#include <stddef.h>
#include <stdint.h>

#if !defined(PHONEMIC_PORTABLE) && (defined(__SSE2__) || defined(_M_X64))
#include <emmintrin.h>
#define PHONEMIC_TWO_SPANS __m128i
#define PHONEMIC_FROM(b) _mm_set_epi32((b) + 2, (b) + 1, (b) + 1, (b))
#define PHONEMIC_STORE(to, two) _mm_storeu_si128((__m128i *)(to), two)
#define PHONEMIC_NEXT(two) _mm_add_epi32(two, _mm_set1_epi32(2))

#elif !defined(PHONEMIC_PORTABLE) && defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define PHONEMIC_TWO_SPANS int32x4_t
#define PHONEMIC_FROM(b) vcombine_s32(vcreate_s32((uint32_t)(b) | (uint64_t)((b) + 1) << 32), \
                                      vcreate_s32((uint32_t)((b) + 1) | (uint64_t)((b) + 2) << 32))
#define PHONEMIC_STORE(to, two) vst1q_s32(to, two)
#define PHONEMIC_NEXT(two) vaddq_s32(two, vdupq_n_s32(2))
#endif

/* Writes two spans at a time: one more than asked for where count is odd. */
static inline void phonemic_unit_spans(int32_t *spans, int32_t begin, size_t count) {
#ifdef PHONEMIC_TWO_SPANS
    PHONEMIC_TWO_SPANS two = PHONEMIC_FROM(begin);
    for (int32_t *end = spans + 2 * count; spans < end; spans += 4) {
        PHONEMIC_STORE(spans, two);
        two = PHONEMIC_NEXT(two);
    }
#else
    for (size_t at = 0; at < count; at++) {
        spans[2 * at] = begin++;
        spans[2 * at + 1] = begin;
    }
#endif
}

#endif

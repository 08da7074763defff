/* Eight keys of 16 bits compared with one, and what belongs to the one that is equal. */
#ifndef PHONEMIC_BUCKETS_H
#define PHONEMIC_BUCKETS_H

#include <stdint.h>

#if !defined(PHONEMIC_PORTABLE) && defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>

/* buckets: four keys, their four payloads, four keys, their payloads. Returns a payload; 0 where no key is equal. */
static inline uint32_t phonemic_payload(const void *buckets, uint32_t key) {
    __m128i one = _mm_loadu_si128((const __m128i *)buckets), two = _mm_loadu_si128((const __m128i *)buckets + 1);
    __m128i equal = _mm_cmpeq_epi16(_mm_unpacklo_epi64(one, two), _mm_set1_epi16((int16_t)key));
    __m128i found = _mm_and_si128(equal, _mm_unpackhi_epi64(one, two));
    uint64_t lanes = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(found, _mm_srli_si128(found, 8)));
    lanes |= lanes >> 32;
    return (uint32_t)(lanes | lanes >> 16) & 0xFFFF;
}

#else

/* The payloads of the lanes that are 0. */
static inline uint64_t phonemic_equal(uint64_t lanes, uint64_t payloads) {
    const uint64_t low = UINT64_C(0x7FFF7FFF7FFF7FFF);
    lanes = ~(((lanes & low) + low) | lanes | low); /* their upper bits */
    return (lanes >> 15) * 0xFFFF & payloads;
}

static inline uint32_t phonemic_payload(const void *buckets, uint32_t key) {
    const uint64_t *parts = (const uint64_t *)buckets;
    uint64_t keys = key * UINT64_C(0x0001000100010001);
    uint64_t lanes = phonemic_equal(parts[0] ^ keys, parts[1]) | phonemic_equal(parts[2] ^ keys, parts[3]);
    lanes |= lanes >> 32;
    return (uint32_t)(lanes | lanes >> 16) & 0xFFFF;
}

#endif
#endif

/* The twelve windows of a character, hashed, looked for in a filter and weighed with AVX2, where the processor has it.

   context.pxd says what is computed, and computes the same without it. */
#ifndef PHONEMIC_WINDOWS_H
#define PHONEMIC_WINDOWS_H

#include <stdint.h>

#if !defined(PHONEMIC_PORTABLE) && defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define PHONEMIC_WITH_AVX2 __attribute__((target("avx2")))

static int phonemic_has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") != 0;
}

PHONEMIC_WITH_AVX2 static inline __m256i phonemic_hashed(__m256i slots, __m256i first, __m256i second) {
    __m256i value = _mm256_add_epi32(
        _mm256_mullo_epi32(slots, _mm256_set1_epi32((int32_t)0x85EBCA6B)),
        _mm256_add_epi32(_mm256_mullo_epi32(first, _mm256_set1_epi32((int32_t)0x9E3779B1)),
                         _mm256_mullo_epi32(second, _mm256_set1_epi32((int32_t)0xC2B2AE35))));
    value = _mm256_mullo_epi32(_mm256_xor_si256(value, _mm256_srli_epi32(value, 15)), _mm256_set1_epi32(0x2C1B3C6D));
    return _mm256_xor_si256(value, _mm256_srli_epi32(value, 16));
}

/* All bits of the four lanes whose hash may be in a filter. */
PHONEMIC_WITH_AVX2 static inline __m256i phonemic_in_filter(const uint64_t *filter, __m256i size, __m128i values) {
    __m128i places = _mm_and_si128(values, _mm_set1_epi32(0x7FFF));
    __m256i wide = _mm256_cvtepu32_epi64(values), low = _mm256_set1_epi64x(63), one = _mm256_set1_epi64x(1), bits, words;
    places = _mm_srli_epi32(_mm_mullo_epi32(places, _mm256_castsi256_si128(size)), 15);
    bits = _mm256_or_si256(_mm256_sllv_epi64(one, _mm256_and_si256(_mm256_srli_epi64(wide, 15), low)),
                           _mm256_sllv_epi64(one, _mm256_and_si256(_mm256_srli_epi64(wide, 21), low)));
    words = _mm256_i32gather_epi64((const long long *)filter, places, 8);
    return _mm256_cmpeq_epi64(_mm256_and_si256(words, bits), bits);
}

/* near: the looks of a character; three before it and four behind it can be read.
   values, homes: of each window its hash and its bucket. Returns whether one of the first `slots` may be in the filter. */
PHONEMIC_WITH_AVX2 static int phonemic_look_up(const uint32_t *near, const uint64_t *filter, uint32_t filter_size,
                                               uint32_t buckets, uint32_t slots, uint32_t *values, uint32_t *homes) {
    const __m256i ends = _mm256_set1_epi32(1 << 23), size = _mm256_set1_epi32((int32_t)filter_size);
    const __m256i count = _mm256_set1_epi32((int32_t)buckets), own = _mm256_setr_epi32(0, 0, 0, -1, 0, 0, 0, 0);
    __m256i seen = _mm256_loadu_si256((const __m256i *)(near - 3)), kept, codes, classes, first, second, values_a, values_b;
    __m256i told;
    /* Lanes: three characters before, the character, three behind; and one that is always 0. Where the sentence ends
       on the way to a character, it is not seen. */
    kept = _mm256_or_si256(_mm256_cmpeq_epi32(_mm256_and_si256(seen, ends), _mm256_setzero_si256()), own);
    kept = _mm256_and_si256(kept, _mm256_setr_epi32(-1, -1, -1, -1, -1, -1, -1, 0));
    kept = _mm256_permutevar8x32_epi32(kept, _mm256_setr_epi32(0, 1, 2, 3, 3, 4, 5, 7));
    kept = _mm256_and_si256(kept, _mm256_permutevar8x32_epi32(kept, _mm256_setr_epi32(1, 2, 3, 3, 3, 4, 5, 7)));
    kept = _mm256_and_si256(kept, _mm256_permutevar8x32_epi32(kept, _mm256_setr_epi32(2, 3, 3, 3, 3, 3, 3, 7)));
    seen = _mm256_and_si256(seen, kept);
    codes = _mm256_and_si256(seen, _mm256_set1_epi32(0xFFFF));
    classes = _mm256_and_si256(_mm256_srli_epi32(seen, 16), _mm256_set1_epi32(127));
    /* (-2, -1), (-1, 1), (1, 2), -1, 1, -2, 2, -3 */
    first = _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(1, 2, 4, 2, 4, 1, 5, 0));
    second = _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(2, 4, 5, 7, 7, 7, 7, 7));
    values_a = phonemic_hashed(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), first, second);
    /* 3; of classes -1, 1, (-1, 1) */
    first = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(classes, _mm256_setr_epi32(7, 2, 4, 2, 7, 7, 7, 7)),
                               _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(6, 7, 7, 7, 7, 7, 7, 7)), 1);
    second = _mm256_permutevar8x32_epi32(classes, _mm256_setr_epi32(7, 7, 7, 4, 7, 7, 7, 7));
    values_b = phonemic_hashed(_mm256_setr_epi32(8, 9, 10, 11, 0, 0, 0, 0), first, second);
    _mm256_storeu_si256((__m256i *)values, values_a);
    _mm_storeu_si128((__m128i *)(values + 8), _mm256_castsi256_si128(values_b));
    _mm256_storeu_si256((__m256i *)homes,
                        _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(values_a, 16), count), 16));
    _mm_storeu_si128((__m128i *)(homes + 8), _mm256_castsi256_si128(_mm256_srli_epi32(
                                                 _mm256_mullo_epi32(_mm256_srli_epi32(values_b, 16), count), 16)));
    if (filter_size == 0)
        return 1;
    told = phonemic_in_filter(filter, size, _mm256_castsi256_si128(values_a));
    second = phonemic_in_filter(filter, size, _mm256_extracti128_si256(values_a, 1));
    if (slots > 5) {
        first = phonemic_in_filter(filter, size, _mm256_castsi256_si128(values_b));
        told = _mm256_or_si256(told, first);
    } else {
        second = _mm256_and_si256(second, _mm256_setr_epi64x(-1, 0, 0, 0));
    }
    return !_mm256_testz_si256(_mm256_or_si256(told, second), _mm256_set1_epi64x(-1));
}

/* The sum of the weights of windows, where two readings have weights; words: a bit of each that may be a word. */
PHONEMIC_WITH_AVX2 static int32_t phonemic_sum(const void *buckets, const uint32_t *values, const uint32_t *homes,
                                               uint32_t slots, uint32_t *words) {
    __m256i sums = _mm256_setzero_si256(), one = _mm256_set1_epi16(1);
    uint32_t decide = 0;
    __m128i sum;
    for (uint32_t slot = 0; slot < slots; slot++) {
        const __m256i *bucket = (const __m256i *)((const char *)buckets + 16 * (uint64_t)homes[slot]);
        __m256i entries = _mm256_loadu_si256(bucket);
        __m256i key = _mm256_set1_epi16((int16_t)(values[slot] << 1 | (homes[slot] & 1)));
        __m256i found = _mm256_and_si256(entries, _mm256_slli_si256(_mm256_cmpeq_epi16(entries, key), 8));
        decide |= (uint32_t)((_mm256_movemask_epi8(found) & 0xAAAAAAAA) != 0) << slot;
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_srai_epi16(_mm256_slli_epi16(found, 1), 1), one));
    }
    *words = decide;
    sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
    return _mm_cvtsi128_si32(sum);
}

#else

static int phonemic_has_avx2(void) { return 0; }

static int phonemic_look_up(const uint32_t *near, const uint64_t *filter, uint32_t filter_size, uint32_t buckets,
                            uint32_t slots, uint32_t *values, uint32_t *homes) {
    (void)near, (void)filter, (void)filter_size, (void)buckets, (void)slots, (void)values, (void)homes;
    return 0;
}

static int32_t phonemic_sum(const void *buckets, const uint32_t *values, const uint32_t *homes, uint32_t slots,
                            uint32_t *words) {
    (void)buckets, (void)values, (void)homes, (void)slots;
    *words = 0;
    return 0;
}

#endif
#endif

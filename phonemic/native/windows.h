/* The twelve windows of a character, hashed, looked for in a filter and weighed with AVX2, where the processor has it.

   windows.pxd says what is computed, and computes the same without it. */
#ifndef PHONEMIC_WINDOWS_H
#define PHONEMIC_WINDOWS_H

#include <stdint.h>

typedef struct {
    uint32_t begin, buckets, filter, filter_size, slots, by_script, scored, width, settles;
    int32_t bias[4], readings[8];
} phonemic_model;

typedef struct {
    uint32_t values[12], keys[12], homes[12];
} phonemic_windows;

typedef struct {
    uint32_t count, models[256], places[256];
} phonemic_told;

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

static inline int phonemic_is_in(const uint64_t *filter, uint32_t size, uint32_t value) {
    uint64_t word = filter[(value & 0x7FFF) * size >> 15];
    return (int)(word >> (value >> 15 & 63) & word >> (value >> 21 & 63) & 1);
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

/* The keys and buckets of windows of these hashes; a model has `count` buckets from the one of number `begin` on. */
PHONEMIC_WITH_AVX2 static inline void phonemic_place(__m256i values, __m256i begin, __m256i count, __m256i *keys,
                                                     __m256i *homes) {
    __m256i home = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(values, 16), count), 16);
    *keys = _mm256_or_si256(_mm256_add_epi32(values, values), _mm256_and_si256(home, _mm256_set1_epi32(1)));
    *homes = _mm256_add_epi32(begin, home);
}

/* near: the looks of a character; three before it and four behind it can be read.
   Returns whether one of the windows that are looked at may be in the model's filter. */
PHONEMIC_WITH_AVX2 static inline __attribute__((always_inline)) int phonemic_tells(
    const uint32_t *near, const phonemic_model *model, const uint64_t *filter, int wide, phonemic_windows *windows) {
    const __m256i ends = _mm256_set1_epi32(1 << 24), size = _mm256_set1_epi32((int32_t)model->filter_size);
    const __m256i count = _mm256_set1_epi32((int32_t)model->buckets), from = _mm256_set1_epi32((int32_t)model->begin);
    const __m256i own = _mm256_setr_epi32(0, 0, 0, -1, 0, 0, 0, 0);
    __m256i seen = _mm256_loadu_si256((const __m256i *)(near - 3)), kept, codes, classes, first, second, values, told;
    /* Lanes: three characters before, the character, three behind; and one that is always 0. Where the sentence ends
       on the way to a character, it is not seen. */
    kept = _mm256_or_si256(_mm256_cmpeq_epi32(_mm256_and_si256(seen, ends), _mm256_setzero_si256()), own);
    kept = _mm256_and_si256(kept, _mm256_setr_epi32(-1, -1, -1, -1, -1, -1, -1, 0));
    kept = _mm256_permutevar8x32_epi32(kept, _mm256_setr_epi32(0, 1, 2, 3, 3, 4, 5, 7));
    kept = _mm256_and_si256(kept, _mm256_permutevar8x32_epi32(kept, _mm256_setr_epi32(1, 2, 3, 3, 3, 4, 5, 7)));
    kept = _mm256_and_si256(kept, _mm256_permutevar8x32_epi32(kept, _mm256_setr_epi32(2, 3, 3, 3, 3, 3, 3, 7)));
    seen = _mm256_and_si256(seen, kept);
    codes = _mm256_and_si256(seen, _mm256_set1_epi32(0xFFFF));
    /* (-2, -1), (-1, 1), (1, 2), -1, 1, -2, 2, -3 */
    first = _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(1, 2, 4, 2, 4, 1, 5, 0));
    second = _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(2, 4, 5, 7, 7, 7, 7, 7));
    values = phonemic_hashed(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), first, second);
    phonemic_place(values, from, count, &first, &second);
    _mm256_storeu_si256((__m256i *)windows->values, values);
    _mm256_storeu_si256((__m256i *)windows->keys, first);
    _mm256_storeu_si256((__m256i *)windows->homes, second);
    told = phonemic_in_filter(filter, size, _mm256_castsi256_si128(values));
    if (!wide)
        return (model->filter_size == 0) | !_mm256_testz_si256(told, told) |
               phonemic_is_in(filter, model->filter_size, windows->values[4]);
    told = _mm256_or_si256(told, phonemic_in_filter(filter, size, _mm256_extracti128_si256(values, 1)));
    /* 3; of classes -1, 1, (-1, 1) */
    classes = _mm256_and_si256(_mm256_srli_epi32(seen, 17), _mm256_set1_epi32(127));
    first = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(classes, _mm256_setr_epi32(7, 2, 4, 2, 7, 7, 7, 7)),
                               _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(6, 7, 7, 7, 7, 7, 7, 7)), 1);
    second = _mm256_permutevar8x32_epi32(classes, _mm256_setr_epi32(7, 7, 7, 4, 7, 7, 7, 7));
    values = phonemic_hashed(_mm256_setr_epi32(8, 9, 10, 11, 0, 0, 0, 0), first, second);
    phonemic_place(values, from, count, &first, &second);
    _mm_storeu_si128((__m128i *)(windows->values + 8), _mm256_castsi256_si128(values));
    _mm_storeu_si128((__m128i *)(windows->keys + 8), _mm256_castsi256_si128(first));
    _mm_storeu_si128((__m128i *)(windows->homes + 8), _mm256_castsi256_si128(second));
    told = _mm256_or_si256(told, phonemic_in_filter(filter, size, _mm256_castsi256_si128(values)));
    return (model->filter_size == 0) | !_mm256_testz_si256(told, told);
}

PHONEMIC_WITH_AVX2 static inline __attribute__((always_inline)) void phonemic_look_up_all(
    const phonemic_model *models, const uint64_t *filters, const uint32_t *seen, const phonemic_told *told, int wide,
    phonemic_told *kept, phonemic_windows *windows) {
    uint32_t count = kept->count;
    for (uint32_t number = 0; number < told->count; number++) {
        const uint32_t model = told->models[number], place = told->places[number];
        const uint64_t *filter = filters + models[model].filter;
        kept->models[count] = model;
        kept->places[count] = place;
        count += (uint32_t)phonemic_tells(seen + (place >> 16), models + model, filter, wide, windows + count);
    }
    kept->count = count;
}

/* Adds those to kept, and their windows, of which a window may tell something.
   wide: whether their models look at all windows, not only at the first five. */
PHONEMIC_WITH_AVX2 static void phonemic_look_up(const phonemic_model *models, const uint64_t *filters,
                                                const uint32_t *seen, const phonemic_told *told, int wide,
                                                phonemic_told *kept, phonemic_windows *windows) {
    if (wide)
        phonemic_look_up_all(models, filters, seen, told, 1, kept, windows);
    else
        phonemic_look_up_all(models, filters, seen, told, 0, kept, windows);
}

/* Adds twice the weight of a window to the sums, and the bit that says whether it may be a word, at its place. */
PHONEMIC_WITH_AVX2 static inline __attribute__((always_inline)) void phonemic_add(
    const void *buckets, const phonemic_windows *windows, int slot, __m256i *sums, __m256i *decide) {
    __m256i entries = _mm256_loadu_si256((const __m256i *)((const char *)buckets + 16 * (uint64_t)windows->homes[slot]));
    __m256i equal = _mm256_cmpeq_epi16(entries, _mm256_set1_epi16((int16_t)windows->keys[slot]));
    __m256i found = _mm256_and_si256(entries, _mm256_slli_si256(equal, 8));
    *decide = _mm256_or_si256(*decide, _mm256_slli_epi16(_mm256_srli_epi16(found, 15), slot));
    *sums = _mm256_add_epi32(*sums, _mm256_madd_epi16(_mm256_add_epi16(found, found), _mm256_set1_epi16(1)));
}

/* The sum of the weights of windows, where two readings have weights; words: a bit of each that may be a word.
   Of `slots` there are 5 or 12. */
PHONEMIC_WITH_AVX2 static int32_t phonemic_sum(const void *buckets, const phonemic_windows *windows, uint32_t slots,
                                               uint32_t *words) {
    __m256i sums = _mm256_setzero_si256(), decide = _mm256_setzero_si256();
    __m128i sum, some;
    uint64_t lanes;
    phonemic_add(buckets, windows, 0, &sums, &decide);
    phonemic_add(buckets, windows, 1, &sums, &decide);
    phonemic_add(buckets, windows, 2, &sums, &decide);
    phonemic_add(buckets, windows, 3, &sums, &decide);
    phonemic_add(buckets, windows, 4, &sums, &decide);
    if (slots > 5) {
        phonemic_add(buckets, windows, 5, &sums, &decide);
        phonemic_add(buckets, windows, 6, &sums, &decide);
        phonemic_add(buckets, windows, 7, &sums, &decide);
        phonemic_add(buckets, windows, 8, &sums, &decide);
        phonemic_add(buckets, windows, 9, &sums, &decide);
        phonemic_add(buckets, windows, 10, &sums, &decide);
        phonemic_add(buckets, windows, 11, &sums, &decide);
    }
    some = _mm_or_si128(_mm256_castsi256_si128(decide), _mm256_extracti128_si256(decide, 1));
    lanes = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(some, some));
    lanes |= lanes >> 32;
    *words = (uint32_t)(lanes | lanes >> 16) & 0xFFFF;
    sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
    return _mm_cvtsi128_si32(sum) >> 1;
}

/* The number of the reading with the highest sum of weights, of three or four. */
PHONEMIC_WITH_AVX2 static uint32_t phonemic_best(const void *buckets, const phonemic_windows *windows,
                                                 const phonemic_model *model) {
    const __m128i other = _mm_cvtsi32_si128((int)(16 - model->width)), width = _mm_cvtsi32_si128((int)model->width);
    const __m256i one = _mm256_set1_epi16(1);
    __m256i sums[3] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    int32_t score, highest = model->bias[0];
    uint32_t best = 0;
    for (uint32_t slot = 0; slot < model->slots; slot++) {
        const __m256i *bucket = (const __m256i *)((const char *)buckets + 16 * (uint64_t)windows->homes[slot]);
        __m256i entries = _mm256_loadu_si256(bucket);
        __m256i equal = _mm256_cmpeq_epi16(entries, _mm256_set1_epi16((int16_t)windows->keys[slot]));
        __m256i left = _mm256_and_si256(entries, _mm256_slli_si256(equal, 8));
        for (int number = 0; number < 3; number++) {
            __m256i weight = _mm256_sra_epi16(_mm256_sll_epi16(left, other), other);
            sums[number] = _mm256_add_epi32(sums[number], _mm256_madd_epi16(weight, one));
            left = _mm256_srl_epi16(left, width);
        }
    }
    for (uint32_t number = 1; number < model->scored; number++) {
        __m256i both = sums[number - 1];
        __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
        sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
        sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
        score = model->bias[number] + _mm_cvtsi128_si32(sum);
        if (score > highest) {
            highest = score;
            best = number;
        }
    }
    return best;
}

#else

static int phonemic_has_avx2(void) { return 0; }

static void phonemic_look_up(const phonemic_model *models, const uint64_t *filters, const uint32_t *seen,
                             const phonemic_told *told, int wide, phonemic_told *kept, phonemic_windows *windows) {
    (void)models, (void)filters, (void)seen, (void)told, (void)wide, (void)kept, (void)windows;
}

static int32_t phonemic_sum(const void *buckets, const phonemic_windows *windows, uint32_t slots, uint32_t *words) {
    (void)buckets, (void)windows, (void)slots;
    *words = 0;
    return 0;
}

static uint32_t phonemic_best(const void *buckets, const phonemic_windows *windows, const phonemic_model *model) {
    (void)buckets, (void)windows, (void)model;
    return 0;
}

#endif
#endif

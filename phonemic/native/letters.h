/* Which of up to 64 code units are "letters": ASCII letters, and everything from U+0080 (or byte 0x80) on.

   Bit i of the result is for unit i; bits from `count` on are 0. Three ways to the same bits: SSE2 (every x86-64), NEON
   (every arm64), and plain C, which PHONEMIC_PORTABLE selects so that the tests can compare. */
#ifndef PHONEMIC_LETTERS_H
#define PHONEMIC_LETTERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int phonemic_is_letter(uint32_t unit) { return unit > 0x7F || (unit | 0x20) - 'a' < 26u; }

#define PHONEMIC_PLAIN(name, type)                                                      \
    static inline uint64_t name(const type *units, size_t count) {                      \
        uint64_t bits = 0;                                                              \
        for (size_t i = 0; i < count; i++)                                              \
            bits |= (uint64_t)phonemic_is_letter(units[i]) << i;                        \
        return bits;                                                                    \
    }
PHONEMIC_PLAIN(phonemic_plain8, uint8_t)
PHONEMIC_PLAIN(phonemic_plain16, uint16_t)
PHONEMIC_PLAIN(phonemic_plain32, uint32_t)

#if !defined(PHONEMIC_PORTABLE) && (defined(__SSE2__) || defined(_M_X64))
#include <emmintrin.h>
#define PHONEMIC_VECTOR 1

/* 16 lanes of 8 bits; a set lane is all ones. */
static inline __m128i phonemic_letters8(__m128i x) {
    __m128i from_a = _mm_add_epi8(_mm_or_si128(x, _mm_set1_epi8(0x20)), _mm_set1_epi8((char)(0x80 - 'a')));
    return _mm_or_si128(_mm_cmplt_epi8(from_a, _mm_set1_epi8((char)(0x80 + 26))), x);
}
static inline uint32_t phonemic_bits8(const uint8_t *units) {
    return (uint32_t)_mm_movemask_epi8(phonemic_letters8(_mm_loadu_si128((const __m128i *)units)));
}
/* Wider units are narrowed to 8 bits first, with 0xFF for all that do not fit 7. */
static inline uint32_t phonemic_bits16(const uint16_t *units) {
    __m128i a = _mm_loadu_si128((const __m128i *)units), b = _mm_loadu_si128((const __m128i *)(units + 8));
    __m128i high = _mm_set1_epi16((short)0xFF80), zero = _mm_setzero_si128();
    __m128i small = _mm_packs_epi16(_mm_cmpeq_epi16(_mm_and_si128(a, high), zero),
                                    _mm_cmpeq_epi16(_mm_and_si128(b, high), zero));
    __m128i low = _mm_packus_epi16(_mm_and_si128(a, _mm_set1_epi16(0x7F)), _mm_and_si128(b, _mm_set1_epi16(0x7F)));
    return (uint32_t)_mm_movemask_epi8(phonemic_letters8(_mm_or_si128(low, _mm_andnot_si128(small, _mm_set1_epi8(-1)))));
}
static inline uint32_t phonemic_bits32(const uint32_t *units) {
    uint16_t narrow[16];
    for (int i = 0; i < 16; i++) narrow[i] = units[i] > 0x7F ? 0x80 : (uint16_t)units[i];
    return phonemic_bits16(narrow);
}

#elif !defined(PHONEMIC_PORTABLE) && defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define PHONEMIC_VECTOR 1

static inline uint32_t phonemic_movemask(uint8x16_t lanes) {
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vandq_u8(lanes, vld1q_u8(weights));
    return (uint32_t)vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}
static inline uint32_t phonemic_lanes(uint8x16_t x) {
    uint8x16_t alpha = vcltq_u8(vsubq_u8(vorrq_u8(x, vdupq_n_u8(0x20)), vdupq_n_u8('a')), vdupq_n_u8(26));
    return phonemic_movemask(vorrq_u8(alpha, vcgeq_u8(x, vdupq_n_u8(0x80))));
}
static inline uint32_t phonemic_bits8(const uint8_t *units) { return phonemic_lanes(vld1q_u8(units)); }
static inline uint32_t phonemic_bits16(const uint16_t *units) { /* saturating: what does not fit becomes 0xFF */
    return phonemic_lanes(vcombine_u8(vqmovn_u16(vld1q_u16(units)), vqmovn_u16(vld1q_u16(units + 8))));
}
static inline uint32_t phonemic_bits32(const uint32_t *units) {
    uint16x8_t a = vcombine_u16(vqmovn_u32(vld1q_u32(units)), vqmovn_u32(vld1q_u32(units + 4)));
    uint16x8_t b = vcombine_u16(vqmovn_u32(vld1q_u32(units + 8)), vqmovn_u32(vld1q_u32(units + 12)));
    return phonemic_lanes(vcombine_u8(vqmovn_u16(a), vqmovn_u16(b)));
}
#endif

#ifdef PHONEMIC_VECTOR
#define PHONEMIC_MASK(name, type, bits16, plain)                                        \
    static inline uint64_t name(const type *units, size_t count) {                      \
        if (count < 64) {                                                               \
            uint64_t mask = 0;                                                          \
            if (count < 16) return plain(units, count);                                 \
            for (size_t i = 0; i + 16 < count; i += 16)                                 \
                mask |= (uint64_t)bits16(units + i) << i;                               \
            return mask | (uint64_t)bits16(units + count - 16) << (count - 16);         \
        }                                                                               \
        return bits16(units) | (uint64_t)bits16(units + 16) << 16 |                     \
               (uint64_t)bits16(units + 32) << 32 | (uint64_t)bits16(units + 48) << 48; \
    }
PHONEMIC_MASK(phonemic_mask8, uint8_t, phonemic_bits8, phonemic_plain8)
PHONEMIC_MASK(phonemic_mask16, uint16_t, phonemic_bits16, phonemic_plain16)
PHONEMIC_MASK(phonemic_mask32, uint32_t, phonemic_bits32, phonemic_plain32)
#else
#define phonemic_mask8 phonemic_plain8
#define phonemic_mask16 phonemic_plain16
#define phonemic_mask32 phonemic_plain32
#endif

static inline int phonemic_lowest(uint64_t bits) { /* of bits != 0 */
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int at = 0;
    while (!(bits >> at & 1)) at++;
    return at;
#endif
}

/* The first `bytes` (1 to 16) bytes as two words, the rest 0. `readable` bytes may be read. */
static inline void phonemic_key(const void *from, size_t bytes, size_t readable, uint64_t *low, uint64_t *high) {
    static const uint8_t masks[32] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    };
    const uint8_t *mask = masks + 16 - bytes;
    uint64_t words[2] = {0, 0}, kept[2];
    if (readable < 16) {
        memcpy(words, from, bytes);
        from = words;
    }
    /* In one register: written as two words and read as one vector, they would wait for each other. */
#if defined(PHONEMIC_VECTOR) && (defined(__x86_64__) || defined(_M_X64))
    __m128i x = _mm_and_si128(_mm_loadu_si128((const __m128i *)from), _mm_loadu_si128((const __m128i *)mask));
    kept[0] = (uint64_t)_mm_cvtsi128_si64(x);
    kept[1] = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(x, x));
#elif defined(PHONEMIC_VECTOR) && defined(__aarch64__)
    uint64x2_t x = vreinterpretq_u64_u8(vandq_u8(vld1q_u8((const uint8_t *)from), vld1q_u8(mask)));
    kept[0] = vgetq_lane_u64(x, 0);
    kept[1] = vgetq_lane_u64(x, 1);
#else
    uint64_t parts[2];
    memcpy(kept, from, 16);
    memcpy(parts, mask, 16);
    kept[0] &= parts[0];
    kept[1] &= parts[1];
#endif
    *low = kept[0];
    *high = kept[1];
}

#endif

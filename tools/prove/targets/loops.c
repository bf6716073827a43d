/* No library: AES-128-GCM with loops as libraries have them, for `gcm-prove loops.c --lengths`. A turn is four blocks; a length is cut to whole turns and blocks; the low
 * byte of the counter is added to alone until it ends; the hash is in two parts, and where it lags a turn behind. `loops.sh` says what must be proved, and what must not:
 * with -DFAULT=1 or 2 something is wrong where that byte ends, which is at the 64th turn, with 3 at 8 GiB, and with 4 at the 64th turn of what is opened in place.
 * link: -maes -mpclmul -mssse3 -msse4.1 */
#include "gcm-prove.h"
#include <immintrin.h>
#ifndef FAULT
#define FAULT 0
#endif

typedef __m128i block;
static block load(const uint8_t *p) { return _mm_loadu_si128((const block *)p); }
static void store(uint8_t *p, block x) { _mm_storeu_si128((block *)p, x); }
static block mirrored(block x) { return _mm_shuffle_epi8(x, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)); }

typedef struct { block keys[11], h; } key;

static block next_key(block k, block g) {
    k = _mm_xor_si128(k, _mm_slli_si128(k, 4));
    k = _mm_xor_si128(k, _mm_slli_si128(k, 8));
    return _mm_xor_si128(k, _mm_shuffle_epi32(g, 0xff));
}
static block cipher(const key *k, block x) {
    x = _mm_xor_si128(x, k->keys[0]);
    for (int i = 1; i < 10; i++) x = _mm_aesenc_si128(x, k->keys[i]);
    return _mm_aesenclast_si128(x, k->keys[10]);
}
static void expand(key *k, const uint8_t *bytes) {
    block x = k->keys[0] = load(bytes);
#define ROUND(i, c) x = k->keys[i] = next_key(x, _mm_aeskeygenassist_si128(x, c))
    ROUND(1, 1), ROUND(2, 2), ROUND(3, 4), ROUND(4, 8), ROUND(5, 16), ROUND(6, 32), ROUND(7, 64), ROUND(8, 128), ROUND(9, 27), ROUND(10, 54);
    k->h = mirrored(cipher(k, _mm_setzero_si128()));
}

/* A hash is the sum of two parts, which are added when it is used next. */
typedef struct { block a, b; } hash;

/* (y + x) H, both mirrored: the product, moved up by a bit, and reduced. */
static hash times(const key *k, hash y, block x) {
    const block a = _mm_xor_si128(_mm_xor_si128(y.a, y.b), x), m = _mm_xor_si128(_mm_clmulepi64_si128(a, k->h, 1), _mm_clmulepi64_si128(a, k->h, 16));
    block lo = _mm_xor_si128(_mm_clmulepi64_si128(a, k->h, 0), _mm_slli_si128(m, 8)), hi = _mm_xor_si128(_mm_clmulepi64_si128(a, k->h, 17), _mm_srli_si128(m, 8));
    const block out = _mm_srli_epi64(lo, 63), up = _mm_srli_epi64(hi, 63);
    hi = _mm_or_si128(_mm_or_si128(_mm_slli_epi64(hi, 1), _mm_slli_si128(up, 8)), _mm_srli_si128(out, 8));
    lo = _mm_or_si128(_mm_slli_epi64(lo, 1), _mm_slli_si128(out, 8));
    const block t = _mm_xor_si128(_mm_xor_si128(_mm_slli_epi64(lo, 63), _mm_slli_epi64(lo, 62)), _mm_slli_epi64(lo, 57));
    lo = _mm_xor_si128(lo, _mm_slli_si128(t, 8));
    const block s = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(lo, 1), _mm_srli_epi64(lo, 2)), _mm_srli_epi64(lo, 7));
    return (hash){_mm_xor_si128(_mm_xor_si128(hi, lo), s), _mm_srli_si128(t, 8)};
}
static hash of(const key *k, hash y, const uint8_t *p, size_t n) {
    for (; n >= 16; n -= 16, p += 16) y = times(k, y, mirrored(load(p)));
    if (n) {
        uint8_t last[16] = {0};
        for (size_t i = 0; i < n; i++) last[i] = p[i];
        y = times(k, y, mirrored(load(last)));
    }
    return y;
}

static block with(block nonce, uint32_t counter) { return _mm_insert_epi32(nonce, (int)__builtin_bswap32(counter), 3); }

/* `lag`: a turn is hashed in the next one, of a copy. */
static uint64_t run(const call *c, int seals, int lag, const uint8_t *from) {
    key *k = (key *)c->place.at;
    uint8_t *to = c->to.at, iv[16] = {0};
    const size_t n = c->to.size, whole = n & ~(size_t)63, blocks = n & ~(size_t)15;
    expand(k, c->key.at);
    memcpy(iv, c->nonce.at, 12);
    const block nonce = load(iv);
    hash y = of(k, (hash){_mm_setzero_si128(), _mm_setzero_si128()}, c->aad.at, c->aad.size);
    block count = with(nonce, 2);
    uint32_t low = 2;
    size_t done = 0;
    uint8_t last_turn[64];
    for (; done < whole; done += 64) {
        block x[4], in[4];
        for (int i = 0; i < 4; i++) x[i] = _mm_add_epi8(count, _mm_set_epi8((char)i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        count = _mm_add_epi8(count, _mm_set_epi8(4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        low += 4;
        const int ends = low >= 256;
        if (ends) {
            low -= 256;
            const uint32_t first = (uint32_t)(done / 16 + 2);
            for (uint32_t i = 0; i < (FAULT == 1 ? 3 : 4); i++) x[i] = with(nonce, first + i);
            count = with(nonce, first + 4);
            if (FAULT == 2) y.b = _mm_setzero_si128();
        }
        for (int i = 0; i < 4; i++) in[i] = load(from + done + 16 * i);
        if (!lag && !seals) y = of(k, y, from + done, 64);
        if (lag && done) y = of(k, y, FAULT == 4 && ends ? to + done - 64 : last_turn, 64);
        for (int i = 0; i < 4; i++) store(to + done + 16 * i, _mm_xor_si128(cipher(k, x[i]), in[i]));
        if (!lag && seals) y = of(k, y, to + done, 64);
        for (int i = 0; i < 4; i++) store(last_turn + 16 * i, seals ? load(to + done + 16 * i) : in[i]);
        if (FAULT == 3 && done == (size_t)1 << 33) y.b = _mm_setzero_si128();
    }
    if (lag && whole) y = of(k, y, last_turn, 64);
    uint32_t next = (uint32_t)(done / 16 + 2);
    if (!seals) y = of(k, y, from + done, n - done);
    for (; done < blocks; done += 16) store(to + done, _mm_xor_si128(cipher(k, with(nonce, next++)), load(from + done)));
    if (done < n) {
        uint8_t last[16];
        store(last, cipher(k, with(nonce, next)));
        for (size_t i = 0; i < n - done; i++) to[done + i] = from[done + i] ^ last[i];
    }
    if (seals) y = of(k, y, to + whole, n - whole);
    const uint64_t bits[2] = {__builtin_bswap64(8 * c->aad.size), __builtin_bswap64(8 * n)};
    y = of(k, y, (const uint8_t *)bits, 16);
    const block tag = _mm_xor_si128(mirrored(_mm_xor_si128(y.a, y.b)), cipher(k, with(nonce, 1)));
    if (seals) return store(c->tag.at, tag), DONE;
    return _mm_movemask_epi8(_mm_cmpeq_epi8(tag, load(c->tag.at))) == 0xffff ? DONE : REFUSED;
}

static block two_rounds(const key *k, block x) {
    return _mm_aesenc_si128(_mm_aesenc_si128(_mm_xor_si128(x, k->keys[0]), k->keys[1]), k->keys[2]);
}
static block other_rounds(const key *k, block x) {
    for (int i = 3; i < 10; i++) x = _mm_aesenc_si128(x, k->keys[i]);
    return _mm_aesenclast_si128(x, k->keys[10]);
}

/* A loop in a loop. What two rounds make of a counter is the sum of a function of its last byte and of one of the rest: the first 256 blocks of a long text fill a
 * table, of which 256 blocks at a time then take; their last four, where the last byte ends, are computed. With -DFAULT=5 these are taken, too. */
static uint64_t run_nested(const call *c, int seals) {
    key *k = (key *)c->place.at;
    block *table = (block *)(c->place.at + 4096);
    const uint8_t *from = c->from.at;
    uint8_t *to = c->to.at, iv[16] = {0};
    const size_t n = c->to.size;
    expand(k, c->key.at);
    memcpy(iv, c->nonce.at, 12);
    const block nonce = load(iv);
    hash y = of(k, (hash){_mm_setzero_si128(), _mm_setzero_si128()}, c->aad.at, c->aad.size);
    size_t done = 0;
    for (; n >= 8192 && done < 4096; done += 16) {
        table[done / 16] = two_rounds(k, with(nonce, (uint32_t)(done / 16 + 2)));
        if (!seals) y = of(k, y, from + done, 16);
        store(to + done, _mm_xor_si128(other_rounds(k, table[done / 16]), load(from + done)));
        if (seals) y = of(k, y, to + done, 16);
    }
    for (; done > 0 && n - done >= 4096; done += 4096) {
        const uint32_t first = (uint32_t)(done / 16 + 2);
        const block rest = _mm_xor_si128(two_rounds(k, with(nonce, first)), table[0]);
        for (uint32_t j = 0; j < 256; j += 4) {
            const size_t at = done + 16 * j;
            if (!seals) y = of(k, y, from + at, 64);
            for (uint32_t i = j; i < j + 4; i++) {
                const block x = j < (FAULT == 5 ? 256 : 252) ? _mm_xor_si128(table[i], rest) : two_rounds(k, with(nonce, first + i));
                store(to + done + 16 * i, _mm_xor_si128(other_rounds(k, x), load(from + done + 16 * i)));
            }
            if (seals) y = of(k, y, to + at, 64);
        }
    }
    uint32_t next = (uint32_t)(done / 16 + 2);
    if (!seals) y = of(k, y, from + done, n - done);
    size_t at = done;
    for (; n - at >= 16; at += 16) store(to + at, _mm_xor_si128(cipher(k, with(nonce, next++)), load(from + at)));
    if (at < n) {
        uint8_t last[16];
        store(last, cipher(k, with(nonce, next)));
        for (size_t i = 0; i < n - at; i++) to[at + i] = from[at + i] ^ last[i];
    }
    if (seals) y = of(k, y, to + done, n - done);
    const uint64_t bits[2] = {__builtin_bswap64(8 * c->aad.size), __builtin_bswap64(8 * n)};
    y = of(k, y, (const uint8_t *)bits, 16);
    const block tag = _mm_xor_si128(mirrored(_mm_xor_si128(y.a, y.b)), cipher(k, with(nonce, 1)));
    if (seals) return store(c->tag.at, tag), DONE;
    return _mm_movemask_epi8(_mm_cmpeq_epi8(tag, load(c->tag.at))) == 0xffff ? DONE : REFUSED;
}

static uint64_t seal_nested(const call *c) { return run_nested(c, 1); }
static uint64_t open_nested(const call *c) { return run_nested(c, 0); }
static uint64_t seal(const call *c) { return run(c, 1, 0, c->from.at); }
static uint64_t open(const call *c) { return run(c, 0, 0, c->from.at); }
static uint64_t seal_lagging(const call *c) { return run(c, 1, 1, c->to.at); }
static uint64_t open_lagging(const call *c) { return run(c, 0, 1, c->to.at); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16", "[16]", "[12]"},
    {"open", open, "Gcm Opens Apart Unverified 16", "[16]", "[12]"},
    {"seal in place, lagging", seal_lagging, "Gcm Seals InPlace Zeros 16", "[16]", "[12]"},
    {"open in place, lagging", open_lagging, "Gcm Opens InPlace Unverified 16", "[16]", "[12]"},
    {"seal, nested", seal_nested, "Gcm Seals Apart Zeros 16", "[16]", "[12]"},
    {"open, nested", open_nested, "Gcm Opens Apart Unverified 16", "[16]", "[12]"},
};

static const char *setup(const char *row) {
    (void)row;
    return NULL;
}

TARGET(verbs, setup, "nothing")

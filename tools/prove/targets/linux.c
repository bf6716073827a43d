/* Linux 6.12's assembly, called as the kernel's C calls it, a kernel for each row. Round keys are made by the kernel's older assembly.
 * link: -I$ROOT/tools/aead/libraries/stubs $MADE/aes-gcm-avx10-x86_64.S $MADE/aes-gcm-aesni-x86_64.S $MADE/aesni-intel_asm.S */
#include "gcm-prove.h"
#include <stdbool.h>

typedef struct { uint8_t bytes[896] __attribute__((aligned(64))); } gcm_key;
typedef void update(const gcm_key *, const uint32_t counter[4], uint8_t hash[16], const uint8_t *from, uint8_t *to, int length);
typedef struct {
    void (*precompute)(gcm_key *);
    void (*aad)(const gcm_key *, uint8_t hash[16], const uint8_t *aad, int length);
    update *encrypt, *decrypt;
    void (*seal)(const gcm_key *, const uint32_t counter[4], uint8_t hash[16], uint64_t aad, uint64_t text);
    bool (*open)(const gcm_key *, const uint32_t counter[4], const uint8_t hash[16], uint64_t aad, uint64_t text, const uint8_t *tag, int length);
} kernel;

void aesni_set_key(gcm_key *, const uint8_t *bytes, unsigned length);
#define DECLARED(level, family)                                                                                                             \
    void aes_gcm_precompute_##level(gcm_key *);                                                                                               \
    void aes_gcm_aad_update_##family(const gcm_key *, uint8_t *, const uint8_t *, int);                                                       \
    update aes_gcm_enc_update_##level, aes_gcm_dec_update_##level;                                                                           \
    void aes_gcm_enc_final_##family(const gcm_key *, const uint32_t *, uint8_t *, uint64_t, uint64_t);                                        \
    bool aes_gcm_dec_final_##family(const gcm_key *, const uint32_t *, const uint8_t *, uint64_t, uint64_t, const uint8_t *, int);
#define KERNEL(level, family)                                                                                                               \
    { aes_gcm_precompute_##level, aes_gcm_aad_update_##family, aes_gcm_enc_update_##level, aes_gcm_dec_update_##level,                       \
      aes_gcm_enc_final_##family, aes_gcm_dec_final_##family }
DECLARED(vaes_avx10_512, vaes_avx10)
DECLARED(vaes_avx10_256, vaes_avx10)
DECLARED(aesni_avx, aesni_avx)
DECLARED(aesni, aesni)
static const kernel kernels[] = {KERNEL(vaes_avx10_512, vaes_avx10), KERNEL(vaes_avx10_256, vaes_avx10), KERNEL(aesni_avx, aesni_avx),
                                 KERNEL(aesni, aesni)};

static uint32_t be(const uint8_t *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }

/* `pieces` but the last must be whole blocks. */
static uint64_t run(const call *c, int seals, const uint8_t *from, size_t first, int tag) {
    const kernel *f = &kernels[c->row];
    gcm_key *k = (gcm_key *)c->place.at;
    uint8_t *hash = c->place.at + 8192;
    uint32_t counter[4] = {2, be(c->nonce.at + 8), be(c->nonce.at + 4), be(c->nonce.at)};
    const size_t n = c->to.size, ends[] = {first, n};
    aesni_set_key(k, c->key.at, (unsigned)c->key.size);
    f->precompute(k);
    memset(hash, 0, 16);
    if (c->aad.size) f->aad(k, hash, c->aad.at, (int)c->aad.size);
    for (size_t i = 0, at = 0; i < 2; at = ends[i++]) {
        const size_t len = ends[i] - at;
        if (len) (seals ? f->encrypt : f->decrypt)(k, counter, hash, from + at, c->to.at + at, (int)len);
        counter[0] += (uint32_t)(len / 16);
    }
    counter[0] = 2;
    if (!seals) return !f->open(k, counter, hash, c->aad.size, n, c->tag.at, tag);
    f->seal(k, counter, hash, c->aad.size, n);
    memcpy(c->tag.at, hash, 16);
    return DONE;
}

static uint64_t seal(const call *c) { return run(c, 1, c->from.at, 0, 16); }
static uint64_t open(const call *c) { return run(c, 0, c->from.at, 0, 16); }
static uint64_t seal_in_place(const call *c) { return run(c, 1, c->to.at, 0, 16); }
static uint64_t open_in_place(const call *c) { return run(c, 0, c->to.at, 0, 16); }
static uint64_t seal_pieces(const call *c) { return run(c, 1, c->from.at, c->cuts[0] / 16 * 16, 16); }
static uint64_t open_pieces(const call *c) { return run(c, 0, c->from.at, c->cuts[0] / 16 * 16, 16); }
static uint64_t open_12(const call *c) { return run(c, 0, c->from.at, 0, 12); }
static uint64_t open_4(const call *c) { return run(c, 0, c->from.at, 0, 4); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16", "[]", "[12]"},
    {"open", open, "Gcm Opens Apart Unverified 16", "[]", "[12]"},
    {"seal in place", seal_in_place, "Gcm Seals InPlace Zeros 16", "[]", "[12]"},
    {"open in place", open_in_place, "Gcm Opens InPlace Unverified 16", "[]", "[12]"},
    {"seal in two pieces", seal_pieces, "Gcm Seals Apart Zeros 16 cut", "[]", "[12]"},
    {"open in two pieces", open_pieces, "Gcm Opens Apart Unverified 16 cut", "[]", "[12]"},
    {"open, tag of 12 bytes", open_12, "Gcm Opens Apart Unverified 12", "[]", "[12]"},
    {"open, tag of 4 bytes", open_4, "Gcm Opens Apart Unverified 4", "[]", "[12]"},
};

static const char *setup(const char *row) {
    (void)row;
    return NULL;
}

TARGET(verbs, setup, "nothing; the row is the kernel: vaes_avx10_512, vaes_avx10_256, aesni_avx, aesni")

/* The assembly of Linux' AES-GCM, in a program: what the kernel calls, without its walk over pages. `REFEREE_LINUX` is the level, 0 to 3;
 * the first that this processor has if it is left out. Which lengths a tag has is looked at by the kernel's C, which is not here.
 * levels: REFEREE_LINUX=0 REFEREE_LINUX=1 REFEREE_LINUX=2 REFEREE_LINUX=3
 * made: linux
 * link: -I$HERE/stubs
 * link: $MADE/aes-gcm-avx10-x86_64.S $MADE/aes-gcm-aesni-x86_64.S $MADE/aesni-intel_asm.S */
#include "aead.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Round keys for both directions, the key's length, and from byte 496 or 512 on what a level precomputes. */
struct key {
    _Alignas(64) uint8_t bytes[896];
};
struct run {
    const struct key *key;
    uint8_t hash[16];
    uint32_t counter[4]; /* from the last word to the first */
    uint64_t aad, text;
    int seals;
};

typedef void update_function(const struct key *, const uint32_t counter[4], uint8_t hash[16], const uint8_t *from, uint8_t *to, int length);
struct level {
    const char *name;
    void (*precompute)(struct key *);
    void (*aad)(const struct key *, uint8_t hash[16], const uint8_t *aad, int length);
    update_function *encrypt, *decrypt;
    void (*seal)(const struct key *, const uint32_t counter[4], uint8_t hash[16], uint64_t aad, uint64_t text);
    bool (*open)(const struct key *, const uint32_t counter[4], const uint8_t hash[16], uint64_t aad, uint64_t text, const uint8_t *tag, int length);
};

void aesni_set_key(struct key *, const uint8_t *bytes, unsigned length);
#define DECLARED(level, family)                                                                                                              \
    void aes_gcm_precompute_##level(struct key *);                                                                                           \
    void aes_gcm_aad_update_##family(const struct key *, uint8_t *, const uint8_t *, int);                                                   \
    update_function aes_gcm_enc_update_##level, aes_gcm_dec_update_##level;                                                                  \
    void aes_gcm_enc_final_##family(const struct key *, const uint32_t *, uint8_t *, uint64_t, uint64_t);                                    \
    bool aes_gcm_dec_final_##family(const struct key *, const uint32_t *, const uint8_t *, uint64_t, uint64_t, const uint8_t *, int);
#define LEVEL(level, family)                                                                                                                 \
    { #level, aes_gcm_precompute_##level, aes_gcm_aad_update_##family, aes_gcm_enc_update_##level, aes_gcm_dec_update_##level,               \
      aes_gcm_enc_final_##family, aes_gcm_dec_final_##family }
DECLARED(vaes_avx10_512, vaes_avx10)
DECLARED(vaes_avx10_256, vaes_avx10)
DECLARED(aesni_avx, aesni_avx)
DECLARED(aesni, aesni)
static const struct level levels[] = { LEVEL(vaes_avx10_512, vaes_avx10), LEVEL(vaes_avx10_256, vaes_avx10), LEVEL(aesni_avx, aesni_avx),
                                       LEVEL(aesni, aesni) };
static const struct level *level;

/* The first that this processor has. That of 256 bits has the encoding of AVX-512 too, and is the nearest to `vaes-avx2` all the same. */
static int first(void)
{
    int avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vaes")
        && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("bmi2");
    return avx512 ? 0 : __builtin_cpu_supports("avx") ? 2 : 3;
}

static const char *const names[] = { "vaes-avx512", "vaes-avx2", "aesni-avx", "aesni-sse" };
static const char *named(void)
{
    static const char all[] = "vaes-avx512\nvaes-avx2\naesni-avx\naesni-sse";
    return strstr(all, names[first()]);
}

static const char *start(const char *wanted)
{
    const char *variable = getenv("REFEREE_LINUX");
    int number = variable ? atoi(variable) : first();
    level = number >= first() && number < 4 ? &levels[number] : NULL;
    /* A name is obeyed: the prover interprets what this processor has not got. */
    for (int i = 0; wanted && i < 4; i++)
        level = strcmp(wanted, names[i]) == 0 ? &levels[i] : level;
    return level != NULL && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") ? NULL : "this processor has not got that level";
}

static const char *version(void) { return level->name; }

static void rekey(void *key, const uint8_t *bytes, size_t length)
{
    aesni_set_key(key, bytes, (unsigned)length);
    level->precompute(key);
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = aligned_alloc(64, sizeof *key);
    memset(key, 0, sizeof *key);
    rekey(key, bytes, length);
    return key;
}

static uint32_t word(const uint8_t *at) { return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }

static struct run started(const struct key *key, int seals, const uint8_t *nonce)
{
    return (struct run) { .key = key, .counter = { 2, word(nonce + 8), word(nonce + 4), word(nonce) }, .seals = seals };
}

static void *begin(void *key, int seals, const uint8_t *nonce, size_t nonce_length, size_t tag_length)
{
    struct run *run = malloc(sizeof *run);
    *run = started(key, seals, nonce);
    return run;
}

static int aad(void *made, const uint8_t *aad, size_t length)
{
    struct run *run = made;
    if (length)
        level->aad(run->key, run->hash, aad, (int)length);
    run->aad += length;
    return 1;
}

static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    struct run *run = made;
    if (length)
        (run->seals ? level->encrypt : level->decrypt)(run->key, run->counter, run->hash, input, output, (int)length);
    run->counter[0] += (length + 15) / 16;
    run->text += length;
    return 1;
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    uint8_t given[16] = { 0 }; /* it wants a buffer of 16 bytes, however short the tag is */
    if (!run->seals)
        return level->open(run->key, run->counter, run->hash, run->aad, run->text, length == 16 ? tag : memcpy(given, tag, length), (int)length);
    level->seal(run->key, run->counter, run->hash, run->aad, run->text);
    if (length == 16)
        memcpy(tag, run->hash, 16);
    else
        memcpy(tag, run->hash, length);
    return 1;
}

static inline int whole(void *key, int seals, const struct aead_message *m)
{
    struct run run = started(key, seals, m->nonce);
    aad(&run, m->aad, m->aad_length);
    if (m->length)
        (seals ? level->encrypt : level->decrypt)(key, run.counter, run.hash, m->input, m->output, (int)m->length);
    run.text = m->length;
    return finish(&run, m->tag, m->tag_length);
}

static int seal(void *key, const struct aead_message *m) { return whole(key, 1, m); }
static int open(void *key, const struct aead_message *m) { return whole(key, 0, m); }

static void *copy(void *run) { return memcpy(malloc(sizeof(struct run)), run, sizeof(struct run)); }

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_NULL | AEAD_GIVES_TAG | AEAD_OF_PIECES,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 12,
    .nonce_max = 12,
    .block = 16,
    .name = "Linux, assembly",
    .version = version,
    .levels = named,
    .start = start,
    .key = key,
    .free = aead_wiped,
    .seal = seal,
    .open = open,
    .rekey = rekey,
    .key_size = sizeof(struct key),
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = aead_wiped,
    .copy = copy,
};

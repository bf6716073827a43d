/* fastgcm's C library, linked static. `FASTGCM_BACKEND` names a back end.
 * levels: FASTGCM_BACKEND=vaes-avx512 FASTGCM_BACKEND=vaes-avx2 FASTGCM_BACKEND=aesni-avx FASTGCM_BACKEND=aesni-sse
 * levels: FASTGCM_BACKEND=vpaes-ssse3 FASTGCM_BACKEND=portable
 * before: cargo rustc --release -p fastgcm-capi --crate-type staticlib
 * link: -I$ROOT/crates/fastgcm-capi/include -L$ROOT/target/release -l:libfastgcm_capi.a -lpthread -lm -ldl */
#include "aead.h"
#include <fastgcm.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const fastgcm_key *key;
    fastgcm_pieces *pieces;
    int seals;
};

static const char *backend;

static const char *start(const char *level)
{
    static const uint8_t zeros[16];
    fastgcm_key *key = NULL;
    backend = getenv("FASTGCM_BACKEND");
    if (fastgcm_key_new(&key, zeros, sizeof zeros, backend) != FASTGCM_OK)
        return "this processor cannot run this back end";
    fastgcm_key_free(key);
    return NULL;
}

static void *key(const uint8_t *bytes, size_t length)
{
    fastgcm_key *key = NULL;
    return fastgcm_key_new(&key, bytes, length, backend) == FASTGCM_OK ? key : NULL;
}

static int seal(void *key, const struct aead_message *m)
{
    uint8_t tag[16];
    if (fastgcm_seal(key, m->nonce, m->nonce_length, m->aad, m->aad_length, m->input, m->length, m->output, tag) != FASTGCM_OK)
        return 0;
    memcpy(m->tag, tag, m->tag_length);
    return 1;
}

static int open(void *key, const struct aead_message *m)
{
    return fastgcm_open(key, m->nonce, m->nonce_length, m->aad, m->aad_length, m->input, m->length, m->tag, m->tag_length, m->output) == FASTGCM_OK;
}

static void *begin(void *key, int seals, const uint8_t *nonce, size_t nonce_length, size_t tag_length)
{
    struct run *run = malloc(sizeof *run);
    run->key = key;
    run->seals = seals;
    if (fastgcm_pieces_new(&run->pieces, key, nonce, nonce_length) == FASTGCM_OK)
        return run;
    free(run);
    return NULL;
}

static int aad(void *made, const uint8_t *aad, size_t length)
{
    struct run *run = made;
    return fastgcm_pieces_aad(run->pieces, run->key, aad, length) == FASTGCM_OK;
}

static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    struct run *run = made;
    return (run->seals ? fastgcm_pieces_seal : fastgcm_pieces_open)(run->pieces, run->key, input, length, output) == FASTGCM_OK;
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    uint8_t whole[16];
    if (!run->seals)
        return fastgcm_pieces_verify(run->pieces, run->key, tag, length) == FASTGCM_OK;
    int done = fastgcm_pieces_finish(run->pieces, run->key, whole) == FASTGCM_OK;
    memcpy(tag, whole, done ? length : 0);
    return done;
}

static void drop(void *made)
{
    struct run *run = made;
    fastgcm_pieces_free(run->pieces);
    free(run);
}

static void release(void *key) { fastgcm_key_free(key); }

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_OVERLAP | AEAD_NULL | AEAD_THREADS | AEAD_ZEROS,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "fastgcm, C",
    .version = fastgcm_version,
    .start = start,
    .key = key,
    .free = release,
    .seal = seal,
    .open = open,
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = drop,
};

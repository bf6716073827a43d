/* fastgcm's C library: each call from the key's bytes on, with the back end that it chooses for the row's processor. It allocates nothing, as a
 * wrapper would. For aarch64.sh. */
#include "gcm-prove.h"
#include <fastgcm.h>

static const fastgcm_key *made(const call *c) {
    fastgcm_key *key = (fastgcm_key *)c->place.at;
    return fastgcm_key_init(key, fastgcm_key_size(), c->key.at, c->key.size, NULL) ? NULL : key;
}
static uint64_t seal(const call *c) {
    const fastgcm_key *key = made(c);
    if (!key) return FAILED;
    return fastgcm_seal(key, c->nonce.at, c->nonce.size, c->aad.at, c->aad.size, c->from.at, c->from.size, c->to.at, c->tag.at) ? FAILED : DONE;
}
static uint64_t open(const call *c) {
    const fastgcm_key *key = made(c);
    if (!key) return FAILED;
    return fastgcm_open(key, c->nonce.at, c->nonce.size, c->aad.at, c->aad.size, c->from.at, c->from.size, c->tag.at, 16, c->to.at) ? REFUSED : DONE;
}

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16", "[]", "[]"},
    {"open", open, "Gcm Opens Apart Zeros 16", "[]", "[]"},
};

static const char *setup(const char *row) {
    static uint8_t key[16], place[65536] __attribute__((aligned(64)));
    return fastgcm_key_init((fastgcm_key *)place, sizeof place, key, sizeof key, row) ? "the library refuses the back end" : NULL;
}

TARGET(verbs, setup, "the library was asked whether it has the row, with a key of zeros")

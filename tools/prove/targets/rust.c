/* Libraries of Rust, by targets/rust. */
#include "gcm-prove.h"
#ifndef REFUSED_TEXT
#define REFUSED_TEXT "Unverified"
#endif

uint64_t prove_seal(const bytes *key, const bytes *nonce, const bytes *aad, const bytes *text, uint8_t *tag);
uint64_t prove_open(const bytes *key, const bytes *nonce, const bytes *aad, const bytes *text_and_tag);

static uint64_t seal(const call *c) { return prove_seal(&c->key, &c->nonce, &c->aad, &c->to, c->tag.at); }
static uint64_t open(const call *c) { return prove_open(&c->key, &c->nonce, &c->aad, &c->to); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals InPlace Zeros 16 heap", KEYS, "[12]"},
    {"open", open, "Gcm Opens InPlaceBehind " REFUSED_TEXT " 16 heap", KEYS, "[12]"},
};

static const char *setup(const char *row) {
    static uint8_t zeros[64], tag[16];
    (void)row;
    const bytes key = {zeros, 16}, nonce = {zeros, 12}, none = {zeros, 0}, text = {zeros, 48};
    return prove_seal(&key, &nonce, &none, &text, tag) ? "it does not seal" : NULL;
}

TARGET(verbs, setup, "the library has chosen its code, and sealed one text")

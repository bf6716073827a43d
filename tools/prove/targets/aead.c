/* EVP_AEAD of BoringSSL and AWS-LC. What is made once is made before all calls. */
#include "gcm-prove.h"
#include <openssl/aead.h>

static const EVP_AEAD *aeads[3];

static EVP_AEAD_CTX *context(const call *c) {
    EVP_AEAD_CTX *x = (void *)c->place.at;
    EVP_AEAD_CTX_zero(x);
    return EVP_AEAD_CTX_init(x, aeads[c->key.size / 8 - 2], c->key.at, c->key.size, 16, NULL) ? x : NULL;
}
static uint64_t seal_behind(const call *c) {
    EVP_AEAD_CTX *x = context(c);
    size_t l = 0, n = c->from.size;
    return !x || !EVP_AEAD_CTX_seal(x, c->to.at, &l, n + 16, c->nonce.at, c->nonce.size, c->from.at, n, c->aad.at, c->aad.size) || l != n + 16 ? FAILED : DONE;
}
static uint64_t open_behind(const call *c) {
    EVP_AEAD_CTX *x = context(c);
    size_t l = 0, n = c->from.size;
    if (!x) return FAILED;
    return EVP_AEAD_CTX_open(x, c->to.at, &l, n - 16, c->nonce.at, c->nonce.size, c->from.at, n, c->aad.at, c->aad.size) ? DONE : REFUSED;
}
static uint64_t scatter(const call *c, const bytes *from) {
    EVP_AEAD_CTX *x = context(c);
    size_t l = 0;
    return x && EVP_AEAD_CTX_seal_scatter(x, c->to.at, c->tag.at, &l, 16, c->nonce.at, c->nonce.size, from->at, from->size, NULL, 0, c->aad.at, c->aad.size)
               ? DONE : FAILED;
}
static uint64_t gather(const call *c, const bytes *from) {
    EVP_AEAD_CTX *x = context(c);
    if (!x) return FAILED;
    return EVP_AEAD_CTX_open_gather(x, c->to.at, c->nonce.at, c->nonce.size, from->at, from->size, c->tag.at, 16, c->aad.at, c->aad.size) ? DONE : REFUSED;
}
static uint64_t seal(const call *c) { return scatter(c, &c->from); }
static uint64_t open(const call *c) { return gather(c, &c->from); }
static uint64_t seal_in_place(const call *c) { return scatter(c, &c->to); }
static uint64_t open_in_place(const call *c) { return gather(c, &c->to); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
    {"open", open, "Gcm Opens Apart Unverified 16 heap", "[]", "[]"},
    {"seal in place", seal_in_place, "Gcm Seals InPlace Zeros 16 heap", "[]", "[]"},
    {"open in place", open_in_place, "Gcm Opens InPlace Unverified 16 heap", "[]", "[]"},
    {"seal with the tag behind", seal_behind, "Gcm Seals Behind Zeros 16 heap", "[]", "[]"},
    {"open with the tag behind", open_behind, "Gcm Opens Behind Zeros 16 heap", "[]", "[]"},
};

static const char *setup(const char *row) {
    static uint8_t key[32], out[64];
    (void)row;
#ifdef NAMED
    NAMED(row);
#endif
    aeads[0] = EVP_aead_aes_128_gcm(), aeads[1] = EVP_aead_aes_192_gcm(), aeads[2] = EVP_aead_aes_256_gcm();
    for (int i = 0; i < 3; i++) {
        size_t l;
        EVP_AEAD_CTX x;
        EVP_AEAD_CTX_zero(&x);
        if (!EVP_AEAD_CTX_init(&x, aeads[i], key, 16 + 8 * i, 16, NULL)) return "a key is refused";
        if (!EVP_AEAD_CTX_seal(&x, out, &l, 48, key, 12, key, 17, key, 3)) return "it does not seal";
        if (EVP_AEAD_CTX_open(&x, out, &l, 48, key, 12, key, 30, key, 3)) return "it opens what is wrong";
        EVP_AEAD_CTX_cleanup(&x);
    }
    return NULL;
}

TARGET(verbs, setup, "the library has chosen its code, and sealed and refused one text with each size of keys")

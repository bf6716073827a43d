/* OpenSSL's EVP. Ciphers are fetched, and contexts made and used once, before all calls. */
#include "gcm-prove.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>

static EVP_CIPHER *ciphers[3];
static EVP_CIPHER_CTX *contexts[3];

static uint64_t run(const call *c, EVP_CIPHER_CTX *x, int seals, int inplace, int cut) {
    const int which = (int)c->key.size / 8 - 2;
    EVP_CIPHER *cipher = ciphers[which];
    int l = 0;
    if (c->nonce.size != 12) {
        if (!EVP_CipherInit_ex2(x, cipher, NULL, NULL, seals, NULL)) return FAILED;
        if (!EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_IVLEN, (int)c->nonce.size, NULL)) return FAILED;
        cipher = NULL;
    }
    if (!EVP_CipherInit_ex2(x, cipher, c->key.at, c->nonce.at, seals, NULL)) return FAILED;
    if (!seals && !EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_TAG, 16, c->tag.at)) return FAILED;
    if (c->aad.size && !EVP_CipherUpdate(x, NULL, &l, c->aad.at, (int)c->aad.size)) return FAILED;
    const uint8_t *from = inplace ? c->to.at : c->from.at;
    const size_t n = c->to.size, ends[] = {cut ? c->cuts[0] : n, cut ? c->cuts[1] : n, n};
    for (size_t i = 0, at = 0; i < 3; at = ends[i++]) {
        size_t len = ends[i] - at;
        if (len && (!EVP_CipherUpdate(x, c->to.at + at, &l, from + at, (int)len) || l != (int)len)) return FAILED;
    }
    if (EVP_CipherFinal_ex(x, c->to.at + n, &l) <= 0) return seals ? FAILED : REFUSED;
    return seals && !EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG, 16, c->tag.at) ? FAILED : DONE;
}

#define CONTEXT(c) contexts[(c)->key.size / 8 - 2]
static uint64_t seal(const call *c) { return run(c, CONTEXT(c), 1, 0, 0); }
static uint64_t open(const call *c) { return run(c, CONTEXT(c), 0, 0, 0); }
static uint64_t seal_in_place(const call *c) { return run(c, CONTEXT(c), 1, 1, 0); }
static uint64_t open_in_place(const call *c) { return run(c, CONTEXT(c), 0, 1, 0); }
static uint64_t seal_pieces(const call *c) { return run(c, CONTEXT(c), 1, 0, 1); }
static uint64_t open_pieces(const call *c) { return run(c, CONTEXT(c), 0, 0, 1); }
static uint64_t seal_new(const call *c) {
    EVP_CIPHER_CTX *x = EVP_CIPHER_CTX_new();
    return x ? run(c, x, 1, 0, 0) : FAILED;
}

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
    {"open", open, "Gcm Opens Apart Unverified 16 heap", "[]", "[]"},
    {"seal in place", seal_in_place, "Gcm Seals InPlace Zeros 16 heap", "[]", "[]"},
    {"open in place", open_in_place, "Gcm Opens InPlace Unverified 16 heap", "[]", "[]"},
    {"seal in pieces", seal_pieces, "Gcm Seals Apart Zeros 16 cut heap", "[]", "[]"},
    {"open in pieces", open_pieces, "Gcm Opens Apart Unverified 16 cut heap", "[]", "[]"},
    {"seal with a new context", seal_new, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
};

static const char *setup(const char *row) {
    static const char *const names[] = {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"};
    static uint8_t key[32], out[64];
    (void)row;
    for (int i = 0; i < 3; i++) {
        int l;
        ciphers[i] = EVP_CIPHER_fetch(NULL, names[i], NULL);
        contexts[i] = EVP_CIPHER_CTX_new();
        if (!EVP_CipherInit_ex2(contexts[i], ciphers[i], key, key, 1, NULL)) return "a cipher is not there";
        EVP_CipherUpdate(contexts[i], NULL, &l, key, 3);
        EVP_CipherUpdate(contexts[i], out, &l, key, 17);
        EVP_CipherFinal_ex(contexts[i], out + 17, &l);
        EVP_CIPHER_CTX_ctrl(contexts[i], EVP_CTRL_AEAD_GET_TAG, 16, out);
        EVP_CIPHER_CTX_reset(contexts[i]);
    }
    return NULL;
}

TARGET(verbs, setup, OPENSSL_VERSION_TEXT ": the library has chosen its code, ciphers are fetched, three contexts were used once")

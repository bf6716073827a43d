/* Mbed TLS, as Debian has it.
 * link: -I$MADE/include $MADE/libmbedcrypto.a */
#include "gcm-prove.h"
#include <mbedtls/gcm.h>
#include <mbedtls/version.h>

static mbedtls_gcm_context *key(const call *c) {
    mbedtls_gcm_context *x = (void *)c->place.at;
    mbedtls_gcm_init(x);
    return mbedtls_gcm_setkey(x, MBEDTLS_CIPHER_ID_AES, c->key.at, 8 * (unsigned)c->key.size) ? NULL : x;
}
static uint64_t seal(const call *c) {
    mbedtls_gcm_context *x = key(c);
    return !x || mbedtls_gcm_crypt_and_tag(x, MBEDTLS_GCM_ENCRYPT, c->from.size, c->nonce.at, c->nonce.size, c->aad.at, c->aad.size, c->from.at, c->to.at, 16,
                                           c->tag.at) ? FAILED : DONE;
}
static uint64_t open(const call *c) {
    mbedtls_gcm_context *x = key(c);
    if (!x) return FAILED;
    const int r = mbedtls_gcm_auth_decrypt(x, c->from.size, c->nonce.at, c->nonce.size, c->aad.at, c->aad.size, c->tag.at, 16, c->from.at, c->to.at);
    return r == 0 ? DONE : r == MBEDTLS_ERR_GCM_AUTH_FAILED ? REFUSED : FAILED;
}

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
    {"open", open, "Gcm Opens Apart Zeros 16 heap", "[]", "[]"},
};

static const char *setup(const char *row) {
    static mbedtls_gcm_context x;
    static uint8_t zeros[64], tag[16];
    (void)row;
    mbedtls_gcm_init(&x);
    if (mbedtls_gcm_setkey(&x, MBEDTLS_CIPHER_ID_AES, zeros, 128)) return "no AES-GCM";
    return mbedtls_gcm_crypt_and_tag(&x, MBEDTLS_GCM_ENCRYPT, 32, zeros, 12, zeros, 3, zeros, zeros + 32, 16, tag) ? "it does not seal" : NULL;
}

TARGET(verbs, setup, "Mbed TLS " MBEDTLS_VERSION_STRING ": one text was sealed")

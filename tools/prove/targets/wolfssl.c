/* wolfSSL, its AES-GCM for Intel, with the settings of tools/bench.
 * link: -DWOLFSSL_USER_SETTINGS -I$ROOT/tools/aead/libraries/wolfssl -I$MADE -maes -mpclmul -mssse3 -msse4.1 -O3 $MADE/wolfcrypt/src/aes.c $MADE/wolfcrypt/src/cpuid.c $MADE/wolfcrypt/src/memory.c $MADE/wolfcrypt/src/aes_asm.S $MADE/wolfcrypt/src/aes_gcm_asm.S */
#include "gcm-prove.h"
#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

static Aes *key(const call *c) {
    Aes *aes = (Aes *)c->place.at;
    return wc_AesInit(aes, NULL, INVALID_DEVID) || wc_AesGcmSetKey(aes, c->key.at, (word32)c->key.size) ? NULL : aes;
}
static uint64_t sealed(const call *c, const uint8_t *from) {
    Aes *aes = key(c);
    return !aes || wc_AesGcmEncrypt(aes, c->to.at, from, (word32)c->to.size, c->nonce.at, (word32)c->nonce.size, c->tag.at, 16, c->aad.at, (word32)c->aad.size)
               ? FAILED : DONE;
}
static uint64_t opened(const call *c, const uint8_t *from) {
    Aes *aes = key(c);
    if (!aes) return FAILED;
    const int r = wc_AesGcmDecrypt(aes, c->to.at, from, (word32)c->to.size, c->nonce.at, (word32)c->nonce.size, c->tag.at, 16, c->aad.at, (word32)c->aad.size);
    return r == 0 ? DONE : r == AES_GCM_AUTH_E ? REFUSED : FAILED;
}
static uint64_t seal(const call *c) { return sealed(c, c->from.at); }
static uint64_t open(const call *c) { return opened(c, c->from.at); }
static uint64_t seal_in_place(const call *c) { return sealed(c, c->to.at); }
static uint64_t open_in_place(const call *c) { return opened(c, c->to.at); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
    {"open", open, "Gcm Opens Apart Unverified 16 heap", "[]", "[]"},
    {"seal in place", seal_in_place, "Gcm Seals InPlace Zeros 16 heap", "[]", "[]"},
    {"open in place", open_in_place, "Gcm Opens InPlace Unverified 16 heap", "[]", "[]"},
};

static const char *setup(const char *row) {
    static uint8_t place[65536] __attribute__((aligned(64))), zeros[64], tag[16];
    (void)row;
    Aes *aes = (Aes *)place;
    if (wc_AesInit(aes, NULL, INVALID_DEVID) || wc_AesGcmSetKey(aes, zeros, 16)) return "no AES-GCM";
    return wc_AesGcmEncrypt(aes, place + 32768, zeros, 33, zeros, 12, tag, 16, zeros, 3) ? "it does not seal" : NULL;
}

TARGET(verbs, setup, "the library has chosen its code, and sealed one text")

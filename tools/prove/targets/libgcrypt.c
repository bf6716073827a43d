/* libgcrypt, as Debian has it. Handles are made once; a call sets the key.
 * link: -I$MADE/include -I$MADE/include/x86_64-linux-gnu $MADE/libgcrypt.a $MADE/libgpg-error.a */
#include "gcm-prove.h"
#include <gcrypt.h>

static gcry_cipher_hd_t handles[3];

static gcry_cipher_hd_t begun(const call *c) {
    gcry_cipher_hd_t h = handles[c->key.size / 8 - 2];
    if (gcry_cipher_setkey(h, c->key.at, c->key.size) || gcry_cipher_setiv(h, c->nonce.at, c->nonce.size)) return NULL;
    return gcry_cipher_authenticate(h, c->aad.at, c->aad.size) ? NULL : h;
}
static uint64_t run(const call *c, int seals, const uint8_t *from, int cut) {
    gcry_cipher_hd_t h = begun(c);
    const size_t n = c->to.size, ends[] = {cut ? c->cuts[0] : 0, cut ? c->cuts[1] : 0, n};
    if (!h) return FAILED;
    for (size_t i = 0, at = 0; i < 3; at = ends[i++]) {
        const size_t len = ends[i] - at;
        if (i == 2) gcry_cipher_final(h);
        if (seals ? gcry_cipher_encrypt(h, c->to.at + at, len, from ? from + at : NULL, from ? len : 0)
                  : gcry_cipher_decrypt(h, c->to.at + at, len, from ? from + at : NULL, from ? len : 0))
            return FAILED;
    }
    if (seals) return gcry_cipher_gettag(h, c->tag.at, 16) ? FAILED : DONE;
    return gcry_cipher_checktag(h, c->tag.at, 16) ? REFUSED : DONE;
}

static uint64_t seal(const call *c) { return run(c, 1, c->from.at, 0); }
static uint64_t open(const call *c) { return run(c, 0, c->from.at, 0); }
static uint64_t seal_in_place(const call *c) { return run(c, 1, NULL, 0); }
static uint64_t open_in_place(const call *c) { return run(c, 0, NULL, 0); }
static uint64_t seal_pieces(const call *c) { return run(c, 1, c->from.at, 1); }
static uint64_t open_pieces(const call *c) { return run(c, 0, c->from.at, 1); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
    {"open", open, "Gcm Opens Apart Unverified 16 heap", "[]", "[]"},
    {"seal in place", seal_in_place, "Gcm Seals InPlace Zeros 16 heap", "[]", "[]"},
    {"open in place", open_in_place, "Gcm Opens InPlace Unverified 16 heap", "[]", "[]"},
    {"seal in pieces", seal_pieces, "Gcm Seals Apart Zeros 16 cut heap", "[]", "[]"},
    {"open in pieces", open_pieces, "Gcm Opens Apart Unverified 16 cut heap", "[]", "[]"},
};

static const char *setup(const char *row) {
    static const int ciphers[] = {GCRY_CIPHER_AES128, GCRY_CIPHER_AES192, GCRY_CIPHER_AES256};
    static uint8_t key[32], out[64];
    (void)row;
    if (!gcry_check_version(NULL)) return "another version";
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    for (int i = 0; i < 3; i++) {
        if (gcry_cipher_open(&handles[i], ciphers[i], GCRY_CIPHER_MODE_GCM, 0)) return "no AES-GCM";
        gcry_cipher_setkey(handles[i], key, 16 + 8 * (size_t)i);
        gcry_cipher_setiv(handles[i], key, 12);
        gcry_cipher_encrypt(handles[i], out, 33, key, 32);
    }
    return NULL;
}

TARGET(verbs, setup, "libgcrypt " GCRYPT_VERSION ": initialised; three handles were used once")

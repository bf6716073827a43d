/* BoringSSL: EVP_AEAD, the tag apart, by the two calls that all others go through. A new key: `cleanup` and `init` on the same context. What works in
 * pieces is `boringssl-evp` of builds.txt.
 * without: OPENSSL_ia32cap
 * made: boringssl
 * link: -I$MADE/include $MADE/libcrypto.a -lstdc++ -lpthread */
#include "aead.h"
#include <openssl/aead.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A context is for one length of tag. */
struct key {
    EVP_AEAD_CTX context;
    size_t tag_length, length;
    uint8_t bytes[32];
};

#ifdef OPENSSL_IS_AWSLC /* aws-lc.c */
#define NAME "AWS-LC, EVP_AEAD"
static const char *version(void) { return OpenSSL_version(OPENSSL_VERSION); }
#else
#define NAME "BoringSSL, EVP_AEAD"
static const char *version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "API %d", BORINGSSL_API_VERSION);
    return text;
}
#endif

static void release(void *made)
{
    EVP_AEAD_CTX_cleanup(&((struct key *)made)->context);
    aead_wiped(made);
}

static __attribute__((noinline)) int made_ready(struct key *key, size_t tag_length)
{
    if (tag_length == 0) /* which would stand for 16 */
        return 0;
#ifdef SIV /* the builds for AES-GCM-SIV of builds.txt */
    const EVP_AEAD *which = key->length == 16 ? EVP_aead_aes_128_gcm_siv() : EVP_aead_aes_256_gcm_siv();
#else
    const EVP_AEAD *which = key->length == 16 ? EVP_aead_aes_128_gcm() : key->length == 24 ? EVP_aead_aes_192_gcm() : EVP_aead_aes_256_gcm();
#endif
    EVP_AEAD_CTX_cleanup(&key->context);
    int done = EVP_AEAD_CTX_init(&key->context, which, key->bytes, key->length, tag_length, NULL);
    key->tag_length = done ? tag_length : 0;
    return done;
}

static inline int ready(struct key *key, size_t tag_length)
{
    return (tag_length == key->tag_length && tag_length > 0) || made_ready(key, tag_length);
}

static void rekey(void *made, const uint8_t *bytes, size_t length)
{
    struct key *key = made;
    memcpy(key->bytes, bytes, length);
    key->length = length;
    made_ready(key, 16);
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = malloc(sizeof *key);
    EVP_AEAD_CTX_zero(&key->context);
    rekey(key, bytes, length);
    return key;
}

#ifndef LEVELS
#define LEVELS "OPENSSL_ia32cap"
#define START NULL
#endif
static const char *levels(void) { return LEVELS; }

static int seal(void *made, const struct aead_message *m)
{
    struct key *key = made;
    size_t tag;
    return ready(key, m->tag_length)
        && EVP_AEAD_CTX_seal_scatter(&key->context, m->output, m->tag, &tag, m->tag_length, m->nonce, m->nonce_length, m->input, m->length, NULL, 0,
                                     m->aad, m->aad_length)
        && tag == m->tag_length;
}

static int open(void *made, const struct aead_message *m)
{
    struct key *key = made;
    return ready(key, m->tag_length)
        && EVP_AEAD_CTX_open_gather(&key->context, m->output, m->nonce, m->nonce_length, m->input, m->length, m->tag, m->tag_length, m->aad,
                                    m->aad_length);
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE,
#ifdef SIV
    .algorithm = AEAD_AES_GCM_SIV,
    .keys = 1 | 4,
    .nonce_min = 12,
    .nonce_max = 12,
    .name = NAME ", AES-GCM-SIV",
#else
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = NAME,
#endif
    .version = version,
    .levels = levels,
    .start = START,
    .key = key,
    .rekey = rekey,
    .key_size = sizeof(EVP_AEAD_CTX),
    .free = release,
    .seal = seal,
    .open = open,
};

/* BoringSSL: EVP_AEAD, the tag apart. What works in pieces is in boringssl-evp.c.
 * without: OPENSSL_ia32cap
 * built: boringssl
 * link: -I$(boring-sys)/boringssl/include $(boring-sys)/build/libcrypto.a -lstdc++ -lpthread */
#include "referee.h"
#include <openssl/aead.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A context is for one length of tag. */
struct key {
    uint8_t bytes[32];
    size_t length, tag_length;
    EVP_AEAD_CTX context;
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
    referee_wiped(made);
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = calloc(1, sizeof *key);
    memcpy(key->bytes, bytes, length);
    key->length = length;
    EVP_AEAD_CTX_zero(&key->context);
    return key;
}

static int ready(struct key *key, size_t tag_length)
{
    if (tag_length == key->tag_length)
        return tag_length > 0; /* 0 stands for 16 */
#ifdef SIV /* boringssl-siv.c and aws-lc-siv.c */
    const EVP_AEAD *which = key->length == 16 ? EVP_aead_aes_128_gcm_siv() : EVP_aead_aes_256_gcm_siv();
#else
    const EVP_AEAD *which = key->length == 16 ? EVP_aead_aes_128_gcm() : key->length == 24 ? EVP_aead_aes_192_gcm() : EVP_aead_aes_256_gcm();
#endif
    EVP_AEAD_CTX_cleanup(&key->context);
    int done = EVP_AEAD_CTX_init(&key->context, which, key->bytes, key->length, tag_length, NULL);
    key->tag_length = done ? tag_length : 0;
    return done;
}

static int seal(void *made, const struct referee_message *m)
{
    struct key *key = made;
    size_t tag;
    return ready(key, m->tag_length)
        && EVP_AEAD_CTX_seal_scatter(&key->context, m->output, m->tag, &tag, m->tag_length, m->nonce, m->nonce_length, m->input, m->length, NULL, 0,
                                     m->aad, m->aad_length)
        && tag == m->tag_length;
}

static int open(void *made, const struct referee_message *m)
{
    struct key *key = made;
    return ready(key, m->tag_length)
        && EVP_AEAD_CTX_open_gather(&key->context, m->output, m->nonce, m->nonce_length, m->input, m->length, m->tag, m->tag_length, m->aad,
                                    m->aad_length);
}

const struct referee_plugin referee_plugin = {
    .interface = REFEREE_INTERFACE,
    .offers = REFEREE_IN_PLACE,
#ifdef SIV
    .algorithm = REFEREE_AES_GCM_SIV,
    .keys = 1 | 4,
    .nonce_min = 12,
    .nonce_max = 12,
    .name = NAME ", AES-GCM-SIV",
#else
    .keys = REFEREE_KEYS_ALL,
    .tags = REFEREE_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = NAME,
#endif
    .version = version,
    .key = key,
    .free = release,
    .seal = seal,
    .open = open,
};

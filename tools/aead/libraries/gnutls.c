/* GnuTLS: gnutls_aead_cipher, with the tag behind the ciphertext.
 * levels: GNUTLS_CPUID_OVERRIDE=0x1 GNUTLS_CPUID_OVERRIDE=0x2 GNUTLS_CPUID_OVERRIDE=0x4 GNUTLS_CPUID_OVERRIDE=0x6 GNUTLS_CPUID_OVERRIDE=0x8
 * levels: GNUTLS_CPUID_OVERRIDE=0xa GNUTLS_CPUID_OVERRIDE=0xc GNUTLS_CPUID_OVERRIDE=0xe GNUTLS_CPUID_OVERRIDE=0x6e GNUTLS_CPUID_OVERRIDE=0x42
 * link: -lgnutls
 * debian: libgnutls28-dev */
#include "aead.h"
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

static const char *version(void) { return gnutls_check_version(NULL); }

static void *key(const uint8_t *bytes, size_t length)
{
    gnutls_aead_cipher_hd_t handle;
    gnutls_datum_t key = { (unsigned char *)bytes, (unsigned)length };
    int which = length == 16 ? GNUTLS_CIPHER_AES_128_GCM : length == 24 ? GNUTLS_CIPHER_AES_192_GCM : GNUTLS_CIPHER_AES_256_GCM;
    return gnutls_aead_cipher_init(&handle, which, &key) == 0 ? handle : NULL;
}

static void release(void *key) { gnutls_aead_cipher_deinit(key); }

/* Its tag stands behind the ciphertext: scattered, so that the text is written where the caller wants it. */
static int seal(void *key, const struct aead_message *m)
{
    giovec_t aad = { (void *)m->aad, m->aad_length }, text = { m->output, m->length };
    size_t tag = m->tag_length;
    memmove(m->output, m->input, m->length);
    return gnutls_aead_cipher_encryptv2(key, m->nonce, m->nonce_length, &aad, 1, &text, 1, m->tag, &tag) == 0 && tag == m->tag_length;
}

static int open(void *key, const struct aead_message *m)
{
    giovec_t aad = { (void *)m->aad, m->aad_length }, text = { m->output, m->length };
    memmove(m->output, m->input, m->length);
    return gnutls_aead_cipher_decryptv2(key, m->nonce, m->nonce_length, &aad, 1, &text, 1, m->tag, m->tag_length) == 0;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAG(16),
    .nonce_min = 12,
    .nonce_max = 12,
    .name = "GnuTLS",
    .version = version,
    .key = key,
    .free = release,
    .seal = seal,
    .open = open,
};

/* mbedTLS: mbedtls_gcm. Up to version 2 pieces are multiples of a block, and AAD is one piece.
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSSE3
 * link: -lmbedcrypto
 * debian: libmbedtls-dev */
#include "aead.h"
#include <mbedtls/gcm.h>
#include <mbedtls/version.h>
#include <stdlib.h>

static const char *version(void)
{
    static char text[16];
    mbedtls_version_get_string(text);
    return text;
}

static void release(void *key)
{
    mbedtls_gcm_free(key);
    free(key);
}

static void *key(const uint8_t *bytes, size_t length)
{
    mbedtls_gcm_context *key = malloc(sizeof *key);
    mbedtls_gcm_init(key);
    if (mbedtls_gcm_setkey(key, MBEDTLS_CIPHER_ID_AES, bytes, 8 * length) == 0)
        return key;
    release(key);
    return NULL;
}

static int seal(void *key, const struct aead_message *m)
{
    return mbedtls_gcm_crypt_and_tag(key, MBEDTLS_GCM_ENCRYPT, m->length, m->nonce, m->nonce_length, m->aad, m->aad_length, m->input, m->output,
                                     m->tag_length, m->tag) == 0;
}

static int open(void *key, const struct aead_message *m)
{
    return mbedtls_gcm_auth_decrypt(key, m->length, m->nonce, m->nonce_length, m->aad, m->aad_length, m->tag, m->tag_length, m->input,
                                    m->output) == 0;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_ZEROS,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = "mbedTLS",
    .version = version,
    .key = key,
    .free = release,
    .seal = seal,
    .open = open,
};

/* libsodium: crypto_aead_aes256gcm_*_detached_afternm.
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSSE3
 * link: -lsodium
 * debian: libsodium-dev */
#include "aead.h"
#include <sodium.h>
#include <stdlib.h>

static const char *version(void) { return sodium_version_string(); }
static const char *start(const char *level)
{
    return sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() ? NULL : "it has no AES-256-GCM on this machine";
}

static void rekey(void *key, const uint8_t *bytes, size_t length) { crypto_aead_aes256gcm_beforenm(key, bytes); }

static void *key(const uint8_t *bytes, size_t length)
{
    crypto_aead_aes256gcm_state *key = aligned_alloc(16, sizeof *key);
    crypto_aead_aes256gcm_beforenm(key, bytes);
    return key;
}

static int seal(void *key, const struct aead_message *m)
{
    return crypto_aead_aes256gcm_encrypt_detached_afternm(m->output, m->tag, NULL, m->input, m->length, m->aad, m->aad_length, NULL, m->nonce,
                                                          key) == 0;
}

static int open(void *key, const struct aead_message *m)
{
    return crypto_aead_aes256gcm_decrypt_detached_afternm(m->output, NULL, m->input, m->length, m->tag, m->aad, m->aad_length, m->nonce, key) == 0;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_THREADS,
    .keys = 4,
    .tags = AEAD_TAG(16),
    .nonce_min = 12,
    .nonce_max = 12,
    .name = "libsodium",
    .version = version,
    .start = start,
    .key = key,
    .free = aead_wiped,
    .seal = seal,
    .open = open,
    .rekey = rekey,
    .key_size = sizeof(crypto_aead_aes256gcm_state),
};

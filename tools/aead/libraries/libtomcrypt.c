/* LibTomCrypt: gcm_init and what follows. The tag is compared by the caller.
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSSE3
 * link: -ltomcrypt
 * debian: libtomcrypt-dev */
#include "aead.h"
#include <stdlib.h>
#include <string.h>
#include <tomcrypt.h>

struct run {
    gcm_state state;
    int seals;
};

static const char *version(void) { return SCRYPT; }
static const char *start(const char *level) { return register_cipher(&aes_desc) >= 0 ? NULL : "it takes no AES"; }

static void *key(const uint8_t *bytes, size_t length)
{
    struct run *key = aligned_alloc(64, (sizeof *key + 63) / 64 * 64);
    if (gcm_init(&key->state, find_cipher("aes"), bytes, (int)length) == CRYPT_OK)
        return key;
    aead_wiped(key);
    return NULL;
}

static void *copy(void *run)
{
    struct run *copy = aligned_alloc(64, (sizeof *copy + 63) / 64 * 64);
    memcpy(copy, run, sizeof *copy);
    return copy;
}

static void *begin(void *key, int seals, const uint8_t *nonce, size_t length, size_t tag_length)
{
    struct run *run = copy(key);
    run->seals = seals;
    if (gcm_reset(&run->state) == CRYPT_OK && gcm_add_iv(&run->state, nonce, length) == CRYPT_OK)
        return run;
    aead_wiped(run);
    return NULL;
}

static int aad(void *run, const uint8_t *aad, size_t length) { return gcm_add_aad(&((struct run *)run)->state, aad, length) == CRYPT_OK; }

static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    struct run *run = made;
    return (run->seals ? gcm_process(&run->state, (uint8_t *)input, length, output, GCM_ENCRYPT)
                       : gcm_process(&run->state, output, length, (uint8_t *)input, GCM_DECRYPT)) == CRYPT_OK;
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    unsigned char found[16];
    unsigned long size = sizeof found;
    if (length > size || gcm_done(&run->state, found, &size) != CRYPT_OK)
        return 0;
    if (!run->seals)
        return XMEM_NEQ(found, tag, length) == 0;
    memcpy(tag, found, length);
    return 1;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_GIVES_TAG,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "LibTomCrypt",
    .version = version,
    .start = start,
    .key = key,
    .free = aead_wiped,
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = aead_wiped,
    .copy = copy,
};

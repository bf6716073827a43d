/* wolfSSL: wc_AesGcmEncrypt and wc_AesGcmDecrypt, as Debian 12 builds them.
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSSE3
 * link: -lwolfssl
 * debian: libwolfssl-dev */
#include "aead.h"
#ifdef WOLFSSL_USER_SETTINGS /* `wolfssl-5.9` of builds.txt */
#include <wolfssl/wolfcrypt/settings.h>
#else
#include <wolfssl/options.h>
#endif
#include <wolfssl/version.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <stdlib.h>

#ifdef WOLFSSL_USER_SETTINGS
#include <string.h>
#include <wolfssl/wolfcrypt/cpuid.h>
/* What REFEREE_WOLFSSL names is taken from the processor. */
static const char *start(const char *level)
{
    static const struct {
        const char *name;
        word32 flag;
    } features[] = { { "aesni", CPUID_AESNI }, { "avx1", CPUID_AVX1 }, { "avx2", CPUID_AVX2 }, { "bmi2", CPUID_BMI2 }, { "movbe", CPUID_MOVBE } };
    const char *without = getenv("REFEREE_WOLFSSL");
    cpuid_get_flags();
    for (size_t i = 0; without && i < sizeof features / sizeof features[0]; i++)
        if (strstr(without, features[i].name))
            cpuid_clear_flag(features[i].flag);
    return NULL;
}
#define START start
#else
#define START NULL
#endif

static const char *version(void) { return LIBWOLFSSL_VERSION_STRING; }

static void release(void *key)
{
    wc_AesFree(key);
    free(key);
}

static void rekey(void *key, const uint8_t *bytes, size_t length) { wc_AesGcmSetKey(key, bytes, (word32)length); }

static void *key(const uint8_t *bytes, size_t length)
{
    Aes *key = aligned_alloc(64, (sizeof *key + 63) / 64 * 64);
    if (wc_AesInit(key, NULL, INVALID_DEVID) == 0 && wc_AesGcmSetKey(key, bytes, (word32)length) == 0)
        return key;
    release(key);
    return NULL;
}

static int seal(void *key, const struct aead_message *m)
{
    return wc_AesGcmEncrypt(key, m->output, m->input, (word32)m->length, m->nonce, (word32)m->nonce_length, m->tag, (word32)m->tag_length,
                            m->aad, (word32)m->aad_length) == 0;
}

static int open(void *key, const struct aead_message *m)
{
    return wc_AesGcmDecrypt(key, m->output, m->input, (word32)m->length, m->nonce, (word32)m->nonce_length, m->tag, (word32)m->tag_length,
                            m->aad, (word32)m->aad_length) == 0;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL & ~(AEAD_TAG(4) | AEAD_TAG(8)), /* WOLFSSL_MIN_AUTH_TAG_SZ is 12 unless built otherwise */
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = "wolfSSL",
    .version = version,
    .start = START,
    .key = key,
    .free = release,
    .seal = seal,
    .open = open,
    .rekey = rekey,
    .key_size = sizeof(Aes),
};

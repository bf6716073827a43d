/* BearSSL: br_gcm over its constant-time AES (br_aes_ct64) and GHASH (br_ghash_ctmul64).
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX_Fast_Unaligned_Load GLIBC_TUNABLES=glibc.cpu.hwcaps=-SSSE3
 * link: -lbearssl
 * debian: libbearssl-dev */
#include "aead.h"
#include <bearssl.h>
#include <stdlib.h>
#include <string.h>

struct run {
    br_gcm_context context;
    int seals;
};

static void *key(const uint8_t *bytes, size_t length)
{
    br_aes_ct64_ctr_keys *key = malloc(sizeof *key);
    br_aes_ct64_ctr_init(key, bytes, length);
    return key;
}

static void *begin(void *key, int seals, const uint8_t *nonce, size_t length, size_t tag_length)
{
    struct run *run = malloc(sizeof *run);
    run->seals = seals;
    br_gcm_init(&run->context, (const br_block_ctr_class **)key, br_ghash_ctmul64);
    br_gcm_reset(&run->context, nonce, length);
    return run;
}

static int aad(void *run, const uint8_t *aad, size_t length)
{
    br_gcm_aad_inject(&((struct run *)run)->context, aad, length);
    return 1;
}

/* It works in place, and AAD ends with a call of `flip`: before the first text, or before the tag. */
static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    struct run *run = made;
    if (run->seals < 2) {
        br_gcm_flip(&run->context);
        run->seals += 2;
    }
    memmove(output, input, length);
    br_gcm_run(&run->context, run->seals - 2, output, length);
    return 1;
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    uint8_t found[16], none[1];
    update(run, none, none, 0);
    if (length > 16)
        return 0;
    if (run->seals == 2)
        return br_gcm_check_tag_trunc(&run->context, tag, length) == 1;
    br_gcm_get_tag(&run->context, found);
    memcpy(tag, found, length);
    return 1;
}

static void *copy(void *run)
{
    struct run *copy = malloc(sizeof *copy);
    memcpy(copy, run, sizeof *copy);
    return copy;
}

static const char *version(void) { return "0.6"; }

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "BearSSL",
    .version = version,
    .key = key,
    .free = aead_wiped,
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = aead_wiped,
    .copy = copy,
};

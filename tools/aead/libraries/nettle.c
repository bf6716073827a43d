/* nettle: gcm_aes128 and its like. Pieces of AAD and of text are multiples of a block; the tag is compared by the caller.
 * levels: NETTLE_FAT_OVERRIDE=vendor:amd NETTLE_FAT_OVERRIDE=vendor:intel,aesni NETTLE_FAT_OVERRIDE=vendor:intel,pclmul
 * link: -lnettle
 * debian: nettle-dev */
#include "aead.h"
#include <nettle/gcm.h>
#include <nettle/memops.h>
#include <nettle/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keyed part of a context is made once, and copied for a message. */
struct run {
    union {
        struct gcm_aes128_ctx a;
        struct gcm_aes192_ctx b;
        struct gcm_aes256_ctx c;
    } context;
    size_t length;
    int seals;
};

#define EACH(run, call128, call192, call256) ((run)->length == 16 ? (call128) : (run)->length == 24 ? (call192) : (call256))

static const char *version(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%d.%d", nettle_version_major(), nettle_version_minor());
    return text;
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct run *key = malloc(sizeof *key);
    key->length = length;
    EACH(key, gcm_aes128_set_key(&key->context.a, bytes), gcm_aes192_set_key(&key->context.b, bytes), gcm_aes256_set_key(&key->context.c, bytes));
    return key;
}

static void *copy(void *run)
{
    struct run *copy = malloc(sizeof *copy);
    memcpy(copy, run, sizeof *copy);
    return copy;
}

static void *begin(void *key, int seals, const uint8_t *nonce, size_t length, size_t tag_length)
{
    struct run *run = copy(key);
    run->seals = seals;
    EACH(run, gcm_aes128_set_iv(&run->context.a, length, nonce), gcm_aes192_set_iv(&run->context.b, length, nonce),
         gcm_aes256_set_iv(&run->context.c, length, nonce));
    return run;
}

static int aad(void *made, const uint8_t *aad, size_t length)
{
    struct run *run = made;
    EACH(run, gcm_aes128_update(&run->context.a, length, aad), gcm_aes192_update(&run->context.b, length, aad),
         gcm_aes256_update(&run->context.c, length, aad));
    return 1;
}

static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    struct run *run = made;
    if (run->seals)
        EACH(run, gcm_aes128_encrypt(&run->context.a, length, output, input), gcm_aes192_encrypt(&run->context.b, length, output, input),
             gcm_aes256_encrypt(&run->context.c, length, output, input));
    else
        EACH(run, gcm_aes128_decrypt(&run->context.a, length, output, input), gcm_aes192_decrypt(&run->context.b, length, output, input),
             gcm_aes256_decrypt(&run->context.c, length, output, input));
    return 1;
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    uint8_t found[16], *to = run->seals ? tag : found;
    if (length > sizeof found)
        return 0;
    EACH(run, gcm_aes128_digest(&run->context.a, length, to), gcm_aes192_digest(&run->context.b, length, to),
         gcm_aes256_digest(&run->context.c, length, to));
    return run->seals || memeql_sec(found, tag, length);
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_GIVES_TAG,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 16,
    .name = "nettle",
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

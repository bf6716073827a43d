/* libgcrypt: gcry_cipher, in pieces.
 * without: REFEREE_LIBGCRYPT=intel-aesni REFEREE_LIBGCRYPT=intel-pclmul REFEREE_LIBGCRYPT=intel-ssse3 REFEREE_LIBGCRYPT=intel-sse4.1
 * without: REFEREE_LIBGCRYPT=intel-avx REFEREE_LIBGCRYPT=intel-avx2 REFEREE_LIBGCRYPT=intel-bmi2 REFEREE_LIBGCRYPT=intel-vaes-vpclmul
 * link: -lgcrypt
 * debian: libgcrypt20-dev */
#include "referee.h"
#include <gcrypt.h>
#include <stdlib.h>
#include <string.h>

struct key {
    unsigned char bytes[32];
    size_t length;
};
struct run {
    gcry_cipher_hd_t handle;
    int seals;
};

static const char *version(void) { return gcry_check_version(NULL); }

static int start(void)
{
    const char *without = getenv("REFEREE_LIBGCRYPT");
    if (without && gcry_control(GCRYCTL_DISABLE_HWF, without, NULL)) /* before the version is asked for, which looks at the processor */
        return 0;
    if (!gcry_check_version(NULL))
        return 0;
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 1;
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = malloc(sizeof *key);
    memcpy(key->bytes, bytes, length);
    key->length = length;
    return key;
}

static void drop(void *made)
{
    gcry_cipher_close(((struct run *)made)->handle);
    free(made);
}

static void *begin(void *made, int seals, const uint8_t *nonce, size_t nonce_length, size_t tag_length)
{
    struct key *key = made;
    struct run *run = malloc(sizeof *run);
    int which = key->length == 16 ? GCRY_CIPHER_AES128 : key->length == 24 ? GCRY_CIPHER_AES192 : GCRY_CIPHER_AES256;
    run->seals = seals;
    if (gcry_cipher_open(&run->handle, which, GCRY_CIPHER_MODE_GCM, 0)) {
        free(run);
        return NULL;
    }
    if (!gcry_cipher_setkey(run->handle, key->bytes, key->length) && !gcry_cipher_setiv(run->handle, nonce, nonce_length))
        return run;
    drop(run);
    return NULL;
}

static int again(void *made, const uint8_t *nonce, size_t length, size_t tag_length)
{
    gcry_cipher_hd_t handle = ((struct run *)made)->handle;
    return !gcry_cipher_reset(handle) && !gcry_cipher_setiv(handle, nonce, length);
}

static int aad(void *run, const uint8_t *aad, size_t length) { return !gcry_cipher_authenticate(((struct run *)run)->handle, aad, length); }

static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    struct run *run = made;
    int in_place = input == output;
    return !(run->seals ? gcry_cipher_encrypt : gcry_cipher_decrypt)(run->handle, output, length, in_place ? NULL : input, in_place ? 0 : length);
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    return !(run->seals ? gcry_cipher_gettag(run->handle, tag, length) : gcry_cipher_checktag(run->handle, tag, length));
}

const struct referee_plugin referee_plugin = {
    .interface = REFEREE_INTERFACE,
    .offers = REFEREE_IN_PLACE,
    .keys = REFEREE_KEYS_ALL,
    .tags = REFEREE_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "libgcrypt",
    .version = version,
    .start = start,
    .key = key,
    .free = referee_wiped,
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = drop,
    .again = again,
};

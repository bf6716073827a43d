/* libgcrypt: gcry_cipher, in pieces. Whole messages have a handle that keeps its key: there is no call that does a message at once.
 * without: REFEREE_LIBGCRYPT=intel-aesni REFEREE_LIBGCRYPT=intel-pclmul REFEREE_LIBGCRYPT=intel-ssse3 REFEREE_LIBGCRYPT=intel-sse4.1
 * without: REFEREE_LIBGCRYPT=intel-avx REFEREE_LIBGCRYPT=intel-avx2 REFEREE_LIBGCRYPT=intel-bmi2 REFEREE_LIBGCRYPT=intel-vaes-vpclmul
 * link: -lgcrypt -lgpg-error
 * debian: libgcrypt20-dev libgpg-error-dev */
#include "aead.h"
#include <gcrypt.h>
#include <stdlib.h>
#include <string.h>

struct run {
    gcry_cipher_hd_t handle;
    int seals;
};
struct key {
    gcry_cipher_hd_t handle;
    unsigned char bytes[32];
    size_t length;
};

static const char *version(void) { return gcry_check_version(NULL); }

static const char *start(const char *level)
{
    const char *without = getenv("REFEREE_LIBGCRYPT");
    if (without && gcry_control(GCRYCTL_DISABLE_HWF, without, NULL)) /* before the version is asked for, which looks at the processor */
        return "it knows no such feature";
    if (!gcry_check_version(NULL))
        return "its version is another than that of its header";
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return NULL;
}

static int opened(gcry_cipher_hd_t *handle, const uint8_t *bytes, size_t length)
{
    int which = length == 16 ? GCRY_CIPHER_AES128 : length == 24 ? GCRY_CIPHER_AES192 : GCRY_CIPHER_AES256;
    return !gcry_cipher_open(handle, which, GCRY_CIPHER_MODE_GCM, 0) && !gcry_cipher_setkey(*handle, bytes, length);
}

static void rekey(void *made, const uint8_t *bytes, size_t length)
{
    struct key *key = made;
    memcpy(key->bytes, bytes, length);
    gcry_cipher_setkey(key->handle, bytes, length);
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = malloc(sizeof *key);
    memcpy(key->bytes, bytes, length);
    key->length = length;
    if (opened(&key->handle, bytes, length))
        return key;
    free(key);
    return NULL;
}

static void release(void *made)
{
    gcry_cipher_close(((struct key *)made)->handle);
    aead_wiped(made);
}

/* All but the tag. */
static int text(gcry_cipher_hd_t handle, int seals, const struct aead_message *m)
{
    int in_place = m->input == m->output;
    return !gcry_cipher_setiv(handle, m->nonce, m->nonce_length) && (m->aad_length == 0 || !gcry_cipher_authenticate(handle, m->aad, m->aad_length))
        && !(seals ? gcry_cipher_encrypt : gcry_cipher_decrypt)(handle, m->output, m->length, in_place ? NULL : m->input, in_place ? 0 : m->length);
}

static int seal(void *made, const struct aead_message *m)
{
    gcry_cipher_hd_t handle = ((struct key *)made)->handle;
    return text(handle, 1, m) && !gcry_cipher_gettag(handle, m->tag, m->tag_length);
}

static int open(void *made, const struct aead_message *m)
{
    gcry_cipher_hd_t handle = ((struct key *)made)->handle;
    return text(handle, 0, m) && !gcry_cipher_checktag(handle, m->tag, m->tag_length);
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
    *run = (struct run) { .seals = seals };
    if (opened(&run->handle, key->bytes, key->length) && !gcry_cipher_setiv(run->handle, nonce, nonce_length))
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

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_OF_PIECES,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "libgcrypt",
    .version = version,
    .start = start,
    .key = key,
    .free = release,
    .seal = seal,
    .open = open,
    .rekey = rekey,
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = drop,
    .again = again,
};

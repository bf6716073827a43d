/* OpenSSL's libcrypto: EVP, a cipher that is fetched once, a context that keeps its key. No fetch, no allocation and no key schedule is in a whole
 * message: an `init` with the nonce, an `update` for AAD and for text, `final`, a control for the tag. `OPENSSL_MODULES`, `OPENSSL_CONF` and `OPENSSL_ia32cap` work as for every program.
 * without: OPENSSL_ia32cap
 * link: -lcrypto
 * debian: libssl-dev */
#include "aead.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct run {
    EVP_CIPHER_CTX *context;
    int seals;
};
struct key {
    struct run run;
    size_t nonce_length, length; /* bytes of nonce that the context takes now */
    unsigned char bytes[32];
};

static const char *version(void) { return OpenSSL_version(OPENSSL_VERSION); }

#if defined OPENSSL_IS_BORINGSSL || defined OPENSSL_IS_AWSLC /* `boringssl-evp` and `aws-lc-evp`: they have no providers */
#ifdef OPENSSL_IS_AWSLC
#define NAME "AWS-LC, EVP"
#else
#define NAME "BoringSSL, EVP"
#endif
#define NONCE_MAX (1 << 20)
#define EVP_CipherInit_ex2(context, which, key, nonce, seals, none) EVP_CipherInit_ex(context, which, NULL, key, nonce, seals)
static const EVP_CIPHER *cipher(size_t length)
{
    return length == 16 ? EVP_aes_128_gcm() : length == 24 ? EVP_aes_192_gcm() : EVP_aes_256_gcm();
}
#else
#define NAME "OpenSSL"
#define NONCE_MAX 128 /* GCM_IV_MAX_SIZE of its provider: 1024 / 8 */
static const EVP_CIPHER *cipher(size_t length)
{
    static EVP_CIPHER *fetched[3];
    EVP_CIPHER **which = &fetched[length / 8 - 2];
    if (*which == NULL)
        *which = EVP_CIPHER_fetch(NULL, length == 16 ? "AES-128-GCM" : length == 24 ? "AES-192-GCM" : "AES-256-GCM", NULL);
    return *which;
}
#endif

static const char *levels(void) { return "OPENSSL_ia32cap"; }

static void release(void *made)
{
    EVP_CIPHER_CTX_free(((struct key *)made)->run.context);
    aead_wiped(made);
}

static void rekey(void *made, const uint8_t *bytes, size_t length)
{
    struct key *key = made;
    memcpy(key->bytes, bytes, length);
    EVP_CipherInit_ex2(key->run.context, NULL, bytes, NULL, 1, NULL);
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = malloc(sizeof *key);
    *key = (struct key) { .run = { .context = EVP_CIPHER_CTX_new() }, .nonce_length = 12, .length = length };
    memcpy(key->bytes, bytes, length);
    if (EVP_CipherInit_ex2(key->run.context, cipher(length), bytes, NULL, 1, NULL))
        return key;
    release(key);
    return NULL;
}

static void drop(void *made)
{
    struct run *run = made;
    EVP_CIPHER_CTX_free(run->context);
    free(run);
}

static void *started(const uint8_t *key, size_t length, int seals, const uint8_t *nonce, size_t nonce_length, int nonce_first)
{
    struct run *run = malloc(sizeof *run);
    const EVP_CIPHER *which = cipher(length);
    run->context = EVP_CIPHER_CTX_new();
    run->seals = seals;
    int done = EVP_CipherInit_ex(run->context, which, NULL, NULL, NULL, seals)
        && EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce_length, NULL) > 0;
    if (nonce_first)
        done = done && EVP_CipherInit_ex(run->context, NULL, NULL, NULL, nonce, -1) && EVP_CipherInit_ex(run->context, NULL, NULL, key, NULL, -1);
    else
        done = done && EVP_CipherInit_ex(run->context, NULL, NULL, key, nonce, -1);
    if (done)
        return run;
    drop(run);
    return NULL;
}

static void *begin(void *made, int seals, const uint8_t *nonce, size_t nonce_length, size_t tag_length)
{
    struct key *key = made;
    return started(key->bytes, key->length, seals, nonce, nonce_length, 0);
}

static int again(void *made, const uint8_t *nonce, size_t length, size_t tag_length)
{
    struct run *run = made;
    return EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_SET_IVLEN, (int)length, NULL) > 0
        && EVP_CipherInit_ex(run->context, NULL, NULL, NULL, nonce, -1);
}

static void *nonce_first(const uint8_t *key, size_t length, int seals, const uint8_t *nonce, size_t nonce_length, size_t tag_length)
{
    return started(key, length, seals, nonce, nonce_length, 1);
}

static int aad(void *made, const uint8_t *aad, size_t length)
{
    int out;
    return EVP_CipherUpdate(((struct run *)made)->context, NULL, &out, aad, (int)length);
}

static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    int out;
    return EVP_CipherUpdate(((struct run *)made)->context, output, &out, input, (int)length) && out == (int)length;
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    unsigned char none[16];
    int out;
    if (run->seals)
        return EVP_CipherFinal_ex(run->context, none, &out) && EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_GET_TAG, (int)length, tag) > 0;
    return EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_SET_TAG, (int)length, tag) > 0 && EVP_CipherFinal_ex(run->context, none, &out);
}

static int whole(struct key *key, int seals, const struct aead_message *m)
{
    struct run *run = &key->run;
    if (m->nonce_length != key->nonce_length) {
        key->nonce_length = (size_t)-1; /* of a length that it refuses it is not known what it takes then */
        if (EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_SET_IVLEN, (int)m->nonce_length, NULL) <= 0)
            return 0;
        key->nonce_length = m->nonce_length;
    }
    run->seals = seals;
    return EVP_CipherInit_ex2(run->context, NULL, NULL, m->nonce, seals, NULL) && (m->aad_length == 0 || aad(run, m->aad, m->aad_length))
        && (m->length == 0 || update(run, m->input, m->output, m->length)) && finish(run, m->tag, m->tag_length);
}

static int seal(void *key, const struct aead_message *m) { return whole(key, 1, m); }
static int open(void *key, const struct aead_message *m) { return whole(key, 0, m); }

static void *copy(void *made)
{
    struct run *run = made, *other = malloc(sizeof *other);
    other->context = EVP_CIPHER_CTX_new();
    other->seals = run->seals;
    if (EVP_CIPHER_CTX_copy(other->context, run->context))
        return other;
    drop(other);
    return NULL;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_OF_PIECES,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = NONCE_MAX,
    .block = 1,
    .name = NAME,
    .version = version,
    .levels = levels,
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
    .copy = copy,
    .nonce_first = nonce_first,
    .again = again,
};

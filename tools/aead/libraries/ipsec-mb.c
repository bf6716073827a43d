/* Intel's ipsec-mb: the manager that it chooses itself, or one that is named; its calls for one message through the manager's own pointers, and those for
 * pieces. The tag is compared by the caller.
 * levels: REFEREE_IPSEC_MB=sse REFEREE_IPSEC_MB=avx2 REFEREE_IPSEC_MB=avx512 REFEREE_IPSEC_MB=noaesni REFEREE_IPSEC_MB=nogfni
 * link: -lIPSec_MB
 * debian: libipsec-mb-dev */
#include "aead.h"
#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <string.h>

static IMB_MGR *manager;

struct key {
    struct gcm_key_data data;
    size_t length;
    aes_gcm_enc_dec_t seal, open;
};
struct run {
    struct gcm_context_data context;
    struct key *key;
    int seals, begun;
    size_t nonce_length;
    uint8_t nonce[];
};

static const char *version(void) { return imb_get_version_str(); }

static const char *levels(void) { return "vaes-avx512\nvaes-avx2\naesni-avx\naesni-sse"; }

static const char *start(const char *level)
{
    const char *wanted = level ? level : getenv("REFEREE_IPSEC_MB");
    uint64_t flags = 0;
    wanted = wanted ? wanted : "";
#ifdef IMB_FLAG_AESNI_OFF /* up to 1.5 */
    flags = strcmp(wanted, "noaesni") == 0 ? IMB_FLAG_AESNI_OFF : 0;
#endif
    if (strcmp(wanted, "nogfni") == 0 || strcmp(wanted, "aesni-avx") == 0) /* without GFNI, that for AVX2 takes no VAES */
        flags = IMB_FLAG_GFNI_OFF;
    manager = alloc_mb_mgr(flags);
    if (manager == NULL)
        return "it gives no manager";
    if (strstr(wanted, "sse"))
        init_mb_mgr_sse(manager);
    else if (strstr(wanted, "avx512"))
        init_mb_mgr_avx512(manager);
    else if (strstr(wanted, "avx"))
        init_mb_mgr_avx2(manager);
    else
        init_mb_mgr_auto(manager, NULL);
    return imb_get_errno(manager) == 0 ? NULL : "its manager does not start here";
}

#define EACH(name) (key->length == 16 ? manager->gcm128_##name : key->length == 24 ? manager->gcm192_##name : manager->gcm256_##name)

static void rekey(void *made, const uint8_t *bytes, size_t length)
{
    struct key *key = made;
    EACH(pre)(bytes, &key->data);
}

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = aligned_alloc(64, (sizeof *key + 63) / 64 * 64);
    key->length = length;
    key->seal = EACH(enc);
    key->open = EACH(dec);
    rekey(key, bytes, length);
    return key;
}

/* AAD comes with the beginning: so that waits until it is known. */
static void *begin(void *made, int seals, const uint8_t *nonce, size_t length, size_t tag_length)
{
    struct run *run = aligned_alloc(64, (sizeof *run + length + 63) / 64 * 64);
    run->key = made;
    run->seals = seals;
    run->begun = 0;
    run->nonce_length = length;
    memcpy(run->nonce, nonce, length);
    return run;
}

static int aad(void *made, const uint8_t *aad, size_t length)
{
    struct run *run = made;
    struct key *key = run->key;
    if (run->begun)
        return 1;
    EACH(init_var_iv)(&key->data, &run->context, run->nonce, run->nonce_length, aad, length);
    run->begun = imb_get_errno(NULL) == 0;
    return run->begun;
}

static int update(void *made, const uint8_t *input, uint8_t *output, size_t length)
{
    struct run *run = made;
    struct key *key = run->key;
    if (!aad(run, input, 0))
        return 0;
    (run->seals ? EACH(enc_update) : EACH(dec_update))(&key->data, &run->context, output, input, length);
    return 1;
}

static int finish(void *made, uint8_t *tag, size_t length)
{
    struct run *run = made;
    struct key *key = run->key;
    uint8_t found[16] = { 0 };
    if (length > 16)
        return 0;
    if (!aad(run, found, 0))
        return 0;
    (run->seals ? EACH(enc_finalize) : EACH(dec_finalize))(&key->data, &run->context, run->seals ? tag : found, length);
    return run->seals || aead_equal(found, tag, length);
}

/* A message at once has a nonce of 12 bytes; another goes through the calls for pieces. What is in the context does not outlast a call. */
static int whole(struct key *key, int seals, const struct aead_message *m)
{
    struct run *run = begin(key, seals, m->nonce, m->nonce_length, m->tag_length);
    int done = aad(run, m->aad, m->aad_length) && update(run, m->input, m->output, m->length) && finish(run, m->tag, m->tag_length);
    aead_wiped(run);
    return done;
}

static int seal(void *made, const struct aead_message *m)
{
    struct key *key = made;
    if (m->nonce_length != 12 || m->tag_length > 16)
        return whole(key, 1, m);
    _Alignas(64) struct gcm_context_data context;
    key->seal(&key->data, &context, m->output, m->input, m->length, m->nonce, m->aad, m->aad_length, m->tag, m->tag_length);
    return 1;
}

static int open(void *made, const struct aead_message *m)
{
    struct key *key = made;
    _Alignas(64) struct gcm_context_data context;
    uint8_t found[16];
    if (m->nonce_length != 12 || m->tag_length > 16)
        return whole(key, 0, m);
    key->open(&key->data, &context, m->output, m->input, m->length, m->nonce, m->aad, m->aad_length, found, m->tag_length);
    return m->tag_length == 16 ? aead_equal(found, m->tag, 16) : aead_equal(found, m->tag, m->tag_length);
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_GIVES_TAG | AEAD_ONE_AAD | AEAD_OF_PIECES,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "ipsec-mb",
    .version = version,
    .levels = levels,
    .start = start,
    .key = key,
    .free = aead_wiped,
    .seal = seal,
    .open = open,
    .rekey = rekey,
    .key_size = sizeof(struct gcm_key_data),
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = aead_wiped,
};

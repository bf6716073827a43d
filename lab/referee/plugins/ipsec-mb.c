/* Intel's ipsec-mb: the manager that it chooses itself, its calls for pieces. The tag is compared by the caller.
 * levels: REFEREE_IPSEC_MB=sse REFEREE_IPSEC_MB=avx2 REFEREE_IPSEC_MB=avx512 REFEREE_IPSEC_MB=noaesni REFEREE_IPSEC_MB=nogfni
 * link: -lIPSec_MB
 * debian: libipsec-mb-dev */
#include "referee.h"
#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <string.h>

static IMB_MGR *manager;

struct key {
    struct gcm_key_data data;
    size_t length;
};
struct run {
    struct gcm_context_data context;
    struct key *key;
    int seals, begun;
    size_t nonce_length;
    uint8_t nonce[];
};

static const char *version(void) { return imb_get_version_str(); }

static int start(void)
{
    const char *level = getenv("REFEREE_IPSEC_MB"), *wanted = level ? level : "";
    uint64_t flags = 0;
#ifdef IMB_FLAG_AESNI_OFF /* up to 1.5 */
    flags = strcmp(wanted, "noaesni") == 0 ? IMB_FLAG_AESNI_OFF : 0;
#endif
    if (strcmp(wanted, "nogfni") == 0)
        flags = IMB_FLAG_GFNI_OFF;
    manager = alloc_mb_mgr(flags);
    if (manager == NULL)
        return 0;
    if (strcmp(wanted, "sse") == 0)
        init_mb_mgr_sse(manager);
    else if (strcmp(wanted, "avx2") == 0)
        init_mb_mgr_avx2(manager);
    else if (strcmp(wanted, "avx512") == 0)
        init_mb_mgr_avx512(manager);
    else
        init_mb_mgr_auto(manager, NULL);
    return manager && imb_get_errno(manager) == 0;
}

#define EACH(name) (key->length == 16 ? manager->gcm128_##name : key->length == 24 ? manager->gcm192_##name : manager->gcm256_##name)

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = aligned_alloc(64, (sizeof *key + 63) / 64 * 64);
    key->length = length;
    EACH(pre)(bytes, &key->data);
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
    uint8_t found[16];
    if (length > 16)
        return 0;
    if (!aad(run, found, 0))
        return 0;
    (run->seals ? EACH(enc_finalize) : EACH(dec_finalize))(&key->data, &run->context, run->seals ? tag : found, length);
    return run->seals || memcmp(found, tag, length) == 0;
}

const struct referee_plugin referee_plugin = {
    .interface = REFEREE_INTERFACE,
    .offers = REFEREE_IN_PLACE | REFEREE_GIVES_TAG | REFEREE_ONE_AAD,
    .keys = REFEREE_KEYS_ALL,
    .tags = REFEREE_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .block = 1,
    .name = "ipsec-mb",
    .version = version,
    .start = start,
    .key = key,
    .free = referee_wiped,
    .begin = begin,
    .aad = aad,
    .update = update,
    .finish = finish,
    .drop = referee_wiped,
};

/* NSS: PK11_AEADOp, whole messages with the tag apart.
 * without: NSS_DISABLE_HW_AES=1 NSS_DISABLE_PCLMUL=1 NSS_DISABLE_AVX=1 NSS_DISABLE_AVX2=1 NSS_DISABLE_SSSE3=1 NSS_DISABLE_SSE4_1=1
 * link: -I/usr/include/nss -I/usr/include/nspr -lnss3
 * debian: libnss3-dev */
#include "aead.h"
#include <nss.h>
#include <pk11pub.h>
#include <pkcs11n.h>

static const char *version(void) { return NSS_GetVersion(); }
static const char *start(const char *level) { return NSS_NoDB_Init(NULL) == SECSuccess ? NULL : "NSS_NoDB_Init fails"; }

/* A context for each direction (sealing, opening) takes nonces of one length alone. */
struct key {
    PK11SymKey *imported;
    PK11Context *contexts[2];
    size_t nonce_length[2];
};

static void release(void *made)
{
    struct key *key = made;
    for (int i = 0; i < 2; i++)
        if (key->contexts[i])
            PK11_DestroyContext(key->contexts[i], PR_TRUE);
    PK11_FreeSymKey(key->imported);
    PORT_Free(key);
}

static void *key(const uint8_t *bytes, size_t length)
{
    SECItem item = { siBuffer, (unsigned char *)bytes, (unsigned)length };
    PK11SlotInfo *slot = PK11_GetInternalSlot();
    struct key *key = PORT_ZAlloc(sizeof *key);
    key->imported = PK11_ImportSymKey(slot, CKM_AES_GCM, PK11_OriginUnwrap, CKA_NSS_MESSAGE | CKA_ENCRYPT, &item, NULL);
    PK11_FreeSlot(slot);
    return key;
}

static int message(struct key *key, int opens, const struct aead_message *m)
{
    SECItem none = { siBuffer, NULL, 0 };
    PK11Context **context = &key->contexts[opens];
    int written = 0;
    if (*context && key->nonce_length[opens] != m->nonce_length) {
        PK11_DestroyContext(*context, PR_TRUE);
        *context = NULL;
    }
    if (!*context)
        *context = PK11_CreateContextBySymKey(CKM_AES_GCM, CKA_NSS_MESSAGE | (opens ? CKA_DECRYPT : CKA_ENCRYPT), key->imported, &none);
    key->nonce_length[opens] = m->nonce_length;
    return *context
        && PK11_AEADOp(*context, CKG_NO_GENERATE, 0, (unsigned char *)m->nonce, (int)m->nonce_length, m->aad, (int)m->aad_length, m->output,
                       &written, (int)m->length, m->tag, (int)m->tag_length, m->input, (int)m->length) == SECSuccess
        && written == (int)m->length;
}

static int seal(void *key, const struct aead_message *m) { return message(key, 0, m); }
static int open(void *key, const struct aead_message *m) { return message(key, 1, m); }

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL,
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = "NSS",
    .version = version,
    .start = start,
    .key = key,
    .free = release,
    .seal = seal,
    .open = open,
};

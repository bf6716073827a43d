/* The table for Go, whose functions are in plugin.go. */
#include "_cgo_export.h"

static void *key(const uint8_t *bytes, size_t length) { return goKey((uint8_t *)bytes, length); }
static int seal(void *key, const struct aead_message *m) { return goMessage(key, (struct aead_message *)m, 1); }
static int open(void *key, const struct aead_message *m) { return goMessage(key, (struct aead_message *)m, 0); }
static const char *version(void) { return goVersion(); }

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_OVERLAP | AEAD_TAG_BEHIND | AEAD_THREADS,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL & ~(AEAD_TAG(4) | AEAD_TAG(8)),
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = "Go",
    .version = version,
    .key = key,
    .free = goFree,
    .seal = seal,
    .open = open,
};

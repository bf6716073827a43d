/* The table for Go, whose functions are in plugin.go. */
#include "_cgo_export.h"

static void *key(const uint8_t *bytes, size_t length) { return goKey((uint8_t *)bytes, length); }
static int seal(void *key, const struct referee_message *m) { return goMessage(key, (struct referee_message *)m, 1); }
static int open(void *key, const struct referee_message *m) { return goMessage(key, (struct referee_message *)m, 0); }
static const char *version(void) { return goVersion(); }

const struct referee_plugin referee_plugin = {
    .interface = REFEREE_INTERFACE,
    .offers = REFEREE_IN_PLACE | REFEREE_OVERLAP | REFEREE_TAG_BEHIND | REFEREE_THREADS,
    .keys = REFEREE_KEYS_ALL,
    .tags = REFEREE_TAGS_ALL & ~(REFEREE_TAG(4) | REFEREE_TAG(8)),
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = "Go",
    .version = version,
    .key = key,
    .free = goFree,
    .seal = seal,
    .open = open,
};

/* MINE: an implementation of AES-GCM for the referee. Whatever yours does not have, leave out: nobody counts it as a fault.
 *
 * What stands behind `link:` goes to the compiler, such as -I/opt/mine/include -L/opt/mine/lib -lmine
 * link: -lc
 *
 * Of the two lines below, the first names features of the processor that your library can be told not to use, by variables of its own; the referee
 * takes away each and each two of them (`--crippled`). The second names whole levels. Drop what yours does not have.
 * without: MINE_WITHOUT=aes MINE_WITHOUT=vaes
 * levels: MINE_LEVEL=portable */
#include "aead.h"
#include <string.h>

/* Your key. What is here only keeps the bytes. */
struct mine {
    uint8_t bytes[32];
    size_t length;
};

static const char *version(void) { return "0.1"; }

static void *key(const uint8_t *bytes, size_t length)
{
    struct mine *mine = malloc(sizeof *mine);
    memcpy(mine->bytes, bytes, length); /* YOURS: the key schedule; NULL if a key is refused */
    mine->length = length;
    return mine;
}

static int seal(void *key, const struct aead_message *m)
{
    /* YOURS: m->length bytes from m->input to m->output, and m->tag_length bytes to m->tag; return 1. */
    return 0;
}

static int open(void *key, const struct aead_message *m)
{
    /* YOURS: m->length bytes from m->input to m->output if m->tag is right; return 1 if it is, and 0 if it is not. */
    return 0;
}

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE, /* m->input and m->output may be one buffer; aead.h has more */
    .keys = 1 | 4,              /* AES-128 and AES-256 */
    .tags = AEAD_TAG(16),
    .nonce_min = 12,
    .nonce_max = 12,
    .name = "MINE",
    .version = version,
    .key = key,
    .free = aead_wiped,
    .seal = seal,
    .open = open,
};

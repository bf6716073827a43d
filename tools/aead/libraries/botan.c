/* Botan: its interface for C, whole messages, with the tag behind the ciphertext.
 * link: -I/usr/include/botan-2 -lbotan-2 -lstdc++ -lm
 * debian: libbotan-2-dev */
#include "aead.h"
#include <botan/ffi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct key {
    uint8_t bytes[32];
    size_t length;
};

static const char *version(void) { return botan_version_string(); }

static void *key(const uint8_t *bytes, size_t length)
{
    struct key *key = malloc(sizeof *key);
    memcpy(key->bytes, bytes, length);
    key->length = length;
    return key;
}

static int message(void *made, const struct aead_message *m, int seals)
{
    struct key *key = made;
    char name[32];
    botan_cipher_t cipher;
    size_t written = 0, consumed = 0, given = m->length + (seals ? 0 : m->tag_length), room = m->length + (seals ? m->tag_length : 0);
    uint8_t *input = malloc(given + 1), *output = malloc(room + 1);
    snprintf(name, sizeof name, "AES-%zu/GCM(%zu)", 8 * key->length, m->tag_length);
    memcpy(input, m->input, m->length);
    if (!seals)
        memcpy(input + m->length, m->tag, m->tag_length);
    int done = botan_cipher_init(&cipher, name, seals ? BOTAN_CIPHER_INIT_FLAG_ENCRYPT : BOTAN_CIPHER_INIT_FLAG_DECRYPT) == 0;
    if (done) {
        done = botan_cipher_set_key(cipher, key->bytes, key->length) == 0
            && botan_cipher_set_associated_data(cipher, m->aad, m->aad_length) == 0
            && botan_cipher_start(cipher, m->nonce, m->nonce_length) == 0
            && botan_cipher_update(cipher, BOTAN_CIPHER_UPDATE_FLAG_FINAL, output, room, &written, input, given, &consumed) == 0
            && written == room;
        botan_cipher_destroy(cipher);
    }
    if (done) {
        memcpy(m->output, output, m->length);
        if (seals)
            memcpy(m->tag, output + m->length, m->tag_length);
    }
    aead_wiped(input);
    aead_wiped(output);
    return done;
}

static int seal(void *key, const struct aead_message *m) { return message(key, m, 1); }
static int open(void *key, const struct aead_message *m) { return message(key, m, 0); }

const struct aead_plugin aead_plugin = {
    .interface = AEAD_INTERFACE,
    .offers = AEAD_IN_PLACE | AEAD_THREADS,
    .keys = AEAD_KEYS_ALL,
    .tags = AEAD_TAGS_ALL & ~AEAD_TAG(4), /* its GCM has tags of 8, and of 12 to 16 bytes */
    .nonce_min = 1,
    .nonce_max = 1 << 20,
    .name = "Botan",
    .version = version,
    .key = key,
    .free = aead_wiped,
    .seal = seal,
    .open = open,
};

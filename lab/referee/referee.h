/* What an implementation of AES-GCM shows to the referee: one table of functions, exported as `referee_plugin`.
 *
 * Whatever is not offered stays zero, and nobody counts it as a fault. plugins/ has examples of some 40 lines; docs/referee.md says how
 * one is tried. The lines `link:` and `debian:` in the first comment of a plug-in say what it is linked with, and which package has that. */
#ifndef REFEREE_H
#define REFEREE_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define REFEREE_INTERFACE 2

/* What `offers` may have. */
enum {
    REFEREE_IN_PLACE = 1, /* input and output may be the same buffer */
    REFEREE_OVERLAP = 2,  /* they may overlap in part: the answer is right, or the call is refused */
    REFEREE_NULL = 4,     /* what has no bytes may be at NULL */
    REFEREE_ONE_AAD = 8,  /* not more than one piece of AAD, before any text */
    REFEREE_GIVES_TAG = 16, /* opening gives a tag too, and its caller, here the plug-in, compares it */
    REFEREE_TAG_BEHIND = 32, /* whole messages have the tag behind the ciphertext: `tag` is `output + length`, or `input + length` to open */
    REFEREE_THREADS = 64,  /* several threads may seal and open whole messages with one key at once */
    REFEREE_KEEPS = 128,   /* the plug-in itself keeps bytes of a key, so nobody looks what is in memory when a key is freed */
};

/* Which algorithm it is. All but AES-GCM have nonces of one length, and tags of 16 bytes, or of 48 with a commitment. */
enum {
    REFEREE_AES_GCM = 0,
    REFEREE_XAES_256_GCM = 1, /* C2SP: a nonce of 24 bytes */
    REFEREE_AES_GCM_SIV = 2,  /* RFC 8452: a nonce of 12 bytes */
    REFEREE_DNDK_GCM = 3,     /* draft-gueron-cfrg-dndkgcm, without commitment: a nonce of 24 bytes */
    REFEREE_KC_XAES_256_GCM = 4, /* IACR ePrint 2025/758: as XAES-256-GCM; 32 bytes of a commitment stand behind the 16 of the tag */
    REFEREE_KC_DNDK_GCM = 5,  /* DNDK-GCM with such a commitment */
};

/* One message. It is read at `input` and written at `output`, `length` bytes each; the tag is written by sealing and read by opening.
 * No buffer overlaps another but for input and output, as `offers` says. */
struct referee_message {
    const uint8_t *nonce;
    size_t nonce_length;
    const uint8_t *aad;
    size_t aad_length;
    const uint8_t *input;
    uint8_t *output;
    size_t length;
    uint8_t *tag;
    size_t tag_length;
};

/* Functions that return int return 1 for done, and 0 for refused: a tag is wrong, a length is not taken, the order is wrong. */
struct referee_plugin {
    uint32_t interface; /* REFEREE_INTERFACE */
    uint32_t offers;
    uint32_t keys;      /* bit n: keys of 16 + 8 n bytes, so 1 is AES-128, 2 is AES-192, 4 is AES-256 */
    uint32_t tags;      /* bit n: tags of n bytes */
    size_t nonce_min, nonce_max; /* bytes */
    size_t block;       /* pieces of AAD and of text have a multiple of so many bytes, but for the last of each; 1 is any; 0: no pieces */
    uint32_t algorithm; /* of those above; 0 is AES-GCM */
    const char *name;
    const char *(*version)(void);
    int (*start)(void); /* once, before all others; may be NULL */

    /* A key; NULL if it is refused. One key seals and opens any number of messages, with nonces and tags of all lengths that are offered, also
     * after it has refused one: what a library ties to a context is made anew by the plug-in. */
    void *(*key)(const uint8_t *bytes, size_t length);
    void (*free)(void *key);

    /* Whole messages. Both or none: who has pieces alone is asked for whole messages in one piece. */
    int (*seal)(void *key, const struct referee_message *message);
    int (*open)(void *key, const struct referee_message *message);

    /* A message in pieces: begin, any number of aad, any number of update, finish, drop. All or none. `key` lives longer. */
    void *(*begin)(void *key, int seals, const uint8_t *nonce, size_t nonce_length, size_t tag_length);
    int (*aad)(void *run, const uint8_t *aad, size_t length);
    int (*update)(void *run, const uint8_t *input, uint8_t *output, size_t length);
    int (*finish)(void *run, uint8_t *tag, size_t tag_length); /* sealing writes the tag, opening compares it */
    void (*drop)(void *run);

    void *(*copy)(void *run); /* a second message that goes on from here; may be NULL */
    /* `begin` of a context that gets its nonce first and its key then; may be NULL. */
    void *(*nonce_first)(const uint8_t *key, size_t key_length, int seals, const uint8_t *nonce, size_t nonce_length, size_t tag_length);
    /* A message, over or broken off, becomes a new one of its key and its direction; may be NULL. */
    int (*again)(void *run, const uint8_t *nonce, size_t nonce_length, size_t tag_length);
};

#define REFEREE_KEYS_ALL 7u
#define REFEREE_TAG(n) (1u << (n))
#define REFEREE_TAGS_ALL (REFEREE_TAG(4) | REFEREE_TAG(8) | REFEREE_TAG(12) | REFEREE_TAG(13) | REFEREE_TAG(14) | REFEREE_TAG(15) | \
                          REFEREE_TAG(16))

/* Frees memory of malloc, and wipes it first: what a library keeps in memory of its caller, its caller has to wipe. */
static inline void referee_wiped(void *made)
{
    volatile uint8_t *byte = (volatile uint8_t *)made;
    for (size_t left = made ? malloc_usable_size(made) : 0; left > 0; left--)
        *byte++ = 0;
    free(made);
}

#ifdef __cplusplus
extern "C" {
#endif
extern __attribute__((visibility("default"))) const struct referee_plugin referee_plugin;
#ifdef __cplusplus
}
#endif

#endif

/* What a library that has AES-GCM, or what is made of it, shows to the tools beside this: one table of functions, exported as `aead_plugin`.
 *
 * The referee asks it for every answer; the bench times it; the prover proves its calls. Whatever is not offered stays zero, and nobody counts it as a fault. libraries/ has
 * examples of some 40 lines. In the first comment of a plug-in, `link:` says what it is linked with, `debian:` which package has that, and `made:` which
 * library libraries/make.sh gets. */
#ifndef AEAD_H
#define AEAD_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AEAD_INTERFACE 3

/* What `offers` may have. */
enum {
    AEAD_IN_PLACE = 1, /* input and output may be the same buffer */
    AEAD_OVERLAP = 2,  /* they may overlap in part: the answer is right, or the call is refused */
    AEAD_NULL = 4,     /* what has no bytes may be at NULL */
    AEAD_ONE_AAD = 8,  /* not more than one piece of AAD, before any text */
    AEAD_GIVES_TAG = 16, /* opening gives a tag too, and its caller, here the plug-in, compares it */
    AEAD_TAG_BEHIND = 32, /* whole messages have the tag behind the ciphertext: `tag` is `output + length`, or `input + length` to open */
    AEAD_THREADS = 64,  /* several threads may seal and open whole messages with one key at once */
    AEAD_KEEPS = 128,   /* the plug-in itself keeps bytes of a key, so nobody looks what is in memory when a key is freed */
    AEAD_ZEROS = 512,  /* of a whole message that is refused, zeros are left in the output */
    AEAD_OF_PIECES = 1024, /* a whole message is a chain of calls that hand out text before it is verified, so nobody looks what a refusal leaves */
};

/* Which algorithm it is. All but AES-GCM have nonces of one length, and tags of 16 bytes, or of 48 with a commitment. */
enum {
    AEAD_AES_GCM = 0,
    AEAD_XAES_256_GCM = 1, /* C2SP: a nonce of 24 bytes */
    AEAD_AES_GCM_SIV = 2,  /* RFC 8452: a nonce of 12 bytes */
    AEAD_DNDK_GCM = 3,     /* draft-gueron-cfrg-dndkgcm, without commitment: a nonce of 24 bytes */
    AEAD_KC_XAES_256_GCM = 4, /* IACR ePrint 2025/758: as XAES-256-GCM; 32 bytes of a commitment stand behind the 16 of the tag */
    AEAD_KC_DNDK_GCM = 5,  /* DNDK-GCM with such a commitment */
};

/* One message. It is read at `input` and written at `output`, `length` bytes each; the tag is written by sealing and read by opening.
 * No buffer overlaps another but for input and output, as `offers` says.
 *
 * No two fields that a call takes side by side (`aad` and `aad_length`) are neighbours: compilers move such a pair in one load of 16 bytes, which
 * waits for the two stores of 8 bytes just before it. That cost ipsec-mb 13 ns a message. */
struct aead_message {
    uint8_t *tag;
    const uint8_t *nonce;
    const uint8_t *input;
    size_t aad_length;
    uint8_t *output;
    const uint8_t *aad;
    size_t nonce_length;
    size_t length;
    size_t tag_length;
};

/* Functions that return int return 1 for done, and 0 for refused: a tag is wrong, a length is not taken, the order is wrong. */
struct aead_plugin {
    uint32_t interface; /* AEAD_INTERFACE */
    uint32_t offers;
    uint32_t keys;      /* bit n: keys of 16 + 8 n bytes, so 1 is AES-128, 2 is AES-192, 4 is AES-256 */
    uint32_t tags;      /* bit n: tags of n bytes */
    size_t nonce_min, nonce_max; /* bytes */
    size_t block;       /* pieces of AAD and of text have a multiple of so many bytes, but for the last of each; 1 is any; 0: no pieces */
    uint32_t algorithm; /* of those above; 0 is AES-GCM */
    const char *name;
    const char *(*version)(void);

    /* The processor levels that it can be held to, the highest first, one a line: those of the bench (`vaes-avx512`, `vaes-avx2`, `aesni-avx`, `aesni-sse`),
     * or the line `OPENSSL_ia32cap` if that variable does it while the plug-in is loaded. NULL: it chooses by itself. */
    const char *(*levels)(void);
    /* Once, before all others but `levels`; may be NULL. `level` is one of those, or NULL for what it chooses by itself. Returns NULL, or why it cannot. */
    const char *(*start)(const char *level);

    /* A key; NULL if it is refused. One key seals and opens any number of messages, with nonces and tags of all lengths that are offered, also
     * after it has refused one: what a library ties to a context is made anew by the plug-in. */
    void *(*key)(const uint8_t *bytes, size_t length);
    void (*free)(void *key);

    /* Whole messages. Both or none: who has pieces alone is asked for whole messages in one piece. The bench asks for these. */
    int (*seal)(void *key, const struct aead_message *message);
    int (*open)(void *key, const struct aead_message *message);

    /* For the bench, and may be zero. `rekey` puts another key of the same length in the place of one, if that is faster than a free and a new one. `put` makes
     * a key by value so often, each in the place of the last. Of what `key` returns a message reads `key_size` bytes; 0 is unknown. */
    void (*rekey)(void *key, const uint8_t *bytes, size_t length);
    void (*put)(const uint8_t *bytes, size_t length, uint64_t times);
    size_t key_size;

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

#define AEAD_KEYS_ALL 7u
#define AEAD_TAG(n) (1u << (n))
#define AEAD_TAGS_ALL (AEAD_TAG(4) | AEAD_TAG(8) | AEAD_TAG(12) | AEAD_TAG(13) | AEAD_TAG(14) | AEAD_TAG(15) | AEAD_TAG(16))

/* Whether two tags are the same, without a branch on what they are. */
static inline int aead_equal(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint64_t x[2], y[2];
    uint8_t differs = 0;
    if (length == 16) {
        memcpy(x, a, 16);
        memcpy(y, b, 16);
        return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
    }
    for (size_t i = 0; i < length; i++)
        differs |= a[i] ^ b[i];
    return differs == 0;
}

/* Frees memory of malloc, and wipes it first: what a library keeps in memory of its caller, its caller has to wipe. */
static inline void aead_wiped(void *made)
{
    if (made)
        memset(made, 0, malloc_usable_size(made));
    __asm__ volatile("" : : "r"(made) : "memory"); /* it was read, for all the compiler knows */
    free(made);
}

#ifdef __cplusplus
extern "C" {
#endif
extern __attribute__((visibility("default"))) const struct aead_plugin aead_plugin;
#ifdef __cplusplus
}
#endif

#endif

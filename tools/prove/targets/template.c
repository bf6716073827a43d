/* NAME, as a target of gcm-prove. Fill in what is marked, then:
 *     gcm-prove NAME.c -l /path/to/libNAME.a
 * Each function is one call, and is proved with all that it does: from the key's bytes on. The prover finds the key, the nonce, the AAD, the text and the tag
 * in `c`, each with the length that is proved, and of unknown content: whatever the content decides, stops the proof. */
#include "gcm-prove.h"
/* 1. #include <NAME.h> */

static uint64_t seal(const call *c) {
    /* 2. Make a key of c->key.at, c->key.size bytes, in c->place.at (64 KiB) or wherever your library keeps it. Then seal c->from.size bytes at c->from.at to
     * c->to.at, with the nonce c->nonce and the AAD c->aad, and write 16 bytes of tag to c->tag.at. */
    (void)c;
    return DONE; /* or FAILED, if your library says so */
}

static uint64_t open(const call *c) {
    /* 3. And open: 16 bytes of tag are at c->tag.at. */
    (void)c;
    return DONE; /* or REFUSED, if your library refuses the tag; FAILED for any other error */
}

/* 4. The calls, by their names; gcm-prove.h says what the words mean. For a library that takes nonces of 12 bytes only: "[12]" at the end; for one
 * without AES-192: "[16, 32]". */
static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
    {"open", open, "Gcm Opens Apart Unverified 16 heap", "[]", "[]"},
};

/* 5. What is made once, before all calls: what detects the processor, fetches algorithms, fills tables. CPUID answers what the row has. `row` is
 * vaes-avx512, vaes-avx2, aesni-avx or aesni-sse: use your library's own switch if it has one, and return a reason if it has no such level. */
static const char *setup(const char *row) {
    (void)row;
    return NULL;
}

/* 6. What step 5 does, in words: the prover tells it with the result. */
TARGET(verbs, setup, "nothing")

/* Botan, which is C++: `botan.cc` has its functions for C.
 * link: -I$MADE/include/botan-2 $ROOT/tools/prove/targets/botan.cc $MADE/libbotan-2.a -lstdc++ -lm -w */
#include "gcm-prove.h"

uint64_t botan_gcm(int opens, const call *c);

static uint64_t seal(const call *c) { return botan_gcm(0, c); }
static uint64_t open(const call *c) { return botan_gcm(1, c); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16 heap", "[]", "[]"},
    {"open", open, "Gcm Opens Apart AsItWas 16 heap", "[]", "[]"},
};

static const char *setup(const char *row) {
    static uint8_t zeros[64], to[64], tag[16];
    (void)row;
    /* Memory of its own that cannot be swapped would be a system call. */
    setenv("BOTAN_MLOCK_POOL_SIZE", "0", 1);
    for (size_t key = 16; key <= 32; key += 8) {
        call c = {.key = {zeros, key}, .nonce = {zeros, 12}, .aad = {zeros, 3}, .from = {zeros, 33}, .to = {to, 33}, .tag = {tag, 16}};
        if (botan_gcm(0, &c) != DONE) return "it does not seal";
        if (botan_gcm(1, &c) != REFUSED) return "it opens what is wrong";
    }
    return NULL;
}

TARGET(verbs, setup, "the library has sealed one text and refused one with each size of keys, without a pool of locked memory")

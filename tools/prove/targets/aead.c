/* A library by its wrapper of tools/aead, which stands behind this on the compiler's line: the calls of its table, for `run.sh NAME`. Each begins with the key's
 * bytes. No key is given back: where the C library frees, it compares bytes of what it gets with a mark of its own, and here these would be a secret. */
#include "gcm-prove.h"
#include "aead.h"

#define TABLE (&aead_plugin)
static void *kept[3];

static void *new_key(const call *c) { return TABLE->key(c->key.at, c->key.size); }
static void *kept_key(const call *c) {
    void *key = kept[c->key.size / 8 - 2];
    TABLE->rekey(key, c->key.at, c->key.size);
    return key;
}

static uint64_t pieces(const call *c, void *key, const uint8_t *from, int seals, size_t tag, int cut) {
    const size_t n = c->to.size, ends[] = {cut ? c->cuts[0] / TABLE->block * TABLE->block : n, cut ? c->cuts[1] / TABLE->block * TABLE->block : n, n};
    void *run = TABLE->begin(key, seals, c->nonce.at, c->nonce.size, tag);
    if (!run || (c->aad.size && !TABLE->aad(run, c->aad.at, c->aad.size))) return FAILED;
    for (size_t i = 0, at = 0; i < 3; at = ends[i++])
        if (ends[i] > at && !TABLE->update(run, from + at, c->to.at + at, ends[i] - at)) return FAILED;
    return TABLE->finish(run, c->tag.at, tag) ? DONE : seals ? FAILED : REFUSED;
}
static uint64_t whole(const call *c, void *key, const uint8_t *from, int seals, size_t tag) {
    const struct aead_message m = {.tag = c->tag.at, .nonce = c->nonce.at, .input = from, .aad_length = c->aad.size, .output = c->to.at, .aad = c->aad.at,
                                   .nonce_length = c->nonce.size, .length = c->to.size, .tag_length = tag};
    if (!key) return FAILED;
    if (!TABLE->seal) return pieces(c, key, from, seals, tag, 0);
    return (seals ? TABLE->seal : TABLE->open)(key, &m) ? DONE : seals ? FAILED : REFUSED;
}

static uint64_t seal(const call *c) { return whole(c, new_key(c), c->from.at, 1, 16); }
static uint64_t open(const call *c) { return whole(c, new_key(c), c->from.at, 0, 16); }
static uint64_t seal_in_place(const call *c) { return whole(c, new_key(c), c->to.at, 1, 16); }
static uint64_t open_in_place(const call *c) { return whole(c, new_key(c), c->to.at, 0, 16); }
static uint64_t seal_pieces(const call *c) { return pieces(c, new_key(c), c->from.at, 1, 16, 1); }
static uint64_t open_pieces(const call *c) { return pieces(c, new_key(c), c->from.at, 0, 16, 1); }
static uint64_t seal_kept(const call *c) { return whole(c, kept_key(c), c->from.at, 1, 16); }
static uint64_t open_12(const call *c) { return whole(c, new_key(c), c->from.at, 0, 12); }
static uint64_t open_4(const call *c) { return whole(c, new_key(c), c->from.at, 0, 4); }

/* What the table offers; the first without a name is none. */
static verb verbs[10];
static char before[256];

static void offer(int offered, const char *name, uint64_t (*run)(const call *), const char *how) {
    verb *next = verbs;
    while (next->name) next++;
    const char *keys = TABLE->keys == AEAD_KEYS_ALL ? "[]" : "[16, 32]", *nonces = TABLE->nonce_max == 12 ? "[12]" : "[]";
    if (offered) *next = (verb){name, run, how, keys, nonces};
}

static const char *setup(const char *row) {
    static uint8_t zeros[64], to[64], tag[16];
    const char *levels = TABLE->levels ? TABLE->levels() : NULL;
    /* A library that chooses by itself sees the row's processor. */
    const char *why = TABLE->start ? TABLE->start(levels && strstr(levels, "aes") ? row : NULL) : NULL;
    if (why) return why;
    const int in_place = TABLE->offers & AEAD_IN_PLACE, zeroes = TABLE->offers & AEAD_ZEROS;
    offer(1, "seal", seal, "Gcm Seals Apart Zeros 16 heap");
    offer(1, "open", open, zeroes ? "Gcm Opens Apart Zeros 16 heap" : "Gcm Opens Apart Unverified 16 heap");
    offer(in_place, "seal in place", seal_in_place, "Gcm Seals InPlace Zeros 16 heap");
    offer(in_place, "open in place", open_in_place, zeroes ? "Gcm Opens InPlace Zeros 16 heap" : "Gcm Opens InPlace Unverified 16 heap");
    offer(TABLE->begin != NULL, "seal in pieces", seal_pieces, "Gcm Seals Apart Zeros 16 cut heap");
    offer(TABLE->begin != NULL, "open in pieces", open_pieces, "Gcm Opens Apart Unverified 16 cut heap");
    offer(TABLE->rekey != NULL, "seal with a key in the place of another", seal_kept, "Gcm Seals Apart Zeros 16 heap");
    offer(TABLE->tags & AEAD_TAG(12), "open, tag of 12 bytes", open_12, "Gcm Opens Apart Unverified 12 heap");
    offer(TABLE->tags & AEAD_TAG(4), "open, tag of 4 bytes", open_4, "Gcm Opens Apart Unverified 4 heap");
    for (size_t i = 0; i < 3; i++) {
        const call c = {.cuts = {0, 16}, .key = {zeros, 16 + 8 * i}, .nonce = {zeros, 12}, .aad = {zeros, 3}, .from = {zeros, 33}, .to = {to, 33}, .tag = {tag, 16}};
        if (!(TABLE->keys >> i & 1)) continue;
        kept[i] = new_key(&c);
        for (const verb *v = verbs; v->name; v++) {
            memset(tag, 0x5a, sizeof tag);
            if (v->run(&c) != (strstr(v->how, "Seals") ? DONE : REFUSED)) return v->name;
        }
    }
    snprintf(before, sizeof before, "%s, %s: each call was made once with each size of keys, all that open with a wrong tag", TABLE->name, TABLE->version());
    return NULL;
}

TARGET(verbs, setup, before)

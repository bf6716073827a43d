/* Intel's ipsec-mb 2 as Debian builds it (with SAFE_DATA, SAFE_PARAM and SAFE_LOOKUP): the direct calls of a manager. Its decryption gives the tag; this
 * compares it.
 * link: -I$MADE/include $MADE/libIPSec_MB.a */
#include "gcm-prove.h"
#include <intel-ipsec-mb.h>

static IMB_MGR *m;

typedef struct {
    aes_gcm_pre_t pre;
    aes_gcm_enc_dec_t enc, dec;
    aes_gcm_init_var_iv_t init;
    aes_gcm_enc_dec_update_t enc_update, dec_update;
    aes_gcm_enc_dec_finalize_t enc_end, dec_end;
} functions;

static functions of(size_t key) {
    switch (key) {
    case 16: return (functions){m->gcm128_pre, m->gcm128_enc, m->gcm128_dec, m->gcm128_init_var_iv, m->gcm128_enc_update, m->gcm128_dec_update,
                                m->gcm128_enc_finalize, m->gcm128_dec_finalize};
    case 24: return (functions){m->gcm192_pre, m->gcm192_enc, m->gcm192_dec, m->gcm192_init_var_iv, m->gcm192_enc_update, m->gcm192_dec_update,
                                m->gcm192_enc_finalize, m->gcm192_dec_finalize};
    default: return (functions){m->gcm256_pre, m->gcm256_enc, m->gcm256_dec, m->gcm256_init_var_iv, m->gcm256_enc_update, m->gcm256_dec_update,
                                m->gcm256_enc_finalize, m->gcm256_dec_finalize};
    }
}

static uint64_t differs(const uint8_t *a, const uint8_t *b) {
    uint64_t x[2], y[2];
    memcpy(x, a, 16);
    memcpy(y, b, 16);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) != 0;
}

#define KEY(c) ((struct gcm_key_data *)(c)->place.at)
#define CONTEXT(c) ((struct gcm_context_data *)((c)->place.at + 16384))
#define TAG(c) ((c)->place.at + 32768)

static uint64_t once(const call *c, int seals, const uint8_t *from) {
    const functions f = of(c->key.size);
    f.pre(c->key.at, KEY(c));
    (seals ? f.enc : f.dec)(KEY(c), CONTEXT(c), c->to.at, from, c->to.size, c->nonce.at, c->aad.at, c->aad.size, seals ? c->tag.at : TAG(c), 16);
    return seals ? DONE : differs(TAG(c), c->tag.at);
}
static uint64_t pieces(const call *c, int seals, int cut) {
    const functions f = of(c->key.size);
    const size_t n = c->from.size, ends[] = {cut ? c->cuts[0] : n, cut ? c->cuts[1] : n, n};
    f.pre(c->key.at, KEY(c));
    f.init(KEY(c), CONTEXT(c), c->nonce.at, c->nonce.size, c->aad.at, c->aad.size);
    for (size_t i = 0, at = 0; i < 3; at = ends[i++])
        (seals ? f.enc_update : f.dec_update)(KEY(c), CONTEXT(c), c->to.at + at, c->from.at + at, ends[i] - at);
    (seals ? f.enc_end : f.dec_end)(KEY(c), CONTEXT(c), seals ? c->tag.at : TAG(c), 16);
    return seals ? DONE : differs(TAG(c), c->tag.at);
}

static uint64_t seal(const call *c) { return once(c, 1, c->from.at); }
static uint64_t open(const call *c) { return once(c, 0, c->from.at); }
static uint64_t seal_in_place(const call *c) { return once(c, 1, c->to.at); }
static uint64_t open_in_place(const call *c) { return once(c, 0, c->to.at); }
static uint64_t seal_pieces(const call *c) { return pieces(c, 1, 1); }
static uint64_t open_pieces(const call *c) { return pieces(c, 0, 1); }
static uint64_t seal_iv(const call *c) { return pieces(c, 1, 0); }
static uint64_t open_iv(const call *c) { return pieces(c, 0, 0); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16", "[]", "[12]"},
    {"open", open, "Gcm Opens Apart Unverified 16", "[]", "[12]"},
    {"seal in place", seal_in_place, "Gcm Seals InPlace Zeros 16", "[]", "[12]"},
    {"open in place", open_in_place, "Gcm Opens InPlace Unverified 16", "[]", "[12]"},
    {"seal in pieces", seal_pieces, "Gcm Seals Apart Zeros 16 cut", "[]", "[]"},
    {"open in pieces", open_pieces, "Gcm Opens Apart Unverified 16 cut", "[]", "[]"},
    {"seal, another nonce", seal_iv, "Gcm Seals Apart Zeros 16", "[]", "[8, 16, 60]"},
    {"open, another nonce", open_iv, "Gcm Opens Apart Unverified 16", "[]", "[8, 16, 60]"},
};

static const char *setup(const char *row) {
    m = alloc_mb_mgr(0);
    if (!m) return "no memory";
    if (!strcmp(row, "vaes-avx512"))
        init_mb_mgr_avx512(m);
    else if (!strcmp(row, "aesni-sse"))
        init_mb_mgr_sse(m);
    else
        init_mb_mgr_avx2(m);
    return imb_get_errno(m) ? imb_get_strerror(imb_get_errno(m)) : NULL;
}

TARGET(verbs, setup, "a manager is made: avx512, avx2 or sse by the row")

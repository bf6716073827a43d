/* Calls of the C library that are proved: the same as `src/main.rs`, in C, so that what is interpreted is `libfastgcm.so` as it is shipped. */
#include "call.h"
#include <fastgcm.h>

/* How each verb is described, and the call. */
static const char told[] = "verb;nothing;Gcm Seals Read Zeros 16;[];[]\n"
                           "verb;fastgcm_seal;Gcm Seals Apart Zeros 16;[];[]\n"
                           "verb;fastgcm_open;Gcm Opens Apart Zeros 16;[];[]\n"
                           "verb;fastgcm_seal in place;Gcm Seals InPlace Zeros 16;[];[]\n"
                           "verb;fastgcm_open in place;Gcm Opens InPlace Zeros 16;[];[]\n"
                           "verb;fastgcm_seal_gathered;Gcm Seals Apart Zeros 16 cut;[];[]\n"
                           "verb;fastgcm_open_gathered;Gcm Opens Apart Zeros 16 cut;[];[]\n"
                           "verb;fastgcm_seal_batch;Gcm Seals Apart Zeros 16;[];[12]\n"
                           "verb;fastgcm_open_batch;Gcm Opens Apart Zeros 16;[];[12]\n"
                           "verb;fastgcm_pieces_seal;Gcm Seals Apart Zeros 16 cut;[];[]\n"
                           "verb;fastgcm_pieces_open;Gcm Opens Apart Unverified 16 cut;[];[]\n"
                           GCM_PROVE_ROWS;

static int pieces(const call *c, const fastgcm_key *key, void *place, int seals) {
    fastgcm_pieces *pieces = place;
    const size_t ends[] = {c->cuts[0], c->cuts[1], c->from.size};
    int status = fastgcm_pieces_init(pieces, fastgcm_pieces_size(), key, c->nonce.at, c->nonce.size);
    if (!status) status = fastgcm_pieces_aad(pieces, key, c->aad.at, c->aad.size);
    for (size_t i = 0, at = 0; i < 3 && !status; at = ends[i++]) {
        status = seals ? fastgcm_pieces_seal(pieces, key, c->from.at + at, ends[i] - at, c->to.at + at)
                       : fastgcm_pieces_open(pieces, key, c->from.at + at, ends[i] - at, c->to.at + at);
    }
    if (!status) status = seals ? fastgcm_pieces_finish(pieces, key, c->tag.at) : fastgcm_pieces_verify(pieces, key, c->tag.at, 16);
    return status;
}

/* Eight packets, of which the last is looked at; the others are written to memory of their own. Each that is sealed has a
 * nonce of its own. (What is opened is one packet eight times: only its tag may decide.) */
static int batch(const call *c, const fastgcm_key *key, int seals) {
    fastgcm_packet packets[8];
    for (size_t i = 0; i < 8; i++) {
        fastgcm_packet *p = &packets[i];
        memcpy(p->nonce, c->nonce.at, 12);
        if (seals) p->nonce[0] ^= 7 - i;
        memcpy(p->tag, c->tag.at, 16);
        p->aad = c->aad.at, p->aad_size = c->aad.size;
        p->from = c->from.at, p->size = c->from.size;
        p->to = i < 7 ? c->heap.at + i * c->from.size : c->to.at;
    }
    int status = seals ? fastgcm_seal_batch(key, packets, 8) : fastgcm_open_batch(key, packets, 8);
    if (seals) memcpy(c->tag.at, packets[7].tag, 16);
    return status;
}

__attribute__((noinline)) static uint64_t perform(const call *c) {
    const size_t size = fastgcm_key_size();
    fastgcm_key *key = (fastgcm_key *)c->place.at;
    void *behind = c->place.at + (size + 4095) / 4096 * 4096;
    int status = fastgcm_key_init(key, size, c->key.at, c->key.size, rows[c->row]);
    if (status || c->verb == 0) return status;
    const fastgcm_slice aad = {c->aad.at, c->aad.size};
    const fastgcm_slice three[] = {{c->from.at, c->cuts[0]},
                                   {c->from.at + c->cuts[0], c->cuts[1] - c->cuts[0]},
                                   {c->from.at + c->cuts[1], c->from.size - c->cuts[1]}};
    const bytes *nonce = &c->nonce, *from = &c->from, *to = &c->to;
    switch (c->verb) {
    case 1: return fastgcm_seal(key, nonce->at, nonce->size, aad.data, aad.size, from->at, from->size, to->at, c->tag.at);
    case 2: return fastgcm_open(key, nonce->at, nonce->size, aad.data, aad.size, from->at, from->size, c->tag.at, 16, to->at);
    case 3: return fastgcm_seal(key, nonce->at, nonce->size, aad.data, aad.size, to->at, to->size, to->at, c->tag.at);
    case 4: return fastgcm_open(key, nonce->at, nonce->size, aad.data, aad.size, to->at, to->size, c->tag.at, 16, to->at);
    case 5: return fastgcm_seal_gathered(key, nonce->at, nonce->size, &aad, 1, three, 3, to->at, to->size, c->tag.at);
    case 6: return fastgcm_open_gathered(key, nonce->at, nonce->size, &aad, 1, three, 3, c->tag.at, to->at, to->size);
    case 7: return batch(c, key, 1);
    case 8: return batch(c, key, 0);
    case 9: return pieces(c, key, behind, 1);
    default: return pieces(c, key, behind, 0);
    }
}

int main(void) {
    /* The allocator has memory by then, so that a call asks the system for none. */
    void *volatile warm = malloc(100000);
    free(warm);
    return proved(told) == 0;
}

/* ipsec-mb: messages, messages in pieces, and bursts of jobs, under one key of 128 bits. */
#include <intel-ipsec-mb.h>
#include <stdlib.h>

struct ipsec {
    struct gcm_key_data key;
    struct gcm_context_data context;
    IMB_MGR *manager;
};

struct ipsec *ipsec_new(void)
{
    struct ipsec *new = aligned_alloc(64, (sizeof *new + 63) / 64 * 64);
    new->manager = alloc_mb_mgr(0);
    init_mb_mgr_auto(new->manager, NULL);
    return new;
}

void ipsec_rekey(struct ipsec *s, const uint8_t *key) { IMB_AES128_GCM_PRE(s->manager, key, &s->key); }

void ipsec_seal(struct ipsec *s, const uint8_t *nonce, const uint8_t *aad, uint64_t aad_len, const uint8_t *in, uint8_t *out, uint64_t len, uint8_t *tag)
{
    IMB_AES128_GCM_ENC(s->manager, &s->key, &s->context, out, in, len, nonce, aad, aad_len, tag, 16);
}

void ipsec_begin(struct ipsec *s, const uint8_t *nonce, const uint8_t *aad, uint64_t aad_len)
{
    IMB_AES128_GCM_INIT(s->manager, &s->key, &s->context, nonce, aad, aad_len);
}

void ipsec_update(struct ipsec *s, const uint8_t *in, uint8_t *out, uint64_t len)
{
    IMB_AES128_GCM_ENC_UPDATE(s->manager, &s->key, &s->context, out, in, len);
}

void ipsec_finish(struct ipsec *s, uint8_t *tag) { IMB_AES128_GCM_ENC_FINALIZE(s->manager, &s->key, &s->context, tag, 16); }

/* Messages that lie behind each other, nonces and tags likewise. Returns how many were done at once. */
uint32_t ipsec_burst(struct ipsec *s, uint32_t n, const uint64_t *lengths, const uint8_t *nonces, const uint8_t *aad, uint64_t aad_len,
                     const uint8_t *in, uint8_t *out, uint8_t *tags)
{
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    if (IMB_GET_NEXT_BURST(s->manager, n, jobs) < n)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        IMB_JOB *job = jobs[i];
        job->cipher_mode = IMB_CIPHER_GCM;
        job->hash_alg = IMB_AUTH_AES_GMAC;
        job->chain_order = IMB_ORDER_CIPHER_HASH;
        job->cipher_direction = IMB_DIR_ENCRYPT;
        job->enc_keys = job->dec_keys = &s->key;
        job->key_len_in_bytes = 16;
        job->src = in;
        job->dst = out;
        job->cipher_start_src_offset_in_bytes = job->hash_start_src_offset_in_bytes = 0;
        job->msg_len_to_cipher_in_bytes = job->msg_len_to_hash_in_bytes = lengths[i];
        job->iv = nonces + 12 * i;
        job->iv_len_in_bytes = 12;
        job->u.GCM.aad = aad;
        job->u.GCM.aad_len_in_bytes = aad_len;
        job->auth_tag_output = tags + 16 * i;
        job->auth_tag_output_len_in_bytes = 16;
        in += lengths[i];
        out += lengths[i];
    }
    return IMB_SUBMIT_BURST(s->manager, n, jobs);
}

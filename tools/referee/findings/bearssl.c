/* BearSSL (0.6): two manners. br_gcm_reset takes an empty nonce, and br_gcm_check_tag_trunc a tag of one byte, and of none, which SP 800-38D
 * has not.
 *
 *     cc bearssl.c -lbearssl && ./a.out            # libbearssl-dev; status 1: it does at least one of these
 */
#include <bearssl.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    br_aes_ct64_ctr_keys keys;
    br_gcm_context context;
    unsigned char key[16] = { 1 }, sealed[16] = { 0 }, work[16], tag[16];
    uint32_t takes[2];
    br_aes_ct64_ctr_init(&keys, key, sizeof key);
    br_gcm_init(&context, &keys.vtable, br_ghash_ctmul64);
    for (int turn = 0; turn < 3; turn++) { /* seal, open with a tag of no bytes, open with one of 1 */
        br_gcm_reset(&context, NULL, 0);
        br_gcm_flip(&context);
        br_gcm_run(&context, turn == 0, turn ? memcpy(work, sealed, sizeof work) : sealed, sizeof sealed);
        if (turn == 0)
            br_gcm_get_tag(&context, tag);
        else
            takes[turn - 1] = br_gcm_check_tag_trunc(&context, tag, turn - 1);
    }
    printf("takes an empty nonce with a tag of no bytes: %u, of 1 byte: %u\n", takes[0], takes[1]);
    return takes[0] || takes[1];
}

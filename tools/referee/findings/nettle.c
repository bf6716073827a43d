/* nettle (3.8.1): a manner. gcm_aes128_set_iv takes an empty nonce, which SP 800-38D has not: with one key all such messages have one keystream.
 *
 *     cc nettle.c -lnettle && ./a.out              # nettle-dev; status 1: it does
 */
#include <nettle/gcm.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    struct gcm_aes128_ctx context;
    uint8_t key[16] = { 1 }, text[16] = { 0 }, out[16], tag[16];
    gcm_aes128_set_key(&context, key);
    gcm_aes128_set_iv(&context, 0, text);
    gcm_aes128_encrypt(&context, sizeof text, out, text);
    gcm_aes128_digest(&context, sizeof tag, tag);
    int seals = memcmp(out, text, sizeof text) != 0;
    printf("has no way to refuse it, and seals: %d\n", seals);
    return seals;
}

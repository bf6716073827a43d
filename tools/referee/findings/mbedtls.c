/* mbedTLS (2.28.3): a manner. mbedtls_gcm_auth_decrypt takes a tag of five bytes, which SP 800-38D has not (4, 8, and 12 to 16).
 *
 *     cc mbedtls.c -lmbedcrypto && ./a.out         # libmbedtls-dev; status 1: it does
 */
#include <mbedtls/gcm.h>
#include <stdio.h>

int main(void)
{
    mbedtls_gcm_context context;
    unsigned char key[16] = { 1 }, nonce[12] = { 2 }, text[32] = "text", sealed[32], opened[32], tag[16];
    mbedtls_gcm_init(&context);
    mbedtls_gcm_setkey(&context, MBEDTLS_CIPHER_ID_AES, key, 128);
    mbedtls_gcm_crypt_and_tag(&context, MBEDTLS_GCM_ENCRYPT, sizeof text, nonce, sizeof nonce, NULL, 0, text, sealed, sizeof tag, tag);
    int opened_by[2];
    for (int i = 0; i < 2; i++)
        opened_by[i] = mbedtls_gcm_auth_decrypt(&context, sizeof text, nonce, sizeof nonce, NULL, 0, tag, 3 + 2 * i, sealed, opened) == 0;
    printf("takes a tag of 3 bytes: %d, of 5: %d\n", opened_by[0], opened_by[1]);
    return opened_by[0] || opened_by[1];
}

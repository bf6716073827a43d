/* GnuTLS (3.7.9): a manner. gnutls_aead_cipher_decryptv2 leaves the plaintext of a message that it refuses where it decrypted it.
 *
 *     cc gnutls.c -lgnutls && ./a.out              # libgnutls28-dev; status 1: it does
 */
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    gnutls_aead_cipher_hd_t cipher;
    unsigned char bytes[16] = { 1 }, nonce[12] = { 2 }, text[32] = "a text that nobody may see ...", work[32], tag[16];
    gnutls_datum_t key = { bytes, sizeof bytes };
    giovec_t aad = { NULL, 0 }, place = { work, sizeof work };
    size_t tag_size = sizeof tag;
    memcpy(work, text, sizeof text);
    gnutls_aead_cipher_init(&cipher, GNUTLS_CIPHER_AES_128_GCM, &key);
    gnutls_aead_cipher_encryptv2(cipher, nonce, sizeof nonce, &aad, 0, &place, 1, tag, &tag_size);
    tag[5] ^= 1;
    int refused = gnutls_aead_cipher_decryptv2(cipher, nonce, sizeof nonce, &aad, 0, &place, 1, tag, tag_size);
    int leaves = memcmp(work, text, sizeof text) == 0;
    printf("refuses a forgery: %s; leaves its plaintext: %s\n", gnutls_strerror(refused), leaves ? "yes" : "no");
    return leaves;
}

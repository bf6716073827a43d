/* BoringSSL and AWS-LC (of boring-sys 5 and aws-lc-sys 0.47): a manner. EVP_AEAD opens a tag of one byte, where SP 800-38D has none of fewer than
 * four, for a program that asks for tags of one byte.
 *
 *     cc boringssl.c -I boringssl/include libcrypto.a -lstdc++ -lpthread && ./a.out      # status 1: it does
 */
#include <openssl/aead.h>
#include <stdio.h>

int main(void)
{
    uint8_t key[16] = { 1 }, nonce[12] = { 2 }, text[32] = "text", sealed[33], opened[33];
    size_t length, none;
    EVP_AEAD_CTX *context = EVP_AEAD_CTX_new(EVP_aead_aes_128_gcm(), key, sizeof key, 1);
    int seals = context && EVP_AEAD_CTX_seal(context, sealed, &length, sizeof sealed, nonce, sizeof nonce, text, sizeof text, NULL, 0);
    int takes = seals && EVP_AEAD_CTX_open(context, opened, &none, sizeof opened, nonce, sizeof nonce, sealed, length, NULL, 0);
    printf("seals with a tag of 1 byte: %d, opens it: %d\n", seals, takes);
    return takes;
}

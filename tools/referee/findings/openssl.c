/* OpenSSL (3.0.22): a manner. EVP_CTRL_AEAD_SET_TAG takes a tag of one byte when it decrypts, where SP 800-38D has none of fewer
 * than four: a forger needs 128 attempts on average if a program takes the length of the tag from the message.
 *
 *     cc openssl.c -lcrypto && ./a.out             # libssl-dev; status 1: it does
 */
#include <openssl/evp.h>
#include <stdio.h>

int main(void)
{
    unsigned char key[16] = { 1 }, nonce[12] = { 2 }, text[32] = "text", sealed[32], opened[32], tag[16];
    int length;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce);
    EVP_EncryptUpdate(context, sealed, &length, text, sizeof text);
    EVP_EncryptFinal_ex(context, opened, &length);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag);
    EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce);
    EVP_DecryptUpdate(context, opened, &length, sealed, sizeof sealed);
    int set = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 1, tag), takes = EVP_DecryptFinal_ex(context, opened, &length);
    printf("sets a tag of 1 byte: %d, takes it: %d\n", set, takes);
    return set > 0 && takes > 0;
}

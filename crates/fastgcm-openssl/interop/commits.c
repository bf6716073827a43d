/* Seals and opens a message by KC-XAES-256-GCM of the provider, and shows that another commitment is refused. The README shows the middle of it. */
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    static const uint8_t key[32] = "a secret that nobody else knows";
    uint8_t iv[24], text[14];
    int size = sizeof text, none;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    memcpy(text, "attack at dawn", sizeof text);

    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "KC-XAES-256-GCM", NULL);
    uint8_t tag[16], commitment[32];
    OSSL_PARAM ends[] = {OSSL_PARAM_construct_octet_string("tag", tag, sizeof tag),
                         OSSL_PARAM_construct_octet_string("commitment", commitment, sizeof commitment), OSSL_PARAM_construct_end()};

    if (!EVP_EncryptInit_ex2(context, cipher, key, NULL, NULL)) return 1;        /* no IV: a random one is drawn */
    if (!EVP_CIPHER_CTX_get_updated_iv(context, iv, sizeof iv)) return 1;        /* of 24 bytes, which are sent */
    if (!EVP_EncryptUpdate(context, text, &size, text, size) || !EVP_EncryptFinal_ex(context, text, &none)) return 1;
    if (!EVP_CIPHER_CTX_get_params(context, ends)) return 1;

    if (!EVP_DecryptInit_ex2(context, cipher, key, iv, ends)) return 1;
    if (!EVP_DecryptUpdate(context, text, &size, text, size)) return 1;
    if (EVP_DecryptFinal_ex(context, text, &none) != 1) return 1;                /* nobody may use the text before */
    if (memcmp(text, "attack at dawn", sizeof text) != 0) return 1;

    commitment[31] ^= 1;
    if (!EVP_DecryptInit_ex2(context, NULL, NULL, iv, ends) || !EVP_DecryptUpdate(context, text, &size, text, size)) return 1;
    if (EVP_DecryptFinal_ex(context, text, &none) != 0) return 1;
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(cipher);
    puts("commits.c ok");
    return 0;
}

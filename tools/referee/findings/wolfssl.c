/* wolfSSL: two manners. In 5.5.4, as Debian 12 has it, wc_AesGcmDecrypt takes a tag of one byte, although wc_AesGcmEncrypt makes
 * none of fewer than WOLFSSL_MIN_AUTH_TAG_SZ = 12 bytes, so a forger needs 128 attempts on average. There and in 5.9.2 the
 * plaintext of a refused message is in the output after AES_GCM_AUTH_E (in 5.9.2 not if it is built with
 * WC_AES_GCM_DEC_AUTH_EARLY and without assembly).
 *
 *     cc wolfssl.c -lwolfssl && ./a.out            # libwolfssl-dev; status 1: it does at least one of both
 *
 * 5.9.2 is built as wolfssl-nonce.c says.
 */
#ifdef WOLFSSL_USER_SETTINGS
#include <wolfssl/wolfcrypt/settings.h>
#else
#include <wolfssl/options.h>
#endif
#include <wolfssl/wolfcrypt/aes.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static Aes aes;
    byte key[32] = { 1 }, nonce[12] = { 2 }, text[32] = "a text that nobody may see ...", sealed[32], opened[32] = { 0 }, tag[16];
    wc_AesInit(&aes, NULL, INVALID_DEVID);
    wc_AesGcmSetKey(&aes, key, sizeof key);
    wc_AesGcmEncrypt(&aes, sealed, text, sizeof text, nonce, sizeof nonce, tag, sizeof tag, NULL, 0);
    int makes = wc_AesGcmEncrypt(&aes, opened, text, sizeof text, nonce, sizeof nonce, opened, 1, NULL, 0);
    int takes = wc_AesGcmDecrypt(&aes, opened, sealed, sizeof text, nonce, sizeof nonce, tag, 1, NULL, 0);
    memset(opened, 0, sizeof opened);
    tag[5] ^= 1;
    int forged = wc_AesGcmDecrypt(&aes, opened, sealed, sizeof text, nonce, sizeof nonce, tag, sizeof tag, NULL, 0);
    int leaves = forged != 0 && memcmp(opened, text, sizeof text) == 0;
    printf("makes a tag of 1 byte: %d, takes it: %d; refuses a forgery: %d, and leaves its plaintext: %s\n", makes, takes, forged,
           leaves ? "yes" : "no");
    return (makes != 0 && takes == 0) || leaves;
}

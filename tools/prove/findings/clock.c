/* Measures a carry in the counter with a clock around one call (counter.md): cc -O2 clock.c -lcrypto && taskset -c 1 ./a.out [BYTES [open]] */
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

enum { NONCES = 2048, ROUNDS = 200, MOST = 65536 };
static unsigned char key[16], nonce[NONCES][16], low[NONCES], text[MOST], out[MOST + 16];
static unsigned cycles[NONCES][ROUNDS];

static int by_number(const void *a, const void *b) { return (*(const unsigned *)a > *(const unsigned *)b) - (*(const unsigned *)a < *(const unsigned *)b); }

int main(int argc, char **argv) {
    int size = argc > 1 ? atoi(argv[1]) : 600, opens = argc > 2, n;
    EVP_CIPHER_CTX *gcm = EVP_CIPHER_CTX_new(), *ecb = EVP_CIPHER_CTX_new();
    RAND_bytes(key, sizeof key);
    RAND_bytes(nonce[0], sizeof nonce);
    EVP_EncryptInit_ex(gcm, EVP_aes_128_gcm(), NULL, NULL, NULL);
    EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_SET_IVLEN, 16, NULL);
    EVP_EncryptInit_ex(gcm, NULL, NULL, key, nonce[0]);
    EVP_DecryptInit_ex(ecb, EVP_aes_128_ecb(), NULL, key, NULL);
    EVP_CIPHER_CTX_set_padding(ecb, 0);
    for (int i = 0; i < NONCES; i++) {
        /* The tag of nothing is the first counter block, encrypted. Who has the key learns that block; the low byte of it is what the trace depends on. */
        unsigned char tag[16], block[16];
        EVP_EncryptInit_ex(gcm, NULL, NULL, NULL, nonce[i]);
        EVP_EncryptFinal_ex(gcm, out, &n);
        EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_GET_TAG, 16, tag);
        EVP_DecryptUpdate(ecb, block, &n, tag, 16);
        low[i] = block[15];
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < NONCES; i++) {
            unsigned aux;
            EVP_CipherInit_ex(gcm, NULL, NULL, NULL, nonce[i], !opens);
            _mm_lfence();
            unsigned long long start = __rdtscp(&aux);
            _mm_lfence();
            EVP_CipherUpdate(gcm, out, &n, text, size);
            cycles[i][round] = (unsigned)(__rdtscp(&aux) - start);
        }
    /* By how far away the carry is, in blocks: the median of a nonce's rounds, and how often one round alone takes longer than the median of all. */
    static unsigned all[NONCES * ROUNDS];
    memcpy(all, cycles, sizeof all);
    qsort(all, NONCES * ROUNDS, sizeof *all, by_number);
    unsigned usual = all[NONCES * ROUNDS / 2];
    printf("%s, %s, %d bytes, usually %u ticks\n", OpenSSL_version(OPENSSL_VERSION), opens ? "opened" : "sealed", size, usual);
    for (int from = 1; from <= 256; from += 16) {
        double median = 0, longer = 0;
        int count = 0;
        for (int i = 0; i < NONCES; i++) {
            if ((256 - low[i] - from) / 16 != 0 || 256 - low[i] < from) continue;
            for (int round = 0; round < ROUNDS; round++) longer += cycles[i][round] > usual + 13;
            qsort(cycles[i], ROUNDS, sizeof(unsigned), by_number);
            median += cycles[i][ROUNDS / 2], count++;
        }
        printf("carry after %3d to %3d blocks: %4d nonces, median %6.1f, longer than usual %4.1f %%\n", from, from + 15, count, median / count, 100 * longer / count / ROUNDS);
    }
}

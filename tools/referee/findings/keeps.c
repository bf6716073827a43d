/* BoringSSL (boring-sys 5.4.0) and AWS-LC (5.12.0): a manner. On a processor without AES-NI and without SSSE3 (by OPENSSL_ia32cap) the hash key H of a
 * message is in the process's memory when its context was cleaned up: with H and one tag anybody can forge.
 *
 *     cc -I boringssl/include keeps.c libcrypto.a -lstdc++ -lpthread && OPENSSL_ia32cap=~0x200020000000000:~0x0 ./a.out    # status 1: it is
 */
#include <openssl/aead.h>
#include <openssl/aes.h>
#include <openssl/mem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    /* Another process computes H, and tells it with all bits changed: this one has no copy of its own. */
    unsigned char not_h[16], key[32], nonce[12] = { 2 }, text[100] = "text";
    int pipes[2], found = 0;
    pipe(pipes);
    memset(key, 0x5a, sizeof key);
    if (fork() == 0) {
        AES_KEY schedule;
        AES_set_encrypt_key(key, 256, &schedule);
        AES_encrypt((unsigned char[16]) { 0 }, not_h, &schedule);
        for (int i = 0; i < 16; i++)
            not_h[i] = ~not_h[i];
        _exit(write(pipes[1], not_h, 16) != 16);
    }
    wait(NULL);
    read(pipes[0], not_h, 16);
    EVP_AEAD_CTX context;
    unsigned char sealed[116];
    size_t length;
    EVP_AEAD_CTX_init(&context, EVP_aead_aes_256_gcm(), key, 32, 16, NULL);
    EVP_AEAD_CTX_seal(&context, sealed, &length, sizeof sealed, nonce, 12, text, sizeof text, NULL, 0);
    EVP_AEAD_CTX_cleanup(&context);
    OPENSSL_cleanse(&context, sizeof context); /* that memory is the caller's */
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], rights[8];
    unsigned long from, to;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && rights[0] == 'r' && rights[1] == 'w')
            for (unsigned long at = from; at + 16 <= to; at++) {
                int same = 0;
                while (same < 16 && ((volatile unsigned char *)at)[same] == (unsigned char)~not_h[same])
                    same++;
                found += same == 16;
            }
    printf("H is in memory %d times\n", found);
    return found > 0;
}

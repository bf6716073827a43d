/* wolfSSL (5.9.2, with its assembly for AES-NI): a nonce of 12 bytes is read as 16. Where the nonce ends with a page behind which
 * nothing is mapped, wc_AesGcmEncrypt and wc_AesGcmDecrypt end the process.
 *
 *     cc -DWOLFSSL_USER_SETTINGS -I FOLDER-OF-user_settings.h -I wolfssl wolfssl-nonce.c wolfssl/wolfcrypt/src/{aes,cpuid,memory}.c \
 *        wolfssl/wolfcrypt/src/aes{,_gcm}_asm.S -maes -mpclmul -mssse3 -msse4.1 && ./a.out
 *
 * tools/aead/libraries/wolfssl has such a user_settings.h, and make.sh beside it fetches the source. Status 1: it does.
 */
#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static byte *end;

static void caught(int signal, siginfo_t *info, void *context)
{
    printf("reads %td bytes behind the nonce\n", (byte *)info->si_addr - end + 1);
    fflush(stdout);
    _exit(1);
}

int main(void)
{
    static Aes aes;
    byte key[16] = { 1 }, text[16] = { 0 }, out[16], tag[16];
    struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);
    byte *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end = pages + 4096;
    mprotect(end, 4096, PROT_NONE);
    wc_AesInit(&aes, NULL, INVALID_DEVID);
    wc_AesGcmSetKey(&aes, key, sizeof key);
    int done = wc_AesGcmEncrypt(&aes, out, text, sizeof text, end - 12, 12, tag, sizeof tag, NULL, 0);
    printf("does not: %d\n", done);
    return 0;
}

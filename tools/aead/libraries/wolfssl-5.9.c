/* wolfSSL 5.9, of Debian's unstable, with its code for Intel: the four files that are its AES-GCM. It reads a nonce of 12 bytes as 16:
 * with `--spare nonce=4` it is asked for all else.
 * without: REFEREE_WOLFSSL=aesni REFEREE_WOLFSSL=avx1 REFEREE_WOLFSSL=avx2 REFEREE_WOLFSSL=bmi2 REFEREE_WOLFSSL=movbe
 * made: wolfssl
 * link: -DWOLFSSL_USER_SETTINGS -I$HERE/wolfssl -I$MADE -maes -mpclmul -mssse3 -msse4.1 -O3
 * link: $MADE/wolfcrypt/src/aes.c $MADE/wolfcrypt/src/cpuid.c $MADE/wolfcrypt/src/memory.c
 * link: $MADE/wolfcrypt/src/aes_asm.S $MADE/wolfcrypt/src/aes_gcm_asm.S */
#include "wolfssl.c"

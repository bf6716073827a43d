/* AWS-LC: EVP_AEAD, as BoringSSL has it. What works in pieces is `aws-lc-evp` of builds.txt.
 * without: OPENSSL_ia32cap
 * made: aws-lc
 * link: -I$MADE/include $MADE/libcrypto.a -lpthread */
#ifdef __aarch64__
/* It takes its code with EOR3 on processors of some names, of which nothing is left but this bit: that of Neoverse V1. */
#include <stdint.h>
#include <string.h>
extern uint32_t OPENSSL_armcap_P;
static const char *start(const char *level)
{
    OPENSSL_armcap_P |= level && strcmp(level, "aes-neon-eor3") == 0 ? 1 << 12 : 0;
    return NULL;
}
#define START start
#define LEVELS "aes-neon-eor3\naes-neon"
#endif
#include "boringssl.c"

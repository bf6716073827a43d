/* AWS-LC: AES-GCM-SIV by EVP_AEAD.
 * without: OPENSSL_ia32cap
 * made: aws-lc
 * link: -I$MADE/include $MADE/libcrypto.a -lpthread */
#define SIV
#include "boringssl.c"

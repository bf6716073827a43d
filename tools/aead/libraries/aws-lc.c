/* AWS-LC: EVP_AEAD, as BoringSSL has it. What works in pieces is in aws-lc-evp.c.
 * without: OPENSSL_ia32cap
 * made: aws-lc
 * link: -I$MADE/include $MADE/libcrypto.a -lpthread */
#include "boringssl.c"

/* AWS-LC: what it has of OpenSSL's EVP, in pieces.
 * without: OPENSSL_ia32cap
 * made: aws-lc
 * link: -I$MADE/include $MADE/libcrypto.a -lpthread */
#include "openssl.c"

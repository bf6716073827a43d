/* OpenSSL 4.0, from the crate `openssl-src`.
 * without: OPENSSL_ia32cap
 * made: openssl-4.0
 * link: -I$MADE/include $MADE/libcrypto.a -ldl -lpthread */
#include "openssl.c"

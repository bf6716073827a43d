/* OpenSSL 3.6, from the crate `openssl-src`.
 * without: OPENSSL_ia32cap
 * made: openssl-3.6
 * link: -I$MADE/include $MADE/libcrypto.a -ldl -lpthread */
#include "openssl.c"

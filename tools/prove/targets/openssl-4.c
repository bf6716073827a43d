/* OpenSSL 4.0, of the crate openssl-src.
 * link: -I$MADE/include $MADE/libcrypto.a */
#include "evp.c"

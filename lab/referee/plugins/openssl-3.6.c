/* OpenSSL 3.6, from the crate `openssl-src`.
 * built: openssl-3.6
 * link: -I$(rival-openssl-3-6)/openssl-build/install/include $(rival-openssl-3-6)/openssl-build/install/lib/libcrypto.a -ldl -lpthread */
#include "openssl.c"

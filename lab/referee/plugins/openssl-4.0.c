/* OpenSSL 4.0, from the crate `openssl-src`.
 * built: openssl-4.0
 * link: -I$(rival-openssl-4-0)/openssl-build/install/include $(rival-openssl-4-0)/openssl-build/install/lib/libcrypto.a -ldl -lpthread */
#include "openssl.c"

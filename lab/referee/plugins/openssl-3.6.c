/* OpenSSL 3.6, from the crate `openssl-src`.
 * without: OPENSSL_ia32cap
 * built: openssl-3.6
 * link: -I$(rivals)/openssl-build/install/include $(rivals)/openssl-build/install/lib/libcrypto.a -ldl -lpthread */
#include "openssl.c"

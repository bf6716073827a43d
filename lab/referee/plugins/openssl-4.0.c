/* OpenSSL 4.0, from the crate `openssl-src`.
 * without: OPENSSL_ia32cap
 * built: openssl-4.0
 * link: -I$(rivals)/openssl-build/install/include $(rivals)/openssl-build/install/lib/libcrypto.a -ldl -lpthread */
#include "openssl.c"

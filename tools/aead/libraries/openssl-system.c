/* Debian's libcrypto, linked static, so that each copy of this plug-in has variables of its own.
 * without: OPENSSL_ia32cap
 * link: -l:libcrypto.a -ldl -lpthread
 * debian: libssl-dev */
#include "openssl.c"

/* BoringSSL: what it has of OpenSSL's EVP, in pieces.
 * without: OPENSSL_ia32cap
 * made: boringssl
 * link: -I$MADE/include $MADE/libcrypto.a -lstdc++ -lpthread */
#include "openssl.c"

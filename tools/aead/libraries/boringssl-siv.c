/* BoringSSL: AES-GCM-SIV by EVP_AEAD.
 * without: OPENSSL_ia32cap
 * made: boringssl
 * link: -I$MADE/include $MADE/libcrypto.a -lstdc++ -lpthread */
#define SIV
#include "boringssl.c"

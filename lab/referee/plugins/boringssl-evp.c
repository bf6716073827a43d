/* BoringSSL: what it has of OpenSSL's EVP, in pieces.
 * without: OPENSSL_ia32cap
 * built: boringssl
 * link: -I$(boring-sys)/boringssl/include $(boring-sys)/build/libcrypto.a -lstdc++ -lpthread */
#include "openssl.c"

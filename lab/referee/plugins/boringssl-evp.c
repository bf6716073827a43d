/* BoringSSL: what it has of OpenSSL's EVP, in pieces.
 * built: boringssl
 * link: -I$(boring-sys)/boringssl/include $(boring-sys)/build/libcrypto.a -lstdc++ -lpthread */
#include "openssl.c"

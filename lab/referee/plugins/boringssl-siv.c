/* BoringSSL: AES-GCM-SIV by EVP_AEAD.
 * without: OPENSSL_ia32cap
 * built: boringssl
 * link: -I$(boring-sys)/boringssl/include $(boring-sys)/build/libcrypto.a -lstdc++ -lpthread */
#define SIV
#include "boringssl.c"

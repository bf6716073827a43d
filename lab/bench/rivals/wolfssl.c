/* What only wolfSSL's headers know: how large a key is. */
#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/wolfcrypt/aes.h>

size_t wolfssl_key_size(void) { return sizeof(Aes); }

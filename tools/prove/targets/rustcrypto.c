/* The crate aes-gcm of RustCrypto, 0.11.
 * link: $MADE/libprove_rust.a */
#define KEYS "[]"
#include "rust.c"

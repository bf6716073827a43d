/* The crate aes-gcm of RustCrypto, an old version. It shall leave a text that it refuses as it was.
 * link: $MADE/libprove_rust.a */
#define KEYS "[]"
#define REFUSED_TEXT "AsItWas"
#include "rust.c"

/* BoringSSL, of the crate boring-sys.
 * link: -I$MADE/include $MADE/libcrypto.a -lstdc++ */
#include "aead.c"

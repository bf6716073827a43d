/* AWS-LC, of the crate aws-lc-sys.
 * link: -I$MADE/include $MADE/libcrypto.a */
#include "aead.c"

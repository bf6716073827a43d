/* And the next version.
 * link: $MADE/libprove_rust.a */
#include "rustcrypto-0.10.2.c"

/* OpenSSL 3.0, as Debian has it.
 * link: -I$MADE/include -I$MADE/include/x86_64-linux-gnu $MADE/libcrypto.a */
#include "evp.c"

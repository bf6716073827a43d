/* libgcrypt 1.12, of Debian's unstable.
 * made: libgcrypt
 * link: -I$MADE/include $MADE/lib/libgcrypt.a $MADE/lib/libgpg-error.a */
#include "libgcrypt.c"

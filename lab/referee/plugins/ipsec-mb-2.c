/* Intel's ipsec-mb 2, of Debian's testing.
 * made: ipsec-mb
 * link: -I$MADE/include $MADE/libIPSec_MB.a */
#include "ipsec-mb.c"

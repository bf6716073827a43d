/* Intel's ipsec-mb 2, of Debian's testing.
 * levels: REFEREE_IPSEC_MB=sse REFEREE_IPSEC_MB=avx2 REFEREE_IPSEC_MB=avx512 REFEREE_IPSEC_MB=nogfni
 * made: ipsec-mb
 * link: -I$MADE/include $MADE/libIPSec_MB.a */
#include "ipsec-mb.c"

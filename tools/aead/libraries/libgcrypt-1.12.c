/* libgcrypt 1.12, of Debian's unstable.
 * without: REFEREE_LIBGCRYPT=intel-aesni REFEREE_LIBGCRYPT=intel-pclmul REFEREE_LIBGCRYPT=intel-ssse3 REFEREE_LIBGCRYPT=intel-sse4.1
 * without: REFEREE_LIBGCRYPT=intel-avx REFEREE_LIBGCRYPT=intel-avx2 REFEREE_LIBGCRYPT=intel-bmi2 REFEREE_LIBGCRYPT=intel-vaes-vpclmul
 * without: REFEREE_LIBGCRYPT=intel-avx512 REFEREE_LIBGCRYPT=intel-gfni
 * made: libgcrypt
 * link: -I$MADE/include $MADE/lib/libgcrypt.a $MADE/lib/libgpg-error.a */
#include "libgcrypt.c"

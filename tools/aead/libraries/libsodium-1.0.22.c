/* libsodium 1.0.22, of Debian's unstable.
 * without: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS
 * made: libsodium
 * link: -I$MADE/usr/include $MADE/libsodium.a */
#include "libsodium.c"

/* AWS-LC, of the crate aws-lc-sys.
 * link: -I$MADE/include $MADE/libcrypto.a */
#ifdef __aarch64__
/* Its code with EOR3 is chosen by the processor's name. Of that name nothing but a bit is left, which is set here: Neoverse V1. */
#include <stdint.h>
#include <string.h>
extern uint32_t OPENSSL_armcap_P;
#define NAMED(row) \
    if (strcmp(row, "aes-neon-eor3") == 0) OPENSSL_armcap_P |= 1 << 12
#endif
#include "aead.c"

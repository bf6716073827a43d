/* ring.
 * link: $MADE/libprove_rust.a */
#define KEYS "[16, 32]"
#include "rust.c"

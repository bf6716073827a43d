/* Graviola, a crate of Rust. It zeroes what it refuses.
 * link: $MADE/libprove_rust.a */
#define KEYS "[16, 32]"
#define REFUSED_TEXT "Zeros"
#include "rust.c"

/* Seals a message, opens it, and shows that a forgery is refused. */
#include <fastgcm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status, int expected) {
    if (status != expected) {
        fprintf(stderr, "%s\n", fastgcm_text(status));
        exit(1);
    }
}

int main(void) {
    static const uint8_t bytes[32] = "a secret that nobody else knows";
    static const uint8_t nonce[12] = "number one"; /* never the same with one key again */
    uint8_t message[] = "attack at dawn", tag[16];
    const size_t size = strlen((char *)message);

    check(fastgcm_selftest(), FASTGCM_OK);

    /* A key in memory of our own. */
    size_t place_size = (fastgcm_key_size() + 63) / 64 * 64;
    fastgcm_key *key = aligned_alloc(fastgcm_key_align(), place_size);
    check(fastgcm_key_init(key, place_size, bytes, sizeof bytes, NULL), FASTGCM_OK);

    check(fastgcm_seal(key, nonce, 12, NULL, 0, message, size, message, tag), FASTGCM_OK);
    check(fastgcm_open(key, nonce, 12, NULL, 0, message, size, tag, 16, message), FASTGCM_OK);
    printf("%s, by %s of fastgcm %s\n", (char *)message, fastgcm_key_backend(key), fastgcm_version());

    tag[3] ^= 1;
    check(fastgcm_open(key, nonce, 12, NULL, 0, message, size, tag, 16, message), FASTGCM_UNAUTHENTIC);
    if (message[0] != 0) return 1; /* the text is all zero */

    /* In pieces. */
    fastgcm_pieces *pieces;
    const uint8_t other_nonce[12] = "number two";
    check(fastgcm_pieces_new(&pieces, key, other_nonce, 12), FASTGCM_OK);
    check(fastgcm_pieces_aad(pieces, key, (const uint8_t *)"header", 6), FASTGCM_OK);
    memcpy(message, "attack at noon", size);
    check(fastgcm_pieces_seal(pieces, key, message, 6, message), FASTGCM_OK);
    check(fastgcm_pieces_seal(pieces, key, message + 6, size - 6, message + 6), FASTGCM_OK);
    check(fastgcm_pieces_finish(pieces, key, tag), FASTGCM_OK);
    check(fastgcm_pieces_aad(pieces, key, (const uint8_t *)"late", 4), FASTGCM_OUT_OF_ORDER);
    fastgcm_pieces_free(pieces);

    /* The same message, opened from two buffers. */
    uint8_t text[14];
    const fastgcm_slice aad[] = {{(const uint8_t *)"head", 4}, {(const uint8_t *)"er", 2}};
    const fastgcm_slice sealed[] = {{message, 5}, {NULL, 0}, {message + 5, size - 5}};
    check(fastgcm_open_gathered(key, other_nonce, 12, aad, 2, sealed, 3, tag, text, size), FASTGCM_OK);
    if (memcmp(text, "attack at noon", size) != 0) return 1;

    /* Two messages in one call. */
    uint8_t first[] = "at dawn", second[] = "at noon";
    fastgcm_packet packets[2] = {{.nonce = "number 3...", .from = first, .to = first, .size = 7}, {.nonce = "number 4...", .from = second, .to = second, .size = 7}};
    check(fastgcm_seal_batch(key, packets, 2), FASTGCM_OK);
    packets[1].tag[0] ^= 1;
    check(fastgcm_open_batch(key, packets, 2), FASTGCM_UNAUTHENTIC);
    if (packets[0].status != FASTGCM_OK || packets[1].status != FASTGCM_UNAUTHENTIC || strcmp((char *)first, "at dawn") != 0) return 1;

    fastgcm_key_wipe(key);
    free(key);
    puts("seal.c ok");
    return 0;
}

/* A program with two static libraries that are written in Rust. */
#include <fastgcm.h>
#include <stdio.h>

int other_add(int, int);

int main(void) {
    uint8_t bytes[32] = {0}, tag[16], text[5] = "text";
    fastgcm_key *key;
    int status = fastgcm_key_new(&key, bytes, 32, NULL);
    if (status == FASTGCM_OK) status = fastgcm_seal(key, bytes, 12, NULL, 0, text, 5, text, tag);
    if (status == FASTGCM_OK) status = fastgcm_open(key, bytes, 12, NULL, 0, text, 5, tag, 16, text);
    fastgcm_key_free(key);
    if (status != FASTGCM_OK || text[0] != 't' || other_add(1, 2) != 3) return 1;
    puts("two.c ok");
    return 0;
}

#define main victim_main
#include "victims.c"
#undef main
/* What the processor makes of victims.c. native MODE N OFF FILE: mode s: seal twice, print tags, write ct+tag of the first call to FILE; o: open FILE, print answers, f: with a forged tag */
int main(int argc, char **argv) {
    (void)argc; setup("x");
    size_t n = strtoull(argv[2], 0, 0), off = strtoull(argv[3], 0, 0);
    uint8_t *a = aligned_alloc(4096, (n + 12288) & ~4095ull), *b = aligned_alloc(4096, (n + 12288) & ~4095ull);
    uint8_t key[16], nonce[12], aad[64], tag[16]; static uint8_t place[65536] __attribute__((aligned(4096)));
    memset(key, 0x5a, 16); memset(nonce, 7, 12); memset(aad, 9, 64);
    /* a process that has used its heap and stack */
    for (int i = 0; i < 50; i++) { void *p[20]; for (int j = 0; j < 20; j++) { p[j] = malloc(256); for (int b = 0; b < 256; b++) ((uint8_t *)p[j])[b] = (uint8_t)(b * b >> 3); } for (int j = 0; j < 20; j++) free(p[j]); }
    memset(place, 0xcc, sizeof place);
    for (size_t i = 0; i < n + 4096; i++) a[i] = (uint8_t)(i * 31), b[i] = 0x77;
    call c = {0}; c.key = (bytes){key, 16}; c.nonce = (bytes){nonce, 12}; c.aad = (bytes){aad, 13}; c.from = (bytes){a + off, n}; c.to = (bytes){b + off, n}; c.tag = (bytes){tag, 16};
    c.place = (bytes){place, 65536};
    if (argv[1][0] == 's') {
        for (int k = 0; k < 2; k++) { uint64_t r = seal(&c); printf("%d ", (int)r); for (int i = 0; i < 16; i++) printf("%02x", tag[i]); puts("");
            if (!k) { FILE *f = fopen(argv[4], "w"); fwrite(c.to.at, 1, n, f); fwrite(tag, 1, 16, f); fclose(f); } }
        return 0;
    }
    FILE *f = fopen(argv[4], "r"); if (fread(c.from.at, 1, n, f) != n || fread(tag, 1, 16, f) != 16) return 9;
    if (argv[1][0] == 'f') tag[0] ^= 1;
    printf("answer %d\n", (int)open(&c));
}

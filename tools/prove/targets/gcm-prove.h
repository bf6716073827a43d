/* What a target of gcm-prove has: functions that are called, and what each call is. docs: tools/prove/README.md; an example is what `gcm-prove new` writes. It
 * is for C and C++. */
#ifndef GCM_PROVE_H
#define GCM_PROVE_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *at;
    size_t size;
} bytes;

/* What a call is given. Where the text is in place, it is in `to`, and `from` is empty; a tag that is not behind the text is in `tag`.
 * `place` is for whatever must live during the call, a key for example: 64 KiB, of any content, and it may hold secrets afterwards.
 * `heap` is as much, and eight times the text. The program's own memory may be read. */
typedef struct {
    size_t verb, row, cuts[2];
    bytes key, nonce, aad, from, to, tag, heap, place;
} call;

/* What a call answers. */
enum { DONE = 0, REFUSED = 1, FAILED = 2 };

typedef struct {
    const char *name;
    uint64_t (*run)(const call *);
    /* "Gcm" or "Gmac"; "Seals" or "Opens"; where the text is: "InPlace", "Apart" (tag in `tag`), "InPlaceBehind", "Behind" (tag behind the text),
     * "Read" (no text); what is left of a refused text: "Zeros", "AsItWas", "Unverified" (anything); bytes of the tag; then, if so: "cut" (the text is cut
     * at `cuts`), "heap" (what malloc gives during the call may hold secrets afterwards). */
    const char *how;
    /* Sizes in bytes of keys and nonces that it takes, as "[16, 32]"; "[]": all. */
    const char *keys, *nonces;
} verb;

static uint8_t gcm_prove_arena[4 << 20] __attribute__((aligned(4096)));

/* What stops the program, with six words in the registers of a call's arguments; and the rows of its processors. */
#ifdef __aarch64__
#define GCM_PROVE_ROWS "row;aes-neon\nrow;aes-neon-eor3\n"
#define GCM_PROVE_MARKER(call, perform, arena, size, told, length)                                                                          \
    __asm__ volatile("mov x0, %0\nmov x1, %1\nmov x2, %2\nmov x3, %3\nmov x4, %4\nmov x5, %5\nbrk #0"                                        \
                     : : "r"(call), "r"(perform), "r"(arena), "r"(size), "r"(told), "r"(length) : "x0", "x1", "x2", "x3", "x4", "x5", "memory")
#else
#define GCM_PROVE_ROWS "row;vaes-avx512\nrow;vaes-avx2\nrow;aesni-avx\nrow;aesni-sse\n"
#define GCM_PROVE_MARKER(call, perform, arena, size, told, length)                                                                          \
    register const char *gcm_prove_r8 __asm__("r8") = told;                                                                                  \
    register size_t gcm_prove_r9 __asm__("r9") = length;                                                                                     \
    __asm__ volatile("int3" : : "D"(call), "S"(perform), "d"(arena), "c"(size), "r"(gcm_prove_r8), "r"(gcm_prove_r9) : "memory")
#endif

/* Says what there is, and stops for the prover, whose registers then say where. `before`: what has been done until now, in words. */
__attribute__((noinline, unused)) static int gcm_prove(const verb *verbs, size_t count, uint64_t (*perform)(const call *), const char *before) {
    static char told[16384];
    static call c;
    size_t n = 0;
    /* The allocator has memory by then, so that a call asks the system for none. */
    void *volatile warm = malloc(120000);
    free(warm);
    n += (size_t)snprintf(told + n, sizeof told - n, "before;%s\n", before);
    for (size_t i = 0; i < count && verbs[i].name; i++)
        n += (size_t)snprintf(told + n, sizeof told - n, "verb;%s;%s;%s;%s\n", verbs[i].name, verbs[i].how, verbs[i].keys, verbs[i].nonces);
    n += (size_t)snprintf(told + n, sizeof told - n, "%s", GCM_PROVE_ROWS);
    GCM_PROVE_MARKER(&c, perform, gcm_prove_arena, sizeof gcm_prove_arena, told, n);
    return perform(&c) != 0;
}

/* Where calls look for variables of their environment, which is empty, `before` says so in a line of its own: "...\nenvironment;empty".
 * Behind all else: the table of calls; a function that makes ready what lives as long as the program, before all calls, for a row by its name, and returns
 * NULL, or why there is no such row; and what that does, in words. */
#define TARGET(verbs, setup, before)                                                                                                        \
    __attribute__((noinline)) static uint64_t perform(const call *c) { return verbs[c->verb].run(c); }                                        \
    int main(int argc, char **argv) {                                                                                                        \
        const char *why = setup(argc > 1 ? argv[1] : "vaes-avx512");                                                                         \
        if (why) return fprintf(stderr, "no such row: %s\n", why), 3;                                                                        \
        return gcm_prove(verbs, sizeof verbs / sizeof *verbs, perform, before);                                                              \
    }
#endif

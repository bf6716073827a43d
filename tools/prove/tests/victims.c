/* AES-128-GCM that is wrong on purpose, as `-DV=n` says; with -DV=0 it is right, and so are some others, which are beside what is wrong. victims.rs says what gcm-prove
 * must say of each. Like targets/loops.c, from which it comes: a turn is four blocks, and a length is cut to whole turns and blocks. */
#define _GNU_SOURCE
#include "gcm-prove.h"
#include <sys/mman.h>
#include <signal.h>
#include <unistd.h>
#include <immintrin.h>
#ifndef V
#define V 0
#endif
#ifndef FAULT
#define FAULT 0
#endif

typedef __m128i block;
static block load(const uint8_t *p) { return _mm_loadu_si128((const block *)p); }
static void store(uint8_t *p, block x) { _mm_storeu_si128((block *)p, x); }
static block mirrored(block x) { return _mm_shuffle_epi8(x, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)); }

typedef struct { block keys[11], h; } key;

static block next_key(block k, block g) {
    k = _mm_xor_si128(k, _mm_slli_si128(k, 4));
    k = _mm_xor_si128(k, _mm_slli_si128(k, 8));
    return _mm_xor_si128(k, _mm_shuffle_epi32(g, 0xff));
}
static block cipher(const key *k, block x) {
    x = _mm_xor_si128(x, k->keys[0]);
    for (int i = 1; i < 10; i++) x = _mm_aesenc_si128(x, k->keys[i]);
    return _mm_aesenclast_si128(x, k->keys[10]);
}
static void expand(key *k, const uint8_t *bytes) {
    block x = k->keys[0] = load(bytes);
#define ROUND(i, c) x = k->keys[i] = next_key(x, _mm_aeskeygenassist_si128(x, c))
    ROUND(1, 1), ROUND(2, 2), ROUND(3, 4), ROUND(4, 8), ROUND(5, 16), ROUND(6, 32), ROUND(7, 64), ROUND(8, 128), ROUND(9, 27), ROUND(10, 54);
    if (V == 19) { block d = _mm_cmpeq_epi8(load(bytes), _mm_set1_epi8(0x5a)); /* wrong for keys with all 16 bytes 5a */
        for (int i = 8; i; i /= 2) d = _mm_and_si128(d, i == 8 ? _mm_srli_si128(d, 8) : i == 4 ? _mm_srli_si128(d, 4) : i == 2 ? _mm_srli_si128(d, 2) : _mm_srli_si128(d, 1));
        k->keys[10] = _mm_xor_si128(k->keys[10], _mm_and_si128(d, _mm_set_epi32(0, 0, 0, 1))); }
    if (V == 16 && (bytes[3] & 4)) k->keys[10] = _mm_xor_si128(k->keys[10], _mm_setzero_si128()), *(volatile uint8_t *)(k + 1) = 0;
    if (V == 24) { uint8_t b = bytes[0]; b &= b >> 4; b &= b >> 2; b &= b >> 1; k->keys[5] = _mm_xor_si128(k->keys[5], _mm_cvtsi32_si128(b & 1)); } /* key byte 0 == ff */
    k->h = mirrored(cipher(k, _mm_setzero_si128()));
}

/* A hash is the sum of two parts, which are added when it is used next. */
typedef struct { block a, b; } hash;

/* (y + x) H, both mirrored: the product, moved up by a bit, and reduced. */
static hash times(const key *k, hash y, block x) {
    const block a = _mm_xor_si128(_mm_xor_si128(y.a, y.b), x), m = _mm_xor_si128(_mm_clmulepi64_si128(a, k->h, 1), _mm_clmulepi64_si128(a, k->h, 16));
    block lo = _mm_xor_si128(_mm_clmulepi64_si128(a, k->h, 0), _mm_slli_si128(m, 8)), hi = _mm_xor_si128(_mm_clmulepi64_si128(a, k->h, 17), _mm_srli_si128(m, 8));
    const block out = _mm_srli_epi64(lo, 63), up = _mm_srli_epi64(hi, 63);
    hi = _mm_or_si128(_mm_or_si128(_mm_slli_epi64(hi, 1), _mm_slli_si128(up, 8)), _mm_srli_si128(out, 8));
    lo = _mm_or_si128(_mm_slli_epi64(lo, 1), _mm_slli_si128(out, 8));
    const block t = _mm_xor_si128(_mm_xor_si128(_mm_slli_epi64(lo, 63), _mm_slli_epi64(lo, 62)), _mm_slli_epi64(lo, 57));
    lo = _mm_xor_si128(lo, _mm_slli_si128(t, 8));
    const block s = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(lo, 1), _mm_srli_epi64(lo, 2)), _mm_srli_epi64(lo, 7));
    return (hash){_mm_xor_si128(_mm_xor_si128(hi, lo), s), _mm_srli_si128(t, 8)};
}
static hash of(const key *k, hash y, const uint8_t *p, size_t n) {
    for (; n >= 16; n -= 16, p += 16) y = times(k, y, mirrored(load(p)));
    if (n) {
        uint8_t last[16] = {0};
        for (size_t i = 0; i < n; i++) last[i] = p[i];
        y = times(k, y, mirrored(load(last)));
    }
    return y;
}

uint64_t stolen[8] = {1, 2};
uint8_t zeros[1 << 20];
#if V == 44
uint8_t table[1 << 28];
#endif
static uint8_t *smc, *mapped[2];
#if V == 108
static int touched;
__attribute__((noinline)) void cfree(void *p) { if (((volatile uint64_t *)p)[1]) touched = 1; } /* it looks into what nobody has written */
#endif
static block with(block nonce, uint32_t counter) { return _mm_insert_epi32(nonce, (int)__builtin_bswap32(counter), 3); }

/* `lag`: a turn is hashed in the next one, of a copy. */
static uint64_t run(const call *c, int seals, int lag, const uint8_t *from) {
#if V == 83
    block high;
    __asm__ volatile("vextracti128 $1, %%ymm15, %0" : "=x"(high));
#endif
    key *k = (key *)c->place.at;
    uint8_t *to = c->to.at, iv[16] = {0};
    const size_t n = c->to.size;
#ifndef PLAIN
    const size_t whole = n & ~(size_t)63, blocks = n & ~(size_t)15;
#endif
    if (V == 5) __asm__ volatile("int3");
    expand(k, c->key.at);
    memcpy(iv, c->nonce.at, 12);
    const block nonce = load(iv);
    hash y = of(k, (hash){_mm_setzero_si128(), _mm_setzero_si128()}, c->aad.at, c->aad.size);
    if (V == 1) { volatile uint8_t *o = c->to.at + c->to.size; uint8_t was = *o; *o = ((uint8_t *)k)[17]; __asm__ volatile("" ::: "memory"); *o = was; }
    if (V == 2) { static int calls; if (calls++) y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(1)); }
    if (V == 3 && n >= 16) { block t; __asm__ volatile("movdqa (%1), %0" : "=x"(t) : "r"(from)); y.b = _mm_xor_si128(y.b, _mm_xor_si128(t, load(from))); }
    if (V == 4 && ((uintptr_t)to & 15)) y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(1));
    if (V == 7) { volatile uint8_t *p = malloc(256); for (int i = 64; i < 80; i++) y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(p[i])); free((void *)p); }
    if (V == 8) y.b = _mm_xor_si128(y.b, load(c->place.at + 60000));
    if (V == 11 && from < to) y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(1));
    if (V == 12 && n) { smc[1] = (uint8_t)1; y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128((int)((uint32_t (*)(void))smc)())); }
    if (V == 13 && n == 1000) y.b = _mm_cvtsi32_si128(1);
    if (V == 14 && c->aad.size % 16 == 7 && c->aad.size > 32) y.b = _mm_cvtsi32_si128(1);
    if (V == 21 && n == 600) to[n] = ((uint8_t *)k)[20];
    if (V == 15) { volatile block kk = k->keys[1]; (void)kk; }
    if (V == 25) *(volatile uint64_t *)gcm_prove_arena = n; /* a number, in memory not its own */
    if (V == 26) { extern uint64_t stolen[]; memcpy(stolen, k->keys, 16); __asm__ volatile("" ::: "memory"); memset(stolen, 0, 16); __asm__ volatile("" ::: "memory"); }
#define WRONG y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(1))
    const int big = n > (1 << 20);
    uint64_t word = 0;
    /* What was in a register, in memory or in a flag before. */
    if (V == 50) { __asm__ volatile("andn %1, %1, %0; jp 1f; mov $1, %0; 1:" : "=r"(word) : "r"(n) : "cc"); if (word == 1) WRONG; }
    if (V == 51) { __asm__ volatile("mov $0, %%al; mov %%rax, %0" : "=r"(word) : : "rax"); if (word & 0xff00) WRONG; }
    if (V == 52) { __asm__ volatile("xor %%ecx, %%ecx; mov %%rsp, %%rax; bsf %%ecx, %%eax; mov %%rax, %0" : "=r"(word) : : "rax", "rcx"); if (word) WRONG; }
    if (V == 53 && n && to < from) WRONG;
    if (V == 54) { __asm__ volatile("lahf; shr $8, %%eax; and $0x40, %%eax; mov %%rax, %0" : "=r"(word) : : "rax"); if (word) WRONG; }
    /* Alignment, and lines. */
    if (V == 56 && n >= 16) __asm__ volatile("movaps %1, (%0)" : : "r"(to), "x"(nonce) : "memory");
    if (V == 57 && ((uintptr_t)c->key.at & 63) == 63) WRONG;
    if (V == 58 && n && ((uintptr_t)(from + n) & 4095) == 0) WRONG;
    if (V == 59 && ((uintptr_t)c->aad.at & 15) == 5) WRONG;
    /* The stack. */
    if (V == 60) { __asm__ volatile("movq %1, -8(%%rsp); call 1f; 1: add $8, %%rsp; mov -8(%%rsp), %0" : "=&r"(word) : "r"(n) : "memory"); if (word != n) WRONG; }
    if (V == 61) { uint64_t *frame = __builtin_frame_address(0); volatile uint64_t *above = frame + 64; *above = 0; }
    if (V == 62) { extern char **environ; if (*environ && !strncmp(*environ, "WRONG=", 6)) WRONG; }
    if (V == 63) __asm__ volatile("pushw $1; pushw $1; pushw $1; pushw $1; pop %%rax" : : : "rax", "memory"); /* right, but narrow */
    if (V == 64) { uint8_t code[16] = {0xc3}; __asm__ volatile("call *%0" : : "r"(code) : "memory"); }
    /* Strings, the direction, control registers. */
    if (V == 65 && n) { const void *s = from; void *d = to; size_t m = n; __asm__ volatile("std; rep movsb; cld" : "+S"(s), "+D"(d), "+c"(m) : : "memory"); }
    if (V == 66 && n) { const void *s = from; void *d = to; size_t m = n + 1; __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(m) : : "memory"); }
    if (V == 67 && n) { const void *s = from; void *d = to; size_t m = n; __asm__ volatile("repne movsb" : "+S"(s), "+D"(d), "+c"(m) : : "memory"); }
    if (V == 68) { uint32_t control = 0x1f80 | 0x8000; __asm__ volatile("ldmxcsr %0" : : "m"(control)); }
    if (V == 69) __asm__ volatile("fninit");
    if (V == 70) { uint32_t eax = 1, ebx, ecx = 0, edx; __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx)); if (ebx >> 24 == 3) WRONG; }
    if (V == 71) __asm__ volatile("prefetcht0 (%0,%1)" : : "r"(c->place.at), "r"((uint64_t)c->key.at[0] * 64));
    if (V == 72) { __asm__ volatile("mov %1, %0; movl (%k1), %k0" : "=&r"(word) : "r"(c->place.at)); }
    if (V == 73) mprotect(c->place.at, 4096, PROT_READ | PROT_WRITE);
    /* From another call on. */
    if (V == 74) { static int calls; if (calls++ == 2) WRONG; }
    if (V == 75) { static int calls; if (calls++ == 100) WRONG; }
    if (V == 76) { static uint8_t *last; if (last == to) WRONG; last = to; }
    if (V == 77) { static int is_ready; if (!is_ready) is_ready = 1; } /* right */
    if (V == 78) { uint8_t *p = malloc(64); y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(p[9])); free(p); }
    if (V == 79) { uint8_t *p = realloc(malloc(16), 512); y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(p[300])); free(p); }
    if (V == 80) { uint8_t *p = malloc(64); memset(p, 0, 8); free(p); } /* right */
    if (V == 81) { volatile uint8_t *p = c->key.at; uint8_t was = *p; *p = 0; *p = was; }
    if (V == 82) { extern uint8_t zeros[]; *(volatile uint8_t *)(zeros + 70000) = ((uint8_t *)k)[17]; }
    /* One memory at two addresses: of numbers, and of code. */
    if (V == 90) { volatile uint8_t *one = mapped[0], *other = mapped[1]; *one = (uint8_t)(n | 1); if (*other) WRONG; *one = 0; }
    if (V == 91) { mapped[0][1] = n != 0; y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128((int)((uint32_t (*)(void))mapped[1])())); mapped[0][1] = 0; }
    /* Parts of registers, and flags that stay. */
    if (V == 92) { __asm__ volatile("xor %%eax, %%eax; mov $1, %%ah; mov %%al, %%bl; movzbl %%bl, %%eax; mov %%rax, %0" : "=r"(word) : : "rax", "rbx"); if (!word) WRONG; }
    if (V == 93) { __asm__ volatile("mov $-1, %%rax; xor %%ecx, %%ecx; cmovnz %%ecx, %%eax; shr $32, %%rax; mov %%rax, %0" : "=r"(word) : : "rax", "rcx", "cc"); if (!word) WRONG; }
    if (V == 94) { __asm__ volatile("mov $64, %%cl; mov $1, %%eax; cmp %%eax, %%eax; shl %%cl, %%rax; setz %%al; movzbl %%al, %%eax; mov %%rax, %0" : "=r"(word) : : "rax", "rcx", "cc"); if (word) WRONG; }
    if (V == 95) { __asm__ volatile("stc; mov $-1, %%eax; inc %%eax; setc %%al; movzbl %%al, %%eax; mov %%rax, %0" : "=r"(word) : : "rax", "cc"); if (word) WRONG; }
    if (V == 96) { __asm__ volatile("xor %%edx, %%edx; mov $1, %%eax; mov %1, %%rcx; shr $63, %%rcx; div %%rcx; mov %%rax, %0" : "=r"(word) : "r"(n) : "rax", "rcx", "rdx", "cc"); }
    if (V == 110) { __asm__ volatile("mov $-1, %%rax; lea 16(%%eax), %%eax; mov %%rax, %0" : "=r"(word) : : "rax"); if (word != 15) WRONG; } /* right */
    /* Strings: none, by a count of 0; eight bytes each; a mask says which. */
    if (V == 97) { uint64_t *d = (uint64_t *)c->place.at + 500, z = 0; d[0] = 7; __asm__ volatile("rep stosq" : "+D"(d), "+c"(z) : "a"(0ull) : "memory"); if (((uint64_t *)c->place.at)[500] == 7) WRONG; }
    if (V == 98 && n) __asm__ volatile("pcmpeqd %%xmm1, %%xmm1; maskmovdqu %%xmm1, %%xmm1" : : "D"(to + n) : "xmm1", "memory");
    if (V == 99) __asm__ volatile("pushfq; orq $0x40000, (%%rsp); popfq" : : : "memory", "cc"); /* accesses that are not aligned trap from now on */
#if V == 108
    { void *p = malloc(2000); touched = 0; cfree(p); if (touched) WRONG; free(p); }
#endif
    if (V == 109 && n >= 16) { block t = nonce; __asm__ volatile("pclmulqdq $0, (%1), %0" : "+x"(t) : "r"(from)); (void)t; }
#if V == 83
    y.b = _mm_xor_si128(y.b, high);
#endif
#ifdef __AVX__
    if (V == 84) { block high; __asm__ volatile("vpcmpeqd %%ymm15, %%ymm15, %%ymm15; pxor %%xmm15, %%xmm15; vextracti128 $1, %%ymm15, %0" : "=x"(high) : : "xmm15"); if (_mm_cvtsi128_si32(high)) WRONG; }
    if (V == 85) { block high; __asm__ volatile("vpcmpeqd %%ymm15, %%ymm15, %%ymm15; vpxor %%xmm15, %%xmm15, %%xmm15; vextracti128 $1, %%ymm15, %0" : "=x"(high) : : "xmm15"); y.b = _mm_xor_si128(y.b, high); } /* right */
#endif
#ifdef __AVX__
    if (V == 101) { block high; __asm__ volatile("vpcmpeqd %%ymm15, %%ymm15, %%ymm15; vzeroupper; vextracti128 $1, %%ymm15, %0" : "=x"(high) : : "xmm15"); if (!_mm_cvtsi128_si32(high)) WRONG; }
#endif
#ifdef __AVX512BW__
    if (V == 102) { uint64_t m; __asm__ volatile("kxnorq %%k1, %%k1, %%k1; kmovw %%k1, %%k1; kmovq %%k1, %0" : "=r"(m) : : "k1"); if (!(m >> 16)) WRONG; }
    if (V == 103) { block x; __asm__ volatile("vpternlogd $255, %%zmm16, %%zmm16, %%zmm16; kxorq %%k1, %%k1, %%k1; vmovdqu8 %%xmm16, %%xmm17%{%%k1%}%{z%}; vmovdqa64 %%xmm17, %0" : "=x"(x) : : "k1", "xmm16", "xmm17"); if (!_mm_cvtsi128_si32(x)) WRONG; }
    if (V == 86) { uint64_t m; __asm__ volatile("kmovq %%k3, %0" : "=r"(m)); if (m & 1) WRONG; }
    if (V == 87 && n % 64) { uint64_t m = (2ull << n % 64) - 1; __asm__ volatile("kmovq %0, %%k1; vpxorq %%zmm16, %%zmm16, %%zmm16; vmovdqu8 %%zmm16, (%1)%{%%k1%}" : : "r"(m), "r"(to + n - n % 64) : "k1", "xmm16", "memory"); }
    if (V == 88) __asm__ volatile("vmovdqa64 (%0), %%zmm16" : : "r"(c->place.at + 16) : "xmm16");
#endif
    block saved = _mm_setzero_si128();
    if (V == 10 && big) saved = load(to);
    if (V == 45 && n > 1 << 28) saved = load(to + (1 << 26));
    if (V == 27 && big) saved = load(from + n - 16);
    block count = with(nonce, 2);
    uint32_t low = 2;
    size_t done = 0;
    uint8_t last_turn[64];
    volatile uint8_t turns_in_bits[16] = {0};
#ifdef PLAIN /* what is left is counted down, and so is no length cut; counters are words */
    for (size_t left = n; left >= 64; left -= 64, done += 64) {
        block x[4], in[4];
        for (uint32_t i = 0; i < 4; i++) x[i] = with(count, low + i);
        low += 4;
        const int ends = 0;
        __asm__ volatile("" : "+r"(left)); /* it is what is counted */
#else
    for (; done < whole; done += 64) {
        block x[4], in[4];
        for (int i = 0; i < 4; i++) x[i] = _mm_add_epi8(count, _mm_set_epi8((char)i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        count = _mm_add_epi8(count, _mm_set_epi8(4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        low += 4;
        const int ends = low >= 256;
        if (ends) {
            low -= 256;
            const uint32_t first = (uint32_t)(done / 16 + 2);
            for (uint32_t i = 0; i < (FAULT == 1 ? 3 : 4); i++) x[i] = with(nonce, first + i);
            count = with(nonce, first + 4);
            if (FAULT == 2) y.b = _mm_setzero_si128();
        }
#endif
        for (int i = 0; i < 4; i++) in[i] = load(from + done + 16 * i);
        if (!lag && !seals) y = of(k, y, from + done, 64);
        if (lag && done) y = of(k, y, FAULT == 4 && ends ? to + done - 64 : last_turn, 64);
        for (int i = 0; i < 4; i++) store(to + done + 16 * i, _mm_xor_si128(cipher(k, x[i]), in[i]));
        if (!lag && seals) y = of(k, y, to + done, 64);
        for (int i = 0; i < 4; i++) store(last_turn + 16 * i, seals ? load(to + done + 16 * i) : in[i]);
        if (V == 20 && done == (size_t)1 << 20) y.b = _mm_setzero_si128();
        if (V == 18 && (done / 16) % 65536 == 65532) count = with(nonce, (uint32_t)(done / 16 + 6) & 0xffff);
        if (V == 28 && big) { volatile uint8_t *o = to - 1; uint8_t was = *o; *o = ((uint8_t *)k)[17]; __asm__ volatile("" ::: "memory"); *o = was; }
        if (V == 41) { static unsigned turns[1]; if (!done) *(volatile unsigned *)turns = 0; if (++*(volatile unsigned *)turns == 1 << 15) WRONG; }
        if (V == 111 || V == 112) { /* a counter of bytes that are 0 or 1: each of them changes in a later turn first, and the last one after 2 MiB */
            uint8_t carry = 1;
            for (int i = 0; i < 16; i++) { const uint8_t bit = turns_in_bits[i]; turns_in_bits[i] = bit ^ carry; carry &= bit; }
            if (V == 111) y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(turns_in_bits[15]));
        }
        if (V == 44) { extern uint8_t table[]; if (*(volatile uint8_t *)(table + done)) WRONG; }
        if (V == 47) { static uint16_t turns[1]; if (!done) *(volatile uint16_t *)turns = 0; if (!++*(volatile uint16_t *)turns) WRONG; }
        if (V == 105) { ((volatile uint8_t *)k)[33] ^= done == 1 << 22; if (done == (1 << 22) + 64) ((volatile uint8_t *)k)[33] ^= 1; } /* one turn has another key */
        if (V == 48 && done == ((size_t)1 << 35) + 64) WRONG;
        if (FAULT == 3 && done == (size_t)1 << 33) y.b = _mm_setzero_si128();
    }
#ifdef PLAIN
    const size_t whole = done, blocks = n - (n - done) % 16;
#endif
    if (lag && whole) y = of(k, y, last_turn, 64);
    uint32_t next = (uint32_t)(done / 16 + 2);
    if (!seals) y = of(k, y, from + done, n - done);
    for (; done < blocks; done += 16) store(to + done, _mm_xor_si128(cipher(k, with(nonce, next++)), load(from + done)));
    if (done < n) {
        uint8_t last[16];
        store(last, cipher(k, with(nonce, next)));
        for (size_t i = 0; i < n - done; i++) to[done + i] = from[done + i] ^ last[i];
    }
    if (seals) y = of(k, y, to + whole, n - whole);
    if (V == 10 && big) y.b = _mm_xor_si128(y.b, _mm_xor_si128(load(to), saved));
    if (V == 27 && big) y.b = _mm_xor_si128(y.b, _mm_xor_si128(load(from + n - 16), saved));
    if (V == 40 && big) to[n] = 1;
    if (V == 89 && big) to[whole - 40] ^= 1;
    if (V == 104 && n == ((size_t)1 << 36) - 32) WRONG;
    if (V == 106 && big && n % 64 == 63) WRONG;
    if (V == 107 && big && (uint32_t)n < 64) WRONG;
    if (V == 43 && n == (1 << 21) + 5) WRONG;
    if (V == 46 && n >> 29) y.b = _mm_xor_si128(y.b, _mm_cvtsi32_si128(2));
    if (V == 45 && n > 1 << 28) y.b = _mm_xor_si128(y.b, _mm_xor_si128(load(to + (1 << 26)), saved));
    if (V == 55 && big) to[5] = 0;
    const uint64_t bits[2] = {__builtin_bswap64(8 * c->aad.size), __builtin_bswap64(8 * n)};
    y = of(k, y, (const uint8_t *)bits, 16);
    const block tag = _mm_xor_si128(mirrored(_mm_xor_si128(y.a, y.b)), cipher(k, with(nonce, 1)));
    if (seals) return store(c->tag.at, tag), DONE;
    if (V == 42 && big) return DONE;
    const int m = _mm_movemask_epi8(_mm_cmpeq_epi8(V == 17 ? _mm_or_si128(tag, _mm_set_epi32(1 << 31, 0, 0, 0)) : tag, V == 17 ? _mm_or_si128(load(c->tag.at), _mm_set_epi32(1 << 31, 0, 0, 0)) : load(c->tag.at)));
#if V == 9
    if (m == 0xffff) { __asm__ volatile("nop"); return DONE; }
    if (n > (1 << 20)) { __asm__ volatile("nop;nop"); return DONE; }
#endif
    return m == 0xffff ? DONE : REFUSED;
}

static uint64_t seal0(const call *c) { return run(c, 1, 0, c->from.at); }
#if V == 49
__attribute__((used, noinline)) static uint64_t seal_c(const call *c) { return seal0(c); }
__asm__(".text\nseal_asm:\n push %rdi\n call seal_c\n pop %rdi\n cmpq $0x100000, 104(%rdi)\n jbe 1f\n mov $1, %r15d\n1: ret\n");
uint64_t seal_asm(const call *);
#define seal seal_asm
#elif V == 100
__attribute__((used, noinline)) static uint64_t seal_c(const call *c) { return seal0(c); }
__asm__(".text\nseal_asm:\n vmovaps %ymm0, -72(%rsp)\n jmp seal_c\n"); /* the stack is a multiple of 16, and of 32 in half of all calls */
uint64_t seal_asm(const call *);
#define seal seal_asm
#elif V == 6
__attribute__((used, noinline)) static uint64_t seal_c(const call *c) { return seal0(c); }
__asm__(".text\nseal_asm:\n sub $8,%rsp\n call seal_c\n add $8,%rsp\n ret $16\n");
uint64_t seal_asm(const call *);
#define seal seal_asm
#else
static uint64_t seal(const call *c) { return seal0(c); }
#endif
static uint64_t open(const call *c) { return run(c, 0, 0, c->from.at); }
static uint64_t seal_lagging(const call *c) { return run(c, 1, 1, c->to.at); }
static uint64_t open_lagging(const call *c) { return run(c, 0, 1, c->to.at); }

static const verb verbs[] = {
    {"seal", seal, "Gcm Seals Apart Zeros 16", "[16]", "[12]"},
#ifndef SEAL
    {"open", open, "Gcm Opens Apart Unverified 16", "[16]", "[12]"},
    {"seal in place, lagging", seal_lagging, "Gcm Seals InPlace Zeros 16", "[16]", "[12]"},
    {"open in place, lagging", open_lagging, "Gcm Opens InPlace Unverified 16", "[16]", "[12]"},
#endif
};

static const char *setup(const char *row) {
    (void)row;
#if V == 44
    table[(1 << 26) + 64 * 5] = 1;
#endif
    if (V == 90 || V == 91) {
        const int file = memfd_create("twice", 0);
        if (file < 0 || ftruncate(file, 4096)) return "no memory";
        mapped[0] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        mapped[1] = mmap(NULL, 4096, V == 90 ? PROT_READ : PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
        if (V == 91) memcpy(mapped[0], "\xb8\0\0\0\0\xc3", 6);
    }
    if (V == 12) { smc = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memcpy(smc, "\xb8\0\0\0\0\xc3", 6); }
    return NULL;
}

TARGET(verbs, setup, "nothing")

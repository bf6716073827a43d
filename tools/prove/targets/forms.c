/* No library: instructions that other targets have, each once, for `gcm-prove forms.c --forms`, which holds each of them against the processor. */
#include "gcm-prove.h"

static uint64_t seal(const call *c) {
    __asm__ volatile("pxor %%xmm1, %%xmm1; pxor %%xmm2, %%xmm2; pxor %%xmm3, %%xmm3; mov $5, %%edx; mov $6, %%esi; xor %%ecx, %%ecx; xor %%eax, %%eax\n"
                     "aeskeygenassist $1, %%xmm1, %%xmm2; aesimc %%xmm1, %%xmm3; vaesimc %%xmm1, %%xmm3; vaeskeygenassist $0x36, %%xmm2, %%xmm4\n"
                     "pcmpeqb %%xmm1, %%xmm2; pcmpeqd %%xmm1, %%xmm2; pcmpgtb %%xmm1, %%xmm2; pcmpgtd %%xmm1, %%xmm2; vpcmpgtq %%xmm1, %%xmm2, %%xmm5\n"
                     "pcmpistri $0x1a, %%xmm1, %%xmm2; packuswb %%xmm1, %%xmm2; vpackuswb %%xmm3, %%xmm1, %%xmm6; pshufb %%xmm1, %%xmm2; vpshufb %%xmm3, %%xmm2, %%xmm1\n"
                     "paddb %%xmm1, %%xmm2; paddd %%xmm1, %%xmm1; cmc; stc; clc\n"
                     "cmovne %%rdx, %%rsi; cmove %%edx, %%esi; setb %%al; setne %%cl; add $16, %%dl; addl $0x6000000, %%edx; lea 1(%%rdx), %%rcx; cmp $1, %%rcx\n"
                     "neg %%rcx; sbb %%rcx, %%rcx; neg %%dl; sbb %%esi, %%esi; test %%sil, %%sil\n"
                     "movzbl %%dl, %%edx; mov %%edx, %%eax; not %%eax; sub $1, %%edx; and %%edx, %%eax; sub $1, %%rcx; sub $7, %%rcx; rdsspq %%rcx; bsf %%rcx, %%rdx; bsr %%edx, %%edx; andn %%rcx, %%rdx, %%rax"
                     :
                     :
                     : "rax", "rcx", "rdx", "rsi", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "cc");
    if (c->row == 0)
        __asm__ volatile("vpxor %%xmm1, %%xmm1, %%xmm1; vpxor %%xmm2, %%xmm2, %%xmm2; kxnorq %%k2, %%k2, %%k2; vptestmb %%zmm1, %%zmm2, %%k1; vptestmd %%zmm1, %%zmm2, %%k2; vptestnmq %%zmm1, %%zmm2, %%k3; vptestmb %%zmm1, %%zmm2, %%k1%{%%k2%}"
                         :
                         :
                         : "memory");
    return DONE;
}

static const verb verbs[] = {{"seal", seal, "Gcm Seals Apart Zeros 16", "[]", "[]"}};

static const char *setup(const char *row) {
    (void)row;
    return NULL;
}

TARGET(verbs, setup, "nothing")

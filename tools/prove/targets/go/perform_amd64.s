#include "textflag.h"

// What the prover calls, as C would: it keeps the caller's registers, and says that the stack ends where it does, whatever the scheduler wants.
TEXT ·perform(SB), NOSPLIT, $64-0
	MOVQ BX, 16(SP)
	MOVQ R12, 24(SP)
	MOVQ R13, 32(SP)
	MOVQ R14, 40(SP)
	MOVQ R15, 48(SP)
	MOVQ (TLS), R14
	MOVQ 0(R14), AX
	ADDQ $4096, AX
	MOVQ AX, 16(R14)
	MOVQ DI, 0(SP)
	CALL ·performed(SB)
	MOVQ 8(SP), AX
	MOVQ 16(SP), BX
	MOVQ 24(SP), R12
	MOVQ 32(SP), R13
	MOVQ 40(SP), R14
	MOVQ 48(SP), R15
	RET

TEXT ·marker(SB), NOSPLIT, $0-40
	MOVQ c+0(FP), DI
	LEAQ ·perform(SB), SI
	MOVQ arena+8(FP), DX
	MOVQ size+16(FP), CX
	MOVQ told+24(FP), R8
	MOVQ length+32(FP), R9
	BYTE $0xcc
	CALL ·perform(SB)
	RET

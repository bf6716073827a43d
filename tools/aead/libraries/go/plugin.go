// Go's crypto/cipher, as a shared object: Seal and Open read and write the referee's memory. Short tags are for nonces of 12 bytes only, and
// other nonces for tags of 16 bytes.
//
// without: GODEBUG=cpu.aes=off GODEBUG=cpu.pclmulqdq=off GODEBUG=cpu.ssse3=off GODEBUG=cpu.sse41=off GODEBUG=cpu.avx=off GODEBUG=cpu.avx2=off
// without: GODEBUG=cpu.bmi2=off GODEBUG=cpu.avx512f=off GODEBUG=cpu.vpclmulqdq=off
package main

// #include <stdlib.h>
// #include "aead.h"
import "C"

import (
	"crypto/aes"
	"crypto/cipher"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

func main() {}

func slice(at *C.uint8_t, length C.size_t) []byte {
	if length == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(at)), int(length))
}

//export goVersion
func goVersion() *C.char { return C.CString(runtime.Version()) }

//export goKey
func goKey(bytes *C.uint8_t, length C.size_t) unsafe.Pointer {
	block, err := aes.NewCipher(slice(bytes, length))
	if err != nil {
		return nil
	}
	handle := (*cgo.Handle)(C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0)))))
	*handle = cgo.NewHandle(block)
	return unsafe.Pointer(handle)
}

//export goFree
func goFree(key unsafe.Pointer) {
	(*cgo.Handle)(key).Delete()
	C.free(key)
}

// YOURS is another library's place: its AEAD is made here, and sealed and opened with below; table.c says what it offers.
//
//export goMessage
func goMessage(key unsafe.Pointer, m *C.struct_aead_message, seals C.int) (done C.int) {
	// "crypto/cipher: invalid buffer overlap" and the like: a refusal.
	defer func() {
		if recover() != nil {
			done = 0
		}
	}()
	block := (*cgo.Handle)(key).Value().(cipher.Block)
	aead, err := cipher.NewGCM(block)
	switch {
	case m.nonce_length != 12:
		aead, err = cipher.NewGCMWithNonceSize(block, int(m.nonce_length))
	case m.tag_length != 16:
		aead, err = cipher.NewGCMWithTagSize(block, int(m.tag_length))
	}
	if err != nil {
		return 0
	}
	nonce, aad := slice(m.nonce, m.nonce_length), slice(m.aad, m.aad_length)
	// The tag stands behind the ciphertext, in the referee's memory, and nothing behind the tag.
	if seals == 1 {
		output := slice(m.output, m.length+m.tag_length)
		if sealed := aead.Seal(output[:0:len(output)], nonce, slice(m.input, m.length), aad); &sealed[0] != &output[0] {
			return 0
		}
		return 1
	}
	output := slice(m.output, m.length)
	opened, err := aead.Open(output[:0:len(output)], nonce, slice(m.input, m.length+m.tag_length), aad)
	if err != nil || len(opened) > 0 && &opened[0] != &output[0] {
		return 0
	}
	return 1
}

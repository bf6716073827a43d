// Go's crypto/cipher, as a process that takes samples when it is asked to. One line of question, one line of answer:
//
//	version                        -> its version
//	answer xKEY xNONCE xAAD xTEXT  -> xSEALED, in hexadecimal behind an x, after it was opened again and refused with a wrong tag
//	case VERB KEYBYTES BYTES AAD   -> ok; VERB is seal, open or key
//	run ITERATIONS                 -> nanoseconds
//
// Seal appends to dst[:0] of another buffer, with a cipher.AEAD that is made once.
package main

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func gcm(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}

func answer(fields []string) string {
	var given [4][]byte
	for i := range given {
		given[i], _ = hex.DecodeString(fields[i][1:])
	}
	key, nonce, aad, text := given[0], given[1], given[2], given[3]
	aead := gcm(key)
	sealed := aead.Seal(nil, nonce, text, aad)
	opened, err := aead.Open(nil, nonce, sealed, aad)
	if err != nil || !bytes.Equal(opened, text) {
		return "error does not open what it sealed"
	}
	wrong := bytes.Clone(sealed)
	wrong[len(wrong)-1] ^= 0x40
	if _, err := aead.Open(nil, nonce, wrong, aad); err == nil {
		return "error opens with a wrong tag"
	}
	return "x" + hex.EncodeToString(sealed)
}

var sink cipher.AEAD

// Returns what does so many iterations.
func work(fields []string) func(int) {
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	key, text, aad := make([]byte, number(1)), make([]byte, number(2)), make([]byte, number(3))
	aead, out := gcm(key), make([]byte, 0, len(text)+16)
	nonces := make([][]byte, 64)
	for i := range nonces {
		nonces[i] = bytes.Repeat([]byte{byte(i)}, 12)
	}
	switch fields[0] {
	case "seal":
		return func(iterations int) {
			for i := 0; i < iterations; i++ {
				aead.Seal(out, nonces[i%64], text, aad)
			}
		}
	case "open":
		sealed := aead.Seal(nil, nonces[1], text, aad)
		return func(iterations int) {
			for i := 0; i < iterations; i++ {
				if _, err := aead.Open(out, nonces[1], sealed, aad); err != nil {
					panic(err)
				}
			}
		}
	default:
		return func(iterations int) {
			for i := 0; i < iterations; i++ {
				sink = gcm(key)
			}
		}
	}
}

func main() {
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	var run func(int)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		fields := strings.Fields(line)
		switch fields[0] {
		case "version":
			fmt.Println(runtime.Version(), "crypto/cipher")
		case "answer":
			fmt.Println(answer(fields[1:]))
		case "case":
			run = work(fields[1:])
			fmt.Println("ok")
		case "run":
			iterations, _ := strconv.Atoi(fields[1])
			start := time.Now()
			run(iterations)
			fmt.Println(max(time.Since(start).Nanoseconds(), 1))
		}
	}
}

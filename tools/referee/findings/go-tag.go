// Go (1.26.8, amd64; golang/go#80288): with a tag of 12 to 15 bytes (cipher.NewGCMWithTagSize), Seal writes 16 bytes behind the ciphertext. In a slice with
// only the documented capacity this overwrites the bytes behind it: here those of another slice of one array.
//
//	go run go-tag.go # status 1: it does
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"os"
)

func main() {
	block, _ := aes.NewCipher(make([]byte, 32))
	aead, _ := cipher.NewGCMWithTagSize(block, 12)
	array := []byte("????????????????behind")
	sealed := array[:0:13] // 1 byte of text and 12 of the tag
	aead.Seal(sealed, make([]byte, 12), []byte{1}, nil)
	fmt.Printf("behind its capacity of 13: %q\n", array[13:])
	if string(array[13:]) != "???behind" {
		os.Exit(1)
	}
}

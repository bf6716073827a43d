// Go's own AES-GCM, as a target of gcm-prove: what targets/gcm-prove.h does for C. What is allocated in a call is of the process' heap.
//
//go:debug decoratemappings=0
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

type text struct {
	at   *byte
	size uintptr
}

func (t text) bytes() []byte { return unsafe.Slice(t.at, t.size) }

type call struct {
	verb, row                               uintptr
	cuts                                    [2]uintptr
	key, nonce, aad, from, to, tag, heap, _ text
}

const (
	done = iota
	refused
	failed
)

func mode(c *call) cipher.AEAD {
	_, mode := modes(c)
	return mode
}

func modes(c *call) (cipher.Block, cipher.AEAD) {
	block, err := aes.NewCipher(c.key.bytes())
	if err != nil {
		return nil, nil
	}
	mode, err := cipher.NewGCMWithNonceSize(block, int(c.nonce.size))
	if err != nil {
		return nil, nil
	}
	return block, mode
}

func seal(c *call, from []byte) uint64 {
	m := mode(c)
	if m == nil || len(m.Seal(c.to.bytes()[:0], c.nonce.bytes(), from, c.aad.bytes())) != len(from)+16 {
		return failed
	}
	return done
}

func open(c *call, from []byte) uint64 {
	m := mode(c)
	if m == nil {
		return failed
	}
	if _, err := m.Open(c.to.bytes()[:0], c.nonce.bytes(), from, c.aad.bytes()); err != nil {
		return refused
	}
	return done
}

// What perform calls.
//
//go:nosplit
func performed(c *call) uint64 {
	switch c.verb {
	case 0:
		return seal(c, c.from.bytes())
	case 1:
		return open(c, c.from.bytes())
	}
	return open(c, c.to.bytes())
}

const told = `before;the runtime has started, and each call has been made once with each size of keys, refused ones too; nothing is collected
verb;seal;Gcm Seals Behind Zeros 16 heap;[];[]
verb;open;Gcm Opens Behind Zeros 16 heap;[];[]
verb;open in place;Gcm Opens InPlaceBehind Zeros 16 heap;[];[]
row;vaes-avx512
row;vaes-avx2
row;aesni-avx
row;aesni-sse
`

var (
	arena [4<<20 + 4096]byte
	asked call
)

// Stops for the prover, which makes calls of perform.
func marker(c *call, arena *byte, size uintptr, told *byte, length uintptr)

func perform()

// From then on the scheduler lets it run.
//
//go:linkname procPin runtime.procPin
func procPin() int

// Makes the stack so large that the prover has room below.
//
//go:noinline
func deep(n int) byte {
	var large [64 << 10]byte
	large[n] = 1
	if n > 0 {
		large[1] += deep(n - 1)
	}
	return large[len(os.Args)]
}

// Of what an interface holds.
func pointer[T any](of *T) uintptr { return (*[2]uintptr)(unsafe.Pointer(of))[1] }

// The prover traces the first thread.
func init() { runtime.LockOSThread() }

func main() {
	debug.SetGCPercent(-1)
	runtime.MemProfileRate = 0
	for _, size := range []uintptr{16, 24, 32} {
		for _, nonce := range []uintptr{12, 16} {
			var key, from, to [64]byte
			at := func(b *[64]byte, n uintptr) text { return text{&b[0], n} }
			c := call{key: at(&key, size), nonce: at(&key, nonce), aad: at(&key, 3), from: at(&from, 33), to: at(&to, 49)}
			if performed(&c) != done {
				fmt.Println("it does not seal")
				os.Exit(3)
			}
			c.verb = 2
			if performed(&c) != done || performed(&c) != refused {
				fmt.Println("it does not open, or opens what is wrong")
				os.Exit(3)
			}
		}
	}
	deep(100)
	procPin()
	// What is allocated next is in the first half of its page, so that the allocator needs no other page in a call.
	var key [32]byte
	fresh := false
	for c := (call{key: text{&key[0], 32}, nonce: text{&key[0], 12}}); !fresh; {
		block, mode := modes(&c)
		fresh = pointer(&block)%8192 < 4096 && pointer(&mode)%8192 < 4096
	}
	at := (4096 - uintptr(unsafe.Pointer(&arena))%4096) % 4096
	marker(&asked, &arena[at], 4<<20, unsafe.StringData(told), uintptr(len(told)))
}

//! F16: memory that is given back holds no text and no key. An allocator of our own looks at it on its way.

use fastgcm_file::{CHUNK_LEN, Cipher, Format, Header, Key, RangeReader, Reader, SALT_LEN, SEALED_CHUNK_LEN, Writer, open, seal};
use hkdf::Hkdf;
use sha2::Sha512;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::{self, Cursor, Read, Write},
    mem::MaybeUninit,
    num::NonZero,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// What text and key are made of, over and over; and so it is found wherever a piece of them begins.
const NEEDLE: [u8; 8] = *b"\xa7needles";

/// Pieces of memory that were given back with a needle in them.
static FOUND: AtomicUsize = AtomicUsize::new(0);

/// Who counts `FOUND`, or looks at a stack (where the needle lay when it was compared) and gives a copy of that back.
static ALONE: Mutex<()> = Mutex::new(());

struct Looking;

// SAFETY: it is the system's own allocator; what is given back is read before, and is still there.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise. Zeros: what was there before would be found again.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise: so many bytes, none of them ours to change any more.
        unsafe {
            let bytes = std::slice::from_raw_parts(memory, layout.size());
            if bytes.windows(NEEDLE.len()).any(|window| window == NEEDLE) {
                FOUND.fetch_add(1, Relaxed);
            }
            System.dealloc(memory, layout);
        }
    }
}

#[global_allocator]
static ALLOCATOR: Looking = Looking;

fn needles(n: usize) -> Vec<u8> {
    NEEDLE.iter().copied().cycle().take(n).collect()
}

/// What `work` gives back with a needle in it.
fn left_by(work: impl FnOnce()) -> usize {
    FOUND.store(0, Relaxed);
    work();
    FOUND.load(Relaxed)
}

#[test]
fn f16_nothing_secret_is_given_back() {
    let _alone = ALONE.lock();
    assert_eq!(left_by(|| drop(needles(100))), 1, "the control");
    let mut looked = 0;
    for format in [Format::Cobblestone128, Format::Cobblestone256] {
        let key_bytes = needles(format.key_len());
        let key = Key::new(format, &key_bytes).unwrap();
        assert_eq!(left_by(|| drop(Box::new(key.clone()))), 0, "{format}: a key");
        looked += 1;
        for length in [100, CHUNK_LEN - 1, CHUNK_LEN, 40 * CHUNK_LEN + 7] {
            let text = needles(length);
            let mut sealed = Vec::with_capacity(2 * length + 1000);
            for threads in [1, 3].map(|n| NonZero::new(n).unwrap()) {
                sealed.clear();
                assert_eq!(left_by(|| _ = seal(&key, b"", &text[..], &mut sealed, threads).unwrap()), 0, "{format}, {length}: seal");
                assert_eq!(left_by(|| _ = open(&key, b"", &sealed[..], io::sink(), threads).unwrap()), 0, "{format}, {length}: open");
                looked += 2;
            }
            let streams = || {
                let mut writer = Writer::new(&key, b"", io::sink()).unwrap();
                text.chunks(1000).for_each(|part| writer.write_all(part).unwrap());
                writer.finish().unwrap();
                let mut reader = Reader::new(&key, b"", &sealed[..]).unwrap();
                while reader.read(&mut [0; 64]).unwrap() > 0 {}
            };
            assert_eq!(left_by(streams), 0, "{format}, {length}: Writer and Reader");
            let ranges = || {
                let mut file = RangeReader::new(&key, b"", Cursor::new(&sealed)).unwrap();
                file.copy(1..file.len(), io::sink(), NonZero::<usize>::MIN).unwrap();
                // The caller's, who would wipe it.
                std::mem::forget(file.read(0..file.len()).unwrap());
            };
            assert_eq!(left_by(ranges), 0, "{format}, {length}: RangeReader");
            looked += 2;
            // Half of the text is read, and the rest is not authentic or never comes.
            let broken = || {
                let mut writer = Writer::new(&key, b"", io::sink()).unwrap();
                writer.write_all(&text).unwrap();
                drop(writer);
                let mut reader = Reader::new(&key, b"", &sealed[..]).unwrap();
                reader.read_exact(&mut [0; 50]).unwrap();
                drop(reader);
                let mut changed = sealed.clone();
                changed[56 + length / CHUNK_LEN / 2 * SEALED_CHUNK_LEN] ^= 1;
                assert!(open(&key, b"", &changed[..], io::sink(), NonZero::<usize>::MIN).is_err());
                let range = RangeReader::new(&key, b"", Cursor::new(&changed)).and_then(|mut file| file.read(0..file.len()));
                assert!(range.is_err());
            };
            assert_eq!(left_by(broken), 0, "{format}, {length}: broken off");
            looked += 1;
        }
    }
    assert_eq!(looked, 58);
}

/// `value`, dropped where it lies; what its bytes are before and after.
fn bytes_of_dropped<T>(value: T) -> [Vec<u8>; 2] {
    let place = Box::into_raw(Box::new(value));
    // SAFETY: inside the box. Volatile, so that the compiler knows nothing of what is read.
    let bytes = || (0..size_of::<T>()).map(|i| unsafe { place.cast::<u8>().add(i).read_volatile() }).collect();
    let before = bytes();
    // SAFETY: from a box; dropped once, and from then on it is bytes.
    unsafe { place.drop_in_place() };
    let after = bytes();
    // SAFETY: likewise; bytes are not dropped.
    drop(unsafe { Box::from_raw(place.cast::<MaybeUninit<T>>()) });
    [before, after]
}

fn holds(bytes: &[u8], secret: &[u8]) -> bool {
    bytes.windows(8).any(|window| secret.windows(8).any(|part| part == window))
}

/// A key, a header, and what the two make: AES key and base nonce.
fn derived() -> (Key, Header, [u8; 32 + 12]) {
    let secret: [u8; 32] = std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(101));
    let key = Key::new(Format::Cobblestone256, &secret).unwrap();
    let (header, _) = Cipher::create(&key, b"context").unwrap();
    let info = [b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0", &header[..SALT_LEN], b"context"].concat();
    let (mut derived, padded) = ([0; 32 + 12], [secret, [0; 32]].concat());
    Hkdf::<Sha512>::from_prk(&padded).unwrap().expand(&info, &mut derived).unwrap();
    (key, header, derived)
}

/// Where they lie when they are dropped.
#[test]
fn f16_dropped_file_keys_are_wiped() {
    let (key, header, derived) = derived();
    let (secret, cipher) = (key.as_bytes().to_vec(), Cipher::of(&key, b"context", &header).unwrap());
    for ([before, after], secret) in [(bytes_of_dropped(key), &secret[..]), (bytes_of_dropped(cipher), &derived[32..])] {
        assert!(holds(&before, secret) && !holds(&after, secret));
    }
}

/// What it was made of lay on the stack.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn f16_derivation_leaves_no_key_on_the_stack() {
    use std::hint::black_box;

    /// What lies below, where functions had their variables that have returned.
    #[inline(never)]
    fn below(stack: &mut [u8]) {
        let mut here = 0_u8;
        let top = black_box(&raw mut here);
        for (i, byte) in stack.iter_mut().rev().enumerate() {
            // SAFETY: a thread's stack has more than that. Volatile, so that the compiler knows nothing of what is read.
            *byte = unsafe { top.sub(64 + i).read_volatile() };
        }
    }
    #[inline(never)]
    fn control(secret: &[u8; 32]) {
        black_box(&mut [[0; 32], *secret, [0; 32], [0; 32]]);
    }
    #[inline(never)]
    fn derive(key: &Key, header: &Header) {
        // Deeper than what `below` has on the stack itself. And not dropped: what wipes the key would write over what is left.
        let deeper = black_box([0_u8; 4096]);
        std::mem::forget(black_box(Cipher::of(key, b"context", header).unwrap()));
        black_box(&deeper);
    }

    let _alone = ALONE.lock();
    let (key, header, derived) = derived();
    let secret: [u8; 32] = key.as_bytes().try_into().unwrap();
    let mut stack = vec![0; 50_000];
    control(&secret);
    below(&mut stack);
    assert!(holds(&stack, &secret), "the control");
    control(&[0; 32]);
    derive(&key, &header);
    below(&mut stack);
    assert!(!holds(&stack, &secret), "the key");
    assert!(!holds(&stack, &derived[..32]), "the AES key");
}

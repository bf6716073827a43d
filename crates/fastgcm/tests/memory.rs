//! What is left in memory: nothing of a key that was dropped, and nothing at all of a message that was too long.

#[path = "support/allocator.rs"]
#[cfg(feature = "alloc")]
mod allocator;
#[path = "support/dropped.rs"]
mod dropped;
#[path = "support/suite.rs"]
mod suite;
#[path = "support/backends.rs"]
mod support;

use dropped::memory_of;
use fastgcm::Key;
use std::mem::MaybeUninit;
use suite::{bytes, passed};
use support::{Tally, backends};

/// F16: a key that is dropped where it lies leaves zeros there. So does one that `rekey` replaces, and one inside RustCrypto's interface.
#[test]
fn f16_dropped_keys_are_wiped() {
    let (mut wiped, mut boxed) = (Tally::default(), 0);
    for length in [16, 24, 32] {
        let (key, other) = (bytes(length, 1), bytes(16, 2));
        for backend in backends() {
            let make = |key: &[u8]| support::key(key, backend);
            check_drop(&key, Box::new(make(&key)));
            check_drop(&key, Box::new(make(&key).clone()));
            let mut replaced = Box::new(make(&key));
            replaced.rekey(&other).unwrap();
            assert!(memory_of(&*replaced) == memory_of(&make(&other)), "{replaced:?}: something of the old key");
            check_drop(&other, replaced);
            wiped.add(&make(&key), 4);
        }
        #[cfg(feature = "alloc")]
        {
            check_drop(&key, Key::boxed(&key).unwrap());
            boxed += 1;
        }
    }
    wiped.passed("memory::dropped_keys_are_wiped", 3 * 4);
    passed("memory::dropped_boxed_keys_are_wiped", boxed, if cfg!(feature = "alloc") { 3 } else { 0 });
}

/// F16: a key that replaces another is, byte for byte, what it would be in memory where no key has been; of all sizes, on every back end. A key
/// that is refused changes nothing.
#[cfg(feature = "alloc")]
#[test]
fn f16_nothing_is_left_of_a_replaced_key() {
    let mut replaced = Tally::default();
    for backend in backends() {
        for new in [16, 24, 32].map(|length| bytes(length, 4)) {
            let fresh = memory_of(&*support::boxed(&new, backend));
            assert_eq!(memory_of(&support::key(&new, backend)), fresh, "{backend}: by value");
            for old in [16, 24, 32].map(|length| bytes(length, 5)) {
                let mut key = support::boxed(&old, backend);
                let before = memory_of(&*key);
                key.rekey(&new[1..]).unwrap_err();
                assert!(memory_of(&*key) == before, "{key:?}: a refused key was written");
                key.rekey(&new).unwrap();
                let after = memory_of(&*key);
                let left: Vec<_> = (0..after.len()).filter(|&at| after[at] != fresh[at]).collect();
                assert!(left.is_empty(), "{key:?} in place of {} bytes: other bytes at {left:?}", old.len());
                replaced.add(&key, 1);
            }
        }
    }
    replaced.passed("memory::nothing_is_left_of_a_replaced_key", 9);
}

/// F12, F16: of a message in pieces that is dropped, nothing is left where it was: the same whatever key, nonce and text were.
#[test]
fn f12_f16_dropped_pieces_are_wiped() {
    let mut wiped = Tally::default();
    for (backend, whole_turns) in backends().into_iter().flat_map(|backend| [(backend, false), (backend, true)]) {
        let mut key = Box::new(support::key(&[0; 16], backend));
        let mut place = Box::new(MaybeUninit::uninit());
        let mut states = |secret| {
            key.rekey(&bytes(32, secret)).unwrap();
            // Its counter is a secret too. But whole turns go another way if it is none; of them a ciphertext waits, which is public: the same each time.
            let (mut nonce, mut text) = (bytes(16, secret + 1), bytes(100, secret + 2));
            if whole_turns {
                (nonce, text) = (vec![1; 12], vec![0; 2048]);
                key.seal(fastgcm::Nonce::any(&nonce).unwrap(), b"", &mut text).unwrap();
            }
            let half = text.len() / 2;
            // SAFETY: the key stays in its box, and as it is until the message has been dropped.
            let key: &'static Key = unsafe { &*std::ptr::from_ref(&*key) };
            let mut sealer = key.sealer(fastgcm::Nonce::any(&nonce).unwrap());
            sealer.aad(b"aad").unwrap();
            let mut sealer = sealer.text();
            sealer.seal(&mut text[..half]).unwrap();
            sealer.seal(&mut text[half..]).unwrap();
            assert!(!whole_turns || text.iter().all(|byte| *byte == 0));
            place.write(sealer);
            let before = memory_of(&*place);
            // SAFETY: it was just written, and is written anew before the next time.
            unsafe { place.assume_init_drop() };
            (before, memory_of(&*place))
        };
        let (a, b) = (states(1), states(11));
        let differ = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| a != b).count();
        // A block each of hash, keystream, ciphertext, J0. (Of the ciphertext four bytes.) Or of the hash.
        assert!(
            differ(&a.0, &b.0) > if whole_turns { 12 } else { 3 * 16 },
            "{key:?}: {} bytes of a message were found",
            differ(&a.0, &b.0)
        );
        assert_eq!(differ(&a.1, &b.1), 0, "{key:?}: bytes are left");
        wiped.add(&key, 2);
    }
    wiped.passed("memory::dropped_pieces_are_wiped", 4);
}

/// F16: of no value that has a secret is anything left where it was dropped.
#[cfg(feature = "alloc")]
#[test]
fn f16_dropped_values_are_wiped() {
    use fastgcm::{
        AesGcmSiv, Nonce, Xaes256Gcm,
        nonces::{CounterNonces, OpeningKey, SealingKey},
    };
    const ROUND_KEYS: usize = 9 * 16 * 15 / 10;
    let mut wiped = Tally::default();
    for backend in backends() {
        let of_backend = |name: &str| format!("{name} of {backend}");
        let secret = |n: usize, number: u64| bytes(n, 30 + number);
        let key: &'static Key = Box::leak(support::boxed(&bytes(32, 3), backend));
        let mut count = 0;
        macro_rules! dropped {
            ($name:literal, $secret:expr, $make:expr) => {
                dropped::leaves_nothing(&of_backend($name), $secret, $make);
                count += 1;
            };
        }
        dropped!("Key", ROUND_KEYS, |number| support::key(&secret(32, number), backend));
        dropped!("RootKey", ROUND_KEYS + 12, |number| {
            Xaes256Gcm::with_backend(secret(32, number).first_chunk().unwrap(), backend).unwrap()
        });
        dropped!("AesGcmSiv", ROUND_KEYS, |number| AesGcmSiv::with_backend(&secret(32, number), backend).unwrap());
        dropped!("SealingKey", ROUND_KEYS, |number| {
            SealingKey::with_backend(&secret(32, number), CounterNonces::new([7; 4]), backend).unwrap()
        });
        dropped!("OpeningKey", ROUND_KEYS, |number| OpeningKey::with_backend(&secret(32, number), backend).unwrap());
        dropped!("ApprovedKey", ROUND_KEYS, |number| {
            fastgcm::approved::ApprovedKey::with_backend(&secret(32, number), CounterNonces::new([7; 4]), backend).unwrap()
        });
        // A nonce of another length than 12 bytes makes a secret counter. J0, hash and a part of a block differ; the key is one and the same.
        dropped!("Gmac", 32, |number| {
            let mut mac = key.gmac(Nonce::any(&secret(16, number)).unwrap());
            mac.update(&secret(41, number)).unwrap();
            mac
        });
        dropped!("Sealer", 32, |number| {
            let mut sealer = key.sealer(Nonce::any(&secret(16, number)).unwrap());
            sealer.aad(&secret(41, number)).unwrap();
            let mut sealer = sealer.text();
            sealer.seal(&mut secret(41, number)).unwrap();
            sealer
        });
        #[cfg(feature = "hazmat")]
        {
            use fastgcm::hazmat::{Pieces, UnverifiedOpener, seal_part};
            dropped!("UnverifiedOpener", 32, |number| {
                let mut opener = UnverifiedOpener::new(key, Nonce::any(&secret(16, number)).unwrap());
                opener.aad(&secret(41, number)).unwrap();
                let mut opener = opener.text();
                opener.open(&mut secret(41, number)).unwrap();
                opener
            });
            dropped!("Pieces", 32, |number| {
                let mut pieces = Pieces::new(key, Nonce::any(&secret(16, number)).unwrap());
                pieces.aad(key, &secret(41, number)).unwrap();
                pieces.seal(key, &mut secret(41, number)).unwrap();
                pieces
            });
            dropped!("PartHash", 12, |number| seal_part(key, [1; 12], 0, &mut secret(41, number)).unwrap());
        }
        assert_eq!(count, if cfg!(feature = "hazmat") { 11 } else { 8 });
        wiped.add(key, count);
    }
    wiped.passed("memory::dropped_values_are_wiped", if cfg!(feature = "hazmat") { 11 } else { 8 });
}

/// F1: memory that `open_vec` has given back holds no plaintext after a forgery.
#[cfg(feature = "alloc")]
#[test]
fn f01_a_refused_vec_is_wiped() {
    let mut refused = Tally::default();
    for backend in backends() {
        let key = support::key(&bytes(32, 6), backend);
        for length in [1, 16, 100, 1000, 5000] {
            let mut sealed = key.seal_vec([7; 12], b"aad", &bytes(length, 7)).unwrap();
            sealed[length] ^= 1;
            let mut place = vec![0xee; length + 64];
            assert!(allocator::allocating_in(&mut place, || key.open_vec([7; 12], b"aad", &sealed).is_err()));
            assert_eq!(place, [vec![0; length], vec![0xee; 64]].concat(), "{backend}, {length} bytes");
            refused.add(&key, 1);
        }
    }
    refused.passed("memory::a_refused_vec_is_wiped", 5);
}

/// F16: a `Vec` that grows behind the text gives back memory that holds ciphertext, and nothing of the text.
#[cfg(feature = "alloc")]
#[test]
fn f16_a_growing_vec_gives_back_no_text() {
    let mut sealed = Tally::default();
    for backend in backends() {
        let key = support::key(&bytes(32, 6), backend);
        for length in [16, 100, 1000, 5000] {
            let text = bytes(length, 8);
            let mut expected = text.clone();
            let tag = key.seal([7; 12], b"aad", &mut expected).unwrap();
            let mut place = vec![0; 3 * length + 64];
            allocator::allocating_in(&mut place, || {
                let mut message = text.clone();
                assert_eq!(message.capacity(), length, "it has to grow");
                key.seal_in_place_append_tag([7; 12], b"aad", &mut message).unwrap();
                assert!(message.starts_with(&expected) && message.ends_with(tag.as_ref()));
            });
            assert_eq!(place[..length], expected, "{backend}: where it was first");
            assert!(!place.windows(16).any(|window| window == &text[..16]), "{backend}: the text is left");
            sealed.add(&key, 1);
        }
    }
    sealed.passed("memory::a_growing_vec_gives_back_no_text", 4);
}

#[cfg(feature = "aead06")]
#[test]
fn f16_dropped_rustcrypto_ciphers_are_wiped() {
    use fastgcm::rustcrypto::{Aes128Gcm, Aes256Gcm, KeyInit};
    check_drop(&bytes(16, 3), Box::new(Aes128Gcm::new_from_slice(&bytes(16, 3)).unwrap()));
    check_drop(&bytes(32, 3), Box::new(Aes256Gcm::new_from_slice(&bytes(32, 3)).unwrap()));
    passed("memory::dropped_rustcrypto_ciphers_are_wiped", 2, 2);
}

/// What may be left: the reference to the back end's functions, and the number of rounds. Padding is not excepted: what a compiler copies
/// there has been on the stack before, and there it may have been anything.
const NOT_SECRET: usize = size_of::<usize>() + 1;

/// Drops `value`, made of `key`, and looks at the memory that it was in.
fn check_drop<T>(key: &[u8], value: Box<T>) {
    let before = memory_of(&*value);
    let round_keys = 16 * (key.len() / 4 + 7);
    assert!(not_zero(&before) > NOT_SECRET + round_keys * 9 / 10, "what is looked for is there as long as the key is");

    let place = Box::into_raw(value);
    // SAFETY: `place` comes from a box of that layout; the value is dropped once, and from then on it is bytes.
    let place = unsafe {
        place.drop_in_place();
        Box::from_raw(place.cast::<MaybeUninit<T>>())
    };
    let after = memory_of(&*place);
    let left: Vec<_> = after.iter().enumerate().filter(|&(_, &byte)| byte != 0).collect();
    assert!(left.len() <= NOT_SECRET, "(position, byte) {left:?}");
}

fn not_zero(memory: &[u8]) -> usize {
    memory.iter().filter(|&&byte| byte != 0).count()
}

/// F5: texts longer than the standard allows, real ones. Their memory is promised by the system and never given: it costs nothing as
/// long as nobody touches it, and the system can say whether somebody did.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod too_long {
    #[cfg(feature = "alloc")]
    use super::allocator::allocating_in;
    use super::{Key, passed};
    use fastgcm::{Error, Tag, limits};

    /// One byte more than a text may have.
    const LENGTH: usize = limits::TEXT as usize + 1;

    /// What is tried: on a text, and on another buffer with room for a tag too.
    type Verb<'a> = &'a dyn Fn(&mut [u8], &mut [u8]) -> Option<Error>;

    #[test]
    fn f05_too_long_is_refused_untouched() {
        // If it were not refused, the machine would run out of memory. Then this process is the one to die, and no other.
        _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        let key = Key::aes256(&[1; 32]);
        let (nonce, tag) = ([2; 12], Tag([3; 16]));
        let (mut text, mut other) = (Promised::new(LENGTH), Promised::new(LENGTH + 16));
        let mut refused = 0;
        let mut check = |verb: Verb<'_>| {
            assert_eq!(verb(text.bytes(), other.bytes()), Some(Error::TooLong));
            assert_eq!((text.touched(), other.touched()), (0, 0), "pages were touched");
            refused += 1;
        };
        check(&|text, _| key.seal(nonce, b"", text).err());
        check(&|text, _| key.open(nonce, b"", text, &tag).err());
        check(&|text, _| key.open_verified_first(nonce, b"", text, &tag).err());
        check(&|text, _| key.open_restoring(nonce, b"", text, &tag).err());
        check(&|text, _| key.verify(nonce, b"", text, &tag).err());
        check(&|_, both| key.seal_appended(nonce, b"", both).err());
        check(&|_, both| key.open_appended(nonce, b"", both).err());
        check(&|_, both| key.open_within(nonce, b"", both, 0..).err());
        check(&|text, other| key.seal_detached_to(nonce, b"", text, &mut other[16..]).err());
        check(&|text, other| key.open_detached_to(nonce, b"", text, &mut other[16..], &tag).err());
        check(&|text, _| fastgcm::seal_once(&[1; 32], nonce, b"", text).err());
        check(&|text, _| fastgcm::open_once(&[1; 32], nonce, b"", text, &tag).err());
        check(&|text, sealed| key.seal_to(nonce, b"", text, sealed).err());
        check(&|text, sealed| key.open_to(nonce, b"", sealed, text).err());
        #[cfg(feature = "alloc")]
        {
            // Nor is anything allocated: there is no room for it.
            check(&|text, _| allocating_in(&mut [], || key.seal_vec(nonce, b"", text).err()));
            check(&|_, sealed| allocating_in(&mut [], || key.open_vec(nonce, b"", sealed).err()));
        }
        // Lists: each chunk is short enough, but not all of them together.
        let aad: &[&[u8]] = &[b"a", b"ad"];
        check(&|text, other| {
            let (first, second) = text.split_at(LENGTH / 2);
            key.seal_gathered(nonce, aad, &[first, second], b"", &mut other[..LENGTH]).err()
        });
        check(&|text, other| {
            let (to0, to1) = other[..LENGTH + 5].split_at_mut(7);
            key.seal_scattered(nonce, aad, &[text], b"extra", &mut [to0, to1]).err()
        });
        check(&|text, _| key.seal_chunks(nonce, aad, &mut halves(text)).err());
        check(&|text, _| key.open_chunks(nonce, aad, &mut halves(text), &tag).err());
        check(&|text, other| key.open_gathered(nonce, aad, &[text], &mut other[..LENGTH], &tag).err());
        check(&|text, other| key.open_scattered(nonce, aad, &[text], &mut halves(&mut other[..LENGTH]), &tag).err());
        check(&|text, other| key.open_gathered_verified_first(nonce, aad, &[text], &mut other[..LENGTH], &tag).err());
        // In pieces: what is refused is not taken.
        check(&|text, other| {
            let mut sealer = key.sealer(nonce).text();
            sealer.seal(&mut []).unwrap();
            let errors = [sealer.seal(text).err(), sealer.seal_to(text, &mut other[..LENGTH]).err()];
            let mut small = *b"text";
            sealer.seal(&mut small).unwrap();
            let again = sealer.seal(&mut text[4..]).err();
            let mut expected = *b"text";
            assert_eq!(sealer.finish().0, key.seal(nonce, b"", &mut expected).unwrap().0);
            assert_eq!((small, errors[0], errors[1]), (expected, again, again));
            again
        });
        #[cfg(feature = "hazmat")]
        check(&|text, other| {
            let mut opener = fastgcm::hazmat::UnverifiedOpener::new(&key, nonce).text();
            let mut small = *b"text";
            let tag = key.seal(nonce, b"", &mut small).unwrap();
            opener.open(&mut small[..3]).unwrap();
            let errors = [opener.open(text).err(), opener.open_to(text, &mut other[..LENGTH]).err()];
            opener.open(&mut small[3..]).unwrap();
            opener.verify(&tag).unwrap();
            assert_eq!((small, errors[0]), (*b"text", errors[1]));
            errors[0]
        });
        let expected = 22 + if cfg!(feature = "alloc") { 2 } else { 0 } + if cfg!(feature = "hazmat") { 1 } else { 0 };
        passed("memory::f05_too_long_is_refused_untouched", refused, expected);
        rustcrypto(&mut text);

        // The control: one byte is read, and one is written, and both are noticed.
        assert_eq!(text.bytes()[LENGTH / 2], 0);
        text.bytes()[LENGTH - 1] = 1;
        assert_eq!(text.touched(), 2);
    }

    fn halves(text: &mut [u8]) -> [&mut [u8]; 2] {
        text.split_at_mut(LENGTH / 2).into()
    }

    #[cfg(not(feature = "aead06"))]
    fn rustcrypto(_: &mut Promised) {}

    #[cfg(feature = "aead06")]
    fn rustcrypto(text: &mut Promised) {
        use fastgcm::rustcrypto::{AeadInOut, Aes128Gcm, Error, KeyInit, aead::array::Array};
        let cipher = Aes128Gcm::new(&Array([1; 16]));
        assert_eq!(cipher.encrypt_inout_detached(&Array([2; 12]), b"", text.bytes().into()), Err(Error));
        assert_eq!(cipher.decrypt_inout_detached(&Array([2; 12]), b"", text.bytes().into(), &Array([3; 16])), Err(Error));
        assert_eq!(text.touched(), 0);
        passed("memory::f05_rustcrypto", 2, 2);
    }

    /// Memory that is given page by page, when it is touched.
    struct Promised {
        start: *mut u8,
        length: usize,
    }

    impl Promised {
        fn new(length: usize) -> Self {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
            // SAFETY: a new mapping, at an address of the system's choice.
            let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
            assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
            // SAFETY: our mapping. Small pages, so that a page is not the 2 MiB around it: how many were touched is counted.
            unsafe { libc::madvise(start, length, libc::MADV_NOHUGEPAGE) };
            Self { start: start.cast(), length }
        }

        fn bytes(&mut self) -> &mut [u8] {
            // SAFETY: a mapping of that length, all zeros, borrowed as long as `self` is.
            unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
        }

        /// Pages that the system has had to give.
        fn touched(&self) -> usize {
            // SAFETY: only asks.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
            let mut present = vec![0u8; self.length.div_ceil(page)];
            // SAFETY: our mapping, and a byte for each of its pages.
            let answer = unsafe { libc::mincore(self.start.cast(), self.length, present.as_mut_ptr()) };
            assert_eq!(answer, 0, "{}", std::io::Error::last_os_error());
            present.iter().filter(|&&page| page & 1 == 1).count()
        }
    }

    impl Drop for Promised {
        fn drop(&mut self) {
            // SAFETY: our mapping; nobody borrows it any more.
            unsafe { libc::munmap(self.start.cast(), self.length) };
        }
    }
}

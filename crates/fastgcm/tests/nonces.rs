//! Nonces that cannot repeat: what they are, and where they end.

#[cfg(all(target_os = "linux", feature = "getrandom"))]
#[path = "support/no_random.rs"]
mod no_random;
#[path = "support/suite.rs"]
mod suite;

use fastgcm::{
    Error, Key,
    nonces::{CounterNonces, SealingKey},
};
use std::collections::BTreeSet;
use suite::passed;

/// Fixed field, invocation field, in the standard's order; from the first to the last one, and no further, for each length of the field.
#[test]
fn f13_counted_nonces_end() {
    let mut drawn = 0;
    macro_rules! field {
        ($($fixed:literal)+) => { $({
            const BYTES: usize = 12 - $fixed;
            let fixed = std::array::from_fn::<u8, $fixed, _>(|i| 0xa0 + i as u8);
            let last = u64::MAX >> (64 - 8 * BYTES);
            let expected = |i: u64| [&fixed[..], &i.to_be_bytes()[8 - BYTES..]].concat();
            let mut first = CounterNonces::new(fixed);
            for i in 0..100 {
                assert_eq!(first.position(), Some(i));
                assert_eq!(first.draw().unwrap()[..], expected(i), "{} + {i}", $fixed);
                drawn += 1;
            }
            // To the end, past each carry from the byte below it.
            for carry in (8..8 * BYTES).step_by(8) {
                let mut nonces = CounterNonces::starting_at(fixed, (1 << carry) - 1).unwrap();
                for i in [(1 << carry) - 1, 1 << carry] {
                    assert_eq!(nonces.draw().unwrap()[..], expected(i), "{} + {i}", $fixed);
                    drawn += 1;
                }
            }
            let mut nonces = CounterNonces::starting_at(fixed, last - 1).unwrap();
            for i in [last - 1, last] {
                assert_eq!(nonces.draw().unwrap()[..], expected(i), "{} + {i}", $fixed);
                drawn += 1;
            }
            for _ in 0..3 {
                assert_eq!((nonces.position(), nonces.draw()), (None, Err(Error::Exhausted)), "{}", $fixed);
                drawn += 1;
            }
            let beyond = last.checked_add(1).map(|next| CounterNonces::starting_at(fixed, next).err());
            assert_eq!(beyond, if BYTES == 8 { None } else { Some(Some(Error::Exhausted)) }, "{}", $fixed);
        })+ };
    }
    field!(4 5 6 7 8 9 10 11);
    passed("nonces::f13_counted_nonces_end", drawn, 8 * (100 + 2 + 3) + 2 * 28);
}

/// A key seals under each nonce once, says which, and then nothing more; an error uses none.
#[test]
fn f13_a_key_seals_until_its_nonces_end() {
    let mut seen = BTreeSet::new();
    let mut sealing = SealingKey::new(&[7; 16], CounterNonces::new(*b"fixed field")).unwrap();
    let key = Key::new(&[7; 16]).unwrap();
    for i in 0..256_usize {
        let mut text = vec![i as u8; i];
        let (nonce, tag) = sealing.seal(b"aad", &mut text).unwrap();
        assert!(seen.insert(nonce), "{nonce:?} twice");
        let mut again = text.clone();
        key.open(nonce, b"aad", &mut text, &tag).unwrap();
        sealing.open(nonce, b"aad", &mut again, &tag).unwrap();
        assert!(text == vec![i as u8; i] && again == text);
        assert_eq!(sealing.open(nonce, b"AAD", &mut again, &tag), Err(Error::Unauthentic));
    }
    let mut text = *b"text";
    for _ in 0..3 {
        assert_eq!(sealing.seal(b"aad", &mut text).err(), Some(Error::Exhausted));
        assert_eq!((&text, sealing.nonces().position()), (b"text", None));
    }
    assert_eq!(SealingKey::new(&[7; 15], CounterNonces::new([0; 4])).err(), Some(Error::InvalidLength));
    passed("nonces::f13_a_key_seals_until_its_nonces_end", seen.len(), 256);
}

/// A nonce of 12 bytes is kept as it was; one of another length is none of these.
#[test]
fn f13_nonces_come_back() {
    let nonce: [u8; 12] = std::array::from_fn(|i| 17 * i as u8 + 1);
    let all = [fastgcm::Nonce::from(nonce), (&nonce).into(), fastgcm::Nonce::any(&nonce).unwrap()];
    assert!(all.iter().all(|found| found.to_array() == Some(nonce)));
    assert!((1..40).filter(|length| *length != 12).all(|length| fastgcm::Nonce::any(&vec![1; length]).unwrap().to_array().is_none()));
    let packet = fastgcm::Packet::in_place(nonce, b"", &mut [], fastgcm::Tag([0; 16]));
    assert_eq!(packet.nonce, nonce);
    passed("nonces::f13_nonces_come_back", all.len(), 3);
}

/// Nonce, ciphertext and tag in one buffer, in that order, whichever way they were put there and found; what is refused leaves no text and uses no nonce.
#[test]
fn f13_the_nonce_goes_with_the_message() {
    use fastgcm::nonces::{open_prefixed, open_vec};
    let key = Key::new(&[7; 16]).unwrap();
    let mut sealing = SealingKey::new(&[7; 16], CounterNonces::new(*b"left")).unwrap();
    let mut messages = 0;
    for length in (0..100).chain([1000, 5000]) {
        let text: Vec<u8> = (0..length).map(|i| (i * 7 + 1) as u8).collect();
        let expected = |number: u64| {
            let nonce = [&b"left"[..], &number.to_be_bytes()].concat();
            let sealed = key.seal_vec(fastgcm::Nonce::any(&nonce).unwrap(), b"aad", &text).unwrap();
            (nonce.clone(), [nonce, sealed].concat())
        };
        let now = sealing.nonces().position().unwrap();
        let message = sealing.seal_vec(b"aad", &text).unwrap();
        assert_eq!(message, expected(now).1, "{length}");
        let mut buffer = [&[0; 12][..], &text, &[0; 16]].concat();
        sealing.seal_prefixed(b"aad", &mut buffer).unwrap();
        assert_eq!(buffer, expected(now + 1).1, "{length}");
        let mut appended = [&text[..], &[0; 16]].concat();
        let nonce = sealing.seal_appended(b"aad", &mut appended).unwrap();
        assert_eq!((nonce.to_vec(), [&nonce[..], &appended].concat()), expected(now + 2), "{length}");
        assert_eq!(sealing.nonces().position(), Some(now + 3));

        assert_eq!(sealing.open_vec(b"aad", &message).unwrap(), text);
        assert_eq!(open_vec(&key, b"aad", &buffer).unwrap(), text);
        assert_eq!(sealing.open_prefixed(b"aad", &mut buffer.clone()).unwrap(), text);
        for wrong in [0, 11, 12.min(11 + length), 12 + length, 27 + length] {
            let mut other = buffer.clone();
            other[wrong] ^= 1;
            assert_eq!(open_vec(&key, b"aad", &other), Err(Error::Unauthentic), "{length}, {wrong}");
            assert_eq!(open_prefixed(&key, b"aad", &mut other), Err(Error::Unauthentic), "{length}, {wrong}");
            assert!(other[12..12 + length].iter().all(|byte| *byte == 0));
        }
        assert_eq!(open_prefixed(&key, b"aad", &mut buffer).unwrap(), text);
        messages += 3;
    }
    // What is too short is no message, and no place for one.
    let now = sealing.nonces().position();
    for length in 0..28 {
        let mut buffer = vec![9; length];
        assert_eq!(sealing.open_vec(b"", &buffer), Err(Error::Unauthentic));
        assert_eq!(sealing.open_prefixed(b"", &mut buffer), Err(Error::Unauthentic));
        assert_eq!(sealing.seal_prefixed(b"", &mut buffer), Err(Error::InvalidLength));
        assert!(length >= 16 || sealing.seal_appended(b"", &mut buffer) == Err(Error::InvalidLength));
        assert_eq!((buffer, sealing.nonces().position()), (vec![9; length], now));
    }
    passed("nonces::f13_the_nonce_goes_with_the_message", messages, 3 * 102);
}

/// AAD that is too long uses no nonce.
#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn f13_an_error_uses_no_nonce() {
    // Memory that is mapped, of which nothing is touched.
    let length = fastgcm::limits::TEXT as usize + 1;
    // SAFETY: a new mapping; whoever reads or writes there dies.
    let start = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0)
    };
    assert_ne!(start, libc::MAP_FAILED);
    // SAFETY: mapped, though nobody may touch it: it is only refused.
    let text = unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>(), length) };
    let mut sealing = SealingKey::new(&[7; 16], CounterNonces::new([1; 4])).unwrap();
    assert_eq!(sealing.seal(b"", text).err(), Some(Error::TooLong));
    assert_eq!(sealing.nonces().position(), Some(0));
    passed("nonces::f13_an_error_uses_no_nonce", 1, 1);
}

/// Random ones are counted up to 2^32, those before included, and differ.
#[test]
#[cfg(feature = "getrandom")]
fn f13_random_nonces_end() {
    use fastgcm::nonces::RandomNonces;
    let mut seen = BTreeSet::new();
    let mut nonces = RandomNonces::new();
    for i in 0..1000 {
        assert_eq!(nonces.used(), i);
        assert!(seen.insert(nonces.draw().unwrap()));
    }
    // Each byte of them is drawn.
    assert!((0..12).all(|i| seen.iter().map(|nonce| nonce[i]).collect::<BTreeSet<_>>().len() > 200));
    let mut last = RandomNonces::after((1 << 32) - 2);
    assert_eq!([last.draw().is_ok(), last.draw().is_ok()], [true; 2]);
    for _ in 0..3 {
        assert_eq!(last.draw(), Err(Error::Exhausted));
        assert_eq!(last.used(), 1 << 32);
    }
    assert_eq!(RandomNonces::after(u64::MAX).draw(), Err(Error::Exhausted));
    let mut sealing = SealingKey::new(&[7; 32], RandomNonces::after((1 << 32) - 1)).unwrap();
    let (mut a, mut b) = (*b"text", *b"text");
    let (nonce, tag) = sealing.seal(b"", &mut a).unwrap();
    assert_eq!(sealing.seal(b"", &mut b).err(), Some(Error::Exhausted));
    sealing.open(nonce, b"", &mut a, &tag).unwrap();
    assert_eq!((&a, &b), (b"text", b"text"));
    passed("nonces::f13_random_nonces_end", seen.len() + 2 + 3 + 1 + 2, 1008);
}

/// Where the operating system gives no random bytes, nothing is sealed, nothing is written, and no nonce is counted.
#[test]
#[cfg(all(target_os = "linux", feature = "getrandom"))]
fn f13_without_random_bytes_nothing_is_sealed() {
    use fastgcm::{Xaes256Gcm, nonces::RandomNonces};
    let refused = || {
        let (mut nonces, mut text) = (RandomNonces::after(7), *b"text");
        assert_eq!((nonces.draw(), nonces.used()), (Err(Error::NoEntropy), 7));
        let mut sealing = SealingKey::new(&[7; 32], RandomNonces::after((1 << 32) - 1)).unwrap();
        for _ in 0..3 {
            assert_eq!(sealing.seal(b"aad", &mut text).err(), Some(Error::NoEntropy));
            assert_eq!(sealing.nonces().used(), (1 << 32) - 1, "a failure is counted");
        }
        assert_eq!(Xaes256Gcm::new(&[7; 32]).seal_random(b"aad", &mut text).err(), Some(Error::NoEntropy));
        assert_eq!(sealing.seal_vec(b"aad", b"text"), Err(Error::NoEntropy));
        assert_eq!(Xaes256Gcm::new(&[7; 32]).seal_random_vec(b"aad", b"text"), Err(Error::NoEntropy));
        assert_eq!(&text, b"text");
        // Who has no nonce left hears that first.
        assert_eq!(RandomNonces::after(1 << 32).draw(), Err(Error::Exhausted));
        6
    };
    match no_random::without_random_bytes(refused) {
        Some(count) => passed("nonces::f13_without_random_bytes", count, 6),
        None => println!("SKIPPED nonces::f13_without_random_bytes: the system call cannot be made to fail"),
    }
}

//! Nonces that cannot repeat: what they are, and where they end.

#[cfg(all(target_os = "linux", feature = "getrandom"))]
#[path = "support/no_random.rs"]
mod no_random;
#[path = "support/suite.rs"]
mod suite;

use fastgcm::{
    Error, Key, Tag,
    limits::Blocks,
    nonces::{CounterNonces, OpeningKey, SealingKey, XorNonces},
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

/// Whether (blocks + 1)^2 is at most 2^`power`, by addition and doubling: no root, no rounding.
fn square_is_within(blocks: u128, power: u32) -> bool {
    let (low, high) = ((blocks + 1) as u64 as u128, (blocks + 1) >> 64);
    // The square is high^2 2^128 + 2 high low 2^64 + low^2; `high` is 0 or 1 here, and 1 only where `low` is 0.
    assert!(high == 0 || (high, low) == (1, 0), "{blocks}");
    if high == 1 { power >= 128 } else { power >= 128 || low * low <= 1 << power }
}

/// The limit of each exponent is the largest number that its bound allows: with one block more it is exceeded.
#[test]
fn limits_are_those_of_the_bounds() {
    let mut exponents = 0;
    for exponent in (0..140).chain([u32::MAX]) {
        let (blocks, power) = (Blocks::confidentiality(exponent).left(), 129_u32.saturating_sub(exponent.max(1)));
        assert!(square_is_within(blocks, power), "{exponent}: {blocks}");
        assert!(exponent <= 1 || !square_is_within(blocks + 1, power), "{exponent}: {blocks}");
        let refused = Blocks::integrity(exponent).left();
        assert_eq!(refused, 1_u128.checked_shl(127_u32.wrapping_sub(exponent)).unwrap_or(0), "{exponent}");
        exponents += 1;
    }
    assert_eq!(Blocks::confidentiality(0).left(), u64::MAX.into());
    assert_eq!([127, 128, 129].map(|exponent| Blocks::confidentiality(exponent).left()), [1, 0, 0]);
    // TLS 1.3: 2^24.5 records of 2^14 bytes (RFC 8446, section 5.5, and the draft on limits), which counts no block for the message.
    let (full, limit) = (Blocks::sealed(1 << 14), Blocks::confidentiality(60).left());
    assert_eq!(((limit + 1).pow(2) / (full - 1).pow(2)).isqrt(), 23_726_566, "2^24.5");
    assert_eq!(limit / full, 23_703_418, "with one block for each message");
    // QUIC counts 2^52 forgeries of 2^16 bytes at most (RFC 9001, section B.1: 2^36 blocks at 2^-57 is more).
    assert_eq!(Blocks::integrity(57).left() / (1 << 12), 1 << 58);
    passed("nonces::limits_are_those_of_the_bounds", exponents, 141);
}

/// Blocks are counted exactly, whatever was used before; who shares gets no block more, and what is refused takes none.
#[test]
fn blocks_are_taken_until_they_end() {
    let lengths = [0, 1, 15, 16, 17, 32, 1 << 14, (1 << 36) - 32, u64::MAX].map(Blocks::sealed);
    assert_eq!(lengths, [1, 2, 2, 2, 3, 3, 1025, (1 << 32) - 1, (1 << 60) + 1]);
    assert_eq!(
        [(0, 0), (1, 0), (16, 16), (17, 33), (u64::MAX, u64::MAX)].map(|(aad, text)| Blocks::refused(aad, text)),
        [1, 2, 3, 6, (1 << 61) + 1]
    );
    let mut taken = 0;
    for sharers in [0, 1, 2, 3, 7, 10, 1000, u32::MAX] {
        let (all, share) = (Blocks::confidentiality(60).left(), Blocks::confidentiality(60).after(0, sharers).left());
        assert!(share * u128::from(sharers.max(1)) <= all && (share + 1) * u128::from(sharers.max(1)) > all);
        for before in [0, 1, share - 5, share - 1, share, share + 1, u128::MAX] {
            let mut blocks = Blocks::confidentiality(60).after(before, sharers);
            let left = share.saturating_sub(before);
            assert_eq!((blocks.left(), blocks.used()), (left, before));
            for too_many in [left + 1, all + 1, u128::MAX] {
                assert_eq!(blocks.take(too_many), Err(Error::Exhausted), "{sharers} {before}");
            }
            assert_eq!((blocks.left(), blocks.used(), blocks.take(left)), (left, before, Ok(())));
            assert_eq!((blocks.left(), blocks.take(0), blocks.take(1)), (0, Ok(()), Err(Error::Exhausted)));
            taken += 1;
        }
    }
    // Both orders of a restart and another.
    assert_eq!(Blocks::confidentiality(60).after(5, 1).after(7, 2).used(), 12);
    assert_eq!(Blocks::confidentiality(60).after(u128::MAX, 1).after(u128::MAX, 2).used(), u128::MAX);
    passed("nonces::blocks_are_taken_until_they_end", taken, 8 * 7);
}

/// A key seals up to its last block, by each of its functions. What it refuses uses no nonce, no block, and no byte; a shorter message may still go.
#[test]
fn a_key_seals_until_its_blocks_end() {
    let mut refused = 0;
    let limit = Blocks::confidentiality(60).left();
    for left in 0..20 {
        let make =
            || SealingKey::with_blocks(&[7; 16], CounterNonces::new(*b"left"), Blocks::confidentiality(60).after(limit - left, 1)).unwrap();
        for text in 0..=200_usize {
            let needed = u128::from(text.div_ceil(16) as u64) + 1;
            let place = vec![5; text + 28];
            for function in 0..4 {
                let (mut key, mut buffer) = (make(), place.clone());
                let sealed = match function {
                    0 => key.seal(b"a", &mut buffer[..text]).map(drop),
                    1 => key.seal_appended(b"a", &mut buffer[..text + 16]).map(drop),
                    2 => key.seal_prefixed(b"a", &mut buffer),
                    _ => key.seal_vec(b"a", &buffer[..text]).map(drop),
                };
                if needed <= left {
                    assert_eq!((sealed, key.blocks_left(), key.nonces().position()), (Ok(()), left - needed, Some(1)), "{text} {left}");
                } else {
                    assert_eq!((sealed, &buffer), (Err(Error::Exhausted), &place), "{text} {left}");
                    assert_eq!((key.blocks_left(), key.nonces().position()), (left, Some(0)));
                    // The next call is as if nobody had asked.
                    let shorter = key.seal(b"aad that counts nothing, however long it is", &mut []);
                    assert_eq!(shorter.is_ok(), left > 0);
                    assert!(shorter.is_err() || shorter == make().seal(b"aad that counts nothing, however long it is", &mut []));
                    refused += 1;
                }
            }
        }
    }
    // Nonces that end take no block.
    let mut key = SealingKey::new(&[7; 16], CounterNonces::starting_at(*b"eleven byte", 255).unwrap()).unwrap();
    let all = key.blocks_left();
    assert_eq!((key.seal(b"", &mut [0; 33]).is_ok(), key.blocks_left()), (true, all - 4));
    assert_eq!((key.seal(b"", &mut [0; 33]), key.blocks_left()), (Err(Error::Exhausted), all - 4));
    assert_eq!((key.blocks().used(), all), (4, Blocks::confidentiality(32).left()));
    // With no block left all of 201 lengths are refused, with one left all but the empty text, and each further block lets 16 more through.
    let expected = 4 * (201 + (0..13).map(|left| 200 - 16 * left).sum::<usize>());
    passed("nonces::a_key_seals_until_its_blocks_end", refused, expected);
}

/// An opener counts what it refuses, by each of its functions, and nothing else; before too much is refused it opens nothing, and leaves what it was given.
#[test]
fn an_opener_counts_what_it_refuses() {
    let mut forged = 0;
    for (aad, text) in [(0, 0), (0, 1), (1, 0), (16, 16), (17, 15), (5, 100), (300, 33)] {
        let aad = vec![3; aad];
        let message = SealingKey::new(&[7; 32], CounterNonces::new(*b"left")).unwrap().seal_vec(&aad, &vec![9; text]).unwrap();
        let (cost, limit) = (Blocks::refused(aad.len() as u64, text as u64), Blocks::integrity(100).left());
        for function in 0..3 {
            // Two forgeries, and then all but one block of a third.
            let mut key = OpeningKey::with_blocks(&[7; 32], Blocks::integrity(100).after(limit - 3 * cost + 1, 1)).unwrap();
            let mut open = |message: &[u8]| {
                let (mut buffer, tag) = (message.to_vec(), Tag(*message.last_chunk().unwrap()));
                let end = message.len() - 16;
                let opened = match function {
                    0 => key.open(*message.first_chunk::<12>().unwrap(), &aad, &mut buffer[12..end], &tag),
                    1 => key.open_prefixed(&aad, &mut buffer).map(|found| assert_eq!(found, vec![9; text])),
                    _ => key.open_vec(&aad, message).map(|found| assert_eq!(found, vec![9; text])),
                };
                let left = if opened == Err(Error::Unauthentic) && function < 2 { vec![0; text] } else { message[12..end].to_vec() };
                assert!(opened.is_ok() || buffer[12..end] == left, "{function}: {opened:?}");
                (opened, key.blocks_left())
            };
            assert_eq!(open(&message), (Ok(()), 3 * cost - 1));
            for turn in 1..3 {
                let mut other = message.clone();
                *other.last_mut().unwrap() ^= 1 << turn;
                assert_eq!(open(&other), (Err(Error::Unauthentic), (3 - turn) * cost - 1));
                forged += 1;
            }
            assert_eq!(open(&message), (Err(Error::Exhausted), cost - 1));
            assert_eq!(key.open_vec(b"", &[1; 27]), Err(Error::Unauthentic));
            assert_eq!(key.open_prefixed(b"", &mut [1; 27]), Err(Error::Unauthentic));
            assert_eq!(key.blocks_left(), cost - 1, "what is too short to be a message is no forgery");
            // A shorter message may still be one.
            let short = SealingKey::new(&[7; 32], CounterNonces::new(*b"left")).unwrap().seal_vec(b"", b"").unwrap();
            assert_eq!(key.open_vec(b"", &short), if cost > 1 { Ok(vec![]) } else { Err(Error::Exhausted) });
        }
    }
    assert!(OpeningKey::new(&[7; 15]).is_err());
    passed("nonces::an_opener_counts_what_it_refuses", forged, 7 * 3 * 2);
}

/// A static IV XOR the number: each bit of the number has its place, the first four bytes stay, and the last number is never used.
#[test]
fn f13_xored_nonces_end() {
    let iv: [u8; 12] = std::array::from_fn(|i| 17 * i as u8 + 1);
    let mut drawn = 0;
    for start in (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1]).chain([u64::MAX - 2]) {
        let mut nonces = XorNonces::starting_at(iv, start);
        for number in [start, start + 1] {
            let expected: Vec<u8> = iv.iter().zip([&[0; 4], &number.to_be_bytes()[..]].concat()).map(|(iv, number)| iv ^ number).collect();
            assert_eq!((nonces.position(), nonces.draw().unwrap()[..].to_vec()), (Some(number), expected.clone()));
            assert_eq!(XorNonces::at(iv, number)[..], expected);
            drawn += 1;
        }
    }
    for start in [u64::MAX - 1, u64::MAX] {
        let mut key = SealingKey::new(&[7; 32], XorNonces::starting_at(iv, start)).unwrap();
        assert_eq!(key.seal(b"", &mut []).is_ok(), start < u64::MAX);
        for _ in 0..3 {
            assert_eq!((key.seal(b"", &mut []), key.nonces().position()), (Err(Error::Exhausted), None));
        }
    }
    // RFC 9001, section A.5.
    let array = |nonce: u128| nonce.to_be_bytes()[4..].try_into().unwrap();
    assert_eq!(XorNonces::at(array(0xe045_9b34_74bd_d0e4_4a41_c144), 654_360_564), array(0xe045_9b34_74bd_d0e4_6d41_7eb0));
    let shown = format!("{:?}", XorNonces::starting_at([0xc7; 12], 5));
    assert!(shown.contains('5') && !shown.contains("199") && !shown.to_lowercase().contains("c7"), "{shown}");
    passed("nonces::f13_xored_nonces_end", drawn, 2 * 129);
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

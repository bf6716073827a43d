//! F12 and F21 for parts: however a text is cut, whichever back ends seal its parts, and however many threads do it, the message is the one that
//! `seal` makes.
#![cfg(feature = "hazmat")]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{
    Error, Key, Nonce, Tag,
    hazmat::{PartHash, combine, hash_part, open_part, seal_part, seal_part_to},
};
use suite::{Random, full, passed, quick};

/// Where a text of `length` bytes is cut in two to six parts.
fn cuts(random: &mut Random, length: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = (0..1 + random.below(5)).map(|_| random.below(length / 16 + 1) * 16).collect();
    cuts.extend([0, length]);
    cuts.sort_unstable();
    cuts
}

/// Each part goes to a back end drawn by lot; its hash travels as bytes; the tag is put together by the back end under test, which also opens the parts.
#[test]
fn parts_of_every_back_end() {
    let mut random = Random(21);
    let rounds = match (quick(), full()) {
        (true, _) => 40,
        (_, true) => 1000,
        _ => 300,
    };
    let mut tally = Tally::default();
    for backend in backends() {
        for round in 0..rounds {
            let bytes = random.bytes(16 + 8 * (round % 3));
            let keys: Vec<Key> = backends().into_iter().map(|backend| key(&bytes, backend)).collect();
            let here = key(&bytes, backend);
            let length = if round % 4 == 0 { 1 + random.below(40) } else { 12 };
            let nonce = random.bytes(length);
            let nonce = Nonce::any(&nonce).unwrap();
            let (aad, text) = (random.bytes([0, 13, 16, 100][round % 4]), random.below(if round % 8 == 0 { 300_000 } else { 5000 }));
            let text = random.bytes(text);
            let mut expected = text.clone();
            let tag = here.seal(nonce, &aad, &mut expected).unwrap();

            let mut sealed = text.clone();
            let mut hashes = Vec::new();
            for ends in cuts(&mut random, text.len()).windows(2) {
                let (key, part) = (&keys[random.below(keys.len())], ends[0]..ends[1]);
                let hash = if random.below(2) == 0 {
                    seal_part(key, nonce, part.start as u64, &mut sealed[part.clone()])
                } else {
                    seal_part_to(key, nonce, part.start as u64, &text[part.clone()], &mut sealed[part.clone()])
                };
                let hash = PartHash::from_bytes(&hash.unwrap().to_bytes()).unwrap();
                assert_eq!((hash.offset(), hash.length()), (part.start as u64, part.len() as u64));
                hashes.push(hash);
            }
            assert_eq!(sealed, expected, "{backend}");
            assert_eq!(combine(&here, nonce, &aad, &hashes).unwrap().0, tag.0, "{backend}, {hashes:?}");

            let (mut verified, mut opened) = (Vec::new(), Vec::new());
            for hash in &hashes {
                let part = &mut sealed[hash.offset() as usize..][..hash.length() as usize];
                verified.push(hash_part(&here, hash.offset(), part).unwrap());
                opened.push(open_part(&here, nonce, hash.offset(), part).unwrap());
            }
            assert_eq!(sealed, text, "{backend}");
            for hashes in [verified, opened] {
                assert_eq!(combine(&here, nonce, &aad, &hashes).unwrap().0, tag.0, "{backend}");
            }
            tally.add(&here, 1);
        }
    }
    tally.passed("parts_of_every_back_end", rounds);
}

/// What travels is GHASH in the byte order of the standard: X1 of test case 2 of the GCM specification (McGrew and Viega, appendix B).
#[test]
fn a_hash_travels_in_the_order_of_the_standard() {
    let mut tally = Tally::default();
    for backend in backends() {
        let key = key(&[0; 16], backend);
        let hash = seal_part(&key, [0; 12], 0, &mut [0; 16]).unwrap();
        let bytes = hash.to_bytes();
        assert_eq!(bytes[..16], [[0; 8], 16u64.to_be_bytes()].concat());
        assert_eq!(bytes[16..], 0x5e2e_c746_9170_6288_2c85_b068_5353_deb7_u128.to_be_bytes(), "{backend}");
        assert_eq!(format!("{hash:?}"), "PartHash(0..16)");
        tally.add(&key, 1);
    }
    tally.passed("a_hash_travels_in_the_order_of_the_standard", 1);
}

/// What an x86-64 with AVX-512 has sent: each other machine, whatever its rows and the order of its bytes, sends the same, and makes the tag of it.
const FROM_X86: ([&str; 4], &str) = (
    [
        "00000000000000000000000000000400b62ff56e96b6f8b418a4fc4119dc533a",
        "000000000000040000000000000000102c20f3cfcdbc3d67772eaa5971bcd450",
        "00000000000004100000000000000bf028510709143727b8748460255991e282",
        "000000000000100000000000000003892a85b2a85a084de7d7dd039fc418e84e",
    ],
    "7466bd710ade2658f5d99252aa0805de",
);

#[test]
fn hashes_from_another_machine() {
    let mut tally = Tally::default();
    let (cuts, text) = ([0, 1024, 1040, 4096, 5001], Random(77).bytes(5001));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for backend in backends() {
        let key = key(&[0x5a; 32], backend);
        let mut sealed = text.clone();
        let part = |ends: &[usize]| seal_part(&key, [9; 12], ends[0] as u64, &mut sealed[ends[0]..ends[1]]).unwrap();
        let sent: Vec<String> = cuts.windows(2).map(part).map(|hash| hex(&hash.to_bytes())).collect();
        assert_eq!(sent, FROM_X86.0, "{backend}");
        let received = FROM_X86.0.map(|digits| {
            let bytes: [u8; 32] = std::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..][..2], 16).unwrap());
            PartHash::from_bytes(&bytes).unwrap()
        });
        let tag = combine(&key, [9; 12], b"aad", &received).unwrap();
        assert_eq!(hex(&tag.0), FROM_X86.1, "{backend}");
        key.open([9; 12], b"aad", &mut sealed, &tag).unwrap();
        assert_eq!(sealed, text);
        tally.add(&key, 4);
    }
    tally.passed("hashes_from_another_machine", 4);
}

#[test]
fn parts_that_are_no_whole_are_refused() {
    let key = Key::aes128(&[1; 16]);
    let part = |offset: u64, length: usize| seal_part(&key, [0; 12], offset, &mut vec![0; length]);
    let tag = |parts: &[(u64, usize)]| -> Result<Tag, Error> {
        let parts: Vec<PartHash> = parts.iter().map(|(offset, length)| part(*offset, *length).unwrap()).collect();
        combine(&key, [0; 12], b"", &parts)
    };
    let refused: [&[(u64, usize)]; 5] =
        [&[(16, 16)], &[(0, 16), (32, 16)], &[(0, 32), (16, 16)], &[(16, 16), (0, 16)], &[(0, 15), (16, 1)]];
    refused.iter().for_each(|parts| assert_eq!(tag(parts).unwrap_err(), Error::Incomplete, "{parts:?}"));
    assert!(tag(&[]).is_ok() && tag(&[(0, 0), (0, 16), (16, 0), (16, 5)]).is_ok());

    let (mut text, mut count) = ([7; 20], refused.len());
    for (offset, error) in
        [(1, Error::InvalidLength), (15, Error::InvalidLength), (fastgcm::limits::TEXT - 16, Error::TooLong), (!15, Error::TooLong)]
    {
        assert_eq!(seal_part(&key, [0; 12], offset, &mut text).unwrap_err(), error);
        assert_eq!(open_part(&key, [0; 12], offset, &mut text).unwrap_err(), error);
        assert_eq!(hash_part(&key, offset, &text).unwrap_err(), error);
        count += 3;
    }
    assert_eq!(seal_part_to(&key, [0; 12], 0, &text, &mut [0; 19]).unwrap_err(), Error::InvalidLength);
    assert_eq!(text, [7; 20]);
    let bytes = |offset: u64, length: u64| [&offset.to_be_bytes()[..], &length.to_be_bytes(), &[0; 16]].concat().try_into().unwrap();
    for (offset, length) in [(8, 0), (0, fastgcm::limits::TEXT + 1), (!15, 16), (!15, u64::MAX)] {
        assert_eq!(PartHash::from_bytes(&bytes(offset, length)).unwrap_err(), Error::InvalidLength);
        count += 1;
    }
    // The last part of the longest text, all of that text, and nothing of it is hidden by a number that wraps.
    assert!(seal_part(&key, [0; 12], fastgcm::limits::TEXT - 16, &mut text[..16]).is_ok());
    for offset in [0, fastgcm::limits::TEXT - 16, fastgcm::limits::TEXT] {
        let sent = bytes(offset, fastgcm::limits::TEXT - offset);
        assert_eq!(PartHash::from_bytes(&sent).unwrap().to_bytes(), sent);
    }
    passed("parts_that_are_no_whole_are_refused", count, 21);
}

#[cfg(feature = "alloc")]
mod plans {
    use super::*;
    use fastgcm::hazmat::Plan;

    #[test]
    fn a_retry_with_other_text_is_refused() {
        let key = Key::aes256(&[3; 32]);
        let text: Vec<u8> = (0..1000u32).map(|i| i as u8).collect();
        let mut plan = Plan::new([9; 12], 1000, 256).unwrap();
        assert_eq!(plan.parts().map(|part| (part.start, part.end)).collect::<Vec<_>>(), [(0, 256), (256, 512), (512, 768), (768, 1000)]);
        let (mut sealed, mut count) = (text.clone(), 0);
        for range in plan.parts() {
            assert_eq!(plan.tag(&key, b"aad").unwrap_err(), Error::Incomplete);
            let range = range.start as usize..range.end as usize;
            plan.seal(&key, range.start as u64, &mut sealed[range.clone()]).unwrap();
            // The same text again is no harm.
            let mut again = text[range.clone()].to_vec();
            plan.seal(&key, range.start as u64, &mut again).unwrap();
            assert_eq!(again, sealed[range.clone()]);
            // Another text, by one bit anywhere, is.
            for bit in [0, 8 * range.len() - 1] {
                let mut other = text[range.clone()].to_vec();
                other[bit / 8] ^= 1 << (bit % 8);
                let before = other.clone();
                assert_eq!(plan.seal(&key, range.start as u64, &mut other).unwrap_err(), Error::OtherText);
                assert_eq!(other, before);
                count += 1;
                assert_eq!(
                    plan.accept(seal_part(&key, plan.nonce(), range.start as u64, &mut other).unwrap()).unwrap_err(),
                    Error::OtherText
                );
            }
        }
        assert_eq!(plan.missing().count(), 0);
        let tag = plan.tag(&key, b"aad").unwrap();
        // A plan that is made anew takes what was kept.
        let mut anew = Plan::new([9; 12], 1000, 256).unwrap();
        plan.accepted().for_each(|hash| anew.accept(hash.clone()).unwrap());
        assert_eq!(anew.tag(&key, b"aad").unwrap(), tag);
        key.open([9; 12], b"aad", &mut sealed, &tag).unwrap();
        assert_eq!(sealed, text);
        passed("a_retry_with_other_text_is_refused", count, 8);
    }

    /// Each bit of a hash counts, as it travels, and each bit of where the part lies.
    #[test]
    fn every_bit_of_a_hash_counts() {
        let (key, mut text) = (Key::aes256(&[3; 32]), [5; 1000]);
        let mut plan = Plan::new([9; 12], 1000, 1008).unwrap();
        let hash = seal_part(&key, plan.nonce(), 0, &mut text).unwrap();
        plan.accept(hash.clone()).unwrap();
        let tag = plan.tag(&key, b"aad").unwrap();
        for bit in 0..8 * PartHash::LEN {
            let mut bytes = hash.to_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // Sixteen bytes of numbers, sixteen of the hash.
            let error = if bit < 128 { Error::InvalidLength } else { Error::OtherText };
            assert_eq!(PartHash::from_bytes(&bytes).and_then(|hash| plan.accept(hash)), Err(error), "bit {bit}");
            assert_eq!(plan.accept(PartHash::from_bytes(&hash.to_bytes()).unwrap()), Ok(()), "bit {bit}");
        }
        assert_eq!(plan.tag(&key, b"aad").unwrap(), tag);
        passed("every_bit_of_a_hash_counts", 8 * PartHash::LEN, 256);
    }

    #[test]
    fn what_is_no_part_of_the_plan_is_refused() {
        let key = Key::aes256(&[3; 32]);
        let (mut plan, mut count) = (Plan::new([9; 12], 1000, 256).unwrap(), 0);
        for (offset, length) in
            [(0, 255), (0, 257), (0, 0), (128, 256), (768, 256), (768, 231), (1024, 0), (1024, 256), (8, 256), (!15, 16)]
        {
            let mut text = vec![5; length];
            assert!(plan.seal(&key, offset, &mut text).is_err(), "{offset} {length}");
            assert_eq!(text, vec![5; length]);
            count += 1;
        }
        assert_eq!(plan.missing().count(), 4);
        for (text, part, error) in
            [(1, 0, Error::InvalidLength), (1, 24, Error::InvalidLength), (fastgcm::limits::TEXT + 1, 16, Error::TooLong)]
        {
            assert_eq!(Plan::new([0; 12], text, part).unwrap_err(), error);
            count += 1;
        }
        let empty = Plan::new([1; 12], 0, 16).unwrap();
        assert_eq!(empty.tag(&key, b"aad").unwrap(), key.seal([1; 12], b"aad", &mut []).unwrap());
        // Neither the longest text nor the smallest parts ask for memory that is not needed yet.
        assert_eq!(Plan::new([0; 12], fastgcm::limits::TEXT, 16).unwrap().missing().take(3).count(), 3);
        passed("what_is_no_part_of_the_plan_is_refused", count, 13);
    }
}

#[cfg(feature = "rayon")]
mod threads {
    use super::*;
    use core::{
        ops::ControlFlow::{Break, Continue},
        sync::atomic::{AtomicUsize, Ordering},
    };

    const MIB: usize = 1 << 20;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn any_number_of_threads_makes_the_same_message() {
        let mut random = Random(22);
        let mut tally = Tally::default();
        let lengths = [0, 1, 4 * MIB - 1, 4 * MIB, 4 * MIB + 17, 5 * MIB - 16];
        for backend in backends() {
            let key = key(&random.bytes(32), backend);
            for length in lengths.into_iter().take(if quick() && backend.name() == "portable" { 4 } else { 6 }) {
                let (text, nonce) = (random.bytes(length), random.bytes(if length % 2 == 0 { 12 } else { 8 }));
                let nonce = Nonce::any(&nonce).unwrap();
                let mut expected = text.clone();
                let tag = key.seal(nonce, b"aad", &mut expected).unwrap();
                for threads in [1, 2, 5] {
                    pool(threads).install(|| {
                        let (mut sealed, mut other) = (text.clone(), vec![1; length]);
                        assert_eq!(key.parallel().seal(nonce, b"aad", &mut sealed).unwrap(), tag);
                        assert_eq!(key.parallel().seal_detached_to(nonce, b"aad", &text, &mut other).unwrap(), tag);
                        assert!(sealed == expected && other == expected, "{backend}, {threads}, {length}");
                        key.parallel().open_detached_to(nonce, b"aad", &sealed, &mut other, &tag).unwrap();
                        key.parallel().open(nonce, b"aad", &mut sealed, &tag.truncate::<12>()).unwrap();
                        assert!(sealed == text && other == text, "{backend}, {threads}, {length}");

                        let mut wrong = tag.0;
                        wrong[3] ^= 4;
                        let mut refused = expected.clone();
                        assert_eq!(key.parallel().open(nonce, b"aad", &mut refused, &Tag(wrong)), Err(Error::Unauthentic));
                        assert_eq!(
                            key.parallel().open_detached_to(nonce, b"aad", &expected, &mut other, &Tag(wrong)),
                            Err(Error::Unauthentic)
                        );
                        assert!(refused.iter().chain(&other).all(|byte| *byte == 0), "{backend}, {threads}, {length}");
                    });
                }
            }
            tally.add(&key, 1);
        }
        tally.passed("any_number_of_threads_makes_the_same_message", 1);
    }

    /// Whenever a message is stopped, and by a panic too, its text is what it was, and nothing is left in another buffer.
    #[test]
    fn a_message_can_be_watched_and_stopped() {
        let (key, length) = (Key::aes128(&[5; 16]), 5 * MIB + 100);
        let text: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let mut sealed = text.clone();
        let tag = key.seal([1; 12], b"", &mut sealed).unwrap();
        let count = AtomicUsize::new(0);
        for threads in [1, 3] {
            pool(threads).install(|| {
                let (most, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let watch = |done: usize| {
                    most.fetch_max(done, Ordering::Relaxed);
                    calls.fetch_add(1, Ordering::Relaxed);
                    Continue(())
                };
                let mut buffer = text.clone();
                assert_eq!(key.parallel().watch(&watch).seal([1; 12], b"", &mut buffer).unwrap(), tag);
                assert!(buffer == sealed && most.into_inner() == length && calls.into_inner() == length.div_ceil(MIB / 4));

                for stop in [1, MIB, 3 * MIB, length] {
                    let watch = |done| if done >= stop { Break(()) } else { Continue(()) };
                    let panics = |done| if done >= stop { panic!("by the watcher") } else { Continue(()) };
                    let (mut buffer, mut other) = (text.clone(), vec![1; length]);
                    assert_eq!(key.parallel().watch(&watch).seal([1; 12], b"", &mut buffer), Err(Error::Stopped));
                    assert!(buffer == text);
                    assert_eq!(key.parallel().watch(&watch).open_detached_to([1; 12], b"", &sealed, &mut other, &tag), Err(Error::Stopped));
                    assert!(other.iter().all(|byte| *byte < 2));
                    let mut buffer = sealed.clone();
                    assert_eq!(key.parallel().watch(&watch).open([1; 12], b"", &mut buffer, &tag), Err(Error::Stopped));
                    assert!(buffer == sealed);
                    let panic = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
                        key.parallel().watch(&panics).open([1; 12], b"", &mut buffer, &tag)
                    }));
                    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"by the watcher"));
                    assert!(buffer == sealed);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        passed("a_message_can_be_watched_and_stopped", count.into_inner(), 8);
    }

    /// A long message is not done by one thread while others wait: the first thread that has done a part waits for a second one.
    #[test]
    fn more_than_one_thread_works() {
        use std::{collections::HashSet, sync::Condvar, sync::Mutex, thread, time::Duration};
        let (key, length) = (Key::aes128(&[5; 16]), 5 * MIB);
        let (seen, another) = (Mutex::new(HashSet::new()), Condvar::new());
        let watch = |_| {
            let mut seen = seen.lock().unwrap();
            seen.insert(thread::current().id());
            another.notify_all();
            // Whoever waits in vain for a minute stops the message, which fails the test.
            let alone = |seen: &mut HashSet<_>| seen.len() < 2;
            let (_seen, waited) = another.wait_timeout_while(seen, Duration::from_secs(60), alone).unwrap();
            if waited.timed_out() { Break(()) } else { Continue(()) }
        };
        let mut expected = vec![1; length];
        let tag = key.seal([1; 12], b"", &mut expected).unwrap();
        let mut text = vec![1; length];
        pool(3).install(|| assert_eq!(key.parallel().watch(&watch).seal([1; 12], b"", &mut text), Ok(tag)));
        assert!(text == expected);
        assert!(seen.lock().unwrap().len() >= 2);
        passed("more_than_one_thread_works", 1, 1);
    }

    #[test]
    fn lengths_are_checked_first() {
        let (key, mut text) = (Key::aes128(&[5; 16]), vec![3; 5 * MIB]);
        assert_eq!(key.parallel().seal_detached_to([1; 12], b"", &[0; 5], &mut text), Err(Error::InvalidLength));
        assert!(text.iter().all(|byte| *byte == 3));
        assert_eq!(format!("{:?}", key.parallel()), format!("Parallel({key:?})"));
    }
}

//! F7: not a byte beside a buffer is read or written. Each buffer begins, or ends, at a page that may not be touched.
#![cfg(all(target_os = "linux", feature = "alloc"))]

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/guarded.rs"]
mod guarded;
#[path = "support/suite.rs"]
mod suite;
#[path = "support/backends.rs"]
mod support;
#[path = "support/verbs.rs"]
mod verbs;

use fastgcm::{Backend, Error, Key, Nonce, Tag};
use guarded::{Guarded, SIDES, Side};
use suite::bytes;
use support::{Tally, backends};
use verbs::{Job, Keys, Message};

/// AAD: none, one byte, TLS 1.2's, one block, IPsec's, and more than any tail takes.
const AADS: [usize; 6] = [0, 1, 13, 16, 20, 200];

/// Every length around and inside the vectors and turns of every back end.
const LENGTHS: std::ops::RangeInclusive<usize> = 0..=1100;

/// Of long messages every length to some turns of each back end. Then lengths around a page, and around 16 to 128 KiB.
fn long() -> impl Iterator<Item = usize> {
    const OFF: [isize; 19] = [-513, -257, -65, -64, -17, -16, -1, 0, 1, 15, 16, 17, 63, 64, 65, 129, 257, 511, 513];
    let around = |n: usize| OFF.map(move |off| n.wrapping_add_signed(off));
    (1101..=3100).step_by(step().max(sample())).chain((0..sizes()).map(|i| [4, 16, 32, 64, 128][i] << 10).flat_map(around))
}

/// Quickly: all sizes but the longest one.
fn sizes() -> usize {
    if suite::quick() { 4 } else { 5 }
}

/// The longest of these.
const LONGEST: usize = (128 << 10) + 513;

/// Quickly: every seventh length.
fn step() -> usize {
    if suite::quick() { 7 } else { 1 }
}

/// Of AAD each length meets every third, and of long messages every third length is tried; with `FASTGCM_FULL` all.
fn sample() -> usize {
    if suite::full() { 1 } else { 3 }
}

#[test]
fn f07_nothing_beside_the_buffers_is_touched() {
    let mut memory = Memory::new();
    let mut keys = Vec::new();
    for length in [16, 24, 32] {
        for (side, backend) in SIDES.into_iter().flat_map(|side| backends().into_iter().map(move |backend| (side, backend))) {
            keys.push((length, side, support::key(memory.key.put(side, &bytes(length, 1)), backend)));
        }
    }
    let mut calls = Tally::default();
    for length in LENGTHS.step_by(step()) {
        let text = bytes(length, 2);
        for aad in AADS.into_iter().skip(length % sample()).step_by(sample()).map(|n| bytes(n, 3)) {
            // Twelve bytes, and any other number up to 130; the keys take turns.
            for nonce in [bytes(12, 4), bytes(1 + (7 * length + aad.len()) % 130, 5)] {
                let key_length = [16, 24, 32][(length + aad.len() + nonce.len()) % 3];
                let portable = support::key(&bytes(key_length, 1), Backend::Portable);
                let mut sealed = text.clone();
                let tag = portable.seal(Nonce::any(&nonce).unwrap(), &aad, &mut sealed).unwrap();
                for (_, side, key) in keys.iter().filter(|(length, ..)| *length == key_length) {
                    calls.add(key, memory.message(*side, key, [&nonce, &aad, &text, &sealed], tag));
                }
            }
        }
    }
    // Each key meets buffers at the side where it was made itself.
    calls.passed("guard_pages::f07", 1101usize.div_ceil(step()) * AADS.len() / sample() * 2 * SIDES.len() * 6);
}

/// Beyond the loops for few turns: AAD, nonces and keys take turns.
#[test]
fn f07_nothing_beside_long_buffers_is_touched() {
    let mut memory = Memory::new();
    let (mut calls, mut lengths) = (Tally::default(), 0);
    for (i, length) in long().enumerate() {
        let (text, aad) = (bytes(length, 2), bytes(AADS[i % AADS.len()], 3));
        // Every eighth nonce is none of twelve bytes.
        let (nonce, bytes) = (bytes(if i % 8 == 7 { 16 } else { 12 }, 4), bytes([16, 24, 32][i % 3], 1));
        let mut sealed = text.clone();
        let tag = support::key(&bytes, Backend::Portable).seal(Nonce::any(&nonce).unwrap(), &aad, &mut sealed).unwrap();
        for backend in backends() {
            let key = support::key(&bytes, backend);
            for side in SIDES {
                calls.add(&key, memory.message(side, &key, [&nonce, &aad, &text, &sealed], tag));
            }
        }
        lengths += 1;
    }
    assert_eq!(lengths, 2000usize.div_ceil(step().max(sample())) + sizes() * 19);
    calls.passed("guard_pages::f07_long", lengths * SIDES.len() * 6);
}

/// Every verb of the table, with key, nonce, AAD, what is read, what is written and the tag between guards of their own.
#[test]
fn f07_nothing_beside_the_buffers_of_any_verb_is_touched() {
    let lengths = || (0..=300).chain([511, 513, 1100, 2600]).step_by(if suite::emulated() { 21 } else { step() });
    let (mut memory, mut calls) = (Memory::new(), Tally::default());
    let mut all: Vec<Keys> = backends().into_iter().map(Keys::new).collect();
    let (mut portable, mut heap) = (Keys::new(Backend::Portable), vec![0; verbs::heap(2600)]);
    for verb in verbs::table() {
        for (i, length) in lengths().enumerate() {
            let (key, nonce) = verb.key_and_nonce([16, 24, 32][i % 3], [12, 12, 16, 1][i % 4]);
            let parts = [bytes(key, 1), bytes(nonce, 4), bytes(AADS[i % AADS.len()], 3), bytes(verb.text(length), 2)];
            let message = Message::sealed_by(&mut portable, verb, parts.each_ref().map(|part| &part[..]));
            let mut forged = message.clone();
            forged.flip(8 * (i % verb.tag));
            for keys in all.iter_mut().filter(|keys| verb.runs_on(keys.key.backend())) {
                keys.set(verb, &message.key);
                for (side, right) in
                    SIDES.into_iter().flat_map(|side| [(side, true), (side, false)]).filter(|(_, right)| *right || verb.opens())
                {
                    let message = if right { &message } else { &forged };
                    let (from, to) = verb.input(message);
                    let mut job = Job {
                        keys,
                        key_bytes: memory.key.put(side, &message.key),
                        nonce: memory.nonce.put(side, &message.nonce),
                        aad: memory.aad.put(side, &message.aad),
                        from: memory.from.put(side, &from),
                        to: memory.to.put(side, &to),
                        tag: memory.tag.put_tag(side, message.tag),
                        commitment: memory.commitment.put(side, &message.commitment),
                        heap: &mut heap,
                    };
                    if right {
                        verb.check(&mut job, message)
                    } else {
                        verb.refuse(&mut job, message)
                    }
                    calls.add(&keys.key, 1);
                }
            }
        }
    }
    let each = |backend| verbs::table().iter().filter(move |verb| verb.runs_on(backend)).map(|verb| if verb.opens() { 4 } else { 2 });
    calls.passed_by("guard_pages::f07_every_verb", |backend| each(backend).sum::<usize>() * lengths().count());
}

/// A nonce of each length, up to more than a turn of the widest back end.
#[test]
fn f07_nonces_of_every_length() {
    let mut memory = Memory::new();
    let mut calls = Tally::default();
    for backend in backends() {
        let key = support::key(&bytes(16, 1), backend);
        for length in 1..=LENGTHS.last().unwrap() {
            let nonce = bytes(length, 6);
            let expected = key.seal(Nonce::any(&nonce).unwrap(), b"", &mut []).unwrap();
            for side in SIDES {
                let found = key.seal(Nonce::any(memory.nonce.put(side, &nonce)).unwrap(), b"", &mut []).unwrap();
                assert_eq!(found.0, expected.0);
                calls.add(&key, 1);
            }
        }
    }
    calls.passed("guard_pages::f07_nonces", 1100 * 2);
}

/// F7, F12: each piece of a message, and each chunk of a list, is between guards of its own.
#[test]
fn f07_f12_nothing_beside_pieces_is_touched() {
    const MIDDLE: [usize; 14] = [0, 1, 5, 15, 16, 17, 48, 100, 255, 257, 512, 600, 1100, 3700];
    const LAST: [usize; 4] = [0, 7, 16, 30];
    let mut memory = Pieces::new();
    let mut calls = Tally::default();
    for backend in backends() {
        for side in SIDES {
            for first in (0..=33).step_by(step()) {
                for (middle, last) in MIDDLE.into_iter().flat_map(|middle| LAST.map(|last| (middle, last))) {
                    let key = support::key(&bytes([16, 24, 32][first % 3], 1), backend);
                    // Every third nonce is none of twelve bytes.
                    let nonce = bytes(if first % 3 == 2 { 16 } else { 12 }, 4);
                    let aad = [bytes(last, 5), bytes((first + middle) % 300, 6)];
                    let text = [bytes(first, 7), bytes(middle, 8), bytes(last, 9)];
                    calls.add(&key, memory.message(side, &key, Nonce::any(&nonce).unwrap(), &aad, &text));
                }
            }
        }
    }
    let messages = SIDES.len() * 34usize.div_ceil(step()) * MIDDLE.len() * LAST.len();
    calls.passed("guard_pages::f07_f12_pieces", messages * if cfg!(feature = "hazmat") { 12 } else { 10 });
}

/// Places for pieces.
struct Pieces {
    aad: [Guarded; 2],
    from: [Guarded; 3],
    to: [Guarded; 3],
    all: Guarded,
}

impl Pieces {
    fn new() -> Self {
        let of = || Guarded::new(8192);
        Self { aad: [of(), of()], from: [of(), of(), of()], to: [of(), of(), of()], all: of() }
    }

    /// One message in pieces and in lists, in place and copied, sealed and opened. Returns the number of calls.
    fn message(&mut self, side: Side, key: &Key, nonce: Nonce<'_>, aad: &[Vec<u8>; 2], text: &[Vec<u8>; 3]) -> usize {
        let what = || format!("{side:?}, {key:?}, AAD {:?}, text {:?}", aad.each_ref().map(Vec::len), text.each_ref().map(Vec::len));
        let mut sealed = text.concat();
        let tag = key.seal(nonce, &aad.concat(), &mut sealed).unwrap();
        let (one, rest) = sealed.split_at(text[0].len());
        let (two, three) = rest.split_at(text[1].len());
        let ciphertext = [one, two, three];

        let Self { aad: [aad0, aad1], from, to, all } = self;
        let aad: [&[u8]; 2] = [aad0.put(side, &aad[0]), aad1.put(side, &aad[1])];
        let [from0, from1, from2] = from;
        let mut from = [from0.put(side, &text[0]), from1.put(side, &text[1]), from2.put(side, &text[2])];
        let [to0, to1, to2] = to;
        let mut to = [to0.put(side, &text[0]), to1.put(side, &text[1]), to2.put(side, &text[2])];
        let all = all.put(side, &sealed);
        all.fill(0);

        // To be sealed, in `from`.
        for copying in [false, true] {
            let mut sealer = key.sealer(nonce);
            aad.iter().for_each(|piece| sealer.aad(piece).unwrap());
            let mut sealer = sealer.text();
            for (from, to) in from.iter().zip(&mut to) {
                if copying { sealer.seal_to(from, to) } else { sealer.seal(to) }.unwrap();
            }
            assert!(sealer.finish().0 == tag.0 && to.each_ref().map(|piece| &**piece) == ciphertext, "{}", what());
        }
        let mut mac = key.gmac(nonce);
        aad.iter().for_each(|piece| mac.update(piece).unwrap());
        assert_eq!(mac.finish().0, key.seal(nonce, &aad.concat(), &mut []).unwrap().0, "{}", what());

        let [from0, from1, from2] = &from;
        let found = key.seal_gathered(nonce, &aad, &[from0, from1], from2, all).unwrap();
        assert!(found.0 == tag.0 && *all == sealed, "{}", what());
        to.iter_mut().for_each(|piece| piece.fill(0));
        let found = key.seal_scattered(nonce, &aad, &[from0, from1], from2, &mut to).unwrap();
        assert!(found.0 == tag.0 && to.each_ref().map(|piece| &**piece) == ciphertext, "{}", what());
        let found = key.seal_chunks(nonce, &aad, &mut from).unwrap();
        assert!(found.0 == tag.0 && from.each_ref().map(|piece| &**piece) == ciphertext, "{}", what());

        // To be opened, in `from`.
        let chunks = from.each_ref().map(|piece| &**piece);
        key.open_gathered(nonce, &aad, &chunks, all, &tag).unwrap();
        assert!(*all == text.concat(), "{}", what());
        all.fill(0);
        key.open_gathered_verified_first(nonce, &aad, &chunks, all, &tag).unwrap();
        assert!(*all == text.concat(), "{}", what());
        key.open_scattered(nonce, &aad, &chunks, &mut to, &tag).unwrap();
        assert!(to.each_ref().map(|piece| &**piece) == text.each_ref().map(|piece| &piece[..]), "{}", what());
        #[cfg(feature = "hazmat")]
        for copying in [true, false] {
            use fastgcm::hazmat::UnverifiedOpener;
            let mut opener = UnverifiedOpener::new(key, nonce);
            aad.iter().for_each(|piece| opener.aad(piece).unwrap());
            let mut opener = opener.text();
            for (from, to) in from.iter_mut().zip(&mut to) {
                if copying {
                    opener.open_to(from, to).unwrap();
                } else {
                    to.copy_from_slice(from);
                    opener.open(to).unwrap();
                }
            }
            opener.verify(&tag).unwrap();
            assert!(to.each_ref().map(|piece| &**piece) == text.each_ref().map(|piece| &piece[..]), "{}", what());
        }
        key.open_chunks(nonce, &aad, &mut from, &tag).unwrap();
        assert!(from.each_ref().map(|piece| &**piece) == text.each_ref().map(|piece| &piece[..]), "{}", what());
        let mut forged = tag;
        forged.0[15] ^= 1;
        assert_eq!(key.open_chunks(nonce, &aad, &mut from, &forged), Err(Error::Unauthentic));
        assert!(from.iter().all(|piece| piece.iter().all(|byte| *byte == 0)), "{}", what());
        if cfg!(feature = "hazmat") { 12 } else { 10 }
    }
}

/// Everything that a call is given, each between guards of its own.
struct Memory {
    key: Guarded,
    nonce: Guarded,
    aad: Guarded,
    from: Guarded,
    to: Guarded,
    tag: Guarded,
    commitment: Guarded,
}

impl Memory {
    fn new() -> Self {
        let [key, nonce, aad, from, to, tag, commitment] = std::array::from_fn(|_| Guarded::new(LONGEST));
        Self { key, nonce, aad, from, to, tag, commitment }
    }

    /// One message in place and copied, sealed and opened and refused. Returns the number of calls.
    fn message(&mut self, side: Side, key: &Key, [nonce, aad, text, sealed]: [&[u8]; 4], tag: Tag) -> usize {
        let what = || format!("{side:?}, {key:?}, nonce {}, AAD {}, text {}", nonce.len(), aad.len(), text.len());
        let nonce = Nonce::any(self.nonce.put(side, nonce)).unwrap();
        let aad = &*self.aad.put(side, aad);
        let tag = self.tag.put_tag(side, tag);

        let buffer = self.to.put(side, text);
        let found = key.seal(nonce, aad, buffer).unwrap();
        assert_eq!((&*buffer, found.0), (sealed, tag.0), "{}", what());
        key.open_verified_first(nonce, aad, buffer, tag).unwrap();
        assert_eq!(buffer, text, "{}", what());
        buffer.copy_from_slice(sealed);
        key.open(nonce, aad, buffer, tag).unwrap();
        assert_eq!(buffer, text, "{}", what());

        let from = self.from.put(side, text);
        let found = key.seal_detached_to(nonce, aad, from, buffer).unwrap();
        assert_eq!((&*buffer, found.0), (sealed, tag.0), "{}", what());
        from.copy_from_slice(sealed);
        key.open_detached_to(nonce, aad, from, buffer, tag).unwrap();
        assert_eq!(buffer, text, "{}", what());
        tag.0[0] ^= 1;
        assert_eq!(key.open_detached_to(nonce, aad, from, buffer, tag), Err(Error::Unauthentic));
        assert!(buffer.iter().all(|&byte| byte == 0), "{}", what());
        6
    }
}

/// The control: the guards do kill. Each sin is committed by a process of its own, a fork of this one (which runs also where an emulator
/// runs this program, and could not start it anew).
#[test]
fn f07_one_byte_beside_is_death() {
    let mut deaths = 0;
    for (sin, dies) in [("read below", true), ("read above", true), ("write below", true), ("write above", true), ("none", false)] {
        let mut status = 0;
        // SAFETY: the child touches its own memory and leaves; it never returns into this test.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(i32::from(std::panic::catch_unwind(|| commit(sin)).is_err())),
                child => assert!(child > 0 && libc::waitpid(child, &mut status, 0) == child, "{sin}"),
            }
        }
        if dies {
            assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "{sin}: {status:#x}");
            deaths += 1;
        } else {
            assert_eq!(status, 0, "{sin}");
        }
    }
    assert_eq!(deaths, 4);
}

fn commit(sin: &str) {
    let mut memory = Guarded::new(LONGEST);
    let low = memory.put(Side::Low, &[1; 16]).as_mut_ptr();
    let high = memory.put(Side::High, &[1; 16]).as_mut_ptr();
    // SAFETY: none. The first and the last byte of the buffer are ours, the bytes beside them are not: the process is to die of it.
    unsafe {
        assert_eq!(low.read_volatile() + high.wrapping_add(15).read_volatile(), 2);
        match sin {
            "read below" => _ = low.wrapping_sub(1).read_volatile(),
            "read above" => _ = high.wrapping_add(16).read_volatile(),
            "write below" => low.wrapping_sub(1).write_volatile(1),
            "write above" => high.wrapping_add(16).write_volatile(1),
            _ => {}
        }
    }
}

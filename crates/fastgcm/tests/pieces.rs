//! F12: wrong at the seams. However a message is cut in pieces, it is the message: as `seal` makes it in one call, and as `open` opens it.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;
#[path = "support/wrap.rs"]
mod wrap;

use backends::{Tally, backends, key};
#[cfg(feature = "hazmat")]
use fastgcm::hazmat::UnverifiedOpener;
use fastgcm::{Backend, Error, Key, Nonce, Tag};
use fastgcm_model::Model;
use suite::{Random, full, passed, quick};
use wrap::Nonces;

/// How a message is cut: bytes of each piece.
#[derive(Clone, Debug)]
struct Cuts {
    aad: Vec<usize>,
    text: Vec<usize>,
}

/// A message, and what it is in one call.
struct Message {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Tag,
}

impl Message {
    /// With random bytes of these lengths.
    fn new(key: &Key, random: &mut Random, nonce: usize, aad: usize, text: usize) -> Self {
        let (nonce, aad, text) = (random.bytes(nonce), random.bytes(aad), random.bytes(text));
        let mut ciphertext = text.clone();
        let tag = key.seal(Nonce::any(&nonce).unwrap(), &aad, &mut ciphertext).unwrap();
        Self { nonce, aad, text, ciphertext, tag }
    }

    fn nonce(&self) -> Nonce<'_> {
        Nonce::any(&self.nonce).unwrap()
    }

    /// Seals it in pieces, in place or to another buffer, whose first byte lies `skip` behind a round address. Opens it likewise; returns how
    /// often that was done.
    fn check(&self, key: &Key, cuts: &Cuts, copying: bool, skip: usize) -> usize {
        let what = || format!("{key:?}, nonce of {} bytes, copying: {copying}, {cuts:?}", self.nonce.len());
        let (mut buffer, mut other) = (vec![UNWRITTEN; skip + self.text.len()], self.text.clone());
        let text = if copying { &mut buffer[skip..] } else { &mut other[..] };
        assert_eq!(self.seal(key, cuts, copying, text).0, self.tag.0, "{}", what());
        assert!(text == self.ciphertext, "{}", what());
        if cfg!(feature = "hazmat") {
            text.fill(UNWRITTEN);
        }
        self.opened(key, cuts, copying, text, what)
    }

    /// In place what is in `text` is sealed, else the message's own text.
    fn seal(&self, key: &Key, cuts: &Cuts, copying: bool, text: &mut [u8]) -> Tag {
        let mut sealer = key.sealer(self.nonce());
        for piece in parts(&self.aad, &cuts.aad) {
            sealer.aad(piece).unwrap();
        }
        let mut sealer = sealer.text();
        for (from, to) in parts(&self.text, &cuts.text).zip(parts_mut(text, &cuts.text)) {
            if copying { sealer.seal_to(from, to) } else { sealer.seal(to) }.unwrap();
        }
        sealer.finish()
    }

    #[cfg(not(feature = "hazmat"))]
    fn opened(&self, _: &Key, _: &Cuts, _: bool, _: &mut [u8], _: impl Fn() -> String) -> usize {
        1
    }

    /// With the right tag, or with one that is not.
    #[cfg(feature = "hazmat")]
    fn opened(&self, key: &Key, cuts: &Cuts, copying: bool, text: &mut [u8], what: impl Fn() -> String) -> usize {
        let (mut tag, bit) = (self.tag, cuts.text.iter().chain(&cuts.aad).take(2).sum::<usize>() * 83 % 256);
        if bit < 128 {
            tag.0[bit / 8] ^= 1 << (bit % 8);
        }
        if !copying {
            text.copy_from_slice(&self.ciphertext);
        }
        let mut opener = UnverifiedOpener::new(key, self.nonce());
        for piece in parts(&self.aad, &cuts.aad) {
            opener.aad(piece).unwrap();
        }
        let mut opener = opener.text();
        for (from, to) in parts(&self.ciphertext, &cuts.text).zip(parts_mut(text, &cuts.text)) {
            if copying { opener.open_to(from, to) } else { opener.open(to) }.unwrap();
        }
        assert_eq!(opener.verify(&tag), if bit < 128 { Err(Error::Unauthentic) } else { Ok(()) }, "{}", what());
        assert!(text == self.text, "{}", what());
        2
    }
}

/// What [`Message::check`] does.
const CALLS: usize = if cfg!(feature = "hazmat") { 2 } else { 1 };

/// What buffers hold before they are written.
const UNWRITTEN: u8 = 0xa5;

fn parts<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> impl Iterator<Item = &'a [u8]> {
    assert_eq!(lengths.iter().sum::<usize>(), bytes.len(), "nothing is left out");
    lengths.iter().map(move |&n| bytes.split_off(..n).unwrap())
}

fn parts_mut<'a>(mut bytes: &'a mut [u8], lengths: &[usize]) -> impl Iterator<Item = &'a mut [u8]> {
    assert_eq!(lengths.iter().sum::<usize>(), bytes.len(), "nothing is left out");
    lengths.iter().map(move |&n| bytes.split_off_mut(..n).unwrap())
}

/// Three pieces, in every way; any of them may be empty.
fn in_three(n: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..=n).flat_map(move |a| (a..=n).map(move |b| [a, b - a, n - b]))
}

/// How many ways these are.
fn ways(n: usize) -> usize {
    (n + 1) * (n + 2) / 2
}

/// Pieces of any lengths: none, bytes, blocks, turns, around where a piece is long enough for the loop of long messages, and longer.
fn at_random(random: &mut Random, length: usize) -> Vec<usize> {
    let (mut pieces, mut left) = (vec![], length);
    while left > 0 {
        let n = match random.below(8) {
            0 => 0,
            1 | 2 => random.below(20),
            3 => 16 * random.below(40),
            4 => random.below(700),
            5 => 5120 - 40 + random.below(80),
            6 => random.below(6000),
            _ => random.below(50_000),
        };
        pieces.push(n.min(left));
        left -= n.min(left);
    }
    pieces
}

/// A key of each length.
fn three_keys(backend: Backend) -> [Key; 3] {
    [16, 24, 32].map(|length| key(&Random(length).bytes(length as usize), backend))
}

/// Bytes between two lengths that are tried: rows without AES instructions take long.
fn step(backend: Backend) -> usize {
    match backend {
        _ if quick() => 23,
        Backend::Portable | Backend::VpaesSsse3 | Backend::VpaesNeon | Backend::VpaesSimd128 => 9,
        _ if full() => 1,
        _ => 3,
    }
}

#[test]
fn f12_every_two_cuts_of_a_text() {
    const LONGEST: usize = 160;
    let mut calls = Tally::default();
    for backend in backends() {
        let keys = three_keys(backend);
        for length in (0..=LONGEST).step_by(step(backend)) {
            let (key, mut random) = (&keys[length % 3], Random(length as u64));
            let aad = [0, 13, 16, 20, 33][length % 5];
            // A nonce of twelve bytes, and one whose counter is secret.
            let messages = [12, 16].map(|nonce| Message::new(key, &mut random, nonce, aad, length));
            for (i, text) in in_three(length).enumerate() {
                let cuts = Cuts { aad: vec![aad], text: text.to_vec() };
                calls.add(key, messages[usize::from(i % 4 == 3)].check(key, &cuts, i % 3 == 1, i % 16));
            }
        }
    }
    let expected = |backend| (0..=LONGEST).step_by(step(backend)).map(ways).sum::<usize>() * CALLS;
    calls.passed_by("pieces::f12_every_two_cuts_of_a_text", expected);
}

/// And GMAC, which is a message of AAD alone.
#[test]
fn f12_every_two_cuts_of_aad() {
    const LONGEST: usize = 50;
    let step = if quick() { 7 } else { 1 };
    let (mut calls, mut macs) = (Tally::default(), Tally::default());
    for backend in backends() {
        let keys = three_keys(backend);
        for length in (0..=LONGEST).step_by(step) {
            let (key, mut random) = (&keys[length % 3], Random(length as u64));
            let nonce = if length % 4 == 3 { 16 } else { 12 };
            let messages = [0, 5, 16, 40].map(|text| Message::new(key, &mut random, nonce, length, text));
            for (i, aad) in in_three(length).enumerate() {
                let message = &messages[i % 4];
                let cuts = Cuts { aad: aad.to_vec(), text: vec![message.text.len()] };
                calls.add(key, message.check(key, &cuts, false, 0));

                let message = &messages[0];
                let begun = || {
                    let mut mac = key.gmac(message.nonce());
                    parts(&message.aad, &aad).for_each(|piece| mac.update(piece).unwrap());
                    mac
                };
                assert_eq!(begun().finish().0, message.tag.0, "{key:?}, {aad:?}");
                assert_eq!(begun().verify(&message.tag), Ok(()));
                let mut forged = message.tag;
                forged.0[i % 16] ^= 0x10;
                assert_eq!(begun().verify(&forged), Err(Error::Unauthentic));
                assert_eq!(begun().verify(&forged.truncate::<12>()).is_ok(), i % 16 >= 12);
                macs.add(key, 4);
            }
        }
    }
    let all = (0..=LONGEST).step_by(step).map(ways).sum::<usize>();
    calls.passed("pieces::f12_every_two_cuts_of_aad", all * CALLS);
    macs.passed("pieces::f12_gmac", all * 4);
}

/// Pieces of one byte and of none; no pieces at all.
#[test]
fn f12_pieces_of_one_byte_and_of_none() {
    let mut calls = Tally::default();
    for backend in backends() {
        for (i, key) in three_keys(backend).iter().enumerate() {
            for (aad, text) in [(0, 0), (37, 0), (0, 50), (37, 50), (32, 32)] {
                let message = Message::new(key, &mut Random(9), [12, 16, 8][i], aad, text);
                let single = |n: usize| (0..2 * n).map(|i| i % 2).collect::<Vec<_>>();
                for none in [vec![], vec![0], vec![0, 0, 0]] {
                    let around = |pieces: Vec<usize>| [&none[..], &pieces, &none].concat();
                    let cuts = Cuts { aad: around(single(aad)), text: around(single(text)) };
                    calls.add(key, message.check(key, &cuts, false, 0) + message.check(key, &cuts, true, 3));
                }
            }
        }
    }
    calls.passed("pieces::f12_pieces_of_one_byte_and_of_none", 3 * 5 * 3 * 2 * CALLS);
}

/// A piece that is long enough for the loop of long messages begins at every byte of two turns of the widest vectors, and may leave any rest.
#[test]
fn f12_long_pieces_from_anywhere() {
    const TEXT: usize = 7200;
    let step = if quick() { 61 } else { 3 };
    let mut calls = Tally::default();
    for backend in backends() {
        let keys = three_keys(backend);
        let messages = [0, 1, 2].map(|i| Message::new(&keys[i], &mut Random(i as u64), 12, [13, 0, 16][i], TEXT));
        for first in (0..=1100).step_by(step) {
            let message = &messages[first % 3];
            for second in [5119, 5120, 5121, 5200 + first % 600, TEXT - 1100] {
                let cuts = Cuts { aad: vec![message.aad.len()], text: vec![first, second, TEXT - first - second] };
                calls.add(&keys[first % 3], message.check(&keys[first % 3], &cuts, second % 2 == 1, first % 64));
            }
        }
    }
    calls.passed("pieces::f12_long_pieces_from_anywhere", 1101usize.div_ceil(step) * 5 * CALLS);
}

/// Whole turns behind whole turns, of which the last one waits to be hashed beside the next; and whatever else comes behind it.
#[test]
fn f12_whole_turns_behind_each_other() {
    let count = if quick() { 40 } else { 400 };
    let mut calls = Tally::default();
    for backend in backends() {
        let keys = three_keys(backend);
        for i in 0..count {
            let (mut random, key) = (Random(i as u64), &keys[i % 3]);
            // Turns of vectors of one, two and four blocks; long pieces; and seldom what is no turn.
            let mut length = || match random.below(12) {
                0 => [0, 16, 48, 7][random.below(4)],
                1 => 5120 + 512 * random.below(2),
                2 => 512 + 16 * random.below(32),
                n => [128, 256, 512, 512, 512][n % 5] * (1 + random.below(4)),
            };
            let text: Vec<usize> = (0..2 + i % 7).map(|_| length()).collect();
            let message = Message::new(key, &mut random, 12, 13, text.iter().sum());
            calls.add(key, message.check(key, &Cuts { aad: vec![13], text }, i % 2 == 1, i % 64));
        }
    }
    calls.passed("pieces::f12_whole_turns_behind_each_other", count * CALLS);
}

#[test]
fn f12_pieces_at_random() {
    let count = if quick() { 12 } else { 150 };
    let mut calls = Tally::default();
    for backend in backends() {
        let keys = three_keys(backend);
        for i in 0..count {
            let mut random = Random(1000 + i as u64);
            let key = &keys[i % 3];
            let nonce = [12, 12, 12, 8, 16, 60, 1][i % 7];
            let (aad, text) = ([0, 1, 13, 20, 64, 100, 700, 3000][random.below(8)], random.below([2000, 20_000, 150_000][i % 3]));
            let message = Message::new(key, &mut random, nonce, aad, text);
            let cuts = Cuts { aad: at_random(&mut random, aad), text: at_random(&mut random, text) };
            calls.add(key, message.check(key, &cuts, i % 2 == 1, random.below(64)));
        }
    }
    calls.passed("pieces::f12_pieces_at_random", count * CALLS);
}

/// F4, F12: the counter wraps modulo 2^32 inside a piece and between two.
#[test]
fn f04_f12_counter_wraps_in_pieces() {
    let bytes = Random(4).bytes(32);
    let model = Model::new(&bytes);
    let nonces = Nonces::of(&model);
    let keys: Vec<Key> = backends().into_iter().map(|backend| key(&bytes, backend)).collect();
    let step = if quick() { 13 } else { 1 };
    let (mut calls, mut expected) = (Tally::default(), 0);
    for k in (0..=260u32).step_by(step) {
        let mut random = Random(u64::from(k));
        let mut j0: [u8; 16] = random.bytes(16).try_into().unwrap();
        j0[12..].copy_from_slice(&(u32::MAX - k).to_be_bytes());
        let (nonce, aad, text) = (nonces.leading_to(&j0).to_vec(), random.bytes(21), random.bytes(16 * 280 + 5));
        let (ciphertext, tag) = model.seal_from_j0(&j0, &aad, &text);
        let message = Message { nonce, aad, text, ciphertext, tag: Tag(tag) };
        // Cut around the block that wraps; one piece; anyhow.
        let (length, wrap) = (message.text.len(), 16 * k as usize);
        let ways = [vec![wrap, length - wrap], vec![wrap + 7, length - wrap - 7], vec![length], at_random(&mut random, length)];
        for text in ways {
            let cuts = Cuts { aad: vec![20, 1], text };
            keys.iter().for_each(|key| calls.add(key, message.check(key, &cuts, k % 2 == 1, 0)));
            expected += CALLS;
        }
    }
    calls.passed("pieces::f04_f12_counter_wraps_in_pieces", expected);
}

/// A piece that does not fit in its other buffer changes nothing: the message goes on as if it had not been.
#[test]
fn f12_pieces_of_wrong_lengths() {
    let mut calls = Tally::default();
    for backend in backends() {
        let key = &three_keys(backend)[2];
        let message = Message::new(key, &mut Random(5), 12, 20, 100);
        for first in [0, 5, 16, 37] {
            for (read, written) in [(0, 1), (1, 0), (16, 15), (15, 16), (63, 40)] {
                let mut buffer = vec![UNWRITTEN; 100];
                let mut sealer = key.sealer(message.nonce());
                sealer.aad(&message.aad).unwrap();
                let mut sealer = sealer.text();
                sealer.seal_to(&message.text[..first], &mut buffer[..first]).unwrap();
                let refused = sealer.seal_to(&message.text[first..][..read], &mut buffer[first..][..written]);
                assert_eq!(refused, Err(Error::InvalidLength));
                assert!(buffer[first..].iter().all(|byte| *byte == UNWRITTEN));
                sealer.seal_to(&message.text[first..], &mut buffer[first..]).unwrap();
                assert_eq!((sealer.finish().0, &buffer), (message.tag.0, &message.ciphertext));
                calls.add(key, 1);
                #[cfg(feature = "hazmat")]
                {
                    let mut opener = UnverifiedOpener::new(key, message.nonce());
                    opener.aad(&message.aad).unwrap();
                    let mut opener = opener.text();
                    buffer.fill(UNWRITTEN);
                    opener.open_to(&message.ciphertext[..first], &mut buffer[..first]).unwrap();
                    let refused = opener.open_to(&message.ciphertext[first..][..read], &mut buffer[first..][..written]);
                    assert_eq!(refused, Err(Error::InvalidLength));
                    assert!(buffer[first..].iter().all(|byte| *byte == UNWRITTEN));
                    opener.open_to(&message.ciphertext[first..], &mut buffer[first..]).unwrap();
                    assert_eq!((opener.verify(&message.tag), &buffer), (Ok(()), &message.text));
                    calls.add(key, 1);
                }
            }
        }
    }
    calls.passed("pieces::f12_pieces_of_wrong_lengths", 20 * if cfg!(feature = "hazmat") { 2 } else { 1 });
}

/// Nothing of key or message is shown.
#[test]
fn debug() {
    let key = Key::aes128(&[7; 16]);
    let inner = format!("{key:?}");
    #[cfg_attr(not(feature = "hazmat"), allow(unused_mut))]
    let mut shown = vec![
        ("Sealer", format!("{:?}", key.sealer([1; 12]))),
        ("Sealer", format!("{:?}", key.sealer([1; 12]).text())),
        ("Gmac", format!("{:?}", key.gmac([1; 12]))),
    ];
    #[cfg(feature = "hazmat")]
    {
        shown.push(("UnverifiedOpener", format!("{:?}", UnverifiedOpener::new(&key, [1; 12]))));
        shown.push(("UnverifiedOpener", format!("{:?}", UnverifiedOpener::new(&key, [1; 12]).text())));
    }
    for (name, text) in &shown {
        assert_eq!(*text, format!("{name}({inner})"));
    }
    passed("pieces::debug", shown.len(), if cfg!(feature = "hazmat") { 5 } else { 3 });
}

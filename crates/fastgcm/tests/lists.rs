//! F12: messages whose AAD and text lie in several buffers are those that `seal` makes of one buffer; and what becomes of each of them.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{Backend, Error, Key, Nonce, Tag};
use suite::{Random, quick};

/// What buffers hold before they are written.
const UNWRITTEN: u8 = 0xa5;

/// A message in one piece each, and how it is cut.
struct Message {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    /// The last bytes of the text, which come apart where it is sealed.
    extra: usize,
    sealed: Vec<u8>,
    tag: Tag,
    /// Bytes of each chunk: of AAD, of what is read, and of what is written.
    aads: Vec<usize>,
    from: Vec<usize>,
    to: Vec<usize>,
}

impl Message {
    fn new(key: &Key, random: &mut Random, nonce: usize, aad: usize, text: usize) -> Self {
        let (nonce, aad, text) = (random.bytes(nonce), random.bytes(aad), random.bytes(text));
        let mut sealed = text.clone();
        let tag = key.seal(Nonce::any(&nonce).unwrap(), &aad, &mut sealed).unwrap();
        let extra = [0, 1, 2, 600][random.below(4)].min(text.len());
        let (aads, from, to) = (chunks(random, aad.len()), chunks(random, text.len() - extra), chunks(random, text.len()));
        Self { nonce, aad, text, extra, sealed, tag, aads, from, to }
    }

    fn nonce(&self) -> Nonce<'_> {
        Nonce::any(&self.nonce).unwrap()
    }

    fn aad(&self) -> Vec<&[u8]> {
        cut(&self.aad, &self.aads)
    }

    /// Of the ciphertext, which has no extra bytes.
    fn sealed<'a>(&self, sealed: &'a [u8]) -> Vec<&'a [u8]> {
        cut(sealed, &[&self.from[..], &[self.extra]].concat())
    }

    fn what(&self, key: &Key) -> String {
        format!("{key:?}, nonce of {} bytes, AAD {:?}, {:?} and {} to {:?}", self.nonce.len(), self.aads, self.from, self.extra, self.to)
    }

    /// Seals it, in each of three ways.
    fn seal(&self, key: &Key) -> usize {
        let (text, extra) = self.text.split_at(self.text.len() - self.extra);
        let (aad, text) = (self.aad(), cut(text, &self.from));

        let mut all = vec![UNWRITTEN; self.sealed.len()];
        let tag = key.seal_gathered(self.nonce(), &aad, &text, extra, &mut all).unwrap();
        assert!(all == self.sealed && tag.0 == self.tag.0, "seal_gathered, {}", self.what(key));

        let mut all = vec![UNWRITTEN; self.sealed.len()];
        let tag = key.seal_scattered(self.nonce(), &aad, &text, extra, &mut cut_mut(&mut all, &self.to)).unwrap();
        assert!(all == self.sealed && tag.0 == self.tag.0, "seal_scattered, {}", self.what(key));

        let mut all = self.text.clone();
        let tag = key.seal_chunks(self.nonce(), &aad, &mut cut_mut(&mut all, &self.to)).unwrap();
        assert!(all == self.sealed && tag.0 == self.tag.0, "seal_chunks, {}", self.what(key));
        3
    }

    /// Opens it in each of four ways. A message that is refused leaves zeros, or nothing written if it was verified first.
    fn open(&self, key: &Key, sealed: &[u8], aad: &[&[u8]], tag: &Tag, verdict: Result<(), Error>) -> usize {
        let chunks = self.sealed(sealed);
        let left = |otherwise: u8| if verdict.is_ok() { self.text.clone() } else { vec![otherwise; self.text.len()] };

        let mut all = vec![UNWRITTEN; self.text.len()];
        assert_eq!(key.open_gathered(self.nonce(), aad, &chunks, &mut all, tag), verdict, "open_gathered, {}", self.what(key));
        assert!(all == left(0), "open_gathered, {}", self.what(key));

        let mut all = vec![UNWRITTEN; self.text.len()];
        let found = key.open_scattered(self.nonce(), aad, &chunks, &mut cut_mut(&mut all, &self.to), tag);
        assert_eq!(found, verdict, "open_scattered, {}", self.what(key));
        assert!(all == left(0), "open_scattered, {}", self.what(key));

        let mut all = sealed.to_vec();
        let found = key.open_chunks(self.nonce(), aad, &mut cut_mut(&mut all, &self.to), tag);
        assert_eq!(found, verdict, "open_chunks, {}", self.what(key));
        assert!(all == left(0), "open_chunks, {}", self.what(key));

        let mut all = vec![UNWRITTEN; self.text.len()];
        let found = key.open_gathered_verified_first(self.nonce(), aad, &chunks, &mut all, tag);
        assert_eq!(found, verdict, "open_gathered_verified_first, {}", self.what(key));
        assert!(all == left(UNWRITTEN), "open_gathered_verified_first, {}", self.what(key));
        4
    }
}

/// Chunks of any lengths, of which some are empty: one, few, or many.
fn chunks(random: &mut Random, length: usize) -> Vec<usize> {
    let most = [length, 1 + length / 3, 3000, 40][random.below(4)].max(1);
    let (mut chunks, mut left) = (vec![], length);
    while left > 0 {
        let n = if random.below(5) == 0 { 0 } else { 1 + random.below(most) };
        chunks.push(n.min(left));
        left -= n.min(left);
    }
    if random.below(3) == 0 {
        chunks.push(0);
    }
    chunks
}

fn cut<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let chunks = lengths.iter().map(|&n| bytes.split_off(..n).unwrap()).collect();
    assert!(bytes.is_empty());
    chunks
}

fn cut_mut<'a>(mut bytes: &'a mut [u8], lengths: &[usize]) -> Vec<&'a mut [u8]> {
    let chunks = lengths.iter().map(|&n| bytes.split_off_mut(..n).unwrap()).collect();
    assert!(bytes.is_empty());
    chunks
}

/// A message of each of many sizes, its key of each length.
fn messages(backend: Backend, each: usize) -> impl Iterator<Item = (Key, Message, Random)> {
    // Around what is put together first: AAD of up to 128 bytes, text of up to 8 KiB.
    const AADS: [usize; 9] = [0, 1, 13, 32, 127, 128, 129, 200, 700];
    const TEXTS: [usize; 15] = [0, 1, 15, 16, 17, 100, 500, 1420, 4096, 8191, 8192, 8193, 12_288, 16_384, 40_000];
    TEXTS.iter().flat_map(move |&text| (0..each).map(move |i| (text, i))).map(move |(text, i)| {
        let mut random = Random((text * 100 + i) as u64);
        let key = key(&random.bytes([16, 24, 32][i % 3]), backend);
        let (nonce, aad) = ([12, 16, 12, 8][(text + i) % 4], AADS[(text + i) % AADS.len()]);
        let message = Message::new(&key, &mut random, nonce, aad, text);
        (key, message, random)
    })
}

/// Messages of each size.
fn each() -> usize {
    if quick() { 3 } else { 30 }
}

#[test]
fn f12_lists_are_one_message() {
    let mut calls = Tally::default();
    for backend in backends() {
        for (key, message, _) in messages(backend, each()) {
            calls.add(&key, message.seal(&key));
            calls.add(&key, message.open(&key, &message.sealed, &message.aad(), &message.tag, Ok(())));
        }
    }
    calls.passed("lists::f12_lists_are_one_message", 15 * each() * 7);
}

/// Lists that are long enough to ask for memory ahead, and one byte shorter: in few chunks, whose ends are anywhere in a turn.
#[test]
fn f12_very_long_lists() {
    const ASK: usize = 32 << 10; // `plan::PREFETCH_PAYS`
    let mut calls = Tally::default();
    for backend in backends() {
        for size in [ASK - 1, ASK, ASK + 5000] {
            let mut random = Random(size as u64);
            let key = key(&random.bytes([16, 24, 32][size % 3]), backend);
            // One chunk that is so long, behind one that is not, and before another.
            let mut message = Message::new(&key, &mut random, 12, 13, size + 107);
            (message.extra, message.to) = (0, vec![size + 107]);
            message.from = vec![100, size, 7];
            calls.add(&key, message.seal(&key));
            calls.add(&key, message.open(&key, &message.sealed, &message.aad(), &message.tag, Ok(())));
        }
    }
    calls.passed("lists::f12_very_long_lists", 7 * 3);
}

/// F1, F12: a bit of the tag is wrong, or of the ciphertext, or of AAD.
#[test]
fn f01_f12_no_plaintext_after_a_forged_list() {
    let mut calls = Tally::default();
    for backend in backends() {
        for (i, (key, message, mut random)) in messages(backend, each()).enumerate() {
            let (mut sealed, mut aad, mut tag) = (message.sealed.clone(), message.aad.clone(), message.tag);
            match i % 3 {
                0 if !sealed.is_empty() => sealed[random.below(message.text.len())] ^= 1 << (i % 8),
                1 if !aad.is_empty() => aad[random.below(message.aad.len())] ^= 1 << (i % 8),
                _ => tag.0[random.below(16)] ^= 1 << (i % 8),
            }
            calls.add(&key, message.open(&key, &sealed, &cut(&aad, &message.aads), &tag, Err(Error::Unauthentic)));
        }
    }
    calls.passed("lists::f01_f12_no_plaintext_after_a_forged_list", 15 * each() * 4);
}

/// What is written has a byte more than what is read, or a byte less, or none: nothing is written. That is so on every way, short and long, with AAD in
/// one piece and in many.
#[test]
fn f12_lists_of_wrong_lengths() {
    let mut calls = Tally::default();
    for backend in backends() {
        for (key, message, mut random) in messages(backend, 9) {
            let wrong = [message.text.len() + 1, message.text.len().wrapping_sub(1), 0, 2 * message.text.len() + 3];
            for length in wrong.into_iter().filter(|n| *n != message.text.len() && *n != usize::MAX) {
                let (text, extra) = message.text.split_at(message.text.len() - message.extra);
                let (aad, text, sealed) = (message.aad(), cut(text, &message.from), message.sealed(&message.sealed));
                let (nonce, tag, to) = (message.nonce(), &message.tag, &chunks(&mut random, length));
                let mut all = vec![UNWRITTEN; length];
                let found = [
                    key.seal_gathered(nonce, &aad, &text, extra, &mut all).err(),
                    key.seal_scattered(nonce, &aad, &text, extra, &mut cut_mut(&mut all, to)).err(),
                    key.open_gathered(nonce, &aad, &sealed, &mut all, tag).err(),
                    key.open_scattered(nonce, &aad, &sealed, &mut cut_mut(&mut all, to), tag).err(),
                    key.open_gathered_verified_first(nonce, &aad, &sealed, &mut all, tag).err(),
                ];
                assert_eq!(found, [Some(Error::InvalidLength); 5], "{length} bytes, {}", message.what(&key));
                assert!(all == vec![UNWRITTEN; length], "{length} bytes, {}", message.what(&key));
            }
            calls.add(&key, 5);
        }
    }
    calls.passed("lists::f12_lists_of_wrong_lengths", 15 * 9 * 5);
}

/// Lists without a chunk, and of empty chunks only.
#[test]
fn f12_empty_lists() {
    let mut calls = Tally::default();
    for backend in backends() {
        for nonce in [12, 16] {
            let key = key(&[7; 16], backend);
            let nonce = vec![3; nonce];
            let nonce = Nonce::any(&nonce).unwrap();
            let none: [&[u8]; 0] = [];
            let empty: [&[u8]; 3] = [&[], &[], &[]];
            let expected = key.seal(nonce, b"", &mut []).unwrap();
            for (aad, text) in [(&none[..], &none[..]), (&none, &empty), (&empty, &none), (&empty, &empty)] {
                let (mut one, mut two): ([&mut [u8]; 1], [&mut [u8]; 2]) = ([&mut []], [&mut [], &mut []]);
                let tags = [
                    key.seal_gathered(nonce, aad, text, b"", &mut []),
                    key.seal_scattered(nonce, aad, text, b"", &mut []),
                    key.seal_scattered(nonce, aad, text, b"", &mut two),
                    key.seal_chunks(nonce, aad, &mut []),
                    key.seal_chunks(nonce, aad, &mut one),
                ];
                tags.into_iter().for_each(|tag| assert_eq!(tag.unwrap().0, expected.0, "{key:?}"));
                for (tag, verdict) in [(expected, Ok(())), (Tag([0; 16]), Err(Error::Unauthentic))] {
                    assert_eq!(key.open_gathered(nonce, aad, text, &mut [], &tag), verdict);
                    assert_eq!(key.open_scattered(nonce, aad, text, &mut [], &tag), verdict);
                    assert_eq!(key.open_scattered(nonce, aad, text, &mut two, &tag), verdict);
                    assert_eq!(key.open_chunks(nonce, aad, &mut [], &tag), verdict);
                    assert_eq!(key.open_gathered_verified_first(nonce, aad, text, &mut [], &tag), verdict);
                }
                calls.add(&key, 15);
            }
        }
    }
    calls.passed("lists::f12_empty_lists", 2 * 4 * 15);
}

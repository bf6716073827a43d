//! AES-GCM as the work: whatever seals and opens becomes a contender, and proves first that its answers are those of the others.

use crate::{Case, Contender};
use std::{cell::RefCell, fmt, hint::black_box};

/// An implementation of AES-GCM: makes keys.
pub trait Implementation {
    /// What it makes.
    type Key: Key;

    /// Its name: the column of the table.
    fn name(&self) -> String;

    /// A key of 16, 24 or 32 bytes, ready for use; `None` if it has none of that length.
    fn key(&self, key: &[u8]) -> Option<Self::Key>;
}

/// A key of one of them.
pub trait Key {
    /// Encrypts in place, and returns the tag.
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16];

    /// Decrypts from one buffer to another of the same length, and says whether the tag was right.
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool;
}

/// What is done again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A key is made and dropped.
    Key,
    /// A key is made, seals one message, and is dropped: what a caller pays who keeps no keys.
    KeyAndSeal,
    /// One message is sealed, in place, with a key that is ready.
    Seal,
    /// One message is opened, from one buffer to another.
    Open,
}

/// Where the nonce comes from. It decides how much of a call can begin before the one before has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonceFrom {
    /// It has been in memory for long: calls overlap as far as the processor can.
    Prepared,
    /// Four bytes and eight bytes (a salt and a counter, as in TLS and IPsec) are stored just before each call. A load of all twelve must
    /// wait for both stores.
    Written,
    /// It depends on what the call before gave, the tag or the last byte of the text: calls cannot overlap, so this is latency.
    Dependent,
}

/// One case: what every contender does.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// What.
    pub verb: Verb,
    /// 128, 192 or 256.
    pub key_bits: usize,
    /// Bytes of text.
    pub bytes: usize,
    /// Bytes of AAD.
    pub aad: usize,
    /// Where the nonce comes from.
    pub nonce: NonceFrom,
}

impl Work {
    /// Its group and row in the table.
    pub fn case(&self) -> Case {
        let Self { key_bits, bytes, aad, .. } = self;
        let verb = match self.verb {
            Verb::Key => return Case::new("key set-up", format!("AES-{key_bits}")),
            Verb::KeyAndSeal => "key set-up and seal",
            Verb::Seal => "seal",
            Verb::Open => "open",
        };
        Case::of_bytes(format!("AES-{key_bits} {verb}, {}, {aad} bytes of AAD", self.nonce), *bytes as u64)
    }
}

impl fmt::Display for NonceFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prepared => "nonce prepared",
            Self::Written => "nonce written before each call",
            Self::Dependent => "nonce from the last output",
        })
    }
}

/// The buffers that all contenders share, so that none finds warmer caches than another. They begin at multiples of 64 bytes.
#[derive(Debug)]
pub struct Buffers {
    one: RefCell<Buffer>,
    two: RefCell<Buffer>,
    aad: Vec<u8>,
}

#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffers {
    /// For up to so many bytes of text and of AAD.
    pub fn new(bytes: usize, aad: usize) -> Self {
        let buffer = || {
            let bytes: Vec<u8> = (0..bytes + 63).map(|i| (i * 7) as u8).collect();
            let start = bytes.as_ptr().addr().wrapping_neg() % 64;
            RefCell::new(Buffer { bytes, start })
        };
        Self { one: buffer(), two: buffer(), aad: vec![0xad; aad] }
    }
}

impl Buffer {
    fn first(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes[self.start..][..len]
    }
}

/// An [`Implementation`] whose keys have any type: what a list of them holds.
pub trait AnyImplementation {
    /// Its name.
    fn name(&self) -> String;

    /// The contender for that work. `None` if it has no keys of that length.
    fn contender<'a>(&'a self, work: Work, buffers: &'a Buffers) -> Option<Contender<'a>>;

    /// Ciphertext with the tag behind it, after opening has given the text again and refused it with a bit of the tag changed.
    ///
    /// # Errors
    /// Says what went wrong. `Ok(None)` if it has no keys of that length.
    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String>;
}

/// All of them must give the same answers for keys of 16, 24 and 32 bytes and texts and AAD around every border, before any is timed.
/// Returns how many answers were compared.
///
/// # Errors
/// Names who differs from the first, or does not open what it sealed, and for which message.
pub fn check(implementations: &[&dyn AnyImplementation]) -> Result<usize, String> {
    let bytes: Vec<u8> = (0..5000u32).map(|i| (i * i / 8) as u8).collect();
    let mut compared = 0;
    for key in [16, 24, 32] {
        for len in (0..=80).chain([127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1420, 4095, 4096, 4097]) {
            for aad in [0, 13, 20, 64, 300] {
                let mut first: Option<(String, Vec<u8>)> = None;
                for implementation in implementations {
                    let name = implementation.name();
                    let nonce = [len as u8; 12];
                    let at = |what: &str| format!("{name}, AES-{}, {len} bytes, {aad} of AAD: {what}", key * 8);
                    let answer = implementation.answer(&bytes[100..][..key], &nonce, &bytes[7..][..aad], &bytes[..len]);
                    let Some(answer) = answer.map_err(|what| at(&what))? else { continue };
                    match &first {
                        Some((other, expected)) if *expected != answer => return Err(at(&format!("not the answer of {other}"))),
                        Some(_) => {}
                        None => first = Some((name, answer)),
                    }
                    compared += 1;
                }
            }
        }
    }
    Ok(compared)
}

impl<I: Implementation> AnyImplementation for I {
    fn name(&self) -> String {
        Implementation::name(self)
    }

    fn contender<'a>(&'a self, work: Work, buffers: &'a Buffers) -> Option<Contender<'a>> {
        let bytes = &KEY[..work.key_bits / 8];
        let mut key = self.key(bytes)?;
        let aad = &buffers.aad[..work.aad];
        let name = Implementation::name(self);
        Some(match work.verb {
            Verb::Key => Contender::new(name, move || self.key(black_box(bytes))),
            Verb::KeyAndSeal => Contender::looped(name, move |iterations| {
                let mut text = buffers.one.borrow_mut();
                let text = text.first(work.bytes);
                each(work, iterations, |nonce| self.key(black_box(bytes)).map_or(0, |mut key| part(key.seal(nonce, aad, text))));
            }),
            Verb::Seal => Contender::looped(name, move |iterations| {
                let mut text = buffers.one.borrow_mut();
                let text = text.first(work.bytes);
                each(work, iterations, |nonce| part(key.seal(nonce, aad, text)));
            }),
            Verb::Open => {
                // Every contender seals the same text to the same ciphertext.
                let tag = {
                    let mut text = buffers.one.borrow_mut();
                    let text = text.first(work.bytes);
                    text.fill(0x77);
                    key.seal(&NONCE, aad, text)
                };
                Contender::looped(name, move |iterations| {
                    let (mut sealed, mut text) = (buffers.one.borrow_mut(), buffers.two.borrow_mut());
                    let (sealed, text) = (sealed.first(work.bytes), text.first(work.bytes));
                    each(work, iterations, |nonce| {
                        assert!(key.open(nonce, aad, sealed, text, &tag), "an authentic message was refused");
                        black_box(&mut *text).last().copied().unwrap_or(0).into()
                    });
                })
            }
        })
    }

    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let Some(mut key) = self.key(key) else { return Ok(None) };
        let (mut sealed, mut opened) = (text.to_vec(), vec![0xff; text.len()]);
        let mut tag = key.seal(nonce, aad, &mut sealed);
        if !key.open(nonce, aad, &sealed, &mut opened, &tag) || opened != text {
            return Err("does not open what it sealed".into());
        }
        tag[text.len() % 16] ^= 0x40;
        if key.open(nonce, aad, &sealed, &mut opened, &tag) {
            return Err("opens with a wrong tag".into());
        }
        tag[text.len() % 16] ^= 0x40;
        sealed.extend(tag);
        Ok(Some(sealed))
    }
}

/// Calls so often, with nonces from where `work` wants them. What the call returns is what the next nonce may depend on.
///
/// To be opened, a message needs the nonce that it was sealed with: there, what changes is masked with a zero of which the compiler does not know.
#[inline(always)]
fn each(work: Work, iterations: u64, mut call: impl FnMut(&[u8; 12]) -> u64) {
    let mask = black_box(if work.verb == Verb::Open { 0 } else { u64::MAX });
    let (salt, counter) = (black_box(SALT), black_box(COUNTER));
    let (mut nonce, mut last) = (NONCE, 0);
    for iteration in 0..iterations {
        let number = match work.nonce {
            NonceFrom::Prepared => None,
            NonceFrom::Written => Some(iteration),
            NonceFrom::Dependent => Some(last),
        };
        if let Some(number) = number {
            nonce[..4].copy_from_slice(&salt.to_be_bytes());
            nonce[4..].copy_from_slice(&(counter ^ number & mask).to_be_bytes());
        }
        last = call(black_box(&nonce));
    }
    black_box(last);
}

/// Half of the tag, after all of it has been used, as far as the compiler can tell.
#[inline(always)]
fn part(tag: [u8; 16]) -> u64 {
    u128::from_le_bytes(black_box(tag)) as u64
}

const KEY: [u8; 32] = [0x5a; 32];
const SALT: u32 = 0x0101_0101;
const COUNTER: u64 = 0x0101_0101_0101_0101;
/// Salt and counter.
const NONCE: [u8; 12] = [1; 12];

#[cfg(test)]
pub(crate) mod tests;

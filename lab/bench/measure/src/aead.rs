//! AES-GCM as the work: whatever seals and opens becomes a contender, and proves first that its answers are those of the others.

use crate::Contender;
use std::{cell::RefCell, hint::black_box};

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
    /// One message is sealed, in place, with a key that is ready.
    Seal,
    /// One message is opened, from one buffer to another.
    Open,
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
            Verb::Seal => Contender::looped(name, move |iterations| {
                let mut text = buffers.one.borrow_mut();
                let text = text.first(work.bytes);
                each(iterations, |nonce| key.seal(nonce, aad, text));
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
                    each(iterations, |nonce| {
                        assert!(key.open(nonce, aad, sealed, text, &tag), "an authentic message was refused");
                        black_box(&mut *text).last().copied()
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

/// Calls so often, with a nonce that has been in memory for long: calls overlap as far as the processor can.
#[inline(always)]
fn each<T>(iterations: u64, mut call: impl FnMut(&[u8; 12]) -> T) {
    for _ in 0..iterations {
        black_box(call(black_box(&NONCE)));
    }
}

const KEY: [u8; 32] = [0x5a; 32];
const NONCE: [u8; 12] = [1; 12];

#[cfg(test)]
pub(crate) mod tests;

//! Measures AES-GCM: makes contenders of implementations, after checking that their answers agree.

use crate::Contender;
use std::{cell::RefCell, hint::black_box};

/// An implementation of AES-GCM: makes keys.
pub trait Implementation {
    /// The type of its keys.
    type Key: Key;

    /// Returns its name, which is the table's column.
    fn name(&self) -> String;

    /// Makes a key of 16, 24 or 32 bytes, ready for use. Returns `None` if it supports no keys of this length.
    fn key(&self, key: &[u8]) -> Option<Self::Key>;
}

/// A key of an implementation.
pub trait Key {
    /// Encrypts in place. Returns the tag.
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16];

    /// Decrypts from one buffer to another of equal length. Returns true if the tag was right.
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool;
}

/// The measured operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Makes and drops a key.
    Key,
    /// Seals a message in place with a ready key.
    Seal,
    /// Opens a message from one buffer to another.
    Open,
}

/// The work of one case, which every contender does.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The operation.
    pub verb: Verb,
    /// The key size: 128, 192 or 256.
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
    /// Makes buffers for up to this many bytes of text and of AAD.
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

/// An [`Implementation`] with keys of any type, for lists of implementations.
pub trait AnyImplementation {
    /// Returns its name.
    fn name(&self) -> String;

    /// Returns the contender for this work, or `None` if it supports no keys of this length.
    fn contender<'a>(&'a self, work: Work, buffers: &'a Buffers) -> Option<Contender<'a>>;

    /// Returns ciphertext and tag, after checking that they open to the text, and that a wrong tag is refused.
    ///
    /// # Errors
    /// A description of the fault. `Ok(None)` if it supports no keys of this length.
    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String>;
}

/// Checks that all implementations give equal answers for keys of 16, 24 and 32 bytes and for texts and AAD around every boundary. Returns
/// the number of compared answers.
///
/// # Errors
/// Names the implementation that differs from the first or does not open what it sealed, and the message.
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
                        Some((other, expected)) if *expected != answer => {
                            return Err(at(&format!("the answer differs from that of {other}")));
                        }
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
                // Every contender seals this text to the same ciphertext.
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

/// Calls `call` this often with a nonce that was stored long before, so that calls overlap as far as the processor allows.
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

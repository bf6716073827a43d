//! Tests that answers are compared, and that contenders do their work.

use super::*;
use std::cell::Cell;

/// An implementation that adds bytes and records its nonces.
pub(crate) struct Adder<'a> {
    pub(crate) nonces: &'a RefCell<Vec<[u8; 12]>>,
    pub(crate) keys: &'a Cell<usize>,
    pub(crate) fault: u8,
}

pub(crate) struct AdderKey<'a>(&'a RefCell<Vec<[u8; 12]>>, u8);

impl<'a> Implementation for Adder<'a> {
    type Key = AdderKey<'a>;

    fn name(&self) -> String {
        format!("adder {}", self.fault)
    }

    fn key(&self, key: &[u8]) -> Option<Self::Key> {
        self.keys.set(self.keys.get() + 1);
        (key.len() != 24).then(|| AdderKey(self.nonces, key[0].wrapping_add(self.fault)))
    }
}

impl Key for AdderKey<'_> {
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        self.0.borrow_mut().push(*nonce);
        text.iter_mut().for_each(|byte| *byte = byte.wrapping_add(self.1));
        [text.iter().chain(aad).fold(nonce[11], |sum, byte| sum.rotate_left(1) ^ byte); 16]
    }

    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.0.borrow_mut().push(*nonce);
        text.iter_mut().zip(ciphertext).for_each(|(text, byte)| *text = byte.wrapping_sub(self.1));
        *tag == [ciphertext.iter().chain(aad).fold(nonce[11], |sum, byte| sum.rotate_left(1) ^ byte); 16]
    }
}

/// A contender does the work this often, with one key.
#[test]
fn contenders_do_their_work() {
    let (nonces, keys) = (RefCell::default(), Cell::new(0));
    let adder = Adder { nonces: &nonces, keys: &keys, fault: 0 };
    let buffers = Buffers::new(100, 13);
    for (verb, calls, made) in [(Verb::Key, 0, 1 + 20), (Verb::Seal, 20, 1), (Verb::Open, 1 + 20, 1)] {
        keys.set(0);
        let mut contender = adder.contender(Work { verb, key_bits: 128, bytes: 100, aad: 13 }, &buffers).unwrap();
        contender.take(0, 20);
        assert_eq!((nonces.take(), keys.get()), (vec![[1; 12]; calls], made), "{verb:?}");
    }
    assert!(adder.contender(Work { verb: Verb::Key, key_bits: 192, bytes: 0, aad: 0 }, &buffers).is_none());
}

#[test]
fn who_differs_is_named() {
    let (nonces, keys) = (RefCell::default(), Cell::new(0));
    let adder = |fault| Adder { nonces: &nonces, keys: &keys, fault };
    let (right, wrong) = (adder(0), adder(1));
    // Two lengths of key, 97 of text, 5 of AAD, 2 implementations.
    assert_eq!(check(&[&right, &right]), Ok(2 * 97 * 5 * 2));
    assert_eq!(check(&[&right, &wrong]).unwrap_err(), "adder 1, AES-128, 1 bytes, 0 of AAD: the answer differs from that of adder 0");
}

#[test]
fn buffers_are_aligned() {
    let buffers = Buffers::new(1000, 0);
    for buffer in [&buffers.one, &buffers.two] {
        let mut buffer = buffer.borrow_mut();
        assert_eq!((buffer.first(1000).len(), buffer.first(1000).as_ptr().addr() % 64), (1000, 0));
    }
}

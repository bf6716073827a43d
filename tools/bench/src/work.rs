//! The benchmark's inner loop and its buffers.

use crate::{
    buffer::Buffer,
    cold::Evictor,
    peer::{self, Key, TAG},
    place::{self, LINES, Lines},
};
use aead_plugin::{Message, Table};
use clap::ValueEnum;
use fastgcm_measure::Contender;
use std::{fmt, hint::black_box, ptr, time::Instant};

/// The measured operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Seals with a ready key.
    Seal,
    /// Opens an authentic message with a ready key.
    Open,
    /// Replaces a key by another one in place.
    Rekey,
    /// Makes and frees a key.
    Key,
    /// Makes a key by value and stores it in an `Option`, which drops the key before it.
    Value,
}

/// The source of the nonces. It decides how much of a call can overlap with the call before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Nonces {
    /// A prepared list.
    Prepared,
    /// A salt of four bytes and a counter of eight, as in TLS and IPsec, stored just before each call.
    Written,
    /// Salt and counter, and the counter depends on the last output: calls cannot overlap, so this measures latency.
    Dependent,
}

/// The alignment of text and AAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    /// A multiple of 64.
    Aligned,
    /// One byte after a multiple of 64.
    Odd,
    /// Each buffer (of ciphertext: with its tag) ends with its page, before a guard page.
    PageEnd,
}

/// The work of one case: a row of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) verb: Verb,
    pub(crate) bits: usize,
    pub(crate) bytes: usize,
    pub(crate) aad: usize,
    pub(crate) nonces: Nonces,
    pub(crate) place: Place,
    /// Each message is timed alone, after other data and other code.
    pub(crate) cold: bool,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seal => "seal",
            Self::Open => "open",
            Self::Rekey => "another key",
            Self::Key => "key made and freed",
            Self::Value => "key put into an Option",
        })
    }
}

/// The buffers of all contenders, shared so that none finds warmer caches than another.
pub(crate) struct Buffers {
    input: Buffer,
    output: Buffer,
    aad: Buffer,
    /// The prepared nonces, sixteen bytes apart.
    nonces: Vec<[u8; 16]>,
    /// The keys for rekeying.
    keys: Vec<[u8; 32]>,
    evictor: Evictor,
    places: [Lines; LINES],
}

impl Buffers {
    /// Makes buffers for up to `max_len` bytes of text, and 256 of AAD. The seed decides which lines of key, stack and output are combined.
    pub(crate) fn new(max_len: usize, seed: u64) -> Self {
        Self {
            input: Buffer::new(max_len + TAG, 0),
            output: Buffer::new(max_len + TAG + LINES * 64, 0),
            aad: Buffer::new(256, 0),
            nonces: (0..PREPARED).map(|i| [i as u8; 16]).collect(),
            keys: (0..PREPARED).map(|i| [i as u8 ^ 0x5a; 32]).collect(),
            evictor: Evictor::new(),
            places: place::places(seed),
        }
    }

    /// Returns a message of this length whose output lies at this place, without its own nonce yet, and the lines of the place.
    pub(crate) fn message(&self, len: usize, aad_len: usize, at: usize) -> (Message, Lines) {
        let lines = self.places[at % LINES];
        let output = self.output.at(Place::Aligned, len + TAG).wrapping_add(lines.output * 64);
        let (aad, input) = (self.aad.at(Place::Aligned, aad_len), self.input.at(Place::Aligned, len));
        (peer::message(self.nonce(0), (aad, aad_len), input, output, len, output.wrapping_add(len)), lines)
    }

    /// Returns a prepared nonce.
    pub(crate) fn nonce(&self, number: u64) -> *const u8 {
        self.nonces[number as usize % PREPARED].as_ptr()
    }
}

/// The number of prepared nonces, and of keys.
const PREPARED: usize = 64;
const SALT: u32 = 0x0101_0101;
const COUNTER: u64 = 0x0101_0101_0101_0101;
/// Salt and counter of messages that are opened.
const NONCE: [u8; 12] = [1; 12];

/// Returns the contender of a rival in a shared object. All such rivals run this code, and differ only in the functions of their tables.
pub(crate) fn contender<'a>(name: &str, table: &'static Table, work: &Work, buffers: &'a Buffers) -> Option<Contender<'a>> {
    let Work { bytes: len, aad: aad_len, nonces, place, verb, bits, cold } = *work;
    let mut keys = peer::keys_at_each_line(table, &buffers.keys[0][..bits / 8])?;
    if verb == Verb::Key {
        return Some(Contender::looped(name, move |iterations| {
            clear_upper_halves();
            (0..iterations).for_each(|_| drop(black_box(Key::new(table, black_box(&buffers.keys[0][..bits / 8])))));
        }));
    }
    // `b""` points at address 1.
    let aad = if aad_len == 0 { ptr::dangling() } else { buffers.aad.at(place, aad_len).cast_const() };
    // Ciphertext has its tag behind it.
    let input = buffers.input.at(place, len + if verb == Verb::Open { TAG } else { 0 });
    let output = buffers.output.at(place, len + TAG);
    Some(Contender::placed(name, move |at, iterations| {
        clear_upper_halves();
        let lines = buffers.places[at % LINES];
        let key = &mut keys[lines.key];
        // A buffer that ends with its page cannot move.
        let output = if place == Place::PageEnd { output } else { output.wrapping_add(lines.output * 64) };
        // The tag lies behind the ciphertext.
        let tag = if verb == Verb::Open { input } else { output }.wrapping_add(len);
        let message = |nonce: *const u8, input: *const u8, output: *mut u8| peer::message(nonce, (aad, aad_len), input, output, len, tag);
        if verb == Verb::Open {
            // Each sample first seals its own message in `input`. The ciphertext differs each time, and no rival's time depends on it.
            // SAFETY: buffers with room for the text and a tag; contenders use them one at a time.
            unsafe { key.seal(&message(NONCE.as_ptr(), input, input)) };
        }
        place::with_stack_at(lines.stack * 64, || {
            if cold {
                // The message is built before the clock starts, because only the call is measured.
                let message = message(NONCE.as_ptr(), input, output);
                let mut once = || match verb {
                    // SAFETY: as above.
                    Verb::Open => assert!(unsafe { key.open(&message) }, "an authentic message was refused"),
                    // SAFETY: as above.
                    _ => unsafe { key.seal(&message) },
                };
                return (0..iterations).map(|_| buffers.evictor.time(&mut once)).sum();
            }
            let start = Instant::now();
            match verb {
                Verb::Key => {}
                Verb::Value => key.put(&buffers.keys[0][..bits / 8], iterations),
                Verb::Rekey => {
                    for iteration in 0..iterations {
                        key.rekey(&buffers.keys[iteration as usize % PREPARED][..bits / 8]);
                    }
                }
                // Two arms, because the compiler does not inline one arm with both, which costs 2.6 ns a message.
                // SAFETY: as above; the tag is read after it was written.
                Verb::Seal => each(nonces, iterations, u64::MAX, &buffers.nonces, |nonce| unsafe {
                    key.seal(&message(nonce, input, output));
                    tag.cast::<u64>().read_unaligned()
                }),
                Verb::Open => {
                    let nonces_of_one = [[1; 16]; PREPARED];
                    each(nonces, iterations, 0, &nonces_of_one, |nonce| {
                        // SAFETY: as above; one byte of the text, or of the tag of no text, is read after it was written.
                        unsafe {
                            assert!(key.open(&message(nonce, input, output)), "an authentic message was refused");
                            output.add(len.saturating_sub(1)).read().into()
                        }
                    });
                }
            }
            start.elapsed()
        })
    }))
}

/// Clears the upper halves of vector registers before a sample: with data there every SSE instruction is slower (`portable` took 133 us
/// instead of 91 for 16 KiB).
pub(crate) fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: AVX is here; every register that changes is declared.
        unsafe { std::arch::asm!("vzeroupper", clobber_abi("sysv64")) }
    }
}

/// Calls `call` this often, with nonces of this kind. A nonce may depend on the last result of `call`. To open, `mask` is a zero that the
/// compiler does not know, because a message needs the nonce with which it was sealed.
#[inline(always)]
fn each(nonces: Nonces, iterations: u64, mask: u64, prepared: &[[u8; 16]], mut call: impl FnMut(*const u8) -> u64) {
    let (mask, salt, counter) = (black_box(mask), black_box(SALT), black_box(COUNTER));
    let (mut nonce, mut last) = (NONCE, 0);
    for iteration in 0..iterations {
        let number = match nonces {
            Nonces::Prepared => {
                call(prepared[iteration as usize % PREPARED].as_ptr());
                continue;
            }
            Nonces::Written => iteration,
            Nonces::Dependent => last,
        };
        nonce[..4].copy_from_slice(&salt.to_be_bytes());
        nonce[4..].copy_from_slice(&(counter ^ number & mask).to_be_bytes());
        last = call(black_box(&nonce).as_ptr());
    }
    black_box(last);
}

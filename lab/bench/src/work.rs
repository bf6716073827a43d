//! What is done again and again, and with which buffers.

use crate::{
    buffer::Buffer,
    cold::Others,
    peer::{self, Key, TAG},
    place::{self, LINES, Lines},
};
use aead_plugin::{Message, Table};
use fastgcm_measure::{Case, Contender};
use std::{fmt, hint::black_box, ptr, time::Instant};

/// An implementation at one processor level: in a shared object, or in a process of its own.
pub(crate) trait Peer {
    /// The column of the table.
    fn name(&self) -> String;

    /// What it is compared at.
    fn level(&self) -> String;

    /// Its own version.
    fn version(&self) -> String;

    /// How it is called, if that is through a table.
    fn table(&self) -> Option<&'static Table> {
        None
    }

    /// By that name. `None` if it cannot do that.
    fn contender<'a>(&'a self, name: &str, work: &Work, buffers: &'a Buffers) -> Option<Contender<'a>>;

    /// Ciphertext and tag of one message, after it has opened it again and refused it with a wrong tag. `None` if it has no such key.
    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// With a key that is ready.
    Seal,
    /// With a key that is ready, a message whose tag is right.
    Open,
    /// In place, a message is sealed and opened again: opening alone would need its ciphertext anew each time.
    SealAndOpen,
    /// Another key in the place of one.
    Rekey,
    /// A key is made and freed.
    Key,
    /// A key is made by value and put into an `Option`, which drops the one before.
    Value,
    /// A fresh key in the place of one, and one message sealed with it.
    RekeyAndSeal,
}

/// Where the nonce comes from: it decides how much of a call can begin before the one before has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nonces {
    /// From a list that was made before.
    Prepared,
    /// Four bytes and eight, a salt and a counter as in TLS and IPsec, stored just before each call.
    Written,
    /// The same, and the counter depends on the last output: calls cannot overlap, so this is latency.
    Dependent,
}

/// Where text and AAD lie. How a call is written decides that, and users write it in every way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At a multiple of 64.
    Aligned,
    /// One byte after a multiple of 64.
    Odd,
    /// Each buffer (of ciphertext: with its tag) ends with its page, and the next page cannot be touched.
    PageEnd,
}

/// One case: a row of a table.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) level: String,
    pub(crate) verb: Verb,
    pub(crate) bits: usize,
    pub(crate) bytes: usize,
    pub(crate) aad: usize,
    pub(crate) nonces: Nonces,
    pub(crate) in_place: bool,
    pub(crate) place: Place,
    /// Other data and other code come before each message, which is timed alone.
    pub(crate) cold: bool,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seal => "seal",
            Self::Open => "open",
            Self::SealAndOpen => "seal and open",
            Self::Rekey => "another key",
            Self::Key => "key made and freed",
            Self::Value => "key put into an Option",
            Self::RekeyAndSeal => "fresh key and seal",
        })
    }
}

impl Work {
    /// If this is a way of calling that should cost nothing, the same called as usual.
    pub(crate) fn usual(&self) -> Option<Self> {
        let usual = Self { aad: 12, place: Place::Aligned, in_place: false, ..self.clone() };
        let other = self.aad < 12 || self.place != Place::Aligned || self.in_place;
        (other && matches!(self.verb, Verb::Seal | Verb::Open)).then_some(usual)
    }

    /// Its group and row.
    pub(crate) fn case(&self) -> Case {
        let Self { level, verb, bits, .. } = self;
        if matches!(verb, Verb::Key | Verb::Rekey | Verb::Value) {
            return Case::new(format!("{level} key set-up"), format!("AES-{bits} {verb}"));
        }
        let nonces = match self.nonces {
            Nonces::Prepared => "",
            Nonces::Written => ", nonce written before each call",
            Nonces::Dependent => ", nonce from the last output",
        };
        let in_place = if self.in_place { ", in place" } else { "" };
        let place = match self.place {
            Place::Aligned => "",
            Place::Odd => ", odd addresses",
            Place::PageEnd => ", at the end of a page",
        };
        let cold = if self.cold { ", cold" } else { "" };
        Case::of_bytes(format!("{level} AES-{bits} {verb}, AAD {}{nonces}{in_place}{place}{cold}", self.aad), self.bytes as u64)
    }
}

/// What all contenders share, so that none finds warmer caches than another.
pub(crate) struct Buffers {
    input: Buffer,
    output: Buffer,
    aad: Buffer,
    /// Prepared, sixteen bytes apart.
    nonces: Vec<[u8; 16]>,
    /// For fresh keys.
    keys: Vec<[u8; 32]>,
    others: Others,
    places: [Lines; LINES],
}

impl Buffers {
    /// For up to so many bytes of text, and 256 of AAD. The seed decides which lines of key, stack and output are at one place.
    pub(crate) fn new(most: usize, seed: u64) -> Self {
        Self {
            input: Buffer::new(most + TAG, 0),
            output: Buffer::new(most + TAG + LINES * 64, 0),
            aad: Buffer::new(256, 0),
            nonces: (0..PREPARED).map(|i| [i as u8; 16]).collect(),
            keys: (0..PREPARED).map(|i| [i as u8 ^ 0x5a; 32]).collect(),
            others: Others::new(),
            places: place::places(seed),
        }
    }

    /// A message of that length with a nonce of its own to come, whose output lies at that place; and the lines of key and stack there.
    pub(crate) fn message(&self, len: usize, aad_len: usize, at: usize) -> (Message, Lines) {
        let lines = self.places[at % LINES];
        let output = self.output.at(Place::Aligned, len + TAG).wrapping_add(lines.output * 64);
        let (aad, input) = (self.aad.at(Place::Aligned, aad_len), self.input.at(Place::Aligned, len));
        (peer::message(self.nonce(0), (aad, aad_len), input, output, len, output.wrapping_add(len)), lines)
    }

    /// A prepared nonce.
    pub(crate) fn nonce(&self, number: u64) -> *const u8 {
        self.nonces[number as usize % PREPARED].as_ptr()
    }
}

/// How many nonces, and keys, there are before they come again.
const PREPARED: usize = 64;
const SALT: u32 = 0x0101_0101;
const COUNTER: u64 = 0x0101_0101_0101_0101;
/// Salt and counter: the nonce of messages that are opened.
const NONCE: [u8; 12] = [1; 12];

/// A rival in a shared object at work. Everything but the calls through its table is the same for all.
pub(crate) fn contender<'a>(name: &str, table: &'static Table, work: &Work, buffers: &'a Buffers) -> Option<Contender<'a>> {
    let Work { bytes: len, aad: aad_len, nonces, in_place, place, verb, bits, cold, .. } = *work;
    let mut keys = peer::key_of_each_line(table, &buffers.keys[0][..bits / 8])?;
    if verb == Verb::Key {
        return Some(Contender::looped(name, move |iterations| {
            clear_upper_halves();
            (0..iterations).for_each(|_| drop(black_box(Key::new(table, black_box(&buffers.keys[0][..bits / 8])))));
        }));
    }
    // `b""` points at address 1.
    let aad = if aad_len == 0 { ptr::dangling() } else { buffers.aad.at(place, aad_len).cast_const() };
    // What is opened has its tag behind it.
    let input = buffers.input.at(place, len + if verb == Verb::Open { TAG } else { 0 });
    let output = buffers.output.at(place, len + TAG);
    Some(Contender::placed(name, move |at, iterations| {
        clear_upper_halves();
        let lines = buffers.places[at % LINES];
        let key = &mut keys[lines.key];
        // What ends with its page cannot move.
        let output = if place == Place::PageEnd { output } else { output.wrapping_add(lines.output * 64) };
        let from = if in_place { output } else { input };
        // Behind what is sealed, or opened.
        let tag = if verb == Verb::Open { input } else { output }.wrapping_add(len);
        let message = |nonce: *const u8, input: *const u8, output: *mut u8| peer::message(nonce, (aad, aad_len), input, output, len, tag);
        if verb == Verb::Open {
            // Each sample seals its own message first, into `input` and from it. It has other ciphertext each time, and nobody's time
            // depends on that.
            // SAFETY: buffers with room for the text and a tag; contenders use them one at a time.
            unsafe { key.seal(&message(NONCE.as_ptr(), input, input)) };
        }
        place::deeper(lines.stack * 64, || {
            if cold {
                // Built before the clock starts: what a program has to do beside the call is not measured.
                let message = message(NONCE.as_ptr(), input, output);
                let mut once = || match verb {
                    // SAFETY: as above.
                    Verb::Open => assert!(unsafe { key.open(&message) }, "an authentic message was refused"),
                    // SAFETY: as above.
                    _ => unsafe { key.seal(&message) },
                };
                return (0..iterations).map(|_| buffers.others.before(&mut once)).sum();
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
                // Apart from the next: together they are too large for the compiler to have them in line, which costs 2.6 ns a message.
                // SAFETY: as above; the tag is read after it was written.
                Verb::Seal => each(nonces, iterations, u64::MAX, &buffers.nonces, |_, nonce| unsafe {
                    key.seal(&message(nonce, from, output));
                    tag.cast::<u64>().read_unaligned()
                }),
                Verb::RekeyAndSeal => each(nonces, iterations, u64::MAX, &buffers.nonces, |iteration, nonce| {
                    key.rekey(&buffers.keys[iteration as usize % PREPARED][..bits / 8]);
                    // SAFETY: as above.
                    unsafe {
                        key.seal(&message(nonce, from, output));
                        tag.cast::<u64>().read_unaligned()
                    }
                }),
                Verb::SealAndOpen => each(nonces, iterations, u64::MAX, &buffers.nonces, |_, nonce| {
                    let message = message(nonce, output, output);
                    // SAFETY: as above.
                    unsafe {
                        key.seal(&message);
                        let tag = output.add(len).cast::<u64>().read_unaligned();
                        assert!(key.open(&message), "an authentic message was refused");
                        tag
                    }
                }),
                Verb::Open => {
                    let nonces_of_one = [[1; 16]; PREPARED];
                    each(nonces, iterations, 0, &nonces_of_one, |_, nonce| {
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

/// What somebody leaves in the upper halves of vector registers slows each SSE instruction from then on: `portable` took 133 us for 16 KiB, not
/// 91. Every sample begins without.
pub(crate) fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: AVX is here; every register that changes is declared.
        unsafe { std::arch::asm!("vzeroupper", clobber_abi("sysv64")) }
    }
}

/// Calls so often, with nonces from where they shall come. What a call returns is what the next nonce may depend on: for opening, masked with a
/// zero of which the compiler does not know, for a message needs the nonce that it was sealed with.
#[inline(always)]
fn each(nonces: Nonces, iterations: u64, mask: u64, prepared: &[[u8; 16]], mut call: impl FnMut(u64, *const u8) -> u64) {
    let (mask, salt, counter) = (black_box(mask), black_box(SALT), black_box(COUNTER));
    let (mut nonce, mut last) = (NONCE, 0);
    for iteration in 0..iterations {
        let number = match nonces {
            Nonces::Prepared => {
                call(iteration, prepared[iteration as usize % PREPARED].as_ptr());
                continue;
            }
            Nonces::Written => iteration,
            Nonces::Dependent => last,
        };
        nonce[..4].copy_from_slice(&salt.to_be_bytes());
        nonce[4..].copy_from_slice(&(counter ^ number & mask).to_be_bytes());
        last = call(iteration, black_box(&nonce).as_ptr());
    }
    black_box(last);
}

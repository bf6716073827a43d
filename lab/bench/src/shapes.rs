//! Shapes: a message may be called for in many ways, and no way should cost much more than another. A generator draws lengths and ways of
//! calling, every contender is called in each of them, and what is told is how far the slow shapes of a length are from the one in the middle.
//! A way that no list of ours has thought of is one of the drawn.
//!
//! Of group 1 nothing should cost much: who stored the nonce and how, AAD, addresses, in place or not, the place of the key and of the stack in
//! their pages, many keys in turn. Of group 2 everybody has to pay for something: cold caches, a fork, registers that the caller uses, text
//! that was stored in small pieces, buffers that the processor takes for one another.

mod call;
mod told;

pub(crate) use told::{Asked, run};

use fastrand::Rng;
use std::fmt;

/// Bytes of text: on both sides of what implementations treat differently.
const LENGTHS: [usize; 20] = [0, 1, 16, 31, 48, 64, 100, 128, 192, 255, 256, 400, 512, 768, 1024, 1420, 1500, 2048, 4096, 16384];
/// Of group 2, where a call can take a millisecond with what comes before it.
const SOME: [usize; 6] = [16, 64, 256, 1024, 1420, 4096];
const MOST: usize = 16384;
const MOST_AAD: usize = 300;
/// Of x86-64.
const PAGE: usize = 4096;
/// Of the keys of a contender, all of the same bytes, so that each opens what another sealed.
const KEYS: usize = 128;
/// Input and output of group 1 do not begin so near to one another, modulo a page, that loads of the one wait for stores to the other: that is
/// a special of group 2.
const NEAR: usize = 1024;

/// How a nonce was stored just before the call: pairs of offset and width, or nothing, if it comes from a list that was made long before.
const NONCES: [(&str, &[(usize, usize)]); 10] = [
    ("from a list", &[]),
    ("stored 4+8", &[(0, 4), (4, 8)]),
    ("stored 8+4", &[(0, 8), (8, 4)]),
    ("copied 8+8", &[(0, 8), (4, 8)]),
    ("stored 4+4+4", &[(0, 4), (4, 4), (8, 4)]),
    ("stored 16", &[(0, 16)]),
    ("stored last 8", &[(4, 8)]),
    ("stored last 4", &[(8, 4)]),
    ("stored last 1", &[(11, 1)]),
    ("stored 6*2", &[(0, 2), (2, 2), (4, 2), (6, 2), (8, 2), (10, 2)]),
];

/// Where a buffer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// So many bytes into a page.
    Offset(usize),
    /// So that it ends with a page, and the next page cannot be touched.
    PageEnd,
}

/// What group 2 is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// After other data and other code.
    Cold,
    /// The first call of a process that was forked just before.
    Forked,
    /// The caller uses registers of 128 bits before and after.
    Sse,
    /// The caller leaves something in the upper halves of registers of 256 bits, and goes on with those of 128.
    Avx,
    /// Likewise, of 512 bits and of the registers from 16 on.
    Avx512,
    /// The text was stored just before, a byte at a time. (What the storing alone takes is subtracted.)
    Bytes,
    /// Input and output are 4 KiB apart, or up to 64 bytes more.
    Apart,
    /// What the call before has written is read. An `open` of this kind is a pair: sealed, and opened at once.
    Chained,
    /// The key was made just before on another core.
    OtherCore,
}

const SPECIALS: [(Special, &str); 9] = [
    (Special::Cold, "cold caches"),
    (Special::Forked, "first after a fork"),
    (Special::Sse, "caller with SSE"),
    (Special::Avx, "caller with AVX"),
    (Special::Avx512, "caller with AVX-512"),
    (Special::Bytes, "text stored bytewise"),
    (Special::Apart, "buffers 4 KiB apart"),
    (Special::Chained, "output becomes input"),
    (Special::OtherCore, "key of another core"),
];

/// A length and a way of calling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Its place in the order in which they were drawn: with the seed, its name.
    number: usize,
    open: bool,
    bytes: usize,
    aad: usize,
    aad_at: At,
    /// Of [`NONCES`].
    nonce: usize,
    nonce_at: usize,
    input: At,
    /// `None`: in place.
    output: Option<At>,
    /// The first key of those that are used.
    key: usize,
    /// How many are used in turn: a power of two.
    keys: usize,
    /// Where the caller's stack is in its page.
    stack: usize,
    special: Option<Special>,
}

impl Shape {
    /// One of group 1; of group 2, if there is something special about it.
    fn draw(number: usize, rng: &mut Rng, special: Option<Special>) -> Self {
        let lengths: &[usize] = if special.is_some() { &SOME } else { &LENGTHS };
        let at = |rng: &mut Rng| match rng.usize(..4) {
            0 => At::PageEnd,
            1 => At::Offset(rng.usize(..PAGE / 64) * 64),
            _ => At::Offset(rng.usize(..PAGE)),
        };
        let mut shape = Self {
            number,
            open: rng.bool(),
            bytes: *rng.choice(lengths).unwrap_or(&0),
            aad: rng.usize(..=MOST_AAD),
            aad_at: at(rng),
            nonce: rng.usize(..NONCES.len()),
            nonce_at: rng.usize(..PAGE),
            input: at(rng),
            output: Some(at(rng)),
            key: rng.usize(..KEYS),
            keys: if rng.bool() { 1 } else { 2 << rng.usize(..6) },
            stack: rng.usize(..PAGE / 16) * 16,
            special,
        };
        match special {
            // In place it begins anywhere; from one buffer to another not near one another.
            None if rng.u8(..4) == 0 => {
                shape.input = At::Offset(rng.usize(..PAGE));
                shape.output = None;
            }
            None => {
                while shape.is_near() {
                    (shape.input, shape.output) = (at(rng), Some(at(rng)));
                }
            }
            Some(special) => shape.make_usual(special, rng),
        }
        shape
    }

    /// Nothing but the one thing is special.
    fn make_usual(&mut self, special: Special, rng: &mut Rng) {
        (self.aad, self.nonce, self.keys) = (12, 0, 1);
        let input = rng.usize(..PAGE / 64) * 64;
        let apart = if special == Special::Apart { rng.usize(..=64) } else { PAGE / 2 + 64 };
        self.input = At::Offset(input);
        self.output = Some(At::Offset((input + apart) % PAGE));
    }

    /// Whether the output begins soon behind the input, or the other way round, in their pages.
    fn is_near(&self) -> bool {
        let place = |at, tag| match at {
            At::Offset(offset) => offset,
            At::PageEnd => PAGE - (self.bytes + tag) % PAGE,
        };
        let Some(output) = self.output else { return false };
        let (input, output) = (place(self.input, self.tag_in()), place(output, self.tag_out()));
        (output.wrapping_sub(input) % PAGE).min(input.wrapping_sub(output) % PAGE) < NEAR
    }

    /// Bytes of the tag behind what is read.
    fn tag_in(&self) -> usize {
        if self.open { plugin::TAG } else { 0 }
    }

    /// Bytes of room for a tag behind what is written.
    fn tag_out(&self) -> usize {
        plugin::TAG
    }

    fn verb(&self) -> &'static str {
        if self.open { "open" } else { "seal" }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offset(offset) => write!(f, "{offset:#x}"),
            Self::PageEnd => f.write_str("page end"),
        }
    }
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SPECIALS.iter().find(|(special, _)| special == self).map_or("", |(_, name)| name))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, bytes, aad, aad_at, nonce_at, input, key, keys, stack, .. } = self;
        if let Some(special) = self.special {
            write!(f, "{special}: ")?;
        }
        write!(f, "#{number} {} {bytes} bytes from {input} ", self.verb())?;
        match self.output {
            None => f.write_str("in place")?,
            Some(output) => write!(f, "to {output}")?,
        }
        write!(f, ", AAD {aad} at {aad_at}, nonce {} at {nonce_at:#x}", NONCES[self.nonce].0)?;
        write!(f, ", key {key}")?;
        if *keys > 1 {
            write!(f, " and {} more", keys - 1)?;
        }
        write!(f, ", stack {stack:#x}")
    }
}

/// So many shapes: four of five of group 1.
pub(crate) fn draw(seed: u64, count: usize) -> Vec<Shape> {
    let mut rng = Rng::with_seed(seed);
    let special = |number: usize| (number % 5 == 4).then(|| SPECIALS[number / 5 % SPECIALS.len()].0);
    (0..count).map(|number| Shape::draw(number, &mut rng, special(number))).collect()
}

#[cfg(test)]
mod tests;

//! The standards over lifted bits: FIPS 197, SP 800-38D, RFC 8452, XAES-256-GCM, and committing schemes. This code is simple, not fast.

use crate::{
    values::field::{Bit, Block, Byte, I, O, Sums, byte, bytes, xor},
    values::unknown::{Unknown, Word32},
};

const ZEROS: Block = [[O; 8]; 16];

/// Computes the round keys (FIPS 197, 5.2).
pub fn expand(unknown: &mut Unknown, key: &[Byte]) -> Vec<Block> {
    let words = key.len() / 4;
    let rounds = words + 6;
    let mut w: Vec<[Byte; 4]> = key.as_chunks().0.to_vec();
    let mut constant = 1;
    for i in words..4 * (rounds + 1) {
        let mut t = w[i - 1];
        if i % words == 0 {
            t = [t[1], t[2], t[3], t[0]].map(|b| unknown.sbox(b));
            t[0] = xor(&t[0], &byte(constant));
            constant = constant << 1 ^ if constant & 0x80 != 0 { 0x1b } else { 0 };
        } else if words > 6 && i % words == 4 {
            t = t.map(|b| unknown.sbox(b));
        }
        w.push(std::array::from_fn(|j| xor(&w[i - words][j], &t[j])));
    }
    w.chunks(4).map(|four| std::array::from_fn(|i| four[i / 4][i % 4])).collect()
}

/// Multiplies by x in GF(2^8).
fn xtime(b: &Byte) -> Byte {
    let top = b[7];
    [top, b[0] ^ top, b[1], b[2] ^ top, b[3] ^ top, b[4], b[5], b[6]]
}

/// Shifts rows, then mixes columns except in the last round (FIPS 197, 5.1.2 and 5.1.3).
pub fn linear(substituted: &Block, mixes: bool) -> Block {
    // Byte i is in row i % 4 of column i / 4.
    let shifted: Block = std::array::from_fn(|i| substituted[(i + 4 * (i % 4)) % 16]);
    if !mixes {
        return shifted;
    }
    std::array::from_fn(|i| {
        let [a, b, c, d] = std::array::from_fn(|j| shifted[i / 4 * 4 + (i + j) % 4]);
        let sum = xor(&xor(&xtime(&a), &xtime(&b)), &b);
        xor(&xor(&sum, &c), &d)
    })
}

/// Multiplies a column by {0b}x^3 + {0d}x^2 + {09}x + {0e} (FIPS 197, 5.3.3).
pub fn unmixed(column: &[Byte; 4]) -> [Byte; 4] {
    std::array::from_fn(|i| {
        let [a, b, c, d] = std::array::from_fn(|j| column[(i + j) % 4]);
        // 14 a + 11 b + 13 c + 9 d = 8 (a + b + c + d) + 4 (a + c) + 2 (a + b) + b + c + d
        let (ac, ab, bcd) = (xor(&a, &c), xor(&a, &b), xor(&xor(&b, &c), &d));
        let eight = xtime(&xtime(&xtime(&xor(&a, &bcd))));
        xor(&xor(&xor(&eight, &xtime(&xtime(&ac))), &xtime(&ab)), &bcd)
    })
}

/// Encrypts a block (FIPS 197, 5.1).
pub fn cipher(unknown: &mut Unknown, keys: &[Block], block: &Block) -> Block {
    let add = |a: &Block, b: &Block| -> Block { std::array::from_fn(|i| xor(&a[i], &b[i])) };
    let mut state = add(block, &keys[0]);
    for (round, key) in keys.iter().enumerate().skip(1) {
        let substituted = state.map(|b| unknown.sbox(b));
        state = add(&linear(&substituted, round + 1 < keys.len()), key);
    }
    state
}

/// Returns the bits in SP 800-38D's order: bit 0 is the leftmost one of the first byte.
fn bits(block: &Block) -> [Bit; 128] {
    std::array::from_fn(|i| block[i / 8][7 - i % 8])
}

fn block(bits: &[Bit; 128]) -> Block {
    std::array::from_fn(|i| std::array::from_fn(|j| bits[8 * i + 7 - j]))
}

/// The multiplication by H, with V_0 to V_127 of H (SP 800-38D, 6.3).
#[derive(Debug)]
pub struct Ghash(Vec<[Bit; 128]>);

impl Ghash {
    pub fn new(h: &Block) -> Self {
        let next = |v: &[Bit; 128]| {
            let mut next = [O; 128];
            next[1..].copy_from_slice(&v[..127]);
            [0, 1, 2, 7].into_iter().for_each(|i| next[i] ^= v[127]);
            next
        };
        Self(std::iter::successors(Some(bits(h)), |v| Some(next(v))).take(128).collect())
    }

    fn times(&self, x: &[Bit; 128]) -> [Bit; 128] {
        let mut z = Sums::new(128);
        x.iter().zip(&self.0).for_each(|(&x, v)| z.add(0, x, v));
        z.reduced().try_into().expect("128 sums")
    }

    /// Computes GHASH from Y on over whole blocks (6.4). Each hash, and its sum with the next block, has a known degree.
    pub fn ghash(&self, unknown: &mut Unknown, y: &Block, data: &[Byte]) -> Block {
        let mut y = bits(y);
        for (x, degree) in data.as_chunks().0.iter().zip(2..) {
            let sum = xor(&bits(x), &y);
            unknown.note(&sum, degree - 1);
            y = self.times(&sum);
            unknown.note(&y, degree);
        }
        block(&y)
    }
}

/// Appends zeros up to a whole block.
pub fn pad(data: &mut Vec<Byte>) {
    data.resize(data.len().next_multiple_of(16), [O; 8]);
}

/// Returns AAD and text, padded, and their lengths in bits, each of eight bytes.
pub(crate) fn with_lengths(aad: &[Byte], text: &[Byte], eight: fn(u64) -> [u8; 8]) -> Vec<Byte> {
    let mut data = aad.to_vec();
    pad(&mut data);
    data.extend(text);
    pad(&mut data);
    [aad.len(), text.len()].into_iter().for_each(|n| data.extend(bytes(&eight(8 * n as u64))));
    data
}

/// A key of AES-GCM.
#[derive(Debug)]
pub struct Gcm {
    pub keys: Vec<Block>,
    pub h: Ghash,
}

/// The text on the other side, and the tag of the message.
pub type Answer = (Vec<Byte>, Block);

impl Gcm {
    pub fn new(unknown: &mut Unknown, key: &[Byte]) -> Self {
        let keys = expand(unknown, key);
        let h = cipher(unknown, &keys, &ZEROS);
        Self { keys, h: Ghash::new(&h) }
    }

    /// Computes the pre-counter block (SP 800-38D, 7.1, step 2).
    pub fn j0(&self, unknown: &mut Unknown, nonce: &[Byte]) -> Block {
        let data = if nonce.len() == 12 {
            [nonce, &[0, 0, 0, 1].map(byte)].concat()
        } else {
            return self.h.ghash(unknown, &ZEROS, &with_lengths(&[], nonce, u64::to_be_bytes));
        };
        data.try_into().expect("a block")
    }

    /// Adds n to the last four bytes of a block, a number with the most significant byte first.
    pub fn inc32(unknown: &mut Unknown, block: &Block, n: u32) -> Block {
        let word: Word32 = std::array::from_fn(|i| block[15 - i / 8][i % 8]);
        let sum = unknown.add32(&word, n);
        std::array::from_fn(|i| if i < 12 { block[i] } else { std::array::from_fn(|j| sum[8 * (15 - i) + j]) })
    }

    /// Computes GCTR (6.5) from this counter block on.
    pub fn ctr(&self, unknown: &mut Unknown, first: &Block, text: &[Byte]) -> Vec<Byte> {
        let mut other = Vec::with_capacity(text.len());
        for (n, part) in text.chunks(16).enumerate() {
            let counter = Self::inc32(unknown, first, n as u32);
            let stream = cipher(unknown, &self.keys, &counter);
            other.extend(part.iter().zip(&stream).map(|(a, b)| xor(a, b)));
        }
        other
    }

    /// Computes the tag of this ciphertext.
    pub fn tag(&self, unknown: &mut Unknown, nonce: &[Byte], aad: &[Byte], ciphertext: &[Byte]) -> Block {
        let s = self.h.ghash(unknown, &ZEROS, &with_lengths(aad, ciphertext, u64::to_be_bytes));
        let j0 = self.j0(unknown, nonce);
        let mask = cipher(unknown, &self.keys, &j0);
        std::array::from_fn(|i| xor(&s[i], &mask[i]))
    }

    /// Computes Algorithm 4, or with a given tag Algorithm 5 up to the comparison.
    pub fn run(&self, unknown: &mut Unknown, nonce: &[Byte], aad: &[Byte], text: &[Byte], given: Option<&Block>) -> Answer {
        let j0 = self.j0(unknown, nonce);
        let first = Self::inc32(unknown, &j0, 1);
        let other = self.ctr(unknown, &first, text);
        let tag = self.tag(unknown, nonce, aad, if given.is_some() { text } else { &other });
        (other, tag)
    }
}

/// Computes AES-GCM-SIV (RFC 8452), and fastgcm's variant of it with a key of 24 bytes.
pub fn siv(unknown: &mut Unknown, key: &[Byte], nonce: &[Byte], aad: &[Byte], text: &[Byte], given: Option<&Block>) -> Answer {
    // Section 4: the keys of this message, eight bytes of each block.
    let keys = expand(unknown, key);
    let mut derived: Vec<Byte> = Vec::new();
    for n in 0..(16 + key.len() as u32) / 8 {
        let block: Vec<Byte> = [&bytes(&n.to_le_bytes()), nonce].concat();
        derived.extend(&cipher(unknown, &keys, &block.try_into().expect("a block"))[..8]);
    }
    let (hash_key, key) = derived.split_at(16);
    let keys = expand(unknown, key);
    let ctr = |unknown: &mut Unknown, tag: &Block| -> Vec<Byte> {
        let mut first = *tag;
        first[15][7] = I;
        let word: Word32 = std::array::from_fn(|i| first[i / 8][i % 8]);
        let mut other = Vec::with_capacity(text.len());
        for (n, part) in text.chunks(16).enumerate() {
            let sum = unknown.add32(&word, n as u32);
            let counter = std::array::from_fn(|i| if i < 4 { std::array::from_fn(|j| sum[8 * i + j]) } else { first[i] });
            let stream = cipher(unknown, &keys, &counter);
            other.extend(part.iter().zip(&stream).map(|(a, b)| xor(a, b)));
        }
        other
    };
    // POLYVAL, by the appendix A of the RFC: GHASH of reversed blocks, of the key times x.
    let tag = |unknown: &mut Unknown, plaintext: &[Byte]| -> Block {
        let reversed = |block: &Block| -> Block { std::array::from_fn(|i| block[15 - i]) };
        let h = reversed(hash_key.first_chunk().expect("a block"));
        let ghash = Ghash::new(&block(&Ghash::new(&h).0[1]));
        let data: Vec<Byte> = with_lengths(aad, plaintext, u64::to_le_bytes).as_chunks().0.iter().flat_map(reversed).collect();
        let mut s = reversed(&ghash.ghash(unknown, &ZEROS, &data));
        (0..12).for_each(|i| s[i] = xor(&s[i], &nonce[i]));
        s[15][7] = O;
        cipher(unknown, &keys, &s)
    };
    if let Some(given) = given {
        let plaintext = ctr(unknown, given);
        let found = tag(unknown, &plaintext);
        return (plaintext, found);
    }
    let found = tag(unknown, text);
    (ctr(unknown, &found), found)
}

/// Computes XAES-256-GCM (C2SP): a key for the first half of the nonce, by CMAC of two blocks, and the rest as a nonce of GCM.
pub fn xaes(unknown: &mut Unknown, key: &[Byte], nonce: &[Byte], aad: &[Byte], text: &[Byte], given: Option<&Block>) -> Answer {
    let (keys, k1) = cmac(unknown, key);
    let mut derived = Vec::new();
    for n in [1, 2] {
        let m: Vec<Byte> = [&bytes(&[0, n, b'X', 0]), &nonce[..12]].concat();
        let m: Block = std::array::from_fn(|i| xor(&m[i], &k1[i]));
        derived.extend(cipher(unknown, &keys, &m));
    }
    Gcm::new(unknown, &derived).run(unknown, &nonce[12..], aad, text, given)
}

/// Computes the commitment of KC-XAES-256-GCM (IACR ePrint 2025/758), by CMAC of two blocks, twice.
pub fn xaes_commitment(unknown: &mut Unknown, key: &[Byte], nonce: &[Byte]) -> Vec<Byte> {
    let (keys, k1) = cmac(unknown, key);
    let first = [&bytes(b"XCMT"), &nonce[..12]].concat();
    let x = cipher(unknown, &keys, first.first_chunk().expect("a block"));
    let mut commitment = Vec::new();
    for n in [1, 2] {
        let last = [&nonce[12..], &bytes(&[0, 1, 0, n])].concat();
        let m: Block = std::array::from_fn(|i| xor(&xor(&last[i], &k1[i]), &x[i]));
        commitment.extend(cipher(unknown, &keys, &m));
    }
    commitment
}

/// Computes the round keys, and the first subkey of CMAC (SP 800-38B, 6.1).
fn cmac(unknown: &mut Unknown, key: &[Byte]) -> (Vec<Block>, Block) {
    let keys = expand(unknown, key);
    let l = cipher(unknown, &keys, &ZEROS);
    // Doubled: as a number with the first byte most significant, times x.
    let straight: [Bit; 128] = bits(&l);
    let mut doubled: [Bit; 128] = std::array::from_fn(|i| if i < 127 { straight[i + 1] } else { O });
    [127, 126, 125, 120].into_iter().for_each(|i| doubled[i] ^= straight[0]);
    (keys, block(&doubled))
}

/// Derives a message's key, its commitment or nothing, and its nonce by DNDK-GCM (draft-gueron-cfrg-dndkgcm).
pub fn dndk(unknown: &mut Unknown, key: &[Byte], nonce: &[Byte], commits: bool) -> (Vec<Byte>, Vec<Byte>, Vec<Byte>) {
    let keys = expand(unknown, key);
    let padded = [nonce, &bytes(&[0; 15][..27 - nonce.len()])].concat();
    let configuration = 128 * u8::from(commits) + 8 * (nonce.len() as u8 - 12);
    let mut x = |i: u8| {
        let block = [&padded[..15], &bytes(&[configuration + i])].concat();
        cipher(unknown, &keys, block.first_chunk().expect("a block"))
    };
    let masked = |a: Block, b: Block, mask: &Block| a.iter().chain(&b).zip(mask.iter().chain(mask)).map(|(a, m)| xor(a, m)).collect();
    let mask = x(0);
    let derived = masked(x(1), x(2), &mask);
    let commitment = if commits { masked(x(3), x(4), &mask) } else { Vec::new() };
    (derived, commitment, padded[15..].to_vec())
}

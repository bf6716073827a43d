//! AES-GCM as the standards print it: the referee of fastgcm's tests, fuzzers and replayed papers.
//!
//! Two documents, one file (and in [`siv`], [`xaes`] and [`dndk`] what is made of them). Everything bears the name that the documents give it and says where it is found there:
//!
//! * **FIPS 197** (AES): SubBytes, ShiftRows, MixColumns, AddRoundKey, KeyExpansion, Cipher;
//! * **SP 800-38D** (GCM): inc<sub>32</sub>, multiplication of blocks, GHASH, GCTR, GCM-AE and GCM-AD.
//!
//! A fast implementation has a schedule, lanes, powers of H, folding constants and tails, and can be wrong in each of them. This one
//! has none: a block at a time, a bit at a time, no tables typed in (the S-box is computed from its definition), no dependencies, no
//! `unsafe`. It can be checked by reading it beside the standards, and that is its whole worth.
//!
//! **Do not encrypt with it.** It is hundreds of times slower than fastgcm, it looks the S-box up at secret places (so its time
//! depends on the key), it wipes nothing, and it panics on arguments that the standards do not allow.
//!
//! ```
//! use fastgcm_model::Model;
//!
//! let model = Model::new(&[7; 32]);
//! let (ciphertext, tag) = model.seal(&[1; 12], b"header", b"text");
//! assert_eq!(model.open(&[1; 12], b"header", &ciphertext, &tag).unwrap(), b"text");
//! assert_eq!(model.open(&[1; 12], b"Header", &ciphertext, &tag), None);
//! ```
#![forbid(unsafe_code)]

pub mod dndk;
pub mod siv;
pub mod xaes;

// ---------------------------------------------------------------------------------------------------------------------------------
// GCM, SP 800-38D
// ---------------------------------------------------------------------------------------------------------------------------------

/// 128 bits: what the block cipher maps and what GHASH multiplies.
pub type Block = [u8; 16];

/// GCM-AE for one message: the ciphertext, as long as `plaintext`, and the tag. See [`Model::seal`].
///
/// # Panics
/// As [`Model::new`] and [`Model::seal`].
pub fn seal(key: &[u8], nonce: &[u8], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
    Model::new(key).seal(nonce, aad, plaintext)
}

/// GCM-AD for one message: the plaintext, or `None` (the standard's FAIL). See [`Model::open`].
///
/// # Panics
/// As [`Model::new`] and [`Model::open`].
pub fn open(key: &[u8], nonce: &[u8], aad: &[u8], ciphertext: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    Model::new(key).open(nonce, aad, ciphertext, tag)
}

/// A key, expanded once, and GCM with it.
#[derive(Clone, Debug)]
pub struct Model {
    round_keys: Vec<Block>,
    h: Block,
}

impl Model {
    /// Expands a key of 16, 24 or 32 bytes and computes the hash key H = CIPH<sub>K</sub>(0<sup>128</sup>) (step 1 of Algorithm 4).
    ///
    /// # Panics
    /// On a key of any other length.
    pub fn new(key: &[u8]) -> Self {
        let round_keys = key_expansion(key);
        let h = cipher(&round_keys, &[0; 16]);
        Self { round_keys, h }
    }

    /// GCM-AE, SP 800-38D section 7.1, Algorithm 4: the ciphertext, as long as `plaintext`, and the tag of 16 bytes. A shorter tag is
    /// the first bytes of this one (step 6, MSB<sub>t</sub>).
    ///
    /// # Panics
    /// On an empty nonce, and on a plaintext of more than 2<sup>36</sup> - 32 bytes (section 5.2.1.1).
    pub fn seal(&self, nonce: &[u8], aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
        self.seal_from_j0(&self.j0(nonce), aad, plaintext)
    }

    /// GCM-AD, SP 800-38D section 7.2, Algorithm 5: the plaintext, or `None` (FAIL) if `tag` is not the message's.
    ///
    /// The length of `tag` is the tag length t: 4, 8 or 12 to 16 bytes (section 5.2.1.2); any other length is FAIL, and so are an
    /// empty nonce and a ciphertext that is too long (step 1).
    pub fn open(&self, nonce: &[u8], aad: &[u8], ciphertext: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
        if nonce.is_empty() {
            return None;
        }
        self.open_from_j0(&self.j0(nonce), aad, ciphertext, tag)
    }

    /// GCM-AE from step 3 on, with a pre-counter block that the caller chooses.
    ///
    /// A nonce of 96 bits starts the counter at 1, and any other starts it where GHASH happens to lead; a test of the counter's wrap
    /// at 2<sup>32</sup> therefore begins here.
    ///
    /// # Panics
    /// On a plaintext of more than 2<sup>36</sup> - 32 bytes.
    pub fn seal_from_j0(&self, j0: &Block, aad: &[u8], plaintext: &[u8]) -> (Vec<u8>, Block) {
        assert!(plaintext.len() as u64 <= LONGEST_TEXT, "a plaintext longer than SP 800-38D allows");
        let ciphertext = self.gctr(&inc32(j0), plaintext);
        let tag = self.tag(j0, aad, &ciphertext);
        (ciphertext, tag)
    }

    /// GCM-AD from step 3 on, with a pre-counter block that the caller chooses.
    pub fn open_from_j0(&self, j0: &Block, aad: &[u8], ciphertext: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
        if ciphertext.len() as u64 > LONGEST_TEXT || !TAG_LENGTHS.contains(&tag.len()) {
            return None;
        }
        let plaintext = self.gctr(&inc32(j0), ciphertext);
        (self.tag(j0, aad, ciphertext)[..tag.len()] == *tag).then_some(plaintext)
    }

    /// The pre-counter block J<sub>0</sub> (step 2 of Algorithm 4): nonce || 0<sup>31</sup> || 1 for a nonce of 12 bytes; for any
    /// other, GHASH of the nonce, its padding, eight bytes of zeros and its length in bits.
    ///
    /// # Panics
    /// On an empty nonce: section 5.2.1.1 asks for at least one bit (without any, J<sub>0</sub> = 0 and the tag mask would be H).
    pub fn j0(&self, nonce: &[u8]) -> Block {
        assert!(!nonce.is_empty(), "SP 800-38D has no empty nonce");
        if let Ok(nonce) = <[u8; 12]>::try_from(nonce) {
            let mut j0 = [0; 16];
            j0[..12].copy_from_slice(&nonce);
            j0[15] = 1;
            return j0;
        }
        let mut data = padded(nonce);
        data.extend([0; 8]);
        data.extend(length_in_bits(nonce));
        ghash(&self.h, &data)
    }

    /// GCTR<sub>K</sub>(ICB, X), section 6.5, Algorithm 3: `x` xor the ciphers of ICB, inc<sub>32</sub>(ICB), and so on, the last of
    /// them cut to the length of what is left.
    pub fn gctr(&self, icb: &Block, x: &[u8]) -> Vec<u8> {
        let mut y = Vec::with_capacity(x.len());
        let mut counter_block = *icb;
        for x in x.chunks(16) {
            y.extend(x.iter().zip(self.cipher(&counter_block)).map(|(x, keystream)| x ^ keystream));
            counter_block = inc32(&counter_block);
        }
        y
    }

    /// CIPH<sub>K</sub>: the block cipher under this key.
    pub fn cipher(&self, block: &Block) -> Block {
        cipher(&self.round_keys, block)
    }

    /// The hash key H = CIPH<sub>K</sub>(0<sup>128</sup>).
    pub fn h(&self) -> Block {
        self.h
    }

    /// Nr + 1 round keys: 11, 13 or 15.
    pub fn round_keys(&self) -> &[Block] {
        &self.round_keys
    }

    /// Steps 4 to 6 of Algorithm 4: S = GHASH<sub>H</sub>(A || 0* || C || 0* || \[len(A)\]<sub>64</sub> || \[len(C)\]<sub>64</sub>), and
    /// the tag GCTR<sub>K</sub>(J<sub>0</sub>, S).
    fn tag(&self, j0: &Block, aad: &[u8], ciphertext: &[u8]) -> Block {
        let mut data = padded(aad);
        data.extend(padded(ciphertext));
        data.extend(length_in_bits(aad));
        data.extend(length_in_bits(ciphertext));
        xor(&ghash(&self.h, &data), &self.cipher(j0))
    }
}

/// The longest plaintext, in bytes: 2<sup>39</sup> - 256 bits (section 5.2.1.1).
const LONGEST_TEXT: u64 = (1 << 36) - 32;

/// The tag lengths, in bytes, of section 5.2.1.2. Four and eight are for the uses of appendix C alone.
const TAG_LENGTHS: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];

/// inc<sub>32</sub>, section 6.2: adds one to the last 32 bits, modulo 2<sup>32</sup>; the other 96 stay as they are.
pub fn inc32(x: &Block) -> Block {
    let x = u128::from_be_bytes(*x);
    let last_32_bits = (x as u32).wrapping_add(1);
    ((x >> 32 << 32) | u128::from(last_32_bits)).to_be_bytes()
}

/// GHASH<sub>H</sub>(X), section 6.4, Algorithm 2: Y<sub>i</sub> = (Y<sub>i-1</sub> xor X<sub>i</sub>) • H, from Y<sub>0</sub> = 0.
///
/// # Panics
/// If `x` is not a whole number of blocks.
pub fn ghash(h: &Block, x: &[u8]) -> Block {
    let (blocks, rest) = x.as_chunks::<16>();
    assert!(rest.is_empty(), "GHASH takes whole blocks");
    blocks.iter().fold([0; 16], |y, x| multiply_blocks(&xor(&y, x), h))
}

/// X • Y, section 6.3, Algorithm 1: the product in GF(2<sup>128</sup>), a bit of X at a time.
///
/// A block is a polynomial in u, and the *leftmost* bit is the coefficient of u<sup>0</sup>. So the standard's "x_i" is bit 127 - i of
/// the big-endian integer, multiplying by u is a shift to the *right*, and what falls off there, u<sup>128</sup>, comes back as
/// R = 1 + u + u<sup>2</sup> + u<sup>7</sup>, which is 11100001 followed by 120 zeros.
pub fn multiply_blocks(x: &Block, y: &Block) -> Block {
    const R: u128 = 0b1110_0001 << 120;
    let x = u128::from_be_bytes(*x);
    let mut z = 0;
    let mut v = u128::from_be_bytes(*y);
    for i in 0..128 {
        if (x >> (127 - i)) & 1 == 1 {
            z ^= v;
        }
        v = if v & 1 == 0 { v >> 1 } else { (v >> 1) ^ R };
    }
    z.to_be_bytes()
}

/// X || 0<sup>s</sup>: as many zeros as complete the last block.
fn padded(x: &[u8]) -> Vec<u8> {
    let mut x = x.to_vec();
    x.resize(x.len().next_multiple_of(16), 0);
    x
}

/// \[len(X)\]<sub>64</sub>.
fn length_in_bits(x: &[u8]) -> [u8; 8] {
    (8 * x.len() as u64).to_be_bytes()
}

// ---------------------------------------------------------------------------------------------------------------------------------
// AES, FIPS 197
// ---------------------------------------------------------------------------------------------------------------------------------

/// Cipher(in, Nr, w), FIPS 197 section 5.1. Nr, the number of rounds, is one less than there are round keys.
///
/// The state is a square of four rows and four columns (section 3.4), filled column by column: row r, column c is byte r + 4c of the
/// block.
///
/// # Panics
/// With fewer than two round keys.
pub fn cipher(w: &[Block], input: &Block) -> Block {
    let Some((last, others)) = w.split_last() else { panic!("the cipher needs its round keys") };
    let mut state = after_rounds(others, input);
    state = sub_bytes(state);
    state = shift_rows(state);
    xor(&state, last)
}

/// The state of the cipher after the first rounds: one for each of these round keys but the first, which is added before them.
///
/// # Panics
/// Without a round key.
pub fn after_rounds(w: &[Block], input: &Block) -> Block {
    let Some((first, others)) = w.split_first() else { panic!("the cipher needs its round keys") };
    let mut state = xor(input, first);
    for round_key in others {
        state = sub_bytes(state);
        state = shift_rows(state);
        state = mix_columns(state);
        state = xor(&state, round_key);
    }
    state
}

/// KeyExpansion, FIPS 197 section 5.2: Nr + 1 round keys from a key of Nk = 4, 6 or 8 words, where Nr = Nk + 6.
///
/// # Panics
/// If `key` is not 16, 24 or 32 bytes long.
pub fn key_expansion(key: &[u8]) -> Vec<Block> {
    assert!(matches!(key.len(), 16 | 24 | 32), "an AES key is 16, 24 or 32 bytes long");
    let nk = key.len() / 4;
    let nr = nk + 6;
    let mut w: Vec<[u8; 4]> = key.as_chunks().0.to_vec();
    let mut rcon = 1;
    for i in nk..4 * (nr + 1) {
        let mut temp = w[i - 1];
        if i % nk == 0 {
            temp = sub_word(rot_word(temp));
            temp[0] ^= rcon;
            rcon = xtimes(rcon);
        } else if nk > 6 && i % nk == 4 {
            temp = sub_word(temp);
        }
        w.push(std::array::from_fn(|b| w[i - nk][b] ^ temp[b]));
    }
    w.as_flattened().as_chunks().0.to_vec()
}

/// SubBytes, section 5.1.1.
fn sub_bytes(state: Block) -> Block {
    state.map(|b| S_BOX[usize::from(b)])
}

/// ShiftRows, section 5.1.2: row r turns left by r columns.
fn shift_rows(state: Block) -> Block {
    std::array::from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        state[row + 4 * ((column + row) % 4)]
    })
}

/// MixColumns, section 5.1.3: each column times the matrix whose first row is 02 03 01 01 and each other row the one above it, turned
/// right by one.
fn mix_columns(state: Block) -> Block {
    std::array::from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        let s = |r: usize| state[(row + r) % 4 + 4 * column];
        xtimes(s(0)) ^ (xtimes(s(1)) ^ s(1)) ^ s(2) ^ s(3)
    })
}

/// AddRoundKey, section 5.1.4; and every other xor of two blocks.
fn xor(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// RotWord, section 5.2.
fn rot_word([a, b, c, d]: [u8; 4]) -> [u8; 4] {
    [b, c, d, a]
}

/// SubWord, section 5.2.
fn sub_word(word: [u8; 4]) -> [u8; 4] {
    word.map(|b| S_BOX[usize::from(b)])
}

/// The S-box of every byte, computed by the compiler.
const S_BOX: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = s_box(b as u8);
        b += 1;
    }
    table
};

/// The S-box by its definition, section 5.1.1: the inverse in GF(2<sup>8</sup>), then a fixed affine map: each bit becomes the sum of
/// itself, the four bits below it (those below bit 0 being bits 7, 6, ...) and the same bit of 01100011.
const fn s_box(b: u8) -> u8 {
    let b = inverse(b);
    b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0b0110_0011
}

/// The inverse in GF(2<sup>8</sup>), and 0 for 0: b<sup>254</sup>, because b<sup>255</sup> = 1 for all others. And 254 = 2 + 4 + ... + 128.
const fn inverse(b: u8) -> u8 {
    let mut product = 1;
    let mut power = b;
    let mut i = 1;
    while i < 8 {
        power = multiply(power, power); // b^(2^i)
        product = multiply(product, power);
        i += 1;
    }
    product
}

/// The product in GF(2<sup>8</sup>), section 4.2: the sum of b·x<sup>i</sup> for each term x<sup>i</sup> of a.
const fn multiply(a: u8, b: u8) -> u8 {
    let mut sum = 0;
    let mut b_times_x_to_i = b;
    let mut i = 0;
    while i < 8 {
        if (a >> i) & 1 == 1 {
            sum ^= b_times_x_to_i;
        }
        b_times_x_to_i = xtimes(b_times_x_to_i);
        i += 1;
    }
    sum
}

/// XTimes, section 4.2: times x, modulo x<sup>8</sup> + x<sup>4</sup> + x<sup>3</sup> + x + 1. (In AES the *rightmost* bit is the
/// coefficient of x<sup>0</sup>: the opposite of GHASH.)
const fn xtimes(b: u8) -> u8 {
    if b & 0x80 == 0 { b << 1 } else { (b << 1) ^ 0b0001_1011 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, appendix A (the last word of each key schedule), appendix B and appendix C (one block under each key size).
    #[test]
    fn fips_197() {
        let schedules = [
            ("2b7e151628aed2a6abf7158809cf4f3c", "b6630ca6"),
            ("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "01002202"),
            ("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", "706c631e"),
        ];
        for (key, last_word) in schedules {
            let round_keys = key_expansion(&hex(key));
            assert_eq!(round_keys.len(), hex(key).len() / 4 + 7);
            assert_eq!(round_keys.last().unwrap()[12..], *hex(last_word), "key {key}");
        }

        let text = "00112233445566778899aabbccddeeff";
        let blocks = [
            ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
            ("000102030405060708090a0b0c0d0e0f", text, "69c4e0d86a7b0430d8cdb78070b4c55a"),
            ("000102030405060708090a0b0c0d0e0f1011121314151617", text, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            ("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", text, "8ea2b7ca516745bfeafc49904b496089"),
        ];
        for (key, input, output) in blocks {
            assert_eq!(Model::new(&hex(key)).cipher(&block(input)), block(output), "key {key}");
        }
        passed("model::fips_197", schedules.len() + blocks.len(), 7);
    }

    /// The S-box of FIPS 197 section 5.1.1: its worked example, 0, and that it is a permutation.
    #[test]
    fn the_s_box_is_a_permutation() {
        assert_eq!((S_BOX[0x53], S_BOX[0x00]), (0xed, 0x63));
        let mut seen = [false; 256];
        for b in S_BOX {
            assert!(!std::mem::replace(&mut seen[usize::from(b)], true), "{b:#04x} comes twice");
        }
        passed("model::s_box", seen.into_iter().filter(|&seen| seen).count(), 256);
    }

    /// Test cases of the GCM specification that was submitted to NIST (McGrew and Viega, appendix B): all key sizes, with and without
    /// AAD, and nonces of 12, 8 and 60 bytes.
    #[test]
    fn gcm_specification() {
        let k = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
        let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                    1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
        let aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
        let nonce = "cafebabefacedbaddecaf888";
        let long_nonce = "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728\
                          c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b";
        let zero = "0000000000000000000000000000000000000000000000000000000000000000";
        let ciphertext = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                          21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985";
        let (z, k, no) = (|bytes: usize| &zero[..2 * bytes], |bytes: usize| &k[..2 * bytes], "");
        let cases = [
            (1, z(16), z(12), no, no, no, "58e2fccefa7e3061367f1d57a4e7455a"),
            (2, z(16), z(12), no, z(16), "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf"),
            (3, k(16), nonce, no, text, ciphertext, "4d5c2af327cd64a62cf35abd2ba6fab4"),
            (4, k(16), nonce, aad, &text[..120], &ciphertext[..120], "5bc94fbc3221a5db94fae95ae7121a47"),
            (
                5,
                k(16),
                &nonce[..16],
                aad,
                &text[..120],
                "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
                "3612d2e79e3b0785561be14aaca2fccb",
            ),
            (
                6,
                k(16),
                long_nonce,
                aad,
                &text[..120],
                "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5",
                "619cc5aefffe0bfa462af43c1699d050",
            ),
            (7, z(24), z(12), no, no, no, "cd33b28ac773f74ba00ed1f312572435"),
            (8, z(24), z(12), no, z(16), "98e7247c07f0fe411c267e4384b0f600", "2ff58d80033927ab8ef4d4587514f0fb"),
            (13, z(32), z(12), no, no, no, "530f8afbc74536b9a963b4f1c4cb738b"),
            (14, z(32), z(12), no, z(16), "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"),
            (
                16,
                k(32),
                nonce,
                aad,
                &text[..120],
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
                "76fc6ece0f4e1768cddf8853bb2d551b",
            ),
        ];
        for (number, key, nonce, aad, text, ciphertext, tag) in cases {
            let [key, nonce, aad, text, ciphertext] = [key, nonce, aad, text, ciphertext].map(hex);
            assert_eq!(seal(&key, &nonce, &aad, &text), (ciphertext.clone(), block(tag)), "test case {number}");
            assert_eq!(open(&key, &nonce, &aad, &ciphertext, &block(tag)), Some(text), "test case {number}");
        }
        passed("model::gcm_specification", cases.len(), 11);
    }

    /// inc32 carries inside the last 32 bits and never out of them, and a message that crosses the wrap uses exactly those blocks.
    #[test]
    fn the_counter_wraps_inside_32_bits() {
        let successors = [
            ("ffffffffffffffffffffffff00000001", "ffffffffffffffffffffffff00000002"),
            ("000000000000000000000000000000ff", "00000000000000000000000000000100"),
            ("0123456789abcdef01234567ffffffff", "0123456789abcdef0123456700000000"),
        ];
        for (x, next) in successors {
            assert_eq!(inc32(&block(x)), block(next));
        }

        let model = Model::new(&[9; 16]);
        let messages = [
            ("fffffffffffffffffffffffffffffffd", "fffffffffffffffffffffffffffffffe", "ffffffffffffffffffffffffffffffff"),
            ("000102030405060708090a0bfffffffe", "000102030405060708090a0bffffffff", "000102030405060708090a0b00000000"),
            ("ffffffffffffffffffffffffffffffff", "ffffffffffffffffffffffff00000000", "ffffffffffffffffffffffff00000001"),
        ];
        for (j0, first, second) in messages {
            let (keystream, tag) = model.seal_from_j0(&block(j0), b"aad", &[0; 32]);
            assert_eq!(keystream[..16], model.cipher(&block(first)));
            assert_eq!(keystream[16..], model.cipher(&block(second)));
            assert_eq!(model.open_from_j0(&block(j0), b"aad", &keystream, &tag).unwrap(), [0; 32]);
        }
        passed("model::counter", successors.len() + messages.len(), 6);
    }

    /// The multiplication's laws, on unit blocks: u^0 is its one, it commutes, and u^127 · u is u^128 reduced.
    #[test]
    fn the_field_has_its_laws() {
        let u = |power: u32| (1_u128 << (127 - power)).to_be_bytes();
        let mut pairs = 0;
        for i in 0..128 {
            assert_eq!(multiply_blocks(&u(i), &u(0)), u(i));
            for j in 0..128 {
                let product = multiply_blocks(&u(i), &u(j));
                assert_eq!(product, multiply_blocks(&u(j), &u(i)));
                if i + j < 128 {
                    assert_eq!(product, u(i + j));
                }
                pairs += 1;
            }
        }
        assert_eq!(multiply_blocks(&u(127), &u(1)), block("e1000000000000000000000000000000"));
        passed("model::field", pairs, 128 * 128);
    }

    /// All that the standard does not allow is FAIL: every bit of the tag counts, every other tag length is refused, and no nonce is
    /// empty.
    #[test]
    fn open_refuses() {
        let model = Model::new(&[5; 24]);
        let (ciphertext, tag) = model.seal(&[6; 12], b"aad", b"plaintext");
        let (mut accepted, mut forgeries) = (Vec::new(), 0);
        for length in 0..=16 {
            if model.open(&[6; 12], b"aad", &ciphertext, &tag[..length]).is_some() {
                accepted.push(length);
            }
            for bit in 0..8 * length {
                let mut forged = tag;
                forged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(model.open(&[6; 12], b"aad", &ciphertext, &forged[..length]), None);
                forgeries += 1;
            }
        }
        assert_eq!(accepted, TAG_LENGTHS);
        let longer = [&tag[..], &[0]].concat();
        assert_eq!(model.open(&[6; 12], b"aad", &ciphertext, &longer), None);
        assert_eq!(model.open(&[], b"aad", &ciphertext, &tag), None);
        passed("model::open_refuses", forgeries, 8 * 136);
    }

    #[test]
    #[should_panic(expected = "empty nonce")]
    fn seal_has_no_empty_nonce() {
        Model::new(&[5; 16]).seal(&[], b"", b"");
    }

    fn passed(name: &str, count: usize, expected: usize) {
        assert_eq!(count, expected, "{name}");
    }

    fn block(digits: &str) -> Block {
        hex(digits).try_into().unwrap()
    }

    fn hex(digits: &str) -> Vec<u8> {
        (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
    }
}

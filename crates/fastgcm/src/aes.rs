//! AES (FIPS 197): the key schedule, in constant time on every back end: the S-box is an operation of the
//! instruction set, never a table. The rounds are operations of the [`Isa`], and [`gcm`](crate::gcm) decides
//! where they run.

use crate::{
    Block,
    inout::{Kept, Plain, Storage, load_key},
    isa::{Isa, RoundKey},
};
use zeroize::{Zeroize, optimization_barrier};

/// AES round keys, and what else a row derives from the bytes of a key: the row's own type (`ghash::Powers`,
/// or the tables of `gcm::software`), or, where the row is not known, room for any of these types.
pub(crate) type Material<T = Storage> = Kept<Schedule, T>;

impl<T: Plain> Material<T> {
    pub(crate) const ZERO: Self = Self { schedule: Schedule::ZERO, tables: T::ZERO };
}

/// AES round keys.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Schedule {
    pub(crate) last: Block,
    pub(crate) size: KeySize,
    /// Holds nothing. Padding in its place would keep what the stack held before.
    _spare: [usize; SPARE],
    /// All keys but the last: the first four, and from `WOVEN` on the last ten, so that the last ten have one
    /// place whatever the key's length. (For a key of 256 bits the two groups follow each other; for a
    /// shorter key they overlap.)
    pub(crate) keys: Keys,
}

/// All round keys but the last.
pub(crate) type Keys = [Block; 14];

/// The number of rounds beyond ten. The type has no other values, so choosing the last ten keys takes neither
/// a comparison nor a bounds check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum KeySize {
    /// AES-128.
    Aes128 = 0,
    /// AES-192.
    Aes192 = 2,
    /// AES-256.
    Aes256 = 4,
}

impl KeySize {
    /// Returns the size of a key of 16, 24 or 32 bytes.
    #[inline(always)]
    pub(crate) fn of(key: &[u8]) -> Self {
        match key.len() {
            16 => KeySize::Aes128,
            24 => KeySize::Aes192,
            _ => KeySize::Aes256,
        }
    }

    /// Returns the bytes of the key: four for each additional round.
    #[inline(always)]
    pub(crate) fn bytes(self) -> usize {
        16 + 4 * self as usize
    }
}

/// Words that fill `more` up to a block.
const SPARE: usize = size_of::<Block>() / size_of::<usize>() - 1;

/// Where the last ten of these keys begin.
pub(crate) const WOVEN: usize = 4;

impl Schedule {
    pub(crate) const ZERO: Self = Self { last: 0, size: KeySize::Aes128, _spare: [0; SPARE], keys: [0; 14] };

    /// Runs KeyExpansion of FIPS 197, section 5.2, four words at a time. `key` has 16, 24 or 32 bytes. With
    /// `H`, returns AES of the zero block, in every lane: its rounds run while the next keys are being made,
    /// because each of those waits for the previous one.
    #[inline(always)]
    pub(crate) fn expand<S: Isa, const H: bool>(&mut self, s: S, key: &[u8]) -> S::V {
        let mut a = load_key(s, key);
        self.size = KeySize::of(key);
        self.keys[0] = a;
        let mut prev = s.state(s.splat(a));
        let mut x = s.state(s.whiten(s.splat(0), s.splat(a)));
        /// Makes the next key.
        macro_rules! key {
            ($size:ident, $i:expr, $key:expr) => {
                let (key, i, more) = ($key, $i, KeySize::$size as usize);
                if i < WOVEN {
                    self.keys[i] = key;
                }
                if i >= more {
                    self.keys[WOVEN + i - more] = key;
                }
                if H {
                    let next = s.state(s.splat(key));
                    s.round_between(&mut x, &prev, &next);
                    prev = next;
                }
            };
        }
        match key.len() {
            16 => {
                self.keys[WOVEN] = a;
                each!(I in 1 2 3 4 5 6 7 8 9 => {
                    a = s.next_words::<true>(a, a, RCON[I]);
                    key!(Aes128, I, a);
                });
                self.last = s.next_words::<true>(a, a, RCON[10]);
            }
            24 => {
                // Six words at a time: `a` and the two words in the upper half of `b`. Three halves make one
                // and a half keys.
                let mut b = last_third(key);
                for i in 1..=4 {
                    let a1 = s.next_words::<true>(a, b, RCON[2 * i - 1]);
                    let b1 = two_more(a1, b);
                    key!(Aes192, 3 * i - 2, b >> 64 | a1 << 64);
                    key!(Aes192, 3 * i - 1, a1 >> 64 | (b1 >> 64) << 64);
                    a = s.next_words::<true>(a1, b1, RCON[2 * i]);
                    b = two_more(a, b1);
                    if i < 4 {
                        key!(Aes192, 3 * i, a);
                    }
                }
                self.last = a;
            }
            _ => {
                let mut b = load_key(s, &key[16..]);
                key!(Aes256, 1, b);
                each!(I in 1 2 3 4 5 6 => {
                    a = s.next_words::<true>(a, b, RCON[I]);
                    key!(Aes256, 2 * I, a);
                    b = s.next_words::<false>(b, a, 0);
                    key!(Aes256, 2 * I + 1, b);
                });
                self.last = s.next_words::<true>(a, b, RCON[7]);
            }
        }
        if !H {
            return s.splat(0);
        }
        s.last_round(x, prev, s.state(s.splat(self.last)), s.splat(0))
    }

    /// Returns the size of the key, and the keys of all rounds but the last.
    #[inline(always)]
    pub(crate) fn keys(&self) -> (KeySize, &Keys) {
        (self.size, &self.keys)
    }

    /// Returns 10, 12 or 14.
    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        10 + self.size as usize
    }

    /// Returns the key before the last.
    #[inline(always)]
    pub(crate) fn before_last(&self) -> &Block {
        &self.keys[13]
    }

    /// Calls `round` with the key of each round but the last.
    #[inline(always)]
    pub(crate) fn each_round<S: Isa>(&self, s: S, mut round: impl FnMut(S::State)) {
        // Two loops avoid a choice between the two places, which took ten instructions a round.
        let from = 1 - S::KEY_FIRST as usize;
        self.keys[from..from + self.size as usize].iter().for_each(|key| round(s.state(s.splat(*key))));
        self.keys[WOVEN + from..WOVEN + from + 9].iter().for_each(|key| round(s.state(s.splat(*key))));
    }

    /// Runs the last round, XOR `data`.
    #[inline(always)]
    pub(crate) fn last_round<S: Isa>(&self, s: S, x: S::State, data: S::V) -> S::V {
        self.last_round_by(s, &s.state(s.splat(self.last)), x, data)
    }

    /// Runs the last round, whose key is already loaded, XOR `data`.
    #[inline(always)]
    pub(crate) fn last_round_by<S: Isa>(&self, s: S, last: &S::State, x: S::State, data: S::V) -> S::V {
        s.last_round(x, s.state(s.splat(*self.before_last())), *last, data)
    }

    /// Returns AES of one block.
    #[inline(always)]
    pub(crate) fn encrypt<S: Isa>(&self, s: S, block: Block) -> Block {
        let mut x = s.state(s.whiten(s.splat(block), s.splat(self.keys[0])));
        self.each_round(s, |key| s.round(&mut x, &key));
        let x = self.last_round(s, x, s.splat(0));
        s.fold(s.keep_first(x, 16))
    }
}

/// Writes a round key to each of `keys`: [`Schedule::expand`] where an S-box is a call.
/// The function goes word by word, as FIPS 197 does. Steps for each key size took 0.8 to 0.9 of the time of a
/// key, and up to 3 KB more. `key` has 16, 24 or 32 bytes.
pub(crate) fn expand_in_loops<S: Isa, K: RoundKey>(s: S, key: &[u8], keys: &mut [K]) {
    // The last `n` words of the schedule, of which word i has place i modulo n. At first they are the key.
    let (mut words, n) = ([0_u32; 8], key.len() / 4);
    for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let (mut before, mut four, mut at, mut turn) = (0_u32, 0, 0, 0);
    for i in 0..4 * keys.len() {
        if turn > 0 {
            let rotate = at == 0;
            if rotate || (n == 8 && at == 4) {
                let (bits, rcon) = if rotate { (8, RCON[turn % RCON.len()]) } else { (0, 0) };
                let word = Block::from(before.rotate_right(bits));
                before = s.next_words::<false>(0, word << 96, rcon) as u32;
            }
            words[at % 8] ^= before;
        }
        before = words[at % 8];
        four = four >> 32 | Block::from(before) << 96;
        if i % 4 == 3 {
            keys[i / 4] = K::of(four);
        }
        at += 1;
        if at == n {
            (at, turn) = (0, turn + 1);
        }
    }
}

/// Returns the last eight bytes of a key of 24 bytes, in the upper half.
#[inline(always)]
fn last_third(key: &[u8]) -> Block {
    key[16..].first_chunk().map_or(0, |bytes| Block::from(u64::from_le_bytes(*bytes)) << 64)
}

/// Returns words five and six of the next six words of an AES-192 schedule, in the upper half, as the
/// previous ones are in `b`. `a` holds the four words before them.
#[inline(always)]
fn two_more(a: Block, b: Block) -> Block {
    let fifth = (b >> 64) as u32 ^ (a >> 96) as u32;
    let sixth = (b >> 96) as u32 ^ fifth;
    (fifth as Block) << 64 | (sixth as Block) << 96
}

impl Zeroize for Schedule {
    fn zeroize(&mut self) {
        (self.keys, self.last) = ([0; 14], 0);
        optimization_barrier(self);
    }
}

/// Powers of x in the field of AES.
const RCON: [u8; 11] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 0x1b, 0x36];

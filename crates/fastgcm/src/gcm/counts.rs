//! What a correct tag cannot show: how much work a message was. `Counting` takes the paths of every row of the table on any machine; each
//! number must be the one that the design gives, not about that.
//!
//! A vector has B blocks, a turn 8 vectors. Of a text, turns are cut off as long as that leaves a block for each lane; the rest is the
//! tail, of up to nine vectors. A nonce that has not 96 bits goes another way (`sequential`), and so does RISC-V: whole turns, then
//! four vectors at a time.

extern crate std;
use super::{message::expand_in, tests::by_length, turns::spread_pays, *};
use crate::{
    Backend,
    ghash::{Karatsuba, KeyFolded, KeyFoldedHalves, Multiply, Nibbles, Pairs, Winograd},
    inout::{InOut, TURN},
    isa::{
        Isa, Sliced,
        counting::{Counting, Work},
    },
    nonce::{J0, Kind, Nonce},
};
use std::{println, vec, vec::Vec};

/// What the formulas need to know of a row.
#[derive(Clone, Copy)]
struct Row {
    blocks: usize,
    /// It has 32 registers.
    roomy: bool,
    /// Multiplications for a vector.
    product: usize,
    /// The same in a short message.
    short_product: usize,
    /// A block of zeros leaves something in a sum; and in that of a short message.
    constants: [bool; 2],
    /// Multiplications for a reduction.
    fold: usize,
    /// Bytes from which on the first round comes from a table.
    face_pays: usize,
}

/// One message.
#[derive(Clone, Copy, Debug)]
struct Message {
    seal: bool,
    /// The nonce has not 96 bits.
    any: bool,
    rounds: usize,
    aad: usize,
    text: usize,
}

/// Blocks between two changes of the counter's constant.
const PERIOD: usize = 256;

impl Row {
    /// The work that the design gives a message.
    fn expected(self, m: Message) -> Work {
        let (vector, turn) = (16 * self.blocks, 16 * TURN * self.blocks);
        let turns = m.text.saturating_sub(turn + vector - 16).div_ceil(turn);
        let rest = m.text - turns * turn;
        let tail = self.tail(m, turns, rest.div_ceil(vector));

        // AAD waits for the tail of a message without turns if it leaves a lane for the lengths. (With one block a vector it gets a vector
        // of its own, in short messages only.) Much AAD before a short text takes vectors ahead of that one, and a reduction. Else it is hashed
        // first, with a reduction and a fold for each turn of it.
        let waits = self.is_short(m) || self.has_much_aad(m) || m.aad <= vector - 16 && turns == 0;
        // Of these vectors the first may be a block alone; the others are whole. (With one block a vector all are.)
        let much = self.has_much_aad(m);
        let alone = (much && self.blocks > 1 && m.aad % vector > vector - 16) as usize;
        let whole_ahead = if much { (m.aad - 16 * alone) / vector } else { 0 };
        let ahead = alone + whole_ahead;
        let absorbed = if waits { 0 } else { m.aad };
        // Up to a vector of it, before at least a vector of text: lanes stay lanes, without a fold, and all meet one power.
        let begins = absorbed > 0 && absorbed <= vector && m.text >= vector;
        let header = if self.blocks > 1 { 1 } else { 1 + (waits && m.aad > ahead * vector) as usize };

        let products = absorbed.div_ceil(vector) + header + TURN * turns + tail;
        let reductions = absorbed.div_ceil(turn) + turns + 1 + (ahead > 0) as usize;
        // One for the mask of the tag, which in one or two vectors takes a lane that the text leaves free.
        let has_lane = self.blocks > 1 && self.is_tail(m) && (1..=2).contains(&tail) && m.text <= tail * vector - 16;
        let states = TURN * turns + tail + if has_lane { 0 } else { 1 };
        let shorter = self.roomy && self.is_tail(m) && (m.seal || tail <= 2);
        // Vectors of the tail that are whole for certain. More than four that are opened are hashed while AES runs, and read again to be decrypted:
        // of two parts the first. So are those that are whole in a short message with AVX-512, from three states on.
        let whole = self.whole(m, turns, tail);
        let in_parts = self.is_in_parts(m, turns, rest.div_ceil(vector));
        let (again, more) = match () {
            _ if !m.seal && self.roomy && self.blocks > 1 && self.is_tail(m) && states > 2 => (whole, 0),
            _ if m.seal || tail <= 4 => (0, 0),
            _ if in_parts => (4, 0),
            _ => (whole.min(TURN), rest.min(turn) - whole.min(TURN) * vector),
        };
        let mut work = Work {
            clmul: if shorter { self.short_product } else { self.product } * products + self.short_product * ahead + self.fold * reductions,
            reductions: self.fold * reductions,
            // The tag; a message without text adds its hash to the lengths as a block.
            folds: if begins { 0 } else { absorbed.div_ceil(turn) } + 1 + (tail == 0) as usize,
            rounds: states * (m.rounds - 1),
            last_rounds: states,
            // Text in turns: to be encrypted, and to be hashed, unless registers keep it between the two. Two factors for each product whose powers
            // differ by lane, and what they leave in a sum of all lanes. Counters.
            loads: if m.seal && self.roomy { TURN } else { 2 * TURN } * turns
                + self.constants[shorter as usize] as usize
                + 2 * ahead
                + whole_ahead
                + if begins { 0 } else { absorbed / vector + absorbed.div_ceil(turn) }
                + 2 * (if begins { 0 } else { absorbed.div_ceil(vector) } + tail + header)
                + TURN * turns
                + tail
                + whole
                + again
                // Counters of the first part once more, which the optimiser drops.
                + if in_parts { 4 } else { 0 },
            bytes_read: if begins || absorbed == 0 { m.aad - whole_ahead * vector } else { m.aad % vector } + rest - whole * vector + more,
            bytes_written: m.text,
        };
        let face = m.text >= self.face_pays && !(m.seal && self.blocks == 1 && m.rounds == 10);
        if face {
            // Turns in a function of their own: the last one that is sealed is kept in memory.
            work.loads += if m.seal && self.roomy { TURN } else { 0 };
            // A round less for each state of a turn, for a table of 256 entries, and a round for each constant.
            let constants = 2 + TURN * self.blocks * turns / PERIOD;
            work.rounds = work.rounds - TURN * turns + PERIOD / self.blocks + constants;
            work.loads += PERIOD / self.blocks;
            work.bytes_written += 16 * (PERIOD + PERIOD + 8); // made, and wiped
        }
        work
    }

    /// The work of a message whose counter is secret, or that has no other way: its AAD, whole turns of text, the rest, the lengths.
    fn expected_sequential(self, m: Message) -> Work {
        let (vector, turn) = (16 * self.blocks, 16 * TURN * self.blocks);
        let (turns, rest) = (m.text / turn, m.text % turn);
        let vectors = rest.div_ceil(vector);
        let products = m.aad.div_ceil(vector) + TURN * turns + vectors + 1;
        let reductions = m.aad.div_ceil(turn) + turns + (rest > 0) as usize + 1;
        // The rest is encrypted in fours, of which only those vectors have a last round that there are; but a single vector by itself. One more masks
        // the tag.
        let states = TURN * turns + if vectors % 4 == 1 { vectors } else { vectors.next_multiple_of(4) } + 1;
        Work {
            clmul: self.product * products + self.fold * reductions,
            reductions: self.fold * reductions,
            // One for each reduction, and the mask of the tag.
            folds: reductions + 1,
            rounds: states * (m.rounds - 1),
            last_rounds: TURN * turns + vectors + 1,
            // Two factors for each product, and what they leave in each sum; AAD by whole vectors; turns, to be encrypted and to be hashed, unless
            // registers keep what was sealed; the hash before AAD, text and lengths; how far the lanes' counters are apart, if there is a text.
            loads: 2 * products
                + reductions
                + m.aad / vector
                + if m.seal && self.roomy { TURN } else { 2 * TURN } * turns
                + 3
                + (m.text > 0) as usize,
            bytes_read: m.aad % vector + rest,
            // The text, and the hash behind AAD and behind text.
            bytes_written: m.text + 2 * vector,
        }
    }

    /// A message that is nothing but a tail.
    fn is_short(self, m: Message) -> bool {
        m.text <= 4 * 16 * self.blocks && m.aad <= 16 * (self.blocks - 1).max(1)
    }

    /// A short text with more AAD, each block of which has a power of its own.
    fn has_much_aad(self, m: Message) -> bool {
        m.text <= 4 * 16 * self.blocks && !self.is_short(m) && m.aad.div_ceil(16) < 6 * self.blocks
    }

    /// One of these.
    fn is_tail(self, m: Message) -> bool {
        self.is_short(m) || self.has_much_aad(m)
    }

    /// A tail in two parts.
    fn is_in_parts(self, m: Message, turns: usize, vectors: usize) -> bool {
        if !m.seal {
            return !self.roomy && vectors > 4;
        }
        let pays = if self.roomy {
            self.blocks > 1 && (turns == 0 || m.rounds > 10 && m.text < spread_pays(true))
        } else {
            turns == 0 || self.blocks > 1 && !(7..=8).contains(&vectors)
        };
        vectors > 4 && pays
    }

    /// Vectors that a tail of so many can be certain to have, each without a length of its own.
    fn whole(self, m: Message, turns: usize, tail: usize) -> usize {
        match tail {
            0 => 0,
            _ if self.is_tail(m) => tail - 1,
            1 | 2 => 0,
            4 if m.seal && self.blocks > 1 && m.text <= 128 * self.blocks + 16 * (self.blocks - 1) => 0,
            4 => 2,
            6 | 8 if self.blocks == 1 => tail - 2,
            8 if m.seal && !self.roomy && turns > 0 => 6,
            _ => tail - 1,
        }
    }

    /// Vectors that a tail works on which has `vectors`: there is not a function for each number. (Of vectors of one block it has eight at most.)
    fn tail(self, m: Message, turns: usize, vectors: usize) -> usize {
        let least = |sizes: &[usize]| *sizes.iter().find(|size| **size >= vectors).unwrap();
        if m.seal && !self.roomy && turns > 0 && (7..=8).contains(&vectors) {
            8
        } else if self.is_tail(m) || self.blocks > 1 && vectors > 4 {
            vectors
        } else if m.seal && self.blocks > 1 && turns == 0 {
            least(&[0, 4, 6, 8])
        } else {
            least(&[0, 2, 4, 6, 8])
        }
    }
}

/// Does a message, and returns what it took.
fn measured<S: Isa, M: Multiply<S>>(s: S, multiply: M, m: Message, key: &Material, aad: &[u8], text: &mut [u8]) -> Work {
    let Kind::Public(nonce) = Nonce::from([9; 12]).0 else { unreachable!() };
    let text = InOut::in_place(text);
    Work::start();
    match m.seal {
        seal if m.any => sequential::message(s, multiply, key, J0::from(nonce), aad, text, seal),
        true => by_length::<_, _, true>(s, multiply, key, nonce, aad, text),
        false => by_length::<_, _, false>(s, multiply, key, nonce, aad, text),
    };
    Work::done()
}

/// Runs a row through all messages, and returns how many they were.
fn row<const B: usize, const ROOMY: bool, M: Multiply<Counting<B, ROOMY>>>(multiply: M, product: usize, fold: usize) -> usize {
    let s = Counting::<B, ROOMY>;
    let constants = [M::CONSTANTS, <M::Short as Multiply<Counting<B, ROOMY>>>::CONSTANTS];
    let short_product = if constants[0] == constants[1] { product } else { 4 };
    let row = Row { blocks: B, roomy: ROOMY, product, short_product, constants, fold, face_pays: Counting::<B, ROOMY>::FACE_PAYS };
    let edges = (1..=20).flat_map(|n| [16 * B * n - 1, 16 * B * n, 16 * B * n + 1]);
    let sizes: Vec<usize> =
        [0, 1, 63, 64, 200, 300, 500, 512, 1420, 4095, 4096, 16383, 16384, 40000, 65535, 65536].into_iter().chain(edges).collect();
    let mut messages = 0;
    for (key_length, rounds) in [(16, 10), (24, 12), (32, 14)] {
        let mut key = Material::ZERO;
        expand_in(s, multiply, &mut key, &vec![5; key_length], None);
        for (i, text) in sizes.iter().enumerate() {
            for (seal, any) in [(true, false), (false, false), (true, true), (false, true)] {
                for aad in if i < 16 { &[0, 13, 16, 17, 48, 49, 100, 368, 369, 700][..] } else { &[13] } {
                    let m = Message { seal, any, rounds, aad: *aad, text: *text };
                    let work = measured(s, multiply, m, &key, &vec![1; *aad], &mut vec![2; *text]);
                    let expected = if any { row.expected_sequential(m) } else { row.expected(m) };
                    assert_eq!(work, expected, "{B} blocks, {m:?}");
                    messages += 1;
                }
            }
        }
    }
    messages
}

/// What a row takes that goes the plain way: AES of `state` blocks at a time, of which J0 is the first, and a product and a reduction
/// for each B blocks of AAD, text and lengths.
#[derive(Clone, Copy)]
struct Plain {
    state: usize,
    /// Multiplications and reductions to make a key.
    key: (usize, usize),
    /// Multiplications for B blocks, with those of the reduction.
    clmul: usize,
    /// A sum over lanes, and vectors of powers and of what they leave in it.
    folds: usize,
    loads: usize,
}

fn plain_row<const B: usize, const ROOMY: bool, const N: usize, M>(multiply: M, plain: Plain) -> usize
where
    Counting<B, ROOMY>: Sliced<N>,
    M: Pairs<Counting<B, ROOMY>>,
{
    let s = Counting::<B, ROOMY>;
    let edges = (1..=20).flat_map(|n| [16 * n - 1, 16 * n, 16 * n + 1]);
    let sizes: Vec<usize> = [0, 1, 63, 64, 200, 300, 500, 512, 1420, 4095, 4096, 16383, 16384, 40000].into_iter().chain(edges).collect();
    let mut messages = 0;
    for (key_length, rounds) in [(16, 10), (24, 12), (32, 14)] {
        let mut key = software::Material::ZERO;
        Work::start();
        software::expand(s, multiply, &mut key.schedule, &mut key.tables, &vec![5; key_length]);
        let made = Work::done();
        assert_eq!((made.last_rounds, (made.clmul, made.reductions)), (1, plain.key), "a key of {key_length} bytes");
        for text in &sizes {
            for seal in [true, false] {
                for aad in [0, 13, 16, 17, 48, 49, 700] {
                    let Kind::Public(nonce) = Nonce::from([9; 12]).0 else { unreachable!() };
                    let (header, mut bytes) = (vec![1; aad], vec![2; *text]);
                    Work::start();
                    software::message(s, multiply, &key, nonce.into(), &header, InOut::in_place(&mut bytes), seal);
                    let blocks = text.div_ceil(16);
                    let hashed = aad.div_ceil(16) + blocks + 1;
                    let products = hashed.div_ceil(B);
                    let states = (1 + blocks).div_ceil(plain.state);
                    let expected = Work {
                        clmul: if plain.folds == 0 { hashed } else { plain.clmul * products },
                        reductions: products,
                        folds: plain.folds * products,
                        rounds: states * (rounds - 1),
                        last_rounds: states,
                        loads: plain.loads * products,
                        bytes_read: *text, // to be encrypted; hashed as integers
                        bytes_written: *text,
                    };
                    assert_eq!(Work::done(), expected, "seal: {seal}, AAD {aad}, text {text}, {rounds} rounds, {B} blocks a vector");
                    messages += 1;
                }
            }
        }
    }
    messages
}

#[test]
fn every_row() {
    // A key's tables are made by hashing a vector, for the constants and for H^2; and each time they are set, by a fold.
    let one_lane = Plain { state: 4, key: (4 + 2, 1 + 2), clmul: 4, folds: 1, loads: 3 };
    let two_lanes = Plain { state: 8, key: (2 * 4 + 3, 2 + 3), ..one_lane };
    let nibbles = Plain { state: 1, key: (1, 1), clmul: 2, folds: 0, loads: 0 };
    // Blocks a vector, many registers; multiplications for a vector, and for a reduction.
    let rows = [
        ("vaes-avx512", row::<4, true, _>(Winograd, 3, 1)),
        ("vaes-avx2", row::<2, false, _>(Winograd, 3, 1)),
        ("aesni-avx", row::<1, false, _>(Winograd, 3, 1)),
        ("aesni-sse", row::<1, false, _>(Winograd, 3, 1)),
        ("vpaes-ssse3", plain_row::<2, true, 8, _>(Nibbles, nibbles)),
        ("aes-neon-eor3", row::<1, true, _>(KeyFoldedHalves, 4, 1)),
        ("aes-neon", row::<1, true, _>(Karatsuba, 3, 2)),
        // RISC-V takes the other way with any nonce, and that is among them.
        ("aes-zvkned", row::<4, true, _>(KeyFolded, 4, 1)),
        ("portable", plain_row::<1, false, 4, _>(Winograd, one_lane) + plain_row::<2, false, 8, _>(Winograd, two_lanes)),
    ];
    let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    let table: Vec<&str> = Backend::ALL.iter().map(|backend| backend.name()).collect();
    assert_eq!(names, table, "each row of the table stands here, with its blocks and its multiplication");
    for (name, messages) in rows {
        let plain = 3 * 74 * 2 * 7;
        let expected = if name == "portable" {
            2 * plain
        } else if name == "vpaes-ssse3" {
            plain
        } else {
            3 * 4 * (16 * 10 + 60)
        };
        assert_eq!(messages, expected);
        println!("counts::{name} ok {messages}");
    }
}

/// The same, said for a few messages in numbers that one can check by hand.
#[test]
fn by_hand() {
    let s = Counting::<4, true>;
    let mut key = Material::ZERO;
    expand_in(s, Winograd, &mut key, &[5; 16], None);
    let seal = |aad: usize, text: usize| {
        let m = Message { seal: true, any: false, rounds: 10, aad, text };
        measured(s, Winograd, m, &key, &vec![1; aad], &mut vec![2; text])
    };
    // A vector of text and one for AAD and lengths, four multiplications each; one reduction, one sum over lanes; two AES states.
    let one_vector = Work { clmul: 9, reductions: 1, folds: 1, rounds: 18, last_rounds: 2, loads: 5, bytes_read: 77, bytes_written: 64 };
    assert_eq!(seal(13, 64), one_vector);
    // 48 bytes leave a lane for the mask of the tag: one AES state.
    assert_eq!(seal(13, 48), Work { rounds: 9, last_rounds: 1, bytes_read: 61, bytes_written: 48, ..one_vector });
    // One reduction up to 35 blocks; from there on one more for each turn, and one for AAD, which cannot wait that long.
    let reductions = [0, 64, 560, 561, 1072, 1073, 4096].map(|text| seal(13, text).reductions);
    assert_eq!(reductions, [1, 1, 1, 3, 3, 4, 9]);
    println!("counts::by_hand ok {}", 2 + reductions.len());
}

//! Packets of one length, four side by side: one for each lane of a vector of four blocks.
//!
//! A short message leaves most of the processor idle: its tag's mask fills one lane of an AES state, its AAD and its lengths two lanes of a
//! product, and each message adds up the lanes of its own hash. Here four packets share these: lane p of one state masks the tag of packet p, lane
//! p of one product is the AAD of packet p, and one reduction serves all tags. Each packet's text has vectors of its own, as in [`tail`](super::tail).

use super::{
    counter::{STATES, TableCounter},
    message::{blocks, lengths},
    turn::{Keys, NoHash, rounds},
};
use crate::{
    ghash::{Ask, Down, Multiply},
    inout::{InOut, Table, part_of_block},
    isa::Isa,
    material::Material,
    nonce::{Nonce96, counter},
    packet::{Packet, TOGETHER},
};
use core::hint::black_box;

/// Packets side by side. (With vectors of two blocks a packet of 64 bytes would take 0.7 of the time, for 22 KB of code.)
const LANES: usize = TOGETHER;

/// The most bytes of AAD, and of text, of such packets; and of text two and four times as many.
pub(crate) const fn most_batch(blocks: usize) -> Option<(usize, usize)> {
    if blocks == LANES { Some((16, 16 * LANES)) } else { None }
}

/// Seals or opens packets while AAD and text of the next four are as long as those of the first, and no longer than `most_batch` says. Returns how
/// many, and whether a tag was wrong.
#[inline(always)]
pub(crate) fn batch<S: Isa, M: Multiply<S>, const SEAL: bool>(s: S, _: M, key: &Material, packets: &mut [Packet<'_>]) -> (usize, bool) {
    let Some((aad, text)) = packets.first().and_then(Packet::lengths) else { return (0, false) };
    let (mut done, mut wrong) = (0, false);
    let shape = Shape::<S, M::Short>::new(s, key, aad, text);
    /// `$n` vectors of text, of which `$whole` are whole for certain; `$pass` packets at a time.
    macro_rules! groups {
        ($n:literal $whole:literal $pass:literal $text:literal $all:literal) => {
            for group in packets.chunks_exact_mut(LANES) {
                let Some(one_wrong) = shape.group::<SEAL, $n, $whole, $pass, $text, $all>(s, key, group) else { break };
                wrong |= one_wrong;
                done += LANES;
            }
        };
    }
    // Whole vectors need no masks, and nobody need ask where a page ends.
    match (text.div_ceil(16 * S::BLOCKS), text.is_multiple_of(16 * S::BLOCKS)) {
        (1, true) => groups!(1 1 4 4 5),
        (2, true) => groups!(2 2 4 8 9),
        (4, true) => groups!(4 4 2 8 9),
        (0..=1, _) => groups!(1 0 4 4 5),
        _ => {}
    }
    (done, wrong)
}

/// What packets of one length have in common.
struct Shape<'a, S: Isa, M: Multiply<S>> {
    text: <crate::ghash::Powers as Ask<S>>::Down<'a>,
    /// The entries of AAD's power, in every lane.
    aad: (S::V, S::V),
    aad_bytes: usize,
    /// The lengths times H, in every lane.
    lengths: M::Sum,
    bytes: usize,
}

impl<'a, S: Isa, M: Multiply<S>> Shape<'a, S, M> {
    #[inline(always)]
    fn new(s: S, key: &'a Material, aad: usize, text: usize) -> Self {
        const { assert!(!M::CONSTANTS && S::BLOCKS == LANES) }
        let n = blocks(text);
        let (first, second) = key.powers.down_from(s, 1).splat();
        Self {
            text: key.powers.down_from(s, n + 1),
            aad: key.powers.down_from(s, n + 2).splat(),
            aad_bytes: aad,
            lengths: M::product(s, M::ready(s, s.splat(lengths(aad as u64, text as u64)), first, second)),
            bytes: text,
        }
    }

    /// A packet for each lane, `PASS` of them at a time: `N` vectors of text each, `TEXT` in all, and in the last pass one state more for the masks
    /// of the tags. Returns whether a tag was wrong; nothing if a packet has other lengths, and then nothing has changed.
    #[inline(always)]
    fn group<const SEAL: bool, const N: usize, const WHOLE: usize, const PASS: usize, const TEXT: usize, const ALL: usize>(
        &self,
        s: S,
        key: &Material,
        packets: &mut [Packet<'_>],
    ) -> Option<bool> {
        const { assert!(TEXT == PASS * N && ALL == TEXT + 1 && ALL <= STATES) }
        assert!(packets.len() == LANES);
        let schedule = &key.schedule;
        let (mut aads, mut texts) = (Table::<4>::ZERO, [const { InOut::EMPTY }; 4]);
        let none = TableCounter::new(s, schedule, Nonce96::ZERO);
        let mut counters = [none.clone(), none.clone(), none.clone(), none];
        for (p, packet) in packets.iter_mut().enumerate() {
            if packet.aad.len() != self.aad_bytes {
                return None;
            }
            if self.aad_bytes > 0 {
                aads.set(p, part_of_block(packet.aad));
            }
            counters[p] = TableCounter::new(s, schedule, packet.nonce96());
            texts[p] = packet.in_out().filter(|text| text.len() == self.bytes)?;
        }
        let keys = Keys::of(&schedule.keys);
        let (prev, last) = (s.state(s.splat(*schedule.before_last())), s.state(s.splat(schedule.last)));
        let zero = s.splat(0);
        // Lanes come in from below, so packets are taken from the last to the first.
        let below = |v: S::V, lanes: S::V| s.lanes_from(v, lanes, LANES - 1);
        let (mut starts, mut hashes, mut masks) = (zero, [M::zero(s); 4], s.state(zero));
        each!(R in 1 0 => { if const { R * PASS < LANES } {
            let (mut x, mut inputs) = ([s.state(zero); STATES], [zero; STATES]);
            each!(Q in 3 2 1 0 => { if const { Q < PASS } {
                let counters = &counters[R * PASS + Q];
                starts = below(counters.zero(), starts);
                // All texts are read before any is written: a masked load waits for what was just stored beside its bytes.
                let text = &texts[R * PASS + Q];
                each!(I in 0 1 2 3 => { if const { I < N } {
                    x[Q * N + I] = counters.vector::<I>(s);
                    inputs[Q * N + I] = text.load::<S, I, WHOLE>(s);
                } });
            } });
            if R == 0 {
                x[TEXT] = s.state(s.xor(starts, s.splat(counter(1))));
                rounds::<S, M, _, TableCounter<S>, 0, ALL>(s, schedule, &keys, &mut x, &NoHash);
                masks = x[TEXT];
            } else {
                rounds::<S, M, _, TableCounter<S>, 0, TEXT>(s, schedule, &keys, &mut x, &NoHash);
            }
            // Else LLVM moves each packet's rounds behind the stores of the one before.
            each!(I in 0 1 2 3 4 5 6 7 8 => { if const { I < TEXT } { s.pin_state(&mut x[I]); } });
            each!(Q in 3 2 1 0 => { if const { Q < PASS } {
                let text = &mut texts[R * PASS + Q];
                let mut sum = M::zero(s);
                each!(I in 0 1 2 3 => { if const { I < N } {
                    let input = inputs[Q * N + I];
                    let output = s.last_round(x[Q * N + I], prev, last, input);
                    text.store::<S, I, WHOLE>(s, output);
                    let hashed = if !SEAL {
                        input
                    } else if const { I < WHOLE } {
                        output
                    } else {
                        s.keep_first(output, text.bytes::<S, I>())
                    };
                    let (first, second) = self.text.vector(I * S::BLOCKS);
                    sum = M::add(s, sum, M::product(s, M::ready(s, s.byte_swap(hashed), first, second)));
                } });
                hashes[R * PASS + Q] = sum;
            } });
        } });
        // From memory: else LLVM puts the vector together of its bytes.
        let aads = s.byte_swap(black_box(&aads).load(s, 0));
        let sum = M::add3(s, self.lengths, M::product(s, M::ready(s, aads, self.aad.0, self.aad.1)), M::sums(s, hashes));
        let hashes = s.byte_swap(M::reduce(s, sum, zero));
        let mut tags = Table::<4>::ZERO;
        tags.store(s, 0, s.last_round(masks, prev, last, hashes));
        let mut wrong = false;
        each!(P in 0 1 2 3 => { wrong |= packets[P].conclude::<SEAL>(tags.get(P)); });
        Some(wrong)
    }
}

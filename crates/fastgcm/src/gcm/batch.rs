//! Packets of one length, four side by side: one for each lane of a vector of four blocks.
//!
//! A short message leaves most of the processor idle: its tag's mask fills one lane of an AES state, its AAD
//! and its lengths fill two lanes of a product, its last blocks fill part of a vector, and its hash is added
//! up over the lanes. Here lane p of every vector belongs to packet p: vector j has the j-th blocks of four
//! packets, all lanes meet one power of H, and one reduction serves all tags. Only where text is loaded and
//! stored does a vector hold four blocks of one packet; a transposition stands between the two forms.

use super::{
    counter::STATES,
    key::WovenMaterial,
    plan::{blocks, lengths},
    turn::{HashWork, rounds},
};
use crate::{
    ghash::{HasPowers, Multiply},
    inout::{InOut, Table, part_of_block},
    isa::Isa,
    nonce::counter,
    packet::{Packet, TOGETHER},
};
use core::{hint::black_box, marker::PhantomData};

/// The number of packets side by side. (With vectors of two blocks a packet of 64 bytes would take 0.7 of the
/// time, but need 22 KB of code.)
const LANES: usize = TOGETHER;

/// Returns the most bytes of AAD, and of text, of such packets.
pub(crate) const fn max_batch(blocks: usize) -> Option<(usize, usize)> {
    if blocks == LANES { Some((16, 16 * LANES)) } else { None }
}

/// Seals or opens packets while AAD and text of the next four are as long as those of the first packet, and
/// no longer than `max_batch` says. Returns how many packets were done, and how many of their tags are
/// wrong.
#[inline(always)]
pub(crate) fn batch<S: Isa, M: Multiply<S>, const SEAL: bool>(
    s: S,
    _: M,
    key: &WovenMaterial,
    packets: &mut [Packet<'_>],
) -> (usize, usize) {
    let Some((aad, text)) = packets.first().and_then(Packet::lengths) else { return (0, 0) };
    let shape = Shape::<S, M> { s, multiply: PhantomData, key, aad, text, blocks: blocks(text) };
    if text <= 16 { shape.groups::<SEAL, 1, 2>(packets) } else { shape.groups::<SEAL, 4, 5>(packets) }
}

/// What packets of one length have in common.
struct Shape<'a, S, M> {
    s: S,
    multiply: PhantomData<M>,
    key: &'a WovenMaterial,
    /// The bytes of AAD and of text, and the blocks of text.
    aad: usize,
    text: usize,
    blocks: usize,
}

/// `N` blocks of each packet that are to be hashed while other blocks are encrypted.
struct PacketBlocks<'a, S: Isa, M, const N: usize> {
    shape: &'a Shape<'a, S, M>,
    blocks: [S::V; 4],
}

impl<S: Isa, M: Multiply<S>, const N: usize> HashWork<S, M> for PacketBlocks<'_, S, M, N> {
    const COUNT: usize = N;

    #[inline(always)]
    fn ready<const I: usize>(&self, s: S) -> M::Ready {
        let (first, second) = self.shape.power(I);
        M::ready(s, s.byte_swap(self.blocks[I]), first, second)
    }
}

/// Four packets whose tags are still to be made.
#[derive(Clone, Copy)]
struct Untagged<S: Isa, M: Multiply<S>> {
    /// The sum over their text, except the blocks in [`PacketBlocks`].
    sum: M::Sum,
    aads: S::V,
    masks: S::State,
}

impl<S: Isa, M: Multiply<S>> Shape<'_, S, M> {
    /// Returns the entries of H^n, in every lane.
    #[inline(always)]
    fn entries(&self, n: usize) -> (S::V, S::V) {
        self.key.tables.powers_from(self.s, n).splat()
    }

    /// Multiplies a block by H^n, in every lane.
    #[inline(always)]
    fn product(&self, v: S::V, n: usize) -> M::Sum {
        let (first, second) = self.entries(n);
        M::product(self.s, M::ready(self.s, v, first, second))
    }

    /// Returns the entries of the power that block `i` of a text meets. If there is no such block, the block
    /// is zero and meets H.
    #[inline(always)]
    fn power(&self, i: usize) -> (S::V, S::V) {
        self.entries((self.blocks + 1).saturating_sub(i).max(1))
    }

    /// Returns what ends the hash of each packet: the lengths times H, and what the powers that a packet uses
    /// leave over. `N` blocks of each packet are hashed, though the last packet may have fewer.
    #[inline(always)]
    fn ends<const N: usize>(&self) -> M::Sum {
        let s = self.s;
        let mut sum = self.product(s.splat(lengths(self.aad as u64, self.text as u64)), 1);
        if const { M::CONSTANTS } {
            for n in 1..=self.blocks + 2 {
                sum = M::add(s, sum, self.product(s.splat(0), n));
            }
            if !N.saturating_sub(self.blocks).is_multiple_of(2) {
                sum = M::add(s, sum, self.product(s.splat(0), 1));
            }
        }
        sum
    }

    /// Makes the tags of four packets. Returns how many tags are wrong.
    #[inline(always)]
    fn tag<const SEAL: bool>(
        &self,
        packets: &mut [Packet<'_>; LANES],
        Untagged { sum, aads, masks }: Untagged<S, M>,
        ends: M::Sum,
    ) -> usize {
        let (s, schedule) = (self.s, &self.key.schedule);
        let aads = self.product(s.byte_swap(aads), self.blocks + 2);
        let hash = M::reduce(s, M::add3(s, sum, aads, ends), s.splat(0));
        let mut tags = Table::<4>::ZERO;
        tags.store(s, 0, schedule.last_round(s, masks, s.byte_swap(hash)));
        let mut wrong = 0;
        each!(P in 0 1 2 3 => { wrong += usize::from(packets[P].conclude::<SEAL>(tags.get(P))); });
        wrong
    }

    /// Encrypts `N` blocks of each packet, and one more state for the masks of the tags, while the ciphertext
    /// of the previous four packets is hashed.
    #[inline(always)]
    fn groups<const SEAL: bool, const N: usize, const ALL: usize>(
        &self,
        packets: &mut [Packet<'_>],
    ) -> (usize, usize) {
        const { assert!(ALL == N + 1 && N <= LANES) }
        let (s, schedule, zero, ends) = (self.s, &self.key.schedule, self.s.splat(0), self.ends::<N>());
        let (mut done, mut wrong) = (0, 0);
        let mut hashed = PacketBlocks::<S, M, N> { shape: self, blocks: [zero; 4] };
        let mut untagged = Untagged::<S, M> { sum: M::zero(s), aads: zero, masks: s.state(zero) };
        loop {
            let (before, behind) = packets.split_at_mut(done);
            let Some(group) = behind.first_chunk_mut::<LANES>() else { break };
            let (mut aads, mut nonces, mut texts, mut fit) =
                (Table::<4>::ZERO, [zero; 4], [const { InOut::EMPTY }; 4], true);
            for (p, packet) in group.iter_mut().enumerate() {
                fit &= packet.aad.len() == self.aad;
                if fit && self.aad > 0 {
                    aads.set(p, part_of_block(packet.aad));
                }
                nonces[p] = packet.nonce96().splat(s);
                match packet.in_out() {
                    Some(text) if text.len() == self.text => texts[p] = text,
                    _ => fit = false,
                }
            }
            if !fit {
                break;
            }
            // All texts are read before any is written: a masked load waits for bytes that were just stored
            // next to its own. (No closures here: LLVM turns some closures into functions, which lack the
            // row's features.)
            let mut inputs = [zero; 4];
            each!(P in 0 1 2 3 => { inputs[P] = texts[P].load::<S, 0, 0>(s); });
            inputs = s.transpose(inputs);
            let starts = s.whiten(s.lanes(nonces), s.splat(schedule.keys[0]));
            let mut x = [s.state(zero); STATES];
            each!(I in 0 1 2 3 => { if const { I < N } {
                x[I] = s.state(s.xor(starts, s.splat(counter(I as u32 + 2))));
            } });
            x[N] = s.state(s.xor(starts, s.splat(counter(1))));
            let new = rounds::<S, M, _, ALL, 0>(s, schedule.keys(), &mut x, &mut (), &hashed);
            if let Some(before) = before.last_chunk_mut::<LANES>() {
                untagged.sum = M::add(s, untagged.sum, new);
                wrong += self.tag::<SEAL>(before, untagged, ends);
            }
            let mut outputs = [zero; 4];
            each!(J in 0 1 2 3 => { if const { J < N } {
                outputs[J] = schedule.last_round(s, x[J], inputs[J]);
                hashed.blocks[J] = if SEAL { outputs[J] } else { inputs[J] };
            } });
            outputs = s.transpose(outputs);
            each!(P in 0 1 2 3 => { texts[P].store::<S, 0, 0>(s, outputs[P]); });
            if SEAL && self.text < 16 * N {
                each!(P in 0 1 2 3 => { outputs[P] = s.keep_first(outputs[P], self.text); });
                outputs = s.transpose(outputs);
                each!(J in 0 1 2 3 => { hashed.blocks[J] = outputs[J]; });
            }
            // The AADs come from memory: otherwise LLVM would build the vector from single bytes.
            untagged = Untagged { sum: M::zero(s), aads: black_box(&aads).load(s, 0), masks: x[N] };
            done += LANES;
        }
        if let Some(before) = packets[..done].last_chunk_mut::<LANES>() {
            each!(I in 0 1 2 3 => { if const { I < N } {
                let product = M::product(s, HashWork::<S, M>::ready::<I>(&hashed, s));
                untagged.sum = M::add(s, untagged.sum, product);
            } });
            wrong += self.tag::<SEAL>(before, untagged, ends);
        }
        (done, wrong)
    }
}

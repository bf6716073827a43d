//! Semantics of vector instructions. Each stands once: for the old encoding and the new ones, for all widths; masks are the destination's.
//!
//! `family` says which mnemonics there are and what each does. Most of them only move elements.

use crate::{
    field::{Bit, Block, Byte, I, O, Sums, Vector, elements, lifted, none, number},
    machine::{Flags, Machine, Result, WIDEST, Word, Zero, is_extended, stop, wants_alignment},
    spec,
};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// What a vector instruction does; numbers are bits of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Family {
    /// A whole vector; memory that is masked off is not touched.
    Move(usize),
    /// And memory must be aligned to its size.
    MoveAligned(usize),
    /// The lowest bits, from or to memory, a general or a vector register; what is above becomes zero.
    Low,
    /// The lowest bits in place of those of another vector.
    Scalar(usize),
    /// Half of a vector of 128 bits, from this bit on, from or to memory.
    Half(usize),
    /// The low half of the second behind that of the first; the high half of the second below that of the first.
    LowToHigh,
    HighToLow,
    Xor(usize),
    And(usize),
    AndNot(usize),
    Or(usize),
    Ternary(usize),
    AesRound(bool),
    /// The inverse of what mixes columns: linear.
    AesUnmix,
    /// The S-box of two words, each also rotated, with a round constant.
    AesKey,
    Multiply,
    /// Bytes of each lane by an index.
    Bytes,
    /// Elements of all of the vector by an index; of two vectors.
    Any(usize),
    AnyOfTwo(usize, bool),
    /// Four elements of each 4 by an immediate number.
    Four(usize),
    LowFour,
    HighFour,
    /// Two of the first vector, two of the second.
    Shuffle(usize),
    Unpack(usize, bool),
    /// Bytes, or elements, from two vectors one behind the other.
    AlignBytes,
    Align(usize),
    /// Bytes of a lane moved up, or down.
    BytesUp,
    BytesDown,
    Up(usize),
    Down(usize),
    DownSigned(usize),
    Sum(usize),
    Difference(usize),
    Equal(usize),
    Unequal(usize),
    /// Signed; of symbols only whether they are negative.
    Greater(usize),
    Compare(usize),
    /// Whether both have a bit; or none.
    TestToMask(usize, bool),
    Smallest(usize),
    Greatest(usize),
    Broadcast(usize, usize),
    /// Words become bytes; what is too great becomes 255, and what is negative 0.
    Pack,
    Insert(usize, usize),
    Extract(usize, usize),
    Lanes(usize),
    TwoLanes,
    Blend(usize),
    BlendByMask(usize),
    Expand(usize),
    ExtractElement(usize),
    InsertElement(usize),
    InsertScalar,
    MaskMove(u32),
    MaskXor(u32, bool),
    MaskShift(u32, bool),
    /// Flags: whether two masks have no one, and whether they have no zero.
    MaskTest(u32),
    MaskToVector(usize),
    VectorToMask(usize),
    SignsToRegister,
    Test,
    /// Where two strings of bytes, which end with a zero, are not equal: of numbers, as `strcmp` asks.
    Strings,
    ClearAbove,
    ClearAll,
}
use Family::*;

#[rustfmt::skip]
fn family(m: Mnemonic) -> Option<Family> {
    use Mnemonic::*;
    Some(match m {
        Vmovdqu8 => Family::Move(8),
        Vmovdqu16 => Family::Move(16),
        Vmovdqu32 | Vmovups => Family::Move(32),
        Movdqu | Movups | Movupd | Lddqu | Vmovdqu | Vmovupd | Vmovdqu64 | Vlddqu => Family::Move(64),
        Vmovdqa32 | Vmovaps => MoveAligned(32),
        Movdqa | Movaps | Movapd | Vmovdqa | Vmovapd | Vmovdqa64 | Vmovntdq | Movntdq | Movntps | Vmovntps => MoveAligned(64),
        Movd | Vmovd | Movq | Vmovq => Low,
        Movss | Vmovss => Scalar(32),
        Movsd | Vmovsd => Scalar(64),
        Movlps | Movlpd | Vmovlps | Vmovlpd => Half(0),
        Movhps | Movhpd | Vmovhps | Vmovhpd => Half(64),
        Movlhps | Vmovlhps => LowToHigh,
        Movhlps | Vmovhlps => HighToLow,
        Vpxord => Family::Xor(32),
        Pxor | Xorps | Xorpd | Vpxor | Vxorps | Vxorpd | Vpxorq => Family::Xor(64),
        Vpandd => Family::And(32),
        Pand | Andps | Andpd | Vpand | Vandps | Vandpd | Vpandq => Family::And(64),
        Vpandnd => AndNot(32),
        Pandn | Andnps | Andnpd | Vpandn | Vandnps | Vandnpd | Vpandnq => AndNot(64),
        Vpord => Family::Or(32),
        Por | Orps | Orpd | Vpor | Vorps | Vorpd | Vporq => Family::Or(64),
        Vpternlogd => Ternary(32),
        Vpternlogq => Ternary(64),
        Aesenc | Vaesenc => AesRound(true),
        Aesenclast | Vaesenclast => AesRound(false),
        Aesimc | Vaesimc => AesUnmix,
        Aeskeygenassist | Vaeskeygenassist => AesKey,
        Pclmulqdq | Vpclmulqdq => Multiply,
        Pshufb | Vpshufb => Bytes,
        Vpermb => Any(8),
        Vpermd | Vpermps => Any(32),
        Vpermq | Vpermpd => Any(64),
        Vpermt2b => AnyOfTwo(8, true),
        Vpermt2d => AnyOfTwo(32, true),
        Vpermt2q => AnyOfTwo(64, true),
        Vpermi2b => AnyOfTwo(8, false),
        Vpermi2d => AnyOfTwo(32, false),
        Vpermi2q => AnyOfTwo(64, false),
        Pshufd | Vpshufd => Four(32),
        Pshuflw | Vpshuflw => LowFour,
        Pshufhw | Vpshufhw => HighFour,
        Shufps | Vshufps => Shuffle(32),
        Shufpd | Vshufpd => Shuffle(64),
        Punpcklbw | Vpunpcklbw => Unpack(8, false),
        Punpckhbw | Vpunpckhbw => Unpack(8, true),
        Punpcklwd | Vpunpcklwd => Unpack(16, false),
        Punpckhwd | Vpunpckhwd => Unpack(16, true),
        Punpckldq | Vpunpckldq | Unpcklps | Vunpcklps => Unpack(32, false),
        Punpckhdq | Vpunpckhdq | Unpckhps | Vunpckhps => Unpack(32, true),
        Punpcklqdq | Vpunpcklqdq | Unpcklpd | Vunpcklpd => Unpack(64, false),
        Punpckhqdq | Vpunpckhqdq | Unpckhpd | Vunpckhpd => Unpack(64, true),
        Palignr | Vpalignr => AlignBytes,
        Valignd => Align(32),
        Valignq => Align(64),
        Pslldq | Vpslldq => BytesUp,
        Psrldq | Vpsrldq => BytesDown,
        Psllw | Vpsllw => Up(16),
        Pslld | Vpslld => Up(32),
        Psllq | Vpsllq => Up(64),
        Psrlw | Vpsrlw => Down(16),
        Psrld | Vpsrld => Down(32),
        Psrlq | Vpsrlq => Down(64),
        Psraw | Vpsraw => DownSigned(16),
        Psrad | Vpsrad => DownSigned(32),
        Vpsraq => DownSigned(64),
        Paddb | Vpaddb => Sum(8),
        Paddw | Vpaddw => Sum(16),
        Paddd | Vpaddd => Sum(32),
        Paddq | Vpaddq => Sum(64),
        Psubb | Vpsubb => Difference(8),
        Psubw | Vpsubw => Difference(16),
        Psubd | Vpsubd => Difference(32),
        Psubq | Vpsubq => Difference(64),
        Pcmpeqb | Vpcmpeqb => Equal(8),
        Pcmpeqw | Vpcmpeqw => Equal(16),
        Pcmpeqd | Vpcmpeqd => Equal(32),
        Pcmpeqq | Vpcmpeqq => Equal(64),
        Pcmpgtb | Vpcmpgtb => Greater(8),
        Pcmpgtw | Vpcmpgtw => Greater(16),
        Pcmpgtd | Vpcmpgtd => Greater(32),
        Pcmpgtq | Vpcmpgtq => Greater(64),
        Vpcmpb | Vpcmpub => Compare(8),
        Vpcmpd | Vpcmpud => Compare(32),
        Vpcmpq | Vpcmpuq => Compare(64),
        Vptestmb => TestToMask(8, true),
        Vptestmd => TestToMask(32, true),
        Vptestmq => TestToMask(64, true),
        Vptestnmb => TestToMask(8, false),
        Vptestnmd => TestToMask(32, false),
        Vptestnmq => TestToMask(64, false),
        Pminub | Vpminub => Smallest(8),
        Pminud | Vpminud => Smallest(32),
        Vpminuq => Smallest(64),
        Pmaxub | Vpmaxub => Greatest(8),
        Pmaxud | Vpmaxud => Greatest(32),
        Vpmaxuq => Greatest(64),
        Packuswb | Vpackuswb => Pack,
        Vpbroadcastb => Broadcast(8, 8),
        Vpbroadcastw => Broadcast(16, 16),
        Vpbroadcastd | Vbroadcastss => Broadcast(32, 32),
        Vpbroadcastq | Vbroadcastsd | Movddup | Vmovddup => Broadcast(64, 64),
        Vbroadcasti128 | Vbroadcastf128 | Vbroadcasti64x2 | Vbroadcastf64x2 => Broadcast(128, 64),
        Vbroadcasti32x4 | Vbroadcastf32x4 => Broadcast(128, 32),
        Vbroadcasti64x4 | Vbroadcastf64x4 => Broadcast(256, 64),
        Vinserti128 | Vinsertf128 | Vinserti64x2 | Vinsertf64x2 => Insert(128, 64),
        Vinserti32x4 | Vinsertf32x4 => Insert(128, 32),
        Vinserti64x4 | Vinsertf64x4 => Insert(256, 64),
        Vextracti128 | Vextractf128 | Vextracti64x2 | Vextractf64x2 => Extract(128, 64),
        Vextracti32x4 | Vextractf32x4 => Extract(128, 32),
        Vextracti64x4 | Vextractf64x4 => Extract(256, 64),
        Vshufi64x2 | Vshuff64x2 => Lanes(64),
        Vshufi32x4 | Vshuff32x4 => Lanes(32),
        Vperm2i128 | Vperm2f128 => TwoLanes,
        Pblendw | Vpblendw => Blend(16),
        Vpblendd | Blendps | Vblendps => Blend(32),
        Blendpd | Vblendpd => Blend(64),
        Vpblendmb => BlendByMask(8),
        Vpblendmw => BlendByMask(16),
        Vpblendmd | Vblendmps => BlendByMask(32),
        Vpblendmq | Vblendmpd => BlendByMask(64),
        Vpexpandd => Expand(32),
        Vpexpandq => Expand(64),
        Pextrb | Vpextrb => ExtractElement(8),
        Pextrw | Vpextrw => ExtractElement(16),
        Pextrd | Vpextrd | Extractps | Vextractps => ExtractElement(32),
        Pextrq | Vpextrq => ExtractElement(64),
        Pinsrb | Vpinsrb => InsertElement(8),
        Pinsrw | Vpinsrw => InsertElement(16),
        Pinsrd | Vpinsrd => InsertElement(32),
        Pinsrq | Vpinsrq => InsertElement(64),
        Insertps | Vinsertps => InsertScalar,
        Kmovb => MaskMove(8),
        Kmovw => MaskMove(16),
        Kmovd => MaskMove(32),
        Kmovq => MaskMove(64),
        Kxorb => MaskXor(8, false),
        Kxorw => MaskXor(16, false),
        Kxord => MaskXor(32, false),
        Kxorq => MaskXor(64, false),
        Kxnorb => MaskXor(8, true),
        Kxnorw => MaskXor(16, true),
        Kxnord => MaskXor(32, true),
        Kxnorq => MaskXor(64, true),
        Kortestb => MaskTest(8),
        Kortestw => MaskTest(16),
        Kortestd => MaskTest(32),
        Kortestq => MaskTest(64),
        Kshiftlb => MaskShift(8, true),
        Kshiftlw => MaskShift(16, true),
        Kshiftld => MaskShift(32, true),
        Kshiftlq => MaskShift(64, true),
        Kshiftrb => MaskShift(8, false),
        Kshiftrw => MaskShift(16, false),
        Kshiftrd => MaskShift(32, false),
        Kshiftrq => MaskShift(64, false),
        Vpmovm2b => MaskToVector(8),
        Vpmovm2w => MaskToVector(16),
        Vpmovm2d => MaskToVector(32),
        Vpmovm2q => MaskToVector(64),
        Vpmovb2m => VectorToMask(8),
        Pmovmskb | Vpmovmskb => SignsToRegister,
        Ptest | Vptest => Family::Test,
        Pcmpistri | Vpcmpistri => Strings,
        Vzeroupper => ClearAbove,
        Vzeroall => ClearAll,
        _ => return None,
    })
}

/// Whether this module knows what to make of it: it has a vector or a mask among its operands.
pub(crate) fn is(i: &Instruction) -> bool {
    let is_wide = |r: Register| r.is_vector_register() || r.is_k();
    matches!(i.mnemonic(), Mnemonic::Vzeroupper | Mnemonic::Vzeroall)
        || (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Register && is_wide(i.op_register(op)))
}

/// Whether it is of AES or a product without carry: what the cipher and the hash are made of.
pub(crate) fn is_kernel(i: &Instruction) -> bool {
    matches!(family(i.mnemonic()), Some(AesRound(_) | AesKey | Multiply))
}

/// Elements of `bits` bits that are picked from elsewhere, or zeros, up to a width of `n` bits.
pub(crate) fn picked<'v>(n: usize, bits: usize, from: impl Fn(usize) -> Option<(&'v Vector, usize)>) -> Vector {
    let mut result = Vector::zeros(n);
    for (j, range) in elements(n, bits).enumerate() {
        if let Some((vector, element)) = from(j) {
            result.bits[range.clone()].copy_from_slice(&vector.bits[element * bits..][..bits]);
            result.degrees[range.start / 8..range.end / 8].copy_from_slice(&vector.degrees[element * bits / 8..][..bits / 8]);
        }
    }
    result
}

/// Two vectors, bit by bit; whether two bits may be multiplied.
pub(crate) fn bitwise(a: &Vector, b: &Vector, f: fn(Bit, Bit) -> Bit, may_multiply: bool) -> Vector {
    let bits: Vec<Bit> = a.bits.iter().zip(&b.bits).map(|(&a, &b)| f(a, b)).collect();
    let multiplies = |j: usize| may_multiply && (8 * j..8 * j + 8).any(|i| a.bits[i].multiplies(b.bits[i]));
    let degree = |j: usize| match (a.degrees[j], b.degrees[j]) {
        _ if bits[8 * j..8 * j + 8].iter().all(|bit| bit.number().is_some()) => 0,
        (a, b) if multiplies(j) => a.saturating_add(b),
        (a, b) => a.max(b),
    };
    let degrees = (0..bits.len() / 8).map(degree).collect();
    Vector { bits, degrees }
}

pub(crate) fn index(of: &[Bit]) -> Result<usize> {
    number(of).map(|n| n as usize).ok_or_else(|| "a symbol says which element".into())
}

/// The index in each element of that many bits: a number below `below`, which is a power of two.
fn indices(of: &Vector, bits: usize, below: usize) -> Result<Vec<usize>> {
    elements(of.len(), bits).map(|range| Ok(index(&of.bits[range][..8])? % below)).collect()
}

impl Machine<'_> {
    pub(crate) fn vector(&mut self, i: &Instruction) -> Result<()> {
        let Some(family) = family(i.mnemonic()) else { stop!("no semantics") };
        let n = Self::width(i, 0);
        let last = i.op_count() - 1;
        let by_number = i.op_kind(last) == OpKind::Immediate8;
        let immediate = if by_number { i.immediate(last) as usize & 0xff } else { 0 };
        // Of two sources the first is the destination in the old encoding.
        let [first, second] = if is_extended(i) { [1, 2] } else { [0, 1] };
        if (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Memory) {
            let size = i.memory_size().size() as u64;
            let alignment = if matches!(family, MoveAligned(_)) || wants_alignment(i) { size } else { 1 };
            if !self.address(i)?.is_multiple_of(alignment) {
                stop!("memory is not aligned");
            }
        }
        // These compare in as many ways; two are used.
        let family = match (family, immediate) {
            (Compare(e), 0) => Equal(e),
            (Compare(e), 4) => Unequal(e),
            _ => family,
        };
        let to_general = i.op_kind(0) == OpKind::Register && i.op_register(0).is_gpr();
        let to_memory = i.op_kind(0) == OpKind::Memory;
        let (result, element) = match family {
            Move(e) | MoveAligned(e) => (self.masked_source(i, e)?, e),
            Low => {
                let is_64 = |op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_gpr64();
                let bits = if matches!(i.mnemonic(), Mnemonic::Movq | Mnemonic::Vmovq) || is_64(0) || is_64(1) { 64 } else { 32 };
                let source = self.source(i, 1)?.part(0..bits);
                if to_general || to_memory {
                    return self.set_general(i, &source);
                }
                (source, WIDEST)
            }
            Scalar(bits) if last == 1 && (to_memory || i.op_kind(1) == OpKind::Memory) => (self.source(i, 1)?.part(0..bits), WIDEST),
            Scalar(bits) => {
                let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
                a.replace(0, &b.part(0..bits));
                (a, WIDEST)
            }
            Half(from) if to_memory => (self.source(i, 1)?.part(from..from + 64), WIDEST),
            Half(to) => {
                let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
                a.replace(to, &b.part(0..64));
                (a, WIDEST)
            }
            LowToHigh | HighToLow => {
                let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
                let (to, from) = if family == LowToHigh { (64, 0) } else { (0, 64) };
                a.replace(to, &b.part(from..from + 64));
                (a, WIDEST)
            }
            Xor(e) | And(e) | AndNot(e) | Or(e) => {
                let (a, b) = (self.source(i, first)?, self.source(i, second)?);
                let f = match family {
                    Xor(_) => |a, b| a ^ b,
                    And(_) => Bit::and,
                    AndNot(_) => |a: Bit, b| a.inverted().and(b),
                    _ => Bit::or,
                };
                (bitwise(&a, &b, f, !matches!(family, Xor(_))), e)
            }
            Ternary(e) => (ternary(&self.source(i, 0)?, &self.source(i, 1)?, &self.source(i, 2)?, immediate), e),
            AesRound(mixes) => {
                let (state, key) = (self.source(i, first)?, self.source(i, second)?);
                self.degrees.read(state.degree(0..n));
                self.degrees.asked();
                let mut substituted = Vector::zeros(n);
                for lane in elements(n, 128) {
                    let state = &state.bits[lane.clone()];
                    let state: Block = std::array::from_fn(|j| self.unknown.sbox(*state[8 * j..].first_chunk().expect("a byte")));
                    substituted.bits[lane].copy_from_slice(spec::linear(&state, mixes).as_flattened());
                }
                substituted.degrees.fill(1);
                (bitwise(&substituted, &key, |a, b| a ^ b, false), WIDEST)
            }
            AesUnmix => {
                let a = self.source(i, 1)?;
                let mut result = Vector::zeros(n);
                for column in elements(n, 32) {
                    let four: [Byte; 4] = std::array::from_fn(|j| *a.bits[column.start + 8 * j..].first_chunk().expect("a byte"));
                    result.bits[column.clone()].copy_from_slice(spec::unmixed(&four).as_flattened());
                    result.degrees[column.start / 8..column.end / 8].fill(a.degree(column));
                }
                (result, WIDEST)
            }
            AesKey => {
                let a = self.source(i, 1)?;
                self.degrees.read(a.degree(0..n));
                self.degrees.asked();
                let mut result = Vector::zeros(n);
                for half in 0..2 {
                    let word = 64 * half + 32;
                    let s: [_; 4] = std::array::from_fn(|j| self.unknown.sbox(*a.bits[word + 8 * j..].first_chunk().expect("a byte")));
                    for j in 0..4 {
                        result.bits[64 * half + 8 * j..][..8].copy_from_slice(&s[j]);
                        result.bits[word + 8 * j..][..8].copy_from_slice(&s[(j + 1) % 4]);
                    }
                    (0..8).for_each(|bit| result.bits[word + bit] ^= Bit::from(immediate >> bit & 1 == 1));
                }
                result.degrees.fill(1);
                (result, WIDEST)
            }
            Multiply => {
                let (a, b) = (self.source(i, first)?, self.source(i, second)?);
                let mut result = Vector::zeros(n);
                for lane in elements(n, 128) {
                    let [p, q] = [immediate & 1, immediate >> 4 & 1].map(|half| lane.start + 64 * half..lane.start + 64 * half + 64);
                    let mut sums = Sums::new(128);
                    a.bits[p.clone()].iter().enumerate().for_each(|(at, &p)| sums.add(at, p, &b.bits[q.clone()]));
                    result.bits[lane.clone()].copy_from_slice(&sums.reduced());
                    result.degrees[lane.start / 8..lane.end / 8].fill(a.degree(p).saturating_add(b.degree(q)));
                }
                (result, WIDEST)
            }
            MaskMove(bits) => return self.mask_move(i, bits),
            MaskXor(bits, not) => {
                let [a, b] = [i.op_register(1), i.op_register(2)];
                let xor = if a == b { 0 } else { self.mask(a)? ^ self.mask(b)? };
                return self.set_mask(i, bits, if not { !xor } else { xor });
            }
            MaskTest(bits) => {
                let all = u64::MAX >> (64 - bits);
                let or = (self.mask(i.op_register(0))? | self.mask(i.op_register(1))?) & all;
                let no = Some(false);
                self.flags = Flags { carry: Some((or == all).into()), overflow: no, sign: no, parity: no, zero: Zero::Is(or == 0) };
                return Ok(());
            }
            MaskShift(bits, up) => {
                let a = self.mask(i.op_register(1))? & (u64::MAX >> (64 - bits));
                let by = immediate as u32;
                let result = match up {
                    _ if by >= bits => 0,
                    true => a << by,
                    false => a >> by,
                };
                return self.set_mask(i, bits, result);
            }
            MaskToVector(e) => {
                let mask = self.mask(i.op_register(1))?;
                let mut result = Vector::zeros(n);
                elements(n, e).enumerate().for_each(|(j, range)| result.bits[range].fill(Bit::from(mask >> j & 1 == 1)));
                (result, WIDEST)
            }
            VectorToMask(e) => {
                let Some(mask) = number(&signs(&self.source(i, 1)?, e)) else { stop!("symbols become a mask") };
                return self.set_mask(i, 64, mask);
            }
            SignsToRegister => {
                let source = self.source(i, 1)?;
                self.degrees.read(source.degree(0..source.len()));
                return self.set(i, 0, &Word::low(&signs(&source, 8)));
            }
            Test => {
                let (a, b) = (self.source(i, 0)?, self.source(i, 1)?);
                let [both, second] = [bitwise(&a, &b, Bit::and, true), bitwise(&a, &b, |a, b| a.inverted().and(b), true)];
                self.degrees.read(both.degree(0..both.len()));
                let carry = match Zero::of(&second.bits) {
                    Zero::Is(zero) => Some(zero.into()),
                    _ => None,
                };
                let no = Some(false);
                self.flags = Flags { carry, overflow: no, sign: no, parity: no, zero: Zero::of(&both.bits) };
                return Ok(());
            }
            Strings => {
                let (a, b) = (self.source(i, 0)?, self.source(i, 1)?);
                let bytes = |of: &Vector| elements(128, 8).map(|range| number(&of.bits[range])).collect::<Option<Vec<u64>>>();
                let (Some(a), Some(b), 0x1a) = (bytes(&a), bytes(&b), immediate) else { stop!("no semantics") };
                let end = |of: &[u64]| of.iter().position(|&byte| byte == 0).unwrap_or(16);
                let (to_a, to_b) = (end(&a), end(&b));
                // Beyond both ends all is equal, beyond one nothing is.
                let equal = |j: usize| if j < to_a && j < to_b { a[j] == b[j] } else { j >= to_a && j >= to_b };
                let differ: Vec<bool> = (0..16).map(|j| !equal(j)).collect();
                let first = differ.iter().position(|&differs| differs);
                self.flags = Flags {
                    carry: Some(first.is_some().into()),
                    overflow: Some(differ[0]),
                    sign: Some(to_a < 16),
                    parity: Some(false),
                    zero: Zero::Is(to_b < 16),
                };
                self.set_register(Register::ECX, &Word::Number(first.unwrap_or(16) as u64));
                return Ok(());
            }
            ClearAbove | ClearAll => {
                self.clear_above();
                if family == ClearAll {
                    self.clear_low();
                }
                return Ok(());
            }
            ExtractElement(e) => {
                let at = immediate % (128 / e) * e;
                let element = self.source(i, 1)?.part(at..at + e);
                return self.set_general(i, &element);
            }
            Up(e) | Down(e) | DownSigned(e) => {
                let by = match by_number {
                    true => immediate,
                    false => index(&self.source(i, last)?.bits[..64])?.min(0xff),
                };
                (moved(family, &self.source(i, first)?, e, by), e)
            }
            Sum(e) => {
                let (a, b) = (self.source(i, first)?, self.source(i, second)?);
                let mut result = Vector::zeros(n);
                for range in elements(n, e) {
                    self.degrees.forget();
                    self.degrees.read(a.degree(range.clone()).max(b.degree(range.clone())));
                    let sum = self.add_bits(&a.bits[range.clone()], &b.bits[range.clone()])?;
                    result.bits[range.clone()].copy_from_slice(&sum);
                    result.degrees[range.start / 8..range.end / 8].fill(self.degrees.result());
                }
                (result, e)
            }
            Equal(e) | Unequal(e) if i.op_kind(0) == OpKind::Register && i.op_register(0).is_k() => {
                let (a, b) = (self.source(i, 1)?, self.source(i, 2)?);
                let (own, mut mask) = (self.own_mask(i)?, 0);
                for (j, range) in elements(a.len(), e).enumerate().filter(|(j, _)| own >> j & 1 == 1) {
                    let (a, b) = (&a.bits[range.clone()], &b.bits[range]);
                    let equal = match (number(a), number(b)) {
                        _ if a == b => true,
                        (Some(a), Some(b)) => a == b,
                        _ => stop!("symbols become a mask"),
                    };
                    mask |= u64::from(equal == matches!(family, Equal(_))) << j;
                }
                return self.set_mask(i, 64, mask);
            }
            TestToMask(e, any) => {
                let (a, b) = (self.source(i, 1)?, self.source(i, 2)?);
                let (own, mut mask) = (self.own_mask(i)?, 0);
                for (j, range) in elements(a.len(), e).enumerate().filter(|(j, _)| own >> j & 1 == 1) {
                    let (Some(a), Some(b)) = (number(&a.bits[range.clone()]), number(&b.bits[range])) else {
                        stop!("symbols become a mask")
                    };
                    mask |= u64::from((a & b != 0) == any) << j;
                }
                return self.set_mask(i, 64, mask);
            }
            Greater(_) if i.op_kind(0) == OpKind::Register && i.op_register(0).is_k() => stop!("no semantics"),
            Difference(e) | Equal(e) | Greater(e) | Smallest(e) | Greatest(e) => (self.compared(i, family, e, [first, second])?, e),
            _ => self.rearranged(i, family, immediate, by_number)?,
        };
        self.set_vector(i, result, element)
    }

    /// Part of a vector goes to a general register, or to memory of its size or less.
    fn set_general(&mut self, i: &Instruction, part: &Vector) -> Result<()> {
        self.degrees.read(part.degree(0..part.len()));
        self.set(i, 0, &Word::low(&part.bits))
    }

    /// The vector that is moved: of memory only what its mask asks for.
    fn masked_source(&mut self, i: &Instruction, e: usize) -> Result<Vector> {
        if i.op_kind(1) != OpKind::Memory || i.op_mask() == Register::None {
            return self.source(i, 1);
        }
        let (at, mask, n) = (self.address(i)?, self.own_mask(i)?, Self::width(i, 0));
        let mut result = Vector::zeros(n);
        for (_, range) in elements(n, e).enumerate().filter(|(j, _)| mask >> j & 1 == 1) {
            result.replace(range.start, &self.memory.read(at + range.start as u64 / 8, e)?);
        }
        Ok(result)
    }

    fn set_mask(&mut self, i: &Instruction, bits: u32, mask: u64) -> Result<()> {
        self.masks[i.op_register(0).number()] = Some(mask & (u64::MAX >> (64 - bits)));
        Ok(())
    }

    fn mask_move(&mut self, i: &Instruction, bits: u32) -> Result<()> {
        let is_mask = |op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_k();
        let word = if is_mask(1) { Word::Number(self.mask(i.op_register(1))?) } else { self.get(i, 1)? }.keep(bits as usize);
        if !is_mask(0) {
            return self.set(i, 0, &word);
        }
        self.masks[i.op_register(0).number()] = word.number().ok();
        Ok(())
    }

    /// Elements that must be numbers, unless both are one and the same.
    fn compared(&mut self, i: &Instruction, family: Family, e: usize, [first, second]: [u32; 2]) -> Result<Vector> {
        let (a, b) = (self.source(i, first)?, self.source(i, second)?);
        let mut result = Vector::zeros(a.len());
        for range in elements(a.len(), e) {
            let (x, y) = (&a.bits[range.clone()], &b.bits[range.clone()]);
            let all = u64::MAX >> (64 - e);
            let lower = match (family, number(y)) {
                (Difference(_), Some(less)) => self.low_sum(x, &lifted::<64>(less.wrapping_neg() & all)[..e], O),
                _ => None,
            };
            let n = match (family, number(x), number(y)) {
                (Equal(_), ..) if x == y => all,
                (Difference(_) | Greater(_), ..) if x == y => 0,
                (Smallest(_) | Greatest(_), ..) if x == y => {
                    result.replace(range.start, &a.part(range));
                    continue;
                }
                (Greater(_), Some(0), known) if known.is_none() || self.lifted_only => {
                    result.degrees[range.start / 8..range.end / 8].fill(b.degree(range.end - 8..range.end));
                    let sign = b.bits[range.end - 1];
                    result.bits[range].fill(sign);
                    continue;
                }
                // All ones or all zeros: whether no bit differs, as one polynomial.
                (Equal(_), known, other) if known.is_none() || other.is_none() || self.lifted_only => {
                    let differ: Vec<Bit> = x.iter().zip(y).map(|(&x, &y)| x ^ y).filter(|&bit| bit != O).collect();
                    let degree = a.degree(range.clone()).max(b.degree(range.clone())).saturating_mul(differ.len() as u32);
                    result.degrees[range.start / 8..range.end / 8].fill(if differ.contains(&I) { 0 } else { degree });
                    let equal = none(&differ);
                    result.bits[range].fill(equal);
                    continue;
                }
                // Minus a number is plus another, where nothing is carried to symbols.
                (Difference(_), None, Some(_)) if lower.is_some() => {
                    let sum = lower.unwrap_or_default();
                    result.degrees[range.start / 8..range.end / 8].copy_from_slice(&a.degrees[range.start / 8..range.end / 8]);
                    result.bits[range].copy_from_slice(&sum);
                    continue;
                }
                (_, None, _) | (_, _, None) => stop!("{family:?} of symbols"),
                (Equal(_), ..) => 0,
                (Greater(_), Some(x), Some(y)) => {
                    let signed = |x: u64| (x << (64 - e)) as i64;
                    if signed(x) > signed(y) { all } else { 0 }
                }
                (Difference(_), Some(x), Some(y)) => x.wrapping_sub(y),
                (Smallest(_), Some(x), Some(y)) => x.min(y),
                (_, Some(x), Some(y)) => x.max(y),
            };
            result.bits[range].iter_mut().enumerate().for_each(|(j, bit)| *bit = Bit::from(n >> j & 1 == 1));
        }
        Ok(result)
    }

    /// What moves elements and changes none: the result, and the bits that are masked together.
    fn rearranged(&mut self, i: &Instruction, family: Family, immediate: usize, by_number: bool) -> Result<(Vector, usize)> {
        let n = Self::width(i, 0);
        let [first, second] = if is_extended(i) { [1, 2] } else { [0, 1] };
        // The j-th field of the immediate number, of that many bits.
        let field = |j: usize, bits: usize| immediate >> (j * bits) & ((1 << bits) - 1);
        match family {
            // Of one vector.
            Four(e) => {
                let a = self.source(i, 1)?;
                return Ok((picked(n, e, |j| Some((&a, j / 4 * 4 + field(j % 4, 2)))), e));
            }
            Any(64) if by_number => {
                let a = self.source(i, 1)?;
                return Ok((picked(n, 64, |j| Some((&a, j / 4 * 4 + field(j % 4, 2)))), 64));
            }
            LowFour | HighFour => {
                let (a, chosen) = (self.source(i, 1)?, if family == LowFour { 0 } else { 4 });
                let from = |j: usize| if j & 4 == chosen { j / 8 * 8 + chosen + field(j % 4, 2) } else { j };
                return Ok((picked(n, 16, |j| Some((&a, from(j)))), 16));
            }
            BytesUp | BytesDown => {
                let a = self.source(i, first)?;
                let from = |j: usize| {
                    let byte = if family == BytesUp { (j % 16).checked_sub(immediate) } else { Some(j % 16 + immediate) };
                    byte.filter(|&byte| byte < 16).map(|byte| (&a, j / 16 * 16 + byte))
                };
                return Ok((picked(n, 8, from), WIDEST));
            }
            Broadcast(64, _) if matches!(i.mnemonic(), Mnemonic::Movddup | Mnemonic::Vmovddup) && n > 128 => stop!("no semantics"),
            Broadcast(bits, e) => {
                let a = self.source(i, 1)?;
                return Ok((picked(n, bits, |_| Some((&a, 0))), e));
            }
            Extract(bits, e) => {
                let a = self.source(i, 1)?;
                let at = immediate % (a.len() / bits) * bits;
                return Ok((a.part(at..at + bits), e));
            }
            Expand(e) => return self.expanded(i, e),
            AnyOfTwo(e, overwrites_table) => {
                let [own, one, two] = [self.source(i, 0)?, self.source(i, 1)?, self.source(i, 2)?];
                let (index, table) = if overwrites_table { (&one, &own) } else { (&own, &one) };
                let count = n / e;
                let at = indices(index, e, 2 * count)?;
                return Ok((picked(n, e, |j| Some(if at[j] < count { (table, at[j]) } else { (&two, at[j] - count) })), e));
            }
            _ => {}
        }
        let (mut a, b) = (self.source(i, first)?, self.source(i, second)?);
        Ok(match family {
            Bytes if self.lifted_only || number(&b.bits).is_none() => (looked_up(&a, &b), 8),
            Bytes => {
                let at = indices(&b, 8, 256)?;
                let from = |j: usize| (at[j] & 0x80 == 0).then_some((&a, j / 16 * 16 + at[j] % 16));
                (picked(n, 8, from), 8)
            }
            Any(e) => {
                let at = indices(&a, e, n / e)?;
                (picked(n, e, |j| Some((&b, at[j]))), e)
            }
            Shuffle(32) => {
                let from = |j: usize| Some((if j % 4 < 2 { &a } else { &b }, j / 4 * 4 + field(j % 4, 2)));
                (picked(n, 32, from), 32)
            }
            Shuffle(e) => {
                let from = |j: usize| Some((if j.is_multiple_of(2) { &a } else { &b }, j / 2 * 2 + field(j, 1)));
                (picked(n, e, from), e)
            }
            Unpack(e, high) => {
                let lane = 128 / e;
                let half = if high { lane / 2 } else { 0 };
                let from = |j: usize| Some((if j.is_multiple_of(2) { &a } else { &b }, j / lane * lane + half + j % lane / 2));
                (picked(n, e, from), e)
            }
            AlignBytes => {
                let from = |j: usize| {
                    let (lane, byte) = (j / 16 * 16, j % 16 + immediate);
                    match byte {
                        0..16 => Some((&b, lane + byte)),
                        16..32 => Some((&a, lane + byte - 16)),
                        _ => None,
                    }
                };
                (picked(n, 8, from), 8)
            }
            Align(e) => {
                let count = n / e;
                let at = |j: usize| j + immediate % count;
                (picked(n, e, |j| Some(if at(j) < count { (&b, at(j)) } else { (&a, at(j) - count) })), e)
            }
            Pack => {
                let mut result = Vector::zeros(n);
                for byte in 0..n / 8 {
                    let (from, lane) = (if byte % 16 < 8 { &a } else { &b }, byte / 16 * 16);
                    let word = 8 * lane + 16 * (byte % 8);
                    let part = from.part(word..word + 16);
                    if part.bits[8..].iter().all(|&bit| bit == O) {
                        result.replace(8 * byte, &part.part(0..8));
                    } else {
                        let Some(n) = number(&part.bits) else { stop!("{family:?} of symbols") };
                        let packed = (n as i16).clamp(0, 255) as u8;
                        result.bits[8 * byte..8 * byte + 8].copy_from_slice(&crate::field::byte(packed));
                    }
                }
                (result, 8)
            }
            Insert(bits, e) => {
                a.replace(immediate % (n / bits) * bits, &b.part(0..bits));
                (a, e)
            }
            Lanes(e) => {
                let count = n / 128;
                let bits = count.trailing_zeros() as usize;
                (picked(n, 128, |j| Some((if j < count / 2 { &a } else { &b }, field(j, bits)))), e)
            }
            TwoLanes => {
                let from = |j: usize| {
                    let field = field(j, 4);
                    (field & 8 == 0).then_some((if field & 2 == 0 { &a } else { &b }, field & 1))
                };
                (picked(n, 128, from), WIDEST)
            }
            Blend(e) => (picked(n, e, |j| Some((if field(j % 8, 1) == 1 { &b } else { &a }, j))), WIDEST),
            BlendByMask(e) => {
                // Its mask chooses between two sources; what the destination had is nowhere in the result.
                let (mask, zeroing) = (self.own_mask(i)?, i.zeroing_masking());
                let from = |j: usize| if mask >> j & 1 == 1 { Some((&b, j)) } else { (!zeroing).then_some((&a, j)) };
                let result = picked(n, e, from);
                self.set_register_vector(i.op_register(0), &result);
                (result, e)
            }
            InsertElement(e) => {
                a.replace(immediate % (128 / e) * e, &b.part(0..e));
                (a, WIDEST)
            }
            InsertScalar => {
                let from = if i.op_kind(second) == OpKind::Memory { 0 } else { field(3, 2) };
                a.replace(32 * field(2, 2), &b.part(32 * from..32 * from + 32));
                (0..4).filter(|&j| field(j, 1) == 1).for_each(|j| a.replace(32 * j, &Vector::zeros(32)));
                (a, WIDEST)
            }
            _ => stop!("{family:?} is not a rearrangement"),
        })
    }

    /// Elements one behind the other go where the mask has ones.
    fn expanded(&mut self, i: &Instruction, e: usize) -> Result<(Vector, usize)> {
        let (n, mask) = (Self::width(i, 0), self.own_mask(i)?);
        let mut next = 0..;
        let from: Vec<Option<usize>> = (0..n / e).map(|j| if mask >> j & 1 == 1 { next.next() } else { None }).collect();
        let a = match i.op_kind(1) {
            OpKind::Memory => {
                let at = self.address(i)?;
                self.memory.read(at, e * from.iter().flatten().count())?
            }
            _ => self.source(i, 1)?,
        };
        Ok((picked(n, e, |j| from[j].map(|element| (&a, element))), e))
    }
}

/// The highest bit of each element.
fn signs(of: &Vector, e: usize) -> Vec<Bit> {
    elements(of.len(), e).map(|range| of.bits[range.end - 1]).collect()
}

/// Any function of three bits, by its table: a sum of products, its algebraic normal form.
fn ternary(a: &Vector, b: &Vector, c: &Vector, table: usize) -> Vector {
    let mut terms: [usize; 8] = std::array::from_fn(|j| table >> j & 1);
    for bit in [1, 2, 4] {
        (0..8).filter(|j| j & bit != 0).for_each(|j| terms[j] ^= terms[j ^ bit]);
    }
    let mut sum = Vector::zeros(a.len());
    if terms[0] == 1 {
        sum.bits.fill(I);
    }
    for term in (1..8).filter(|&term| terms[term] == 1) {
        let factors = [(4, a), (2, b), (1, c)].into_iter().filter(|(bit, _)| term & bit != 0).map(|(_, factor)| factor);
        let product = factors.fold(None, |product: Option<Vector>, factor| {
            Some(product.map_or_else(|| factor.clone(), |product| bitwise(&product, factor, Bit::and, true)))
        });
        sum = bitwise(&sum, &product.expect("a factor"), |a, b| a ^ b, false);
    }
    sum
}

/// Bytes of a table of 16 in each lane, at an index of symbols: a sum of products, as of any function of five bits. Where the table is a linear function of its
/// index, as GHASH has one to reduce, no product is left.
fn looked_up(table: &Vector, index: &Vector) -> Vector {
    let mut result = Vector::zeros(table.len());
    for byte in 0..table.len() / 8 {
        let own = &index.bits[8 * byte..8 * byte + 8];
        let lane = byte / 16 * 16;
        let mut terms: [Vec<Bit>; 16] = std::array::from_fn(|j| table.bits[8 * (lane + j)..8 * (lane + j) + 8].to_vec());
        for bit in [1, 2, 4, 8] {
            for j in (0..16).filter(|j| j & bit != 0) {
                let less = terms[j ^ bit].clone();
                terms[j].iter_mut().zip(less).for_each(|(term, less)| *term ^= less);
            }
        }
        let (of_table, of_index) = (table.degree(8 * lane..8 * lane + 128), index.degree(8 * byte..8 * byte + 8));
        for (j, term) in terms.iter().enumerate().filter(|(_, term)| term.iter().any(|&bit| bit != O)) {
            // The highest bit of an index makes a zero.
            let factors = (0..4).filter(|k| j >> k & 1 == 1).map(|k| own[k]).chain([own[7].inverted()]);
            let factor = factors.fold(I, Bit::and);
            (0..8).for_each(|k| result.bits[8 * byte + k] ^= term[k].and(factor));
            let count = j.count_ones() + u32::from(own[7].number().is_none());
            let term = if term.iter().all(|bit| bit.number().is_some()) { 0 } else { of_table };
            result.degrees[byte] = result.degrees[byte].max(of_index.saturating_mul(count).saturating_add(term));
        }
    }
    result
}

/// Bits of each element moved up or down.
pub(crate) fn moved(family: Family, a: &Vector, e: usize, by: usize) -> Vector {
    let mut result = Vector::zeros(a.len());
    for range in elements(a.len(), e) {
        let from = &a.bits[range.clone()];
        result.degrees[range.start / 8..range.end / 8].fill(a.degree(range.clone()));
        result.bits[range].iter_mut().enumerate().for_each(|(j, bit)| {
            *bit = match family {
                Up(_) => j.checked_sub(by).map_or(O, |j| from[j]),
                Down(_) => from.get(j + by).copied().unwrap_or(O),
                _ => from[(j + by).min(e - 1)],
            }
        });
    }
    result
}

//! Follows both paths of a condition on symbols, which must not decide. Each path then has a verdict, though its trace reveals a secret.
//!
//! Most of these conditions test whether the lowest byte of a counter has a carry. The knowledge of a path about that
//! byte is a [`Fact`], which code and standard share.

use crate::{
    machine::{Machine, Result, Stop, Word, Zero},
    values::field::{Bit, Byte, O, none, number},
    values::random::Map,
    values::unknown::Fact,
};
use iced_x86::ConditionCode;
use std::collections::HashSet;

/// A path.
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub chosen: Vec<bool>,
    met: usize,
    assumed: Map<Bit, bool>,
    /// The next condition, the facts if it does not hold and if it does, and whether it is on public values.
    pub parts: Option<(String, [Option<Fact>; 2], bool)>,
    /// The public bits.
    pub public: HashSet<Bit>,
}

impl Path {
    pub fn of(chosen: Vec<bool>) -> Self {
        Self { chosen, ..Self::default() }
    }

    /// Returns the assumed value of a condition on this path.
    pub fn assumed(&self, what: &Bit) -> Option<&bool> {
        self.assumed.get(what)
    }
}

/// The operand of flags: a byte that was compared with a number, or to which that number was added.
#[derive(Clone, Debug)]
pub struct Low {
    /// The address after the instruction.
    behind: u64,
    byte: Byte,
    other: u32,
    is_sum: bool,
    /// True if zeros are above it, so that signs do not matter.
    is_wide: bool,
}

impl Low {
    /// Returns whether a condition holds for a byte.
    fn holds(&self, condition: ConditionCode, byte: u32) -> Option<bool> {
        use ConditionCode as C;
        let below = if self.is_sum { byte + self.other > 255 } else { byte < self.other };
        let above = !self.is_sum && byte > self.other;
        Some(match condition {
            C::b => below,
            C::ae => !below,
            C::a if !self.is_sum => above,
            C::be if !self.is_sum => !above,
            C::l if self.is_wide => below,
            C::ge if self.is_wide => !below,
            C::g if self.is_wide => above,
            C::le if self.is_wide => !above,
            _ => return None,
        })
    }
}

impl Machine<'_> {
    /// Records the operands of flags, if they are a byte and a number.
    pub(crate) fn low_byte(&mut self, bits: &[Bit], other: &Word, is_sum: bool) {
        let Word::Number(other) = other else { return };
        let (byte, above, other) = match bits.len() {
            // The highest byte of a byte-swapped word.
            32 if is_sum && other & 0xff_ffff == 0 => (&bits[24..], &bits[..0], other >> 24),
            _ => (&bits[..8], &bits[8..], *other),
        };
        if above.iter().all(|&bit| bit == O) && number(byte).is_none() && (above.is_empty() || !is_sum) && other < 256 {
            let byte = byte.try_into().expect("a byte");
            self.low = Some(Low { behind: self.rip, byte, other: other as u32, is_sum, is_wide: bits.len() > 8 });
        }
    }

    /// Follows one of both paths of a forbidden condition.
    pub(crate) fn follow(&mut self, condition: ConditionCode, why: &str) -> Result<bool> {
        let at = self.compares;
        let behind = self.behind(at);
        let low = self.low.clone().filter(|low| Some(low.behind) == behind);
        let mut facts = [None, None];
        if let Some(low) = &low {
            let [least, most] = self.unknown.range(&low.byte);
            let holds: Option<Vec<bool>> = (least..=most).map(|byte| low.holds(condition, byte)).collect();
            if let Some(holds) = holds {
                for (outcome, fact) in [false, true].into_iter().zip(&mut facts) {
                    let bytes = (least..=most).zip(&holds).filter(|(_, holds)| **holds == outcome).map(|(byte, _)| byte);
                    let (first, last) = (bytes.clone().min(), bytes.max());
                    let (Some(first), Some(last)) = (first, last) else { return Ok(!outcome) };
                    *fact = self.unknown.origin(&low.byte).map(|(word, n)| (word, n, [first, last]));
                }
            }
        }
        let zero = if let Zero::IfNone(bits) = &self.flags.zero { Some(none(bits)) } else { None };
        let place = self.image.place(at);
        let of_public =
            |bit: &Bit| self.path.as_ref().is_some_and(|path| path.public.contains(bit) || path.public.contains(&bit.inverted()));
        let is_public = matches!(&self.flags.zero, Zero::IfNone(bits) if zero.is_some() && bits.iter().all(of_public))
            && matches!(condition, ConditionCode::e | ConditionCode::ne);
        let compares = self.instruction_text(at);
        let path = self.path.as_mut().expect("somebody wants to know");
        let Some(&outcome) = path.chosen.get(path.met) else {
            path.parts = Some((format!("{place} ({compares}), {condition:?}: {why}"), facts, is_public));
            return Err(Stop::Secret(why.into()));
        };
        path.met += 1;
        self.unknown.met = path.met;
        let is_zero = match condition {
            ConditionCode::e => Some(outcome),
            ConditionCode::ne => Some(!outcome),
            _ => None,
        };
        if let (Some(zero), Some(is_zero)) = (zero, is_zero) {
            path.assumed.insert(zero, is_zero);
        }
        Ok(outcome)
    }
}

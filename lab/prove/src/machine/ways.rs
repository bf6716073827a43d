//! Both ways of what must not decide: a condition on symbols. Whether a call is right is then known of each way, though its trace tells a secret.
//!
//! Most of such conditions are about the lowest byte of a counter, of which code wants to know whether a sum is carried on to the next byte. What a way knows of
//! that byte is a [`Fact`], which code and standard then share.

use crate::{
    machine::{Machine, Result, Stop, Word, Zero},
    values::field::{Bit, Byte, O, none, number},
    values::random::Map,
    values::unknown::Fact,
};
use iced_x86::ConditionCode;
use std::collections::HashSet;

/// A way to go.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    pub chosen: Vec<bool>,
    met: usize,
    assumed: Map<Bit, bool>,
    /// Where it parts again: the condition, what is known if it does not hold, and if it does, and whether it is one on what everybody may know.
    pub parts: Option<(String, [Option<Fact>; 2], bool)>,
    /// Bits that everybody may know.
    pub public: HashSet<Bit>,
}

impl Ways {
    pub fn of(chosen: Vec<bool>) -> Self {
        Self { chosen, ..Self::default() }
    }

    /// What has been decided on this way.
    pub fn assumed(&self, what: &Bit) -> Option<&bool> {
        self.assumed.get(what)
    }
}

/// What flags are of: a byte that was compared with a number, or to which that number was added.
#[derive(Clone, Debug)]
pub struct Low {
    /// Behind which instruction.
    behind: u64,
    byte: Byte,
    other: u32,
    is_sum: bool,
    /// Zeros above it, so that signs do not matter.
    is_wide: bool,
}

impl Low {
    /// Whether that condition holds for that byte.
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
    /// Flags are of these bits, as far as they are a byte, and a number.
    pub(crate) fn low_byte(&mut self, bits: &[Bit], other: &Word, is_sum: bool) {
        let Word::Number(other) = other else { return };
        let (byte, above, other) = match bits.len() {
            // The highest byte of a word whose bytes are in the other order.
            32 if is_sum && other & 0xff_ffff == 0 => (&bits[24..], &bits[..0], other >> 24),
            _ => (&bits[..8], &bits[8..], *other),
        };
        if above.iter().all(|&bit| bit == O) && number(byte).is_none() && (above.is_empty() || !is_sum) && other < 256 {
            let byte = byte.try_into().expect("a byte");
            self.low = Some(Low { behind: self.rip, byte, other: other as u32, is_sum, is_wide: bits.len() > 8 });
        }
    }

    /// One of both ways of a condition that must not decide.
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
            |bit: &Bit| self.ways.as_ref().is_some_and(|ways| ways.public.contains(bit) || ways.public.contains(&bit.inverted()));
        let is_public = matches!(&self.flags.zero, Zero::IfNone(bits) if zero.is_some() && bits.iter().all(of_public))
            && matches!(condition, ConditionCode::e | ConditionCode::ne);
        let compares = self.said(at);
        let ways = self.ways.as_mut().expect("somebody wants to know");
        let Some(&outcome) = ways.chosen.get(ways.met) else {
            ways.parts = Some((format!("{place} ({compares}), {condition:?}: {why}"), facts, is_public));
            return Err(Stop::Secret(why.into()));
        };
        ways.met += 1;
        self.unknown.met = ways.met;
        let is_zero = match condition {
            ConditionCode::e => Some(outcome),
            ConditionCode::ne => Some(!outcome),
            _ => None,
        };
        if let (Some(zero), Some(is_zero)) = (zero, is_zero) {
            ways.assumed.insert(zero, is_zero);
        }
        Ok(outcome)
    }
}

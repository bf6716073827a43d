//! Decides the branches of a program.

use super::{Flags, Machine, Result, Stop, Zero, secret, stop};
use crate::{
    values::field::{Bit, none},
    values::lines::Lines,
};
use iced_x86::ConditionCode;

impl Machine<'_> {
    fn is_zero(&mut self) -> Result<bool> {
        match &self.flags.zero {
            Zero::Is(zero) => Ok(*zero),
            Zero::IfNone(bits) => {
                let what = none(bits);
                self.degrees.decided = self.degrees.decided.max(u64::from(self.degrees.of_flags()) * bits.len() as u64);
                if let Some(&assumed) = self.path.as_ref().and_then(|path| path.assumed(&what)) {
                    return Ok(assumed);
                }
                if let Some(&outcome) = self.verdicts.get(&what.inverted()) {
                    let what = what.inverted();
                    if !self.asked.contains(&what) {
                        self.asked.push(what);
                    }
                    return Ok(!outcome);
                }
                let Some(&outcome) = self.verdicts.get(&what) else { secret!("{} symbols decide", bits.len()) };
                if !self.asked.contains(&what) {
                    self.asked.push(what);
                }
                Ok(outcome)
            }
            Zero::Undefined => secret!("a flag decides that is not known"),
        }
    }

    pub fn condition(&mut self, condition: ConditionCode) -> Result<bool> {
        let outcome = self.decided(condition);
        let mut branch = || self.unknown.lines.as_mut().and_then(Lines::branch);
        match outcome.or_else(|why| branch().ok_or(why)) {
            Err(Stop::Secret(why)) if self.path.is_some() => self.follow(condition, &why),
            outcome => outcome,
        }
    }

    /// Returns the verdict of a sign that says whether tags are equal.
    fn verdict_of_sign(&mut self) -> Option<bool> {
        let (behind, sign) = self.sign?;
        if self.behind(self.compares)? != behind {
            return None;
        }
        let (what, is_equal) = [(sign, true), (sign.inverted(), false)].into_iter().find(|(what, _)| self.verdicts.contains_key(what))?;
        self.degrees.decided = self.degrees.decided.max(u64::from(self.degrees.of_flags()));
        if !self.asked.contains(&what) {
            self.asked.push(what);
        }
        Some(self.verdicts[&what] == is_equal)
    }

    pub(crate) fn decided(&mut self, condition: ConditionCode) -> Result<bool> {
        use ConditionCode as C;
        let known = |flag: Option<bool>| flag.ok_or_else(|| Stop::Secret("a flag decides that is not known".into()));
        let Flags { carry, overflow, sign, parity, .. } = self.flags;
        let carry = carry.and_then(Bit::number);
        let outcome = match condition {
            C::o => known(overflow)?,
            C::no => !known(overflow)?,
            C::b => known(carry)?,
            C::ae => !known(carry)?,
            C::e => self.is_zero()?,
            C::ne => !self.is_zero()?,
            C::be => known(carry)? | self.is_zero()?,
            C::a => !(known(carry)? | self.is_zero()?),
            C::s => sign.or_else(|| self.verdict_of_sign()).map_or_else(|| known(None), Ok)?,
            C::ns => !sign.or_else(|| self.verdict_of_sign()).map_or_else(|| known(None), Ok)?,
            C::p => known(parity)?,
            C::np => !known(parity)?,
            C::l => known(sign)? != known(overflow)?,
            C::ge => known(sign)? == known(overflow)?,
            C::le => self.is_zero()? | (known(sign)? != known(overflow)?),
            C::g => !(self.is_zero()? | (known(sign)? != known(overflow)?)),
            C::None => stop!("no condition"),
        };
        if let Some(decisions) = &mut self.decisions {
            decisions.push((self.rip, condition, self.compared, outcome));
        }
        Ok(outcome)
    }
}

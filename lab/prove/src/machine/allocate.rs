//! What an allocator gives: memory of which nothing is known, whatever the process had there.

use super::{Machine, Result};
use crate::{
    process::{image::Isa, symbols::Allocator},
    values::field::Bit,
};
use iced_x86::Register;

/// What was asked for: how, with which arguments, where it goes on then, and the stack there.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    how: Allocator,
    arguments: [u64; 3],
    back: u64,
    stack: u64,
    /// Bytes that stay, of what is moved.
    kept: u64,
}

impl Machine<'_> {
    /// Whoever stands there may have asked for memory, or may be given some.
    pub(super) fn allocates(&mut self, at: u64) -> Result<()> {
        if self.asked_for.last().is_some_and(|asked| asked.back == at && self.stack().number().is_ok_and(|stack| stack >= asked.stack))
            && let Some(asked) = self.asked_for.pop()
        {
            self.gives(&asked)?;
        }
        let Some(&(_, how)) = self.image.allocators.iter().find(|(entry, _)| *entry == at) else { return Ok(()) };
        let numbers = match self.image.isa {
            Isa::X86 => [Register::RDI, Register::RSI, Register::RDX].map(|r| self.general[r.number()].number()),
            Isa::Arm => [0, 1, 2].map(|r| self.general[r].number()),
        };
        let arguments = numbers.map(|number| number.unwrap_or(0));
        let stack = self.stack().number()?;
        if matches!(how, Allocator::Frees | Allocator::Moves) {
            self.takes_back(arguments[0])?;
        }
        if how == Allocator::Frees {
            return Ok(());
        }
        let back = match self.image.isa {
            Isa::X86 => self.memory.number(stack, 8)?.ok_or("a symbol to return to")?,
            Isa::Arm => self.general[crate::machine::arm::LINK].number()?,
        };
        // Before a block stands how many bytes it has.
        let kept = if how == Allocator::Moves && arguments[0] != 0 {
            (self.memory.number(arguments[0] - 8, 8)?.unwrap_or(0) & !7).saturating_sub(8)
        } else {
            0
        };
        self.asked_for.push(Allocation { how, arguments, back, stack, kept });
        Ok(())
    }

    fn gives(&mut self, asked: &Allocation) -> Result<()> {
        let Allocation { how, arguments, kept, .. } = *asked;
        let answer = self.answer().number()?;
        let (at, size) = match how {
            Allocator::Gives(n) => (answer, arguments[n]),
            Allocator::GivesBehind if answer == 0 => (self.memory.number(arguments[0], 8)?.unwrap_or(0), arguments[2]),
            Allocator::Moves => (answer, arguments[1]),
            _ => return Ok(()),
        };
        if at == 0 || size <= kept {
            return Ok(());
        }
        let fresh = self.unknown.random.string((size - kept) as usize);
        if kept == 0 && size >= 16 {
            self.given.insert(at, fresh[8..16].to_vec());
        }
        self.memory.give(at + kept, &fresh)
    }

    /// In the second word of a block that it is given back, the C library's allocator looks for a mark of its own. What nobody has written there is another number
    /// (but for one of 2^64, of which it makes sure).
    fn takes_back(&mut self, at: u64) -> Result<()> {
        let Some(fresh) = self.given.remove(&at) else { return Ok(()) };
        if self.memory.string(at + 8, 8)? == fresh {
            self.memory.put(at + 8, &[[Bit::default(); 8]; 8])?;
        }
        Ok(())
    }
}

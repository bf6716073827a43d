//! Emulates an allocator: the memory that it returns is unknown, whatever the process had there.

use super::{Machine, Result};
use crate::{
    process::{image::Isa, symbols::Allocator},
    values::field::Bit,
};
use iced_x86::Register;

/// A request: the function, its arguments, the return address, and the stack there.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    how: Allocator,
    arguments: [u64; 3],
    back: u64,
    stack: u64,
    /// The bytes that a reallocation keeps.
    kept: u64,
}

impl Machine<'_> {
    /// Handles the call or the return of an allocator's function at an address.
    pub(super) fn allocates(&mut self, at: u64) -> Result<()> {
        if self.requests.last().is_some_and(|request| request.back == at && self.stack().number().is_ok_and(|stack| stack >= request.stack))
            && let Some(request) = self.requests.pop()
        {
            self.returns(&request)?;
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
        // The size of a block precedes it.
        let kept = if how == Allocator::Moves && arguments[0] != 0 {
            (self.memory.number(arguments[0] - 8, 8)?.unwrap_or(0) & !7).saturating_sub(8)
        } else {
            0
        };
        self.requests.push(Allocation { how, arguments, back, stack, kept });
        Ok(())
    }

    fn returns(&mut self, request: &Allocation) -> Result<()> {
        let Allocation { how, arguments, kept, .. } = *request;
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

    /// Handles a freed block, in whose second word the C library's allocator looks for a mark of its own. An unwritten word is another number (except
    /// with a probability of 2^-64, which the allocator excludes).
    fn takes_back(&mut self, at: u64) -> Result<()> {
        let Some(fresh) = self.given.remove(&at) else { return Ok(()) };
        if self.memory.string(at + 8, 8)? == fresh {
            self.memory.put(at + 8, &[[Bit::default(); 8]; 8])?;
        }
        Ok(())
    }
}

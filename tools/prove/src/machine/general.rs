//! Semantics of instructions on general registers.

use crate::{
    machine::{
        Flags, Machine, Result,
        Word::{self, Number},
        Zero, refuse, stop,
    },
    values::field::{Bit, I, O, byte, none, number},
    values::lines::Lines,
};
use iced_x86::{Code, ConditionCode, Instruction, Mnemonic, OpKind, Register};

/// Returns true if both operands are one register, whose value does not matter.
fn of_itself(i: &Instruction, a: u32, b: u32) -> bool {
    let register = |operand| i.op_kind(operand) == OpKind::Register;
    register(a) && register(b) && i.op_register(a) == i.op_register(b)
}

pub(crate) fn mask(bits: usize) -> u64 {
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Combines two operands bit by bit.
pub(crate) fn bitwise(a: &Word, b: &Word, bits: usize, f: impl Fn(Bit, Bit) -> Bit) -> Word {
    let (a, b) = (a.bits(), b.bits());
    Word::of(std::array::from_fn(|i| if i < bits { f(a[i], b[i]) } else { O }))
}

impl Machine<'_> {
    pub(crate) fn general(&mut self, i: &Instruction) -> Result<()> {
        use Mnemonic::*;
        let n = Self::width(i, 0);
        let m = i.mnemonic();
        if matches!(m, Lea | Cdqe | Cwde | Cqo | Cdq | Leave | Cmpxchg | Stosb | Stosd | Stosq) {
            self.degrees.read_any();
        }
        match m {
            // Without a shadow stack.
            Rdsspd | Rdsspq => {}
            Nop | Endbr64 | Pause | Sfence | Lfence | Mfence => {}
            // Only the address of a prefetch matters, which a cache observes.
            Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetchnta | Prefetchw => drop(self.address(i)?),
            // Moves
            Mov => {
                let word = self.get(i, 1)?.keep(n);
                self.set(i, 0, &word)?;
            }
            Movzx => {
                let word = self.get(i, 1)?;
                self.set(i, 0, &word)?;
            }
            Movsx | Movsxd => {
                let (from, bits) = (Self::width(i, 1), self.get(i, 1)?.bits());
                self.set(i, 0, &Word::of(std::array::from_fn(|j| bits[j.min(from - 1)])))?;
            }
            Cdqe | Cwde => {
                let (from, to, half) = if m == Cdqe { (Register::EAX, Register::RAX, 32) } else { (Register::AX, Register::EAX, 16) };
                let bits = self.register(from).bits();
                self.set_register(to, &Word::of(std::array::from_fn(|j| bits[j.min(half - 1)])));
            }
            Cqo | Cdq => {
                let (from, to, n) = if m == Cqo { (Register::RAX, Register::RDX, 64) } else { (Register::EAX, Register::EDX, 32) };
                let sign = self.register(from).bits()[n - 1];
                self.set_register(to, &Word::of([sign; 64]));
            }
            Movbe | Bswap => {
                let bits = self.get(i, u32::from(m == Movbe))?.bits();
                let swapped = |j: usize| if j < n { bits[n - 8 - j / 8 * 8 + j % 8] } else { O };
                self.set(i, 0, &Word::of(std::array::from_fn(swapped)))?;
            }
            Xchg => {
                let (a, b) = (self.get(i, 0)?, self.get(i, 1)?);
                // The address uses the old registers.
                let memory = u32::from(i.op_kind(1) == OpKind::Memory);
                let (first, second) = if memory == 1 { (&a, &b) } else { (&b, &a) };
                self.set(i, memory, first)?;
                self.set(i, 1 - memory, second)?;
            }
            Lea => {
                let flags = self.flags.clone();
                let mut sum = Number(i.memory_displacement64()).keep(n);
                if i.memory_base() != Register::None && !i.is_ip_rel_memory_operand() {
                    sum = self.sum(&sum, &self.register(i.memory_base()).keep(n), O, n)?;
                }
                if i.memory_index() != Register::None {
                    let index = self.register(i.memory_index()).keep(n);
                    let scaled = shifted(Shl, &index, i.memory_index_scale().trailing_zeros() as usize, n);
                    sum = self.sum(&sum, &scaled, O, n)?;
                }
                self.flags = flags;
                self.set(i, 0, &sum)?;
            }
            // Sums
            Add | Adc => {
                let carry = if m == Adc { self.carried()? } else { O };
                let (a, b) = (self.get(i, 0)?, self.get(i, 1)?);
                let sum = self.sum(&a, &b, carry, n)?;
                self.set(i, 0, &sum)?;
            }
            Xadd => {
                let (a, b) = (self.get(i, 0)?, self.get(i, 1)?);
                let sum = self.sum(&a, &b, O, n)?;
                // The address uses the old registers; for two registers the sum counts.
                if i.op_kind(0) == OpKind::Memory {
                    self.set(i, 0, &sum)?;
                    return self.set(i, 1, &a);
                }
                self.set(i, 1, &a)?;
                self.set(i, 0, &sum)?;
            }
            Cmpxchg => {
                let (old, new, expected) = (self.get(i, 0)?, self.get(i, 1)?, self.register(accumulator(n)?));
                self.difference(&expected, &old, O, n)?;
                if self.condition(ConditionCode::e)? { self.set(i, 0, &new)? } else { self.set_register(accumulator(n)?, &old) }
            }
            Sub | Sbb => {
                let borrow = if m == Sbb { self.carried()? } else { O };
                let (a, b) = if of_itself(i, 0, 1) { (Number(0), Number(0)) } else { (self.get(i, 0)?, self.get(i, 1)?) };
                let difference = self.difference(&a, &b, borrow, n)?;
                self.set(i, 0, &difference)?;
            }
            Cmp => {
                let (a, b) = (self.get(i, 0)?.keep(n), self.get(i, 1)?.keep(n));
                self.compare(&a, &b, n)?;
            }
            Inc | Dec => {
                let carry = self.flags.carry;
                let a = self.get(i, 0)?;
                let result = if m == Inc { self.sum(&a, &Number(1), O, n)? } else { self.difference(&a, &Number(1), O, n)? };
                self.flags.carry = carry;
                self.set(i, 0, &result)?;
            }
            Neg => {
                let a = self.get(i, 0)?;
                let negative = self.difference(&Number(0), &a, O, n)?;
                self.set(i, 0, &negative)?;
            }
            Imul if i.op_count() > 1 => {
                let first = i.op_count() - 2;
                let (a, b) = (self.get(i, first)?, self.get(i, first + 1)?);
                if let Some(product) = self.product_of_lines(&a, &b, n) {
                    return self.set(i, 0, &product);
                }
                let (a, b) = (a.number()?, b.number()?);
                let signed = |x: u64| i128::from((x << (64 - n)) as i64 >> (64 - n));
                let product = signed(a) * signed(b);
                let overflows = product != signed(product as u64);
                self.flags = Flags { carry: Some(overflows.into()), overflow: Some(overflows), ..Flags::UNDEFINED };
                self.set(i, 0, &Number(product as u64).keep(n))?;
            }
            Mul => {
                let (low, high) = match n {
                    64 => (Register::RAX, Register::RDX),
                    32 => (Register::EAX, Register::EDX),
                    _ => stop!("a product of {n} bits"),
                };
                let product = u128::from(self.register(low).number()?) * u128::from(self.get(i, 0)?.number()?);
                self.set_register(low, &Number(product as u64).keep(n));
                self.set_register(high, &Number((product >> n) as u64).keep(n));
                let overflows = product >> n != 0;
                self.flags = Flags { carry: Some(overflows.into()), overflow: Some(overflows), ..Flags::UNDEFINED };
            }
            Mulx => {
                let a = self.register(if n == 64 { Register::RDX } else { Register::EDX }).number()?;
                let product = u128::from(a) * u128::from(self.get(i, 2)?.number()?);
                self.set(i, 1, &Number(product as u64).keep(n))?;
                self.set(i, 0, &Number((product >> n) as u64).keep(n))?;
            }
            Div if n >= 32 => {
                let (low, high) = if n == 64 { (Register::RAX, Register::RDX) } else { (Register::EAX, Register::EDX) };
                let number = u128::from(self.register(high).number()?) << n | u128::from(self.register(low).number()?);
                let by = u128::from(self.get(i, 0)?.number()?);
                if by == 0 || (number / by) >> n != 0 {
                    stop!("a division that traps");
                }
                self.set_register(low, &Number((number / by) as u64));
                self.set_register(high, &Number((number % by) as u64));
                self.flags = Flags::UNDEFINED;
            }
            // Bit by bit
            Not => {
                let a = self.get(i, 0)?;
                self.set(i, 0, &bitwise(&a, &Number(u64::MAX), n, |a, b| a ^ b))?;
            }
            Xor | And | Or | Test | Andn => {
                let first = u32::from(m == Andn);
                let (a, b) = (self.get(i, first)?, self.get(i, first + 1)?);
                self.unknown.recognized += (2 * n * self.unknown.changed.len()) as f64 * f64::from(self.degrees.worst).powi(2);
                let result = match (m, &a, &b) {
                    (Xor, ..) if of_itself(i, 0, 1) => Number(0),
                    (Xor, Number(a), Number(b)) if !self.lifted_only => Number((a ^ b) & mask(n)),
                    (And | Test, Number(a), Number(b)) if !self.lifted_only => Number(a & b & mask(n)),
                    (Or, Number(a), Number(b)) if !self.lifted_only => Number((a | b) & mask(n)),
                    (Xor, ..) => bitwise(&a, &b, n, |a, b| a ^ b),
                    (And | Test, ..) => bitwise(&a, &b, n, |a, b| self.both(a, b)),
                    (Or, ..) => bitwise(&a, &b, n, Bit::or),
                    _ => bitwise(&a, &b, n, |a, b| self.both(a.inverted(), b)),
                };
                if m != Xor && (a.bits().iter().zip(b.bits()).take(n)).any(|(a, b)| a.multiplies(b)) {
                    self.degrees.multiplies = true;
                }
                self.flags = Flags::of_logic(&result, n);
                if m == Andn {
                    self.flags.parity = None;
                }
                self.flags_of_line(&result, n);
                self.sign = Some((self.rip, result.bits()[n - 1]));
                if m != Test {
                    self.set(i, 0, &result)?;
                }
            }
            Shl | Shr | Sar | Rol | Ror => self.shift(i, n)?,
            Shlx | Shrx | Sarx | Rorx => {
                let by = self.get(i, 2)?.number()? as usize % n;
                let a = self.get(i, 1)?.keep(n);
                self.set(i, 0, &shifted(m, &a, by, n))?;
            }
            Shld | Shrd => {
                let (a, b) = (self.get(i, 0)?.bits(), self.get(i, 1)?.bits());
                let by = self.get(i, 2)?.number()? as usize % if n == 64 { 64 } else { 32 };
                if by == 0 {
                    return Ok(());
                }
                if by > n {
                    stop!("a shift by {by} of {n} bits");
                }
                let both: Vec<Bit> = if m == Shld { [&b[..n], &a[..n]] } else { [&a[..n], &b[..n]] }.concat();
                let start = if m == Shld { n - by } else { by };
                let result = Word::low(&both[start..start + n]);
                self.flags = Flags::UNDEFINED;
                self.flags.of_result(&result, n);
                self.flags.carry = Some(if m == Shld { a[n - by] } else { a[by - 1] });
                self.set(i, 0, &result)?;
            }
            Bzhi => {
                let by = self.get(i, 2)?.number()? as usize & 0xff;
                let result = self.get(i, 1)?.keep(n).keep(by.min(n));
                self.flags = Flags { carry: Some(Bit::from(by >= n)), parity: None, ..Flags::of_logic(&result, n) };
                self.set(i, 0, &result)?;
            }
            Blsr | Blsi | Blsmsk => {
                let a = self.get(i, 1)?.number()?;
                let less = a.wrapping_sub(1);
                let result = match m {
                    Blsr => a & less,
                    Blsi => a & a.wrapping_neg(),
                    _ => a ^ less,
                } & mask(n);
                let carry = Some(Bit::from((a == 0) != (m == Blsi)));
                self.flags = Flags { carry, parity: None, ..Flags::of_logic(&Number(result), n) };
                self.set(i, 0, &Number(result))?;
            }
            Bt | Bts | Btr | Btc => {
                if i.op_kind(0) != OpKind::Register {
                    stop!("a bit of memory");
                }
                let mut bits = self.get(i, 0)?.bits();
                let at = self.get(i, 1)?.number()? as usize % n;
                // The zero flag stays; the others are undefined.
                let zero = self.flags.zero.clone();
                self.flags = Flags { carry: Some(bits[at]), zero, ..Flags::UNDEFINED };
                match m {
                    Bts => bits[at] = I,
                    Btr => bits[at] = O,
                    Btc => bits[at] ^= I,
                    _ => return Ok(()),
                }
                self.set(i, 0, &Word::of(bits))?;
            }
            Tzcnt | Lzcnt | Bsf | Bsr | Popcnt => self.count(i, n)?,
            Cmc => {
                self.degrees.read(self.degrees.of_carry());
                self.flags.carry = self.flags.carry.map(Bit::inverted);
            }
            Clc | Stc => self.flags.carry = Some(Bit::from(m == Stc)),
            // Conditions
            _ if i.is_jcc_short_or_near() => {
                if self.condition(i.condition_code())? {
                    self.rip = i.near_branch64();
                }
            }
            _ if i.condition_code() != ConditionCode::None && i.op_count() == 2 => {
                let (a, b) = (self.get(i, 0)?.keep(n), self.get(i, 1)?.keep(n));
                let chosen = self.chosen(i.condition_code(), &a, &b)?;
                self.set(i, 0, &chosen)?;
            }
            _ if i.condition_code() != ConditionCode::None && i.op_count() == 1 => {
                let one = self.chosen(i.condition_code(), &Number(0), &Number(1))?;
                self.set(i, 0, &one)?;
            }
            // The stack
            Push | Pop | Leave | Call | Ret if i.stack_pointer_increment().unsigned_abs() != 8 && !matches!(m, Leave | Ret) => {
                stop!("the stack moves by other than 8 bytes")
            }
            Push => {
                let word = self.get(i, 0)?;
                self.push(&word)?;
            }
            Pop => {
                let word = self.pop()?;
                self.set(i, 0, &word)?;
            }
            Leave if i.code() != Code::Leaveq => stop!("no semantics"),
            Leave => {
                self.general[Register::RSP.number()] = self.register(Register::RBP);
                let word = self.pop()?;
                self.set_register(Register::RBP, &word);
            }
            Call => {
                let to = self.get(i, 0)?.place()?;
                self.push(&Number(i.next_ip()))?;
                self.rip = to;
            }
            Ret if !matches!(i.code(), Code::Retnq | Code::Retnq_imm16) => stop!("no semantics"),
            Ret => {
                self.rip = self.pop()?.place()?;
                let more = if i.op_count() == 0 { 0 } else { u64::from(i.immediate16()) };
                let top = self.register(Register::RSP).number()?;
                self.general[Register::RSP.number()] = Number(top.wrapping_add(more));
            }
            Jmp if !i.is_jmp_far() && !i.is_jmp_far_indirect() => self.rip = self.get(i, 0)?.place()?,
            // Strings
            Movsb | Movsd | Movsq | Stosb | Stosd | Stosq => self.string(i)?,
            // Identification of the processor
            Cpuid => {
                let leaf = self.register(Register::EAX).number()? as u32;
                let below = self.register(Register::ECX).number().unwrap_or(0) as u32;
                let Some(answer) = self.processor.cpuid(leaf, below) else { stop!("CPUID, leaf {leaf:#x}") };
                let registers = [Register::EAX, Register::EBX, Register::ECX, Register::EDX];
                registers.into_iter().zip(answer).for_each(|(register, n)| self.set_register(register, &Number(n.into())));
                // The number of the core is unknown.
                if leaf == 1 {
                    self.degrees.forget();
                    self.degrees.read(1);
                    let mut bits = Number(answer[1].into()).bits();
                    bits[24..32].copy_from_slice(&self.unknown.random.symbols());
                    self.set_register(Register::EBX, &Word::of(bits));
                }
            }
            Xgetbv => {
                if self.register(Register::ECX).number()? != 0 {
                    stop!("an extended control register that is not the first");
                }
                self.set_register(Register::EAX, &Number(self.processor.saved.into()));
                self.set_register(Register::EDX, &Number(0));
            }
            Int3 if !self.may_mark => refuse!("a trap"),
            Int3 => {
                // Below the red zone.
                let top = self.register(Register::RSP).number()?;
                self.memory.forget_below(top - 128);
                self.marked = Some(self.registers());
            }
            Syscall => {
                // getrandom(2), from which maps take their seeds: numbers, because they decide addresses.
                let number = self.register(Register::RAX).number()?;
                if number != 318 {
                    stop!("system call {number}");
                }
                let [to, bytes] = [Register::RDI, Register::RSI].map(|r| self.register(r));
                let numbers: Vec<_> = (0..bytes.number()?).map(|_| byte(self.unknown.random.word() as u8)).collect();
                self.memory.write(to.number()?, numbers.as_flattened(), &vec![0; numbers.len()])?;
                self.set_register(Register::RAX, &bytes);
                // The kernel overwrites these registers.
                [Register::RCX, Register::R11].into_iter().for_each(|r| self.set_register(r, &Number(0)));
            }
            _ => stop!("no semantics"),
        }
        Ok(())
    }

    /// Sets the flags of a comparison.
    pub(crate) fn compare(&mut self, a: &Word, b: &Word, n: usize) -> Result<()> {
        if let (Number(_), Number(_)) = (a, b) {
            self.difference(a, b, O, n)?;
        } else if self.difference_of_lines(a, b, O, n).is_none() {
            // Only equality is known.
            self.low_byte(&a.bits()[..n], b, false);
            let (a, b) = (a.bits(), b.bits());
            let differ: Vec<Bit> = (0..n).map(|j| a[j] ^ b[j]).collect();
            let zero = Zero::of(&differ);
            // Only zero is below one.
            let carry = (number(&b[..n]) == Some(1)).then(|| none(&a[..n]));
            if carry.is_some() {
                self.degrees.carry_of_all(n);
            }
            self.flags = Flags { zero, carry, ..Flags::UNDEFINED };
            self.compared_in_public(&a[..n], &b[..n]);
        }
        Ok(())
    }

    /// Returns the second operand if the condition holds: for symbols a sum of products, without a branch.
    pub(crate) fn chosen(&mut self, condition: ConditionCode, a: &Word, b: &Word) -> Result<Word> {
        let (known, why) = match self.decided(condition) {
            Ok(outcome) if !self.lifted_only => return Ok(if outcome { b } else { a }.clone()),
            Ok(outcome) => (Some(Bit::from(outcome)), None),
            Err(why) => (None, Some(why)),
        };
        // One of the followed paths of a public condition.
        if let Some(outcome) = self.unknown.lines.as_mut().and_then(Lines::branch) {
            return Ok(if outcome { b } else { a }.clone());
        }
        let (zero, degree) = match &self.flags.zero {
            Zero::IfNone(bits) => (Some(none(bits)), self.degrees.of_flags().saturating_mul(bits.len() as u32)),
            _ => (None, 0),
        };
        let degree = degree.max(self.degrees.of_carry());
        let holds = match condition {
            _ if known.is_some() => known,
            ConditionCode::e => zero,
            ConditionCode::ne => zero.map(Bit::inverted),
            ConditionCode::b => self.flags.carry,
            ConditionCode::ae => self.flags.carry.map(Bit::inverted),
            _ => None,
        };
        let Some(holds) = holds else { stop!("{}", why.map_or_else(String::new, String::from)) };
        self.degrees.read(degree);
        self.degrees.multiplies = true;
        let (a, b) = (a.bits(), b.bits());
        Ok(Word::of(std::array::from_fn(|j| a[j] ^ holds.and(a[j] ^ b[j]))))
    }

    /// Reads the carry.
    fn carried(&mut self) -> Result<Bit> {
        let carry = self.flags.carry.ok_or("a carry that is not known")?;
        if carry.number().is_none() {
            self.degrees.read(self.degrees.of_carry());
        }
        Ok(carry)
    }

    fn push(&mut self, word: &Word) -> Result<()> {
        let top = self.register(Register::RSP).number()?.wrapping_sub(8);
        self.general[Register::RSP.number()] = Number(top);
        self.store(top, 8, word)
    }

    fn pop(&mut self) -> Result<Word> {
        let top = self.register(Register::RSP).number()?;
        self.general[Register::RSP.number()] = Number(top.wrapping_add(8));
        self.load(top, 8)
    }

    fn shift(&mut self, i: &Instruction, n: usize) -> Result<()> {
        use Mnemonic::{Rol, Ror, Sar, Shl, Shr};
        let m = i.mnemonic();
        let by = self.get(i, 1)?.number()? as usize % if n == 64 { 64 } else { 32 };
        let a = self.get(i, 0)?.keep(n);
        if by == 0 {
            // The upper half of a 64-bit register is cleared anyway.
            return self.set(i, 0, &a);
        }
        let result = shifted(m, &a, by, n);
        let (before, after) = (a.bits(), result.bits());
        let carry = match m {
            Shl if by <= n => Some(before[n - by]),
            Shr if by <= n => Some(before[by - 1]),
            Sar => Some(before[(by - 1).min(n - 1)]),
            Rol => Some(after[0]),
            Ror => Some(after[n - 1]),
            _ => None,
        };
        let overflow = match m {
            _ if by != 1 => None,
            Shl | Rol => carry.and_then(|carry| (after[n - 1] ^ carry).number()),
            Shr => before[n - 1].number(),
            Sar => Some(false),
            _ => (after[n - 1] ^ after[n - 2]).number(),
        };
        self.flags.carry = carry;
        self.flags.overflow = overflow;
        if !matches!(m, Rol | Ror) {
            self.flags.of_result(&result, n);
            self.flags_of_line(&result, n);
        }
        self.set(i, 0, &result)
    }

    fn count(&mut self, i: &Instruction, n: usize) -> Result<()> {
        use Mnemonic::{Bsf, Bsr, Lzcnt, Popcnt, Tzcnt};
        let m = i.mnemonic();
        let a = match self.get(i, 1)? {
            // Of the bits above the lowest one nobody asks, which stands behind zeros here.
            Word::Bits(bits) if matches!(m, Tzcnt | Bsf) && bits.iter().find(|&&bit| bit != O) == Some(&Bit::from(true)) => {
                1 << bits.iter().take_while(|&&bit| bit == O).count()
            }
            word => word.number()?,
        } & mask(n);
        if a == 0 && matches!(m, Bsf | Bsr) {
            // The register is undefined.
            self.flags = Flags { zero: Zero::Is(true), ..Flags::UNDEFINED };
            let unknown = Word::of(std::array::from_fn(|_| self.unknown.random.symbol()));
            return if self.lifted_only { Err("a register that is not defined".into()) } else { self.set(i, 0, &unknown.keep(n)) };
        }
        let leading = a.leading_zeros() as usize - (64 - n);
        let result = match m {
            Tzcnt | Bsf => (a.trailing_zeros() as usize).min(n),
            Lzcnt => leading,
            Bsr => n - 1 - leading,
            _ => a.count_ones() as usize,
        };
        self.flags = match m {
            Popcnt => Flags { carry: Some(O), overflow: Some(false), sign: Some(false), parity: Some(false), zero: Zero::Is(a == 0) },
            Bsf | Bsr => Flags { zero: Zero::Is(false), ..Flags::UNDEFINED },
            _ => Flags { carry: Some(Bit::from(a == 0)), zero: Zero::Is(result == 0), ..Flags::UNDEFINED },
        };
        self.set(i, 0, &Number(result as u64))
    }

    fn string(&mut self, i: &Instruction) -> Result<()> {
        use Mnemonic::{Movsb, Movsd, Movsq, Stosb, Stosd};
        let bytes = match i.mnemonic() {
            Movsb | Stosb => 1,
            Movsd | Stosd => 4,
            _ => 8,
        };
        let moves = matches!(i.mnemonic(), Movsb | Movsd | Movsq);
        let kinds = (0..i.op_count()).map(|operand| i.op_kind(operand));
        if i.has_repne_prefix()
            || kinds.filter(|kind| *kind != OpKind::Register).any(|kind| !matches!(kind, OpKind::MemorySegRSI | OpKind::MemoryESRDI))
        {
            stop!("no semantics");
        }
        if i.memory_segment() == Register::FS || i.memory_segment() == Register::GS {
            stop!("a string of another segment");
        }
        if i.mnemonic() == Stosb && i.has_rep_prefix() && self.unknown.lines.is_some() && self.filled().is_some() {
            return Ok(());
        }
        let [count, from, to] = [Register::RCX, Register::RSI, Register::RDI].map(Register::number);
        let times = if i.has_rep_prefix() { self.general[count].place()? } else { 1 };
        if times > 1 << 30 {
            stop!("a string of {times} parts");
        }
        for _ in 0..times {
            let at = self.general[to].place()?;
            let word = if moves {
                let at = self.general[from].place()?;
                self.general[from] = Number(at.wrapping_add(bytes));
                self.load(at, bytes as usize)?
            } else {
                self.register(Register::RAX)
            };
            self.store(at, bytes as usize, &word)?;
            self.general[to] = Number(at.wrapping_add(bytes));
        }
        if i.has_rep_prefix() {
            self.general[count] = Number(0);
        }
        Ok(())
    }
}

/// Shifts or rotates by a number of bits, with a result of `n`.
pub(crate) fn shifted(m: Mnemonic, a: &Word, by: usize, n: usize) -> Word {
    use Mnemonic::{Rol, Sar, Sarx, Shl, Shlx, Shr, Shrx};
    let a = a.bits();
    let bit = |j: usize| match m {
        Shl | Shlx => j.checked_sub(by).map_or(O, |from| a[from]),
        Shr | Shrx => {
            if j + by < n {
                a[j + by]
            } else {
                O
            }
        }
        Sar | Sarx => a[(j + by).min(n - 1)],
        Rol => a[(j + n - by % n) % n],
        _ => a[(j + by) % n],
    };
    Word::of(std::array::from_fn(|j| if j < n { bit(j) } else { O }))
}

fn accumulator(n: usize) -> Result<Register> {
    Ok(match n {
        64 => Register::RAX,
        32 => Register::EAX,
        16 => Register::AX,
        8 => Register::AL,
        _ => stop!("an accumulator of {n} bits"),
    })
}

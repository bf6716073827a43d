//! The values of registers and flags, and the interpreter's errors.

use crate::values::field::{Bit, I, O, lifted, number};

/// An error that stops the interpreter.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A symbol would decide a branch or an address.
    Secret(String),
    /// The program uses an instruction without semantics here.
    NotUnderstood(String),
    /// The program does something that no right call does: the processor would stop it, or it writes outside of its memory.
    Refuted(String),
}

pub type Result<T> = std::result::Result<T, Stop>;

macro_rules! stop {
    ($($what:tt)*) => { return Err(crate::values::word::Stop::NotUnderstood(format!($($what)*))) };
}
macro_rules! secret {
    ($($what:tt)*) => { return Err(crate::values::word::Stop::Secret(format!($($what)*))) };
}
macro_rules! refuse {
    ($($what:tt)*) => { return Err(crate::values::word::Stop::Refuted(format!($($what)*))) };
}
pub(crate) use {refuse, secret, stop};

impl Stop {
    /// Adds the place of the error.
    pub(crate) fn at(self, place: impl std::fmt::Display) -> Self {
        match self {
            Self::Secret(why) => Self::Secret(format!("{place}: {why}")),
            Self::NotUnderstood(why) => Self::NotUnderstood(format!("{place}: {why}")),
            Self::Refuted(why) => Self::Refuted(format!("{place}: {why}")),
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Secret(why) | Self::NotUnderstood(why) | Self::Refuted(why)) = self;
        f.write_str(why)
    }
}

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Self::NotUnderstood(why)
    }
}

impl From<&str> for Stop {
    fn from(why: &str) -> Self {
        Self::NotUnderstood(why.into())
    }
}

impl From<Stop> for String {
    fn from(stop: Stop) -> Self {
        stop.to_string()
    }
}

/// The value of a general register, or of a computation.
#[derive(Clone, PartialEq, Debug)]
pub enum Word {
    Number(u64),
    Bits(Box<[Bit; 64]>),
}
use Word::{Bits, Number};

impl Word {
    pub fn of(bits: [Bit; 64]) -> Word {
        number(&bits).map_or_else(|| Bits(Box::new(bits)), Number)
    }

    /// Makes a word of its lowest bits, with zeros above.
    pub fn low(bits: &[Bit]) -> Word {
        let mut all = [O; 64];
        all[..bits.len()].copy_from_slice(bits);
        Self::of(all)
    }

    pub fn bits(&self) -> [Bit; 64] {
        match self {
            Number(n) => lifted(*n),
            Bits(bits) => **bits,
        }
    }

    /// Returns its lowest `n` bits.
    pub fn keep(&self, n: usize) -> Word {
        match self {
            _ if n >= 64 => self.clone(),
            Number(number) => Number(number & ((1 << n) - 1)),
            Bits(bits) => Self::low(&bits[..n]),
        }
    }

    /// Describes it.
    pub fn text(&self) -> String {
        match self {
            Number(n) => format!("{n:#x}"),
            Bits(_) => "a function of what is not known".into(),
        }
    }

    pub fn number(&self) -> Result<u64> {
        match self {
            Number(n) => Ok(*n),
            Bits(_) => stop!("a symbol where a number must be"),
        }
    }

    /// Returns the number, which decides a branch, a count or an address.
    pub fn place(&self) -> Result<u64> {
        match self {
            Number(n) => Ok(*n),
            Bits(_) => secret!("a symbol says where"),
        }
    }
}

/// The zero flag.
#[derive(Clone, Debug, PartialEq)]
pub enum Zero {
    Is(bool),
    /// It is set if all of these bits are zero.
    IfNone(Vec<Bit>),
    Undefined,
}

/// The flags; `None` if undefined, or for a symbol that is not needed.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    pub carry: Option<Bit>,
    pub overflow: Option<bool>,
    pub sign: Option<bool>,
    pub parity: Option<bool>,
    pub zero: Zero,
}

impl Flags {
    pub const UNDEFINED: Self = Self { carry: None, overflow: None, sign: None, parity: None, zero: Zero::Undefined };

    /// Sets sign, zero and parity of a result of this many bits.
    pub fn of_result(&mut self, result: &Word, bits: usize) {
        match result {
            Number(n) => {
                self.zero = Zero::Is(*n == 0);
                self.sign = Some(n >> (bits - 1) & 1 == 1);
                self.parity = Some((*n as u8).count_ones().is_multiple_of(2));
            }
            Bits(all) => {
                self.zero = Zero::of(&all[..bits]);
                self.sign = all[bits - 1].number();
                self.parity = None;
            }
        }
    }

    /// Returns the flags after a logical operation.
    pub fn of_logic(result: &Word, bits: usize) -> Self {
        let mut flags = Self { carry: Some(O), overflow: Some(false), ..Self::UNDEFINED };
        flags.of_result(result, bits);
        flags
    }
}

impl Zero {
    pub fn of(bits: &[Bit]) -> Self {
        if bits.contains(&I) {
            return Self::Is(false);
        }
        let mut unknown: Vec<Bit> = bits.iter().copied().filter(|&bit| bit != O).collect();
        // A bit that fills a word counts once: a product would have powers of it.
        unknown.dedup();
        if unknown.is_empty() { Self::Is(true) } else { Self::IfNone(unknown) }
    }
}

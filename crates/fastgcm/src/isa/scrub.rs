//! What a call leaves behind, and how it is wiped: its stack frame and the registers (feature `scrub`).
//!
//! Round keys, powers of H and keystream pass through vector registers, and those that do not fit are spilled to the stack. When the
//! call has returned nobody needs them, but nobody overwrites them either, until the next user of that stack or of these registers
//! does: meanwhile they may end up in a core dump, in a swap file, in what another fault gives away.
//!
//! How large a frame is depends on the compiler, its version and its options, so no constant would be right: each entry *says* how deep
//! it reaches ([`Frame::enter`]), and who called it wipes from its own stack pointer down to there, and some more for what the entry calls
//! in turn. A short message has a small frame, and pays for that only. `tests/wiping.rs` looks at everything below, and at all registers.
//!
//! Without the feature all of it is nothing: a frame has no size, and takes no register.

#[cfg(feature = "scrub")]
use super::wiper;
use super::{Isa, detect::Features};
#[cfg(feature = "scrub")]
use core::cell::Cell;
#[cfg(not(feature = "scrub"))]
use core::marker::PhantomData;

/// Where an entry notes how far down the stack it reaches.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    #[cfg(feature = "scrub")]
    lowest: &'a Cell<usize>,
    #[cfg(not(feature = "scrub"))]
    life: PhantomData<&'a ()>,
}

/// Which vector registers a row's functions may leave changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registers {
    /// Those that every processor of the kind has.
    Base,
    /// x86: the same sixteen, twice as wide.
    Avx,
    /// x86: thirty-two, and the masks.
    Avx512,
}

impl Registers {
    /// Those of a row with these features, or of the whole program if that was compiled for more.
    pub(crate) const fn of(row: &str) -> Self {
        let row = Features::named(row).0;
        if row & Features::named("avx512vl").0 != 0 || cfg!(target_feature = "avx512vl") {
            Self::Avx512
        } else if row & Features::named("avx,avx2").0 != 0 || cfg!(target_feature = "avx") {
            Self::Avx
        } else {
            Self::Base
        }
    }

    /// Calls an entry, and wipes what it leaves.
    #[inline(always)]
    #[cfg(feature = "scrub")]
    pub(crate) fn wiped_after<T>(self, entry: impl FnOnce(Frame<'_>) -> T) -> T {
        let lowest = Cell::new(wiper::stack_pointer());
        let result = entry(Frame { lowest: &lowest });
        wiper::wipe(lowest.get(), self);
        result
    }

    /// Calls an entry.
    #[inline(always)]
    #[cfg(not(feature = "scrub"))]
    pub(crate) fn wiped_after<T>(self, entry: impl FnOnce(Frame<'_>) -> T) -> T {
        entry(Frame { life: PhantomData })
    }
}

impl Frame<'_> {
    /// Said by an entry, in whose frame all is inlined: from here on, it is known how deep it reaches.
    #[inline(always)]
    pub(crate) fn enter<S: Isa>(self, _: S) {
        #[cfg(feature = "scrub")]
        self.lowest.set(self.lowest.get().min(wiper::stack_pointer() - if S::CALLS { CALLS } else { LEAVES }));
    }
}

/// Bytes of stack below an entry where everything is inlined: `memcpy` and the like, which use next to none.
#[cfg(feature = "scrub")]
const LEAVES: usize = 256;

/// The same where operations are calls (`portable`): the S-box spills its planes, and is called by a round, or by the key schedule.
#[cfg(feature = "scrub")]
const CALLS: usize = 3072;

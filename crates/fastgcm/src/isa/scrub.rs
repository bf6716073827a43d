//! What a call leaves behind, its stack frame and the registers, and how that is wiped (feature `scrub`).
//!
//! Round keys, powers of H and keystream pass through vector registers, and what does not fit is spilled to
//! the stack. When the call has returned nobody needs these values, but nobody overwrites them either, until
//! the next user of that stack or of these registers does. Meanwhile they may end up in a core dump, in a
//! swap file, or in what another fault gives away.
//!
//! The size of a frame depends on the compiler, its version and its options, so no constant would be right.
//! Each entry *says* how deep it reaches ([`Frame::enter`]), and its caller wipes from its own stack pointer
//! down to there, and some more for what the entry itself calls. A short message has a small frame, and pays
//! only for that. `tests/wiping.rs` looks at everything below, and at all registers.
//!
//! Without the feature all of this vanishes: a frame has no size, and takes no register.

#[cfg(feature = "scrub")]
use super::wiper;
#[cfg(not(feature = "scrub"))]
use core::marker::PhantomData;
#[cfg(feature = "scrub")]
use core::{cell::Cell, mem::MaybeUninit};

/// Where an entry notes how far down the stack it reaches.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    #[cfg(feature = "scrub")]
    lowest: &'a Cell<usize>,
    #[cfg(not(feature = "scrub"))]
    life: PhantomData<&'a ()>,
}

/// What [`Frame::wiped_after`] does with an entry that takes its frame as `$frame`. Without the feature there
/// is no closure around the entry: in some programs LLVM made a function of that closure, and its arguments
/// and result went through memory (16 instructions, and with a key of its own 20 ns).
macro_rules! wiped_after {
    ($frame:ident, $entry:expr) => {{
        #[cfg(feature = "scrub")]
        let result = $crate::isa::Frame::wiped_after(|$frame| $entry);
        #[cfg(not(feature = "scrub"))]
        let result = {
            let $frame = $crate::isa::Frame::UNWIPED;
            $entry
        };
        result
    }};
}
pub(crate) use wiped_after;

/// [`Frame::try_wiped_after_all`] as a macro, for that reason.
macro_rules! try_wiped_after_all {
    ($work:expr) => {{
        #[cfg(feature = "scrub")]
        let result = $crate::isa::Frame::try_wiped_after_all(|| $work);
        #[cfg(not(feature = "scrub"))]
        let result = $work;
        result
    }};
}
pub(crate) use try_wiped_after_all;

impl Frame<'_> {
    /// Calls an entry, and wipes what the entry leaves.
    #[inline(always)]
    #[cfg(feature = "scrub")]
    pub(crate) fn wiped_after<T>(entry: impl FnOnce(Frame<'_>) -> T) -> T {
        let lowest = Cell::new(wiper::stack_pointer() - 64);
        let result = entry(Frame { lowest: &lowest });
        wiper::wipe(lowest.get());
        result
    }

    /// The frame of an entry that is called without a closure around it.
    #[cfg(not(feature = "scrub"))]
    pub(crate) const UNWIPED: Self = Frame { life: PhantomData };

    /// Wipes after work that calls more than one entry, with a secret in between (J0): the work gets a frame
    /// of its own, which is wiped too.
    #[inline(always)]
    pub(crate) fn wiped_after_all<T>(work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "scrub")]
        {
            // The result is written to its place. In a register, three bytes of something else might lie
            // beside a byte with the answer.
            #[inline(never)]
            fn apart<T>(frame: Frame<'_>, work: impl FnOnce() -> T, result: &mut MaybeUninit<T>) {
                frame.deeper(STEPS);
                result.write(work());
            }
            let mut result = MaybeUninit::uninit();
            Self::wiped_after(|frame| apart(frame, work, &mut result));
            // SAFETY: `apart` has returned, so it has written the result.
            unsafe { result.assume_init() }
        }
        #[cfg(not(feature = "scrub"))]
        work()
    }

    /// Wipes after work that may fail. Value and verdict come back separately: in a `Result` that holds one
    /// of them, the place of the other holds whatever was there when the `Result` was made, and moves with it
    /// (levels 1 and s: a byte of a sum of hashes).
    #[inline(always)]
    pub(crate) fn try_wiped_after_all<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        #[cfg(feature = "scrub")]
        {
            let mut value = MaybeUninit::uninit();
            Self::wiped_after_all(|| match work() {
                Ok(done) => {
                    value.write(done);
                    Ok(())
                }
                Err(error) => Err(error),
            })?;
            // SAFETY: the work has succeeded, so the value was written.
            Ok(unsafe { value.assume_init() })
        }
        #[cfg(not(feature = "scrub"))]
        work()
    }

    /// An entry calls this if everything is inlined in its frame: from here on, it is known how deep the
    /// entry reaches.
    #[inline(always)]
    pub(crate) fn enter(self) {
        #[cfg(feature = "scrub")]
        self.deeper(LEAVES);
    }

    /// An entry calls this if it is made of calls.
    #[inline(always)]
    pub(crate) fn enter_calls(self) {
        #[cfg(feature = "scrub")]
        self.deeper(CALLS);
    }

    #[inline(always)]
    #[cfg(feature = "scrub")]
    fn deeper(self, below: usize) {
        self.lowest.set(self.lowest.get().min(wiper::stack_pointer() - below));
    }
}

/// The bytes of stack below an entry where everything is inlined: `memcpy` and similar functions use almost
/// none.
#[cfg(feature = "scrub")]
const LEAVES: usize = 128;

/// The bytes of stack below work that has a frame of its own. That work calls the functions of `running.rs`,
/// which hold what has been hashed so far. The level of optimisation decides which of them are inlined: with
/// `LEAVES` here, the third level left 16 bytes, with 1024 it left 8.
#[cfg(feature = "scrub")]
const STEPS: usize = 2048;

/// The bytes of stack where operations are calls (`portable`): the S-box spills its planes, and a round or
/// the key schedule calls the S-box. `tests/wiping.rs` has shown that this is enough.
#[cfg(feature = "scrub")]
const CALLS: usize = 4096;

//! Memory on the heap that may be refused: `Box::new` and `Arc::new` end the process if there is none.

use crate::abi::{Failure, Reason};
use std::{
    alloc::{Layout, alloc},
    mem::MaybeUninit,
    ops::Deref,
    ptr::{self, NonNull},
    sync::atomic::{
        AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
        fence,
    },
};

/// Returns room for a `T`, if there is memory.
pub(crate) fn room<T>() -> Result<Box<MaybeUninit<T>>, Failure> {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: a `T` has a size, as just checked.
    let memory = unsafe { alloc(Layout::new::<T>()) }.cast::<MaybeUninit<T>>();
    // SAFETY: memory as a `Box` allocates it, which holds nothing yet.
    if memory.is_null() { Err(Some(Reason::MallocFailure)) } else { Ok(unsafe { Box::from_raw(memory) }) }
}

/// Makes a `T` in its final place.
fn make<T>(place: &mut MaybeUninit<T>, make: impl FnOnce(&mut MaybeUninit<T>) -> Result<&mut T, Failure>) -> Result<(), Failure> {
    let there = place.as_ptr();
    let made: *const T = make(place)?;
    assert!(ptr::eq(made, there));
    Ok(())
}

/// Returns a `T` on the heap, which `init` makes there.
pub(crate) fn boxed<T>(init: impl FnOnce(&mut MaybeUninit<T>) -> Result<&mut T, Failure>) -> Result<Box<T>, Failure> {
    let mut place = room()?;
    make(&mut place, init)?;
    // SAFETY: `make` has returned, so there is one.
    Ok(unsafe { place.assume_init() })
}

/// A `T` with several owners, like `Arc`.
pub(crate) struct Shared<T>(NonNull<Counted<T>>);

struct Counted<T> {
    owners: AtomicUsize,
    value: T,
}

// SAFETY: as for `Arc`: each owner may be in a thread of its own, and the last of them drops the value.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Makes a value with one owner, which `init` makes in its final place.
    pub(crate) fn new(init: impl FnOnce(&mut MaybeUninit<T>) -> Result<&mut T, Failure>) -> Result<Self, Failure> {
        let mut place = room::<Counted<T>>()?;
        let counted = place.as_mut_ptr();
        // SAFETY: both fields lie in that room, and nobody else has it.
        unsafe {
            make(&mut *(&raw mut (*counted).value).cast::<MaybeUninit<T>>(), init)?;
            (&raw mut (*counted).owners).write(AtomicUsize::new(1));
        }
        Ok(Self(NonNull::from(Box::leak(place)).cast()))
    }

    fn counted(&self) -> &Counted<T> {
        // SAFETY: it lives as long as an owner.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // (2^63 owners would need more memory than there is.)
        self.counted().owners.fetch_add(1, Relaxed);
        Self(self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.counted().owners.fetch_sub(1, Release) == 1 {
            fence(Acquire); // behind all that the other owners have done
            // SAFETY: `new` has taken it as a `Box` would, and there is no owner any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

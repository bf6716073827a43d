//! What an engine keeps in a key: memory of one size in every key, viewed as the engine's own type.

use super::{Table, no_memset};
use crate::{Block, isa::Vectors};
use core::mem::{MaybeUninit, offset_of};
use zeroize::optimization_barrier;

/// Types for which any bytes are a valid value.
/// # Safety
/// Any bytes are a valid value of the type.
pub(crate) unsafe trait Plain: Sized {
    /// The number of bytes of its fields. Where [`Storage`] is viewed as this type, these are all its bytes:
    /// there is no padding.
    const BYTES: usize;

    /// A value of zeros.
    const ZERO: Self = {
        // SAFETY: any bytes are a value.
        unsafe { MaybeUninit::zeroed().assume_init() }
    };

    /// Writes zeros to all of the value, with a barrier, as `zeroize` promises.
    #[inline(always)]
    fn wipe(&mut self) {
        *self = Self::ZERO;
        optimization_barrier(self);
    }
}

// SAFETY: `Block` is a number.
unsafe impl Plain for Block {
    const BYTES: usize = size_of::<Self>();
}

// SAFETY: its elements are plain.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {
    const BYTES: usize = N * T::BYTES;
}

// SAFETY: it is made of numbers.
unsafe impl<const N: usize> Plain for Table<N> {
    const BYTES: usize = N * Block::BYTES;
}

/// Declares a struct of plain fields, which is plain itself.
macro_rules! plain {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$($generic:ident),+>)? { $($(#[$doc:meta])* $of:vis $field:ident: $type:ty,)+ }) => {
        $(#[$meta])*
        #[derive(Clone)]
        #[repr(C)]
        $vis struct $name $(<$($generic),+>)? {
            $($(#[$doc])* $of $field: $type,)+
        }

        #[allow(unsafe_code)]
        // SAFETY: its fields are plain, as the sum says, which names them all.
        unsafe impl $(<$($generic: $crate::inout::Plain),+>)? $crate::inout::Plain for $name $(<$($generic),+>)? {
            const BYTES: usize = 0 $(+ <$type as $crate::inout::Plain>::BYTES)+;
        }
    };
}
pub(crate) use plain;

/// Room for what any engine keeps: powers of H for vectors of four blocks need most.
pub(crate) type Storage = Table<88>;

/// Memory for a `T` that may not be initialised yet: it can be written, but not read.
pub(crate) struct Unwritten<'a, T>(&'a mut MaybeUninit<T>);

impl<'a, T: Plain> Unwritten<'a, T> {
    /// Takes the memory of a value.
    #[cfg(test)]
    #[inline(always)]
    pub(crate) fn of(value: &'a mut T) -> Self {
        // SAFETY: only bytes are written there, and any bytes are a `T`.
        Self(unsafe { &mut *core::ptr::from_mut(value).cast() })
    }

    /// Writes a vector, from block `i` on.
    #[inline(always)]
    pub(crate) fn store<S: Vectors>(&mut self, s: S, i: usize, v: S::V) {
        assert!(i <= size_of::<T>() / 16 - S::BLOCKS);
        // SAFETY: just checked.
        unsafe { s.store(self.0.as_mut_ptr().cast::<u8>().add(16 * i), v) }
    }

    /// Writes zeros to all of the memory.
    #[inline(always)]
    pub(crate) fn zeroed(self) -> &'a mut T {
        self.0.write(T::ZERO)
    }
}

/// What all engines keep, and behind it what one engine keeps: its own type `T`, or room for any engine's.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Kept<A, T> {
    /// AES round keys.
    pub(crate) schedule: A,
    /// What the engine hashes with, and whatever else it derives from a key.
    pub(crate) tables: T,
}

impl<A> Kept<A, Storage> {
    /// Returns what a key keeps, as the engine sees it.
    #[inline(always)]
    pub(crate) fn view<T: Plain>(&self) -> &Kept<A, T> {
        let () = Kept::<A, T>::FITS;
        // SAFETY: a `T` fits, and any bytes are a `T`.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }

    /// Splits the memory of a key into the schedule and the tables, which the engine has still to write.
    /// # Safety
    /// The schedule is initialised.
    #[inline(always)]
    pub(crate) unsafe fn parts<T: Plain>(place: &mut MaybeUninit<Self>) -> (&mut A, Unwritten<'_, T>) {
        let () = Kept::<A, T>::FITS;
        let start = place.as_mut_ptr();
        // SAFETY: both lie there, one behind the other; the caller vouches for the schedule; and the engine's
        // tables fit.
        unsafe { (&mut (*start).schedule, Unwritten(&mut *(&raw mut (*start).tables).cast())) }
    }

    /// Writes zeros to the schedule, and to all tables behind their first `blocks` blocks.
    #[inline(always)]
    pub(crate) fn zero_around<S: Vectors>(s: S, place: &mut MaybeUninit<Self>, blocks: usize) {
        let (all, tables, vector) = (size_of::<Self>(), offset_of!(Self, tables), 16 * S::BLOCKS);
        assert!(
            all.is_multiple_of(vector) && tables.is_multiple_of(vector) && blocks.is_multiple_of(S::BLOCKS)
        );
        let (zero, start) = (no_memset(s), place.as_mut_ptr().cast::<u8>());
        // Two loops: the compiler does not unroll one loop that leaves something out (with vectors of one
        // block, 50 ns a key).
        for at in (0..tables).step_by(vector) {
            // SAFETY: the memory is made of whole vectors.
            unsafe { s.store(start.add(at), zero) }
        }
        for at in (tables + 16 * blocks..all).step_by(vector) {
            // SAFETY: the memory is made of whole vectors.
            unsafe { s.store(start.add(at), zero) }
        }
    }

    /// Returns what a key keeps, for changes.
    #[inline(always)]
    pub(crate) fn view_mut<T: Plain>(&mut self) -> &mut Kept<A, T> {
        let () = Kept::<A, T>::FITS;
        // SAFETY: a `T` fits, any bytes are a `T`, and a `T` without padding is bytes.
        unsafe { &mut *core::ptr::from_mut(self).cast() }
    }
}

impl<A, T: Plain> Kept<A, T> {
    const FITS: () = {
        assert!(
            size_of::<Self>() <= size_of::<Kept<A, Storage>>()
                && align_of::<Self>() <= align_of::<Kept<A, Storage>>()
        );
        assert!(
            offset_of!(Self, tables) == offset_of!(Kept<A, Storage>, tables) && T::BYTES == size_of::<T>()
        );
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aes::Material, isa::Portable};

    /// `zero_around` writes zeros to all of a place except what it leaves out, and nothing beside the place.
    fn zeros<S: Vectors>(s: S) -> usize {
        const SIZE: usize = size_of::<Material>();
        let (tables, mut done) = (offset_of!(Material, tables), 0);
        for blocks in (0..=(SIZE - tables) / 16).step_by(S::BLOCKS) {
            let mut places = [const { MaybeUninit::<Material>::uninit() }; 3];
            let at = places.as_mut_ptr().cast::<[u8; 3 * SIZE]>();
            // SAFETY: the place has as many bytes.
            unsafe { at.write([0xa5; _]) }
            Material::zero_around(s, &mut places[1], blocks);
            // SAFETY: the places have as many bytes, and each has been written.
            let bytes = unsafe { places.as_ptr().cast::<[u8; 3 * SIZE]>().read() };
            let behind = SIZE + tables + 16 * blocks..2 * SIZE;
            for (i, byte) in bytes.iter().enumerate() {
                let zero = (SIZE..SIZE + tables).contains(&i) || behind.contains(&i);
                assert_eq!(*byte, if zero { 0 } else { 0xa5 }, "byte {i}, {blocks} blocks");
            }
            done += 1;
        }
        done
    }

    #[test]
    fn what_no_table_fills_is_zero_and_nothing_beside_it() {
        let blocks = size_of::<Storage>() / 16;
        assert_eq!(zeros(Portable::<1, true>::here()), blocks + 1);
        assert_eq!(zeros(Portable::<4, true>::here()), blocks / 4 + 1);
    }
}

//! Values that are made in their final place: a key is large, and nobody would wipe a copy of it.

use core::mem::MaybeUninit;

/// Returns the value that `make` makes, in the place that the caller chose. rustc copies a local variable
/// that is returned, but LLVM drops the copy if a single call has written the variable. (The copy of a key
/// takes 30 ns, and nobody would wipe it.)
#[inline(always)]
pub(crate) fn made<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> T {
    #[inline(never)]
    fn apart<T>(place: &mut MaybeUninit<T>, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
        make_there(place, make);
    }
    let mut place = MaybeUninit::uninit();
    apart(&mut place, make);
    // SAFETY: the value has been made there.
    unsafe { place.assume_init() }
}

/// Makes a value in its place on the heap.
#[cfg(feature = "alloc")]
pub(crate) fn made_boxed<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> alloc::boxed::Box<T> {
    let mut place = alloc::boxed::Box::new_uninit();
    make_there(&mut place, make);
    // SAFETY: the value has been made there.
    unsafe { place.assume_init() }
}

/// Makes a value in its place behind a counted reference.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub(crate) fn made_shared<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> alloc::sync::Arc<T> {
    let mut place = alloc::sync::Arc::new_uninit();
    make_there(alloc::sync::Arc::get_mut(&mut place).expect("nobody shares it yet"), make);
    // SAFETY: the value has been made there.
    unsafe { place.assume_init() }
}

/// Panics unless `make` returns a reference to `place`, which then holds a `T`.
#[inline(always)]
fn make_there<T>(place: &mut MaybeUninit<T>, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
    let there = place.as_ptr();
    assert!(core::ptr::eq(make(place), there));
}

/// Makes a struct in its final place: a function makes the first field there, and the other fields are moved
/// there.
macro_rules! made_in {
    ($place:expr, $type:ident { $first:ident: $make:expr $(, $other:ident: $value:expr)* }) => {{
        use core::mem::MaybeUninit;
        fn empty<T>(field: *mut T) -> *mut MaybeUninit<T> {
            field.cast()
        }
        let place: &mut MaybeUninit<$type> = $place;
        let (make, start) = ($make, place.as_mut_ptr());
        let _all = |$type { $first: _, $($other: _),* }: &$type| {};
        #[allow(unsafe_code)]
        // SAFETY: the fields lie there, they are all fields, and nobody else borrows them. `make` has
        // returned the first field, which is therefore initialised.
        unsafe {
            let first = &raw mut (*start).$first;
            assert!(core::ptr::eq(make(&mut *empty(first)), first));
            $((&raw mut (*start).$other).write($value);)*
            place.assume_init_mut()
        }
    }};
}
pub(crate) use made_in;

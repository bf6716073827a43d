//! Values that are made where they stay: a key is large, and a copy of it is one that nobody would wipe.

use core::mem::MaybeUninit;

/// What `make` puts there, made where the caller wants it: rustc copies a local variable that is returned,
/// but LLVM drops the copy of one that a call alone has written. (For a key, 30 ns, and a copy that nobody
/// would wipe.)
#[inline(always)]
pub(crate) fn made<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> T {
    #[inline(never)]
    fn apart<T>(place: &mut MaybeUninit<T>, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
        make_there(place, make);
    }
    let mut place = MaybeUninit::uninit();
    apart(&mut place, make);
    // SAFETY: it has been made there.
    unsafe { place.assume_init() }
}

/// A value that is made in its place on the heap.
#[cfg(feature = "alloc")]
pub(crate) fn made_boxed<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> alloc::boxed::Box<T> {
    let mut place = alloc::boxed::Box::new_uninit();
    make_there(&mut place, make);
    // SAFETY: it has been made there.
    unsafe { place.assume_init() }
}

/// A value that is made in its place behind a counted reference.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub(crate) fn made_shared<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> alloc::sync::Arc<T> {
    let mut place = alloc::sync::Arc::new_uninit();
    make_there(alloc::sync::Arc::get_mut(&mut place).expect("nobody shares it yet"), make);
    // SAFETY: it has been made there.
    unsafe { place.assume_init() }
}

/// Panics unless `make` returns a `T` that is there: then there is one.
#[inline(always)]
fn make_there<T>(place: &mut MaybeUninit<T>, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
    let there = place.as_ptr();
    assert!(core::ptr::eq(make(place), there));
}

/// Makes a struct where it stays: a function makes the first field there, and the others are moved there.
macro_rules! made_in {
    ($place:expr, $type:ident { $first:ident: $make:expr, $($other:ident: $value:expr),* }) => {{
        use core::mem::MaybeUninit;
        fn empty<T>(field: *mut T) -> *mut MaybeUninit<T> {
            field.cast()
        }
        let place: &mut MaybeUninit<$type> = $place;
        let (make, start) = ($make, place.as_mut_ptr());
        let _all = |$type { $first: _, $($other: _),* }: &$type| {};
        #[allow(unsafe_code)]
        // SAFETY: the fields lie there, these are all, and nobody else borrows them. `make` has returned the
        // first, and it is there.
        unsafe {
            let first = &raw mut (*start).$first;
            assert!(core::ptr::eq(make(&mut *empty(first)), first));
            $((&raw mut (*start).$other).write($value);)*
            place.assume_init_mut()
        }
    }};
}
pub(crate) use made_in;

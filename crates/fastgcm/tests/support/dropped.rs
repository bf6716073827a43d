//! What a value leaves in its memory when it is dropped there.
#![allow(dead_code)] // no test file needs all of it

use std::mem::MaybeUninit;

/// Makes values of two secrets in one place, and drops each there. What differs between the two secrets then is left of them. While the values live,
/// `secret` bytes or more differ: else the test would look at nothing.
///
/// Each secret comes three times, in no regular order: padding holds what was on the stack before, which is another thing each time.
pub(crate) fn leaves_nothing<T>(name: &str, secret: usize, mut make: impl FnMut(u64) -> T) {
    let mut place = Box::new(MaybeUninit::uninit());
    let states = [1, 2, 2, 1, 1, 2].map(|number| {
        let alive = memory_of(place.write(make(number)));
        // SAFETY: it was just written, and is written anew before the next time.
        unsafe { place.assume_init_drop() };
        [alive, memory_of(&*place)]
    });
    let differ = |when: usize| {
        let tells = |at: &usize| {
            let [a, b, c, d, e, f] = states.each_ref().map(|state| state[when][*at]);
            a == d && a == e && b == c && b == f && a != b
        };
        (0..size_of::<T>()).filter(tells).collect::<Vec<_>>()
    };
    let (alive, left) = (differ(0).len(), differ(1));
    assert!(alive >= secret, "{name}: {alive} bytes differ while it lives");
    assert!(left.is_empty(), "{name}: of {} bytes these are left of a secret: {left:?}", size_of::<T>());
}

/// The bytes that a value takes up.
pub(crate) fn memory_of<T>(value: &T) -> Vec<u8> {
    let start = std::ptr::from_ref(value).cast::<u8>();
    // SAFETY: inside the value. Volatile, so that the compiler knows nothing of what is read: no value, no padding.
    (0..size_of::<T>()).map(|i| unsafe { start.add(i).read_volatile() }).collect()
}

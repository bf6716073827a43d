//! Where there is no memory, a call says so: nothing aborts, and nothing is written.

#[path = "../../../crates/fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_capi::{fastgcm_status::*, *};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ptr::{null, null_mut},
};
use suite::passed;

/// The system's memory, which this thread gets only so many times while it is poor.
struct Poor;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static REFUSED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's, or none.
unsafe impl GlobalAlloc for Poor {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(left) = LEFT.get().checked_sub(1) else {
            REFUSED.set(REFUSED.get() + 1);
            return null_mut();
        };
        LEFT.set(left);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Poor = Poor;

/// What a call returns that gets memory so many times.
fn with(times: usize, call: impl FnOnce() -> i32) -> i32 {
    LEFT.set(times);
    let status = call();
    LEFT.set(usize::MAX);
    status
}

/// What a call returns without memory; and that it has asked for some.
fn poor(call: impl FnOnce() -> i32) -> i32 {
    let status = with(0, call);
    assert!(REFUSED.replace(0) > 0, "no memory was asked for");
    status
}

const NONCE: [u8; 12] = [2; 12];

#[test]
fn there_is_none() {
    let (mut key, mut pieces, bytes) = (null_mut(), std::ptr::dangling_mut(), [1u8; 32]);
    // SAFETY: slices, and what was made.
    unsafe {
        assert_eq!(fastgcm_key_new(&mut key, bytes.as_ptr(), 32, null()), FASTGCM_OK as i32);
        let mut other = key;
        assert_eq!(poor(|| fastgcm_key_new(&mut other, bytes.as_ptr(), 32, null())), FASTGCM_NO_MEMORY as i32);
        assert!(other.is_null());
        assert_eq!(poor(|| fastgcm_pieces_new(&mut pieces, key, NONCE.as_ptr(), 12)), FASTGCM_NO_MEMORY as i32);
        assert!(pieces.is_null());
    }
    let mut calls = 2;

    // More slices than there is room for on the stack, and a batch that is not in order.
    let (from, mut to, mut tag) = ([3u8; 100], [0xa5u8; 100], [0xa5u8; 16]);
    let slices: Vec<_> = from.chunks(1).map(|piece| fastgcm_slice { data: piece.as_ptr(), size: 1 }).collect();
    let [slices, one] = [&slices[..], &slices[..1]].map(|list| (list.as_ptr(), list.len()));
    for (aad, text) in [(slices, one), (one, slices), (slices, slices)] {
        // SAFETY: lists of slices, and room.
        let mut seal = || unsafe {
            let (to, tag) = (to.as_mut_ptr(), tag.as_mut_ptr());
            fastgcm_seal_gathered(key, NONCE.as_ptr(), 12, aad.0, aad.1, text.0, text.1, to, text.1, tag)
        };
        assert_eq!(poor(&mut seal), FASTGCM_NO_MEMORY as i32);
        // SAFETY: likewise.
        let mut open = || unsafe {
            fastgcm_open_gathered(key, NONCE.as_ptr(), 12, aad.0, aad.1, text.0, text.1, tag.as_ptr(), to.as_mut_ptr(), text.1)
        };
        assert_eq!(poor(&mut open), FASTGCM_NO_MEMORY as i32);
        calls += 2;
    }
    assert!(to == [0xa5; 100] && tag == [0xa5; 16], "something is written");
    let mut texts = [[3u8; 20]; 3];
    let [first, second, third] = texts.each_mut().map(|text| text.as_mut_ptr());
    let packet =
        |at: *mut u8| fastgcm_packet { nonce: NONCE, status: -7, aad: null(), aad_size: 0, from: at, to: at, size: 20, tag: [0xa5; 16] };
    let mut packets = [third, first, second].map(packet);
    // SAFETY: packets with their texts.
    let mut batch = || unsafe { fastgcm_seal_batch(key, packets.as_mut_ptr(), 3) };
    assert_eq!(poor(&mut batch), FASTGCM_NO_MEMORY as i32);
    assert_eq!(texts, [[3; 20]; 3]);
    // With memory they are done.
    assert_eq!(batch(), FASTGCM_OK as i32);
    assert!(texts != [[3; 20]; 3] && packets.iter().all(|packet| packet.status == 0));
    // SAFETY: it was made.
    unsafe { fastgcm_key_free(key) };
    passed("capi::memory::there_is_none", calls + 1, 9);
}

/// A batch that is not in order asks for memory once: a second time could abort. It is done, although each packet has three places.
#[test]
fn a_batch_asks_once() {
    let (mut key, bytes) = (null_mut(), [1u8; 32]);
    // SAFETY: slices.
    assert_eq!(unsafe { fastgcm_key_new(&mut key, bytes.as_ptr(), 32, null()) }, FASTGCM_OK as i32);
    let (aad, from, mut calls) = ([7u8; 13], [3u8; 20], 0);
    for count in 1..40 {
        let mut texts = vec![[0u8; 20]; count];
        let packet = |to: &mut [u8; 20]| {
            let (aad, aad_size, from, to) = (aad.as_ptr(), aad.len(), from.as_ptr(), to.as_mut_ptr());
            fastgcm_packet { nonce: NONCE, status: -7, aad, aad_size, from, to, size: 20, tag: [0; 16] }
        };
        let mut packets: Vec<_> = texts.iter_mut().rev().map(packet).collect();
        // SAFETY: packets with their texts.
        let batch = || unsafe { fastgcm_seal_batch(key, packets.as_mut_ptr(), count) };
        assert_eq!(with(1, batch), FASTGCM_OK as i32, "{count} packets");
        assert!(texts.iter().all(|text| *text == texts[0] && *text != [0; 20]) && packets.iter().all(|packet| packet.status == 0));
        calls += 1;
    }
    // SAFETY: it was made.
    unsafe { fastgcm_key_free(key) };
    passed("capi::memory::a_batch_asks_once", calls, 39);
}

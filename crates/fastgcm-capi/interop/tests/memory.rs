//! Where there is no memory, a call says so: nothing aborts, and nothing is written.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_capi::{fastgcm_status::*, *};
use fastgcm_capi_interop::{complete, functions};
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

/// Keys, and a message in pieces that has AAD.
struct Made {
    key: *mut fastgcm_key,
    root: *mut fastgcm_root_key,
    pieces: *mut fastgcm_pieces,
}

impl Made {
    fn new() -> Self {
        let (mut key, mut root, mut pieces) = (null_mut(), null_mut(), null_mut());
        // SAFETY: slices, and what was made.
        unsafe {
            assert_eq!(fastgcm_root_key_new(&mut root, SCHEME, [1u8; 32].as_ptr(), 32, null()), 0);
            assert_eq!(fastgcm_key_new(&mut key, [1u8; 32].as_ptr(), 32, null()), 0);
            assert_eq!(fastgcm_pieces_new(&mut pieces, key, NONCE.as_ptr(), 12), 0);
            assert_eq!(fastgcm_pieces_aad(pieces, key, NONCE.as_ptr(), 12), 0);
        }
        Self { key, root, pieces }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: `new` made them.
        unsafe {
            fastgcm_pieces_free(self.pieces);
            fastgcm_root_key_free(self.root);
            fastgcm_key_free(self.key);
        }
    }
}

/// A call with all that it needs, on those 800 bytes, and a tag.
type Call = (&'static str, fn(&Made, &mut [u8; 800], &mut [u8; 16]) -> i32);

/// Packets whose texts lie in the other order.
fn packets(memory: &mut [u8; 800], tag: [u8; 16]) -> Vec<fastgcm_packet> {
    let packet = |text: &mut [u8]| {
        let at = text.as_mut_ptr();
        fastgcm_packet { nonce: NONCE, status: -7, aad: null(), aad_size: 0, from: at, to: at, size: 100, tag }
    };
    memory.chunks_mut(100).map(packet).rev().collect()
}

/// Every function of the header.
const CALLS: &[Call] = {
    // SAFETY (of all): slices with their lengths, and what was made.
    #[allow(clippy::undocumented_unsafe_blocks)]
    &[
        ("fastgcm_key_size", |_, _, _| i32::from(fastgcm_key_size() == 0)),
        ("fastgcm_key_align", |_, _, _| i32::from(fastgcm_key_align() == 0)),
        ("fastgcm_key_init", |_, m, _| unsafe {
            let mut place = std::mem::MaybeUninit::uninit();
            fastgcm_key_init(place.as_mut_ptr(), size_of::<fastgcm_key>(), m.as_ptr(), 32, null())
        }),
        ("fastgcm_key_wipe", |_, _, _| unsafe {
            fastgcm_key_wipe(null_mut());
            0
        }),
        ("fastgcm_key_new", |_, m, _| unsafe {
            let mut made = null_mut();
            let done = fastgcm_key_new(&mut made, m.as_ptr(), 32, null());
            assert_eq!(made.is_null(), done != 0);
            fastgcm_key_free(made);
            done
        }),
        ("fastgcm_key_free", |_, _, _| unsafe {
            fastgcm_key_free(null_mut());
            0
        }),
        ("fastgcm_seal", |made, m, t| unsafe {
            fastgcm_seal(made.key, NONCE.as_ptr(), 5, t.as_ptr(), 0, m.as_ptr(), 800, m.as_mut_ptr(), t.as_mut_ptr())
        }),
        ("fastgcm_open", |made, m, t| unsafe {
            fastgcm_seal(made.key, NONCE.as_ptr(), 5, t.as_ptr(), 0, m.as_ptr(), 800, m.as_mut_ptr(), t.as_mut_ptr());
            fastgcm_open(made.key, NONCE.as_ptr(), 5, t.as_ptr(), 0, m.as_ptr(), 800, t.as_ptr(), 16, m.as_mut_ptr())
        }),
        ("fastgcm_seal_gathered", |made, m, t| unsafe { gathered(made, m, t, true) }),
        ("fastgcm_open_gathered", |made, m, t| unsafe { gathered(made, m, t, false) }),
        ("fastgcm_seal_batch", |made, m, t| unsafe { fastgcm_seal_batch(made.key, packets(m, *t).as_mut_ptr(), 8) }),
        ("fastgcm_open_batch", |made, m, t| unsafe { fastgcm_open_batch(made.key, packets(m, *t).as_mut_ptr(), 8) }),
        ("fastgcm_pieces_size", |_, _, _| i32::from(fastgcm_pieces_size() == 0)),
        ("fastgcm_pieces_align", |_, _, _| i32::from(fastgcm_pieces_align() == 0)),
        ("fastgcm_pieces_init", |made, _, _| unsafe {
            let mut place = std::mem::MaybeUninit::uninit();
            fastgcm_pieces_init(place.as_mut_ptr(), size_of::<fastgcm_pieces>(), made.key, NONCE.as_ptr(), 12)
        }),
        ("fastgcm_pieces_new", |made, _, _| unsafe {
            let mut pieces = null_mut();
            let done = fastgcm_pieces_new(&mut pieces, made.key, NONCE.as_ptr(), 12);
            assert_eq!(pieces.is_null(), done != 0);
            fastgcm_pieces_free(pieces);
            done
        }),
        ("fastgcm_pieces_aad", |made, m, _| unsafe { fastgcm_pieces_aad(made.pieces, made.key, m.as_ptr(), 800) }),
        ("fastgcm_pieces_seal", |made, m, _| unsafe { fastgcm_pieces_seal(made.pieces, made.key, m.as_ptr(), 800, m.as_mut_ptr()) }),
        ("fastgcm_pieces_open", |made, m, _| unsafe { fastgcm_pieces_open(made.pieces, made.key, m.as_ptr(), 800, m.as_mut_ptr()) }),
        ("fastgcm_pieces_finish", |made, _, t| unsafe { fastgcm_pieces_finish(made.pieces, made.key, t.as_mut_ptr()) }),
        ("fastgcm_pieces_verify", |made, _, t| unsafe { fastgcm_pieces_verify(made.pieces, made.key, t.as_ptr(), 16) }),
        ("fastgcm_pieces_wipe", |_, _, _| unsafe {
            fastgcm_pieces_wipe(null_mut());
            0
        }),
        ("fastgcm_pieces_free", |_, _, _| unsafe {
            fastgcm_pieces_free(null_mut());
            0
        }),
        ("fastgcm_root_key_size", |_, _, _| i32::from(fastgcm_root_key_size() == 0)),
        ("fastgcm_root_key_align", |_, _, _| i32::from(fastgcm_root_key_align() == 0)),
        ("fastgcm_root_key_init", |_, m, _| unsafe {
            let mut place = std::mem::MaybeUninit::uninit();
            fastgcm_root_key_init(place.as_mut_ptr(), size_of::<fastgcm_root_key>(), SCHEME, m.as_ptr(), 32, null())
        }),
        ("fastgcm_root_key_wipe", |_, _, _| unsafe {
            fastgcm_root_key_wipe(null_mut());
            0
        }),
        ("fastgcm_root_key_new", |_, m, _| unsafe {
            let mut made = null_mut();
            let done = fastgcm_root_key_new(&mut made, SCHEME, m.as_ptr(), 32, null());
            assert_eq!(made.is_null(), done != 0);
            fastgcm_root_key_free(made);
            done
        }),
        ("fastgcm_root_key_free", |_, _, _| unsafe {
            fastgcm_root_key_free(null_mut());
            0
        }),
        ("fastgcm_root_seal", |made, m, _| unsafe { root(made, m, true) }),
        ("fastgcm_root_open", |made, m, _| unsafe { root(made, m, false) }),
        ("fastgcm_backend", |_, _, _| i32::from(fastgcm_backend(0).is_null())),
        ("fastgcm_key_backend", |made, _, _| unsafe { i32::from(fastgcm_key_backend(made.key).is_null()) }),
        ("fastgcm_version", |_, _, _| i32::from(fastgcm_version().is_null())),
        ("fastgcm_text", |_, _, _| i32::from(fastgcm_text(0).is_null())),
        ("fastgcm_selftest", |_, _, _| fastgcm_selftest()),
    ]
};

const SCHEME: i32 = fastgcm_scheme::FASTGCM_KC_XAES_256_GCM as i32;

/// A message under a root key, with its tag behind it.
unsafe fn root(made: &Made, memory: &mut [u8; 800], seal: bool) -> i32 {
    let (text, tag) = memory.split_at_mut(752);
    let (nonce, key, to) = ([2; 24], made.root, text.as_mut_ptr());
    // SAFETY: slices with their lengths.
    unsafe {
        if seal {
            fastgcm_root_seal(key, nonce.as_ptr(), 24, null(), 0, to, 752, to, tag.as_mut_ptr(), 48)
        } else {
            fastgcm_root_open(key, nonce.as_ptr(), 24, null(), 0, to, 752, tag.as_ptr(), 48, to)
        }
    }
}

/// A message of forty slices.
unsafe fn gathered(made: &Made, memory: &mut [u8; 800], tag: &mut [u8; 16], seal: bool) -> i32 {
    let (from, to) = memory.split_at_mut(400);
    let mut list = [const { fastgcm_slice { data: null(), size: 0 } }; 40];
    list.iter_mut().zip(from.chunks(10)).for_each(|(slice, from)| *slice = fastgcm_slice { data: from.as_ptr(), size: 10 });
    let (list, to) = (list.as_ptr(), to.as_mut_ptr());
    // SAFETY: slices with their lengths.
    unsafe {
        if seal {
            fastgcm_seal_gathered(made.key, NONCE.as_ptr(), 12, list, 40, list, 40, to, 400, tag.as_mut_ptr())
        } else {
            fastgcm_open_gathered(made.key, NONCE.as_ptr(), 12, list, 40, list, 40, tag.as_ptr(), to, 400)
        }
    }
}

/// Each function, refused memory at each place where it asks for some, has changed no buffer, and then does what it does without that call.
#[test]
fn every_refusal_changes_nothing() {
    complete(CALLS.iter().map(|(name, _)| *name), functions().into_iter().map(|(name, _)| name.to_string()));
    let mut refusals = 0;
    for (name, call) in CALLS {
        let ([mut memory, mut alone], [mut tag, mut tag_alone]) = ([[3u8; 800]; 2], [[5u8; 16]; 2]);
        let made = Made::new();
        let wanted = call(&Made::new(), &mut alone, &mut tag_alone);
        // What the test itself asks for in a call comes first.
        let own = usize::from(name.ends_with("_batch"));
        for times in own.. {
            let done = with(times, || call(&made, &mut memory, &mut tag));
            if REFUSED.replace(0) == 0 {
                assert!(done == wanted && memory == alone && tag == tag_alone, "{name}: another answer after a refusal");
                break;
            }
            assert_eq!(done, FASTGCM_NO_MEMORY as i32, "{name}");
            assert!(memory == [3; 800] && tag == [5; 16], "{name}: something is written");
            refusals += 1;
        }
    }
    // Keys, root keys, messages in pieces, two lists to seal and to open, two batches.
    passed("capi::memory::every_refusal_changes_nothing", refusals, 9);
}

//! F19: a structure grows, and a program that was compiled before goes on. Its memory has the size that was asked for at run time, or an error says
//! that it is too small; what callers lay out themselves has the size that it will always have.

#[path = "../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_capi::{fastgcm_scheme::*, fastgcm_status::*, *};
use std::{mem::offset_of, ptr::null};
use suite::passed;

/// Bytes behind a place, which nobody may write to.
const BEHIND: usize = 4096;

/// Memory with a place of so many bytes, aligned as asked; all bytes are 0xa5.
struct Memory(Vec<u8>, usize);

impl Memory {
    fn new(size: usize, align: usize) -> Self {
        let bytes = vec![0xa5; align + size + BEHIND];
        let begin = bytes.as_ptr().align_offset(align);
        Self(bytes, begin)
    }

    fn at<T>(&mut self) -> *mut T {
        self.0[self.1..].as_mut_ptr().cast()
    }

    /// Whether nothing was written from there on, counted from the place.
    fn untouched_from(&self, size: usize) -> bool {
        self.0[..self.1].iter().chain(&self.0[self.1 + size..]).all(|byte| *byte == 0xa5)
    }
}

/// A place of any size below that which the library says, as that of a program which knows an earlier version's: refused, and untouched. In a place of
/// exactly that size a key and a message live, and nothing beside it changes, with each back end.
#[test]
fn f19_places_of_every_size() {
    let (key_size, pieces_size) = (fastgcm_key_size(), fastgcm_pieces_size());
    let (mut places, bytes, nonce) = (0, [7; 32], [1; 12]);
    let root_size = fastgcm_root_key_size();
    let room = key_size.max(pieces_size).max(root_size);
    let mut key_memory = Memory::new(key_size, fastgcm_key_align());
    // SAFETY: memory as large and aligned as the library says, and room behind it where it is said to be smaller.
    unsafe {
        assert_eq!(fastgcm_key_init(key_memory.at(), key_size, bytes.as_ptr(), 32, null()), FASTGCM_OK as i32);
        let key = key_memory.at();
        let mut memory = Memory::new(room, fastgcm_key_align().max(fastgcm_pieces_align()).max(fastgcm_root_key_align()));
        for size in 0..room {
            if size < key_size {
                assert_eq!(fastgcm_key_init(memory.at(), size, bytes.as_ptr(), 32, null()), FASTGCM_PLACE as i32, "{size} bytes");
                places += 1;
            }
            if size < pieces_size {
                assert_eq!(fastgcm_pieces_init(memory.at(), size, key, nonce.as_ptr(), 12), FASTGCM_PLACE as i32, "{size} bytes");
                places += 1;
            }
            if size < root_size {
                let done = fastgcm_root_key_init(memory.at(), size, FASTGCM_XAES_256_GCM as i32, bytes.as_ptr(), 32, null());
                assert_eq!(done, FASTGCM_PLACE as i32, "{size} bytes");
                places += 1;
            }
            assert!(memory.untouched_from(0), "{size} bytes");
        }
        fastgcm_key_wipe(key);
    }
    assert_eq!(places, key_size + pieces_size + root_size);

    let mut kinds = 0;
    for length in [16, 24, 32] {
        for backend in (0..).map(|index| fastgcm_backend(index)).take_while(|name| !name.is_null()) {
            let mut key_memory = Memory::new(key_size, fastgcm_key_align());
            let mut memory = Memory::new(pieces_size, fastgcm_pieces_align());
            let (mut text, mut tag) = ([3; 1000], [0; 16]);
            let at = text.as_mut_ptr();
            // SAFETY: as above.
            unsafe {
                assert_eq!(fastgcm_key_init(key_memory.at(), key_size, bytes.as_ptr(), length, backend), FASTGCM_OK as i32);
                let key = key_memory.at();
                assert_eq!(fastgcm_seal(key, nonce.as_ptr(), 12, null(), 0, at, 1000, at, tag.as_mut_ptr()), FASTGCM_OK as i32);
                assert_eq!(fastgcm_pieces_init(memory.at(), pieces_size, key, nonce.as_ptr(), 12), FASTGCM_OK as i32);
                assert_eq!(fastgcm_pieces_open(memory.at(), key, at, 1000, at), FASTGCM_OK as i32);
                assert_eq!(fastgcm_pieces_verify(memory.at(), key, tag.as_ptr(), 16), FASTGCM_OK as i32);
                fastgcm_pieces_wipe(memory.at());
                fastgcm_key_wipe(key);
            }
            assert!(text == [3; 1000] && key_memory.untouched_from(key_size) && memory.untouched_from(pieces_size));
        }
        kinds += 1;
    }
    for scheme in [FASTGCM_XAES_256_GCM, FASTGCM_KC_XAES_256_GCM] {
        let mut memory = Memory::new(root_size, fastgcm_root_key_align());
        let (mut text, mut tag, nonce) = ([3; 1000], [0; 48], [1; 24]);
        let (at, tag_size) = (text.as_mut_ptr(), [16, 48][scheme as usize - 1]);
        // SAFETY: as above.
        unsafe {
            assert_eq!(fastgcm_root_key_init(memory.at(), root_size, scheme as i32, bytes.as_ptr(), 32, null()), FASTGCM_OK as i32);
            let key = memory.at();
            let done = fastgcm_root_seal(key, nonce.as_ptr(), 24, null(), 0, at, 1000, at, tag.as_mut_ptr(), tag_size);
            assert_eq!(done, FASTGCM_OK as i32);
            let done = fastgcm_root_open(key, nonce.as_ptr(), 24, null(), 0, at, 1000, tag.as_ptr(), tag_size, at);
            assert_eq!(done, FASTGCM_OK as i32);
            fastgcm_root_key_wipe(memory.at());
        }
        assert!(text == [3; 1000] && memory.untouched_from(root_size));
        kinds += 1;
    }
    passed("capi::f19_places_of_every_size", kinds, 5);
}

/// What a program has in its own code is only this: a slice is a pointer and a size, and each status keeps its number.
#[test]
fn f19_what_callers_lay_out_stays() {
    assert_eq!([size_of::<fastgcm_slice>(), align_of::<fastgcm_slice>()], [2 * size_of::<usize>(), align_of::<usize>()]);
    assert_eq!([offset_of!(fastgcm_slice, data), offset_of!(fastgcm_slice, size)], [0, size_of::<usize>()]);
    let pointer = size_of::<usize>();
    assert_eq!([size_of::<fastgcm_packet>(), align_of::<fastgcm_packet>()], [5 * pointer + 32, pointer]);
    let fields = [
        offset_of!(fastgcm_packet, nonce),
        offset_of!(fastgcm_packet, status),
        offset_of!(fastgcm_packet, aad),
        offset_of!(fastgcm_packet, aad_size),
        offset_of!(fastgcm_packet, from),
        offset_of!(fastgcm_packet, to),
        offset_of!(fastgcm_packet, size),
        offset_of!(fastgcm_packet, tag),
    ];
    let after = |pointers: usize| 16 + pointers * pointer;
    assert_eq!(fields, [0, 12, after(0), after(1), after(2), after(3), after(4), after(5)]);
    let statuses = [
        FASTGCM_OK,
        FASTGCM_UNAUTHENTIC,
        FASTGCM_INVALID_LENGTH,
        FASTGCM_TOO_LONG,
        FASTGCM_UNAVAILABLE,
        FASTGCM_OUT_OF_ORDER,
        FASTGCM_NULL,
        FASTGCM_OVERLAP,
        FASTGCM_PLACE,
        FASTGCM_NO_MEMORY,
        FASTGCM_SELFTEST,
        FASTGCM_INTERNAL,
    ];
    assert!(statuses.iter().enumerate().all(|(number, status)| *status as usize == number));
    assert_eq!([FASTGCM_XAES_256_GCM as i32, FASTGCM_KC_XAES_256_GCM as i32], [1, 2]);
    let header = include_str!("../include/fastgcm.h");
    for name in ["key", "pieces", "root_key"] {
        let opaque = format!("typedef struct fastgcm_{name} fastgcm_{name};");
        assert!(header.contains(&opaque), "{opaque}");
    }
    passed("capi::f19_what_callers_lay_out_stays", statuses.len() + 2 + 2 + fields.len(), 24);
}

//! Root keys of C: known answers, forgeries, buffers that overlap, and calls that are wrong.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_capi::{fastgcm_scheme::*, fastgcm_status::*, *};
use std::{
    ffi::{CStr, c_char},
    ptr::{null, null_mut},
};
use suite::{Random, hex, passed};

const XAES: i32 = FASTGCM_XAES_256_GCM as i32;
const KC_XAES: i32 = FASTGCM_KC_XAES_256_GCM as i32;
/// The schemes, and the bytes of their tags.
const SCHEMES: [(i32, usize); 2] = [(XAES, FASTGCM_XAES_256_GCM_TAG), (KC_XAES, FASTGCM_KC_XAES_256_GCM_TAG)];
const NONCE: &[u8; 24] = b"ABCDEFGHIJKLMNOPQRSTUVWX";

/// A root key on the heap.
struct Key(*mut fastgcm_root_key);

impl Key {
    fn new(scheme: i32, bytes: &[u8; 32], backend: *const c_char) -> Self {
        let mut key = null_mut();
        // SAFETY: a slice, and a name.
        assert_eq!(unsafe { fastgcm_root_key_new(&mut key, scheme, bytes.as_ptr(), 32, backend) }, FASTGCM_OK as i32);
        Self(key)
    }

    fn seal(&self, nonce: &[u8], aad: &[u8], from: *const u8, size: usize, to: *mut u8, tag: &mut [u8]) -> i32 {
        let aad_data = if aad.is_empty() { null() } else { aad.as_ptr() };
        // SAFETY: slices; `from` and `to` have `size` bytes.
        unsafe { fastgcm_root_seal(self.0, nonce.as_ptr(), nonce.len(), aad_data, aad.len(), from, size, to, tag.as_mut_ptr(), tag.len()) }
    }

    fn open(&self, nonce: &[u8], aad: &[u8], from: *const u8, size: usize, tag: &[u8], to: *mut u8) -> i32 {
        let aad_data = if aad.is_empty() { null() } else { aad.as_ptr() };
        // SAFETY: likewise.
        unsafe { fastgcm_root_open(self.0, nonce.as_ptr(), nonce.len(), aad_data, aad.len(), from, size, tag.as_ptr(), tag.len(), to) }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { fastgcm_root_key_free(self.0) }
    }
}

/// The names of this machine's back ends.
fn backends() -> Vec<*const c_char> {
    (0..).map(|index| fastgcm_backend(index)).take_while(|name| !name.is_null()).collect()
}

/// Ciphertext, tag and commitment of the text "XAES-256-GCM". The first 28 bytes are C2SP's vectors; the rest is of crates/fastgcm/tests/committing.rs.
const KNOWN: [(u8, &str, &str); 2] = [
    (1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e227104076b6085eebab138855fe57811c04112eff989d44120dfff662d5475a383c3"),
    (
        3,
        "c2sp.org/XAES-256-GCM",
        "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d5553cd21d1592b422e3129632a3187eee8a658cdca5c5b32ce86308dcc18e9d1",
    ),
];

/// Each scheme's answers on each back end, in place with the tag behind the text, and apart. With any byte of anything altered there is one error, and the
/// output is zero.
#[test]
fn known_answers() {
    let mut messages = 0;
    for backend in backends() {
        for ((byte, aad, sealed), (scheme, tag)) in KNOWN.iter().flat_map(|known| SCHEMES.map(|scheme| (known, scheme))) {
            let (key, wanted) = (Key::new(scheme, &[*byte; 32], backend), &hex(sealed)[..12 + tag]);
            let mut message = [b"XAES-256-GCM".as_slice(), &vec![0; tag]].concat();
            let (text, end) = message.split_at_mut(12);
            assert_eq!(key.seal(NONCE, aad.as_bytes(), text.as_ptr(), 12, text.as_mut_ptr(), end), 0);
            assert_eq!(message, wanted);
            let (ciphertext, end) = message.split_at(12);
            let mut text = [1; 12];
            assert_eq!(key.open(NONCE, aad.as_bytes(), ciphertext.as_ptr(), 12, end, text.as_mut_ptr()), 0);
            assert_eq!(&text, b"XAES-256-GCM");
            let (mut apart, mut tag_apart) = ([1; 12], vec![1; tag]);
            assert_eq!(key.seal(NONCE, aad.as_bytes(), text.as_ptr(), 12, apart.as_mut_ptr(), &mut tag_apart), 0);
            assert_eq!([&apart[..], &tag_apart].concat(), wanted);

            for altered in 0..24 + aad.len() + wanted.len() {
                let mut all = [&NONCE[..], aad.as_bytes(), wanted].concat();
                all[altered] ^= 1 << (altered % 8);
                let (nonce, rest) = all.split_at(24);
                let (aad, rest) = rest.split_at(aad.len());
                let (ciphertext, end) = rest.split_at(12);
                let mut text = [1; 12];
                let done = key.open(nonce, aad, ciphertext.as_ptr(), 12, end, text.as_mut_ptr());
                assert!(done == FASTGCM_UNAUTHENTIC as i32 && text == [0; 12], "scheme {scheme}, byte {altered}");
            }
            messages += 1;
        }
    }
    passed("capi::root::known_answers", messages, 4 * backends().len());
}

/// F8: of every two buffers at every distance, those that overlap are refused and untouched, and the others are right.
#[test]
fn f08_overlaps_of_root_keys() {
    const SIZE: usize = 40;
    const PLACES: [usize; 5] = [0, 60, 110, 170, 230]; // AAD, text, what is written, tag, nonce
    let before: Vec<u8> = (0..=255).chain(0..40).collect();
    let reach = |a: (usize, usize), b: (usize, usize)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
    let (mut calls, mut refused) = (0, [0; 2]);
    for (scheme, tag_size) in SCHEMES {
        let key = Key::new(scheme, &[1; 32], null());
        let seal = |memory: &mut [u8], [aad, text, to, tag, nonce]: [usize; 5]| {
            let at = memory.as_mut_ptr();
            // SAFETY: all of it lies in `memory`.
            unsafe { fastgcm_root_seal(key.0, at.add(nonce), 24, at.add(aad), 13, at.add(text), SIZE, at.add(to), at.add(tag), tag_size) }
        };
        for (moved, offset) in (0..5).flat_map(|moved| (0..=240).map(move |offset| (moved, offset))) {
            let mut places = PLACES;
            places[moved] = offset;
            let [aad, text, to, tag, nonce] = places;
            let clash = [(aad, 13), (nonce, 24)].iter().any(|read| reach((to, SIZE), *read))
                || text != to && reach((to, SIZE), (text, SIZE))
                || [(aad, 13), (nonce, 24), (text, SIZE), (to, SIZE)].iter().any(|other| reach((tag, tag_size), *other));
            let mut memory = before.clone();
            assert_eq!(seal(&mut memory, places), if clash { FASTGCM_OVERLAP as i32 } else { 0 }, "{places:?}");
            calls += 1;
            if clash {
                assert!(memory == before, "{places:?}");
                refused[0] += 1;
                continue;
            }
            let parts = [&before[aad..aad + 13], &before[text..text + SIZE], &[0; SIZE], &[0; 48], &before[nonce..nonce + 24]];
            let mut apart = parts.concat();
            assert_eq!(seal(&mut apart, [0, 13, 53, 93, 141]), 0);
            assert!(memory[to..to + SIZE] == apart[53..93] && memory[tag..tag + tag_size] == apart[93..93 + tag_size], "{places:?}");
            // And back, with the tag wherever it is, but AAD and nonce must not be overwritten.
            let at = memory.as_mut_ptr();
            // SAFETY: as above.
            let done = unsafe {
                fastgcm_root_open(key.0, at.add(nonce), 24, at.add(aad), 13, at.add(to), SIZE, at.add(tag), tag_size, at.add(text))
            };
            let clash = reach((text, SIZE), (aad, 13)) || reach((text, SIZE), (nonce, 24));
            assert_eq!(done, if clash { FASTGCM_OVERLAP as i32 } else { 0 }, "{places:?}");
            assert!(clash || memory[text..text + SIZE] == before[text..text + SIZE], "{places:?}");
            refused[1] += usize::from(clash);
        }
    }
    assert!(refused.iter().all(|count| *count > 100), "{refused:?}");
    passed("capi::root::f08_overlaps_of_root_keys", calls, 2 * 5 * 241);
}

/// NULL, lengths that a scheme does not have (those of the other one, too), and schemes that there are not: an error each, and nothing is written.
#[test]
fn f06_refused_of_root_keys() {
    let keys = SCHEMES.map(|(scheme, _)| Key::new(scheme, &[1; 32], c"portable".as_ptr()));
    let (mut text, mut tag, nonce, bytes) = ([7; 20], [7; 64], [1; 40], [1; 40]);
    let (t, g, n) = (text.as_mut_ptr(), tag.as_mut_ptr(), nonce.as_ptr());
    let mut memory = vec![7u8; 8192];
    let base = memory.as_mut_ptr().wrapping_add(memory.as_ptr().align_offset(64));
    let (place, odd) = (base.cast::<fastgcm_root_key>(), base.wrapping_add(16).cast());
    let (room, mut made) = (fastgcm_root_key_size(), keys[0].0);
    let mut refused = vec![];
    // SAFETY: what is there is as long as it says; the rest is refused.
    unsafe {
        for ((_, own), key) in SCHEMES.into_iter().zip(&keys) {
            for size in (0..=64).filter(|size| *size != own) {
                refused.push((fastgcm_root_seal(key.0, n, 24, null(), 0, t, 20, t, g, size), FASTGCM_INVALID_LENGTH));
                refused.push((fastgcm_root_open(key.0, n, 24, null(), 0, t, 20, g, size, t), FASTGCM_INVALID_LENGTH));
            }
            for size in (0..40).filter(|size| *size != 24) {
                refused.push((fastgcm_root_seal(key.0, n, size, null(), 0, t, 20, t, g, own), FASTGCM_INVALID_LENGTH));
                refused.push((fastgcm_root_open(key.0, n, size, null(), 0, t, 20, g, own, t), FASTGCM_INVALID_LENGTH));
            }
            refused.extend([
                (fastgcm_root_seal(null(), n, 24, null(), 0, t, 20, t, g, own), FASTGCM_NULL),
                (fastgcm_root_seal(key.0, null(), 24, null(), 0, t, 20, t, g, own), FASTGCM_NULL),
                (fastgcm_root_seal(key.0, n, 24, null(), 1, t, 20, t, g, own), FASTGCM_NULL),
                (fastgcm_root_seal(key.0, n, 24, null(), 0, null(), 20, t, g, own), FASTGCM_NULL),
                (fastgcm_root_seal(key.0, n, 24, null(), 0, t, 20, null_mut(), g, own), FASTGCM_NULL),
                (fastgcm_root_seal(key.0, n, 24, null(), 0, t, 20, t, null_mut(), own), FASTGCM_NULL),
                (fastgcm_root_open(null(), n, 24, null(), 0, t, 20, g, own, t), FASTGCM_NULL),
                (fastgcm_root_open(key.0, null(), 24, null(), 0, t, 20, g, own, t), FASTGCM_NULL),
                (fastgcm_root_open(key.0, n, 24, null(), 1, t, 20, g, own, t), FASTGCM_NULL),
                (fastgcm_root_open(key.0, n, 24, null(), 0, null(), 20, g, own, t), FASTGCM_NULL),
                (fastgcm_root_open(key.0, n, 24, null(), 0, t, 20, null(), own, t), FASTGCM_NULL),
                (fastgcm_root_open(key.0, n, 24, null(), 0, t, 20, g, own, null_mut()), FASTGCM_NULL),
            ]);
        }
        for size in (0..40).filter(|size| *size != 32) {
            refused.push((fastgcm_root_key_init(place, room, XAES, bytes.as_ptr(), size, null()), FASTGCM_INVALID_LENGTH));
        }
        for scheme in [i32::MIN, -1, 0, 3, 4, 0x101, i32::MAX] {
            refused.push((fastgcm_root_key_init(place, room, scheme, bytes.as_ptr(), 32, null()), FASTGCM_UNAVAILABLE));
        }
        refused.extend([
            (fastgcm_root_key_init(null_mut(), room, XAES, bytes.as_ptr(), 32, null()), FASTGCM_NULL),
            (fastgcm_root_key_init(place, room - 1, XAES, bytes.as_ptr(), 32, null()), FASTGCM_PLACE),
            (fastgcm_root_key_init(odd, room, XAES, bytes.as_ptr(), 32, null()), FASTGCM_PLACE),
            (fastgcm_root_key_init(place, room, XAES, null(), 32, null()), FASTGCM_NULL),
            (fastgcm_root_key_init(place, room, XAES, bytes.as_ptr(), 32, c"no such".as_ptr()), FASTGCM_UNAVAILABLE),
            (fastgcm_root_key_init(place, room, KC_XAES, bytes.as_ptr(), 32, c"aes-neon".as_ptr()), FASTGCM_UNAVAILABLE),
            (fastgcm_root_key_new(null_mut(), XAES, bytes.as_ptr(), 32, null()), FASTGCM_NULL),
            (fastgcm_root_key_new(&mut made, 3, bytes.as_ptr(), 32, null()), FASTGCM_UNAVAILABLE),
        ]);
        fastgcm_root_key_free(null_mut());
        fastgcm_root_key_wipe(null_mut());
    }
    for (i, (done, expected)) in refused.iter().enumerate() {
        assert_eq!(*done, *expected as i32, "call {i}");
    }
    assert!(made.is_null() && text == [7; 20] && tag == [7; 64] && memory.iter().all(|byte| *byte == 7));
    passed("capi::root::f06_refused_of_root_keys", refused.len(), 2 * (2 * 64 + 2 * 39 + 12) + 39 + 7 + 8);
}

/// A root key that was wiped seals and opens nothing, and no output may lie over a root key.
#[test]
fn root_keys_that_ended() {
    let mut refused = 0;
    for (scheme, tag) in SCHEMES {
        let size = fastgcm_root_key_size();
        let mut memory = vec![7u8; size + 64 + 256];
        let at = memory.as_ptr().align_offset(fastgcm_root_key_align()) + 128;
        let place = memory.as_mut_ptr().wrapping_add(at).cast::<fastgcm_root_key>();
        // SAFETY: as large and aligned as it says; outputs of 20 bytes and a tag lie within the memory.
        unsafe {
            assert_eq!(fastgcm_root_key_init(place, size, scheme, [1; 32].as_ptr(), 32, null()), 0);
            let (text, sealed) = ([3; 20], [4; 64]);
            let mut out = [5; 80];
            let before = std::slice::from_raw_parts(place.cast::<u8>(), size).to_vec();
            for offset in (0..20).chain([size / 2]).chain(size..size + 19) {
                // Its first byte, or its last, is one of the key's.
                let to = place.cast::<u8>().wrapping_add(offset).wrapping_sub(19);
                let seal = fastgcm_root_seal(place, NONCE.as_ptr(), 24, null(), 0, text.as_ptr(), 20, to, out.as_mut_ptr(), tag);
                let end = if offset < 20 { to.wrapping_add(20).wrapping_sub(tag) } else { to };
                let end = fastgcm_root_seal(place, NONCE.as_ptr(), 24, null(), 0, text.as_ptr(), 20, out.as_mut_ptr(), end, tag);
                let open = fastgcm_root_open(place, NONCE.as_ptr(), 24, null(), 0, sealed.as_ptr(), 20, sealed.as_ptr(), tag, to);
                assert_eq!([seal, end, open], [FASTGCM_OVERLAP as i32; 3], "offset {offset}");
                refused += 3;
            }
            assert!(std::slice::from_raw_parts(place.cast::<u8>(), size) == before && out == [5; 80]);
            fastgcm_root_key_wipe(place);
            let seal =
                fastgcm_root_seal(place, NONCE.as_ptr(), 24, null(), 0, text.as_ptr(), 20, out.as_mut_ptr(), out.as_mut_ptr().add(20), tag);
            let open = fastgcm_root_open(place, NONCE.as_ptr(), 24, null(), 0, sealed.as_ptr(), 20, sealed.as_ptr(), tag, out.as_mut_ptr());
            assert_eq!([seal, open], [FASTGCM_OUT_OF_ORDER as i32; 2]);
            fastgcm_root_key_wipe(place); // once more
            assert_eq!(out, [5; 80]);
            refused += 2;
        }
    }
    passed("capi::root::root_keys_that_ended", refused, 2 * (3 * 40 + 2));
}

/// A root key in memory of the caller leaves nothing of itself behind.
#[test]
fn f16_root_keys_are_wiped() {
    let mut wiped = 0;
    for (name, (scheme, _)) in backends().into_iter().flat_map(|name| SCHEMES.map(|scheme| (name, scheme))) {
        let mut memory = vec![0u8; fastgcm_root_key_size() + 64];
        let place = memory.as_mut_ptr().wrapping_add(memory.as_ptr().align_offset(fastgcm_root_key_align())).cast::<fastgcm_root_key>();
        let bytes = Random(1).bytes(32);
        // SAFETY: as large and aligned as it says.
        let used = unsafe {
            assert_eq!(fastgcm_root_key_init(place, fastgcm_root_key_size(), scheme, bytes.as_ptr(), 32, name), 0);
            let used = std::slice::from_raw_parts(place.cast::<u8>(), fastgcm_root_key_size()).iter().filter(|byte| **byte != 0).count();
            fastgcm_root_key_wipe(place);
            used
        };
        // Of the key only a pointer to the row of functions may be left, how many rounds there are, and the scheme.
        let left = std::hint::black_box(&memory).iter().filter(|byte| **byte != 0).count();
        // SAFETY: a constant string.
        assert!(used > 100 && left <= 17, "{:?}: {left} of {used} bytes are left", unsafe { CStr::from_ptr(name) });
        wiped += 1;
    }
    passed("capi::root::f16_root_keys_are_wiped", wiped, 2 * backends().len());
}

//! Every size that a caller may give, of every function of the header: sizes that wrap, sizes that no buffer has, and sizes of gigabytes.

#[path = "../../../fastgcm/tests/support/giant.rs"]
mod giant;
#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_capi::{fastgcm_scheme::*, fastgcm_status::*, *};
use fastgcm_capi_interop::{complete, functions};
use giant::{Giant, WINDOW};
use std::ptr::{null, null_mut};
use suite::{bytes, full, passed};

const TEXT: u128 = (1 << 36) - 32;
const AAD: u128 = (1 << 61) - 1;
const OTHER: [u8; 16] = [0xa5; 16];

/// What calls work on: a short message, and a key.
struct Room {
    key: *mut fastgcm_key,
    /// Text, AAD and nonce of a message, each with room behind it.
    memory: Vec<u8>,
    tag: [u8; 16],
}

impl Room {
    fn new(backend: *const std::ffi::c_char) -> Self {
        let (mut key, bytes) = (null_mut(), [1u8; 32]);
        // SAFETY: a slice.
        assert_eq!(unsafe { fastgcm_key_new(&mut key, bytes.as_ptr(), 32, backend) }, FASTGCM_OK as i32);
        Self { key, memory: vec![7; 4096], tag: OTHER }
    }

    /// Where the text is: before the AAD and the nonce, or behind them.
    fn places(&mut self, behind: bool) -> [*mut u8; 3] {
        let at = self.memory.as_mut_ptr();
        [if behind { 2048 } else { 0 }, 1024, 1536].map(|place| at.wrapping_add(place))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { fastgcm_key_free(self.key) }
    }
}

/// The most that a size may be, and what a larger one gets.
type Most = (u128, fastgcm_status);

/// A size: its function and its name in the header, its limit, and a call in which all else is usual.
type Size = (&'static str, Most, fn(&mut Room, [*mut u8; 3], usize) -> i32);

/// Sizes of a message under a root key.
#[derive(Clone, Copy)]
struct Root {
    nonce: usize,
    aad: usize,
    text: usize,
    tag: usize,
}

const ROOT: Root = Root { nonce: 24, aad: 13, text: USUAL, tag: 16 };

unsafe fn root(room: &mut Room, [t, a, n]: [*mut u8; 3], seal: bool, sizes: Root) -> i32 {
    let Root { nonce, aad, text, tag } = sizes;
    let (mut key, g) = (null_mut(), room.tag.as_mut_ptr());
    // SAFETY: the caller's promise.
    unsafe {
        assert_eq!(fastgcm_root_key_new(&mut key, FASTGCM_XAES_256_GCM as i32, [1; 32].as_ptr(), 32, null()), 0);
        let done = if seal {
            fastgcm_root_seal(key, n, nonce, a, aad, t, text, t, g, tag)
        } else {
            fastgcm_root_open(key, n, nonce, a, aad, t, text, g, tag, t)
        };
        fastgcm_root_key_free(key);
        done
    }
}

/// Bytes of the text of a usual call.
const USUAL: usize = 40;

/// A message in pieces that has had this call for a piece, and then goes on as if it had not been.
unsafe fn piece(room: &Room, [at, aad, nonce]: [*mut u8; 3], call: impl FnOnce(*mut fastgcm_pieces) -> i32) -> i32 {
    let (mut pieces, mut tags) = (null_mut(), [[0u8; 16]; 2]);
    // SAFETY: the caller's promise.
    unsafe {
        let before = std::slice::from_raw_parts(at, USUAL).to_vec();
        assert_eq!(fastgcm_seal(room.key, nonce, 12, aad, 13, at, USUAL, at, tags[0].as_mut_ptr()), 0);
        at.copy_from(before.as_ptr(), USUAL);
        assert_eq!(fastgcm_pieces_new(&mut pieces, room.key, nonce, 12), 0);
        assert_eq!(fastgcm_pieces_aad(pieces, room.key, aad, 13), 0);
        let done = call(pieces);
        assert_eq!(fastgcm_pieces_seal(pieces, room.key, at, USUAL, at), 0);
        assert_eq!(fastgcm_pieces_finish(pieces, room.key, tags[1].as_mut_ptr()), 0);
        at.copy_from(before.as_ptr(), USUAL);
        fastgcm_pieces_free(pieces);
        assert_eq!(tags[0], tags[1], "a refused piece was taken");
        done
    }
}

/// A batch of three packets, of which the second has these sizes.
unsafe fn batch(room: &Room, [at, aad, nonce]: [*mut u8; 3], seal: bool, size: usize, aad_size: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        let nonce = *nonce.cast::<[u8; 12]>();
        let packet = |i: usize, aad_size, size| {
            let at = at.add(100 * i);
            fastgcm_packet { nonce, status: -7, aad, aad_size, from: at, to: at, size, tag: OTHER }
        };
        let mut packets = [packet(0, 13, USUAL), packet(1, aad_size, size), packet(2, 13, USUAL)];
        let done = if seal { fastgcm_seal_batch } else { fastgcm_open_batch }(room.key, packets.as_mut_ptr(), 3);
        assert!(packets.iter().all(|packet| packet.status == -7 && packet.tag == OTHER), "something is written");
        done
    }
}

const fn slice(data: *const u8, size: usize) -> fastgcm_slice {
    fastgcm_slice { data, size }
}

/// Each size of the header. (A list of a possible number of slices would have to be there, so the number alone is beyond all lists.)
const SIZES: &[Size] = {
    const IMPOSSIBLE: Most = (isize::MAX as u128 / 16, FASTGCM_TOO_LONG);
    const NEVER: Most = (0, FASTGCM_INVALID_LENGTH);
    const PLACE: Most = (u128::MAX, FASTGCM_OK);
    const T: Most = (TEXT, FASTGCM_TOO_LONG);
    const A: Most = (AAD, FASTGCM_TOO_LONG);
    // SAFETY (of all): buffers of `Room`, and a size that is refused before anything is read.
    #[allow(clippy::undocumented_unsafe_blocks)]
    &[
        ("fastgcm_key_init.place_size", PLACE, |room, _, n| unsafe {
            let place = std::alloc::alloc(std::alloc::Layout::from_size_align(fastgcm_key_size(), fastgcm_key_align()).unwrap());
            let done = fastgcm_key_init(place.cast(), n, room.memory.as_ptr(), 16, null());
            fastgcm_key_wipe(place.cast());
            std::alloc::dealloc(place, std::alloc::Layout::from_size_align(fastgcm_key_size(), fastgcm_key_align()).unwrap());
            done
        }),
        ("fastgcm_key_init.key_size", NEVER, |room, _, n| unsafe {
            let mut place = std::mem::MaybeUninit::<fastgcm_key>::uninit();
            fastgcm_key_init(place.as_mut_ptr(), fastgcm_key_size(), room.memory.as_ptr(), n, null())
        }),
        ("fastgcm_key_new.key_size", NEVER, |room, _, n| unsafe {
            let mut made = std::ptr::dangling_mut();
            let done = fastgcm_key_new(&mut made, room.memory.as_ptr(), n, null());
            assert!(made.is_null());
            done
        }),
        ("fastgcm_seal.nonce_size", A, |r, [t, a, n], s| unsafe { fastgcm_seal(r.key, n, s, a, 13, t, USUAL, t, r.tag.as_mut_ptr()) }),
        ("fastgcm_seal.aad_size", A, |r, [t, a, n], s| unsafe { fastgcm_seal(r.key, n, 12, a, s, t, USUAL, t, r.tag.as_mut_ptr()) }),
        ("fastgcm_seal.text_size", T, |r, [t, a, n], s| unsafe { fastgcm_seal(r.key, n, 12, a, 13, t, s, t, r.tag.as_mut_ptr()) }),
        ("fastgcm_open.nonce_size", A, |r, [t, a, n], s| unsafe { fastgcm_open(r.key, n, s, a, 13, t, USUAL, r.tag.as_ptr(), 16, t) }),
        ("fastgcm_open.aad_size", A, |r, [t, a, n], s| unsafe { fastgcm_open(r.key, n, 12, a, s, t, USUAL, r.tag.as_ptr(), 16, t) }),
        ("fastgcm_open.ciphertext_size", T, |r, [t, a, n], s| unsafe { fastgcm_open(r.key, n, 12, a, 13, t, s, r.tag.as_ptr(), 16, t) }),
        ("fastgcm_open.tag_size", NEVER, |r, [t, a, n], s| unsafe { fastgcm_open(r.key, n, 12, a, 13, t, USUAL, r.tag.as_ptr(), s, t) }),
        ("fastgcm_seal_gathered.nonce_size", A, |r, p, s| unsafe { gathered(r, p, true, Sizes { nonce: s, ..FEW }) }),
        ("fastgcm_seal_gathered.aad_count", IMPOSSIBLE, |r, p, s| unsafe { gathered(r, p, true, Sizes { aads: s, ..FEW }) }),
        ("fastgcm_seal_gathered.text_count", IMPOSSIBLE, |r, p, s| unsafe { gathered(r, p, true, Sizes { texts: s, ..FEW }) }),
        ("fastgcm_seal_gathered.ciphertext_size", T, |r, p, s| unsafe { gathered(r, p, true, Sizes { to: s, ..FEW }) }),
        ("fastgcm_seal_gathered/aad.size", A, |r, p, s| unsafe { gathered(r, p, true, Sizes { aad: s, ..FEW }) }),
        ("fastgcm_seal_gathered/text.size", T, |r, p, s| unsafe { gathered(r, p, true, Sizes { text: s, ..FEW }) }),
        ("fastgcm_open_gathered.nonce_size", A, |r, p, s| unsafe { gathered(r, p, false, Sizes { nonce: s, ..FEW }) }),
        ("fastgcm_open_gathered.aad_count", IMPOSSIBLE, |r, p, s| unsafe { gathered(r, p, false, Sizes { aads: s, ..FEW }) }),
        ("fastgcm_open_gathered.ciphertext_count", IMPOSSIBLE, |r, p, s| unsafe { gathered(r, p, false, Sizes { texts: s, ..FEW }) }),
        ("fastgcm_open_gathered.text_size", T, |r, p, s| unsafe { gathered(r, p, false, Sizes { to: s, ..FEW }) }),
        ("fastgcm_open_gathered/aad.size", A, |r, p, s| unsafe { gathered(r, p, false, Sizes { aad: s, ..FEW }) }),
        ("fastgcm_open_gathered/ciphertext.size", T, |r, p, s| unsafe { gathered(r, p, false, Sizes { text: s, ..FEW }) }),
        ("fastgcm_seal_batch.count", (isize::MAX as u128 / 96, FASTGCM_TOO_LONG), |r, [t, ..], s| unsafe {
            fastgcm_seal_batch(r.key, t.cast(), s)
        }),
        ("fastgcm_open_batch.count", (isize::MAX as u128 / 96, FASTGCM_TOO_LONG), |r, [t, ..], s| unsafe {
            fastgcm_open_batch(r.key, t.cast(), s)
        }),
        ("fastgcm_seal_batch/packets.size", T, |r, p, s| unsafe { batch(r, p, true, s, 13) }),
        ("fastgcm_open_batch/packets.size", T, |r, p, s| unsafe { batch(r, p, false, s, 13) }),
        ("fastgcm_seal_batch/packets.aad_size", A, |r, p, s| unsafe { batch(r, p, true, USUAL, s) }),
        ("fastgcm_open_batch/packets.aad_size", A, |r, p, s| unsafe { batch(r, p, false, USUAL, s) }),
        ("fastgcm_pieces_init.place_size", PLACE, |r, [.., n], s| unsafe {
            let mut place = std::mem::MaybeUninit::<fastgcm_pieces>::uninit();
            let done = fastgcm_pieces_init(place.as_mut_ptr(), s, r.key, n, 12);
            fastgcm_pieces_wipe(place.as_mut_ptr());
            done
        }),
        ("fastgcm_pieces_init.nonce_size", A, |r, [.., n], s| unsafe {
            let mut place = std::mem::MaybeUninit::<fastgcm_pieces>::uninit();
            fastgcm_pieces_init(place.as_mut_ptr(), fastgcm_pieces_size(), r.key, n, s)
        }),
        ("fastgcm_pieces_new.nonce_size", A, |r, [.., n], s| unsafe {
            let mut made = std::ptr::dangling_mut();
            let done = fastgcm_pieces_new(&mut made, r.key, n, s);
            assert!(made.is_null());
            done
        }),
        ("fastgcm_pieces_aad.aad_size", A, |r, p, s| unsafe { piece(r, p, |pieces| fastgcm_pieces_aad(pieces, r.key, p[1], s)) }),
        ("fastgcm_pieces_seal.text_size", T, |r, p, s| unsafe { piece(r, p, |pieces| fastgcm_pieces_seal(pieces, r.key, p[0], s, p[0])) }),
        ("fastgcm_pieces_open.ciphertext_size", T, |r, p, s| unsafe {
            piece(r, p, |pieces| fastgcm_pieces_open(pieces, r.key, p[0], s, p[0]))
        }),
        ("fastgcm_pieces_verify.tag_size", NEVER, |r, p, s| unsafe {
            piece(r, p, |pieces| fastgcm_pieces_verify(pieces, r.key, r.tag.as_ptr(), s))
        }),
        ("fastgcm_root_key_init.place_size", PLACE, |room, _, n| unsafe {
            let mut place = std::mem::MaybeUninit::<fastgcm_root_key>::uninit();
            let done = fastgcm_root_key_init(place.as_mut_ptr(), n, FASTGCM_XAES_256_GCM as i32, room.memory.as_ptr(), 32, null());
            fastgcm_root_key_wipe(place.as_mut_ptr());
            done
        }),
        ("fastgcm_root_key_init.key_size", NEVER, |room, _, n| unsafe {
            let mut place = std::mem::MaybeUninit::<fastgcm_root_key>::uninit();
            let bytes = room.memory.as_ptr();
            fastgcm_root_key_init(place.as_mut_ptr(), fastgcm_root_key_size(), FASTGCM_XAES_256_GCM as i32, bytes, n, null())
        }),
        ("fastgcm_root_key_new.key_size", NEVER, |room, _, n| unsafe {
            let mut made = std::ptr::dangling_mut();
            let done = fastgcm_root_key_new(&mut made, FASTGCM_XAES_256_GCM as i32, room.memory.as_ptr(), n, null());
            assert!(made.is_null());
            done
        }),
        ("fastgcm_root_seal.nonce_size", NEVER, |r, p, s| unsafe { root(r, p, true, Root { nonce: s, ..ROOT }) }),
        ("fastgcm_root_seal.aad_size", A, |r, p, s| unsafe { root(r, p, true, Root { aad: s, ..ROOT }) }),
        ("fastgcm_root_seal.text_size", T, |r, p, s| unsafe { root(r, p, true, Root { text: s, ..ROOT }) }),
        ("fastgcm_root_seal.tag_size", NEVER, |r, p, s| unsafe { root(r, p, true, Root { tag: s, ..ROOT }) }),
        ("fastgcm_root_open.nonce_size", NEVER, |r, p, s| unsafe { root(r, p, false, Root { nonce: s, ..ROOT }) }),
        ("fastgcm_root_open.aad_size", A, |r, p, s| unsafe { root(r, p, false, Root { aad: s, ..ROOT }) }),
        ("fastgcm_root_open.ciphertext_size", T, |r, p, s| unsafe { root(r, p, false, Root { text: s, ..ROOT }) }),
        ("fastgcm_root_open.tag_size", NEVER, |r, p, s| unsafe { root(r, p, false, Root { tag: s, ..ROOT }) }),
        ("fastgcm_backend.index", (1 << 30, FASTGCM_OK), |_, _, n| fastgcm_backend(n).is_null().then_some(0).unwrap()),
    ]
};

/// Sizes of a gathered message of one slice each.
#[derive(Clone, Copy)]
struct Sizes {
    nonce: usize,
    aads: usize,
    aad: usize,
    texts: usize,
    text: usize,
    to: usize,
}

const FEW: Sizes = Sizes { nonce: 12, aads: 1, aad: 13, texts: 1, text: USUAL, to: USUAL };

/// Text goes from the places of AAD to the text's.
unsafe fn gathered(room: &mut Room, [at, aad, nonce]: [*mut u8; 3], seal: bool, sizes: Sizes) -> i32 {
    let (aads, texts) = ([slice(aad, sizes.aad)], [slice(aad.wrapping_add(64), sizes.text)]);
    let (aads, texts) = ((aads.as_ptr(), sizes.aads), (texts.as_ptr(), sizes.texts));
    // SAFETY: the caller's promise.
    unsafe {
        if seal {
            let tag = room.tag.as_mut_ptr();
            fastgcm_seal_gathered(room.key, nonce, sizes.nonce, aads.0, aads.1, texts.0, texts.1, at, sizes.to, tag)
        } else {
            fastgcm_open_gathered(room.key, nonce, sizes.nonce, aads.0, aads.1, texts.0, texts.1, room.tag.as_ptr(), at, sizes.to)
        }
    }
}

/// What is beyond a limit is refused with the error that the header names, whatever it wraps to, wherever the buffers are, and changes nothing: a message in
/// pieces goes on.
#[test]
fn beyond_limits() {
    let declared = functions().into_iter().flat_map(|(name, arguments)| {
        let sizes = arguments.iter().filter_map(|argument| argument.strip_prefix("size_t ")).map(move |size| format!("{name}.{size}"));
        let lists = arguments.iter().filter_map(|argument| argument.rsplit_once('*')).flat_map(move |(kind, list)| match kind.trim() {
            "const fastgcm_slice" => vec![format!("{name}/{list}.size")],
            "fastgcm_packet" => vec![format!("{name}/{list}.size"), format!("{name}/{list}.aad_size")],
            _ => vec![],
        });
        sizes.chain(lists).collect::<Vec<_>>()
    });
    complete(SIZES.iter().map(|(name, ..)| *name), declared);

    let mut calls = 0;
    let around = [1u128 << 31, 1 << 32, 1 << 36, 1 << 59, 1 << 60, 1 << 61, 1 << 62, 1 << 63, 1 << 64];
    let wanted: Vec<usize> = around.iter().flat_map(|at| (at - 70)..=(at + 70)).filter_map(|size| size.try_into().ok()).collect();
    for backend in (0..).map(|index| fastgcm_backend(index)).take_while(|name| !name.is_null()) {
        let mut room = Room::new(backend);
        for (name, most, call) in SIZES {
            for behind in [false, true] {
                for &size in wanted.iter().filter(|size| **size as u128 > most.0 || most.1 == FASTGCM_OK) {
                    let (before, places) = (room.memory.clone(), room.places(behind));
                    assert_eq!(call(&mut room, places, size), most.1 as i32, "{name}: {size}");
                    assert!(room.memory == before && room.tag == OTHER, "{name}: {size}: something is written");
                    calls += 1;
                }
            }
        }
    }
    assert!(calls > 50_000, "{calls}");
    passed("capi::sizes::beyond_limits", calls, calls);
}

/// Texts and AAD of 2 and 4 GiB, and a byte more or less: each way to seal or open one gives the same tag, and text that is refused is wiped.
#[test]
fn gigabytes() {
    let room = Room::new(null());
    let content = bytes(WINDOW, 1);
    let from = Giant::new((1 << 32) + WINDOW, &content);
    let mut calls = 0;
    let sizes: &[usize] =
        if full() { &[(1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 49] } else { &[1 << 31, (1 << 32) + 49] };
    for &size in sizes {
        let to = Giant::new(size, &[]);
        let (key, nonce, t) = (room.key, room.memory.as_ptr(), to.at());
        let wiped = || to.window().iter().all(|byte| *byte == 0);
        // SAFETY: so many addresses.
        unsafe {
            for (aad, text) in [(13, size), (size, 13)] {
                let [mut one, mut two, mut three, mut opened] = [OTHER; 4];
                let (mut pieces, a) = (null_mut(), from.at());
                assert_eq!(fastgcm_seal(key, nonce, 12, a, aad, a, text, t, one.as_mut_ptr()), 0);
                let lists = [slice(a, aad), slice(a, text - 7), slice(a.add((text - 7) % WINDOW), 7)];
                let (first, last) = (lists.as_ptr(), lists[1..].as_ptr());
                assert_eq!(fastgcm_seal_gathered(key, nonce, 12, first, 1, last, 2, t, text, two.as_mut_ptr()), 0);
                for seals in [true, false] {
                    assert_eq!(fastgcm_pieces_new(&mut pieces, key, nonce, 12), 0);
                    for part in [&lists[..1], &lists[1..]] {
                        let (mut left, is_aad) = (t, part.len() == 1);
                        for &fastgcm_slice { data, size } in part {
                            let done = match (is_aad, seals) {
                                (true, _) => fastgcm_pieces_aad(pieces, key, data, size),
                                (_, true) => fastgcm_pieces_seal(pieces, key, data, size, left),
                                (_, false) => fastgcm_pieces_open(pieces, key, data, size, left),
                            };
                            assert_eq!(done, 0);
                            left = left.wrapping_add(size);
                        }
                    }
                    let tag = if seals { &mut three } else { &mut opened };
                    assert_eq!(fastgcm_pieces_finish(pieces, key, tag.as_mut_ptr()), 0);
                    fastgcm_pieces_free(pieces);
                }
                assert!(one == two && one == three && one != OTHER, "{aad} and {text} bytes");
                for wrong in [0, 1] {
                    opened[15] ^= wrong;
                    let expected = if wrong == 0 { FASTGCM_OK } else { FASTGCM_UNAUTHENTIC } as i32;
                    assert_eq!(fastgcm_open(key, nonce, 12, a, aad, a, text, opened.as_ptr(), 16, t), expected);
                    assert!(wrong == 0 || text < WINDOW || wiped());
                    assert_eq!(fastgcm_open_gathered(key, nonce, 12, first, 1, last, 2, opened.as_ptr(), t, text), expected);
                    assert!(wrong == 0 || text < WINDOW || wiped());
                }
                let nonce = *nonce.cast::<[u8; 12]>();
                let mut packet = fastgcm_packet { nonce, status: -7, aad: a, aad_size: aad, from: a, to: t, size: text, tag: OTHER };
                assert_eq!(fastgcm_seal_batch(key, &mut packet, 1), 0);
                assert_eq!(packet.tag, one);
                packet.tag = opened;
                assert_eq!(fastgcm_open_batch(key, &mut packet, 1), FASTGCM_UNAUTHENTIC as i32);
                packet.tag[15] ^= 1;
                assert_eq!(fastgcm_open_batch(key, &mut packet, 1), FASTGCM_OK as i32);
                calls += 11;
            }
        }
    }
    passed("capi::sizes::gigabytes", calls, 22 * sizes.len());
}

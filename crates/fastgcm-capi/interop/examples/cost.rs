//! What a call from C costs beside the same call from Rust: `cargo run --release --example cost`, from `crates/fastgcm-capi/interop`. Both have the same key and the same
//! buffers, the nonce by reference, and leave the tag in the caller's memory. With a path of `libfastgcm.so` the calls go there.

// Each call of C has the same reason: buffers of the lengths that it names, of which there is one slice at a time. And Rust gets its nonce as C does.
#![allow(clippy::undocumented_unsafe_blocks, clippy::needless_borrows_for_generic_args)]

use fastgcm::{Key, Packet, Tag, hazmat::Pieces};
use fastgcm_capi::{fastgcm_key, fastgcm_packet, fastgcm_pieces, fastgcm_slice};
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    hint::black_box,
    mem::transmute,
    ptr, slice,
    time::Instant,
};

/// The best and the median of rounds in turn, in nanoseconds a call: of Rust, and of C. Each makes so many calls.
///
/// Nothing in a loop goes through `black_box`, which has a place on the stack for what it hides: a tag that was kept there before made the next call wait
/// for it, 12 ns.
fn told(size: usize, name: &str, bytes: usize, calls: [&dyn Fn(usize); 2]) {
    const ROUNDS: usize = 301;
    let many = 8_000_000 / (bytes + 2000);
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (call, times) in calls.iter().zip(&mut times) {
            let begun = Instant::now();
            call(black_box(many));
            times.push(begun.elapsed().as_nanos() as f64 / many as f64);
        }
    }
    let [[rust, rust_median], [c, c_median]] = times.each_mut().map(|times| {
        times.sort_by(f64::total_cmp);
        [times[0], times[ROUNDS / 2]]
    });
    let (more, more_median) = (c - rust, c_median - rust_median);
    println!("| {size} | {name} | {rust:.1} ({rust_median:.1}) | {c:.1} ({c_median:.1}) | {more:.1} ({more_median:.1}) |");
}

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Functions of C by their names, of this program or of a library.
macro_rules! library {
    ($($name:ident($($argument:ty),*);)+) => {
        #[derive(Clone, Copy)]
        struct Library {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)+
        }

        impl Library {
            fn here() -> Self {
                Self { $($name: fastgcm_capi::$name),+ }
            }

            fn at(path: &str) -> Self {
                let named = |name: &CStr, library| {
                    // SAFETY: a library, and a string.
                    let found = unsafe { dlsym(library, name.as_ptr()) };
                    assert!(!found.is_null(), "{path} has no {name:?}");
                    found
                };
                let file = CString::new(path).expect("a path without NUL");
                // SAFETY: a string; 2 is RTLD_NOW.
                let library = unsafe { dlopen(file.as_ptr(), 2) };
                assert!(!library.is_null(), "{path} cannot be loaded");
                let name = |name: &str| CString::new(name).expect("a name without NUL");
                // SAFETY: the functions of `fastgcm.h` have these types.
                unsafe { Self { $($name: transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(named(&name(stringify!($name)), library))),+ } }
            }
        }
    };
}

library! {
    fastgcm_key_new(*mut *mut fastgcm_key, *const u8, usize, *const c_char);
    fastgcm_seal(*const fastgcm_key, *const u8, usize, *const u8, usize, *const u8, usize, *mut u8, *mut u8);
    fastgcm_open(*const fastgcm_key, *const u8, usize, *const u8, usize, *const u8, usize, *const u8, usize, *mut u8);
    fastgcm_seal_gathered(*const fastgcm_key, *const u8, usize, *const fastgcm_slice, usize, *const fastgcm_slice, usize, *mut u8, usize, *mut u8);
    fastgcm_open_gathered(*const fastgcm_key, *const u8, usize, *const fastgcm_slice, usize, *const fastgcm_slice, usize, *const u8, *mut u8, usize);
    fastgcm_pieces_init(*mut fastgcm_pieces, usize, *const fastgcm_key, *const u8, usize);
    fastgcm_pieces_aad(*mut fastgcm_pieces, *const fastgcm_key, *const u8, usize);
    fastgcm_pieces_seal(*mut fastgcm_pieces, *const fastgcm_key, *const u8, usize, *mut u8);
    fastgcm_pieces_open(*mut fastgcm_pieces, *const fastgcm_key, *const u8, usize, *mut u8);
    fastgcm_pieces_finish(*mut fastgcm_pieces, *const fastgcm_key, *mut u8);
    fastgcm_pieces_verify(*mut fastgcm_pieces, *const fastgcm_key, *const u8, usize);
    fastgcm_seal_batch(*const fastgcm_key, *mut fastgcm_packet, usize);
    fastgcm_open_batch(*const fastgcm_key, *mut fastgcm_packet, usize);
}

/// Packets of a batch, and nonces that take turns.
const PACKETS: usize = 16;

/// What both have: the same key in the same place (but for a library's), and the same buffers.
struct Both<'a> {
    c: Library,
    key: *const fastgcm_key,
    rust: &'a Key,
    nonces: Vec<[u8; 12]>,
    aad: Vec<u8>,
}

fn main() {
    let path = std::env::args().nth(1);
    let c = path.as_deref().map_or_else(Library::here, Library::at);
    let bytes = [7; 32];
    let mut key = ptr::null_mut();
    // SAFETY: a place for the key, and its bytes.
    assert_eq!(unsafe { (c.fastgcm_key_new)(&mut key, bytes.as_ptr(), 32, ptr::null()) }, 0);
    let key: *const fastgcm_key = key;
    let own = Key::boxed(&bytes).expect("a key of 32 bytes");
    // SAFETY: a `fastgcm_key` is a `Key` of the same version. A library has functions of its own, which its keys refer to.
    let rust = if path.is_some() { &*own } else { unsafe { &*key.cast::<Key>() } };
    let both = Both { c, key, rust, nonces: (0..PACKETS).map(|i| [i as u8; 12]).collect(), aad: vec![2; 13] };

    println!("| bytes | call | Rust: best (median) ns | C | more |\n|---|---|---|---|---|");
    for size in [0, 16, 64, 256, 1420, 16384] {
        both.whole(size);
    }
    for size in [16, 64, 256, 1420] {
        both.gathered(size);
        both.pieces(size);
        both.batches(size);
    }
}

/// Text, and where something is written that has as many bytes.
struct Buffers {
    from: Vec<u8>,
    to: Vec<u8>,
    tag: Tag,
}

impl Buffers {
    fn place(&self) -> *mut u8 {
        self.to.as_ptr().cast_mut()
    }
}

impl Both<'_> {
    /// Text that is sealed, and ciphertext that is opened.
    fn buffers(&self, size: usize) -> [Buffers; 2] {
        let (text, mut ciphertext) = (vec![3; size], vec![0; size]);
        let tag = self.rust.seal_detached_to(&[0; 12], &self.aad, &text, &mut ciphertext).expect("a short message");
        [Buffers { from: text, to: vec![0; size], tag }, Buffers { from: ciphertext, to: vec![0; size], tag }]
    }

    /// Messages in one buffer.
    fn whole(&self, size: usize) {
        let Self { c, key, rust, nonces, aad } = self;
        let ([seal, open], mut tags) = (self.buffers(size), vec![Tag([0; 16]); PACKETS]);
        let ((nonces, aad, tags), (to, back)) = ((&nonces[..PACKETS], &aad[..], tags.as_mut_ptr()), (seal.place(), open.place()));
        // In place each message has a text of its own, or it would wait for the one before.
        let step = (size | 63) + 1;
        let mut texts = vec![3_u8; PACKETS * step];
        let texts = texts.as_mut_ptr();
        // SAFETY, here and below: buffers of these lengths, of which there is one slice at a time.
        told(
            size,
            "seal",
            size,
            [
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let to = slice::from_raw_parts_mut(to, seal.from.len());
                        *tags.add(n % PACKETS) = rust.seal_detached_to(&nonces[n % PACKETS], aad, &seal.from, to).expect("a tag");
                    })
                },
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let (nonce, tag) = (nonces[n % PACKETS].as_ptr(), tags.add(n % PACKETS).cast());
                        let done = (c.fastgcm_seal)(*key, nonce, 12, aad.as_ptr(), aad.len(), seal.from.as_ptr(), seal.from.len(), to, tag);
                        assert_eq!(done, 0);
                    })
                },
            ],
        );
        told(
            size,
            "seal in place",
            size,
            [
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let text = slice::from_raw_parts_mut(texts.add(n % PACKETS * step), size);
                        *tags.add(n % PACKETS) = rust.seal(&nonces[n % PACKETS], aad, text).expect("a tag");
                    })
                },
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let (nonce, tag) = (nonces[n % PACKETS].as_ptr(), tags.add(n % PACKETS).cast());
                        let text = texts.add(n % PACKETS * step);
                        assert_eq!((c.fastgcm_seal)(*key, nonce, 12, aad.as_ptr(), aad.len(), text, size, text, tag), 0);
                    })
                },
            ],
        );
        told(
            size,
            "open",
            size,
            [
                &|many| {
                    (0..many).for_each(|_| unsafe {
                        let to = slice::from_raw_parts_mut(back, open.from.len());
                        rust.open_detached_to(&nonces[0], aad, &open.from, to, &open.tag).expect("what was sealed");
                    })
                },
                &|many| {
                    (0..many).for_each(|_| unsafe {
                        let (from, tag) = (&open.from, open.tag.0.as_ptr());
                        let done = (c.fastgcm_open)(
                            *key,
                            nonces[0].as_ptr(),
                            12,
                            aad.as_ptr(),
                            aad.len(),
                            from.as_ptr(),
                            from.len(),
                            tag,
                            16,
                            back,
                        );
                        assert_eq!(done, 0);
                    })
                },
            ],
        );
    }

    /// Two buffers of AAD, three of text.
    fn gathered(&self, size: usize) {
        let Self { c, key, rust, nonces, aad } = self;
        let ([seal, open], mut tags) = (self.buffers(size), vec![Tag([0; 16]); PACKETS]);
        let ((nonces, tags), (to, back)) = ((&nonces[..PACKETS], tags.as_mut_ptr()), (seal.place(), open.place()));
        fn cut(bytes: &[u8]) -> [&[u8]; 3] {
            let (first, rest) = bytes.split_at(bytes.len() / 2);
            let (second, third) = rest.split_at(1);
            [first, second, third]
        }
        let of_c = |list: &[&[u8]]| list.iter().map(|piece| fastgcm_slice { data: piece.as_ptr(), size: piece.len() }).collect::<Vec<_>>();
        let (header, text, sealed) = (vec![&aad[..5], &aad[5..]], cut(&seal.from).to_vec(), cut(&open.from).to_vec());
        // As for C, nobody knows how many buffers these are when the loop is compiled.
        let (header, text, sealed) = (black_box(&header[..]), black_box(&text[..]), black_box(&sealed[..]));
        let (c_header, c_text, c_sealed) = (of_c(header), of_c(text), of_c(sealed));
        // SAFETY: as above.
        told(
            size,
            "seal gathered",
            size,
            [
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let to = slice::from_raw_parts_mut(to, size);
                        *tags.add(n % PACKETS) = rust.seal_gathered(&nonces[n % PACKETS], header, text, &[], to).expect("a tag");
                    })
                },
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let (nonce, tag) = (nonces[n % PACKETS].as_ptr(), tags.add(n % PACKETS).cast());
                        let done = (c.fastgcm_seal_gathered)(*key, nonce, 12, c_header.as_ptr(), 2, c_text.as_ptr(), 3, to, size, tag);
                        assert_eq!(done, 0);
                    })
                },
            ],
        );
        told(
            size,
            "open gathered",
            size,
            [
                &|many| {
                    (0..many).for_each(|_| unsafe {
                        let to = slice::from_raw_parts_mut(back, size);
                        rust.open_gathered(&nonces[0], header, sealed, to, &open.tag).expect("what was sealed");
                    })
                },
                &|many| {
                    (0..many).for_each(|_| unsafe {
                        let (nonce, tag) = (nonces[0].as_ptr(), open.tag.0.as_ptr());
                        let done = (c.fastgcm_open_gathered)(*key, nonce, 12, c_header.as_ptr(), 2, c_sealed.as_ptr(), 3, tag, back, size);
                        assert_eq!(done, 0);
                    })
                },
            ],
        );
    }

    /// Begin, AAD, two pieces of text, end: five calls of C. Rust has the same `Pieces`.
    fn pieces(&self, size: usize) {
        let Self { c, key, rust, nonces, aad } = self;
        let ([seal, open], mut tags, mut room) = (self.buffers(size), vec![Tag([0; 16]); PACKETS], Box::new(Room([0; ROOM])));
        let ((nonces, aad, tags), (to, back)) = ((&nonces[..PACKETS], &aad[..], tags.as_mut_ptr()), (seal.place(), open.place()));
        let (place, half) = ((&raw mut *room).cast::<fastgcm_pieces>(), size / 2);
        // SAFETY: as above, and a place that is large enough.
        told(
            size,
            "seal pieces",
            size,
            [
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let (to, behind) = slice::from_raw_parts_mut(to, size).split_at_mut(half);
                        let mut message = Pieces::new(rust, &nonces[n % PACKETS]);
                        message.aad(rust, aad).expect("AAD");
                        message.seal_to(rust, &seal.from[..half], to).expect("text");
                        message.seal_to(rust, &seal.from[half..], behind).expect("text");
                        *tags.add(n % PACKETS) = message.finish(rust).expect("a tag");
                    })
                },
                &|many| {
                    (0..many).for_each(|n| unsafe {
                        let (from, tag) = (seal.from.as_ptr(), tags.add(n % PACKETS).cast());
                        assert_eq!((c.fastgcm_pieces_init)(place, ROOM, *key, nonces[n % PACKETS].as_ptr(), 12), 0);
                        assert_eq!((c.fastgcm_pieces_aad)(place, *key, aad.as_ptr(), aad.len()), 0);
                        assert_eq!((c.fastgcm_pieces_seal)(place, *key, from, half, to), 0);
                        assert_eq!((c.fastgcm_pieces_seal)(place, *key, from.add(half), size - half, to.add(half)), 0);
                        assert_eq!((c.fastgcm_pieces_finish)(place, *key, tag), 0);
                    })
                },
            ],
        );
        told(
            size,
            "open pieces",
            size,
            [
                &|many| {
                    (0..many).for_each(|_| unsafe {
                        let (to, behind) = slice::from_raw_parts_mut(back, size).split_at_mut(half);
                        let mut message = Pieces::new(rust, &nonces[0]);
                        message.aad(rust, aad).expect("AAD");
                        message.open_to(rust, &open.from[..half], to).expect("text");
                        message.open_to(rust, &open.from[half..], behind).expect("text");
                        message.verify(rust, &open.tag.0).expect("what was sealed");
                    })
                },
                &|many| {
                    (0..many).for_each(|_| unsafe {
                        let (from, tag) = (open.from.as_ptr(), open.tag.0.as_ptr());
                        assert_eq!((c.fastgcm_pieces_init)(place, ROOM, *key, nonces[0].as_ptr(), 12), 0);
                        assert_eq!((c.fastgcm_pieces_aad)(place, *key, aad.as_ptr(), aad.len()), 0);
                        assert_eq!((c.fastgcm_pieces_open)(place, *key, from, half, back), 0);
                        assert_eq!((c.fastgcm_pieces_open)(place, *key, from.add(half), size - half, back.add(half)), 0);
                        assert_eq!((c.fastgcm_pieces_verify)(place, *key, tag, 16), 0);
                    })
                },
            ],
        );
    }

    /// Packets of one length, from buffer to buffer. Rust's list is made for each call, too: it borrows the texts.
    fn batches(&self, size: usize) {
        let Self { c, key, rust, nonces, aad } = self;
        let ([texts, others], mut tags) = (self.buffers(PACKETS * size), vec![Tag([0; 16]); PACKETS]);
        let ((nonces, aad, tags), (to, back)) = ((&nonces[..PACKETS], &aad[..], tags.as_mut_ptr()), (texts.place(), others.place()));
        let list = |from: *const u8, to: *mut u8| -> Vec<fastgcm_packet> {
            let (aad, aad_size) = (aad.as_ptr(), aad.len());
            let of = |i: usize| (nonces[i], from.wrapping_add(i * size), to.wrapping_add(i * size));
            let packet = |(nonce, from, to)| fastgcm_packet { nonce, status: 0, aad, aad_size, from, to, size, tag: [0; 16] };
            (0..PACKETS).map(|i| packet(of(i))).collect()
        };
        // SAFETY: as above.
        let packets = |from: *const u8, to: *mut u8| {
            std::array::from_fn::<_, PACKETS, _>(|i| unsafe {
                let (from, to) = (slice::from_raw_parts(from.add(i * size), size), slice::from_raw_parts_mut(to.add(i * size), size));
                Packet::to(nonces[i], aad, from, to, *tags.add(i))
            })
        };
        let mut sealing = list(texts.from.as_ptr(), to);
        let sealing = sealing.as_mut_ptr();
        // SAFETY: as above.
        told(
            size,
            "seal 16 packets",
            PACKETS * size,
            [
                &|many| {
                    (0..many).for_each(|_| unsafe {
                        let mut messages = packets(texts.from.as_ptr(), to);
                        rust.seal_batch(&mut messages).expect("short messages");
                        messages.iter().enumerate().for_each(|(i, message)| *tags.add(i) = message.tag);
                    })
                },
                &|many| (0..many).for_each(|_| assert_eq!(unsafe { (c.fastgcm_seal_batch)(*key, sealing, PACKETS) }, 0)),
            ],
        );
        let mut opening = list(to, back);
        for (i, packet) in opening.iter_mut().enumerate() {
            // SAFETY: as above.
            packet.tag = unsafe { *tags.add(i) }.0;
        }
        let opening = opening.as_mut_ptr();
        // SAFETY: as above.
        told(
            size,
            "open 16 packets",
            PACKETS * size,
            [&|many| (0..many).for_each(|_| rust.open_batch(&mut packets(to, back)).expect("what was sealed")), &|many| {
                (0..many).for_each(|_| assert_eq!(unsafe { (c.fastgcm_open_batch)(*key, opening, PACKETS) }, 0))
            }],
        );
    }
}

/// Bytes for a message in pieces.
const ROOM: usize = 1024;

/// Where one lies.
#[repr(align(64))]
struct Room(#[allow(dead_code)] [u8; ROOM]);

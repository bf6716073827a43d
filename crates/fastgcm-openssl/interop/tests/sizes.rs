//! Every size that OpenSSL, or a program through it, may give to a function of the provider: sizes that wrap, sizes that no buffer has, and sizes of gigabytes.
//! The functions are called as OpenSSL's core calls them, because its own functions let few of these sizes through.
#![cfg(target_os = "linux")]

#[path = "../../../fastgcm/tests/support/giant.rs"]
mod giant;
#[path = "../../../fastgcm/tests/support/secrets.rs"]
mod secrets;
#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_openssl_interop::{OpenSsl, Param, ffi, last_error};
use giant::{Giant, WINDOW};
use std::{
    collections::BTreeMap,
    ffi::{CStr, c_int, c_void},
    ptr::{null, null_mut},
};
use suite::{bytes, passed};

/// The functions of an algorithm, by the numbers of core_dispatch.h, and the bytes of its IV.
struct Functions(BTreeMap<c_int, *const c_void>, usize);

const CIPHER: c_int = 2;
const MAC: c_int = 3;

type New = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Init = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *const Param) -> c_int;
type Update = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
type Finish = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;
type Params = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;
type MacInit = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const Param) -> c_int;
type MacUpdate = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int;
type List = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const Param;

impl Functions {
    fn of(operation: c_int, name: &str) -> Self {
        let mut no_cache = 0;
        // SAFETY: lists that end with null and with 0.
        unsafe {
            let mut algorithm = ffi::OSSL_PROVIDER_query_operation(OpenSsl::get().fastgcm, operation, &mut no_cache);
            while !(*algorithm).names.is_null() {
                let names = CStr::from_ptr((*algorithm).names).to_str().unwrap();
                if names.split(':').any(|other| other == name) {
                    let functions = (0..).map(|i| *(*algorithm).functions.add(i)).take_while(|function| function.number != 0);
                    let iv = if name.contains("XAES") { 24 } else { 12 };
                    return Self(functions.map(|function| (function.number, function.function)).collect(), iv);
                }
                algorithm = algorithm.add(1);
            }
        }
        panic!("no {name}");
    }

    /// # Safety
    /// `F` is the type of that function.
    unsafe fn get<F: Copy>(&self, number: c_int) -> F {
        assert_eq!(size_of::<F>(), size_of::<*const c_void>());
        // SAFETY: the caller's promise.
        unsafe { std::mem::transmute_copy(&self.0[&number]) }
    }

    /// The names that a list has, each with its kind.
    fn names(&self, number: c_int) -> Vec<(&'static CStr, u32)> {
        // SAFETY: a list that ends with no name, of constants.
        unsafe {
            let list = self.get::<List>(number)(null_mut(), null_mut());
            (0..)
                .map(|i| &*list.add(i))
                .take_while(|param| !param.key.is_null())
                .map(|param| (CStr::from_ptr(param.key), param.kind))
                .collect()
        }
    }
}

/// A message that a walk interrupts: a context with key, IV and 13 bytes of AAD.
struct Message<'f> {
    functions: &'f Functions,
    context: *mut c_void,
    seals: bool,
}

/// A key, then an IV, AAD, a text and room for one more.
const MEMORY: usize = 400;
const TEXT: usize = 100;

impl<'f> Message<'f> {
    fn new(functions: &'f Functions, seals: bool, memory: &[u8]) -> Self {
        // SAFETY: the functions of the table with their types, and slices.
        unsafe {
            let context = functions.get::<New>(1)(ffi::OSSL_PROVIDER_get0_provider_ctx(OpenSsl::get().fastgcm));
            let init = functions.get::<Init>(if seals { 2 } else { 3 });
            assert_eq!(init(context, memory.as_ptr(), 32, memory.as_ptr().add(32), functions.1, null()), 1);
            let message = Self { functions, context, seals };
            if !seals {
                let mut tag = [5; 16];
                assert_eq!(functions.get::<Params>(11)(context, [Param::octets(c"tag", tag.as_mut_ptr(), 16), Param::END].as_mut_ptr()), 1);
            }
            assert_eq!(message.update(null_mut(), memory.as_ptr().add(44), 13, usize::MAX), 1);
            message
        }
    }

    unsafe fn update(&self, to: *mut u8, from: *const u8, size: usize, room: usize) -> c_int {
        let mut written = 7;
        // SAFETY: the caller's promise.
        let done = unsafe { self.functions.get::<Update>(4)(self.context, to, &mut written, room, from, size) };
        assert_eq!(written, if done == 1 { size } else { 0 }, "bytes of {size} that it says it has written");
        done
    }

    /// The text that comes out, the tag of what is sealed, and whether the message ends; nothing where the message says that it does not go on.
    fn rest(self) -> Option<([u8; 40], [u8; 16], c_int)> {
        let (from, mut to, mut tag, mut written) = ([3; 40], [0; 40], [0; 16], 0);
        // SAFETY: slices.
        unsafe {
            if self.update(to.as_mut_ptr(), from.as_ptr(), 40, 40) != 1 {
                assert!(to == [0; 40]);
                return None;
            }
            let finished = self.functions.get::<Finish>(5)(self.context, null_mut(), &mut written, 0);
            if self.seals {
                let mut list = [Param::octets(c"tag", tag.as_mut_ptr(), 16), Param::END];
                let told = self.functions.get::<Params>(10)(self.context, list.as_mut_ptr());
                assert_eq!(told, finished, "a tag of a message that has not ended, or none of one that has");
            }
            (!self.seals || finished == 1).then_some((to, tag, finished))
        }
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { self.functions.get::<Free>(7)(self.context) }
    }
}

/// Sizes that wrap if something is added to them, or multiplied, or that are cut to fewer bits.
fn beyond(most: u64) -> Vec<usize> {
    let around = [1u128 << 32, 1 << 36, 1 << 61, 1 << 63, 1 << 64].into_iter().flat_map(|at| (at - 40)..=(at + 40));
    around.filter_map(|size| usize::try_from(size).ok()).filter(|size| *size as u64 > most).collect()
}

/// A call in the middle of a message, with a size.
type Call = (&'static str, u64, unsafe fn(&Message<'_>, *mut u8, usize) -> c_int);

const NO_MEMORY_HAS: u64 = isize::MAX as u64;

/// What has a size of its own, by its number: text and AAD by both functions that take them, key and IV.
#[allow(clippy::undocumented_unsafe_blocks)] // SAFETY (of all): contexts that `new` made, and sizes that are refused before anything is read
fn calls(longest_text: u64, longest_aad: u64) -> Vec<(c_int, Call)> {
    vec![
        (2, ("key to seal", 32, |m, at, size| unsafe { m.functions.get::<Init>(2)(m.context, at, size, null(), 0, null()) })),
        (3, ("key to open", 32, |m, at, size| unsafe { m.functions.get::<Init>(3)(m.context, at, size, null(), 0, null()) })),
        (2, ("IV to seal", 128, |m, at, size| unsafe { m.functions.get::<Init>(2)(m.context, null(), 0, at, size, null()) })),
        (3, ("IV to open", 128, |m, at, size| unsafe { m.functions.get::<Init>(3)(m.context, null(), 0, at, size, null()) })),
        (4, ("AAD", longest_aad, |m, at, size| unsafe { m.update(null_mut(), at, size, usize::MAX) })),
        (4, ("text in place", longest_text, |m, at, size| unsafe { m.update(at, at, size, usize::MAX) })),
        (4, ("text that overlaps", longest_text, |m, at, size| unsafe { m.update(at.add(8), at, size, usize::MAX) })),
        (4, ("text that overlaps before", longest_text, |m, at, size| unsafe { m.update(at, at.add(8), size, usize::MAX) })),
        (4, ("text without room", 100, |m, at, size| unsafe { m.update(at, at, size, 100) })),
        (
            6,
            ("all at once", longest_text, |m, at, size| unsafe {
                let mut written = 0;
                m.functions.get::<Update>(6)(m.context, at, &mut written, usize::MAX, at, size)
            }),
        ),
        (
            6,
            ("AAD at once", longest_aad, |m, at, size| unsafe {
                let mut written = 0;
                m.functions.get::<Update>(6)(m.context, null_mut(), &mut written, usize::MAX, at, size)
            }),
        ),
    ]
}

/// What is beyond a limit is refused, writes nothing, and leaves a message that goes on as if that call had not been, or does not go on.
#[test]
fn beyond_limits() {
    let (mut done, mut went_on) = (0, 0);
    const GCM: (u64, u64) = ((1 << 36) - 32, (1 << 61) - 1);
    let ciphers = [("AES-256-GCM", GCM), ("AES-256-GCM-SIV", (1 << 36, 1 << 36)), ("XAES-256-GCM", GCM), ("KC-XAES-256-GCM", GCM)];
    for (name, (longest_text, longest_aad)) in ciphers {
        let functions = Functions::of(CIPHER, name);
        let walked = calls(longest_text, longest_aad);
        // Of these numbers, those without a size: new, end (which writes nothing), free, copy, and lists of names.
        let numbers: Vec<_> = walked.iter().map(|(number, _)| *number).chain([1, 5, 7, 8, 9, 10, 11, 12, 13, 14]).collect();
        assert!(functions.0.keys().all(|number| numbers.contains(number)), "a function that is not walked: {:?}", functions.0.keys());
        let mut memory = bytes(MEMORY, 1);
        for seals in [true, false] {
            let expected = Message::new(&functions, seals, &memory).rest().expect("a message that nothing interrupts");
            let mut walk = |what: &str, size, call: &dyn Fn(&Message<'_>, *mut u8) -> c_int| {
                let before = memory.clone();
                let message = Message::new(&functions, seals, &memory);
                assert_eq!(call(&message, memory[TEXT..].as_mut_ptr()), 0, "{name}, {what}: {size}");
                last_error();
                assert_eq!(memory, before, "{name}, {what}: {size}: something is written");
                if let Some(rest) = message.rest() {
                    assert_eq!(rest, expected, "{name}, {what}: {size}: the message went on as another one");
                    went_on += 1;
                }
                last_error();
                done += 1;
            };
            for (_, (what, most, call)) in &walked {
                // Keys and IVs that are too short or too long by little, too.
                let few = if *most == 32 {
                    [0, 16, 31, 33]
                } else if *most == 128 {
                    [129, 130, 200, 255]
                } else {
                    [usize::MAX; 4]
                };
                for size in beyond(*most).into_iter().chain(few) {
                    // SAFETY: a size that is refused before anything is read.
                    walk(what, size, &|message, at| unsafe { call(message, at, size) });
                }
            }
            // Each named value that is given or asked for.
            for (number, list) in [(11, 14), (10, 13)] {
                for (key, kind) in functions.names(list) {
                    for size in beyond(NO_MEMORY_HAS) {
                        if key == c"tlsivfixed" && size == usize::MAX {
                            continue; // all of the IV
                        }
                        walk(&format!("{key:?}"), size, &|message, at| {
                            let list = &mut [Param { key: key.as_ptr(), kind, data: at.cast(), size, returned: 0 }, Param::END];
                            // SAFETY: a list, whose size is refused before anything is read or written.
                            unsafe { message.functions.get::<Params>(number)(message.context, list.as_mut_ptr()) }
                        });
                    }
                }
            }
        }
    }
    assert!(done > 5000 && went_on > 2000, "{done}, {went_on}");
    passed("openssl::sizes::beyond_limits", done, done);
}

/// A text that 16 bits do not count: as many bytes are told as are written, at once and in pieces.
#[test]
fn sizes_beyond_16_bits() {
    let (memory, text) = (bytes(MEMORY, 1), bytes((1 << 16) + 77, 2));
    for name in ["AES-256-GCM", "AES-256-GCM-SIV", "XAES-256-GCM", "KC-XAES-256-GCM"] {
        let (functions, n) = (Functions::of(CIPHER, name), text.len());
        let (message, mut to) = (Message::new(&functions, true, &memory), vec![0; n]);
        // SAFETY: slices.
        let first = unsafe { message.update(to.as_mut_ptr(), text.as_ptr(), n, n) };
        assert!(first == 1 && to != text && to[n - 4..] != [0; 4], "{name}");
        let message = Message::new(&functions, true, &memory);
        // SAFETY: a slice, as AAD.
        assert_eq!(unsafe { message.update(null_mut(), text.as_ptr(), n, n) }, 1, "{name}");
    }
    passed("openssl::sizes::sizes_beyond_16_bits", 4, 4);
}

/// Each byte of an IV that nobody has set is drawn.
#[test]
fn halves_of_drawn_ivs() {
    let key = bytes(32, 1);
    for name in ["AES-256-GCM", "XAES-256-GCM", "KC-XAES-256-GCM"] {
        let functions = Functions::of(CIPHER, name);
        secrets::drawn(name, || {
            let mut iv = vec![0; functions.1];
            // SAFETY: the functions of the table with their types, and slices.
            unsafe {
                let context = functions.get::<New>(1)(ffi::OSSL_PROVIDER_get0_provider_ctx(OpenSsl::get().fastgcm));
                assert_eq!(functions.get::<Init>(2)(context, key.as_ptr(), 32, null(), 0, null()), 1);
                let mut list = [Param::octets(c"iv", iv.as_mut_ptr(), iv.len()), Param::END];
                assert_eq!(functions.get::<Params>(10)(context, list.as_mut_ptr()), 1, "{name}");
                functions.get::<Free>(7)(context);
            }
            iv
        });
    }
    passed("openssl::sizes::halves_of_drawn_ivs", 3, 3);
}

/// GMAC's functions.
#[test]
#[allow(clippy::undocumented_unsafe_blocks)] // SAFETY (of all): contexts that were made, and sizes that are refused before anything is read
fn beyond_limits_of_gmac() {
    let functions = Functions::of(MAC, "GMAC");
    assert_eq!(functions.0.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 9, 10, 12], "a function that is not walked");
    let (mut memory, mut done) = (bytes(MEMORY, 1), 0);
    let calls: [(&str, u64, Call2); 4] = [
        ("key", 32, |f, mac, at, size| unsafe { f.get::<MacInit>(4)(mac, at, size, null()) }),
        ("data", (1 << 61) - 1, |f, mac, at, size| unsafe { f.get::<MacUpdate>(5)(mac, at, size) }),
        ("key by name", 32, |f, mac, at, size| unsafe {
            f.get::<Params>(9)(mac, [Param::octets(c"key", at, size), Param::END].as_mut_ptr())
        }),
        ("IV by name", 128, |f, mac, at, size| unsafe {
            f.get::<Params>(9)(mac, [Param::octets(c"iv", at, size), Param::END].as_mut_ptr())
        }),
    ];
    let mut message = |call: &dyn Fn(*mut c_void, *mut u8)| {
        let (mut tag, mut written) = ([0; 16], 0);
        // SAFETY: the functions of the table with their types, and slices.
        unsafe {
            let mac = functions.get::<New>(1)(ffi::OSSL_PROVIDER_get0_provider_ctx(OpenSsl::get().fastgcm));
            let mut list = [Param::text(c"cipher", c"AES-256-GCM"), Param::octets(c"iv", memory.as_mut_ptr(), 12), Param::END];
            assert_eq!(functions.get::<Params>(9)(mac, list.as_mut_ptr()), 1);
            assert_eq!(functions.get::<MacInit>(4)(mac, memory.as_ptr(), 32, null()), 1);
            assert_eq!(functions.get::<MacUpdate>(5)(mac, memory.as_ptr(), 50), 1);
            call(mac, memory[TEXT..].as_mut_ptr());
            // So much room is enough, whatever it wraps to.
            let ended = functions.get::<Finish>(6)(mac, tag.as_mut_ptr(), &mut written, usize::MAX);
            functions.get::<Free>(3)(mac);
            (ended == 1).then_some(tag)
        }
    };
    let expected = message(&|_, _| {});
    assert!(expected.is_some());
    for (what, most, call) in calls {
        for size in beyond(most) {
            // SAFETY: a size that is refused before anything is read.
            let tag = message(&|mac, at| assert_eq!(unsafe { call(&functions, mac, at, size) }, 0, "{what}: {size}"));
            assert!(tag.is_none() || tag == expected, "{what}: {size}: the message went on as another one");
            last_error();
            done += 1;
        }
    }
    passed("openssl::sizes::beyond_limits_of_gmac", done, done);
}

type Call2 = unsafe fn(&Functions, *mut c_void, *mut u8, usize) -> c_int;

/// Text, AAD and data of more than 2 and 4 GiB in one call: the tag is that of the same bytes in calls of at most 1 GiB.
#[test]
fn gigabytes() {
    let functions = Functions::of(CIPHER, "AES-256-GCM");
    let (from, memory) = (Giant::new((1 << 32) + WINDOW, &bytes(WINDOW, 1)), bytes(MEMORY, 1));
    let to = Giant::new((1 << 32) + WINDOW, &[]);
    let mut done = 0;
    for size in [(1usize << 31) + 1, (1 << 32) + 1] {
        for text in [true, false] {
            for seals in [true, false] {
                let tags = [size, 1 << 30].map(|most| {
                    let message = Message::new(&functions, seals, &memory);
                    for at in (0..size).step_by(most) {
                        let here = most.min(size - at);
                        // SAFETY: so many addresses.
                        unsafe {
                            let to = if text { to.at().add(at) } else { null_mut() };
                            assert_eq!(message.update(to, from.at().add(at), here, here), 1);
                        }
                    }
                    let (mut tag, mut written) = ([0; 16], 0);
                    // SAFETY: slices.
                    unsafe {
                        let finished = functions.get::<Finish>(5)(message.context, null_mut(), &mut written, 0);
                        assert_eq!(finished, c_int::from(seals), "a tag of fives was accepted, or none was made");
                        if seals {
                            let mut list = [Param::octets(c"tag", tag.as_mut_ptr(), 16), Param::END];
                            assert_eq!(functions.get::<Params>(10)(message.context, list.as_mut_ptr()), 1);
                        }
                    }
                    (tag, to.window().to_vec())
                });
                assert!(tags[0] == tags[1] && (!seals || tags[0].0 != [0; 16]), "{size} bytes, text: {text}");
                last_error();
                done += 1;
            }
        }
    }
    passed("openssl::sizes::gigabytes", done, 8);
}

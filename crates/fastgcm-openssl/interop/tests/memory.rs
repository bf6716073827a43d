//! Memory that there is none of, and memory that is given back: the C library's functions for it, with a look
//! at both.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_openssl_interop::{Context, OpenSsl, Param, Whose, control, ffi, last_error};
use std::{
    ffi::{CStr, c_int, c_void},
    ptr, slice,
    sync::{
        OnceLock,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
};
use suite::passed;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(memory: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(memory: *mut c_void);
}

/// The thread for which there is no memory (as `pthread_self` names it), and how much it still gets before;
/// and what was refused.
static POOR: AtomicUsize = AtomicUsize::new(0);
static LEFT: AtomicUsize = AtomicUsize::new(0);
static REFUSED: AtomicUsize = AtomicUsize::new(0);

fn refused() -> bool {
    // SAFETY: no argument.
    let refused = POOR.load(Relaxed) == unsafe { libc::pthread_self() } as usize
        && LEFT.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_err();
    REFUSED.fetch_add(refused.into(), Relaxed);
    refused
}

/// Whether memory that is given back is searched, and how often a secret was found.
static SEARCHED: AtomicBool = AtomicBool::new(false);
static FOUND: AtomicUsize = AtomicUsize::new(0);

/// Runs of these bytes are secret: of a key, and of a text.
const KEY: u8 = 0xb7;
const TEXT: u8 = 0xd9;

fn search(memory: *mut c_void) {
    if !memory.is_null() && SEARCHED.load(Relaxed) {
        // SAFETY: memory that is given back now has so many bytes, though nobody may have written all of
        // them.
        let bytes = unsafe { slice::from_raw_parts(memory.cast::<u8>(), libc::malloc_usable_size(memory)) };
        let found = [KEY, TEXT].iter().filter(|secret| bytes.windows(12).any(|run| run.iter().all(|byte| byte == *secret))).count();
        FOUND.fetch_add(found, Relaxed);
    }
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: the C library's own.
    if refused() { ptr::null_mut() } else { unsafe { __libc_malloc(size) } }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: likewise.
    if refused() { ptr::null_mut() } else { unsafe { __libc_calloc(count, size) } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: likewise.
    if refused() { ptr::null_mut() } else { unsafe { __libc_realloc(memory, size) } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(made: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    // SAFETY: likewise, and the caller's place.
    unsafe {
        *made = if refused() { ptr::null_mut() } else { __libc_memalign(alignment, size) };
        if (*made).is_null() { libc::ENOMEM } else { 0 }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(memory: *mut c_void) {
    search(memory);
    // SAFETY: likewise.
    unsafe { __libc_free(memory) }
}

/// One at a time: what they look at is the process's.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// What the calls have made, or `None` if one was refused. Each goes on from its first argument, and leaves
/// it for who frees it.
type Calls = fn(&mut Vec<Context>, &mut Vec<u8>) -> Option<()>;

/// A call that was refused says why.
fn one(done: c_int) -> Option<()> {
    assert!(done == 1 || last_error() != 0, "a call was refused without a reason");
    (done == 1).then_some(())
}

fn context(contexts: &mut Vec<Context>) -> Option<usize> {
    let context = Context::new();
    (!context.0.is_null()).then_some(())?;
    contexts.push(context);
    Some(contexts.len() - 1)
}

/// Begins a message with a key of 16 bytes.
fn begin(contexts: &mut Vec<Context>, iv: &[u8]) -> Option<usize> {
    let at = context(contexts)?;
    let (context, cipher) = (&mut contexts[at], OpenSsl::get().cipher(Whose::Fastgcm, 16));
    one(context.init(cipher, None, None, 1))?;
    one(context.control_number(control::SET_IVLEN, iv.len() as c_int))?;
    one(context.init(ptr::null(), Some(&[1; 16]), Some(iv), 1))?;
    Some(at)
}

/// Seals that many bytes from one buffer to another. If that is refused, no byte is written: it would be a
/// plaintext, where the caller waits for ciphertext. And the message has ended: there is no tag of what came
/// before.
fn text(context: &mut Context, size: usize, made: &mut Vec<u8>) -> Option<()> {
    let (from, mut to) = ([3; 3000], [0xa5; 3000]);
    if context.text_to(&from[..size], &mut to[..size]).0 != 1 {
        LEFT.store(usize::MAX, SeqCst);
        assert_eq!(last_error() & 0x7f_ffff, 256 | 3 << 18, "ERR_R_MALLOC_FAILURE");
        assert!(to == [0xa5; 3000], "a text that was refused is in the output");
        assert_eq!(context.finish(), 0, "a message that lacks a text has a tag");
        return None;
    }
    made.extend(&to[..size]);
    Some(())
}

fn finish(context: &mut Context, made: &mut Vec<u8>) -> Option<()> {
    one(context.finish())?;
    made.extend(context.tag());
    Some(())
}

/// A message that goes on in a copy.
fn copied(contexts: &mut Vec<Context>, made: &mut Vec<u8>, length: usize) -> Option<()> {
    let at = begin(contexts, &[2; 12])?;
    text(&mut contexts[at], length, made)?;
    let copy = context(contexts)?;
    let (contexts, copy) = contexts.split_at_mut(copy);
    one(copy[0].copy_of(&contexts[at]))?;
    text(&mut copy[0], 1000, made)?;
    finish(&mut copy[0], made)
}

/// What asks for memory: contexts, keys, texts that are kept, copies, GMAC, AAD of AES-GCM-SIV, root keys.
const PARTS: [(&str, Calls); 9] = [
    ("short", |contexts, made| {
        let at = begin(contexts, &[2; 12])?;
        for _ in 0..2 {
            one(contexts[at].init(ptr::null(), None, Some(&[2; 12]), 1))?;
            text(&mut contexts[at], 1000, made)?;
            finish(&mut contexts[at], made)?;
        }
        Some(())
    }),
    ("long", |contexts, made| {
        let at = begin(contexts, &[2; 16])?;
        one(contexts[at].aad(b"AAD"))?;
        text(&mut contexts[at], 3000, made)?;
        finish(&mut contexts[at], made)
    }),
    ("goes on", |contexts, made| {
        let at = begin(contexts, &[2; 12])?;
        text(&mut contexts[at], 1000, made)?;
        text(&mut contexts[at], 1000, made)?;
        finish(&mut contexts[at], made)
    }),
    ("another key", |contexts, made| {
        let at = begin(contexts, &[2; 12])?;
        text(&mut contexts[at], 3000, made)?;
        one(contexts[at].init(ptr::null(), Some(&[4; 16]), Some(&[2; 12]), 1))?;
        text(&mut contexts[at], 3000, made)?;
        finish(&mut contexts[at], made)
    }),
    ("copies of long texts", |contexts, made| copied(contexts, made, 1000)),
    ("copies", |contexts, made| copied(contexts, made, 30)),
    ("GMAC", |_, made| {
        // SAFETY: OpenSSL's own objects, and slices.
        unsafe {
            let mac = ffi::EVP_MAC_fetch(OpenSsl::get().context, c"GMAC".as_ptr(), c"provider=fastgcm".as_ptr());
            let context = ffi::EVP_MAC_CTX_new(mac);
            let mut iv = [2; 12];
            let mut calls = || {
                (!context.is_null()).then_some(())?;
                let list = [Param::text(c"cipher", c"AES-128-GCM"), Param::octets(c"iv", iv.as_mut_ptr(), 12), Param::END];
                one(ffi::EVP_MAC_init(context, [1; 16].as_ptr(), 16, list.as_ptr()))?;
                one(ffi::EVP_MAC_update(context, [5; 100].as_ptr(), 100))?;
                let copy = ffi::EVP_MAC_CTX_dup(context);
                (!copy.is_null()).then_some(())?;
                let (mut tag, mut written) = ([0; 16], 0);
                let done = ffi::EVP_MAC_final(copy, tag.as_mut_ptr(), &mut written, 16);
                ffi::EVP_MAC_CTX_free(copy);
                one(done)?;
                made.extend(tag);
                Some(())
            };
            let done = calls();
            ffi::EVP_MAC_CTX_free(context);
            done
        }
    }),
    ("SIV", |contexts, made| {
        let at = context(contexts)?;
        one(contexts[at].init(siv(), Some(&[1; 16]), Some(&[2; 12]), 1))?;
        one(contexts[at].aad(&[3; 100]))?;
        let copy = context(contexts)?;
        let (contexts, copy) = contexts.split_at_mut(copy);
        one(copy[0].copy_of(&contexts[at]))?;
        text(&mut copy[0], 500, made)?;
        finish(&mut copy[0], made)
    }),
    ("XAES", |contexts, made| {
        let at = context(contexts)?;
        for key in [1, 4] {
            one(contexts[at].init(kc_xaes(), Some(&[key; 32]), Some(&[2; 24]), 1))?;
            one(contexts[at].aad(&[3; 100]))?;
            text(&mut contexts[at], 1000, made)?;
        }
        let copy = context(contexts)?;
        let (contexts, copy) = contexts.split_at_mut(copy);
        one(copy[0].copy_of(&contexts[at]))?;
        text(&mut copy[0], 500, made)?;
        finish(&mut copy[0], made)
    }),
];

fn siv() -> *mut c_void {
    static SIV: OnceLock<usize> = OnceLock::new();
    fetched(&SIV, c"AES-128-GCM-SIV")
}

fn kc_xaes() -> *mut c_void {
    static KC_XAES: OnceLock<usize> = OnceLock::new();
    fetched(&KC_XAES, c"KC-XAES-256-GCM")
}

fn fetched(once: &OnceLock<usize>, name: &CStr) -> *mut c_void {
    // SAFETY: strings.
    let fetch = || unsafe { ffi::EVP_CIPHER_fetch(OpenSsl::get().context, name.as_ptr(), c"provider=fastgcm".as_ptr()) as usize };
    *once.get_or_init(fetch) as *mut c_void
}

/// Where memory ends, at each place at which it can, a call is refused with a reason: nothing aborts, nothing
/// is written, and what is not refused is right. Each time in a thread of its own, which has nothing yet.
/// `again`: the thread has had such messages before.
fn ends(name: &str, calls: Calls, again: bool) {
    let mut right = Vec::new();
    calls(&mut Vec::new(), &mut right).expect(name);
    let mut refusals = 0;
    for left in 0.. {
        let made = thread::spawn(move || {
            last_error(); // OpenSSL has its queue of errors before
            let (mut contexts, mut made) = (Vec::with_capacity(9), Vec::with_capacity(9000));
            if again {
                calls(&mut contexts, &mut made).unwrap();
                contexts.clear();
                made.clear();
            }
            LEFT.store(left, SeqCst);
            REFUSED.store(0, SeqCst);
            // SAFETY: no argument.
            POOR.store(unsafe { libc::pthread_self() } as usize, SeqCst);
            let done = calls(&mut contexts, &mut made);
            POOR.store(0, SeqCst);
            done.map(|()| made)
        })
        .join()
        .unwrap();
        let right = made.is_none_or(|made| made == right);
        assert!(right, "{name}: where memory ends after {left} allocations there is another answer");
        if REFUSED.load(SeqCst) == 0 {
            break;
        }
        refusals += 1;
    }
    assert!(refusals > 0 || again, "{name}: no memory was asked for");
    calls(&mut Vec::new(), &mut Vec::new()).expect(name);
}

#[test]
fn there_is_none() {
    let _alone = ALONE.lock();
    let mut ended = 0;
    for (name, calls) in PARTS {
        for again in [false, true] {
            ends(name, calls, again);
            ended += 1;
        }
    }
    passed("openssl::memory::there_is_none", ended, 18);
}

/// Nothing that is given back has bytes of a key, nor text: not of a context, of a key, nor of a text that
/// was kept.
#[test]
fn f16_wiped() {
    let _alone = ALONE.lock();
    let openssl = OpenSsl::get();
    let mut ways = 0;
    let gcm = |length| (openssl.cipher(Whose::Fastgcm, length), length);
    for (whose, length) in [gcm(16), gcm(32), (siv(), 16), (kc_xaes(), 32)] {
        let whose = whose.addr();
        for pieces in [&[][..], &[30], &[60, 20], &[1000], &[1000, 1000], &[2000, 5]] {
            for copied in [false, true] {
                for direction in [0, 1] {
                    thread::spawn(move || {
                        let mut context = Context::new();
                        let mut buffer = [0; 2000];
                        // What makes this text when it is opened.
                        assert_eq!(context.init(ptr::without_provenance(whose), Some(&[KEY; 32][..length]), Some(&[2; 24]), 1), 1);
                        let mut sealed = [[0; 2000]; 2];
                        for (piece, sealed) in pieces.iter().zip(&mut sealed) {
                            sealed[..*piece].fill(TEXT);
                            context.text(&mut sealed[..*piece]);
                        }
                        assert_eq!(context.init(ptr::null(), Some(&[KEY; 32][..length]), Some(&[2; 24]), direction), 1);
                        context.control(control::SET_TAG, &mut [1; 16]);
                        SEARCHED.store(true, SeqCst);
                        for (piece, sealed) in pieces.iter().zip(&sealed) {
                            let text = &mut buffer[..*piece];
                            if direction == 1 {
                                text.fill(TEXT)
                            } else {
                                text.copy_from_slice(&sealed[..*piece])
                            }
                            context.text(text);
                            if copied {
                                context = context.copy();
                            }
                        }
                        context.finish();
                        drop(context);
                    })
                    .join()
                    .unwrap();
                    SEARCHED.store(false, SeqCst);
                    let found = FOUND.swap(0, SeqCst);
                    assert_eq!(
                        found, 0,
                        "key of {length} bytes, {pieces:?}, copied: {copied}, direction {direction}: secrets in memory that was given back"
                    );
                    ways += 1;
                }
            }
        }
    }
    last_error();
    // That a secret would be found:
    SEARCHED.store(true, SeqCst);
    drop(std::hint::black_box(vec![KEY; 20]));
    SEARCHED.store(false, SeqCst);
    assert_eq!(FOUND.swap(0, SeqCst), 1);
    passed("openssl::memory::f16_wiped", ways, 4 * 6 * 2 * 2);
}

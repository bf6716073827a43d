//! `aead.h` for Rust: the table that a plug-in exports, and a trait from which it is made.
//!
//! ```ignore
//! struct Mine(Key);
//! impl aead_plugin::Implementation for Mine { ... }
//! aead_plugin::export!(Mine);
//! ```
//!
//! Every function of a plug-in is the fastest documented way to do it with that implementation.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    hint::black_box,
    ptr, slice,
};

/// Changes with [`Table`] and [`Message`].
pub const INTERFACE: u32 = 3;
/// What [`export`] exports, unless it is given another name.
pub const SYMBOL: &str = "aead_plugin";

/// Of [`Table::offers`]: input and output may be the same buffer.
pub const IN_PLACE: u32 = 1;
/// Of [`Table::offers`]: they may overlap in part; the answer is right, or the call is refused.
pub const OVERLAP: u32 = 2;
/// Of [`Table::offers`]: what has no bytes may be at NULL.
pub const NULL: u32 = 4;
/// Of [`Table::offers`]: not more than one piece of AAD.
pub const ONE_AAD: u32 = 8;
/// Of [`Table::offers`]: opening gives a tag, which its caller compares.
pub const GIVES_TAG: u32 = 16;
/// Of [`Table::offers`]: whole messages have the tag behind the ciphertext.
pub const TAG_BEHIND: u32 = 32;
/// Of [`Table::offers`]: several threads may use one key at once.
pub const THREADS: u32 = 64;
/// Of [`Table::offers`]: nobody looks what is in memory when a key is freed.
pub const KEEPS: u32 = 128;
/// Of [`Table::offers`]: a refusal leaves zeros in the output.
pub const ZEROS: u32 = 512;
/// Of [`Table::offers`]: nobody looks what a refusal leaves in the output.
pub const OF_PIECES: u32 = 1024;

/// Tags that SP 800-38D has: bit n for n bytes.
pub const TAGS: u32 = 1 << 4 | 1 << 8 | 0x1f << 12;
/// Of [`Table::levels`]: the variable of that name holds the library to a level while it is loaded.
pub const IA32CAP: &str = "OPENSSL_ia32cap";

/// `struct aead_message`, in its order of fields.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // as in aead.h
pub struct Message {
    pub tag: *mut u8,
    pub nonce: *const u8,
    pub input: *const u8,
    pub aad_length: usize,
    pub output: *mut u8,
    pub aad: *const u8,
    pub nonce_length: usize,
    pub length: usize,
    pub tag_length: usize,
}

/// Views of a message. Its caller promises what `aead.h` says of its pointers, and has one view of the output at a time.
#[allow(clippy::mut_from_ref, clippy::missing_safety_doc)]
impl Message {
    /// The nonce, of 12 bytes.
    #[inline(always)]
    pub unsafe fn nonce(&self) -> &[u8; 12] {
        // SAFETY: the caller's promise.
        unsafe { &*self.nonce.cast() }
    }

    /// Additional data.
    #[inline(always)]
    pub unsafe fn aad(&self) -> &[u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(self.aad, self.aad_length) }
    }

    /// Input and output are the same buffer.
    #[inline(always)]
    pub fn in_place(&self) -> bool {
        ptr::eq(self.input, self.output)
    }

    /// What is read.
    #[inline(always)]
    pub unsafe fn input(&self) -> &[u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(self.input, self.length) }
    }

    /// What is written.
    #[inline(always)]
    pub unsafe fn output(&self) -> &mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.output, self.length) }
    }

    /// The same, after the input has been copied there: for interfaces that know only one buffer. Their users must do that, too.
    #[inline(always)]
    pub unsafe fn copied(&self) -> &mut [u8] {
        if !self.in_place() {
            // SAFETY: the caller's promise: buffers of that length that do not overlap.
            unsafe { ptr::copy_nonoverlapping(self.input, self.output, self.length) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.output() }
    }

    /// The tag, of 16 bytes: what is written by sealing, and read by opening.
    #[inline(always)]
    pub unsafe fn tag(&self) -> &mut [u8; 16] {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.tag.cast() }
    }
}

/// `struct aead_plugin`. A function that is not offered is NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // as in aead.h
pub struct Table {
    pub interface: u32,
    pub offers: u32,
    pub keys: u32,
    pub tags: u32,
    pub nonce_min: usize,
    pub nonce_max: usize,
    pub block: usize,
    pub algorithm: u32,
    pub name: *const c_char,
    pub version: Option<unsafe extern "C" fn() -> *const c_char>,
    pub levels: Option<unsafe extern "C" fn() -> *const c_char>,
    pub start: Option<unsafe extern "C" fn(*const c_char) -> *const c_char>,
    pub key: Option<unsafe extern "C" fn(*const u8, usize) -> *mut c_void>,
    pub free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub seal: Option<unsafe extern "C" fn(*mut c_void, *const Message) -> c_int>,
    pub open: Option<unsafe extern "C" fn(*mut c_void, *const Message) -> c_int>,
    pub rekey: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize)>,
    pub put: Option<unsafe extern "C" fn(*const u8, usize, u64)>,
    pub key_size: usize,
    pub begin: Option<unsafe extern "C" fn(*mut c_void, c_int, *const u8, usize, usize) -> *mut c_void>,
    pub aad: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int>,
    pub update: Option<unsafe extern "C" fn(*mut c_void, *const u8, *mut u8, usize) -> c_int>,
    pub finish: Option<unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int>,
    pub drop: Option<unsafe extern "C" fn(*mut c_void)>,
    pub copy: Option<unsafe extern "C" fn(*mut c_void) -> *mut c_void>,
    pub nonce_first: Option<unsafe extern "C" fn(*const u8, usize, c_int, *const u8, usize, usize) -> *mut c_void>,
    pub again: Option<unsafe extern "C" fn(*mut c_void, *const u8, usize, usize) -> c_int>,
}

// SAFETY: functions, numbers and a pointer to a constant.
unsafe impl Sync for Table {}

/// Name and version of a package, as the text of that `Cargo.lock` has it; where it has several, of the one whose version begins so.
pub fn locked(lock: &str, package: &str, version: &str) -> String {
    let mut lines = lock.lines();
    let head = format!("name = \"{package}\"");
    while lines.any(|line| line == head) {
        let found = lines.next().and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
        if let Some(found) = found.filter(|found| found.starts_with(version)) {
            return format!("{package} {found}");
        }
    }
    package.into()
}

/// An implementation of AES-GCM: a key of it. `bool` is 1 for done and 0 for refused, `None` is NULL.
pub trait Implementation: Sized + 'static {
    /// Its name in the table.
    const NAME: &'static CStr;
    /// See `aead.h`.
    const OFFERS: u32 = IN_PLACE;
    /// See `aead.h`.
    const KEYS: u32 = 7;
    /// See `aead.h`.
    const TAGS: u32 = 1 << 16;
    /// Bytes of the shortest and of the longest nonce.
    const NONCES: (usize, usize) = (12, 12);
    /// See `aead.h`; 0 without pieces.
    const BLOCK: usize = 0;
    /// See `aead.h`; 0 is AES-GCM.
    const ALGORITHM: u32 = 0;
    /// [`Implementation::nonce_first`], [`Run::copy`] and [`Run::again`] are there.
    const MORE: (bool, bool, bool) = (false, false, false);
    /// A message in pieces. It may borrow from the key, which lives longer.
    type Run: Run;

    /// Its version.
    fn version() -> String;

    /// See `aead.h`: lines, or nothing.
    fn levels() -> String {
        String::new()
    }

    /// Called once, before anything else but `levels`, with one of those, or with nothing for what it chooses by itself. An error is the reason why it
    /// does not take part.
    fn start(level: Option<&str>) -> Result<(), String> {
        let _ = level;
        Ok(())
    }

    /// A key.
    fn new(key: &[u8]) -> Option<Self>;

    /// Puts another key of the same length in the place of this one.
    fn rekey(&mut self, key: &[u8]) {
        if let Some(new) = Self::new(key) {
            *self = new;
        }
    }

    /// Seals.
    ///
    /// # Safety
    /// The pointers of `message` are as `aead.h` says.
    unsafe fn seal(&self, message: &Message) -> bool;

    /// Opens.
    ///
    /// # Safety
    /// As [`Implementation::seal`].
    unsafe fn open(&self, message: &Message) -> bool;

    /// Begins a message in pieces.
    fn begin(&'static self, seals: bool, nonce: &[u8], tag: usize) -> Option<Self::Run> {
        let _ = (seals, nonce, tag);
        None
    }

    /// The same, of a context that gets its nonce before its key.
    fn nonce_first(key: &[u8], seals: bool, nonce: &[u8], tag: usize) -> Option<Self::Run> {
        let _ = (key, seals, nonce, tag);
        None
    }
}

/// A message in pieces.
pub trait Run: Sized {
    /// A piece of AAD.
    fn aad(&mut self, aad: &[u8]) -> bool;

    /// A piece of text.
    ///
    /// # Safety
    /// So many bytes can be read at `input`, and written at `output`, which may be `input`.
    unsafe fn update(&mut self, input: *const u8, output: *mut u8, length: usize) -> bool;

    /// The tag: written, or compared.
    ///
    /// # Safety
    /// So many bytes can be read and written at `tag`.
    unsafe fn finish(&mut self, tag: *mut u8, length: usize) -> bool;

    /// A second message that goes on from here.
    fn copy(&self) -> Option<Self> {
        None
    }

    /// Becomes a new message of the key, in the same direction.
    fn again(&mut self, nonce: &[u8], tag: usize) -> bool {
        let _ = (nonce, tag);
        false
    }
}

/// For an implementation without pieces.
#[derive(Debug)]
pub enum NoPieces {}

impl Run for NoPieces {
    fn aad(&mut self, _: &[u8]) -> bool {
        match *self {}
    }

    unsafe fn update(&mut self, _: *const u8, _: *mut u8, _: usize) -> bool {
        match *self {}
    }

    unsafe fn finish(&mut self, _: *mut u8, _: usize) -> bool {
        match *self {}
    }
}

/// Exports a type that implements [`Implementation`], as what the tools look for, or as a table of another name.
#[macro_export]
macro_rules! export {
    ($implementation:ty) => {
        $crate::export!($implementation, aead_plugin);
    };
    ($implementation:ty, $name:ident) => {
        /// What the tools look for.
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static $name: $crate::Table = $crate::Table::of::<$implementation>();
    };
}

impl Table {
    /// The table of that implementation.
    pub const fn of<I: Implementation>() -> Self {
        let pieces = I::BLOCK > 0;
        Self {
            interface: INTERFACE,
            offers: I::OFFERS,
            keys: I::KEYS,
            tags: I::TAGS,
            nonce_min: I::NONCES.0,
            nonce_max: I::NONCES.1,
            block: I::BLOCK,
            algorithm: I::ALGORITHM,
            name: I::NAME.as_ptr(),
            version: Some(version::<I>),
            levels: Some(levels::<I>),
            start: Some(start::<I>),
            key: Some(key::<I>),
            free: Some(free::<I>),
            seal: Some(seal::<I>),
            open: Some(open::<I>),
            rekey: Some(rekey::<I>),
            put: Some(put::<I>),
            key_size: size_of::<I>(),
            begin: if pieces { Some(begin::<I>) } else { None },
            aad: if pieces { Some(aad::<I::Run>) } else { None },
            update: if pieces { Some(update::<I::Run>) } else { None },
            finish: if pieces { Some(finish::<I::Run>) } else { None },
            drop: if pieces { Some(free::<I::Run>) } else { None },
            copy: if I::MORE.1 { Some(copy::<I::Run>) } else { None },
            nonce_first: if I::MORE.0 { Some(nonce_first::<I>) } else { None },
            again: if I::MORE.2 { Some(again::<I::Run>) } else { None },
        }
    }
}

/// So many bytes, which may be at NULL if there are none.
///
/// # Safety
/// They can be read for as long as the result lives.
pub unsafe fn bytes<'a>(at: *const u8, length: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if length == 0 { &[] } else { unsafe { slice::from_raw_parts(at, length) } }
}

/// So many bytes, which may be at NULL if there are none.
///
/// # Safety
/// They can be written for as long as the result lives, and nobody else uses them.
pub unsafe fn bytes_mut<'a>(at: *mut u8, length: usize) -> &'a mut [u8] {
    // SAFETY: the caller's promise.
    if length == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(at, length) } }
}

fn boxed<T>(made: Option<T>) -> *mut c_void {
    made.map_or(ptr::null_mut(), |made| Box::into_raw(Box::new(made)).cast())
}

/// A string that nobody frees: there are few.
fn leaked(text: String) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

unsafe extern "C" fn version<I: Implementation>() -> *const c_char {
    leaked(I::version())
}

unsafe extern "C" fn levels<I: Implementation>() -> *const c_char {
    leaked(I::levels())
}

unsafe extern "C" fn start<I: Implementation>(level: *const c_char) -> *const c_char {
    // SAFETY: NULL, or a string.
    let level = if level.is_null() { None } else { unsafe { CStr::from_ptr(level) }.to_str().ok() };
    I::start(level).map_or_else(leaked, |()| ptr::null())
}

unsafe extern "C" fn rekey<I: Implementation>(made: *mut c_void, key: *const u8, length: usize) {
    // SAFETY: `key` made it, nobody else uses it, and the caller gives that many bytes.
    unsafe { (*made.cast::<I>()).rekey(bytes(key, length)) }
}

unsafe extern "C" fn put<I: Implementation>(key: *const u8, length: usize, times: u64) {
    // SAFETY: the caller gives that many bytes.
    let key = unsafe { bytes(key, length) };
    let mut slot: Option<I> = None;
    black_box(&mut slot);
    for _ in 0..times {
        slot = I::new(black_box(key));
        black_box(&mut slot);
    }
}

unsafe extern "C" fn key<I: Implementation>(key: *const u8, length: usize) -> *mut c_void {
    // SAFETY: the caller gives that many bytes.
    boxed(I::new(unsafe { bytes(key, length) }))
}

unsafe extern "C" fn free<T>(made: *mut c_void) {
    // SAFETY: `boxed` made it, and the caller gives it back once.
    drop(unsafe { Box::from_raw(made.cast::<T>()) });
}

unsafe extern "C" fn seal<I: Implementation>(key: *mut c_void, message: *const Message) -> c_int {
    // SAFETY: `key` made it, and the caller promises what `aead.h` says.
    unsafe { (&*key.cast::<I>()).seal(&*message) }.into()
}

unsafe extern "C" fn open<I: Implementation>(key: *mut c_void, message: *const Message) -> c_int {
    // SAFETY: as in `seal`.
    unsafe { (&*key.cast::<I>()).open(&*message) }.into()
}

unsafe extern "C" fn begin<I: Implementation>(key: *mut c_void, seals: c_int, nonce: *const u8, length: usize, tag: usize) -> *mut c_void {
    // SAFETY: `key` made it, it lives longer than the run, and the caller gives that many bytes.
    let (key, nonce) = unsafe { (&*key.cast::<I>(), bytes(nonce, length)) };
    boxed(key.begin(seals != 0, nonce, tag))
}

unsafe extern "C" fn nonce_first<I: Implementation>(
    key: *const u8,
    key_length: usize,
    seals: c_int,
    nonce: *const u8,
    length: usize,
    tag: usize,
) -> *mut c_void {
    // SAFETY: the caller gives that many bytes.
    let (key, nonce) = unsafe { (bytes(key, key_length), bytes(nonce, length)) };
    boxed(I::nonce_first(key, seals != 0, nonce, tag))
}

unsafe extern "C" fn aad<R: Run>(run: *mut c_void, aad: *const u8, length: usize) -> c_int {
    // SAFETY: `begin` made it, nobody else uses it, and the caller gives that many bytes.
    unsafe { (*run.cast::<R>()).aad(bytes(aad, length)) }.into()
}

unsafe extern "C" fn update<R: Run>(run: *mut c_void, input: *const u8, output: *mut u8, length: usize) -> c_int {
    // SAFETY: as in `aad`.
    unsafe { (*run.cast::<R>()).update(input, output, length) }.into()
}

unsafe extern "C" fn finish<R: Run>(run: *mut c_void, tag: *mut u8, length: usize) -> c_int {
    // SAFETY: as in `aad`.
    unsafe { (*run.cast::<R>()).finish(tag, length) }.into()
}

unsafe extern "C" fn copy<R: Run>(run: *mut c_void) -> *mut c_void {
    // SAFETY: as in `aad`.
    boxed(unsafe { (*run.cast::<R>()).copy() })
}

unsafe extern "C" fn again<R: Run>(run: *mut c_void, nonce: *const u8, length: usize, tag: usize) -> c_int {
    // SAFETY: as in `aad`.
    unsafe { (*run.cast::<R>()).again(bytes(nonce, length), tag) }.into()
}

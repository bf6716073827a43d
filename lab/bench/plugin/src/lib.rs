//! What a rival implements, and the C interface that the program loads it by.
//!
//! A rival is a shared object of its own: two OpenSSLs, BoringSSL and AWS-LC define the same symbols, and rustc hides all of a `cdylib`
//! but what Rust exports, which is one table, [`Table`]. Each call that is measured goes through one pointer of that table: the same 1 or 2
//! ns for everybody, fastgcm included.
//!
//! ```ignore
//! struct Mine(Key);
//! impl plugin::Rival for Mine { ... }
//! plugin::export!(Mine);
//! ```

use std::{
    ffi::{CStr, CString, c_char, c_void},
    hint::black_box,
    ptr, slice,
};

pub mod level;
pub mod openssl;

/// One message, as pointers: `text` bytes are read at `input`, written at `output`, and the 16 bytes of the tag follow the ciphertext (when
/// sealing at `output + len`, when opening at `input + len`). That is one layout that suits interfaces with the tag appended and with
/// the tag apart.
///
/// `input == output` is in place; otherwise the two do not overlap.
///
/// No two fields that a call may take side by side (`aad` and `aad_len`) are neighbours here: compilers move such a pair in one load of 16 bytes,
/// which has to wait for both of the stores of 8 bytes just before it. That cost ipsec-mb 13 ns a message.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Additional data.
    pub aad: *const u8,
    /// What is read.
    pub input: *const u8,
    /// Bytes of `aad`.
    pub aad_len: usize,
    /// What is written.
    pub output: *mut u8,
    /// Twelve bytes.
    pub nonce: *const u8,
    /// Bytes of text, without the tag.
    pub len: usize,
}

/// Bytes of the tag.
pub const TAG: usize = 16;

/// An implementation of AES-GCM: a key of it, ready for use.
///
/// Every function is the fastest documented way to do it with that implementation; its page says which that is.
pub trait Rival: Sized {
    /// Its name in the tables.
    const NAME: &'static str;

    /// The peer's own version, as it tells it where it does.
    fn version() -> String;

    /// The processor levels that it can be held to on this machine, each with the environment that it needs *before it is loaded*:
    /// lines of `LEVEL` or `LEVEL NAME=VALUE`. The first is what it chooses by itself.
    fn variants() -> String {
        level::native().into()
    }

    /// Called once, before anything else, with the level. An error is the reason why it does not take part.
    fn start(level: &str) -> Result<(), String> {
        let _ = level;
        Ok(())
    }

    /// A key of 16, 24 or 32 bytes; `None` if it has none of that length.
    fn new(key: &[u8]) -> Option<Self>;

    /// Puts another key of the same length in the place of this one.
    fn rekey(&mut self, key: &[u8]) {
        if let Some(new) = Self::new(key) {
            *self = new;
        }
    }

    /// Where the memory lies that a message reads of this key, and how many bytes it has: round keys, powers of H, and what else the
    /// implementation keeps with them.
    fn context(&self) -> (*const u8, usize) {
        (ptr::from_ref(self).cast(), size_of::<Self>())
    }

    /// Encrypts.
    ///
    /// # Safety
    /// The pointers of `message` are as [`Message`] says, with 16 bytes more at `output`.
    unsafe fn seal(&mut self, message: &Message);

    /// Decrypts, and says whether the tag was right.
    ///
    /// # Safety
    /// The pointers of `message` are as [`Message`] says, with 16 bytes more at `input`; and at `output`, for interfaces that decrypt only
    /// in place and with the tag behind.
    unsafe fn open(&mut self, message: &Message) -> bool;
}

/// Name and version of a package, as `Cargo.lock` has it; where it has several, of the one whose version begins so.
pub fn locked(package: &str, version: &str) -> String {
    let mut lines = include_str!("../../../../Cargo.lock").lines();
    let head = format!("name = \"{package}\"");
    while lines.any(|line| line == head) {
        let found = lines.next().and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
        if let Some(found) = found.filter(|found| found.starts_with(version)) {
            return format!("{package} {found}");
        }
    }
    package.into()
}

impl Message {
    /// The nonce.
    ///
    /// # Safety
    /// As [`Rival::seal`].
    #[inline(always)]
    pub unsafe fn nonce(&self) -> &[u8; 12] {
        // SAFETY: the caller's promise.
        unsafe { &*self.nonce.cast() }
    }

    /// Additional data.
    ///
    /// # Safety
    /// As [`Rival::seal`].
    #[inline(always)]
    pub unsafe fn aad(&self) -> &[u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(self.aad, self.aad_len) }
    }

    /// Input and output are the same buffer.
    #[inline(always)]
    pub fn in_place(&self) -> bool {
        ptr::eq(self.input, self.output)
    }

    /// What is read, without the tag.
    ///
    /// # Safety
    /// As [`Rival::seal`], and not while `output` is borrowed if it is the same.
    #[inline(always)]
    pub unsafe fn input(&self) -> &[u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(self.input, self.len) }
    }

    /// What is written, without the tag.
    ///
    /// # Safety
    /// As [`Rival::seal`]; once at a time.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub unsafe fn output(&self) -> &mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.output, self.len) }
    }

    /// The same, after the input has been copied there: for interfaces that know only one buffer. Their users must do that, too.
    ///
    /// # Safety
    /// As [`Rival::seal`]; once at a time.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub unsafe fn copied(&self) -> &mut [u8] {
        if !self.in_place() {
            // SAFETY: the caller's promise: buffers of that length that do not overlap.
            unsafe { ptr::copy_nonoverlapping(self.input, self.output, self.len) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.output() }
    }

    /// Where sealing puts the tag.
    ///
    /// # Safety
    /// As [`Rival::seal`]; once at a time.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub unsafe fn tag_out(&self) -> &mut [u8; TAG] {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.output.add(self.len).cast() }
    }

    /// Where opening finds the tag.
    ///
    /// # Safety
    /// As [`Rival::open`].
    #[inline(always)]
    pub unsafe fn tag_in(&self) -> &[u8; TAG] {
        // SAFETY: the caller's promise.
        unsafe { &*self.input.add(self.len).cast() }
    }
}

/// All that a shared object exports, under the name [`SYMBOL`].
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    /// [`INTERFACE`] of the plug-in: anything else was built for another program.
    pub interface: u32,
    /// Its name. The caller frees no string: there are few.
    pub name: extern "C" fn() -> *const c_char,
    /// See [`Rival::version`].
    pub version: extern "C" fn() -> *const c_char,
    /// See [`Rival::variants`].
    pub variants: extern "C" fn() -> *const c_char,
    /// See [`Rival::start`]; null, or what went wrong.
    pub start: unsafe extern "C" fn(*const c_char) -> *const c_char,
    /// See [`Rival::new`]; null if there is no such key.
    pub new: unsafe extern "C" fn(*const u8, usize) -> *mut c_void,
    /// Drops a key.
    pub free: unsafe extern "C" fn(*mut c_void),
    /// See [`Rival::rekey`].
    pub rekey: unsafe extern "C" fn(*mut c_void, *const u8, usize),
    /// So often, a key is made by value and put into the same `Option`, which drops the one before.
    pub put: unsafe extern "C" fn(*const u8, usize, u64),
    /// See [`Rival::context`]: the address, and the number of bytes through the pointer.
    pub context: unsafe extern "C" fn(*const c_void, *mut usize) -> *const u8,
    /// See [`Rival::seal`].
    pub seal: unsafe extern "C" fn(*mut c_void, *const Message),
    /// See [`Rival::open`].
    pub open: unsafe extern "C" fn(*mut c_void, *const Message) -> bool,
}

/// Changes with [`Table`] and [`Message`].
pub const INTERFACE: u32 = 4;
/// What [`export`] exports.
pub const SYMBOL: &str = "FASTGCM_BENCH_RIVAL";

/// Exports a type that implements [`Rival`].
#[macro_export]
macro_rules! export {
    ($rival:ty) => {
        /// What the program looks for.
        #[unsafe(no_mangle)]
        pub static FASTGCM_BENCH_RIVAL: $crate::Table = $crate::Table::of::<$rival>();
    };
}

impl Table {
    /// The table of that rival.
    pub const fn of<R: Rival>() -> Self {
        Self {
            interface: INTERFACE,
            name: name::<R>,
            version: version::<R>,
            variants: variants::<R>,
            start: start::<R>,
            new: new::<R>,
            free: free::<R>,
            rekey: rekey::<R>,
            put: put::<R>,
            context: context::<R>,
            seal: seal::<R>,
            open: open::<R>,
        }
    }
}

fn leaked(text: impl Into<Vec<u8>>) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

extern "C" fn name<R: Rival>() -> *const c_char {
    leaked(R::NAME)
}

extern "C" fn version<R: Rival>() -> *const c_char {
    leaked(R::version())
}

extern "C" fn variants<R: Rival>() -> *const c_char {
    leaked(R::variants())
}

unsafe extern "C" fn start<R: Rival>(level: *const c_char) -> *const c_char {
    // SAFETY: the program gives a string.
    let level = unsafe { CStr::from_ptr(level) };
    match R::start(level.to_str().unwrap_or_default()) {
        Ok(()) => ptr::null(),
        Err(why) => leaked(why),
    }
}

unsafe extern "C" fn new<R: Rival>(key: *const u8, len: usize) -> *mut c_void {
    // SAFETY: the program gives that many bytes.
    let key = unsafe { slice::from_raw_parts(key, len) };
    R::new(key).map_or(ptr::null_mut(), |rival| Box::into_raw(Box::new(rival)).cast())
}

unsafe extern "C" fn free<R>(rival: *mut c_void) {
    // SAFETY: `new` made it, and the program frees it once.
    drop(unsafe { Box::from_raw(rival.cast::<R>()) });
}

unsafe extern "C" fn rekey<R: Rival>(rival: *mut c_void, key: *const u8, len: usize) {
    // SAFETY: `new` made it, and nobody else uses it; the program gives that many bytes.
    let (rival, key) = unsafe { (&mut *rival.cast::<R>(), slice::from_raw_parts(key, len)) };
    rival.rekey(key);
}

unsafe extern "C" fn put<R: Rival>(key: *const u8, len: usize, times: u64) {
    // SAFETY: the program gives that many bytes.
    let key = unsafe { slice::from_raw_parts(key, len) };
    let mut slot: Option<R> = None;
    black_box(&mut slot);
    for _ in 0..times {
        slot = R::new(black_box(key));
        black_box(&mut slot);
    }
}

unsafe extern "C" fn context<R: Rival>(rival: *const c_void, len: *mut usize) -> *const u8 {
    // SAFETY: `new` made it; the program gives room for a number.
    unsafe {
        let (at, bytes) = (*rival.cast::<R>()).context();
        *len = bytes;
        at
    }
}

unsafe extern "C" fn seal<R: Rival>(rival: *mut c_void, message: *const Message) {
    // SAFETY: `new` made it, nobody else uses it, and the program promises what `Message` says.
    unsafe { (*rival.cast::<R>()).seal(&*message) }
}

unsafe extern "C" fn open<R: Rival>(rival: *mut c_void, message: *const Message) -> bool {
    // SAFETY: as in `seal`.
    unsafe { (*rival.cast::<R>()).open(&*message) }
}

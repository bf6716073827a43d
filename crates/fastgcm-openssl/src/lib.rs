//! An OpenSSL 3 provider: AES-GCM, AES-GCM-SIV, XAES-256-GCM and GMAC of [`fastgcm`] for programs that use OpenSSL.
//!
//! The file is a module that OpenSSL loads; no Rust program calls it. It exports only `OSSL_provider_init`, and is not linked with OpenSSL:
//! everything that it needs comes in tables (provider-base(7), provider-cipher(7), provider-mac(7) of OpenSSL's manual).
//!
//! README.md says how to install it, and how it differs from OpenSSL's own provider.

mod abi;
mod allocator;
mod cipher;
mod key;
mod mac;
mod object;
mod shared;
mod short;
mod siv;
mod xaes;

use abi::{Algorithm, Dispatch, Errors, Param, Reason, UNSIGNED, UTF8_PTR, guarded, table};
use fastgcm::Backend;
use shared::room;
use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

#[global_allocator]
static ALLOCATOR: allocator::Aligned = allocator::Aligned;

/// The state that all contexts share.
struct Provider {
    errors: Errors,
    backend: Backend,
    /// True if the first message under the last key was short: see `key`.
    short_first: AtomicBool,
    counters: [Counters; 16],
}

/// The counts of freed contexts. Each cache line is for some of them, so that threads seldom wait for each other.
#[derive(Default)]
#[repr(align(64))]
struct Counters {
    /// True while a thread adds to them: one exchange takes a third of the time of three additions.
    taken: AtomicBool,
    keys: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Provider {
    /// # Safety
    /// `this` is what `OSSL_provider_init` gave, and was not torn down.
    unsafe fn at<'a>(this: *mut c_void) -> &'a Self {
        // SAFETY: the caller's promise.
        unsafe { &*this.cast::<Self>() }
    }

    /// Adds what the context at that address has done. Memory of other threads is far away, and so are their counters. A thread that finds
    /// some counters taken goes on to the next, so that nobody waits for a thread that was stopped.
    fn add(&self, address: usize, work: &Work<'_>) {
        let first = address >> 12 ^ address >> 26;
        let next = |i: usize| &self.counters[(first + i) % self.counters.len()];
        if let Some(counters) = (0..).map(next).find(|counters| !counters.taken.swap(true, Acquire)) {
            for (counter, more) in [(&counters.keys, work.keys), (&counters.messages, work.messages), (&counters.bytes, work.bytes)] {
                counter.store(counter.load(Relaxed).wrapping_add(more), Relaxed);
            }
            counters.taken.store(false, Release);
        }
    }

    fn sum(&self, counter: fn(&Counters) -> &AtomicU64) -> u64 {
        self.counters.iter().map(|counters| counter(counters).load(Relaxed)).fold(0, u64::wrapping_add)
    }
}

/// The counts of a context, which it adds to the provider's when it is freed.
struct Work<'p> {
    provider: &'p Provider,
    keys: u64,
    messages: u64,
    bytes: u64,
}

impl<'p> Work<'p> {
    fn none(provider: &'p Provider) -> Self {
        Self { provider, keys: 0, messages: 0, bytes: 0 }
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        if self.keys + self.messages + self.bytes > 0 {
            self.provider.add(ptr::from_ref(self).addr(), self);
        }
    }
}

/// The provider's functions for OpenSSL.
static GETTABLE: [Param; 9] = [
    Param::named(c"name", UTF8_PTR),
    Param::named(c"version", UTF8_PTR),
    Param::named(c"buildinfo", UTF8_PTR),
    Param::named(c"status", UNSIGNED),
    Param::named(c"fastgcm-backend", UTF8_PTR),
    Param::named(c"fastgcm-keys", UNSIGNED),
    Param::named(c"fastgcm-messages", UNSIGNED),
    Param::named(c"fastgcm-bytes", UNSIGNED),
    Param::END,
];

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get(this: *mut c_void, params: *mut Param) -> c_int {
    guarded(0, || {
        // SAFETY: OpenSSL's call, for a provider that it has.
        let (this, params) = unsafe { (Provider::at(this), Param::list(params)) };
        for param in params {
            let done = match param.name() {
                b"name" => param.set_text(c"fastgcm"),
                b"version" => param.set_text(VERSION),
                b"status" => param.set_number(1),
                // `openssl list -providers -verbose` shows the build info.
                b"buildinfo" | b"fastgcm-backend" => param.set_text(this.backend.c_name()),
                b"fastgcm-keys" => param.set_number(this.sum(|counters| &counters.keys)),
                b"fastgcm-messages" => param.set_number(this.sum(|counters| &counters.messages)),
                b"fastgcm-bytes" => param.set_number(this.sum(|counters| &counters.bytes)),
                _ => continue,
            };
            if done.is_none() {
                return 0;
            }
        }
        1
    })
}

static CIPHERS: [Algorithm; 9] = [
    Algorithm::new(c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", &cipher::AES_256, c"AES-256-GCM of fastgcm"),
    Algorithm::new(c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26", &cipher::AES_192, c"AES-192-GCM of fastgcm"),
    Algorithm::new(c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", &cipher::AES_128, c"AES-128-GCM of fastgcm"),
    Algorithm::new(c"AES-256-GCM-SIV", &siv::AES_256, c"AES-256-GCM-SIV of fastgcm"),
    Algorithm::new(c"AES-192-GCM-SIV", &siv::AES_192, c"AES-192-GCM-SIV of fastgcm"),
    Algorithm::new(c"AES-128-GCM-SIV", &siv::AES_128, c"AES-128-GCM-SIV of fastgcm"),
    Algorithm::new(c"XAES-256-GCM", &xaes::XAES, c"XAES-256-GCM of fastgcm"),
    Algorithm::new(c"KC-XAES-256-GCM", &xaes::KC_XAES, c"KC-XAES-256-GCM of fastgcm"),
    Algorithm::END,
];

static MACS: [Algorithm; 2] = [Algorithm::new(c"GMAC:1.0.9797.3.4", &mac::GMAC, c"GMAC of fastgcm"), Algorithm::END];

/// `OSSL_OP_CIPHER` and `OSSL_OP_MAC`.
unsafe extern "C" fn query(_: *mut c_void, operation: c_int, no_cache: *mut c_int) -> *const Algorithm {
    if !no_cache.is_null() {
        // SAFETY: OpenSSL's own.
        unsafe { *no_cache = 0 };
    }
    match operation {
        2 => CIPHERS.as_ptr(),
        3 => MACS.as_ptr(),
        _ => ptr::null(),
    }
}

unsafe extern "C" fn teardown(this: *mut c_void) {
    // SAFETY: `OSSL_provider_init` made it, and no context is left.
    guarded((), || drop(unsafe { Box::from_raw(this.cast::<Provider>()) }));
}

static FUNCTIONS: [Dispatch; 5] = table! {
    1024 teardown,
    1025 gettable,
    1026 get,
    1027 query,
};

/// Returns the back end that `FASTGCM_BACKEND` names, if this machine can run it. A program with more rights than the user who started it
/// ignores the variable.
fn chosen() -> Backend {
    named().filter(|backend| backend.is_available()).unwrap_or_else(Backend::detect)
}

#[cfg(target_os = "linux")]
fn named() -> Option<Backend> {
    // SAFETY: it reads what the kernel told this process, and a string, which stays while no thread changes
    // the environment; so does OpenSSL.
    unsafe {
        if libc::getauxval(libc::AT_SECURE) != 0 {
            return None;
        }
        let name = libc::getenv(c"FASTGCM_BACKEND".as_ptr()); // (`std::env::var` asks for memory)
        if name.is_null() { None } else { CStr::from_ptr(name).to_str().ok()?.parse().ok() }
    }
}

#[cfg(not(target_os = "linux"))]
fn named() -> Option<Backend> {
    None
}

/// OpenSSL calls this function when it has loaded the module.
///
/// # Safety
/// As provider-base(7) says.
#[unsafe(no_mangle)]
unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    core: *const Dispatch,
    functions: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    guarded(0, || {
        // SAFETY: the caller's promise.
        let errors = unsafe { Errors::of(handle, core) };
        let Ok(room) = room() else {
            errors.raise(Reason::MallocFailure);
            return 0;
        };
        let provider = Box::write(room, Provider { errors, backend: chosen(), short_first: true.into(), counters: Default::default() });
        // SAFETY: the caller's promise.
        unsafe {
            *functions = FUNCTIONS.as_ptr();
            *context = Box::into_raw(provider).cast();
        }
        1
    })
}

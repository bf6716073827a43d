//! TLS 1.2 and 1.3 by OpenSSL's own libssl, in one process: on either side, or both, the ciphers are the provider's, and it counts them.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_openssl_interop::{OpenSsl, ffi};
use std::{
    ffi::{CString, c_char, c_int, c_long, c_void},
    os::{fd::IntoRawFd, unix::net::UnixStream},
    process::Command,
    ptr, thread,
};
use suite::{Random, passed};

#[link(name = "ssl")]
unsafe extern "C" {
    fn SSL_CTX_new_ex(context: *mut c_void, properties: *const c_char, method: *const c_void) -> *mut c_void;
    fn SSL_CTX_free(ctx: *mut c_void);
    fn TLS_method() -> *const c_void;
    fn SSL_CTX_ctrl(ctx: *mut c_void, command: c_int, number: c_long, pointer: *mut c_void) -> c_long;
    fn SSL_CTX_use_certificate_file(ctx: *mut c_void, file: *const c_char, kind: c_int) -> c_int;
    fn SSL_CTX_use_PrivateKey_file(ctx: *mut c_void, file: *const c_char, kind: c_int) -> c_int;
    fn SSL_CTX_set_cipher_list(ctx: *mut c_void, list: *const c_char) -> c_int;
    fn SSL_CTX_set_ciphersuites(ctx: *mut c_void, list: *const c_char) -> c_int;
    fn SSL_new(ctx: *mut c_void) -> *mut c_void;
    fn SSL_free(ssl: *mut c_void);
    fn SSL_set_fd(ssl: *mut c_void, fd: c_int) -> c_int;
    fn SSL_accept(ssl: *mut c_void) -> c_int;
    fn SSL_connect(ssl: *mut c_void) -> c_int;
    fn SSL_read(ssl: *mut c_void, to: *mut u8, size: c_int) -> c_int;
    fn SSL_write(ssl: *mut c_void, from: *const u8, size: c_int) -> c_int;
    fn SSL_key_update(ssl: *mut c_void, kind: c_int) -> c_int;
}

/// `SSL_CTRL_SET_MIN_PROTO_VERSION` and `..._MAX_...`.
const VERSIONS: [c_int; 2] = [123, 124];
const TLS_1_2: c_long = 0x303;
const TLS_1_3: c_long = 0x304;

/// A side: who it has its ciphers from.
struct Side(*mut c_void, c_int);

// SAFETY: a context is used by one thread at a time.
unsafe impl Send for Side {}

impl Side {
    fn new(openssl: &OpenSsl, ours: bool, version: c_long, suite: &str, files: Option<[&str; 2]>, socket: UnixStream) -> Self {
        let [properties, suite] =
            [if ours { "?provider=fastgcm" } else { "provider!=fastgcm" }, suite].map(|text| CString::new(text).unwrap());
        // SAFETY: strings, and what OpenSSL has given.
        unsafe {
            let ctx = SSL_CTX_new_ex(openssl.context, properties.as_ptr(), TLS_method());
            VERSIONS.iter().for_each(|which| assert_eq!(SSL_CTX_ctrl(ctx, *which, version, ptr::null_mut()), 1));
            let set = if version == TLS_1_3 { SSL_CTX_set_ciphersuites } else { SSL_CTX_set_cipher_list };
            assert_eq!(set(ctx, suite.as_ptr()), 1);
            if let Some(files) = files {
                let [certificate, key] = files.map(|file| CString::new(file).unwrap());
                assert_eq!(SSL_CTX_use_certificate_file(ctx, certificate.as_ptr(), 1), 1);
                assert_eq!(SSL_CTX_use_PrivateKey_file(ctx, key.as_ptr(), 1), 1);
            }
            let ssl = SSL_new(ctx);
            SSL_CTX_free(ctx);
            let fd = socket.into_raw_fd();
            assert_eq!(SSL_set_fd(ssl, fd), 1);
            Self(ssl, fd)
        }
    }

    fn send(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            // SAFETY: a slice.
            let n = unsafe { SSL_write(self.0, bytes.as_ptr(), bytes.len() as c_int) };
            assert!(n > 0, "SSL_write: {n}");
            bytes = &bytes[n as usize..];
        }
    }

    fn receive(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let mut at = 0;
        while at < length {
            // SAFETY: a slice.
            let n = unsafe { SSL_read(self.0, bytes[at..].as_mut_ptr(), (length - at) as c_int) };
            assert!(n > 0, "SSL_read: {n}");
            at += n as usize;
        }
        bytes
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // SAFETY: made by `new`.
        unsafe {
            SSL_free(self.0);
            libc::close(self.1);
        }
    }
}

/// Texts both ways, of all kinds of lengths; in TLS 1.3 with new keys in the middle.
#[test]
fn tls() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let files = ["certificate.pem", "key.pem"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-out", &files[0], "-keyout", &files[1]])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let suites = [
        (TLS_1_2, "ECDHE-ECDSA-AES128-GCM-SHA256"),
        (TLS_1_2, "ECDHE-ECDSA-AES256-GCM-SHA384"),
        (TLS_1_3, "TLS_AES_128_GCM_SHA256"),
        (TLS_1_3, "TLS_AES_256_GCM_SHA384"),
    ];
    let mut texts = 0;
    for (version, suite) in suites {
        for (server_ours, client_ours) in [(false, false), (false, true), (true, false), (true, true)] {
            let openssl = OpenSsl::new();
            let (one, other) = UnixStream::pair().unwrap();
            let server = Side::new(&openssl, server_ours, version, suite, Some([&files[0], &files[1]]), one);
            let client = Side::new(&openssl, client_ours, version, suite, None, other);
            let mut random = Random(9);
            let texts_here: Vec<_> = (0..40).map(|i| [1, 2, 15, 16, 17, 100, 1000, 16383, 16384, 16385, 70_000][i % 11]).collect();
            let texts_here: Vec<_> = texts_here.into_iter().map(|length| random.bytes(length)).collect();
            let echo = texts_here.clone();
            let server = thread::spawn(move || {
                let server = server;
                // SAFETY: a connected socket.
                assert_eq!(unsafe { SSL_accept(server.0) }, 1);
                echo.iter().for_each(|text| {
                    let text = server.receive(text.len());
                    server.send(&text);
                });
                server
            });
            // SAFETY: a connected socket.
            assert_eq!(unsafe { SSL_connect(client.0) }, 1, "{suite}");
            for (i, text) in texts_here.iter().enumerate() {
                if version == TLS_1_3 && i % 10 == 9 {
                    // SAFETY: an open connection. Both sides get new keys.
                    assert_eq!(unsafe { SSL_key_update(client.0, 1) }, 1);
                }
                client.send(text);
                assert!(client.receive(text.len()) == *text, "{suite}");
                texts += 1;
            }
            drop((server.join().unwrap(), client));
            // Each text is 1 record both ways, or more.
            let messages = openssl.told(c"fastgcm-messages");
            let least = 2 * texts_here.len() * (usize::from(server_ours) + usize::from(client_ours));
            assert!(
                messages >= least && (least > 0 || messages == 0),
                "{suite}: {messages} messages by fastgcm, at least {least} expected"
            );
        }
    }
    // SAFETY: the queue of this thread.
    unsafe { ffi::ERR_clear_error() };
    passed("openssl::tls", texts, 4 * 4 * 40);
}

//! OpenSSL 4.0, built from the crate `openssl-src` and linked into this shared object. How it is called: `plugin::openssl`.
//!
//! without: OPENSSL_ia32cap

plugin::export_openssl!("openssl-4.0", Ok::<_, String>(plugin::linked_openssl!()));

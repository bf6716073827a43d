//! OpenSSL 3.6, built from the crate `openssl-src` and linked into this shared object. How it is called: `plugin::openssl`.
//!
//! without: OPENSSL_ia32cap

plugin::export_openssl!("openssl-3.6", Ok::<_, String>(plugin::linked_openssl!()));

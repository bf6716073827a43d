//! OpenSSL 3.6, built from the crate `openssl-src` and linked into this shared object. How it is called: `openssl-calls`.

openssl_calls::export!("openssl-3.6", Ok::<_, String>(openssl_calls::linked!()));

//! Ours against ring's. The files of this folder are also compiled in `crates/rustls-fastgcm/interop`, against AWS-LC's; `connections.rs` and `quic.rs` are the same for
//! every version of rustls.

mod connections;
mod quic;
mod records;
mod support;

/// Whose suites ours are compared with, and made of.
fn base() -> rustls::crypto::CryptoProvider {
    rustls::crypto::ring::default_provider()
}

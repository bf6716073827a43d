//! Connections and QUIC against AWS-LC in place of ring, and key exchange after quantum computers. (Records by themselves are compared with ring's:
//! AWS-LC refuses numbers that do not count up.)

#[path = "../../tests/against/connections.rs"]
mod connections;
#[path = "../../tests/against/quic.rs"]
mod quic;
#[path = "../../tests/against/support.rs"]
mod support;

/// Whose suites ours are compared with, and made of.
fn base() -> rustls::crypto::CryptoProvider {
    rustls::crypto::aws_lc_rs::default_provider()
}

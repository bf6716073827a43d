//! AES-GCM in protocols, over [`fastgcm`]: what is authenticated, what the nonce is, where the tag goes, and when a key is used up.
//!
//! | | | what it does to a buffer |
//! |---|---|---|
//! | [`esp`] | IPsec ESP: AES-GCM (RFC 4106), AES-GMAC (RFC 4543) | a packet from SPI to ICV, in place |
//! | [`tls`] | records of TLS 1.3 (RFC 8446) and 1.2 (RFC 5288) | a record from its header to its tag, in place or gathered |
//! | [`quic`] | packets of QUIC v1 (RFC 9001) and v2 (RFC 9369) | a packet from its first byte to its tag, in place, with header protection |
//! | [`srtp`] | SRTP and SRTCP (RFC 7714) | a packet from its header to its tag, in place |
//!
//! The crate performs no handshake, keeps no window of packets already seen, and parses only what it must. It is `no_std` and allocates
//! nothing.
//!
//! **On failure**: an error about lengths or form leaves the buffer as it was. [`Error::Unauthentic`] leaves zeros where the text was, and
//! everything else as it was. No input makes the crate panic.
//!
//! **Nonces**: where the protocol counts, the sealer counts ([`esp::Outbound`], [`tls`]), and returns [`Error::Exhausted`] before a nonce
//! repeats. Where the caller numbers packets (QUIC, SRTP), the documentation says what must be unique.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature each item needs
#![forbid(unsafe_code)]

pub mod esp;
pub mod quic;
pub mod srtp;
pub mod tls;

pub use fastgcm::Backend;

use core::fmt;
use zeroize::Zeroize;

/// The reason why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The packet or record is not what the key's owner sealed. Its text is now all zero.
    Unauthentic,
    /// A key, or a buffer that is to be sealed, has a length that the protocol does not allow. Nothing was written.
    InvalidLength,
    /// The packet or record does not have the form that the protocol requires. Nothing was written. (In TLS 1.3 this is also the error of
    /// an authentic record without a content type; its text is all zero.)
    Malformed,
    /// The sequence number, or another counter of the protocol, is used up: new keys are needed. Nothing was written.
    Exhausted,
    /// This processor cannot run the requested back end.
    Unavailable,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unauthentic => "the packet is not authentic",
            Self::InvalidLength => "a key or a buffer has a length that the protocol does not allow",
            Self::Malformed => "the packet has not the form of its protocol",
            Self::Exhausted => "the sequence numbers of this key are used up",
            Self::Unavailable => "this processor cannot run that back end",
        })
    }
}

impl core::error::Error for Error {}

impl From<fastgcm::Error> for Error {
    fn from(error: fastgcm::Error) -> Self {
        match error {
            fastgcm::Error::Unauthentic => Self::Unauthentic,
            fastgcm::Error::Exhausted => Self::Exhausted,
            fastgcm::Error::Unavailable => Self::Unavailable,
            _ => Self::InvalidLength,
        }
    }
}

/// The code in README.md, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// What a key adds to its nonces. A `Salt` is wiped when it is dropped, and its `Debug` form shows nothing.
struct Salt<const N: usize>([u8; N]);

impl<const N: usize> Drop for Salt<N> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<const N: usize> fmt::Debug for Salt<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// Makes a key of AES-GCM for one back end.
fn key(bytes: &[u8], backend: Backend) -> Result<fastgcm::Key, Error> {
    Ok(fastgcm::Key::with_backend(bytes, backend)?)
}

//! GCM, once for every instruction set. Safe code, no instruction-set word in it.
//!
//! ```text
//! nonce ─ counter ─ AES ────────────────┐ XOR text ─ ciphertext
//!                    └ J0: tag mask ┐                   │
//! AAD ─────────────── GHASH ────────┴─ GHASH ───────────┴─ lengths ─ tag
//! ```
//! A message is cut in *turns* of eight vectors ([`turn`]) and a last part of at most nine ([`tail`]). A message that fits in
//! the last part is only that: one pass, one reduction, no loop.

pub(crate) mod apart;
mod counter;
#[cfg(test)]
mod counts;
mod message;
pub(crate) mod plain;
mod tail;
#[cfg(test)]
mod tests;
mod turn;

pub(crate) use message::{Bulk, bulk, derive, expand, has_lanes, has_much_aad, long, most_once, most_short, once, short, wipe};
pub(crate) use tail::{Calls, Rest, tail};

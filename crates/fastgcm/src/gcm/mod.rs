//! GCM, once for every instruction set. Safe code, no instruction-set word in it.
//!
//! ```text
//! nonce ─ counter ─ AES ────────────────┐ XOR text ─ ciphertext
//!                    └ J0: tag mask ┐                   │
//! AAD ─────────────── GHASH ────────┴─ GHASH ───────────┴─ lengths ─ tag
//! ```
//! A message is cut in *turns* of eight vectors ([`turn`]) and a last part of at most nine ([`tail`]). A message that fits in
//! the last part is only that: one pass, one reduction, no loop.

mod batch;
mod counter;
#[cfg(all(test, feature = "internals"))] // these tests take as long to compile as all others: the check `inside`
mod counts;
mod message;
pub(crate) mod sequential;
pub(crate) mod software;
mod tail;
#[cfg(all(test, feature = "internals"))] // likewise
mod tests;
mod turn;

pub(crate) use batch::{batch, most_batch};
pub(crate) use message::{
    Bulk, PIECE_PAYS, blocks_of_turn, bulk, derive, expand, has_much_aad, lengths, long, most_once, most_short, once, piece, short, wipe,
};
pub(crate) use tail::{Outlined, Rest, tail};

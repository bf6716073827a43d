//! GCM, once for every instruction set: safe code that names no instruction set.
//!
//! One message with a nonce of 96 bits, as the standard has it (SP 800-38D, sections 7.1 and 7.2):
//! ```text
//!  1  expand(key):
//!  2      H         = AES(a block of zeros)
//!  3      powers    = H^1, H^2 ... H^n
//!  4  seal(nonce, aad, text):
//!  5      counter   = 1
//!  6      mask      = AES(nonce || counter)                        this counter block is J0
//!  7      hash      = 0
//!  8      for block in aad, padded with zeros:
//!  9          hash      = (hash ^ block) * H
//! 10      for block in text:
//! 11          counter   = counter + 1                              modulo 2^32
//! 12          keystream = AES(nonce || counter)
//! 13          block     = block ^ keystream                        of a last block that is cut, the bytes that it has
//! 14          hash      = (hash ^ block, padded with zeros) * H
//! 15      hash      = (hash ^ (bits of aad || bits of text)) * H
//! 16      return tag = hash ^ mask
//! 17  open(nonce, aad, text, tag):
//! 18      the same, but line 14 hashes the block before line 13 changes it
//! 19      if the tag is another one: wipe the text, and return an error
//! 20      return the text
//! ```
//! | lines | where they live | why they are not that plain |
//! |---|---|---|
//! | 2 | `aes::schedule` | the round keys are made by the same instructions |
//! | 3 | `ghash::powers` | each block meets a power of its own, so that no product waits for another |
//! | 5, 11 | [`counter`] | counter blocks are read from a table where the counter is public, and counted where it is secret |
//! | 6, 16 | [`tail`] | J0 goes through AES in a lane that the text leaves free |
//! | 8, 9 | [`tail`], [`sequential`] | AAD that is short meets its powers together with the text |
//! | 10 to 14 | [`turn`] | AES and the product use different units of the processor, so eight vectors are encrypted while eight others are hashed |
//! | 10 to 14, the end | [`tail`] | the last one to nine vectors have a function for each number of vectors, and one reduction |
//! | 15 | [`message`] (`lengths`) | the lengths are one more block of the sum |
//! | 18 | [`message`] | the direction is a const parameter of the same code |
//! | 19 | `seal` | one branch, on the verdict |
//!
//! [`turns`] is the loop, and [`message`] puts turns and tail together. A message that fits in a tail is only that: one pass, one reduction, no loop.
//! A nonce of another length, and pieces of a message, go through [`sequential`]; a machine without AES instructions has [`software`].

mod batch;
mod counter;
#[cfg(all(test, feature = "internals"))] // these tests take as long to compile as all others: the check `inside`
mod counts;
mod message;
pub(crate) mod sequential;
mod siv;
pub(crate) mod software;
mod tail;
#[cfg(all(test, feature = "internals"))] // likewise
mod tests;
mod turn;
mod turns;

pub(crate) use batch::{batch, most_batch};
pub(crate) use message::{PIECE_PAYS, expand, lengths, long, most_once, most_short, once, piece, short, wipe};
pub(crate) use siv::siv;
pub(crate) use tail::{Beside, Outlined, Rest, tail};
pub(crate) use turns::{Bulk, blocks_of_turn, bulk, runs_from};

/// A key, as the functions of these modules see it. (Those of [`software`] have a type of their own.)
pub(crate) type Material = crate::material::Material<crate::ghash::Powers>;

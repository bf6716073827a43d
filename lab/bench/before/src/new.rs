//! The library of the new side, and what is done with it.

use ::new as gcm;

#[allow(clippy::duplicate_mod)] // for either library
#[path = "calls.rs"]
pub(crate) mod calls;

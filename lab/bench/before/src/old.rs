//! The library of the old side, and what is done with it.

use ::old as gcm;

#[allow(clippy::duplicate_mod)] // for either library
#[path = "calls.rs"]
pub(crate) mod calls;

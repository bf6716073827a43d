//! What is said of a call, and its proof.

pub mod calls;
pub mod plan;
pub mod prove;

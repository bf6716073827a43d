//! The machine beside a processor.

pub mod arm;
pub mod forms;
pub mod lockstep;

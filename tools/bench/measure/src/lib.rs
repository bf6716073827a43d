//! Compares contenders by measuring them **in turn**: all do the same work in samples of some 20 us, so that whatever disturbs the machine
//! (another process, a change of the clock, a busy neighbour) disturbs all of them alike. The result is a *ratio within one run*;
//! nanoseconds change with the machine.
//!
//! ```
//! use fastgcm_measure::{Case, Contender, Sampler};
//!
//! let (left, right) = (vec![1u8; 4096], vec![2u8; 4096]);
//! let mut contenders = [
//!     Contender::new("sum", || left.iter().map(|&byte| u64::from(byte)).sum::<u64>()),
//!     Contender::new("compare", || left == right),
//! ];
//! let sampler = Sampler { rounds: 5..=10, ..Sampler::default() };
//! let measured = sampler.run(Case::of_bytes("bytes", 4096), &mut contenders);
//! let [sum, compare] = &measured.contenders[..] else { unreachable!() };
//! println!("{:.2} times", sum.times_faster_than(compare));
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`sampler`] | the loop: calibration, rounds, samples |
//! | [`results`] | the results: best, median, ratios |
//! | [`aead`] | makes contenders of implementations of AES-GCM, after checking their answers |
//!
//! # Limits
//! The time of reading the clock, some 30 ns a sample (0.15 %), is not subtracted. The clock is wall time, not cycles. On a processor that
//! lowers its clock for wide vectors, the next contenders are slowed down, too; without interleaving, the next samples would be.

#![forbid(unsafe_code)]

pub mod aead;
mod machine;
pub mod results;
pub mod sampler;

pub use machine::{Machine, pin};
pub use results::{Case, Measured, Measurement, median};
pub use sampler::{Contender, Sampler};

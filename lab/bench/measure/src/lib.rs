//! Measurements that compare: several contenders do the same work **in turn**, in samples of some 20 us, so that whatever disturbs the
//! machine (another process, a change of the clock, a busy neighbour) disturbs all of them alike. What is told is a *ratio within one
//! run*; nanoseconds move with the machine.
//!
//! ```
//! use fastgcm_measure::{Case, Contender, Machine, Results, Sampler};
//!
//! let mut results = Results::new(Machine::here("example 1.0"));
//! let (left, right) = (vec![1u8; 4096], vec![2u8; 4096]);
//! let mut contenders = [
//!     Contender::new("sum", || left.iter().map(|&byte| u64::from(byte)).sum::<u64>()),
//!     Contender::new("compare", || left == right),
//! ];
//! let sampler = Sampler { rounds: 5..=10, ..Sampler::default() };
//! results.cases.push(sampler.run(Case::of_bytes("bytes", 4096), &mut contenders, &mut |_| ()));
//! let [sum, compare] = &results.cases[0].contenders[..] else { unreachable!() };
//! println!("{:.2} times", sum.times_faster_than(compare));
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`sampler`] | the loop: calibration, rounds, samples |
//! | [`results`] | what came out: best, median, throughput, ratio to a base |
//! | [`aead`] | AES-GCM as the work: anything that seals and opens becomes a contender, after it has proved that its answers are right |
//!
//! # What is not done
//! The time of asking for the time, some 30 ns a sample, is not subtracted: 0.15 %. The clock is wall time, not cycles. On a processor that
//! lowers its clock for wide vectors, the contenders that come next pay for it too: that is the price of interleaving, and measuring
//! one after the other would pay it elsewhere.

#![forbid(unsafe_code)]

pub mod aead;
mod machine;
pub mod results;
pub mod sampler;

pub use machine::{Machine, pin};
pub use results::{Case, Measured, Measurement, Results, median};
pub use sampler::{Contender, Sampler};

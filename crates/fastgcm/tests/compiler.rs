//! F11: does this compiler miscompile? A canary for the one fault that concerns us and is known.

#[path = "support/suite.rs"]
mod suite;

use fastgcm::Backend;
use std::hint::black_box;
use suite::passed;

/// rust-lang/rust#158622: with AVX512DQ and AVX512VL enabled for all code (`-C target-cpu=x86-64-v4`, or `native` on such a processor) LLVM
/// replaces "signs to mask register, mask to integer" by one instruction, and forgets that the mask register is shifted afterwards. rustc has it
/// from 1.95 on (LLVM 22); llvm/llvm-project#198220 mends it. Whether LLVM's vectoriser makes such code depends on more: rustc 1.95 kills the canary
/// with `-C target-feature=+avx512dq,+avx512vl` and with `-C target-cpu=znver4`, not with `x86-64-v4`.
///
/// The library takes no signs of lanes, dead canary or not: `cargo xtask asm` and `.ci/run compilers` look for them. So such a build has all rows.
#[test]
fn f11_canary() {
    let numbers: [f64; 16] = std::array::from_fn(|i| if i % 3 == 0 { i as f64 + 1.5 } else { -(i as f64) });
    let expected = numbers.map(|x| if x < 0.0 { -((-x).to_bits() as i128) } else { x.to_bits() as i128 });
    let wrong: Vec<usize> =
        signed(black_box(&numbers)).iter().zip(expected).enumerate().filter(|(_, (a, b))| *a != b).map(|(i, _)| i).collect();
    println!("compiler: {}", if wrong.is_empty() { "the canary lives".into() } else { format!("the canary is dead: {wrong:?}") });

    assert!(wrong.is_empty() || cfg!(target_feature = "avx512dq"), "wrong without AVX512DQ: a fault that we do not know");
    let rows = Backend::ALL.iter().filter(|row| row.is_available() == (row.is_compiled() && row.features().all(|(_, here)| here)));
    passed("compiler::f11_canary", rows.count(), Backend::ALL.len());
}

/// Sign and magnitude of each number, as integers: a selection of 128-bit numbers by the signs of 64-bit ones.
#[inline(never)]
fn signed(numbers: &[f64; 16]) -> [i128; 16] {
    let mut signed = [0; 16];
    for i in 0..black_box(numbers.len()) {
        let (bits, magnitude) = (numbers[i].to_bits(), numbers[i].abs().to_bits() as i128);
        signed[i] = match bits as i64 {
            0 => 0,
            ..0 => -magnitude,
            _ => magnitude,
        };
    }
    signed
}

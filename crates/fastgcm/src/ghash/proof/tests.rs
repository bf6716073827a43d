//! The proof of each row of the table, and that it can fail.

use super::{
    super::{
        multiply::Factor,
        powers::{X, times_x},
    },
    Fault, Symbolic, compiled,
    polynomial::{apply, input, standard_product},
    symbolic::{self, V},
};
use crate::row::Backend;
use std::println;

/// Says how many cases were checked, and fails unless all cases were.
pub(super) fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
}

#[test]
fn f17_every_multiplication_is_that_of_the_standard() {
    let mut proved = 0;
    for backend in Backend::ALL {
        // The row is compiled for this machine's family; symbols do not need a machine that can run it.
        let Some(row) = backend.compiled() else { continue };
        let identities = (row.proof.prove)(Fault::None).unwrap_or_else(|wrong| panic!("{backend}: {wrong}"));
        println!("{backend}: {identities} identities hold for all inputs");
        proved += 1;
    }
    let compiled = Backend::ALL.iter().filter(|backend| backend.compiled().is_some()).count();
    passed("ghash_proof::every_multiplication", proved, compiled);
}

#[test]
fn f17_planted_faults_are_refuted() {
    let mut refuted = 0;
    for backend in Backend::ALL {
        let Some(row) = backend.compiled() else { continue };
        for fault in Fault::PLANTED {
            let held = (row.proof.prove)(fault).is_ok();
            assert_eq!(held, !symbolic::met(), "{backend}: {fault:?}");
            refuted += usize::from(!held);
        }
    }
    // Not every multiplication uses every operation: K' has no halves to combine, and nibbles have operations
    // of their own.
    let compiled = Backend::ALL.iter().filter(|backend| backend.compiled().is_some());
    assert!(
        refuted >= compiled.map(|backend| if backend.name().starts_with("vpaes") { 4 } else { 7 }).sum(),
        "{refuted}"
    );
}

/// F17: `times_x` is linear, and so are squares, which `apply` takes for granted.
#[test]
fn f17_the_powers_themselves() {
    let s = Symbolic(Fault::None);
    let (a, b) = (input(0), input(1));
    let factor = Factor::new(s, V::new(apply(times_x, &b)));
    let product = factor.times(s, V::new(apply(times_x, &a))).lane();
    assert!(
        product == apply(times_x, &standard_product(&a, &b)),
        "the product of two stored powers is a stored power"
    );
    assert_eq!(X, times_x(times_x(1 << 127)), "the factor that makes H·x");
    let mut numbers = compiled::Numbers::new(1);
    for _ in 0..100_000 {
        let (a, b) = (numbers.next(), numbers.next());
        assert_eq!(times_x(a ^ b), times_x(a) ^ times_x(b));
    }
    passed("ghash_proof::powers", 1 + 100_000, 100_001);
}

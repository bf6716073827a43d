//! What a variant does, counted, by equality.

use crate::{bytes, passed};
use fastgcm::internals::{KeyFolded, Multiply, Vectors};
use fastgcm_studies::{
    aggregate::{Powers, deferred, packed},
    multiply::{self, Baseline, Visit, step},
    trace::{Done, Kind, Trace, trace},
};

/// One block times a power, reduced.
fn one<M: Multiply<Trace<1>>>() -> Done {
    let s = Trace::<1>;
    trace(|| {
        let [block, first, second] = [0; 3].map(|_| fastgcm::internals::load(s, &[7; 16]));
        step::<_, M>(s, block, (first, second))
    })
}

/// Multiplications, XORs, shuffles, shifts.
fn counts(done: &Done) -> [usize; 4] {
    [done.multiplications(), done.count(Kind::Xor), done.count(Kind::Shuffle), done.count(Kind::Shift)]
}

/// Each by its name in the table of all: what is measured under a name is that multiplication.
#[test]
fn one_block() {
    struct Each(Vec<(&'static str, [usize; 4])>);
    impl Visit<Trace<1>> for Each {
        fn visit<M: Multiply<Trace<1>>>(&mut self, name: &'static str, _: M) {
            self.0.push((name, counts(&one::<M>())));
        }
    }
    let mut each = Each(Vec::new());
    multiply::all(Trace::<1>, &mut each);
    let wanted = [
        ("schoolbook + folding", [6, 6, 2, 2]),
        ("schoolbook + Montgomery", [7, 6, 0, 5]), // the baseline: 7, 6, 5, as in table 11, left column
        ("schoolbook + Horner", [8, 8, 0, 6]),
        ("schoolbook + shifts", [4, 13, 0, 13]),
        ("schoolbook + mirror, shifts", [4, 16, 0, 20]),
        ("Karatsuba + folding", [5, 8, 3, 2]),
        ("Karatsuba + Montgomery", [6, 8, 1, 5]),
        ("Karatsuba + shifts", [3, 15, 1, 13]),
        ("Karatsuba + mirror, shifts", [3, 18, 1, 20]),
        ("key-folded (K')", [5, 4, 1, 0]), // 5, 4, 1, as in its right column
        ("Winograd", [7, 9, 2, 0]),        // with its constant
        ("Karatsuba of the library", [5, 7, 3, 0]),
        ("key-folded by halves", [5, 4, 1, 0]), // as K'
    ];
    assert_eq!(each.0, wanted);
    passed("studies::counts::one_block", wanted.len(), multiply::NAMES.len());
}

/// Operations of a reduction, by its multiplication with a constant; of the library's two there is one.
fn reductions(done: &Done, each: usize) -> usize {
    let foldings = done.count(Kind::Folding);
    assert_eq!(foldings % each, 0);
    foldings / each
}

fn hash<const B: usize, M: Multiply<Trace<B>>>(blocks: usize, by: impl Fn(Trace<B>, &Powers, &[u8]) -> u128) -> Done {
    let (s, text) = (Trace::<B>, bytes(16 * blocks, 1));
    let powers = Powers::new::<_, M>(s, 0x1234_5678, 48);
    trace(|| by(s, &powers, &text))
}

/// One reduction for N blocks, whatever the multiplication; and nothing else is saved.
#[test]
fn packed_reduces_once_for_n_blocks() {
    let mut checked = 0;
    for n in [1, 2, 4, 8, 16, 32, 48] {
        for blocks in [n, 2 * n, 96] {
            let done = hash::<1, KeyFolded>(blocks, |s, powers, text| packed::<_, KeyFolded>(s, powers, n, 0, text));
            assert_eq!(reductions(&done, 1), blocks.div_ceil(n), "K', N = {n}");
            assert_eq!(done.multiplications(), 4 * blocks + blocks.div_ceil(n));
            let done = hash::<1, Baseline>(blocks, |s, powers, text| packed::<_, Baseline>(s, powers, n, 0, text));
            assert_eq!(reductions(&done, 3), blocks.div_ceil(n), "baseline, N = {n}");
            assert_eq!(done.multiplications(), 4 * blocks + 3 * blocks.div_ceil(n));
            checked += 2;
        }
    }
    passed("studies::counts::packed", checked, 7 * 3 * 2);
}

/// No lanes are added inside the loop; packed, they are, once a group. The chain of operations is no longer, and as many vectors are alive.
#[test]
fn deferred_adds_lanes_once() {
    let turns = |n: usize| 4 * 8 * n + 4;
    let mut checked = 0;
    for n in 0..=8 {
        let done = hash::<4, KeyFolded>(turns(n), |s, powers, text| deferred::<_, KeyFolded>(s, powers, 8, 0, text));
        assert_eq!(done.count(Kind::LanesAdded), 1);
        assert_eq!(reductions(&done, 1), n + 1);
        let folded = hash::<4, KeyFolded>(turns(n), |s, powers, text| packed::<_, KeyFolded>(s, powers, 32, 0, text));
        assert_eq!(folded.count(Kind::LanesAdded), n + 1);
        assert_eq!(reductions(&folded, 1), n + 1);
        // Two sums over lanes wait for each other for every turn, and that is what is saved.
        assert!(done.latency() <= folded.latency());
        assert_eq!(done.live(), folded.live(), "figure 9 frees no register");
        checked += 1;
    }
    // Where the length is a multiple of N, no sum more.
    for n in 1..=3 {
        let done = hash::<4, KeyFolded>(32 * n, |s, powers, text| packed::<_, KeyFolded>(s, powers, 32, 0, text));
        assert_eq!((done.count(Kind::LanesAdded), reductions(&done, 1)), (n, n));
        checked += 1;
    }
    passed("studies::counts::deferred", checked, 9 + 3);
}

#[test]
fn live_vectors() {
    let s = Trace::<1>;
    let load = || fastgcm::internals::load(s, &[1; 16]);
    // a = load + load, b = load + load, a + b: two are alive at most.
    let done = trace(|| {
        let (a, b) = (s.xor(load(), load()), s.xor(load(), load()));
        s.fold(s.xor(a, b))
    });
    assert_eq!((done.live(), done.latency()), (2, 3));
    passed("studies::trace", 2, 2);
}

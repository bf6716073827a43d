//! What feature `internals` shows is sound: safe operations keep to their operands, whatever they are asked.
#![cfg(feature = "internals")]

#[path = "support/backends.rs"]
mod support;

use fastgcm::internals::{Isa, Job, Multiply, load, store};
use support::backends;

/// Keeps the first `n` bytes of 64 that are all ones, as many vectors as that takes.
struct Keep(usize);

impl Job for Keep {
    /// Bytes kept of the first vector, and bytes of a vector.
    type Output = (usize, usize);

    #[inline(always)]
    fn run<S: Isa, M: Multiply<S>>(self, s: S, _: M) -> (usize, usize) {
        let mut bytes = [0xff; 64];
        let vector = &mut bytes[..16 * S::BLOCKS];
        let kept = s.keep_first(load(s, vector), std::hint::black_box(self.0));
        store(s, vector, kept);
        let kept = vector.iter().take_while(|&&byte| byte == 0xff).count();
        assert!(vector[kept..].iter().all(|&byte| byte == 0));
        (kept, 16 * S::BLOCKS)
    }
}

/// More than a vector has is a whole vector, and never what lies beside a table of masks. (AVX-512 and AArch64 look at the lowest byte of the
/// number: they have no table.)
#[test]
fn a_vector_keeps_at_most_all_of_itself() {
    let mut asked = 0;
    for backend in backends() {
        let a_byte = ["vaes-avx512", "aes-neon"].iter().any(|name| backend.name().starts_with(name));
        let further = [256, 1000, 4096, 1 << 20, 1 << 32, usize::MAX - 31, usize::MAX];
        for n in (0..=255).chain(further.into_iter().filter(|_| !a_byte)) {
            let (kept, vector) = backend.run(Keep(n)).unwrap();
            assert_eq!(kept, n.min(vector), "{backend}, {n}");
            asked += 1;
        }
        // Of the others nothing is asked but that they come back.
        further.iter().filter(|_| a_byte).for_each(|&n| assert!(backend.run(Keep(n)).is_ok()));
    }
    assert!(asked >= 256 * backends().len());
}

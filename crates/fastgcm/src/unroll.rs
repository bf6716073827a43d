//! One macro: constant unrolling.

/// Writes out a block of code once for each index: straight-line code at every optimisation level.
///
/// The index is a `const`, so `if I < N` costs nothing and `f::<I>()` works. A `for` over an array of vectors
/// would be unrolled at `opt-level = 3` only (it is 2.7 to 45 times slower at `s` and `z`), and a library
/// cannot choose its users' level.
macro_rules! each {
    ($i:ident in $($n:literal)+ => $body:block) => { $({ const $i: usize = $n; $body })+ };
}

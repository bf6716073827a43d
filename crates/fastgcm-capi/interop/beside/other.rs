//! Somebody else's static library in Rust, for `two.c`. It formats and catches a panic, and so it has much of the standard library in it.

/// A sum.
#[unsafe(no_mangle)]
pub extern "C" fn other_add(a: i32, b: i32) -> i32 {
    std::panic::catch_unwind(|| format!("{}", a + b).parse().unwrap()).unwrap_or(-1)
}

//! What an AArch64 processor has. User code may not read the identification registers itself, so the
//! operating system is asked, by way of `std`; without `std` only what the whole program was compiled for is
//! sure (`-C target-feature=+aes`, or a target that implies it).
//!
//! With `std` what the program was compiled for decides nothing on Linux: rustc says that a Cortex-A72 has
//! AES, but the Cortex-A72 of a Raspberry Pi 4 has none, and a program for that processor
//! (`-C target-cpu=cortex-a72`) would die of an illegal instruction there. `std`'s own macro believes the
//! compiler, so the kernel is asked for its word.

use super::detect::Features;

/// The features of this CPU.
pub(crate) fn features() -> Features {
    // rustc's `aes` lets the compiler use PMULL too, so both must be there; the operating system tells of
    // each.
    let [aes, pmull, sha3] = told();
    let named = |has, name| if has { Features::named(name) } else { Features::NONE };
    named(aes && pmull, "aes").and(named(sha3, "sha3"))
}

/// Whether it has AES, PMULL and SHA3: bits of `AT_HWCAP` (<asm/hwcap.h>).
#[cfg(all(feature = "std", any(target_os = "linux", target_os = "android")))]
fn told() -> [bool; 3] {
    use core::ffi::c_ulong;
    unsafe extern "C" {
        /// Of the C library, which `std` is linked with. It reads what the kernel left when the program began.
        safe fn getauxval(kind: c_ulong) -> c_ulong;
    }
    const AT_HWCAP: c_ulong = 16;
    let bits = getauxval(AT_HWCAP);
    [3, 4, 17].map(|bit| bits >> bit & 1 == 1)
}

/// Whether it has AES, PMULL and SHA3, as `std` tells. (`std` remembers the answer.)
#[cfg(all(feature = "std", not(any(target_os = "linux", target_os = "android"))))]
fn told() -> [bool; 3] {
    use std::arch::is_aarch64_feature_detected as has;
    [has!("aes"), has!("pmull"), has!("sha3")]
}

/// What each processor has that this program was compiled for.
#[cfg(not(feature = "std"))]
fn told() -> [bool; 3] {
    [cfg!(target_feature = "aes"), cfg!(target_feature = "aes"), cfg!(target_feature = "sha3")]
}

//! What an AArch64 processor has. User code may not read the identification registers itself, so this module
//! asks the operating system by way of `std`. Without `std` it knows only the features for which the whole
//! program was compiled (`-C target-feature=+aes`, or a target that implies it).
//!
//! With `std` on Linux, the program's compiler options decide nothing: rustc says that a Cortex-A72 has AES,
//! but the Cortex-A72 of a Raspberry Pi 4 has none, and a program for that processor
//! (`-C target-cpu=cortex-a72`) would die of an illegal instruction there. `std`'s own macro believes the
//! compiler, so this module asks the kernel.

use super::detect::Features;

/// Returns the features of this CPU.
pub(crate) fn features() -> Features {
    // rustc's `aes` lets the compiler use PMULL too, so both must be there; the operating system reports each
    // of them.
    let [neon, aes, pmull, sha3] = told();
    let named = |has, name| if has { Features::named(name) } else { Features::NONE };
    named(neon, "neon").and(named(aes && pmull, "aes")).and(named(sha3, "sha3"))
}

/// Returns whether the CPU has NEON, AES, PMULL and SHA3: bits of `AT_HWCAP` (<asm/hwcap.h>).
#[cfg(all(feature = "std", any(target_os = "linux", target_os = "android")))]
fn told() -> [bool; 4] {
    use core::ffi::c_ulong;
    unsafe extern "C" {
        /// A function of the C library with which `std` is linked. It reads what the kernel left when the
        /// program began.
        safe fn getauxval(kind: c_ulong) -> c_ulong;
    }
    const AT_HWCAP: c_ulong = 16;
    let bits = getauxval(AT_HWCAP);
    [1, 3, 4, 17].map(|bit| bits >> bit & 1 == 1)
}

/// Returns whether the CPU has NEON, AES, PMULL and SHA3, according to `std`. (`std` remembers the answer.)
#[cfg(all(feature = "std", not(any(target_os = "linux", target_os = "android"))))]
fn told() -> [bool; 4] {
    use std::arch::is_aarch64_feature_detected as has;
    [has!("neon"), has!("aes"), has!("pmull"), has!("sha3")]
}

/// Returns what each processor has for which this program was compiled.
#[cfg(not(feature = "std"))]
fn told() -> [bool; 4] {
    [true, cfg!(target_feature = "aes"), cfg!(target_feature = "aes"), cfg!(target_feature = "sha3")]
}

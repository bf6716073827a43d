//! What an AArch64 processor has. User code may not read the identification registers itself, so the
//! operating system is asked, by way of `std`; without it only what the whole program was compiled for is
//! sure (`-C target-feature=+aes`, or a target that implies it).

use super::detect::Features;

/// One feature as the operating system tells it, by rustc's name.
macro_rules! found {
    ($name:tt) => {{
        #[cfg(feature = "std")]
        {
            std::arch::is_aarch64_feature_detected!($name)
        }
        #[cfg(not(feature = "std"))]
        {
            false
        }
    }};
}

/// The features of this CPU. (`std` remembers the answer.)
pub(crate) fn features() -> Features {
    // rustc's `aes` lets the compiler use PMULL too, so both must be there; the operating system tells of
    // each.
    let aes = if cfg!(target_feature = "aes") || found!("aes") && found!("pmull") {
        Features::named("aes")
    } else {
        Features::NONE
    };
    let sha3 = if cfg!(target_feature = "sha3") || found!("sha3") {
        Features::named("sha3")
    } else {
        Features::NONE
    };
    aes.and(sha3)
}

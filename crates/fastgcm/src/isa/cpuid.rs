//! What an x86 processor has, and the operating system lets us use: CPUID and XGETBV, without `std`.
//!
//! Registers wider than 128 bits exist only if the operating system saves them, so the features that use them count only with
//! OSXSAVE and the bits of XCR0.

use super::detect::Features;
use core::{
    arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// The features of this CPU.
#[inline]
pub(crate) fn features() -> Features {
    Features(facts() & !(ASKED | FEW_PORTS))
}

/// A hint for the order of two rows that run on the same CPUs: this one multiplies once a cycle and has two vector ports in 512-bit
/// code, so that four multiplications and fewer XORs are the better choice (by a count of ports 2.4 %: 10.0 against 10.25 cycles
/// for 64 bytes of AES-128). Those are the families 6, 18 and 19, Intel's since 1995; on AMD's, from 23 on, a multiplication takes
/// two cycles, and three are better by 20 to 25 % (Zen 5).
pub(crate) fn few_vector_ports() -> bool {
    facts() & FEW_PORTS != 0
}

/// CPUID is slow, under a hypervisor tens of microseconds, so it is asked once: the cached word is a fact about the machine, the
/// same for whoever asks first.
///
/// With feature `scrub` it is read for every message, so what asks stands apart.
#[inline]
fn facts() -> u32 {
    #[cold]
    #[inline(never)]
    fn asked() -> u32 {
        let facts = ask().0 | ASKED | if matches!(family(), 6 | 18 | 19) { FEW_PORTS } else { 0 };
        CACHE.store(facts, Relaxed);
        facts
    }
    match CACHE.load(Relaxed) {
        0 => asked(),
        facts => facts,
    }
}

static CACHE: AtomicU32 = AtomicU32::new(0);

const ASKED: u32 = 1 << 31;
const FEW_PORTS: u32 = 1 << 30;

/// The processor's family (Intel's manual, volume 2, CPUID, leaf 1, EAX).
fn family() -> u32 {
    let eax = cpuid(1).eax;
    match eax >> 8 & 15 {
        15 => 15 + (eax >> 20 & 255),
        family => family,
    }
}

/// Intel's manual, volume 2, CPUID, leaves 1 and 7; volume 1, section 15.2, for XCR0.
fn ask() -> Features {
    let highest = cpuid(0).eax;
    let one = cpuid(1);
    let (seven_b, seven_c) = if highest >= 7 {
        let seven = cpuid(7);
        (seven.ebx, seven.ecx)
    } else {
        (0, 0)
    };
    let has = |register: u32, bit: u32| register >> bit & 1 == 1;

    const YMM: u64 = 0b110; // XMM and the upper halves of YMM
    const ZMM: u64 = 0b1110_0110; // these, opmasks, upper halves of ZMM0-15, all of ZMM16-31
    let saved = if has(one.ecx, 27) {
        // SAFETY: OSXSAVE is set, so XGETBV exists and register 0 may be read.
        unsafe { xcr0() }
    } else {
        0
    };
    let (ymm, zmm) = (saved & YMM == YMM, saved & ZMM == ZMM);

    let mut bits = 0;
    for (name, present) in [
        ("aes", has(one.ecx, 25)),
        ("pclmulqdq", has(one.ecx, 1)),
        ("ssse3", has(one.ecx, 9)),
        ("sse4.1", has(one.ecx, 19)),
        ("avx", has(one.ecx, 28) && ymm),
        ("avx2", has(seven_b, 5) && ymm),
        ("bmi2", has(seven_b, 8)),
        ("vaes", has(seven_c, 9) && ymm),
        ("vpclmulqdq", has(seven_c, 10) && ymm),
        ("avx512f", has(seven_b, 16) && zmm),
        ("avx512bw", has(seven_b, 30) && zmm),
        ("avx512vl", has(seven_b, 31) && zmm),
        ("avx512vbmi", has(seven_c, 1) && zmm),
    ] {
        if present {
            bits |= Features::named(name).0;
        }
    }
    Features(bits)
}

#[allow(unused_unsafe)] // it is an unsafe function in Rust 1.89, our oldest
fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 processor has CPUID.
    unsafe { __cpuid_count(leaf, 0) }
}

/// # Safety
/// OSXSAVE.
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u64 {
    // SAFETY: the caller's promise.
    unsafe { _xgetbv(0) }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    /// F9: bit by bit what std's macro says. (std reports `avx2` and wider only with `avx`, which is the same question.)
    #[test]
    fn f09_agrees_with_std_bit_by_bit() {
        macro_rules! agree {
            ($($name:tt)+) => { $(
                let ours = features().contain(Features::named($name));
                assert_eq!(ours, std::is_x86_feature_detected!($name), $name);
            )+ };
        }
        agree!("aes" "pclmulqdq" "ssse3" "sse4.1" "avx" "avx2" "bmi2" "vaes" "vpclmulqdq" "avx512f" "avx512bw" "avx512vl" "avx512vbmi");
        assert_eq!(features(), ask());
    }
}

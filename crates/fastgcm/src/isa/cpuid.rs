//! What an x86 processor has and the operating system lets programs use: CPUID and XGETBV, without `std`.
//!
//! Registers wider than 128 bits exist only if the operating system saves them, so features that use such
//! registers count only with OSXSAVE and the bits of XCR0.

use super::detect::Features;
use core::{
    arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// Returns the features of this CPU.
#[inline]
pub(crate) fn features() -> Features {
    Features(facts() & !ASKED)
}

/// CPUID is slow, under a hypervisor tens of microseconds, so it is called only once: the cached word is a
/// fact about the machine, which every caller would find.
///
/// With feature `scrub` the word is read for every message, so the code that calls CPUID is a separate
/// function.
#[inline]
fn facts() -> u32 {
    #[cold]
    #[inline(never)]
    fn asked() -> u32 {
        let facts = ask().0 | ASKED;
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

fn ask() -> Features {
    // SAFETY: `decide` asks for XCR0 only where OSXSAVE is set: there XGETBV exists, and register 0 may be
    // read.
    decide(cpuid(0).eax, cpuid(1).ecx, || (cpuid(7).ebx, cpuid(7).ecx), || unsafe { xcr0() })
}

/// Returns what these answers allow: the highest leaf, ECX of leaf 1, EBX and ECX of leaf 7 (Intel's manual,
/// volume 2, CPUID), and XCR0 (volume 1, section 15.2). The last two are requested only where they exist.
/// Deciding is separate from asking, so that a test can make up any processor.
fn decide(
    highest: u32,
    one: u32,
    seven: impl FnOnce() -> (u32, u32),
    xcr0: impl FnOnce() -> u64,
) -> Features {
    let (seven_b, seven_c) = if highest >= 7 { seven() } else { (0, 0) };
    let has = |register: u32, bit: u32| register >> bit & 1 == 1;

    const YMM: u64 = 0b110; // XMM and the upper halves of YMM
    const ZMM: u64 = 0b1110_0110; // these, opmasks, upper halves of ZMM0-15, all of ZMM16-31
    let saved = if has(one, 27) { xcr0() } else { 0 };
    let (ymm, zmm) = (saved & YMM == YMM, saved & ZMM == ZMM);

    let mut bits = 0;
    for (name, present) in [
        ("aes", has(one, 25)),
        ("pclmulqdq", has(one, 1)),
        ("ssse3", has(one, 9)),
        ("sse4.1", has(one, 19)),
        ("avx", has(one, 28) && ymm),
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
/// The processor reports OSXSAVE.
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u64 {
    // SAFETY: the caller's promise.
    unsafe { _xgetbv(0) }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    /// F9: the features agree bit by bit with std's macro. (std reports `avx2` and wider only with `avx`,
    /// which amounts to one question.)
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

    /// F9: every processor and operating system that the relevant bits can describe, with all other bits
    /// clear, and set. Each feature needs all of its bits and no other, leaf 7 counts where it exists, and
    /// XCR0 is never read without OSXSAVE.
    #[test]
    fn f09_every_processor_that_can_be_made_up() {
        // ECX of leaf 1, EBX and ECX of leaf 7, and XCR0, side by side.
        const B7: u32 = 32;
        const C7: u32 = 64;
        const XCR0: u32 = 96;
        let bits = |bits: &[u32]| bits.iter().fold(0_u128, |all, bit| all | 1 << bit);
        let ymm = bits(&[27, XCR0 + 1, XCR0 + 2]);
        let zmm = ymm | bits(&[XCR0 + 5, XCR0 + 6, XCR0 + 7]);
        let wants = [
            ("aes", bits(&[25])),
            ("pclmulqdq", bits(&[1])),
            ("ssse3", bits(&[9])),
            ("sse4.1", bits(&[19])),
            ("avx", bits(&[28]) | ymm),
            ("avx2", bits(&[B7 + 5]) | ymm),
            ("bmi2", bits(&[B7 + 8])),
            ("vaes", bits(&[C7 + 9]) | ymm),
            ("vpclmulqdq", bits(&[C7 + 10]) | ymm),
            ("avx512f", bits(&[B7 + 16]) | zmm),
            ("avx512bw", bits(&[B7 + 30]) | zmm),
            ("avx512vl", bits(&[B7 + 31]) | zmm),
            ("avx512vbmi", bits(&[C7 + 1]) | zmm),
        ]
        .map(|(name, bits)| (Features::named(name).0, bits));
        let all = wants.iter().fold(0, |all, (_, bits)| all | bits);
        assert_eq!(all.count_ones(), 19);
        let (mut some, mut processors) = (0_u128, 0);
        loop {
            for (highest, others) in [(7, 0), (7, !all), (6, 0), (0x20, !all)] {
                let said = some | others;
                let has = if highest < 7 { said & !(u128::from(u64::MAX) << 32) } else { said };
                let expected = wants
                    .iter()
                    .filter(|(_, bits)| has & bits == *bits)
                    .fold(0, |sum, (feature, _)| sum | feature);
                let seven = || {
                    assert!(highest >= 7, "leaf 7 does not exist");
                    ((said >> B7) as u32, (said >> C7) as u32)
                };
                let xcr0 = || {
                    assert_eq!(said >> 27 & 1, 1, "XCR0 cannot be read");
                    (said >> XCR0) as u64
                };
                assert_eq!(
                    decide(highest, said as u32, seven, xcr0),
                    Features(expected),
                    "{said:032x}, leaf {highest}"
                );
                processors += 1;
            }
            // The next subset of `all`.
            some = some.wrapping_sub(all) & all;
            if some == 0 {
                break;
            }
        }
        assert_eq!(processors, 4 << 19);
    }
}

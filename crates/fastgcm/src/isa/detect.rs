//! Which features the CPU has, and the operating system lets us use: CPUID and XGETBV, without `std`.
//!
//! The vendor is never asked, and no feature is concluded from another: a hypervisor may take away any single bit (one that
//! left VAES and took AES led another library to wrong ciphertext with a valid tag). A row of the table runs only where each
//! bit that it names is set. Registers wider than 128 bits exist only if the operating system saves them, so the features that
//! use them count only with OSXSAVE and the bits of XCR0.

/// A set of features, or the parse of a list of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features(u32);

impl Features {
    /// The set that a `#[target_feature(enable = "...")]` list names. An unknown name does not compile.
    pub(crate) const fn named(list: &str) -> Self {
        let list = list.as_bytes();
        let (mut bits, mut start, mut i) = (0, 0, 0);
        while i <= list.len() {
            if i == list.len() || list[i] == b',' {
                if i > start {
                    bits |= bit(list, start, i);
                }
                start = i + 1;
            }
            i += 1;
        }
        Self(bits)
    }

    /// All of `other` are here.
    pub(crate) fn contain(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names of those that are here, as rustc spells them.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().enumerate().filter(move |(i, _)| self.0 >> i & 1 == 1).map(|(_, name)| *name)
    }
}

/// All features that any row names.
const NAMES: [&str; 12] =
    ["aes", "pclmulqdq", "ssse3", "sse4.1", "avx", "avx2", "bmi2", "vaes", "vpclmulqdq", "avx512f", "avx512bw", "avx512vl"];

/// The bit of the name `list[from..to]`.
const fn bit(list: &[u8], from: usize, to: usize) -> u32 {
    let mut n = 0;
    while n < NAMES.len() {
        let name = NAMES[n].as_bytes();
        let mut same = name.len() == to - from;
        let mut i = 0;
        while same && i < name.len() {
            same = name[i] == list[from + i];
            i += 1;
        }
        if same {
            return 1 << n;
        }
        n += 1;
    }
    panic!("a feature that isa/detect.rs does not know")
}

/// The features of this CPU.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) fn features() -> Features {
    Features(0)
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use x86::features;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86 {
    use super::Features;
    use core::{
        arch::x86_64::{__cpuid, __cpuid_count, _xgetbv},
        sync::atomic::{AtomicU32, Ordering::Relaxed},
    };

    /// The features of this CPU. CPUID is slow, under a hypervisor tens of microseconds, so it is asked once: the cached word
    /// is a fact about the machine, the same for whoever asks first.
    pub(crate) fn features() -> Features {
        static CACHE: AtomicU32 = AtomicU32::new(0);
        const ASKED: u32 = 1 << 31;
        let mut cached = CACHE.load(Relaxed);
        if cached == 0 {
            cached = ask().0 | ASKED;
            CACHE.store(cached, Relaxed);
        }
        Features(cached & !ASKED)
    }

    /// Intel's manual, volume 2, CPUID, leaves 1 and 7; volume 1, section 15.2, for XCR0.
    fn ask() -> Features {
        let highest = __cpuid(0).eax;
        let one = __cpuid(1);
        let (seven_b, seven_c) = if highest >= 7 {
            let seven = __cpuid_count(7, 0);
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
        ] {
            if present {
                bits |= Features::named(name).0;
            }
        }
        Features(bits)
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
            agree!("aes" "pclmulqdq" "ssse3" "sse4.1" "avx" "avx2" "bmi2" "vaes" "vpclmulqdq" "avx512f" "avx512bw" "avx512vl");
            assert_eq!(features(), ask());
        }
    }
}

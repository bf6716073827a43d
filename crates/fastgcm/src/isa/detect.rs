//! Sets of processor features, by the names that rustc gives them.
//!
//! The vendor is never asked, and no feature is inferred from another: a hypervisor may take away any single
//! bit. (One hypervisor that left VAES and took AES led another library to wrong ciphertext with a valid
//! tag.) A row of the table runs only where each bit that it names is set.

/// A set of features, or the parse of a list of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features(pub(super) u32);

impl Features {
    #[allow(dead_code)] // x86 puts its bits together itself
    pub(super) const NONE: Self = Self::named("");

    #[allow(dead_code)]
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the set that a `#[target_feature(enable = "...")]` list names. An unknown name does not
    /// compile.
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

    /// Returns whether this set contains all of `other`.
    #[inline]
    pub(crate) fn contain(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the names of the features in this set, as rustc spells them.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().enumerate().filter(move |(i, _)| self.0 >> i & 1 == 1).map(|(_, name)| *name)
    }
}

/// All features that any row names.
const NAMES: [&str; 21] = [
    "aes",
    "pclmulqdq",
    "ssse3",
    "sse4.1",
    "avx",
    "avx2",
    "bmi2",
    "vaes",
    "vpclmulqdq",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512vbmi",
    "neon",
    "sha3",
    "simd128",
    "v",
    "zvbc",
    "zvkb",
    "zvkned",
    "zvkt",
];

/// Returns the bit of the name `list[from..to]`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;
    use std::vec::Vec;

    #[test]
    fn a_list_is_the_set_of_its_names() {
        for (i, name) in NAMES.iter().enumerate() {
            assert_eq!(Features::named(name), Features(1 << i));
        }
        assert_eq!(Features::named(&NAMES.join(",")), Features((1 << NAMES.len()) - 1));
        assert!(Features::named("aes,avx512vl").names().eq(["aes", "avx512vl"]));
        assert_eq!(Features::named(""), Features(0));
    }

    /// F9: every set of features that a processor may have, with every row: one missing feature is enough to
    /// rule out a row.
    #[test]
    fn f09_a_row_needs_each_of_its_features() {
        let mut sets = 0;
        for backend in Backend::ALL {
            let names: Vec<&str> = backend.features().map(|(name, _)| name).collect();
            assert_eq!(names.is_empty(), *backend == Backend::Portable);
            let row = Features::named(&names.join(","));
            let places: Vec<usize> =
                NAMES.iter().enumerate().filter(|(_, name)| names.contains(name)).map(|(i, _)| i).collect();
            for bits in 0..1 << NAMES.len() {
                let all = places.iter().all(|i| bits >> i & 1 == 1);
                assert_eq!(Features(bits).contain(row), all, "{backend} on {:?}", Features(bits));
                sets += 1;
            }
        }
        assert_eq!(sets, Backend::ALL.len() << NAMES.len());
    }
}

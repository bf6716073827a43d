//! THE TABLE: one row for each back end, in order of preference. Everything that depends on the machine
//! follows from it.

use super::verbs::{Group, Messages};
#[cfg(test)]
use crate::{Block, aes::Material};
use crate::{
    Error,
    isa::{detect::Features, features, item_on, on},
};
use core::{ffi::CStr, fmt, str::FromStr};

/// A row of the table. The choice is made once, when a key is made; a key holds only a reference to its row.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) backend: Backend,
    pub(super) messages: Messages,
    /// The blocks of a vector, or none where AES and GHASH are not woven: see [`plan`](crate::gcm::plan).
    pub(super) blocks: usize,
    /// The largest message that is an end (`gcm::plan::most`).
    pub(super) max_end: (usize, usize),
    #[cfg(test)]
    pub(crate) proof: Proof,
}

/// What proofs ask of a row besides its messages.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Proof {
    /// The proof of the row's multiplication (`ghash::proof`), with a planted fault or none.
    pub(crate) prove: fn(crate::ghash::proof::Fault) -> Result<usize, std::string::String>,
    /// The row's multiplication on numbers.
    pub(crate) products: unsafe fn(Block, Block) -> [[Block; 4]; 2],
    /// Fills in the powers of a hash key of the test's choice.
    pub(crate) fill: unsafe fn(&mut Material, Block),
}

/// Work that is written once over the instruction sets, as messages are: for variants that are in no row.
///
/// `run` must be `#[inline(always)]`, and so must everything that it calls: only then is it compiled for the
/// features of the row.
#[cfg(feature = "internals")]
pub trait Job {
    /// The result of the work.
    type Output;

    /// Does the work. `multiply` is the row's own multiplication.
    fn run<S: crate::isa::Isa + crate::isa::bits::Bits, M: crate::ghash::Multiply<S>>(
        self,
        s: S,
        multiply: M,
    ) -> Self::Output;
}

/// What a row has, if it was compiled for this target.
macro_rules! of_row {
    ($family:ident, $item:expr) => {
        on!($family => Some($item))
    };
    ($family:ident without $without:ident, $item:expr) => {{
        #[cfg(not($without))]
        let item = on!($family => Some($item));
        #[cfg($without)]
        let item = None;
        item
    }};
}

macro_rules! backends {
    ($($(#[$doc:meta])* $variant:ident $row:ident = $name:literal on $family:ident $(without $without:ident)?:
        $engine:ident<$isa:ty, $multiply:ident $(, $n:tt)?> $(, $features:literal)? $(, unnamed $unnamed:literal)?;)+) => {
        /// A way to run AES-GCM: an instruction set, and a way to multiply with it.
        ///
        /// Every machine has the names of all back ends; [`available`](Backend::available) lists the back
        /// ends that this machine can run. All back ends give the same answers and differ only in speed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Backend {
            $($(#[$doc])* $variant,)+
        }

        impl Backend {
            /// All back ends, best first.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the name, which [`FromStr`] reads.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Returns the name as a string of C.
            pub const fn c_name(self) -> &'static CStr {
                match self {
                    $(Self::$variant => const {
                        match CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => panic!("a name has no zero byte"),
                        }
                    }),+
                }
            }

            /// What the CPU must have, as rustc spells it.
            const fn needs(self) -> Features {
                match self { $(Self::$variant => const { Features::named(concat!($($features)? $($unnamed)?)) }),+ }
            }

            /// Runs a job that is not a message with this row's instructions.
            ///
            /// # Errors
            /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run the back end.
            #[cfg(feature = "internals")]
            #[doc(hidden)]
            #[allow(unsafe_code, unused_unsafe)]
            pub fn run<J: Job>(self, job: J) -> Result<J::Output, Error> {
                self.row()?;
                let output = match self { $(Self::$variant => {
                    $(#[cfg(not($without))])?
                    // SAFETY: the row's features were just found. (`portable` needs none.)
                    let output = on!($family => Some(unsafe { $row::run(job) }));
                    $(#[cfg($without)] let output = None;)?
                    output
                }),+ };
                output.ok_or(Error::Unavailable)
            }

            /// Returns the row, if it was compiled for this target at all.
            pub(crate) fn compiled(self) -> Option<&'static Row> {
                match self { $(Self::$variant => of_row!($family $(without $without)?, &$row::ROW)),+ }
            }

            /// Returns a group of the row's functions. The linker leaves out groups that the program does not
            /// call.
            pub(crate) fn find<G: Group>(self) -> &'static G {
                match self { $(Self::$variant => of_row!($family $(without $without)?, G::of::<$row::Row>())),+ }
                    .unwrap_or_else(G::of::<portable::Row>)
            }
        }

        $($(#[cfg(not($without))])? item_on! { $family =>
            #[allow(unsafe_code)] // the verbs need it
            #[allow(clippy::missing_safety_doc, reason = "only `Backend::row` hands out these functions")]
            mod $row {
                row! { $variant, [$engine, $isa, $multiply, [$($n)?] $($features)? $(unnamed $unnamed)?] }
            }
        })+
    };
}

/// The engine of a row with a frame; its type; and the multiplication of other work than messages.
macro_rules! engine {
    ($frame:expr, Woven $isa:ty, $multiply:ident) => {
        Woven::<_, _, Row> { s: <$isa>::here(), m: $multiply, frame: $frame, row: PhantomData }
    };
    ($frame:expr, Software $isa:ty, $multiply:ident, $size:tt) => {
        Software::<_, _, $size, Row> { s: <$isa>::here(), m: By($multiply), frame: $frame, row: PhantomData }
    };
    (type Woven $isa:ty, $multiply:ident) => {
        Woven<'_, $isa, $multiply, Row>
    };
    (type Software $isa:ty, $multiply:ident, $size:tt) => {
        Software<'_, $isa, $multiply, $size, Row>
    };
    (multiply Woven $multiply:ident) => {
        $multiply
    };
    (multiply Software $multiply:ident) => {
        Winograd
    };
}

/// One row: its functions, and what the table keeps of it.
macro_rules! row {
    // rustc has no stable names for these features: there is nothing to enable, and the row's operations
    // enable them themselves.
    ($variant:ident, [$engine:ident, $isa:ty, $multiply:ident, [$($size:tt)?] unnamed $unnamed:literal]) => {
        row! { $variant, [$engine, $isa, $multiply, [$($size)?]] }
    };
    ($variant:ident, [$engine:ident, $isa:ty, $multiply:ident, [$($size:tt)?] $($features:literal)?]) => {
        #[allow(unused_imports)]
        use crate::{
            Block,
            aes::{Material, Schedule},
            gcm::{Beginning, SIDE_BY_SIDE, plan, software::By},
            ghash::{Karatsuba, KeyFolded, KeyFoldedHalves, Nibbles, Winograd},
            inout::{Hash, InOut, PADS, Table},
            isa::*,
            nonce::{Nonce96, Start},
            packet::Packet,
            row::{
                software::Software,
                table::{self, Backend},
                verbs::{self, Engine, Has, functions, verbs},
                woven::Woven,
            },
        };
        use core::{marker::PhantomData, mem::MaybeUninit};

        /// The row, as a type.
        #[derive(Clone, Copy)]
        pub(super) enum Row {}

        const BLOCKS: usize = <engine!(type $engine $isa, $multiply $(, $size)?)>::BLOCKS;

        pub(super) static ROW: table::Row = table::Row {
            backend: Backend::$variant,
            messages: <Row as Has<verbs::Messages>>::ALL,
            blocks: BLOCKS,
            max_end: plan::max_end(BLOCKS),
            #[cfg(test)]
            proof: table::Proof { prove: |fault| crate::ghash::proof::Provable::prove($multiply, fault), products, fill },
        };

        // What proofs ask of a row besides its messages.
        #[cfg(test)]
        $(#[target_feature(enable = $features)])?
        fn products(block: Block, h: Block) -> [[Block; 4]; 2] {
            wiped_after!(frame, engine!(frame, $engine $isa, $multiply $(, $size)?).products(block, h))
        }

        #[cfg(test)]
        $(#[target_feature(enable = $features)])?
        fn fill(material: &mut Material, h: Block) {
            wiped_after!(frame, engine!(frame, $engine $isa, $multiply $(, $size)?).fill(material, h));
        }

        verbs! { functions [{ $engine $isa, $multiply $(, $size)? } $($features)?] }

        /// Runs any other work, compiled for this row.
        #[cfg(feature = "internals")]
        $(#[target_feature(enable = $features)])?
        pub(super) fn run<J: table::Job>(job: J) -> J::Output {
            job.run(<$isa>::here(), engine!(multiply $engine $multiply))
        }
    };
}

backends! {
    /// VAES and VPCLMULQDQ on AVX-512: four blocks a vector.
    VaesAvx512 vaes_avx512 = "vaes-avx512" on x86 without fastgcm_without_avx512: Woven<Vaes512, Winograd>, "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512vbmi";
    /// VAES and VPCLMULQDQ on AVX2: two blocks a vector.
    VaesAvx2 vaes_avx2 = "vaes-avx2" on x86 without fastgcm_without_avx2: Woven<Vaes256, Winograd>, "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq";
    /// AES-NI and PCLMULQDQ with AVX's three-operand encoding.
    AesniAvx aesni_avx = "aesni-avx" on x86 without fastgcm_without_avx: Woven<AesAvx, Winograd>, "aes,pclmulqdq,ssse3,sse4.1,avx";
    /// AES-NI and PCLMULQDQ.
    AesniSse aesni_sse = "aesni-sse" on x86 without fastgcm_without_sse: Woven<AesSse, Winograd>, "aes,pclmulqdq,ssse3,sse4.1";
    /// x86-64 without instructions for AES, but with instructions that permute bytes: tables in registers.
    VpaesSsse3 vpaes_ssse3 = "vpaes-ssse3" on x86 without fastgcm_without_ssse3: Software<Portable<2, false, Ssse3>, Nibbles, 8>, "ssse3";
    /// AArch64 with AES, PMULL and the three-way XOR of SHA3: the larger cores from about 2020 on.
    AesNeonEor3 aes_neon_eor3 = "aes-neon-eor3" on arm: Woven<NeonEor3, KeyFoldedHalves>, "aes,sha3";
    /// AArch64 with AES and PMULL.
    AesNeon aes_neon = "aes-neon" on arm: Woven<Neon, Karatsuba>, "aes";
    /// AArch64 without instructions for AES: tables in registers.
    VpaesNeon vpaes_neon = "vpaes-neon" on arm: Software<Portable<2, false, NeonTables>, Nibbles, 8>, "neon";
    /// RISC-V with vector cryptography. (`unnamed`: rustc has no stable names that would enable these
    /// features. The library looks for them all the same.)
    AesZvkned aes_zvkned = "aes-zvkned" on riscv: Woven<Zvkned, KeyFolded>, unnamed "v,zvkned,zvkb,zvbc,zvkt";
    /// WebAssembly that is compiled for vectors of 128 bits: tables in registers.
    VpaesSimd128 vpaes_simd128 = "vpaes-simd128" on wasm: Software<Portable<2, false, Simd128>, Nibbles, 8>, "simd128";
    /// Any machine, in constant time: bit-sliced AES, and carry-less multiplication from integer
    /// multiplication.
    Portable portable = "portable" on any: Software<Portable<{ Widest::LANES }>, Winograd, { 4 * Widest::LANES }>;
}

impl Backend {
    /// Returns the best back end for this machine: the first of [`available`](Self::available).
    pub fn detect() -> Self {
        Self::best().backend
    }

    /// Returns the row of the best back end. `portable` is compiled everywhere and needs nothing.
    pub(crate) fn best() -> &'static Row {
        Self::ALL.iter().find_map(|backend| backend.row().ok()).unwrap_or(&portable::ROW)
    }

    /// Lists the back ends that this machine can run, best first. The last is always `portable`.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|backend| backend.is_available())
    }

    /// Returns whether this program contains the back end. That depends on the target for which the program
    /// was compiled.
    pub fn is_compiled(self) -> bool {
        self.compiled().is_some()
    }

    /// Returns whether this machine can run the back end.
    pub fn is_available(self) -> bool {
        self.row().is_ok()
    }

    /// Lists the processor features that the back end needs, as rustc spells them. The `bool` says whether
    /// the processor has the feature and the operating system allows its use.
    pub fn features(self) -> impl Iterator<Item = (&'static str, bool)> {
        let here = features();
        self.needs().names().map(move |name| (name, here.contain(Features::named(name))))
    }

    /// Returns the row. This is the only way to the row's functions, so none runs where its features are
    /// missing.
    pub(crate) fn row(self) -> Result<&'static Row, Error> {
        self.compiled().filter(|_| features().contain(self.needs())).ok_or(Error::Unavailable)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    /// Returns the back end of that name, whether or not this machine can run it.
    ///
    /// # Errors
    /// Returns [`UnknownBackend`] if no back end has that name.
    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        Self::ALL.iter().copied().find(|backend| backend.name() == name).ok_or(UnknownBackend(()))
    }
}

/// The error for a name that no back end has. Its message lists all names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownBackend(());

impl fmt::Display for UnknownBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no back end has that name; the names are")?;
        let names = Backend::ALL.iter().map(|backend| backend.name());
        names.enumerate().try_for_each(|(i, name)| write!(f, "{} {name}", if i == 0 { "" } else { "," }))
    }
}

impl core::error::Error for UnknownBackend {}

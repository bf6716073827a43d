//! THE TABLE: one row for each back end, in order of preference. Everything that depends on the machine follows from it.

use crate::{
    Block, Error,
    entry::entries,
    inout::{Ends, InOut, Zeros},
    isa::{Frame, detect::Features, features, few_vector_ports, item_on, on},
    key::Material,
    limits,
    nonce::{J0, Kind, Nonce, Nonce96},
};
#[cfg(feature = "internals")]
use crate::{ghash::Multiply, isa::Isa};
use core::{fmt, str::FromStr};

macro_rules! backends {
    ($($(#[$doc:meta])* $variant:ident $row:ident = $name:literal on $family:ident: $isa:expr, $multiply:expr $(, $features:literal)? $(, lanes $lanes:literal)? $(, by $way:ident)? $(, unnamed $unnamed:literal)?;)+) => {
        /// A way to run AES-GCM: an instruction set, and a way to multiply with it.
        ///
        /// All of them are named on every machine; [`available`](Backend::available) lists those that can run on this one. Every
        /// back end gives the same answers; they differ in speed only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Backend {
            $($(#[$doc])* $variant,)+
        }

        impl Backend {
            /// All that there are, best first.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name, as in the table and in [`FromStr`].
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What the CPU must have, as rustc spells it.
            const fn needs(self) -> Features {
                match self { $(Self::$variant => const { Features::named(concat!($($features)? $($unnamed)?)) }),+ }
            }

            /// Does other work than messages with this row's instructions.
            ///
            /// # Errors
            /// [`Unavailable`](Error::Unavailable) if this machine cannot run it.
            #[cfg(feature = "internals")]
            #[doc(hidden)]
            #[allow(unsafe_code, unused_unsafe)]
            pub fn run<J: Job>(self, job: J) -> Result<J::Output, Error> {
                self.entries()?;
                // SAFETY: the row's features were just found. (`portable` needs none.)
                let output = match self { $(Self::$variant => on!($family => Some(unsafe { $row::run(job) }))),+ };
                output.ok_or(Error::Unavailable)
            }

            /// The row's functions, if they were compiled for this target at all.
            pub(crate) fn compiled(self) -> Option<&'static Entries> {
                match self { $(Self::$variant => on!($family => Some(&$row::ENTRIES))),+ }
            }
        }

        $(item_on! { $family => entries! { $variant, $row, $isa, $multiply $(, $features)? $(, lanes $lanes)? $(, by $way)? $(, unnamed $unnamed)? } })+
    };
}

backends! {
    /// VAES and VPCLMULQDQ on AVX-512: four blocks a vector.
    VaesAvx512 vaes_avx512 = "vaes-avx512" on x86: Vaes512::here(), Winograd, "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512vbmi", lanes 4;
    /// The same with a multiplication that suits CPUs with few vector ports: [`available`](Backend::available) puts it first there.
    VaesAvx512K4 vaes_avx512_k4 = "vaes-avx512-k4" on x86: Vaes512::here(), KeyFolded, "aes,pclmulqdq,avx2,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512vbmi", lanes 4;
    /// VAES and VPCLMULQDQ on AVX2: two blocks a vector.
    VaesAvx2 vaes_avx2 = "vaes-avx2" on x86: Vaes256::here(), Winograd, "aes,pclmulqdq,avx2,vaes,vpclmulqdq", lanes 2;
    /// AES-NI and PCLMULQDQ with AVX's three-operand encoding.
    AesniAvx aesni_avx = "aesni-avx" on x86: AesAvx::here(), Winograd, "aes,pclmulqdq,ssse3,sse4.1,avx", lanes 1;
    /// AES-NI and PCLMULQDQ.
    AesniSse aesni_sse = "aesni-sse" on x86: AesSse::here(), Winograd, "aes,pclmulqdq,ssse3,sse4.1", lanes 1;
    /// x86 without instructions for AES, which can permute bytes: tables in registers.
    VpaesSsse3 vpaes_ssse3 = "vpaes-ssse3" on x86: Portable::permuting(), Nibbles, "ssse3", by plain;
    /// AArch64 with AES, PMULL and the three-way XOR of SHA3: the larger cores from about 2020 on.
    AesNeonEor3 aes_neon_eor3 = "aes-neon-eor3" on arm: NeonEor3::here(), KeyFoldedHalves, "aes,sha3", lanes 1;
    /// AArch64 with AES and PMULL.
    AesNeon aes_neon = "aes-neon" on arm: Neon::here(), Karatsuba, "aes", lanes 1;
    /// RISC-V with vector cryptography. (`unnamed`: rustc has no stable names to enable them by. They are looked for all the same.)
    AesZvkned aes_zvkned = "aes-zvkned" on riscv: Zvkned::here(), KeyFolded, unnamed "v,zvkned,zvkb,zvbc,zvkt";
    /// Any machine, in constant time: bit-sliced AES, carry-less multiplication from integer multiplication.
    Portable portable = "portable" on any: Portable::<{ Widest::LANES }>::here(), Winograd;
}

impl Backend {
    /// The best one for this machine: the first of [`available`](Self::available).
    pub fn detect() -> Self {
        Self::best().backend
    }

    /// The functions of that one. `portable` is compiled everywhere and needs nothing.
    pub(crate) fn best() -> &'static Entries {
        Self::ranked().find_map(|backend| backend.entries().ok()).unwrap_or(&portable::ENTRIES)
    }

    /// Those that this machine can run, best first. The last is always `portable`.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ranked().filter(|backend| backend.is_available())
    }

    /// All, best first on this machine. Features alone decide what may run; the hint only which of two ways to multiply comes first.
    fn ranked() -> impl Iterator<Item = Self> {
        let first = few_vector_ports().then_some(Self::VaesAvx512K4);
        first.into_iter().chain(Self::ALL.iter().copied().filter(move |backend| Some(*backend) != first))
    }

    /// This program contains it: it is for the kind of processor that the program was compiled for.
    pub fn is_compiled(self) -> bool {
        self.compiled().is_some()
    }

    /// This machine can run it.
    pub fn is_available(self) -> bool {
        self.entries().is_ok()
    }

    /// The features that it needs, as rustc spells them, each with whether the CPU has it and the operating system lets us
    /// use it.
    pub fn features(self) -> impl Iterator<Item = (&'static str, bool)> {
        let here = features();
        self.needs().names().map(move |name| (name, here.contain(Features::named(name))))
    }

    /// The row's functions: the only way to get at them, so that none runs where its features are missing.
    pub(crate) fn entries(self) -> Result<&'static Entries, Error> {
        // A program compiled with AVX512DQ enabled everywhere (`-C target-cpu=native`, `x86-64-v4`) meets rust-lang/rust#158622:
        // LLVM then gives wrong code for some AVX-512 intrinsics. Rather slower than wrong.
        let miscompiled = cfg!(target_feature = "avx512dq") && self.needs().contain(Features::named("avx512f"));
        self.compiled().filter(|_| features().contain(self.needs()) && !miscompiled).ok_or(Error::Unavailable)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Backend {
    type Err = Error;

    /// The back end of that name. `Unavailable` if there is none; whether this machine can run it is asked later.
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|backend| backend.name() == name).ok_or(Error::Unavailable)
    }
}

/// Work that is written once over [`Isa`], as messages are: for variants that stand in no row (`fastgcm-studies`).
///
/// `run` must be `#[inline(always)]`, and so must be what it calls: only then is it compiled for the features of the row.
#[cfg(feature = "internals")]
pub trait Job {
    /// What comes out.
    type Output;

    /// Does it. `multiply` is the row's own multiplication.
    fn run<S: Isa, M: Multiply<S>>(self, s: S, multiply: M) -> Self::Output;
}

/// Within a row: how what is written once, and inlined into the row's functions, calls other functions of the row.
macro_rules! calls {
    () => {
        /// Made in the row's functions only, where its features are enabled.
        #[derive(Clone, Copy)]
        struct Row<'f>(Frame<'f>);

        #[allow(unsafe_code)]
        impl<S: Isa, M: Multiply<S>> Calls<S, M> for Row<'_> {
            #[inline(always)]
            fn bulk<'a, const SEAL: bool, const FACE: bool>(self, s: S, multiply: M, key: &'a Material, all: Bulk<'a, S>) -> Bulk<'a, S> {
                let mut function: unsafe fn(Frame<'_>, S, M, &'a Material, Bulk<'a, S>) -> Bulk<'a, S> = bulk::<S, M, SEAL, FACE>;
                if cfg!(feature = "scrub") {
                    // By address: with LTO over all crates LLVM makes it a part of the caller, `inline(never)` or not.
                    function = core::hint::black_box(function);
                }
                // SAFETY: see `Row`.
                unsafe { function(self.0, s, multiply, key, all) }
            }

            #[inline(always)]
            fn tail<const SEAL: bool, const N: usize, const ALL: usize, const WHOLE: usize>(
                self,
                s: S,
                key: &Material,
                rest: Rest<'_, S>,
            ) -> Block {
                // SAFETY: see `Row`.
                #[cfg(debug_assertions)]
                return unsafe { tail::<S, M, SEAL, N, ALL, WHOLE>(self.0, s, key, rest) };
                #[cfg(not(debug_assertions))]
                gcm::tail::<S, M, SEAL, N, ALL, WHOLE>(s, &key.schedule, &key.powers, rest)
            }
        }
    };
}
pub(crate) use calls;

/// The text of a short message, put together again from what came in registers. That its lengths are short is what `Entries` has found before
/// the call: the optimiser is told, or it would leave bounds checks, and a way to panic, in a message of 150 instructions.
macro_rules! short_text {
    ($isa:expr, $lanes:literal, $aad:ident, $ends:ident, $len:ident) => {{
        gcm::has_lanes::<_, $lanes>($isa);
        const MOST: (usize, usize) = gcm::most_short($lanes);
        #[allow(unsafe_code)]
        // SAFETY: `Entries::by_length` calls a short entry for such lengths only, with what `InOut::parts` gave it.
        unsafe {
            core::hint::assert_unchecked($aad.len() <= MOST.0 && $len <= MOST.1);
            InOut::between($ends, $len)
        }
    }};
}
pub(crate) use short_text;

/// An entry for short messages. The parts of the text come in registers and on the stack, not all of it in memory.
type Short = unsafe fn(Frame<'_>, &Material, Nonce96, &[u8], Ends<'_>, usize) -> Block;

/// An entry for a key and one short message.
type Once = unsafe fn(Frame<'_>, &[u8], Nonce96, &[u8], InOut<'_>, bool) -> Block;

/// An entry for all others.
type Long = unsafe fn(Frame<'_>, &Material, Nonce96, &[u8], InOut<'_>) -> Block;

/// The crossing from one world to the other. The choice is made once, when a key is made; a key holds only a reference.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) backend: Backend,
    pub(crate) derive: unsafe fn(Frame<'_>, &[u8], usize) -> Material,
    pub(crate) expand: unsafe fn(Frame<'_>, &mut Material, &[u8]),
    pub(crate) wipe: unsafe fn(&mut Material),
    /// The most bytes of AAD, and of text, of a short message.
    pub(crate) most_short: (usize, usize),
    /// A key for one short message, and the most bytes of its AAD and text.
    pub(crate) once: Option<((usize, usize), Once)>,
    pub(crate) seal_short: Short,
    pub(crate) seal: Long,
    pub(crate) open_short: Short,
    pub(crate) open: Long,
    pub(crate) any: unsafe fn(Frame<'_>, &Material, J0, &[u8], InOut<'_>, bool) -> Block,
    pub(crate) j0: unsafe fn(Frame<'_>, &Material, &[u8]) -> J0,
    pub(crate) tag: unsafe fn(Frame<'_>, &Material, J0, &[u8], &[u8]) -> Block,
    /// The proof of the row's multiplication (`ghash::proof`), with a fault planted or none.
    #[cfg(test)]
    pub(crate) prove: fn(crate::ghash::proof::Fault) -> Result<usize, std::string::String>,
    /// The row's multiplication on numbers.
    #[cfg(test)]
    pub(crate) products: unsafe fn(Block, Block) -> [[Block; 4]; 2],
    /// Powers of a hash key of the test's choice.
    #[cfg(test)]
    pub(crate) fill: unsafe fn(&mut Material, Block),
}

#[allow(unsafe_code)]
// SAFETY: it is made of numbers, and of how many rounds more than ten a key has: none.
unsafe impl Zeros for Material {}

/// Safe, because `Backend::entries` hands out a row only where its features were found.
#[allow(unsafe_code)]
impl Entries {
    /// What messages need that ask for no higher power of H than H^`powers`, from the bytes of a key. By value: a compiler that sees where it goes
    /// has it made there.
    #[inline(always)]
    pub(crate) fn derive(&self, key: &[u8], powers: usize) -> Material {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.derive)(frame, key, powers) })
    }

    /// The same in place of what was there.
    #[inline(always)]
    pub(crate) fn expand(&self, material: &mut Material, key: &[u8]) {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.expand)(frame, material, key) })
    }

    /// Seals or opens a message that is short enough under a key of its own, and returns what `then` makes of its tag.
    #[inline(always)]
    pub(crate) fn once<T>(
        &self,
        key: &[u8],
        nonce: Nonce<'_>,
        aad: &[u8],
        text: InOut<'_>,
        seal: bool,
        then: impl FnOnce(Block) -> T,
    ) -> Option<T> {
        let (Some(((most_aad, most_text), once)), Kind::Public(nonce)) = (self.once, nonce.0) else { return None };
        let fits = aad.len() <= most_aad && text.len() <= most_text;
        // SAFETY: see the impl.
        fits.then(|| Frame::wiped_after(|frame| then(unsafe { once(frame, key, nonce, aad, text, seal) })))
    }

    /// Wipes all that this back end has written there.
    #[inline(always)]
    pub(crate) fn wipe(&self, material: &mut Material) {
        // SAFETY: see the impl.
        unsafe { (self.wipe)(material) }
    }

    /// Encrypts, and returns the tag.
    ///
    /// # Errors
    /// `TooLong`.
    #[inline(always)]
    pub(crate) fn seal(&self, material: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Result<Block, Error> {
        self.by_length(self.seal_short, self.seal, material, nonce, aad, text, |tag| tag)
    }

    /// Decrypts, and returns what `then` makes of the tag that the message should have.
    ///
    /// # Errors
    /// `TooLong`.
    #[inline(always)]
    pub(crate) fn open<T>(
        &self,
        material: &Material,
        nonce: Nonce96,
        aad: &[u8],
        text: InOut<'_>,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        self.by_length(self.open_short, self.open, material, nonce, aad, text, then)
    }

    /// Through the entry for its lengths. Those of a short message are within the limits of the standard.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn by_length<T>(
        &self,
        short: Short,
        long: Long,
        material: &Material,
        nonce: Nonce96,
        aad: &[u8],
        text: InOut<'_>,
        then: impl FnOnce(Block) -> T,
    ) -> Result<T, Error> {
        let (ends, len) = text.parts();
        if len <= self.most_short.1 && aad.len() <= self.most_short.0 {
            // SAFETY: see the impl.
            return Ok(Frame::wiped_after(|frame| then(unsafe { short(frame, material, nonce, aad, ends, len) })));
        }
        limits::check(aad.len(), len)?;
        // SAFETY: see the impl.
        Ok(Frame::wiped_after(|frame| then(unsafe { long(frame, material, nonce, aad, text) })))
    }

    /// Encrypts (`seal`) or decrypts with a nonce of any length, and returns the tag that the message has or should have.
    #[inline(always)]
    pub(crate) fn any(&self, material: &Material, j0: J0, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.any)(frame, material, j0, aad, text, seal) })
    }

    /// The pre-counter block of a nonce that has not 12 bytes.
    #[inline(always)]
    pub(crate) fn j0(&self, material: &Material, nonce: &[u8]) -> J0 {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.j0)(frame, material, nonce) })
    }

    /// The tag of AAD and ciphertext, which are only read.
    #[inline(always)]
    pub(crate) fn tag(&self, material: &Material, j0: J0, aad: &[u8], ciphertext: &[u8]) -> Block {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.tag)(frame, material, j0, aad, ciphertext) })
    }
}

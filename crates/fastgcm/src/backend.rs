//! THE TABLE: one row for each back end, in order of preference. Everything that depends on the machine follows from it.

use crate::{
    Block, Error,
    entry::entries,
    inout::{Ends, InOut, made},
    isa::{Frame, detect::Features, features, item_on, on, wiped_after},
    limits,
    material::Material,
    nonce::{Kind, Nonce, Nonce96},
    packet::{Packet, TOGETHER},
    runs::{Runs, Text},
    steps::Steps,
};
#[cfg(feature = "internals")]
use crate::{ghash::Multiply, isa::Isa};
use core::{ffi::CStr, fmt, mem::MaybeUninit, str::FromStr};

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
    ($($(#[$doc:meta])* $variant:ident $row:ident = $name:literal on $family:ident $(without $without:ident)?: $engine:ident<$isa:ty, $multiply:ident $(, $n:tt)?> $(, $features:literal)? $(, unnamed $unnamed:literal)?;)+) => {
        /// A way to run AES-GCM: an instruction set, and a way to multiply with it.
        ///
        /// Every machine has the names of all back ends; [`available`](Backend::available) lists those that this machine can run. All
        /// back ends give the same answers and differ in speed only.
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

            /// Returns the same name as a string of C.
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

            /// Does other work than messages with this row's instructions.
            ///
            /// # Errors
            /// [`Unavailable`](Error::Unavailable) if this machine cannot run it.
            #[cfg(feature = "internals")]
            #[doc(hidden)]
            #[allow(unsafe_code, unused_unsafe)]
            pub fn run<J: Job>(self, job: J) -> Result<J::Output, Error> {
                self.kernels()?;
                let output = match self { $(Self::$variant => {
                    $(#[cfg(not($without))])?
                    // SAFETY: the row's features were just found. (`portable` needs none.)
                    let output = on!($family => Some(unsafe { $row::run(job) }));
                    $(#[cfg($without)] let output = None;)?
                    output
                }),+ };
                output.ok_or(Error::Unavailable)
            }

            /// The row's functions, if they were compiled for this target at all.
            pub(crate) fn compiled(self) -> Option<&'static Kernels> {
                match self { $(Self::$variant => of_row!($family $(without $without)?, &$row::KERNELS)),+ }
            }

            // What not every program calls is found here, not in `Kernels`: what none calls the linker leaves out.

            /// The steps of any message.
            fn steps(self) -> &'static Steps {
                match self { $(Self::$variant => of_row!($family $(without $without)?, &$row::STEPS)),+ }.unwrap_or(&portable::STEPS)
            }

            /// A key in place.
            fn expand(self) -> Expand {
                match self { $(Self::$variant => of_row!($family $(without $without)?, $row::EXPAND)),+ }.unwrap_or(portable::EXPAND)
            }

            /// A key for one short message, where there is a way for that.
            fn once(self) -> Option<Once> {
                match self { $(Self::$variant => of_row!($family $(without $without)?, $row::ONCE)),+ }.flatten()
            }

            /// Packets side by side, likewise.
            fn batch(self) -> Option<Batches> {
                match self { $(Self::$variant => of_row!($family $(without $without)?, $row::BATCH)),+ }.flatten()
            }

            /// CTR alone.
            #[cfg(feature = "hazmat")]
            fn ctr(self) -> Ctr {
                match self { $(Self::$variant => of_row!($family $(without $without)?, $row::CTR)),+ }.unwrap_or(portable::CTR)
            }

            /// A message of AES-GCM-SIV.
            fn siv(self) -> Siv {
                match self { $(Self::$variant => of_row!($family $(without $without)?, $row::SIV)),+ }.unwrap_or(portable::SIV)
            }
        }

        $($(#[cfg(not($without))])? item_on! { $family => entries! { $variant, $row, $engine<$isa, $multiply $(, $n)?> $(, $features)? $(, unnamed $unnamed)? } })+
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
    /// x86 without instructions for AES, which can permute bytes: tables in registers.
    VpaesSsse3 vpaes_ssse3 = "vpaes-ssse3" on x86 without fastgcm_without_ssse3: Software<Portable<2, false, Ssse3>, Nibbles, 8>, "ssse3";
    /// AArch64 with AES, PMULL and the three-way XOR of SHA3: the larger cores from about 2020 on.
    AesNeonEor3 aes_neon_eor3 = "aes-neon-eor3" on arm: Woven<NeonEor3, KeyFoldedHalves>, "aes,sha3";
    /// AArch64 with AES and PMULL.
    AesNeon aes_neon = "aes-neon" on arm: Woven<Neon, Karatsuba>, "aes";
    /// RISC-V with vector cryptography. (`unnamed`: rustc has no stable names to enable them by. They are looked for all the same.)
    AesZvkned aes_zvkned = "aes-zvkned" on riscv: Sequential<Zvkned, KeyFolded>, unnamed "v,zvkned,zvkb,zvbc,zvkt";
    /// Any machine, in constant time: bit-sliced AES, carry-less multiplication from integer multiplication.
    Portable portable = "portable" on any: Software<Portable<{ Widest::LANES }>, Winograd, { 4 * Widest::LANES }>;
}

impl Backend {
    /// Returns the best back end for this machine: the first of [`available`](Self::available).
    pub fn detect() -> Self {
        Self::best().backend
    }

    /// The functions of that one. `portable` is compiled everywhere and needs nothing.
    pub(crate) fn best() -> &'static Kernels {
        Self::ALL.iter().find_map(|backend| backend.kernels().ok()).unwrap_or(&portable::KERNELS)
    }

    /// Lists the back ends that this machine can run, best first. The last is always `portable`.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|backend| backend.is_available())
    }

    /// Returns whether this program contains the back end, which depends on the target that the program was compiled for.
    pub fn is_compiled(self) -> bool {
        self.compiled().is_some()
    }

    /// Returns whether this machine can run the back end.
    pub fn is_available(self) -> bool {
        self.kernels().is_ok()
    }

    /// Lists the processor features that the back end needs, as rustc spells them. The `bool` says whether the processor has the feature
    /// and the operating system allows its use.
    pub fn features(self) -> impl Iterator<Item = (&'static str, bool)> {
        let here = features();
        self.needs().names().map(move |name| (name, here.contain(Features::named(name))))
    }

    /// The row's functions: the only way to get at them, so that none runs where its features are missing.
    pub(crate) fn kernels(self) -> Result<&'static Kernels, Error> {
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
    type Err = UnknownBackend;

    /// Finds the back end of that name, whether or not this machine can run it.
    ///
    /// # Errors
    /// [`UnknownBackend`] if no back end has that name.
    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        Self::ALL.iter().copied().find(|backend| backend.name() == name).ok_or(UnknownBackend(()))
    }
}

/// The error of a name that no back end has. The message lists all names.
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
        #[allow(unused_unsafe)] // in a row that needs no feature
        impl<S: Isa, M: Multiply<S>> Outlined<S, M> for Row<'_> {
            #[inline(always)]
            fn bulk<'a, const SEAL: bool, const FACE: bool>(self, s: S, multiply: M, key: &'a gcm::Material, all: &mut Bulk<'a, S>) {
                let mut function: unsafe fn(Frame<'_>, S, M, &'a gcm::Material, &mut Bulk<'a, S>) = bulk::<S, M, SEAL, FACE>;
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
                key: &gcm::Material,
                rest: Rest<'_, S, impl Beside<S, M>>,
            ) -> Block {
                // SAFETY: see `Row`.
                #[cfg(debug_assertions)]
                return unsafe { tail::<S, M, _, SEAL, N, ALL, WHOLE>(self.0, s, key, rest) };
                #[cfg(not(debug_assertions))]
                gcm::tail::<S, M, _, SEAL, N, ALL, WHOLE>(s, &key.schedule, &key.tables, rest)
            }
        }
    };
}
pub(crate) use calls;

/// A text, put together again from what came in registers.
macro_rules! text {
    ($ends:ident, $len:ident) => {{
        #[allow(unsafe_code)]
        // SAFETY: entries are called with what `InOut::parts` gave.
        unsafe {
            InOut::between($ends, $len)
        }
    }};
}
pub(crate) use text;

/// The same of a short message. That its lengths are short is what `Kernels` has found before the call: the optimiser is told, or it would leave
/// bounds checks, and a way to panic, in a message of 150 instructions.
macro_rules! short_text {
    ($aad:ident, $ends:ident, $len:ident) => {{
        #[allow(unsafe_code)]
        // SAFETY: `Kernels::by_length` calls a short entry for such lengths only, with what `InOut::parts` gave it.
        unsafe {
            core::hint::assert_unchecked($aad.len() <= E::MOST_SHORT.0 && $len <= E::MOST_SHORT.1);
            InOut::between($ends, $len)
        }
    }};
}
pub(crate) use short_text;

/// A key in memory that the engine has made blank, or that holds another one.
macro_rules! unexpanded {
    ($place:ident) => {{
        #[allow(unsafe_code)]
        // SAFETY: `expand` is called for those only, so there is a schedule.
        unsafe {
            Material::parts($place)
        }
    }};
}
pub(crate) use unexpanded;

/// A key that has been made blank and expanded.
macro_rules! expanded {
    ($place:ident) => {{
        #[allow(unsafe_code)]
        // SAFETY: both together have written each byte (`Engine::blank`).
        unsafe {
            $place.assume_init_mut()
        }
    }};
}
pub(crate) use expanded;

/// An entry for a key where there is nothing; or for one message, of which the bytes of AAD and text are given.
type Derive = for<'a> unsafe fn(Frame<'_>, &'a mut MaybeUninit<Material>, &[u8], Option<(usize, usize)>) -> &'a mut Material;

/// An entry for a key in place of another, or in memory that is blank.
type Expand = unsafe fn(Frame<'_>, &mut MaybeUninit<Material>, &[u8], Option<(usize, usize)>);

/// An entry for short messages. The parts of the text come in registers and on the stack, not all of it in memory.
type Short = unsafe fn(Frame<'_>, &Material, Nonce96, &[u8], Ends<'_>, usize) -> Block;

/// The most bytes of AAD, and of text, of a message with a key of its own, and the entry for both.
type Once = ((usize, usize), unsafe fn(Frame<'_>, &[u8], Nonce96, &[u8], InOut<'_>, bool) -> Block);

/// An entry for all others, and for texts in several buffers.
type Long = for<'a> unsafe fn(Frame<'_>, &'a Material, Nonce96, &[u8], &mut Text<'a>) -> Block;

/// An entry for packets side by side.
type Batch = unsafe fn(Frame<'_>, &Material, &mut [Packet<'_>]) -> (usize, bool);

/// The most bytes of AAD and text of packets side by side (or twice, or four times as many: see `gcm::batch`), and the entries that seal and open them.
type Batches = ((usize, usize), Batch, Batch);

/// CTR alone.
#[cfg_attr(not(feature = "hazmat"), allow(dead_code))]
type Ctr = unsafe fn(Frame<'_>, &Material, Block, InOut<'_>);

/// A message of AES-GCM-SIV under its own keys.
type Siv = unsafe fn(Frame<'_>, &Material, Nonce96, &[u8], InOut<'_>, Option<Block>) -> Block;

/// The crossing from one world to the other. The choice is made once, when a key is made; a key holds only a reference.
#[derive(Debug)]
pub(crate) struct Kernels {
    pub(crate) backend: Backend,
    pub(crate) derive: Derive,
    pub(crate) wipe: unsafe fn(&mut Material),
    /// The most bytes of AAD, and of text, of a short message.
    pub(crate) most_short: (usize, usize),
    pub(crate) seal_short: Short,
    pub(crate) seal: Long,
    pub(crate) open_short: Short,
    pub(crate) open: Long,
    /// Whether `seal` and `open` go from one run of a text to the next.
    pub(crate) has_runs: bool,
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

/// Safe, because `Backend::kernels` hands out a row only where its features were found.
#[allow(unsafe_code)]
impl Kernels {
    /// What messages need, from the bytes of a key; or what the `one` message needs that has so many bytes of AAD and text. By value: a compiler that
    /// sees where it goes has it made there.
    #[inline(always)]
    pub(crate) fn derive(&self, key: &[u8], one: Option<(usize, usize)>) -> Material {
        made(|place| self.derive_in(place, key, one))
    }

    /// The same where it stays.
    #[inline(always)]
    pub(crate) fn derive_in<'a>(&self, place: &'a mut MaybeUninit<Material>, key: &[u8], one: Option<(usize, usize)>) -> &'a mut Material {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.derive)(frame, place, key, one) })
    }

    /// What messages need, in place of what was there.
    #[inline(always)]
    pub(crate) fn expand(&self, material: &mut Material, key: &[u8]) {
        let place = core::ptr::from_mut(material).cast();
        // SAFETY: see the impl. The entry writes nothing there but bytes of a key.
        Frame::wiped_after(|frame| unsafe { (self.backend.expand())(frame, &mut *place, key, None) })
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
        let (Some(((most_aad, most_text), once)), Kind::Public(nonce)) = (self.backend.once(), nonce.0) else { return None };
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

    /// Whether a message has an entry for short ones. Its lengths are within the limits of the standard then.
    #[inline(always)]
    pub(crate) fn is_short(&self, aad: usize, text: usize) -> bool {
        text <= self.most_short.1 && aad <= self.most_short.0
    }

    /// Through the entry for its lengths.
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
        if self.is_short(aad.len(), len) {
            // SAFETY: see the impl.
            return Ok(wiped_after!(frame, then(unsafe { short(frame, material, nonce, aad, ends, len) })));
        }
        limits::check(aad.len(), len)?;
        let mut text = text.into();
        // SAFETY: see the impl.
        Ok(wiped_after!(frame, then(unsafe { long(frame, material, nonce, aad, &mut text) })))
    }

    /// Seals (`seal`) or opens a text of more than a turn that lies in several buffers, on a row with `has_runs`. Returns what `then`
    /// makes of the tag that the message should have. The lengths are within the limits of the standard.
    #[inline(always)]
    pub(crate) fn runs<'a, T>(
        &self,
        material: &'a Material,
        nonce: Nonce96,
        aad: &[u8],
        runs: &'a mut Runs<'a>,
        seal: bool,
        then: impl FnOnce(Block) -> T,
    ) -> T {
        let long = if seal { self.seal } else { self.open };
        let mut text = Text::new(runs.rest().here(), Some(runs));
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| then(unsafe { long(frame, material, nonce, aad, &mut text) }))
    }

    /// The first packets go side by side: they have the same lengths, for which this row has a way, and are enough. The last of them are hashed with
    /// nothing beside: four of 16 bytes take 0.6 of the time of four calls, four of 32 bytes 1.1, eight 0.8 (Zen 4).
    #[inline(always)]
    pub(crate) fn side_by_side(&self, packets: &[Packet<'_>]) -> bool {
        let (Some(((most_aad, most_text), ..)), Some(first)) = (self.backend.batch(), packets.first()) else { return false };
        let bytes = first.bytes();
        let enough = if bytes <= 16 { TOGETHER } else { 2 * TOGETHER };
        // The first comparison is all that long packets see of this.
        bytes <= 4 * most_text
            && (bytes <= most_text || bytes == 2 * most_text || bytes == 4 * most_text)
            && first.aad.len() <= most_aad
            && first.lengths().is_some_and(|lengths| {
                packets.get(1..enough).is_some_and(|others| others.iter().all(|other| other.lengths() == Some(lengths)))
            })
    }

    /// Seals or opens packets of which the first go [`side_by_side`](Self::side_by_side). Returns how many, from the first on, and whether a tag
    /// was wrong.
    #[inline(always)]
    pub(crate) fn batch(&self, material: &Material, packets: &mut [Packet<'_>], seal: bool) -> (usize, bool) {
        let Some((_, sealing, opening)) = self.backend.batch() else { return (0, false) };
        let function = if seal { sealing } else { opening };
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { function(frame, material, packets) })
    }

    /// CTR alone, from that counter block on.
    #[cfg(feature = "hazmat")]
    #[inline(always)]
    pub(crate) fn ctr(&self, material: &Material, first: Block, text: InOut<'_>) {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| unsafe { (self.backend.ctr())(frame, material, first, text) })
    }

    /// Seals a message of AES-GCM-SIV, or opens it if its tag is `given`, and returns what `then` makes of the tag that it should have.
    #[inline(always)]
    pub(crate) fn siv<T>(
        &self,
        material: &Material,
        nonce: Nonce96,
        aad: &[u8],
        text: InOut<'_>,
        given: Option<Block>,
        then: impl FnOnce(Block) -> T,
    ) -> T {
        // SAFETY: see the impl.
        Frame::wiped_after(|frame| then(unsafe { (self.backend.siv())(frame, material, nonce, aad, text, given) }))
    }

    /// The steps of any message.
    #[inline(always)]
    pub(crate) fn steps(&self) -> &'static Steps {
        self.backend.steps()
    }
}

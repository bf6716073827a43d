//! THE TABLE of verbs: every public function that takes or makes a secret, called as a program calls it. Tests walk it: each verb beside the model
//! (`api::every_verb`), between guard pages, mixed with all others (`mix`), instruction by instruction (`constant_time`), and over a stack that is looked at
//! afterwards (`wiping`). `tests/public.rs`
//! fails if the library has a function that no row calls. docs/adding.md says how a row is added.
#![allow(dead_code)] // no test file needs all of it

use crate::allocator::allocating_in;
#[cfg(feature = "draft")]
use fastgcm::draft;
#[cfg(feature = "hazmat")]
use fastgcm::hazmat::{self, PartHash, Pieces, Plan, UnverifiedOpener};
#[cfg(feature = "aead06")]
use fastgcm::rustcrypto::{
    AeadInOut, Aes256Gcm, KeyInit,
    aead::{array::Array, inout::InOutBuf},
};
use fastgcm::{
    AesGcmSiv, Backend, CommittingTag, Error, KcXaes256Gcm, Key, Nonce, Packet, RootKey, Scheme, Tag, Xaes256Gcm,
    approved::ApprovedKey,
    batch,
    limits::Blocks,
    nonces::{self, CounterNonces, OpeningKey, SealingKey},
    open_once, seal_once,
};
use std::{hint::black_box, mem::MaybeUninit};

/// What the standards call it: what the model makes of key, nonce, AAD and text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    Gcm,
    /// AES-GCM of AAD alone.
    Gmac,
    Xaes,
    KcXaes,
    /// DNDK-GCM: bytes of its nonces, and whether it commits.
    Dndk(usize, bool),
    Siv,
    /// AES-CTR from a counter of 16 bytes, the nonce here. No AAD, no tag.
    Ctr,
    /// AES of each block. No nonce, no AAD, no tag.
    Blocks,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Does {
    Seals,
    Opens,
    /// Under a nonce that the verb draws: the text is what it was.
    SealsAndOpens,
}

/// Where text and tag lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// The text in `to`, the tag in `tag`.
    InPlace,
    /// From `from` to `to`, the tag in `tag`.
    Apart,
    /// Text and tag in `to`.
    InPlaceBehind,
    /// From `from` to `to`, the tag behind the ciphertext.
    Behind,
    /// The text in `from`: nothing is written but the verdict.
    Read,
}

/// What a message that is refused leaves in `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refused {
    Zeros,
    AsItWas,
    /// Text that nobody has verified: the caller wipes it.
    Unverified,
}

/// A row of the table.
pub(crate) struct Verb {
    /// The functions of the library that it calls: of a type by the type's name, free ones by their module's.
    pub(crate) functions: &'static [&'static str],
    pub(crate) form: Form,
    pub(crate) does: Does,
    pub(crate) shape: Shape,
    pub(crate) call: Call,
    /// Bytes of keys, of nonces (`&[]`: any number but zero).
    pub(crate) keys: &'static [usize],
    pub(crate) nonces: &'static [usize],
    /// It has no argument for the back end, and takes the best.
    pub(crate) best: bool,
    pub(crate) refused: Refused,
    /// Bytes of the tag that are looked at.
    pub(crate) tag: usize,
    /// How often it may branch on whether a tag is right: where it is, and where it is not. (One that seals looks only where there is text.)
    pub(crate) looks: [u64; 2],
    /// Why something of a secret may stay on the stack or in registers in spite of feature `scrub`.
    pub(crate) leaves: Option<&'static str>,
}

pub(crate) type Call = fn(&mut Job<'_>) -> Result<(), Error>;

/// All that a verb works on, each buffer where the walker has put it.
pub(crate) struct Job<'a> {
    pub(crate) keys: &'a mut Keys,
    pub(crate) key_bytes: &'a [u8],
    pub(crate) nonce: &'a [u8],
    pub(crate) aad: &'a [u8],
    pub(crate) from: &'a [u8],
    pub(crate) to: &'a mut [u8],
    pub(crate) tag: &'a mut Tag,
    /// What stands behind the tag: nothing, or 32 bytes if the scheme commits to its key.
    pub(crate) commitment: &'a mut [u8],
    /// What is allocated, and what a verb writes beside `to`: [`heap`] says how much that is.
    pub(crate) heap: &'a mut [u8],
}

/// Bytes of heap that each verb has enough of, with so many bytes of text.
pub(crate) const fn heap(text: usize) -> usize {
    8 * text + (32 << 10)
}

/// What is made outside of the call, where it stays.
pub(crate) struct Keys {
    pub(crate) key: Box<Key>,
    xaes: Box<Xaes256Gcm>,
    kc_xaes: Box<KcXaes256Gcm>,
    #[cfg(feature = "draft")]
    dndk24: Box<draft::DndkGcm24>,
    #[cfg(feature = "draft")]
    dndk12: Box<draft::DndkGcm12>,
    #[cfg(feature = "draft")]
    kc_dndk24: Box<draft::KcDndkGcm24>,
    #[cfg(feature = "draft")]
    kc_dndk12: Box<draft::KcDndkGcm12>,
    siv: Box<AesGcmSiv>,
    #[cfg(feature = "aead06")]
    cipher: Box<Aes256Gcm>,
}

impl Keys {
    pub(crate) fn new(backend: Backend) -> Self {
        let key = Key::boxed_with_backend(&[0; 32], backend).unwrap();
        assert_eq!(key.backend(), backend);
        Self {
            key,
            xaes: root(&[0; 32], backend),
            kc_xaes: root(&[0; 32], backend),
            #[cfg(feature = "draft")]
            dndk24: root(&[0; 32], backend),
            #[cfg(feature = "draft")]
            dndk12: root(&[0; 32], backend),
            #[cfg(feature = "draft")]
            kc_dndk24: root(&[0; 32], backend),
            #[cfg(feature = "draft")]
            kc_dndk12: root(&[0; 32], backend),
            siv: Box::new(AesGcmSiv::with_backend(&[0; 32], backend).unwrap()),
            #[cfg(feature = "aead06")]
            cipher: Box::new(Aes256Gcm::new(&Array([0; 32]))),
        }
    }

    /// The keys of these bytes that `verb` needs, in the place of others.
    pub(crate) fn set(&mut self, verb: &Verb, bytes: &[u8]) {
        self.key.rekey(bytes).unwrap();
        let backend = self.key.backend();
        if verb.functions[0].starts_with("ApprovedKey") {
            // The first one of a process tests its back end.
            ApprovedKey::with_backend(&[0; 16], CounterNonces::new([0; 4]), backend).unwrap();
        }
        match (verb.form, bytes.try_into()) {
            (Form::Xaes, Ok(bytes)) => *self.xaes = RootKey::with_backend(bytes, backend).unwrap(),
            (Form::KcXaes, Ok(bytes)) => *self.kc_xaes = RootKey::with_backend(bytes, backend).unwrap(),
            #[cfg(feature = "draft")]
            (Form::Dndk(24, false), Ok(bytes)) => *self.dndk24 = RootKey::with_backend(bytes, backend).unwrap(),
            #[cfg(feature = "draft")]
            (Form::Dndk(12, false), Ok(bytes)) => *self.dndk12 = RootKey::with_backend(bytes, backend).unwrap(),
            #[cfg(feature = "draft")]
            (Form::Dndk(24, true), Ok(bytes)) => *self.kc_dndk24 = RootKey::with_backend(bytes, backend).unwrap(),
            #[cfg(feature = "draft")]
            (Form::Dndk(12, true), Ok(bytes)) => *self.kc_dndk12 = RootKey::with_backend(bytes, backend).unwrap(),
            (Form::Siv, _) => *self.siv = siv(bytes, backend).unwrap(),
            #[cfg(feature = "aead06")]
            (_, Ok(bytes)) if backend == Backend::detect() => *self.cipher = Aes256Gcm::new(&Array(*bytes)),
            _ => {}
        }
    }
}

impl Keys {
    /// Seals in place, by the plainest verb of that form.
    pub(crate) fn seal(&self, form: Form, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> (Tag, Vec<u8>) {
        let tag = match form {
            Form::Xaes => self.xaes.seal(nonce.try_into().unwrap(), aad, text),
            Form::KcXaes => return ends(self.kc_xaes.seal(nonce.try_into().unwrap(), aad, text)),
            #[cfg(feature = "draft")]
            Form::Dndk(24, false) => self.dndk24.seal(nonce.try_into().unwrap(), aad, text),
            #[cfg(feature = "draft")]
            Form::Dndk(12, false) => self.dndk12.seal(nonce.try_into().unwrap(), aad, text),
            #[cfg(feature = "draft")]
            Form::Dndk(24, true) => return ends(self.kc_dndk24.seal(nonce.try_into().unwrap(), aad, text)),
            #[cfg(feature = "draft")]
            Form::Dndk(12, true) => return ends(self.kc_dndk12.seal(nonce.try_into().unwrap(), aad, text)),
            Form::Siv => self.siv.seal(nonce.try_into().unwrap(), aad, text),
            #[cfg(feature = "hazmat")]
            Form::Ctr => {
                hazmat::ctr(&self.key, nonce.try_into().unwrap(), text);
                Ok(Tag([0; 16]))
            }
            #[cfg(feature = "hazmat")]
            Form::Blocks => {
                hazmat::aes_blocks(&self.key, text.as_chunks_mut().0);
                Ok(Tag([0; 16]))
            }
            _ => self.key.seal(Nonce::any(nonce).unwrap(), aad, text),
        };
        (tag.unwrap(), vec![])
    }
}

/// Tag and commitment.
fn ends(tag: Result<CommittingTag, Error>) -> (Tag, Vec<u8>) {
    let tag = tag.unwrap();
    let (first, commitment) = tag.split_first_chunk().unwrap();
    (Tag(*first), commitment.to_vec())
}

fn root<S: Scheme>(bytes: &[u8; 32], backend: Backend) -> Box<RootKey<S>> {
    Box::new(RootKey::with_backend(bytes, backend).unwrap())
}

/// A scheme whose key is made outside of the call.
trait Made: Scheme {
    fn key(keys: &Keys) -> &RootKey<Self>;
}

macro_rules! made {
    ($($(#[$when:meta])? $key:ident $scheme:ty;)+) => {$(
        $(#[$when])?
        impl Made for $scheme {
            fn key(keys: &Keys) -> &RootKey<Self> {
                &keys.$key
            }
        }
    )+};
}
made! {
    xaes fastgcm::Xaes;
    kc_xaes fastgcm::KcXaes;
    #[cfg(feature = "draft")] dndk24 draft::Dndk<24, false>;
    #[cfg(feature = "draft")] dndk12 draft::Dndk<12, false>;
    #[cfg(feature = "draft")] kc_dndk24 draft::Dndk<24, true>;
    #[cfg(feature = "draft")] kc_dndk12 draft::Dndk<12, true>;
}

fn siv(bytes: &[u8], backend: Backend) -> Result<AesGcmSiv, Error> {
    #[cfg(feature = "hazmat")]
    if let Ok(bytes) = bytes.try_into() {
        return AesGcmSiv::aes192_with_backend(bytes, backend);
    }
    AesGcmSiv::with_backend(bytes, backend)
}

impl<'a> Job<'a> {
    fn backend(&self) -> Backend {
        self.keys.key.backend()
    }

    fn nonce(&self) -> Nonce<'a> {
        Nonce::any(self.nonce).unwrap()
    }

    fn nonce96(&self) -> [u8; 12] {
        self.nonce.try_into().unwrap()
    }

    /// In two pieces.
    fn aads(&self) -> [&'a [u8]; 2] {
        self.aad.split_at(self.aad.len() / 3).into()
    }

    /// Nonces that begin with this one.
    fn counted(&self) -> CounterNonces {
        let (fixed, next) = self.nonce.split_first_chunk().unwrap();
        CounterNonces::starting_at(*fixed, u64::from_be_bytes(next.try_into().unwrap())).unwrap()
    }

    /// The nonce of a scheme that derives keys.
    fn nonce_of<S: Scheme>(&self) -> S::Nonce {
        S::Nonce::try_from(self.nonce).ok().unwrap()
    }

    /// Its tag.
    fn tag_of<S: Scheme>(&self) -> S::Tag {
        let (mut bytes, n) = ([0; 48], 16 + self.commitment.len());
        bytes[..16].copy_from_slice(&self.tag.0);
        bytes[16..n].copy_from_slice(self.commitment);
        S::Tag::try_from(&bytes[..n]).ok().unwrap()
    }

    /// Takes its tag.
    fn tells(&mut self, tag: impl AsRef<[u8]>) {
        let (tag, commitment) = tag.as_ref().split_at(16);
        self.tag.0.copy_from_slice(tag);
        self.commitment.copy_from_slice(commitment);
    }

    /// What one key does: seals in place.
    fn seal_by(&mut self, key: &Key) -> Result<(), Error> {
        key.seal(self.nonce(), self.aad, self.to).map(|tag| *self.tag = tag)
    }
}

/// A message with its nonce in front.
fn prefixed<'b>(buffer: &'b mut [u8], [nonce, sealed]: [&[u8]; 2]) -> &'b mut [u8] {
    let buffer = &mut buffer[..nonce.len() + sealed.len()];
    buffer[..nonce.len()].copy_from_slice(nonce);
    buffer[nonce.len()..].copy_from_slice(sealed);
    buffer
}

/// A text in three pieces.
fn three(text: &mut [u8]) -> [&mut [u8]; 3] {
    let (first, second) = (text.len() / 3, text.len() - text.len() / 5);
    let (rest, three) = text.split_at_mut(second);
    let (one, two) = rest.split_at_mut(first);
    [one, two, three]
}

fn three_of(text: &[u8]) -> [&[u8]; 3] {
    let (first, second) = (text.len() / 3, text.len() - text.len() / 5);
    [&text[..first], &text[first..second], &text[second..]]
}

/// Where the second of two parts begins.
fn half(text: usize) -> usize {
    text / 32 * 16
}

/// Copies what the library has made to where the test looks, byte by byte, and at the end zeros: no text stays in a register, or where the compiler spills it.
fn given(made: &[u8], to: &mut [u8]) {
    made.iter().chain(&[0; 16]).zip(to.iter_mut().chain(&mut [0; 16])).for_each(|(made, to)| *to = black_box(*made));
}

/// The bytes that a call returns, which allocates in `heap`: the caller has them in `to`.
fn returned(heap: &mut [u8], to: &mut [u8], call: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<(), Error> {
    allocating_in(heap, || {
        given(&call()?, to);
        Ok(())
    })
}

fn verdict(right: bool) -> Result<(), Error> {
    if right { Ok(()) } else { Err(Error::Unauthentic) }
}

fn row(form: Form, does: Does, shape: Shape, functions: &'static [&'static str], call: Call) -> Verb {
    let (keys, nonces): (&[usize], &[usize]) = match form {
        Form::Gcm | Form::Gmac => (&[16, 24, 32], &[]),
        Form::Xaes | Form::KcXaes | Form::Dndk(24, _) => (&[32], &[24]),
        Form::Dndk(..) => (&[32], TWELVE),
        Form::Siv => (&[16, 32], &[12]),
        Form::Ctr => (&[16, 24, 32], &[16]),
        Form::Blocks => (&[16, 24, 32], &[0]),
    };
    let tag = if matches!(form, Form::KcXaes | Form::Dndk(_, true)) { 48 } else { 16 };
    let (best, refused, leaves) = (false, Refused::Zeros, None);
    let looks = if does == Does::Opens { [1, 1] } else { [0, 0] };
    Verb { functions, form, does, shape, call, keys, nonces, best, refused, tag, looks, leaves }
}

fn seals(shape: Shape, functions: &'static [&'static str], call: Call) -> Verb {
    row(Form::Gcm, Does::Seals, shape, functions, call)
}

fn opens(shape: Shape, functions: &'static [&'static str], call: Call) -> Verb {
    row(Form::Gcm, Does::Opens, shape, functions, call)
}

/// Why a value that a function returns may be found on the stack: nobody knows where the compiler has copied it from. (The library says so of each.)
const BY_VALUE: Option<&str> = Some("it is returned by value: what the compiler copied when it was moved is not wiped");
/// Why a key that is made in memory of the caller's choice may be found there.
const IN_PLACE: Option<&str> = Some("its place is on the stack here, and nobody drops the key");
/// Why what a caller of `hazmat` is given may be found there.
const HANDED_OUT: Option<&str> = Some("it is handed to the caller, by value");

/// And here.
const BETWEEN_THREADS: Option<&str> = Some("hashes of parts go by value from thread to thread, and each thread has a stack of its own");

const TWELVE: &[usize] = &[12];

fn all() -> Vec<Verb> {
    use Does::{Opens, Seals};
    use Shape::{Apart, Behind, InPlace, InPlaceBehind, Read};
    let mut all = vec![
        // Keys, however they are made.
        Verb { best: true, leaves: BY_VALUE, ..seals(InPlace, &["Key::new"], |job| job.seal_by(&Key::new(job.key_bytes)?)) },
        Verb {
            best: true,
            leaves: BY_VALUE,
            ..seals(InPlace, &["Key::aes128", "Key::aes192", "Key::aes256"], |job| match job.key_bytes.len() {
                16 => job.seal_by(&Key::aes128(job.key_bytes.try_into().unwrap())),
                24 => job.seal_by(&Key::aes192(job.key_bytes.try_into().unwrap())),
                _ => job.seal_by(&Key::aes256(job.key_bytes.try_into().unwrap())),
            })
        },
        Verb {
            leaves: BY_VALUE,
            ..seals(InPlace, &["Key::with_backend"], |job| job.seal_by(&Key::with_backend(job.key_bytes, job.backend())?))
        },
        Verb {
            best: true,
            ..seals(InPlace, &["Key::boxed"], |job| {
                let heap = std::mem::take(&mut job.heap);
                allocating_in(heap, || job.seal_by(&*Key::boxed(job.key_bytes)?))
            })
        },
        seals(InPlace, &["Key::boxed_with_backend"], |job| {
            let heap = std::mem::take(&mut job.heap);
            allocating_in(heap, || job.seal_by(&*Key::boxed_with_backend(job.key_bytes, job.backend())?))
        }),
        seals(InPlace, &["Key::shared_with_backend"], |job| {
            let heap = std::mem::take(&mut job.heap);
            allocating_in(heap, || job.seal_by(&*Key::shared_with_backend(job.key_bytes, job.backend())?))
        }),
        Verb {
            leaves: IN_PLACE,
            ..seals(InPlace, &["Key::init_in_place"], |job| {
                let mut place = MaybeUninit::uninit();
                let key = Key::init_in_place(&mut place, job.key_bytes, job.backend())?;
                job.seal_by(key)
            })
        },
        seals(InPlace, &["Key::rekey"], |job| {
            job.keys.key.rekey(job.key_bytes)?;
            job.keys.key.seal(job.nonce(), job.aad, job.to).map(|tag| *job.tag = tag)
        }),
        // A message in one call.
        seals(InPlace, &["Key::seal"], |job| job.keys.key.seal(job.nonce(), job.aad, job.to).map(|tag| *job.tag = tag)),
        seals(InPlaceBehind, &["Key::seal_appended"], |job| job.keys.key.seal_appended(job.nonce(), job.aad, job.to)),
        Verb {
            leaves: Some("the vector grows behind the text, which is ciphertext then: registers hold what was copied"),
            ..seals(Behind, &["Key::seal_in_place_append_tag"], |job| {
                returned(job.heap, job.to, || {
                    let mut text = job.from.to_vec();
                    job.keys.key.seal_in_place_append_tag(Nonce::any(job.nonce).unwrap(), job.aad, &mut text)?;
                    Ok(text)
                })
            })
        },
        seals(Apart, &["Key::seal_detached_to"], |job| {
            job.keys.key.seal_detached_to(job.nonce(), job.aad, job.from, job.to).map(|tag| *job.tag = tag)
        }),
        seals(Behind, &["Key::seal_to"], |job| job.keys.key.seal_to(job.nonce(), job.aad, job.from, job.to)),
        seals(Behind, &["Key::seal_vec"], |job| {
            returned(job.heap, job.to, || job.keys.key.seal_vec(Nonce::any(job.nonce).unwrap(), job.aad, job.from))
        }),
        opens(InPlace, &["Key::open"], |job| job.keys.key.open(job.nonce(), job.aad, job.to, job.tag)),
        Verb {
            refused: Refused::AsItWas,
            looks: [2, 1],
            ..opens(InPlace, &["Key::open_verified_first"], |job| job.keys.key.open_verified_first(job.nonce(), job.aad, job.to, job.tag))
        },
        Verb {
            refused: Refused::AsItWas,
            ..opens(InPlace, &["Key::open_restoring"], |job| job.keys.key.open_restoring(job.nonce(), job.aad, job.to, job.tag))
        },
        opens(Read, &["Key::verify"], |job| job.keys.key.verify(job.nonce(), job.aad, job.from, job.tag)),
        opens(InPlaceBehind, &["Key::open_appended"], |job| job.keys.key.open_appended(job.nonce(), job.aad, job.to).map(drop)),
        opens(Behind, &["Key::open_within"], |job| {
            let buffer = &mut job.heap[..7 + job.from.len()];
            buffer[7..].copy_from_slice(job.from);
            let opened = job.keys.key.open_within(Nonce::any(job.nonce).unwrap(), job.aad, buffer, 7..).map(drop);
            given(buffer, job.to);
            opened
        }),
        opens(Apart, &["Key::open_detached_to"], |job| job.keys.key.open_detached_to(job.nonce(), job.aad, job.from, job.to, job.tag)),
        opens(Behind, &["Key::open_to"], |job| job.keys.key.open_to(job.nonce(), job.aad, job.from, job.to)),
        opens(Behind, &["Key::open_vec"], |job| {
            job.to.fill(0);
            returned(job.heap, job.to, || job.keys.key.open_vec(Nonce::any(job.nonce).unwrap(), job.aad, job.from))
        }),
        Verb {
            tag: 12,
            ..opens(InPlace, &["Key::open", "Tag::truncate"], |job| {
                job.keys.key.open(job.nonce(), job.aad, job.to, &job.tag.truncate::<12>())
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            tag: 4,
            ..opens(InPlace, &["Key::open", "Tag::truncate"], |job| {
                job.keys.key.open(job.nonce(), job.aad, job.to, &job.tag.truncate::<4>())
            })
        },
        // Under a key for one message.
        Verb {
            best: true,
            ..seals(InPlace, &["seal_once"], |job| seal_once(job.key_bytes, job.nonce(), job.aad, job.to).map(|tag| *job.tag = tag))
        },
        Verb { best: true, ..opens(InPlace, &["open_once"], |job| open_once(job.key_bytes, job.nonce(), job.aad, job.to, job.tag)) },
        seals(InPlace, &["Backend::seal_once"], |job| {
            job.backend().seal_once(job.key_bytes, job.nonce(), job.aad, job.to).map(|tag| *job.tag = tag)
        }),
        opens(InPlace, &["Backend::open_once"], |job| job.backend().open_once(job.key_bytes, job.nonce(), job.aad, job.to, job.tag)),
        // Lists of chunks.
        seals(Apart, &["Key::seal_gathered"], |job| {
            let ([one, two, extra], aads) = (three_of(job.from), job.aads());
            job.keys.key.seal_gathered(job.nonce(), &aads, &[one, two], extra, job.to).map(|tag| *job.tag = tag)
        }),
        seals(Apart, &["Key::seal_scattered"], |job| {
            let ([one, two, extra], aads) = (three_of(job.from), job.aads());
            let (first, second) = job.to.split_at_mut(job.from.len() / 2);
            let sealed = job.keys.key.seal_scattered(Nonce::any(job.nonce).unwrap(), &aads, &[one, two], extra, &mut [first, second]);
            sealed.map(|tag| *job.tag = tag)
        }),
        seals(InPlace, &["Key::seal_chunks"], |job| {
            job.keys.key.seal_chunks(job.nonce(), &job.aads(), &mut three(job.to)).map(|tag| *job.tag = tag)
        }),
        opens(Apart, &["Key::open_gathered"], |job| {
            job.keys.key.open_gathered(job.nonce(), &job.aads(), &three_of(job.from), job.to, job.tag)
        }),
        opens(Apart, &["Key::open_scattered"], |job| {
            let (nonce, aads, (first, second)) = (job.nonce(), job.aads(), job.to.split_at_mut(job.from.len() / 2));
            job.keys.key.open_scattered(nonce, &aads, &three_of(job.from), &mut [first, second], job.tag)
        }),
        opens(InPlace, &["Key::open_chunks"], |job| job.keys.key.open_chunks(job.nonce(), &job.aads(), &mut three(job.to), job.tag)),
        Verb {
            refused: Refused::AsItWas,
            looks: [2, 1],
            ..opens(Apart, &["Key::open_gathered_verified_first"], |job| {
                job.keys.key.open_gathered_verified_first(job.nonce(), &job.aads(), &three_of(job.from), job.to, job.tag)
            })
        },
        // Messages in pieces.
        Verb {
            leaves: BY_VALUE,
            ..seals(InPlace, &["Key::sealer", "Sealer::aad", "Sealer::text", "Sealer::seal", "Sealer::finish"], |job| {
                let mut sealer = job.keys.key.sealer(job.nonce());
                job.aads().iter().try_for_each(|piece| sealer.aad(piece))?;
                let mut sealer = sealer.text();
                three(job.to).into_iter().try_for_each(|piece| sealer.seal(piece))?;
                *job.tag = sealer.finish();
                Ok(())
            })
        },
        Verb {
            leaves: BY_VALUE,
            ..seals(Apart, &["Sealer::seal_to"], |job| {
                let mut sealer = job.keys.key.sealer(job.nonce());
                sealer.aad(job.aad)?;
                let mut sealer = sealer.text();
                three_of(job.from).iter().zip(three(job.to)).try_for_each(|(from, to)| sealer.seal_to(from, to))?;
                *job.tag = sealer.finish();
                Ok(())
            })
        },
        Verb {
            leaves: BY_VALUE,
            ..row(Form::Gmac, Seals, Read, &["Key::gmac", "Gmac::update", "Gmac::finish"], |job| {
                let mut mac = job.keys.key.gmac(job.nonce());
                job.aads().iter().try_for_each(|piece| mac.update(piece))?;
                *job.tag = mac.finish();
                Ok(())
            })
        },
        Verb {
            leaves: BY_VALUE,
            ..row(Form::Gmac, Opens, Read, &["Gmac::verify"], |job| {
                let mut mac = job.keys.key.gmac(job.nonce());
                job.aads().iter().try_for_each(|piece| mac.update(piece))?;
                mac.verify(job.tag)
            })
        },
        // Batches.
        Verb {
            nonces: TWELVE,
            ..seals(Apart, &["Key::seal_batch"], |job| {
                let (key, mut packets) = eight(job, false);
                key.seal_batch(&mut packets)?;
                let tag = packets[7].tag;
                *job.tag = tag;
                Ok(())
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: Some("the tags of the other packets, which are the caller's"),
            ..seals(Apart, &["Key::seal_batch_counter"], |job| {
                let (nonce, (key, mut packets)) = (job.nonce96(), eight(job, true));
                key.seal_batch_counter(nonce, &mut packets)?;
                let tag = packets[0].tag;
                *job.tag = tag;
                Ok(())
            })
        },
        Verb {
            nonces: TWELVE,
            ..seals(Apart, &["batch::seal"], |job| {
                let (key, mut packets) = eight(job, false);
                batch::seal(&[key; 8], &mut packets)?;
                let tag = packets[7].tag;
                *job.tag = tag;
                Ok(())
            })
        },
        Verb {
            nonces: TWELVE,
            looks: [8, 8],
            ..opens(Apart, &["Key::open_batch"], |job| {
                let (key, mut packets) = eight(job, false);
                key.open_batch(&mut packets)
            })
        },
        Verb {
            nonces: TWELVE,
            looks: [8, 8],
            ..opens(Apart, &["batch::open"], |job| {
                let (key, mut packets) = eight(job, false);
                batch::open(&[key; 8], &mut packets)
            })
        },
        // Keys that choose their nonces.
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..seals(InPlace, &["SealingKey::with_backend", "SealingKey::seal"], |job| {
                let mut sealing = SealingKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                let (nonce, tag) = sealing.seal(job.aad, job.to)?;
                *job.tag = tag;
                verdict(nonce == job.nonce)
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..opens(InPlace, &["SealingKey::open"], |job| {
                let sealing = SealingKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                sealing.open(job.nonce(), job.aad, job.to, job.tag)
            })
        },
        Verb {
            nonces: TWELVE,
            best: true,
            leaves: BY_VALUE,
            ..opens(InPlace, &["SealingKey::new"], |job| {
                let sealing = SealingKey::new(job.key_bytes, CounterNonces::new([0; 4]))?;
                sealing.open(job.nonce(), job.aad, job.to, job.tag)
            })
        },
        Verb {
            nonces: TWELVE,
            best: true,
            leaves: BY_VALUE,
            ..seals(InPlace, &["SealingKey::with_blocks"], |job| {
                let mut sealing = SealingKey::with_blocks(job.key_bytes, job.counted(), const { Blocks::confidentiality(2) })?;
                let (nonce, tag) = sealing.seal(job.aad, job.to)?;
                *job.tag = tag;
                verdict(nonce == job.nonce)
            })
        },
        Verb {
            leaves: BY_VALUE,
            ..opens(InPlace, &["OpeningKey::with_backend", "OpeningKey::open"], |job| {
                let mut opening = OpeningKey::with_backend(job.key_bytes, job.backend())?;
                opening.open(job.nonce(), job.aad, job.to, job.tag)
            })
        },
        Verb {
            best: true,
            leaves: BY_VALUE,
            ..opens(InPlace, &["OpeningKey::new"], |job| OpeningKey::new(job.key_bytes)?.open(job.nonce(), job.aad, job.to, job.tag))
        },
        Verb {
            best: true,
            leaves: BY_VALUE,
            ..opens(InPlace, &["OpeningKey::with_blocks"], |job| {
                let mut opening = OpeningKey::with_blocks(job.key_bytes, Blocks::integrity(2))?;
                opening.open(job.nonce(), job.aad, job.to, job.tag)
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..opens(Behind, &["OpeningKey::open_prefixed"], |job| {
                let mut opening = OpeningKey::with_backend(job.key_bytes, job.backend())?;
                let buffer = prefixed(job.heap, [job.nonce, job.from]);
                let opened = opening.open_prefixed(job.aad, buffer).map(drop);
                given(&buffer[job.nonce.len()..][..job.to.len()], job.to);
                opened
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..opens(Behind, &["OpeningKey::open_vec"], |job| {
                let mut opening = OpeningKey::with_backend(job.key_bytes, job.backend())?;
                job.to.fill(0);
                let (buffer, heap) = job.heap.split_at_mut(job.nonce.len() + job.from.len());
                let message = prefixed(buffer, [job.nonce, job.from]);
                returned(heap, job.to, || opening.open_vec(job.aad, message))
            })
        },
        // Their nonce in front of the message.
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..seals(InPlaceBehind, &["SealingKey::seal_appended"], |job| {
                let mut sealing = SealingKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                verdict(sealing.seal_appended(job.aad, job.to)? == job.nonce)
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..seals(Behind, &["SealingKey::seal_prefixed"], |job| {
                let mut sealing = SealingKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                let buffer = &mut job.heap[..12 + job.to.len()];
                buffer[12..][..job.from.len()].copy_from_slice(job.from);
                sealing.seal_prefixed(job.aad, buffer)?;
                given(&buffer[12..], job.to);
                verdict(buffer[..12] == *job.nonce)
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..seals(Behind, &["SealingKey::seal_vec"], |job| {
                let mut sealing = SealingKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                allocating_in(job.heap, || {
                    let message = sealing.seal_vec(job.aad, job.from)?;
                    given(&message[12..], job.to);
                    verdict(message[..12] == *job.nonce)
                })
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..opens(Behind, &["SealingKey::open_prefixed"], |job| {
                let sealing = SealingKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                let buffer = prefixed(job.heap, [job.nonce, job.from]);
                let opened = sealing.open_prefixed(job.aad, buffer).map(drop);
                given(&buffer[job.nonce.len()..][..job.to.len()], job.to);
                opened
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..opens(Behind, &["SealingKey::open_vec"], |job| {
                let sealing = SealingKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                job.to.fill(0);
                let (buffer, heap) = job.heap.split_at_mut(job.nonce.len() + job.from.len());
                let message = prefixed(buffer, [job.nonce, job.from]);
                returned(heap, job.to, || sealing.open_vec(job.aad, message))
            })
        },
        Verb {
            nonces: TWELVE,
            ..opens(Behind, &["nonces::open_prefixed"], |job| {
                let buffer = prefixed(job.heap, [job.nonce, job.from]);
                let opened = nonces::open_prefixed(&job.keys.key, job.aad, buffer).map(drop);
                given(&buffer[job.nonce.len()..][..job.to.len()], job.to);
                opened
            })
        },
        Verb {
            nonces: TWELVE,
            ..opens(Behind, &["nonces::open_vec"], |job| {
                job.to.fill(0);
                let (buffer, heap) = job.heap.split_at_mut(job.nonce.len() + job.from.len());
                let message = prefixed(buffer, [job.nonce, job.from]);
                returned(heap, job.to, || nonces::open_vec(&job.keys.key, job.aad, message))
            })
        },
        // What is approved.
        Verb {
            nonces: TWELVE,
            best: true,
            leaves: BY_VALUE,
            ..seals(InPlace, &["ApprovedKey::new", "ApprovedKey::seal"], |job| {
                let (nonce, tag) = ApprovedKey::new(job.key_bytes, job.counted())?.seal(job.aad, job.to)?;
                *job.tag = tag;
                verdict(nonce == *job.nonce)
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..seals(Behind, &["ApprovedKey::with_backend", "ApprovedKey::seal_vec"], |job| {
                let mut key = ApprovedKey::with_backend(job.key_bytes, job.counted(), job.backend())?;
                allocating_in(job.heap, || {
                    let message = key.seal_vec(job.aad, job.from)?;
                    given(&message[12..], job.to);
                    verdict(message[..12] == *job.nonce)
                })
            })
        },
        Verb {
            leaves: BY_VALUE,
            ..opens(InPlace, &["ApprovedKey::open"], |job| {
                let key = ApprovedKey::with_backend(job.key_bytes, CounterNonces::new([0; 4]), job.backend())?;
                key.open(job.nonce(), job.aad, job.to, job.tag)
            })
        },
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            ..opens(Behind, &["ApprovedKey::open_vec"], |job| {
                let key = ApprovedKey::with_backend(job.key_bytes, CounterNonces::new([0; 4]), job.backend())?;
                job.to.fill(0);
                let (buffer, heap) = job.heap.split_at_mut(job.nonce.len() + job.from.len());
                let message = prefixed(buffer, [job.nonce, job.from]);
                returned(heap, job.to, || key.open_vec(job.aad, message))
            })
        },
        // What a root key opens, sealed again.
        Verb {
            looks: [2, 1],
            leaves: HANDED_OUT,
            ..row(Form::KcXaes, Opens, InPlace, &["CommittingTag::eq"], |job| {
                let (nonce, tag) = (job.nonce_of::<fastgcm::KcXaes>(), job.tag_of::<fastgcm::KcXaes>());
                job.keys.kc_xaes.open(&nonce, job.aad, job.to, &tag)?;
                let again = &mut job.heap[..job.to.len()];
                again.copy_from_slice(job.to);
                verdict(job.keys.kc_xaes.seal(&nonce, job.aad, again)? == tag)
            })
        },
        // AES-GCM-SIV.
        Verb {
            best: true,
            leaves: BY_VALUE,
            ..row(Form::Siv, Seals, InPlace, &["AesGcmSiv::new"], |job| {
                let siv = AesGcmSiv::new(job.key_bytes)?;
                siv.seal(job.nonce.try_into().unwrap(), job.aad, job.to).map(|tag| *job.tag = tag)
            })
        },
        Verb {
            best: true,
            leaves: BY_VALUE,
            ..row(Form::Siv, Seals, InPlace, &["AesGcmSiv::aes128", "AesGcmSiv::aes256"], |job| {
                let siv = match job.key_bytes.try_into() {
                    Ok(bytes) => AesGcmSiv::aes256(bytes),
                    Err(_) => AesGcmSiv::aes128(job.key_bytes.try_into().unwrap()),
                };
                siv.seal(job.nonce.try_into().unwrap(), job.aad, job.to).map(|tag| *job.tag = tag)
            })
        },
        Verb {
            leaves: BY_VALUE,
            ..row(Form::Siv, Seals, InPlace, &["AesGcmSiv::with_backend"], |job| {
                let siv = AesGcmSiv::with_backend(job.key_bytes, job.backend())?;
                siv.seal(job.nonce.try_into().unwrap(), job.aad, job.to).map(|tag| *job.tag = tag)
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            keys: &[24],
            leaves: BY_VALUE,
            ..row(Form::Siv, Seals, InPlace, &["AesGcmSiv::aes192_with_backend"], |job| {
                let siv = AesGcmSiv::aes192_with_backend(job.key_bytes.try_into().unwrap(), job.backend())?;
                siv.seal(job.nonce.try_into().unwrap(), job.aad, job.to).map(|tag| *job.tag = tag)
            })
        },
        row(Form::Siv, Seals, InPlace, &["AesGcmSiv::shared_with_backend"], |job| {
            let heap = std::mem::take(&mut job.heap);
            let seal =
                || AesGcmSiv::shared_with_backend(job.key_bytes, job.backend())?.seal(job.nonce.try_into().unwrap(), job.aad, job.to);
            allocating_in(heap, seal).map(|tag| *job.tag = tag)
        }),
        Verb {
            leaves: IN_PLACE,
            ..row(Form::Siv, Seals, InPlace, &["AesGcmSiv::init_in_place"], |job| {
                let mut place = MaybeUninit::uninit();
                let siv = AesGcmSiv::init_in_place(&mut place, job.key_bytes, job.backend())?;
                siv.seal(job.nonce.try_into().unwrap(), job.aad, job.to).map(|tag| *job.tag = tag)
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            keys: &[24],
            leaves: IN_PLACE,
            ..row(Form::Siv, Seals, InPlace, &["AesGcmSiv::aes192_init_in_place"], |job| {
                let mut place = MaybeUninit::uninit();
                let siv = AesGcmSiv::aes192_init_in_place(&mut place, job.key_bytes.try_into().unwrap(), job.backend())?;
                siv.seal(job.nonce.try_into().unwrap(), job.aad, job.to).map(|tag| *job.tag = tag)
            })
        },
        row(Form::Siv, Seals, InPlace, &["AesGcmSiv::seal"], |job| {
            job.keys.siv.seal(job.nonce.try_into().unwrap(), job.aad, job.to).map(|tag| *job.tag = tag)
        }),
        row(Form::Siv, Seals, Apart, &["AesGcmSiv::seal_detached_to"], |job| {
            let nonce = job.nonce.try_into().unwrap();
            job.keys.siv.seal_detached_to(nonce, job.aad, job.from, job.to).map(|tag| *job.tag = tag)
        }),
        row(Form::Siv, Opens, InPlace, &["AesGcmSiv::open"], |job| {
            job.keys.siv.open(job.nonce.try_into().unwrap(), job.aad, job.to, job.tag)
        }),
        row(Form::Siv, Opens, Apart, &["AesGcmSiv::open_detached_to"], |job| {
            job.keys.siv.open_detached_to(job.nonce.try_into().unwrap(), job.aad, job.from, job.to, job.tag)
        }),
        // One message on all cores. With a watch a short message is cut in parts as well, and one thread does them.
        #[cfg(feature = "rayon")]
        Verb {
            leaves: BETWEEN_THREADS,
            ..seals(InPlace, &["Key::parallel", "Parallel::watch", "Parallel::seal"], |job| {
                let nonce = job.nonce();
                allocating_in(job.heap, || job.keys.key.parallel().watch(&go_on).seal(nonce, job.aad, job.to)).map(|tag| *job.tag = tag)
            })
        },
        #[cfg(feature = "rayon")]
        Verb {
            leaves: BETWEEN_THREADS,
            ..seals(Apart, &["Parallel::seal_detached_to"], |job| {
                let (nonce, parallel) = (job.nonce(), job.keys.key.parallel());
                let sealed = allocating_in(job.heap, || parallel.watch(&go_on).seal_detached_to(nonce, job.aad, job.from, job.to));
                sealed.map(|tag| *job.tag = tag)
            })
        },
        #[cfg(feature = "rayon")]
        Verb {
            leaves: BETWEEN_THREADS,
            ..opens(InPlace, &["Parallel::open"], |job| {
                let nonce = job.nonce();
                allocating_in(job.heap, || job.keys.key.parallel().watch(&go_on).open(nonce, job.aad, job.to, &*job.tag))
            })
        },
        #[cfg(feature = "rayon")]
        Verb {
            leaves: BETWEEN_THREADS,
            ..opens(Apart, &["Parallel::open_detached_to"], |job| {
                let (nonce, parallel) = (job.nonce(), job.keys.key.parallel());
                allocating_in(job.heap, || parallel.watch(&go_on).open_detached_to(nonce, job.aad, job.from, job.to, &*job.tag))
            })
        },
        // What is easily misused.
        #[cfg(feature = "hazmat")]
        row(Form::Ctr, Seals, InPlace, &["hazmat::ctr"], |job| {
            hazmat::ctr(&job.keys.key, job.nonce.try_into().unwrap(), job.to);
            Ok(())
        }),
        #[cfg(feature = "hazmat")]
        row(Form::Blocks, Seals, InPlace, &["hazmat::aes_block"], |job| {
            job.to.as_chunks_mut().0.iter_mut().for_each(|block| hazmat::aes_block(&job.keys.key, block));
            Ok(())
        }),
        #[cfg(feature = "hazmat")]
        row(Form::Blocks, Seals, InPlace, &["hazmat::aes_blocks"], |job| {
            hazmat::aes_blocks(&job.keys.key, job.to.as_chunks_mut().0);
            Ok(())
        }),
        #[cfg(feature = "hazmat")]
        Verb {
            refused: Refused::Unverified,
            leaves: HANDED_OUT,
            ..opens(InPlace, &["hazmat::open_unverified", "Tag::eq"], |job| {
                verdict(hazmat::open_unverified(&job.keys.key, job.nonce(), job.aad, job.to)? == *job.tag)
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            refused: Refused::Unverified,
            tag: 12,
            leaves: HANDED_OUT,
            ..opens(InPlace, &["hazmat::open_once_unverified", "ShortTag::eq"], |job| {
                let (nonce, aad) = (job.nonce(), job.aad);
                let found = hazmat::open_once_unverified(job.backend(), job.key_bytes, nonce, aad, job.to)?;
                verdict(found.truncate::<12>() == job.tag.truncate())
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            refused: Refused::Unverified,
            leaves: BY_VALUE,
            ..opens(
                InPlace,
                &[
                    "UnverifiedOpener::new",
                    "UnverifiedOpener::aad",
                    "UnverifiedOpener::text",
                    "UnverifiedOpener::open",
                    "UnverifiedOpener::verify",
                ],
                |job| {
                    let mut opener = UnverifiedOpener::new(&job.keys.key, job.nonce());
                    job.aads().iter().try_for_each(|piece| opener.aad(piece))?;
                    let mut opener = opener.text();
                    three(job.to).into_iter().try_for_each(|piece| opener.open(piece))?;
                    opener.verify(job.tag)
                },
            )
        },
        #[cfg(feature = "hazmat")]
        Verb {
            refused: Refused::Unverified,
            leaves: BY_VALUE,
            ..opens(Apart, &["UnverifiedOpener::open_to"], |job| {
                let mut opener = UnverifiedOpener::new(&job.keys.key, job.nonce());
                opener.aad(job.aad)?;
                let mut opener = opener.text();
                three_of(job.from).iter().zip(three(job.to)).try_for_each(|(from, to)| opener.open_to(from, to))?;
                opener.verify(job.tag)
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            leaves: BY_VALUE,
            ..seals(InPlace, &["Pieces::new", "Pieces::aad", "Pieces::seal", "Pieces::finish"], |job| {
                let key = &job.keys.key;
                let mut pieces = Pieces::new(key, job.nonce());
                job.aads().iter().try_for_each(|piece| pieces.aad(key, piece))?;
                three(job.to).into_iter().try_for_each(|piece| pieces.seal(key, piece))?;
                *job.tag = pieces.finish(key)?;
                Ok(())
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            leaves: BY_VALUE,
            ..seals(Apart, &["Pieces::seal_to", "Pieces::duplicate"], |job| {
                let key = &job.keys.key;
                let mut pieces = Pieces::new(key, job.nonce());
                pieces.aad(key, job.aad)?;
                for (from, to) in three_of(job.from).iter().zip(three(job.to)) {
                    pieces.seal_to(key, from, to)?;
                    pieces = pieces.duplicate();
                }
                *job.tag = pieces.finish(key)?;
                Ok(())
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            refused: Refused::Unverified,
            leaves: BY_VALUE,
            ..opens(InPlace, &["Pieces::open", "Pieces::verify"], |job| {
                let key = &job.keys.key;
                let mut pieces = Pieces::new(key, job.nonce());
                job.aads().iter().try_for_each(|piece| pieces.aad(key, piece))?;
                three(job.to).into_iter().try_for_each(|piece| pieces.open(key, piece))?;
                pieces.verify(key, &job.tag.0)
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            refused: Refused::Unverified,
            leaves: BY_VALUE,
            ..opens(Apart, &["Pieces::open_to"], |job| {
                let key = &job.keys.key;
                let mut pieces = Pieces::new(key, job.nonce());
                pieces.aad(key, job.aad)?;
                three_of(job.from).iter().zip(three(job.to)).try_for_each(|(from, to)| pieces.open_to(key, from, to))?;
                pieces.verify(key, &job.tag.0)
            })
        },
        // Parts.
        #[cfg(feature = "hazmat")]
        Verb {
            leaves: BY_VALUE,
            ..seals(InPlace, &["hazmat::seal_part", "hazmat::combine"], |job| {
                let (key, cut) = (&job.keys.key, half(job.to.len()));
                let (first, second) = job.to.split_at_mut(cut);
                let nonce = Nonce::any(job.nonce).unwrap();
                let hashes = [hazmat::seal_part(key, nonce, 0, first)?, hazmat::seal_part(key, nonce, cut as u64, second)?];
                *job.tag = hazmat::combine(key, nonce, job.aad, &hashes)?;
                Ok(())
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            leaves: BY_VALUE,
            ..seals(Apart, &["hazmat::seal_part_to", "PartHash::to_bytes", "PartHash::from_bytes"], |job| {
                let (key, nonce, cut) = (&job.keys.key, job.nonce(), half(job.from.len()));
                let (first, second) = job.to.split_at_mut(cut);
                let first = hazmat::seal_part_to(key, nonce, 0, &job.from[..cut], first)?.to_bytes();
                let second = hazmat::seal_part_to(key, nonce, cut as u64, &job.from[cut..], second)?.to_bytes();
                let hashes = [PartHash::from_bytes(&first)?, PartHash::from_bytes(&second)?];
                *job.tag = hazmat::combine(key, nonce, job.aad, &hashes)?;
                Ok(())
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            refused: Refused::Unverified,
            leaves: BY_VALUE,
            ..opens(InPlace, &["hazmat::open_part"], |job| {
                let (key, cut) = (&job.keys.key, half(job.to.len()));
                let (first, second) = job.to.split_at_mut(cut);
                let nonce = Nonce::any(job.nonce).unwrap();
                let hashes = [hazmat::open_part(key, nonce, 0, first)?, hazmat::open_part(key, nonce, cut as u64, second)?];
                verdict(hazmat::combine(key, nonce, job.aad, &hashes)? == *job.tag)
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            leaves: BY_VALUE,
            ..opens(Read, &["hazmat::hash_part"], |job| {
                let (key, cut) = (&job.keys.key, half(job.from.len()));
                let (first, second) = job.from.split_at(cut);
                let hashes = [hazmat::hash_part(key, 0, first)?, hazmat::hash_part(key, cut as u64, second)?];
                verdict(hazmat::combine(key, job.nonce(), job.aad, &hashes)? == *job.tag)
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            nonces: TWELVE,
            leaves: BY_VALUE,
            // It compares what was accepted with what comes once more, and lets it pass.
            looks: [1, 1],
            ..seals(InPlace, &["Plan::seal", "Plan::accept", "Plan::accepted", "Plan::tag"], |job| {
                let (key, part) = (&job.keys.key, half(job.to.len()).max(16));
                let nonce = job.nonce96();
                allocating_in(job.heap, || {
                    let mut plan = Plan::new(nonce, job.to.len() as u64, part as u64)?;
                    for (i, text) in job.to.chunks_mut(part).enumerate() {
                        plan.seal(key, (i * part) as u64, text)?;
                    }
                    let again = plan.accepted().next().cloned();
                    again.into_iter().try_for_each(|hash| plan.accept(hash))?;
                    *job.tag = plan.tag(key, job.aad)?;
                    Ok(())
                })
            })
        },
        // RustCrypto's interface.
        #[cfg(feature = "aead06")]
        Verb {
            keys: &[32],
            nonces: TWELVE,
            best: true,
            leaves: BY_VALUE,
            ..seals(InPlace, &["AesGcm::new"], |job| {
                let cipher = Aes256Gcm::new(&Array(job.key_bytes.try_into().unwrap()));
                let sealed = cipher.encrypt_inout_detached(&Array(job.nonce96()), job.aad, (&mut *job.to).into());
                sealed.map(|tag| job.tag.0 = tag.0).map_err(|_| Error::TooLong)
            })
        },
        #[cfg(feature = "aead06")]
        Verb {
            keys: &[32],
            nonces: TWELVE,
            best: true,
            ..seals(InPlace, &["AesGcm::encrypt_inout_detached"], |job| {
                let nonce = Array(job.nonce96());
                let sealed = job.keys.cipher.encrypt_inout_detached(&nonce, job.aad, (&mut *job.to).into());
                sealed.map(|tag| job.tag.0 = tag.0).map_err(|_| Error::TooLong)
            })
        },
        #[cfg(feature = "aead06")]
        Verb {
            keys: &[32],
            nonces: TWELVE,
            best: true,
            ..seals(Apart, &["AesGcm::encrypt_inout_detached"], |job| {
                let nonce = Array(job.nonce96());
                let buffers = InOutBuf::new(job.from, job.to).unwrap();
                let sealed = job.keys.cipher.encrypt_inout_detached(&nonce, job.aad, buffers);
                sealed.map(|tag| job.tag.0 = tag.0).map_err(|_| Error::TooLong)
            })
        },
        #[cfg(feature = "aead06")]
        Verb {
            keys: &[32],
            nonces: TWELVE,
            best: true,
            refused: Refused::AsItWas,
            ..opens(InPlace, &["AesGcm::decrypt_inout_detached"], |job| {
                let (nonce, tag) = (Array(job.nonce96()), Array(job.tag.0));
                let opened = job.keys.cipher.decrypt_inout_detached(&nonce, job.aad, (&mut *job.to).into(), &tag);
                opened.map_err(|_| Error::Unauthentic)
            })
        },
        #[cfg(feature = "aead06")]
        Verb {
            keys: &[32],
            nonces: TWELVE,
            best: true,
            ..opens(Apart, &["AesGcm::decrypt_inout_detached"], |job| {
                let (nonce, tag) = (Array(job.nonce96()), Array(job.tag.0));
                let buffers = InOutBuf::new(job.from, job.to).unwrap();
                job.keys.cipher.decrypt_inout_detached(&nonce, job.aad, buffers, &tag).map_err(|_| Error::Unauthentic)
            })
        },
    ];
    all.extend(derived::<fastgcm::Xaes>(Form::Xaes));
    all.extend(derived::<fastgcm::KcXaes>(Form::KcXaes));
    #[cfg(feature = "getrandom")]
    all.extend(random::<fastgcm::Xaes>(Form::Xaes));
    #[cfg(feature = "getrandom")]
    all.extend(random::<fastgcm::KcXaes>(Form::KcXaes));
    // Of the others a few, in the order of `derived`: their functions are those of the first two.
    #[cfg(feature = "draft")]
    {
        all.extend(derived::<draft::Dndk<24, true>>(Form::Dndk(24, true)).into_iter().step_by(3));
        all.extend(derived::<draft::Dndk<12, true>>(Form::Dndk(12, true)).into_iter().take(2));
        all.extend(derived::<draft::Dndk<24, false>>(Form::Dndk(24, false)).into_iter().take(2));
        all.extend(derived::<draft::Dndk<12, false>>(Form::Dndk(12, false)).into_iter().take(2));
    }
    all
}

/// What a root key does, for one scheme.
fn derived<S: Made>(form: Form) -> Vec<Verb> {
    use Does::{Opens, Seals};
    use Shape::{Apart, Behind, InPlace, InPlaceBehind};
    vec![
        row(form, Seals, InPlace, &["RootKey::seal"], |job| {
            let tag = S::key(job.keys).seal(&job.nonce_of::<S>(), job.aad, job.to)?;
            job.tells(tag);
            Ok(())
        }),
        row(form, Opens, InPlace, &["RootKey::open"], |job| {
            let (nonce, tag) = (job.nonce_of::<S>(), job.tag_of::<S>());
            S::key(job.keys).open(&nonce, job.aad, job.to, &tag)
        }),
        Verb {
            best: true,
            leaves: BY_VALUE,
            ..row(form, Seals, InPlace, &["RootKey::new"], |job| {
                let key = RootKey::<S>::new(job.key_bytes.try_into().unwrap());
                let tag = key.seal(&job.nonce_of::<S>(), job.aad, job.to)?;
                job.tells(tag);
                Ok(())
            })
        },
        row(form, Seals, Apart, &["RootKey::seal_detached_to"], |job| {
            let tag = S::key(job.keys).seal_detached_to(&job.nonce_of::<S>(), job.aad, job.from, job.to)?;
            job.tells(tag);
            Ok(())
        }),
        row(form, Opens, Apart, &["RootKey::open_detached_to"], |job| {
            let (nonce, tag) = (job.nonce_of::<S>(), job.tag_of::<S>());
            S::key(job.keys).open_detached_to(&nonce, job.aad, job.from, job.to, &tag)
        }),
        Verb {
            leaves: BY_VALUE,
            ..row(form, Seals, InPlace, &["RootKey::with_backend"], |job| {
                let key = RootKey::<S>::with_backend(job.key_bytes.try_into().unwrap(), job.backend())?;
                let tag = key.seal(&job.nonce_of::<S>(), job.aad, job.to)?;
                job.tells(tag);
                Ok(())
            })
        },
        row(form, Seals, InPlaceBehind, &["RootKey::seal_appended"], |job| {
            S::key(job.keys).seal_appended(&job.nonce_of::<S>(), job.aad, job.to)
        }),
        row(form, Opens, InPlaceBehind, &["RootKey::open_appended"], |job| {
            S::key(job.keys).open_appended(&job.nonce_of::<S>(), job.aad, job.to).map(drop)
        }),
        row(form, Seals, Behind, &["RootKey::seal_to"], |job| S::key(job.keys).seal_to(&job.nonce_of::<S>(), job.aad, job.from, job.to)),
        row(form, Opens, Behind, &["RootKey::open_to"], |job| S::key(job.keys).open_to(&job.nonce_of::<S>(), job.aad, job.from, job.to)),
        row(form, Seals, Behind, &["RootKey::seal_vec"], |job| {
            let nonce = job.nonce_of::<S>();
            returned(job.heap, job.to, || S::key(job.keys).seal_vec(&nonce, job.aad, job.from))
        }),
        row(form, Opens, Behind, &["RootKey::open_vec"], |job| {
            let nonce = job.nonce_of::<S>();
            job.to.fill(0);
            returned(job.heap, job.to, || S::key(job.keys).open_vec(&nonce, job.aad, job.from))
        }),
        row(form, Opens, Behind, &["RootKey::open_random_vec"], |job| {
            job.to.fill(0);
            let (buffer, heap) = job.heap.split_at_mut(job.nonce.len() + job.from.len());
            let message = prefixed(buffer, [job.nonce, job.from]);
            returned(heap, job.to, || S::key(job.keys).open_random_vec(job.aad, message))
        }),
        row(form, Seals, InPlace, &["RootKey::shared_with_backend"], |job| {
            let (heap, nonce) = (std::mem::take(&mut job.heap), job.nonce_of::<S>());
            let seal =
                || RootKey::<S>::shared_with_backend(job.key_bytes.try_into().unwrap(), job.backend())?.seal(&nonce, job.aad, job.to);
            let tag = allocating_in(heap, seal)?;
            job.tells(tag);
            Ok(())
        }),
        Verb {
            leaves: IN_PLACE,
            ..row(form, Seals, InPlace, &["RootKey::init_in_place"], |job| {
                let mut place = MaybeUninit::uninit();
                let key = RootKey::<S>::init_in_place(&mut place, job.key_bytes.try_into().unwrap(), job.backend())?;
                let tag = key.seal(&job.nonce_of::<S>(), job.aad, job.to)?;
                job.tells(tag);
                Ok(())
            })
        },
        #[cfg(feature = "hazmat")]
        Verb {
            leaves: HANDED_OUT,
            ..row(form, Seals, InPlace, &["RootKey::with_derived_key"], |job| {
                let (backend, nonce, aad, to) = (job.backend(), job.nonce_of::<S>(), job.aad, &mut *job.to);
                let (tag, commitment) = S::key(job.keys)
                    .with_derived_key(&nonce, |key, nonce, commitment| Ok((backend.seal_once(key, nonce, aad, to)?, *commitment)))?;
                *job.tag = tag;
                job.commitment.copy_from_slice(&commitment.as_ref()[16..]);
                Ok(())
            })
        },
    ]
}

/// And where it draws the nonce.
#[cfg(feature = "getrandom")]
fn random<S: Made<Nonce = [u8; 24]>>(form: Form) -> Vec<Verb> {
    let drawn = |shape, functions, call| Verb {
        looks: [1, 1],
        leaves: Some("the nonce is another each time"),
        ..row(form, Does::SealsAndOpens, shape, functions, call)
    };
    vec![
        drawn(Shape::InPlace, &["RootKey::seal_random"], |job| {
            let (nonce, tag) = S::key(job.keys).seal_random(job.aad, job.to)?;
            S::key(job.keys).open(&nonce, job.aad, job.to, &tag)
        }),
        drawn(Shape::Apart, &["RootKey::seal_random_vec"], |job| {
            allocating_in(job.heap, || {
                let message = S::key(job.keys).seal_random_vec(job.aad, job.from)?;
                given(&S::key(job.keys).open_random_vec(job.aad, &message)?, job.to);
                Ok(())
            })
        }),
    ]
}

#[cfg(feature = "rayon")]
fn go_on(_: usize) -> std::ops::ControlFlow<()> {
    std::ops::ControlFlow::Continue(())
}

/// The key, and a text eight times: so many of at most 64 bytes go side by side where anything does. What is written to `to` is the first or the last.
fn eight<'j>(job: &'j mut Job<'_>, first: bool) -> (&'j Key, [Packet<'j>; 8]) {
    let (nonce, aad, from, tag) = (job.nonce96(), job.aad, job.from, *job.tag);
    let mut rest = &mut *job.heap;
    let mut others = [0; 7].map(|_| rest.split_off_mut(..from.len()).unwrap()).into_iter();
    let mut to = Some(&mut *job.to);
    let all = std::array::from_fn(|i| {
        let own = if i == if first { 0 } else { 7 } { to.take() } else { others.next() };
        Packet::to(nonce, aad, from, own.unwrap(), tag)
    });
    (&job.keys.key, all)
}

/// A message. `referee.rs` makes it by the model.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
    pub(crate) tag: Tag,
    /// Nothing, or what stands behind the tag.
    pub(crate) commitment: Vec<u8>,
}

impl Message {
    /// All that stands behind the text.
    fn end(&self) -> Vec<u8> {
        [&self.tag.0[..], &self.commitment].concat()
    }

    /// Alters a bit of that.
    pub(crate) fn flip(&mut self, bit: usize) {
        let byte = if bit < 128 { &mut self.tag.0[bit / 8] } else { &mut self.commitment[bit / 8 - 16] };
        *byte ^= 1 << (bit % 8);
    }

    /// As these keys seal it.
    pub(crate) fn sealed_by(keys: &mut Keys, verb: &Verb, [key, nonce, aad, text]: [&[u8]; 4]) -> Self {
        keys.set(verb, key);
        let mut sealed = text.to_vec();
        let (tag, commitment) = keys.seal(verb.form, nonce, aad, &mut sealed);
        let [key, nonce, aad, text] = [key, nonce, aad, text].map(<[u8]>::to_vec);
        Self { key, nonce, aad, text, sealed, tag, commitment }
    }
}

impl std::fmt::Debug for Verb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// The table, where it stays.
pub(crate) fn table() -> &'static [Verb] {
    static TABLE: std::sync::LazyLock<Vec<Verb>> = std::sync::LazyLock::new(all);
    &TABLE
}

/// The first row that calls this function.
pub(crate) fn named(function: &str) -> &'static Verb {
    table().iter().find(|verb| verb.functions.contains(&function)).unwrap_or_else(|| panic!("no row calls {function}"))
}

/// What a buffer holds before it is written.
pub(crate) const STALE: u8 = 0xee;

impl Verb {
    /// Whether this back end can be asked for it.
    pub(crate) fn runs_on(&self, backend: Backend) -> bool {
        !self.best || backend == Backend::detect()
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {:?}", self.functions.join(", "), self.shape)
    }

    pub(crate) fn opens(&self) -> bool {
        self.does == Does::Opens
    }

    /// Has a tag.
    pub(crate) fn authenticates(&self) -> bool {
        !matches!(self.form, Form::Ctr | Form::Blocks)
    }

    /// Bytes of text near `n` that it takes.
    pub(crate) fn text(&self, n: usize) -> usize {
        match self.form {
            Form::Gmac => 0,
            Form::Blocks => n / 16 * 16,
            _ => n,
        }
    }

    /// Bytes of a key and of a nonce that it takes: those asked for, or others.
    pub(crate) fn key_and_nonce(&self, key: usize, nonce: usize) -> (usize, usize) {
        let one_of = |all: &[usize], n: usize| if all.is_empty() || all.contains(&n) { n } else { all[n % all.len()] };
        (one_of(self.keys, key), one_of(self.nonces, nonce))
    }

    /// Bytes of `from` and of `to`, with so many bytes of text.
    pub(crate) fn lengths(&self, text: usize) -> (usize, usize) {
        let sealed = text + self.behind();
        match self.shape {
            Shape::InPlace => (0, text),
            Shape::Apart => (text, text),
            Shape::InPlaceBehind => (0, sealed),
            Shape::Behind if self.opens() => (sealed, text),
            Shape::Behind => (text, sealed),
            Shape::Read => (text, 0),
        }
    }

    /// What it reads, and what stands in `to` before it is called.
    pub(crate) fn input(&self, message: &Message) -> (Vec<u8>, Vec<u8>) {
        let behind = self.behind();
        let (input, tag) = if self.opens() { (&message.sealed, message.end()) } else { (&message.text, vec![STALE; behind]) };
        let n = input.len();
        match self.shape {
            Shape::InPlace => (vec![], input.clone()),
            Shape::Apart => (input.clone(), vec![STALE; n]),
            Shape::InPlaceBehind => (vec![], [&input[..], &tag].concat()),
            Shape::Behind if self.opens() => ([&input[..], &tag].concat(), vec![STALE; n]),
            Shape::Behind => (input.clone(), vec![STALE; n + behind]),
            Shape::Read => (input.clone(), vec![]),
        }
    }

    /// What stands in `to` when it has done its work.
    pub(crate) fn output(&self, message: &Message) -> Vec<u8> {
        let output = match self.does {
            Does::Seals => message.sealed.clone(),
            Does::Opens | Does::SealsAndOpens => message.text.clone(),
        };
        match self.shape {
            Shape::InPlace | Shape::Apart => output,
            Shape::InPlaceBehind => [output, message.end()].concat(),
            Shape::Behind if self.opens() => output,
            Shape::Behind => [output, message.end()].concat(),
            Shape::Read => vec![],
        }
    }

    /// Bytes of a tag that stands behind a text.
    pub(crate) fn behind(&self) -> usize {
        self.tag.max(16)
    }

    /// Bytes of `to` that are text.
    fn written(&self, to: usize) -> usize {
        if self.shape == Shape::InPlaceBehind { to - self.behind() } else { to }
    }

    /// Whether it writes the tag to `tag`.
    fn tells_the_tag(&self) -> bool {
        self.does == Does::Seals && self.authenticates() && !matches!(self.shape, Shape::InPlaceBehind | Shape::Behind)
    }

    /// Does the work on these buffers, and says what is wrong with what it has written.
    pub(crate) fn check(&self, job: &mut Job<'_>, message: &Message) {
        let answer = (self.call)(job);
        assert_eq!(answer, Ok(()), "{}: {}", self.name(), what(job, message));
        let to = self.output(message);
        assert!(*job.to == *to, "{}: {}: {:02x?} in place of {to:02x?}", self.name(), what(job, message), job.to);
        let end = || [&job.tag.0[..], job.commitment].concat();
        assert!(!self.tells_the_tag() || end() == message.end(), "{}: {}: another tag", self.name(), what(job, message));
    }

    /// Opens what is no message: that must be refused, and leave no plaintext.
    pub(crate) fn refuse(&self, job: &mut Job<'_>, message: &Message) {
        let before = job.to.to_vec();
        assert_eq!((self.call)(job), Err(Error::Unauthentic), "{}: {}", self.name(), what(job, message));
        let n = self.written(before.len());
        let left = &job.to[..n];
        match self.refused {
            Refused::Zeros => assert!(left.iter().all(|&byte| byte == 0), "{}: {}: left {left:02x?}", self.name(), what(job, message)),
            Refused::AsItWas => assert!(*left == before[..n], "{}: {}: it was written", self.name(), what(job, message)),
            Refused::Unverified => {}
        }
        assert!(job.to[n..] == before[n..], "{}: {}: the tag was written", self.name(), what(job, message));
    }

    /// Calls the verb with memory of its own: done right, and with this message refused, if it opens at all.
    pub(crate) fn run(&self, keys: &mut Keys, message: &Message, right: bool) {
        keys.set(self, &message.key);
        let ((from, mut to), mut tag, mut commitment) = (self.input(message), message.tag, message.commitment.clone());
        if self.tells_the_tag() {
            tag = Tag([STALE; 16]);
            commitment.fill(STALE);
        }
        let mut heap = vec![0; heap(message.text.len())];
        let Message { key: key_bytes, nonce, aad, .. } = message;
        let (to, tag, commitment, heap) = (&mut to, &mut tag, &mut commitment, &mut heap);
        let mut job = Job { keys, key_bytes, nonce, aad, from: &from, to, tag, commitment, heap };
        if right { self.check(&mut job, message) } else { self.refuse(&mut job, message) }
    }
}

fn what(job: &Job<'_>, message: &Message) -> String {
    let [nonce, aad, text] = [&message.nonce, &message.aad, &message.text].map(Vec::len);
    format!("{:?}, nonce {nonce}, AAD {aad}, text {text}", job.keys.key)
}

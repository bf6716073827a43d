//! Keys, back ends and errors: what they are besides their verbs.

use crate::{
    bytes, each_backend, passed,
    support::{self, Tally, backends},
};
use fastgcm::{AnyTag, Backend, CommittingTag, Error, Key, NONCE_LEN, Nonce, ShortTag, TAG_LEN, Tag, UnknownBackend};
use std::mem::MaybeUninit;

/// However a key is made, it is the same key.
#[test]
fn every_constructor_makes_the_same_key() {
    let (mut any, mut keys) = (0, Tally::default());
    for length in [16, 24, 32] {
        let key = bytes(length, 20);
        let text = bytes(333, 21);
        let sealed = fastgcm_model::seal(&key, &[7; 12], b"aad", &text);
        let sealed = [&sealed.0[..], &sealed.1].concat();
        let of_that_length = match length {
            16 => Key::aes128(key.first_chunk().unwrap()),
            24 => Key::aes192(key.first_chunk().unwrap()),
            _ => Key::aes256(key.first_chunk().unwrap()),
        };
        let best = [Key::new(&key).unwrap(), of_that_length, *Key::boxed(&key).unwrap()];
        assert!(best.iter().all(|key| key.backend() == Backend::detect()));
        let mut all: Vec<Key> = each_backend(&key).collect();
        all.extend(backends().into_iter().map(|backend| *support::boxed(&key, backend)));
        all.extend(backends().into_iter().map(|backend| (*Key::shared_with_backend(&key, backend).unwrap()).clone()));
        all.extend(backends().into_iter().map(|backend| Key::init_in_place(&mut MaybeUninit::uninit(), &key, backend).unwrap().clone()));
        assert!(Key::init_in_place(&mut MaybeUninit::uninit(), &key[1..], Backend::Portable).is_err());
        assert!(Key::shared_with_backend(&key[1..], Backend::Portable).is_err());
        for old_length in [16, 24, 32] {
            all.extend(each_backend(&bytes(old_length, 22)).map(|mut other| {
                let backend = other.backend();
                assert_ne!(other.seal_vec([7; 12], b"aad", &text).unwrap(), sealed);
                assert_eq!(other.rekey(&key[1..]), Err(Error::InvalidLength));
                assert_ne!(other.seal_vec([7; 12], b"aad", &text).unwrap(), sealed, "the old key is still there");
                other.rekey(&key).unwrap();
                assert_eq!(other.backend(), backend, "the back end stays");
                other
            }));
        }
        let check = |key: &Key| assert_eq!(key.seal_vec([7; 12], b"aad", &text).unwrap(), sealed, "{key:?}");
        for key in best.iter().chain(&best.clone()) {
            check(key);
            any += 1;
        }
        for key in all.iter().chain(&all.clone()) {
            check(key);
            keys.add(key, 1);
        }
    }
    passed("api::every_constructor", any, 3 * 2 * 3);
    keys.passed("api::every_constructor", 3 * 2 * 7);
}

/// The four ways to name a nonce of 12 bytes are one nonce.
#[test]
fn nonces_of_twelve_bytes() {
    let mut nonces = Tally::default();
    for key in each_backend(&[5; 16]) {
        for seed in 0..32 {
            let nonce: [u8; 12] = bytes(12, seed).try_into().unwrap();
            let by_reference: &[u8; 12] = &nonce;
            let expected = fastgcm_model::seal(&[5; 16], &nonce, b"", b"text");
            let expected = [&expected.0[..], &expected.1].concat();
            assert_eq!(key.seal_vec(nonce, b"", b"text").unwrap(), expected);
            assert_eq!(key.seal_vec(by_reference, b"", b"text").unwrap(), expected);
            assert_eq!(key.seal_vec(Nonce::any(&nonce).unwrap(), b"", b"text").unwrap(), expected);
            assert_eq!(key.seal_vec(Nonce::try_from(&nonce[..]).unwrap(), b"", b"text").unwrap(), expected);
            nonces.add(&key, 1);
        }
    }
    nonces.passed("api::nonces_of_twelve_bytes", 32);
}

/// `{:?}` of a key says how long it is and where it runs, and not a byte of it.
#[test]
fn debug_shows_nothing_of_a_key() {
    let mut keys = Tally::default();
    for length in [16, 24, 32] {
        for key in each_backend(&bytes(length, 23)) {
            let expected = format!("Key(AES-{}, {})", 8 * length, key.backend());
            assert_eq!(format!("{key:?}"), expected);
            assert_eq!(format!("{key:#?}"), expected);
            assert_eq!(key.key_len(), length);
            keys.add(&key, 1);
        }
    }
    keys.passed("api::debug", 3);
}

/// The table as it is promised: names, best first, and what each row needs.
const TABLE: [(&str, &str); 11] = [
    ("vaes-avx512", "aes pclmulqdq avx2 bmi2 vaes vpclmulqdq avx512f avx512bw avx512vl avx512vbmi"),
    ("vaes-avx2", "aes pclmulqdq avx2 bmi2 vaes vpclmulqdq"),
    ("aesni-avx", "aes pclmulqdq ssse3 sse4.1 avx"),
    ("aesni-sse", "aes pclmulqdq ssse3 sse4.1"),
    ("vpaes-ssse3", "ssse3"),
    ("aes-neon-eor3", "aes sha3"),
    ("aes-neon", "aes"),
    ("vpaes-neon", "neon"),
    ("aes-zvkned", "v zvbc zvkb zvkned zvkt"),
    ("vpaes-simd128", "simd128"),
    ("portable", ""),
];

/// Rows, features and order.
#[test]
fn back_ends_in_order() {
    let table = Backend::ALL.iter().map(|backend| {
        let features: Vec<&str> = backend.features().map(|(name, _)| name).collect();
        (backend.name(), features.join(" "))
    });
    assert_eq!(table.collect::<Vec<_>>(), TABLE.map(|(name, features)| (name, features.to_owned())));
    assert!(Backend::available().eq(Backend::ALL.iter().copied().filter(|backend| backend.is_available())));
    passed("api::back_ends_in_order", TABLE.len(), 11);
}

/// Names go there and back; what can run here is found, forced and reported; what cannot is refused.
#[test]
fn back_ends_by_name() {
    let available: Vec<Backend> = Backend::available().collect();
    assert_eq!(available.first(), Some(&Backend::detect()), "the best comes first");
    assert_eq!(available.last(), Some(&Backend::Portable), "the last runs everywhere");
    for &backend in Backend::ALL {
        assert_eq!(backend.to_string(), backend.name());
        assert_eq!(backend.name().parse(), Ok(backend));
        assert_eq!(backend.c_name().to_str(), Ok(backend.name()));
        assert_eq!(format!("{backend:>16}").len(), 16, "it can be set in columns");
        assert_eq!(backend.is_available(), available.contains(&backend));
        if backend.is_available() {
            assert!(backend.features().all(|(_, here)| here), "{backend}");
            assert_eq!(Key::with_backend(&[1; 16], backend).unwrap().backend(), backend);
        } else {
            assert_eq!(Key::with_backend(&[1; 16], backend).map(drop), Err(Error::Unavailable));
        }
    }
    let unknown = ["", "Portable", "portable ", "vaes", "aesni-avx,portable"];
    for name in unknown {
        let error: UnknownBackend = name.parse::<Backend>().expect_err(name);
        let names: Vec<&str> = Backend::ALL.iter().map(|backend| backend.name()).collect();
        assert_eq!(error.to_string(), format!("no back end has that name; the names are {}", names.join(", ")));
        _ = Box::<dyn std::error::Error + Send + Sync>::from(error);
    }
    passed("api::back_ends_by_name", Backend::ALL.len() + unknown.len(), 16);
}

/// Each error says something of its own, and travels as `Box<dyn Error + Send + Sync>`. A key is shared by threads.
#[test]
fn errors_and_auto_traits() {
    const fn is_shared<T: Send + Sync + Clone + 'static>() {}
    const { is_shared::<Key>() }
    const { is_shared::<Error>() }
    const { is_shared::<Tag>() }
    const { is_shared::<ShortTag<12>>() }
    const { is_shared::<Backend>() }
    const { is_shared::<Nonce<'static>>() }
    const fn is_wiped<T: zeroize::ZeroizeOnDrop>() {}
    const { is_wiped::<Key>() }
    let errors = [
        (Error::Unauthentic, "the message is not authentic"),
        (
            Error::InvalidLength,
            "a key, nonce, tag or buffer has an invalid length: a key has 16, 24 or 32 bytes, a nonce 12 or another number but 0, a tag 16, \
             and an output as many as what goes into it",
        ),
        (Error::TooLong, "a text, AAD or nonce is longer than AES-GCM allows"),
        (Error::Unavailable, "this processor cannot run that back end"),
        (Error::Exhausted, "the nonces of this key, or the blocks that it may serve, are used up"),
        (Error::NoEntropy, "the operating system gives no random bytes"),
        (Error::OutOfOrder, "a message in pieces is out of order, or has another key"),
    ];
    for (error, text) in errors {
        assert_eq!(Box::<dyn std::error::Error + Send + Sync>::from(error).to_string(), text);
        #[cfg(feature = "std")]
        {
            use std::io::ErrorKind::{InvalidData, InvalidInput, Other, Unsupported};
            let through = std::io::Error::from(error);
            let kind = match error {
                Error::Unauthentic => InvalidData,
                Error::Unavailable => Unsupported,
                Error::InvalidLength | Error::TooLong => InvalidInput,
                _ => Other,
            };
            assert_eq!((through.kind(), through.downcast::<Error>().unwrap()), (kind, error));
        }
    }
    // A program whose `main` returns an error prints this, behind `Error: `.
    assert!(
        format!("{:?}", Key::new(&[0; 31]).unwrap_err()).starts_with("InvalidLength: a key, nonce, tag or buffer has an invalid length: ")
    );
    passed("api::errors", errors.len(), 7);
}

/// A tag is the bytes that it was made of, whole or short.
#[test]
fn tags_are_their_bytes() {
    let whole: [u8; 16] = bytes(16, 24).try_into().unwrap();
    let tag = Tag::from(whole);
    assert_eq!((tag.0, tag.as_ref()), (whole, &whole[..]));
    let mut short = 0;
    macro_rules! short {
        ($($n:literal)+) => { $(
            let first: ShortTag<$n> = tag.truncate();
            assert_eq!((&first.0[..], first.as_ref()), (&whole[..$n], &whole[..$n]));
            short += 1;
        )+ };
    }
    short!(12 13 14 15);
    passed("api::tags_are_their_bytes", 1 + short, 5);
}

/// Tags made of slices are equal if all of their bytes are, and each bit counts.
#[test]
fn tags_are_compared() {
    fn every_bit<T: for<'a> TryFrom<&'a [u8], Error = Error> + Eq + std::fmt::Debug>(bytes: &[u8]) -> usize {
        let tag = T::try_from(bytes).unwrap();
        assert_eq!(tag, T::try_from(bytes).unwrap());
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.to_vec();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(tag, T::try_from(&other).unwrap(), "bit {bit} of {} bytes", bytes.len());
        }
        8 * bytes.len()
    }
    assert_eq!((TAG_LEN, NONCE_LEN), (size_of::<Tag>(), 12));
    let all = bytes(16, 25);
    let mut bits = every_bit::<Tag>(&all) + every_bit::<ShortTag<15>>(&all[1..]) + every_bit::<ShortTag<14>>(&all[2..]);
    bits += every_bit::<ShortTag<13>>(&all[3..]) + every_bit::<ShortTag<12>>(&all[4..]) + every_bit::<CommittingTag>(&bytes(48, 26));
    passed("api::tags_are_compared", bits, 8 * (16 + 15 + 14 + 13 + 12 + 48));
}

/// Which lengths of a tag can be written down at all: those of the standard, and the two short ones with feature `hazmat` only.
#[test]
fn lengths_of_tags() {
    struct Probe<T>(std::marker::PhantomData<T>);
    /// What is asked where `Probe` itself has no answer.
    trait Else {
        const IS_A_TAG: bool = false;
    }
    impl<T> Else for Probe<T> {}
    impl<T: AnyTag> Probe<T> {
        const IS_A_TAG: bool = true;
    }
    let mut tags = Vec::new();
    macro_rules! ask {
        ($($n:literal)+) => { $( if Probe::<ShortTag<$n>>::IS_A_TAG { tags.push($n) } )+ };
    }
    ask!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
    let expected = if cfg!(feature = "hazmat") { &[4, 8, 12, 13, 14, 15][..] } else { &[12, 13, 14, 15] };
    assert_eq!(tags, expected);
    const { assert!(Probe::<Tag>::IS_A_TAG && !Probe::<[u8; 16]>::IS_A_TAG) }
    passed("api::lengths_of_tags", 18 + 2, 20);
}

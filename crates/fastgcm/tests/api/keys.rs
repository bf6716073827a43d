//! Keys, back ends and errors: what they are besides their verbs.

use crate::{bytes, each_backend, passed, support::backends};
use fastgcm::{Backend, Error, Key, Nonce, ShortTag, Tag};

/// However a key is made, it is the same key.
#[test]
fn every_constructor_makes_the_same_key() {
    let mut keys = 0;
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
        let mut all = vec![Key::new(&key).unwrap(), of_that_length, *Key::boxed(&key).unwrap()];
        assert!(all.iter().all(|key| key.backend() == Backend::detect()));
        all.extend(each_backend(&key));
        all.extend(backends().into_iter().map(|backend| *Key::boxed_with_backend(&key, backend).unwrap()));
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
        all.extend(all.clone());
        for key in &all {
            assert_eq!(key.seal_vec([7; 12], b"aad", &text).unwrap(), sealed, "{key:?}");
            keys += 1;
        }
    }
    passed("api::every_constructor", keys, 3 * 2 * (3 + 5 * backends().len()));
}

/// The three ways to name a nonce of 12 bytes are one nonce.
#[test]
fn nonces_of_twelve_bytes() {
    let mut nonces = 0;
    for key in each_backend(&[5; 16]) {
        for seed in 0..32 {
            let nonce: [u8; 12] = bytes(12, seed).try_into().unwrap();
            let by_reference: &[u8; 12] = &nonce;
            let expected = fastgcm_model::seal(&[5; 16], &nonce, b"", b"text");
            let expected = [&expected.0[..], &expected.1].concat();
            assert_eq!(key.seal_vec(nonce, b"", b"text").unwrap(), expected);
            assert_eq!(key.seal_vec(by_reference, b"", b"text").unwrap(), expected);
            assert_eq!(key.seal_vec(Nonce::any(&nonce).unwrap(), b"", b"text").unwrap(), expected);
            nonces += 1;
        }
    }
    passed("api::nonces_of_twelve_bytes", nonces, 32 * backends().len());
}

/// `{:?}` of a key says how long it is and where it runs, and not a byte of it.
#[test]
fn debug_shows_nothing_of_a_key() {
    let mut keys = 0;
    for length in [16, 24, 32] {
        for key in each_backend(&bytes(length, 23)) {
            let expected = format!("Key(AES-{}, {})", 8 * length, key.backend());
            assert_eq!(format!("{key:?}"), expected);
            assert_eq!(format!("{key:#?}"), expected);
            keys += 1;
        }
    }
    passed("api::debug", keys, 3 * backends().len());
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
        assert_eq!(name.parse::<Backend>(), Err(Error::Unavailable), "{name}");
    }
    passed("api::back_ends_by_name", Backend::ALL.len() + unknown.len(), 15);
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
    let errors = [Error::Unauthentic, Error::InvalidLength, Error::TooLong, Error::Unavailable];
    let texts: std::collections::HashSet<String> =
        errors.into_iter().map(|error| Box::<dyn std::error::Error + Send + Sync>::from(error).to_string()).collect();
    assert!(texts.iter().all(|text| !text.is_empty()));
    passed("api::errors", texts.len(), 4);
}

//! Lengths: which are right, and that nothing is written where they are not.

use crate::passed;
use fastgcm::{Backend, Error, Key, Nonce, Tag};

/// F3, and the lengths of keys and of buffers: those that are right, of all that were tried; nothing is written for the others.
#[test]
fn f03_wrong_lengths() {
    assert_eq!(Nonce::any(b"").err(), Some(Error::InvalidLength));
    let all = || (0..=64usize).map(|n| vec![0x11; n]);
    let accepted = |verb: &dyn Fn(&[u8]) -> Result<(), Error>| {
        all().filter(|v| verb(v).map_err(|e| assert_eq!(e, Error::InvalidLength)).is_ok()).map(|v| v.len()).collect::<Vec<_>>()
    };
    assert_eq!(accepted(&|key| Key::new(key).map(drop)), [16, 24, 32]);
    assert_eq!(accepted(&|key| Key::boxed(key).map(drop)), [16, 24, 32]);
    assert_eq!(accepted(&|key| Key::with_backend(key, Backend::detect()).map(drop)), [16, 24, 32]);
    assert_eq!(accepted(&|key| Key::boxed_with_backend(key, Backend::Portable).map(drop)), [16, 24, 32]);
    assert_eq!(accepted(&|new| Key::aes128(&[1; 16]).rekey(new)), [16, 24, 32]);
    assert_eq!(accepted(&|nonce| Nonce::any(nonce).map(drop)), (1..=64).collect::<Vec<_>>());

    let key = Key::aes128(&[1; 16]);
    let text = [0x22; 20];
    let sealed = key.seal_vec([1; 12], b"", &text).unwrap();
    // Runs `verb` on a buffer of every length; where it refuses, the buffer must be as it was.
    let written = |verb: &dyn Fn(&mut [u8]) -> Result<(), Error>| {
        let verb = |buffer: &[u8]| {
            let mut after = buffer.to_vec();
            verb(&mut after).inspect_err(|_| assert_eq!(after, buffer))
        };
        accepted(&verb)
    };
    assert_eq!(written(&|to| key.seal_detached_to([1; 12], b"", &text, to).map(drop)), [20]);
    assert_eq!(written(&|to| key.seal_to([1; 12], b"", &text, to)), [36]);
    assert_eq!(written(&|to| key.seal_appended([1; 12], b"", to)), (16..=64).collect::<Vec<_>>());
    assert_eq!(written(&|to| key.open_to([1; 12], b"", &sealed, to)), [20]);
    let tag = Tag(*sealed.last_chunk().unwrap());
    assert_eq!(written(&|to| key.open_detached_to([1; 12], b"", &sealed[..20], to, &tag)), [20]);
    passed("api::f03_wrong_lengths", 11 * all().count(), 715);
}

//! Lengths: which are right, and that nothing is written where they are not.

use crate::passed;
use fastgcm::{Backend, Error, Key, Nonce, ShortTag, Tag};

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
    // A sealed message of 20 bytes ends a buffer of 40: it is opened from byte 20 on. What has no room for a tag, or begins beyond the end,
    // changes nothing.
    let message = key.seal_vec([1; 12], b"", b"text").unwrap();
    let mut opened = Vec::new();
    for start in 0..all().count() {
        let before = [&[0x33; 20][..], &message].concat();
        let mut buffer = before.clone();
        match key.open_within([1; 12], b"", &mut buffer, start..) {
            Ok(text) => {
                assert_eq!(text, b"text");
                opened.push(start);
            }
            Err(error) => {
                assert_eq!(error, if start <= 40 { Error::Unauthentic } else { Error::InvalidLength });
                assert!(start <= 24 || buffer == before);
            }
        }
    }
    assert_eq!(opened, [20]);
    assert_eq!(accepted(&|nonce| Nonce::try_from(nonce).map(drop)), [12]);
    assert_eq!(accepted(&|tag| Tag::try_from(tag).map(drop)), [16]);
    assert_eq!(accepted(&|tag| ShortTag::<15>::try_from(tag).map(drop)), [15]);
    assert_eq!(accepted(&|tag| ShortTag::<12>::try_from(tag).map(drop)), [12]);
    passed("api::f03_wrong_lengths", 16 * all().count(), 1040);
}

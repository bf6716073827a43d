//! Every verb against the model: `seal.rs`, `tag.rs`, `nonce.rs`, `limits.rs` and `gcm/` of the library.
#![no_main]
use fastgcm::{Backend, Error, Key, Nonce, Tag};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct Message<'a> {
    key: [u8; 32],
    /// Which length of key, which back end, how often the text is repeated, and which bit of what is sealed a forger changes.
    choices: [u8; 3],
    bit: u16,
    nonce: &'a [u8],
    aad: &'a [u8],
    text: &'a [u8],
}

fuzz_target!(|message: Message| {
    let Message { key, choices: [length, backend, times], bit, nonce, aad, text } = message;
    let key = &key[..[16, 24, 32][length as usize % 3]];
    let text = &text.repeat(1 + times as usize % 8)[..];
    let Ok(n) = Nonce::any(nonce) else { return assert!(nonce.is_empty()) };
    let (ciphertext, tag) = fastgcm_model::seal(key, nonce, aad, text);
    let mut sealed = [&ciphertext[..], &tag].concat();
    let backends: Vec<Backend> = Backend::available().collect();
    let key = Key::with_backend(key, backends[backend as usize % backends.len()]).unwrap();

    assert_eq!(key.seal_vec(n, aad, text).unwrap(), sealed);
    let mut buffer = [text, &[0; 16]].concat();
    key.seal_appended(n, aad, &mut buffer).unwrap();
    assert_eq!(buffer, sealed);
    assert_eq!(key.open_appended(n, aad, &mut buffer).unwrap(), text);
    let mut buffer = ciphertext.clone();
    key.open_verified_first(n, aad, &mut buffer, &Tag(tag).truncate::<13>()).unwrap();
    assert_eq!(buffer, text);

    sealed[bit as usize / 8 % (text.len() + 16)] ^= 1 << (bit % 8);
    assert_eq!(key.open_to(n, aad, &sealed, &mut buffer), Err(Error::Unauthentic));
    assert!(buffer.iter().all(|byte| *byte == 0));
});

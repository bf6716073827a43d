//! Compares the answers of all back ends: `gcm/tail.rs`, `gcm/drive.rs`, `inout.rs`, `aes/` and `isa/portable.rs`, and the rest of `gcm/`, `ghash/`
//! and `isa/` that this machine can run.
#![no_main]
use fastgcm::{Backend, Key, Nonce, Tag};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct Message<'a> {
    key: [u8; 32],
    /// The length of the key, and the length of text after the given one.
    choice: u8,
    longer: u16,
    nonce: &'a [u8],
    aad: &'a [u8],
    text: &'a [u8],
}

fuzz_target!(|message: Message| {
    let Message { key, choice, longer, nonce, aad, text } = message;
    let key = &key[..[16, 24, 32][choice as usize % 3]];
    // A long text takes other paths through the code, whatever its bytes.
    let mut text = text.to_vec();
    text.resize(text.len() + longer as usize, choice);
    let n = Nonce::any(nonce).unwrap_or([choice; 12].into());

    let mut first: Option<(Vec<u8>, Tag)> = None;
    for backend in Backend::available() {
        let key = Key::with_backend(key, backend).unwrap();
        let mut sealed = vec![0; text.len()];
        let tag = key.seal_detached_to(n, aad, &text, &mut sealed).unwrap();
        let (ciphertext, first_tag) = first.get_or_insert((sealed.clone(), tag));
        assert!(sealed == *ciphertext && tag.0 == first_tag.0, "{backend}: {} bytes", text.len());
        key.open(n, aad, &mut sealed, &tag).unwrap();
        assert!(sealed == text, "{backend}: {} bytes", text.len());
    }
});

//! All back ends give the same answer: `gcm/tail.rs`, `gcm/drive.rs`, `inout.rs`, `aes/` and `isa/portable.rs`; and what else of `gcm/`, `ghash/` and
//! `isa/` this machine can run.
#![no_main]
use fastgcm::{Backend, Key, Nonce, Tag};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct Message<'a> {
    key: [u8; 32],
    /// Which length of key; how long the text is beyond what is given.
    choice: u8,
    longer: u16,
    nonce: &'a [u8],
    aad: &'a [u8],
    text: &'a [u8],
}

fuzz_target!(|message: Message| {
    let Message { key, choice, longer, nonce, aad, text } = message;
    let key = &key[..[16, 24, 32][choice as usize % 3]];
    // A long text takes other ways through the code, whatever is in it.
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

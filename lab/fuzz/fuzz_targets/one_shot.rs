//! Compares every operation with the model: `seal.rs`, `tag.rs`, `nonce.rs` and `limits.rs` of the library, and messages in pieces and in lists.
#![no_main]
use fastgcm::{Backend, Error, Key, Nonce, Tag};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct Message<'a> {
    key: [u8; 32],
    /// The length of the key, the back end, the repetitions of the text, and the bit of the sealed message that a forger changes.
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
    assert_eq!(key.open_vec(n, aad, &sealed).unwrap(), text);
    let mut buffer = [text, &[0; 16]].concat();
    key.seal_appended(n, aad, &mut buffer).unwrap();
    assert_eq!(buffer, sealed);
    assert_eq!(key.open_appended(n, aad, &mut buffer).unwrap(), text);
    // In pieces and in lists, cut at any byte.
    let (head, body) = (aad.split_at(bit as usize % (aad.len() + 1)), text.split_at(bit as usize % (text.len() + 1)));
    let mut buffer = text.to_vec();
    let mut sealer = key.sealer(n);
    [head.0, head.1].iter().for_each(|piece| sealer.aad(piece).unwrap());
    let (mut sealer, (first, second)) = (sealer.text(), buffer.split_at_mut(body.0.len() / 2));
    sealer.seal(first).unwrap();
    second.chunks_mut(1 + times as usize * 16).for_each(|piece| sealer.seal(piece).unwrap());
    assert_eq!((sealer.finish().0, &buffer), (tag, &ciphertext));
    let found = key.seal_gathered(n, &[head.0, head.1], &[body.0], body.1, &mut buffer).unwrap();
    assert_eq!((found.0, &buffer), (tag, &ciphertext));
    let (first, second) = buffer.split_at_mut(body.0.len());
    key.open_chunks(n, &[head.0, head.1], &mut [first, second], &Tag(tag)).unwrap();
    assert_eq!(buffer, text);
    let (mut buffer, tag) = (ciphertext, Tag::from(tag));
    key.open_verified_first(n, aad, &mut buffer, &tag.truncate::<13>()).unwrap();
    assert_eq!(buffer, text);

    sealed[bit as usize / 8 % (text.len() + 16)] ^= 1 << (bit % 8);
    assert_eq!(key.open_to(n, aad, &sealed, &mut buffer), Err(Error::Unauthentic));
    assert!(buffer.iter().all(|byte| *byte == 0));
});

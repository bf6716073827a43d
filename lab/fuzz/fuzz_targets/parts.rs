//! Compares a message sealed in parts, by any back ends in any order, and by threads, with that of one call: `parts.rs`, `parallel.rs` and
//! `ghash/exponent.rs` of the library.
#![no_main]
use core::ops::ControlFlow;
use fastgcm::{
    Backend, Error, Key, Nonce,
    hazmat::{PartHash, Plan, combine, hash_part, open_part, seal_part, seal_part_to},
};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct Message<'a> {
    key: [u8; 32],
    /// The length of the key; the blocks of text after the given one; the blocks of a planned part; the bytes after which a watcher stops.
    choices: [u8; 4],
    nonce: &'a [u8],
    aad: &'a [u8],
    text: &'a [u8],
    /// The blocks of each part, and its back end.
    parts: Vec<(u8, u8)>,
    /// A hash from another machine.
    foreign: [u8; 32],
}

fuzz_target!(|message: Message| {
    let Message { key, choices: [length, longer, planned, stop], nonce, aad, text, parts, foreign } = message;
    let key = &key[..[16, 24, 32][length as usize % 3]];
    let mut text = text.to_vec();
    text.resize(text.len() + 16 * usize::from(longer), longer);
    let n = Nonce::any(nonce).unwrap_or([length; 12].into());
    let keys: Vec<Key> = Backend::available().map(|backend| Key::with_backend(key, backend).unwrap()).collect();
    let mut sealed = text.clone();
    let tag = keys[0].seal(n, aad, &mut sealed).unwrap();

    // Cut at any block, from one buffer to another; opened and hashed again.
    let (mut hashes, mut ciphertext, mut at) = (Vec::new(), vec![0; text.len()], 0);
    for (blocks, backend) in parts.iter().copied().chain([(u8::MAX, 0)].into_iter().cycle()) {
        let (end, key) = (text.len().min(at + 16 * usize::from(blocks)), &keys[usize::from(backend) % keys.len()]);
        hashes.push(seal_part_to(key, n, at as u64, &text[at..end], &mut ciphertext[at..end]).unwrap());
        let mut opened = ciphertext[at..end].to_vec();
        let again = open_part(&keys[0], n, at as u64, &mut opened).unwrap().to_bytes();
        assert!(opened == text[at..end] && again == hashes.last().unwrap().to_bytes());
        assert_eq!(hash_part(&keys[0], at as u64, &ciphertext[at..end]).unwrap().to_bytes(), again);
        at = end;
        if at == text.len() {
            break;
        }
    }
    assert!(ciphertext == sealed && combine(keys.last().unwrap(), n, aad, &hashes).unwrap().0 == tag.0);
    if hashes.iter().any(|hash| hash.length() > 0) {
        let longest = (0..hashes.len()).max_by_key(|i| hashes[*i].length()).unwrap();
        let last = hashes[longest + 1..].iter().all(|hash| hash.length() == 0);
        let mut fewer = hashes.clone();
        fewer.remove(longest);
        let found = combine(&keys[0], n, aad, &fewer);
        assert!(if last { found.unwrap().0 != tag.0 } else { found == Err(Error::Incomplete) });
    }

    // A plan, and another text for one of its parts.
    let nonce96 = [planned; 12];
    let mut plan = Plan::new(nonce96, text.len() as u64, 16 * (1 + u64::from(planned))).unwrap();
    let (mut whole, mut rest) = (text.clone(), text.clone());
    let tag96 = keys[0].seal(nonce96, aad, &mut whole).unwrap();
    let ranges: Vec<_> = plan.parts().collect();
    for (i, range) in ranges.iter().rev().enumerate() {
        assert_eq!(plan.tag(&keys[0], aad), Err(Error::Incomplete));
        let part = &mut rest[range.start as usize..range.end as usize];
        plan.seal(&keys[i % keys.len()], range.start, part).unwrap();
        let mut other = text[range.start as usize..range.end as usize].to_vec();
        other[0] ^= 1;
        let before = other.clone();
        assert!(plan.seal(&keys[0], range.start, &mut other) == Err(Error::OtherText) && other == before);
    }
    assert!(rest == whole && plan.tag(&keys[0], aad).unwrap().0 == tag96.0 && plan.missing().next().is_none());

    // A part hash from another machine lies in the text or is refused, and is returned unchanged.
    if let Ok(hash) = PartHash::from_bytes(&foreign) {
        assert!(hash.offset() % 16 == 0 && hash.to_bytes() == foreign);
        let (offset, length) = (hash.offset(), hash.length());
        let fits = ranges.iter().any(|range| *range == (offset..offset + length));
        let theirs = plan.accept(hash);
        assert_eq!(theirs.is_err(), !fits || plan.accepted().all(|hash| hash.to_bytes() != foreign));
    }
    assert_eq!(seal_part(&keys[0], n, 8, &mut rest).unwrap_err(), Error::InvalidLength);

    // Threads that finish, and threads that are stopped.
    let mut buffer = text.clone();
    let found = keys[0].parallel().seal(n, aad, &mut buffer).unwrap();
    assert!(found.0 == tag.0 && buffer == sealed);
    let limit = usize::from(stop) * 64;
    let watch = |done: usize| if done > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    match keys[0].parallel().watch(&watch).open(n, aad, &mut buffer, &tag) {
        Ok(()) => assert!(text.len() <= limit && buffer == text),
        Err(error) => assert!(error == Error::Stopped && buffer == sealed),
    }
});

//! What is counted is counted in more than 32 bits: answers of texts of more than 4 GiB, and of parts and nonces that lie so far behind.
#![cfg(all(feature = "hazmat", target_os = "linux", target_pointer_width = "64"))]

#[path = "support/backends.rs"]
mod backends;
#[cfg(target_arch = "x86_64")]
#[path = "support/giant.rs"]
mod giant;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{
    Error, Key, Nonce, Packet, Tag,
    hazmat::{self, PartHash, Pieces, UnverifiedOpener},
};
use fastgcm_model::{Block, Model, multiply_blocks};

/// The keystream of a nonce of 12 bytes from that byte of its text on, by the standard's own words (SP 800-38D, section 7.1, steps 2 and 3).
fn keystream(key: &Key, nonce: [u8; 12], at: u64, length: usize) -> Vec<u8> {
    let mut first = [0; 16];
    first[..12].copy_from_slice(&nonce);
    first[12..].copy_from_slice(&u32::try_from(at / 16 + 2).unwrap().to_be_bytes());
    let mut stream = vec![0; length];
    hazmat::ctr(key, &first, &mut stream);
    stream
}

/// Each part has the keystream of its place: at each power of two, up to the end of what the standard allows.
#[test]
fn f04_f12_parts() {
    let mut parts = Tally::default();
    for backend in backends() {
        let key = key(&[7; 16], backend);
        for shift in 8..36 {
            for offset in [(1u64 << shift) - 16, 1 << shift, (1 << shift) + 48] {
                for length in [1, 16, 40, 64, 100, 513, 1600] {
                    let expected = keystream(&key, [9; 12], offset, length);
                    let (mut text, mut to) = (vec![0; length], vec![0; length]);
                    hazmat::seal_part(&key, [9; 12], offset, &mut text).unwrap();
                    hazmat::seal_part_to(&key, [9; 12], offset, &vec![0; length], &mut to).unwrap();
                    assert!(text == expected && to == expected, "{key:?}, {length} bytes at {offset:#x}");
                    hazmat::open_part(&key, [9; 12], offset, &mut text).unwrap();
                    assert!(text.iter().all(|byte| *byte == 0), "{key:?}, {length} bytes at {offset:#x}");
                    parts.add(&key, 1);
                }
            }
        }
    }
    parts.passed("far::f04_f12_parts", 28 * 3 * 7);
}

/// Parts of any lengths, up to all that the standard allows, are put together as the model does: the hash of what is before meets H to the power of so many
/// blocks. (Nobody has the texts: the hashes are drawn.)
#[test]
fn f06_hashes_of_parts() {
    let mut hashes = Tally::default();
    let model = Model::new(&[7; 16]);
    let xor = |a: Block, b: Block| -> Block { std::array::from_fn(|i| a[i] ^ b[i]) };
    // X * H^n, by squaring.
    let raised = |mut x: Block, mut n: u64| {
        let mut power = model.h();
        while n > 0 {
            if n & 1 == 1 {
                x = multiply_blocks(&x, &power);
            }
            power = multiply_blocks(&power, &power);
            n >>= 1;
        }
        x
    };
    for backend in backends() {
        let key = key(&[7; 16], backend);
        for shift in 20..36 {
            for length in [(1u64 << shift) - 16, 1 << shift, (1 << shift) + 1] {
                let part = |offset: u64, length: u64, hash: Block| {
                    let numbers = u128::from(offset) << 64 | u128::from(length);
                    PartHash::from_bytes(&[numbers.to_be_bytes(), hash].concat().try_into().unwrap()).unwrap()
                };
                let parts = [part(0, 64, [5; 16]), part(64, length, [6; 16])];
                assert_eq!((parts[1].offset(), parts[1].length()), (64, length));
                let text = 64 + length;
                let lengths = (u128::from(8 * text)).to_be_bytes();
                let hash = xor(raised([5; 16], length.div_ceil(16)), [6; 16]);
                let expected = xor(multiply_blocks(&xor(hash, lengths), &model.h()), model.cipher(&model.j0(&[9; 12])));
                assert_eq!(hazmat::combine(&key, [9; 12], b"", &parts).unwrap().0, expected, "{key:?}: {length}");
                // What lies before a part is missed, however far that is.
                assert_eq!(hazmat::combine(&key, [9; 12], b"", [&part(length & !15, 16, [6; 16])]), Err(Error::Incomplete));
                hashes.add(&key, 1);
            }
        }
    }
    hashes.passed("far::f06_hashes_of_parts", 16 * 3);
}

/// The nonce behind a batch carries through all eight bytes, and so do those of its packets.
#[test]
fn f13_nonces_of_batches() {
    let mut nonces = Tally::default();
    for backend in backends() {
        let key = key(&[7; 16], backend);
        for shift in 8..64 {
            for less in [1, 2, 3] {
                let first = (1u64 << shift) - less;
                let mut texts = [[0u8; 4]; 3];
                let mut packets: Vec<_> = texts.iter_mut().map(|text| Packet::in_place([0; 12], b"", text, Tag([0; 16]))).collect();
                let nonce = |counter: u64| -> [u8; 12] { [&[1, 2, 3, 4][..], &counter.to_be_bytes()].concat().try_into().unwrap() };
                let next = key.seal_batch_counter(nonce(first), &mut packets).unwrap();
                assert_eq!(next, nonce(first + 3), "2^{shift} - {less}");
                assert!(packets.iter().zip(first..).all(|(packet, counter)| packet.nonce == nonce(counter)), "2^{shift} - {less}");
                nonces.add(&key, 1);
            }
        }
    }
    nonces.passed("far::f13_nonces_of_batches", 56 * 3);
}

/// A text of more than 4 GiB, in each way to seal or open one: what its last bytes become, and the tag, which is the same for all ways. What is counted is
/// counted in one place for all back ends: the first one, the fastest, does it here. (An emulated processor, as tests have of other machines, takes half an
/// hour.)
#[test]
#[cfg(target_arch = "x86_64")]
fn f06_f12_more_than_4_gib() {
    use giant::{Giant, WINDOW};
    use std::slice;
    use suite::{bytes, passed};
    const HEAD: usize = (1 << 32) + 32;
    const TAIL: usize = 300;
    let key = key(&[7; 16], backends()[0]);
    let (from, to) = (Giant::new(HEAD + TAIL, &bytes(WINDOW, 1)), Giant::new(HEAD + TAIL, &[]));
    // SAFETY: so many addresses; nobody writes to the first, and of the second there is one slice at a time.
    let input = unsafe { slice::from_raw_parts(from.at(), HEAD + TAIL) };
    // SAFETY: as above.
    let output = || unsafe { slice::from_raw_parts_mut(to.at(), HEAD + TAIL) };
    let (head, tail) = input.split_at(HEAD);
    let mut last: Vec<u8> = keystream(&key, [9; 12], HEAD as u64, TAIL);
    last.iter_mut().zip(tail).for_each(|(byte, text)| *byte ^= text);

    let mut ways = 0;
    let mut tags = Vec::new();
    let mut seal = |name: &str, seal: &dyn Fn(&mut [u8], &mut [u8]) -> Tag| {
        let (first, second) = output().split_at_mut(HEAD);
        let tag = seal(first, second);
        assert!(output()[HEAD..] == last, "{name}: the last bytes have another keystream");
        tags.push(tag);
        assert_eq!(tags[0], tag, "{name}: another tag");
        ways += 1;
    };
    let nonce = [9; 12];
    seal("seal_detached_to", &|_, _| key.seal_detached_to(nonce, b"aad", input, output()).unwrap());
    seal("Sealer", &|first, second| {
        let mut sealer = key.sealer(nonce);
        sealer.aad(b"aad").unwrap();
        let mut sealer = sealer.text();
        sealer.seal_to(head, first).unwrap();
        sealer.seal_to(tail, second).unwrap();
        sealer.finish()
    });
    seal("Pieces", &|first, second| {
        let mut pieces = Pieces::new(&key, nonce);
        pieces.aad(&key, b"aad").unwrap();
        pieces.seal_to(&key, head, first).unwrap();
        pieces.seal_to(&key, tail, second).unwrap();
        pieces.finish(&key).unwrap()
    });
    seal("seal_gathered", &|_, _| key.seal_gathered(nonce, &[b"aad"], &[head, tail], &[], output()).unwrap());
    seal("seal_scattered", &|first, second| key.seal_scattered(nonce, &[b"aad"], &[input], &[], &mut [first, second]).unwrap());
    seal("parts", &|first, second| {
        let parts = [(0, head, first), (HEAD as u64, tail, second)];
        let hashes = parts.map(|(at, from, to)| hazmat::seal_part_to(&key, nonce, at, from, to).unwrap());
        hazmat::combine(&key, nonce, b"aad", &hashes).unwrap()
    });
    #[cfg(feature = "rayon")]
    seal("parallel", &|_, _| key.parallel().seal_detached_to(nonce, b"aad", input, output()).unwrap());

    // Opening goes through the same counters: of the same input the same bytes come. The tag is that of the input.
    let hashes = [hazmat::hash_part(&key, 0, head).unwrap(), hazmat::hash_part(&key, HEAD as u64, tail).unwrap()];
    let tag = hazmat::combine(&key, nonce, b"aad", &hashes).unwrap();
    type Opens<'a> = &'a dyn Fn(&mut [u8], &mut [u8]) -> Result<(), Error>;
    let mut open = |name: &str, open: Opens<'_>| {
        let (first, second) = output().split_at_mut(HEAD);
        second.fill(0);
        assert_eq!(open(first, second), Ok(()), "{name}");
        assert!(output()[HEAD..] == last, "{name}: the last bytes have another keystream");
        ways += 1;
    };
    open("open_detached_to", &|_, _| key.open_detached_to(nonce, b"aad", input, output(), &tag));
    open("open_gathered", &|_, _| key.open_gathered(nonce, &[b"aad"], &[head, tail], output(), &tag));
    open("open_scattered", &|first, second| key.open_scattered(nonce, &[b"aad"], &[input], &mut [first, second], &tag));
    open("UnverifiedOpener", &|first, second| {
        let mut opener = UnverifiedOpener::new(&key, nonce);
        opener.aad(b"aad")?;
        let mut opener = opener.text();
        opener.open_to(head, first)?;
        opener.open_to(tail, second)?;
        opener.verify(&tag)
    });
    #[cfg(feature = "rayon")]
    open("parallel", &|_, _| key.parallel().open_detached_to(nonce, b"aad", input, output(), &tag));
    assert_eq!(key.verify(nonce, b"aad", input, &tag), Ok(()));

    // A nonce of another length: in one call, and in pieces of at most 1 GiB.
    let nonce = [9; 16];
    let tag = key.seal_detached_to(Nonce::any(&nonce).unwrap(), b"aad", input, output()).unwrap();
    let whole = output()[HEAD..].to_vec();
    let mut sealer = key.sealer(Nonce::any(&nonce).unwrap());
    sealer.aad(b"aad").unwrap();
    let mut sealer = sealer.text();
    for (from, to) in input.chunks(1 << 30).zip(output().chunks_mut(1 << 30)) {
        sealer.seal_to(from, to).unwrap();
    }
    assert!(sealer.finish() == tag && output()[HEAD..] == whole && whole != last, "a nonce of 16 bytes");
    passed("far::f06_f12_more_than_4_gib", ways + 1, if cfg!(feature = "rayon") { 13 } else { 11 });
}

/// AAD of more than 4 GiB, in each way to give it: the tag is that of the same bytes in pieces of at most 1 GiB.
#[test]
#[cfg(target_arch = "x86_64")]
fn f06_aad_of_more_than_4_gib() {
    use giant::{Giant, WINDOW};
    use suite::{bytes, passed};
    const LENGTH: usize = (1 << 32) + 37;
    let (key, nonce) = (key(&[7; 16], backends()[0]), [9; 12]);
    let giant = Giant::new(LENGTH, &bytes(WINDOW, 1));
    // SAFETY: so many addresses, to which nobody writes.
    let aad = unsafe { std::slice::from_raw_parts(giant.at(), LENGTH) };
    let mut sealer = key.sealer(nonce);
    aad.chunks(1 << 30).try_for_each(|piece| sealer.aad(piece)).unwrap();
    let expected = sealer.text().finish();
    let in_one = |mut sealer: fastgcm::Sealer<'_, hazmat::Aad>| {
        sealer.aad(aad).unwrap();
        sealer.text().finish()
    };
    let mut gmac = key.gmac(nonce);
    gmac.update(aad).unwrap();
    let ways = [
        ("seal", key.seal(nonce, aad, &mut []).unwrap()),
        ("Sealer", in_one(key.sealer(nonce))),
        ("seal_gathered", key.seal_gathered(nonce, &[&aad[..LENGTH - 5], &aad[LENGTH - 5..]], &[], &[], &mut []).unwrap()),
        ("Gmac", gmac.finish()),
        ("combine", hazmat::combine(&key, nonce, aad, &[]).unwrap()),
    ];
    for (name, tag) in &ways {
        assert_eq!(*tag, expected, "{name}");
    }
    passed("far::f06_aad_of_more_than_4_gib", ways.len(), 5);
}

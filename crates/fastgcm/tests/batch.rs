//! F21: packets of a batch are messages of their own. Each comes out as by a call of its own, whichever stand beside it, and no byte beside its
//! buffers is touched.
#![cfg(all(target_os = "linux", feature = "alloc"))]

#[path = "support/backends.rs"]
mod backends;
#[path = "support/guarded.rs"]
mod guarded;
#[path = "support/suite.rs"]
mod suite;

use backends::{Tally, backends, key};
use fastgcm::{Backend, Error, Key, Packet, Tag, Text, batch};
use guarded::{Guarded, SIDES};
use suite::{Random, passed, quick};

/// What is sealed and what comes of it, by calls of their own.
#[derive(Clone)]
struct Message {
    nonce: [u8; 12],
    aad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    tag: Tag,
}

impl Message {
    fn new(key: &Key, random: &mut Random, aad: usize, text: usize) -> Self {
        let (nonce, aad, text) = (random.bytes(12).try_into().unwrap(), random.bytes(aad), random.bytes(text));
        let mut sealed = text.clone();
        let tag = key.seal(nonce, &aad, &mut sealed).unwrap();
        Self { nonce, aad, text, sealed, tag }
    }
}

/// What a packet reads.
fn source(message: &Message, seal: bool) -> &[u8] {
    if seal { &message.text } else { &message.sealed }
}

const NO_TAG: Tag = Tag([0xa5; 16]);

/// Seals them in one batch, then opens them with the tags of some changed: each is as by itself. Every second packet goes to another buffer.
fn both_ways(key: &Key, random: &mut Random, messages: &[Message]) -> usize {
    for seal in [true, false] {
        let wrong: Vec<bool> = messages.iter().map(|_| !seal && random.below(4) == 0).collect();
        let mut texts: Vec<Vec<u8>> = messages.iter().map(|message| source(message, seal).to_vec()).collect();
        let mut packets: Vec<Packet<'_>> = Vec::new();
        for (i, (message, text)) in messages.iter().zip(&mut texts).enumerate() {
            let mut tag = if seal { NO_TAG } else { message.tag };
            tag.0[i % 16] ^= u8::from(wrong[i]) << (i % 8);
            packets.push(if i % 2 == 0 {
                Packet::in_place(message.nonce, &message.aad, text, tag)
            } else {
                text.fill(0xa5);
                Packet::to(message.nonce, &message.aad, source(message, seal), text, tag)
            });
            // What is left of an earlier call.
            packets[i].status = [Ok(()), Err(Error::Unauthentic), Err(Error::InvalidLength)][random.below(3)];
        }
        let tags: Vec<Tag> = packets.iter().map(|packet| packet.tag).collect();
        let result = if seal { key.seal_batch(&mut packets) } else { key.open_batch(&mut packets) };
        assert_eq!(result, if wrong.contains(&true) { Err(Error::Unauthentic) } else { Ok(()) });
        for (i, packet) in packets.iter().enumerate() {
            let what = format!("{key:?}, packet {i}: AAD {}, text {}, seal {seal}", messages[i].aad.len(), messages[i].text.len());
            assert_eq!(packet.status, if wrong[i] { Err(Error::Unauthentic) } else { Ok(()) }, "{what}");
            assert_eq!(packet.tag.0, if seal { messages[i].tag.0 } else { tags[i].0 }, "{what}");
        }
        drop(packets);
        for (i, (message, text)) in messages.iter().zip(&texts).enumerate() {
            let zeros = vec![0; text.len()];
            assert_eq!(text, if wrong[i] { &zeros } else { source(message, !seal) }, "{key:?}, packet {i}, seal {seal}");
        }
    }
    2 * messages.len()
}

/// Batches of any packets: runs of one shape, as they go side by side, and neighbours of many.
#[test]
fn f21_random_batches() {
    const TEXTS: [usize; 14] = [0, 1, 15, 16, 31, 32, 33, 63, 64, 65, 128, 200, 256, 700];
    const AADS: [usize; 7] = [0, 1, 12, 13, 16, 17, 100];
    let batches = if quick() { 40 } else { 400 };
    let (mut random, mut tally, mut expected) = (Random(21), Tally::default(), 0);
    let shapes: Vec<Vec<(usize, usize)>> = (0..batches)
        .map(|_| {
            let mut shapes = Vec::new();
            for _ in 0..random.below(6) {
                let shape = (
                    AADS[random.below(AADS.len())],
                    if random.below(3) == 0 { random.below(300) } else { TEXTS[random.below(TEXTS.len())] },
                );
                shapes.extend(std::iter::repeat_n(shape, 1 + random.below(21)));
            }
            shapes
        })
        .collect();
    for length in [16, 24, 32] {
        let bytes = random.bytes(length);
        expected += 2 * shapes.iter().map(Vec::len).sum::<usize>();
        for backend in backends() {
            let (key, other) = (key(&bytes, backend), key(&bytes, Backend::Portable));
            for shapes in &shapes {
                let messages: Vec<Message> = shapes.iter().map(|(aad, text)| Message::new(&other, &mut random, *aad, *text)).collect();
                tally.add(&key, both_ways(&key, &mut random, &messages));
            }
        }
    }
    tally.passed("batch::f21_random_batches", expected);
}

/// Up to five packets in each order.
#[test]
fn f21_every_order() {
    let (mut random, mut tally, mut expected) = (Random(22), Tally::default(), 0);
    for backend in backends() {
        let key = key(&random.bytes(16), backend);
        expected = 0;
        for shapes in [[(0, 16), (13, 64), (0, 64), (16, 64), (13, 64)], [(12, 64), (12, 64), (12, 64), (12, 64), (12, 65)]] {
            let messages = shapes.map(|(aad, text)| Message::new(&key, &mut random, aad, text));
            for n in 2..=5 {
                let mut order: Vec<usize> = (0..n).collect();
                permutations(&mut order, n, &mut |order| {
                    let messages: Vec<Message> = order.iter().map(|&i| messages[i].clone()).collect();
                    let done = both_ways(&key, &mut random, &messages);
                    tally.add(&key, done);
                    expected += done;
                });
            }
        }
    }
    tally.passed("batch::f21_every_order", expected);
    assert_eq!(expected, 2 * 2 * (2 * 2 + 3 * 6 + 4 * 24 + 5 * 120));
}

/// Heap's algorithm.
fn permutations(order: &mut Vec<usize>, n: usize, then: &mut impl FnMut(&[usize])) {
    if n == 1 {
        return then(order);
    }
    for i in 0..n {
        permutations(order, n - 1, then);
        order.swap(if n.is_multiple_of(2) { i } else { 0 }, n - 1);
    }
}

/// Each packet's AAD, source and destination begin or end at a page that may not be touched.
#[test]
fn f21_nothing_beside_the_buffers_is_touched() {
    const PACKETS: usize = 8;
    let mut memory: Vec<[Guarded; 3]> = (0..PACKETS).map(|_| [16, 300, 300].map(Guarded::new)).collect();
    let lengths = || (0..=66).chain([127, 128, 129, 191, 255, 256, 257]).step_by(if quick() { 7 } else { 1 });
    let (mut random, mut tally, aads) = (Random(23), Tally::default(), [0, 1, 13, 16]);
    for (side, backend) in SIDES.into_iter().flat_map(|side| backends().into_iter().map(move |backend| (side, backend))) {
        let key = key(&random.bytes(32), backend);
        for (text, aad, seal) in lengths().flat_map(|text| aads.map(|aad| [(text, aad, true), (text, aad, false)])).flatten() {
            let messages: Vec<Message> = (0..PACKETS).map(|_| Message::new(&key, &mut random, aad, text)).collect();
            let mut packets = Vec::new();
            for (message, [aads, from, to]) in messages.iter().zip(&mut memory) {
                let aad = aads.put(side, &message.aad);
                let from = from.put(side, source(message, seal));
                let to = to.put(side, &vec![0xa5; text]);
                packets.push(Packet::to(message.nonce, aad, from, to, if seal { NO_TAG } else { message.tag }));
            }
            let result = if seal { key.seal_batch(&mut packets) } else { key.open_batch(&mut packets) };
            assert_eq!(result, Ok(()));
            for (message, packet) in messages.iter().zip(&packets) {
                let Text::To(_, to) = &packet.text else { unreachable!() };
                assert!(*to == source(message, !seal) && packet.tag.0 == message.tag.0, "{key:?}, text {text}, AAD {aad}, {side:?}");
            }
            tally.add(&key, PACKETS);
        }
    }
    tally.passed("batch::f21_guard_pages", 2 * PACKETS * 2 * aads.len() * lengths().count());
}

/// A packet that is refused stops none of the others, and nothing of it is written.
#[test]
fn f21_lengths_that_differ() {
    const PACKETS: usize = 14;
    let mut tally = Tally::default();
    for backend in backends() {
        let key = key(&[1; 16], backend);
        for bad in 0..PACKETS {
            let from = [[3; 64]; PACKETS];
            let mut to = [[0xa5; 64]; PACKETS];
            let mut packets: Vec<Packet<'_>> =
                from.iter().zip(&mut to).map(|(from, to)| Packet::to([2; 12], b"", from, to, NO_TAG)).collect();
            packets[bad].text = Text::To(
                &from[bad][..63],
                match &mut packets[bad].text {
                    Text::To(_, to) => std::mem::take(to),
                    Text::InPlace(_) => unreachable!(),
                },
            );
            assert_eq!(key.seal_batch(&mut packets), Err(Error::InvalidLength));
            let as_it_was = |packet: &Packet<'_>| packet.tag.0 == NO_TAG.0 && packet.status == Err(Error::InvalidLength);
            assert!(packets.iter().enumerate().all(|(i, packet)| if i == bad { as_it_was(packet) } else { packet.status.is_ok() }));
            drop(packets);
            let expected = key.seal_vec([2; 12], b"", &from[0]).unwrap();
            assert!(to.iter().enumerate().all(|(i, to)| to[..] == if i == bad { [0xa5; 64] } else { expected[..64].try_into().unwrap() }));
            tally.add(&key, 1);
        }
    }
    tally.passed("batch::lengths_that_differ", PACKETS);
}

/// Each packet under the key at its place.
#[test]
fn f21_many_keys() {
    let (mut random, mut cases) = (Random(24), 0);
    let rows = backends();
    let keys: Vec<Key> = (0..12).map(|i| key(&random.bytes([16, 24, 32][i % 3]), rows[i % rows.len()])).collect();
    for run in [1, 2, 5, 9] {
        let by: Vec<&Key> = (0..40).map(|i| &keys[i / run % keys.len()]).collect();
        let messages: Vec<Message> = by.iter().map(|key| Message::new(key, &mut random, 13, 64)).collect();
        let mut texts: Vec<Vec<u8>> = messages.iter().map(|message| message.text.clone()).collect();
        let mut packets: Vec<Packet<'_>> =
            messages.iter().zip(&mut texts).map(|(message, text)| Packet::in_place(message.nonce, &message.aad, text, NO_TAG)).collect();
        assert_eq!(batch::seal(&by[1..], &mut packets), Err(Error::InvalidLength));
        batch::seal(&by, &mut packets).unwrap();
        assert!(packets.iter().zip(&messages).all(|(packet, message)| packet.tag.0 == message.tag.0));
        packets[7].tag.0[0] ^= 1;
        assert_eq!(batch::open(&by, &mut packets), Err(Error::Unauthentic));
        assert!(packets.iter().enumerate().all(|(i, packet)| packet.status.is_err() == (i == 7)));
        drop(packets);
        assert!(texts.iter().zip(&messages).enumerate().all(|(i, (text, message))| i == 7 || *text == message.text));
        cases += by.len();
    }
    passed("batch::f21_many_keys", cases, 160);
}

/// Nonces that count, up to the last.
#[test]
fn f13_nonces_that_count() {
    let key = Key::aes128(&[1; 16]);
    let mut texts = [[0; 5]; 5];
    let mut packets: Vec<Packet<'_>> = texts.iter_mut().map(|text| Packet::in_place([9; 12], b"", text, NO_TAG)).collect();
    let first = [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0xfe];
    assert_eq!(key.seal_batch_counter(first, &mut packets).unwrap(), [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 1, 3]);
    let last: Vec<[u8; 2]> = packets.iter().map(|packet| [packet.nonce[10], packet.nonce[11]]).collect();
    assert_eq!(last, [[0, 0xfe], [0, 0xff], [1, 0], [1, 1], [1, 2]]);
    assert!(packets.iter().all(|packet| packet.nonce[..10] == [1, 2, 3, 4, 0, 0, 0, 0, 0, 0]) && !batch::repeats_a_nonce(&packets));
    // Of 2^64 - 5 numbers on there are five left, and none behind them.
    for (first, fits) in [(u64::MAX - 5, true), (u64::MAX - 4, false), (u64::MAX, false)] {
        let first = [&[1, 2, 3, 4], &first.to_be_bytes()[..]].concat().try_into().unwrap();
        if fits {
            assert_eq!(key.seal_batch_counter(first, &mut packets), Ok([1, 2, 3, 4, 255, 255, 255, 255, 255, 255, 255, 255]));
        } else {
            let before: Vec<_> = packets.iter().map(|packet| (packet.nonce, packet.tag.0)).collect();
            assert_eq!(key.seal_batch_counter(first, &mut packets), Err(Error::TooLong));
            assert!(packets.iter().map(|packet| (packet.nonce, packet.tag.0)).eq(before));
        }
    }
    packets[4].nonce = packets[1].nonce;
    assert!(batch::repeats_a_nonce(&packets));
    passed("batch::f13_nonces_that_count", packets.len() + 3, 8);
}

//! The C library's functions, called as C calls them.

#[path = "../../../fastgcm/tests/support/mod.rs"]
mod published;
#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_capi::{fastgcm_status::*, *};
use std::{
    ffi::{CStr, c_char},
    ptr::{null, null_mut},
};
use suite::{Random, passed};

/// A key on the heap.
struct Key(*mut fastgcm_key);

impl Key {
    fn new(bytes: &[u8], backend: *const c_char) -> Self {
        let mut key = null_mut();
        // SAFETY: a slice, and a name.
        assert_eq!(unsafe { fastgcm_key_new(&mut key, bytes.as_ptr(), bytes.len(), backend) }, FASTGCM_OK as i32);
        Self(key)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { fastgcm_key_free(self.0) }
    }
}

/// The names of this machine's back ends.
fn backends() -> Vec<*const c_char> {
    (0..).map(|index| fastgcm_backend(index)).take_while(|name| !name.is_null()).collect()
}

fn slices(bytes: &[u8], random: &mut Random) -> Vec<fastgcm_slice> {
    let (mut list, mut rest) = (vec![], bytes);
    for _ in 0..random.below(24) {
        let (piece, other) = rest.split_at(random.below(rest.len() + 1));
        list.push(fastgcm_slice { data: if piece.is_empty() { null() } else { piece.as_ptr() }, size: piece.len() });
        rest = other;
    }
    list.push(fastgcm_slice { data: rest.as_ptr(), size: rest.len() });
    list
}

/// CAVP and Wycheproof on each back end: at once, in lists, and in pieces.
#[test]
fn published_answers() {
    let cases: Vec<_> = published::cavp().into_iter().chain(published::wycheproof_gcm()).collect();
    let (mut checked, mut random) = (0, Random(5));
    let names = backends();
    for (number, case) in cases.iter().enumerate() {
        let key = Key::new(&case.key, names[number % names.len()]);
        let (size, mut text) = (case.ciphertext.len(), case.ciphertext.clone());
        let wanted = match &case.plaintext {
            _ if case.nonce.is_empty() => FASTGCM_INVALID_LENGTH,
            Some(_) => FASTGCM_OK,
            None => FASTGCM_UNAUTHENTIC,
        } as i32;
        let nonce = (case.nonce.as_ptr(), case.nonce.len());
        let aad = if case.aad.is_empty() { null() } else { case.aad.as_ptr() };
        let in_place = number % 2 == 0;
        // SAFETY: slices with their lengths.
        unsafe {
            let from = if in_place { text.as_ptr() } else { case.ciphertext.as_ptr() };
            let (tag, tag_size) = (case.tag.as_ptr(), case.tag.len());
            let done = fastgcm_open(key.0, nonce.0, nonce.1, aad, case.aad.len(), from, size, tag, tag_size, text.as_mut_ptr());
            assert_eq!(done, wanted, "{}", case.name);
            if wanted == FASTGCM_UNAUTHENTIC as i32 {
                assert!(text.iter().all(|byte| *byte == 0), "{}", case.name);
            }
            let lists = [slices(&case.aad, &mut random), slices(&case.ciphertext, &mut random)];
            let [l1, l2] = &lists;
            if tag_size == 16 {
                let mut other = vec![1; size];
                let to = other.as_mut_ptr();
                let done = fastgcm_open_gathered(key.0, nonce.0, nonce.1, l1.as_ptr(), l1.len(), l2.as_ptr(), l2.len(), tag, to, size);
                assert_eq!(done, wanted, "{}", case.name);
                assert!(wanted == FASTGCM_INVALID_LENGTH as i32 || other == text, "{}", case.name);
            }
            let mut pieces = null_mut();
            let done = fastgcm_pieces_new(&mut pieces, key.0, nonce.0, nonce.1);
            if wanted == FASTGCM_INVALID_LENGTH as i32 {
                assert!(done == wanted && pieces.is_null());
                checked += 1;
                continue;
            }
            for piece in l1 {
                assert_eq!(fastgcm_pieces_aad(pieces, key.0, piece.data, piece.size), 0);
            }
            let mut opened = vec![];
            for piece in l2 {
                let mut to = vec![0; piece.size];
                assert_eq!(fastgcm_pieces_open(pieces, key.0, piece.data, piece.size, to.as_mut_ptr()), 0);
                opened.extend(to);
            }
            assert_eq!(fastgcm_pieces_verify(pieces, key.0, tag, tag_size), wanted, "{}", case.name);
            assert_eq!(fastgcm_pieces_verify(pieces, key.0, tag, tag_size), FASTGCM_OUT_OF_ORDER as i32);
            fastgcm_pieces_free(pieces);
            let Some(plaintext) = &case.plaintext else {
                checked += 1;
                continue;
            };
            assert!(text == *plaintext && opened == *plaintext, "{}", case.name);

            let (mut sealed, mut made) = (plaintext.clone(), [0; 16]);
            let from = if in_place { sealed.as_ptr() } else { plaintext.as_ptr() };
            let (to, room) = (sealed.as_mut_ptr(), made.as_mut_ptr());
            assert_eq!(fastgcm_seal(key.0, nonce.0, nonce.1, aad, case.aad.len(), from, size, to, room), 0);
            assert!(sealed == case.ciphertext && made[..tag_size] == case.tag, "{}", case.name);
            let l2 = slices(plaintext, &mut random);
            let (to, room) = (sealed.as_mut_ptr(), made.as_mut_ptr());
            sealed.fill(0);
            let done = fastgcm_seal_gathered(key.0, nonce.0, nonce.1, l1.as_ptr(), l1.len(), l2.as_ptr(), l2.len(), to, size, room);
            assert!(done == 0 && sealed == case.ciphertext && made[..tag_size] == case.tag, "{}", case.name);
        }
        checked += 1;
    }
    passed("capi::published_answers", checked, cases.len());
}

/// F8: of every two buffers at every distance, those that overlap are refused and untouched, and the others are right.
#[test]
fn f08_overlaps() {
    const SIZE: usize = 40;
    let (key, mut calls, mut clashes) = (Key::new(&[1; 16], null()), 0, [0, 0]);
    let before: Vec<u8> = (0..240).collect();
    let seal = |memory: &mut [u8], [aad, text, to, tag, nonce]: [usize; 5]| {
        let at = memory.as_mut_ptr();
        // SAFETY: all of it lies in `memory`.
        unsafe { fastgcm_seal(key.0, at.add(nonce), 12, at.add(aad), 13, at.add(text), SIZE, at.add(to), at.add(tag)) }
    };
    let reach = |a: (usize, usize), b: (usize, usize)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
    for moved in 0..5 {
        for offset in 0..=200 {
            let mut places = [0, 60, if moved >= 3 { 110 } else { 60 }, 180, 220];
            places[[0, 2, 3, 4, 0][moved]] = offset;
            let [aad, text, to, tag, nonce] = places;
            let same = text == to;
            let clash = [(aad, 13), (nonce, 12)].iter().any(|read| reach((to, SIZE), *read))
                || !same && reach((to, SIZE), (text, SIZE))
                || [(aad, 13), (nonce, 12), (text, SIZE), (to, SIZE)].iter().any(|other| reach((tag, 16), *other));
            let mut memory = before.clone();
            let done = seal(&mut memory, places);
            assert_eq!(done, if clash { FASTGCM_OVERLAP as i32 } else { 0 }, "{places:?}");
            if clash {
                assert!(memory == before, "{places:?}");
            } else {
                let mut apart = [&before[aad..aad + 13], &before[text..text + SIZE], &[0; 56], &before[nonce..nonce + 12]].concat();
                assert_eq!(seal(&mut apart, [0, 13, 53, 93, 109]), 0);
                assert!(memory[to..to + SIZE] == apart[53..93] && memory[tag..tag + 16] == apart[93..109], "{places:?}");
                // And back, with the tag wherever it is, but the AAD must not be overwritten.
                let at = memory.as_mut_ptr();
                // SAFETY: as above.
                let done =
                    unsafe { fastgcm_open(key.0, at.add(nonce), 12, at.add(aad), 13, at.add(to), SIZE, at.add(tag), 16, at.add(text)) };
                let [of_aad, of_nonce] = [(aad, 13), (nonce, 12)].map(|read| reach((text, SIZE), read));
                let clash = of_aad || of_nonce;
                clashes[0] += usize::from(of_aad);
                clashes[1] += usize::from(of_nonce);
                assert_eq!(done, if clash { FASTGCM_OVERLAP as i32 } else { 0 }, "{places:?}");
                assert!(clash || memory[text..text + SIZE] == before[text..text + SIZE], "{places:?}");
            }
            calls += 1;
        }
    }
    assert!(clashes.iter().all(|count| *count > 20), "what is opened met AAD and nonces {clashes:?} times");
    passed("capi::f08_overlaps", calls, 5 * 201);
}

/// The same of lists: AAD and text of two buffers each, and the lists themselves.
#[test]
fn f08_overlaps_of_lists() {
    // Two of AAD, two of text, what is written, the tag, the nonce, both lists.
    const SIZES: [usize; 9] = [5, 8, 16, 24, 40, 16, 12, 32, 32];
    const PLACES: [usize; 9] = [64, 80, 96, 128, 160, 208, 232, 0, 32];
    #[repr(align(16))]
    struct Memory([u8; 320]);
    let (key, mut calls, mut refused) = (Key::new(&[1; 16], null()), 0, 0);
    for (seal, moved, offset) in (0..2).flat_map(|way| (0..9).flat_map(move |moved| (0..=280).map(move |offset| (way == 0, moved, offset))))
    {
        let mut places = PLACES;
        places[moved] = if moved >= 7 { offset / 8 * 8 } else { offset };
        let reach = |a: usize, b: usize| places[a] < places[b] + SIZES[b] && places[b] < places[a] + SIZES[a];
        let read = [0, 1, 2, 3, 6, 7, 8];
        // A list must be one, and the tag of a message to be opened must not change what is read.
        if reach(7, 8) || !seal && read.iter().any(|other| reach(5, *other)) {
            continue;
        }
        let mut memory = Memory(std::array::from_fn(|i| i as u8));
        let at = memory.0.as_mut_ptr();
        // SAFETY: all of it lies in `memory`, and the lists are aligned.
        unsafe {
            let [list, texts] = [7, 8].map(|list| at.add(places[list]).cast::<fastgcm_slice>());
            for i in 0..4 {
                let slice = fastgcm_slice { data: at.add(places[i]), size: SIZES[i] };
                if i < 2 { list.add(i).write(slice) } else { texts.add(i - 2).write(slice) }
            }
            let bytes = |i: usize| std::slice::from_raw_parts(at.add(places[i]), SIZES[i]);
            let (aad, from, nonce) = ([bytes(0), bytes(1)].concat(), [bytes(2), bytes(3)].concat(), bytes(6).to_vec());
            // The same message, apart. What is to be opened is what has that keystream.
            let (mut wanted, mut tag) = (vec![0; 40], [0; 16]);
            let mut sealed = |text: &[u8]| {
                let (to, tag) = (wanted.as_mut_ptr(), tag.as_mut_ptr());
                assert_eq!(fastgcm_seal(key.0, nonce.as_ptr(), 12, aad.as_ptr(), 13, text.as_ptr(), 40, to, tag), 0);
                wanted.clone()
            };
            let wanted = if seal {
                sealed(&from)
            } else {
                let text: Vec<u8> = sealed(&[0; 40]).iter().zip(&from).map(|(a, b)| a ^ b).collect();
                assert!(sealed(&text) == from);
                text
            };
            if !seal {
                at.add(places[5]).copy_from(tag.as_ptr(), 16);
            }
            let before = memory.0;
            let (place, tag_place, nonce) = (at.add(places[4]), at.add(places[5]), at.add(places[6]));
            let done = if seal {
                fastgcm_seal_gathered(key.0, nonce, 12, list, 2, texts, 2, place, 40, tag_place)
            } else {
                fastgcm_open_gathered(key.0, nonce, 12, list, 2, texts, 2, tag_place, place, 40)
            };
            let clash = read.iter().any(|other| reach(4, *other) || seal && reach(5, *other)) || seal && reach(4, 5);
            assert_eq!(done, if clash { FASTGCM_OVERLAP as i32 } else { 0 }, "{seal} {places:?}");
            if clash {
                assert!(memory.0 == before, "{places:?}");
                refused += 1;
            } else {
                assert!(memory.0[places[4]..][..40] == wanted[..] && (!seal || memory.0[places[5]..][..16] == tag), "{seal} {places:?}");
            }
        }
        calls += 1;
    }
    assert!(refused > 500 && calls - refused > 500);
    passed("capi::f08_overlaps_of_lists", calls, 4484);
}

/// Packets of one call are what single calls make of them, in place and apart, on each back end; one that is forged harms no other.
#[test]
fn batches() {
    // (So many packets that an address times the size of their list has more than 64 bits.)
    const COUNTS: [usize; 8] = [0, 1, 2, 3, 8, 33, 100, 4000];
    let (mut packets_seen, mut random) = (0, Random(9));
    for backend in backends() {
        let key = Key::new(&[3; 32], backend);
        for count in COUNTS {
            for sizes in [&[64][..], &[0, 1, 15, 16, 17, 1000], &[300, 64, 64, 64]] {
                let mut memory: Vec<[Vec<u8>; 3]> = (0..count)
                    .map(|number| {
                        let size = sizes[number % sizes.len()];
                        [random.below(40), size, size].map(|size| (0..size).map(|_| random.below(256) as u8).collect())
                    })
                    .collect();
                let before = memory.clone();
                let mut packets: Vec<fastgcm_packet> = memory
                    .iter_mut()
                    .enumerate()
                    .map(|(number, [aad, from, to])| {
                        let (in_place, mut nonce) = (number % 3 == 0, [0; 12]);
                        nonce[4..].copy_from_slice(&(number as u64).to_be_bytes());
                        let to = if in_place { from.as_mut_ptr() } else { to.as_mut_ptr() };
                        let (aad_data, from_data) = (aad.as_ptr(), if from.is_empty() { null() } else { from.as_ptr() });
                        let (to, tag, size) = (if from.is_empty() { null_mut() } else { to }, [0; 16], from.len());
                        fastgcm_packet { nonce, status: -1, aad: aad_data, aad_size: aad.len(), from: from_data, to, size, tag }
                    })
                    .collect();
                // SAFETY: the packets are of `memory`, which stays where it is.
                unsafe {
                    assert_eq!(fastgcm_seal_batch(key.0, packets.as_mut_ptr(), count), FASTGCM_OK as i32);
                    for (packet, [aad, from, _]) in packets.iter_mut().zip(&before) {
                        let (mut sealed, mut tag) = (vec![0; packet.size], [0; 16]);
                        let (nonce, to, size) = (packet.nonce.as_ptr(), sealed.as_mut_ptr(), packet.size);
                        assert_eq!(fastgcm_seal(key.0, nonce, 12, aad.as_ptr(), aad.len(), from.as_ptr(), size, to, tag.as_mut_ptr()), 0);
                        let made = if size == 0 { &[][..] } else { std::slice::from_raw_parts(packet.to, size) };
                        assert!(packet.status == 0 && packet.tag == tag && *made == sealed[..]);
                        // And back, in place.
                        (packet.from, packet.status) = (packet.to, -1);
                        packets_seen += 1;
                    }
                    let forged = random.below(count.max(1));
                    if count > 0 {
                        packets[forged].tag[15] ^= 1;
                    }
                    let wanted = if count > 0 { FASTGCM_UNAUTHENTIC } else { FASTGCM_OK } as i32;
                    assert_eq!(fastgcm_open_batch(key.0, packets.as_mut_ptr(), count), wanted);
                    for (number, (packet, [_, from, _])) in packets.iter().zip(&before).enumerate() {
                        let opened = if packet.size == 0 { &[][..] } else { std::slice::from_raw_parts(packet.to, packet.size) };
                        let wanted = if number == forged { FASTGCM_UNAUTHENTIC } else { FASTGCM_OK } as i32;
                        assert!(
                            packet.status == wanted && opened.iter().zip(from).all(|(a, b)| *a == if number == forged { 0 } else { *b })
                        );
                    }
                }
            }
        }
    }
    passed("capi::batches", packets_seen, backends().len() * 3 * COUNTS.iter().sum::<usize>());
}

/// Up to four packets anywhere, in any order, with texts and AAD of no byte, of one and of more: what overlaps is refused, and nothing is written. All
/// others are sealed as single calls seal them, and nothing else is written.
#[test]
fn f08_overlaps_of_random_batches() {
    const MEMORY: usize = 1024;
    #[derive(Clone)]
    #[repr(align(16))]
    struct Memory([u8; MEMORY]);
    let (key, mut random, mut refused, rounds) = (Key::new(&[1; 16], null()), Random(8), 0, 100_000);
    let reach = |a: (usize, usize), b: (usize, usize)| a.1 > 0 && b.1 > 0 && a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
    for round in 0..rounds {
        // Where something begins, and its bytes: many begin together, or side by side.
        let size = (1 + random.below(4)) * size_of::<fastgcm_packet>();
        let list = (random.below((MEMORY - size) / 8) * 8, size);
        let packets: Vec<[(usize, usize); 3]> = (0..size / size_of::<fastgcm_packet>())
            .map(|_| {
                let (size, aad) = ([0, 1, 2, 24][random.below(4)], [0, 1, 13][random.below(3)]);
                let [aad, from, to] = [aad, size, size].map(|size| (random.below((MEMORY - size) / 8) * 8 + random.below(8) / 7, size));
                [aad, if random.below(2) == 0 { to } else { from }, to]
            })
            .collect();
        let writes: Vec<_> = packets.iter().map(|packet| packet[2]).chain([list]).collect();
        let clash = writes.iter().enumerate().any(|(i, write)| {
            let reads = |(j, [aad, from, to]): (usize, &[_; 3])| reach(*write, *aad) || reach(*write, *from) && !(i == j && from == to);
            writes[..i].iter().any(|other| reach(*write, *other)) || packets.iter().enumerate().any(reads)
        });
        let mut memory = Memory(std::array::from_fn(|i| i as u8));
        let at = memory.0.as_mut_ptr();
        // SAFETY: all of it lies in `memory`, or in its copy, and the list is aligned.
        let wanted = unsafe {
            let listed: *mut fastgcm_packet = at.add(list.0).cast();
            for (i, [aad, from, to]) in packets.iter().enumerate() {
                let (aad, aad_size, from, to, size) = (at.add(aad.0), aad.1, at.add(from.0), at.add(to.0), to.1);
                listed.add(i).write(fastgcm_packet { nonce: [i as u8; 12], status: 0, aad, aad_size, from, to, size, tag: [0; 16] });
            }
            let mut wanted = memory.clone();
            let done = fastgcm_seal_batch(key.0, listed, packets.len());
            assert_eq!(done, if clash { FASTGCM_OVERLAP as i32 } else { 0 }, "round {round}: {list:?} {packets:?}");
            let at = wanted.0.as_mut_ptr();
            for (i, [aad, from, to]) in packets.iter().enumerate().filter(|_| !clash) {
                let (nonce, tag) = ([i as u8; 12], &raw mut (*at.add(list.0).cast::<fastgcm_packet>().add(i)).tag);
                let (aad, aad_size, from, to, size) = (at.add(aad.0), aad.1, at.add(from.0), at.add(to.0), to.1);
                assert_eq!(fastgcm_seal(key.0, nonce.as_ptr(), 12, aad, aad_size, from, size, to, tag.cast()), 0);
            }
            wanted
        };
        assert!(memory.0 == wanted.0, "round {round}: {list:?} {packets:?}");
        refused += usize::from(clash);
    }
    assert!(refused > rounds / 10 && refused < rounds * 9 / 10, "{refused}");
    passed("capi::f08_overlaps_of_random_batches", rounds, 100_000);
}

/// NULL, lengths that nothing has, places that are no places: an error each, and nothing is written.
#[test]
fn f06_refused() {
    let key = Key::new(&[1; 32], c"portable".as_ptr());
    let (mut text, mut tag, nonce) = ([7; 20], [7; 16], [1; 12]);
    let (t, g, n) = (text.as_mut_ptr(), tag.as_mut_ptr(), nonce.as_ptr());
    let mut memory = vec![7u8; 8192];
    let base = memory.as_mut_ptr().wrapping_add(memory.as_ptr().align_offset(64));
    let (place, odd) = (base.cast::<fastgcm_key>(), base.wrapping_add(16).cast());
    let (room, bytes, mut made) = (fastgcm_key_size(), [1; 33], key.0);
    let list = [fastgcm_slice { data: null(), size: 3 }];
    let huge = [fastgcm_slice { data: t, size: usize::MAX }];
    let one = [fastgcm_slice { data: nonce.as_ptr(), size: 3 }];
    let mut pieces = null_mut();
    // SAFETY: what is there is as long as it says; the rest is refused.
    let refused = unsafe {
        assert_eq!(fastgcm_pieces_new(&mut pieces, key.0, n, 12), 0);
        [
            (fastgcm_seal(null(), n, 12, null(), 0, t, 20, t, g), FASTGCM_NULL),
            (fastgcm_seal(key.0, null(), 12, null(), 0, t, 20, t, g), FASTGCM_NULL),
            (fastgcm_seal(key.0, n, 0, null(), 0, t, 20, t, g), FASTGCM_INVALID_LENGTH),
            (fastgcm_seal(key.0, null(), 0, null(), 0, t, 20, t, g), FASTGCM_INVALID_LENGTH),
            (fastgcm_seal(key.0, n, 12, null(), 1, t, 20, t, g), FASTGCM_NULL),
            (fastgcm_seal(key.0, n, 12, null(), 0, null(), 20, t, g), FASTGCM_NULL),
            (fastgcm_seal(key.0, n, 12, null(), 0, t, 20, null_mut(), g), FASTGCM_NULL),
            (fastgcm_seal(key.0, n, 12, n, 1, t, 20, null_mut(), g), FASTGCM_NULL),
            (fastgcm_seal(key.0, n, 12, null(), 0, t, 20, t, null_mut()), FASTGCM_NULL),
            (fastgcm_seal(key.0, n, 12, null(), 0, t, usize::MAX, t, g), FASTGCM_TOO_LONG),
            (fastgcm_seal(key.0, n, 12, t, usize::MAX, t, 20, t, g), FASTGCM_TOO_LONG),
            (fastgcm_seal(key.0, n, usize::MAX, null(), 0, t, 20, t, g), FASTGCM_TOO_LONG),
            (fastgcm_open(key.0, n, 12, null(), 0, t, 20, g, 11, t), FASTGCM_INVALID_LENGTH),
            (fastgcm_open(key.0, n, 12, null(), 0, t, 20, g, 17, t), FASTGCM_INVALID_LENGTH),
            (fastgcm_open(key.0, n, 12, null(), 0, t, 20, g, 0, t), FASTGCM_INVALID_LENGTH),
            (fastgcm_open(key.0, n, 12, null(), 0, t, 20, null(), 16, t), FASTGCM_NULL),
            (fastgcm_open(null(), n, 12, null(), 0, t, 20, g, 16, t), FASTGCM_NULL),
            (fastgcm_open(key.0, null(), 12, n, 1, t, 20, g, 16, t), FASTGCM_NULL),
            (fastgcm_open(key.0, n, 12, null(), 1, t, 20, g, 16, t), FASTGCM_NULL),
            (fastgcm_open(key.0, n, 12, n, 1, null(), 20, g, 16, t), FASTGCM_NULL),
            (fastgcm_open(key.0, n, 12, n, 1, t, 20, g, 16, null_mut()), FASTGCM_NULL),
            (fastgcm_open(key.0, n, 12, null(), 0, t, usize::MAX, g, 16, t), FASTGCM_TOO_LONG),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 1, null(), 0, t, 0, g), FASTGCM_NULL),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, list.as_ptr(), 1, t, 3, g), FASTGCM_NULL),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, huge.as_ptr(), 1, t, 3, g), FASTGCM_TOO_LONG),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, huge.as_ptr(), usize::MAX, t, 3, g), FASTGCM_TOO_LONG),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, null(), 0, t, 3, g), FASTGCM_INVALID_LENGTH),
            (fastgcm_open_gathered(key.0, n, 12, null(), 0, null(), 0, g, t, 3), FASTGCM_INVALID_LENGTH),
            (fastgcm_seal_gathered(null(), n, 12, null(), 0, one.as_ptr(), 1, t, 3, g), FASTGCM_NULL),
            (fastgcm_seal_gathered(key.0, null(), 12, null(), 0, one.as_ptr(), 1, t, 3, g), FASTGCM_NULL),
            (fastgcm_seal_gathered(key.0, n, 12, list.as_ptr(), 1, one.as_ptr(), 1, t, 3, g), FASTGCM_NULL),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, one.as_ptr(), 1, null_mut(), 3, g), FASTGCM_NULL),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, one.as_ptr(), 1, t, 3, null_mut()), FASTGCM_NULL),
            (fastgcm_seal_gathered(key.0, n, 0, null(), 0, one.as_ptr(), 1, t, 3, g), FASTGCM_INVALID_LENGTH),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, one.as_ptr(), 1, t, 2, g), FASTGCM_INVALID_LENGTH),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, one.as_ptr(), 1, t, 4, g), FASTGCM_INVALID_LENGTH),
            (fastgcm_seal_gathered(key.0, n, 12, null(), 0, one.as_ptr(), 1, t, usize::MAX, g), FASTGCM_TOO_LONG),
            (fastgcm_open_gathered(null(), n, 12, null(), 0, one.as_ptr(), 1, g, t, 3), FASTGCM_NULL),
            (fastgcm_open_gathered(key.0, null(), 12, null(), 0, one.as_ptr(), 1, g, t, 3), FASTGCM_NULL),
            (fastgcm_open_gathered(key.0, n, 12, null(), 1, one.as_ptr(), 1, g, t, 3), FASTGCM_NULL),
            (fastgcm_open_gathered(key.0, n, 12, null(), 0, one.as_ptr(), 1, null(), t, 3), FASTGCM_NULL),
            (fastgcm_open_gathered(key.0, n, 12, null(), 0, one.as_ptr(), 1, g, null_mut(), 3), FASTGCM_NULL),
            (fastgcm_key_init(null_mut(), room, bytes.as_ptr(), 16, null()), FASTGCM_NULL),
            (fastgcm_key_init(place, room - 1, bytes.as_ptr(), 16, null()), FASTGCM_PLACE),
            (fastgcm_key_init(odd, room, bytes.as_ptr(), 16, null()), FASTGCM_PLACE),
            (fastgcm_key_init(place, room, bytes.as_ptr(), 17, null()), FASTGCM_INVALID_LENGTH),
            (fastgcm_key_init(place, room, null(), 0, null()), FASTGCM_INVALID_LENGTH),
            (fastgcm_key_init(place, room, null(), 16, null()), FASTGCM_NULL),
            (fastgcm_key_init(place, room, bytes.as_ptr(), 16, c"no such".as_ptr()), FASTGCM_UNAVAILABLE),
            (fastgcm_key_init(place, room, bytes.as_ptr(), 16, c"\xff".as_ptr()), FASTGCM_UNAVAILABLE),
            (fastgcm_key_init(place, room, bytes.as_ptr(), 16, c"aes-neon".as_ptr()), FASTGCM_UNAVAILABLE),
            (fastgcm_key_new(null_mut(), bytes.as_ptr(), 16, null()), FASTGCM_NULL),
            (fastgcm_key_new(&mut made, bytes.as_ptr(), 33, null()), FASTGCM_INVALID_LENGTH),
            (fastgcm_pieces_init(base.cast(), fastgcm_pieces_size() - 1, key.0, n, 12), FASTGCM_PLACE),
            (fastgcm_pieces_init(base.cast(), fastgcm_pieces_size(), key.0, n, 0), FASTGCM_INVALID_LENGTH),
            (fastgcm_pieces_init(base.cast(), fastgcm_pieces_size(), null(), n, 12), FASTGCM_NULL),
            (fastgcm_pieces_aad(null_mut(), key.0, t, 1), FASTGCM_NULL),
            (fastgcm_pieces_seal(pieces, key.0, t, 19, t.add(1)), FASTGCM_OVERLAP),
            (fastgcm_pieces_finish(pieces, key.0, null_mut()), FASTGCM_NULL),
            (fastgcm_pieces_verify(pieces, key.0, g, 5), FASTGCM_INVALID_LENGTH),
        ]
    };
    for (i, (done, expected)) in refused.iter().enumerate() {
        assert_eq!(*done, *expected as i32, "call {i}");
    }
    assert!(made.is_null() && text == [7; 20] && tag == [7; 16] && memory.iter().all(|byte| *byte == 7));
    // SAFETY: made above; NULL is allowed.
    unsafe {
        fastgcm_pieces_free(pieces);
        fastgcm_pieces_free(null_mut());
        fastgcm_pieces_wipe(null_mut());
        fastgcm_key_free(null_mut());
        fastgcm_key_wipe(null_mut());
    }
    passed("capi::f06_refused", refused.len(), 60);
}

/// A key in memory of the caller leaves nothing of itself behind.
#[test]
fn f16_wiped() {
    let mut wiped = 0;
    for name in backends() {
        let mut memory = vec![0u8; fastgcm_key_size() + 64];
        let place = memory.as_mut_ptr().wrapping_add(memory.as_ptr().align_offset(fastgcm_key_align())).cast::<fastgcm_key>();
        let bytes = Random(1).bytes(32);
        // SAFETY: as large and aligned as it says.
        let used = unsafe {
            assert_eq!(fastgcm_key_init(place, fastgcm_key_size(), bytes.as_ptr(), 32, name), 0);
            assert_eq!(CStr::from_ptr(fastgcm_key_backend(place)), CStr::from_ptr(name));
            let used = std::slice::from_raw_parts(place.cast::<u8>(), fastgcm_key_size()).iter().filter(|byte| **byte != 0).count();
            fastgcm_key_wipe(place);
            used
        };
        // Of the key only a pointer to the row of functions may be left, and how many rounds there are.
        let left = std::hint::black_box(&memory).iter().filter(|byte| **byte != 0).count();
        // SAFETY: a constant string.
        assert!(used > 100 && left <= 16, "{:?}: {left} of {used} bytes are left", unsafe { CStr::from_ptr(name) });
        wiped += 1;
    }
    passed("capi::f16_wiped", wiped, backends().len());
}

/// The self-test asks every back end about every known answer: where one is wrong, it fails.
#[test]
fn selftest_asks_all() {
    let asked = std::cell::RefCell::new(vec![]);
    assert!(all_are_right(|backend, key_len| {
        asked.borrow_mut().push((backend, key_len));
        true
    }));
    let asked = asked.into_inner();
    let every: Vec<_> = fastgcm::Backend::available().flat_map(|backend| [16, 24, 32].map(|length| (backend, length))).collect();
    assert_eq!(asked, every);
    for wrong in &asked {
        assert!(!all_are_right(|backend, key_len| (backend, key_len) != *wrong), "{wrong:?} may be wrong");
    }
    passed("capi::selftest_asks_all", asked.len(), 3 * backends().len());
}

#[test]
fn selftest_and_texts() {
    assert_eq!(fastgcm_selftest(), FASTGCM_OK as i32);
    // SAFETY: constant strings.
    let texts: std::collections::HashSet<_> = (-1..=11).map(|status| unsafe { CStr::from_ptr(fastgcm_text(status)) }).collect();
    // SAFETY: as above.
    assert_eq!(unsafe { CStr::from_ptr(fastgcm_version()) }.to_str(), Ok("0.1.0"));
    passed("capi::selftest_and_texts", texts.len(), 13);
}

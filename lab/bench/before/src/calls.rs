// What is measured, written once for both libraries: `old.rs` and `new.rs` have this file as a module.

use super::gcm::{AesGcmSiv, Backend, Error, Key, Nonce, Packet, Tag, Xaes256Gcm, hazmat};
use crate::{Buffers, Call, PLACES};
use std::{
    hint::black_box,
    mem::MaybeUninit,
    rc::Rc,
    time::{Duration, Instant},
};

const NONCE: [u8; 12] = [1; 12];
const FINE: &str = "an authentic message of a right length";

/// One back end and one key, at several places of a page.
pub(crate) struct Library {
    backend: Backend,
    bytes: &'static [u8],
    keys: Vec<&'static Key>,
}

/// The back ends of this machine, the best one first.
#[allow(dead_code)] // one library is asked
pub(crate) fn backends() -> Vec<&'static str> {
    let mut all: Vec<_> = Backend::available().map(Backend::name).collect();
    all.sort_by_key(|name| *name != Backend::detect().name());
    all
}

#[inline(always)]
fn timed(n: u64, mut call: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..n {
        call();
    }
    start.elapsed()
}

/// From one buffer to the other, or in place in the second one.
fn call<'a>(buffers: &'a Buffers, len: usize, mut call: impl FnMut(&[u8], &mut [u8]) + 'a) -> Call<'a> {
    Box::new(move |n| {
        let (from, mut to) = (buffers.from.borrow(), buffers.to.borrow_mut());
        let (from, to) = (from.first(len), to.first_mut(len));
        timed(n, || call(black_box(from), black_box(to)))
    })
}

/// Opens in place: each time another copy of what is in the first buffer, made before the clock starts.
fn copies<'a>(buffers: &'a Buffers, len: usize, mut open: impl FnMut(&mut [u8]) + 'a) -> Call<'a> {
    Box::new(move |n| {
        let (from, mut to) = (buffers.from.borrow(), buffers.to.borrow_mut());
        let (mut left, mut time) = (n as usize, Duration::ZERO);
        while left > 0 {
            let some = left.min(to.len() / len);
            let texts = to.first_mut(some * len);
            texts.chunks_mut(len).for_each(|text| text.copy_from_slice(from.first(len)));
            let mut texts = texts.chunks_mut(len);
            time += timed(some as u64, || open(black_box(texts.next().expect("as many as calls"))));
            left -= some;
        }
        time
    })
}

/// A verb and its opposite, in place.
fn pair<'a>(
    seal: impl Fn(&mut [u8]) -> Result<Tag, Error> + 'a,
    open: impl Fn(&mut [u8], &Tag) -> Result<(), Error> + 'a,
    (buffers, len, seals): (&'a Buffers, usize, bool),
) -> Call<'a> {
    if seals {
        return call(buffers, len, move |_, text| _ = black_box(seal(text)));
    }
    let tag = sealed(buffers, len, |text| seal(text).expect(FINE));
    copies(buffers, len, move |text| open(text, &tag).expect(FINE))
}

/// Puts a ciphertext into the first buffer, and returns its tag.
fn sealed(buffers: &Buffers, len: usize, seal: impl FnOnce(&mut [u8]) -> Tag) -> Tag {
    let mut from = buffers.from.borrow_mut();
    let from = from.first_mut(len);
    from.fill(0x77);
    seal(from)
}

/// Four chunks.
fn chunks(text: &[u8]) -> [&[u8]; 4] {
    let (a, rest) = text.split_at(text.len() / 8);
    let (b, rest) = rest.split_at(text.len() / 3);
    let (c, d) = rest.split_at(rest.len() - 30);
    [a, b, c, d]
}

impl Library {
    pub(crate) fn new(backend: &str, bytes: &'static [u8]) -> Self {
        let backend: Backend = backend.parse().expect("the name of a back end");
        let keys = (0..PLACES).map(|place| key_at(backend, bytes, place * 576 % 4096)).collect();
        Self { backend, bytes, keys }
    }

    pub(crate) fn message<'a>(&self, place: usize, seal: bool, aad: usize, len: usize, buffers: &'a Buffers) -> Call<'a> {
        let (key, aad, nonce) = (self.keys[place], buffers.aad.first(aad), NONCE);
        if seal {
            return call(buffers, len, move |_, text| _ = black_box(key.seal(black_box(&nonce), aad, text)));
        }
        let tag = sealed(buffers, len, |text| key.seal(NONCE, aad, text).expect(FINE));
        call(buffers, len, move |from, to| key.open_detached_to(black_box(&nonce), aad, from, to, &tag).expect(FINE))
    }

    /// Any other verb: `count` is the number of packets, or the length of a piece, of a nonce.
    pub(crate) fn verb<'a>(&self, verb: &str, count: usize, len: usize, buffers: &'a Buffers) -> Call<'a> {
        let (key, bytes, backend, aad, nonce) = (self.keys[0], self.bytes, self.backend, buffers.aad.first(13), black_box(NONCE));
        let usual = || sealed(buffers, len, |text| key.seal(NONCE, aad, text).expect(FINE));
        match verb {
            "one call" => call(buffers, len, move |_, text| _ = black_box(key.seal(nonce, aad, text))),
            "key" => call(buffers, 0, move |_, _| _ = black_box(Key::with_backend(bytes, backend))),
            "seal_once" | "open_once" => pair(
                move |text| backend.seal_once(bytes, nonce, aad, text),
                move |text, tag| backend.open_once(bytes, nonce, aad, text, tag),
                (buffers, len, verb == "seal_once"),
            ),
            "verified first" => pair(
                move |text| key.seal(nonce, aad, text),
                move |text, tag| key.open_verified_first(nonce, aad, text, tag),
                (buffers, len, false),
            ),
            "nonce seal" | "nonce open" => {
                let nonce = Nonce::any(buffers.aad.first(count)).expect("a nonce");
                pair(
                    move |text| key.seal(nonce, aad, text),
                    move |text, tag| key.open(nonce, aad, text, tag),
                    (buffers, len, verb == "nonce seal"),
                )
            }
            "siv seal" | "siv open" => {
                let siv = Rc::new(AesGcmSiv::with_backend(bytes, backend).expect("a key"));
                let same = siv.clone();
                pair(
                    move |text| siv.seal(&nonce, aad, text),
                    move |text, tag| same.open(&nonce, aad, text, tag),
                    (buffers, len, verb == "siv seal"),
                )
            }
            "xaes seal" | "xaes open" => {
                let xaes = Rc::new(Xaes256Gcm::with_backend(crate::KEY, backend).expect("a key"));
                let same = xaes.clone();
                pair(
                    move |text| xaes.seal(&[1; 24], aad, text),
                    move |text, tag| same.open(&[1; 24], aad, text, tag),
                    (buffers, len, verb == "xaes seal"),
                )
            }
            "seal_batch" | "open_batch" => {
                let tag = sealed(buffers, count * len, |text| {
                    let mut tags = text.chunks_mut(len).map(|text| key.seal(NONCE, aad, text).expect(FINE));
                    tags.next().into_iter().chain(tags).last().expect("a packet")
                });
                let seal = verb == "seal_batch";
                Box::new(move |n| {
                    let (from, mut to) = (buffers.from.borrow(), buffers.to.borrow_mut());
                    let texts = from.first(count * len).chunks(len).zip(to.first_mut(count * len).chunks_mut(len));
                    let mut packets: Vec<_> = texts.map(|(from, to)| Packet::to(nonce, aad, from, to, tag)).collect();
                    let packets = &mut packets[..];
                    if seal { timed(n, || key.seal_batch(packets).expect(FINE)) } else { timed(n, || key.open_batch(packets).expect(FINE)) }
                })
            }
            "gmac" => call(buffers, len, move |from, _| {
                let mut gmac = key.gmac(nonce);
                gmac.update(from).expect(FINE);
                black_box(gmac.finish());
            }),
            "lists seal" => call(buffers, len, move |from, to| _ = black_box(key.seal_gathered(nonce, &[aad], &chunks(from), b"", to))),
            "lists open" => {
                let tag = usual();
                call(buffers, len, move |from, to| key.open_gathered(nonce, &[aad], &chunks(from), to, &tag).expect(FINE))
            }
            "lists in place" => call(buffers, len, move |_, text| {
                let (a, b) = text.split_at_mut(text.len() / 3);
                let (b, c) = b.split_at_mut(b.len() / 2);
                black_box(key.seal_chunks(nonce, &[aad], &mut [a, b, c])).expect(FINE);
            }),
            "parts" => call(buffers, len, move |_, text| {
                let part = hazmat::seal_part(key, nonce, 0, text).expect(FINE);
                black_box(hazmat::combine(key, nonce, aad, [&part])).expect(FINE);
            }),
            "parallel" => call(buffers, len, move |_, text| _ = black_box(key.parallel().seal(nonce, aad, text))),
            "Sealer" => call(buffers, len, move |_, text| {
                let mut sealer = key.sealer(nonce);
                sealer.aad(aad).expect(FINE);
                let mut sealer = sealer.text();
                text.chunks_mut(count).for_each(|piece| sealer.seal(piece).expect(FINE));
                black_box(sealer.finish());
            }),
            "Pieces seal" => call(buffers, len, move |_, text| {
                let mut pieces = hazmat::Pieces::new(key, nonce);
                pieces.aad(key, aad).expect(FINE);
                text.chunks_mut(count).for_each(|piece| pieces.seal(key, piece).expect(FINE));
                black_box(pieces.finish(key)).expect(FINE);
            }),
            "Pieces open" => call(buffers, len, move |from, to| {
                let mut pieces = hazmat::Pieces::new(key, nonce);
                pieces.aad(key, aad).expect(FINE);
                let mut texts = from.chunks(count).zip(to.chunks_mut(count));
                texts.try_for_each(|(from, to)| pieces.open_to(key, from, to)).expect(FINE);
                black_box(pieces.finish(key)).expect(FINE);
            }),
            "AAD in pieces" => call(buffers, len, move |from, _| {
                let mut sealer = key.sealer(nonce);
                from.chunks(count).for_each(|piece| sealer.aad(piece).expect(FINE));
                let mut sealer = sealer.text();
                sealer.seal(&mut [0; 20]).expect(FINE);
                black_box(sealer.finish());
            }),
            _ => panic!("no verb is called {verb}"),
        }
    }
}

/// A key so many bytes behind the beginning of a page, for as long as the program runs.
fn key_at(backend: Backend, bytes: &[u8], at: usize) -> &'static Key {
    #[repr(C, align(4096))]
    struct Pages([MaybeUninit<u8>; 3 * 4096]);
    const { assert!(4096 + size_of::<Key>() <= size_of::<Pages>()) }
    assert!(at < 4096 && at.is_multiple_of(align_of::<Key>()));
    let pages = Box::leak(Box::new(Pages([MaybeUninit::uninit(); _])));
    // SAFETY: memory that nobody else has, with room for a key there, aligned as one.
    let place = unsafe { &mut *pages.0[at..].as_mut_ptr().cast::<MaybeUninit<Key>>() };
    Key::init_in_place(place, bytes, backend).expect("a key")
}

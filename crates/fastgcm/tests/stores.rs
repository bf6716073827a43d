//! No load of a nonce spans two stores, whichever way it was written just before: by 4 + 8 bytes, by 8 + 4 (`memcpy`), or by three words. Such a load
//! waits until both stores have left the store buffer, which takes as long as sealing a short message. So each instruction is asked what it reads.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/backends.rs"]
mod backends;
#[path = "constant_time/trace.rs"]
#[allow(dead_code)]
mod trace;

use backends::{Tally, backends, boxed};
use fastgcm::{AesGcmSiv, Backend, Key, Nonce, Packet, Tag, Xaes256Gcm};
use std::{cell::RefCell, hint::black_box, rc::Rc};
use trace::Tracer;

/// What a message is made of. The nonce stands in one place.
struct Call {
    nonce: [u8; 24],
    key: Box<Key>,
    siv: AesGcmSiv,
    xaes: Xaes256Gcm,
    text: [u8; 16],
    to: [u8; 32],
    packets: Vec<Packet<'static>>,
}

const TAG: Tag = Tag([0; 16]);

impl Call {
    fn new(backend: Backend) -> Box<Self> {
        let siv = AesGcmSiv::with_backend(&[7; 16], backend).unwrap();
        let xaes = Xaes256Gcm::with_backend(&[7; 32], backend).unwrap();
        let packets = (0..3).map(|_| Packet::in_place([9; 12], b"aad", Box::leak(Box::new([1; 16])), TAG)).collect();
        Box::new(Self { nonce: [9; 24], key: boxed(&[7; 16], backend), siv, xaes, text: [1; 16], to: [0; 32], packets })
    }

    /// Where nonces stand.
    fn nonces(&self) -> Vec<u64> {
        let packets = self.packets.iter().map(|packet| packet.nonce.as_ptr());
        let own = self.nonce.as_chunks::<12>().0.iter().map(|nonce| nonce.as_ptr());
        own.chain(packets).map(|nonce| nonce as u64).collect()
    }
}

/// The verbs, each a function of its own, as in a program.
macro_rules! verbs {
    ($($verb:ident: |$call:ident, $nonce:ident| $do:expr;)*) => {
        $(extern "sysv64" fn $verb($call: &mut Call) {
            let $nonce: &[u8; 12] = $call.nonce.first_chunk().unwrap();
            _ = black_box($do);
        })*
        const VERBS: &[(&str, extern "sysv64" fn(&mut Call))] = &[$((stringify!($verb), $verb)),*];
    };
}

verbs! {
    seal: |call, nonce| call.key.seal(nonce, b"aad", &mut call.text);
    seal_by_value: |call, nonce| call.key.seal(*nonce, b"aad", &mut call.text);
    seal_slice: |call, nonce| call.key.seal(Nonce::try_from(&nonce[..]).unwrap(), b"aad", &mut call.text);
    seal_any: |call, nonce| call.key.seal(Nonce::any(&nonce[..]).unwrap(), b"aad", &mut call.text);
    open: |call, nonce| call.key.open(nonce, b"aad", &mut call.text, &TAG);
    open_by_value: |call, nonce| call.key.open(*nonce, b"aad", &mut call.text, &TAG);
    open_restoring: |call, nonce| call.key.open_restoring(nonce, b"aad", &mut call.text, &TAG);
    seal_to: |call, nonce| call.key.seal_to(nonce, b"aad", &call.text, &mut call.to);
    to_array: |_call, nonce| Nonce::from(nonce).to_array();
    packet: |call, nonce| Packet::in_place(*nonce, b"aad", &mut call.text, TAG).nonce;
    seal_batch: |call, _nonce| call.key.seal_batch(&mut call.packets);
    seal_once: |call, nonce| call.key.backend().seal_once(&[7; 16], nonce, b"aad", &mut call.text);
    seal_gathered: |call, nonce| call.key.seal_gathered(nonce, &[b"aad"], &[&call.text], &[], &mut call.to[..16]);
    sealer: |call, nonce| {
        let mut sealer = call.key.sealer(nonce).text();
        _ = sealer.seal(&mut call.text);
        sealer.finish()
    };
    gmac: |call, nonce| call.key.gmac(nonce).finish();
    siv: |call, nonce| call.siv.seal(nonce, b"aad", &mut call.text);
    xaes: |call, _nonce| call.xaes.seal(&call.nonce, b"aad", &mut call.text);
}

#[test]
fn a_nonce_is_loaded_by_words() {
    let mut seen = Tally::default();
    for backend in backends() {
        let loads = |verb| {
            let mut call = Call::new(backend);
            let (nonces, loads) = (call.nonces(), Rc::new(RefCell::new(Vec::new())));
            let (mut tracer, all) = (Tracer::default(), loads.clone());
            tracer.observer = Some(Box::new(move |place, reads| {
                if let Some(nonce) = nonces.iter().find(|&&nonce| reads && place.start < nonce + 12 && nonce < place.end) {
                    all.borrow_mut().push((place.start.wrapping_sub(*nonce) as i64, place.end - place.start));
                }
            }));
            tracer.trace(&mut *call, verb).unwrap();
            (call, loads.take())
        };
        for &(name, verb) in VERBS {
            let (call, loads) = loads(verb);
            assert!(loads.len() >= 3, "{backend}, {name}: only {loads:?} were seen");
            let word = |&(at, size): &(i64, u64)| matches!((at, size), (0 | 4 | 8, 4));
            assert!(loads.iter().all(word), "{backend}, {name}: offsets and sizes of loads are {loads:?}");
            seen.add(&call.key, 1);
        }
        // The control: what copies a nonce.
        extern "sysv64" fn copy(call: &mut Call) {
            black_box(*black_box(call.nonce.first_chunk::<12>().unwrap()));
        }
        assert!(loads(copy).1.contains(&(0, 8)));
    }
    seen.passed("stores::a_nonce_is_loaded_by_words", VERBS.len());
}

//! F7: no access reaches a page that holds none of the caller's bytes, not even under a mask. It would not fault there, and a guard page would not
//! notice; but the processor would take an assist, of 55 to 400 ns. So each instruction is asked for its addresses and its width.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/backends.rs"]
mod backends;
#[path = "support/guarded.rs"]
mod guarded;
#[path = "support/suite.rs"]
mod suite;
#[path = "constant_time/trace.rs"]
#[allow(dead_code)]
mod trace;

use backends::for_each_backend;
use fastgcm::{Backend, Key, Nonce, Tag};
use guarded::{Guarded, SIDES};
use std::{ptr, slice};
use trace::Tracer;

/// None at all, and all that tails treat in another way. (An empty slice may point anywhere; `b""` points at address 1.)
const AADS: [usize; 13] = [0, 1, 12, 13, 16, 17, 48, 49, 64, 65, 100, 256, 400];

/// More than any buffer.
const LONGEST: usize = 8192;

/// What is done with a message.
#[derive(Clone, Copy, Debug)]
enum Verb {
    Seal,
    SealTo,
    Open,
    OpenTo,
}

/// One message.
struct Call<'a> {
    key: &'a Key,
    verb: Verb,
    nonce: &'a [u8],
    aad: &'a [u8],
    from: &'a mut [u8],
    to: &'a mut [u8],
    tag: Tag,
}

impl Call<'_> {
    extern "sysv64" fn perform(&mut self) {
        let Self { key, verb, nonce, aad, from, to, tag } = self;
        let Ok(nonce) = Nonce::any(nonce) else { return };
        _ = match verb {
            Verb::Seal => key.seal(nonce, aad, from).map(drop),
            Verb::SealTo => key.seal_detached_to(nonce, aad, from, to).map(drop),
            Verb::Open => key.open(nonce, aad, from, tag),
            Verb::OpenTo => key.open_detached_to(nonce, aad, from, to, tag),
        };
    }
}

/// Of a short message and of a tail every third length, with `FASTGCM_FULL` each, and some with turns; a few where a block takes a thousand instructions.
fn lengths(backend: Backend) -> Vec<usize> {
    if matches!(backend, Backend::Portable | Backend::VpaesSsse3 | Backend::VpaesNeon | Backend::VpaesSimd128) {
        return (0..=80).step_by(16).collect();
    }
    let step = match (suite::quick(), suite::full()) {
        (true, _) => 7,
        (_, true) => 1,
        _ => 3,
    };
    (0..=330).chain((331..=1500).step_by(13)).chain([2048, 2049, 4095, 4097]).step_by(step).collect()
}

#[test]
fn f07_no_page_beside_the_buffers_is_reached() {
    for_each_backend(|backend| {
        let [mut nonces, mut aads, mut froms, mut tos] = std::array::from_fn(|_| Guarded::new(LONGEST));
        let mut calls = 0;
        let key = backends::boxed(&[7; 16], backend);
        let mut tracer = Tracer::default();
        tracer.forbidden = [&nonces, &aads, &froms, &tos].into_iter().flat_map(Guarded::guards).collect();
        tracer.forbidden.push(0..4096);
        for (i, length) in lengths(backend).into_iter().enumerate() {
            let side = SIDES[i % 2];
            let verb = [Verb::Seal, Verb::SealTo, Verb::Open, Verb::OpenTo][i / 2 % 4];
            let nonce = nonces.put(side, &vec![3; if i % 16 == 0 { 1 + i % 70 } else { 12 }]);
            let aad = match AADS[i % AADS.len()] {
                // SAFETY: nothing is at any address that is not null.
                0 => unsafe { slice::from_raw_parts(ptr::without_provenance(1), 0) },
                n => aads.put(side, &vec![4; n]),
            };
            // SAFETY: likewise.
            let nothing: [&mut [u8]; 2] = std::array::from_fn(|_| unsafe { slice::from_raw_parts_mut(ptr::without_provenance_mut(1), 0) });
            let [from, to] = match length {
                0 => nothing,
                n => [froms.put(side, &vec![5; n]), tos.put(side, &vec![6; n])],
            };
            let mut call = Call { key: &key, verb, nonce, aad, from, to, tag: Tag([0; 16]) };
            tracer.trace(&mut call, Call::perform).unwrap_or_else(|why| panic!("{backend}: {why}"));
            if let Some((instruction, address)) = tracer.reached {
                let (nonce, aad) = (call.nonce.len(), call.aad.len());
                let width = instruction.memory_size().size();
                panic!(
                    "{backend}, {verb:?}, {side:?}, nonce {nonce}, AAD {aad}, text {length}: {:?} reaches {width} bytes at {address:#x}",
                    instruction.code()
                );
            }
            calls += 1;
        }
        assert_eq!(calls, lengths(backend).len());
    });
}

/// The control: an access under a mask that leaves all bytes of the next page out is found.
#[test]
fn f07_a_masked_access_is_found() {
    if !is_x86_feature_detected!("avx512bw") {
        println!("SKIPPED pages::f07_a_masked_access_is_found: this processor has no masked loads of bytes");
        return;
    }
    struct End(*const u8);
    extern "sysv64" fn masked(end: &mut End) {
        // SAFETY: one byte is read, the last of a buffer; no register is used that a caller keeps.
        unsafe {
            std::arch::asm!(
                "kmovd k1, {one:e}",
                "vmovdqu8 xmm0{{k1}}{{z}}, [{end}]",
                one = in(reg) 1, end = in(reg) end.0, out("xmm0") _, out("k1") _,
            );
        }
    }
    let mut memory = Guarded::new(LONGEST);
    let mut tracer = Tracer::default();
    tracer.forbidden = memory.guards().into();
    let mut end = End(memory.put(SIDES[1], &[1]).as_ptr());
    tracer.trace(&mut end, masked).unwrap();
    assert!(tracer.reached.is_some());
}

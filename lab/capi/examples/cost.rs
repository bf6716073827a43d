//! What a call from C costs beside the same call from Rust: `cargo run --release --example cost`, from `lab/capi`.

use fastgcm_capi::{fastgcm_key_new, fastgcm_open, fastgcm_seal};
use std::{hint::black_box, ptr, time::Instant};

/// The best and the median of rounds that are measured in turn, in nanoseconds a call.
fn measured(calls: &mut [&mut dyn FnMut()]) -> Vec<[f64; 2]> {
    const ROUNDS: usize = 301;
    const CALLS: u32 = 2000;
    let mut times = vec![Vec::new(); calls.len()];
    for _ in 0..ROUNDS {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            (0..CALLS).for_each(|_| call());
            times.push(begun.elapsed().as_nanos() as f64 / f64::from(CALLS));
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times.iter().map(|times| [times[0], times[ROUNDS / 2]]).collect()
}

fn main() {
    let (bytes, nonce, aad) = ([7; 32], [1; 12], [2; 13]);
    let rust = fastgcm::Key::boxed(&bytes).expect("a key of 32 bytes");
    let mut c = ptr::null_mut();
    // SAFETY: a place for the key, and its bytes.
    assert_eq!(unsafe { fastgcm_key_new(&mut c, bytes.as_ptr(), 32, ptr::null()) }, 0);
    println!("| bytes | seal: Rust, C: best (median) ns | more | open: Rust, C | more |\n|---|---|---|---|---|");
    for size in [0, 16, 64, 256, 1024] {
        let (text, mut to, mut tag) = (vec![3; size], vec![0; size], [0; 16]);
        let sealed = rust.seal_detached_to(nonce, &aad, &text, &mut to).expect("a short message");
        let ciphertext = to.clone();
        let (mut other, mut opened, mut reopened) = (to.clone(), to.clone(), to.clone());
        let found = measured(&mut [
            &mut || _ = black_box(rust.seal_detached_to(black_box(nonce), &aad, black_box(&text), &mut to)),
            // SAFETY: buffers of these lengths, here and below.
            &mut || unsafe {
                let (nonce, text) = (black_box(&nonce), black_box(&text));
                let done = fastgcm_seal(c, nonce.as_ptr(), 12, aad.as_ptr(), 13, text.as_ptr(), size, other.as_mut_ptr(), tag.as_mut_ptr());
                assert_eq!(black_box(done), 0);
            },
            &mut || _ = black_box(rust.open_detached_to(black_box(nonce), &aad, black_box(&ciphertext), &mut opened, &sealed)),
            // SAFETY: likewise.
            &mut || unsafe {
                let (nonce, from) = (black_box(&nonce), black_box(&ciphertext));
                let (tag, to) = (sealed.0.as_ptr(), reopened.as_mut_ptr());
                assert_eq!(black_box(fastgcm_open(c, nonce.as_ptr(), 12, aad.as_ptr(), 13, from.as_ptr(), size, tag, 16, to)), 0);
            },
        ]);
        let pair = |at: usize| {
            let [[rust, rust_median], [c, c_median]] = [found[at], found[at + 1]];
            format!("{rust:.1} ({rust_median:.1}), {c:.1} ({c_median:.1}) | {:.1} ({:.1})", c - rust, c_median - rust_median)
        };
        println!("| {size} | {} | {} |", pair(0), pair(2));
    }
}

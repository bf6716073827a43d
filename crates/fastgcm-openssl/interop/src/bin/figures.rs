//! Times of the provider beside OpenSSL's own, in one process and in turn: the median over rounds of a batch's mean, in nanoseconds.
//!
//! `FASTGCM_MODULES=FOLDER cargo run --release --bin figures [ROUNDS [PART-OF-A-NAME]]`

use fastgcm_openssl_interop::{Context, OpenSsl, Whose, control, ffi};
use std::{ffi::CStr, ptr, time::Instant};

const AAD: [u8; 13] = [7; 13];

fn main() {
    let openssl = OpenSsl::get();
    // SAFETY: a constant string.
    println!("{}", unsafe { CStr::from_ptr(ffi::OpenSSL_version(0)) }.to_string_lossy());
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(41);
    println!("{:34} {:>9} {:>9} {:>6}", "ns", "default", "fastgcm", "ratio");
    for (bits, key) in [(128, 16), (256, 32)] {
        for size in [16, 64, 1024, 16384] {
            let run = |whose, direction| used(openssl, whose, key, size, direction);
            line(&format!("AES-{bits} used context, seal {size}"), rounds, [run(Whose::Default, 1), run(Whose::Fastgcm, 1)]);
            line(&format!("AES-{bits} used context, open {size}"), rounds, [run(Whose::Default, 0), run(Whose::Fastgcm, 0)]);
        }
        for piece in [1, 15, 16, 64, 1024] {
            let run = |whose| pieces(openssl, whose, key, 0, 16384, piece);
            line(&format!("AES-{bits} 16 KiB in pieces of {piece}"), rounds, [run(Whose::Default), run(Whose::Fastgcm)]);
        }
        for piece in [1, 16, 64] {
            let run = |whose| pieces(openssl, whose, key, 4096, 0, piece);
            line(&format!("AES-{bits} AAD, 4 KiB in pieces of {piece}"), rounds, [run(Whose::Default), run(Whose::Fastgcm)]);
        }
        for size in [64, 1024, 65536] {
            let run = |whose| fresh(openssl, whose, key, size);
            line(&format!("AES-{bits} new context, seal {size}"), rounds, [run(Whose::Default), run(Whose::Fastgcm)]);
        }
        let run = |whose| copied(openssl, whose, key);
        line(&format!("AES-{bits} copy of a context"), rounds, [run(Whose::Default), run(Whose::Fastgcm)]);
        let run = |whose| rekeyed(openssl, whose, key);
        line(&format!("AES-{bits} used context, new key, 64"), rounds, [run(Whose::Default), run(Whose::Fastgcm)]);
    }
}

type Call<'a> = Box<dyn FnMut() + 'a>;

/// Both in turn.
fn line(what: &str, rounds: usize, mut calls: [Call<'_>; 2]) {
    if std::env::args().nth(2).is_some_and(|part| !what.contains(&part)) {
        return;
    }
    let mut repeat = 1;
    while time(&mut calls[0], repeat) * (repeat as f64) < 200_000.0 {
        repeat *= 2;
    }
    let mut times = [vec![], vec![]];
    for _ in 0..rounds {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            times.push(time(call, repeat));
        }
    }
    let [default, fastgcm] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!("{what:34} {default:9.1} {fastgcm:9.1} {:6.2}", fastgcm / default);
}

/// Nanoseconds a call.
fn time(call: &mut Call<'_>, repeat: usize) -> f64 {
    let start = Instant::now();
    (0..repeat).for_each(|_| call());
    start.elapsed().as_nanos() as f64 / repeat as f64
}

fn message(context: &mut Context, direction: i32, text: &mut [u8], tag: &mut [u8; 16]) {
    if direction == 0 {
        context.control(control::SET_TAG, tag);
    }
    let mut done = context.aad(&AAD) & context.text(text).0;
    // The tag of what is opened is wrong, so that text and tag may be anything.
    done &= context.finish() | (1 - direction);
    if direction == 1 {
        done &= context.control(control::GET_TAG, tag);
    }
    assert_eq!(done, 1);
}

/// A context that has a key: nonce, AAD, text, tag.
fn used(openssl: &OpenSsl, whose: Whose, key: usize, size: usize, direction: i32) -> Call<'_> {
    let (mut context, mut text, mut tag) = (Context::new(), vec![1; size], [1; 16]);
    assert_eq!(context.init(openssl.cipher(whose, key), Some(&vec![3; key]), None, direction), 1);
    let mut nonce = [0; 12];
    Box::new(move || {
        nonce[0] += 1;
        context.init(ptr::null(), None, Some(&nonce), direction);
        message(&mut context, direction, &mut text, &mut tag);
        nonce[0] &= 15;
    })
}

/// A used context seals a message that comes in pieces, AAD or text.
fn pieces(openssl: &OpenSsl, whose: Whose, key: usize, aad: usize, text: usize, piece: usize) -> Call<'_> {
    let (mut context, aad, mut text, mut tag) = (Context::new(), vec![2; aad], vec![1; text], [1; 16]);
    assert_eq!(context.init(openssl.cipher(whose, key), Some(&vec![3; key]), None, 1), 1);
    Box::new(move || {
        context.init(ptr::null(), None, Some(&[7; 12]), 1);
        let mut done = aad.chunks(piece).all(|piece| context.aad(piece) == 1);
        done &= text.chunks_mut(piece).all(|piece| context.text(piece).0 == 1);
        assert!(done && context.finish() == 1 && context.control(control::GET_TAG, &mut tag) == 1);
    })
}

/// The same, but the context is made for it, and freed.
fn fresh(openssl: &OpenSsl, whose: Whose, key: usize, size: usize) -> Call<'_> {
    let (mut text, mut tag, bytes) = (vec![1; size], [1; 16], vec![3; key]);
    Box::new(move || {
        let mut context = Context::new();
        context.init(openssl.cipher(whose, key), Some(&bytes), Some(&[7; 12]), 1);
        message(&mut context, 1, &mut text, &mut tag);
    })
}

/// A context with a key is copied, and the copy freed.
fn copied(openssl: &OpenSsl, whose: Whose, key: usize) -> Call<'_> {
    let mut context = Context::new();
    assert_eq!(context.init(openssl.cipher(whose, key), Some(&vec![3; key]), None, 1), 1);
    Box::new(move || drop(context.copy()))
}

/// Another key in a used context, and a message of 64 bytes.
fn rekeyed(openssl: &OpenSsl, whose: Whose, key: usize) -> Call<'_> {
    let (mut context, mut text, mut tag, bytes) = (Context::new(), [1; 64], [1; 16], vec![3; key]);
    assert_eq!(context.init(openssl.cipher(whose, key), None, None, 1), 1);
    Box::new(move || {
        context.init(ptr::null(), Some(&bytes), Some(&[7; 12]), 1);
        message(&mut context, 1, &mut text, &mut tag);
    })
}

//! Measures the gain of a program that uses the crate `aes-gcm` and changes one line of its Cargo.toml: seals a message through that interface
//! with RustCrypto's code and with ours, and with ring and AWS-LC, in one process, in turn, after all have given equal bytes.
//!
//! `interface FILE PROCESSOR` prints the table of docs/migrating.md, and writes a chart to FILE (SVG). PROCESSOR is its name. `interface check` only
//! compares the answers.

mod picture;

use aead_plugin::locked;
use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{AeadInOut, consts::U12},
};
use aws_lc_rs::aead as aws_lc;
use fastgcm_measure::{Case, Contender, Machine, Measured, Measurement, Sampler, pin};
use ring::aead as ring_aead;
use std::{error::Error, fs, time::Duration};

/// Seals a buffer in place, and writes the tag behind the text.
type Seal<'a> = Box<dyn FnMut(&[u8; 12], &mut [u8]) + 'a>;

const KEY: [u8; 32] = [7; 32];
const AAD: &[u8] = b"authentic 12";
const TAG: usize = 16;
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The sizes in bytes, and their names.
const SIZES: [(usize, &str); 4] = [(64, "64 B"), (1420, "1420 B"), (16 << 10, "16 KiB"), (1 << 20, "1 MiB")];

/// The row of fastgcm, with which all others are compared.
const OURS: usize = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let names = [
        format!("{}, RustCrypto", locked(LOCK, "aes-gcm", "0.11")),
        "the same interface, fastgcm".into(),
        locked(LOCK, "ring", ""),
        locked(LOCK, "aws-lc-rs", ""),
    ];
    for (size, _) in SIZES {
        compare(size, &names, calls());
    }
    let (file, processor) = match &arguments[..] {
        [file, processor] => (file, processor),
        [check] if check == "check" => return Ok(()),
        _ => return Err("usage: interface FILE.svg PROCESSOR, or interface check".into()),
    };
    pin();
    let sampler = Sampler { rounds: 50..=2000, budget: Duration::from_secs(5), ..Sampler::default() };
    let measured: Vec<Measured> = SIZES.map(|(size, _)| measure(size, &names, calls(), &sampler)).into();
    let rows: Vec<Vec<Cell>> = names.iter().map(|name| measured.iter().map(|case| Cell::of(case, name, &names[OURS])).collect()).collect();
    fs::write(file, picture::draw(processor, &names, &rows))?;
    println!("{}\n\n{}", Machine::here("").processor, table(&names, &rows));
    Ok(())
}

/// A row's cell for one size.
struct Cell {
    ns: f64,
    /// The time as a multiple of ours.
    times: f64,
}

impl Cell {
    fn of(case: &Measured, name: &str, ours: &str) -> Self {
        let by = |name: &str| -> &Measurement { case.by(name).expect("all take part") };
        Self { ns: by(name).median_ns, times: by(ours).times_faster_than(by(name)) }
    }

    fn time(&self) -> String {
        match self.ns {
            ns if ns < 99.5 => format!("{ns:.1} ns"),
            ns if ns < 9999.5 => format!("{ns:.0} ns"),
            ns => format!("{:.1} µs", ns / 1000.0),
        }
    }
}

/// Returns the contenders with their keys.
fn calls() -> [Seal<'static>; 4] {
    let ring = ring_aead::LessSafeKey::new(ring_aead::UnboundKey::new(&ring_aead::AES_256_GCM, &KEY).expect("a key"));
    let aws = aws_lc::LessSafeKey::new(aws_lc::UnboundKey::new(&aws_lc::AES_256_GCM, &KEY).expect("a key"));
    [
        through(Aes256Gcm::new(&KEY.into())),
        through(fastgcm_aes_gcm::Aes256Gcm::new(&KEY.into())),
        Box::new(move |nonce, buffer| {
            let (text, place) = buffer.split_last_chunk_mut::<TAG>().expect("a place for the tag");
            let nonce = ring_aead::Nonce::assume_unique_for_key(*nonce);
            let tag = ring.seal_in_place_separate_tag(nonce, ring_aead::Aad::from(AAD), text).expect("sealed");
            place.copy_from_slice(tag.as_ref());
        }),
        Box::new(move |nonce, buffer| {
            let (text, place) = buffer.split_last_chunk_mut::<TAG>().expect("a place for the tag");
            let nonce = aws_lc::Nonce::assume_unique_for_key(*nonce);
            let tag = aws.seal_in_place_separate_tag(nonce, aws_lc::Aad::from(AAD), text).expect("sealed");
            place.copy_from_slice(tag.as_ref());
        }),
    ]
}

/// Returns a contender with the interface of `aes-gcm` 0.11, whose users change only a line of Cargo.toml.
fn through<A: AeadInOut<NonceSize = U12> + 'static>(cipher: A) -> Seal<'static> {
    Box::new(move |nonce, buffer| {
        let (text, place) = buffer.split_last_chunk_mut::<TAG>().expect("a place for the tag");
        place.copy_from_slice(&cipher.encrypt_inout_detached(nonce.into(), AAD, text.into()).expect("sealed"));
    })
}

/// Checks that all contenders seal to equal bytes.
fn compare(size: usize, names: &[String], calls: [Seal<'_>; 4]) {
    let mut sealed = Vec::new();
    for (name, mut call) in names.iter().zip(calls) {
        let mut buffer = text(size);
        call(&[1; 12], &mut buffer);
        assert!(sealed.is_empty() || buffer == sealed, "{size} bytes: {name} seals something else");
        sealed = buffer;
    }
}

/// Returns a text with room for its tag.
fn text(size: usize) -> Vec<u8> {
    (0..size + TAG).map(|i| (i * 7) as u8).collect()
}

/// Measures a size. Each message has a nonce of its own.
fn measure(size: usize, names: &[String], calls: [Seal<'_>; 4], sampler: &Sampler) -> Measured {
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for (name, mut call) in names.iter().zip(calls) {
        let (mut buffer, mut number) = (text(size), 0u64);
        contenders.push(Contender::new(name, move || {
            number += 1;
            let mut nonce = [3; 12];
            nonce[4..].copy_from_slice(&number.to_be_bytes());
            call(&nonce, &mut buffer);
        }));
    }
    sampler.run(Case::of_bytes("seal", size as u64), &mut contenders)
}

/// Returns the table: the median, and in brackets the time as a multiple of ours.
fn table(names: &[String], rows: &[Vec<Cell>]) -> String {
    let mut table = format!("| | {} |\n|---|{}\n", SIZES.map(|(_, name)| name).join(" | "), "--:|".repeat(SIZES.len()));
    for (name, row) in names.iter().zip(rows) {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| if name == &names[OURS] { format!("**{}**", cell.time()) } else { format!("{} ({:.2})", cell.time(), cell.times) })
            .collect();
        table += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    table
}

//! How large a program becomes: with nothing, with `seal` and `open`, or with all verbs. `before.sh sizes` builds it.

#![cfg_attr(not(feature = "size-all"), allow(dead_code, unused_imports))]

#[cfg(not(feature = "size-old"))]
use new as gcm;
#[cfg(feature = "size-old")]
use old as gcm;

use gcm::{AesGcmSiv, Error, Key, Packet, Tag, Xaes256Gcm, hazmat, open_once, seal_once};
use std::{env, hint::black_box};

const NONCE: [u8; 12] = [1; 12];

fn main() {
    let mut text: Vec<u8> = env::args().skip(1).flat_map(String::into_bytes).collect();
    run(&mut text).expect("sealed and opened");
    println!("{:?}", black_box(text));
}

#[cfg(not(feature = "size-message"))]
fn run(_: &mut [u8]) -> Result<(), Error> {
    Ok(())
}

#[cfg(all(feature = "size-message", not(feature = "size-all")))]
fn run(text: &mut [u8]) -> Result<(), Error> {
    let key = Key::new(&black_box([7; 32]))?;
    let tag = key.seal(NONCE, b"header", text)?;
    key.open(NONCE, b"header", text, &tag)
}

#[cfg(feature = "size-all")]
fn run(text: &mut [u8]) -> Result<(), Error> {
    let bytes = black_box([7; 32]);
    let key = Key::new(&bytes)?;
    let tag = key.seal(NONCE, b"header", text)?;
    key.open(NONCE, b"header", text, &tag)?;
    let mut sealer = key.sealer(NONCE);
    sealer.aad(b"header")?;
    let mut sealer = sealer.text();
    text.chunks_mut(100).try_for_each(|piece| sealer.seal(piece))?;
    let tag = sealer.finish();
    let mut pieces = hazmat::Pieces::new(&key, NONCE);
    pieces.aad(&key, b"header")?;
    text.chunks_mut(99).try_for_each(|piece| pieces.open(&key, piece))?;
    pieces.verify(&key, &tag.0)?;

    let copy = text.to_vec();
    let chunks: Vec<&[u8]> = copy.chunks(98).collect();
    let tag = key.seal_gathered(NONCE, &[b"header"], &chunks, b"", text)?;
    let copy = text.to_vec();
    let chunks: Vec<&[u8]> = copy.chunks(97).collect();
    key.open_gathered(NONCE, &[b"header"], &chunks, text, &tag)?;

    let mut packets: Vec<Packet<'_>> = text.chunks_mut(96).map(|text| Packet::in_place(NONCE, b"", text, Tag([0; 16]))).collect();
    key.seal_batch(&mut packets)?;
    key.open_batch(&mut packets)?;

    let tag = seal_once(&bytes, NONCE, b"", text)?;
    open_once(&bytes, NONCE, b"", text, &tag)?;
    let siv = AesGcmSiv::aes256(&bytes);
    let tag = siv.seal(&NONCE, b"", text)?;
    siv.open(&NONCE, b"", text, &tag)?;
    let xaes = Xaes256Gcm::new(&bytes);
    let tag = xaes.seal(&[2; 24], b"", text)?;
    xaes.open(&[2; 24], b"", text, &tag)
}

//! What is no sealed file is refused, in whatever way it is opened, and what was given out before is a beginning of the text: `reader.rs`,
//! `range.rs`, `format.rs` and `cipher.rs` of `fastgcm-file`.
#![no_main]
use fastgcm_file::{Format, Key, RangeReader, Reader, SEALED_CHUNK_LEN, open, seal};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};
use std::{io::Cursor, io::Read, num::NonZero};

#[derive(Arbitrary, Debug)]
enum Change<'a> {
    Flip(u32, u8),
    Cut(u32),
    Append(&'a [u8]),
    Drop(u8),
    Replace(&'a [u8]),
}

fuzz_target!(|input: (u16, bool, Vec<Change>)| {
    let (length, large, changes) = input;
    let format = if large { Format::Cobblestone256 } else { Format::Cobblestone128 };
    let key = Key::new(format, &[7; 32][..if large { 32 } else { 16 }]).unwrap();
    let text: Vec<u8> = (0..length).map(|i| (i >> 3) as u8).collect();
    let (mut whole, mut opened, mut read) = (Vec::new(), Vec::new(), Vec::new());
    seal(&key, b"context", &text[..], &mut whole, NonZero::<usize>::MIN).unwrap();
    let mut sealed = whole.clone();
    for change in changes.iter().take(4) {
        match change {
            Change::Flip(at, bits) => if let Some(n) = sealed.len().checked_sub(1) { sealed[*at as usize % (n + 1)] ^= bits },
            Change::Cut(at) => sealed.truncate(*at as usize % (sealed.len() + 1)),
            Change::Append(bytes) => sealed.extend_from_slice(bytes),
            Change::Drop(n) => drop(sealed.drain(..(*n as usize * SEALED_CHUNK_LEN / 64).min(sealed.len()))),
            Change::Replace(bytes) => sealed = bytes.to_vec(),
        }
    }
    let by_stream = Reader::new(&key, b"context", &sealed[..]).is_ok_and(|mut reader| reader.read_to_end(&mut read).is_ok());
    let at_once = open(&key, b"context", &sealed[..], &mut opened, NonZero::<usize>::MIN).is_ok();
    let range = RangeReader::new(&key, b"context", Cursor::new(&sealed)).and_then(|mut file| file.read(0..file.len()));
    assert_eq!((by_stream, at_once, range.is_ok()), (sealed == whole, sealed == whole, sealed == whole));
    assert!(text.starts_with(&read) && text.starts_with(&opened) && range.is_ok_and(|range| range == text) == (sealed == whole));
});

//! What is no sealed file is refused, in whatever way it is opened, and what was given out before is a beginning of the text: `reader.rs`,
//! `range.rs`, `format.rs` and `cipher.rs` of `fastgcm-file`.
#![no_main]
use fastgcm_file::{Format, Key, RangeReader, Reader, SEALED_CHUNK_LEN, Writer};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};
use std::io::{Cursor, Read, Write};

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
    let text: Vec<u8> = (0..length % 40_000).map(|i| (i >> 3) as u8).collect();
    let mut writer = Writer::new(&key, b"context", Vec::new()).unwrap();
    writer.write_all(&text).unwrap();
    let (whole, mut read) = (writer.finish().unwrap(), Vec::new());
    let mut sealed = whole.clone();
    for change in changes.iter().take(4) {
        match change {
            Change::Flip(at, bits) => sealed.iter_mut().skip(*at as usize % 42_000).take(1).for_each(|byte| *byte ^= bits),
            Change::Cut(at) => sealed.truncate(*at as usize % (sealed.len() + 1)),
            Change::Append(bytes) => sealed.extend_from_slice(bytes),
            Change::Drop(n) => drop(sealed.drain(..(*n as usize * SEALED_CHUNK_LEN / 64).min(sealed.len()))),
            Change::Replace(bytes) => sealed = bytes.to_vec(),
        }
    }
    let by_stream = Reader::new(&key, b"context", &sealed[..]).is_ok_and(|mut reader| reader.read_to_end(&mut read).is_ok());
    let range = RangeReader::new(&key, b"context", Cursor::new(&sealed)).and_then(|mut file| file.read(0..file.len()));
    assert_eq!((by_stream, range.is_ok()), (sealed == whole, sealed == whole));
    assert!(text.starts_with(&read) && range.is_ok_and(|range| range == text) == (sealed == whole));
});

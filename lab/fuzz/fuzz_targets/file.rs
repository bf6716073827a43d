//! Checks that anything but a sealed file is refused, and that text read before is a prefix of the text: `reader.rs`, `range.rs`, `cipher.rs`.
#![no_main]
use fastgcm_file::{Format, Key, RangeReader, Reader, SEALED_CHUNK_LEN, Writer};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};
use std::{io::Cursor, io::Read, io::Write, num::NonZero};

#[derive(Arbitrary, Debug)]
enum Change<'a> {
    Flip(u32, u8),
    Cut(u32),
    Append(&'a [u8]),
    Drop(u8),
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
    changes.iter().take(4).for_each(|change| match change {
        Change::Flip(at, bits) => sealed.iter_mut().rev().skip(*at as usize % 42_000).take(1).for_each(|byte| *byte ^= bits),
        Change::Cut(at) => sealed.truncate(sealed.len().saturating_sub(*at as usize % 42_000)),
        Change::Append(bytes) => sealed.extend_from_slice(bytes),
        Change::Drop(n) => drop(sealed.drain(..(*n as usize * SEALED_CHUNK_LEN / 64).min(sealed.len()))),
    });
    let by_stream = Reader::new(&key, b"context", &sealed[..]).is_ok_and(|mut reader| {
        let whole = reader.read(&mut []).is_ok() && format!("{reader:?}").contains("Reader") && reader.read_to_end(&mut read).is_ok();
        whole && reader.get_ref().is_empty() && reader.into_inner().is_empty()
    });
    let range = RangeReader::new(&key, b"context", Cursor::new(&sealed)).and_then(|mut file| {
        assert!(format!("{file:?}").contains("RangeReader") && file.is_empty() == (file.len() == 0));
        file.verify(0..file.len(), NonZero::<usize>::MIN).and_then(|()| file.read(0..file.len()))
    });
    assert_eq!((by_stream, range.is_ok()), (sealed == whole, sealed == whole));
    assert!(text.starts_with(&read) && range.is_ok_and(|range| range == text) == (sealed == whole));
});

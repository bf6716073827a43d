//! Records of TLS.

use super::{Random, each, forged, hex, refused};
use fastgcm_model::Model;
use fastgcm_protocols::{
    Error,
    tls::{EXPLICIT, HEADER, MOST_CONTENT, Opener, Sealer, TAG},
};

/// RFC 8448, section 3: the client's key and IV for application data, and its first two records: 50 bytes, and an alert.
const KEY: &str = "17422dda596ed5d9acd890e3c63f5051";
const IV: &str = "5b78923dee08579033e523d9";
const RECORDS: [(u8, &str); 2] = [
    (
        23,
        "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4",
    ),
    (21, "1703030013c9872760655666b74d7ff1153efd6db6d0b0e3"),
];

#[test]
fn examples_of_rfc_8448() {
    each("tls::examples_of_rfc_8448", 2, |backend| {
        let mut sealer = Sealer::with_backend(&hex(KEY), &hex(IV), backend).unwrap();
        let mut opener = Opener::with_backend(&hex(KEY), &hex(IV), backend).unwrap();
        for (content_type, record) in RECORDS {
            let content: Vec<u8> = if content_type == 23 { (0..50).collect() } else { vec![1, 0] };
            let mut found = vec![0xee; sealer.record_len(content.len())];
            found[HEADER..][..content.len()].copy_from_slice(&content);
            sealer.seal(content_type, content.len(), &mut found).unwrap();
            assert_eq!(found, hex(record), "{backend}");
            assert_eq!(opener.open(&mut found), Ok((content_type, &mut content.clone()[..])));
        }
        2
    });
}

/// What RFC 8446, section 5 and RFC 5288, section 3 say, over the model; some with padding, some gathered; what is altered does not open.
#[test]
fn f01_random_records() {
    const FIRST: u64 = 0x0102_0304_ffff_ff9c; // each byte of a sequence number counts, and the lower half wraps
    each("tls::f01_random_records", 2 * 200, |backend| {
        let mut random = Random(5);
        for old in [false, true] {
            let (key, iv) = (random.bytes(if old { 16 } else { 32 }), random.bytes(if old { 4 } else { 12 }));
            let mut sealer = Sealer::with_backend(&key, &iv, backend).unwrap().starting_at(FIRST);
            let mut opener = Opener::with_backend(&key, &iv, backend).unwrap().starting_at(FIRST);
            let model = Model::new(&key);
            for index in 0..200 {
                let number = FIRST + index;
                assert_eq!((sealer.position(), opener.position()), (Some(number), Some(number)));
                let length = match index {
                    7 => 0,
                    8 => MOST_CONTENT,
                    _ => random.below(300),
                };
                let (content_type, mut content) = (20 + (index % 4) as u8, random.bytes(length));
                if index % 5 == 0 {
                    content.iter_mut().rev().take(3).for_each(|byte| *byte = 0); // which is no padding
                }
                let padding = if old || index == 8 || index % 3 > 0 { 0 } else { random.below(50) };
                let counted = number.to_be_bytes();
                let body_len = if old { EXPLICIT + length + TAG } else { length + 1 + padding + TAG };
                let expected = if old {
                    let header = [content_type, 3, 3, (body_len >> 8) as u8, body_len as u8];
                    let aad = [&counted[..], &[content_type, 3, 3, (length >> 8) as u8, length as u8]].concat();
                    let (ciphertext, tag) = model.seal(&[&iv[..], &counted].concat(), &aad, &content);
                    [&header[..], &counted, &ciphertext, &tag].concat()
                } else {
                    let header = [23, 3, 3, (body_len >> 8) as u8, body_len as u8];
                    let nonce: Vec<u8> = [&[0; 4][..], &counted].concat().iter().zip(&iv).map(|(a, b)| a ^ b).collect();
                    let (ciphertext, tag) = model.seal(&nonce, &header, &[&content[..], &[content_type], &vec![0; padding]].concat());
                    [&header[..], &ciphertext, &tag].concat()
                };
                let mut record = vec![0xee; sealer.record_len(length) + padding];
                if index % 2 == 0 {
                    let at = sealer.content_at();
                    record[at..][..length].copy_from_slice(&content);
                    sealer.seal(content_type, length, &mut record).unwrap();
                } else {
                    let (first, rest) = content.split_at(length / 3);
                    sealer.seal_gathered(content_type, &[first, &[], rest], &mut record).unwrap();
                }
                assert_eq!(record, expected, "{backend}, {number}");

                // Whatever stands behind the header; and the type.
                let from = HEADER + if old { EXPLICIT } else { 0 };
                forged(&record, from..record.len() - TAG, 8 * HEADER + random.below(8 * (record.len() - HEADER)), |record| {
                    opener.open(record).map(drop)
                });
                if old {
                    forged(&record, from..record.len() - TAG, random.below(8), |record| opener.open(record).map(drop));
                }
                assert_eq!(opener.open(&mut record), Ok((content_type, &mut content[..])), "{backend}, {number}");
            }
        }
        400
    });
}

/// A record that is opened twice, or in another order, is not the next one.
#[test]
fn f13_records_in_order() {
    each("tls::f13_records_in_order", 2 * 2, |backend| {
        let mut done = 0;
        for iv in [&[1; 12][..], &[1; 4]] {
            let mut sealer = Sealer::with_backend(&[2; 16], iv, backend).unwrap();
            let mut opener = Opener::with_backend(&[2; 16], iv, backend).unwrap();
            let mut records = [(); 2].map(|()| {
                let mut record = vec![0; sealer.record_len(4)];
                sealer.seal_gathered(23, &[b"text"], &mut record).unwrap();
                record
            });
            assert_ne!(records[0], records[1]);
            assert_eq!(opener.open(&mut records[1].clone()), Err(Error::Unauthentic));
            assert_eq!(opener.open(&mut records[0].clone()), Ok((23, &mut b"text".to_vec()[..])));
            assert_eq!(opener.open(&mut records[0].clone()), Err(Error::Unauthentic));
            assert_eq!(opener.open(&mut records[1]), Ok((23, &mut b"text".to_vec()[..])));
            done += 2;
        }
        done
    });
}

/// The last sequence number is used, and no other after it.
#[test]
fn f13_sequence_numbers_end() {
    each("tls::f13_sequence_numbers_end", 2 * 2, |backend| {
        let mut done = 0;
        for iv in [&[1; 12][..], &[1; 4]] {
            let mut sealer = Sealer::with_backend(&[2; 16], iv, backend).unwrap().starting_at(u64::MAX - 1);
            let mut opener = Opener::with_backend(&[2; 16], iv, backend).unwrap().starting_at(u64::MAX - 1);
            let mut record = vec![0; sealer.record_len(4)];
            for _ in 0..2 {
                sealer.seal_gathered(23, &[b"text"], &mut record).unwrap();
                assert_eq!(opener.open(&mut record), Ok((23, &mut b"text".to_vec()[..])));
                done += 1;
            }
            assert_eq!((sealer.position(), opener.position()), (None, None));
            for _ in 0..3 {
                refused(&record, Error::Exhausted, |record| sealer.seal(23, 4, record));
                refused(&record, Error::Exhausted, |record| sealer.seal_gathered(23, &[b"text"], record));
                refused(&record, Error::Exhausted, |record| opener.open(record).map(drop));
            }
        }
        done
    });
}

/// Every record that is too short or too long, lengths that are not those of the record, another version or type; nothing but zeros inside; keys and
/// IVs of other lengths. None of it moves the sequence number.
#[test]
fn f03_what_is_no_record() {
    each("tls::f03_what_is_no_record", 2 * (40 + 30 + 4) + 3 + 3 + 33, |backend| {
        let mut done = 0;
        for iv in [&[1; 12][..], &[1; 4]] {
            let old = iv.len() == 4;
            let mut sealer = Sealer::with_backend(&[2; 16], iv, backend).unwrap();
            let mut opener = Opener::with_backend(&[2; 16], iv, backend).unwrap();
            for length in 0..40 {
                let needed = sealer.record_len(10);
                if length < needed || old && length > needed {
                    refused(&vec![7; length], Error::InvalidLength, |record| sealer.seal(23, 10, record));
                    refused(&vec![7; length], Error::InvalidLength, |record| sealer.seal_gathered(23, &[b"ten ", b"bytes."], record));
                }
                done += 1;
            }
            for length in 0..30 {
                // A header that says another length, or one that says the right one of too little.
                let mut record = vec![23, 3, 3, 0, 99];
                record.resize(length.max(5), 0);
                refused(&record, Error::Malformed, |record| opener.open(record).map(drop));
                refused(&record[..length.min(4)], Error::Malformed, |record| opener.open(record).map(drop));
                let least = if old { EXPLICIT + TAG } else { TAG };
                if length >= HEADER && length < HEADER + least {
                    record[4] = (length - HEADER) as u8;
                    refused(&record, Error::Malformed, |record| opener.open(record).map(drop));
                }
                done += 1;
            }
            for (at, value) in [(1, 2), (2, 4), (2, 1), (3, 1)] {
                let mut record = vec![0; sealer.record_len(4)];
                record[..HEADER].copy_from_slice(&[23, 3, 3, 0, (sealer.record_len(4) - HEADER) as u8]);
                record[at] = value;
                refused(&record, Error::Malformed, |record| opener.open(record).map(drop));
                done += 1;
            }
            let (most, at) = (sealer.record_len(MOST_CONTENT), sealer.content_at());
            refused(&vec![0; most + 1], Error::InvalidLength, |record| sealer.seal(23, MOST_CONTENT + 1, record));
            refused(&vec![0; most + 1], Error::InvalidLength, |record| sealer.seal(23, 1, record));
            let mut long = vec![0; most + 1];
            long[..HEADER].copy_from_slice(&[23, 3, 3, ((most + 1 - HEADER) >> 8) as u8, (most + 1 - HEADER) as u8]);
            refused(&long, Error::Malformed, |record| opener.open(record).map(drop));
            refused(&[0; 40], Error::InvalidLength, |record| sealer.seal(23, usize::MAX - at, record));
            assert_eq!((sealer.position(), opener.position()), (Some(0), Some(0)));
        }
        let mut opener = Opener::with_backend(&[2; 16], &[1; 12], backend).unwrap();
        for outer in [20, 21, 22] {
            refused(&[outer, 3, 3, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Error::Malformed, |record| {
                opener.open(record).map(drop)
            });
            done += 1;
        }
        // Authentic, but all zeros: no type.
        let (model, mut number) = (Model::new(&[2; 16]), 0);
        for length in [1, 2, 50_u8] {
            let header = [23, 3, 3, 0, length + TAG as u8];
            let mut nonce = [1; 12];
            nonce[11] ^= number;
            let (ciphertext, tag) = model.seal(&nonce, &header, &vec![0; length.into()]);
            assert_eq!(opener.open(&mut [&header[..], &ciphertext, &tag].concat()), Err(Error::Malformed));
            (number, done) = (number + 1, done + 1);
        }
        for length in 0..33 {
            let key = Sealer::with_backend(&vec![1; length], &[1; 12], backend);
            assert_eq!(key.err(), if [16, 24, 32].contains(&length) { None } else { Some(Error::InvalidLength) });
            let iv = Opener::with_backend(&[1; 16], &vec![1; length], backend);
            assert_eq!(iv.err(), if [4, 12].contains(&length) { None } else { Some(Error::InvalidLength) });
            done += 1;
        }
        done
    });
}

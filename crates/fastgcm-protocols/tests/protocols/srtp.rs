//! SRTP and SRTCP.

use super::{Random, each, forged, hex, refused};
use fastgcm_model::Model;
use fastgcm_protocols::{
    Error,
    srtp::{Session, TAG, TRAILER},
};

const SALT: &[u8; 12] = b"Quid pro quo";

/// RFC 7714, section 16: a packet, and what it becomes with 128 and 256 bits of key, rollover counter 0.
const RTP: &str = "8040f17b8041f8d35501a0b247616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573";
const SRTP: [&str; 2] = [
    "8040f17b8041f8d35501a0b2f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833
     899d7f27beb16a9152cf765ee4390cce",
    "8040f17b8041f8d35501a0b232b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f1ba63799b87b
     7aa3db36dfffd6b0f9bb7878d7a76c13",
];
/// Section 17: a packet; encrypted with 128 and 256 bits (17.1, 17.2), and only authenticated with 128 (17.3). The index is 5d4.
const RTCP: &str = "81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef";
const SRTCP: [(usize, bool, &str); 3] = [
    (
        16,
        true,
        "81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded0bb9275b
         c84aa45896cf4d2fc5abf87245d9eade800005d4",
    ),
    (
        32,
        true,
        "81c8000d4d617273d50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5c1110555be8415f658c61de0476f1b6fad
         1d1eb30c4446839f57ff6f6cb26ac3be800005d4",
    ),
    (
        16,
        false,
        "81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef
         841dd9683dd78ec92ae58790125f62b3000005d4",
    ),
];

fn key(length: usize) -> Vec<u8> {
    (0..length as u8).collect()
}

#[test]
fn examples_of_rfc_7714() {
    each("srtp::examples_of_rfc_7714", 2 + 3, |backend| {
        for (length, sealed) in [16, 32].into_iter().zip(SRTP) {
            let session = Session::with_backend(&key(length), SALT, backend).unwrap();
            let mut packet = [hex(RTP), vec![0; TAG]].concat();
            session.seal_rtp(&mut packet, 0).unwrap();
            assert_eq!(packet, hex(sealed), "{backend}");
            assert_eq!(session.open_rtp(&mut packet, 0).unwrap(), hex(RTP));
        }
        for (length, encrypt, sealed) in SRTCP {
            let session = Session::with_backend(&key(length), SALT, backend).unwrap();
            let mut packet = [hex(RTCP), vec![0; TRAILER]].concat();
            session.seal_rtcp(&mut packet, 0x5d4, encrypt).unwrap();
            assert_eq!(packet, hex(sealed), "{backend}");
            assert_eq!(session.open_rtcp(&mut packet), Ok((&mut hex(RTCP)[..], 0x5d4, encrypt)));
        }
        5
    });
}

/// Headers with CSRCs and extensions, every rollover counter; what RFC 7714, section 8 says, over the model.
#[test]
fn f01_random_rtp() {
    each("srtp::f01_random_rtp", 300, |backend| {
        let mut random = Random(2);
        for i in 0..300 {
            let (bytes, salt): (_, [u8; 12]) = (random.bytes([16, 32][i % 2]), random.array());
            let session = Session::with_backend(&bytes, &salt, backend).unwrap();
            let (csrcs, extension) = (random.below(16), (i % 3 == 0).then(|| random.below(10)));
            let mut header = random.bytes(12 + 4 * csrcs);
            header[0] = 0x80 | (header[0] & 0x20) | csrcs as u8;
            if let Some(words) = extension {
                header[0] |= 0x10;
                header.extend(random.bytes(2));
                header.extend((words as u16).to_be_bytes());
                header.extend(random.bytes(4 * words));
            }
            let (length, rollover) = (random.below(300), random.next() as u32);
            let payload = random.bytes(length);
            let counted = [&[0; 2][..], &header[8..12], &rollover.to_be_bytes(), &header[2..4]].concat();
            let nonce: Vec<u8> = counted.iter().zip(salt).map(|(a, b)| a ^ b).collect();
            let (ciphertext, tag) = Model::new(&bytes).seal(&nonce, &header, &payload);
            let mut packet = [&header[..], &payload, &[9; TAG]].concat();
            session.seal_rtp(&mut packet, rollover).unwrap();
            assert_eq!(packet, [&header[..], &ciphertext, &tag].concat(), "{backend}");
            // A bit behind the first bytes, which say where the payload begins, or of the rollover counter.
            let bit = 8 * (header.len()) + random.below(8 * (packet.len() - header.len()));
            forged(&packet, header.len()..header.len() + length, bit, |packet| session.open_rtp(packet, rollover).map(drop));
            forged(&packet, header.len()..header.len() + length, 8 + random.below(8 * 11), |packet| {
                session.open_rtp(packet, rollover).map(drop)
            });
            let mut other = packet.clone();
            assert_eq!(session.open_rtp(&mut other, rollover ^ 1 << random.below(32)), Err(Error::Unauthentic));
            assert_eq!(session.open_rtp(&mut packet, rollover).unwrap(), [header, payload].concat());
        }
        300
    });
}

#[test]
fn f01_random_rtcp() {
    each("srtp::f01_random_rtcp", 300, |backend| {
        let mut random = Random(3);
        for i in 0..300 {
            let (bytes, salt): (_, [u8; 12]) = (random.bytes([16, 32][i % 2]), random.array());
            let session = Session::with_backend(&bytes, &salt, backend).unwrap();
            let (encrypt, index, length) = (i % 3 > 0, random.next() as u32 >> 1, 8 + random.below(300));
            let mut plain = random.bytes(length);
            plain[0] = 0x80 | plain[0] & 0x3f;
            let word = index | u32::from(encrypt) << 31;
            let counted = [&[0; 2][..], &plain[4..8], &[0; 2], &index.to_be_bytes()].concat();
            let nonce: Vec<u8> = counted.iter().zip(salt).map(|(a, b)| a ^ b).collect();
            let model = Model::new(&bytes);
            let (body, tag) = if encrypt {
                model.seal(&nonce, &[&plain[..8], &word.to_be_bytes()].concat(), &plain[8..])
            } else {
                (plain[8..].to_vec(), model.seal(&nonce, &[&plain[..], &word.to_be_bytes()].concat(), &[]).1)
            };
            let mut packet = [&plain[..], &[9; TRAILER]].concat();
            session.seal_rtcp(&mut packet, index, encrypt).unwrap();
            assert_eq!(packet, [&plain[..8], &body, &tag, &word.to_be_bytes()].concat(), "{backend}");
            // Any bit but that of E, without which other bytes are the text; and of the version.
            let bit = 8 + random.below(8 * (packet.len() - 5));
            forged(&packet, if encrypt { 8..length } else { 0..0 }, bit, |packet| session.open_rtcp(packet).map(drop));
            let mut other = packet.clone();
            other[length + TAG] ^= 0x80;
            assert_eq!(session.open_rtcp(&mut other), Err(Error::Unauthentic));
            let low = packet.len() - 1;
            forged(&packet, if encrypt { 8..length } else { 0..0 }, 8 * low + random.below(8), |packet| {
                session.open_rtcp(packet).map(drop)
            });
            assert_eq!(session.open_rtcp(&mut packet), Ok((&mut plain[..], index, encrypt)));
        }
        300
    });
}

/// Packets that are too short for what their headers say, of another version, with an index of more than 31 bits; keys of other lengths.
#[test]
fn f03_f13_what_is_no_packet() {
    each("srtp::f03_f13_what_is_no_packet", 28 + 28 + 7 + 6 + 3 + 2, |backend| {
        let session = Session::with_backend(&[1; 16], SALT, backend).unwrap();
        let mut done = 0;
        for length in 0..28 {
            let packet = vec![0x80; length];
            let error = if length < TAG { Error::InvalidLength } else { Error::Malformed };
            refused(&packet, error, |packet| session.seal_rtp(packet, 0));
            refused(&packet, Error::Malformed, |packet| session.open_rtp(packet, 0).map(drop));
            done += 1;
        }
        for length in 0..28 {
            let packet = vec![0x80; length];
            let error = if length < TRAILER { Error::InvalidLength } else { Error::Malformed };
            refused(&packet, error, |packet| session.seal_rtcp(packet, 0, true));
            refused(&packet, Error::Malformed, |packet| session.open_rtcp(packet).map(drop));
            done += 1;
        }
        // Version 0, 1, 3; CSRCs and extensions that go beyond the end.
        for first in [0x00, 0x40, 0xc0, 0x81, 0x8f, 0x90, 0x91] {
            let mut packet = vec![0; 12 + TAG];
            packet[0] = first;
            refused(&packet, Error::Malformed, |packet| session.seal_rtp(packet, 0));
            refused(&packet, Error::Malformed, |packet| session.open_rtp(packet, 0).map(drop));
            done += 1;
        }
        // Of RTCP likewise, in what is encrypted and in what is not.
        for first in [0x01, 0x41, 0xc1] {
            for word in [0x00, 0x80] {
                let mut packet = vec![0; 20 + TRAILER];
                (packet[0], packet[20 + TAG]) = (first, word);
                refused(&packet, Error::Malformed, |packet| session.seal_rtcp(packet, 0, word != 0));
                refused(&packet, Error::Malformed, |packet| session.open_rtcp(packet).map(drop));
                done += 1;
            }
        }
        for words in [2_u16, 3, u16::MAX] {
            let mut packet = vec![0; 12 + 4 + 4 + TAG];
            packet[0] = 0x90;
            packet[14..16].copy_from_slice(&words.to_be_bytes());
            refused(&packet, Error::Malformed, |packet| session.open_rtp(packet, 0).map(drop));
            done += 1;
        }
        for index in [1 << 31, u32::MAX] {
            refused(&[0x80; 60], Error::Exhausted, |packet| session.seal_rtcp(packet, index, true));
            done += 1;
        }
        done
    });
}

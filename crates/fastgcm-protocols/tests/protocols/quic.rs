//! QUIC.

use super::{Random, each, forged, hex, refused};
use fastgcm_model::Model;
use fastgcm_protocols::{
    Error,
    quic::{HeaderKey, Keys, LAST_NUMBER, PacketKey, Side, TAG, Version},
};

/// The connection ID of the examples of RFC 9001 and RFC 9369, appendices A.
const CONNECTION: &str = "8394c8f03e515708";
/// The CRYPTO frame of the client (A.2); 1162 bytes with its padding.
const CLIENT_HELLO: &str = "060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e86804fe3a47f06a2b69484c00000413011302010000c000000010000e
    00000b6578616d706c652e636f6dff01000100000a00080006001d0017001800100007000504616c706e000500050100000000003300260024001d00209370b2c9caa47fbabaf4559f
    edba753de171fa71f50f1ce15d43e994ec74d748002b0003020304000d0010000e0403050306030203080408050806002d00020101001c00024001003900320408ffffffffffffffff
    05048000ffff07048000ffff0801100104800075300901100f088394c8f03e51570806048000ffff";
/// The frames of the server (A.3).
const SERVER_HELLO: &str =
    "02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a045a1200130100002e00330024001d
    00209d3c940d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00020304";

/// Version, header of the client's packet, how the sealed one begins and ends; header of the server's, and the sealed one whole.
const INITIAL: [(Version, &str, &str, &str, &str, &str); 2] = [
    (
        Version::V1,
        "c300000001088394c8f03e5157080000449e00000002",
        "c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11d242b123dc9bd8bab936b47d92ec356c0bab7df5976d27cd449f63300099f3991c260ec4c60d17b3
         1f8429157bb35a1282a643a8d2262cad67500cadb8e7378c8eb7539ec4d4905fed1bee1fc8aafba17c750e2c7ace01e6005f80fcb7df621230c83711b39343fa028cea7f7fb5ff89",
        "7e78bfe706ca4cf5e9c5453e9f7cfd2b8b4c8d169a44e55c88d4a9a7f9474241e221af44860018ab0856972e194cd934",
        "c1000000010008f067a5502a4262b50040750001",
        "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7
         684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee",
    ),
    (
        Version::V2,
        "d36b3343cf088394c8f03e5157080000449e00000002",
        "d76b3343cf088394c8f03e5157080000449ea0c95e82ffe67b6abcdb4298b485dd04de806071bf03dceebfa162e75d6c96058bdbfb127cdfcbf903388e99ad049f9a3dd4425ae4d0
         992cfff18ecf0fdb5a842d09747052f17ac2053d21f57c5d250f2c4f0e0202b70785b7946e992e58a59ac52dea6774d4f03b55545243cf1a12834e3f249a78d395e0d18f4d766004",
        "",
        "d16b3343cf0008f067a5502a4262b50040750001",
        "dc6b3343cf0008f067a5502a4262b5004075d92faaf16f05d8a4398c47089698baeea26b91eb761d9b89237bbf87263017915358230035f7fd3945d88965cf17f9af6e16886c61bf
         c703106fbaf3cb4cfa52382dd16a393e42757507698075b2c984c707f0a0812d8cd5a6881eaf21ceda98f4bd23f6fe1a3e2c43edd9ce7ca84bed8521e2e140",
    ),
];

/// A.2 and A.3: keys from the connection ID, packets as both sides seal them.
#[test]
fn examples_of_initial_packets() {
    each("quic::examples_of_initial_packets", 2 * 2, |backend| {
        for (version, client_header, begins, ends, server_header, server_packet) in INITIAL {
            let keys = |side| Keys::initial_with_backend(version, &hex(CONNECTION), side, backend).unwrap();
            let mut hello = hex(CLIENT_HELLO);
            hello.resize(1162, 0);
            let mut packet = [&hex(client_header)[..], &hello, &[0; TAG]].concat();
            keys(Side::Client).seal(&mut packet, 18, 2).unwrap();
            assert_eq!(packet.len(), 1200);
            assert!(packet.starts_with(&hex(begins)) && packet.ends_with(&hex(ends)), "{version:?}, {backend}");
            let opened = keys(Side::Client).open(&mut packet, 18, 2).unwrap();
            assert_eq!((opened.number, opened.payload_at), (2, 22));
            assert_eq!(packet[..1200 - TAG], [hex(client_header), hello].concat());

            let mut packet = [&hex(server_header)[..], &hex(SERVER_HELLO), &[0; TAG]].concat();
            keys(Side::Server).seal(&mut packet, 18, 1).unwrap();
            assert_eq!(packet, hex(server_packet), "{version:?}, {backend}");
            let opened = keys(Side::Server).open(&mut packet, 18, 1).unwrap();
            assert_eq!((opened.number, opened.payload_at), (1, 20));
            assert_eq!(packet[20..packet.len() - TAG], hex(SERVER_HELLO));
        }
        4
    });
}

/// A.4: Retry packets of both versions.
#[test]
fn examples_of_retry_packets() {
    let packets = [
        (Version::V1, "ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba"),
        (Version::V2, "cf6b3343cf0008f067a5502a4262b5746f6b656ec8646ce8bfe33952d955543665dcc7b6"),
    ];
    let original = hex(CONNECTION);
    for (version, packet) in packets {
        let mut packet = hex(packet);
        let (before, tag) = packet.split_last_chunk::<TAG>().unwrap();
        assert_eq!(version.retry_tag(&original, before), Ok(*tag));
        version.verify_retry(&original, &packet).unwrap();
        for bit in 0..8 * packet.len() {
            packet[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(version.verify_retry(&original, &packet), Err(Error::Unauthentic));
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(version.verify_retry(&original[1..], &packet), Err(Error::Unauthentic));
        assert_eq!(version.verify_retry(&original, &packet[..15]), Err(Error::Malformed));
        assert_eq!(version.verify_retry(&[0; 21], &packet), Err(Error::InvalidLength));
    }
}

/// What RFC 9001, sections 5.3 and 5.4 say, over the model: long and short headers, packet numbers of each length; what is altered does not open.
#[test]
fn f01_random_packets() {
    each("quic::f01_random_packets", 400, |backend| {
        let mut random = Random(4);
        for i in 0..400 {
            let length = [16, 32][i % 2];
            let (key, iv, hp): (_, [u8; 12], _) = (random.bytes(length), random.array(), random.bytes(length));
            let keys = Keys::with_backend(&key, &iv, &hp, backend).unwrap();
            let (number_len, expected) = (1 + i % 4, random.next() >> (2 + random.below(60)));
            // As far ahead or behind as so many bytes allow.
            let window = 1_u64 << (8 * number_len);
            let number = (expected + random.next() % (window / 2)).saturating_sub(random.next() % (window / 2)).min(LAST_NUMBER);
            let header_len = 1 + random.below(40);
            let mut header = random.bytes(header_len);
            header[0] = header[0] & !3 | (number_len - 1) as u8;
            let number_at = header.len();
            header.extend(&number.to_be_bytes()[8 - number_len..]);
            let payload_len = 4 - number_len + if i % 20 == 0 { 1350 } else { random.below(100) };
            let payload = random.bytes(payload_len);

            let nonce: Vec<u8> = [&[0; 4][..], &number.to_be_bytes()].concat().iter().zip(iv).map(|(a, b)| a ^ b).collect();
            let (ciphertext, tag) = Model::new(&key).seal(&nonce, &header, &payload);
            let mut sealed = [&header[..], &ciphertext, &tag].concat();
            let sample = sealed[number_at + 4..][..16].try_into().unwrap();
            let mask = Model::new(&hp).cipher(&sample);
            sealed[0] ^= mask[0] & if header[0] >> 7 == 1 { 0x0f } else { 0x1f };
            (0..number_len).for_each(|i| sealed[number_at + i] ^= mask[1 + i]);

            let mut packet = [&header[..], &payload, &[0xee; TAG]].concat();
            keys.seal(&mut packet, number_at, number).unwrap();
            assert_eq!(packet, sealed, "{backend}, {i}");
            let header_key = HeaderKey::with_backend(&hp, backend).unwrap();
            let mut samples = [sample, [7; 16]];
            header_key.masks(&mut samples);
            assert_eq!((&header_key.mask(&sample)[..], samples), (&mask[..5], [mask, Model::new(&hp).cipher(&[7; 16])]));

            // A bit behind the sample, or any: of the header and of the sample, it may change where the payload begins.
            let behind = number_at + 20;
            if behind < packet.len() {
                let bit = 8 * behind + random.below(8 * (packet.len() - behind));
                forged(&packet, header.len()..header.len() + payload_len, bit, |packet| keys.open(packet, number_at, expected).map(drop));
            }
            let mut any = packet.clone();
            let byte = random.below(any.len());
            any[byte] ^= 1;
            assert!(keys.open(&mut any, number_at, expected).is_err());
            let opened = keys.open(&mut packet, number_at, expected).unwrap();
            assert_eq!((opened.number, opened.payload_at), (number, header.len()), "{i}");
            assert_eq!(packet, [&header[..], &payload, &tag].concat());

            // In parts.
            let parts = PacketKey::with_backend(&key, &iv, backend).unwrap();
            let (mut text, mut gathered) = (payload.clone(), vec![0; payload_len]);
            assert_eq!(parts.seal(number, &header, &mut text), Ok(tag));
            assert_eq!(
                parts.seal_gathered(number, &header, &[&payload[..payload_len / 3], &[], &payload[payload_len / 3..]], &mut gathered),
                Ok(tag)
            );
            assert_eq!((&text, &gathered), (&ciphertext, &ciphertext));
            text.extend(tag);
            assert_eq!(parts.open(number, &header, &mut text).unwrap(), payload);
        }
        400
    });
}

/// RFC 9000, appendix A.3: what is nearest to the expected number; at the beginning, around each window, and at the end of all numbers.
#[test]
fn f13_packet_numbers() {
    each("quic::f13_packet_numbers", 4 * 9 * 9, |backend| {
        let keys = Keys::with_backend(&[1; 16], &[2; 12], &[3; 16], backend).unwrap();
        let mut done = 0;
        for number_len in 1..=4 {
            let window = 1_u64 << (8 * number_len);
            for expected in [0, 1, window / 2, window - 1, window, window + 1, 0xa82f_30eb, LAST_NUMBER - 1, LAST_NUMBER] {
                for ahead in [-(window as i64) / 2 + 1, -2, -1, 0, 1, 2, 100, window as i64 / 2 - 1, window as i64 / 2] {
                    let number = (expected as i64 + ahead).clamp(0, LAST_NUMBER as i64) as u64;
                    let mut packet = vec![0; 1 + number_len + 4 + TAG];
                    packet[0] = 0x40 | (number_len - 1) as u8;
                    packet[1..1 + number_len].copy_from_slice(&number.to_be_bytes()[8 - number_len..]);
                    keys.seal(&mut packet, 1, number).unwrap();
                    assert_eq!(
                        keys.open(&mut packet, 1, expected).map(|opened| opened.number),
                        Ok(number),
                        "{number_len} {expected} {ahead}"
                    );
                    done += 1;
                }
            }
        }
        done
    });
}

/// As many masks as samples, whether they go through the processor together or not.
#[test]
fn masks() {
    each("quic::masks", 100, |backend| {
        let mut random = Random(5);
        for count in 0..100 {
            let hp = random.bytes([16, 32][count % 2]);
            let samples: Vec<[u8; 16]> = (0..count).map(|_| random.array()).collect();
            let (key, model, mut masks) = (HeaderKey::with_backend(&hp, backend).unwrap(), Model::new(&hp), samples.clone());
            key.masks(&mut masks);
            for (i, (sample, mask)) in samples.iter().zip(&masks).enumerate() {
                assert_eq!(*mask, model.cipher(sample), "{backend}: mask {i} of {count}");
                assert_eq!(key.mask(sample), mask[..5]);
            }
        }
        100
    });
}

/// The last number is one, in each way to seal a packet and to open it; what is beyond is none.
#[test]
fn f13_the_last_number() {
    each("quic::f13_the_last_number", 6, |backend| {
        let key = PacketKey::with_backend(&[1; 16], &[2; 12], backend).unwrap();
        let nonce = |number: u64| ((2_u128 * (u128::MAX / 255)) ^ u128::from(number)).to_be_bytes()[4..].to_vec();
        for number in [LAST_NUMBER - 1, LAST_NUMBER] {
            let (ciphertext, tag) = Model::new(&[1; 16]).seal(&nonce(number), b"header", b"text");
            let (mut text, mut gathered) = (*b"text", [0; 4]);
            assert_eq!(key.seal(number, b"header", &mut text), Ok(tag));
            assert_eq!(key.seal_gathered(number, b"header", &[b"te", b"xt"], &mut gathered), Ok(tag));
            assert_eq!((&text[..], &gathered[..]), (&ciphertext[..], &ciphertext[..]));
            assert_eq!(key.open(number, b"header", &mut [&ciphertext[..], &tag].concat()).unwrap(), b"text");
        }
        for number in [LAST_NUMBER + 1, LAST_NUMBER + 2, 1 << 63, u64::MAX] {
            refused(b"text", Error::Exhausted, |text| key.seal(number, b"header", text).map(drop));
            refused(b"text", Error::Exhausted, |text| key.seal_gathered(number, b"header", &[b"te", b"xt"], text).map(drop));
            refused(&[7; 20], Error::Malformed, |packet| key.open(number, b"header", packet).map(drop));
        }
        6
    });
}

/// Packets without a sample, with another number than is said, with a number that there is not; keys of other lengths.
#[test]
fn f03_f13_what_is_no_packet() {
    each("quic::f03_f13_what_is_no_packet", 30 + 4 + 2 + 4, |backend| {
        let keys = Keys::with_backend(&[1; 16], &[2; 12], &[3; 16], backend).unwrap();
        let mut done = 0;
        for length in 0..30 {
            let mut packet = vec![0x41; length];
            if length > 11 {
                packet[10..12].copy_from_slice(&[0, 7]);
            }
            // One byte, nine of connection ID, a number of two bytes; the sample ends 30 bytes behind the beginning.
            refused(&packet, Error::InvalidLength, |packet| keys.seal(packet, 10, 7));
            refused(&packet, Error::Malformed, |packet| keys.open(packet, 10, 7).map(drop));
            done += 1;
        }
        for number_at in [0, 31, usize::MAX, usize::MAX - 3] {
            refused(&[0x40; 50], Error::InvalidLength, |packet| keys.seal(packet, number_at, 7));
            refused(&[0x40; 50], Error::Malformed, |packet| keys.open(packet, number_at, 7).map(drop));
            done += 1;
        }
        refused(&[0x40; 50], Error::Malformed, |packet| keys.seal(packet, 1, 0x41));
        let parts = PacketKey::with_backend(&[1; 16], &[2; 12], backend).unwrap();
        refused(&[0x40; 50], Error::Exhausted, |packet| parts.seal(LAST_NUMBER + 1, b"", packet).map(drop));
        refused(&[0x40; 50], Error::Malformed, |packet| parts.open(LAST_NUMBER + 1, b"", packet).map(drop));
        refused(&[0x40; 15], Error::Malformed, |packet| parts.open(1, b"", packet).map(drop));
        assert_eq!(parts.seal_gathered(1, b"", &[b"four"], &mut [0; 5]), Err(Error::InvalidLength));
        done += 2;
        for (key, hp) in [(15, 15), (16, 32), (32, 16), (0, 0)] {
            assert_eq!(Keys::with_backend(&vec![1; key], &[2; 12], &vec![3; hp], backend).err(), Some(Error::InvalidLength));
            done += 1;
        }
        assert!(Keys::initial(Version::V1, &[0; 20], Side::Client).is_ok());
        assert_eq!(Keys::initial(Version::V1, &[0; 21], Side::Client).err(), Some(Error::InvalidLength));
        done
    });
}

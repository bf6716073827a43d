//! Every size and number that a caller may give, and every error in the middle of a connection.

#[path = "../../../fastgcm/tests/support/secrets.rs"]
mod secrets;

use super::{Random, suite};
use fastgcm_protocols::{
    Error,
    esp::{HEADER, Mode, Outbound, Sa},
    quic, srtp, tls,
};
use std::collections::BTreeSet;

/// Numbers that wrap if something is added to them, or multiplied, or that are cut to fewer bits.
fn beyond(most: u64) -> impl Iterator<Item = u64> {
    let around = [1u128 << 16, 1 << 31, 1 << 32, 1 << 61, 1 << 62, 1 << 63, 1 << 64].into_iter().flat_map(|at| (at - 70)..=(at + 70));
    around.filter_map(|number| u64::try_from(number).ok()).filter(move |number| *number > most)
}

/// The public functions of the crate that take a size, a number, or a list, whose sizes they add: `file::name`.
fn declared() -> BTreeSet<String> {
    let sources = [
        ("esp", include_str!("../../src/esp.rs")),
        ("quic", include_str!("../../src/quic.rs")),
        ("srtp", include_str!("../../src/srtp.rs")),
        ("tls", include_str!("../../src/tls.rs")),
    ];
    let mut names = BTreeSet::new();
    for (file, source) in sources {
        for function in source.split("pub fn ").skip(1) {
            let (name, arguments) = function.split_once('(').unwrap();
            let arguments = arguments.split(") ").next().unwrap();
            if ["usize", "u64", "u32", "&[&[u8]]", "[&mut [u8]]"].iter().any(|kind| arguments.contains(kind)) {
                names.insert(format!("{file}::{}", name.split('<').next().unwrap()));
            }
        }
    }
    assert!(names.len() > 10, "the sources were not understood");
    names
}

/// Addresses that nobody may touch, so many that a few of these slices have more bytes than a number can say.
struct Nowhere(&'static [u8]);

impl Nowhere {
    fn new() -> Self {
        const SIZE: usize = 1 << 45;
        // SAFETY: new addresses, which nothing may read.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let at = libc::mmap(std::ptr::null_mut(), SIZE, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
            Self(std::slice::from_raw_parts(at.cast(), SIZE))
        }
    }
}

/// What is too long, or beyond a number's end, is refused, and changes nothing.
#[test]
#[cfg(target_pointer_width = "64")]
fn sizes() {
    let (nowhere, mut walked, mut calls) = (Nowhere::new(), BTreeSet::new(), 0);
    // 2^64 bytes in all, and 40: the sum of the sizes wraps.
    let content = [7u8; 40];
    let list: Vec<&[u8]> = (0..1 << 19).map(|_| nowhere.0).chain([&content[..]]).collect();
    let mut refused = |name: &str, refused: bool| {
        assert!(refused, "{name}");
        walked.insert(name.to_string());
        calls += 1;
    };

    let sa = |mode| Sa::<16>::new(&[1; 20], mode).unwrap();
    let (header, mut to) = ([2; HEADER], [9; 40]);
    for mode in [Mode::Gcm, Mode::Gmac] {
        let sealed = sa(mode).seal_scattered(&header, &list, &mut [&mut to], None);
        refused("esp::seal_scattered", sealed == Err(Error::InvalidLength) && to == [9; 40]);
        let opened = sa(mode).open_scattered(&header, &list, &mut [&mut to], &[0; 16], None);
        refused("esp::open_scattered", opened == Err(Error::InvalidLength) && to == [9; 40]);
    }
    for next in beyond(u32::MAX.into()) {
        let outbound = Outbound::starting_at(sa(Mode::Gcm), 1, false, next);
        refused("esp::starting_at", outbound.err() == Some(Error::Exhausted));
    }

    let key = quic::PacketKey::new(&[1; 16], &[2; 12]).unwrap();
    refused("quic::seal_gathered", key.seal_gathered(1, &[], &list, &mut to) == Err(Error::InvalidLength) && to == [9; 40]);
    for number in beyond(quic::LAST_NUMBER) {
        refused("quic::seal", key.seal(number, &[], &mut to) == Err(Error::Exhausted) && to == [9; 40]);
        refused("quic::seal_gathered", key.seal_gathered(number, &[], &[&content], &mut to) == Err(Error::Exhausted) && to == [9; 40]);
        refused("quic::open", key.open(number, &[], &mut to).err() == Some(Error::Malformed) && to == [9; 40]);
    }
    let keys = quic::Keys::new(&[1; 16], &[2; 12], &[3; 16]).unwrap();
    for at in beyond(40).map(|at| at as usize) {
        refused("quic::seal", keys.seal(&mut to, at, 1) == Err(Error::InvalidLength) && to == [9; 40]);
        refused("quic::open", keys.open(&mut to, at, 1).err() == Some(Error::Malformed) && to == [9; 40]);
    }

    let session = srtp::Session::new(&[1; 16], &[2; 12]).unwrap();
    let mut packet = [0x80; 60];
    for index in beyond((1 << 31) - 1).filter_map(|index| u32::try_from(index).ok()) {
        refused("srtp::seal_rtcp", session.seal_rtcp(&mut packet, index, true) == Err(Error::Exhausted) && packet == [0x80; 60]);
    }

    for iv in [&[1; 12][..], &[1; 4]] {
        let mut sealer = tls::Sealer::with_backend(&[1; 16], iv, fastgcm_protocols::Backend::detect()).unwrap();
        let mut record = vec![5; sealer.record_len(40)];
        let untouched = record.clone();
        for length in beyond(tls::MOST_CONTENT as u64) {
            refused("tls::record_len", sealer.record_len(length as usize) >= length as usize);
            let sealed = sealer.seal(23, length as usize, &mut record);
            refused("tls::seal", sealed == Err(Error::InvalidLength) && record == untouched);
        }
        refused("tls::seal_gathered", sealer.seal_gathered(23, &list, &mut record) == Err(Error::InvalidLength) && record == untouched);
        // Nothing of this has counted. The last number is used, and none behind it.
        assert_eq!(sealer.position(), Some(0));
        let mut sealer = sealer.starting_at(u64::MAX);
        sealer.seal(23, 40, &mut record).unwrap();
        let sealed = record.clone();
        refused("tls::starting_at", sealer.seal(23, 40, &mut record) == Err(Error::Exhausted) && record == sealed);
    }
    // Numbers of which each is right, and buffers in place, which no two slices share: their sum cannot wrap.
    let any = [
        "esp::new",
        "esp::seal",
        "esp::open",
        "esp::seal_to",
        "esp::open_to",
        "esp::seal_chunks",
        "esp::open_chunks",
        "srtp::seal_rtp",
        "srtp::open_rtp",
    ];
    walked.extend(any.map(String::from));
    assert_eq!(walked, declared(), "what the crate has, and what this test walks");
    suite::passed("walk::sizes", calls, calls);
}

/// A call in the middle of a connection that is refused, whatever the reason: the next packet or record is the one that comes without it.
#[test]
fn errors_in_the_middle() {
    let (mut random, mut calls) = (Random(3), 0);
    // ESP: the sender counts.
    for (mode, esn) in [(Mode::Gcm, false), (Mode::Gcm, true), (Mode::Gmac, false)] {
        let outbound = || Outbound::<16>::new(Sa::new(&[1; 20], mode).unwrap(), 7, esn);
        let (mut one, mut other) = (outbound(), outbound());
        for length in 0..80 {
            let mut packet = random.bytes(length);
            let before = packet.clone();
            if one.seal(&mut packet).is_err() {
                assert_eq!(packet, before);
                calls += 1;
            } else {
                other.seal(&mut random.bytes(length)).unwrap();
            }
            let (mut after, mut expected) = ([3; 80], [3; 80]);
            assert_eq!(one.seal(&mut after), other.seal(&mut expected));
            assert_eq!(after, expected, "another packet follows what was refused");
        }
        let mut sealed = [4; 90];
        one.seal(&mut sealed).unwrap();
        // The receiver has no state: what is refused leaves nothing.
        let sa = Sa::<16>::new(&[1; 20], mode).unwrap();
        let high = esn.then_some(0);
        for at in 0..90 {
            let mut forged = sealed;
            forged[at] ^= 1;
            assert_eq!(sa.open(&mut forged, high).err(), Some(Error::Unauthentic));
            assert!(sa.open(&mut sealed.clone(), high).is_ok());
            calls += 1;
        }
    }
    // TLS: both ends count.
    for iv in [&[1; 12][..], &[1; 4]] {
        let backend = fastgcm_protocols::Backend::detect();
        let mut sealer = tls::Sealer::with_backend(&[1; 16], iv, backend).unwrap();
        let mut opener = tls::Opener::with_backend(&[1; 16], iv, backend).unwrap();
        for number in 0..60u64 {
            let mut record = random.bytes(sealer.record_len(30));
            for wrong in [0, 29 + tls::MOST_CONTENT, usize::MAX] {
                let short = if wrong == 0 { &mut record[..3] } else { &mut record[..] };
                assert_eq!(sealer.seal(23, wrong, short), Err(Error::InvalidLength));
                assert_eq!(sealer.seal_gathered(23, &[&[1; 50]], short), Err(Error::InvalidLength));
                calls += 2;
            }
            assert_eq!(sealer.position(), Some(number), "a refused record has counted");
            let at = sealer.content_at();
            record[at..at + 30].fill(6);
            sealer.seal(23, 30, &mut record).unwrap();
            for at in 0..record.len() {
                let mut forged = record.clone();
                forged[at] ^= 1;
                let refused =
                    if at == 0 && iv.len() == 12 || (1..tls::HEADER).contains(&at) { Error::Malformed } else { Error::Unauthentic };
                assert_eq!(opener.open(&mut forged).err(), Some(refused), "byte {at}");
                assert_eq!(opener.open(&mut record[..at].to_vec()).err(), Some(Error::Malformed));
                calls += 2;
            }
            assert_eq!(opener.open(&mut record), Ok((23, &mut [6; 30][..])), "a refused record has counted");
        }
    }
    // QUIC and SRTP have no state: a packet that was refused is as it was, and the right one opens behind it.
    let keys = quic::Keys::new(&[1; 16], &[2; 12], &[3; 16]).unwrap();
    let mut packet = [&[0x41; 9][..], &5u16.to_be_bytes(), &[8; 50]].concat();
    keys.seal(&mut packet, 9, 5).unwrap();
    for at in 0..packet.len() {
        let mut forged = packet.clone();
        forged[at] ^= 1;
        assert!(keys.open(&mut forged, 9, 5).is_err());
        assert_eq!(keys.open(&mut packet.clone(), 9, 5).map(|opened| opened.number), Ok(5));
        calls += 1;
    }
    let session = srtp::Session::new(&[1; 16], &[2; 12]).unwrap();
    let mut rtp = [0x80; 60];
    session.seal_rtp(&mut rtp, 1).unwrap();
    let mut rtcp = [0x80; 60];
    session.seal_rtcp(&mut rtcp, 1, true).unwrap();
    for at in 1..60 {
        let [mut one, mut two] = [rtp, rtcp];
        one[at] ^= 1;
        two[at] ^= 1;
        assert!(session.open_rtp(&mut one, 1).is_err() && session.open_rtcp(&mut two).is_err());
        assert!(session.open_rtp(&mut rtp.clone(), 1).is_ok() && session.open_rtcp(&mut rtcp.clone()).is_ok());
        calls += 2;
    }
    suite::passed("walk::errors_in_the_middle", calls, calls);
}

/// No text of an object shows a byte of a key, of a salt or of an IV; and each type with a secret is here.
#[test]
fn quiet() {
    let secret = secrets::secret(36);
    let ([key, keymat], iv, salt): ([&[u8]; 2], &[u8; 12], &[u8; 4]) =
        ([&secret[..16], &secret[..20]], secret[20..32].try_into().unwrap(), secret[32..].try_into().unwrap());
    let (sa, mut packet) = (|| Sa::<16>::new(keymat, Mode::Gcm).unwrap(), secret.clone());
    let shown: [(&str, &dyn std::fmt::Debug); 9] = [
        ("Sa", &sa()),
        ("Outbound", &Outbound::new(sa(), 1, false)),
        ("PacketKey", &quic::PacketKey::new(key, iv).unwrap()),
        ("HeaderKey", &quic::HeaderKey::new(key).unwrap()),
        ("Keys", &quic::Keys::new(key, iv, key).unwrap()),
        ("Session", &srtp::Session::new(key, iv).unwrap()),
        ("Sealer", &(tls::Sealer::tls13(key, iv).unwrap(), tls::Sealer::tls12(key, salt).unwrap())),
        ("Opener", &(tls::Opener::tls13(key, iv).unwrap(), tls::Opener::tls12(key, salt).unwrap())),
        ("Packet", &fastgcm_protocols::esp::Packet::new(&mut packet, None)),
    ];
    for (name, object) in shown {
        secrets::quiet(name, &format!("{object:?} {object:#?}"), &secret);
    }
    let sources = [
        include_str!("../../src/esp.rs"),
        include_str!("../../src/quic.rs"),
        include_str!("../../src/srtp.rs"),
        include_str!("../../src/tls.rs"),
    ];
    let types: BTreeSet<_> = sources.iter().flat_map(|source| secrets::types(source)).filter(|name| *name != "Opened").collect(); // numbers
    assert_eq!(types, shown.iter().map(|(name, _)| *name).collect());
    suite::passed("walk::quiet", shown.len(), 9);
}

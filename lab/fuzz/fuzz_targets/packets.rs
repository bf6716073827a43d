//! Tests packets of ESP, QUIC, SRTP and TLS: any input is opened or refused without a trace, and what we seal is opened: `fastgcm-protocols`.
#![no_main]
use fastgcm_protocols::{
    Error,
    esp::{Mode, Sa},
    quic, srtp, tls,
};
use libfuzzer_sys::{arbitrary, arbitrary::Arbitrary, fuzz_target};

#[derive(Arbitrary, Debug)]
struct Packet<'a> {
    key: [u8; 32],
    iv: [u8; 12],
    /// The length of the key, the mode, the position of a packet number, the changed bit.
    choices: [u8; 4],
    /// The sequence number, rollover counter or index, and a packet number.
    number: u32,
    expected: u64,
    bytes: &'a [u8],
}

/// Checks that a refused packet is as documented: untouched, or without its text.
fn refused(error: Error, before: &[u8], after: &[u8]) {
    match error {
        Error::Unauthentic => assert!(after.len() == before.len()),
        Error::Malformed | Error::InvalidLength | Error::Exhausted => assert_eq!(before, after),
        other => panic!("{other:?}"),
    }
}

fuzz_target!(|input: Packet| {
    let Packet { key, iv, choices: [length, mode, at, bit], number, expected, bytes } = input;
    let key = &key[..[16, 24, 32][length as usize % 3]];
    let flip = |sealed: &[u8]| {
        let mut forged = sealed.to_vec();
        forged[usize::from(bit) / 8 % sealed.len()] ^= 1 << (bit % 8);
        forged
    };
    esp::<16>(key, &iv, mode, number, bytes, flip);
    esp::<12>(key, &iv, mode, number, bytes, flip);
    esp::<8>(key, &iv, mode, number, bytes, flip);

    if key.len() != 24 {
        let keys = quic::Keys::new(key, &iv, key).unwrap();
        let mut packet = bytes.to_vec();
        if let Err(error) = keys.open(&mut packet, at.into(), expected) {
            refused(error, bytes, &packet);
        }
        let mut packet = bytes.to_vec();
        // The header has the last bytes of the number.
        let low = bytes.get(usize::from(at)..).unwrap_or_default().iter().take(1 + usize::from(bytes.first().map_or(0, |first| first & 3)));
        let number = low.fold(expected, |sum, byte| sum << 8 | u64::from(*byte)) & quic::LAST_NUMBER;
        match keys.seal(&mut packet, at.into(), number) {
            Ok(()) => {
                assert_eq!(keys.open(&mut flip(&packet), at.into(), number).map(|_| ()), Err(Error::Unauthentic));
                let opened = keys.open(&mut packet, at.into(), number).unwrap();
                assert!(opened.number == number && packet[..bytes.len() - 16] == bytes[..bytes.len() - 16]);
            }
            Err(error) => refused(error, bytes, &packet),
        }
    }

    if key.len() != 24 {
        let session = srtp::Session::new(key, &iv).unwrap();
        let mut packet = bytes.to_vec();
        if let Err(error) = session.open_rtp(&mut packet, number) {
            refused(error, bytes, &packet);
        }
        let mut packet = bytes.to_vec();
        if let Err(error) = session.open_rtcp(&mut packet) {
            refused(error, bytes, &packet);
        }
        let mut packet = bytes.to_vec();
        match session.seal_rtp(&mut packet, number) {
            Ok(()) => {
                assert!(session.open_rtp(&mut flip(&packet), number).is_err());
                assert_eq!(session.open_rtp(&mut packet, number).unwrap(), &bytes[..bytes.len() - 16]);
            }
            Err(error) => refused(error, bytes, &packet),
        }
        let mut packet = bytes.to_vec();
        match session.seal_rtcp(&mut packet, number, mode % 2 == 0) {
            Ok(()) => {
                assert!(session.open_rtcp(&mut flip(&packet)).is_err());
                let (opened, index, encrypted) = session.open_rtcp(&mut packet).unwrap();
                assert!(opened == &bytes[..bytes.len() - 20] && index == number && encrypted == (mode % 2 == 0));
            }
            Err(error) => refused(error, bytes, &packet),
        }
    }

    for iv in [&iv[..], &iv[..4]] {
        if key.len() == 24 {
            break;
        }
        let backend = fastgcm::Backend::detect();
        let sealer = || tls::Sealer::with_backend(key, iv, backend).unwrap().starting_at(expected);
        let opener = || tls::Opener::with_backend(key, iv, backend).unwrap().starting_at(expected);
        let mut record = bytes.to_vec();
        if let Err(error) = opener().open(&mut record) {
            refused(error, bytes, &record);
        }
        let content_type = 1 + mode % 255;
        let mut record = vec![0; sealer().record_len(bytes.len())];
        let (first, second) = bytes.split_at(usize::from(at).min(bytes.len()));
        if sealer().seal_gathered(content_type, &[first, second], &mut record).is_err() {
            assert!(bytes.len() > 1 << 14 && record.iter().all(|byte| *byte == 0));
            continue;
        }
        assert!(opener().open(&mut flip(&record)).is_err());
        let (found, content) = opener().open(&mut record).unwrap();
        assert!(found == content_type && content == bytes);
    }
});

fn esp<const ICV: usize>(key: &[u8], iv: &[u8; 12], mode: u8, number: u32, bytes: &[u8], flip: impl Fn(&[u8]) -> Vec<u8>) {
    let keymat = [key, &iv[..4]].concat();
    let sa = Sa::<ICV>::new(&keymat, if mode % 2 == 0 { Mode::Gcm } else { Mode::Gmac }).unwrap();
    let high = (mode % 4 > 1).then_some(number);
    let mut packet = bytes.to_vec();
    if let Err(error) = sa.open(&mut packet, high) {
        refused(error, bytes, &packet);
    }
    let mut packet = bytes.to_vec();
    match sa.seal(&mut packet, high) {
        Ok(()) => {
            assert_eq!(sa.open(&mut flip(&packet), high).map(|_| ()), Err(Error::Unauthentic));
            assert_eq!(sa.open(&mut packet, high).unwrap(), &bytes[16..bytes.len() - ICV]);
        }
        Err(error) => refused(error, bytes, &packet),
    }
}

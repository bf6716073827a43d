//! IPsec ESP.

use super::{Random, each, forged, hex, refused};
use fastgcm_model::Model;
use fastgcm_protocols::{
    Backend, Error,
    esp::{HEADER, Mode, Outbound, Sa},
};

/// The examples, whole and with shorter ICVs: the first bytes of the whole one (RFC 4106, section 6).
#[test]
fn examples_of_the_draft() {
    each("esp::examples_of_the_draft", 15 * 3 * 2, |backend| {
        let (mut mode, mut done) = (Mode::Gcm, 0);
        for line in include_str!("esp.txt").lines().skip(1) {
            if line.starts_with('#') {
                mode = Mode::Gmac;
                continue;
            }
            let [key, salt, high, payload, packet] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let high = (high != "-").then(|| u32::from_str_radix(high, 16).unwrap());
            let (keymat, payload, packet) = (hex(&[key, salt].concat()), hex(payload), hex(packet));
            done += example::<16>(backend, mode, &keymat, high, &payload, &packet);
            done += example::<12>(backend, mode, &keymat, high, &payload, &packet[..packet.len() - 4]);
            done += example::<8>(backend, mode, &keymat, high, &payload, &packet[..packet.len() - 8]);
        }
        done
    });
}

fn example<const ICV: usize>(backend: Backend, mode: Mode, keymat: &[u8], high: Option<u32>, payload: &[u8], packet: &[u8]) -> usize {
    let sa = Sa::<ICV>::with_backend(keymat, mode, backend).unwrap();
    let mut found = [&packet[..HEADER], payload, &[0; ICV]].concat();
    sa.seal(&mut found, high).unwrap();
    assert_eq!(found, packet, "{backend}");
    assert_eq!(sa.open(&mut found, high).unwrap(), payload, "{backend}");
    2
}

/// What RFC 4106 and RFC 4543 say, over the model; and with a bit altered, or another upper half of the sequence number.
#[test]
fn f01_random_packets() {
    each("esp::f01_random_packets", 3 * 200, |backend| {
        let mut random = Random(1);
        (0..200)
            .map(|i| {
                random_packet::<16>(backend, i, &mut random)
                    + random_packet::<12>(backend, i, &mut random)
                    + random_packet::<8>(backend, i, &mut random)
            })
            .sum()
    });
}

fn random_packet<const ICV: usize>(backend: Backend, i: usize, random: &mut Random) -> usize {
    let (mode, high) = (if i.is_multiple_of(3) { Mode::Gmac } else { Mode::Gcm }, (i.is_multiple_of(2)).then(|| random.next() as u32));
    let (key, salt) = (random.bytes([16, 24, 32][i % 3]), random.bytes(4));
    let length = if i.is_multiple_of(20) { 1400 } else { random.below(200) };
    let (header, payload) = (random.bytes(HEADER), random.bytes(length));
    let sa = Sa::<ICV>::with_backend(&[&key[..], &salt].concat(), mode, backend).unwrap();

    let high_bytes = high.map_or(vec![], |high| high.to_be_bytes().to_vec());
    let mut aad = [&header[..4], &high_bytes, &header[4..8]].concat();
    let nonce = [&salt[..], &header[8..]].concat();
    let (ciphertext, tag) = match mode {
        Mode::Gcm => Model::new(&key).seal(&nonce, &aad, &payload),
        Mode::Gmac => {
            aad.extend([&header[8..], &payload].concat());
            (payload.clone(), Model::new(&key).seal(&nonce, &aad, &[]).1)
        }
    };
    let expected = [&header[..], &ciphertext, &tag[..ICV]].concat();
    let mut packet = [&header[..], &payload, &[0xee; ICV]].concat();
    sa.seal(&mut packet, high).unwrap();
    assert_eq!(packet, expected, "{backend}, {mode:?}, ICV {ICV}");

    let text = if mode == Mode::Gcm { HEADER..HEADER + length } else { 0..0 };
    forged(&packet, text.clone(), random.below(8 * packet.len()), |packet| sa.open(packet, high).map(drop));
    let mut other = packet.clone();
    assert_eq!(sa.open(&mut other, high.map_or(Some(0), |high| Some(high ^ 1))), Err(Error::Unauthentic));
    assert!(other[text].iter().all(|&byte| byte == 0));
    assert_eq!(sa.open(&mut packet, high).unwrap(), payload);
    1
}

/// Packets that are too short, and keying material of other lengths.
#[test]
fn f03_wrong_lengths() {
    each("esp::f03_wrong_lengths", 2 * 32 + 2 * 24 + 65, |backend| {
        let mut done = 0;
        for mode in [Mode::Gcm, Mode::Gmac] {
            let (long, short) =
                (Sa::<16>::with_backend(&[1; 20], mode, backend).unwrap(), Sa::<8>::with_backend(&[1; 20], mode, backend).unwrap());
            for length in 0..32 {
                let packet = vec![7; length];
                refused(&packet, Error::InvalidLength, |packet| long.seal(packet, None));
                refused(&packet, Error::Malformed, |packet| long.open(packet, None).map(drop));
                done += 1;
                if length < 24 {
                    refused(&packet, Error::InvalidLength, |packet| short.seal(packet, Some(1)));
                    refused(&packet, Error::Malformed, |packet| short.open(packet, Some(1)).map(drop));
                    done += 1;
                }
            }
        }
        for length in 0..=64 {
            let sa = Sa::<16>::with_backend(&vec![1; length], Mode::Gcm, backend);
            assert_eq!(sa.err(), if [20, 28, 36].contains(&length) { None } else { Some(Error::InvalidLength) });
            done += 1;
        }
        done
    });
}

/// What goes out: fields, numbers that carry into the upper half, and no number after the last.
#[test]
fn f13_outbound_packets_end() {
    const LAST: u64 = u32::MAX as u64;
    let sa = |backend| Sa::<16>::with_backend(&[9; 36], Mode::Gcm, backend).unwrap();
    each("esp::f13_outbound_packets_end", 3 + 2 + 4 + 2, |backend| {
        let mut done = 0;
        for (esn, from, count) in [(false, 1, 3), (false, LAST - 1, 2), (true, LAST - 1, 4), (true, u64::MAX - 1, 2)] {
            let mut outbound = Outbound::starting_at(sa(backend), 0x0102_0304, esn, from).unwrap();
            assert_eq!(if from == 1 { Outbound::new(sa(backend), 7, esn).position() } else { outbound.position() }, Some(from));
            for i in 0..count {
                let number = from + i;
                refused(&[5; HEADER + 15], Error::InvalidLength, |packet| outbound.seal(packet).map(drop));
                let mut packet = [5; HEADER + 20 + 16];
                assert_eq!(outbound.seal(&mut packet), Ok(number));
                assert_eq!(packet[..4], [1, 2, 3, 4]);
                assert_eq!(packet[4..8], (number as u32).to_be_bytes());
                assert_eq!(packet[8..16], number.to_be_bytes());
                let high = esn.then_some((number >> 32) as u32);
                assert_eq!(sa(backend).open(&mut packet, high).unwrap(), [5; 20], "{number}");
                done += 1;
            }
            if from > 1 && count == 2 {
                assert_eq!(outbound.position(), None);
                for _ in 0..3 {
                    refused(&[5; 60], Error::Exhausted, |packet| outbound.seal(packet).map(drop));
                }
            }
        }
        for (esn, from) in [(false, 0), (true, 0), (false, LAST + 1)] {
            assert_eq!(Outbound::starting_at(sa(backend), 1, esn, from).err(), Some(Error::Exhausted));
        }
        done
    });
}

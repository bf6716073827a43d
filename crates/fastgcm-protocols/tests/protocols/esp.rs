//! IPsec ESP.

use super::{Random, each, forged, hex, refused};
use fastgcm_model::Model;
use fastgcm_protocols::{
    Backend, Error,
    esp::{HEADER, Mode, Outbound, Packet, Sa},
};
use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering::Relaxed},
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
                let payload = [20, 0][i as usize % 2];
                let mut packet = vec![5; HEADER + payload + 16];
                assert_eq!(outbound.seal(&mut packet), Ok(number));
                assert_eq!(packet[..4], [1, 2, 3, 4]);
                assert_eq!(packet[4..8], (number as u32).to_be_bytes());
                assert_eq!(packet[8..16], number.to_be_bytes());
                let high = esn.then_some((number >> 32) as u32);
                assert_eq!(sa(backend).open(&mut packet, high).unwrap(), vec![5; payload], "{number}");
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

/// From one buffer to another, over lists and in lists, each cut anywhere: the packet is that of [`Sa::seal`], which the tests above hold against the
/// model. With a bit altered, nothing of the plaintext is where it was to be written.
#[test]
fn f01_buffers_and_lists() {
    each("esp::f01_buffers_and_lists", 3 * 150 * 6, |backend| {
        let mut random = Random(2);
        (0..150)
            .map(|i| {
                every_way::<16>(backend, i, &mut random)
                    + every_way::<12>(backend, i, &mut random)
                    + every_way::<8>(backend, i, &mut random)
            })
            .sum()
    });
}

fn association<const ICV: usize>(backend: Backend, i: usize, random: &mut Random) -> (Sa<ICV>, Mode, Option<u32>) {
    let (mode, high) = (if i.is_multiple_of(3) { Mode::Gmac } else { Mode::Gcm }, i.is_multiple_of(2).then(|| random.next() as u32));
    let sa = Sa::with_backend(&random.bytes([20, 28, 36][i % 3]), mode, backend).unwrap();
    (sa, mode, high)
}

/// What is called with a list to read, and with one to write.
type Read<'a> = dyn FnMut(&[&[u8]]) -> Result<(), Error> + 'a;
type Write<'a> = dyn FnMut(&mut [&mut [u8]]) -> Result<(), Error> + 'a;

fn every_way<const ICV: usize>(backend: Backend, i: usize, random: &mut Random) -> usize {
    let (sa, mode, high) = association::<ICV>(backend, i, random);
    let length = if i.is_multiple_of(10) { 1400 + random.below(50) } else { random.below(200) };
    let (header, payload): ([u8; HEADER], _) = (random.array(), random.bytes(length));
    let plain = [&header[..], &payload].concat();
    let mut sealed = [&plain[..], &[0; ICV]].concat();
    sa.seal(&mut sealed, high).unwrap();
    let (text, icv) = sealed[HEADER..].split_last_chunk::<ICV>().unwrap();
    // Two lists that are cut at other places, some of which are the same.
    let mut cuts = || {
        let mut cuts: Vec<_> = (0..random.below(6)).map(|_| random.below(length + 1)).chain([0, length]).collect();
        cuts.sort_unstable();
        cuts
    };
    let (here, there) = (cuts(), cuts());
    let read = |all: &[u8], then: &mut Read<'_>| then(&here.windows(2).map(|cut| &all[cut[0]..cut[1]]).collect::<Vec<_>>());
    let written = |all: &mut [u8], then: &mut Write<'_>| {
        let mut rest = &mut *all;
        then(&mut there.windows(2).map(|cut| rest.split_off_mut(..cut[1] - cut[0]).unwrap()).collect::<Vec<_>>())
    };

    let mut to = vec![0xee; sealed.len()];
    sa.seal_to(&plain, &mut to, high).unwrap();
    assert_eq!(to, sealed, "{backend}, {mode:?}, ICV {ICV}");
    let mut to = vec![0xee; length];
    read(&payload, &mut |from| written(&mut to, &mut |to| sa.seal_scattered(&header, from, to, high).map(|found| assert_eq!(found, *icv))))
        .unwrap();
    assert_eq!(to, text, "{backend}, {mode:?}, ICV {ICV}");
    let mut to = payload.clone();
    written(&mut to, &mut |chunks| sa.seal_chunks(&header, chunks, high).map(|found| assert_eq!(found, *icv))).unwrap();
    assert_eq!(to, text, "{backend}, {mode:?}, ICV {ICV}");

    // As it was sealed; then with a bit altered, in the header, the text or the ICV.
    let bit = random.below(8 * sealed.len());
    for altered in [false, true] {
        let mut packet = sealed.clone();
        packet[bit / 8] ^= u8::from(altered) << (bit % 8);
        let (header, text) = packet.split_first_chunk::<HEADER>().unwrap();
        let (text, icv) = text.split_last_chunk::<ICV>().unwrap();
        let left = |untouched: &[u8]| match altered {
            false => (Ok(()), payload.clone()),
            true if untouched.is_empty() => (Err(Error::Unauthentic), vec![0; length]),
            true => (Err(Error::Unauthentic), untouched.to_vec()),
        };
        let mut to = vec![0xee; length];
        let done = sa.open_to(&packet, &mut to, high);
        assert_eq!((done, to), left(&[]), "{backend}, {mode:?}, ICV {ICV}, bit {bit}");
        let mut to = vec![0xee; length];
        let done = read(text, &mut |from| written(&mut to, &mut |to| sa.open_scattered(header, from, to, icv, high)));
        assert_eq!((done, to), left(&[]), "{backend}, {mode:?}, ICV {ICV}, bit {bit}");
        let mut to = text.to_vec();
        let done = written(&mut to, &mut |chunks| sa.open_chunks(header, chunks, icv, high));
        assert_eq!((done, to), left(if mode == Mode::Gmac { text } else { &[] }), "{backend}, {mode:?}, ICV {ICV}, bit {bit}");
    }
    6
}

/// A packet that somebody else writes to while it is opened to another buffer: what is accepted is what was sealed, and the rest is zero.
#[test]
fn f01_packets_that_change() {
    let counts = super::backends().into_iter().map(|backend| {
        let modes = [Mode::Gcm, Mode::Gmac].map(|mode| changing(&Sa::with_backend(&[7; 20], mode, backend).unwrap()));
        (backend, modes.into_iter().sum())
    });
    super::passed("esp::f01_packets_that_change", &counts.collect::<Vec<_>>(), 2 * 2 * ACCEPTED);
}

/// So many openings of a changing packet must have been accepted, in each way to open one.
const ACCEPTED: usize = 200;

fn changing(sa: &Sa) -> usize {
    let payload = vec![b'a'; 16_000];
    let mut packet = [&[1; HEADER][..], &payload, &[0; 16]].concat();
    sa.seal(&mut packet, None).unwrap();
    let shared: Vec<AtomicU8> = packet.into_iter().map(AtomicU8::new).collect();
    // SAFETY: an atomic byte is a byte. That it changes is what this test is about: it stands for memory that another process has, too.
    let packet = unsafe { std::slice::from_raw_parts(shared.as_ptr().cast::<u8>(), shared.len()) };
    let (header, rest) = packet.split_first_chunk().unwrap();
    let (text, icv) = rest.split_last_chunk().unwrap();
    let middle = &shared[shared.len() / 2];
    std::thread::scope(|scope| {
        let here = Arc::new(()); // until this closure ends, or panics
        let is_here = Arc::downgrade(&here);
        scope.spawn(move || {
            while is_here.upgrade().is_some() {
                for _ in 0..1000 {
                    middle.fetch_xor(1, Relaxed);
                }
                std::thread::yield_now();
            }
        });
        let mut to = vec![0; payload.len()];
        let mut done = 0;
        for lists in [false, true] {
            let mut accepted = 0;
            while accepted < ACCEPTED {
                let opened = if lists {
                    sa.open_scattered(header, &[text], &mut [&mut to[..]], icv, None)
                } else {
                    sa.open_to(packet, &mut to, None)
                };
                match opened {
                    Ok(()) => assert!(to == payload, "text that nobody has sealed"),
                    Err(_) => assert!(to.iter().all(|byte| *byte == 0)),
                }
                accepted += usize::from(opened.is_ok());
            }
            done += accepted;
        }
        done
    })
}

/// Batches of packets of one length and of many lengths, some altered, some too short: each is as it would be alone.
#[test]
fn f01_batches() {
    each("esp::f01_batches", 3 * 2 * (0..40).sum::<usize>(), |backend| {
        let mut random = Random(3);
        (0..40)
            .map(|i| batch::<16>(backend, i, &mut random) + batch::<12>(backend, i, &mut random) + batch::<8>(backend, i, &mut random))
            .sum()
    });
}

fn batch<const ICV: usize>(backend: Backend, count: usize, random: &mut Random) -> usize {
    let (sa, ..) = association::<ICV>(backend, count, random);
    let one = random.below(64);
    let packet = |random: &mut Random| {
        let length = match random.below(8) {
            0 => random.below(HEADER + ICV), // too short
            1 => HEADER + random.below(300) + ICV,
            _ => HEADER + one + ICV,
        };
        (random.bytes(length), random.below(2).eq(&0).then(|| random.next() as u32))
    };
    let mut buffers: Vec<_> = (0..count).map(|_| packet(random)).collect();
    for seal in [true, false] {
        if !seal {
            // One in four has a bit altered.
            let altered = |(buffer, _): &mut (Vec<u8>, _)| {
                if !buffer.is_empty() && random.below(4) == 0 {
                    let bit = random.below(8 * buffer.len());
                    buffer[bit / 8] ^= 1 << (bit % 8);
                }
            };
            buffers.iter_mut().for_each(altered);
        }
        let mut alone = buffers.clone();
        let wanted: Vec<_> =
            alone.iter_mut().map(|(buffer, high)| if seal { sa.seal(buffer, *high) } else { sa.open(buffer, *high).map(drop) }).collect();
        let mut packets: Vec<_> = buffers.iter_mut().map(|(buffer, high)| Packet::new(buffer, *high)).collect();
        packets.iter_mut().for_each(|packet| packet.status = Err(Error::Exhausted)); // is written
        let all = if seal { sa.seal_batch(&mut packets) } else { sa.open_batch(&mut packets) };
        assert_eq!(packets.iter().map(|packet| packet.status).collect::<Vec<_>>(), wanted, "{backend}, ICV {ICV}");
        assert_eq!(all, wanted.iter().copied().find(Result::is_err).unwrap_or(Ok(())));
        assert!(buffers == alone, "{backend}, ICV {ICV}, {count} packets");
    }
    2 * count
}

/// Buffers and lists of other lengths, in both modes: nothing is written.
#[test]
fn f03_buffers_and_lists_of_other_lengths() {
    each("esp::f03_buffers_and_lists_of_other_lengths", 2 * (64 + 16 + 32), |backend| {
        let mut done = 0;
        for mode in [Mode::Gcm, Mode::Gmac] {
            let sa = Sa::<16>::with_backend(&[1; 20], mode, backend).unwrap();
            for length in (0..=64).filter(|length| *length != HEADER + 8 + 16) {
                refused(&vec![7; length], Error::InvalidLength, |to| sa.seal_to(&[1; HEADER + 8], to, None));
                done += 1;
            }
            for length in 0..HEADER {
                refused(&[7; 64], Error::InvalidLength, |to| sa.seal_to(&vec![1; length], to, None));
                done += 1;
            }
            for length in 0..32 {
                refused(&[7; 64], Error::Malformed, |to| sa.open_to(&vec![1; length], to, Some(1)));
                let short = vec![1; HEADER + length];
                refused(&[7; 64], Error::InvalidLength, |to| {
                    sa.seal_scattered(&[1; HEADER], &[&short], &mut [&mut to[..5], &mut []], None).map(drop)
                });
                refused(&[7; 64], Error::InvalidLength, |to| {
                    sa.open_scattered(&[1; HEADER], &[&short, &short], &mut [&mut to[..5], &mut []], &[1; 16], None)
                });
                refused(&[7; 64], Error::InvalidLength, |to| sa.open_to(&vec![1; 32 + length], &mut to[..length + 1], None));
                done += 1;
            }
        }
        done
    });
}

//! A random mix of all that seals and opens, beside the model. Keys, nonces, AAD, texts, batches, lists, pieces, parts, their hashes, and failures of the
//! operating system are drawn independently of each other: a fault that shows only where two of them meet is met here.
//!
//! A round is a number, from which all of it is drawn. A round that fails says its number; `FASTGCM_MIX=NUMBER` does that round alone.
#![cfg(feature = "alloc")]

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/backends.rs"]
mod backends;
#[cfg(all(target_os = "linux", feature = "getrandom"))]
#[path = "support/no_random.rs"]
mod no_random;
#[path = "support/referee.rs"]
mod referee;
#[path = "support/suite.rs"]
mod suite;
#[path = "support/verbs.rs"]
mod verbs;

use backends::{Tally, backends, key};
use fastgcm::{Backend, Error, Key, Nonce, Packet, Tag, Text, batch};
use std::thread::panicking;
use suite::{Random, full, quick};
use verbs::{Form, Keys, Message, STALE, Verb};

/// Says which round fails.
struct Round(u64, Backend);

impl Drop for Round {
    fn drop(&mut self) {
        if panicking() {
            eprintln!("mix: round {} of {}; FASTGCM_MIX={} repeats it", self.0, self.1, self.0);
        }
    }
}

#[test]
fn mix() {
    let rounds = match std::env::var("FASTGCM_MIX") {
        Ok(round) => vec![round.parse().expect("FASTGCM_MIX is the number of a round")],
        Err(_) => (0..if quick() {
            150
        } else if full() {
            20_000
        } else {
            600
        })
            .collect::<Vec<u64>>(),
    };
    let (mut tally, table) = (Tally::default(), verbs::table());
    for &round in &rounds {
        let messages = messages(&mut Random(round));
        for backend in backends() {
            let _round = Round(round, backend);
            let mut mix = Mix::new(round, backend, table);
            let mut left = &messages[..];
            while !left.is_empty() {
                left = &left[mix.step(left)..];
            }
            tally.add(&mix.keys.key, 1);
        }
    }
    tally.passed("mix", rounds.len());
}

/// A message of AES-GCM, and which of the round's keys it has.
struct Drawn {
    key: usize,
    message: Message,
}

/// The messages of a round. From one to the next, key, nonce, AAD and text each stay as they are (of lengths: as long as they are), or are drawn anew: none of
/// them heeds another. So there are runs of any kind, with anything in between.
fn messages(random: &mut Random) -> Vec<Drawn> {
    let keys: Vec<Vec<u8>> = (0..1 + random.below(3)).map(|_| bytes(random, &[16, 24, 32])).collect();
    let [mut key, mut nonce, mut aad, mut text] = [0, 12, 0, 16];
    // Of so many messages one has another key, nonce, AAD and text.
    let stays = [0; 4].map(|_| [1, 3, 12, 12, 40][random.below(5)]);
    (0..1 + random.below(50))
        .map(|_| {
            let [new_key, new_nonce, new_aad, new_text] = stays.map(|stays| random.below(stays) == 0);
            if new_key {
                key = random.below(keys.len());
            }
            if new_nonce {
                nonce = if random.below(9) == 0 { 1 + random.below(70) } else { 12 };
            }
            if new_aad {
                aad = if random.below(8) == 0 { random.below(300) } else { random.below(22) };
            }
            if new_text {
                text = match random.below(24) {
                    0 => random.below(if full() { 200_000 } else { 9000 }),
                    1..=3 => random.below(1500),
                    4..=15 => [0, 13, 16, 31, 64, 64, 128, 256][random.below(8)],
                    _ => random.below(300),
                };
            }
            let [nonce, aad, text] = [nonce, aad, text].map(|n| random.bytes(n));
            Drawn { key, message: referee::message(Form::Gcm, &keys[key], &nonce, &aad, &text) }
        })
        .collect()
}

fn bytes(random: &mut Random, lengths: &[usize]) -> Vec<u8> {
    let n = lengths[random.below(lengths.len())];
    random.bytes(n)
}

/// Of `n` bytes so many, or fewer: none, one, around a block, or any number.
fn piece(random: &mut Random, n: usize) -> usize {
    [0, 1, 15, 16, 17, random.below(70), random.below(n + 1), random.below(n + 1), n][random.below(9)].min(n)
}

/// Cuts `n` bytes anywhere, in pieces of which some are empty.
fn cuts(random: &mut Random, n: usize) -> Vec<usize> {
    let (mut cuts, mut at) = (Vec::new(), 0);
    while at < n || random.below(3) == 0 {
        let next = if cuts.len() > 5 { n - at } else { piece(random, n - at) };
        cuts.push(next);
        at += next;
    }
    cuts
}

/// The pieces themselves.
fn cut<'a>(mut bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    cuts.iter().map(|&n| bytes.split_off(..n).unwrap()).collect()
}

fn cut_mut<'a>(mut bytes: &'a mut [u8], cuts: &[usize]) -> Vec<&'a mut [u8]> {
    cuts.iter().map(|&n| bytes.split_off_mut(..n).unwrap()).collect()
}

/// A tag with a bit altered.
fn altered(random: &mut Random, mut tag: Tag) -> Tag {
    tag.0[random.below(16)] ^= 1 << random.below(8);
    tag
}

/// A round on one back end.
struct Mix<'t> {
    random: Random,
    backend: Backend,
    table: &'t [Verb],
    keys: Keys,
}

impl<'t> Mix<'t> {
    fn new(round: u64, backend: Backend, table: &'t [Verb]) -> Self {
        Self { random: Random(round ^ 0x6d69_7865_6421), backend, table, keys: Keys::new(backend) }
    }

    /// Does something with the first of these messages, or with several; returns with how many.
    fn step(&mut self, messages: &[Drawn]) -> usize {
        match self.random.below(10) {
            0..=3 => return self.batch(messages),
            4..=6 => self.verb(&messages[0].message),
            7 => self.list(&messages[0].message),
            8 => self.pieces(&messages[0].message),
            _ => self.parts_and_nonces(&messages[0].message),
        }
        1
    }

    /// A key on the back end under test, or at times on another one.
    fn key(&mut self, bytes: &[u8]) -> Key {
        let all = backends();
        let backend = if self.random.below(4) == 0 { all[self.random.below(all.len())] } else { self.backend };
        key(bytes, backend)
    }

    /// A row of the table, with a message of its own made of this one; what opens is at times given what nobody sealed.
    fn verb(&mut self, message: &Message) {
        let Self { random, backend, table, keys } = self;
        let verb = &table[random.below(table.len())];
        if !verb.runs_on(*backend) {
            return;
        }
        let lengths = verb.key_and_nonce(message.key.len(), message.nonce.len());
        let (key, nonce) = (random.bytes(lengths.0), random.bytes(lengths.1));
        let mut own = referee::message(verb.form, &key, &nonce, &message.aad, &message.text[..verb.text(message.text.len())]);
        let forges = verb.opens() && random.below(2) == 0;
        if forges {
            let tag = &mut own.tag.0[..verb.tag.min(16)];
            let parts: [&mut [u8]; 6] = [&mut own.key, &mut own.nonce, &mut own.aad, &mut own.sealed, tag, &mut own.commitment];
            let mut parts: Vec<&mut [u8]> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let part = random.below(parts.len());
            let at = random.below(parts[part].len());
            parts[part][at] ^= 1 << random.below(8);
        }
        verb.run(keys, &own, !forges);
    }

    /// A batch of any packets under any keys.
    fn batch(&mut self, messages: &[Drawn]) -> usize {
        let fits = messages.iter().take_while(|drawn| drawn.message.nonce.len() == 12).count();
        if fits == 0 {
            self.verb(&messages[0].message);
            return 1;
        }
        let n = if self.random.below(2) == 0 { fits } else { 1 + self.random.below(fits) };
        let (messages, seal) = (&messages[..n], self.random.below(2) == 0);
        let keys: Vec<Key> = (0..3)
            .map(|i| messages.iter().find(|drawn| drawn.key == i).map_or(vec![0; 16], |drawn| drawn.message.key.clone()))
            .map(|bytes| self.key(&bytes))
            .collect();
        let random = &mut self.random;
        let hostile = [3, 40, 1000][random.below(3)]; // of so many packets one is wrong
        let mut fates: Vec<Result<(), Error>> = messages
            .iter()
            .map(|_| match random.below(2 * hostile) {
                0 if !seal => Err(Error::Unauthentic),
                1 => Err(Error::InvalidLength),
                _ => Ok(()),
            })
            .collect();
        let source = |drawn: &Drawn, seal: bool| if seal { drawn.message.text.clone() } else { drawn.message.sealed.clone() };
        let sources: Vec<Vec<u8>> = messages.iter().map(|drawn| source(drawn, seal)).collect();
        let mut targets = Vec::new();
        for (i, fate) in fates.iter_mut().enumerate() {
            // A packet whose text is in one place has one length.
            let mut to =
                if *fate != Err(Error::InvalidLength) && random.below(2) == 0 { None } else { Some(vec![STALE; sources[i].len()]) };
            if *fate == Err(Error::InvalidLength) {
                to = Some(vec![STALE; sources[i].len() + 1 + random.below(3)]);
            }
            targets.push(to);
        }
        let mut in_place = sources.clone();
        let mut packets = Vec::new();
        for ((i, drawn), (place, to)) in messages.iter().enumerate().zip(in_place.iter_mut().zip(&mut targets)) {
            let Message { nonce, aad, tag, .. } = &drawn.message;
            let tag = match fates[i] {
                Err(Error::Unauthentic) => altered(random, *tag),
                _ if seal => Tag([STALE; 16]),
                _ => *tag,
            };
            let nonce = nonce[..].try_into().unwrap();
            let mut packet = match to {
                None => Packet::in_place(nonce, aad, place, tag),
                Some(to) => Packet::to(nonce, aad, &sources[i], to, tag),
            };
            // What an earlier call has left.
            packet.status = [Ok(()), Err(Error::Unauthentic), Err(Error::TooLong)][random.below(3)];
            packets.push(packet);
        }
        let tags: Vec<Tag> = packets.iter().map(|packet| packet.tag).collect();
        let by: Vec<&Key> = messages.iter().map(|drawn| &keys[drawn.key]).collect();
        let one_key = by.iter().all(|key| std::ptr::eq(*key, by[0]));
        let answer = match (seal, one_key && random.below(2) == 0) {
            (true, true) => by[0].seal_batch(&mut packets),
            (false, true) => by[0].open_batch(&mut packets),
            (true, false) => batch::seal(&by, &mut packets),
            (false, false) => batch::open(&by, &mut packets),
        };
        let expected = fates.iter().copied().find(Result::is_err).unwrap_or(Ok(()));
        let what = |i: usize| {
            let shapes: Vec<_> =
                messages.iter().map(|drawn| (drawn.key, drawn.message.aad.len(), drawn.message.text.len())).zip(&fates).collect();
            format!("packet {i} of (key, AAD, text) {shapes:?}, {:?}, sealed: {seal}, one key: {one_key}", by[i])
        };
        assert_eq!(answer, expected, "{}", what(0));
        for (i, (packet, drawn)) in packets.iter().zip(messages).enumerate() {
            assert_eq!(packet.status, fates[i], "{}", what(i));
            let tag = if seal && fates[i].is_ok() { drawn.message.tag } else { tags[i] };
            assert_eq!(packet.tag.0, tag.0, "the tag of {}", what(i));
            let (Text::InPlace(written) | Text::To(_, written)) = &packet.text;
            let expected = match fates[i] {
                Ok(()) => source(drawn, !seal),
                Err(Error::Unauthentic) => vec![0; written.len()],
                Err(_) => vec![STALE; written.len()],
            };
            assert!(**written == expected, "the text of {}", what(i));
        }
        n
    }

    /// AAD and text in any number of chunks.
    fn list(&mut self, message: &Message) {
        let Message { key, nonce, aad, text, sealed, tag, .. } = message;
        let (key, nonce) = (self.key(key), Nonce::any(nonce).unwrap());
        let random = &mut self.random;
        let n = text.len();
        let [aads, ins, outs] = [aad.len(), n, n].map(|n| cuts(random, n));
        let what = format!("{key:?}, AAD {aads:?}, from {ins:?} to {outs:?}");
        let aads = cut(aad, &aads);
        let mut to = vec![STALE; n];
        // Sealed.
        let extra = if ins.is_empty() { 0 } else { ins[ins.len() - 1] };
        let chunks = cut(&text[..n - extra], if ins.is_empty() { &[] } else { &ins[..ins.len() - 1] });
        let extra = &text[n - extra..];
        let found = match random.below(3) {
            0 => key.seal_gathered(nonce, &aads, &chunks, extra, &mut to),
            1 => key.seal_scattered(nonce, &aads, &chunks, extra, &mut cut_mut(&mut to, &outs)),
            _ => {
                to.copy_from_slice(text);
                key.seal_chunks(nonce, &aads, &mut cut_mut(&mut to, &outs))
            }
        };
        assert_eq!(found, Ok(*tag), "{what}");
        assert!(to == *sealed, "{what}");
        // Opened.
        let right = random.below(3) != 0;
        let tag = if right { *tag } else { altered(random, *tag) };
        let (chunks, way) = (cut(sealed, &ins), random.below(4));
        to.fill(STALE);
        let opened = match way {
            0 => key.open_gathered(nonce, &aads, &chunks, &mut to, &tag),
            1 => key.open_scattered(nonce, &aads, &chunks, &mut cut_mut(&mut to, &outs), &tag),
            2 => key.open_gathered_verified_first(nonce, &aads, &chunks, &mut to, &tag),
            _ => {
                to.copy_from_slice(sealed);
                key.open_chunks(nonce, &aads, &mut cut_mut(&mut to, &outs), &tag)
            }
        };
        assert_eq!(opened, if right { Ok(()) } else { Err(Error::Unauthentic) }, "{what}");
        let expected = if right { text.clone() } else { vec![if way == 2 { STALE } else { 0 }; n] };
        assert!(to == expected, "{what}, way {way}");
        // Buffers of other lengths: nothing is written.
        let mut longer = vec![STALE; n + 1];
        let refused = [
            key.seal_gathered(nonce, &aads, &chunks, b"", &mut longer).map(drop),
            key.seal_scattered(nonce, &aads, &chunks, b"", &mut [&mut longer]).map(drop),
            key.open_gathered(nonce, &aads, &chunks, &mut longer, &tag),
            key.open_scattered(nonce, &aads, &chunks, &mut [&mut longer], &tag),
        ];
        assert!(refused == [Err(Error::InvalidLength); 4] && longer.iter().all(|&byte| byte == STALE), "{what}: {refused:?}");
    }

    /// One message in pieces, among which others are refused.
    fn pieces(&mut self, message: &Message) {
        let Message { key, nonce, aad, text, sealed, tag, .. } = message;
        let (key, nonce) = (self.key(key), Nonce::any(nonce).unwrap());
        let random = &mut self.random;
        let [aads, texts] = [aad.len(), text.len()].map(|n| cuts(random, n));
        let what = format!("{key:?}, AAD {aads:?}, text {texts:?}");
        let mut written = text.clone();
        let mut sealer = key.sealer(nonce);
        cut(aad, &aads).iter().for_each(|piece| sealer.aad(piece).unwrap());
        let mut sealer = sealer.text();
        for (from, to) in cut(text, &texts).iter().zip(cut_mut(&mut written, &texts)) {
            if random.below(4) == 0 {
                assert_eq!(sealer.seal_to(&[7; 9], &mut [0; 8]), Err(Error::InvalidLength), "{what}");
            }
            if random.below(2) == 0 { sealer.seal_to(from, to) } else { sealer.seal(to) }.unwrap();
        }
        assert_eq!(sealer.finish(), *tag, "{what}");
        assert!(written == *sealed, "{what}");
        let mut mac = key.gmac(nonce);
        cut(aad, &aads).iter().for_each(|piece| mac.update(piece).unwrap());
        let mac = mac.finish();
        assert_eq!(key.verify(nonce, aad, &[], &mac), Ok(()), "{what}");
        self.hazmat_pieces(&key, nonce, message, [&aads, &texts]);
    }

    #[cfg(not(feature = "hazmat"))]
    fn hazmat_pieces(&mut self, _: &Key, _: Nonce<'_>, _: &Message, _: [&[usize]; 2]) {}

    #[cfg(feature = "hazmat")]
    fn hazmat_pieces(&mut self, key: &Key, nonce: Nonce<'_>, message: &Message, [aads, texts]: [&[usize]; 2]) {
        use fastgcm::hazmat::{Pieces, UnverifiedOpener};
        let Message { aad, text, sealed, tag, .. } = message;
        let (random, what) = (&mut self.random, format!("{key:?}, AAD {aads:?}, text {texts:?}"));
        let seal = random.below(2) == 0;
        let (from, to) = if seal { (text, sealed) } else { (sealed, text) };
        let (mut pieces, mut written) = (Pieces::new(key, nonce), from.clone());
        // A piece that is refused changes nothing: not the text, not the order.
        let refuse = |random: &mut Random, pieces: &mut Pieces| {
            if random.below(3) == 0 {
                let mut short = [STALE; 8];
                let refused = if seal { pieces.seal_to(key, &[7; 9], &mut short) } else { pieces.open_to(key, &[7; 9], &mut short) };
                assert_eq!((refused, short), (Err(Error::InvalidLength), [STALE; 8]));
            }
            if random.below(4) == 0 {
                *pieces = pieces.duplicate();
            }
        };
        for piece in cut(aad, aads) {
            refuse(random, &mut pieces);
            pieces.aad(key, piece).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        for (from, to) in cut(from, texts).iter().zip(cut_mut(&mut written, texts)) {
            refuse(random, &mut pieces);
            match (seal, random.below(2) == 0) {
                (true, true) => pieces.seal(key, to),
                (true, false) => pieces.seal_to(key, from, to),
                (false, true) => pieces.open(key, to),
                (false, false) => pieces.open_to(key, from, to),
            }
            .unwrap();
            assert_eq!(pieces.aad(key, b"more"), Err(Error::OutOfOrder), "{what}");
        }
        refuse(random, &mut pieces);
        let bytes = [4, 8, 12, 13, 14, 15, 16][random.below(7)];
        let mut short = tag.0[..bytes].to_vec();
        assert_eq!(pieces.duplicate().verify(key, &short), Ok(()), "{what}");
        short[random.below(bytes)] ^= 1 << random.below(8);
        assert_eq!(pieces.duplicate().verify(key, &short), Err(Error::Unauthentic), "{what}");
        assert_eq!(pieces.finish(key), Ok(*tag), "{what}");
        assert_eq!(pieces.finish(key), Err(Error::OutOfOrder), "{what}");
        assert!(written == *to, "{what}");

        let mut opener = UnverifiedOpener::new(key, nonce);
        cut(aad, aads).iter().for_each(|piece| opener.aad(piece).unwrap());
        let mut opener = opener.text();
        written.copy_from_slice(sealed);
        for (from, to) in cut(sealed, texts).iter().zip(cut_mut(&mut written, texts)) {
            if random.below(4) == 0 {
                assert_eq!(opener.open_to(&[7; 9], &mut [0; 8]), Err(Error::InvalidLength), "{what}");
            }
            if random.below(2) == 0 { opener.open_to(from, to) } else { opener.open(to) }.unwrap();
        }
        let right = random.below(2) == 0;
        let tag = if right { *tag } else { altered(random, *tag) };
        assert_eq!(opener.verify(&tag), if right { Ok(()) } else { Err(Error::Unauthentic) }, "{what}");
        assert!(written == *text, "{what}");
    }

    fn parts_and_nonces(&mut self, message: &Message) {
        #[cfg(feature = "hazmat")]
        self.parts(message);
        self.counted(message);
        #[cfg(all(target_os = "linux", feature = "getrandom"))]
        self.drawn(message);
    }

    /// One message in parts, of which each goes to a back end drawn by lot, and whose hashes travel as bytes; a plan that is told some parts again, with the
    /// same text and with another.
    #[cfg(feature = "hazmat")]
    fn parts(&mut self, message: &Message) {
        use fastgcm::hazmat::{PartHash, Plan, combine, hash_part, open_part, seal_part, seal_part_to};
        let Message { key: bytes, nonce, aad, text, sealed, tag, .. } = message;
        let any = Nonce::any(nonce).unwrap();
        let mut starts: Vec<usize> = cuts(&mut self.random, text.len() / 16).iter().map(|n| 16 * n).collect();
        starts.push(text.len() % 16);
        let (mut at, mut written, mut hashes) = (0, text.clone(), Vec::new());
        for n in &starts {
            let (key, range) = (self.key(bytes), at..at + n);
            let part = &mut written[range.clone()];
            let hash = match self.random.below(4) {
                0 => seal_part(&key, any, at as u64, part),
                1 => seal_part_to(&key, any, at as u64, &text[range], part),
                2 => {
                    part.copy_from_slice(&sealed[range]);
                    hash_part(&key, at as u64, part)
                }
                _ => {
                    let mut opened = sealed[range.clone()].to_vec();
                    part.copy_from_slice(&opened);
                    let hash = open_part(&key, any, at as u64, &mut opened);
                    assert!(opened == text[range], "{key:?}, {starts:?}");
                    hash
                }
            };
            hashes.push(PartHash::from_bytes(&hash.unwrap().to_bytes()).unwrap());
            at += n;
        }
        let key = self.key(bytes);
        let what = format!("{key:?}, AAD {}, parts {starts:?}", aad.len());
        assert!(written == *sealed, "{what}");
        assert_eq!(combine(&key, any, aad, &hashes), Ok(*tag), "{what}");

        // As a plan has it: parts of one length.
        let Ok(nonce) = <[u8; 12]>::try_from(&nonce[..]) else { return };
        let part = 16 * (1 + self.random.below(text.len() / 16 + 2));
        let mut plan = Plan::new(nonce, text.len() as u64, part as u64).unwrap();
        written.copy_from_slice(text);
        for (i, piece) in written.chunks_mut(part).enumerate() {
            assert_eq!(plan.tag(&key, aad), Err(Error::Incomplete), "{what}");
            let (key, at, before) = (self.key(bytes), (i * part) as u64, piece.to_vec());
            plan.seal(&key, at, piece).unwrap();
            let hash = hash_part(&key, at, piece).unwrap();
            match self.random.below(3) {
                0 => assert_eq!(plan.accept(hash), Ok(()), "{what}"),
                1 => {
                    // A bit of the hash, of its offset or of its length.
                    let mut bytes = hash.to_bytes();
                    let bit = self.random.below(8 * PartHash::LEN);
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    let answer = PartHash::from_bytes(&bytes).and_then(|hash| plan.accept(hash));
                    // What is no part of the plan, or one that has another text. But another part may begin there, which nobody has sealed yet.
                    let begins_another = bit < 64 && answer == Ok(());
                    assert!(answer.is_err() || begins_another, "{what}, bit {bit}: {answer:?}");
                    if begins_another {
                        return;
                    }
                }
                _ => {
                    let mut other = before.clone();
                    let bit = self.random.below(8 * other.len());
                    other[bit / 8] ^= 1 << (bit % 8);
                    let kept = other.clone();
                    assert_eq!(plan.seal(&key, at, &mut other), Err(Error::OtherText), "{what}, part {i}, bit {bit}");
                    assert!(other == kept, "{what}");
                }
            }
        }
        assert!(written == *sealed, "{what}");
        assert_eq!(plan.tag(&key, aad), Ok(*tag), "{what}");
    }

    /// Nonces that a key counts, near a carry.
    fn counted(&mut self, message: &Message) {
        use fastgcm::nonces::{CounterNonces, SealingKey};
        let Message { key: bytes, aad, text, .. } = message;
        let random = &mut self.random;
        let fixed: [u8; 4] = random.bytes(4).try_into().unwrap();
        let next = [0, 0xff, 0xffff_fffe, u64::MAX - 2, random.next() >> random.below(64)][random.below(5)];
        let mut sealing = SealingKey::with_backend(bytes, CounterNonces::starting_at(fixed, next).unwrap(), self.backend).unwrap();
        let key = key(bytes, self.backend);
        // One call for several messages counts as the nonces of a key do.
        let mut texts = vec![text.clone(); 1 + random.below(5)];
        let first: [u8; 12] = [&fixed[..], &next.to_be_bytes()].concat().try_into().unwrap();
        let mut packets: Vec<Packet<'_>> = texts.iter_mut().map(|text| Packet::in_place([0; 12], aad, text, Tag([STALE; 16]))).collect();
        let ends = next.checked_add(packets.len() as u64).is_none();
        assert_eq!(key.seal_batch_counter(first, &mut packets).is_err(), ends);
        let of_batch: Vec<_> = packets.iter().map(|packet| (packet.nonce, packet.tag)).collect();
        drop(packets);
        for (i, (nonce, tag)) in of_batch.iter().enumerate().filter(|_| !ends) {
            let own = [&fixed[..], &(next + i as u64).to_be_bytes()].concat();
            let expected = referee::message(Form::Gcm, bytes, &own, aad, text);
            let mut alone = text.clone();
            assert_eq!(sealing.seal(aad, &mut alone).unwrap(), (*nonce, *tag), "{key:?}, {i}");
            assert_eq!((&nonce[..], *tag), (&expected.nonce[..], expected.tag), "{key:?}, {i}");
            assert!(alone == expected.sealed && texts[i] == expected.sealed, "{key:?}, {i}");
        }
    }

    /// Nonces from the operating system, which gives none at times.
    #[cfg(all(target_os = "linux", feature = "getrandom"))]
    fn drawn(&mut self, message: &Message) {
        use fastgcm::{
            Xaes256Gcm,
            nonces::{RandomNonces, SealingKey},
        };
        let Message { key: bytes, aad, text, .. } = message;
        let wide: [u8; 32] = self.random.bytes(32).try_into().unwrap();
        let xaes = Xaes256Gcm::with_backend(&wide, self.backend).unwrap();
        let used = [0, 7, (1 << 32) - 3][self.random.below(3)];
        let mut sealing = SealingKey::with_backend(bytes, RandomNonces::after(used), self.backend).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        let mut expected = used;
        for _ in 0..4 {
            let mut written = text.clone();
            if self.random.below(3) == 0 {
                let fails = || [sealing.seal(aad, &mut written).err(), xaes.seal_random(aad, &mut written).err()];
                let error = if expected == RandomNonces::LIMIT { Error::Exhausted } else { Error::NoEntropy };
                if let Some(answers) = no_random::without_random_bytes(fails) {
                    assert_eq!(answers, [Some(error), Some(Error::NoEntropy)]);
                }
                assert!(written == *text && sealing.nonces().used() == expected, "a failure changes nothing");
                continue;
            }
            let (nonce, tag) = xaes.seal_random(aad, &mut written).unwrap();
            let own = referee::message(Form::Xaes, &wide, &nonce, aad, text);
            assert!(seen.insert(nonce[..12].to_vec()) && written == own.sealed && tag == own.tag);
            written.copy_from_slice(text);
            match sealing.seal(aad, &mut written) {
                Ok((nonce, tag)) => {
                    let own = referee::message(Form::Gcm, bytes, &nonce, aad, text);
                    assert!(seen.insert(nonce.to_vec()) && written == own.sealed && tag == own.tag);
                    expected += 1;
                }
                Err(error) => assert_eq!((error, expected), (Error::Exhausted, RandomNonces::LIMIT)),
            }
            assert_eq!(sealing.nonces().used(), expected);
        }
    }
}

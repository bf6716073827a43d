//! Published answers and random messages through EVP, by the provider beside OpenSSL's own, cut at random.

#[path = "../../../fastgcm/tests/support/mod.rs"]
mod published;
#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_openssl_interop::{Context, OpenSsl, Param, Whose, control, ffi, last_error};
use published::Case;
use std::ptr;
use suite::{Random, passed};

/// How a message is taken through a context.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// From one buffer to another.
    copying: bool,
    /// The expected tag is set before the text; else behind it.
    tag_first: bool,
    /// In the middle the context is copied, and goes on as the copy.
    copied: bool,
}

impl Way {
    fn random(random: &mut Random) -> Self {
        Self { copying: random.below(2) == 0, tag_first: random.below(2) == 0, copied: random.below(4) == 0 }
    }
}

/// Lengths of pieces, at most eight of them.
fn cuts(random: &mut Random, length: usize) -> Vec<usize> {
    let (mut cuts, mut left) = (vec![], length);
    for _ in 0..random.below(8) {
        cuts.push(random.below(left + 1));
        left -= cuts[cuts.len() - 1];
    }
    cuts.push(left);
    cuts
}

/// Seals, or opens and verifies. `None` if that is refused.
fn through(whose: Whose, case: &Case, seal: bool, way: Way, random: &mut Random) -> Option<(Vec<u8>, Vec<u8>)> {
    let openssl = OpenSsl::get();
    let direction = i32::from(seal);
    let mut context = Context::new();
    let mut tag = case.tag.clone();
    // Cipher first, then the length of the nonce, then key and nonce, as the manual has it.
    (context.init(openssl.cipher(whose, case.key.len()), None, None, direction) == 1).then_some(())?;
    (context.control_number(control::SET_IVLEN, case.nonce.len() as i32) == 1).then_some(())?;
    (context.init(ptr::null(), Some(&case.key), Some(&case.nonce), direction) == 1).then_some(())?;
    if !seal && way.tag_first {
        (context.control(control::SET_TAG, &mut tag) == 1).then_some(())?;
    }
    let mut aad = &case.aad[..];
    for n in cuts(random, aad.len()) {
        let (piece, rest) = aad.split_at(n);
        assert_eq!(context.aad(piece), 1);
        aad = rest;
    }
    let from = if seal { case.plaintext.as_ref()? } else { &case.ciphertext };
    let (mut text, mut at) = (if way.copying { vec![0xa5; from.len()] } else { from.clone() }, 0);
    for n in cuts(random, from.len()) {
        let to = &mut text[at..at + n];
        let done = if way.copying { context.text_to(&from[at..at + n], to) } else { context.text(to) };
        assert_eq!(done, (1, n as i32));
        at += n;
        if way.copied {
            context = context.copy();
        }
    }
    if !seal && !way.tag_first {
        (context.control(control::SET_TAG, &mut tag) == 1).then_some(())?;
    }
    (context.finish() == 1).then_some(())?;
    assert!(!context.text(&mut [0; 3]).0 == !0, "a message goes on behind its end");
    if seal {
        (context.control(control::GET_TAG, &mut tag) == 1).then_some(())?;
    }
    Some((text, tag))
}

/// CAVP and Wycheproof: each case sealed and opened, by both.
#[test]
fn published_answers() {
    let mut random = Random(1);
    let (mut cases, cavp, wycheproof) = (0, published::cavp(), published::wycheproof_gcm());
    let counts = [cavp.len(), wycheproof.len()];
    for case in cavp.into_iter().chain(wycheproof) {
        let way = Way::random(&mut random);
        let [opened, default] = [Whose::Fastgcm, Whose::Default].map(|whose| through(whose, &case, false, way, &mut random));
        let opened = opened.map(|(text, _)| text);
        // Nonces of more than 128 bytes are refused by both.
        let refused = case.nonce.len() > 128 || case.nonce.is_empty();
        assert_eq!(opened, case.plaintext.clone().filter(|_| !refused), "{}, {way:?}", case.name);
        assert_eq!(opened, default.map(|(text, _)| text), "{}, {way:?}", case.name);
        if opened.is_some() {
            for whose in [Whose::Fastgcm, Whose::Default] {
                let sealed = through(whose, &case, true, Way::random(&mut random), &mut random);
                assert_eq!(sealed, Some((case.ciphertext.clone(), case.tag.clone())), "{whose:?}, {}", case.name);
            }
        }
        cases += 1;
    }
    passed("openssl::published_answers", cases, counts.iter().sum());
    assert_eq!(counts[1], 316);
}

/// Random messages, up to several times 3 KiB, from where on pieces are made otherwise: what one seals, the other opens; a forgery neither.
#[test]
fn random_messages() {
    let messages = 3000;
    for number in 0..messages {
        let mut random = Random(number);
        let text = random.below([40, 40, 700, 20_000][number as usize % 4]);
        let [key, nonce, aad] = [
            [16, 24, 32][number as usize % 3],
            [12, 12, 12, 1 + random.below(128)][random.below(4)],
            random.below([100, 1000][number as usize % 2]),
        ]
        .map(|n| random.bytes(n));
        let mut case =
            Case { name: number.to_string(), key, nonce, aad, plaintext: Some(random.bytes(text)), ciphertext: vec![], tag: vec![0; 16] };
        let [ours, theirs] =
            [Whose::Fastgcm, Whose::Default].map(|whose| through(whose, &case, true, Way::random(&mut random), &mut random).unwrap());
        assert_eq!(ours, theirs, "message {number}");
        (case.ciphertext, case.tag) = ours;
        let way = Way::random(&mut random);
        let opened = through(Whose::Fastgcm, &case, false, way, &mut random);
        assert_eq!(opened.map(|(text, _)| text), case.plaintext, "message {number}, {way:?}");
        let bit = random.below(8 * (16 + case.ciphertext.len()));
        let byte = case.ciphertext.iter_mut().chain(&mut case.tag).nth(bit / 8).unwrap();
        *byte ^= 1 << (bit % 8);
        assert_eq!(through(Whose::Fastgcm, &case, false, way, &mut random), None, "message {number}, forged, {way:?}");
    }
    passed("openssl::random_messages", messages as usize, 3000);
}

/// Tags of every length that there is a byte of: what one provider seals, the other opens, and a tag of which
/// one bit is wrong neither.
#[test]
fn tags_of_every_length() {
    let (mut opened, mut random, both) = (0, Random(4), [Whose::Fastgcm, Whose::Default]);
    for length in 1..=16 {
        for text in [0, 16, 2000] {
            let [key, nonce, aad, text] = [16, 12, 5, text].map(|n| random.bytes(n));
            let mut case =
                Case { name: length.to_string(), key, nonce, aad, plaintext: Some(text), ciphertext: vec![], tag: vec![0; length] };
            let [ours, theirs] = both.map(|whose| through(whose, &case, true, Way::random(&mut random), &mut random));
            assert_eq!(ours, theirs, "tags of {length} bytes");
            (case.ciphertext, case.tag) = ours.unwrap();
            for whose in both {
                let mut open = |case: &Case| through(whose, case, false, Way::random(&mut random), &mut random).map(|(text, _)| text);
                assert_eq!(open(&case), case.plaintext, "{whose:?}, a tag of {length} bytes");
                case.tag[length - 1] ^= 1;
                assert_eq!(open(&case), None, "{whose:?}, a wrong tag of {length} bytes");
                case.tag[length - 1] ^= 1;
                opened += 1;
            }
        }
    }
    passed("openssl::tags_of_every_length", opened, 16 * 3 * 2);
}

/// GMAC by `EVP_MAC`: Wycheproof, and what both say to data in pieces, with a copy in the middle.
#[test]
fn gmac() {
    let openssl = OpenSsl::get();
    let cases = published::wycheproof_gmac();
    let mut random = Random(3);
    let count = cases.len();
    for (number, case) in cases.into_iter().enumerate() {
        let cipher = [[c"AES-128-GCM", c"aes-192-gcm", c"id-aes256-GCM"], [c"2.16.840.1.101.3.4.1.6", c"id-aes192-GCM", c"AES-256-GCM"]]
            [number % 2][case.key.len() / 8 - 2];
        let (mut key, mut iv) = (case.key.clone(), case.nonce.clone());
        let pieces = cuts(&mut random, case.aad.len());
        let [ours, theirs] = [Whose::Fastgcm, Whose::Default].map(|whose| {
            let mut params = vec![Param::text(c"cipher", cipher), Param::octets(c"iv", iv.as_mut_ptr(), iv.len())];
            if number % 3 == 0 {
                params.push(Param::octets(c"key", key.as_mut_ptr(), key.len()));
            }
            let given = if number % 3 == 0 { ptr::null() } else { key.as_ptr() };
            params.push(Param::END);
            // SAFETY: OpenSSL's own objects, and slices.
            unsafe {
                let mac = ffi::EVP_MAC_fetch(openssl.context, c"GMAC".as_ptr(), whose.properties().as_ptr());
                let mut context = ffi::EVP_MAC_CTX_new(mac);
                assert_eq!(ffi::EVP_MAC_init(context, given, key.len(), params.as_ptr()), 1, "{whose:?}, {}", case.name);
                let mut data = &case.aad[..];
                for (i, n) in pieces.iter().enumerate() {
                    assert_eq!(ffi::EVP_MAC_update(context, data.as_ptr(), *n), 1);
                    data = &data[*n..];
                    if i == 1 {
                        let other = ffi::EVP_MAC_CTX_dup(context);
                        ffi::EVP_MAC_CTX_free(context);
                        context = other;
                    }
                }
                let (mut tag, mut written) = ([0; 16], 0);
                assert_eq!(ffi::EVP_MAC_final(context, tag.as_mut_ptr(), &mut written, 16), 1, "{whose:?}, {}", case.name);
                assert_eq!(written, 16);
                assert_eq!(ffi::EVP_MAC_update(context, b"x".as_ptr(), 1), 0, "{whose:?}: data behind the end");
                ffi::EVP_MAC_CTX_free(context);
                tag
            }
        });
        assert_eq!(ours, theirs, "{}", case.name);
        assert_eq!(ours[..] == case.tag, case.plaintext.is_some(), "{}", case.name);
    }
    passed("openssl::gmac", count, 414);
}

/// Other ciphers' GMAC is not ours, and no call is refused without a reason.
#[test]
fn gmac_refuses() {
    let openssl = OpenSsl::get();
    let told = |done: i32| (done, last_error() & 0x7f_ffff);
    // SAFETY: OpenSSL's own objects, and slices.
    let refused = unsafe {
        let mac = ffi::EVP_MAC_fetch(openssl.context, c"GMAC".as_ptr(), c"provider=fastgcm".as_ptr());
        let context = ffi::EVP_MAC_CTX_new(mac);
        let init = |cipher: &std::ffi::CStr, key: usize, iv: usize| {
            let mut bytes = [1; 200];
            let list = [Param::text(c"cipher", cipher), Param::octets(c"iv", bytes.as_mut_ptr(), iv), Param::END];
            ffi::EVP_MAC_init(context, bytes.as_ptr(), key, list.as_ptr())
        };
        let (mut tag, mut written) = ([0; 16], 0);
        let mut finish = |room| told(ffi::EVP_MAC_final(context, tag.as_mut_ptr(), &mut written, room));
        let update = || told(ffi::EVP_MAC_update(context, b"x".as_ptr(), 1));
        let mut refused = vec![
            (update(), 155), // there is no cipher
            (finish(16), 155),
            (told(ffi::EVP_MAC_init(context, [1; 16].as_ptr(), 16, ptr::null())), 155),
        ];
        assert_eq!(told(init(c"AES-128-GCM", 16, 12)), (1, 0));
        refused.extend([
            (told(init(c"ARIA-128-GCM", 16, 12)), 125), // another mode than those
            (told(init(c"AES-128-CBC", 16, 12)), 125),
            (told(init(c"AES-128-GCM", 17, 12)), 105),  // length of the key
            (told(init(c"AES-128-GCM", 16, 129)), 109), // of the IV
        ]);
        assert_eq!(told(init(c"AES-128-GCM", 16, 12)), (1, 0));
        assert_eq!(finish(16), (1, 0));
        refused.extend([(update(), 102), (finish(16), 102)]); // the message has ended
        let mut number = [0; 8];
        let number = [Param::wide(c"cipher", 2, &mut number), Param::END];
        refused.push((told(ffi::EVP_MAC_init(context, ptr::null(), 0, number.as_ptr())), 103)); // no string
        ffi::EVP_MAC_CTX_free(context);
        refused
    };
    refused.iter().for_each(|(told, reason)| assert_eq!(*told, (0, *reason), "{refused:?}"));
    passed("openssl::gmac_refuses", refused.len(), 10);
}

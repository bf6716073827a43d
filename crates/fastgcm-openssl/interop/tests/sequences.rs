//! Calls in any order, right or wrong: the provider answers as OpenSSL's own does, with the same bytes.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_openssl_interop::{Context, OpenSsl, Param, Whose, control, ffi, last_error};
use std::ptr;
use suite::{Random, passed};

/// A call of EVP, with all that it is given.
#[derive(Clone, Debug)]
enum Call {
    Init { key: Option<Vec<u8>>, iv: Option<Vec<u8>>, direction: i32 },
    IvLength(i32),
    SetTag(Vec<u8>),
    GetTag(usize),
    Aad(Vec<u8>),
    Text(Vec<u8>, bool),
    Finish,
    Copy,
    GetIv(&'static std::ffi::CStr),
    Numbers,
    SetFixed(Vec<u8>, bool),
    TakeIv(usize),
    SetExplicit(Vec<u8>),
    Record { aad: Vec<u8>, record: Vec<u8> },
    OneShot(Vec<u8>, u8),
}

impl Call {
    fn random(random: &mut Random, key: usize, tls: bool) -> Self {
        let bytes = |random: &mut Random, most: usize| {
            let n = random.below(most + 1);
            random.bytes(n)
        };
        match random.below(if tls { 22 } else { 16 }) {
            0..=2 => {
                let iv = (random.below(4) != 0).then(|| random.bytes(128));
                Self::Init { key: (random.below(3) == 0).then(|| random.bytes(key)), iv, direction: [1, 1, 0, 0, -1][random.below(5)] }
            }
            // OpenSSL's own counts, for TLS, in memory in front of a short IV.
            3 => Self::IvLength([12, 12, 16, 128, 129, 0, -1, 8, 1][random.below(if tls { 7 } else { 9 })]),
            4 | 5 => {
                let n = [16, 16, 1 + random.below(16), 17][random.below(4)];
                Self::SetTag(random.bytes(n))
            }
            6 | 7 => Self::GetTag([16, 16, 1 + random.below(16), 17][random.below(4)]),
            8 => {
                let most = [40, 40, 300, 600][random.below(4)];
                Self::Aad(bytes(random, most))
            }
            9..=11 => {
                let most = [90, 90, 90, 1700][random.below(4)];
                Self::Text(bytes(random, most), random.below(2) == 0)
            }
            12 => Self::Finish,
            13 => Self::Copy,
            14 => [Self::GetIv(c"iv"), Self::GetIv(c"updated-iv"), Self::Numbers][random.below(3)].clone(),
            15 => Self::OneShot(bytes(random, 50), random.below(3) as u8),
            16 => {
                // Where all of it is set, its counter may be about to carry, as far as it goes.
                let mut fixed = random.bytes(12);
                fixed[12 - random.below(13)..].fill(0xff);
                Self::SetFixed(fixed, random.below(2) == 0)
            }
            17 => Self::TakeIv([8, 4, 12, 12, 13, 1][random.below(6)]),
            18 => Self::SetExplicit(random.bytes(8)),
            _ => {
                let record = bytes(random, 70);
                let n = if random.below(9) == 0 { 12 } else { 13 };
                let mut aad = random.bytes(n);
                let length = if random.below(5) == 0 { random.below(40) } else { record.len().saturating_sub(16) };
                let end = aad.len() - 11;
                aad[11..].copy_from_slice(&(length as u16).to_be_bytes()[..end]);
                Self::Record { aad, record }
            }
        }
    }
}

/// A context, and what is known of it.
struct Side {
    context: Context,
}

/// What a call has answered, but for what is random.
type Answer = (i64, Vec<u8>);

impl Side {
    fn new(whose: Whose, key: usize) -> Self {
        let mut context = Context::new();
        assert_eq!(context.init(OpenSsl::get().cipher(whose, key), None, None, 1), 1);
        Self { context }
    }

    fn call(&mut self, call: &Call) -> Answer {
        let context = &mut self.context;
        match call {
            Call::Init { key, iv, direction } => (context.init(ptr::null(), key.as_deref(), iv.as_deref(), *direction).into(), vec![]),
            Call::IvLength(length) => (context.control_number(control::SET_IVLEN, *length).into(), vec![]),
            Call::SetTag(tag) => (context.control(control::SET_TAG, &mut tag.clone()).into(), vec![]),
            Call::GetTag(length) => {
                let mut tag = vec![0; *length];
                (context.control(control::GET_TAG, &mut tag).into(), tag)
            }
            Call::Aad(aad) => (context.aad(aad).into(), vec![]),
            Call::Text(text, copying) => {
                let mut to = text.clone();
                let (done, written) = if *copying { context.text_to(text, &mut to) } else { context.text(&mut to) };
                (i64::from(done) << 32 | i64::from(written * done), if done == 1 { to } else { vec![] })
            }
            Call::Finish => (context.finish().into(), vec![]),
            Call::Copy => {
                self.context = context.copy();
                (1, vec![])
            }
            Call::GetIv(name) => {
                let mut iv = [0; 128];
                let mut list = [Param::octets(name, iv.as_mut_ptr(), 128), Param::END];
                // SAFETY: a list with its room.
                let done = unsafe { ffi::EVP_CIPHER_CTX_get_params(context.0, list.as_mut_ptr()) };
                (done.into(), if done == 1 { iv[..list[0].returned].to_vec() } else { vec![] })
            }
            Call::Numbers => {
                let mut numbers = [7; 4];
                let [a, b, c, d] = &mut numbers;
                let mut list = [
                    Param::number(c"ivlen", a),
                    Param::number(c"keylen", b),
                    Param::number(c"taglen", c),
                    Param::number(c"tlsaadpad", d),
                    Param::END,
                ];
                // SAFETY: a list with its room.
                let done = unsafe { ffi::EVP_CIPHER_CTX_get_params(context.0, list.as_mut_ptr()) };
                (done.into(), numbers.iter().flat_map(|n| n.to_be_bytes()).collect())
            }
            Call::SetFixed(fixed, all) => {
                // What is random behind the fixed part is made the same for both.
                let mut fixed = fixed.clone();
                let length = if *all { -1 } else { 4 };
                // SAFETY: an IV has no more bytes than 128.
                let done = unsafe {
                    fixed.resize(128, 9);
                    ffi::EVP_CIPHER_CTX_ctrl(context.0, control::SET_IV_FIXED, length, fixed.as_mut_ptr().cast())
                };
                (done.into(), vec![])
            }
            Call::TakeIv(length) => {
                let mut iv = vec![0; *length];
                let done = context.control(control::IV_GEN, &mut iv);
                (done.into(), if done == 1 { iv } else { vec![] })
            }
            Call::SetExplicit(explicit) => (context.control(control::SET_IV_INV, &mut explicit.clone()).into(), vec![]),
            Call::Record { aad, record } => {
                let pad = context.control(control::TLS1_AAD, &mut aad.clone());
                let mut record = record.clone();
                if pad <= 0 || record.is_empty() {
                    return (pad.into(), vec![]);
                }
                let (done, written) = context.text(&mut record);
                // Of a record that is refused nothing is said but that.
                (i64::from(pad) << 40 | i64::from(done) << 32 | i64::from(written * done), if done == 1 { record } else { vec![] })
            }
            Call::OneShot(bytes, way) => {
                let mut text = bytes.clone();
                let at = text.as_mut_ptr();
                let (to, from) = [(at, at), (ptr::null_mut(), at), (ptr::null_mut(), ptr::null_mut())][usize::from(*way)];
                // SAFETY: a slice in place, or only read, or nothing.
                let done = unsafe { ffi::EVP_Cipher(context.0, to, from, if *way == 2 { 0 } else { text.len() as u32 }) };
                (done.into(), if done >= 0 { text } else { vec![] })
            }
        }
    }
}

/// `ERR_LIB_PROV` and `PROV_R_TAG_NOT_SET`, which OpenSSL's own says from 4.0 on.
const TAG_NOT_SET: std::ffi::c_ulong = 57 << 23 | 119;

/// Random sequences: the same answers, to the first call that makes something random.
#[test]
fn sequences() {
    let sequences = 60_000;
    let (mut calls, mut right) = (0, 0);
    for number in 0..sequences {
        let mut random = Random(number);
        let key = [16, 24, 32][number as usize % 3];
        let mut sides = [Whose::Fastgcm, Whose::Default].map(|whose| Side::new(whose, key));
        let mut history = vec![];
        // Whether an IV is set, so that none is drawn; and the direction.
        let (mut has_iv, mut seals) = (false, true);
        for step in 0..2 + random.below(14) {
            let mut call = Call::random(&mut random, key, number % 2 == 1);
            if step == 0 && random.below(3) != 0 {
                call = Call::Init { key: Some(random.bytes(key)), iv: Some(random.bytes(128)), direction: random.below(2) as i32 };
            }
            has_iv |= matches!(call, Call::Init { iv: Some(_), .. } | Call::SetFixed(..));
            // OpenSSL's own draws it when it is asked for only from 4.0 on.
            if !has_iv && matches!(call, Call::GetIv(_) | Call::Aad(_) | Call::Text(..) | Call::Finish | Call::OneShot(..)) {
                continue;
            }
            // Of these OpenSSL makes what nobody needs, and each version something else: a key in the middle of a message.
            if matches!(&call, Call::Init { key: Some(_), iv: None, .. }) && step > 0 {
                continue;
            }
            if let Call::Init { direction: direction @ 0.., .. } = call {
                seals = direction == 1;
            }
            // Where a tag stands, OpenSSL's own keeps the AAD of a record too.
            if matches!(call, Call::GetTag(_) | Call::Numbers) && history.iter().any(|call| matches!(call, Call::Record { .. })) {
                continue;
            }
            history.push(call.clone());
            let [ours, theirs] = sides.each_mut().map(|side| {
                let answer = side.call(&call);
                let why = last_error();
                (answer, if why == TAG_NOT_SET { 0 } else { why })
            });
            assert_eq!(ours, theirs, "sequence {number}: {history:?}");
            let (ours, _) = ours;
            calls += 1;
            right += usize::from(ours.0 > 0);
            if seals && matches!(call, Call::SetFixed(_, false)) {
                break; // the rest of the IV is random
            }
            if ours.0 <= 0 && matches!(call, Call::Finish | Call::OneShot(_, 2)) {
                break; // likewise as if the message had not ended
            }
            if ours.0 <= 0 && matches!(call, Call::SetTag(_)) {
                break; // it has been written all the same
            }
            if ours.0 <= 0 && matches!(call, Call::Record { .. }) {
                break; // OpenSSL's own goes on as if the AAD that it has refused were set
            }
        }
    }
    assert!(right > calls / 3 && right < calls, "{right} of {calls} calls were right");
    passed("openssl::sequences", sequences as usize, 60_000);
}

/// Who sets no IV and seals gets a random one, which can be asked for, of ours before the message too; opening so is refused.
#[test]
fn random_iv() {
    let mut ivs = std::collections::HashSet::new();
    for whose in [Whose::Fastgcm, Whose::Default] {
        for _ in 0..20 {
            let mut context = Context::new();
            context.init(OpenSsl::get().cipher(whose, 16), Some(&[1; 16]), None, 1);
            let mut text = *b"text";
            let iv = |context: &Context| {
                let mut iv = [0; 12];
                let mut list = [Param::octets(c"iv", iv.as_mut_ptr(), 12), Param::END];
                // SAFETY: a list with its room.
                (unsafe { ffi::EVP_CIPHER_CTX_get_params(context.0, list.as_mut_ptr()) } == 1).then_some(iv)
            };
            let before = (whose == Whose::Fastgcm).then(|| iv(&context)).flatten();
            assert_eq!(context.text(&mut text).0 & context.finish(), 1);
            let iv = iv(&context).unwrap();
            assert_eq!(before, (whose == Whose::Fastgcm).then_some(iv));
            assert!(ivs.insert(iv));
            let mut tag = context.tag();
            let mut context = Context::new();
            context.init(OpenSsl::get().cipher(Whose::Default, 16), Some(&[1; 16]), Some(&iv), 0);
            context.control(control::SET_TAG, &mut tag);
            assert_eq!(context.text(&mut text).0 & context.finish(), 1);
            assert_eq!(&text, b"text");
        }
        let mut context = Context::new();
        context.init(OpenSsl::get().cipher(whose, 16), Some(&[1; 16]), None, 0);
        assert_eq!(context.text(&mut [0; 3]).0, 0);
        // Of fewer than 12 bytes two random ones soon meet.
        for length in [1, 8, 11] {
            let mut context = Context::new();
            context.init(OpenSsl::get().cipher(whose, 16), Some(&[1; 16]), None, 1);
            assert_eq!(context.control_number(control::SET_IVLEN, length), 1);
            assert_eq!(context.text(&mut [0; 3]).0, 0, "{length} bytes");
        }
    }
    passed("openssl::random_iv", ivs.len(), 40);
}

/// Buffers that overlap in part, at every offset: as if the text had been moved first.
#[test]
fn f08_overlaps() {
    let mut cases = 0;
    // What is done in one go, and what is not.
    let long = [1, 15, 16, 64, 100, 1000, 4999, 5000].map(|offset| (5000, offset));
    for (length, offset) in (0..=120).map(|offset| (120, offset)).chain(long) {
        for backward in [false, true] {
            let mut memory = Random(9).bytes(2 * length);
            let (from, to) = if backward { (offset, 0) } else { (0, offset) };
            let mut expected = memory[from..from + length].to_vec();
            for (whose, separate) in [(Whose::Default, true), (Whose::Fastgcm, false)] {
                let mut context = Context::new();
                context.init(OpenSsl::get().cipher(whose, 16), Some(&[1; 16]), Some(&[2; 12]), 1);
                let at = memory.as_mut_ptr();
                let mut written = 0;
                if separate {
                    context.text(&mut expected);
                } else {
                    // SAFETY: twice as many bytes are there.
                    unsafe { ffi::EVP_CipherUpdate(context.0, at.add(to), &mut written, at.add(from), length as i32) };
                }
            }
            assert!(memory[to..to + length] == expected, "{length} bytes from {from} to {to}");
            cases += 1;
        }
    }
    passed("openssl::f08_overlaps", cases, 242 + 16);
}

/// Another key in the middle of a message ends it, in one piece or in several: nothing goes on before there
/// is another IV.
#[test]
fn key_in_the_middle() {
    let mut ended = 0;
    for pieces in [&[][..], &[30], &[30, 40], &[3000]] {
        for direction in [0, 1] {
            let mut context = Context::new();
            context.init(OpenSsl::get().cipher(Whose::Fastgcm, 16), Some(&[1; 16]), Some(&[2; 12]), direction);
            assert_eq!(context.aad(b"AAD"), 1);
            pieces.iter().for_each(|length| assert_eq!(context.text(&mut vec![0; *length]).0, 1));
            assert_eq!(context.init(ptr::null(), Some(&[3; 16]), None, direction), 1);
            context.control(control::SET_TAG, &mut [0; 16]);
            let mut text = *b"text";
            assert_eq!([context.text(&mut text).0, context.aad(b"more"), context.finish()], [0; 3], "{pieces:?}");
            assert_eq!(text, *b"text");
            assert_eq!(context.init(ptr::null(), None, Some(&[2; 12]), direction), 1);
            assert_eq!(context.text(&mut text).0, 1);
            ended += 1;
        }
    }
    passed("openssl::key_in_the_middle", ended, 8);
}

/// Nonces of TLS 1.2: behind the fixed part each context has a random number of its own, and all 64 bits of
/// it count.
#[test]
fn nonces_of_records() {
    let mut numbers = std::collections::HashSet::new();
    let mut fixed = [7; 4];
    let context = || {
        let mut context = Context::new();
        context.init(OpenSsl::get().cipher(Whose::Fastgcm, 16), Some(&[1; 16]), None, 1);
        context
    };
    let next = |context: &mut Context| {
        let mut nonce = [0; 12];
        assert_eq!(context.control(control::IV_GEN, &mut nonce), 1);
        nonce
    };
    for _ in 0..50 {
        let mut context = context();
        assert_eq!(context.control(control::SET_IV_FIXED, &mut fixed), 1);
        let [one, other] = [next(&mut context), next(&mut context)].map(|nonce| {
            assert_eq!(nonce[..4], fixed);
            u64::from_be_bytes(nonce[4..].try_into().unwrap())
        });
        assert_eq!(one.wrapping_add(1), other);
        // That each of its bytes is zero, or that two are alike, happens once in 2^32 contexts, or less.
        assert!(one >> 32 != 0 && one << 32 != 0 && numbers.insert(one >> 32) && numbers.insert(one << 32));
    }
    for (number, after) in [(u64::MAX >> 32, 1 << 32), (u64::MAX, 0), (0xff, 0x100)] {
        let mut nonce: Vec<u8> = fixed.into_iter().chain(number.to_be_bytes()).collect();
        let mut context = context();
        // SAFETY: an IV of 12 bytes.
        let done = unsafe { ffi::EVP_CIPHER_CTX_ctrl(context.0, control::SET_IV_FIXED, -1, nonce.as_mut_ptr().cast()) };
        assert_eq!((done, &next(&mut context)[..]), (1, &nonce[..]));
        assert_eq!(next(&mut context)[4..], u64::to_be_bytes(after));
    }
    passed("openssl::nonces_of_records", numbers.len(), 100);
}

/// A record of TLS 1.2 that is forged has no text: all of it is zero. One that is not is as it was, by both
/// providers.
#[test]
fn forged_records() {
    let mut forged = 0;
    for length in [0usize, 1, 16, 100, 1537, 16384] {
        let text = Random(length as u64).bytes(length);
        let record = |whose, direction, record: &mut Vec<u8>| {
            let mut context = Context::new();
            context.init(OpenSsl::get().cipher(whose, 16), Some(&[1; 16]), None, direction);
            assert_eq!(context.control(control::SET_IV_FIXED, &mut [7; 4]), 1);
            let mut aad = [3; 13];
            // The sender says how long the text is with its nonce, the receiver how long the record is.
            let length = if direction == 1 { length + 8 } else { length + 24 } as u16;
            aad[11..].copy_from_slice(&length.to_be_bytes());
            assert_eq!(context.control(control::TLS1_AAD, &mut aad), 16);
            context.text(record)
        };
        let mut sealed = [&[0; 8], &text[..], &[0; 16]].concat();
        assert_eq!(record(Whose::Fastgcm, 1, &mut sealed), (1, sealed.len() as i32));
        for whose in [Whose::Fastgcm, Whose::Default] {
            let mut opened = sealed.clone();
            assert_eq!(record(whose, 0, &mut opened), (1, length as i32));
            assert_eq!(opened[8..8 + length], text);
        }
        for at in [0, 8, 7 + length, 8 + length, 23 + length] {
            let mut wrong = sealed.clone();
            wrong[at] ^= 1;
            assert_eq!(record(Whose::Fastgcm, 0, &mut wrong).0, 0);
            assert!(wrong[8..8 + length].iter().all(|byte| *byte == 0), "{length} bytes, forged at {at}: text is left");
            forged += 1;
        }
    }
    last_error();
    passed("openssl::forged_records", forged, 30);
}

/// Numbers of every width and kind, as programs give and ask for them: the provider takes and answers what
/// OpenSSL's own does.
#[test]
fn numbers_of_every_width() {
    let mut cases = 0;
    let values = [0i128, 1, 7, 12, 16, 127, 128, 129, 255, 256, 1 << 31, 1 << 33, 1 << 64, -1, -12];
    for (kind, sizes) in [(1, &[1, 2, 3, 4, 8, 9, 16][..]), (2, &[1, 2, 3, 4, 8, 9, 16]), (3, &[4, 8, 16]), (5, &[8])] {
        for &size in sizes {
            let with = |value: i128| {
                if kind == 3 { (value as f64 + 0.5 * f64::from(value == 7)).to_ne_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
            };
            let ask = |context: &Context, name| {
                let mut told = [0xa5; 16];
                let mut list = [Param::wide(name, kind, &mut told[..size]), Param::END];
                // SAFETY: a list with its room.
                let got = unsafe { ffi::EVP_CIPHER_CTX_get_params(context.0, list.as_mut_ptr()) };
                let returned = if got == 1 { list[0].returned } else { 0 };
                (got, last_error(), returned, if got == 1 { told } else { [0; 16] })
            };
            for (name, value) in [c"ivlen", c"keylen"].iter().flat_map(|name| values.map(|value| (*name, value))) {
                let answers = [Whose::Fastgcm, Whose::Default].map(|whose| {
                    let mut context = Context::new();
                    context.init(OpenSsl::get().cipher(whose, 16), None, None, 1);
                    let mut bytes = with(value);
                    bytes.resize(size, 0);
                    let list = [Param::wide(c"ivlen", kind, &mut bytes), Param::END];
                    // SAFETY: a list with its bytes.
                    let set = unsafe { ffi::EVP_CIPHER_CTX_set_params(context.0, list.as_ptr()) };
                    (set, last_error(), ask(&context, name))
                });
                assert_eq!(answers[0], answers[1], "ivlen = {value} as kind {kind} of {size} bytes, then {name:?}");
                cases += 1;
            }
            // What the context has and this width has not.
            for mut value in [12, 127, 128] {
                let answers = [Whose::Fastgcm, Whose::Default].map(|whose| {
                    let mut context = Context::new();
                    context.init(OpenSsl::get().cipher(whose, 16), None, None, 1);
                    let list = [Param::number(c"ivlen", &mut value), Param::END];
                    // SAFETY: a list with its bytes.
                    let set = unsafe { ffi::EVP_CIPHER_CTX_set_params(context.0, list.as_ptr()) };
                    (set, last_error(), ask(&context, c"ivlen"))
                });
                assert_eq!(answers[0], answers[1], "ivlen = {value} is asked for as kind {kind} of {size} bytes");
                cases += 1;
            }
        }
    }
    passed("openssl::numbers_of_every_width", cases, 18 * 33);
}

/// The provider counts what it has done.
#[test]
fn counts() {
    let openssl = OpenSsl::new();
    let told = || [c"fastgcm-keys", c"fastgcm-messages", c"fastgcm-bytes"].map(|name| openssl.told(name));
    assert_eq!(told(), [0; 3]);
    for number in 1..=10 {
        let mut context = Context::new();
        context.init(openssl.cipher(Whose::Fastgcm, 32), Some(&[1; 32]), Some(&[2; 12]), 1);
        assert_eq!(context.text(&mut [0; 100]).0 & context.finish(), 1);
        drop(context);
        assert_eq!(told(), [number, number, 100 * number]);
    }
    passed("openssl::counts", told()[0], 10);
}

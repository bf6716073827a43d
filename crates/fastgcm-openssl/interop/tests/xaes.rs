//! XAES-256-GCM and KC-XAES-256-GCM through EVP: known answers, random messages in pieces beside the library, forgeries, and calls that are wrong.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm::{KcXaes256Gcm, Xaes256Gcm};
use fastgcm_openssl_interop::{Context, OpenSsl, Param, control, ffi, last_error};
use std::ptr;
use suite::{Random, hex, passed};

const NAMES: [&std::ffi::CStr; 2] = [c"XAES-256-GCM", c"KC-XAES-256-GCM"];
const NONCE: [u8; 24] = *b"ABCDEFGHIJKLMNOPQRSTUVWX";

/// A context for the scheme, and nothing set.
fn begun(commits: bool, direction: i32) -> Context {
    let mut context = Context::new();
    // SAFETY: strings; the context holds the cipher too.
    unsafe {
        let name = NAMES[usize::from(commits)];
        let cipher = ffi::EVP_CIPHER_fetch(OpenSsl::get().context, name.as_ptr(), c"provider=fastgcm".as_ptr());
        assert!(!cipher.is_null(), "no {name:?}");
        assert_eq!(context.init(cipher, None, None, direction), 1);
        ffi::EVP_CIPHER_free(cipher);
    }
    context
}

/// What is asked for by name, into so many bytes.
fn get(context: &mut Context, name: &'static std::ffi::CStr, bytes: &mut [u8]) -> i32 {
    // SAFETY: a list with a slice.
    unsafe { ffi::EVP_CIPHER_CTX_get_params(context.0, [Param::octets(name, bytes.as_mut_ptr(), bytes.len()), Param::END].as_mut_ptr()) }
}

fn set(context: &mut Context, name: &'static std::ffi::CStr, bytes: &[u8]) -> i32 {
    let mut bytes = bytes.to_vec();
    // SAFETY: likewise.
    unsafe { ffi::EVP_CIPHER_CTX_set_params(context.0, [Param::octets(name, bytes.as_mut_ptr(), bytes.len()), Param::END].as_ptr()) }
}

fn set_number(context: &mut Context, name: &'static std::ffi::CStr, mut number: usize) -> i32 {
    // SAFETY: likewise.
    unsafe { ffi::EVP_CIPHER_CTX_set_params(context.0, [Param::number(name, &mut number), Param::END].as_ptr()) }
}

/// Tag and commitment of what was sealed.
fn ends(context: &mut Context, commits: bool) -> Vec<u8> {
    let (mut ends, mut commitment) = (context.tag().to_vec(), [0; 32]);
    if commits {
        assert_eq!(get(context, c"commitment", &mut commitment), 1);
        ends.extend(commitment);
    }
    ends
}

/// Sets tag and commitment of what is opened.
fn expects(context: &mut Context, ends: &[u8]) {
    assert_eq!(context.control(control::SET_TAG, &mut ends[..16].to_vec()), 1);
    assert!(ends.len() == 16 || set(context, c"commitment", &ends[16..]) == 1);
}

/// Where pieces of so many bytes end.
fn pieces(length: usize, random: &mut Random) -> Vec<usize> {
    let mut ends: Vec<_> = (0..random.below(4)).map(|_| random.below(length + 1)).chain([length]).collect();
    ends.sort_unstable();
    ends
}

/// AAD and text in pieces, in copies of the context. The text that comes out.
fn run(mut context: Context, aad: &[u8], text: &[u8], random: &mut Random) -> (Context, Vec<u8>) {
    let (mut at, mut out) = (0, text.to_vec());
    for end in pieces(aad.len(), random) {
        assert!(at == end || context.aad(&aad[at..end]) == 1);
        at = end;
    }
    at = 0;
    for end in pieces(text.len(), random) {
        if random.below(2) == 0 {
            context = context.copy();
        }
        assert_eq!(context.text(&mut out[at..end]), (1, (end - at) as i32));
        at = end;
    }
    (context, out)
}

fn seal(key: &[u8; 32], nonce: &[u8; 24], commits: bool, [aad, text]: [&[u8]; 2], random: &mut Random) -> Vec<u8> {
    let mut context = begun(commits, 1);
    assert_eq!(context.init(ptr::null(), Some(key), Some(nonce), 1), 1);
    let (mut context, mut sealed) = run(context, aad, text, random);
    assert_eq!(context.finish(), 1);
    sealed.extend(ends(&mut context, commits));
    sealed
}

/// What the end says, and the text.
fn open(key: &[u8; 32], nonce: &[u8; 24], commits: bool, [aad, sealed]: [&[u8]; 2], random: &mut Random) -> (i32, Vec<u8>) {
    let (ciphertext, ends) = sealed.split_at(sealed.len() - if commits { 48 } else { 16 });
    let (mut context, first) = (begun(commits, 0), random.below(2) == 0);
    assert_eq!(context.init(ptr::null(), Some(key), Some(nonce), 0), 1);
    if first {
        expects(&mut context, ends);
    }
    let (mut context, text) = run(context, aad, ciphertext, random);
    if !first {
        expects(&mut context, ends);
    }
    (context.finish(), text)
}

/// Ciphertext, tag and commitment of the text "XAES-256-GCM". The first 28 bytes are C2SP's vectors; the rest is of crates/fastgcm/tests/committing.rs.
const KNOWN: [(u8, &str, &str); 2] = [
    (1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e227104076b6085eebab138855fe57811c04112eff989d44120dfff662d5475a383c3"),
    (
        3,
        "c2sp.org/XAES-256-GCM",
        "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d5553cd21d1592b422e3129632a3187eee8a658cdca5c5b32ce86308dcc18e9d1",
    ),
];

/// With any byte of anything altered, the end says no.
#[test]
fn xaes_known_answers() {
    let (mut messages, mut random) = (0, Random(3));
    for ((byte, aad, sealed), commits) in KNOWN.iter().flat_map(|known| [false, true].map(|commits| (known, commits))) {
        let (key, aad, sealed) = ([*byte; 32], aad.as_bytes(), hex(sealed));
        let sealed = &sealed[..if commits { 60 } else { 28 }];
        assert_eq!(seal(&key, &NONCE, commits, [aad, b"XAES-256-GCM"], &mut random), sealed);
        assert_eq!(open(&key, &NONCE, commits, [aad, sealed], &mut random), (1, b"XAES-256-GCM".to_vec()));
        for altered in 0..24 + aad.len() + sealed.len() {
            let mut all = [&NONCE[..], aad, sealed].concat();
            all[altered] ^= 1 << (altered % 8);
            let (nonce, rest) = all.split_first_chunk().unwrap();
            let (aad, sealed) = rest.split_at(aad.len());
            assert_eq!(open(&key, nonce, commits, [aad, sealed], &mut random).0, 0, "commits: {commits}, byte {altered}");
        }
        messages += 1;
    }
    last_error();
    passed("openssl::xaes_known_answers", messages, 4);
}

/// Whatever the pieces: a message is what the library makes of it at once.
#[test]
fn xaes_random_messages() {
    let mut random = Random(9);
    for number in 0..600 {
        let (key, nonce): ([u8; 32], [u8; 24]) = (random.array(), random.array());
        let (commits, aad, text) = (number % 2 == 0, random.below([20, 400][number / 2 % 2]), random.below([70, 300, 5000][number % 3]));
        let (aad, text) = (random.bytes(aad), random.bytes(text));
        let wanted = if commits {
            KcXaes256Gcm::new(&key).seal_vec(&nonce, &aad, &text)
        } else {
            Xaes256Gcm::new(&key).seal_vec(&nonce, &aad, &text)
        };
        let mut sealed = seal(&key, &nonce, commits, [&aad, &text], &mut random);
        assert!(sealed == wanted.unwrap(), "message {number}");
        assert!(open(&key, &nonce, commits, [&aad, &sealed], &mut random) == (1, text), "message {number}");
        let bit = random.below(8 * sealed.len());
        sealed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(&key, &nonce, commits, [&aad, &sealed], &mut random).0, 0, "message {number}, forged");
    }
    last_error();
    passed("openssl::xaes_random_messages", 600, 600);
}

/// What is wrong is refused and changes nothing, each with a reason that callers of AES-GCM know.
#[test]
fn xaes_refused() {
    let (key, other) = ([1; 32], [2; 32]);
    let mut refused = 0;
    let mut no = |done: i32| {
        assert!(done != 1, "call {refused} was not refused");
        refused += 1;
    };
    for commits in [false, true] {
        let sealed = seal(&key, &NONCE, commits, [b"AAD", b"text"], &mut Random(1));
        let (ciphertext, end) = sealed.split_at(4);
        // Without key or IV there is no message; a key of another length is none, nor an IV.
        let mut context = begun(commits, 1);
        assert!(set_number(&mut context, c"ivlen", 24) == 1 && set_number(&mut context, c"keylen", 32) == 1);
        [12, 0, 16, 25].into_iter().for_each(|length| no(set_number(&mut context, c"ivlen", length)));
        [16, 31, 33].into_iter().for_each(|length| no(set_number(&mut context, c"keylen", length)));
        no(context.text(&mut [1; 4]).0);
        no(context.finish());
        assert_eq!(context.init(ptr::null(), None, Some(&NONCE), 1), 1);
        no(context.text(&mut [1; 4]).0);
        no(context.finish());
        // The IV waits for the key, and for another one.
        assert_eq!(context.init(ptr::null(), Some(&other), None, 1), 1);
        assert_eq!(context.init(ptr::null(), Some(&key), None, 1), 1);
        let mut text = *b"text";
        assert_eq!((context.aad(b"AAD"), context.text(&mut text).0), (1, 1));
        // Neither tag nor commitment before the end, nor any given to one that seals.
        no(get(&mut context, c"tag", &mut [0; 16]));
        no(get(&mut context, c"commitment", &mut [0; 32]));
        no(set(&mut context, c"tag", &[0; 16]));
        no(set(&mut context, c"commitment", &[0; 32]));
        assert_eq!(context.finish(), 1);
        assert_eq!(([&text[..], &ends(&mut context, commits)].concat(), last_error() & 0x7f_ffff), (sealed.clone(), 110)); // PROV_R_INVALID_TAG
        // Of those lengths, and no commitment of a scheme without one.
        (0..16).for_each(|length| no(get(&mut context, c"tag", &mut vec![0; length])));
        (0..64).filter(|length| *length != 32 || !commits).for_each(|length| no(get(&mut context, c"commitment", &mut vec![0; length])));
        // The IV is used: for a second text, a second end, and for another key it is drawn.
        no(context.text(&mut [1; 4]).0);
        no(context.finish());
        let mut drawn = [0; 24];
        assert_eq!((get(&mut context, c"iv", &mut drawn), drawn), (1, NONCE));
        assert_eq!(context.init(ptr::null(), Some(&other), None, 1), 1);
        no(get(&mut context, c"iv", &mut [0; 23]));
        assert_eq!(get(&mut context, c"updated-iv", &mut drawn), 1);
        assert!(drawn != NONCE && drawn != [0; 24]);
        let mut text = *b"text";
        assert_eq!((context.text(&mut text).0, context.finish()), (1, 1));
        let of_other = [&text[..], &ends(&mut context, commits)].concat();
        assert_eq!(open(&other, &drawn, commits, [b"", &of_other], &mut Random(1)), (1, b"text".to_vec()));
        // A message that is broken off by another key has neither tag nor an IV.
        assert_eq!(context.init(ptr::null(), None, Some(&NONCE), 1), 1);
        assert_eq!(context.text(&mut [1; 4]).0, 1);
        assert_eq!(context.init(ptr::null(), Some(&key), None, 0), 1);
        no(context.text(&mut [1; 4]).0);
        no(context.finish());

        // Who opens needs a tag of 16 bytes, and a commitment of 32 where there is one.
        let mut context = begun(commits, 0);
        assert_eq!(context.init(ptr::null(), Some(&key), Some(&NONCE), 0), 1);
        (1..16).for_each(|length| no(set(&mut context, c"tag", &vec![0; length])));
        (0..64).filter(|length| *length != 32 || !commits).for_each(|length| no(set(&mut context, c"commitment", &vec![0; length])));
        let mut text = ciphertext.to_vec();
        assert_eq!((context.aad(b"AAD"), context.text(&mut text).0), (1, 1));
        last_error();
        no(context.finish());
        assert_eq!(last_error() & 0x7f_ffff, 119); // PROV_R_TAG_NOT_SET
        assert_eq!(set(&mut context, c"tag", &end[..16]), 1);
        if commits {
            no(context.finish());
            assert_eq!(last_error() & 0x7f_ffff, 119);
            assert_eq!(set(&mut context, c"commitment", &end[16..]), 1);
        }
        assert_eq!((context.finish(), &text[..]), (1, &b"text"[..]));
        no(get(&mut context, c"tag", &mut [0; 16]));
        no(get(&mut context, c"commitment", &mut [0; 32]));
        // The next message, with a wrong end: both are compared.
        for wrong in [0, 15, 16, 47] {
            assert_eq!(context.init(ptr::null(), None, Some(&NONCE), 0), 1);
            let mut end = end.to_vec();
            let Some(byte) = end.get_mut(wrong) else { continue };
            *byte ^= 0x80;
            expects(&mut context, &end);
            assert_eq!((context.aad(b"AAD"), context.text(&mut ciphertext.to_vec()).0), (1, 1));
            no(context.finish());
        }
        last_error();
    }
    passed("openssl::xaes_refused", refused, 2 * (7 + 4 + 4 + 16 + 63 + 2 + 1 + 2 + 15 + 63 + 1 + 2 + 2) + 2 + 1 + 2);
}

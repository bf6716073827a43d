//! The answers that others have published, from every back end: NIST's CAVP and Wycheproof's AES-GCM and GMAC. No case is skipped.
//!
//! Each case is also asked of `fastgcm-model`, which must agree with it, and the model's answer stands in where a case has none: a
//! case that must be refused still says which ciphertext belongs to its key, nonce and AAD, so it is sealed too.
//!
//! CAVP is the committed sample of 504 cases, unless `FASTGCM_CAVP_FULL` names the file of all 47,250
//! (`testdata/make_cavp_sample.py --full` writes it).

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;
mod support;

use backends::backends;
#[cfg(feature = "hazmat")]
use fastgcm::hazmat::UnverifiedOpener;
use fastgcm::{AnyTag, Backend, Error, Key, Nonce, ShortTag, Tag};
use fastgcm_model::{Model, inc32};
use suite::{Random, passed};
use support::Case;

#[test]
fn cavp() {
    let cases = support::cavp();
    let full = std::env::var_os(support::CAVP_FULL).is_some();
    // By length of the tag: all cases, and those that must be refused.
    let (all, refused): ([usize; 7], [usize; 7]) =
        if full { ([6750; 7], [1720, 1684, 1656, 1736, 1677, 1711, 1724]) } else { ([9, 9, 9, 9, 9, 9, 450], [3, 3, 3, 3, 3, 3, 110]) };
    for ((length, all), refused) in TAG_LENGTHS.into_iter().zip(all).zip(refused) {
        let of_length = || cases.iter().filter(|case| case.tag.len() == length);
        assert_eq!(of_length().count(), all, "tags of {length} bytes");
        assert_eq!(of_length().filter(|case| case.plaintext.is_none()).count(), refused, "refused tags of {length} bytes");
    }
    let opened = if cfg!(feature = "hazmat") { 0.. } else { 2.. };
    let refused = refused[opened.clone()].iter().sum();
    let accepted = all[opened].iter().sum::<usize>() - refused;
    check_all("cavp", &cases, Tally { sealed: all.iter().sum(), accepted, refused, ..Tally::default() });
}

#[test]
fn wycheproof_gcm() {
    check_all("wycheproof_gcm", &support::wycheproof_gcm(), Tally { sealed: 310, accepted: 229, refused: 81, empty_nonces: 6 });
}

#[test]
fn wycheproof_gmac() {
    check_all("wycheproof_gmac", &support::wycheproof_gmac(), Tally { sealed: 414, accepted: 90, refused: 324, empty_nonces: 0 });
}

/// What became of the cases. Every case is sealed, or has an empty nonce; what is sealed is then opened and accepted, or refused, or
/// (tags of 4 and 8 bytes without the feature `hazmat`) there is no way to open it with the tag that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    sealed: usize,
    accepted: usize,
    refused: usize,
    empty_nonces: usize,
}

/// Puts every case to every back end and compares the tally of each with `expected`.
fn check_all(suite: &str, cases: &[Case], expected: Tally) {
    let backends = backends();
    let mut tallies = vec![Tally::default(); backends.len()];
    for case in cases {
        let answer = Answer::of(case);
        for (&backend, tally) in backends.iter().zip(&mut tallies) {
            check(backend, case, answer.as_ref(), tally);
        }
    }
    for (backend, tally) in backends.iter().zip(tallies) {
        assert_eq!(tally, expected, "{suite} by {backend}");
        passed(&format!("known_answers::{suite}/{backend}"), tally.sealed + tally.empty_nonces, cases.len());
    }
}

/// What the model says of a case.
struct Answer {
    /// What `ciphertext` is the encryption of, authentic or not.
    plaintext: Vec<u8>,
    /// The tag that belongs to it, whole.
    tag: [u8; 16],
}

impl Answer {
    /// Asks the model, and holds it to the published answer. `None`: the nonce is empty.
    fn of(case: &Case) -> Option<Self> {
        let model = Model::new(&case.key);
        assert_eq!(model.open(&case.nonce, &case.aad, &case.ciphertext, &case.tag), case.plaintext, "{}: the model", case.name);
        if case.nonce.is_empty() {
            return None;
        }
        let plaintext = model.gctr(&inc32(&model.j0(&case.nonce)), &case.ciphertext);
        let (ciphertext, tag) = model.seal(&case.nonce, &case.aad, &plaintext);
        assert_eq!(ciphertext, case.ciphertext, "{}: the model", case.name);
        Some(Self { plaintext, tag })
    }
}

/// Puts one case to one back end, in both directions, by every verb of the library.
fn check(backend: Backend, case: &Case, answer: Option<&Answer>, tally: &mut Tally) {
    let name = &format!("{} by {backend}", case.name);
    let key = &backends::key(&case.key, backend);
    let Some(answer) = answer else {
        assert_eq!(Nonce::any(&case.nonce).unwrap_err(), Error::InvalidLength, "{name}");
        tally.empty_nonces += 1;
        return;
    };
    let nonce = Nonce::any(&case.nonce).unwrap();

    seal(name, key, nonce, case, answer);
    tally.sealed += 1;
    // The whole tag opens every case: those whose own tag is short, or wrong, too.
    open(name, key, nonce, case, answer, true, &Tag(answer.tag));
    open_behind(name, key, nonce, case, answer, true, &answer.tag);

    let accepted = case.plaintext.is_some();
    let tag = &case.tag[..];
    match tag.len() {
        16 => {
            open(name, key, nonce, case, answer, accepted, &Tag(tag.try_into().unwrap()));
            open_behind(name, key, nonce, case, answer, accepted, tag);
        }
        15 => open(name, key, nonce, case, answer, accepted, &ShortTag::<15>(tag.try_into().unwrap())),
        14 => open(name, key, nonce, case, answer, accepted, &ShortTag::<14>(tag.try_into().unwrap())),
        13 => open(name, key, nonce, case, answer, accepted, &ShortTag::<13>(tag.try_into().unwrap())),
        12 => open(name, key, nonce, case, answer, accepted, &ShortTag::<12>(tag.try_into().unwrap())),
        #[cfg(feature = "hazmat")]
        8 => open(name, key, nonce, case, answer, accepted, &ShortTag::<8>(tag.try_into().unwrap())),
        #[cfg(feature = "hazmat")]
        4 => open(name, key, nonce, case, answer, accepted, &ShortTag::<4>(tag.try_into().unwrap())),
        #[cfg(not(feature = "hazmat"))]
        4 | 8 => return,
        length => panic!("{name}: no tag has {length} bytes"),
    }
    *if accepted { &mut tally.accepted } else { &mut tally.refused } += 1;
}

/// All that seals gives the case's ciphertext, and the tag of the model.
fn seal(name: &str, key: &Key, nonce: Nonce<'_>, case: &Case, answer: &Answer) {
    let Case { aad, ciphertext, .. } = case;
    let Answer { plaintext, tag } = answer;
    let sealed = [&ciphertext[..], tag].concat();

    let mut text = plaintext.clone();
    assert_eq!(key.seal(nonce, aad, &mut text).unwrap().0, *tag, "{name}: seal, tag");
    assert_eq!(text, *ciphertext, "{name}: seal, text");

    let mut text = vec![UNWRITTEN; plaintext.len()];
    assert_eq!(key.seal_detached_to(nonce, aad, plaintext, &mut text).unwrap().0, *tag, "{name}: seal_detached_to, tag");
    assert_eq!(text, *ciphertext, "{name}: seal_detached_to, text");

    let mut buffer = [&plaintext[..], &[UNWRITTEN; 16]].concat();
    key.seal_appended(nonce, aad, &mut buffer).unwrap();
    assert_eq!(buffer, sealed, "{name}: seal_appended");

    let mut buffer = vec![UNWRITTEN; sealed.len()];
    key.seal_to(nonce, aad, plaintext, &mut buffer).unwrap();
    assert_eq!(buffer, sealed, "{name}: seal_to");

    #[cfg(feature = "alloc")]
    assert_eq!(key.seal_vec(nonce, aad, plaintext).unwrap(), sealed, "{name}: seal_vec");

    // In pieces, and in lists of chunks.
    let random = &mut Random(sealed.len() as u64 * 1000 + aad.len() as u64);
    let (aads, chunks) = (cut(aad, &pieces(random, aad.len())), cut(plaintext, &pieces(random, plaintext.len())));
    let mut text = plaintext.clone();
    let mut sealer = key.sealer(nonce);
    aads.iter().for_each(|piece| sealer.aad(piece).unwrap());
    let mut sealer = sealer.text();
    cut_mut(&mut text, &pieces(random, plaintext.len())).into_iter().for_each(|piece| sealer.seal(piece).unwrap());
    assert_eq!(sealer.finish().0, *tag, "{name}: sealer, tag");
    assert_eq!(text, *ciphertext, "{name}: sealer, text");
    if plaintext.is_empty() {
        let mut mac = key.gmac(nonce);
        aads.iter().for_each(|piece| mac.update(piece).unwrap());
        assert_eq!(mac.finish().0, *tag, "{name}: gmac");
    }

    let mut text = vec![UNWRITTEN; plaintext.len()];
    assert_eq!(key.seal_gathered(nonce, &aads, &chunks, &[], &mut text).unwrap().0, *tag, "{name}: seal_gathered, tag");
    assert_eq!(text, *ciphertext, "{name}: seal_gathered, text");

    let mut text = vec![UNWRITTEN; plaintext.len()];
    let to = &mut cut_mut(&mut text, &pieces(random, plaintext.len()));
    assert_eq!(key.seal_scattered(nonce, &aads, &chunks, &[], to).unwrap().0, *tag, "{name}: seal_scattered, tag");
    assert_eq!(text, *ciphertext, "{name}: seal_scattered, text");

    let mut text = plaintext.clone();
    let to = &mut cut_mut(&mut text, &pieces(random, plaintext.len()));
    assert_eq!(key.seal_chunks(nonce, &aads, to).unwrap().0, *tag, "{name}: seal_chunks, tag");
    assert_eq!(text, *ciphertext, "{name}: seal_chunks, text");
}

/// Lengths of pieces, of which some are empty.
fn pieces(random: &mut Random, length: usize) -> Vec<usize> {
    let (mut pieces, mut left) = (vec![], length);
    while left > 0 {
        let most = [2, 18, 100][random.below(3)];
        let n = random.below(most).min(left);
        pieces.push(n);
        left -= n;
    }
    pieces
}

fn cut<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    lengths.iter().map(|&n| bytes.split_off(..n).unwrap()).collect()
}

fn cut_mut<'a>(mut bytes: &'a mut [u8], lengths: &[usize]) -> Vec<&'a mut [u8]> {
    lengths.iter().map(|&n| bytes.split_off_mut(..n).unwrap()).collect()
}

/// All that opens with the tag apart gives the plaintext, or refuses and leaves zeros; or the ciphertext, if it verifies first.
fn open(name: &str, key: &Key, nonce: Nonce<'_>, case: &Case, answer: &Answer, accepted: bool, tag: &impl AnyTag) {
    let Case { aad, ciphertext, .. } = case;
    let zeros = vec![0; ciphertext.len()];
    let expect = |verb: &str, result: Result<(), Error>, text: &[u8], left_behind: &[u8]| {
        assert_eq!(result, if accepted { Ok(()) } else { Err(Error::Unauthentic) }, "{name}: {verb}");
        assert_eq!(text, if accepted { &answer.plaintext } else { left_behind }, "{name}: {verb}, text");
    };

    let mut text = ciphertext.clone();
    let result = key.open(nonce, aad, &mut text, tag);
    expect("open", result, &text, &zeros);

    let mut text = vec![UNWRITTEN; ciphertext.len()];
    let result = key.open_detached_to(nonce, aad, ciphertext, &mut text, tag);
    expect("open_detached_to", result, &text, &zeros);

    let mut text = ciphertext.clone();
    let result = key.open_verified_first(nonce, aad, &mut text, tag);
    expect("open_verified_first", result, &text, ciphertext);

    let random = &mut Random(ciphertext.len() as u64 * 1000 + aad.len() as u64 + 500);
    let (aads, chunks) = (cut(aad, &pieces(random, aad.len())), cut(ciphertext, &pieces(random, ciphertext.len())));
    let mut text = vec![UNWRITTEN; ciphertext.len()];
    let result = key.open_gathered(nonce, &aads, &chunks, &mut text, tag);
    expect("open_gathered", result, &text, &zeros);

    let mut text = vec![UNWRITTEN; ciphertext.len()];
    let result = key.open_scattered(nonce, &aads, &chunks, &mut cut_mut(&mut text, &pieces(random, ciphertext.len())), tag);
    expect("open_scattered", result, &text, &zeros);

    let mut text = ciphertext.clone();
    let result = key.open_chunks(nonce, &aads, &mut cut_mut(&mut text, &pieces(random, ciphertext.len())), tag);
    expect("open_chunks", result, &text, &zeros);

    let mut text = vec![UNWRITTEN; ciphertext.len()];
    let result = key.open_gathered_verified_first(nonce, &aads, &chunks, &mut text, tag);
    expect("open_gathered_verified_first", result, &text, &vec![UNWRITTEN; ciphertext.len()]);

    if ciphertext.is_empty() {
        let mut mac = key.gmac(nonce);
        aads.iter().for_each(|piece| mac.update(piece).unwrap());
        expect("gmac", mac.verify(tag), &[], &[]);
    }
    #[cfg(feature = "hazmat")]
    {
        let mut text = ciphertext.clone();
        let mut opener = UnverifiedOpener::new(key, nonce);
        aads.iter().for_each(|piece| opener.aad(piece).unwrap());
        let mut opener = opener.text();
        cut_mut(&mut text, &pieces(random, ciphertext.len())).into_iter().for_each(|piece| opener.open(piece).unwrap());
        // Nobody has verified it.
        expect("opener", opener.verify(tag), &text, &answer.plaintext);
    }
}

/// Opens with the tag behind the ciphertext: 16 bytes, that is.
fn open_behind(name: &str, key: &Key, nonce: Nonce<'_>, case: &Case, answer: &Answer, accepted: bool, tag: &[u8]) {
    let Case { aad, ciphertext, .. } = case;
    let sealed = [ciphertext, tag].concat();
    let expected = if accepted { Ok(&answer.plaintext[..]) } else { Err(Error::Unauthentic) };
    let left = expected.unwrap_or(&vec![0; ciphertext.len()]).to_vec();

    let mut buffer = sealed.clone();
    let result = key.open_appended(nonce, aad, &mut buffer).map(|text| &*text);
    assert_eq!(result, expected, "{name}: open_appended");
    assert_eq!(buffer[..ciphertext.len()], left, "{name}: open_appended, text");

    let mut text = vec![UNWRITTEN; ciphertext.len()];
    assert_eq!(key.open_to(nonce, aad, &sealed, &mut text), expected.map(drop), "{name}: open_to");
    assert_eq!(text, left, "{name}: open_to, text");

    #[cfg(feature = "alloc")]
    assert_eq!(key.open_vec(nonce, aad, &sealed).as_deref(), expected.as_ref().copied(), "{name}: open_vec");
}

/// What output buffers hold before a call.
const UNWRITTEN: u8 = 0xa5;

/// In CAVP, in bytes. The first two can be opened with the feature `hazmat` alone.
const TAG_LENGTHS: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];

//! Four kinds of faults, each with a walk over all that is public: a length that is cut to 16 bits, a half that counts for a whole, what a refused call
//! leaves behind, and a secret in a text. `tests/public.rs` fails if a function that changes an object, a type with `Clone` or one with `Debug` is missing here.

use crate::{
    giant, referee,
    secrets::{drawn, quiet, secret},
    suite::{bytes, passed},
    support::{self, Tally},
    verbs::{self, Keys},
};
#[cfg(feature = "hazmat")]
use fastgcm::hazmat::{self, Pieces, Plan, UnverifiedOpener};
use fastgcm::{
    AesGcmSiv, Backend, Error, KcXaes256Gcm, Key, Packet, RootKey, Scheme, Tag, Xaes256Gcm, approved::ApprovedKey, limits::Blocks,
    nonces::*,
};
use std::{fmt::Debug, slice};

/// Bytes of a text and of AAD, and the sum of both, do not fit into 16 bits.
#[test]
fn sizes() {
    let (text, aad) = (bytes((1 << 16) + 77, 1), bytes((1 << 16) + 33, 2));
    let mut expected = vec![];
    let backend = support::backends()[0];
    let mut keys = Keys::new(backend);
    for verb in verbs::table().iter().filter(|verb| verb.runs_on(backend)) {
        let (key, nonce) = verb.key_and_nonce(32, 12);
        let form = (verb.form, verb.text(text.len()), key, nonce);
        if !expected.iter().any(|(known, _)| *known == form) {
            let message = referee::message(verb.form, &bytes(key, 3), &bytes(nonce, 4), &aad, &text[..form.1]);
            expected.push((form, message));
        }
        let message = &expected.iter().find(|(known, _)| *known == form).unwrap().1;
        verb.run(&mut keys, message, true);
        if verb.opens() {
            let mut forged = message.clone();
            forged.aad[1 << 16] ^= 1; // the part that a cut would leave out
            verb.run(&mut keys, &forged, false);
        }
    }
    #[cfg(feature = "hazmat")]
    {
        let (plan, part) = (Plan::new([1; 12], fastgcm::limits::TEXT, 1 << 26).unwrap(), 1 << 26);
        assert!(plan.parts().zip(0u64..).all(|(range, i)| range.start == i * part && range.end > i * part));
    }
    passed("api::sizes", verbs::table().len(), verbs::table().len());
}

/// A copy of a key is the key: both do what the first did.
#[test]
fn halves_of_clones() {
    fn root<S: Scheme<Nonce = [u8; 24]>>(key: &RootKey<S>) -> Vec<u8> {
        let sealed = key.seal_vec(&[4; 24], b"aad", b"a text of some length").unwrap();
        assert_eq!(key.open_vec(&[4; 24], b"aad", &sealed).unwrap(), b"a text of some length");
        sealed
    }
    let mut clones = Tally::default();
    for backend in support::backends() {
        let key = support::key(&bytes(32, 5), backend);
        let mut cloned = |name: &str, first: Vec<u8>, second: Vec<u8>| {
            assert_eq!(first, second, "{name}");
            clones.add(&key, 1);
        };
        macro_rules! cloned {
            ($name:literal, $made:expr, $done:expr) => {{
                let original = $made;
                let copy = original.clone();
                cloned($name, $done(&original), $done(&copy));
            }};
        }
        let made: [u8; 32] = bytes(32, 5).try_into().unwrap();
        cloned!("Key", support::key(&made, backend), |key: &Key| {
            let sealed = key.seal_vec([4; 12], b"aad", &[5; 777]).unwrap();
            assert_eq!(key.open_vec([4; 12], b"aad", &sealed).unwrap(), [5; 777]);
            sealed
        });
        cloned!("RootKey", Xaes256Gcm::with_backend(&made, backend).unwrap(), root);
        cloned!("RootKey", KcXaes256Gcm::with_backend(&made, backend).unwrap(), root);
        cloned!("AesGcmSiv", AesGcmSiv::with_backend(&made, backend).unwrap(), |siv: &AesGcmSiv| {
            let mut text = [6; 300];
            let tag = siv.seal(&[4; 12], b"aad", &mut text).unwrap();
            let sealed = [&text[..], &tag.0].concat();
            siv.open(&[4; 12], b"aad", &mut text, &tag).unwrap();
            sealed
        });
        #[cfg(feature = "hazmat")]
        cloned!("PartHash", hazmat::hash_part(&key, 0, &[7; 48]).unwrap(), |part: &hazmat::PartHash| {
            hazmat::combine(&key, [4; 12], b"", [part]).unwrap().0.to_vec()
        });
    }
    clones.passed("api::clones", if cfg!(feature = "hazmat") { 5 } else { 4 });
}

/// Each byte of a nonce that is drawn is drawn.
#[test]
#[cfg(feature = "getrandom")]
fn halves_of_nonces() {
    fn root<S: Scheme<Nonce = [u8; 24]>>(key: &RootKey<S>) {
        drawn("seal_random", || key.seal_random(b"", &mut [0; 9]).unwrap().0.to_vec());
        drawn("seal_random_vec", || key.seal_random_vec(b"", b"text").unwrap()[..24].to_vec());
    }
    root(&Xaes256Gcm::new(&[1; 32]));
    root(&KcXaes256Gcm::new(&[1; 32]));
    drawn("RandomNonces::draw", || RandomNonces::new().draw().unwrap().to_vec());
    let key = || SealingKey::new(&[1; 32], RandomNonces::new()).unwrap();
    drawn("SealingKey", || key().seal_vec(b"", b"text").unwrap()[..12].to_vec());
    passed("api::drawn", 6, 6);
}

/// A call that changes an object, and what comes of it.
type Step<'l, T> = dyn Fn(&mut T) -> Vec<u8> + 'l;

/// What is done with an object of one kind: how it is made, calls that it must refuse, and calls that follow each other. A step returns what it made.
struct Life<'l, T> {
    make: &'l dyn Fn() -> T,
    refused: &'l [&'l dyn Fn(&mut T) -> Error],
    steps: &'l [&'l Step<'l, T>],
}

/// Behind each refused call an object does what one does that was never asked. Returns how many calls were refused.
fn lives<T>(name: &str, life: &Life<'_, T>) -> usize {
    let run = |refuse: Option<(usize, usize)>| -> Vec<Vec<u8>> {
        let mut object = (life.make)();
        let step = |(i, step): (usize, &&Step<'_, T>)| {
            if let Some((_, which)) = refuse.filter(|(before, _)| *before == i) {
                (life.refused[which])(&mut object);
            }
            step(&mut object)
        };
        life.steps.iter().enumerate().map(step).collect()
    };
    let expected = run(None);
    for which in 0..life.refused.len() {
        for before in 0..life.steps.len() {
            assert_eq!(run(Some((before, which))), expected, "{name}: call {which} was refused before step {before}");
        }
    }
    life.refused.len() * life.steps.len()
}

/// What a call makes of `n` bytes, and what it returns.
fn made<R: Debug>(n: usize, call: impl FnOnce(&mut [u8]) -> R) -> Vec<u8> {
    let mut text = vec![2; n];
    let answer = format!("{:?}", call(&mut text));
    [text, answer.into()].concat()
}

/// A refused call changes nothing: the next one is right.
#[test]
#[cfg(feature = "hazmat")]
fn afterwards() {
    let mut refusals = Tally::default();
    // More than a message may have.
    let too_long = (1 << 36) + 64;
    let giant = giant::Giant::new(too_long, b"");
    // SAFETY: the mapping lives as long as this test, and no refused call writes there.
    let (long, long_mut) = unsafe { (slice::from_raw_parts(giant.at(), too_long), || slice::from_raw_parts_mut(giant.at(), too_long)) };
    for backend in support::backends() {
        let (bytes, nonces) = (bytes(32, 6), || CounterNonces::new([1; 4]));
        let key = support::key(&bytes, backend);
        let other = support::key(&bytes, if backend == Backend::Portable { Backend::detect() } else { Backend::Portable });
        let begun = |text: u8| {
            let mut sealer = key.sealer([text; 12]);
            sealer.aad(b"aad").unwrap();
            sealer.text()
        };
        let mut count = lives(
            "Sealer",
            &Life {
                make: &|| begun(1),
                refused: &[&|o| o.seal(long_mut()).unwrap_err(), &|o| o.seal_to(b"text", &mut [0; 5]).unwrap_err(), &|o| {
                    o.seal_to(long, long_mut()).unwrap_err()
                }],
                steps: &[&|o| made(21, |text| o.seal(text)), &|o| made(100, |to| o.seal_to(&[3; 100], to)), &|o| {
                    made(0, |_| std::mem::replace(o, begun(2)).finish())
                }],
            },
        );
        let begun = |text: u8| {
            let mut opener = UnverifiedOpener::new(&key, [text; 12]);
            opener.aad(b"aad").unwrap();
            opener.text()
        };
        // The tag that such a ciphertext has.
        let tag_of = |aad: &[u8], pieces: [&[u8]; 2]| hazmat::open_unverified(&key, [1; 12], aad, &mut pieces.concat()).unwrap();
        let tag = tag_of(b"aad", [&[2; 21], &[3; 100]]);
        count += lives(
            "UnverifiedOpener",
            &Life {
                make: &|| begun(1),
                refused: &[&|o| o.open(long_mut()).unwrap_err(), &|o| o.open_to(b"text", &mut [0; 5]).unwrap_err()],
                steps: &[&|o| made(21, |text| o.open(text)), &|o| made(100, |to| o.open_to(&[3; 100], to)), &|o| {
                    made(0, |_| std::mem::replace(o, begun(2)).verify(&tag).unwrap())
                }],
            },
        );
        let refused: &[&dyn Fn(&mut Pieces) -> Error] = &[
            &|o| o.seal(&key, long_mut()).unwrap_err(),
            &|o| o.open(&key, long_mut()).unwrap_err(),
            &|o| o.seal_to(&key, b"text", &mut [0; 5]).unwrap_err(),
            &|o| o.open_to(&key, b"text", &mut [0; 5]).unwrap_err(),
            &|o| o.verify(&key, &[0; 17]).unwrap_err(),
            &|o| o.verify(&key, &[]).unwrap_err(),
            &|o| o.aad(&other, b"more").unwrap_err(),
            &|o| o.seal(&other, &mut [1]).unwrap_err(),
            &|o| o.finish(&other).unwrap_err(),
        ];
        let short = &tag_of(b"", [&[2; 21], &[9; 5]]).0[..12];
        let orders: [&[&Step<'_, Pieces>]; 2] = [
            &[
                &|o| made(0, |_| o.aad(&key, b"aad")),
                &|o| made(0, |_| o.aad(&key, b"more, in a piece of its own")),
                &|o| made(21, |text| o.seal(&key, text)),
                &|o| made(100, |to| o.seal_to(&key, &[3; 100], to)),
                &|o| made(0, |_| o.finish(&key)),
            ],
            &[
                &|o| made(21, |text| o.open(&key, text)),
                &|o| made(0, |_| o.aad(&key, b"late")),
                &|o| made(5, |text| o.open_to(&key, &[9; 5], text)),
                &|o| made(0, |_| o.verify(&key, short).unwrap()),
                &|o| made(0, |_| o.finish(&key)),
            ],
        ];
        for steps in orders {
            count += lives("Pieces", &Life { make: &|| Pieces::new(&key, [1; 12]), refused, steps });
        }
        count += lives(
            "SealingKey",
            &Life {
                make: &|| SealingKey::with_backend(&bytes, nonces(), backend).unwrap(),
                refused: &[
                    &|o| o.seal(b"", long_mut()).unwrap_err(),
                    &|o| o.seal_vec(b"", long).unwrap_err(),
                    &|o| o.seal_appended(b"", &mut [0; 15]).unwrap_err(),
                    &|o| o.seal_appended(b"", long_mut()).unwrap_err(),
                    &|o| o.seal_prefixed(b"", &mut [0; 27]).unwrap_err(),
                    &|o| o.seal_prefixed(b"", long_mut()).unwrap_err(),
                ],
                steps: &[
                    &|o| made(21, |text| o.seal(b"aad", text)),
                    &|o| made(0, |_| o.seal_vec(b"aad", b"text")),
                    &|o| made(40, |buffer| o.seal_appended(b"", buffer)),
                    &|o| made(40, |buffer| o.seal_prefixed(b"", buffer)),
                ],
            },
        );
        count += lives(
            "OpeningKey",
            &Life {
                make: &|| OpeningKey::with_backend(&bytes, backend).unwrap(),
                refused: &[
                    &|o| o.open([1; 12], b"", long_mut(), &Tag([0; 16])).unwrap_err(),
                    &|o| o.open_prefixed(b"", &mut [0; 27]).unwrap_err(),
                    &|o| o.open_vec(b"", long).unwrap_err(),
                ],
                steps: &[
                    &|o| made(21, |text| o.open([1; 12], b"", text, &Tag([0; 16]))),
                    &|o| made(40, |text| format!("{:?}", o.open_prefixed(b"", text))),
                    &|o| made(0, |_| o.open_vec(b"", &[7; 40])),
                    &|o| made(0, |_| o.blocks_left()),
                ],
            },
        );
        count += lives(
            "ApprovedKey",
            &Life {
                make: &|| ApprovedKey::with_backend(&bytes, nonces(), backend).unwrap(),
                refused: &[&|o| o.seal(b"", long_mut()).unwrap_err(), &|o| o.seal_vec(b"", long).unwrap_err()],
                steps: &[&|o| made(21, |text| o.seal(b"aad", text)), &|o| made(0, |_| o.seal_vec(b"aad", b"text"))],
            },
        );
        count += lives("Gmac", &Life { make: &|| key.gmac([1; 12]), refused: &[], steps: &[&|o| made(0, |_| o.update(b"aad"))] });
        let part = |offset: u64, text: u8| hazmat::seal_part(&key, [1; 12], offset, &mut [text; 32]).unwrap();
        count += lives(
            "Plan",
            &Life {
                make: &|| {
                    let mut plan = Plan::new([1; 12], 80, 32).unwrap();
                    plan.accept(part(0, 1)).unwrap();
                    plan
                },
                refused: &[
                    &|o| o.accept(part(0, 2)).unwrap_err(),
                    &|o| o.accept(part(16, 1)).unwrap_err(),
                    &|o| o.accept(part(96, 1)).unwrap_err(),
                    &|o| o.seal(&key, 0, &mut [2; 32]).unwrap_err(),
                    &|o| o.seal(&key, 64, &mut [2; 32]).unwrap_err(),
                ],
                steps: &[
                    &|o| made(0, |_| o.accept(part(0, 1))),
                    &|o| made(32, |text| o.seal(&key, 32, text)),
                    &|o| made(16, |text| o.seal(&key, 64, text)),
                    &|o| made(0, |_| o.tag(&key, b"aad")),
                ],
            },
        );
        fn packet(to: &mut [u8]) -> [Packet<'_>; 1] {
            [Packet::to([1; 12], b"", b"text", to, Tag([0; 16]))]
        }
        count += lives(
            "Key",
            &Life {
                make: &|| key.clone(),
                refused: &[
                    &|o| o.rekey(&[0; 17]).unwrap_err(),
                    &|o| o.seal_batch(&mut packet(&mut [0; 5])).unwrap_err(),
                    &|o| o.open_batch(&mut packet(&mut [0; 4])).unwrap_err(),
                    &|o| o.open([1; 12], b"", &mut [1; 99], &Tag([0; 16])).unwrap_err(),
                ],
                steps: &[&|o| made(9, |text| o.seal([1; 12], b"", text)), &|o| made(0, |_| o.rekey(&[9; 16])), &|o| {
                    made(9, |text| o.seal([1; 12], b"", text))
                }],
            },
        );
        let last = Life::<CounterNonces<11>> {
            make: &|| CounterNonces::starting_at([1; 11], 254).unwrap(),
            refused: &[&|_| CounterNonces::starting_at([1; 11], 256).unwrap_err()],
            steps: &[&|o| made(0, |_| o.draw()), &|o| made(0, |_| o.draw()), &|o| made(0, |_| o.draw())],
        };
        #[cfg(feature = "getrandom")]
        lives(
            "RandomNonces",
            &Life { make: &|| RandomNonces::after(RandomNonces::LIMIT), refused: &[], steps: &[&|o| made(0, |_| o.draw())] },
        );
        let few = Life::<Blocks> {
            make: &|| Blocks::integrity(124),
            refused: &[&|o| o.take(1000).unwrap_err()],
            steps: &[&|o| made(0, |_| o.take(5)), &|o| made(0, |_| (o.used(), o.left()))],
        };
        lives("Blocks", &few);
        let once = [&|o: &mut XorNonces| made(0, |_| o.draw())];
        lives("XorNonces", &Life { make: &|| XorNonces::starting_at([1; 12], u64::MAX), refused: &[], steps: &[&once[0], &once[0]] });
        refusals.add(&key, count + lives("CounterNonces", &last));
    }
    refusals.passed("api::afterwards", 3 * 3 + 2 * 3 + 9 * 5 + 9 * 5 + 6 * 4 + 3 * 4 + 2 * 2 + 5 * 4 + 4 * 3 + 3);
    assert!(giant.window().iter().all(|byte| *byte == 0), "a refused call has written");
}

/// No text of an object shows a byte of its key, of its text or of its hash.
#[test]
fn quiet_objects() {
    let (secret, mut shown) = (secret(64), 0);
    let bytes: &[u8; 32] = secret[..32].try_into().unwrap();
    macro_rules! quiet {
        ($($(#[$when:meta])? $name:literal $object:expr;)+) => {$(
            $(#[$when])? {
                let object = $object;
                quiet($name, &format!("{:?} {:#?}", object as &dyn Debug, object as &dyn Debug), &secret);
                shown += 1;
            }
        )+};
    }
    let key = Key::new(bytes).unwrap();
    let mut text = secret.clone();
    let mut sealer = key.sealer([1; 12]);
    sealer.aad(&secret).unwrap();
    quiet! {
        "Key" &key;
        "RootKey" &Xaes256Gcm::new(bytes);
        "RootKey" &KcXaes256Gcm::new(bytes);
        "AesGcmSiv" &AesGcmSiv::new(bytes).unwrap();
        "SealingKey" &SealingKey::new(bytes, CounterNonces::new([1; 4])).unwrap();
        "OpeningKey" &OpeningKey::new(bytes).unwrap();
        "ApprovedKey" &ApprovedKey::new(bytes, CounterNonces::new([1; 4])).unwrap();
        "Sealer" &sealer;
        "Gmac" &key.gmac([1; 12]);
        "Packet" &Packet::in_place([1; 12], b"aad", &mut text, Tag([0; 16]));
        #[cfg(feature = "rayon")] "Parallel" &key.parallel();
        #[cfg(feature = "hazmat")] "Pieces" &Pieces::new(&key, [1; 12]);
        #[cfg(feature = "hazmat")] "UnverifiedOpener" &UnverifiedOpener::new(&key, [1; 12]);
        #[cfg(feature = "aead06")] "AesGcm" &<fastgcm::rustcrypto::Aes256Gcm as fastgcm::rustcrypto::KeyInit>::new(&(*bytes).into());
    }
    #[cfg(feature = "hazmat")]
    {
        let (part, mut plan) = (hazmat::hash_part(&key, 0, &secret[..32]).unwrap(), Plan::new([1; 12], 32, 32).unwrap());
        let hash = part.to_bytes();
        plan.accept(part.clone()).unwrap();
        quiet("PartHash", &format!("{part:?} {plan:?}"), &hash[16..]);
    }
    passed("api::quiet", shown, shown);
}

//! `docs/migrating.md`, row by row: what is left and right of the bar compiles and does the same. `every_row_is_here` holds the page against this file.

/// Both columns, one behind the other, must return the same.
macro_rules! same {
    ($($column:block)+) => {{
        let answers = [$(answer(|| $column)),+];
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    }};
}

type Any = Box<dyn std::error::Error>;

fn answer<T: AsRef<[u8]>>(column: impl FnOnce() -> Result<T, Any>) -> Vec<u8> {
    column().unwrap().as_ref().to_vec()
}

const KEY: [u8; 32] = *b"a key of 32 bytes, not a secret.";
const NONCE: [u8; 12] = *b"twelve bytes";
const AAD: &[u8] = b"header";
const TEXT: &[u8] = b"a text of more than one block of AES";

/// Ciphertext and tag.
fn sealed() -> Vec<u8> {
    fastgcm::Key::aes256(&KEY).seal_vec(NONCE, AAD, TEXT).unwrap()
}

/// The crate with the key by value of both versions of `aes-gcm`; and those that replace them, which take the same source.
macro_rules! aes_gcm {
    ($module:ident, $aes_gcm:ident, $in_place:ident, |$cipher:ident, $nonce:ident, $aad:ident, $buffer:ident, $tag:ident| $seal:expr, $open:expr) => {
        mod $module {
            use super::*;
            use $aes_gcm as aes_gcm;
            use aes_gcm::{
                $in_place, Aes128Gcm, Aes256Gcm, AesGcm, KeyInit,
                aead::{Aead, Payload, consts::{U12, U13, U16}},
                aes::{Aes192, Aes256},
            };
            use fastgcm::{Key, Nonce};

            #[test]
            fn keys() {
                same! {
                    {
                        let key = (&KEY).into();
                        let large = Aes256Gcm::new(key);
                        let key = KEY.first_chunk::<16>().unwrap().into();
                        let small = Aes128Gcm::new(key);
                        Ok([large.encrypt(&NONCE.into(), TEXT)?, small.encrypt(&NONCE.into(), TEXT)?].concat())
                    }
                    {
                        let key = &KEY;
                        let large = Key::aes256(key);
                        let key = KEY.first_chunk().unwrap();
                        let small = Key::aes128(key);
                        Ok([large.seal_vec(NONCE, b"", TEXT)?, small.seal_vec(NONCE, b"", TEXT)?].concat())
                    }
                }
                same! {
                    {
                        let key = KEY.first_chunk::<24>().unwrap().into();
                        Ok(AesGcm::<Aes192, U12>::new(key).encrypt(&NONCE.into(), TEXT)?)
                    }
                    {
                        let key = KEY.first_chunk().unwrap();
                        Ok(Key::aes192(key).seal_vec(NONCE, b"", TEXT)?)
                    }
                }
                let key = &KEY[..];
                same! {
                    { Ok(Aes256Gcm::new_from_slice(key)?.encrypt(&NONCE.into(), TEXT)?) }
                    { Ok(Key::new(key)?.seal_vec(NONCE, b"", TEXT)?) }
                }
                assert!(Aes256Gcm::new_from_slice(&KEY[1..]).is_err() && Key::new(&KEY[1..]).is_err());
            }

            #[test]
            fn vectors() {
                let (cipher, key, aad, text) = (Aes256Gcm::new((&KEY).into()), Key::aes256(&KEY), AAD, TEXT);
                let nonce = (&NONCE).into();
                let (one, other) = (cipher.encrypt(nonce, text).unwrap(), cipher.encrypt(nonce, Payload { msg: text, aad }).unwrap());
                same! {
                    { Ok([cipher.encrypt(nonce, text)?, cipher.encrypt(nonce, Payload { msg: text, aad })?].concat()) }
                    { let nonce = NONCE; Ok([key.seal_vec(nonce, b"", text)?, key.seal_vec(nonce, aad, text)?].concat()) }
                    { Ok([one, other].concat()) }
                }
                let sealed = &sealed()[..];
                same! {
                    { Ok(cipher.decrypt(nonce, Payload { msg: sealed, aad })?) }
                    { let nonce = NONCE; Ok(key.open_vec(nonce, aad, sealed)?) }
                }
                same! {
                    { let mut vec = TEXT.to_vec(); cipher.encrypt_in_place(nonce, aad, &mut vec)?; Ok(vec) }
                    { let (mut vec, nonce) = (TEXT.to_vec(), NONCE); key.seal_in_place_append_tag(nonce, aad, &mut vec)?; Ok(vec) }
                }
                same! {
                    { let mut vec = sealed.to_vec(); cipher.decrypt_in_place(nonce, aad, &mut vec)?; Ok(vec) }
                    { let (mut vec, nonce) = (sealed.to_vec(), NONCE); let text = key.open_appended(nonce, aad, &mut vec)?; Ok(text.to_vec()) }
                }
                // What is refused: their one error, and ours.
                let error: aes_gcm::Error = cipher.decrypt(nonce, &sealed[1..]).unwrap_err();
                assert_eq!((error, key.open_vec(NONCE, aad, &sealed[1..])), (aes_gcm::Error, Err(fastgcm::Error::Unauthentic)));
            }

            #[test]
            fn in_place() {
                let ($cipher, key, $aad) = (Aes256Gcm::new((&KEY).into()), Key::aes256(&KEY), AAD);
                let $nonce = (&NONCE).into();
                same! {
                    { let mut text = TEXT.to_vec(); let $buffer = &mut text[..]; let tag = $seal; Ok([&text[..], &tag[..]].concat()) }
                    { let (mut text, nonce) = (TEXT.to_vec(), NONCE); let buffer = &mut text[..]; let aad = AAD;
                      let tag = key.seal(nonce, aad, buffer)?; Ok([&text[..], tag.as_ref()].concat()) }
                }
                let sealed = sealed();
                let (ciphertext, tag) = sealed.split_last_chunk::<16>().unwrap();
                same! {
                    { let mut text = ciphertext.to_vec(); let ($buffer, $tag) = (&mut text[..], tag.into()); $open; Ok(text) }
                    { let mut text = ciphertext.to_vec(); let (buffer, tag, nonce, aad) = (&mut text[..], &fastgcm::Tag(*tag), NONCE, AAD);
                      key.open_restoring(nonce, aad, buffer, tag)?; Ok(text) }
                }
                // Of a refused message the ciphertext is left.
                let left = [
                    { let mut text = ciphertext.to_vec(); let ($buffer, $tag) = (&mut text[..], (&[0; 16]).into());
                      let mut refused = || -> Result<(), Any> { $open; Ok(()) }; assert!(refused().is_err()); text },
                    { let mut text = ciphertext.to_vec(); key.open_restoring(NONCE, AAD, &mut text, &fastgcm::Tag([0; 16])).unwrap_err(); text },
                ];
                assert!(left.iter().all(|left| left == ciphertext));
            }

            #[test]
            fn other_lengths() {
                let aad = AAD;
                same! {
                    {
                        let key = (&KEY).into();
                        let cipher = AesGcm::<Aes256, U16>::new(key);
                        Ok(cipher.encrypt(&[1; 16].into(), Payload { msg: TEXT, aad })?)
                    }
                    {
                        let (key, nonce, mut text) = (Key::aes256(&KEY), &[1; 16], TEXT.to_vec());
                        let buffer = &mut text[..];
                        let tag = key.seal(Nonce::any(nonce)?, aad, buffer)?;
                        Ok([&text[..], tag.as_ref()].concat())
                    }
                }
                same! {
                    {
                        let key = (&KEY).into();
                        let cipher = AesGcm::<Aes256, U12, U13>::new(key);
                        Ok(cipher.encrypt(&NONCE.into(), Payload { msg: TEXT, aad })?)
                    }
                    {
                        let (key, nonce, mut text) = (Key::aes256(&KEY), NONCE, TEXT.to_vec());
                        let buffer = &mut text[..];
                        let tag: fastgcm::ShortTag<13> = key.seal(nonce, aad, buffer)?.truncate::<13>();
                        let ciphertext = text.clone();
                        key.open(nonce, aad, &mut text, &tag)?;
                        assert_eq!(text, TEXT);
                        Ok([&ciphertext[..], tag.as_ref()].concat())
                    }
                }
            }
        }
    };
}

aes_gcm!(
    of_010,
    aes_gcm_010,
    AeadInPlace,
    |cipher, nonce, aad, buffer, tag| cipher.encrypt_in_place_detached(nonce, aad, buffer)?,
    cipher.decrypt_in_place_detached(nonce, aad, buffer, tag)?
);
aes_gcm!(
    of_011,
    aes_gcm_011,
    AeadInOut,
    |cipher, nonce, aad, buffer, tag| cipher.encrypt_inout_detached(nonce, aad, buffer.into())?,
    cipher.decrypt_inout_detached(nonce, aad, buffer.into(), tag)?
);
aes_gcm!(
    of_replaced_010,
    fastgcm_aes_gcm_010,
    AeadInPlace,
    |cipher, nonce, aad, buffer, tag| cipher.encrypt_in_place_detached(nonce, aad, buffer)?,
    cipher.decrypt_in_place_detached(nonce, aad, buffer, tag)?
);
aes_gcm!(
    of_replaced_011,
    fastgcm_aes_gcm_011,
    AeadInOut,
    |cipher, nonce, aad, buffer, tag| cipher.encrypt_inout_detached(nonce, aad, buffer.into())?,
    cipher.decrypt_inout_detached(nonce, aad, buffer.into(), tag)?
);

/// What only one version has.
mod aes_gcm_only {
    use super::*;
    use fastgcm::Key;

    #[test]
    fn from_one_buffer_to_another() {
        use aes_gcm_011::{
            Aes256Gcm, KeyInit,
            aead::{AeadInOut, inout::InOutBuf},
        };
        let (cipher, key, aad, nonce) = (Aes256Gcm::new((&KEY).into()), Key::aes256(&KEY), AAD, (&NONCE).into());
        let from = TEXT;
        same! {
            { let mut out = vec![0; TEXT.len()]; let to = &mut out[..];
              let tag = cipher.encrypt_inout_detached(nonce, aad, InOutBuf::new(from, to)?)?; Ok([&out[..], &tag[..]].concat()) }
            { let mut out = vec![0; TEXT.len()]; let (to, nonce) = (&mut out[..], NONCE);
              let tag = key.seal_detached_to(nonce, aad, from, to)?; Ok([&out[..], tag.as_ref()].concat()) }
        }
        let sealed = sealed();
        let (from, tag) = sealed.split_last_chunk::<16>().unwrap();
        same! {
            { let mut out = vec![0; TEXT.len()]; let (to, tag) = (&mut out[..], tag.into());
              cipher.decrypt_inout_detached(nonce, aad, InOutBuf::new(from, to)?, tag)?; Ok(out) }
            { let mut out = vec![0; TEXT.len()]; let (to, tag, nonce) = (&mut out[..], &fastgcm::Tag(*tag), NONCE);
              key.open_detached_to(nonce, aad, from, to, tag)?; Ok(out) }
        }
    }

    /// Random ones: as long, and never the same.
    #[test]
    fn random() -> Result<(), Any> {
        use fastgcm::nonces;
        let mut keys = Vec::new();
        {
            use aes_gcm_010::{AeadCore, Aes256Gcm, KeyInit, aead::OsRng};
            keys.push((Aes256Gcm::generate_key(OsRng).to_vec(), Aes256Gcm::generate_nonce(&mut OsRng).to_vec()));
        }
        {
            use aes_gcm_011::{
                self as aes_gcm, Aes256Gcm,
                aead::{Generate, consts::U12},
            };
            keys.push((aes_gcm::Key::<Aes256Gcm>::generate().to_vec(), aes_gcm::Nonce::<U12>::generate().to_vec()));
        }
        let (mut key, mut nonces) = ([0; 32], nonces::RandomNonces::new());
        getrandom::fill(&mut key)?;
        keys.push((key.to_vec(), nonces.draw()?.to_vec()));
        assert!(keys.iter().all(|(key, nonce)| (key.len(), nonce.len()) == (32, 12)));
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
        Ok(())
    }

    /// Over any block cipher, and of a cipher that has its key; and STREAM.
    #[test]
    fn by_the_replacement() {
        use fastgcm_aes_gcm_010::{
            AesGcm, KeyInit,
            aead::{
                Aead, Payload,
                consts::{U12, U16},
                stream::EncryptorBE32,
            },
            aes::{
                Aes256,
                cipher::{BlockCipher, BlockEncrypt, BlockSizeUser},
            },
        };
        fn seal<C: BlockCipher + BlockEncrypt + BlockSizeUser<BlockSize = U16>>(cipher: &AesGcm<C, U12>) -> Vec<u8> {
            cipher.encrypt(&NONCE.into(), Payload { msg: TEXT, aad: AAD }).unwrap()
        }
        let (key, aes) = ((&KEY).into(), Aes256::new((&KEY).into()));
        assert_eq!([seal::<Aes256>(&AesGcm::new(key)), seal::<Aes256>(&AesGcm::from(aes))], [sealed(), sealed()]);
        let (prefix, cipher) = (&[1; 7].into(), aes_gcm_010::Aes256Gcm::new((&KEY).into()));
        let theirs = EncryptorBE32::from_aead(cipher, prefix).encrypt_last(TEXT).unwrap();
        let (prefix, cipher) = (&[1; 7].into(), fastgcm_aes_gcm_010::Aes256Gcm::new((&KEY).into()));
        assert_eq!(theirs, EncryptorBE32::from_aead(cipher, prefix).encrypt_last(TEXT).unwrap());
    }
}

/// ring and aws-lc-rs have the same calls.
macro_rules! ring {
    ($module:ident, $ring:ident, $tag_of:ident, |$key:ident, $nonce:ident, $aad:ident, $tag:ident, $buffer:ident| $open:expr) => {
        mod $module {
            use super::*;
            use ::$ring::{
                aead::{AES_256_GCM, Aad, BoundKey, LessSafeKey, Nonce, NonceSequence, SealingKey, UnboundKey, quic},
                error::Unspecified,
            };
            use fastgcm::{Error, Key, hazmat, nonces, nonces::CounterNonces};

            fn theirs() -> LessSafeKey {
                LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &KEY).unwrap())
            }

            fn ours() -> Key {
                Key::aes256(&KEY)
            }

            #[test]
            fn keys() {
                let key = &KEY[..];
                same! {
                    { let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key)?); let mut vec = TEXT.to_vec();
                      key.seal_in_place_append_tag(Nonce::assume_unique_for_key(NONCE), Aad::from(AAD), &mut vec)?; Ok(vec) }
                    { let key = Key::new(key)?; Ok(key.seal_vec(NONCE, AAD, TEXT)?) }
                }
            }

            #[test]
            fn sealing() {
                let (nonce, slice) = (NONCE, &NONCE[..]);
                same! {
                    { let aad = AAD; let (key, nonce, aad) = (theirs(), Nonce::assume_unique_for_key(nonce), Aad::from(aad)); let mut vec = TEXT.to_vec();
                      key.seal_in_place_append_tag(nonce, aad, &mut vec)?; Ok(vec) }
                    { let (key, aad) = (ours(), AAD); let mut vec = TEXT.to_vec();
                      key.seal_in_place_append_tag(nonce, aad, &mut vec)?; Ok(vec) }
                    { Ok(sealed()) }
                }
                same! {
                    { let nonce = slice; let (key, nonce, aad) = (theirs(), Nonce::try_assume_unique_for_key(nonce)?, Aad::empty());
                      let mut text = TEXT.to_vec(); let buffer = &mut text[..];
                      let tag = key.seal_in_place_separate_tag(nonce, aad, buffer)?; Ok([&text[..], tag.as_ref()].concat()) }
                    { let nonce = slice; let (key, nonce, aad): (_, [u8; 12], _) = (ours(), nonce.try_into()?, b""); let mut text = TEXT.to_vec(); let buffer = &mut text[..];
                      let tag = key.seal(nonce, aad, buffer)?; Ok([&text[..], tag.as_ref()].concat()) }
                    { use fastgcm::Nonce; let nonce = slice; let (key, nonce, aad) = (ours(), Nonce::any(nonce)?, b""); let mut text = TEXT.to_vec();
                      let tag = key.seal(nonce, aad, &mut text)?; Ok([&text[..], tag.as_ref()].concat()) }
                }
            }

            #[test]
            fn opening() {
                let with_header = || [b"8 bytes.", &sealed()[..]].concat();
                let nonce = || Nonce::assume_unique_for_key(NONCE);
                same! {
                    { let (key, nonce, aad) = (theirs(), nonce(), Aad::from(AAD)); let mut buffer = sealed(); let buffer = &mut buffer[..];
                      Ok(key.open_in_place(nonce, aad, buffer)?.to_vec()) }
                    { let (key, nonce, aad) = (ours(), NONCE, AAD); let mut buffer = sealed(); let buffer = &mut buffer[..];
                      Ok(key.open_appended(nonce, aad, buffer)?.to_vec()) }
                    { Ok(TEXT.to_vec()) }
                }
                same! {
                    { let (key, nonce, aad) = (theirs(), nonce(), Aad::from(AAD)); let mut all = with_header(); let buffer = &mut all[..];
                      assert_eq!(key.open_within(nonce, aad, buffer, 8..)?, TEXT); Ok(all[..TEXT.len()].to_vec()) }
                    { let (key, nonce, aad) = (ours(), NONCE, AAD); let mut all = with_header(); let buffer = &mut all[..];
                      assert_eq!(key.open_within(nonce, aad, buffer, 8..)?, TEXT); Ok(all[..TEXT.len()].to_vec()) }
                    { let (key, nonce, aad) = (ours(), NONCE, AAD); let mut buffer = with_header();
                      let text = key.open_appended(nonce, aad, &mut buffer[8..])?; Ok(text.to_vec()) }
                }
                let sealed = sealed();
                let (ciphertext, tag) = sealed.split_last_chunk::<16>().unwrap();
                same! {
                    { let ($key, $nonce, $aad, mut text) = (theirs(), nonce(), Aad::from(AAD), ciphertext.to_vec()); let $buffer = &mut text[..];
                      let $tag = $tag_of(tag); $open; Ok(text) }
                    { let (key, nonce, aad, mut text) = (ours(), NONCE, AAD, ciphertext.to_vec()); let (buffer, tag) = (&mut text[..], &fastgcm::Tag(*tag));
                      key.open(nonce, aad, buffer, tag)?; Ok(text) }
                }
                // What is refused, and that zeros are left.
                let mut wrong = sealed.clone();
                wrong[0] ^= 1;
                let mut left = [wrong.clone(), wrong];
                let error: Unspecified = theirs().open_in_place(nonce(), Aad::from(AAD), &mut left[0]).unwrap_err();
                assert_eq!(error, Unspecified);
                assert_eq!(ours().open_appended(NONCE, AAD, &mut left[1]), Err(Error::Unauthentic));
                assert!(left.iter().all(|left| left[..TEXT.len()].iter().all(|byte| *byte == 0)));
            }

            /// Nonces that are counted. fastgcm's have a fixed part of four bytes here, and a counter of eight.
            struct Counting(u64);

            impl NonceSequence for Counting {
                fn advance(&mut self) -> Result<Nonce, Unspecified> {
                    let nonce = [&b"left"[..], &self.0.to_be_bytes()].concat();
                    self.0 += 1;
                    Nonce::try_assume_unique_for_key(&nonce)
                }
            }

            #[test]
            fn keys_that_choose_nonces() {
                let key = &KEY[..];
                same! {
                    {
                        let sequence = Counting(0);
                        let mut sealing = SealingKey::new(UnboundKey::new(&AES_256_GCM, key)?, sequence);
                        let mut all = Vec::new();
                        for mut text in [TEXT.to_vec(), TEXT.to_vec()] {
                            let (aad, buffer) = (Aad::from(AAD), &mut text[..]);
                            let tag = sealing.seal_in_place_separate_tag(aad, buffer)?;
                            all.extend([&text[..], tag.as_ref()].concat());
                        }
                        Ok(all)
                    }
                    {
                        let mut sealing = nonces::SealingKey::new(key, CounterNonces::new(*b"left"))?;
                        let mut all = Vec::new();
                        for mut text in [TEXT.to_vec(), TEXT.to_vec()] {
                            let (aad, buffer) = (AAD, &mut text[..]);
                            let (nonce, tag) = sealing.seal(aad, buffer)?;
                            assert_eq!(nonce[..4], *b"left");
                            all.extend([&text[..], tag.as_ref()].concat());
                        }
                        Ok(all)
                    }
                }
            }

            #[test]
            fn masks() {
                let (key, sample) = (&KEY[..16], *b"sixteen bytes of");
                same! {
                    { let sample = &sample[..]; Ok(quic::HeaderProtectionKey::new(&quic::AES_128, key)?.new_mask(sample)?.to_vec()) }
                    { let (key, mut sample) = (Key::new(key)?, sample); hazmat::aes_block(&key, &mut sample); Ok(sample[..5].to_vec()) }
                }
            }
        }
    };
}

/// ring takes a tag as a type of its own, and aws-lc-rs as a slice.
fn typed(tag: &[u8; 16]) -> ::ring::aead::Tag {
    (*tag).into()
}

fn slice(tag: &[u8; 16]) -> &[u8] {
    tag
}

ring!(of_ring, ring, typed, |key, nonce, aad, tag, buffer| key.open_in_place_separate_tag(nonce, aad, tag, buffer, 0..)?);
ring!(of_aws_lc_rs, aws_lc_rs, slice, |key, nonce, aad, tag, buffer| key.open_in_place_separate_tag(nonce, aad, tag, buffer)?);

/// What aws-lc-rs alone has.
mod aws_lc_rs_only {
    use super::*;
    use ::aws_lc_rs::aead::{AES_192_GCM, AES_256_GCM, AES_256_GCM_SIV, Aad, LessSafeKey, Nonce, RandomizedNonceKey, UnboundKey};
    use fastgcm::{AesGcmSiv, Key, nonces, nonces::RandomNonces};

    fn theirs() -> LessSafeKey {
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &KEY).unwrap())
    }

    fn nonce() -> Nonce {
        Nonce::assume_unique_for_key(NONCE)
    }

    #[test]
    fn other_algorithms() {
        let key = &KEY[..24];
        same! {
            { let key = UnboundKey::new(&AES_192_GCM, key)?; let mut text = TEXT.to_vec();
              LessSafeKey::new(key).seal_in_place_append_tag(nonce(), Aad::from(AAD), &mut text)?; Ok(text) }
            { Ok(Key::new(key)?.seal_vec(NONCE, AAD, TEXT)?) }
        }
        let key = &KEY[..];
        same! {
            { let key = UnboundKey::new(&AES_256_GCM_SIV, key)?; let mut text = TEXT.to_vec();
              LessSafeKey::new(key).seal_in_place_append_tag(nonce(), Aad::from(AAD), &mut text)?; Ok(text) }
            { let (key, mut text) = (AesGcmSiv::new(key)?, TEXT.to_vec());
              let tag = key.seal(&NONCE, AAD, &mut text)?; Ok([&text[..], tag.as_ref()].concat()) }
        }
    }

    /// One opens what the other has sealed.
    #[test]
    fn random_nonces() -> Result<(), Any> {
        let key = &KEY[..];
        let theirs = RandomizedNonceKey::new(&AES_256_GCM, key)?;
        let mut ours = nonces::SealingKey::new(key, RandomNonces::new())?;
        let mut text = TEXT.to_vec();
        let nonce = theirs.seal_in_place_append_tag(Aad::from(AAD), &mut text)?;
        assert_eq!(Key::new(key)?.open_appended(*nonce.as_ref(), AAD, &mut text)?, TEXT);
        let mut text = TEXT.to_vec();
        let (nonce, tag) = ours.seal(AAD, &mut text)?;
        text.extend(tag.as_ref());
        assert_eq!(theirs.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(AAD), &mut text)?, TEXT);
        Ok(())
    }

    #[test]
    fn scattered() {
        let (theirs, ours, extra) = (theirs(), Key::aes256(&KEY), &b"\x17"[..]);
        same! {
            { let (key, nonce, aad, mut text) = (&theirs, nonce(), Aad::from(AAD), TEXT.to_vec());
              let (buffer, mut rest) = (&mut text[..], [0; 17]); let extra_and_tag = &mut rest[..];
              key.seal_in_place_scatter(nonce, aad, buffer, extra, extra_and_tag)?; Ok([&text[..], &rest].concat()) }
            { let (key, nonce, aad, mut text, mut extra) = (&ours, NONCE, AAD, TEXT.to_vec(), *b"\x17");
              let tag = { let (buffer, extra) = (&mut text[..], &mut extra[..]); key.seal_chunks(nonce, &[aad], &mut [buffer, extra])? };
              Ok([&text[..], &extra, tag.as_ref()].concat()) }
        }
        let text = TEXT;
        same! {
            { let (key, nonce, aad, mut out, mut rest) = (&theirs, nonce(), Aad::from(AAD), vec![0; TEXT.len()], [0; 17]);
              let (ciphertext, extra_and_tag) = (&mut out[..], &mut rest[..]);
              key.seal_out_of_place_scatter(nonce, aad, text, ciphertext, extra, extra_and_tag)?; Ok([&out[..], &rest].concat()) }
            { let (key, nonce, aad, mut out, mut extra_out) = (&ours, NONCE, AAD, vec![0; TEXT.len()], [0; 1]);
              let tag = { let (ciphertext, extra_out) = (&mut out[..], &mut extra_out[..]);
                  key.seal_scattered(nonce, &[aad], &[text], extra, &mut [ciphertext, extra_out])? };
              Ok([&out[..], &extra_out, tag.as_ref()].concat()) }
            { let mut out = vec![0; TEXT.len() + 1];
              let tag = ours.seal_gathered(NONCE, &[AAD], &[text], extra, &mut out)?; Ok([&out[..], tag.as_ref()].concat()) }
        }
        let sealed = sealed();
        let (ciphertext, tag) = sealed.split_last_chunk::<16>().unwrap();
        same! {
            { let (key, nonce, aad, mut text) = (&theirs, nonce(), Aad::from(AAD), vec![0; TEXT.len()]); let out = &mut text[..];
              key.open_separate_gather(nonce, aad, ciphertext, tag, out)?; Ok(text) }
            { let (key, nonce, aad, mut text) = (&ours, NONCE, AAD, vec![0; TEXT.len()]); let (out, tag) = (&mut text[..], &fastgcm::Tag(*tag));
              key.open_detached_to(nonce, aad, ciphertext, out, tag)?; Ok(text) }
        }
    }
}

/// What of a refused message is left.
#[test]
fn refused() {
    let (key, sealed) = (fastgcm::Key::aes256(&KEY), sealed());
    let (ciphertext, tag) = (&sealed[..TEXT.len()], &fastgcm::Tag([0; 16]));
    let mut left = [ciphertext; 3].map(<[u8]>::to_vec);
    key.open(NONCE, AAD, &mut left[0], tag).unwrap_err();
    key.open_restoring(NONCE, AAD, &mut left[1], tag).unwrap_err();
    key.open_verified_first(NONCE, AAD, &mut left[2], tag).unwrap_err();
    assert!(left[0].iter().all(|byte| *byte == 0) && left[1] == ciphertext && left[2] == ciphertext);
}

/// A number of the last table. (That of our own key: `code` in tests/documents.rs of the library.)
#[test]
fn size_of_a_key_of_ring() {
    assert_eq!((size_of::<::ring::aead::LessSafeKey>() + 50) / 100, 5);
}

/// rustls: what the page shows.
#[test]
fn rustls_and_quinn() -> Result<(), Any> {
    use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
    use rustls::{ClientConfig, ServerConfig};
    let roots = rustls::RootCertStore::empty();
    let provider = rustls_fastgcm::with(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    QuicClientConfig::try_from(config)?;
    let other = rustls_fastgcm::with(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(other.clone().into()).with_safe_default_protocol_versions()?;
    let config = config.with_no_client_auth().with_cert_resolver(std::sync::Arc::new(rustls::server::ResolvesServerCertUsingSni::new()));
    QuicServerConfig::try_from(config)?;
    let provider = other;
    assert!(!provider.fips());
    provider.install_default().map_err(|_| "there is one")?;
    let _ = ClientConfig::builder();
    Ok(())
}

/// Each piece of code in a row of the page's tables stands in one function of this file, or in one macro, white space and `use` apart.
#[test]
fn every_row_is_here() {
    let page = include_str!("../../../../docs/migrating.md");
    let squeezed = |code: &str| code.split_whitespace().collect::<String>();
    let without_comments: Vec<&str> =
        include_str!("migrating.rs").lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    // The arguments of the macros stand by themselves.
    let code = squeezed(&without_comments.join("\n"));
    let (mut rows, mut pieces) = (0, 0);
    let is_head = |line: &&str| line.starts_with("| `aes-gcm`") || line.starts_with("| fastgcm, "); // or a row of what a build costs
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains('`') && !is_head(line)) {
        let is_code = |piece: &&str| !["aes-gcm", "fastgcm-aes-gcm", "fastgcm-file"].contains(piece);
        for piece in row.split('`').skip(1).step_by(2).filter(is_code) {
            assert!(code.contains(&squeezed(piece)), "{piece}");
            pieces += 1;
        }
        rows += 1;
    }
    // Of rustls: the block of code as a whole, and calls in sentences.
    let section = page.split_once("## From rustls").and_then(|(_, rest)| rest.split("\n## ").next()).unwrap();
    let block = section.split_once("```text\n").and_then(|(_, rest)| rest.split("```").next()).unwrap();
    let block: String = block.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let in_sentences = section.split('`').filter(|piece| piece.ends_with(')') && !piece.contains('\n') && !piece.starts_with("builder"));
    for piece in in_sentences.chain([&block[..]]) {
        assert!(code.contains(&squeezed(piece)), "{piece}");
        pieces += 1;
    }
    assert_eq!((rows, pieces), (38, 103));
}

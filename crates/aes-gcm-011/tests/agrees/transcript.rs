// Calls of everything in the interface of `subject`, which is either crate. What they return, and what they leave in buffers, is written down.

use subject::{
    AeadCore, AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm, Error, Key, KeyInit, KeySizeUser, Nonce, Tag, TagSize,
    aead::{
        Aead, Buffer, Payload, TagPosition,
        array::{Array, ArraySize, typenum::Unsigned},
        consts::{U1, U4, U8, U11, U12, U13, U14, U15, U16, U17, U128},
        inout::InOutBuf,
    },
    aes::{
        Aes128, Aes128Enc, Aes192, Aes256, Aes256Enc,
        cipher::{BlockCipherEncrypt, BlockSizeUser},
    },
};
use camellia::{Camellia128, Camellia192, Camellia256};

pub(crate) fn transcript() -> Vec<Entry> {
    let mut entries = Vec::new();
    keys::<U12, U16>(&mut entries);
    keys::<U1, U16>(&mut entries);
    keys::<U8, U16>(&mut entries);
    keys::<U11, U16>(&mut entries);
    keys::<U13, U16>(&mut entries);
    keys::<U17, U16>(&mut entries);
    keys::<U128, U16>(&mut entries);
    keys::<U12, U15>(&mut entries);
    keys::<U12, U14>(&mut entries);
    keys::<U12, U13>(&mut entries);
    keys::<U12, U12>(&mut entries);
    keys::<U12, U8>(&mut entries);
    keys::<U12, U4>(&mut entries);
    messages::<AesGcm<Aes128Enc, U12>>(&mut entries);
    messages::<AesGcm<Aes256Enc, U12>>(&mut entries);
    others(&mut entries);
    streams(&mut entries);
    random();
    entries
}

fn keys<N: ArraySize, T: TagSize>(entries: &mut Vec<Entry>) {
    messages::<AesGcm<Aes128, N, T>>(entries);
    messages::<AesGcm<Aes192, N, T>>(entries);
    messages::<AesGcm<Aes256, N, T>>(entries);
}

/// Block ciphers that are not those of `aes`, and one that has its key already.
fn others(entries: &mut Vec<Entry>) {
    messages::<AesGcm<Camellia128, U12>>(entries);
    messages::<AesGcm<Camellia192, U8>>(entries);
    messages::<AesGcm<Camellia256, U17, U13>>(entries);
    let key = bytes(32, 1);
    messages_of(&AesGcm::<Aes256, U12>::from(Aes256::new_from_slice(&key).unwrap()), entries);
    messages_of(&AesGcm::<Camellia256, U12, U4>::from(Camellia256::new_from_slice(&key).unwrap()), entries);
    generic::<Aes256>(&key, entries);
    generic::<Camellia256>(&key, entries);
}

/// Over any block cipher, with the bounds that `aes-gcm` asks for.
fn generic<C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit>(key: &[u8], entries: &mut Vec<Entry>) {
    let cipher = AesGcm::<C, U12>::new_from_slice(key).unwrap();
    entries.push(("generic", cipher.encrypt(&[5; 12].into(), b"text".as_slice()).unwrap()));
}

fn messages<C: KeyInit + AeadInOut>(entries: &mut Vec<Entry>) {
    let key = bytes(C::key_size(), 1);
    assert!(C::new_from_slice(&key[1..]).is_err());
    messages_of(&C::new_from_slice(&key).unwrap(), entries);
}

fn messages_of<C: AeadInOut>(cipher: &C, entries: &mut Vec<Entry>) {
    let nonce = bytes(C::NonceSize::USIZE, 2);
    let nonce = &Array::try_from(&nonce[..]).unwrap();
    for length in LENGTHS {
        let aad = bytes(length % 67, 3);
        let text = bytes(length, 4);

        let mut buffer = text.clone();
        let tag = cipher.encrypt_inout_detached(nonce, &aad, buffer.as_mut_slice().into()).unwrap();
        entries.push(("seal", [&buffer[..], &tag].concat()));
        let mut forged = tag.clone();
        forged[length % C::TagSize::USIZE] ^= 1;
        assert_eq!(cipher.decrypt_inout_detached(nonce, &aad, buffer.as_mut_slice().into(), &forged), Err(Error));
        entries.push(("a wrong tag leaves", buffer.clone()));
        cipher.decrypt_inout_detached(nonce, &aad, buffer.as_mut_slice().into(), &tag).unwrap();
        entries.push(("open", buffer));

        let mut out = vec![0xee; length];
        let same = cipher.encrypt_inout_detached(nonce, &aad, InOutBuf::new(&text, &mut out).unwrap()).unwrap();
        entries.push(("seal to another buffer", [&out[..], &same].concat()));
        let ciphertext = std::mem::replace(&mut out, vec![0xee; length]);
        assert_eq!(cipher.decrypt_inout_detached(nonce, &aad, InOutBuf::new(&ciphertext, &mut out).unwrap(), &forged), Err(Error));
        entries.push(("a wrong tag leaves another buffer", out.clone()));
        cipher.decrypt_inout_detached(nonce, &aad, InOutBuf::new(&ciphertext, &mut out).unwrap(), &tag).unwrap();
        entries.push(("open to another buffer", out));

        let mut sealed = cipher.encrypt(nonce, Payload { msg: &text, aad: &aad }).unwrap();
        entries.push(("encrypt", sealed.clone()));
        entries.push(("decrypt", cipher.decrypt(nonce, Payload { msg: &sealed, aad: &aad }).unwrap()));
        assert_eq!(cipher.decrypt(nonce, &sealed[1..]), Err(Error));
        sealed[length] ^= 1;
        let buffer: &mut dyn Buffer = &mut sealed;
        assert_eq!(cipher.decrypt_in_place(nonce, &aad, buffer), Err(Error));
        entries.push(("a wrong tag in a Buffer leaves", buffer.as_ref().to_vec()));
        buffer.as_mut()[length] ^= 1;
        cipher.decrypt_in_place(nonce, &aad, buffer).unwrap();
        entries.push(("decrypt_in_place", buffer.as_ref().to_vec()));
        cipher.encrypt_in_place(nonce, &aad, buffer).unwrap();
        entries.push(("encrypt_in_place", buffer.as_ref().to_vec()));
    }
    for length in 0..C::TagSize::USIZE {
        assert_eq!(cipher.decrypt(nonce, &vec![0; length][..]), Err(Error));
    }
}

fn streams(entries: &mut Vec<Entry>) {
    use aead_stream::{DecryptorBE32, EncryptorLE31, NewStream, StreamBE32, StreamPrimitive};
    let key: &Key<Aes256Gcm> = &Array(bytes(32, 5).try_into().unwrap());
    let (seven, eight) = (&Array(bytes(7, 6).try_into().unwrap()), &Array(bytes(8, 7).try_into().unwrap()));
    let mut sealer = StreamBE32::from_aead(Aes256Gcm::new(key), seven).encryptor();
    let mut opener = DecryptorBE32::<Aes256Gcm>::new(key, seven);
    let mut little = EncryptorLE31::<Aes256Gcm>::new(key, eight);
    for length in LENGTHS {
        let (mut text, aad) = (bytes(length, 8), bytes(5, 9));
        let sealed = sealer.encrypt_next(Payload { msg: &text, aad: &aad }).unwrap();
        assert_eq!(opener.decrypt_next(Payload { msg: &sealed, aad: &aad }).unwrap(), text);
        entries.push(("BE32", sealed));
        little.encrypt_next_in_place(&aad, &mut text).unwrap();
        entries.push(("LE31", text));
    }
    let last = sealer.encrypt_last(b"last".as_slice()).unwrap();
    assert_eq!(opener.decrypt_last(last.as_slice()).unwrap(), b"last");
    entries.push(("the last of BE32", last));
    entries.push(("the last of LE31", little.encrypt_last(b"last".as_slice()).unwrap()));
}

fn random() {
    use subject::aead::{Generate, arrayvec::ArrayVec};
    fn is_shared<T: Clone + Send + Sync + Unpin + std::fmt::Debug + zeroize::ZeroizeOnDrop + 'static>(cipher: &T) -> T {
        cipher.clone()
    }
    let key = Key::<Aes128Gcm>::generate();
    let nonce = Nonce::<U12>::generate();
    assert_ne!(nonce, Nonce::generate());
    let cipher = is_shared(&Aes128Gcm::new(&key));
    assert_eq!(format!("{cipher:?}"), "AesGcm { .. }");
    let mut text = *b"text";
    let tag: Tag = cipher.encrypt_inout_detached(&nonce, b"", text.as_mut_slice().into()).unwrap();
    cipher.decrypt_inout_detached(&nonce, b"", text.as_mut_slice().into(), &tag).unwrap();
    assert_eq!((&text, Aes128Gcm::key_size()), (b"text", <Aes128Gcm as KeySizeUser>::KeySize::USIZE));
    assert_eq!(<Aes128Gcm as AeadCore>::TAG_POSITION, TagPosition::Postfix);
    let mut short = ArrayVec::<u8, 19>::new();
    short.try_extend_from_slice(b"text").unwrap();
    assert_eq!(cipher.encrypt_in_place(&nonce, b"", &mut short), Err(Error), "no room for the tag");
}

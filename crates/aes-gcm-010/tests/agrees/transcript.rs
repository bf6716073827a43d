// Calls of everything in the interface of `subject`, which is either crate. What they return, and what they leave in buffers, is written down.

use camellia::{Camellia128, Camellia192, Camellia256};
use stream::{DecryptorBE32, DecryptorLE31, EncryptorBE32, EncryptorLE31, NewStream, StreamBE32, StreamPrimitive};
use subject::{
    Aes128Gcm, Aes256Gcm, AesGcm, Error, KeyInit, KeySizeUser, Nonce, Tag, TagSize,
    aead::{
        Aead, Buffer, Payload,
        consts::{U1, U8, U11, U12, U13, U14, U15, U16, U17, U128},
    },
    aes::{Aes128, Aes128Enc, Aes192, Aes256, Aes256Enc, cipher::BlockSizeUser},
};

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
    short_tags(&mut entries);
    messages::<AesGcm<Aes128Enc, U12>>(&mut entries);
    messages::<AesGcm<Aes256Enc, U12>>(&mut entries);
    others(&mut entries);
    streams(&mut entries);
    random();
    limits();
    entries
}

fn keys<N: Size, T: TagSize>(entries: &mut Vec<Entry>) {
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
    messages_of(&AesGcm::<Camellia256, U12, ShortestTag>::from(Camellia256::new_from_slice(&key).unwrap()), entries);
    generic::<Aes256>(&key, entries);
    generic::<Camellia256>(&key, entries);
}

/// Over any block cipher, with the bounds that `aes-gcm` asks for.
fn generic<C: BlockCipher + BlockSizeUser<BlockSize = U16> + KeyInit>(key: &[u8], entries: &mut Vec<Entry>) {
    let cipher = AesGcm::<C, U12>::new_from_slice(key).unwrap();
    entries.push(("generic", cipher.encrypt(&[5; 12].into(), b"text".as_slice()).unwrap()));
}

fn messages<C: KeyInit + InPlace>(entries: &mut Vec<Entry>) {
    let key = bytes(C::key_size(), 1);
    assert!(C::new_from_slice(&key[1..]).is_err());
    messages_of(&C::new_from_slice(&key).unwrap(), entries);
}

fn messages_of<C: InPlace>(cipher: &C, entries: &mut Vec<Entry>) {
    let nonce = &array::<C::NonceSize>(2);
    let tag_size = Array::<u8, C::TagSize>::default().len();
    for length in LENGTHS {
        let aad = bytes(length % 67, 3);
        let text = bytes(length, 4);

        let mut buffer = text.clone();
        let tag = seal(cipher, nonce, &aad, &mut buffer).unwrap();
        entries.push(("seal", [&buffer[..], &tag].concat()));
        let mut forged = tag.clone();
        forged[length % tag_size] ^= 1;
        assert_eq!(open(cipher, nonce, &aad, &mut buffer, &forged), Err(Error));
        entries.push(("a wrong tag leaves", buffer.clone()));
        open(cipher, nonce, &aad, &mut buffer, &tag).unwrap();
        entries.push(("open", buffer));
        to_another_buffer(cipher, nonce, [&aad, &text], [&tag, &forged], entries);

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
    for length in 0..tag_size {
        assert_eq!(cipher.decrypt(nonce, &vec![0; length][..]), Err(Error));
    }
}

fn streams(entries: &mut Vec<Entry>) {
    let key = &array(5);
    let (seven, eight) = (&array(6), &array(7));
    let mut sealer = EncryptorBE32::<Aes256Gcm>::new(key, seven);
    let mut opener = DecryptorBE32::from_aead(Aes256Gcm::new(key), seven);
    let mut little = (EncryptorLE31::<Aes256Gcm>::new(key, eight), DecryptorLE31::<Aes256Gcm>::new(key, eight));
    for length in LENGTHS {
        let (text, aad) = (bytes(length, 8), bytes(5, 9));
        let sealed = sealer.encrypt_next(Payload { msg: &text, aad: &aad }).unwrap();
        assert_eq!(opener.decrypt_next(Payload { msg: &sealed, aad: &aad }).unwrap(), text);
        entries.push(("BE32", sealed));
        let mut buffer = text.clone();
        little.0.encrypt_next_in_place(&aad, &mut buffer).unwrap();
        entries.push(("LE31", buffer.clone()));
        little.1.decrypt_next_in_place(&aad, &mut buffer).unwrap();
        assert_eq!(buffer, text);
    }
    let last = sealer.encrypt_last(b"last".as_slice()).unwrap();
    assert_eq!(opener.decrypt_last(last.as_slice()).unwrap(), b"last");
    entries.push(("the last of BE32", last));
    let last = little.0.encrypt_last(b"last".as_slice()).unwrap();
    assert_eq!(little.1.decrypt_last(last.as_slice()).unwrap(), b"last");
    entries.push(("the last of LE31", last));
    let stream = StreamBE32::from_aead(Aes256Gcm::new(key), seven);
    entries.push(("StreamPrimitive", stream.encrypt(77, false, b"chunk".as_slice()).unwrap()));
}

fn random() {
    fn is_shared<T: Clone + Send + Sync + Unpin + 'static>(cipher: &T) -> T {
        cipher.clone()
    }
    let (key, nonce) = generated();
    let cipher = is_shared(&Aes128Gcm::new(&key));
    let mut text = *b"text";
    let tag: Tag = seal(&cipher, &nonce, b"", &mut text).unwrap();
    open(&cipher, &nonce, b"", &mut text, &tag).unwrap();
    assert_eq!((&text, Aes128Gcm::key_size()), (b"text", <Aes128Gcm as KeySizeUser>::key_size()));
    traits(&cipher, &nonce);
}

// What `aes-gcm` 0.11.1 has otherwise than 0.10.3.

use aead_stream as stream;
use subject::{
    AeadCore, AeadInOut as InPlace, Key,
    aead::{
        Generate, TagPosition,
        array::{Array, ArraySize as Size},
        arrayvec::ArrayVec,
        consts::{U4, U4 as ShortestTag},
        inout::InOutBuf,
    },
    aes::cipher::BlockCipherEncrypt as BlockCipher,
};

/// How many entries a transcript has.
pub(crate) const ENTRIES: usize = (13 * 3 + 2 + 5) * LENGTHS.len() * 11 + 2 + 2 * LENGTHS.len() + 3;

fn array<N: Size>(seed: u64) -> Array<u8, N> {
    Array::try_from(&bytes(N::USIZE, seed)[..]).unwrap()
}

fn seal<C: InPlace>(cipher: &C, nonce: &Array<u8, C::NonceSize>, aad: &[u8], buffer: &mut [u8]) -> Result<Array<u8, C::TagSize>, Error> {
    cipher.encrypt_inout_detached(nonce, aad, buffer.into())
}

fn open<C: InPlace>(
    cipher: &C,
    nonce: &Array<u8, C::NonceSize>,
    aad: &[u8],
    buffer: &mut [u8],
    tag: &Array<u8, C::TagSize>,
) -> Result<(), Error> {
    cipher.decrypt_inout_detached(nonce, aad, buffer.into(), tag)
}

fn to_another_buffer<C: InPlace>(
    cipher: &C,
    nonce: &Array<u8, C::NonceSize>,
    [aad, text]: [&[u8]; 2],
    [tag, forged]: [&Array<u8, C::TagSize>; 2],
    entries: &mut Vec<Entry>,
) {
    let mut out = vec![0xee; text.len()];
    let same = cipher.encrypt_inout_detached(nonce, aad, InOutBuf::new(text, &mut out).unwrap()).unwrap();
    entries.push(("seal to another buffer", [&out[..], &same].concat()));
    let ciphertext = std::mem::replace(&mut out, vec![0xee; text.len()]);
    assert_eq!(cipher.decrypt_inout_detached(nonce, aad, InOutBuf::new(&ciphertext, &mut out).unwrap(), forged), Err(Error));
    entries.push(("a wrong tag leaves another buffer", out.clone()));
    cipher.decrypt_inout_detached(nonce, aad, InOutBuf::new(&ciphertext, &mut out).unwrap(), tag).unwrap();
    entries.push(("open to another buffer", out));
}

fn short_tags(entries: &mut Vec<Entry>) {
    keys::<U12, U8>(entries);
    keys::<U12, U4>(entries);
}

fn generated() -> (Key<Aes128Gcm>, Nonce<U12>) {
    assert_ne!(Nonce::<U12>::generate(), Nonce::generate());
    (Key::<Aes128Gcm>::generate(), Nonce::generate())
}

fn traits<C: std::fmt::Debug + zeroize::ZeroizeOnDrop + InPlace<NonceSize = U12>>(cipher: &C, nonce: &Nonce<U12>) {
    assert_eq!(format!("{cipher:?}"), "AesGcm { .. }");
    assert_eq!(<Aes128Gcm as AeadCore>::TAG_POSITION, TagPosition::Postfix);
    let mut short = ArrayVec::<u8, 19>::new();
    short.try_extend_from_slice(b"text").unwrap();
    assert_eq!(cipher.encrypt_in_place(nonce, b"", &mut short), Err(Error), "no room for the tag");
}

/// What the README says of limits and sizes.
fn limits() {
    use fastgcm_aes_gcm as ours;
    assert_eq!((ours::A_MAX, ours::P_MAX), (aes_gcm::A_MAX, aes_gcm::P_MAX));
    let sizes = (size_of::<ours::Aes256Gcm>(), size_of::<aes_gcm::Aes256Gcm>());
    assert_eq!((sizes.0 / 128, sizes.1 / 128), (13, 4), "1.7 KB and 0.6 KB: {sizes:?}");
}

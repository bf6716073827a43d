// What `aes-gcm` 0.10.3 has otherwise than 0.11.1.

use subject::{
    AeadCore, AeadInPlace as InPlace, Key,
    aead::{
        OsRng,
        consts::U12 as ShortestTag,
        generic_array::{ArrayLength, GenericArray as Array, typenum::Unsigned},
        rand_core::RngCore,
        stream,
    },
    aes::cipher::{self, BlockEncrypt},
};

/// How many entries a transcript has.
pub(crate) const ENTRIES: usize = (11 * 3 + 2 + 5) * LENGTHS.len() * 8 + 2 + 2 * LENGTHS.len() + 3;

trait Size: ArrayLength<u8> {}
impl<T: ArrayLength<u8>> Size for T {}

trait BlockCipher: cipher::BlockCipher + BlockEncrypt {}
impl<T: cipher::BlockCipher + BlockEncrypt> BlockCipher for T {}

fn array<N: Size>(seed: u64) -> Array<u8, N> {
    Array::clone_from_slice(&bytes(N::USIZE, seed))
}

fn seal<C: InPlace>(cipher: &C, nonce: &Array<u8, C::NonceSize>, aad: &[u8], buffer: &mut [u8]) -> Result<Array<u8, C::TagSize>, Error> {
    cipher.encrypt_in_place_detached(nonce, aad, buffer)
}

fn open<C: InPlace>(
    cipher: &C,
    nonce: &Array<u8, C::NonceSize>,
    aad: &[u8],
    buffer: &mut [u8],
    tag: &Array<u8, C::TagSize>,
) -> Result<(), Error> {
    cipher.decrypt_in_place_detached(nonce, aad, buffer, tag)
}

fn to_another_buffer<C: InPlace>(_: &C, _: &Array<u8, C::NonceSize>, _: [&[u8]; 2], _: [&Array<u8, C::TagSize>; 2], _: &mut [Entry]) {}

fn short_tags(_: &mut [Entry]) {}

fn generated() -> (Key<Aes128Gcm>, Nonce<U12>) {
    assert_ne!(Aes128Gcm::generate_nonce(&mut OsRng), Aes128Gcm::generate_nonce(&mut OsRng));
    assert_ne!(OsRng.next_u64(), 0);
    (Aes128Gcm::generate_key(OsRng), Aes128Gcm::generate_nonce(&mut OsRng))
}

fn traits(_: &Aes128Gcm, _: &Nonce<U12>) {
    assert_eq!(<Aes128Gcm as AeadCore>::CiphertextOverhead::USIZE, 0);
}

/// What the README says of limits and sizes.
fn limits() {
    use fastgcm_aes_gcm as ours;
    let sizes = (size_of::<ours::Aes256Gcm>(), size_of::<aes_gcm::Aes256Gcm>());
    assert_eq!((sizes.0 / 128, sizes.1 / 128), (13, 7), "1.7 KB and 1 KB: {sizes:?}");
    assert_eq!((ours::A_MAX, ours::P_MAX, ours::C_MAX), (aes_gcm::A_MAX, aes_gcm::P_MAX - 32, aes_gcm::C_MAX - 32));
}

// What both versions of this test have.

use fastgcm_aes_gcm::{
    AesGcm,
    aead::consts::{U1, U12, U16},
    aes::cipher::*,
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Which secret it is.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A cipher without a key: whatever it encrypts becomes the secret, and so does the hash key.
#[derive(Clone)]
struct ToSecret;

impl BlockSizeUser for ToSecret {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for ToSecret {
    type ParBlocksSize = U1;
}

fn secret() -> [u8; 16] {
    std::array::from_fn(|i| ((i as u64 + 1000 * NUMBER.load(Relaxed) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
}

#[test]
fn f16_a_dropped_hash_key_is_wiped() {
    dropped::leaves_nothing("AesGcm", 12, |number| {
        NUMBER.store(number, Relaxed);
        AesGcm::<ToSecret, U12>::from(ToSecret)
    });
}

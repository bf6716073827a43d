//! F16: of the hash key of a block cipher that is not the crate `aes`'s nothing is left where it was dropped. (A cipher answers for its own key.)
#![cfg(feature = "aes")]
#![allow(unsafe_code)]

#[path = "../../fastgcm/tests/support/dropped.rs"]
mod dropped;
include!("../../aes-gcm-010/tests/wiping/secret.rs");

impl BlockCipherEncrypt for ToSecret {
    fn encrypt_with_backend(&self, closure: impl BlockCipherEncClosure<BlockSize = U16>) {
        closure.call(self);
    }
}

impl BlockCipherEncBackend for ToSecret {
    fn encrypt_block(&self, mut block: inout::InOut<'_, '_, Block<Self>>) {
        *block.get_out() = secret().into();
    }
}

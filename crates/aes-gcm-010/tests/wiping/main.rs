//! F16: of the hash key of a block cipher that is not the crate `aes`'s nothing is left where it was dropped. (A cipher answers for its own key.)
#![cfg(feature = "aes")]
#![allow(unsafe_code)]

#[path = "../../../fastgcm/tests/support/dropped.rs"]
mod dropped;
include!("secret.rs");

impl BlockCipher for ToSecret {}

impl BlockEncrypt for ToSecret {
    fn encrypt_with_backend(&self, closure: impl BlockClosure<BlockSize = U16>) {
        closure.call(&mut Self);
    }
}

impl BlockBackend for ToSecret {
    fn proc_block(&mut self, mut block: inout::InOut<'_, '_, Block<Self>>) {
        *block.get_out() = secret().into();
    }
}

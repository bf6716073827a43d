//! Messages as the model seals them.

use crate::verbs::{Form, Message};
use fastgcm::Tag;
use fastgcm_model::Model;

pub(crate) fn message(form: Form, key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8]) -> Message {
    let (sealed, tag) = match form {
        Form::Gcm | Form::Gmac => Model::new(key).seal(nonce, aad, text),
        Form::Xaes => fastgcm_model::xaes::seal(key.try_into().unwrap(), nonce.try_into().unwrap(), aad, text),
        Form::Siv => fastgcm_model::siv::seal(key, nonce.try_into().unwrap(), aad, text),
        Form::Ctr => (Model::new(key).gctr(nonce.try_into().unwrap(), text), [0; 16]),
        Form::Blocks => {
            let model = Model::new(key);
            (text.chunks(16).flat_map(|block| model.cipher(block.try_into().unwrap())).collect(), [0; 16])
        }
    };
    let [key, nonce, aad, text] = [key, nonce, aad, text].map(<[u8]>::to_vec);
    Message { key, nonce, aad, text, sealed, tag: Tag(tag) }
}

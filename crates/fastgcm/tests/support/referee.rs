//! Messages as the model seals them.

use crate::verbs::{Form, Message};
use fastgcm::Tag;
use fastgcm_model::Model;

pub(crate) fn message(form: Form, key: &[u8], nonce: &[u8], aad: &[u8], text: &[u8]) -> Message {
    let mut commitment = vec![];
    let (sealed, tag) = match form {
        Form::Gcm | Form::Gmac => Model::new(key).seal(nonce, aad, text),
        Form::Xaes => fastgcm_model::xaes::seal(key.try_into().unwrap(), nonce.try_into().unwrap(), aad, text),
        Form::KcXaes => {
            let (key, nonce) = (key.try_into().unwrap(), nonce.try_into().unwrap());
            commitment = fastgcm_model::xaes::commitment(key, nonce).to_vec();
            fastgcm_model::xaes::seal(key, nonce, aad, text)
        }
        Form::Dndk(_, commits) => {
            let key = key.try_into().unwrap();
            let named = fastgcm_model::dndk::derive(key, nonce, commits).1;
            commitment = if commits { named.to_vec() } else { vec![] };
            fastgcm_model::dndk::seal(key, nonce, commits, aad, text)
        }
        Form::Siv => fastgcm_model::siv::seal(key, nonce.try_into().unwrap(), aad, text),
        Form::Ctr => (Model::new(key).gctr(nonce.try_into().unwrap(), text), [0; 16]),
        Form::Blocks => {
            let model = Model::new(key);
            (text.chunks(16).flat_map(|block| model.cipher(block.try_into().unwrap())).collect(), [0; 16])
        }
    };
    let [key, nonce, aad, text] = [key, nonce, aad, text].map(<[u8]>::to_vec);
    Message { key, nonce, aad, text, sealed, tag: Tag(tag), commitment }
}

//! MINE: an implementation of AES-GCM for the referee. Whatever yours does not have, leave out: nobody counts it as a fault.

use aead_plugin::{IN_PLACE, Implementation, Message, NoPieces, bytes, bytes_mut};
use std::ffi::CStr;

/// Your key. What is here only keeps the bytes.
struct Mine(Vec<u8>);

impl Implementation for Mine {
    const NAME: &'static CStr = c"MINE";
    const OFFERS: u32 = IN_PLACE; // input and output may be one buffer; `aead_plugin` has more
    const KEYS: u32 = 1 | 4; // AES-128 and AES-256
    type Run = NoPieces;

    fn version() -> String {
        "0.1".into()
    }

    fn new(key: &[u8]) -> Option<Self> {
        Some(Self(key.to_vec())) // YOURS: the key schedule
    }

    unsafe fn seal(&self, message: &Message) -> bool {
        // SAFETY: the referee gives buffers of these lengths. In place, input and output are one: make no two slices of it.
        unsafe {
            let _nonce = bytes(message.nonce, message.nonce_length);
            let _aad = bytes(message.aad, message.aad_length);
            let output = bytes_mut(message.output, message.length);
            let _tag = bytes_mut(message.tag, message.tag_length);
            if message.input != message.output {
                output.copy_from_slice(bytes(message.input, message.length));
            }
            let _ = &self.0; // YOURS: seal `output` in place, write the tag, and return true
            false
        }
    }

    unsafe fn open(&self, _message: &Message) -> bool {
        false // YOURS: as above; true if the tag is right
    }
}

aead_plugin::export!(Mine);

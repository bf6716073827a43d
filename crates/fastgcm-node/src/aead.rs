//! Whole messages: keys of AES-GCM, AES-GCM-SIV and XAES-256-GCM, with the same verbs.

use crate::{
    fault::{Fault, Kind, Name},
    js::{Bytes, Call, Object, Value, writable},
    nonces::Nonces,
};
use fastgcm::{AesGcmSiv, Error, Key, Nonce, TAG_LEN, Tag, Xaes256Gcm};
use std::sync::Arc;

/// A key. What works in the background has it too, until it is done.
#[derive(Clone)]
pub(crate) enum Aead {
    Gcm(Arc<Key>),
    Siv(Arc<AesGcmSiv>),
    Xaes(Arc<Xaes256Gcm>),
}

impl Object for Aead {
    const KIND: u64 = 1;
    const MORE: i64 = size_of::<Key>() as i64;
}

pub(crate) fn gcm(call: &Call) -> Result<Value, Fault> {
    let key = Key::shared_with_backend(call.bytes(0, Name::Key)?.get(), crate::backend()).map_err(wrong_key)?;
    call.object(Aead::Gcm(key))
}

pub(crate) fn siv(call: &Call) -> Result<Value, Fault> {
    let bytes = call.bytes(0, Name::Key)?.get();
    let key = AesGcmSiv::with_backend(bytes, crate::backend()).map_err(wrong_key)?;
    call.object(Aead::Siv(Arc::new(key)))
}

pub(crate) fn xaes(call: &Call) -> Result<Value, Fault> {
    let key = call.bytes(0, Name::Key)?.get().try_into().map_err(|_| wrong_key(Error::InvalidLength))?;
    let key = Xaes256Gcm::with_backend(key, crate::backend()).map_err(wrong_key)?;
    call.object(Aead::Xaes(Arc::new(key)))
}

fn wrong_key(error: Error) -> Fault {
    match error {
        Error::InvalidLength => Fault::of(Kind::Length, Name::Key),
        error => error.into(),
    }
}

pub(crate) fn destroy(call: &Call) -> Result<Value, Fault> {
    call.take::<Aead>(0)?;
    Ok(Value::UNDEFINED)
}

/// A nonce that was read, so that it may lie where the call writes.
pub(crate) struct AnyNonce {
    /// Of 12 bytes all but a few are.
    short: [u8; 24],
    len: usize,
    /// What is longer.
    long: Vec<u8>,
}

impl AnyNonce {
    #[inline]
    pub(crate) fn get(&self) -> &[u8] {
        self.short.get(..self.len).unwrap_or(&self.long)
    }
}

impl Aead {
    /// Bytes of a nonce that is drawn.
    pub(crate) fn nonce_len(&self) -> usize {
        if matches!(self, Self::Xaes(_)) { 24 } else { 12 }
    }

    /// A nonce: AES-GCM takes any length but 0.
    #[inline]
    pub(crate) fn nonce(&self, nonce: &[u8]) -> Result<AnyNonce, Fault> {
        let may = match self {
            Self::Gcm(_) => !nonce.is_empty(),
            _ => nonce.len() == self.nonce_len(),
        };
        if !may {
            return Err(Fault::of(Kind::Length, Name::Nonce));
        }
        let mut copy = AnyNonce { short: [0; 24], len: nonce.len(), long: Vec::new() };
        match copy.short.get_mut(..nonce.len()) {
            Some(short) => short.copy_from_slice(nonce),
            None => copy.long = crate::js::copied(nonce)?,
        }
        Ok(copy)
    }

    /// Encrypts `text`, or what lies in `out` already, to `out`.
    #[inline]
    pub(crate) fn seal(&self, nonce: &[u8], aad: &[u8], text: Option<&[u8]>, out: &mut [u8]) -> Result<Tag, Error> {
        match (self, text) {
            (Self::Gcm(key), Some(text)) => match <[u8; 12]>::try_from(nonce) {
                Ok(nonce) => key.seal_detached_to(nonce, aad, text, out),
                Err(_) => key.seal_detached_to(Nonce::any(nonce)?, aad, text, out),
            },
            (Self::Gcm(key), None) => key.seal(Nonce::any(nonce)?, aad, out),
            (Self::Siv(key), Some(text)) => key.seal_detached_to(exact(nonce)?, aad, text, out),
            (Self::Siv(key), None) => key.seal(exact(nonce)?, aad, out),
            (Self::Xaes(key), text) => {
                let nonce = exact(nonce)?;
                if let Some(text) = text {
                    out.copy_from_slice(text);
                }
                // What is too long must not lie there as text.
                key.seal(nonce, aad, out).inspect_err(|_| out.fill(0))
            }
        }
    }

    /// Decrypts `ciphertext`, or what lies in `out` already, to `out`, which is all zero if the tag is wrong.
    #[inline]
    pub(crate) fn open(&self, nonce: &[u8], aad: &[u8], ciphertext: Option<&[u8]>, out: &mut [u8], tag: &Tag) -> Result<(), Error> {
        match (self, ciphertext) {
            (Self::Gcm(key), Some(ciphertext)) => match <[u8; 12]>::try_from(nonce) {
                Ok(nonce) => key.open_detached_to(nonce, aad, ciphertext, out, tag),
                Err(_) => key.open_detached_to(Nonce::any(nonce)?, aad, ciphertext, out, tag),
            },
            (Self::Gcm(key), None) => key.open(Nonce::any(nonce)?, aad, out, tag),
            (Self::Siv(key), Some(ciphertext)) => key.open_detached_to(exact(nonce)?, aad, ciphertext, out, tag),
            (Self::Siv(key), None) => key.open(exact(nonce)?, aad, out, tag),
            (Self::Xaes(key), ciphertext) => {
                let nonce = exact(nonce)?;
                if let Some(ciphertext) = ciphertext {
                    out.copy_from_slice(ciphertext);
                }
                key.open(nonce, aad, out, tag)
            }
        }
    }
}

fn exact<const N: usize>(nonce: &[u8]) -> Result<&[u8; N], Error> {
    nonce.try_into().map_err(|_| Error::InvalidLength)
}

/// Length of the text in so many bytes of ciphertext and tag, and whatever is in front of them.
pub(crate) fn text_len(sealed: usize, before: usize) -> Result<usize, Fault> {
    sealed.checked_sub(before + TAG_LEN).ok_or(Kind::Unauthentic.into())
}

/// The tag among these bytes.
pub(crate) fn tag_of(bytes: &[u8]) -> Result<Tag, Fault> {
    bytes.try_into().map(Tag).map_err(|_| Fault::of(Kind::Length, Name::Tag))
}

/// `out` with a length that it must have.
pub(crate) fn of_length(out: Bytes<'_>, len: usize) -> Result<Bytes<'_>, Fault> {
    if out.len() == len { Ok(out) } else { Err(Fault::of(Kind::Length, Name::Out)) }
}

/// `seal(key, nonce, data, aad, out, tag)`: without `tag` it goes behind the ciphertext.
pub(crate) fn seal(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let nonce = key.nonce(call.bytes(1, Name::Nonce)?.get())?;
    let (data, aad) = (call.bytes(2, Name::Data)?, call.optional(3, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let (out, tag) = (call.bytes(4, Name::Out)?, call.optional(5, Name::Tag)?);
    let Some(tag) = tag else {
        let out = of_length(out, data.len() + TAG_LEN)?;
        let (text, out) = writable(out, data, &[aad])?;
        let (ciphertext, behind) = out.split_at_mut(data.len());
        behind.copy_from_slice(&key.seal(nonce.get(), aad.get(), text, ciphertext)?.0);
        return Ok(Value::UNDEFINED);
    };
    let out = of_length(out, data.len())?;
    tag_of(tag.get())?;
    let (_, tag) = writable(tag, Bytes::EMPTY, &[data, aad, out])?;
    let (text, out) = writable(out, data, &[aad])?;
    tag.copy_from_slice(&key.seal(nonce.get(), aad.get(), text, out)?.0);
    Ok(Value::UNDEFINED)
}

/// `open(key, nonce, data, aad, out, tag)`: without `tag` it stands behind the ciphertext.
pub(crate) fn open(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let nonce = key.nonce(call.bytes(1, Name::Nonce)?.get())?;
    let (data, aad) = (call.bytes(2, Name::Data)?, call.optional(3, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let (out, tag) = (call.bytes(4, Name::Out)?, call.optional(5, Name::Tag)?);
    let len = if tag.is_some() { data.len() } else { text_len(data.len(), 0)? };
    let tag = tag_of(tag.map_or_else(|| &data.get()[len..], |tag| tag.get()))?;
    let (ciphertext, out) = writable(of_length(out, len)?, data, &[aad])?;
    key.open(nonce.get(), aad.get(), ciphertext.map(|data| &data[..len]), out, &tag)?;
    Ok(Value::UNDEFINED)
}

/// `sealDrawn(key, nonces, data, aad, out)`: `out` gets nonce, ciphertext and tag. Without `nonces`,
/// XAES-256-GCM takes a random one.
pub(crate) fn seal_drawn(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let (data, aad) = (call.bytes(2, Name::Data)?, call.optional(3, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let out = of_length(call.bytes(4, Name::Out)?, key.nonce_len() + data.len() + TAG_LEN)?;
    let (_, out) = writable(out, Bytes::EMPTY, &[data, aad])?;
    let (nonce, sealed) = out.split_at_mut(key.nonce_len());
    match &*key {
        Aead::Xaes(key) => {
            let (text, tag) = sealed.split_at_mut(data.len());
            text.copy_from_slice(data.get());
            let (drawn, found) = key.seal_random(aad.get(), text).inspect_err(|_| text.fill(0))?;
            nonce.copy_from_slice(&drawn);
            tag.copy_from_slice(&found.0);
        }
        key => {
            // A nonce of which nothing comes is lost: that is safe.
            nonce.copy_from_slice(&call.get_mut::<Nonces>(1)?.draw()?);
            let (text, tag) = sealed.split_at_mut(data.len());
            tag.copy_from_slice(&key.seal(nonce, aad.get(), Some(data.get()), text)?.0);
        }
    }
    Ok(Value::UNDEFINED)
}

/// `openDrawn(key, data, aad, out)`: nonce, ciphertext and tag stand in `data`.
pub(crate) fn open_drawn(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let (data, aad) = (call.bytes(1, Name::Data)?, call.optional(2, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let len = text_len(data.len(), key.nonce_len())?;
    let (_, out) = writable(of_length(call.bytes(3, Name::Out)?, len)?, Bytes::EMPTY, &[data, aad])?;
    let (nonce, sealed) = data.get().split_at(key.nonce_len());
    let (ciphertext, tag) = sealed.split_at(len);
    key.open(nonce, aad.get(), Some(ciphertext), out, &tag_of(tag)?)?;
    Ok(Value::UNDEFINED)
}

//! Whole messages: keys of AES-GCM, AES-GCM-SIV, XAES-256-GCM and KC-XAES-256-GCM, with one set of verbs.

use crate::{
    fault::{Fault, Kind, Name},
    js::{Bytes, Call, Object, Value, writable},
    nonces::Nonces,
};
use fastgcm::{AesGcmSiv, CommittingTag, Error, KcXaes256Gcm, Key, Nonce, RootKey, Scheme, TAG_LEN, Tag, Xaes256Gcm, limits::Blocks};
use std::sync::Arc;

/// A key. Work in the background also holds it, until the work is done.
#[derive(Clone)]
pub(crate) enum Aead {
    Gcm(Arc<Key>),
    Siv(Arc<AesGcmSiv>),
    Xaes(Arc<Xaes256Gcm>),
    KcXaes(Arc<KcXaes256Gcm>),
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
    let key = AesGcmSiv::shared_with_backend(call.bytes(0, Name::Key)?.get(), crate::backend()).map_err(wrong_key)?;
    call.object(Aead::Siv(key))
}

pub(crate) fn xaes(call: &Call) -> Result<Value, Fault> {
    root(call, Aead::Xaes)
}

pub(crate) fn kc_xaes(call: &Call) -> Result<Value, Fault> {
    root(call, Aead::KcXaes)
}

/// A key from which a scheme derives the keys of messages.
fn root<S: Scheme>(call: &Call, aead: fn(Arc<RootKey<S>>) -> Aead) -> Result<Value, Fault> {
    let key = call.bytes(0, Name::Key)?.get().try_into().map_err(|_| wrong_key(Error::InvalidLength))?;
    call.object(aead(RootKey::shared_with_backend(key, crate::backend()).map_err(wrong_key)?))
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

/// A nonce that was read, so that the original may lie where the call writes.
pub(crate) struct AnyNonce {
    /// Nearly all nonces have 12 bytes.
    short: [u8; 24],
    len: usize,
    /// A longer nonce.
    long: Vec<u8>,
}

impl AnyNonce {
    #[inline]
    pub(crate) fn get(&self) -> &[u8] {
        self.short.get(..self.len).unwrap_or(&self.long)
    }
}

/// A tag that was read, so that the original may lie where the call writes.
pub(crate) enum AnyTag {
    Plain(Tag),
    /// The tag of KC-XAES-256-GCM, which ends in a commitment to the key.
    Committing(CommittingTag),
}

impl Aead {
    /// Returns the length in bytes of a nonce that is drawn.
    pub(crate) fn nonce_len(&self) -> usize {
        if matches!(self, Self::Xaes(_) | Self::KcXaes(_)) { 24 } else { 12 }
    }

    /// Returns the length of a tag in bytes.
    #[inline]
    pub(crate) fn tag_len(&self) -> usize {
        if matches!(self, Self::KcXaes(_)) { size_of::<CommittingTag>() } else { TAG_LEN }
    }

    /// Returns the length of the text in so many bytes of ciphertext and tag, with `before` bytes in front of them.
    #[inline]
    pub(crate) fn text_len(&self, sealed: usize, before: usize) -> Result<usize, Fault> {
        sealed.checked_sub(before + self.tag_len()).ok_or(Kind::Unauthentic.into())
    }

    /// Returns these bytes as a tag.
    #[inline]
    pub(crate) fn tag(&self, tag: &[u8]) -> Result<AnyTag, Fault> {
        let read = match self {
            Self::KcXaes(_) => tag.try_into().map(AnyTag::Committing),
            _ => tag.try_into().map(AnyTag::Plain),
        };
        read.map_err(|_| Fault::of(Kind::Length, Name::Tag))
    }

    /// Returns these bytes as a nonce: AES-GCM takes any length but 0.
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

    /// Encrypts `text`, or the text that is already in `out`, to `out`, and writes the whole tag.
    #[inline]
    pub(crate) fn seal(&self, nonce: &[u8], aad: &[u8], text: Option<&[u8]>, out: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        macro_rules! seal {
            ($key:expr, $nonce:expr) => {
                match text {
                    Some(text) => tag.copy_from_slice($key.seal_detached_to($nonce, aad, text, out)?.as_ref()),
                    None => tag.copy_from_slice($key.seal($nonce, aad, out)?.as_ref()),
                }
            };
        }
        match (self, <[u8; 12]>::try_from(nonce)) {
            (Self::Gcm(key), Ok(nonce)) => seal!(key, nonce),
            (Self::Gcm(key), Err(_)) => seal!(key, Nonce::any(nonce)?),
            (Self::Siv(key), _) => seal!(key, exact(nonce)?),
            (Self::Xaes(key), _) => seal!(key, exact(nonce)?),
            (Self::KcXaes(key), _) => seal!(key, exact(nonce)?),
        }
        Ok(())
    }

    /// Decrypts `ciphertext`, or the ciphertext that is already in `out`, to `out`, which is all zero if the tag is wrong.
    #[inline]
    pub(crate) fn open(&self, nonce: &[u8], aad: &[u8], ciphertext: Option<&[u8]>, out: &mut [u8], tag: &AnyTag) -> Result<(), Error> {
        macro_rules! open {
            ($key:expr, $nonce:expr, $tag:expr) => {
                match ciphertext {
                    Some(ciphertext) => $key.open_detached_to($nonce, aad, ciphertext, out, $tag),
                    None => $key.open($nonce, aad, out, $tag),
                }
            };
        }
        match (self, tag, <[u8; 12]>::try_from(nonce)) {
            (Self::Gcm(key), AnyTag::Plain(tag), Ok(nonce)) => open!(key, nonce, tag),
            (Self::Gcm(key), AnyTag::Plain(tag), Err(_)) => open!(key, Nonce::any(nonce)?, tag),
            (Self::Siv(key), AnyTag::Plain(tag), _) => open!(key, exact(nonce)?, tag),
            (Self::Xaes(key), AnyTag::Plain(tag), _) => open!(key, exact(nonce)?, tag),
            (Self::KcXaes(key), AnyTag::Committing(tag), _) => open!(key, exact(nonce)?, tag),
            _ => Err(Error::InvalidLength), // a tag of another key
        }
    }
}

fn exact<const N: usize>(nonce: &[u8]) -> Result<&[u8; N], Error> {
    nonce.try_into().map_err(|_| Error::InvalidLength)
}

/// Returns `out`, which must have the length `len`.
pub(crate) fn of_length(out: Bytes<'_>, len: usize) -> Result<Bytes<'_>, Fault> {
    if out.len() == len { Ok(out) } else { Err(Fault::of(Kind::Length, Name::Out)) }
}

/// `seal(key, nonce, data, aad, out, tag)`: without `tag` the tag goes behind the ciphertext.
pub(crate) fn seal(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let nonce = key.nonce(call.bytes(1, Name::Nonce)?.get())?;
    let (data, aad) = (call.bytes(2, Name::Data)?, call.optional(3, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let (out, tag) = (call.bytes(4, Name::Out)?, call.optional(5, Name::Tag)?);
    let Some(tag) = tag else {
        let out = of_length(out, data.len() + key.tag_len())?;
        let (text, out) = writable(out, data, &[aad])?;
        let (ciphertext, behind) = out.split_at_mut(data.len());
        key.seal(nonce.get(), aad.get(), text, ciphertext, behind)?;
        return Ok(Value::UNDEFINED);
    };
    let out = of_length(out, data.len())?;
    key.tag(tag.get())?;
    let (_, tag) = writable(tag, Bytes::EMPTY, &[data, aad, out])?;
    let (text, out) = writable(out, data, &[aad])?;
    key.seal(nonce.get(), aad.get(), text, out, tag)?;
    Ok(Value::UNDEFINED)
}

/// `open(key, nonce, data, aad, out, tag)`: without `tag` the tag is behind the ciphertext.
pub(crate) fn open(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let nonce = key.nonce(call.bytes(1, Name::Nonce)?.get())?;
    let (data, aad) = (call.bytes(2, Name::Data)?, call.optional(3, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let (out, tag) = (call.bytes(4, Name::Out)?, call.optional(5, Name::Tag)?);
    let len = if tag.is_some() { data.len() } else { key.text_len(data.len(), 0)? };
    let tag = key.tag(tag.map_or_else(|| &data.get()[len..], |tag| tag.get()))?;
    let (ciphertext, out) = writable(of_length(out, len)?, data, &[aad])?;
    key.open(nonce.get(), aad.get(), ciphertext.map(|data| &data[..len]), out, &tag)?;
    Ok(Value::UNDEFINED)
}

/// `sealDrawn(key, nonces, data, aad, out, blocks)` writes nonce, ciphertext and tag to `out`. Without `nonces`, a key whose nonces have 24 bytes
/// takes a random one, and counts no blocks.
pub(crate) fn seal_drawn(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let (data, aad) = (call.bytes(2, Name::Data)?, call.optional(3, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let out = of_length(call.bytes(4, Name::Out)?, key.nonce_len() + data.len() + key.tag_len())?;
    let (_, out) = writable(out, Bytes::EMPTY, &[data, aad])?;
    match &*key {
        Aead::Xaes(key) => seal_random(key, data.get(), aad.get(), out)?,
        Aead::KcXaes(key) => seal_random(key, data.get(), aad.get(), out)?,
        key => {
            let (nonce, sealed) = out.split_at_mut(key.nonce_len());
            let (mut blocks, taken) = (call.get_mut::<Blocks>(5)?, Blocks::sealed(data.len() as u64));
            if taken > blocks.left() {
                return Err(Error::Exhausted.into());
            }
            // A nonce that is drawn for a call that fails is lost, which is safe.
            nonce.copy_from_slice(&call.get_mut::<Nonces>(1)?.draw()?);
            blocks.take(taken)?;
            let (text, tag) = sealed.split_at_mut(data.len());
            key.seal(nonce, aad.get(), Some(data.get()), text, tag)?;
        }
    }
    Ok(Value::UNDEFINED)
}

fn seal_random<S: Scheme<Nonce = [u8; 24]>>(key: &RootKey<S>, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let (nonce, sealed) = out.split_first_chunk_mut::<24>().ok_or(Error::InvalidLength)?;
    let (text, tag) = sealed.split_at_mut(data.len());
    text.copy_from_slice(data);
    // A text that is too long must not stay there in plain form.
    let (drawn, found) = key.seal_random(aad, text).inspect_err(|_| text.fill(0))?;
    *nonce = drawn;
    tag.copy_from_slice(found.as_ref());
    Ok(())
}

/// `openDrawn(key, data, aad, out)`: `data` holds nonce, ciphertext and tag.
pub(crate) fn open_drawn(call: &Call) -> Result<Value, Fault> {
    let key = call.get::<Aead>(0)?;
    let (data, aad) = (call.bytes(1, Name::Data)?, call.optional(2, Name::Aad)?.unwrap_or(Bytes::EMPTY));
    let len = key.text_len(data.len(), key.nonce_len())?;
    let (_, out) = writable(of_length(call.bytes(3, Name::Out)?, len)?, Bytes::EMPTY, &[data, aad])?;
    let (nonce, sealed) = data.get().split_at(key.nonce_len());
    let (ciphertext, tag) = sealed.split_at(len);
    key.open(nonce, aad.get(), Some(ciphertext), out, &key.tag(tag)?)?;
    Ok(Value::UNDEFINED)
}

//! AES-GCM-SIV (RFC 8452) in the form that OpenSSL's ciphers have from 3.2 on: AAD in pieces, then the whole text in one call, then the
//! end.
//!
//! The tag must be there before its text, because the text is decrypted with it. So the text is verified at once, and a refused text is all
//! zero; the refusal is reported at the end, where callers look for it.

use crate::{
    Provider, Work,
    abi::{Dispatch, Failure, OCTETS, Param, Reason, UNSIGNED, bytes, bytes_mut, table},
    cipher::{ciphers, describe, description},
    object::{Cipher, Object, duplicate, finish, free, get, init, new_cipher, set, update},
    shared::Shared,
};
use fastgcm::{AesGcmSiv, Error, Tag};
use std::{ffi::c_void, ptr};

pub(crate) struct Context<'p> {
    work: Work<'p>,
    key_length: usize,
    /// Shared with the duplicates of this context.
    key: Option<Shared<AesGcmSiv>>,
    nonce: Option<[u8; 12]>,
    seals: bool,
    aad: Vec<u8>,
    /// The tag that was made, or that the caller expects.
    tag: Option<Tag>,
    /// True if the last text is authentic. A sealed text is authentic until another text behind it is refused.
    authentic: Option<bool>,
    /// True if one text may follow another without a new nonce, as `openssl speed` requires.
    again: bool,
}

impl<'p> Object<'p> for Context<'p> {
    fn provider(&self) -> &'p Provider {
        self.work.provider
    }

    /// The key is shared.
    unsafe fn duplicate(&self) -> Result<impl FnOnce(*mut Self), Failure> {
        let mut aad = Vec::new();
        extend(&mut aad, &self.aad)?;
        // SAFETY: a copy of this object.
        Ok(move |copy: *mut Self| unsafe {
            (&raw mut (*copy).work).write(Work::none(self.work.provider));
            (&raw mut (*copy).key).write(self.key.clone());
            (&raw mut (*copy).aad).write(aad);
        })
    }
}

/// Returns whether a text, or AAD, of so many bytes is too long.
fn is_beyond(size: usize) -> bool {
    size as u64 > AesGcmSiv::LIMIT
}

fn extend(aad: &mut Vec<u8>, more: &[u8]) -> Result<(), Failure> {
    if aad.len().checked_add(more.len()).is_none_or(is_beyond) {
        return Err(Some(Reason::InvalidAad));
    }
    aad.try_reserve(more.len()).map_err(|_| Reason::MallocFailure)?;
    aad.extend_from_slice(more);
    Ok(())
}

impl<'p> Context<'p> {
    /// Takes AAD if there is nothing to write to, or else all text. An empty text does not count yet: it is made at the end, if no other
    /// text comes.
    ///
    /// # Safety
    /// `size` bytes are readable at `from`, unless that is null, and writable at `to`, unless that is null.
    unsafe fn piece(&mut self, from: *const u8, to: *mut u8, size: usize) -> Result<(), Failure> {
        if to.is_null() && !from.is_null() {
            // SAFETY: the caller's promise.
            let aad = unsafe { bytes(from, size) }.ok_or(None)?;
            if aad.is_empty() {
                self.aad.clear(); // as OpenSSL's own does
            }
            return extend(&mut self.aad, aad);
        }
        if size == 0 {
            return Ok(());
        }
        if from.is_null() || is_beyond(size) {
            return Err(None);
        }
        // A refused text is left where it is.
        self.ready()?;
        // SAFETY: the caller's promise; they may overlap.
        let text = unsafe {
            ptr::copy(from, to, size);
            bytes_mut(to, size)
        };
        self.text(text.ok_or(None)?)
    }

    /// Returns what the text needs: key, nonce and, for opening, a tag. The text must be the first.
    fn ready(&self) -> Result<(&AesGcmSiv, &[u8; 12]), Failure> {
        let may = (self.authentic.is_none() || self.again) && (self.seals || self.tag.is_some());
        let both = self.key.as_deref().zip(self.nonce.as_ref());
        both.filter(|_| may).ok_or(None)
    }

    fn text(&mut self, text: &mut [u8]) -> Result<(), Failure> {
        let (key, nonce) = self.ready()?;
        let (tag, authentic) = match &self.tag {
            Some(tag) if !self.seals => match key.open(nonce, &self.aad, text, tag) {
                Err(Error::Unauthentic) => (None, false),
                opened => (opened.map(|()| None).map_err(|_| None)?, true),
            },
            _ => (Some(key.seal(nonce, &self.aad, text).map_err(|_| None)?), true),
        };
        (self.tag, self.authentic) = (tag, Some(authentic));
        self.work.messages += 1;
        self.work.bytes += text.len() as u64;
        Ok(())
    }
}

impl<'p> Cipher<'p> for Context<'p> {
    fn new(provider: &'p Provider, key_length: usize) -> Self {
        let work = Work::none(provider);
        Self { work, key_length, key: None, nonce: None, seals: false, aad: Vec::new(), tag: None, authentic: None, again: false }
    }

    fn init(&mut self, seals: bool, key: Option<&[u8]>, nonce: Option<&[u8]>) -> Result<(), Failure> {
        // A refused call changes nothing.
        let nonce = nonce.map(|nonce| nonce.try_into().map_err(|_| Reason::InvalidIvLength)).transpose()?;
        if let Some(key) = key {
            let backend = self.work.provider.backend;
            if key.len() != self.key_length {
                return Err(Reason::InvalidKeyLength.into());
            }
            self.key = None; // the last one, in case that there is no memory for this one
            self.key = Some(Shared::new(|place| {
                let made = match <&[u8; 24]>::try_from(key) {
                    Ok(key) => AesGcmSiv::aes192_init_in_place(place, key, backend),
                    Err(_) => AesGcmSiv::init_in_place(place, key, backend),
                };
                made.map_err(|_| None)
            })?);
            self.work.keys += 1;
        }
        self.seals = seals;
        self.nonce = nonce.or(self.nonce);
        self.authentic = None;
        self.aad.clear();
        Ok(())
    }

    fn get(&mut self, param: &mut Param) -> Result<(), Failure> {
        let done = match param.name() {
            b"keylen" => param.set_number(self.key_length as u64),
            b"taglen" => param.set_number(16),
            b"tag" => {
                let tag = self.tag.as_ref().filter(|_| self.seals && self.authentic == Some(true) && param.size() == 16);
                tag.and_then(|tag| param.set_bytes(&tag.0))
            }
            _ => return Ok(()),
        };
        done.ok_or(Some(Reason::FailedToSetParameter))
    }

    fn set(&mut self, param: &Param) -> Result<(), Failure> {
        let ill = Some(Reason::FailedToGetParameter);
        match param.name() {
            b"tag" => {
                let tag = Tag(param.bytes().and_then(|tag| tag.try_into().ok()).ok_or(ill)?);
                if !self.seals {
                    self.tag = Some(tag);
                }
            }
            b"speed" => self.again = param.number().ok_or(ill)? != 0,
            b"keylen" if param.number().ok_or(ill)? != self.key_length => return Err(Some(Reason::InvalidKeyLength)),
            _ => {}
        }
        Ok(())
    }

    /// An `update` of nothing is not the end of a message; a `cipher` of it is.
    unsafe fn update(&mut self, is_piece: bool, to: *mut u8, room: usize, from: *const u8, size: usize) -> Result<usize, Failure> {
        if room < size {
            return Err(Some(Reason::OutputBufferTooSmall));
        }
        if !is_piece && from.is_null() {
            return self.finish().map(|()| 0);
        }
        // SAFETY: the caller's promise.
        unsafe { self.piece(from, to, size) }.map_err(|reason| {
            // Without the refused piece it is another message, whose tag nobody may get.
            self.authentic = Some(false);
            reason.or(Some(Reason::CipherOperationFailed))
        })?;
        Ok(size)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        if self.authentic.is_none() {
            self.text(&mut [])?; // there has been no text: it is empty
        }
        if self.authentic == Some(true) { Ok(()) } else { Err(None) }
    }
}

static GETTABLE: [Param; 4] =
    [Param::named(c"keylen", UNSIGNED), Param::named(c"taglen", UNSIGNED), Param::named(c"tag", OCTETS), Param::END];

static SETTABLE: [Param; 4] =
    [Param::named(c"keylen", UNSIGNED), Param::named(c"speed", UNSIGNED), Param::named(c"tag", OCTETS), Param::END];

ciphers! { 0x10005 12: AES_128 128 Context<'static>, AES_192 192 Context<'static>, AES_256 256 Context<'static>, }

//! XAES-256-GCM and KC-XAES-256-GCM in the form of OpenSSL's ciphers: AES-256-GCM with a key that is derived once both the root key and the
//! IV of 24 bytes are there. `cipher` does the rest of a message: its text is handed out **before it is verified**.
//!
//! A tag has 16 bytes, because OpenSSL's tags have no more. The commitment of 32 bytes is a separate parameter: the caller asks for it
//! after the end of a message that is sealed, gives it before the end of a message that is opened, and it is compared together with the
//! tag.

use crate::{
    Provider,
    abi::{Dispatch, Failure, OCTETS, Param, Reason, UNSIGNED, table},
    cipher::{self, ciphers, describe, description},
    object::{Cipher, Object, duplicate, finish, free, get, init, new_cipher, set, update},
    shared::Shared,
};
use fastgcm::{KcXaes, RootKey, Scheme, Xaes};
use std::ffi::c_void;

/// Bytes of a key, of an IV, of a tag and of a commitment.
const KEY: usize = 32;
const IV: usize = 24;
const TAG: usize = 16;
const COMMITMENT: usize = 32;

pub(crate) struct Context<'p, S: Scheme> {
    /// AES-256-GCM with the key of the message, or without one.
    message: cipher::Context<'p>,
    /// Shared with the duplicates of this context.
    root: Option<Shared<RootKey<S>>>,
    iv: Option<[u8; IV]>,
    /// The commitment of the message.
    commitment: [u8; COMMITMENT],
    /// The commitment that the caller expects.
    expected: Option<[u8; COMMITMENT]>,
    /// True if the message is sealed, so that its tag and its commitment may be requested.
    sealed: bool,
}

impl<'p, S: Scheme<Nonce = [u8; IV]>> Object<'p> for Context<'p, S> {
    fn provider(&self) -> &'p Provider {
        self.message.provider()
    }

    unsafe fn duplicate(&self) -> Result<impl FnOnce(*mut Self), Failure> {
        // SAFETY: the caller's promise, for the message.
        let own = unsafe { self.message.duplicate()? };
        // SAFETY: a copy of this object.
        Ok(move |copy: *mut Self| unsafe {
            own(&raw mut (*copy).message);
            (&raw mut (*copy).root).write(self.root.clone());
        })
    }
}

impl<S: Scheme<Nonce = [u8; IV]>> Context<'_, S> {
    const COMMITS: bool = size_of::<S::Tag>() > TAG;

    /// Begins a message, if there are root key and IV.
    fn derive(&mut self, seals: bool) -> Result<(), Failure> {
        let (Some(root), Some(iv)) = (&self.root, &self.iv) else { return Ok(()) };
        let (message, commitment) = (&mut self.message, &mut self.commitment);
        let derived = root.with_derived_key(iv, |key, nonce, tag| {
            if Self::COMMITS {
                commitment.copy_from_slice(&tag.as_ref()[TAG..]);
            }
            Ok(message.init(seals, Some(key), Some(&nonce)))
        });
        derived.map_err(|_| None)?
    }

    /// Draws a random IV for a caller that seals and has set none.
    fn drawn(&mut self) -> Result<(), Failure> {
        if self.iv.is_none() && self.root.is_some() && self.message.seals() {
            let mut iv = [0; IV];
            getrandom::fill(&mut iv).map_err(|_| None)?;
            self.iv = Some(iv);
            self.derive(true)?;
        }
        Ok(())
    }

    /// Returns the difference between the commitment and the one that the caller expects.
    fn differs(&self) -> Result<u128, Failure> {
        if self.message.seals() || !Self::COMMITS {
            return Ok(0);
        }
        let expected = self.expected.ok_or(Reason::TagNotSet)?;
        let halves = |bytes: &[u8; COMMITMENT]| bytes.as_chunks().0.try_into().map(|halves: [_; 2]| halves.map(u128::from_ne_bytes));
        let (Ok([a, b]), Ok([c, d])) = (halves(&self.commitment), halves(&expected)) else { return Err(None) };
        Ok((a ^ c) | (b ^ d))
    }
}

impl<'p, S: Scheme<Nonce = [u8; IV]>> Cipher<'p> for Context<'p, S> {
    fn new(provider: &'p Provider, key_length: usize) -> Self {
        let message = cipher::Context::new(provider, key_length);
        Self { message, root: None, iv: None, commitment: [0; COMMITMENT], expected: None, sealed: false }
    }

    fn init(&mut self, seals: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<(), Failure> {
        // A refused call changes nothing.
        let iv = iv.map(|iv| iv.try_into().map_err(|_| Reason::InvalidIvLength)).transpose()?;
        let key: Option<&[u8; KEY]> = key.map(|key| key.try_into().map_err(|_| Reason::InvalidKeyLength)).transpose()?;
        if key.is_none() && iv.is_none() {
            return self.message.init(seals, None, None);
        }
        // An IV with which no message has begun may be used with another key.
        self.iv = iv.or(self.iv.filter(|_| self.message.is_new()));
        self.message.clear();
        self.sealed = false;
        if let Some(key) = key {
            self.root = None; // the last one, in case that there is no memory for this one
            let backend = self.provider().backend;
            self.root = Some(Shared::new(|place| RootKey::init_in_place(place, key, backend).map_err(|_| None))?);
        }
        self.message.init(seals, None, None)?;
        self.derive(seals)
    }

    fn get(&mut self, param: &mut Param) -> Result<(), Failure> {
        let done = match param.name() {
            b"keylen" => param.set_number(KEY as u64),
            b"ivlen" => param.set_number(IV as u64),
            b"taglen" => param.set_number(TAG as u64),
            b"tag" | b"commitment" if !self.sealed => return Err(Some(Reason::InvalidTag)),
            b"tag" if param.size() == TAG => param.set_bytes(self.message.tag()),
            b"commitment" if Self::COMMITS && param.size() == COMMITMENT => param.set_bytes(&self.commitment),
            b"tag" | b"commitment" => return Err(Some(Reason::InvalidTag)),
            b"iv" | b"updated-iv" => {
                self.drawn()?;
                param.set_bytes(&self.iv.filter(|_| param.size() >= IV).ok_or(Reason::InvalidIvLength)?)
            }
            _ => return Ok(()),
        };
        done.ok_or(Some(Reason::FailedToSetParameter))
    }

    fn set(&mut self, param: &Param) -> Result<(), Failure> {
        let ill = Some(Reason::FailedToGetParameter);
        match param.name() {
            b"tag" if param.bytes().ok_or(ill)?.len() != TAG => return Err(Some(Reason::InvalidTag)),
            b"tag" => return self.message.set(param),
            b"commitment" => {
                let expected = param.bytes().ok_or(ill)?.try_into().map_err(|_| Reason::InvalidTag)?;
                if self.message.seals() || !Self::COMMITS {
                    return Err(Some(Reason::InvalidTag));
                }
                self.expected = Some(expected);
            }
            b"ivlen" if param.number().ok_or(ill)? != IV => return Err(Some(Reason::InvalidIvLength)),
            b"keylen" if param.number().ok_or(ill)? != KEY => return Err(Some(Reason::InvalidKeyLength)),
            _ => {}
        }
        Ok(())
    }

    unsafe fn update(&mut self, is_piece: bool, to: *mut u8, room: usize, from: *const u8, size: usize) -> Result<usize, Failure> {
        if is_piece && size == 0 {
            return Ok(0);
        }
        if from.is_null() && !is_piece {
            return self.finish().map(|()| 0);
        }
        self.drawn()?;
        // SAFETY: the caller's promise.
        unsafe { self.message.update(is_piece, to, room, from, size) }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.drawn()?;
        let differs = self.differs()?;
        self.message.finish_beside(differs)?;
        self.sealed = self.message.seals();
        Ok(())
    }
}

static GETTABLE: [Param; 8] = [
    Param::named(c"keylen", UNSIGNED),
    Param::named(c"ivlen", UNSIGNED),
    Param::named(c"taglen", UNSIGNED),
    Param::named(c"iv", OCTETS),
    Param::named(c"updated-iv", OCTETS),
    Param::named(c"tag", OCTETS),
    Param::named(c"commitment", OCTETS),
    Param::END,
];

static SETTABLE: [Param; 5] = [
    Param::named(c"keylen", UNSIGNED),
    Param::named(c"ivlen", UNSIGNED),
    Param::named(c"tag", OCTETS),
    Param::named(c"commitment", OCTETS),
    Param::END,
];

ciphers! { 6 24: XAES 256 Context<'static, Xaes>, KC_XAES 256 Context<'static, KcXaes>, }

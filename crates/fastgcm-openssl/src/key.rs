//! A key, expanded when that pays.

use crate::{Provider, abi::Reason, object::Failure};
use fastgcm::{Key, Tag, hazmat};
use std::{
    mem::{MaybeUninit, take},
    ops::Deref,
    sync::{Arc, OnceLock, atomic::Ordering::Relaxed},
};

/// The bytes of a key, and what is expanded of it: 2 KiB, most of it powers of H, of which a short message needs three. Where each key has one short
/// message, most time would go there. So a short first message is made of the bytes alone, and whatever comes then expands them.
///
/// A long message that has to wait for this takes longer than if it had been done when the key was set. So the key is expanded then if the last key's
/// first message was not short.
pub(crate) struct Keyed<'p> {
    provider: &'p Provider,
    bytes: [u8; 32],
    length: usize,
    expanded: Option<Expanded>,
    /// What duplicates share, made for the first of them. Several threads may duplicate one context at a time.
    for_copies: OnceLock<Arc<Key>>,
    /// There has been no message.
    fresh: bool,
}

/// A context that is not a duplicate has its own: to make a counted reference, and to drop it, takes a fifth of what it takes to expand the key.
enum Expanded {
    Own(Box<Key>),
    Shared(Arc<Key>),
}

impl Deref for Expanded {
    type Target = Key;

    #[inline]
    fn deref(&self) -> &Key {
        match self {
            Self::Own(key) => key,
            Self::Shared(key) => key,
        }
    }
}

impl<'p> Keyed<'p> {
    /// Of 16, 24 or 32 bytes, where it stays.
    pub(crate) fn set(place: &mut Option<Self>, key: &[u8], provider: &'p Provider) -> Result<(), Failure> {
        let new =
            place.insert(Self { provider, bytes: [0; 32], length: key.len(), expanded: None, for_copies: OnceLock::new(), fresh: true });
        new.bytes.get_mut(..key.len()).ok_or(Reason::InvalidKeyLength)?.copy_from_slice(key);
        if !provider.short_first.load(Relaxed) {
            new.expanded()?;
        }
        Ok(())
    }

    /// The expanded key, for a message in pieces.
    #[inline]
    pub(crate) fn for_pieces(&mut self) -> Result<&Key, Failure> {
        self.begin(false);
        self.expanded()
    }

    #[inline]
    fn expanded(&mut self) -> Result<&Key, Failure> {
        if self.expanded.is_none() {
            self.expanded = Some(match self.for_copies.take() {
                Some(key) => Expanded::Shared(key),
                None => {
                    let mut key = Box::new_uninit();
                    self.expand(&mut key)?;
                    // SAFETY: it was just made.
                    Expanded::Own(unsafe { key.assume_init() })
                }
            });
        }
        self.expanded.as_deref().ok_or(None)
    }

    fn expand<'a>(&self, place: &'a mut MaybeUninit<Key>) -> Result<&'a mut Key, Failure> {
        Key::init_in_place(place, &self.bytes[..self.length], self.provider.backend).map_err(|_| None)
    }

    /// The same key, which shares what is expanded with all other duplicates.
    pub(crate) fn duplicate(&self) -> Option<Self> {
        let shared = match (&self.expanded, self.for_copies.get()) {
            (Some(Expanded::Shared(key)), _) | (_, Some(key)) => key,
            _ => {
                let mut key = Arc::new_uninit();
                self.expand(Arc::get_mut(&mut key)?).ok()?;
                // SAFETY: it was just made.
                let key = unsafe { key.assume_init() };
                self.for_copies.get_or_init(|| key)
            }
        };
        let expanded = Some(Expanded::Shared(shared.clone()));
        Some(Self { bytes: [0; 32], expanded, for_copies: OnceLock::new(), ..*self })
    }

    /// Seals or opens a whole message in place. Returns its tag, with which nobody has compared another.
    #[inline]
    pub(crate) fn whole(&mut self, nonce: [u8; 12], aad: &[u8], text: &mut [u8], seals: bool) -> Result<Tag, Failure> {
        let once = self.fresh && self.expanded.is_none();
        self.begin(true);
        let done = if once {
            let (backend, bytes) = (self.provider.backend, &self.bytes[..self.length]);
            if seals { backend.seal_once(bytes, nonce, aad, text) } else { hazmat::open_once_unverified(backend, bytes, nonce, aad, text) }
        } else {
            let key = self.expanded()?;
            if seals { key.seal(nonce, aad, text) } else { hazmat::open_unverified(key, nonce, aad, text) }
        };
        done.map_err(|_| None)
    }

    /// A message begins, which is short or not.
    #[inline]
    fn begin(&mut self, short: bool) {
        // Written only where it changes: all threads read it.
        if take(&mut self.fresh) && self.provider.short_first.load(Relaxed) != short {
            self.provider.short_first.store(short, Relaxed);
        }
    }
}

impl Drop for Keyed<'_> {
    fn drop(&mut self) {
        self.bytes = [0; 32];
        zeroize::optimization_barrier(&self.bytes);
    }
}

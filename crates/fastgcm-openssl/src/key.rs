//! A key, which is expanded when that pays off.

use crate::{
    Provider,
    abi::{Failure, Reason},
    shared::{Shared, boxed},
};
use fastgcm::{Backend, Key, Tag, hazmat};
use std::{
    mem::{MaybeUninit, take},
    ops::Deref,
    sync::{OnceLock, atomic::Ordering::Relaxed},
};

/// The bytes of a key, and what is expanded from them: 1.7 KB, most of it powers of H, of which a short message needs three. Where each key
/// has one short message, expanding would take most of the time. So a short first message uses only the bytes, and whatever comes next
/// expands them.
///
/// A long message that must wait for the expansion takes longer than if the key had been expanded when it was set. So the key is expanded
/// at once if the last key's first message was not short.
pub(crate) struct Keyed<'p> {
    provider: &'p Provider,
    bytes: [u8; 32],
    length: usize,
    expanded: Option<Expanded>,
    /// The parts that duplicates share, made for the first of them. Several threads may duplicate one context at a time.
    for_copies: OnceLock<Shared<Key>>,
    /// True before the first message.
    fresh: bool,
}

/// A context that is not a duplicate has its own key: making and dropping a counted reference takes a fifth of the time of expanding the
/// key.
enum Expanded {
    Own(Box<Key>),
    Shared(Shared<Key>),
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
    /// Makes a key of 16, 24 or 32 bytes in its final place. If there is no memory, there is no key, not even the last one.
    pub(crate) fn set(place: &mut Option<Self>, key: &[u8], provider: &'p Provider) -> Result<(), Failure> {
        let new =
            place.insert(Self { provider, bytes: [0; 32], length: key.len(), expanded: None, for_copies: OnceLock::new(), fresh: true });
        new.bytes.get_mut(..key.len()).ok_or(Reason::InvalidKeyLength)?.copy_from_slice(key);
        if !provider.short_first.load(Relaxed)
            && let Err(reason) = new.expanded()
        {
            *place = None;
            return Err(reason);
        }
        Ok(())
    }

    /// Returns the expanded key, for a message in pieces.
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
                None => Expanded::Own(boxed(|place| self.expand(place))?),
            });
        }
        self.expanded.as_deref().ok_or(None)
    }

    fn expand<'a>(&self, place: &'a mut MaybeUninit<Key>) -> Result<&'a mut Key, Failure> {
        Key::init_in_place(place, &self.bytes[..self.length], self.provider.backend).map_err(|_| None)
    }

    /// Returns what all duplicates share.
    pub(crate) fn for_copies(&self) -> Result<&Shared<Key>, Failure> {
        match (&self.expanded, self.for_copies.get()) {
            (Some(Expanded::Shared(key)), _) | (_, Some(key)) => Ok(key),
            _ => {
                let key = Shared::new(|place| self.expand(place))?;
                Ok(self.for_copies.get_or_init(|| key))
            }
        }
    }

    /// Returns this key, with the value that `for_copies` has returned.
    #[inline(always)]
    pub(crate) fn duplicate(&self, shared: &Shared<Key>) -> Self {
        let expanded = Some(Expanded::Shared(shared.clone()));
        Self { bytes: [0; 32], expanded, for_copies: OnceLock::new(), ..*self }
    }

    /// Returns what seals or opens a whole message. After this call no memory is requested.
    #[inline]
    pub(crate) fn ready(&mut self) -> Result<Ready<'_>, Failure> {
        let once = self.fresh && self.expanded.is_none();
        self.begin(true);
        Ok(if once { Ready::Once(self.provider.backend, &self.bytes[..self.length]) } else { Ready::Expanded(self.expanded()?) })
    }

    /// Notes that a message begins, and whether it is short.
    #[inline]
    fn begin(&mut self, short: bool) {
        // Written only where it changes: all threads read it.
        if take(&mut self.fresh) && self.provider.short_first.load(Relaxed) != short {
            self.provider.short_first.store(short, Relaxed);
        }
    }
}

/// A key for one message: the bytes of a key that has had no message, or the expanded key.
pub(crate) enum Ready<'a> {
    Once(Backend, &'a [u8]),
    Expanded(&'a Key),
}

impl Ready<'_> {
    /// Seals or opens a whole message in place. Returns its tag, which nobody has compared yet.
    #[inline]
    pub(crate) fn whole(self, nonce: [u8; 12], aad: &[u8], text: &mut [u8], seals: bool) -> Result<Tag, Failure> {
        let done = match (self, seals) {
            (Self::Once(backend, bytes), true) => backend.seal_once(bytes, nonce, aad, text),
            (Self::Once(backend, bytes), false) => hazmat::open_once_unverified(backend, bytes, nonce, aad, text),
            (Self::Expanded(key), true) => key.seal(nonce, aad, text),
            (Self::Expanded(key), false) => hazmat::open_unverified(key, nonce, aad, text),
        };
        done.map_err(|_| None)
    }
}

impl Drop for Keyed<'_> {
    fn drop(&mut self) {
        self.bytes = [0; 32];
        zeroize::optimization_barrier(&self.bytes);
    }
}

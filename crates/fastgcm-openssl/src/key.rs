//! A key, expanded when that pays.

use crate::{Provider, abi::Reason, object::Failure};
use fastgcm::{Key, Tag, hazmat};
use std::{
    mem::{MaybeUninit, take},
    ops::Deref,
    ptr::NonNull,
    sync::{
        OnceLock,
        atomic::{
            AtomicUsize,
            Ordering::{AcqRel, Acquire, Relaxed},
        },
    },
};

/// An expanded key and how many share it: an `Arc` that knows when it is alone. Then nothing of it needs an exchange of the bus, of which `Arc` has three
/// where a context has one key for one message.
struct Shared(NonNull<Counted>);

struct Counted {
    key: Key,
    count: AtomicUsize,
}

// SAFETY: a key is for all threads, and it is dropped by the last one that has it.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Derived where it stays.
    fn new(bytes: &[u8], provider: &Provider) -> Result<Self, Failure> {
        let mut place = Box::<Counted>::new_uninit();
        let counted = place.as_mut_ptr();
        // SAFETY: of memory that is not yet anything, each field is written.
        unsafe {
            Key::init_in_place(&mut *(&raw mut (*counted).key).cast::<MaybeUninit<Key>>(), bytes, provider.backend).map_err(|_| None)?;
            (&raw mut (*counted).count).write(AtomicUsize::new(1));
            Ok(Self(NonNull::from(Box::leak(place.assume_init()))))
        }
    }

    fn counted(&self) -> &Counted {
        // SAFETY: as long as one of them is there, so is the key.
        unsafe { self.0.as_ref() }
    }
}

impl Deref for Shared {
    type Target = Key;

    fn deref(&self) -> &Key {
        &self.counted().key
    }
}

impl Clone for Shared {
    fn clone(&self) -> Self {
        self.counted().count.fetch_add(1, Relaxed);
        Self(self.0)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let count = &self.counted().count;
        // Who is the only one stays that: another would be cloned of this one, which nobody else has.
        if count.load(Acquire) == 1 || count.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: it was a `Box`, and nobody has it any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// The bytes of a key, and what is expanded of it: 2 KiB, most of it powers of H, of which a short message needs three. Where each key has one short
/// message, most time would go there. So a short first message is made of the bytes alone, and whatever comes then expands them.
///
/// A long message that has to wait for this takes longer than if it had been done when the key was set. So the key is expanded then if the last key's
/// first message was not short.
pub(crate) struct Keyed<'p> {
    provider: &'p Provider,
    bytes: [u8; 32],
    length: usize,
    /// Shared with the duplicates.
    expanded: Option<Shared>,
    /// The same, made for a duplicate when there was none. Several threads may duplicate one context at a time.
    for_copies: OnceLock<Shared>,
    /// There has been no message.
    fresh: bool,
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
            self.expanded = Some(self.for_copies.take().ok_or(()).or_else(|()| self.expand())?);
        }
        self.expanded.as_deref().ok_or(None)
    }

    fn expand(&self) -> Result<Shared, Failure> {
        Shared::new(&self.bytes[..self.length], self.provider)
    }

    /// The same key, which shares what is expanded.
    pub(crate) fn duplicate(&self) -> Option<Self> {
        let expanded = match self.expanded.as_ref().or(self.for_copies.get()) {
            Some(key) => key,
            None => {
                let key = self.expand().ok()?;
                self.for_copies.get_or_init(|| key)
            }
        };
        Some(Self { bytes: [0; 32], expanded: Some(expanded.clone()), for_copies: OnceLock::new(), ..*self })
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

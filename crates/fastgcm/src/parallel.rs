//! One message on all cores (feature `rayon`). The result is bit for bit that of one core.
//!
//! The text is cut into parts, and each free thread takes the next one. Powers of H combine the hashes of the
//! parts ([`crate::parts`]).

use crate::{
    AnyTag, Block, Error, Key, Nonce, Tag, Text,
    inout::InOut,
    limits,
    parts::{self, PartHash, combine},
    seal::{self, wipe},
    tag::tags_differ,
};
use alloc::vec::Vec;
use core::{
    fmt,
    ops::ControlFlow,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The shortest message, in bytes, for which threads are used. A sleeping thread of the pool takes 35 µs or
/// more to wake up, and a virtual machine may start it on the caller's core: after 3 ms of rest 4 MiB took
/// 1.1 times as long as on one core, and 16 MiB took as long as on one core (Intel processor of 2023, two
/// cores).
const PAYS: usize = 4 << 20;

/// The bytes of a part: many enough that beginning a part costs little (with 64 KiB it cost 6 % of 64 MiB),
/// and so few that nobody waits long for the last part (with 512 KiB it cost 10 % of 4 MiB).
const PART: usize = 256 << 10;

/// Seals and opens one message on all cores. [`Key::parallel`] returns a `Parallel`.
///
/// A `Parallel` uses the caller's thread and the threads of rayon's pool: the global pool, or the pool in
/// whose `install` the call runs. Messages below 4 MiB stay on the caller's thread, where they are as fast as
/// with [`Key::seal`].
///
/// Two cores of an Intel processor of 2023 were 1.5 times as fast as one at 4 MiB, 1.75 times at 16 MiB and
/// 1.9 times at 64 MiB. A pool that had been asleep gained nothing below 32 MiB.
///
/// ```
/// use core::{ops::ControlFlow, sync::atomic::{AtomicBool, Ordering}};
/// use fastgcm::{Error, Key};
/// # let key = Key::aes256(&[7; 32]);
/// let mut text = vec![0; 5 << 20];
/// let tag = key.parallel().seal([1; 12], b"aad", &mut text)?;
/// key.parallel().open([1; 12], b"aad", &mut text, &tag)?;
///
/// // Progress, and a way to stop.
/// let stop = AtomicBool::new(false);
/// let watch = |done: usize| {
///     stop.store(done >= 1 << 20, Ordering::Relaxed); // a button that somebody presses
///     if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
/// };
/// assert_eq!(key.parallel().watch(&watch).seal([2; 12], b"", &mut text).unwrap_err(), Error::Stopped);
/// assert!(text.iter().all(|byte| *byte == 0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Parallel<'a> {
    key: &'a Key,
    watch: Option<&'a Watch<'a>>,
}

type Watch<'a> = dyn Fn(usize) -> ControlFlow<()> + Sync + 'a;

impl Key {
    /// Begins a message that all cores seal or open together.
    pub fn parallel(&self) -> Parallel<'_> {
        Parallel { key: self, watch: None }
    }
}

impl<'a> Parallel<'a> {
    /// Calls `watch` after each part, from any of the threads, with the number of bytes that are done. If
    /// `watch` returns `Break`, the message is stopped. If `watch` panics, the message is stopped too, and
    /// the panic continues in the caller.
    #[must_use]
    pub fn watch(self, watch: &'a Watch<'a>) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Encrypts `text` in place and returns its tag, as [`Key::seal`] does.
    ///
    /// # Errors
    /// Fails like [`Key::seal`], or returns [`Stopped`](Error::Stopped); `text` is then bit for bit what it
    /// was.
    pub fn seal<'n>(&self, nonce: impl Into<Nonce<'n>>, aad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        self.run(nonce.into(), aad, Text::InPlace(text), true)
    }

    /// Encrypts `text` to `ciphertext`, which has the same length as `text`, and returns the tag, as
    /// [`Key::seal_detached_to`] does.
    ///
    /// # Errors
    /// Fails like that function; `ciphertext` is untouched. Returns [`Stopped`](Error::Stopped) if `watch`
    /// stops the message; `ciphertext` is then zero wherever it was written.
    pub fn seal_detached_to<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &[u8],
        ciphertext: &mut [u8],
    ) -> Result<Tag, Error> {
        self.run(nonce.into(), aad, Text::To(text, ciphertext), true)
    }

    /// Decrypts `text` in place, as [`Key::open`] does.
    ///
    /// # Errors
    /// Fails like [`Key::open`]: after [`Unauthentic`](Error::Unauthentic), `text` is all zero. After
    /// [`Stopped`](Error::Stopped), `text` is the ciphertext that it was.
    pub fn open<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let found = self.run(nonce.into(), aad, Text::InPlace(text), false)?;
        verdict(found, tag, text)
    }

    /// Decrypts `ciphertext` to `text`, which has the same length as `ciphertext`, as
    /// [`Key::open_detached_to`] does.
    ///
    /// # Errors
    /// Fails like that function: after [`Unauthentic`](Error::Unauthentic) `text` is all zero. After
    /// [`Stopped`](Error::Stopped) `text` is zero wherever it was written.
    pub fn open_detached_to<'n>(
        &self,
        nonce: impl Into<Nonce<'n>>,
        aad: &[u8],
        ciphertext: &[u8],
        text: &mut [u8],
        tag: &impl AnyTag,
    ) -> Result<(), Error> {
        let found = self.run(nonce.into(), aad, Text::To(ciphertext, text), false)?;
        verdict(found, tag, text)
    }

    /// Seals or opens, and returns the tag that was found.
    fn run(&self, nonce: Nonce<'_>, aad: &[u8], mut text: Text<'_>, seal: bool) -> Result<Tag, Error> {
        let length = text.len().ok_or(Error::InvalidLength)?;
        limits::check(aad.len(), length)?;
        let threads = if length < PAYS { 1 } else { rayon::current_num_threads().min(length.div_ceil(PART)) };
        if threads == 1 && self.watch.is_none() {
            let text = text.in_out().ok_or(Error::InvalidLength)?;
            return if seal {
                self.key.seal_inout(nonce, aad, text).map(Tag::of)
            } else {
                self.key.open_inout(nonce, aad, text, Tag::of)
            };
        }
        let mut parts = cut(text);
        let (todo, done, stopped) =
            (Mutex::new(parts.iter_mut()), AtomicUsize::new(0), AtomicBool::new(false));
        let panicked = Mutex::new(None);
        let work = || {
            while !stopped.load(Ordering::Relaxed) {
                let Some(part) = lock(&todo).next() else { break };
                let (key, offset, length) = (self.key, part.offset, part.text.len().unwrap_or(0));
                part.hash =
                    part.text.in_out().and_then(|text| parts::crypt(key, nonce, offset, text, seal).ok());
                let done = done.fetch_add(length, Ordering::Relaxed) + length;
                // A panic in the caller's code must not leave text that nobody has verified.
                match catch_unwind(AssertUnwindSafe(|| self.watch.map(|watch| watch(done)))) {
                    Ok(None | Some(ControlFlow::Continue(()))) => {}
                    Ok(Some(ControlFlow::Break(()))) => stopped.store(true, Ordering::Relaxed),
                    Err(panic) => {
                        stopped.store(true, Ordering::Relaxed);
                        *lock(&panicked) = Some(panic);
                    }
                }
            }
        };
        if threads == 1 {
            work();
        } else {
            rayon::in_place_scope(|scope| {
                (1..threads).for_each(|_| scope.spawn(|_| work()));
                work();
            });
        }
        if stopped.into_inner() {
            parts.iter_mut().for_each(|part| part.undo(self.key, nonce, seal));
            if let Some(panic) = panicked.into_inner().unwrap_or_else(PoisonError::into_inner) {
                resume_unwind(panic);
            }
            return Err(Error::Stopped);
        }
        // All parts are done, so no length in them was too long.
        combine(self.key, nonce, aad, parts.iter().filter_map(|part| part.hash.as_ref()))
    }
}

impl fmt::Debug for Parallel<'_> {
    /// Writes the key's length and back end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parallel").field(self.key).finish()
    }
}

/// A part of the text, and its hash once the part is done.
struct Part<'a> {
    offset: u64,
    text: Text<'a>,
    hash: Option<PartHash>,
}

impl Part<'_> {
    /// Restores text in place with the keystream, and wipes text that was written to another buffer.
    fn undo(&mut self, key: &Key, nonce: Nonce<'_>, seal: bool) {
        if self.hash.is_none() {
            return;
        }
        match &mut self.text {
            Text::InPlace(text) => drop(parts::crypt(key, nonce, self.offset, InOut::in_place(text), !seal)),
            Text::To(_, text) => wipe(text),
        }
    }
}

/// Cuts the text into parts of [`PART`] bytes each; the last part may be shorter.
fn cut(text: Text<'_>) -> Vec<Part<'_>> {
    let part = |(number, text)| Part { offset: number as u64 * PART as u64, text, hash: None };
    match text {
        Text::InPlace(text) => text.chunks_mut(PART).map(Text::InPlace).enumerate().map(part).collect(),
        Text::To(from, to) => from
            .chunks(PART)
            .zip(to.chunks_mut(PART))
            .map(|(from, to)| Text::To(from, to))
            .enumerate()
            .map(part)
            .collect(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn verdict(found: Tag, tag: &impl AnyTag, text: &mut [u8]) -> Result<(), Error> {
    seal::verdict(tags_differ(Block::from_le_bytes(found.0), tag), text)
}

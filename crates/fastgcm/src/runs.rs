//! A text that lies in several buffers and goes to one, as runs of whole turns, so that one loop goes through all of it.

#[cfg(feature = "scrub")]
use crate::inout::Scratch;
use crate::{
    Error,
    inout::{InOut, TURN, meeting},
};
use core::slice::Iter;

/// The text of a message: in one place, or gathered from several.
pub(crate) struct Text<'a> {
    /// All of it. With `runs`, it is written there, and read where these say.
    pub(crate) all: InOut<'a>,
    /// Given only to rows with [`TURN`](crate::engine::Engine::TURN), and only if the text is longer than `gcm::runs_from()`.
    pub(crate) runs: Option<&'a mut Runs<'a>>,
    /// Memory for what is spread over the lanes, outside the frame that every message wipes.
    #[cfg(feature = "scrub")]
    pub(crate) scratch: [Scratch; 2],
}

impl<'a> Text<'a> {
    #[inline(always)]
    pub(crate) fn new(all: InOut<'a>, runs: Option<&'a mut Runs<'a>>) -> Self {
        Self {
            all,
            runs,
            #[cfg(feature = "scrub")]
            scratch: [const { Scratch::new() }; 2],
        }
    }
}

impl<'a> From<InOut<'a>> for Text<'a> {
    #[inline(always)]
    fn from(all: InOut<'a>) -> Self {
        Self::new(all, None)
    }
}

/// Where such a text is read. Whole turns of a chunk are read where they lie. What lies between them, less than a turn of each of two chunks or more, is
/// copied to its place and encrypted there, as a turn of its own.
pub(crate) struct Runs<'a> {
    chunks: Iter<'a, &'a [u8]>,
    /// The last chunk.
    extra: &'a [u8],
    /// What is left of the chunk that has been begun.
    chunk: &'a [u8],
    /// Where the text goes: as many bytes as are left in all chunks.
    rest: InOut<'a>,
}

impl<'a> Runs<'a> {
    /// # Errors
    /// `TooLong` if no buffer can be that long, `InvalidLength` if `to` has not the length of all chunks together.
    #[inline]
    pub(crate) fn new(chunks: &'a [&'a [u8]], extra: &'a [u8], to: &'a mut [u8]) -> Result<Self, Error> {
        if total(chunks.iter().chain([&extra]).map(|chunk| chunk.len()))? != to.len() {
            return Err(Error::InvalidLength);
        }
        Ok(Self { chunks: chunks.iter(), extra, chunk: &[], rest: InOut::in_place(to) })
    }

    /// What is left.
    #[inline]
    pub(crate) fn rest(&self) -> &InOut<'a> {
        &self.rest
    }

    /// The next run of whole turns of vectors of `blocks` blocks. If none leaves a block for each lane behind it: all that is left.
    #[inline]
    pub(crate) fn next(&mut self, blocks: usize) -> InOut<'a> {
        if let Some(run) = self.next_in_chunk(blocks) { run } else { self.next_gathered(blocks) }
    }

    /// The next run, if it lies in one chunk.
    #[inline(always)]
    pub(crate) fn next_in_chunk(&mut self, blocks: usize) -> Option<InOut<'a>> {
        if self.chunk.is_empty() {
            self.chunk = self.chunks.next()?;
        }
        let all = self.rest.len().saturating_sub(meeting(blocks));
        let bytes = self.chunk.len().min(all) & (16 * blocks * TURN).wrapping_neg();
        if bytes == 0 {
            return None;
        }
        self.rest.take_len(bytes).reading(self.chunk.split_off(..bytes)?)
    }

    /// The next run otherwise: a turn that is copied to where it goes, or the rest of all, which may be nothing.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_gathered(&mut self, blocks: usize) -> InOut<'a> {
        while self.chunk.is_empty() && self.begin() {}
        let turn = 16 * blocks * TURN;
        let place = self.rest.take_len(if self.rest.len() < turn + meeting(blocks) { usize::MAX } else { turn });
        if let Some(from) = self.chunk.split_off(..place.len()) {
            return place.reading(from).unwrap_or(InOut::EMPTY);
        }
        let mut empty = place;
        while empty.len() > 0 && (!self.chunk.is_empty() || self.begin()) {
            let here = self.chunk.split_off(..empty.len().min(self.chunk.len())).unwrap_or_default();
            empty.take_len(here.len()).fill(here);
        }
        place
    }

    /// Begins the next chunk, if there is one.
    #[inline]
    fn begin(&mut self) -> bool {
        let next = self.chunks.next();
        self.chunk = next.copied().unwrap_or_else(|| core::mem::take(&mut self.extra));
        next.is_some() || !self.chunk.is_empty()
    }
}

/// The sum of lengths. Chunks may be one and the same, so it may be larger than any memory.
#[inline]
pub(crate) fn total(mut lengths: impl Iterator<Item = usize>) -> Result<usize, Error> {
    lengths.try_fold(0, usize::checked_add).ok_or(Error::TooLong)
}

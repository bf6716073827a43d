//! One file on many threads, in bounded memory. The bytes do not depend on the number of threads.
//!
//! Each thread takes the next unit of 16 chunks from the input, converts it, waits for its turn, and writes it. Reading happens one unit at
//! a time, in order, and so does writing. So this works for pipes as for files, needs no queue, and holds one unit for each thread:
//! ```text
//! thread 0   read 0 | convert 0    | write 0 | read 2 | convert 2    | write 2
//! thread 1          | read 1 | convert 1     | write 1 | read 3 | convert 3 ...
//! ```
//! Two threads already overlap all three steps, and these steps take all the time: sealing a unit takes about as long as the kernel takes
//! to copy it. The alternative, a reading, a writing and many converting threads with queues between them, holds several times the memory
//! and hands each unit from core to core twice.
//!
//! A thread starts when there is another unit for it, so the caller alone converts a short file.

use crate::{
    CHUNK_LEN, Cipher, Error, Key, SEALED_CHUNK_LEN, TAG_LEN,
    reader::{fill, open_header},
};
use std::{
    io::{self, Read, Write},
    num::NonZero,
    sync::{Condvar, Mutex},
    thread::{self, Scope},
};
use zeroize::optimization_barrier;

/// Seals everything that it reads from `text`, and writes the sealed file to `sealed`. Returns the number of bytes of text.
///
/// The function uses the calling thread and up to `threads - 1` more, 64 in all at most, with half a MiB each. The sealed file does not
/// depend on `threads`. If the function fails, `sealed` has received a truncated file, which every reader refuses.
///
/// # Errors
/// Returns [`Io`](Error::Io) from `text` or `sealed`, or if the operating system has no random bytes; or [`TooLong`](Error::TooLong).
///
/// ```
/// use fastgcm_file::{Format, Key, open, seal};
/// use std::num::NonZero;
///
/// let key = Key::generate(Format::default())?;
/// let two = NonZero::new(2).unwrap();
/// let (text, mut sealed, mut opened) = ([42; 100_000], Vec::new(), Vec::new());
/// seal(&key, b"context", &text[..], &mut sealed, two)?;
/// open(&key, b"context", &sealed[..], &mut opened, two)?;
/// assert_eq!(opened, text);
/// # Ok::<(), fastgcm_file::Error>(())
/// ```
pub fn seal(
    key: &Key,
    context: &[u8],
    text: impl Read + Send,
    mut sealed: impl Write + Send,
    threads: NonZero<usize>,
) -> Result<u64, Error> {
    let (header, cipher) = Cipher::create(key, context)?;
    sealed.write_all(&header)?;
    seal_chunks(&cipher, 0, text, sealed, threads)
}

/// Opens the sealed file that it reads from `sealed`, and writes the text to `text`, each chunk after it was verified. Returns the number
/// of bytes of text.
///
/// **The file is known to be whole only when this function returns `Ok`**. After an error, `text` has received a prefix of the text at
/// best. The function uses threads and memory as [`seal`] does.
///
/// # Errors
/// Returns [`WrongKey`](Error::WrongKey), [`Truncated`](Error::Truncated) or [`Chunk`](Error::Chunk) if the file is not what was sealed
/// with this key and context, or [`Io`](Error::Io) from `sealed` or `text`.
pub fn open(
    key: &Key,
    context: &[u8],
    mut sealed: impl Read + Send,
    text: impl Write + Send,
    threads: NonZero<usize>,
) -> Result<u64, Error> {
    let cipher = open_header(key, context, &mut sealed)?;
    open_chunks(&cipher, 0, End::OfFile, sealed, text, threads)
}

/// The unit that ends with the input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The file: its last chunk is short.
    OfFile,
    /// A range of full chunks within the file.
    OfRange,
}

/// Seals the chunks of a file from number `first` on. Returns how many bytes of text there were.
pub(crate) fn seal_chunks(
    cipher: &Cipher,
    first: u64,
    text: impl Read + Send,
    sealed: impl Write + Send,
    threads: NonZero<usize>,
) -> Result<u64, Error> {
    let convert = |unit: u64, text: &[u8], last: bool, sealed: &mut [u8]| {
        let mut number = first + unit * UNIT as u64;
        let (full, rest) = text.as_chunks::<CHUNK_LEN>();
        let (slots, tail) = sealed.as_chunks_mut::<SEALED_CHUNK_LEN>();
        for (text, sealed) in full.iter().zip(&mut *slots) {
            cipher.seal_chunk(number, text, sealed)?;
            number += 1;
        }
        if last {
            let slot = slots.get_mut(full.len()).map_or(tail, |slot| &mut slot[..]);
            cipher.seal_chunk(number, rest, &mut slot[..rest.len() + TAG_LEN])?;
        }
        Ok(full.len() * SEALED_CHUNK_LEN + if last { rest.len() + TAG_LEN } else { 0 })
    };
    Ok(run(text, sealed, threads, [CHUNK_LEN, SEALED_CHUNK_LEN], convert)?.read)
}

/// Opens chunks from number `first` on. Returns how many bytes of text there were.
pub(crate) fn open_chunks(
    cipher: &Cipher,
    first: u64,
    end: End,
    sealed: impl Read + Send,
    text: impl Write + Send,
    threads: NonZero<usize>,
) -> Result<u64, Error> {
    let convert = |unit: u64, sealed: &[u8], last: bool, text: &mut [u8]| {
        let mut number = first + unit * UNIT as u64;
        let (full, rest) = sealed.as_chunks::<SEALED_CHUNK_LEN>();
        let (slots, tail) = text.as_chunks_mut::<CHUNK_LEN>();
        for (sealed, text) in full.iter().zip(&mut *slots) {
            cipher.open_chunk(number, sealed, text)?;
            number += 1;
        }
        let mut len = full.len() * CHUNK_LEN;
        if last && (end == End::OfFile || !rest.is_empty()) {
            let rest_len = rest.len().checked_sub(TAG_LEN).ok_or(Error::Truncated)?;
            let slot = slots.get_mut(full.len()).map_or(tail, |slot| &mut slot[..]);
            cipher.open_chunk(number, rest, &mut slot[..rest_len])?;
            len += rest_len;
        }
        Ok(len)
    };
    Ok(run(sealed, text, threads, [SEALED_CHUNK_LEN, CHUNK_LEN], convert)?.written)
}

/// Memory of a fixed size, used from the front. Dropping it wipes only the used part, so a short file takes little time.
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    /// Returns room for `len` bytes, or an error if there is not enough memory.
    pub(crate) fn new(len: usize) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Self(bytes))
    }

    /// Returns the first `len` bytes: their old values, or zeros if they were unused. There must be room for them.
    pub(crate) fn first(&mut self, len: usize) -> &mut [u8] {
        while self.0.len() < len {
            let zeros = &[0; CHUNK_LEN][..CHUNK_LEN.min(len - self.0.len())];
            assert!(zeros.len() <= self.0.capacity() - self.0.len(), "memory that moves is not wiped");
            self.0.extend_from_slice(zeros);
        }
        &mut self.0[..len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.0.fill(0);
        optimization_barrier(&self.0[..]);
    }
}

/// The number of chunks in a unit of work: 256 KiB. Smaller units cost more system calls and turns; larger ones cost memory and cache.
const UNIT: usize = 16;
/// The most threads that start: 64 times two buffers of a unit are 32 MiB, and reading and writing in turn become the limit long before.
const MAX_THREADS: usize = 64;

/// One conversion of an input to an output.
struct Pipe<R, W, F> {
    source: Mutex<Source<R>>,
    sink: Mutex<Sink<W>>,
    turn: Condvar,
    threads: usize,
    /// The bytes of a full chunk before and after conversion.
    chunk: [usize; 2],
    /// (unit, input, whether it is the last, output) -> bytes of output.
    convert: F,
}

struct Source<R> {
    input: R,
    /// The number of the next unit.
    next: u64,
    ended: bool,
    /// The number of threads at work.
    workers: usize,
}

struct Sink<W> {
    output: W,
    /// The unit whose turn it is.
    turn: u64,
    done: Result<Totals, Error>,
    stopped: bool,
}

/// The bytes that were read and written.
#[derive(Default)]
struct Totals {
    read: u64,
    written: u64,
}

/// Converts all units of `input`, in buffers of [`UNIT`] times these lengths. The last unit is the first unit that is not full, so it may
/// be empty. Flushes `output`.
fn run<R, W, F>(input: R, output: W, threads: NonZero<usize>, chunk: [usize; 2], convert: F) -> Result<Totals, Error>
where
    R: Read + Send,
    W: Write + Send,
    F: Fn(u64, &[u8], bool, &mut [u8]) -> Result<usize, Error> + Sync,
{
    let pipe = Pipe {
        source: Mutex::new(Source { input, next: 0, ended: false, workers: 1 }),
        sink: Mutex::new(Sink { output, turn: 0, done: Ok(Totals::default()), stopped: false }),
        turn: Condvar::new(),
        threads: threads.get().min(MAX_THREADS),
        chunk,
        convert,
    };
    let buffers = pipe.room()?;
    thread::scope(|scope| pipe.work(scope, buffers));
    let mut sink = pipe.sink.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let totals = sink.done?;
    sink.output.flush()?;
    Ok(totals)
}

impl<R, W, F> Pipe<R, W, F>
where
    R: Read + Send,
    W: Write + Send,
    F: Fn(u64, &[u8], bool, &mut [u8]) -> Result<usize, Error> + Sync,
{
    /// Returns the bytes of input in a full unit.
    fn full(&self) -> usize {
        UNIT * self.chunk[0]
    }

    /// Returns the buffers of a thread.
    fn room(&self) -> Result<[Buffer; 2], Error> {
        let [before, after] = self.chunk.map(|len| Buffer::new(len * UNIT));
        Ok([before?, after?])
    }

    /// Runs one thread.
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, [mut before, mut after]: [Buffer; 2]) {
        let _guard = StopOnPanic(self);
        while let Some((unit, read, more)) = self.take(&mut before) {
            // If the system gives us no further thread, or no memory for it, the threads that we have do the work.
            if more && let Ok(buffers) = self.room() {
                let _ = thread::Builder::new().spawn_scoped(scope, || self.work(scope, buffers));
            }
            let converted = read.and_then(|read| {
                let chunks = UNIT.min(read / self.chunk[0] + 1); // the last one of a file is short
                let after = after.first(chunks * self.chunk[1]);
                let written = (self.convert)(unit, before.first(read), read < self.full(), after)?;
                Ok((read, &after[..written]))
            });
            if !self.put(unit, converted) {
                return;
            }
        }
    }

    /// Reads the next unit: its number, its length, and whether another thread should start. Returns `None` after the last unit.
    fn take(&self, buffer: &mut Buffer) -> Option<(u64, Result<usize, Error>, bool)> {
        let mut source = self.source.lock().ok()?;
        if source.ended {
            return None;
        }
        let unit = source.next;
        source.next += 1;
        let read = self.read(&mut source.input, buffer);
        source.ended = !matches!(read, Ok(len) if len == self.full());
        let more = !source.ended && source.workers < self.threads;
        source.workers += usize::from(more);
        Some((unit, read, more))
    }

    /// Fills a buffer, or reads until the input ends. A new buffer grows as input arrives, so a short file does not touch all of it.
    fn read(&self, input: &mut R, buffer: &mut Buffer) -> Result<usize, Error> {
        let (mut read, used) = (0, buffer.0.len());
        for chunks in [1, 4, UNIT] {
            let room = buffer.first(used.max(chunks * self.chunk[0]));
            read += fill(input, &mut room[read..]).map_err(|(error, _)| error)?;
            if read < room.len() {
                break;
            }
        }
        Ok(read)
    }

    /// Waits for the unit's turn and writes it, or reports its error: the first error in the order of units. Returns `false` if all work is
    /// over.
    fn put(&self, unit: u64, converted: Result<(usize, &[u8]), Error>) -> bool {
        let waited = self.sink.lock().and_then(|sink| self.turn.wait_while(sink, |sink| sink.turn != unit && !sink.stopped));
        let Ok(mut sink) = waited else { return false };
        if sink.stopped {
            return false;
        }
        let written = converted.and_then(|(read, bytes)| {
            sink.output.write_all(bytes)?;
            Ok((read, bytes.len()))
        });
        match (written, &mut sink.done) {
            (Ok((read, written)), Ok(totals)) => {
                totals.read += read as u64;
                totals.written += written as u64;
            }
            (Err(error), _) => {
                sink.done = Err(error);
                sink.stopped = true;
            }
            (Ok(_), Err(_)) => sink.stopped = true,
        }
        sink.turn += 1;
        self.turn.notify_all();
        !sink.stopped
    }
}

/// If a thread panics (the caller's reader or writer may), its unit never gets its turn, and the other threads must not wait for it.
struct StopOnPanic<'a, R, W, F>(&'a Pipe<R, W, F>);

impl<R, W, F> Drop for StopOnPanic<'_, R, W, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.sink.lock().unwrap_or_else(std::sync::PoisonError::into_inner).stopped = true;
            self.0.turn.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;

//! Files of Cobblestone-256 and -128: streams, and chunks by number for ranges.

use crate::{
    aead::of_length,
    fault::{Fault, Kind, Name},
    js::{Bytes, Call, Object, Value, with_room, writable},
};
use fastgcm_file::{CHUNK_LEN, Cipher, Format, HEADER_LEN, Header, Key, MAX_CHUNKS, SEALED_CHUNK_LEN, TAG_LEN};
use zeroize::Zeroizing;

/// Returns the key of files. Its length says which format it is for.
fn key_of(call: &Call, at: usize) -> Result<Key, Fault> {
    let key = call.bytes(at, Name::Key)?.get();
    let format = Format::of_key_len(key.len()).ok_or(Fault::of(Kind::Length, Name::Key))?;
    Ok(Key::new(format, key)?.with_backend(crate::backend())?)
}

/// Cuts pieces of any length into chunks; the rest waits in `rest`.
pub(crate) struct Chunks {
    cipher: Cipher,
    seals: bool,
    number: u64,
    rest: Zeroizing<Vec<u8>>,
}

impl Chunks {
    fn new(cipher: Cipher, seals: bool) -> Result<Self, Fault> {
        Ok(Self { cipher, seals, number: 0, rest: Zeroizing::new(with_room(SEALED_CHUNK_LEN)?) })
    }

    /// Returns the bytes of a full chunk, and the bytes that it becomes.
    fn lengths(&self) -> (usize, usize) {
        if self.seals { (CHUNK_LEN, SEALED_CHUNK_LEN) } else { (SEALED_CHUNK_LEN, CHUNK_LEN) }
    }

    fn room(&self, data: usize) -> Result<usize, Fault> {
        let (from, to) = self.lengths();
        let all = self.rest.len().checked_add(data).ok_or(Kind::TooLong)?;
        Ok((all / from).checked_mul(to).ok_or(Kind::TooLong)?)
    }

    /// Takes data, and converts each full chunk to `out`.
    fn update(&mut self, mut data: &[u8], out: &mut [u8]) -> Result<(), Fault> {
        let (from, to) = self.lengths();
        let chunks = (self.rest.len() + data.len()) / from;
        // One more chunk ends the file.
        if self.number.checked_add(chunks as u64).is_none_or(|end| end >= MAX_CHUNKS) {
            return Err(Kind::TooLong.into());
        }
        let mut places = out.chunks_exact_mut(to);
        while !data.is_empty() {
            let (now, later) = data.split_at((from - self.rest.len()).min(data.len()));
            data = later;
            let whole = now.len() == from;
            if !whole {
                self.rest.extend_from_slice(now);
            }
            if whole || self.rest.len() == from {
                let (chunk, place) = (if whole { now } else { &self.rest }, places.next().unwrap_or_default());
                if self.seals {
                    self.cipher.seal_chunk(self.number, chunk, place)
                } else {
                    self.cipher.open_chunk(self.number, chunk, place)
                }?;
                self.number += 1;
                self.rest.clear();
            }
        }
        Ok(())
    }

    fn last_room(&self) -> Result<usize, Fault> {
        let len = self.rest.len();
        if self.seals { Ok(len + TAG_LEN) } else { len.checked_sub(TAG_LEN).ok_or(Kind::Cut.into()) }
    }

    fn last(&mut self, out: &mut [u8]) -> Result<(), Fault> {
        let last = if self.seals {
            self.cipher.seal_chunk(self.number, &self.rest, out)
        } else {
            self.cipher.open_chunk(self.number, &self.rest, out)
        };
        Ok(last?)
    }
}

/// One file from its beginning to its end.
pub(crate) enum Stream {
    /// A file that is sealed, and its header until the header was written.
    Sealing(Option<Header>, Chunks),
    /// A file that is opened, until its header is complete: the key, the context, and the part of the header that has arrived.
    Beginning(Key, Vec<u8>, Vec<u8>),
    Opening(Chunks),
}

impl Object for Stream {
    const KIND: u64 = 4;
    const MORE: i64 = (SEALED_CHUNK_LEN + size_of::<fastgcm::Key>()) as i64;
}

impl Stream {
    fn room(&self, data: usize) -> Result<usize, Fault> {
        match self {
            Self::Sealing(header, chunks) => {
                let header = header.map_or(0, |header| header.len());
                Ok(chunks.room(data)?.checked_add(header).ok_or(Kind::TooLong)?)
            }
            Self::Beginning(_, _, header) => Ok(data.saturating_sub(HEADER_LEN - header.len()) / SEALED_CHUNK_LEN * CHUNK_LEN),
            Self::Opening(chunks) => chunks.room(data),
        }
    }

    fn update(&mut self, mut data: &[u8], mut out: &mut [u8]) -> Result<(), Fault> {
        if let Self::Beginning(key, context, header) = self {
            let (now, later) = data.split_at((HEADER_LEN - header.len()).min(data.len()));
            data = later;
            header.extend_from_slice(now);
            let Ok(header) = header[..].try_into() else { return Ok(()) };
            *self = Self::Opening(Chunks::new(Cipher::of(key, context, header)?, false)?);
        }
        match self {
            Self::Sealing(header, chunks) => {
                if let Some(header) = header {
                    let (place, behind) = out.split_at_mut(HEADER_LEN);
                    place.copy_from_slice(header);
                    out = behind;
                }
                chunks.update(data, out)?;
                *header = None;
                Ok(())
            }
            Self::Opening(chunks) => chunks.update(data, out),
            Self::Beginning(..) => Ok(()),
        }
    }

    fn last_room(&self) -> Result<usize, Fault> {
        match self {
            Self::Sealing(header, chunks) => Ok(header.map_or(0, |header| header.len()) + chunks.last_room()?),
            Self::Opening(chunks) => chunks.last_room(),
            Self::Beginning(..) => Err(Kind::Cut.into()),
        }
    }

    fn last(&mut self, out: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Sealing(header, chunks) => {
                let (place, behind) = out.split_at_mut(header.map_or(0, |header| header.len()));
                if let Some(header) = header {
                    place.copy_from_slice(header);
                }
                chunks.last(behind)
            }
            Self::Opening(chunks) => chunks.last(out),
            Self::Beginning(..) => Err(Kind::Cut.into()),
        }
    }
}

/// `stream(key, context, seals)`.
pub(crate) fn stream(call: &Call) -> Result<Value, Fault> {
    let (key, context) = (key_of(call, 0)?, call.bytes(1, Name::Context)?.get());
    if call.flag(2) {
        let (header, cipher) = Cipher::create(&key, context)?;
        return call.object(Stream::Sealing(Some(header), Chunks::new(cipher, true)?));
    }
    call.object(Stream::Beginning(key, crate::js::copied(context)?, with_room(HEADER_LEN)?))
}

/// `streamRoom(stream, data)` returns how many bytes come out for so many; without a number, how many come out at the end.
pub(crate) fn room(call: &Call) -> Result<Value, Fault> {
    let stream = call.get::<Stream>(0)?;
    let room = match call.is_left_out(1) {
        true => stream.last_room()?,
        false => stream.room(usize::try_from(call.whole(1, Name::Data)?).map_err(|_| Kind::TooLong)?)?,
    };
    Ok(call.bigint(room as u64)) // a number would be a fault
}

/// `streamUpdate(stream, data, out)`. A refused chunk ends the stream.
pub(crate) fn update(call: &Call) -> Result<Value, Fault> {
    let mut stream = call.get_mut::<Stream>(0)?;
    let data = call.bytes(1, Name::Data)?;
    let (_, out) = writable(of_length(call.bytes(2, Name::Out)?, stream.room(data.len())?)?, Bytes::EMPTY, &[data])?;
    let done = stream.update(data.get(), out);
    drop(stream);
    if done.is_err() {
        out.fill(0);
        call.take::<Stream>(0)?;
    }
    done.map(|()| Value::UNDEFINED)
}

/// `streamEnd(stream, out)`.
pub(crate) fn end(call: &Call) -> Result<Value, Fault> {
    let room = call.get::<Stream>(0)?.last_room()?;
    let (_, out) = writable(of_length(call.bytes(1, Name::Out)?, room)?, Bytes::EMPTY, &[])?;
    call.take::<Stream>(0)?.ok_or(Kind::Gone)?.last(out)?;
    Ok(Value::UNDEFINED)
}

/// `streamDestroy(stream)`.
pub(crate) fn destroy(call: &Call) -> Result<Value, Fault> {
    call.take::<Stream>(0)?;
    Ok(Value::UNDEFINED)
}

/// Chunks of a file by number.
pub(crate) struct File(Cipher);

impl Object for File {
    const KIND: u64 = 5;
    const MORE: i64 = size_of::<fastgcm::Key>() as i64;
}

/// `file(key, context, header)`.
pub(crate) fn file(call: &Call) -> Result<Value, Fault> {
    let (key, context) = (key_of(call, 0)?, call.bytes(1, Name::Context)?.get());
    let header = call.bytes(2, Name::Header)?.get().try_into().map_err(|_| Kind::Cut)?;
    call.object(File(Cipher::of(&key, context, header)?))
}

/// `fileOpen(file, first, data, out)` opens chunks that lie one behind the other. Only the last of them may be short.
pub(crate) fn open(call: &Call) -> Result<Value, Fault> {
    let (file, first, data) = (call.get::<File>(0)?, call.whole(1, Name::First)?, call.bytes(2, Name::Data)?);
    let chunks = data.len().div_ceil(SEALED_CHUNK_LEN);
    let len = data.len().checked_sub(chunks * TAG_LEN).ok_or(Kind::Cut)?;
    let (_, out) = writable(of_length(call.bytes(3, Name::Out)?, len)?, Bytes::EMPTY, &[data])?;
    let mut places = out.chunks_mut(CHUNK_LEN);
    let mut each = (first..=u64::MAX).zip(data.get().chunks(SEALED_CHUNK_LEN));
    let done = each.try_for_each(|(number, sealed)| file.0.open_chunk(number, sealed, places.next().unwrap_or_default()));
    if let Err(error) = done {
        out.fill(0);
        return Err(error.into());
    }
    Ok(Value::UNDEFINED)
}

/// `fileDestroy(file)`.
pub(crate) fn close(call: &Call) -> Result<Value, Fault> {
    call.take::<File>(0)?;
    Ok(Value::UNDEFINED)
}

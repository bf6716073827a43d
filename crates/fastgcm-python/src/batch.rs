//! Many messages in one call: lists of them, or one buffer of records of equal length.

use crate::{
    aead::{of_length, within_limits},
    buffers::{Place, Source, Target, detached, new_bytes, unwritten},
    errors,
    threads::Threads,
};
use fastgcm::{Error, Key, Packet, TAG_LEN, Tag};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyList, PyTuple},
};
use rayon::prelude::*;
use std::slice;

/// Objects of a list or tuple, held while the interpreter runs elsewhere; `None` if it is something else.
fn items<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = object.cast::<PyList>() {
        return Some(list.iter().collect());
    }
    object.cast::<PyTuple>().ok().map(|tuple| tuple.iter().collect())
}

/// Their memory.
fn sources<'a>(items: &'a [Bound<'_, PyAny>]) -> PyResult<Vec<Source<'a>>> {
    items.iter().map(|item| Source::extract(item.as_borrowed())).collect()
}

/// The nonces, from a list or from one buffer. If they are to seal, no two are the same.
fn nonces_of<const SEAL: bool>(nonces: &Bound<'_, PyAny>) -> PyResult<Vec<[u8; 12]>> {
    let wrong = || PyValueError::new_err("each nonce of a batch must be 12 bytes");
    let one = |nonce: Bound<'_, PyAny>| Source::extract(nonce.as_borrowed())?.bytes().try_into().map_err(|_| wrong());
    let nonces: Vec<[u8; 12]> = if let Ok(list) = nonces.cast::<PyList>() {
        list.iter().map(one).collect::<PyResult<_>>()?
    } else if let Ok(tuple) = nonces.cast::<PyTuple>() {
        tuple.iter().map(one).collect::<PyResult<_>>()?
    } else {
        match Source::extract(nonces.as_borrowed())?.bytes().as_chunks() {
            (nonces, []) => nonces.to_vec(),
            _ => return Err(wrong()),
        }
    };
    if SEAL && !nonces.is_sorted_by(|a, b| a < b) {
        // As numbers they are sorted in half of the time.
        let number = |nonce: &[u8; 12]| nonce.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        let mut sorted: Vec<u128> = nonces.iter().map(number).collect();
        sorted.sort_unstable();
        if sorted.windows(2).any(|two| two[0] == two[1]) {
            return Err(PyValueError::new_err("two nonces of the batch are the same"));
        }
    }
    Ok(nonces)
}

/// Associated data: one for each message, or one for all.
enum Aads<'a> {
    Each(Vec<Source<'a>>),
    All(Option<Source<'a>>),
}

impl<'a> Aads<'a> {
    fn of(object: Option<&'a Bound<'_, PyAny>>, items: Option<&'a [Bound<'_, PyAny>]>, messages: usize) -> PyResult<Self> {
        match items {
            Some(items) => as_many(items.len(), messages, "aads").and_then(|()| sources(items)).map(Self::Each),
            None => object.map(|object| Source::extract(object.as_borrowed())).transpose().map(Self::All),
        }
    }

    fn get(&self, at: usize) -> &[u8] {
        match self {
            Self::Each(each) => each[at].bytes(),
            Self::All(all) => all.as_ref().map_or(&[], Source::bytes),
        }
    }
}

fn as_many(these: usize, nonces: usize, what: &str) -> PyResult<()> {
    if these == nonces { Ok(()) } else { Err(PyValueError::new_err(format!("there are {nonces} nonces and {these} {what}"))) }
}

/// A packet whose text goes from `data`, of which it is all but the tag, to `text`. What may change is read once, to where the text will be.
fn packet<'a, const SEAL: bool>(nonce: [u8; 12], aad: &'a [u8], data: &'a Source<'_>, at: usize, text: &'a mut [u8]) -> Packet<'a> {
    let mut tag = Tag([0; TAG_LEN]);
    if !SEAL {
        data.read(at + text.len(), &mut tag.0);
    }
    match data {
        _ if SEAL => Packet::to(nonce, aad, &data.bytes()[at..at + text.len()], text, tag),
        Source::Fixed(bytes) => Packet::to(nonce, aad, &bytes[at..at + text.len()], text, tag),
        Source::Shared(_) => {
            data.read(at, text);
            Packet::in_place(nonce, aad, text, tag)
        }
    }
}

/// Seals or opens them all.
fn work<const SEAL: bool>(key: &Key, packets: &mut [Packet<'_>], bytes: usize, threads: Threads) -> Result<(), (usize, Error)> {
    let done = |packets: &mut [Packet<'_>]| if SEAL { key.seal_batch(packets) } else { key.open_batch(packets) };
    let all = if threads.pay_earlier(bytes) {
        let each = packets.len().div_ceil(threads.count()).max(1);
        threads.run(|| packets.par_chunks_mut(each).map(done).reduce(|| Ok(()), Result::and))
    } else {
        done(packets)
    };
    all.map_err(|error| (packets.iter().position(|packet| packet.status.is_err()).unwrap_or(0), error))
}

/// The error, with a note that says which message it was.
fn refused(py: Python<'_>, (number, error): (usize, Error)) -> PyErr {
    let error = errors::of(py, error);
    match error.value(py).call_method1("add_note", (format!("message {number} of the batch"),)) {
        Ok(_) => error,
        Err(other) => other,
    }
}

/// `seal_batch` and `open_batch`.
pub(crate) fn run<'py, const SEAL: bool>(
    key: &Key,
    nonces: &Bound<'py, PyAny>,
    datas: &Bound<'py, PyAny>,
    aads: Option<&Bound<'py, PyAny>>,
    threads: Threads,
) -> PyResult<Bound<'py, PyAny>> {
    let py = nonces.py();
    let Some(items) = items(datas) else {
        let data = Source::extract(datas.as_borrowed())?;
        let records = Records::of::<SEAL>(py, nonces_of::<SEAL>(nonces)?, &data)?;
        let of_aads = aads.and_then(self::items);
        let aads = Aads::of(aads, of_aads.as_deref(), records.nonces.len())?;
        return Ok(new_bytes(py, records.written::<SEAL>(), |to| records.run::<SEAL>(py, key, &aads, to, threads))?.into_any());
    };
    let (nonces, datas) = (nonces_of::<SEAL>(nonces)?, sources(&items)?);
    as_many(datas.len(), nonces.len(), "messages")?;
    let of_aads = aads.and_then(self::items);
    let aads = Aads::of(aads, of_aads.as_deref(), nonces.len())?;
    let (mut results, mut packets, mut bytes) = (Vec::with_capacity(nonces.len()), Vec::with_capacity(nonces.len()), 0);
    for (number, (nonce, data)) in nonces.iter().zip(&datas).enumerate() {
        let text_len = match SEAL {
            true => data.len(),
            false => data.len().checked_sub(TAG_LEN).ok_or_else(|| refused(py, (number, Error::Unauthentic)))?,
        };
        within_limits(py, text_len)?;
        bytes += text_len;
        let len = text_len + if SEAL { TAG_LEN } else { 0 };
        let (object, memory) = unwritten(py, len)?;
        // SAFETY: a new object, which nobody else sees before the end of this call.
        let (text, _) = unsafe { slice::from_raw_parts_mut(memory, len) }.split_at_mut(text_len);
        packets.push(packet::<SEAL>(*nonce, aads.get(number), data, 0, text));
        results.push((object, memory.wrapping_add(text_len)));
    }
    detached(py, bytes, || work::<SEAL>(key, &mut packets, bytes, threads)).map_err(|e| refused(py, e))?;
    if SEAL {
        for ((_, behind), packet) in results.iter().zip(&packets) {
            // SAFETY: the last 16 bytes of that object, which is still ours alone; the packet's slice ends before them.
            unsafe { behind.copy_from_nonoverlapping(packet.tag.0.as_ptr(), TAG_LEN) };
        }
    }
    Ok(PyList::new(py, results.into_iter().map(|(object, _)| object))?.into_any())
}

/// `seal_batch_into` and `open_batch_into`.
pub(crate) fn run_into<const SEAL: bool>(
    key: &Key,
    nonces: &Bound<'_, PyAny>,
    data: &Source<'_>,
    aads: Option<&Bound<'_, PyAny>>,
    mut buf: Target,
    threads: Threads,
) -> PyResult<usize> {
    let records = Records::of::<SEAL>(nonces.py(), nonces_of::<SEAL>(nonces)?, data)?;
    let of_aads = aads.and_then(items);
    let aads = Aads::of(aads, of_aads.as_deref(), records.nonces.len())?;
    let len = of_length(&buf, records.written::<SEAL>())?;
    let read = (0..records.nonces.len()).map(|at| aads.get(at)).chain([data.bytes()]);
    if { read }.any(|bytes| buf.place(bytes) != Place::Apart) {
        return Err(PyValueError::new_err("what is read and the buffer overlap"));
    }
    // SAFETY: data and associated data are apart from it; the nonces have been read.
    let to = unsafe { buf.bytes() };
    records.run::<SEAL>(nonces.py(), key, &aads, to, threads)?;
    Ok(len)
}

/// One buffer of records of equal length, and the nonce of each.
struct Records<'a> {
    nonces: Vec<[u8; 12]>,
    data: &'a Source<'a>,
    /// Bytes of text in each.
    text: usize,
}

impl<'a> Records<'a> {
    fn of<const SEAL: bool>(py: Python<'_>, nonces: Vec<[u8; 12]>, data: &'a Source<'a>) -> PyResult<Self> {
        let (records, len) = (nonces.len(), data.len());
        if len.checked_rem(records).unwrap_or(len) != 0 {
            return Err(PyValueError::new_err(format!("{len} bytes are not {records} records of equal length")));
        }
        let each = len.checked_div(records).unwrap_or(0);
        let text = match SEAL {
            false if records > 0 => each.checked_sub(TAG_LEN).ok_or_else(|| refused(py, (0, Error::Unauthentic)))?,
            _ => each,
        };
        within_limits(py, text)?;
        Ok(Self { nonces, data, text })
    }

    /// Bytes of a record, sealed or not.
    fn len(&self, sealed: bool) -> usize {
        self.text + if sealed { TAG_LEN } else { 0 }
    }

    /// Bytes of all that is written.
    fn written<const SEAL: bool>(&self) -> usize {
        self.nonces.len() * self.len(SEAL)
    }

    fn run<const SEAL: bool>(&self, py: Python<'_>, key: &Key, aads: &Aads<'_>, to: &mut [u8], threads: Threads) -> PyResult<()> {
        let done = detached(py, to.len(), || {
            let (mut tags, mut packets) = (Vec::new(), Vec::with_capacity(self.nonces.len()));
            let (mut rest, each) = (&mut *to, self.len(!SEAL));
            for (number, nonce) in self.nonces.iter().enumerate() {
                let (text, behind) = rest.split_at_mut(self.text);
                let (tag, behind) = behind.split_at_mut(if SEAL { TAG_LEN } else { 0 });
                packets.push(packet::<SEAL>(*nonce, aads.get(number), self.data, number * each, text));
                tags.push(tag);
                rest = behind;
            }
            work::<SEAL>(key, &mut packets, self.text * self.nonces.len(), threads)?;
            tags.iter_mut().zip(&packets).for_each(|(tag, packet)| tag.copy_from_slice(&packet.tag.0[..tag.len()]));
            Ok(())
        });
        done.inspect_err(|_| to.fill(0)).map_err(|e| refused(py, e))
    }
}

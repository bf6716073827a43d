//! Many messages in one call: lists of them, or one buffer of records of equal length.

use crate::{
    buffers::{Place, Source, Target, detached, new_bytes, of_length, unwritten, within_limits},
    errors, memory,
    threads::Threads,
};
use fastgcm::{Error, Key, Packet, RootKey, Scheme};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyFloat, PyList, PyTuple},
};
use rayon::prelude::*;
use std::slice;

/// A key whose nonces have `N` bytes and whose tags have `T`, and its packets.
pub(crate) trait Many<const N: usize, const T: usize>: Sync {
    type Packet<'a>: Send;
    /// A nonce as something that is sorted fast.
    type Number: Ord;

    fn number(nonce: &[u8; N]) -> Self::Number;

    /// Makes a packet whose text goes from `from` to `text`, or is already there.
    fn packet<'a>(nonce: [u8; N], aad: &'a [u8], from: Option<&'a [u8]>, text: &'a mut [u8], tag: [u8; T]) -> Self::Packet<'a>;

    /// Returns the result of a packet, and its tag.
    fn outcome<'p>(packet: &'p Self::Packet<'_>) -> (Result<(), Error>, &'p [u8]);

    /// Seals or opens all packets. Returns the error of one of them.
    fn work<const SEAL: bool>(&self, packets: &mut [Self::Packet<'_>]) -> Result<(), Error>;
}

impl Many<12, 16> for Key {
    type Packet<'a> = Packet<'a>;
    type Number = u128; // in half of the time of arrays

    fn number(nonce: &[u8; 12]) -> u128 {
        nonce.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
    }

    fn packet<'a>(nonce: [u8; 12], aad: &'a [u8], from: Option<&'a [u8]>, text: &'a mut [u8], tag: [u8; 16]) -> Packet<'a> {
        match from {
            Some(from) => Packet::to(nonce, aad, from, text, tag.into()),
            None => Packet::in_place(nonce, aad, text, tag.into()),
        }
    }

    fn outcome<'p>(packet: &'p Packet<'_>) -> (Result<(), Error>, &'p [u8]) {
        (packet.status, &packet.tag.0)
    }

    fn work<const SEAL: bool>(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        if SEAL { self.seal_batch(packets) } else { self.open_batch(packets) }
    }
}

/// A packet of a scheme that derives keys. Each packet has a key of its own, so none go side by side.
pub(crate) struct Derived<'a, S: Scheme> {
    nonce: [u8; 24],
    aad: &'a [u8],
    from: Option<&'a [u8]>,
    text: &'a mut [u8],
    tag: S::Tag,
    status: Result<(), Error>,
}

impl<S: Scheme<Nonce = [u8; 24]>> Derived<'_, S> {
    fn work<const SEAL: bool>(&mut self, key: &RootKey<S>) -> Result<(), Error> {
        if let Some(from) = self.from {
            self.text.copy_from_slice(from);
        }
        if SEAL {
            // A text that is too long must not stay there in plain form.
            self.tag = key.seal(&self.nonce, self.aad, self.text).inspect_err(|_| self.text.fill(0))?;
            return Ok(());
        }
        key.open(&self.nonce, self.aad, self.text, &self.tag)
    }
}

impl<S, const T: usize> Many<24, T> for RootKey<S>
where
    S: Scheme<Nonce = [u8; 24], Tag: From<[u8; T]> + Send> + Sync + 'static,
{
    type Packet<'a> = Derived<'a, S>;
    type Number = [u8; 24];

    fn number(nonce: &[u8; 24]) -> [u8; 24] {
        *nonce
    }

    fn packet<'a>(nonce: [u8; 24], aad: &'a [u8], from: Option<&'a [u8]>, text: &'a mut [u8], tag: [u8; T]) -> Derived<'a, S> {
        Derived { nonce, aad, from, text, tag: tag.into(), status: Ok(()) }
    }

    fn outcome<'p>(packet: &'p Derived<'_, S>) -> (Result<(), Error>, &'p [u8]) {
        (packet.status, packet.tag.as_ref())
    }

    fn work<const SEAL: bool>(&self, packets: &mut [Derived<'_, S>]) -> Result<(), Error> {
        let mut all = Ok(());
        for packet in packets {
            packet.status = packet.work::<SEAL>(self);
            all = all.and(packet.status);
        }
        all
    }
}

/// Returns the objects of a list or tuple, held while other threads run the interpreter, or `None` if `object` is something else.
fn items<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if let Ok(list) = object.cast::<PyList>() {
        return memory::collected(list.iter().map(Ok)).map(Some);
    }
    object.cast::<PyTuple>().ok().map(|tuple| memory::collected(tuple.iter().map(Ok))).transpose()
}

/// Returns the memory of these objects.
fn sources<'a>(items: &'a [Bound<'_, PyAny>], what: &str) -> PyResult<Vec<Source<'a>>> {
    let one =
        |(number, item): (usize, &'a Bound<'_, PyAny>)| Source::extract(item.as_borrowed()).map_err(|e| of_row(item, what, number, e));
    memory::collected(items.iter().enumerate().map(one))
}

/// Returns the error of an item, which says which item it is.
fn of_row(item: &Bound<'_, PyAny>, what: &str, number: usize, error: PyErr) -> PyErr {
    let py = item.py();
    if !error.get_type(py).is(py.get_type::<PyTypeError>()) {
        return error;
    }
    let missing = item.is_none() || item.is_instance_of::<PyFloat>(); // as pandas says it
    let hint = if missing { "\nA row without a value has nothing to seal: leave it out." } else { "" };
    PyTypeError::new_err(format!("{what} {number} of the batch: {}{hint}", error.value(py)))
}

/// Returns the memory of one buffer, for an argument that could also be a list.
fn one_buffer<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Source<'a>> {
    Source::extract(object.as_borrowed()).map_err(|error| {
        let py = object.py();
        // A column of a data frame is neither a list nor a buffer.
        let known = ["tolist", "to_list", "to_pylist"].into_iter().find(|name| object.hasattr(*name).unwrap_or(false));
        match known {
            Some(name) if error.is_instance_of::<PyTypeError>(py) => {
                PyTypeError::new_err(format!("{}\nPass a list of its items: .{name}()", error.value(py)))
            }
            _ => error,
        }
    })
}

/// Returns the nonces, from a list or from one buffer. If the nonces are for sealing, no two may be equal.
fn nonces_of<const N: usize, const T: usize, K: Many<N, T>, const SEAL: bool>(nonces: &Bound<'_, PyAny>) -> PyResult<Vec<[u8; N]>> {
    let one = |(number, nonce): (usize, &Bound<'_, PyAny>)| {
        let source = Source::extract(nonce.as_borrowed()).map_err(|e| of_row(nonce, "nonce", number, e))?;
        let mut copy = [0; N];
        if source.len() != N {
            return Err(PyValueError::new_err(format!("nonce {number} of the batch has {} bytes, not {N}", source.len())));
        }
        source.read(0, &mut copy);
        Ok(copy)
    };
    let nonces: Vec<[u8; N]> = match items(nonces)? {
        Some(items) => memory::collected(items.iter().enumerate().map(one))?,
        None => {
            let source = one_buffer(nonces)?;
            let mut copy = memory::with_room(source.len() / N)?;
            copy.resize(source.len() / N, [0; N]);
            if !source.len().is_multiple_of(N) {
                return Err(PyValueError::new_err(format!(
                    "the nonces of a batch have {N} bytes each, and {} in all are not that",
                    source.len()
                )));
            }
            source.read(0, copy.as_flattened_mut());
            copy
        }
    };
    if SEAL && !nonces.is_sorted_by(|a, b| a < b) {
        let mut sorted = memory::with_room(nonces.len())?;
        sorted.extend(nonces.iter().map(K::number));
        sorted.sort_unstable();
        if let Some(two) = sorted.windows(2).find(|two| two[0] == two[1]) {
            let mut places = (0..).zip(&nonces).filter(|(_, nonce)| K::number(nonce) == two[0]).map(|(number, _)| number);
            let (first, second): (usize, usize) = (places.next().unwrap_or(0), places.next().unwrap_or(0));
            return Err(PyValueError::new_err(format!("nonces {first} and {second} of the batch are the same")));
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
            Some(items) => as_many(items.len(), messages, "aads").and_then(|()| sources(items, "aad")).map(Self::Each),
            None => object.map(one_buffer).transpose().map(Self::All),
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

/// Makes a packet whose text goes from `data`, all of which is text except the tag, to `text`. Data that may change are read once, to where
/// the text will be.
fn packet<'a, const N: usize, const T: usize, K: Many<N, T>, const SEAL: bool>(
    nonce: [u8; N],
    aad: &'a [u8],
    data: &'a Source<'_>,
    at: usize,
    text: &'a mut [u8],
) -> K::Packet<'a> {
    let mut tag = [0; T];
    if !SEAL {
        data.read(at + text.len(), &mut tag);
    }
    let from = match data {
        _ if SEAL => Some(&data.bytes()[at..at + text.len()]),
        Source::Fixed(bytes) => Some(&bytes[at..at + text.len()]),
        Source::Shared(_) => {
            data.read(at, text);
            None
        }
    };
    K::packet(nonce, aad, from, text, tag)
}

/// Seals or opens all packets. Returns the error of the first packet that has one.
fn work<const N: usize, const T: usize, K: Many<N, T>, const SEAL: bool>(
    key: &K,
    packets: &mut [K::Packet<'_>],
    bytes: usize,
    threads: Threads,
) -> Result<(), (usize, Error)> {
    let all = match threads.for_batch(bytes) {
        Some(pool) => {
            let each = packets.len().div_ceil(threads.count()).max(1);
            pool.install(|| packets.par_chunks_mut(each).map(|some| key.work::<SEAL>(some)).reduce(|| Ok(()), Result::and))
        }
        None => key.work::<SEAL>(packets),
    };
    all.map_err(|error| packets.iter().map(K::outcome).enumerate().find_map(|(n, (done, _))| Some((n, done.err()?))).unwrap_or((0, error)))
}

/// Returns the error, with a note that says which message it was.
fn refused(py: Python<'_>, (number, error): (usize, Error)) -> PyErr {
    let error = errors::of(py, error);
    match error.value(py).call_method1("add_note", (format!("message {number} of the batch"),)) {
        Ok(_) => error,
        Err(other) => other,
    }
}

/// Does `seal_batch` and `open_batch`.
pub(crate) fn run<'py, const SEAL: bool, const N: usize, const T: usize, K: Many<N, T>>(
    key: &K,
    nonces: &Bound<'py, PyAny>,
    datas: &Bound<'py, PyAny>,
    aads: Option<&Bound<'py, PyAny>>,
    threads: Threads,
) -> PyResult<Bound<'py, PyAny>> {
    let py = nonces.py();
    let Some(items) = items(datas)? else {
        let data = one_buffer(datas)?;
        let records = Records::<N, T>::of::<SEAL>(py, nonces_of::<N, T, K, SEAL>(nonces)?, &data)?;
        let of_aads = aads.map(self::items).transpose()?.flatten();
        let aads = Aads::of(aads, of_aads.as_deref(), records.nonces.len())?;
        let work = |to: &mut [u8]| records.run::<SEAL, K>(py, key, &aads, to, threads);
        return Ok(new_bytes(py, records.written::<SEAL>(), work)?.into_any());
    };
    let (nonces, datas) = (nonces_of::<N, T, K, SEAL>(nonces)?, sources(&items, "message")?);
    as_many(datas.len(), nonces.len(), "messages")?;
    let of_aads = aads.map(self::items).transpose()?.flatten();
    let aads = Aads::of(aads, of_aads.as_deref(), nonces.len())?;
    let (mut results, mut packets, mut bytes) = (memory::with_room(nonces.len())?, memory::with_room(nonces.len())?, 0);
    for (number, (nonce, data)) in nonces.iter().zip(&datas).enumerate() {
        let text_len = match SEAL {
            true => data.len(),
            false => data.len().checked_sub(T).ok_or_else(|| refused(py, (number, Error::Unauthentic)))?,
        };
        within_limits(py, text_len)?;
        bytes += text_len;
        let len = text_len + if SEAL { T } else { 0 };
        let (object, memory) = unwritten(py, len)?;
        // SAFETY: a new object, which nobody else sees before the end of this call.
        let (text, _) = unsafe { slice::from_raw_parts_mut(memory, len) }.split_at_mut(text_len);
        packets.push(packet::<N, T, K, SEAL>(*nonce, aads.get(number), data, 0, text));
        results.push((object, memory.wrapping_add(text_len)));
    }
    detached(py, bytes, || work::<N, T, K, SEAL>(key, &mut packets, bytes, threads)).map_err(|e| refused(py, e))?;
    if SEAL {
        for ((_, behind), packet) in results.iter().zip(&packets) {
            let tag = K::outcome(packet).1;
            assert_eq!(tag.len(), T);
            // SAFETY: the last `T` bytes of that object, which is still ours alone; the packet's slice ends before them.
            unsafe { behind.copy_from_nonoverlapping(tag.as_ptr(), T) };
        }
    }
    // SAFETY: a new object, or an exception. (`PyList::new` panics where there is no memory.)
    let list: Bound<'_, PyList> =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(results.len() as isize))?.cast_into_unchecked() };
    for (at, (object, _)) in results.into_iter().enumerate() {
        list.set_item(at, object)?;
    }
    Ok(list.into_any())
}

/// Does `seal_batch_into` and `open_batch_into`.
pub(crate) fn run_into<const SEAL: bool, const N: usize, const T: usize, K: Many<N, T>>(
    key: &K,
    nonces: &Bound<'_, PyAny>,
    data: &Source<'_>,
    aads: Option<&Bound<'_, PyAny>>,
    mut buf: Target,
    threads: Threads,
) -> PyResult<usize> {
    let records = Records::<N, T>::of::<SEAL>(nonces.py(), nonces_of::<N, T, K, SEAL>(nonces)?, data)?;
    let of_aads = aads.map(items).transpose()?.flatten();
    let aads = Aads::of(aads, of_aads.as_deref(), records.nonces.len())?;
    let len = of_length(&buf, records.written::<SEAL>())?;
    let read = (0..records.nonces.len()).map(|at| aads.get(at)).chain([data.bytes()]);
    if { read }.any(|bytes| buf.place(bytes) != Place::Apart) {
        return Err(PyValueError::new_err("what is read and the buffer overlap"));
    }
    // SAFETY: data and associated data are apart from it; the nonces have been read.
    let to = unsafe { buf.bytes() };
    records.run::<SEAL, K>(nonces.py(), key, &aads, to, threads)?;
    Ok(len)
}

/// One buffer of records of equal length, and the nonce of each.
struct Records<'a, const N: usize, const T: usize> {
    nonces: Vec<[u8; N]>,
    data: &'a Source<'a>,
    /// The number of bytes of text in each record.
    text: usize,
}

impl<'a, const N: usize, const T: usize> Records<'a, N, T> {
    fn of<const SEAL: bool>(py: Python<'_>, nonces: Vec<[u8; N]>, data: &'a Source<'a>) -> PyResult<Self> {
        let (records, len) = (nonces.len(), data.len());
        if len.checked_rem(records).unwrap_or(len) != 0 {
            return Err(PyValueError::new_err(format!("{len} bytes are not {records} records of equal length")));
        }
        let each = len.checked_div(records).unwrap_or(0);
        let text = match SEAL {
            false if records > 0 => each.checked_sub(T).ok_or_else(|| refused(py, (0, Error::Unauthentic)))?,
            _ => each,
        };
        within_limits(py, text)?;
        Ok(Self { nonces, data, text })
    }

    /// Returns the length of a record, sealed or not.
    fn len(&self, sealed: bool) -> usize {
        self.text + if sealed { T } else { 0 }
    }

    /// Returns how many bytes are written in all.
    fn written<const SEAL: bool>(&self) -> usize {
        self.nonces.len() * self.len(SEAL)
    }

    fn run<const SEAL: bool, K: Many<N, T>>(
        &self,
        py: Python<'_>,
        key: &K,
        aads: &Aads<'_>,
        to: &mut [u8],
        threads: Threads,
    ) -> PyResult<()> {
        let (mut tags, mut packets) = (memory::with_room(self.nonces.len())?, memory::with_room(self.nonces.len())?);
        let done = detached(py, to.len(), || {
            let (mut rest, each) = (&mut *to, self.len(!SEAL));
            for (number, nonce) in self.nonces.iter().enumerate() {
                let (text, behind) = rest.split_at_mut(self.text);
                let (tag, behind) = behind.split_at_mut(if SEAL { T } else { 0 });
                packets.push(packet::<N, T, K, SEAL>(*nonce, aads.get(number), self.data, number * each, text));
                tags.push(tag);
                rest = behind;
            }
            work::<N, T, K, SEAL>(key, &mut packets, self.text * self.nonces.len(), threads)?;
            tags.iter_mut().zip(&packets).for_each(|(tag, packet)| tag.copy_from_slice(&K::outcome(packet).1[..tag.len()]));
            Ok(())
        });
        drop((tags, packets));
        done.inspect_err(|_| to.fill(0)).map_err(|e| refused(py, e))
    }
}

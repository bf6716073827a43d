//! Many messages in one call.

use crate::{
    fastgcm_key, fastgcm_packet,
    fastgcm_status::{self, *},
    key::key_of,
    memory::{Output, read},
    status,
};
use fastgcm::{
    Key, Packet, Tag,
    limits::{AAD, TEXT},
};
use std::{ffi::c_int, mem::MaybeUninit, ptr, slice};

/// Encrypts `count` packets, side by side where that is faster: short packets of equal lengths. `packets` may be NULL only if `count` is 0.
///
/// The outputs (each packet's `to` and the list itself) must overlap no input and no other output: packets may share AAD, but not texts. A
/// packet's `from` may be its own `to`.
///
/// If the function returns `FASTGCM_OVERLAP`, `FASTGCM_NULL`, `FASTGCM_TOO_LONG` or `FASTGCM_NO_MEMORY`, nothing is written, in no packet.
/// Otherwise each packet has its tag and its status, and the result is `FASTGCM_OK`.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_seal_batch(key: *const fastgcm_key, packets: *mut fastgcm_packet, count: usize) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe { batch::<true>(key_of(key)?, packets, count) })
}

/// Decrypts and verifies `count` packets. The rules for buffers are those of `fastgcm_seal_batch`; each packet's `tag` has 16 bytes and is
/// only read.
///
/// Returns `FASTGCM_UNAUTHENTIC` if any packet differs from what was sealed: its `status` says so, and its text is all zero. All other
/// packets are opened.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_open_batch(key: *const fastgcm_key, packets: *mut fastgcm_packet, count: usize) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe { batch::<false>(key_of(key)?, packets, count) })
}

/// # Safety
/// This many packets are readable and writable there, each with the memory to which it points.
unsafe fn batch<const SEAL: bool>(key: &Key, packets: *mut fastgcm_packet, count: usize) -> Result<(), fastgcm_status> {
    if count == 0 {
        return Ok(());
    }
    if packets.is_null() {
        return Err(FASTGCM_NULL);
    }
    let list_size = count.checked_mul(size_of::<fastgcm_packet>()).filter(|size| isize::try_from(*size).is_ok()).ok_or(FASTGCM_TOO_LONG)?;
    // SAFETY: the caller's promise. The slice is shared until it is known that nothing else lies there.
    let list = unsafe { slice::from_raw_parts(packets, count) };
    let mut order = InOrder::of((packets.addr(), list_size));
    for packet in list {
        // SAFETY: the caller's promise.
        let (aad, from) = unsafe { (read(packet.aad, packet.aad_size, AAD)?, read(packet.from, packet.size, TEXT)?) };
        let to = Output::new(packet.to, packet.size)?;
        order.packet(aad, from, to);
    }
    if !order.are_apart() && !Apart::of(list, list_size)?.are_apart() {
        return Err(FASTGCM_OVERLAP);
    }
    let mut all = Ok(());
    // The packets go through a few at a time, on the stack.
    for first in (0..count).step_by(TOGETHER) {
        let mut messages = [const { MaybeUninit::<Packet<'_>>::uninit() }; TOGETHER];
        let here = TOGETHER.min(count - first);
        for (i, message) in messages[..here].iter_mut().enumerate() {
            // SAFETY: the caller's promise. Only one slice refers to what is written there, as the checks have shown.
            unsafe {
                let packet = &*packets.add(first + i);
                let (aad, tag) = (read(packet.aad, packet.aad_size, AAD)?, Tag(packet.tag));
                let to = Output::new(packet.to, packet.size)?.slice();
                message.write(if ptr::eq(packet.from, packet.to) || to.is_empty() {
                    Packet::in_place(packet.nonce, aad, to, tag)
                } else {
                    Packet::to(packet.nonce, aad, read(packet.from, packet.size, TEXT)?, to, tag)
                });
            }
        }
        // SAFETY: so many packets were just written, and none of them has anything to drop.
        let messages = unsafe { slice::from_raw_parts_mut(messages.as_mut_ptr().cast::<Packet<'_>>(), here) };
        all = all.and(if SEAL { key.seal_batch(messages) } else { key.open_batch(messages) });
        for (i, message) in messages.iter().enumerate() {
            // SAFETY: the caller's promise; nothing reads this packet of the list any more.
            let packet = unsafe { &mut *packets.add(first + i) };
            packet.status = message.status.map_or_else(fastgcm_status::from, |()| FASTGCM_OK) as c_int;
            if SEAL && message.status.is_ok() {
                packet.tag = message.tag.0;
            }
        }
    }
    Ok(all?)
}

/// The number of packets that the library gets at a time.
const TOGETHER: usize = 16;

/// A first look at the places of a batch. It sees that they are apart if what is written lies in the order of the packets, and what is read
/// lies either beside all of that, or just before what is written for its own packet. It takes a fortieth of the time of sorting.
struct InOrder {
    /// The places that are written lie from the first of these up to the last.
    written: (usize, usize),
    /// AAD, and text that is read.
    read: [(usize, usize); 2],
    list: (usize, usize),
    apart: bool,
}

impl InOrder {
    fn of((begin, size): (usize, usize)) -> Self {
        Self { written: (usize::MAX, 0), read: [(usize::MAX, 0); 2], list: (begin, begin + size), apart: true }
    }

    #[inline(always)]
    fn packet(&mut self, aad: &[u8], from: &[u8], to: Output) {
        let (begin, end) = (to.0.addr(), to.0.addr() + to.1);
        let behind = self.written.1;
        if to.1 > 0 {
            self.apart &= begin >= behind;
            self.written = (self.written.0.min(begin), end);
        }
        let mut read = |bytes: &[u8], which: usize| {
            let bytes = (bytes.as_ptr().addr(), bytes.as_ptr().addr() + bytes.len());
            let between = behind <= bytes.0 && bytes.1 <= begin; // (never, where nothing is written: then `begin` is 1)
            if !between && bytes.0 < bytes.1 {
                self.read[which] = (self.read[which].0.min(bytes.0), self.read[which].1.max(bytes.1));
            }
            self.apart &= bytes.1 <= self.list.0 || bytes.0 >= self.list.1 || bytes.0 == bytes.1;
        };
        read(aad, 0);
        if !ptr::eq(to.0, from.as_ptr()) {
            read(from, 1);
        }
    }

    fn are_apart(&self) -> bool {
        let apart = |(begin, end): (usize, usize), other: (usize, usize)| end <= other.0 || other.1 <= begin;
        self.apart && self.read.iter().all(|&read| apart(self.written, read)) && apart(self.written, self.list)
    }
}

/// The memory of a call, to detect overlaps between written and other memory.
struct Apart {
    /// Each range: begin, end, and whether it is written.
    places: Vec<(usize, usize, bool)>,
}

impl Apart {
    /// Takes what a batch reads and writes, and its list, which has `list_size` bytes.
    fn of(list: &[fastgcm_packet], list_size: usize) -> Result<Self, fastgcm_status> {
        let mut places = Vec::new();
        places.try_reserve_exact(3 * list.len() + 1).map_err(|_| FASTGCM_NO_MEMORY)?;
        let mut new = Self { places };
        new.written(list.as_ptr().addr(), list_size);
        for packet in list {
            new.read(packet.aad.addr(), packet.aad_size);
            new.written(packet.to.addr(), packet.size);
            if !ptr::eq(packet.to, packet.from) {
                new.read(packet.from.addr(), packet.size);
            }
        }
        Ok(new)
    }

    fn read(&mut self, begin: usize, size: usize) {
        if size > 0 {
            self.places.push((begin, begin + size, false));
        }
    }

    fn written(&mut self, begin: usize, size: usize) {
        if size > 0 {
            self.places.push((begin, begin + size, true));
        }
    }

    /// In the order of their beginnings, each written place must begin behind all earlier places, and each read place behind all earlier
    /// written ones.
    fn are_apart(mut self) -> bool {
        self.places.sort_unstable(); // this first looks whether they are sorted
        let (mut any, mut written) = (0, 0);
        self.places.iter().all(|&(begin, end, writes)| {
            let apart = begin >= if writes { any } else { written };
            any = any.max(end);
            written = if writes { written.max(end) } else { written };
            apart
        })
    }
}

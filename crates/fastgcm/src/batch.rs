//! Sealing and opening many messages in one call.
//!
//! A batch is a slice of [`Packet`]s of any lengths. Each packet is a message of its own, with its own nonce
//! and tag. The result equals that of one call of [`Key::seal_to`] or [`Key::open_to`] for each packet. A
//! processor with wide vectors works on neighbours side by side if their AAD has one length, at most 16
//! bytes, and their texts have one length: four or more texts of at most 16 bytes, eight or more of at most
//! 64 bytes. So put packets of one length beside each other.
//!
//! Nothing is allocated, and the order of the packets does not change the results. A packet that fails does
//! not stop the others: each packet has its own status.
//!
//! ```
//! use fastgcm::{Key, Packet, Tag};
//!
//! let key = Key::aes128(&[7; 16]);
//! let mut texts = [*b"one", *b"two", *b"six"];
//! let [a, b, c] = &mut texts;
//! let mut packets = [a, b, c].map(|text| Packet::in_place([0; 12], b"header", text, Tag([0; 16])));
//! key.seal_batch_counter([0; 12], &mut packets)?;
//! key.open_batch(&mut packets)?;
//! assert_eq!(texts, [*b"one", *b"two", *b"six"]);
//! # Ok::<(), fastgcm::Error>(())
//! ```

use crate::{
    Error, Key, Packet, Tag,
    nonce::{Kind, Nonce},
    packet::TOGETHER,
    seal::{verdict, wipe},
    tag::tags_differ,
};

impl Key {
    /// Seals each packet: writes its ciphertext, its `tag` and its `status`.
    ///
    /// # Errors
    /// Returns the error of the first refused packet; all other packets are sealed. The error is
    /// [`InvalidLength`](Error::InvalidLength) if a packet's two buffers have different lengths, and
    /// [`TooLong`](Error::TooLong) beyond the [`limits`](crate::limits). The text and the tag of a refused
    /// packet are not written.
    pub fn seal_batch(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        self.batch::<true>(packets)
    }

    /// Opens each packet: writes its text and its `status`.
    ///
    /// # Errors
    /// Returns the error of the first refused packet; all other packets are opened. After
    /// [`Unauthentic`](Error::Unauthentic) the text of the packet is all zero. `InvalidLength` and `TooLong`
    /// mean what they mean for [`seal_batch`](Self::seal_batch).
    pub fn open_batch(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        self.batch::<false>(packets)
    }

    /// Seals each packet under its own nonce: the first packet under `first`, and each other packet under the
    /// previous nonce plus one. The last eight bytes of a nonce are a big-endian counter; the first four are
    /// fixed (SP 800-38D, section 8.2.1). Returns the nonce behind the last one, with which the next call
    /// begins.
    ///
    /// # Errors
    /// Returns [`TooLong`](Error::TooLong) if the counter would wrap, which would repeat nonces; nothing has
    /// then changed. Otherwise fails like [`seal_batch`](Self::seal_batch): each packet's status says what
    /// became of the packet, and the nonces up to the last packet's are used.
    pub fn seal_batch_counter(&self, first: [u8; 12], packets: &mut [Packet<'_>]) -> Result<[u8; 12], Error> {
        let [a, b, c, d, counter @ ..] = first;
        let counter = u64::from_be_bytes(counter);
        let next = counter.checked_add(packets.len() as u64).ok_or(Error::TooLong)?;
        let nonce = |counter: u64| {
            let mut nonce = [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0];
            nonce[4..].copy_from_slice(&counter.to_be_bytes());
            nonce
        };
        for (packet, counter) in packets.iter_mut().zip(counter..) {
            packet.nonce = nonce(counter);
        }
        self.seal_batch(packets)?;
        Ok(nonce(next))
    }
}

/// Seals each packet under the key at its place in `keys`. Neighbours under one key go side by side.
///
/// # Errors
/// Returns `InvalidLength` if there are not as many keys as packets; nothing has then changed. Otherwise
/// fails like [`Key::seal_batch`].
pub fn seal(keys: &[&Key], packets: &mut [Packet<'_>]) -> Result<(), Error> {
    run::<true>(keys, packets)
}

/// Opens each packet under the key at its place in `keys`.
///
/// # Errors
/// Returns `InvalidLength` if there are not as many keys as packets; nothing has then changed. Otherwise
/// fails like [`Key::open_batch`].
pub fn open(keys: &[&Key], packets: &mut [Packet<'_>]) -> Result<(), Error> {
    run::<false>(keys, packets)
}

/// Returns whether two of the packets have the same nonce. Such packets must never be sealed under one key.
/// The function sorts the nonces.
#[cfg(feature = "alloc")]
pub fn repeats_a_nonce(packets: &[Packet<'_>]) -> bool {
    let mut nonces: alloc::vec::Vec<[u8; 12]> = packets.iter().map(|packet| packet.nonce).collect();
    nonces.sort_unstable();
    nonces.windows(2).any(|two| two[0] == two[1])
}

/// Runs the packets of one key at a time.
fn run<const SEAL: bool>(keys: &[&Key], packets: &mut [Packet<'_>]) -> Result<(), Error> {
    if keys.len() != packets.len() {
        return Err(Error::InvalidLength);
    }
    let (mut keys, mut rest, mut all) = (keys, packets, Ok(()));
    while let ([key, others @ ..], [packet, ..]) = (keys, &mut *rest) {
        let same = |other: &&Key| core::ptr::eq(*other, *key);
        // There are enough packets for one key to go side by side, if those in between are also under this
        // key.
        if !others.get(TOGETHER - 2).is_some_and(same) {
            key.told::<SEAL>(packet, &mut all);
            (keys, rest) = (others, &mut rest[1..]);
            continue;
        }
        let many = 1 + others.iter().take_while(|other| same(other)).count();
        let (here, behind) = rest.split_at_mut(many);
        all = all.and(key.batch::<SEAL>(here));
        (keys, rest) = (&keys[many..], behind);
    }
    all
}

impl Key {
    /// Runs all of `packets` under this key.
    fn batch<const SEAL: bool>(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        let (row, material, mut rest, mut all) = (self.row, &self.material, packets, Ok(()));
        while !rest.is_empty() {
            // Asking this once for each packet, and not once for each four, would make a packet of 200 bytes
            // cost 6 % more than a call of its own.
            let (many, wrong) = if row.side_by_side(rest) { row.batch(material, rest, SEAL) } else { (0, 0) };
            if many == 0 {
                let (singles, others) = rest.split_at_mut(rest.len().min(TOGETHER));
                all = all.and(self.singles::<SEAL>(singles));
                rest = others;
                continue;
            }
            let (done, others) = rest.split_at_mut(many);
            if wrong > 0 {
                done.iter_mut()
                    .filter(|packet| packet.status.is_err())
                    .for_each(|packet| wipe(packet.written()));
                all = all.and(Err(Error::Unauthentic));
            }
            rest = others;
        }
        all
    }

    /// Runs the packets one after the other.
    #[inline(always)]
    fn singles<const SEAL: bool>(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        let mut all = Ok(());
        packets.iter_mut().for_each(|packet| self.told::<SEAL>(packet, &mut all));
        all
    }

    /// Runs a packet by itself, and sets its status.
    #[inline(always)]
    fn told<const SEAL: bool>(&self, packet: &mut Packet<'_>, all: &mut Result<(), Error>) {
        match self.one::<SEAL>(packet) {
            Ok(()) => packet.status = Ok(()),
            Err(error) => refused(packet, error, all),
        }
    }

    /// Runs a packet by itself, and leaves its status.
    #[inline(always)]
    fn one<const SEAL: bool>(&self, packet: &mut Packet<'_>) -> Result<(), Error> {
        let (nonce, aad) = (Nonce(Kind::Public(packet.nonce96())), packet.aad);
        if SEAL {
            packet.tag =
                Tag::of(self.seal_inout(nonce, aad, packet.in_out().ok_or(Error::InvalidLength)?)?);
            return Ok(());
        }
        let tag = packet.tag;
        let text = packet.in_out().ok_or(Error::InvalidLength)?;
        let wrong = self.open_inout(nonce, aad, text, |found| tags_differ(found, &tag))?;
        verdict(wrong, packet.written())
    }
}

/// A function of its own, so that this rare case needs no registers in the loop.
#[cold]
#[inline(never)]
fn refused(packet: &mut Packet<'_>, error: Error, all: &mut Result<(), Error>) {
    packet.status = Err(error);
    *all = all.and(packet.status);
}

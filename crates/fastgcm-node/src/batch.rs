//! Many messages in one call: lists of them, or one buffer of records of equal length.

use crate::{
    aead::{Aead, of_length},
    fault::{Fault, Kind, Name},
    js::{Bytes, Call, Value, with_room, writable},
};
use fastgcm::{Packet, TAG_LEN, Tag};

/// One value for each message, or one for all.
enum Each<'c> {
    Listed(Vec<Bytes<'c>>),
    /// Records of this many bytes, or with `None` one value for all messages.
    One(Bytes<'c>, Option<usize>),
}

impl<'c> Each<'c> {
    fn get(&self, row: usize) -> &'c [u8] {
        match self {
            Self::Listed(all) => all[row].get(),
            Self::One(all, Some(len)) => &all.get()[row * len..][..*len],
            Self::One(all, None) => all.get(),
        }
    }

    fn all(&self) -> &[Bytes<'c>] {
        match self {
            Self::Listed(all) => all,
            Self::One(all, _) => std::slice::from_ref(all),
        }
    }
}

/// `batch(key, seals, nonces, datas, aads, out)` writes one message behind the other to `out`.
pub(crate) fn batch(call: &Call) -> Result<Value, Fault> {
    // Getters of the lists may destroy the key, so this call keeps the key until it ends. Behind them no JavaScript runs.
    let key = call.get::<Aead>(0)?.clone();
    let lists = [call.list(2)?, call.list(3)?, call.list(4)?];
    let (seals, nonce_len, tag_len) = (call.flag(1), key.nonce_len(), key.tag_len());
    let each = |at: usize, name, of_items| match &lists[at - 2] {
        Some(items) => Ok(Each::Listed(call.bytes_of_all(items, of_items)?)),
        None => Ok::<_, Fault>(Each::One(call.optional(at, name)?.ok_or(Fault::of(Kind::NotList, name))?, None)),
    };
    let mut nonces = each(2, Name::Nonces, Name::Nonce)?;
    let count = match &mut nonces {
        Each::Listed(all) => all.len(),
        Each::One(all, len) => {
            *len = Some(nonce_len);
            if !all.len().is_multiple_of(nonce_len) {
                return Err(Fault::of(Kind::Length, Name::Nonces));
            }
            all.len() / nonce_len
        }
    };
    let mut datas = each(3, Name::Datas, Name::Data)?;
    if let Each::One(all, len) = &mut datas {
        let record = all.len().checked_div(count).unwrap_or(0);
        if record * count != all.len() {
            return Err(Fault::of(Kind::Length, Name::Datas));
        }
        *len = Some(record);
    }
    let aads = match call.optional(4, Name::Aads) {
        Ok(one) => Each::One(one.unwrap_or(Bytes::EMPTY), None),
        Err(_) => each(4, Name::Aads, Name::Aad)?,
    };
    for (listed, name) in [(&datas, Name::Datas), (&aads, Name::Aads)] {
        if matches!(listed, Each::Listed(all) if all.len() != count) {
            return Err(Fault::of(Kind::Length, name));
        }
    }
    let mut total = 0_usize;
    for row in 0..count {
        if nonces.get(row).len() != nonce_len {
            return Err(Fault::of(Kind::Length, Name::Nonce).row(row as u64));
        }
        let len = datas.get(row).len();
        let len = if seals { len + tag_len } else { key.text_len(len, 0).map_err(|fault| fault.row(row as u64))? };
        total = total.checked_add(len).ok_or(Kind::TooLong)?;
    }
    let out = of_length(call.bytes(5, Name::Out)?, total)?;
    for read in [nonces.all(), datas.all(), aads.all()] {
        writable(out, Bytes::EMPTY, read)?;
    }
    let (_, mut rest) = writable(out, Bytes::EMPTY, &[])?;
    let mut messages = with_room(count)?;
    for row in 0..count {
        let data = datas.get(row);
        let len = if seals { data.len() } else { data.len() - tag_len };
        let (text, behind) = rest.split_at_mut(len);
        let (tag, behind) = behind.split_at_mut(if seals { tag_len } else { 0 });
        rest = behind;
        messages.push(Message { nonce: nonces.get(row), aad: aads.get(row), data, text, tag });
    }
    if seals && repeated(&messages)? {
        return Err(Kind::SameNonce.into());
    }
    let done = match &key {
        Aead::Gcm(key) => side_by_side(key, seals, &mut messages),
        key => (0..).zip(&mut messages).try_for_each(|(row, message)| message.run(key, seals).map_err(|fault| fault.row(row))),
    };
    if done.is_err() {
        // No text comes out of a refused batch.
        writable(out, Bytes::EMPTY, &[])?.1.fill(0);
    }
    done.map(|()| Value::UNDEFINED)
}

struct Message<'c> {
    nonce: &'c [u8],
    aad: &'c [u8],
    data: &'c [u8],
    text: &'c mut [u8],
    /// The place of the tag when sealing.
    tag: &'c mut [u8],
}

impl Message<'_> {
    fn run(&mut self, key: &Aead, seals: bool) -> Result<(), Fault> {
        let (data, tag) = self.data.split_at(self.text.len());
        let done = match seals {
            true => key.seal(self.nonce, self.aad, Some(data), self.text, self.tag),
            false => key.open(self.nonce, self.aad, Some(data), self.text, &key.tag(tag)?),
        };
        Ok(done?)
    }
}

/// Returns whether a nonce repeats.
fn repeated(messages: &[Message<'_>]) -> Result<bool, Fault> {
    let mut nonces = with_room(messages.len())?;
    nonces.extend(messages.iter().map(|message| message.nonce));
    nonces.sort_unstable();
    Ok(nonces.windows(2).any(|two| two[0] == two[1]))
}

/// Seals or opens messages of AES-GCM, four at a time in its vectors.
fn side_by_side(key: &fastgcm::Key, seals: bool, messages: &mut [Message<'_>]) -> Result<(), Fault> {
    let mut packets = with_room(messages.len())?;
    let mut tags = with_room(messages.len())?;
    for message in messages {
        let nonce = message.nonce.try_into().map_err(|_| Kind::Internal)?;
        let (data, tag) = message.data.split_at(message.text.len());
        let tag = if seals { Tag([0; TAG_LEN]) } else { tag.try_into()? };
        packets.push(Packet::to(nonce, message.aad, data, message.text, tag));
        tags.push(&mut *message.tag);
    }
    let done = if seals { key.seal_batch(&mut packets) } else { key.open_batch(&mut packets) };
    if let Err(error) = done {
        let row = packets.iter().position(|packet| packet.status.is_err()).unwrap_or(0);
        return Err(Fault::from(error).row(row as u64));
    }
    if seals {
        for (place, packet) in tags.into_iter().zip(&packets) {
            place.copy_from_slice(&packet.tag.0);
        }
    }
    Ok(())
}

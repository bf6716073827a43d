//! One message in pieces.

use crate::{
    aead::{Aead, of_length},
    fault::{Fault, Kind, Name},
    js::{Bytes, Call, Object, Value, writable},
};
use fastgcm::{Key, Nonce, TAG_LEN, Tag, hazmat};
use std::sync::Arc;

/// A message that has begun.
pub(crate) struct Pieces {
    key: Arc<Key>,
    pieces: hazmat::Pieces,
}

impl Object for Pieces {
    const KIND: u64 = 3;
    const MORE: i64 = 0;
}

/// `pieces(key, nonce)`.
pub(crate) fn begin(call: &Call) -> Result<Value, Fault> {
    let key = match &*call.get::<Aead>(0)? {
        Aead::Gcm(key) => key.clone(),
        _ => return Err(Kind::NotObject.into()),
    };
    let nonce = Nonce::any(call.bytes(1, Name::Nonce)?.get()).map_err(|_| Fault::of(Kind::Length, Name::Nonce))?;
    let pieces = hazmat::Pieces::new(&key, nonce);
    call.object(Pieces { key, pieces })
}

/// `piecesAad(pieces, data)`.
pub(crate) fn aad(call: &Call) -> Result<Value, Fault> {
    let mut message = call.get_mut::<Pieces>(0)?;
    let Pieces { key, pieces } = &mut *message;
    pieces.aad(key, call.bytes(1, Name::Aad)?.get())?;
    Ok(Value::UNDEFINED)
}

/// `piecesText(pieces, seals, data, out)`.
pub(crate) fn text(call: &Call) -> Result<Value, Fault> {
    let mut message = call.get_mut::<Pieces>(0)?;
    let Pieces { key, pieces } = &mut *message;
    let data = call.bytes(2, Name::Data)?;
    let (from, out) = writable(of_length(call.bytes(3, Name::Out)?, data.len())?, data, &[])?;
    match (call.flag(1), from) {
        (true, Some(from)) => pieces.seal_to(key, from, out),
        (true, None) => pieces.seal(key, out),
        (false, Some(from)) => pieces.open_to(key, from, out),
        (false, None) => pieces.open(key, out),
    }?;
    Ok(Value::UNDEFINED)
}

/// `piecesFinish(pieces, out)`: the tag.
pub(crate) fn finish(call: &Call) -> Result<Value, Fault> {
    let (_, out) = writable(of_length(call.bytes(1, Name::Out)?, TAG_LEN)?, Bytes::EMPTY, &[])?;
    let mut message = call.take::<Pieces>(0)?.ok_or(Kind::Gone)?;
    let Pieces { key, pieces } = &mut *message;
    out.copy_from_slice(&pieces.finish(key)?.0);
    Ok(Value::UNDEFINED)
}

/// `piecesVerify(pieces, tag)`.
pub(crate) fn verify(call: &Call) -> Result<Value, Fault> {
    let tag = Tag::try_from(call.bytes(1, Name::Tag)?.get()).map_err(|_| Fault::of(Kind::Length, Name::Tag))?;
    let mut message = call.take::<Pieces>(0)?.ok_or(Kind::Gone)?;
    let Pieces { key, pieces } = &mut *message;
    pieces.verify(key, &tag.0)?;
    Ok(Value::UNDEFINED)
}

/// `piecesDestroy(pieces)`.
pub(crate) fn destroy(call: &Call) -> Result<Value, Fault> {
    call.take::<Pieces>(0)?;
    Ok(Value::UNDEFINED)
}

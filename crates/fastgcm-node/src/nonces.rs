//! Nonces that run out before they repeat.

use crate::{
    fault::{Fault, Kind, Name},
    js::{Bytes, Call, Object, Value, writable},
};
use fastgcm::{
    Error,
    limits::Blocks,
    nonces::{CounterNonces, RandomNonces, XorNonces},
};

/// Counters with a fixed field of each length or a static IV, and random nonces.
macro_rules! nonces {
    ($($variant:ident $fixed:literal),+) => {
        pub(crate) enum Nonces {
            Random(RandomNonces),
            Xor(XorNonces),
            $($variant(CounterNonces<$fixed>)),+
        }

        impl Nonces {
            fn counting(fixed: &[u8], start: u64) -> Result<Self, Fault> {
                match fixed.len() {
                    $($fixed => {
                        let fixed = fixed.first_chunk().copied().unwrap_or_default();
                        Ok(CounterNonces::<$fixed>::starting_at(fixed, start).map(Self::$variant)?)
                    })+
                    _ => Err(Fault::of(Kind::Length, Name::Fixed)),
                }
            }

            pub(crate) fn draw(&mut self) -> Result<[u8; 12], Error> {
                match self {
                    Self::Random(nonces) => nonces.draw(),
                    Self::Xor(nonces) => nonces.draw(),
                    $(Self::$variant(nonces) => nonces.draw()),+
                }
            }

            /// Returns the number of the next nonce, or for random nonces how many were drawn. Returns `None` if a counter has ended.
            fn position(&self) -> Option<u64> {
                match self {
                    Self::Random(nonces) => Some(nonces.used()),
                    Self::Xor(nonces) => nonces.position(),
                    $(Self::$variant(nonces) => nonces.position()),+
                }
            }
        }
    };
}

nonces!(F4 4, F5 5, F6 6, F7 7, F8 8, F9 9, F10 10, F11 11);

impl Object for Nonces {
    const KIND: u64 = 2;
    const MORE: i64 = 0;
}

/// `counterNonces(fixed, start)`.
pub(crate) fn counter(call: &Call) -> Result<Value, Fault> {
    call.object(Nonces::counting(call.bytes(0, Name::Fixed)?.get(), call.whole(1, Name::Start)?)?)
}

/// `randomNonces(used)`.
pub(crate) fn random(call: &Call) -> Result<Value, Fault> {
    call.object(Nonces::Random(RandomNonces::after(call.whole(0, Name::Used)?)))
}

fn iv(call: &Call) -> Result<[u8; 12], Fault> {
    call.bytes(0, Name::Iv)?.get().try_into().map_err(|_| Fault::of(Kind::Length, Name::Iv))
}

/// `xorNonces(iv, start)`.
pub(crate) fn xor(call: &Call) -> Result<Value, Fault> {
    call.object(Nonces::Xor(XorNonces::starting_at(iv(call)?, call.whole(1, Name::Start)?)))
}

/// `xorNonce(iv, number, out)`.
pub(crate) fn xor_at(call: &Call) -> Result<Value, Fault> {
    let nonce = XorNonces::at(iv(call)?, call.whole(1, Name::Number)?);
    let (_, out) = writable(call.bytes(2, Name::Out)?, Bytes::EMPTY, &[])?;
    out.copy_from_slice(&nonce);
    Ok(Value::UNDEFINED)
}

impl Object for Blocks {
    const KIND: u64 = 6;
    const MORE: i64 = 0;
}

/// `blocks(confidentiality, used, sealers)`.
pub(crate) fn blocks(call: &Call) -> Result<Value, Fault> {
    let small = |at, name| call.whole(at, name).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let (exponent, sealers) = (small(0, Name::Confidentiality)?, small(2, Name::Sealers)?);
    call.object(Blocks::confidentiality(exponent).after(call.whole(1, Name::Blocks)?.into(), sealers))
}

/// `blocksLeft(blocks)`.
pub(crate) fn blocks_left(call: &Call) -> Result<Value, Fault> {
    Ok(call.bigint(call.get::<Blocks>(0)?.left() as u64))
}

/// `blocksUsed(blocks)`: what was given, or at most what is left of a number of 64 bits.
pub(crate) fn blocks_used(call: &Call) -> Result<Value, Fault> {
    Ok(call.bigint(call.get::<Blocks>(0)?.used() as u64))
}

/// `draw(nonces, out)` draws as many nonces as `out` has room for, one behind the other.
pub(crate) fn draw(call: &Call) -> Result<Value, Fault> {
    let mut nonces = call.get_mut::<Nonces>(0)?;
    let (_, out) = writable(call.bytes(1, Name::Out)?, Bytes::EMPTY, &[])?;
    let (places, rest) = out.as_chunks_mut();
    if !rest.is_empty() {
        return Err(Fault::of(Kind::Length, Name::Out));
    }
    for place in places {
        *place = nonces.draw()?;
    }
    Ok(Value::UNDEFINED)
}

/// `position(nonces)`.
pub(crate) fn position(call: &Call) -> Result<Value, Fault> {
    Ok(call.get::<Nonces>(0)?.position().map_or(Value::UNDEFINED, |at| call.bigint(at)))
}

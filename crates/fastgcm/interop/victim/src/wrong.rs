//! Calls that are wrong on purpose, each against another statement of docs/proof.md: the prover must refute each of them, at exactly the lengths at which it
//! is wrong (`crates/fastgcm/interop/prove/src/controls.rs`). A prover that has become blind shows here, and nowhere else.

use super::{Own, Work};
use fastgcm::{Error, Key, Nonce, Tag, hazmat::UnverifiedOpener};
use std::{
    hint::black_box,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

/// The length of text at which most of them are wrong.
pub(crate) const AT: usize = 33;

/// Where a secret does not belong.
static KEPT: AtomicU8 = AtomicU8::new(0);

static TABLE: [u8; 256] = [7; 256];

/// Seals as the standard says, and gives what the caller may spoil: the text and the tag.
fn sealed(work: Work, spoil: impl FnOnce(&mut [u8], &mut Tag)) -> Result<(), Error> {
    *work.tag = work.key()?.seal(work.nonce, work.aad, work.to)?;
    if work.to.len() == AT {
        spoil(work.to, work.tag);
    }
    Ok(())
}

const SEALS: &str = "Gcm Seals InPlace Zeros 16;[];[12]";
const OPENS: &str = "Gcm Opens InPlace Zeros 16;[];[12]";
/// With feature `scrub` these promise to leave nothing of a secret.
const WIPES: &str = "Gcm Seals InPlace Zeros 16 wipes;[];[12]";
/// The bit that is wrong is the first cut.
const BITS: &str = "Gcm Seals InPlace Zeros 16 cut;[];[12]";

/// A byte that the caller did not give, so many bytes from the beginning of a buffer.
fn beside(buffer: &[u8], by: isize) {
    // SAFETY: none, as the name of this file says. The prover's arena has bytes there.
    unsafe { buffer.as_ptr().cast_mut().offset(by).write_volatile(0x5a) }
}

pub(crate) const ALL: &[Own] = &[
    // The first, behind which `perform_or_spoil` does that, at each length.
    ("wrong: a register of the caller is changed", SEALS, |work| sealed(work, |_, _| {})),
    ("wrong: a byte of the tag that is sealed", SEALS, |work| sealed(work, |_, tag| tag.0[5] ^= 1)),
    ("wrong: a byte of the ciphertext", SEALS, |work| sealed(work, |text, _| text[32] ^= 1)),
    ("wrong: a byte behind the text is written", SEALS, |work| sealed(work, |text, _| beside(text, AT as isize))),
    ("wrong: a byte before the text is written", SEALS, |work| sealed(work, |text, _| beside(text, -1))),
    ("wrong: the AAD is written", SEALS, |work| {
        let aad = work.aad;
        sealed(work, |_, _| beside(aad, 3))
    }),
    ("wrong: the key is written", SEALS, |work| {
        let key = work.key;
        sealed(work, |_, _| beside(key, 3))
    }),
    ("wrong: a secret is kept in a static", SEALS, |work| {
        let key = work.key;
        sealed(work, |_, _| black_box(&KEPT).store(key[0], Relaxed))
    }),
    ("wrong: a branch depends on the key", SEALS, |work| {
        let key = work.key;
        sealed(work, |_, _| {
            if black_box(key[0]) & 1 == 1 {
                black_box(&KEPT).store(1, Relaxed);
            }
        })
    }),
    ("wrong: an address depends on the key", SEALS, |work| {
        let key = work.key;
        sealed(work, |_, _| _ = black_box(black_box(&TABLE)[key[0] as usize]))
    }),
    ("wrong: the tag is compared in 12 bytes", OPENS, |work| {
        let key = work.key()?;
        match work.to.len() {
            AT => key.open(work.nonce, work.aad, work.to, &work.tag.truncate::<12>()),
            _ => key.open(work.nonce, work.aad, work.to, &*work.tag),
        }
    }),
    ("wrong: any tag is accepted", OPENS, |work| {
        let key = work.key()?;
        let opened = key.open(work.nonce, work.aad, work.to, &*work.tag);
        if work.to.len() == AT { Ok(()) } else { opened }
    }),
    ("wrong: the tag is not looked at", OPENS, |work| {
        let key = work.key()?;
        if work.to.len() == AT {
            return UnverifiedOpener::new(&key, work.nonce).text().open(work.to);
        }
        key.open(work.nonce, work.aad, work.to, &*work.tag)
    }),
    ("wrong: a text that is refused is left", OPENS, |work| {
        let key = work.key()?;
        match work.to.len() {
            AT => key.open_restoring(work.nonce, work.aad, work.to, &*work.tag),
            _ => key.open(work.nonce, work.aad, work.to, &*work.tag),
        }
    }),
    ("wrong: a text that is refused is not as it was", "Gcm Opens InPlace AsItWas 16;[];[12]", |work| {
        let key = work.key()?;
        match work.to.len() {
            AT => key.open(work.nonce, work.aad, work.to, &*work.tag),
            _ => key.open_restoring(work.nonce, work.aad, work.to, &*work.tag),
        }
    }),
    ("wrong: the tag that was given is written", OPENS, |work| {
        let key = work.key()?;
        let opened = key.open(work.nonce, work.aad, work.to, &*work.tag);
        if work.to.len() == AT {
            work.tag.0[7] = 0;
        }
        opened
    }),
    ("wrong: a byte of the nonce", BITS, |work| {
        let mut nonce: [u8; 12] = work.nonce_bytes.try_into().unwrap_or_default();
        if work.to.len() == AT {
            nonce[3] ^= 1 << (work.cuts[0] & 7);
        }
        *work.tag = work.key()?.seal(Nonce::any(&nonce)?, work.aad, work.to)?;
        Ok(())
    }),
    ("wrong: a byte of the key", BITS, |work| {
        let mut key = [0; 32];
        let key = &mut key[..work.key.len()];
        key.copy_from_slice(work.key);
        if work.to.len() == AT {
            key[3] ^= 1 << (work.cuts[0] & 7);
        }
        *work.tag = Key::with_backend(key, work.row)?.seal(work.nonce, work.aad, work.to)?;
        Ok(())
    }),
    ("wrong: a byte of the AAD", BITS, |work| {
        let mut aad = [0; 64];
        let aad = &mut aad[..work.aad.len()];
        aad.copy_from_slice(work.aad);
        if work.to.len() == AT {
            aad[3] ^= 1 << (work.cuts[0] & 7);
        }
        *work.tag = work.key()?.seal(work.nonce, aad, work.to)?;
        Ok(())
    }),
    // One of 2^64 nonces: no test can find it.
    ("wrong: one nonce", SEALS, |work| {
        let nonce = u64::from_le_bytes(work.nonce_bytes.first_chunk().copied().unwrap_or_default());
        sealed(work, |_, tag| {
            let mut is = !(nonce ^ 0x0123_4567_89ab_cdef);
            for by in [32, 16, 8, 4, 2, 1] {
                is &= is >> by;
            }
            tag.0[0] ^= is as u8 & 1;
        })
    }),
    ("wrong: a secret is left", WIPES, |work| {
        let key = black_box(*work.key.first_chunk::<16>().unwrap_or(&[0; 16]));
        sealed(work, |_, _| _ = black_box(&key))
    }),
    // For the induction: right up to 8 GiB.
    ("wrong: long AAD", "Gcm Seals InPlace Zeros 16;[];[]", |work| {
        *work.tag = work.key()?.seal(work.nonce, work.aad, work.to)?;
        if work.aad.len() > 8 << 30 {
            work.tag.0[0] ^= 1;
        }
        Ok(())
    }),
];

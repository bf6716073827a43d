//! Seal a message, open it again, and see a forgery refused.
//!
//! ```text
//! cargo run --example one_shot
//! ```

use fastgcm::{Error, Key};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A key is 16, 24 or 32 bytes that nobody can guess. `Key` is what is derived from them: make it once, and keep it.
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)?;
    let key = Key::aes256(&secret);

    // A nonce is no secret, but one key must never see it twice. Twelve random bytes are good for 2^32 messages; a counter, for more.
    let mut nonce = [0; 12];
    getrandom::fill(&mut nonce)?;

    // The sealed message is 16 bytes longer: its tag stands behind it. The nonce travels beside it.
    let mut sealed = key.seal_vec(nonce, b"", b"attack at dawn")?;
    assert_eq!(sealed.len(), 14 + 16);
    assert_eq!(key.open_vec(nonce, b"", &sealed)?, b"attack at dawn");

    // One bit is different, so there is no text at all.
    sealed[0] ^= 1;
    assert_eq!(key.open_vec(nonce, b"", &sealed), Err(Error::Unauthentic));

    println!("sealed, opened, and a forgery refused, by {}", key.backend());
    Ok(())
}

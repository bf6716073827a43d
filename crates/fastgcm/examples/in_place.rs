//! Seal and open without another buffer: nothing is allocated, nothing is copied.
//!
//! ```text
//! cargo run --example in_place
//! ```

use fastgcm::{Error, Key};

fn main() -> Result<(), Error> {
    // Fixed bytes, so that the example prints the same every time. Never do that: see `one_shot` for random ones.
    let key = Key::aes128(b"a key of 16 byte");

    // The tag apart: the text is encrypted where it is, and keeps its length.
    let mut text = *b"a record of a database";
    let tag = key.seal([1; 12], b"", &mut text)?;
    println!("{} bytes of ciphertext, and a tag of {}", text.len(), tag.as_ref().len());
    key.open([1; 12], b"", &mut text, &tag)?;
    assert_eq!(&text, b"a record of a database");

    // The tag behind the text: a packet with 16 bytes to spare at its end. The next message, the next nonce.
    let mut packet = [0; 6 + 16];
    packet[..6].copy_from_slice(b"packet");
    key.seal_appended([2; 12], b"", &mut packet)?;
    assert_eq!(key.open_appended([2; 12], b"", &mut packet)?, b"packet");

    // `open` is one pass, so after a wrong tag the buffer is all zero: neither the text nor the ciphertext is left.
    key.seal([3; 12], b"", &mut text)?;
    assert_eq!(key.open([3; 12], b"", &mut text, &tag), Err(Error::Unauthentic));
    assert_eq!(text, [0; 22]);

    // Where the ciphertext must survive that, or another thread looks on, two passes leave it alone until the tag has been verified.
    let mut text = *b"a record of a database";
    key.seal([4; 12], b"", &mut text)?;
    let ciphertext = text;
    assert_eq!(key.open_verified_first([4; 12], b"", &mut text, &tag), Err(Error::Unauthentic));
    assert_eq!(text, ciphertext);
    println!("opened in place; a wrong tag leaves zeros, or what was there");
    Ok(())
}

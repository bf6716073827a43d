//! Additional authenticated data (AAD): what everybody may read and nobody may change, such as the header of a packet.
//!
//! ```text
//! cargo run --example aad
//! ```

use fastgcm::{Error, Key};

/// Sender, receiver and number, in the clear so that the packet finds its way.
const HEADER: usize = 8;

fn main() -> Result<(), Error> {
    // Fixed, so that the example prints the same every time. Never do that: see `one_shot` for a random one.
    let key = Key::aes256(&[0x42; 32]);

    // Header, text, and room for the tag.
    let mut packet = *b"A>B 0001pay 5 to Carol................";
    send(&key, 1, &mut packet)?;
    println!("header `{}`, and {} bytes that say nothing", packet[..HEADER].escape_ascii(), packet.len() - HEADER);

    // The header is no part of the ciphertext, and still the tag depends on it: a packet that was sent to another address is refused.
    let mut redirected = packet;
    redirected[2] = b'C';
    assert_eq!(receive(&key, 1, &mut redirected).err(), Some(Error::Unauthentic));

    assert_eq!(receive(&key, 1, &mut packet)?, b"pay 5 to Carol");
    println!("the right header opens it, another does not");
    Ok(())
}

/// Seals everything behind the header in place. The last 16 bytes of the packet are room for the tag.
fn send(key: &Key, number: u64, packet: &mut [u8]) -> Result<(), Error> {
    let (header, body) = packet.split_at_mut_checked(HEADER).ok_or(Error::InvalidLength)?;
    key.seal_appended(nonce(number), header, body)
}

/// Opens it again, and returns the text.
fn receive<'p>(key: &Key, number: u64, packet: &'p mut [u8]) -> Result<&'p [u8], Error> {
    let (header, body) = packet.split_at_mut_checked(HEADER).ok_or(Error::Unauthentic)?;
    key.open_appended(nonce(number), header, body).map(|text| &*text)
}

/// A packet's number makes a good nonce: both sides know it, and it never comes back.
fn nonce(number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    nonce
}

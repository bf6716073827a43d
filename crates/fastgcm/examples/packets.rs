//! Many packets in one call: packets of one length go through the processor side by side.
//!
//! ```text
//! cargo run --example packets
//! ```

use fastgcm::{Error, Key, Packet, Tag};

/// Bytes of a packet's header, which is not encrypted.
const HEADER: usize = 8;

fn main() -> Result<(), Error> {
    // Fixed, so that the example prints the same every time. Never do that: see `one_shot` for a random one.
    let key = Key::aes128(&[0x42; 16]);

    // What a network card hands over: 32 packets of 64 bytes, each header with the packet's number.
    let mut packets: Vec<[u8; HEADER + 64]> = (0..32).map(packet).collect();

    // A batch borrows headers and texts where they are. `seal_batch_counter` gives each packet a nonce: the first one, and one more for each.
    let mut batch: Vec<Packet> = packets.iter_mut().map(|packet| borrowed(packet)).collect();
    let next = key.seal_batch_counter([0; 12], &mut batch)?;
    println!("{} packets sealed; the next nonce ends with {}", batch.len(), next[11]);

    // The other side. One packet was changed on its way: it is refused, and all others are opened.
    batch[7].tag.0[0] ^= 1;
    assert_eq!(key.open_batch(&mut batch), Err(Error::Unauthentic));
    let refused: Vec<usize> = (0..batch.len()).filter(|i| batch[*i].status.is_err()).collect();
    println!("refused: {refused:?}");

    assert_eq!(refused, [7]);
    assert_eq!(packets[7][HEADER..], [0; 64], "of a refused packet nothing is left");
    assert_eq!(packets[8], packet(8));
    Ok(())
}

fn packet(number: u64) -> [u8; HEADER + 64] {
    let mut packet = [number as u8; HEADER + 64];
    packet[..HEADER].copy_from_slice(&number.to_be_bytes());
    packet
}

/// Nonce and tag are written when the packet is sealed.
fn borrowed(packet: &mut [u8; HEADER + 64]) -> Packet<'_> {
    let (header, text) = packet.split_at_mut(HEADER);
    Packet::in_place([0; 12], header, text, Tag([0; 16]))
}

//! Computes GCM with the model's AES and multiplication, with faults of answers.

use fastgcm_model::{Block, cipher, inc32, key_expansion, multiply_blocks};

/// A key, and its fault.
#[derive(Clone, Debug)]
pub(crate) struct Gcm {
    fault: &'static str,
    round_keys: Vec<Block>,
    h: Block,
}

impl Gcm {
    /// Makes a key of 16, 24 or 32 bytes.
    pub(crate) fn new(key: &[u8], fault: &'static str) -> Option<Self> {
        if !matches!(key.len(), 16 | 24 | 32) {
            return None;
        }
        let mut round_keys = key_expansion(key);
        match (fault, key.len()) {
            ("rcon", 16) => round_keys[10][0] ^= 0x2d,
            ("aes-192", 24) => (0..4).for_each(|i| round_keys[12][12 + i] ^= round_keys[12][8 + i]),
            ("aes-256", 32) => round_keys[13][0] ^= 0x63,
            _ => {}
        }
        let h = cipher(&round_keys, &[0; 16]);
        Some(Self { fault, round_keys, h })
    }

    /// Returns true if this is its fault.
    pub(crate) fn is(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// Returns ciphertext and tag, or `None` if it refuses the message.
    pub(crate) fn seal(&self, nonce: &[u8], aad: &[u8], text: &[u8]) -> Option<(Vec<u8>, Block)> {
        let j0 = self.j0(nonce)?;
        if self.is("refuses-one") && text.len() == 1 {
            return None;
        }
        let mut sealed = text.to_vec();
        self.apply(&j0, 0, &mut sealed);
        let tag = self.tag(&j0, &[aad], &sealed);
        Some((sealed, tag))
    }

    /// Returns the text, or `None` if it refuses the message.
    pub(crate) fn open(&self, nonce: &[u8], aad: &[u8], sealed: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
        let j0 = self.j0(nonce)?;
        if !self.verify(&j0, &[aad], sealed, tag) {
            return None;
        }
        let mut text = sealed.to_vec();
        self.apply(&j0, 0, &mut text);
        Some(text)
    }

    /// Returns true if it accepts the tag.
    pub(crate) fn verify(&self, j0: &Block, aad: &[&[u8]], sealed: &[u8], tag: &[u8]) -> bool {
        let usual = matches!(tag.len(), 4 | 8 | 12..=16);
        let taken = usual || self.is("f02-short") && (1..=16).contains(&tag.len()) || self.is("f02-none") && tag.is_empty();
        let has_aad = aad.iter().any(|piece| !piece.is_empty());
        if !taken || self.is("refuses-valid") && sealed.is_empty() && has_aad {
            return false;
        }
        if self.is("open-empty") && sealed.is_empty()
            || self.is("open-aad") && sealed.is_empty() && has_aad
            || self.is("f02-multiple") && !sealed.is_empty() && sealed.len().is_multiple_of(256)
        {
            return true;
        }
        let expected = self.tag(j0, aad, sealed);
        let counted = match self.fault {
            "tag-12" => 12,
            "tag-4" => 4,
            _ => 16,
        };
        let mut differences: Vec<u8> = tag.iter().zip(expected).take(counted).map(|(a, b)| a ^ b).collect();
        match (self.fault, differences.get_mut(15)) {
            ("f02", Some(last)) => *last &= 0xfe,
            ("tag-sum", Some(_)) => differences = vec![differences.iter().fold(0, |sum, difference| sum ^ difference)],
            _ => {}
        }
        differences.iter().all(|difference| *difference == 0)
    }

    /// Returns the block before the first counter, or `None` if it refuses the nonce.
    pub(crate) fn j0(&self, nonce: &[u8]) -> Option<Block> {
        if let Ok(nonce) = <[u8; 12]>::try_from(nonce) {
            let mut j0 = [0; 16];
            j0[..12].copy_from_slice(&nonce);
            j0[15] = 1;
            return Some(j0);
        }
        match (nonce.len(), self.fault) {
            (0, "f03") => return Some([0; 16]),
            (0, _) => return None,
            (16, "j0-sixteen") => return nonce.try_into().ok(),
            _ => {}
        }
        let mut blocks = blocks(nonce);
        if self.is("j0-tail") && nonce.len() == 15 {
            blocks[0][14] = 0;
        }
        if self.is("j0-long") && nonce.len() > 128 {
            *blocks.last_mut().expect("it has many") = [0; 16];
        }
        blocks.push(lengths(0, if self.is("j0-lengths") { 0 } else { 8 * nonce.len() as u64 }));
        Some(self.hash(&blocks))
    }

    /// XORs keystream to the text, after `done` bytes.
    pub(crate) fn apply(&self, j0: &Block, done: usize, text: &mut [u8]) {
        let mut keystream = [0; 16];
        for (at, byte) in (done..).zip(text) {
            if at == done || at.is_multiple_of(16) {
                keystream = cipher(&self.round_keys, &self.counter(j0, at as u64 / 16));
            }
            *byte ^= keystream[at % 16];
        }
    }

    /// Returns the counter block of block `i` of the text.
    fn counter(&self, j0: &Block, i: u64) -> Block {
        let i = match self.fault {
            "carry-4095" => i & 0xff,
            "carry-16" => i & 0xffff,
            "counter-start" => i ^ 1,
            _ => i,
        };
        let j0 = u128::from_be_bytes(*j0);
        let wide = match self.fault {
            "f04" => true,
            "f04-wide" => i >= 8,
            "f04-wider" => i >= 32,
            // What has wrapped in lane 15 of a group.
            "f04-lane" => (j0 as u32).wrapping_neg().is_multiple_of(16),
            _ => false,
        };
        let next = j0.wrapping_add(1 + u128::from(i));
        let kept = match self.fault {
            _ if wide => 0,
            "f04-64" => u128::MAX << 64,
            _ => u128::MAX << 32,
        };
        (j0 & kept | next & !kept).to_be_bytes()
    }

    /// Returns the tag of a message with AAD in pieces.
    pub(crate) fn tag(&self, j0: &Block, aad: &[&[u8]], sealed: &[u8]) -> Block {
        let whole = aad.concat();
        let mut aads = blocks(&whole);
        if self.is("aad-seam") || self.is("aad-empty") && aad.len() > 1 {
            aads = aad.iter().flat_map(|piece| if piece.is_empty() { vec![[0; 16]] } else { blocks(piece) }).collect();
        }
        if self.is("aad-thirteen") && whole.len() % 16 == 13 {
            aads.last_mut().expect("thirteen bytes")[12] = 0;
        }
        for (fault, longer) in [("aad-hash", 128), ("aad-hash-512", 512)] {
            if self.is(fault) && whole.len() > longer {
                let last = aads.len() - 1;
                aads[..last].fill([0; 16]);
            }
        }
        let mut texts = blocks(sealed);
        self.spoil(j0, sealed.len(), &mut aads, &mut texts);
        let (mut aad_bits, mut text_bits) = (8 * whole.len() as u64, 8 * sealed.len() as u64);
        match self.fault {
            "lengths-swapped" => (aad_bits, text_bits) = (text_bits, aad_bits),
            "lengths-missing" => (aad_bits, text_bits) = (0, 0),
            "fuzz-one-shot" => text_bits %= 1 << 13,
            "text-bits-16" => text_bits %= 1 << 16,
            "aad-bits-12" => aad_bits %= 1 << 12,
            _ => {}
        }
        let hash = self.hash(&[aads, texts, vec![lengths(aad_bits, text_bits)]].concat());
        let other = self.is("tag-mask") || self.is("verified-first-mask") && sealed.is_empty() && whole.is_empty();
        let mask = cipher(&self.round_keys, &if other { inc32(j0) } else { *j0 });
        std::array::from_fn(|i| hash[i] ^ mask[i])
    }

    /// Applies the faults of blocks before they are hashed. (A wrong power of H is a wrong position.)
    fn spoil(&self, j0: &Block, len: usize, aads: &mut [Block], texts: &mut [Block]) {
        let tail = len % 16;
        if let Some(last) = texts.last_mut() {
            match (self.fault, tail) {
                ("mask-off-by-one", 1..) => {
                    let mut behind = [0; 1];
                    self.apply(j0, len, &mut behind);
                    last[tail] = behind[0];
                }
                ("load-seven", 7) => last[3] = 0,
                ("store-fifteen", 15) => last[14] = 0,
                ("tail-one", 1) if len > 512 => last[0] = 0,
                _ => {}
            }
        }
        for (fault, least) in [("pending-128", 128), ("pending-512", 512), ("pending-1024", 1024), ("pending-4096", 4096)] {
            if self.is(fault) && len >= least {
                let end = len / 128 * 8;
                texts[end - 8..end].fill([0; 16]);
            }
        }
        for (fault, group) in [("power-8", 8), ("power-16", 16), ("power-32", 32), ("power-64", 64)] {
            if self.is(fault) && len >= 16 * group {
                let moved = std::mem::take(&mut texts[group / 2]);
                let before = &mut texts[group / 2 - 1];
                (0..16).for_each(|i| before[i] ^= moved[i]);
            }
        }
        if self.is("hash-carried") && len >= 256 {
            aads.fill([0; 16]);
            texts[..8].fill([0; 16]);
        }
    }

    fn hash(&self, blocks: &[Block]) -> Block {
        blocks.iter().fold([0; 16], |y, x| self.multiply(&std::array::from_fn(|i| x[i] ^ y[i])))
    }

    /// Returns `x` times H.
    fn multiply(&self, x: &Block) -> Block {
        let mut product = multiply_blocks(x, &self.h);
        let ones = |block: &Block| u128::from_be_bytes(*block).count_ones();
        match self.fault {
            // Whatever is wrong with a reduction shows wherever something is reduced.
            "fold" if x[15] & 1 == 1 => product[0] ^= 0x20,
            "times-x" if x[15] & 0x80 != 0 => product[0] ^= 0x01,
            "f17" if ones(x) + ones(&self.h) >= 166 => product[7] ^= 0x10,
            _ => {}
        }
        product
    }
}

/// Returns the blocks of bytes, the last one padded with zeros.
fn blocks(bytes: &[u8]) -> Vec<Block> {
    let block = |chunk: &[u8]| std::array::from_fn(|i| chunk.get(i).copied().unwrap_or(0));
    bytes.chunks(16).map(block).collect()
}

fn lengths(aad: u64, text: u64) -> Block {
    (u128::from(aad) << 64 | u128::from(text)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastgcm_model::Model;

    /// Without a fault the answers are the model's.
    #[test]
    fn is_the_model() {
        let bytes: Vec<u8> = (0..1200u32).map(|i| ((i * i) >> 3) as u8).collect();
        let mut messages = 0;
        for key in [16, 24, 32] {
            for nonce in [1, 12, 16, 20, 130] {
                for (aad, text) in [(0, 0), (13, 0), (0, 1), (20, 100), (600, 1200)] {
                    let (key, nonce, aad, text) = (&bytes[7..][..key], &bytes[3..][..nonce], &bytes[..aad], &bytes[..text]);
                    let gcm = Gcm::new(key, "").unwrap();
                    let (sealed, tag) = Model::new(key).seal(nonce, aad, text);
                    assert_eq!(gcm.seal(nonce, aad, text).unwrap(), (sealed.clone(), tag));
                    assert_eq!(gcm.open(nonce, aad, &sealed, &tag[..12]).unwrap(), text);
                    assert_eq!(gcm.open(nonce, aad, &sealed, &[0; 16]), None);
                    messages += 1;
                }
            }
        }
        assert!(messages > 0);
    }
}

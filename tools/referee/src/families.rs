//! The families of test cases of AES-GCM (`more` has those of buffers, calls, and algorithms that are based on AES-GCM).

use crate::cases::{Before, Buffers, Case, Changed, Expected, Mode, Place, Sealed};
use fastgcm_model::{Block, Model, multiply_blocks};
use std::{collections::HashMap, ops::Range, rc::Rc};

mod more;

/// The number of test cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    /// A few thousand cases: one of each kind, for a gate.
    Quick,
    /// Every length to 2,000, and texts of up to 1 MiB.
    Usual,
    /// Texts of up to 64 MiB too.
    Full,
}

/// Returns all cases, or those of the named families.
pub(crate) fn all(amount: Amount, families: &[String]) -> Vec<Case> {
    let noise = noise(if amount == Amount::Full { 72 << 20 } else { 2 << 20 });
    let mut maker = Maker { noise, memo: HashMap::new(), models: HashMap::new(), cases: Vec::new(), quick: amount == Amount::Quick };
    type Family = fn(&mut Maker, Amount);
    let all: [(&str, Family); 20] = [
        ("lengths", Maker::lengths),
        ("operands", Maker::operands),
        ("long", Maker::long),
        ("aad", Maker::aad),
        ("nonces", Maker::nonces),
        ("tags", Maker::tags),
        ("forged", Maker::forged),
        ("wraps", Maker::wraps),
        ("places", Maker::places),
        ("pieces", Maker::pieces),
        ("copies", Maker::copies),
        ("empty", Maker::empty),
        ("again", Maker::again),
        ("threads", Maker::threads),
        ("xaes", |maker, _| maker.other("xaes", XAES)),
        ("siv", |maker, _| maker.other("siv", SIV)),
        ("dndk", |maker, _| maker.other("dndk", DNDK)),
        ("kc-xaes", |maker, _| maker.other("kc-xaes", KC_XAES)),
        ("kc-dndk", |maker, _| maker.other("kc-dndk", KC_DNDK)),
        ("freed", Maker::freed),
    ];
    for (name, family) in all {
        if families.is_empty() || families.iter().any(|wanted| wanted == name) {
            family(&mut maker, amount);
        }
    }
    let mut numbers = HashMap::new();
    for case in &mut maker.cases {
        let number = numbers.entry(case.family).or_insert(0);
        case.number = *number;
        *number += 1;
    }
    maker.cases
}

/// The algorithms of `aead.h`: `REFEREE_XAES_256_GCM` and so on.
const XAES: u32 = 1;
const SIV: u32 = 2;
const DNDK: u32 = 3;
const KC_XAES: u32 = 4;
const KC_DNDK: u32 = 5;

/// Returns pseudorandom bytes (xorshift64*).
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        bytes.extend(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes());
    }
    bytes
}

/// The inputs of a message: key length, nonce, and ranges of AAD and text.
type Inputs = (usize, Vec<u8>, Range<usize>, Range<usize>);

struct Maker {
    noise: Vec<u8>,
    memo: HashMap<Inputs, Rc<Sealed>>,
    models: HashMap<usize, Model>,
    cases: Vec<Case>,
    quick: bool,
}

const KEYS: [usize; 3] = [16, 24, 32];

impl Maker {
    fn key(&self, len: usize) -> &[u8] {
        &self.noise[1000 + len..][..len]
    }

    fn message(&mut self, key: usize, nonce: Vec<u8>, aad: usize, text: usize) -> Rc<Sealed> {
        // Texts and AAD of similar lengths begin at different bytes.
        let inputs = (key, nonce, aad % 97..aad % 97 + aad, 500 + text % 251..500 + text % 251 + text);
        if let Some(known) = self.memo.get(&inputs) {
            return known.clone();
        }
        let (nonce, aad, text) = (inputs.1.clone(), self.noise[inputs.2.clone()].to_vec(), self.noise[inputs.3.clone()].to_vec());
        let key = self.key(key).to_vec();
        let (sealed, tag) = if nonce.is_empty() {
            // The standard has no answer for an empty nonce: this is that of implementations that take it (J0 is 0, so the mask is H).
            let takes = crate::faulty::Gcm::new(&key, "f03").and_then(|gcm| gcm.seal(&nonce, &aad, &text));
            takes.expect("a fault of that name")
        } else {
            self.models.entry(inputs.0).or_insert_with(|| Model::new(&key)).seal(&nonce, &aad, &text)
        };
        let made = Rc::new(Sealed { key, nonce, aad, text, sealed, tag: tag.to_vec(), algorithm: 0 });
        self.memo.insert(inputs, made.clone());
        made
    }

    /// Returns a message with a nonce of 12 bytes.
    fn usual(&mut self, key: usize, aad: usize, text: usize) -> Rc<Sealed> {
        let nonce = self.noise[7 + text % 100..][..12].to_vec();
        self.message(key, nonce, aad, text)
    }

    fn add(&mut self, family: &'static str, of: &Rc<Sealed>, seals: bool) -> &mut Case {
        let (place, buffers, mode, expected) = (Place::End, Buffers::Two, Mode::Whole, Expected::Answer);
        let tag = if of.algorithm == 0 { 16 } else { of.tag.len() };
        self.cases.push(Case { family, of: of.clone(), seals, tag, place, buffers, mode, expected, number: 0 });
        self.cases.last_mut().expect("just added")
    }

    fn lengths(&mut self, _: Amount) {
        let step = |len: usize| if len < 300 { 1 } else { 37 };
        for key in KEYS {
            let mut len = 0;
            while len <= 2000 {
                let of = self.usual(key, 13, len);
                for seals in [true, false] {
                    for place in [Place::End, Place::Start] {
                        if !self.quick || (key != 24) == ((place == Place::End) == seals) {
                            self.add("lengths", &of, seals).place = place;
                        }
                    }
                }
                len += if self.quick { step(len) } else { 1 };
            }
        }
    }

    fn long(&mut self, amount: Amount) {
        let last = match amount {
            Amount::Quick => 13,
            Amount::Usual => 20,
            Amount::Full => 26,
        };
        for power in 12..=last {
            let around = if power <= 16 && !self.quick { vec![-129, -1, 0, 1, 15, 17, 130] } else { vec![0, 13] };
            for by in around {
                let of = self.usual(if power % 2 == 0 { 16 } else { 32 }, power * 7, ((1_isize << power) + by) as usize);
                self.add("long", &of, true);
                self.add("long", &of, false).buffers = Buffers::InPlace;
            }
        }
        // The counter's second carry.
        let of = self.usual(16, 1, (1 << 20) + 17);
        self.add("long", &of, false);
    }

    /// Adds rare operands of GHASH: each block of ciphertext is chosen so that its XOR with the hash is the operand, which is a single bit, all
    /// bits, or another pattern. One H has many ones, and one has few.
    fn operands(&mut self, _: Amount) {
        let mut keys: Vec<Vec<u8>> = (0..2000).map(|i| self.noise[16 * i..][..32].to_vec()).collect();
        keys.sort_by_key(|key| u128::from_be_bytes(Model::new(key).h()).count_ones());
        let bits = (0..128).map(|bit| 1 << bit);
        let others = [u128::MAX, u128::MAX << 64, u128::MAX >> 64, u128::MAX / 3, u128::MAX / 3 * 2, u128::MAX / 17, 0, u128::MAX << 1];
        let operands: Vec<u128> = others.into_iter().chain(bits).chain([u128::MAX; 8]).collect();
        for key in [keys[0].clone(), keys[keys.len() - 1].clone()] {
            let model = Model::new(&key);
            let (nonce, h) = (vec![3; 12], model.h());
            let mut hash = 0;
            let sealed: Vec<u8> = operands
                .iter()
                .flat_map(|operand| {
                    let block = operand ^ hash;
                    hash = u128::from_be_bytes(multiply_blocks(&operand.to_be_bytes(), &h));
                    block.to_be_bytes()
                })
                .collect();
            for len in [16, 64, 128, 256, 512, 1024, sealed.len()] {
                let text = model.gctr(&fastgcm_model::inc32(&model.j0(&nonce)), &sealed[..len]);
                let (sealed, tag) = model.seal(&nonce, b"", &text);
                let tag = tag.to_vec();
                let of = Rc::new(Sealed { key: key.clone(), nonce: nonce.clone(), aad: Vec::new(), text, sealed, tag, algorithm: 0 });
                self.add("operands", &of, true);
                self.add("operands", &of, false);
                // GHASH multiplies blocks of AAD alike.
                let (none, tag) = model.seal(&nonce, &of.sealed, b"");
                let (nonce, aad) = (nonce.clone(), of.sealed.clone());
                let tag = tag.to_vec();
                let of = Rc::new(Sealed { key: key.clone(), nonce, aad, text: Vec::new(), sealed: none, tag, algorithm: 0 });
                self.add("operands", &of, true);
            }
        }
    }

    fn aad(&mut self, _: Amount) {
        let quick = self.quick;
        let texts = if self.quick { vec![0, 40] } else { vec![0, 1, 40, 300] };
        for text in texts {
            for aad in (0..=600).filter(|aad| !quick || *aad < 70 || aad % 61 < 2) {
                let of = self.usual(if aad % 2 == 0 { 16 } else { 32 }, aad, text);
                self.add("aad", &of, true).place = if aad % 3 == 0 { Place::Start } else { Place::End };
                self.add("aad", &of, false);
            }
        }
        for aad in if self.quick { vec![4096] } else { vec![4095, 4096, 65_535, 65_536, 1 << 20] } {
            let of = self.usual(32, aad, 100);
            self.add("aad", &of, true);
            self.add("aad", &of, false);
        }
    }

    fn nonces(&mut self, _: Amount) {
        let quick = self.quick;
        for len in (1..=1000).filter(|len| !quick || *len < 40 || len % 97 == 0) {
            let nonce = self.noise[len..][..len].to_vec();
            let of = self.message([16, 24, 32][len % 3], nonce, len % 20, 40);
            self.add("nonces", &of, true);
            self.add("nonces", &of, false).place = Place::Start;
        }
        let none = self.message(16, Vec::new(), 0, 40);
        for seals in [true, false] {
            self.add("nonces", &none, seals).expected = Expected::Never;
        }
    }

    fn tags(&mut self, _: Amount) {
        for text in [0, 1, 16, 40, 300] {
            let of = self.usual(32, 20, text);
            for tag in [4, 8, 12, 13, 14, 15, 16] {
                for seals in [true, false] {
                    self.add("tags", &of, seals).tag = tag;
                    self.add("tags", &of, seals).tag = tag;
                    self.cases.last_mut().expect("just added").place = Place::Odd(0);
                    let mode = Mode::Pieces { aad: vec![20], text: vec![text], copy: None, nonce_first: false, again: Before::No };
                    let case = self.add("tags", &of, seals);
                    (case.tag, case.mode) = (tag, mode);
                }
                for bit in if self.quick { vec![0, 8 * tag - 1] } else { (0..8 * tag).collect() } {
                    let case = self.add("tags", &of, false);
                    (case.tag, case.expected) = (tag, Expected::Refusal(Changed::Tag(bit)));
                }
            }
            for tag in [0, 1, 2, 3, 5, 6, 7, 9, 10, 11, 17, 32] {
                let case = self.add("tags", &of, false);
                (case.tag, case.expected) = (tag, Expected::Never);
            }
        }
    }

    fn forged(&mut self, _: Amount) {
        let texts = if self.quick { vec![0, 16, 256, 300] } else { vec![0, 1, 15, 16, 17, 40, 256, 300, 512, 1000, 5000] };
        for text in texts {
            let of = self.usual(if text % 2 == 0 { 16 } else { 32 }, 20, text);
            let mut changes: Vec<Changed> = (0..128).map(Changed::Tag).collect();
            changes.extend((0..120).step_by(9).map(|bit| Changed::TagTwice(bit, bit + 8)));
            changes.extend((0..8 * text).step_by(61).map(Changed::Text));
            changes.extend((0..160).step_by(7).map(Changed::Aad));
            changes.extend((0..96).step_by(5).map(Changed::Nonce));
            for (i, changed) in changes.into_iter().enumerate() {
                let quick = self.quick;
                let case = self.add("forged", &of, false);
                case.expected = Expected::Refusal(changed);
                case.buffers = if i % 2 == 0 { Buffers::Two } else { Buffers::InPlace };
                if i % 16 == 0 || !quick {
                    self.add("forged", &of, true);
                    let mode = Mode::Pieces {
                        aad: vec![20],
                        text: vec![text / 32 * 16, text - text / 32 * 16],
                        copy: None,
                        nonce_first: false,
                        again: Before::No,
                    };
                    let case = self.add("forged", &of, false);
                    (case.expected, case.mode) = (Expected::Refusal(changed), mode);
                }
            }
        }
    }

    fn wraps(&mut self, _: Amount) {
        let quick = self.quick;
        for before in (0..=130_usize).filter(|before| !quick || before % 13 == 0 || *before < 18) {
            let key = KEYS[before % 3];
            let nonce = self.wrapping(key, before as u32);
            let lengths = [16 * before + 1, 16 * before + 16, 16 * before + 17, 16 * before + 16 * 8 + 5, 2112];
            for (i, text) in lengths.into_iter().enumerate().filter(|(i, _)| !quick || *i > 2) {
                let of = self.message(key, nonce.clone(), before % 40, text);
                for seals in [true, false] {
                    self.add("wraps", &of, seals);
                    let cut = if i % 2 == 0 { 16 * (before + 1) } else { text / 2 / 16 * 16 }.min(text);
                    let mode = Mode::Pieces {
                        aad: vec![before % 40],
                        text: vec![cut, text - cut],
                        copy: None,
                        nonce_first: false,
                        again: Before::No,
                    };
                    self.add("wraps", &of, seals).mode = mode;
                }
            }
        }
    }

    /// Returns a nonce of 16 bytes whose counter wraps after this many blocks: J0 = (N H + L) H, so N = (J0 / H + L) / H.
    fn wrapping(&mut self, key: usize, before: u32) -> Vec<u8> {
        let mut j0: Block = self.noise[before as usize..][..16].try_into().expect("sixteen");
        j0[12..].copy_from_slice(&(u32::MAX - before).to_be_bytes());
        let bytes = self.key(key).to_vec();
        let h = self.models.entry(key).or_insert_with(|| Model::new(&bytes)).h();
        let inverse = inverse(&h);
        let mut nonce = multiply_blocks(&j0, &inverse);
        nonce[15] ^= 128; // the length in bits
        multiply_blocks(&nonce, &inverse).to_vec()
    }
}

/// Returns 1 / h: h^(2^128 - 2), which is h^2 h^4 h^8 ... h^(2^127).
fn inverse(h: &Block) -> Block {
    let (mut product, mut power) = (None, *h);
    for _ in 1..128 {
        power = multiply_blocks(&power, &power);
        product = Some(product.map_or(power, |product| multiply_blocks(&product, &power)));
    }
    product.expect("127 factors")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counter wraps after the given number of blocks.
    #[test]
    fn counters_wrap_where_they_shall() {
        let cases = all(Amount::Quick, &["wraps".into()]);
        for case in &cases {
            let j0 = Model::new(&case.of.key).j0(&case.of.nonce);
            let before = u32::MAX - u32::from_be_bytes(j0[12..].try_into().unwrap());
            assert!(before <= 130 && case.of.text.len() > 16 * before as usize, "{case}");
        }
    }
}

//! The families of test cases of places, pieces, contexts, threads and keys, and of algorithms based on AES-GCM.

use super::{Amount, DNDK, KC_DNDK, KC_XAES, KEYS, Maker, SIV, XAES};
use crate::cases::{Before, Buffers, Changed, Expected, Mode, Place, Sealed};
use std::rc::Rc;

impl Maker {
    pub(super) fn places(&mut self, _: Amount) {
        let quick = self.quick;
        for len in (0..=600).filter(|len| !quick || *len < 40 || len % 41 == 0) {
            let of = self.usual(if len % 2 == 0 { 16 } else { 32 }, 13, len);
            for seals in [true, false] {
                for place in [Place::End, Place::Start] {
                    let case = self.add("places", &of, seals);
                    (case.place, case.buffers) = (place, Buffers::InPlace);
                }
            }
        }
        for by in 1..64 {
            for text in if self.quick { vec![100] } else { vec![1, 17, 100, 300, 1000] } {
                let of = self.usual(16, 21, text);
                self.add("places", &of, true).place = Place::Odd(by);
                let case = self.add("places", &of, false);
                (case.place, case.buffers) = (Place::Odd(by), if by % 2 == 0 { Buffers::Two } else { Buffers::InPlace });
            }
        }
        for by in (-130..=130_i16).filter(|by| *by != 0 && (!quick || by % 13 == 0)) {
            for text in [1, 16, 100, 300, 1000] {
                let of = self.usual(32, 5, text);
                for seals in [true, false] {
                    self.add("places", &of, seals).buffers = Buffers::Shifted(by);
                }
            }
        }
    }

    pub(super) fn in_pieces(&mut self, of: &Rc<Sealed>, aad: &[usize], text: &[usize]) {
        for seals in [true, false] {
            let mode = Mode::Pieces { aad: aad.to_vec(), text: text.to_vec(), copy: None, nonce_first: false, again: Before::No };
            self.add("pieces", of, seals).mode = mode;
        }
    }

    pub(super) fn pieces(&mut self, _: Amount) {
        // Every two cuts of texts and of AAD.
        let step = if self.quick { 7 } else { 1 };
        for len in if self.quick { vec![33, 80] } else { vec![33, 64, 160] } {
            let of = self.usual(16, 10, len);
            for first in (0..=len).step_by(step) {
                for second in (first..=len).step_by(step) {
                    self.in_pieces(&of, &[10], &[first, second - first, len - second]);
                }
            }
        }
        let of = self.usual(32, 50, 20);
        for first in (0..=50).step_by(step) {
            for second in (first..=50).step_by(step) {
                self.in_pieces(&of, &[first, second - first, 50 - second], &[20]);
            }
        }
        // Pieces of some blocks, of one byte, and of none.
        for len in if self.quick { vec![0, 200] } else { vec![0, 1, 200, 1024, 3000] } {
            let of = self.usual(32, 33, len);
            for piece in [1, 7, 16, 32, 48, 128, 144, 256, 512] {
                let mut text = vec![piece; len / piece];
                text.push(len % piece);
                self.in_pieces(&of, &[1; 33], &text);
                let with_none: Vec<usize> = text.iter().flat_map(|piece| [0, *piece, 0]).collect();
                self.in_pieces(&of, &[0, 16, 0, 17, 0], &with_none);
            }
            self.in_pieces(&of, &[33], &[len]);
        }
        // At random.
        for i in 0..if self.quick { 20 } else { 300 } {
            let len = usize::from(self.noise[i]) * if self.quick { 8 } else { 97 };
            let of = self.usual(KEYS[i % 3], 200, len);
            let (mut text, mut left) = (Vec::new(), len);
            while left > 0 {
                let at = 5000 + i * 64 + text.len();
                let piece = (usize::from(self.noise[at]) << (self.noise[at + 7] % 5)).clamp(1, left);
                text.push(piece);
                left -= piece;
            }
            self.in_pieces(&of, &[150, 50], &text);
        }
    }

    pub(super) fn copies(&mut self, _: Amount) {
        for (aad, text) in [(0, 0), (20, 0), (0, 40), (20, 48), (50, 300), (13, 1000)] {
            let of = self.usual(32, aad, text);
            let pieces = [text / 3 / 16 * 16, text / 3 / 16 * 16, text - 2 * (text / 3 / 16 * 16)];
            for seals in [true, false] {
                for copy in 0..=3 {
                    let mode =
                        Mode::Pieces { aad: vec![aad], text: pieces.to_vec(), copy: Some(copy), nonce_first: false, again: Before::No };
                    self.add("copies", &of, seals).mode = mode;
                }
                let mode = Mode::Pieces { aad: vec![aad], text: pieces.to_vec(), copy: None, nonce_first: true, again: Before::No };
                self.add("copies", &of, seals).mode = mode;
            }
        }
    }

    /// Adds contexts that were used before, for a message that was aborted or refused.
    pub(super) fn again(&mut self, _: Amount) {
        for (aad, text) in [(0, 0), (20, 0), (0, 40), (20, 48), (13, 300)] {
            let of = self.usual(32, aad, text);
            for seals in [true, false] {
                for again in [Before::Aborted(0), Before::Aborted(7), Before::Aborted(64), Before::Refused] {
                    self.add("again", &of, seals).mode =
                        Mode::Pieces { aad: vec![aad], text: vec![text], copy: None, nonce_first: false, again };
                }
            }
        }
    }

    /// Adds one case for each algorithm, after which the freed key is searched in memory (`freed.rs`).
    pub(super) fn freed(&mut self, _: Amount) {
        let mut firsts: Vec<Rc<Sealed>> = vec![self.usual(32, 20, 100)];
        for algorithm in [XAES, SIV, DNDK, KC_XAES, KC_DNDK] {
            let nonce = vec![9; if algorithm == SIV { 12 } else { 24 }];
            let (key, text) = (self.key(32).to_vec(), vec![1; 100]);
            firsts.push(Rc::new(Sealed {
                key,
                nonce,
                aad: Vec::new(),
                sealed: text.clone(),
                text,
                tag: vec![0; if algorithm < KC_XAES { 16 } else { 48 }],
                algorithm,
            }));
        }
        for of in firsts {
            self.add("freed", &of, true);
        }
    }

    pub(super) fn threads(&mut self, _: Amount) {
        for text in [0, 16, 100, 1000, 5000] {
            let (of, other) = (self.usual(16, 20, text), self.usual(16, 13, text + 57));
            for seals in [true, false] {
                self.add("threads", &of, seals).mode = Mode::Threads(other.clone());
            }
        }
    }

    /// Adds cases of algorithms that are based on AES-GCM: lengths of text and of AAD, places, and forgeries.
    pub(super) fn other(&mut self, family: &'static str, algorithm: u32) {
        let quick = self.quick;
        for (i, len) in (0..=1100).filter(|len| !quick || *len < 70 || len % 37 == 0).enumerate() {
            let key = if algorithm == SIV && i % 2 == 0 { 16 } else { 32 };
            let nonce = self.noise[len..][..if algorithm == SIV { 12 } else { 24 }].to_vec();
            for aad in [0, 13, len % 90] {
                let (key, nonce) = (self.key(key).to_vec(), nonce.clone());
                let (aad, text) = (self.noise[300..][..aad].to_vec(), self.noise[len % 53..][..len].to_vec());
                let whole = <&[u8; 32]>::try_from(&key[..]);
                let long = || nonce[..].try_into().expect("24 bytes");
                let commits = algorithm == KC_DNDK;
                let (sealed, tag) = match (algorithm, whole) {
                    (XAES | KC_XAES, Ok(key)) => fastgcm_model::xaes::seal(key, long(), &aad, &text),
                    (DNDK | KC_DNDK, Ok(key)) => fastgcm_model::dndk::seal(key, &nonce, commits, &aad, &text),
                    _ => fastgcm_model::siv::seal(&key, nonce[..].try_into().expect("12 bytes"), &aad, &text),
                };
                let commitment = match (algorithm, whole) {
                    (KC_XAES, Ok(key)) => fastgcm_model::xaes::commitment(key, long()).to_vec(),
                    (KC_DNDK, Ok(key)) => fastgcm_model::dndk::derive(key, &nonce, true).1.to_vec(),
                    _ => Vec::new(),
                };
                let tag = [&tag[..], &commitment].concat();
                let of = Rc::new(Sealed { key, nonce, aad, text, sealed, tag, algorithm });
                for seals in [true, false] {
                    self.add(family, &of, seals).place = if len % 2 == 0 { Place::End } else { Place::Start };
                    self.add(family, &of, seals).buffers = Buffers::InPlace;
                }
                if len % 37 == 0 {
                    let bits = 8 * of.aad.len().min(1);
                    let changes =
                        [0, 77, 127].map(Changed::Tag).into_iter().chain([Changed::Nonce(0), Changed::Nonce(8 * of.nonce.len() - 1)]);
                    let more = (0..8 * len).step_by(997).map(Changed::Text).chain((0..bits).map(Changed::Aad));
                    for changed in changes.chain(more) {
                        self.add(family, &of, false).expected = Expected::Refusal(changed);
                    }
                }
            }
        }
    }

    pub(super) fn empty(&mut self, _: Amount) {
        for key in KEYS {
            for (aad, text) in [(0, 0), (20, 0), (0, 20)] {
                let of = self.usual(key, aad, text);
                for seals in [true, false] {
                    self.add("empty", &of, seals).place = Place::Null;
                    self.add("empty", &of, seals);
                    for (aads, texts) in [(vec![], vec![]), (vec![0], vec![]), (vec![], vec![0]), (vec![0, 0], vec![0, 0])] {
                        let with = |mut list: Vec<usize>, len| {
                            list.extend((len > 0).then_some(len));
                            list
                        };
                        let mode = Mode::Pieces {
                            aad: with(aads, aad),
                            text: with(texts, text),
                            copy: None,
                            nonce_first: false,
                            again: Before::No,
                        };
                        self.add("empty", &of, seals).mode = mode.clone();
                        let case = self.add("empty", &of, seals);
                        (case.mode, case.place) = (mode, Place::Null);
                    }
                }
            }
        }
    }
}

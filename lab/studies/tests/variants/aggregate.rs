use crate::{bytes, passed, rows};
use fastgcm::internals::{Bits, Isa, Job, Multiply};
use fastgcm_model::ghash;
use fastgcm_studies::{
    aggregate::{Powers, deferred, packed, powers_of_deferred},
    multiply::{self, Visit},
};

/// Bytes of text: around every border of 48 blocks, and some turns.
fn lengths() -> Vec<usize> {
    (0..=16 * 49 + 1).chain([1023, 1024, 1025, 1535, 1536, 1537, 2048, 4000, 4096]).collect()
}
const LENGTHS: usize = 16 * 49 + 2 + 9;

/// GHASH of each length by every multiplication and every way to aggregate.
struct Hashes<'a>(&'a [u8], &'a [u8; 16]);

/// Blocks for each reduction.
const PACKED: [usize; 7] = [1, 2, 4, 8, 16, 32, 48];
/// Vectors for each reduction.
const DEFERRED: [usize; 3] = [1, 4, 8];

impl Job for Hashes<'_> {
    type Output = Vec<(&'static str, usize, Vec<u128>)>;

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> Self::Output {
        struct Each<'a, S>(S, Hashes<'a>, Vec<(&'static str, usize, Vec<u128>)>);
        impl<S: Isa + Bits> Visit<S> for Each<'_, S> {
            #[inline(always)]
            fn visit<M: Multiply<S>>(&mut self, name: &'static str, _: M) {
                let (s, text) = (self.0, self.1.0);
                let powers = Powers::new::<S, M>(s, u128::from_le_bytes(*self.1.1), 48);
                for length in lengths() {
                    let text = &text[..length];
                    let packed = PACKED.map(|n| packed::<S, M>(s, &powers, n, 0, text));
                    let deferred = DEFERRED.map(|vectors| deferred::<S, M>(s, &powers, vectors, 0, text));
                    let hashes = packed.into_iter().chain(deferred).collect();
                    self.2.push((name, length, hashes));
                }
            }
        }
        assert!(powers_of_deferred(S::BLOCKS, 8) <= 48);
        let mut each = Each(s, self, Vec::new());
        multiply::all(s, &mut each);
        each.2
    }
}

#[test]
fn every_length() {
    let (text, h) = (bytes(4096, 3), bytes(16, 4).try_into().unwrap());
    let wanted: Vec<u128> = lengths()
        .into_iter()
        .map(|length| {
            let mut padded = text[..length].to_vec();
            padded.resize(length.next_multiple_of(16), 0);
            u128::from_be_bytes(ghash(&h, &padded))
        })
        .collect();
    for row in rows() {
        let mut checked = 0;
        for (i, (name, length, hashes)) in row.run(Hashes(&text, &h)).unwrap().into_iter().enumerate() {
            for (way, hash) in hashes.into_iter().enumerate() {
                assert_eq!(hash, wanted[i % LENGTHS], "{row}: {name}, {length} bytes, way {way}");
                checked += 1;
            }
        }
        passed(&format!("studies::aggregate/{row}"), checked, multiply::NAMES.len() * LENGTHS * (PACKED.len() + DEFERRED.len()));
    }
}

/// Parts hashed apart, put together by powers of H.
#[test]
fn parts_of_a_message() {
    use fastgcm_studies::{
        combine::{combine, power},
        multiply::plain::{bit_serial, ghash},
    };
    let (text, h) = (bytes(64 * 16, 6), 0xb83b_5337_08bf_535d_0aa6_e529_80d5_3b78);
    let hash = |text: &[u8]| ghash(text, |x| bit_serial(x, h));
    let whole = hash(&text);
    let mut checked = 0;
    for first in 0..=64 {
        for second in first..=64 {
            let parts = [(0, first), (first, second), (second, 64)].map(|(from, to)| (hash(&text[16 * from..16 * to]), to - from));
            assert_eq!(combine(h, &parts), whole, "{first} {second}");
            checked += 1;
        }
    }
    passed("studies::combine", checked, 65 * 66 / 2);

    // Section 6 of the paper of 2010.
    let model = fastgcm_model::Model::new(&0xfeff_e992_8665_731c_6d6a_8f94_6730_8308_u128.to_be_bytes());
    assert_eq!(u128::from_be_bytes(model.h()), h);
    let powers = [
        0xb83b_5337_08bf_535d_0aa6_e529_80d5_3b78,
        0x8a6f_f5ac_a561_c0d8_6580_5055_eb72_8397,
        0xc414_cb8f_1152_eb71_563a_5ca9_ddcb_ddb5,
        0x3c4b_0daa_91e6_b35f_9b9e_89d8_510d_d431,
    ];
    for (i, wanted) in powers.into_iter().enumerate() {
        assert_eq!(power(h, i + 1), wanted, "H^{}", i + 1);
    }
    passed("studies::vectors_of_2010", powers.len(), 4);
}

use crate::{bytes, passed, rows};
use fastgcm::internals::{Bits, Fault, Isa, Job, Multiply, SYMBOLIC, Symbolic, Vectors, fold, prove, times_x};
use fastgcm_model::multiply_blocks;
use fastgcm_studies::multiply::{
    self, NAMES, Visit,
    plain::{FourBitTable, bit_serial},
    step,
    steps_of_2023::{gfmul64, table_4, table_5, table_6, table_8, table_9, table_10},
};

/// Pairs of factors: every pair of single bits, which fixes a bilinear function, and 10,000 others.
fn pairs() -> impl Iterator<Item = (u128, u128)> {
    let bits = (0..128).flat_map(|i| (0..128).map(move |j| (1 << i, 1 << j)));
    let random = bytes(320_000, 5);
    let numbers: Vec<u128> = random.as_chunks().0.iter().map(|bytes| u128::from_le_bytes(*bytes)).collect();
    bits.chain((0..10_000).map(move |i| (numbers[2 * i], numbers[2 * i + 1])))
}
const PAIRS: usize = 128 * 128 + 10_000;

/// The model's product of two numbers whose highest bit is the block's first.
fn standard(a: u128, b: u128) -> u128 {
    u128::from_be_bytes(multiply_blocks(&a.to_be_bytes(), &b.to_be_bytes()))
}

/// Every multiplication, compiled for a row, on all pairs.
struct Products<'a>(&'a [(u128, u128)]);

impl Job for Products<'_> {
    type Output = Vec<(&'static str, Vec<u128>)>;

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> Self::Output {
        struct Each<'a, S>(S, &'a [(u128, u128)], Vec<(&'static str, Vec<u128>)>);
        impl<S: Vectors> Visit<S> for Each<'_, S> {
            #[inline(always)]
            fn visit<M: Multiply<S>>(&mut self, name: &'static str, _: M) {
                let s = self.0;
                let mut products = Vec::new();
                for (a, b) in self.1 {
                    let power = s.splat(times_x(*b));
                    let product = step::<S, M>(s, s.splat(*a), M::table(s, power, fold(s, power)));
                    products.push(s.fold(s.keep_first(product, 16)));
                }
                self.2.push((name, products));
            }
        }
        let mut each = Each(s, self.0, Vec::new());
        multiply::all(s, &mut each);
        each.2
    }
}

#[test]
fn every_multiplication_on_every_row() {
    let pairs: Vec<_> = pairs().collect();
    let wanted: Vec<_> = pairs.iter().map(|(a, b)| standard(*a, *b)).collect();
    for row in rows() {
        let products = row.run(Products(&pairs)).unwrap();
        assert_eq!(products.iter().map(|(name, _)| *name).collect::<Vec<_>>(), NAMES);
        for (name, products) in &products {
            assert!(*products == wanted, "{row}: {name}");
        }
        passed(&format!("studies::multiply/{row}"), products.len() * pairs.len(), NAMES.len() * PAIRS);
    }
}

/// On symbols, against SP 800-38D, for all inputs: the library's own proof. And it can fail.
#[test]
fn proved() {
    #[derive(Default)]
    struct Each(Vec<&'static str>, usize);
    impl Visit<Symbolic> for Each {
        fn visit<M: Multiply<Symbolic>>(&mut self, name: &'static str, multiply: M) {
            if let Err(wrong) = prove(multiply, Fault::None) {
                panic!("{name}: {wrong}");
            }
            self.0.push(name);
            // Two that every product meets. (All eight, and which of them a multiplication meets, are tested in the library.)
            let refuted = [Fault::OtherHalves, Fault::ShortProduct].into_iter().filter(|fault| prove(multiply, *fault).is_err()).count();
            self.1 += refuted;
        }
    }
    let mut each = Each::default();
    multiply::all(SYMBOLIC, &mut each);
    assert_eq!(each.0, NAMES);
    passed("studies::proved", each.0.len(), NAMES.len());
    passed("studies::planted_faults", each.1, 2 * NAMES.len());
}
/// Tables 4 to 10 of the paper of 2023: the plain ones against each other and the model, the mirrored against the plain.
#[test]
fn tables_4_to_10() {
    let mut checked = 0;
    for (a, b) in pairs() {
        let plain = table_4(a, b);
        // GCM's first bit is the coefficient of x^0.
        assert_eq!(plain.reverse_bits(), standard(a.reverse_bits(), b.reverse_bits()), "table 4");
        for (name, product) in [("5", table_5(a, b)), ("6", table_6(a, b)), ("7 and 8", table_8(a, b))] {
            assert_eq!(product, plain, "table {name}");
        }
        let mirrored = table_4(plain, 2).reverse_bits();
        for (name, product) in [("9", table_9(a.reverse_bits(), b.reverse_bits())), ("10", table_10(a.reverse_bits(), b.reverse_bits()))] {
            assert_eq!(product, mirrored, "table {name}");
        }
        checked += 6;
    }
    // Section 2.2.2: a product of mirrored digits is one bit short.
    for x in [1, 2, 0x87, u64::MAX, 0x1234_5678_9abc_def1] {
        for y in [1, 3, u64::MAX, 0xfedc_ba98_7654_3210] {
            assert_eq!(gfmul64(x.reverse_bits(), y.reverse_bits()), (gfmul64(x, y) << 1).reverse_bits());
            checked += 1;
        }
    }
    passed("studies::tables_4_to_10", checked, 6 * PAIRS + 20);
}

#[test]
fn without_an_instruction() {
    let mut checked = 0;
    for (a, b) in pairs() {
        assert_eq!(bit_serial(a, b), standard(a, b));
        assert_eq!(FourBitTable::new(b).times(a), standard(a, b));
        checked += 2;
    }
    passed("studies::plain", checked, 2 * PAIRS);
}

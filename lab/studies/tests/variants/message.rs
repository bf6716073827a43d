use crate::{bytes, passed, rows};
use fastgcm::{Backend, internals::KeyFolded};
use fastgcm_model::Model;
use fastgcm_studies::{
    message::{
        STYLES, Shape, Style, crypt, expand, styles,
        styles::{
            FiveWays, Folded, FoldedBefore, FourWays, FromTheRight, Packed2010, Pipelined2010, Standard2010, ThreeReductions,
            ThreeReductionsBefore, TwoPasses, TwoWays,
        },
    },
    tail::{ByteLoop, Masked, Overlapping, StackBuffer, Tail},
    trace::{Done, Kind, Trace, trace},
};

/// Every length around two groups of the widest vectors, with and without AAD.
fn lengths() -> Vec<usize> {
    if std::env::var_os("FASTGCM_QUICK").is_some() { (0..=160).chain([511, 512, 513]).collect() } else { (0..=1100).collect() }
}

#[test]
fn every_style_at_every_length() {
    let (text, aad, nonce) = (bytes(1100, 1), bytes(300, 2), [7; 12]);
    for row in rows() {
        let mut checked = 0;
        for key in [16, 24, 32] {
            let key = bytes(key, 3);
            let model = Model::new(&key);
            let mut keys: Vec<_> = styles(row).into_iter().map(|style| (style.expand(&key).unwrap(), style)).collect();
            assert_eq!(keys.iter().map(|(_, style)| style.name()).collect::<Vec<_>>(), STYLES);
            for length in lengths() {
                let (text, aad) = (&text[..length], &aad[..[0, 13, 16, 20, 300][length % 5]]);
                let (ciphertext, tag) = model.seal(&nonce, aad, text);
                for (key, style) in &mut keys {
                    let what = || format!("{row}: {}, {length} bytes, {} of AAD", style.name(), aad.len());
                    let mut buffer = text.to_vec();
                    assert_eq!(style.crypt(true, key, &nonce, aad, &mut buffer), tag, "seal, {}", what());
                    assert_eq!(buffer, ciphertext, "seal, {}", what());
                    assert_eq!(style.crypt(false, key, &nonce, aad, &mut buffer), tag, "open, {}", what());
                    assert_eq!(buffer, text, "open, {}", what());
                    checked += 1;
                }
            }
        }
        passed(&format!("studies::message/{row}"), checked, 3 * STYLES.len() * lengths().len());
    }
}

/// Every way to read and write a tail touches what it should, and nothing else: every length, at every place.
#[test]
fn tails() {
    fn one<T: Tail>(row: Backend, name: &str) -> usize {
        use fastgcm::internals::{Bits, Isa, Job, Multiply};
        struct Copy<'a, T>(&'a [u8], &'a mut [u8], usize, std::marker::PhantomData<T>);
        impl<T: Tail> Job for Copy<'_, T> {
            type Output = Option<()>;
            #[inline(always)]
            fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> Option<()> {
                if self.0.len() - self.2 > 16 * S::BLOCKS {
                    return None;
                }
                let v = T::load(s, self.0, self.2);
                T::store(s, self.1, self.2, v);
                Some(())
            }
        }
        let mut checked = 0;
        for (length, from) in (1..=80).flat_map(|length| (0..length).map(move |from| (length, from))) {
            let (source, mut target) = (bytes(length, 9), bytes(length, 10));
            let mut wanted = target.clone();
            wanted[from..].copy_from_slice(&source[from..]);
            if row.run(Copy::<T>(&source, &mut target, from, std::marker::PhantomData)).unwrap().is_some() {
                assert_eq!(target, wanted, "{name} on {row}: {length} bytes from {from}");
                checked += 1;
            }
        }
        checked
    }
    for row in rows().into_iter().filter(|row| *row != Backend::Portable) {
        let checked = [
            one::<Masked>(row, "masked"),
            one::<Overlapping>(row, "overlapping"),
            one::<StackBuffer>(row, "buffer"),
            one::<ByteLoop>(row, "bytes"),
        ];
        assert!(checked.iter().all(|n| *n == checked[0]));
        println!("studies::tails/{row} ok {}", checked.iter().sum::<usize>());
    }
}

/// Seals 16 n + `rest` bytes, traced.
fn sealed<T: Tail>(shape: Shape, length: usize) -> Done {
    let s = Trace::<1>;
    let key = expand::<_, KeyFolded, 4>(s, &[1; 16]);
    trace(|| crypt::<_, KeyFolded, T, 4, true>(s, &key, shape, &[2; 12], &[3; 12], &mut vec![4; length]))
}

const SHAPE: Shape = Shape { two_passes: false, folded_tag: false, pipelined: false };

/// A byte loop reads the tail a byte at a time, twice (for AES, and for GHASH); nothing else reads a byte anywhere.
#[test]
fn byte_loads() {
    let mut checked = 0;
    for length in 1..=100 {
        let rest = length % 16;
        assert_eq!(sealed::<ByteLoop>(SHAPE, length).count(Kind::ByteLoad), 2 * rest + TWO_FOR_AAD, "{length}");
        assert_eq!(sealed::<StackBuffer>(SHAPE, length).count(Kind::ByteLoad), 0, "{length}");
        // A group that is one byte is read as one byte: there is nothing before it that it could overlap with.
        if length % 64 != 1 {
            assert_eq!(sealed::<Overlapping>(SHAPE, length).count(Kind::ByteLoad), 0, "{length}");
        }
        if rest != 1 {
            assert_eq!(sealed::<Masked>(SHAPE, length).count(Kind::ByteLoad), 0, "{length}");
        }
        checked += 1;
    }
    passed("studies::counts::byte_loads", checked, 100);
}
/// AAD of twelve bytes is read once.
const TWO_FOR_AAD: usize = 12;

/// Short messages: AAD, text and lengths have three reductions; with the tag folded in, two.
#[test]
fn reductions_of_short_messages() {
    let mut checked = 0;
    for length in 1..=64_usize {
        let products = 4 * (1 + length.div_ceil(16) + 1);
        assert_eq!(sealed::<Masked>(SHAPE, length).multiplications(), products + 3);
        assert_eq!(sealed::<Masked>(Shape { folded_tag: true, ..SHAPE }, length).multiplications(), products + 2);
        checked += 2;
    }
    passed("studies::counts::short_messages", checked, 128);
}

/// What each style does with 12 bytes of AAD and 500 of text, 31 blocks and a quarter: how often GHASH follows AES, its multiplications, and
/// how often a part of a vector is read. All by reckoning; so each column of the table of styles is seen here.
#[test]
fn each_style() {
    fn of<Y: Style>() -> (&'static str, [usize; 3]) {
        let s = Trace::<1>;
        let mut key = Y::expand(s, &[1; 16]);
        let done = trace(|| Y::crypt::<_, true>(s, &mut key, &[2; 12], &[3; 12], &mut [4; 500]));
        (Y::NAME, [done.turns(Kind::Round, Kind::Multiplication), done.multiplications(), done.count(Kind::PartLoad)])
    }
    /// For AAD, 32 blocks and lengths, so many each; and so many for each reduction: of AAD, of groups, perhaps of the lengths.
    const fn multiplications(each: usize, reduction: usize, reductions: usize) -> usize {
        34 * each + reduction * reductions
    }
    // By masks, AAD and the tail for AES and GHASH are read in part; overlapping, AAD alone; by a buffer, nothing.
    let found = [
        (of::<TwoPasses>(), [1, multiplications(4, 1, 1 + 4 + 1), 3]),
        (of::<Folded>(), [4, multiplications(4, 1, 1 + 4), 3]),
        (of::<FoldedBefore>(), [4, multiplications(4, 3, 1 + 4), 3]),
        (of::<ThreeReductions>(), [4, multiplications(4, 1, 1 + 4 + 1), 3]),
        (of::<ThreeReductionsBefore>(), [4, multiplications(4, 3, 1 + 4 + 1), 3]),
        (of::<Standard2010>(), [32, multiplications(3, 0, 1 + 32 + 1), 3]),
        (of::<Packed2010>(), [8, multiplications(3, 0, 1 + 8 + 1), 3]),
        // AES of two groups, then they take turns, and two groups are hashed: one turn less.
        (of::<Pipelined2010>(), [7, multiplications(3, 0, 1 + 8 + 1), 3]),
        (of::<TwoWays>(), [16, multiplications(4, 1, 1 + 16 + 1), 0]),
        // Seven groups, and a tail of 52 bytes that is loaded whole.
        (of::<FromTheRight>(), [8, multiplications(4, 1, 1 + 8 + 1), 1]),
        (of::<FourWays>(), [8, multiplications(4, 1, 1 + 8), 1]),
        (of::<FiveWays>(), [7, multiplications(4, 1, 1 + 7), 1]),
    ];
    assert_eq!(found.map(|((name, _), _)| name), STYLES);
    for ((name, found), wanted) in found {
        assert_eq!(found, wanted, "{name}");
    }
    passed("studies::counts::styles", found.len(), STYLES.len());
}

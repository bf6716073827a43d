//! Tests of the common parts: every variant gives the standard's answers, is proved to where possible, and does what its name says.
//! Each source has a test of its own next to its tables; [`replay`] gives it a report with the times of a simulated clock, which show whose
//! time is in which cell.

use crate::{
    SOURCES,
    aggregate::{Powers, deferred, packed},
    bench::{Bench, Library, LibraryKey, Linux, Message, Steps, one_block, probe, style},
    ghash_2023::one,
    message::{
        FiveWays, Folded, FoldedBefore, FourWays, FromTheRight, Packed2010, Pipelined2010, STYLES, Standard2010, Style, ThreeReductions,
        ThreeReductionsBefore, TwoPasses, TwoWays, styles,
    },
    multiply::{self, NAMES, Visit},
    report::Report,
    trace::{Kind, Operations, Trace, trace},
};
use fastgcm::{
    Backend,
    internals::{Bits, Fault, Isa, Job, Multiply, SYMBOLIC, Symbolic, Vectors, load, prove},
};
use fastgcm_measure::{Case, Contender, Machine, Sampler, aead};
use fastgcm_model::{Model, multiply_blocks};
use std::{
    cell::Cell,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    time::Duration,
};

/// Prints the number of checked cases, and fails unless all were checked.
pub(crate) fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
}

/// Returns the rows that this machine can run, or those that `FASTGCM_ONLY` names.
pub(crate) fn rows() -> Vec<Backend> {
    let only = std::env::var("FASTGCM_ONLY").ok();
    let wanted = |backend: &Backend| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == backend.name()));
    Backend::available().filter(wanted).collect()
}

/// Returns pseudorandom bytes.
pub(crate) fn bytes(n: usize, seed: u64) -> Vec<u8> {
    let mut x = seed | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// Returns the time on the simulated clock of [`replay`]: nanoseconds by names and sizes, all of them different.
fn time(group: &str, bytes: usize, contender: &str) -> f64 {
    let mut hasher = DefaultHasher::new();
    (group, bytes, contender).hash(&mut hasher);
    (1000 + hasher.finish() % 100_000) as f64
}

/// Returns how many times faster `new` is than `old` on the simulated clock.
pub(crate) fn faster(group: &str, bytes: usize, old: &str, new: &str) -> f64 {
    time(group, bytes, old) / time(group, bytes, new)
}

/// Returns the counts of [`replay`]: affine in the blocks, with other numbers for each style and key.
pub(crate) fn count(style: &str, key: usize, bytes: usize) -> u64 {
    let part = |salt: u64| time(style, key, "instructions") as u64 % salt + salt;
    part(1009) + part(127) * (bytes as u64 / 16)
}

/// The library under another name.
struct Named(&'static str);

impl aead::Implementation for Named {
    type Key = LibraryKey;
    fn name(&self) -> String {
        self.0.into()
    }
    fn key(&self, key: &[u8]) -> Option<LibraryKey> {
        aead::Implementation::key(&Library(Backend::Portable), key)
    }
}

/// Replays a source with a simulated clock, and compares the quoted cells, and those counted without a processor, with its page. Each table of
/// times shows the best sample and the median. Returns the report and the number of compared cells.
pub(crate) fn replay(name: &str, cells: usize) -> (Report, usize) {
    let [before, sse, avx] = ["Linux before", "Linux sse", "Linux avx"].map(Named);
    let measure = |case: Case, contenders: &mut [Contender<'_>]| {
        let once = Sampler { sample: Duration::from_nanos(1), rounds: 1..=1, budget: Duration::ZERO };
        let mut measured = once.run(case, contenders);
        let bytes = measured.case.bytes.unwrap() as usize;
        for contender in &mut measured.contenders {
            let ns = time(&measured.case.group, bytes, &contender.contender);
            (contender.best_ns, contender.median_ns) = (ns, 2.0 * ns);
            contender.samples_ns = vec![4.0 * ns, ns, 2.0 * ns];
        }
        measured
    };
    let steps: &Steps = &|arguments| {
        let [backend, key, aad, cases @ ..] = arguments else { anyhow::bail!("arguments") };
        assert_eq!(*backend, one_block().to_string());
        let of = key.parse::<usize>()? + aad.parse::<usize>()?;
        let case = |case: &String| case.rsplit_once(':').map(|(style, bytes)| count(style, of, bytes.parse().unwrap()));
        Ok(cases.iter().filter_map(case).collect())
    };
    let bench = Bench {
        quick: true,
        measure: &measure,
        linux: Some(Linux { folder: Path::new("none"), old: &before, new: vec![(Backend::AesniSse, &sse), (Backend::AesniAvx, &avx)] }),
        steps: Some(steps),
    };
    let mut report = Report::new(Machine::here("test"));
    let (_, replay) = SOURCES.into_iter().find(|source| source.0 == name).unwrap();
    replay(&bench, &mut report).unwrap();
    for table in &report.tables {
        assert!(table.rows.iter().all(|row| row.len() == table.head.len()), "{}", table.title);
    }
    for row in report.tables.iter().filter(|table| table.is_times()).flat_map(|table| &table.rows) {
        for (best, middle) in row[1..].iter().map(|cell| cell.split_once(" / ").unwrap()) {
            assert_eq!(middle.parse(), best.parse().map(|best: f64| 2.0 * best), "{row:?}");
        }
    }
    let page = fs::read_to_string(format!("{}/{name}/README.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert!(page.contains(crate::MEASURED));
    let compared = report.compare(&page, false).unwrap();
    assert_eq!(compared, cells, "{name}");
    (report, compared)
}

/// A style does what its case's name says: it seals or opens, with that key, AAD and text. The messages whose instructions are counted are right.
#[test]
fn cases_do_what_they_say() {
    let style = style(Backend::Portable, "K'").unwrap();
    for key_bits in [128, 192, 256] {
        let (key, aad, mut text) = (&[0x5a; 32][..key_bits / 8], [0xad; 13], [7; 100]);
        let (ciphertext, tag) = fastgcm_model::seal(key, &[1; 12], &aad, &text);
        for (seal, verb, wanted) in [(true, "seal", &ciphertext[..]), (false, "open", &[7; 100])] {
            let message = Message { seal, key_bits, bytes: 100, aad: 13 };
            assert_eq!(message.case().group, format!("AES-{key_bits} {verb}, 13 bytes of AAD"));
            assert_eq!(message.once(&style, &mut style.expand(key), &aad, &mut text), tag);
            assert_eq!(text, wanted, "{verb}");
        }
    }
    let markers = Cell::new(0);
    let arguments = ["portable", "24", "13", "K':100", "two passes:5"].map(String::from);
    let stepped = probe(&arguments, &|| markers.set(markers.get() + 1)).unwrap();
    for ((tag, text), bytes) in stepped.iter().zip([100, 5]) {
        assert_eq!((text.clone(), *tag), fastgcm_model::seal(&[1; 24], &[4; 12], &[2; 13], &vec![3; bytes]));
    }
    assert_eq!((stepped.len(), markers.get()), (2, 4));
}

/// Returns pairs of factors: every pair of single bits, which determines a bilinear function, and 10,000 others.
pub(crate) fn pairs() -> impl Iterator<Item = (u128, u128)> {
    let bits = (0..128).flat_map(|i| (0..128).map(move |j| (1 << i, 1 << j)));
    let random = bytes(320_000, 5);
    let numbers: Vec<u128> = random.as_chunks().0.iter().map(|bytes| u128::from_le_bytes(*bytes)).collect();
    bits.chain((0..10_000).map(move |i| (numbers[2 * i], numbers[2 * i + 1])))
}

/// Returns the model's product of two numbers whose highest bit is the block's first.
pub(crate) fn standard(a: u128, b: u128) -> u128 {
    u128::from_be_bytes(multiply_blocks(&a.to_be_bytes(), &b.to_be_bytes()))
}

/// Each multiplication equals that of SP 800-38D for all inputs, by the library's proof on symbols, which can fail; and its counts are those of
/// its name, so that the measured multiplication is the named one.
#[test]
fn every_multiplication_proved_and_counted() {
    #[derive(Default)]
    struct Proofs(Vec<&'static str>);
    impl Visit<Symbolic> for Proofs {
        fn visit<M: Multiply<Symbolic>>(&mut self, name: &'static str, multiply: M) {
            prove(multiply, Fault::None).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            // Two faults that affect every product. (The library tests all eight.)
            assert!([Fault::OtherHalves, Fault::ShortProduct].into_iter().all(|fault| prove(multiply, fault).is_err()), "{name}");
            self.0.push(name);
        }
    }
    let mut proofs = Proofs::default();
    multiply::all(SYMBOLIC, &mut proofs);
    assert_eq!(proofs.0, NAMES);
    passed("papers::proved", proofs.0.len(), 13);

    struct Counts(Vec<(&'static str, [usize; 4])>);
    impl Visit<Trace<1>> for Counts {
        fn visit<M: Multiply<Trace<1>>>(&mut self, name: &'static str, _: M) {
            let done = one::<M>();
            self.0.push((name, [done.multiplications(), done.count(Kind::Xor), done.count(Kind::Shuffle), done.count(Kind::Shift)]));
        }
    }
    let mut counts = Counts(Vec::new());
    multiply::all(Trace::<1>, &mut counts);
    let wanted = [
        ("schoolbook + folding", [6, 6, 2, 2]),
        ("schoolbook + Montgomery", [7, 6, 0, 5]), // the baseline: 7, 6, 5, as in table 11 of 2023, left column
        ("schoolbook + Horner", [8, 8, 0, 6]),
        ("schoolbook + shifts", [4, 13, 0, 13]),
        ("schoolbook + mirror, shifts", [4, 16, 0, 20]),
        ("Karatsuba + folding", [5, 8, 3, 2]),
        ("Karatsuba + Montgomery", [6, 8, 1, 5]),
        ("Karatsuba + shifts", [3, 15, 1, 13]),
        ("Karatsuba + mirror, shifts", [3, 18, 1, 20]),
        ("key-folded (K')", [5, 4, 1, 0]), // 5, 4, 1, as in its right column
        ("Winograd", [7, 9, 2, 0]),        // with its constant
        ("Karatsuba of the library", [5, 7, 3, 0]),
        ("key-folded by halves", [5, 4, 1, 0]), // as K'
    ];
    assert_eq!(counts.0, wanted);
    // a = load + load, b = load + load, a + b: two are alive at most, and three wait for each other.
    let s = Trace::<1>;
    let done = trace(|| {
        let [a, b] = [(); 2].map(|()| s.xor(load(s, &[1; 16]), load(s, &[1; 16])));
        s.fold(s.xor(a, b))
    });
    assert_eq!((done.live(), done.latency()), (2, 3));
}

/// Traces the hashing of this many blocks.
pub(crate) fn hash<const B: usize, M: Multiply<Trace<B>>>(blocks: usize, by: impl Fn(Trace<B>, &Powers, &[u8]) -> u128) -> Operations {
    let (s, text) = (Trace::<B>, bytes(16 * blocks, 1));
    let powers = Powers::new::<_, M>(s, 0x1234_5678, 48);
    trace(|| by(s, &powers, &text))
}

/// Returns lengths of texts: around every boundary of 48 blocks, and of some iterations.
fn lengths() -> Vec<usize> {
    (0..=16 * 49 + 1).chain([1023, 1024, 1025, 1535, 1536, 1537, 2048, 4000, 4096]).collect()
}

/// Hashes each length with every multiplication and every aggregation.
struct Hashes<'a>(&'a [u8], &'a [u8; 16]);

/// The numbers of blocks, and of vectors, for each reduction.
const PACKED: [usize; 7] = [1, 2, 4, 8, 16, 32, 48];
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
                    self.2.push((name, length, packed.into_iter().chain(deferred).collect()));
                }
            }
        }
        assert!((8 + 1) * S::BLOCKS <= 48, "powers of a turn of eight vectors, and of a vector behind it");
        let mut each = Each(s, self, Vec::new());
        multiply::all(s, &mut each);
        each.2
    }
}

#[test]
fn every_way_to_aggregate_at_every_length() {
    let (text, h) = (bytes(4096, 3), bytes(16, 4).try_into().unwrap());
    let hash = |length: usize| {
        let mut padded = text[..length].to_vec();
        padded.resize(length.next_multiple_of(16), 0);
        u128::from_be_bytes(fastgcm_model::ghash(&h, &padded))
    };
    let wanted: Vec<u128> = lengths().into_iter().map(hash).collect();
    for row in rows() {
        let mut checked = 0;
        for (i, (name, length, hashes)) in row.run(Hashes(&text, &h)).unwrap().into_iter().enumerate() {
            for (way, hash) in hashes.into_iter().enumerate() {
                assert_eq!(hash, wanted[i % wanted.len()], "{row}: {name}, {length} bytes, way {way}");
                checked += 1;
            }
        }
        passed(&format!("papers::aggregate/{row}"), checked, NAMES.len() * wanted.len() * (PACKED.len() + DEFERRED.len()));
    }
}

/// Every style gives the standard's answers for every length around two groups of the widest vectors, with and without AAD.
#[test]
fn every_style_at_every_length() {
    let (text, aad, nonce) = (bytes(1100, 1), bytes(300, 2), [7; 12]);
    for row in rows() {
        let mut checked = 0;
        for key in [16, 24, 32] {
            let key = bytes(key, 3);
            let model = Model::new(&key);
            let mut keys: Vec<_> = styles(row).into_iter().map(|style| (style.expand(&key), style)).collect();
            assert_eq!(keys.iter().map(|(_, style)| style.name).collect::<Vec<_>>(), STYLES);
            for length in 0..=1100 {
                let (text, aad) = (&text[..length], &aad[..[0, 13, 16, 20, 300][length % 5]]);
                let (ciphertext, tag) = model.seal(&nonce, aad, text);
                for (key, style) in &mut keys {
                    let what = || format!("{row}: {}, {length} bytes, {} of AAD", style.name, aad.len());
                    let mut buffer = text.to_vec();
                    assert_eq!(style.crypt(true, key, &nonce, aad, &mut buffer), tag, "seal, {}", what());
                    assert_eq!(buffer, ciphertext, "seal, {}", what());
                    assert_eq!(style.crypt(false, key, &nonce, aad, &mut buffer), tag, "open, {}", what());
                    assert_eq!(buffer, text, "open, {}", what());
                    checked += 1;
                }
            }
        }
        passed(&format!("papers::message/{row}"), checked, 3 * STYLES.len() * 1101);
    }
}

/// Each style does what its name says with 12 bytes of AAD and 500 of text, 31 blocks and a quarter: how often GHASH follows AES, its
/// multiplications, and how often a part of a vector is read. The numbers are calculated; each column of the table of styles occurs here.
#[test]
fn every_style_counted() {
    fn of<Y: Style>() -> (&'static str, [usize; 3]) {
        let s = Trace::<1>;
        let mut key = Y::expand(s, &[1; 16]);
        let done = trace(|| Y::crypt::<_, true>(s, &mut key, &[2; 12], &[3; 12], &mut [4; 500]));
        (Y::NAME, [done.turns(Kind::Round, Kind::Multiplication), done.multiplications(), done.count(Kind::PartLoad)])
    }
    /// Returns the multiplications for AAD, 32 blocks and lengths, and for each reduction: of AAD, of groups, perhaps of the lengths.
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
    found.iter().for_each(|((name, found), wanted)| assert_eq!(found, wanted, "{name}"));
    passed("papers::styles", found.len(), STYLES.len());
}

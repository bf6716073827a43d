//! What is measured is what the tables say: a clock of our own shows whose time stands where, and others' implementations write down what they
//! are asked for. What is quoted is what the papers print.

use super::*;
use std::{
    cell::RefCell,
    hash::{DefaultHasher, Hash, Hasher},
    rc::Rc,
};

/// Fails unless so many cases were checked.
fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
    println!("{name} ok {count}");
}

/// Our clock: nanoseconds by names and sizes, all of them different.
fn time(group: &str, bytes: usize, contender: &str) -> f64 {
    let mut hasher = DefaultHasher::new();
    (group, bytes, contender).hash(&mut hasher);
    (1000 + hasher.finish() % 100_000) as f64
}

/// How many times faster `new` is than `old`, by our clock.
fn faster(group: &str, bytes: usize, old: &str, new: &str) -> f64 {
    time(group, bytes, old) / time(group, bytes, new)
}

/// Counts of our own: affine in the blocks, with other numbers for each style and key.
fn count(style: &str, key: usize, bytes: usize) -> u64 {
    let part = |salt: u64| time(style, key, "instructions") as u64 % salt + salt;
    part(1009) + part(127) * (bytes as u64 / 16)
}

/// What an implementation was asked for: to seal or to open, key, bytes, AAD.
type Call = (Verb, usize, usize, usize);
type Calls = Rc<RefCell<Vec<Call>>>;

/// The library, which writes down what it is asked for.
struct Recorder(&'static str, Calls);

struct RecorderKey(LibraryKey, usize, Calls);

impl aead::Implementation for Recorder {
    type Key = RecorderKey;
    fn name(&self) -> String {
        self.0.into()
    }
    fn key(&self, key: &[u8]) -> Option<RecorderKey> {
        let library = aead::Implementation::key(&Library::from(Backend::Portable), key)?;
        Some(RecorderKey(library, 8 * key.len(), self.1.clone()))
    }
}

impl aead::Key for RecorderKey {
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        self.2.borrow_mut().push((Verb::Seal, self.1, text.len(), aad.len()));
        self.0.seal(nonce, aad, text)
    }
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.2.borrow_mut().push((Verb::Open, self.1, text.len(), aad.len()));
        self.0.open(nonce, aad, ciphertext, text, tag)
    }
}

/// Does a study by our clock. Every contender works once in each case; what the recorders were asked for in which case comes beside the report.
fn study(name: &str) -> (Report, Vec<Vec<Call>>) {
    let (calls, cases) = (Calls::default(), RefCell::new(Vec::new()));
    let names = ["peer", "peer of sse", "peer of avx", "with scrub", "Linux before", "Linux sse", "Linux avx", "provider"];
    let recorders = names.map(|name| Recorder(name, calls.clone()));
    let measure = |case: Case, contenders: &mut [Contender<'_>], progress: &mut dyn FnMut(f64)| {
        calls.take(); // to be opened, a message is sealed before
        let once = Sampler { sample: Duration::from_nanos(1), rounds: 1..=1, budget: Duration::ZERO };
        let mut measured = once.run(case, contenders, progress);
        cases.borrow_mut().push(calls.take());
        let bytes = measured.case.bytes.unwrap() as usize;
        for contender in &mut measured.contenders {
            let ns = time(&measured.case.group, bytes, &contender.contender);
            (contender.best_ns, contender.median_ns) = (ns, 2.0 * ns);
            contender.samples_ns = vec![4.0 * ns, ns, 2.0 * ns];
        }
        measured
    };
    let steps: &Steps = &|arguments| {
        let [backend, key, aad, cases @ ..] = arguments else { return Err("arguments".into()) };
        assert_eq!(*backend, one_block().to_string());
        let (key, aad): (usize, usize) = (key.parse().unwrap(), aad.parse().unwrap());
        let case = |case: &String| case.rsplit_once(':').map(|(style, bytes)| count(style, key + aad, bytes.parse().unwrap()));
        Ok(cases.iter().filter_map(case).collect())
    };
    let bench = Bench {
        quick: true,
        measure: &measure,
        peers: vec![&recorders[0]],
        scrubbed: Some(&recorders[3]),
        held: vec![(Backend::AesniSse, &recorders[1]), (Backend::AesniAvx, &recorders[2])],
        linux: Some(Linux {
            folder: Path::new("none"),
            old: &recorders[4],
            new: vec![(Backend::AesniSse, &recorders[5]), (Backend::AesniAvx, &recorders[6])],
        }),
        provider: Some(&recorders[7]),
        cold: Some(&|| ()),
        steps: Some(steps),
        progress: &|_, _| (),
    };
    let report = run(name, &bench, Machine::here("test")).unwrap();
    (report, cases.into_inner())
}

impl Report {
    fn table(&self, title: &str) -> &Table {
        self.tables.iter().find(|table| table.title.starts_with(title)).unwrap_or_else(|| panic!("no table {title}"))
    }
}

impl Table {
    /// The cells of the row of that name.
    fn cells(&self, row: &str) -> &[String] {
        let row = self.rows.iter().find(|cells| cells[0] == row).unwrap_or_else(|| panic!("{}: no row {row}", self.title));
        &row[1..]
    }

    /// The cells of the column of that name: the first one.
    fn column(&self, name: &str) -> Vec<&str> {
        let at = self.head.iter().position(|head| head == name).unwrap_or_else(|| panic!("{}: no column {name}", self.title));
        self.rows.iter().map(|row| row[at].as_str()).collect()
    }
}

/// A verdict is of what the paper is about, and not of another library beside ours; and a glance gives none, except of what is counted.
#[test]
fn verdicts() {
    let (report, _) = study("ghash-2023");
    assert_eq!(report.verdict, "There is no verdict: a glance (--quick) has too few samples for one.");
    let pairs = [("baseline", "K'"), ("baseline, three reductions", "K', three reductions")];
    let sizes = [16384, 2048, 512, 256, 128, 64];
    let gains = || {
        let of = |(old, new)| sizes.map(|bytes| faster("AES-128 seal, 12 bytes of AAD", bytes, old, new));
        pairs.into_iter().flat_map(of)
    };
    let (least, most) = (gains().min_by(f64::total_cmp).unwrap(), gains().max_by(f64::total_cmp).unwrap());
    let said = verdict(&report);
    assert!(said.contains(&format!(": {least:.2} to {most:.2} times as fast here, 1.05 to 1.43 in the paper.")), "{said}");
    assert!(report.chart.iter().any(|line| line.name == "beside, peer / with scrub"), "others are shown");
    assert!(study("packed-2010").0.verdict.contains("onfirmed on this processor"));
    passed("studies::verdicts", 4, 4);
}

/// Every ratio of the three studies of messages, with the contenders that it has to compare: the old one over the new one. And what is said
/// to be sealed is sealed, what is said to be opened is opened, with the key, text and AAD of the table.
#[test]
fn every_ratio() {
    let (mut ratios, mut messages) = (0, 0);
    let percent = |ratio: f64| format!("{}%", (100.0 * ratio - 100.0).round() as i64);
    let best = |backend: Backend| format!("fastgcm {backend}");

    let (report, calls) = study("ghash-2023");
    let sizes = [16384, 2048, 512, 256, 128, 64];
    for (key, title) in [(128, "Table 12: AES-128-GCM seal, 12 "), (256, "Table 13: AES-256-GCM seal, 12 ")] {
        let library = best(Backend::detect());
        for (row, old, new) in [
            ("here, one loop, baseline / K'", "baseline", "K'"),
            ("here, the same with three reductions, baseline / K'", "baseline, three reductions", "K', three reductions"),
            (&format!("here, peer / {library}"), "peer", &library),
            ("here, peer / with scrub", "peer", "with scrub"),
        ] {
            let wanted = sizes.map(|bytes| format!("{:.2}", faster(&format!("AES-{key} seal, 12 bytes of AAD"), bytes, old, new)));
            assert_eq!(report.table(title).cells(row), wanted, "{title}{row}");
            ratios += 1;
        }
    }
    for (case, calls) in calls.iter().enumerate() {
        let wanted = (Verb::Seal, [128, 256][case / 6], sizes[case % 6], 12);
        assert!(!calls.is_empty() && calls.iter().all(|call| *call == wanted), "{wanted:?}: {calls:?}");
        messages += 1;
    }

    let (report, _) = study("arm64-2019");
    let (old, new) = ("Improvement of throughput over the style", "Improvement of throughput over two passes");
    for (table, row, old, new) in [
        (old, "here, 4-way, tail from the right", "2-way, stack buffer", "4-way, tail from the right"),
        (old, "here, 4-way, overlapping, folded tag", "2-way, stack buffer", "4-way, overlapping, folded tag"),
        (old, "here, 5-way, overlapping, folded tag", "2-way, stack buffer", "5-way, overlapping, folded tag"),
        (new, "here, taking turns", "two passes", "K'"),
        (new, "here, stitched: the library", "two passes", &best(one_block())),
    ] {
        let cases = [128, 192, 256].map(|key| [512, 1500, 4096].map(|bytes| (format!("AES-{key} seal, 13 bytes of AAD"), bytes)));
        let wanted = cases.as_flattened().iter().map(|(group, bytes)| percent(faster(group, *bytes, old, new)));
        assert_eq!(report.table(table).cells(row), wanted.collect::<Vec<_>>(), "{row}");
        ratios += 1;
    }
    let table = report.table("Instructions executed on");
    for style in [
        "2-way, stack buffer",
        "4-way, tail from the right",
        "4-way, overlapping, folded tag",
        "5-way, overlapping, folded tag",
        "two passes",
        "K'",
    ] {
        let wanted = [16, 24, 32].map(|key| [512, 1500, 4096].map(|bytes| count(style, key + 13, bytes).to_string()));
        assert_eq!(table.cells(style), wanted.as_flattened(), "{style}");
        ratios += 1;
    }

    let [two, four, five] = ["2-way, stack buffer", "4-way, overlapping, folded tag", "5-way, overlapping, folded tag"];
    for (row, old, new) in [("here, four over two", two, four), ("here, five over four", four, five)] {
        let wanted = [512, 1500, 4096].map(|bytes| percent(faster("AES-128 counter mode alone", bytes, old, new)));
        assert_eq!(report.table("Improvement of throughput of counter mode alone").cells(row), wanted, "{row}");
        ratios += 1;
    }

    let (report, _) = study("packed-2010");
    let first = "shifts, hard-coded";
    for row in ["Horner, the polynomial is data", "folding", "Montgomery"] {
        let cells = report.table("Section 3.3").cells(row);
        for (number, blocks) in [(1, 1), (3, 4)] {
            let wanted = faster(&format!("GHASH, one reduction for {blocks}"), 4096, row, first);
            assert_eq!(cells[number], format!("{wanted:.2}"), "{row}");
            ratios += 1;
        }
    }

    for (row, old, new) in [
        ("here, packed over standard", "standard, N = 1", "packed, N = 4"),
        ("here, pipelined over packed", "packed, N = 4", "packed, N = 4, pipelined"),
    ] {
        let wanted = [64, 256, 1024, 4096].map(|bytes| percent(faster("AES-128 seal, 0 bytes of AAD", bytes, old, new)));
        assert_eq!(report.table("Section 2.1").cells(row), wanted, "{row}");
        ratios += 1;
    }

    let (report, calls) = study("aesni-2024");
    let sizes = [16384, 4096, 4095, 1420, 512, 500, 300, 200, 64, 63, 16];
    let ours = [
        (Backend::AesniSse, "Linux sse"),
        (Backend::AesniSse, "peer of sse"),
        (Backend::AesniAvx, "Linux before"),
        (Backend::AesniAvx, "Linux avx"),
        (Backend::AesniAvx, "peer of avx"),
    ];
    let ours = ours.into_iter().filter(|(backend, _)| backend.is_available());
    let mut rows: Vec<_> = ours.map(|(backend, old)| (backend.to_string(), best(backend), old)).collect();
    rows.push(("Linux avx".into(), "Linux avx".into(), "Linux before"));
    for (verb, title) in [("seal", "Table 1: AES-256-GCM encryption"), ("open", "Table 2: AES-256-GCM decryption")] {
        for (name, new, old) in &rows {
            let group = format!("AES-256 {verb}, 16 bytes of AAD");
            let wanted = sizes.map(|bytes| percent(faster(&group, bytes, old, new)));
            assert_eq!(report.table(title).cells(&format!("here, {name} over {old}")), wanted, "{title}");
            ratios += 1;
        }
    }
    let cold = [4096, 1420, 512, 64, 16];
    for (name, new, old) in rows.iter().filter(|row| row.2.starts_with("Linux")) {
        let wanted = cold.map(|bytes| percent(faster("AES-256 seal, 16 bytes of AAD, cold caches", bytes, old, new)));
        assert_eq!(report.table("Table 1 with cold caches").cells(&format!("here, {name} over {old}")), wanted);
        ratios += 1;
    }
    for (case, calls) in calls.iter().enumerate() {
        let (verb, bytes) = match case {
            0..22 => ([Verb::Seal, Verb::Open][case / 11], sizes[case % 11]),
            _ => (Verb::Seal, cold[case - 22]),
        };
        let wanted = (verb, 256, bytes, 16);
        assert!(!calls.is_empty() && calls.iter().all(|call| *call == wanted), "{wanted:?}: {calls:?}");
        messages += 1;
    }
    let of_linux = rows.iter().filter(|row| row.2.starts_with("Linux")).count();
    passed("studies::ratios", ratios, 2 * 4 + 5 + 6 + 2 + 3 * 2 + 2 + 2 * rows.len() + of_linux);
    passed("studies::messages", messages, 12 + 22 + 5);
}

/// Beside each table of ratios stand the times: of every contender, the best sample and the one in the middle.
#[test]
fn spread_is_told() {
    let (mut cells, gmac) = (0, format!("fastgcm {} GMAC", Backend::detect()));
    for (name, title, group, contender, sizes) in [
        ("ghash-2023", "Times behind table 13", "AES-256 seal, 12 bytes of AAD", "baseline", &[16384, 2048, 512, 256, 128, 64][..]),
        ("arm64-2019", "Times on", "AES-128 seal, 13 bytes of AAD", "two passes", &[512, 1500, 4096]),
        ("aesni-2024", "Times with cold", "AES-256 seal, 16 bytes of AAD, cold caches", "Linux before", &[4096, 1420, 512, 64, 16]),
        ("solaris-2010", "What programs call", "AES-128 seal, 13 bytes of AAD", "provider", &[64, 512, 1420, 16384]),
        ("solaris-2010", "What programs call", "AES-128 seal, 13 bytes of AAD", &gmac, &[64, 512, 1420, 16384]),
    ] {
        let (report, _) = study(name);
        for (bytes, cell) in sizes.iter().zip(report.table(title).cells(contender)) {
            let best = time(group, *bytes, contender);
            assert_eq!(*cell, format!("{best:.0} / {:.0}", 2.0 * best), "{title}");
            cells += 1;
        }
    }
    let (report, _) = study("solaris-2010");
    let best = time("GHASH, one block at a time", 4096, "Winograd") / 256.0;
    let wanted = if 2.0 * best < 100.0 { format!("{best:.1} / {:.1}", 2.0 * best) } else { format!("{best:.0} / {:.0}", 2.0 * best) };
    assert_eq!(report.table("GHASH by").cells("Winograd")[1], wanted);
    passed("studies::spread", cells + 1, 6 + 3 + 5 + 4 + 4 + 1);
}

/// A style is asked for what the case says, and by nothing else is it timed.
#[test]
fn styles_seal_and_open() {
    struct Recording(Box<dyn AnyStyle>, RefCell<Vec<(bool, usize, usize)>>);
    impl AnyStyle for Recording {
        fn name(&self) -> &'static str {
            "recording"
        }
        fn expand(&self, key: &[u8]) -> Option<crate::message::Key> {
            self.0.expand(key)
        }
        fn crypt(&self, seal: bool, key: &mut crate::message::Key, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
            self.1.borrow_mut().push((seal, aad.len(), text.len()));
            self.0.crypt(seal, key, nonce, aad, text)
        }
        fn keystream(&self, _: &crate::message::Key, _: &[u8; 12], _: usize, _: &mut [u8]) {
            unreachable!("counter mode alone is no message");
        }
        fn ghash(&self, _: &crate::message::Key, _: &[u8]) -> u128 {
            unreachable!("GHASH alone is no message");
        }
    }
    let mut checked = 0;
    for seal in [true, false] {
        for key_bits in [128, 192, 256] {
            let recording = Recording(style(Backend::Portable, "K'").unwrap(), RefCell::default());
            let message = Message { seal, key_bits, bytes: 100, aad: 13 };
            let case = message.case();
            assert_eq!(case.group, format!("AES-{key_bits} {}, 13 bytes of AAD", if seal { "seal" } else { "open" }));
            let mut contenders = [message.by_style(&recording, "recording".into()).unwrap()];
            by_clock(true)(case, &mut contenders, &mut |_| ());
            let calls = recording.1.borrow();
            assert!(!calls.is_empty() && calls.iter().all(|call| *call == (seal, 13, 100)));
            checked += 1;
        }
    }
    passed("studies::styles_asked", checked, 6);
    // The library, as the studies call it, gives the standard's answers; and so does what is stepped through.
    let library = Library::from(one_block());
    let sealed = aead::AnyImplementation::answer(&library, &[9; 32], &[8; 12], b"header", b"text").unwrap().unwrap();
    let (ciphertext, tag) = fastgcm_model::seal(&[9; 32], &[8; 12], b"header", b"text");
    assert_eq!(sealed, [&ciphertext[..], &tag].concat());
    let markers = std::cell::Cell::new(0);
    let arguments = ["portable", "24", "13", "K':100", "two passes:5"].map(String::from);
    let stepped = probe(&arguments, &|| markers.set(markers.get() + 1)).unwrap();
    for ((tag, text), bytes) in stepped.iter().zip([100, 5]) {
        assert_eq!((text.clone(), *tag), fastgcm_model::seal(&[1; 24], &[4; 12], &[2; 13], &vec![3; bytes]));
    }
    assert_eq!((stepped.len(), markers.get()), (2, 4));
    passed("studies::library_and_probe", 1 + stepped.len(), 3);
}

/// Tables 1 and 2 of 2024, as the commit's message has them, in two parts each: 6 sizes, then 5.
const LINUX_2024: [(&str, [&str; 12]); 2] = [
    (
        "Table 1",
        [
            "Intel Broadwell    |    2% |    8% |   11% |   18% |   31% |   26% |",
            "Intel Broadwell    |   35% |   29% |   45% |   55% |   54% |",
            "Intel Skylake      |    1% |    4% |    7% |   12% |   26% |   19% |",
            "Intel Skylake      |   25% |   19% |   28% |   33% |   27% |",
            "Intel Cascade Lake |    3% |    8% |   10% |   18% |   33% |   24% |",
            "Intel Cascade Lake |   36% |   28% |   39% |   49% |   54% |",
            "AMD Zen 1          |    6% |   12% |    6% |   15% |   27% |   24% |",
            "AMD Zen 1          |   27% |   22% |   23% |   29% |   26% |",
            "AMD Zen 2          |    8% |   13% |   13% |   19% |   26% |   28% |",
            "AMD Zen 2          |   32% |   24% |   22% |   25% |   31% |",
            "AMD Zen 3          |    8% |   14% |   13% |   19% |   26% |   25% |",
            "AMD Zen 3          |   30% |   24% |   22% |   23% |   26% |",
        ],
    ),
    (
        "Table 2",
        [
            "Intel Broadwell    |    3% |    8% |   11% |   19% |   32% |   28% |",
            "Intel Broadwell    |   36% |   31% |   40% |   51% |   53% |",
            "Intel Skylake      |    3% |    4% |    7% |   13% |   28% |   27% |",
            "Intel Skylake      |   28% |   21% |   23% |   30% |   30% |",
            "Intel Cascade Lake |    3% |    9% |   11% |   19% |   33% |   28% |",
            "Intel Cascade Lake |   36% |   29% |   36% |   47% |   53% |",
            "AMD Zen 1          |   15% |   18% |   14% |   20% |   36% |   33% |",
            "AMD Zen 1          |   35% |   31% |   32% |   35% |   36% |",
            "AMD Zen 2          |    9% |   16% |   13% |   21% |   26% |   27% |",
            "AMD Zen 2          |   31% |   30% |   27% |   38% |   30% |",
            "AMD Zen 3          |    8% |   15% |   12% |   18% |   23% |   23% |",
            "AMD Zen 3          |   27% |   23% |   24% |   32% |   26% |",
        ],
    ),
];
/// The table at the end of the page of 2019.
const ARM_2019: [(&str, &str); 4] = [
    ("ThunderX2", "TX2 | 35% | 23% | 11% | 34% | 20% | 9% | 38% | 25% | 16% |"),
    ("eMAG", "EMAG | 11% | 6% | 3% | 12% | 4% | 2% | 11% | 4% | 2% |"),
    ("Cortex-A72", "A72 | 8% | 5% | -4% | 9% | 4% | -5% | 7% | 4% | -5% |"),
    ("Cortex-A53", "A53 | 11% | 6% | -1% | 10% | 8% | -1% | 10% | 8% | -2% |"),
];
/// Tables 12 and 13 of 2023.
const INTEL_2023: [(&str, &str, &str); 4] = [
    ("Table 12", "3rd Gen Xeon (Ice Lake)", "1.09\t1.05\t1.16\t1.14\t1.12\t1.26"),
    ("Table 12", "4th Gen Xeon (Sapphire Rapids)", "1.10\t1.07\t1.08\t1.24\t1.22\t1.43"),
    ("Table 13", "3rd Gen Xeon (Ice Lake)", "1.07\t1.11\t1.16\t1.16\t1.22\t1.16"),
    ("Table 13", "4th Gen Xeon (Sapphire Rapids)", "1.00\t1.02\t1.09\t1.26\t1.23\t1.38"),
];
/// Table 11, both summaries.
const TABLE_11: [(&str, [&str; 4]); 2] = [("baseline", ["7", "6", "5", "18"]), ("new", ["5", "4", "1", "10"])];
/// Seconds and improvements of 2010, as the post lists them.
const SOLARIS_2010: [(&str, &str); 4] = [
    ("a bit at a time, in C", "7.83"),
    ("schoolbook, shifted, reduced by shifts", "1.18"),
    ("linear folding (schoolbook)", "1.36"),
    ("Karatsuba, shifted, reduced by shifts", "1.19"),
];
const THREADS_2010: [&str; 4] = ["229%", "221%", "230%", "224%"];
/// Figure 6 of 2010: prolog, body, epilog; of one block, and of four.
const FIGURE_6: [(usize, [usize; 3]); 2] = [(1, [47, 90, 74]), (4, [95, 188, 116])];
/// "Body Runs" of tables 4.1 and 4.2.
const BODY_RUNS: [[usize; 2]; 12] =
    [[3, 0], [7, 1], [11, 2], [15, 3], [23, 5], [31, 7], [47, 11], [63, 15], [95, 23], [127, 31], [191, 47], [255, 63]];
/// Sections 3.1, 3.2 and 3.3.
const SECTION_3: [&str; 3] = ["55", "15", "28"];

/// What the tables quote is what the papers print: typed in twice, here line by line as it stands there.
#[test]
fn quoted() {
    let mut cells = 0;
    let mut same = |what: &str, quoted: &[String], printed: &[&str]| {
        assert_eq!(quoted, printed, "{what}");
        cells += quoted.len();
    };
    let fields = |line: &'static str| line.split(['|', '\t']).map(str::trim).filter(|field| !field.is_empty()).collect::<Vec<_>>();

    let (report, _) = study("aesni-2024");
    for (title, lines) in LINUX_2024 {
        for parts in lines.chunks(2) {
            let (first, second) = (fields(parts[0]), fields(parts[1]));
            let row = format!("paper, {}", first[0]);
            same(title, report.table(title).cells(&row), &[&first[1..], &second[1..]].concat());
        }
    }
    same("size", report.table("Size").cells("paper, before: SSE, AVX, \"AVX2\""), &["4300", "-", "272 KB"]);
    same("size", report.table("Size").cells("paper, rewritten: SSE and AVX"), &["1130", "-", "9 KB"]);

    let (report, _) = study("arm64-2019");
    for (cpu, line) in ARM_2019 {
        same(cpu, report.table("Improvement").cells(&format!("paper, {cpu}")), &fields(line)[1..]);
    }

    let (report, _) = study("ghash-2023");
    for (title, cpu, line) in INTEL_2023 {
        same(title, report.table(title).cells(&format!("paper, {cpu}")), &fields(line));
    }
    for ((row, counts), ours) in TABLE_11.iter().zip(["ours, baseline", "ours, K'"]) {
        same("Table 11", &report.table("Table 11").cells(&format!("paper, {row}"))[..4], counts);
        same("Table 11, ours", &report.table("Table 11").cells(ours)[..4], counts);
    }

    let (report, _) = study("solaris-2010");
    for (row, seconds) in SOLARIS_2010 {
        same(row, &report.table("GHASH by").cells(row)[..1], &[seconds]);
    }
    let threads = report.table("AES-128-GCM: gain");
    for (gain, row) in THREADS_2010.iter().zip(&threads.rows) {
        same("threads", &row[1..2], &[gain]);
        // With the instruction against without: nowhere is it the other way round.
        let ours: i64 = row[2].trim_end_matches('%').parse().unwrap();
        assert!(ours > 0 || one_block() == Backend::Portable, "{row:?}");
    }
    // Scaled to schoolbook: by our clock again.
    let ours = |row| time("GHASH, one block at a time", 4096, row);
    let scaled = ours("Winograd") / ours(SOLARIS_2010[1].0) * 1.18;
    same("scaled", &report.table("GHASH by").cells("Winograd")[2..], &[&format!("{scaled:.2}")]);

    let (report, _) = study("packed-2010");
    let table = report.table("Tables 4.1 and 4.2");
    for ((blocks, [prolog, body, epilog]), (column, number)) in FIGURE_6.iter().zip([("paper, standard", 0), ("paper, packed", 1)]) {
        // Figure 6 says how the tables' numbers come about: one body less than there are groups of blocks.
        for (bytes, cell) in table.column("bytes").iter().zip(table.column(column)) {
            let groups = bytes.parse::<usize>().unwrap() / 16 / blocks;
            same(column, &[cell.to_owned()], &[&(prolog + body * (groups - 1) + epilog).to_string()]);
        }
        let figure = report.table("Figure 6");
        let mut part = |row: &str, wanted: u64| same("figure 6", &figure.cells(row)[number..=number], &[&wanted.to_string()]);
        part("paper, prolog and epilog: the first 1 or 4 blocks", (prolog + epilog) as u64);
        part("paper, body: each further 1 or 4 blocks", *body as u64);
        part("paper, 64 bytes", (prolog + body * (4 / blocks - 1) + epilog) as u64);
        // Ours, of our counts: what they are affine in.
        let style = ["standard, N = 1", "packed, N = 4"][number];
        let alone = |bytes: usize| count(style, 16, bytes) - count(style, 16, 0);
        part("ours, the first 1 or 4 blocks", alone(16 * blocks));
        part("ours, each further 1 or 4 blocks", alone(16 * blocks));
        part("ours, 64 bytes", alone(64));
        part("ours, an empty message", count(style, 16, 0));
        let sizes = || table.column("bytes").into_iter().map(|bytes| bytes.parse::<usize>().unwrap());
        let column = |at: usize| table.rows.iter().map(|row| row[at].clone()).collect::<Vec<_>>();
        assert_eq!(column(6 + number), sizes().map(|bytes| alone(bytes).to_string()).collect::<Vec<_>>());
        assert_eq!(column(9 + number), sizes().map(|bytes| count(style, 16, bytes).to_string()).collect::<Vec<_>>());
        let runs = BODY_RUNS.map(|runs| runs[number].to_string());
        same("body runs", &column([1, 3][number]), &runs.each_ref().map(String::as_str));
    }
    for (cells, printed) in report.table("Sections 3.1").rows.iter().zip(SECTION_3) {
        same("section 3", &cells[1..2], &[printed]);
    }
    passed("studies::quoted", cells, 12 * 11 + 2 * 3 + 4 * 9 + 4 * 6 + 4 * 4 + 4 + 4 + 1 + 2 * (12 + 7 + 12) + 3);
}

/// The committed results quote the papers as today's report does; and what is counted without a processor stands there as it comes out today.
#[test]
fn results() {
    let mut cells = 0;
    for name in NAMES {
        let (report, _) = study(name);
        let there = std::fs::read_to_string(format!("{}/results/{name}.txt", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for table in &report.tables {
            let Some((_, rest)) = there.split_once(&format!("**{}**", table.title)) else { continue };
            let rows = rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
            let rows: Vec<Vec<&str>> = rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect();
            let counted = ["Table 11", "Figures 7 to 9", "Figure 9", "Sections 3.1"].iter().any(|title| table.title.starts_with(title));
            let is_quoted = |row: &[String], at: usize| {
                [&row[0], &table.head[at]].iter().any(|name| name.starts_with("paper,") || name.starts_with("post,") || *name == "paper")
            };
            for row in &table.rows {
                let Some(there) = rows.iter().find(|there| there[0] == row[0]) else {
                    assert!(!counted && !row[0].starts_with("paper"), "{}: the results have no row {}", table.title, row[0]);
                    continue;
                };
                for (at, cell) in row.iter().enumerate().skip(1) {
                    if counted || is_quoted(row, at) {
                        assert_eq!(there.get(at), Some(&cell.as_str()), "results, {}, {}, {}", table.title, row[0], table.head[at]);
                        cells += 1;
                    }
                }
            }
        }
    }
    let counted = 4 * 5 + 3 * 4 + 2 * 4 + 3 * 2;
    passed("studies::results", cells, counted + 2 * 6 * 11 + 2 * 3 + 4 * 9 + 4 * 6 + 11 + 4 + 3 * 2 + 12 * 2);
}

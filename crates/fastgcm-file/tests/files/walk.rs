//! Two walks through every public function, which are found in the source: a new one that is in neither list fails here. One walk gives sizes around 2^31, 2^32,
//! 2^63 and 2^64; the other makes every call fail, and panic, by which control leaves the library.

mod errors;
#[path = "../../../fastgcm/tests/support/secrets.rs"]
mod secrets;
mod sizes;

use errors::{errors_of_opening, errors_of_ranges, errors_of_readers, errors_of_sealing, errors_of_writers};
use fastgcm_file::{Cipher, Format, HEADER_LEN, Key, RangeReader, Reader, Writer};
use sizes::{amounts, giant_writes, lengths_of_files, lengths_of_keys, lengths_of_texts, numbers_and_lengths, numbers_of_threads, ranges};
use std::{
    collections::BTreeSet,
    fs,
    io::{Cursor, Read, Write},
};

/// A function, and what was done with it: how many cases there were.
type Walk = (&'static str, fn() -> usize);

const SIZES: [Walk; 16] = [
    ("cipher::seal_chunk", numbers_and_lengths),
    ("cipher::open_chunk", numbers_and_lengths),
    ("format::of_key_len", lengths_of_keys),
    ("format::sealed_len", lengths_of_texts),
    ("format::chunks", lengths_of_texts),
    ("format::text_len", lengths_of_texts),
    ("key::new", lengths_of_keys),
    ("parallel::seal", numbers_of_threads),
    ("parallel::open", numbers_of_threads),
    ("range::new", lengths_of_files),
    ("range::read", ranges),
    ("range::verify", ranges),
    ("range::copy", ranges),
    ("reader::consume", amounts),
    ("reader::read", amounts),
    ("writer::write", giant_writes),
];

/// (The functions of `naming` take paths and open files: `tests/naming.rs` has their errors.)
const WITHOUT_SIZES: [&str; 28] = [
    "cipher::create",
    "cipher::of",
    "cipher::with_salt",
    "error::is_unauthentic",
    "format::key_len",
    "format::name",
    "key::generate",
    "key::with_backend",
    "key::as_bytes",
    "key::fingerprint",
    "key::format",
    "key::backend",
    "naming::give_name",
    "naming::of",
    "naming::publish",
    "naming::refuse_stranger",
    "naming::sync",
    "naming::sync_name",
    "range::len",
    "range::is_empty",
    "reader::fill_buf",
    "reader::new",
    "reader::get_ref",
    "reader::into_inner",
    "writer::new",
    "writer::finish",
    "writer::get_ref",
    "writer::flush",
];

const ERRORS: [Walk; 14] = [
    ("parallel::seal", errors_of_sealing),
    ("parallel::open", errors_of_opening),
    ("range::new", errors_of_ranges),
    ("range::read", errors_of_ranges),
    ("range::verify", errors_of_ranges),
    ("range::copy", errors_of_ranges),
    ("reader::new", errors_of_readers),
    ("reader::read", errors_of_readers),
    ("reader::fill_buf", errors_of_readers),
    ("reader::consume", errors_of_readers),
    ("writer::new", errors_of_writers),
    ("writer::write", errors_of_writers),
    ("writer::flush", errors_of_writers),
    ("writer::finish", errors_of_writers),
];

/// They call nothing of the caller's. (What happens without random bytes: `no_random.rs`.)
const WITHOUT_CALLS: [&str; 30] = [
    "cipher::create",
    "cipher::of",
    "cipher::with_salt",
    "cipher::seal_chunk",
    "cipher::open_chunk",
    "error::is_unauthentic",
    "format::key_len",
    "format::name",
    "format::of_key_len",
    "format::sealed_len",
    "format::chunks",
    "format::text_len",
    "key::generate",
    "key::new",
    "key::with_backend",
    "key::as_bytes",
    "key::fingerprint",
    "key::format",
    "key::backend",
    "naming::give_name",
    "naming::of",
    "naming::publish",
    "naming::refuse_stranger",
    "naming::sync",
    "naming::sync_name",
    "range::len",
    "range::is_empty",
    "reader::get_ref",
    "reader::into_inner",
    "writer::get_ref",
];

/// The library's files: their names, and what stands in them.
fn sources() -> Vec<(String, String)> {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let files = folder.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    let files = files.filter(|path| !path.ends_with("asynchronous.rs")); // its functions are held against these in tests/asynchronous.rs
    files.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap())).collect()
}

/// Every public function and every one of a trait of `std::io`, as the source has them.
fn all() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (stem, source) in sources() {
        let mut public = false;
        for line in source.split("\n#[cfg(test)]\nmod ").next().unwrap().lines() {
            if line.starts_with("impl") {
                public = [" Read for Reader", " BufRead for Reader", " Write for Writer"].iter().any(|of| line.contains(of));
            }
            let line = line.trim_start();
            let name = ["pub fn ", "pub const fn "]
                .iter()
                .find_map(|start| line.strip_prefix(start))
                .or(line.strip_prefix("fn ").filter(|_| public));
            names.extend(name.map(|name| format!("{stem}::{}", name.split(['(', '<']).next().unwrap())));
        }
    }
    names
}

fn walk(done: &[Walk], others: &[&str]) {
    let listed: Vec<_> = done.iter().map(|(name, _)| *name).chain(others.iter().copied()).map(str::to_owned).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), all(), "a function is in no list, or a list has one that is gone");
    assert_eq!(listed.len(), all().len(), "a function is in two lists");
    let cases: usize = done.iter().map(|(_, work)| work()).sum();
    assert!(cases > 0);
}

#[test]
fn every_size() {
    walk(&SIZES, &WITHOUT_SIZES);
}

#[test]
fn every_error() {
    // What panics below is meant to.
    std::panic::set_hook(Box::new(|info| {
        if !["planned", "a scoped thread panicked"].iter().any(|meant| info.to_string().contains(meant)) {
            eprintln!("{info}")
        }
    }));
    walk(&ERRORS, &WITHOUT_CALLS);
}

/// No text of an object or of an error shows a byte of the key, of the text or of the context's commitment.
#[test]
fn quiet() {
    let secret = secrets::secret(32);
    let (key, text) = (Key::new(Format::Cobblestone256, &secret).unwrap(), &secret[..]);
    let mut writer = Writer::new(&key, b"", Vec::new()).unwrap();
    writer.write_all(text).unwrap();
    let mut shown = vec![("Key", format!("{key:?} {key:#?}")), ("Writer", format!("{writer:?}"))];
    let mut file = writer.finish().unwrap();
    let (header, _) = file.split_first_chunk::<HEADER_LEN>().unwrap();
    shown.push(("Cipher", format!("{:?}", Cipher::of(&key, b"", header).unwrap())));
    let mut reader = Reader::new(&key, b"", &file[..]).unwrap();
    reader.read_exact(&mut [0; 5]).unwrap();
    shown.push(("Reader", format!("{reader:?}")));
    shown.push(("RangeReader", format!("{:?}", RangeReader::new(&key, b"", Cursor::new(&file)).unwrap())));
    *file.last_mut().unwrap() ^= 1;
    let errors = [
        Key::new(Format::Cobblestone128, &secret).unwrap_err(),
        Key::new(Format::Cobblestone256, &secret[1..]).unwrap_err(),
        Reader::new(&key, &secret, &file[..]).unwrap_err(),
        RangeReader::new(&key, b"", Cursor::new(&file)).unwrap_err(),
        fastgcm_file::open(&key, b"", &file[..], Vec::new(), std::num::NonZero::<usize>::MIN).unwrap_err(),
    ];
    shown.extend(errors.iter().map(|error| ("Error", format!("{error} {error:?}"))));
    shown.iter().for_each(|(name, shown)| secrets::quiet(name, shown, &secret));
    let sources = sources();
    let types = sources.iter().flat_map(|(_, source)| secrets::types(source));
    let types: BTreeSet<_> = types.filter(|name| *name != "Place").collect(); // a folder and a name
    assert!(types.len() > 4 && types.iter().all(|name| shown.iter().any(|(shown, _)| shown == name)), "{types:?}");
}

//! What can be saved of a damaged file, and what is said of the rest.

use crate::support::{Bench, text};
use fastgcm_file::{CHUNK_LEN, HEADER_LEN, SEALED_CHUNK_LEN};
use std::{
    fs,
    os::unix::fs::{FileExt, MetadataExt},
};

const LEN: usize = 5 * CHUNK_LEN + 1000;

#[test]
fn what_verifies_is_saved() {
    let bench = Bench::new();
    let text = text(LEN);
    bench.write("a", &text);
    bench.ok(&["seal", "-k", "key", "--context", "here", "a"]);
    let sealed = bench.read("a.sealed");
    let salvage = |more: &[&str]| bench.run(&[&["open", "--salvage", "--context", "here", "-o", "out", "bad.sealed"], more].concat());
    let start = |chunk: usize| HEADER_LEN + chunk * SEALED_CHUNK_LEN;
    let flipped = |at: &[usize]| {
        let mut changed = sealed.clone();
        at.iter().for_each(|at| changed[*at] ^= 1);
        changed
    };
    let without = |lost: &[std::ops::Range<usize>], end: usize| {
        let mut text = text[..end].to_vec();
        lost.iter().for_each(|lost| text[lost.clone()].fill(0));
        text
    };
    let swapped = [&sealed[..start(1)], &sealed[start(2)..start(3)], &sealed[start(1)..start(2)], &sealed[start(3)..]].concat();
    let chunk = |first: usize, behind: usize| first * CHUNK_LEN..behind * CHUNK_LEN;
    let end = "its end is lost";
    let mut cases = 0;
    for (bad, saved, said) in [
        (flipped(&[start(1) + 5]), without(&[chunk(1, 2)], LEN), vec!["bytes 16384..32768 are lost"]),
        (
            flipped(&[start(0), start(2), start(4) - 1]),
            without(&[chunk(0, 1), chunk(2, 4)], LEN),
            vec!["bytes 0..16384 are", "bytes 32768..65536 are"],
        ),
        (
            swapped,
            without(&[chunk(2, 3)], LEN),
            vec!["bytes 32768..49152 are lost", "before byte 16384 of its text the file has 16400 bytes too many"],
        ),
        (sealed[..sealed.len() - 1].to_vec(), without(&[], 5 * CHUNK_LEN), vec![end, "81920"]),
        (sealed[..start(3) + 100].to_vec(), without(&[], 3 * CHUNK_LEN), vec![end, "49152"]),
        (sealed[..start(2)].to_vec(), without(&[], 2 * CHUNK_LEN), vec!["its end is lost: what came behind byte 32768"]),
        (flipped(&[sealed.len() - 1]), without(&[], 5 * CHUNK_LEN), vec![end]),
        ([&sealed[..], &[0; 20_000]].concat(), without(&[], LEN), vec!["its text ends with byte 82920"]),
        ([&sealed[..], b"x"].concat(), without(&[], LEN), vec!["its text ends with byte 82920"]),
        ([&flipped(&[start(2)])[..], b"x"].concat(), without(&[chunk(2, 3)], LEN), vec!["bytes 32768..49152 are", "its text ends"]),
        (flipped(&[30]), without(&[], LEN), vec!["its header was changed"]),
    ] {
        bench.write("bad.sealed", &bad);
        let output = salvage(&["-k", "key"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{message}");
        let gaps = said.iter().filter(|said| said.starts_with("bytes")).count();
        assert!(said.iter().all(|said| message.contains(said)) && message.matches(" are lost").count() == gaps, "{said:?}: {message}");
        assert!(bench.read("out") == saved, "{message}");
        assert_eq!(bench.mode("out"), 0o600);
        fs::remove_file(bench.path("out")).unwrap();
        cases += 1;
    }
    // Nothing verifies: nothing is written. And a whole file is opened as ever.
    for (bad, args) in [
        (sealed.clone(), &["-k", "key128"][..]),
        (flipped(&[3]), &["-k", "key"]),
        (sealed[..50].to_vec(), &["-k", "key"]),
        (sealed[..start(0) + 5].to_vec(), &["-k", "key"]),
        (sealed.clone(), &["-k", "key", "--context", "there"]),
    ] {
        bench.write("bad.sealed", &bad);
        let output =
            if args.contains(&"there") { bench.run(&["open", "--salvage", "-k", "key", "-o", "out", "bad.sealed"]) } else { salvage(args) };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(3) && !bench.exists("out"), "{said}");
        assert_eq!(said.contains("without the 56 bytes"), bad.len() < HEADER_LEN, "{said}");
        cases += 1;
    }
    bench.write("bad.sealed", &sealed);
    assert!(salvage(&["-k", "key"]).status.success() && bench.read("out") == text);
    // An output that is full, or that nobody reads.
    bench.write("bad.sealed", &flipped(&[start(1)]));
    for (redirection, code) in [("> /dev/full", 1), ("| head -c 10 > part", 1)] {
        let line = format!("set -o pipefail; fastgcm open -q --salvage --context here -k key -o - bad.sealed {redirection}");
        assert_eq!(bench.by("bash", &line).status.code(), Some(code), "{redirection}");
    }
    for args in [
        &["open", "--salvage", "-k", "key", "a.sealed"][..],
        &["open", "--salvage", "-k", "key", "-o", "b", "--range", "0..1", "a.sealed"],
        &["open", "--salvage", "-k", "key", "-o", "b", "-"],
    ] {
        bench.fails(2, args);
    }
    assert!(cases > 0);
}

/// Bytes that are missing in the middle, or were added there, cost the chunk that they are in, and no other.
#[test]
fn what_is_behind_bytes_that_are_missing() {
    const CHUNKS: usize = 40;
    let bench = Bench::new();
    let text = text(CHUNKS * CHUNK_LEN + 1000);
    bench.write("a", &text);
    bench.ok(&["seal", "-k", "key", "a"]);
    let sealed = bench.read("a.sealed");
    let start = |chunk: usize| HEADER_LEN + chunk * SEALED_CHUNK_LEN;
    let without = |from: usize, len: usize| [&sealed[..from], &sealed[from + len..]].concat();
    let with = |at: usize, len: usize| [&sealed[..at], &vec![9; len], &sealed[at..]].concat();
    let mut cases = 0;
    let mut saved = |bad: &[u8], lost: &[(usize, usize)], said: &[&str]| {
        bench.write("bad.sealed", bad);
        let output = bench.run(&["open", "--salvage", "-k", "key", "-o", "out", "bad.sealed"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(3) && said.iter().all(|said| message.contains(said)), "{said:?}: {message}");
        assert!(!message.contains("its end is lost") && !message.contains("has 0 bytes"), "{message}");
        let mut wanted = text.clone();
        lost.iter().for_each(|(first, behind)| wanted[first * CHUNK_LEN..(behind * CHUNK_LEN).min(text.len())].fill(0));
        assert!(bench.read("out") == wanted, "{message}");
        fs::remove_file(bench.path("out")).unwrap();
        cases += 1;
    };
    for len in [1, 512, 5000, SEALED_CHUNK_LEN - 1] {
        let few = format!("has {len} bytes too few");
        let behind = if len == SEALED_CHUNK_LEN - 1 { 5 } else { 4 };
        saved(&without(start(3) + 100, len), &[(3, behind)], &[&few]);
        let many = format!("has {len} bytes too many");
        saved(&with(start(3) + 100, len), &[(3, 4)], &[&many]);
        saved(&with(start(3), len), &[], &[&many]);
    }
    // A whole chunk, and many sectors.
    saved(&without(start(3), SEALED_CHUNK_LEN), &[(3, 4)], &["has 16400 bytes too few"]);
    saved(&without(start(5) + 77, 100 * 512), &[(5, 9)], &["has 51200 bytes too few"]);
    saved(&without(start(2) + 16_000, 900 * 512), &[(2, 32)], &["has 460800 bytes too few"]);
    // The last chunk, and two places: at the second one the chunks are where they belong.
    saved(&without(start(CHUNKS - 1) + 5, 10), &[(CHUNKS - 1, CHUNKS)], &["has 10 bytes too few"]);
    let twice = without(start(3) + 100, 7);
    let twice = [&twice[..start(20)], &[9; 7], &twice[start(20)..]].concat();
    saved(&twice, &[(3, 4), (20, 21)], &["has 7 bytes too few"]);
    // Three chunks in a row that were changed, and all others are at their places.
    let mut damaged = sealed.clone();
    (7..10).for_each(|chunk| damaged[start(chunk)] ^= 1);
    saved(&damaged, &[(7, 10)], &[]);
    // What is too far away is said to be there, and no more than that.
    bench.write("bad.sealed", &without(start(2) + 16_000, 30 * SEALED_CHUNK_LEN + 1));
    let output = bench.run(&["open", "--salvage", "-k", "key", "-o", "out", "bad.sealed"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(3) && said.contains("or bytes are missing or were added behind byte 32768"), "{said}");
    assert!(cases > 0);
}

/// Terabytes that the file system does not have are not read, and a gap costs no space.
#[test]
fn holes() {
    const TIB: u64 = 1 << 40;
    let bench = Bench::new();
    bench.write("a", &text(LEN));
    bench.ok(&["seal", "-k", "key", "a"]);
    let sealed = fs::File::options().write(true).open(bench.path("a.sealed")).unwrap();
    if sealed.set_len(TIB).is_err() {
        println!("SKIPPED salvage::holes: this file system has no files of a TiB");
        return;
    }
    let output = bench.run(&["open", "--salvage", "-k", "key", "-o", "out", "a.sealed"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(3) && said.contains(&format!("its text ends with byte {LEN}")) && bench.read("out") == text(LEN),
        "{said}"
    );
    // A chunk far behind: what is lost before it is a hole in the output.
    let number = TIB / 2 / CHUNK_LEN as u64;
    let key = fastgcm_file::Key::new(fastgcm_file::Format::Cobblestone256, &base16(&bench.read("key"))).unwrap();
    let header = bench.read_at("a.sealed", 0, HEADER_LEN);
    let cipher = fastgcm_file::Cipher::of(&key, b"", header[..].try_into().unwrap()).unwrap();
    let mut chunk = [0; 21];
    cipher.seal_chunk(number, b"later", &mut chunk).unwrap();
    let at = HEADER_LEN as u64 + number * SEALED_CHUNK_LEN as u64;
    sealed.set_len(at).unwrap();
    sealed.write_all_at(&chunk, at).unwrap();
    let output = bench.run(&["open", "--salvage", "-k", "key", "-o", "far", "a.sealed"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let end = number * CHUNK_LEN as u64;
    assert!(output.status.code() == Some(3) && said.contains(&format!("bytes {}..{end} are lost", 5 * CHUNK_LEN)), "{said}");
    assert_eq!(bench.read_at("far", end, 5), b"later");
    let far = fs::metadata(bench.path("far")).unwrap();
    assert!(far.len() == end + 5 && far.blocks() < 2048, "{far:?}");
    bench.passed("salvage::holes", 1 + 2);
}

fn base16(line: &[u8]) -> Vec<u8> {
    let digits = str::from_utf8(line).unwrap().trim();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// A range says what of the file it has verified, and a damaged file says what to do.
#[test]
fn what_was_verified_is_told() {
    let bench = Bench::new();
    bench.write("a", &text(LEN));
    bench.ok(&["seal", "-k", "key", "a"]);
    bench.write("b", b"text");
    bench.ok(&["seal", "-k", "key", "b"]);
    let mut sealed = bench.read("a.sealed");
    sealed[HEADER_LEN + 2 * SEALED_CHUNK_LEN] ^= 1;
    bench.write("a.sealed", &sealed);
    let output = bench.run(&["open", "-k", "key", "--range", "0..10", "a.sealed"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.stdout == text(10) && said.contains("10 bytes, verified, and so is the length") && !said.contains("to the end"),
        "{said}"
    );
    let whole = bench.run(&["open", "-k", "key", "--range", "0..", "b.sealed"]);
    assert!(whole.stdout == b"text" && String::from_utf8_lossy(&whole.stderr).ends_with("verified to the end\n"));
    for args in [&["open", "-o", "c"][..], &["inspect"]] {
        assert!(bench.fails(3, &[args, &["-k", "key", "a.sealed"]].concat()).contains("`fastgcm open --salvage -o OUT` saves"));
    }
    bench.passed("salvage::what_was_verified_is_told", 2 + 2 + 2);
}

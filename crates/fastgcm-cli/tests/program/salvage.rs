//! What can be saved of a damaged file, and what is said of the rest.

use crate::support::{Bench, text};
use fastgcm_file::{CHUNK_LEN, HEADER_LEN, SEALED_CHUNK_LEN};
use std::fs;

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
    let end = "its end is lost: what came behind byte";
    let mut cases = 0;
    for (bad, saved, said) in [
        (flipped(&[start(1) + 5]), without(&[chunk(1, 2)], LEN), vec!["bytes 16384..32768 are lost"]),
        (
            flipped(&[start(0), start(2), start(4) - 1]),
            without(&[chunk(0, 1), chunk(2, 4)], LEN),
            vec!["bytes 0..16384 are", "bytes 32768..65536 are"],
        ),
        (swapped, without(&[chunk(1, 3)], LEN), vec!["bytes 16384..49152 are lost"]),
        (sealed[..sealed.len() - 1].to_vec(), without(&[], 5 * CHUNK_LEN), vec![end, "81920"]),
        (sealed[..start(3) + 100].to_vec(), without(&[], 3 * CHUNK_LEN), vec![end, "49152"]),
        (sealed[..start(2)].to_vec(), without(&[], 2 * CHUNK_LEN), vec![end, "32768"]),
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
        assert!(output.status.code() == Some(3) && !bench.exists("out"), "{}", String::from_utf8_lossy(&output.stderr));
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
    println!("salvage::what_verifies_is_saved ok {}", cases + 1 + 3);
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

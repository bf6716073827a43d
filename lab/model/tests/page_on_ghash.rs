//! The functions on `docs/ghash.md` are a program: every hash that it makes is the model's.

use fastgcm_model::{Block, ghash};
use std::{
    env, fs,
    io::Write,
    process::{Command, Stdio},
};

/// Behind the functions: lines of H and blocks are answered by the names of all ways and their hashes.
const MAIN: &str = r#"
fn one_by_one(h: u128, blocks: &[u128], times: fn(u128, u128) -> u128) -> u128 {
    blocks.iter().fold(0, |y, x| times(y ^ x, times_x(h)))
}

fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let numbers: Vec<u128> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let (h, blocks) = numbers.split_first().unwrap();
        println!("ghash {}", ghash(*h, blocks));
        for (name, times) in
            [("schoolbook", schoolbook as fn(_, _) -> _), ("karatsuba", karatsuba), ("key_folded", key_folded), ("winograd", winograd)]
        {
            println!("{name} {}", one_by_one(*h, blocks, times));
        }
        for n in 1..=8 {
            println!("packed, N = {n} {}", packed(*h, blocks, n));
        }
        if blocks.len() % 4 == 0 {
            println!("lanes {}", lanes(*h, blocks));
        }
    }
}
"#;

/// Numbers that look random: the fractional parts of multiples of the golden ratio, mixed.
fn number(i: u64) -> u128 {
    let half = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i << 7).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    u128::from(half(2 * i + 1)) << 64 | u128::from(half(2 * i + 2))
}

#[test]
fn page_on_ghash() {
    let page = include_str!("../../../docs/ghash.md");
    let parts = page.split("```rust\n").skip(1).map(|part| part.split_once("```").expect("a part without an end").0);
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let (source, program) = (folder.join("page.rs"), folder.join("page"));
    fs::write(&source, parts.chain([MAIN]).collect::<String>()).unwrap();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc).args(["--edition=2024", "-Dwarnings", "-o"]).args([&program, &source]).status();
    assert!(built.unwrap().success());

    // All lengths to 17 blocks; and the two bits at each end, on which mirrored numbers go wrong.
    let mut messages: Vec<Vec<u128>> = (1..=17).map(|blocks| (0..=blocks).map(|i| number(100 * blocks + i)).collect()).collect();
    let ends = [1, 2, 1 << 63, 1 << 64, 1 << 126, 1 << 127];
    messages.extend(ends.iter().flat_map(|a| ends.map(|b| vec![*a, b])));
    let mut running = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let line = |message: &Vec<u128>| message.iter().map(u128::to_string).collect::<Vec<_>>().join(" ") + "\n";
    running.stdin.take().unwrap().write_all(messages.iter().map(line).collect::<String>().as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();

    let answers = String::from_utf8(output.stdout).unwrap();
    let (mut answers, mut compared) = (answers.lines(), 0);
    for message in &messages {
        let bytes: Vec<Block> = message.iter().map(|number| number.to_be_bytes()).collect();
        let wanted = u128::from_be_bytes(ghash(&bytes[0], bytes[1..].as_flattened()));
        for _ in 0..if (message.len() - 1).is_multiple_of(4) { 14 } else { 13 } {
            let (name, hash) = answers.next().unwrap().rsplit_once(' ').unwrap();
            assert_eq!(hash.parse(), Ok(wanted), "{name}, {} blocks", message.len() - 1);
            compared += 1;
        }
    }
    assert_eq!((answers.next(), compared), (None, 13 * (17 + 36) + 4));
}

//! The functions on `docs/ghash.md` are a program: every hash that it makes is the model's. And every number of its worked example is computed again:
//! only key, nonce, AAD and text are taken for granted.

use fastgcm_model::{Block, Model, ghash, inc32, multiply_blocks};
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

/// The example's lines: what stands before the first ` = `, and the digits behind the last.
fn example() -> Vec<(String, String)> {
    let page = include_str!("../../../docs/ghash.md");
    let (_, example) = page.split_once("### A worked example\n").expect("the page has no worked example");
    let (example, _) = example.split_once("\n## ").expect("the page ends with the worked example");
    let lines = example.lines().filter_map(|line| line.strip_prefix("    "));
    let sides = lines.map(|line| (line.split_once(" = ").unwrap().0.trim(), line.rsplit_once(" = ").unwrap().1));
    sides.map(|(name, digits)| (name.into(), digits.into())).collect()
}

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sum(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|i| a[i] ^ b[i])
}

#[test]
fn worked_example() {
    let page = example();
    let given = ["K", "nonce", "AAD", "text"].map(|name| page.iter().find(|line| line.0 == name).expect(name).1.clone());
    let [key, nonce, aad, text] = given.each_ref().map(|digits| bytes(digits));
    let model = Model::new(&key);
    let (h, j0) = (model.h(), model.j0(&nonce));
    let (ciphertext, tag) = model.seal(&nonce, &aad, &text);
    let block = |part: &[u8]| -> Block { std::array::from_fn(|i| part.get(i).copied().unwrap_or(0)) };
    let lengths = block(&[(8 * aad.len() as u64).to_be_bytes(), (8 * text.len() as u64).to_be_bytes()].concat());
    let x = [block(&aad[..16]), block(&aad[16..]), block(&ciphertext), lengths];

    let mut wanted: Vec<(String, Vec<u8>)> = Vec::new();
    let mut line = |name: &str, value: &[u8]| wanted.push((name.into(), value.into()));
    ["K", "nonce", "AAD", "text"].iter().zip([&key, &nonce, &aad, &text]).for_each(|(name, value)| line(name, value));
    line("H", &model.cipher(&[0; 16]));
    line("J0", &j0);
    line("E(J0 + 1)", &model.cipher(&inc32(&j0)));
    line("ciphertext", &ciphertext);
    x.iter().enumerate().for_each(|(i, x)| line(&format!("X{}", i + 1), x));
    let mut y = [0; 16];
    for (i, x) in x.iter().enumerate() {
        let met = sum(&y, x);
        line(&format!("Y{i} + X{}", i + 1), &met);
        y = multiply_blocks(&met, &h);
        line(&format!("Y{}", i + 1), &y);
    }
    assert_eq!(y, ghash(&h, x.as_flattened()));
    line("E(J0)", &model.cipher(&j0));
    line("tag", &tag);
    assert_eq!(tag, sum(&y, &model.cipher(&j0)));

    let power = |n: usize| (1..n).fold(h, |power, _| multiply_blocks(&power, &h));
    (2..=4).for_each(|n| line(&format!("H^{n}"), &power(n)));
    let products: [Block; 4] = std::array::from_fn(|i| multiply_blocks(&x[i], &power(4 - i)));
    ["X1·H^4", "X2·H^3", "X3·H^2", "X4·H"].iter().zip(&products).for_each(|(name, product)| line(name, product));
    line("Y4", &products.iter().fold([0; 16], |all, product| sum(&all, product)));
    let lane = |first: usize| sum(&multiply_blocks(&x[first], &power(2)), &x[first + 2]);
    let lanes = [multiply_blocks(&lane(0), &power(2)), multiply_blocks(&lane(1), &h)];
    lanes.iter().enumerate().for_each(|(i, value)| line(&format!("lane {}", i + 1), value));
    line("Y4", &sum(&lanes[0], &lanes[1]));

    for ((name, digits), (wanted, value)) in page.iter().zip(&wanted) {
        assert_eq!((name.as_str(), digits.as_str()), (wanted.as_str(), hex(value).as_str()));
    }
    assert_eq!((page.len(), wanted.len()), (33, 33));
    // NIST's own answer to it.
    let cavp = ["encrypt", &given[0], &given[1], &given[2], &given[3], &hex(&ciphertext), &hex(&tag)].join(" ");
    assert!(include_str!("../../../testdata/cavp_gcm_sample.txt").lines().any(|line| line == cavp));
}

//! Every number of the worked example in `docs/ghash.md` is computed again: of the page only key, nonce, AAD and text are taken for granted.

use fastgcm_model::{Block, Model, ghash, inc32, multiply_blocks};

/// The example's lines: what stands before the first ` = `, and the digits behind the last.
fn page() -> Vec<(String, String)> {
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
    let page = page();
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

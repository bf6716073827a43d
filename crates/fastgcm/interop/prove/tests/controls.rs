//! The prover's own tests, for those who change it (`cargo mutants`): programs that are wrong on purpose are refuted, and the plan of the gate is proved. The
//! program whose calls are proved is named by `FASTGCM_PROVED`, because nothing of fastgcm is linked in here:
//! `cargo build --release -p fastgcm-proved && FASTGCM_PROVED=target/release/fastgcm-proved cargo test --release -p fastgcm-prove`.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use fastgcm_prove::{
    checks,
    plan::{self, How},
};
use gcm_prove::{statement::calls::Subject, targets::table};
use std::env;

const SEED: u128 = 0x5eed;
const ROW: &str = "aesni-avx";

fn program() -> String {
    env::var("FASTGCM_PROVED").expect("FASTGCM_PROVED names the program")
}

fn asked(words: &[&str]) -> Result<usize, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_string()).chain([program(), format!("row={ROW}")]).collect();
    checks::asked(&words, || Ok(SEED)).expect("a check")
}

#[test]
fn what_is_wrong_is_refuted() {
    assert_eq!(asked(&["controls"]), Ok(0));
}

#[test]
fn any_length() {
    assert_eq!(asked(&["lengths", "key=128", "verb=seal"]), Ok(0));
}

#[test]
fn what_is_right_is_proved() {
    let subject = Subject::start("fastgcm-proved", program().as_ref(), &[]).unwrap();
    let rows = plan::rows(&subject, Some(ROW)).unwrap();
    let groups = plan::plan(&subject, &rows, How::Quick);
    assert_eq!(plan::too_few(&subject, &rows, How::Quick, &groups), Vec::<String>::new());
    assert_eq!(table::run(&subject, &groups, SEED, table::Options { wiped: false, stop: false }), 0);
}

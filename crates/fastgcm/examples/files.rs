//! Seal a small file and open it again: the nonce in front, the ciphertext, the tag behind it.
//!
//! For real files take the program `fastgcm` or the crate `fastgcm-file`. They cut a file into chunks, so that it need not fit in memory
//! and no part of it is handed out unverified; they never lose the old file; and other software can read what they write. This example
//! shows what is underneath.
//!
//! ```text
//! cargo run --example files
//! ```

use fastgcm::{Error, Key};
use std::{env, fs, path::Path, process};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

/// Bytes in front of the ciphertext.
const NONCE: usize = 12;
/// Bytes behind it.
const TAG: usize = 16;

fn main() -> Result {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)?;
    let key = Key::aes256(&secret);

    let folder = env::temp_dir().join(format!("fastgcm-example-{}", process::id()));
    fs::create_dir(&folder)?;
    let result = there_and_back(&key, &folder);
    fs::remove_dir_all(&folder)?;
    result
}

fn there_and_back(key: &Key, folder: &Path) -> Result {
    let [plain, sealed, opened] = ["letter.txt", "letter.txt.sealed", "letter.opened.txt"].map(|name| folder.join(name));
    fs::write(&plain, "Dear Alice,\n".repeat(1000))?;

    seal(key, &plain, &sealed)?;
    println!("{} bytes became {}", fs::metadata(&plain)?.len(), fs::metadata(&sealed)?.len());
    open(key, &sealed, &opened)?;
    assert_eq!(fs::read(&opened)?, fs::read(&plain)?);

    // A file that was cut short is refused, and nothing is written.
    fs::remove_file(&opened)?;
    let bytes = fs::read(&sealed)?;
    fs::write(&sealed, &bytes[..bytes.len() - 1])?;
    let error = open(key, &sealed, &opened).expect_err("it was cut short");
    assert!(!opened.exists());
    println!("one byte less: {error}");
    Ok(())
}

/// Random nonces of 96 bits: at most 2^32 files under one key.
fn seal(key: &Key, from: &Path, to: &Path) -> Result {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce)?;
    let mut file = nonce.to_vec();
    file.extend(fs::read(from)?);
    file.extend([0; TAG]);
    key.seal_appended(nonce, b"", &mut file[NONCE..])?;
    Ok(fs::write(to, file)?)
}

fn open(key: &Key, from: &Path, to: &Path) -> Result {
    let mut file = fs::read(from)?;
    let (nonce, sealed) = file.split_first_chunk_mut::<NONCE>().ok_or(Error::Unauthentic)?;
    let text = key.open_appended(*nonce, b"", sealed)?;
    Ok(fs::write(to, text)?)
}

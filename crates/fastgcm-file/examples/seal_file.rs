//! Seals a file, opens it again, and reads ten bytes out of its middle.
//!
//! ```text
//! cargo run --release --example seal_file
//! ```

use fastgcm_file::{Error, Format, Key, RangeReader, open, seal};
use std::{
    fs::{self, File},
    num::NonZero,
    path::Path,
    thread,
};

/// Who wants to open a file must name the same context, such as its name or number.
const CONTEXT: &[u8] = b"letters, volume 1";

fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    there_and_back(folder.path())
}

fn there_and_back(folder: &Path) -> Result<(), Error> {
    let [plain, sealed, opened] = ["letters.txt", "letters.sealed", "letters.opened"].map(|name| folder.join(name));
    fs::write(&plain, "Dear Alice,\n".repeat(100_000))?;

    // A key is 32 random bytes. Keep it (`Key::as_bytes`, `Key::new`): without it nobody opens the file.
    let key = Key::generate(Format::Cobblestone256)?;
    let threads = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    seal(&key, CONTEXT, File::open(&plain)?, File::create(&sealed)?, threads)?;
    println!("{} bytes became {}", fs::metadata(&plain)?.len(), fs::metadata(&sealed)?.len());

    open(&key, CONTEXT, File::open(&sealed)?, File::create(&opened)?, threads)?;
    assert_eq!(fs::read(&opened)?, fs::read(&plain)?);

    // Ten bytes of it: one chunk is read and verified, and the end of the file.
    let mut reader = RangeReader::new(&key, CONTEXT, File::open(&sealed)?)?;
    assert_eq!(reader.read(600_000..600_010)?, b"Dear Alice");

    // A changed byte is found before any of its chunk is written. What comes before that chunk is authentic, so `open` has written it.
    let mut bytes = fs::read(&sealed)?;
    bytes[500_000] ^= 1;
    let mut text = Vec::new();
    let error = open(&key, CONTEXT, &bytes[..], &mut text, threads).expect_err("it was changed");
    assert!(fs::read(&plain)?.starts_with(&text) && text.len() < 500_000);
    println!("one byte changed: {error}");
    Ok(())
}

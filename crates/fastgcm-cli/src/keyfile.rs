//! Key files: 16 or 32 raw bytes, or the same as one line of hexadecimal digits.

use crate::{
    failure::{Code, Failure},
    input::{Identity, is_dash, standard},
    output::Target,
};
use fastgcm_file::{Format, Key};
use std::{
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};
use zeroize::Zeroizing;

/// Reads the key of a format; without one, the key's length tells it. `-` is standard input. Also tells which file it is.
pub(crate) fn read(path: &Path, format: Option<Format>, insecure: bool) -> Result<(Key, Identity), Failure> {
    let name = if is_dash(path) { "standard input".into() } else { path.display().to_string() };
    let io = |error| Failure::new(Code::Key, format_args!("key {name}: {error}"));
    let file = if is_dash(path) { standard(io::stdin()) } else { File::open(path) }.map_err(|error| Failure::io(&name, error))?;
    let metadata = file.metadata().map_err(io)?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 && !is_dash(path) && !insecure {
        let why = format!("others may read it or change it (its mode is {mode:04o}): chmod 600 it, or say --insecure-key-file");
        return Err(Failure::new(Code::Key, format_args!("key {name}: {why}")));
    }
    let content = read_at_most(file, LONGEST + 1).map_err(|error| Failure::io(&name, error))?;
    let key = parse(&content, format).map_err(|why| Failure::new(Code::Key, format_args!("key {name}: {why}")))?;
    Ok((key, Identity::of(&metadata)))
}

/// Writes a key to a new file. It is on the disk when this returns.
pub(crate) fn create(target: Target, key: &Key) -> Result<(), Failure> {
    let mut output = target.create()?;
    output.write_all(&line(key)).map_err(|error| Failure::io("key", error))?;
    output.commit()
}

/// The key as one line of hexadecimal digits.
pub(crate) fn line(key: &Key) -> Zeroizing<Vec<u8>> {
    let bytes = key.as_bytes();
    let mut line = Zeroizing::new(vec![b'\n'; 2 * bytes.len() + 1]);
    // Cannot fail: the buffer has room.
    let _ = base16ct::lower::encode(bytes, &mut line);
    line
}

/// 32 hexadecimal digits without an end of line could be 32 raw bytes, too. They are digits: that a random key looks like that has
/// a chance of 10^-34, that somebody forgot the end of line has not.
fn parse(content: &[u8], format: Option<Format>) -> Result<Key, String> {
    let digits = content.strip_suffix(b"\n").unwrap_or(content);
    let digits = digits.strip_suffix(b"\r").unwrap_or(digits);
    let mut decoded = Zeroizing::new([0; LONGEST / 2]);
    let bytes = match digits.len() {
        32 | 64 => base16ct::mixed::decode(digits, &mut *decoded).unwrap_or(content),
        _ => content,
    };
    let Some(of_len) = Format::of_key_len(bytes.len()) else {
        return Err("not a key: neither 16 nor 32 bytes, nor one line of 32 or 64 hexadecimal digits".into());
    };
    let format = format.unwrap_or(of_len);
    Key::new(format, bytes)
        .map_err(|_| format!("it has {} bytes, but {format} takes {}; such a key is for --format {of_len}", bytes.len(), format.key_len()))
}

/// 64 digits and an end of line.
const LONGEST: usize = 66;

/// Everything, or the first `limit` bytes, in one buffer that is wiped: a `Vec` that grows leaves copies.
fn read_at_most(mut file: impl Read, limit: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut content = Zeroizing::new(vec![0; limit]);
    let mut len = 0;
    loop {
        match file.read(&mut content[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    content.truncate(len);
    Ok(content)
}

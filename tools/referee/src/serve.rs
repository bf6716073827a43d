//! Serves the model with a fault as a program at the end of two pipes that works on the referee's memory. `selftest` tests this program.

use aead_plugin::{Message, TAG_BEHIND};
use std::{
    env, fs,
    io::{self, Read, Write},
    os::fd::AsRawFd,
    path::Path,
    ptr,
};

/// The bits of `offers` for whole messages and the referee's memory.
const WHOLE_IN_MEMORY: u32 = 256 | 512;

/// Maps a file of this folder.
fn mapped(folder: &Path, name: &str) -> io::Result<*mut u8> {
    let file = fs::File::options().read(true).write(true).open(folder.join(name))?;
    let size = file.metadata()?.len() as usize;
    // SAFETY: new memory.
    let base = unsafe { libc::mmap(ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base.cast()) }
}

/// Answers requests until the input ends.
pub(crate) fn faulty() -> Result<(), String> {
    let table = crate::faulty::table();
    let folder = env::var_os("REFEREE_MEMORY").ok_or("REFEREE_MEMORY is not set")?;
    let text = |error: io::Error| error.to_string();
    let mut files = Vec::new();
    for name in ["key", "nonce", "AAD", "input", "output", "tag"] {
        files.push(mapped(Path::new(&folder), name).map_err(text)?);
    }
    // SAFETY: the table of the model, which needs no key for that.
    let started = unsafe { table.start.expect("it has that")(ptr::null()) };
    if !started.is_null() {
        return Err("there is no such fault".into());
    }
    let offers = WHOLE_IN_MEMORY | TAG_BEHIND;
    println!("faulty program|model|{offers}|{}|{}|{}|{}|0", table.keys, table.tags, table.nonce_min, table.nonce_max);
    let mut input = io::stdin().lock();
    let mut numbers = [[0; 4]; 16];
    while input.read_exact(numbers.as_flattened_mut()).is_ok() {
        let [seals, _, key_length, nonce_length, aad_length, length, tag_length, _, _, key, nonce, aad, from, to, tag, shared] =
            numbers.map(|number| u32::from_le_bytes(number) as usize);
        let input = if shared == 1 { files[4] } else { files[3] };
        let message = Message {
            nonce: files[1].wrapping_add(nonce),
            nonce_length,
            aad: files[2].wrapping_add(aad),
            aad_length,
            input: input.wrapping_add(from),
            output: files[4].wrapping_add(to),
            length,
            tag: if seals == 1 { files[4] } else { input }.wrapping_add(tag),
            tag_length,
        };
        // SAFETY: the request has the offsets of these buffers.
        let done = unsafe {
            let key = table.key.expect("it has that")(files[0].wrapping_add(key), key_length);
            let done = (if seals == 1 { table.seal } else { table.open }).expect("it has that")(key, &message);
            table.free.expect("it has that")(key);
            done
        };
        io::stdout().write_all(&[done as u8]).map_err(text)?;
        io::stdout().flush().map_err(text)?;
    }
    Ok(())
}

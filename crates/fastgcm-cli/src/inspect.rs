//! `fastgcm inspect`

use crate::{
    cli,
    failure::{Code, Failure},
    input::Input,
    print,
    progress::Progress,
};
use fastgcm_file::{CHUNK_LEN, Header, SALT_LEN, TAG_LEN, chunks, text_len};
use std::io::{self, Read};

/// Tells what can be told without the key: nothing of it is verified.
pub(crate) fn run(args: &cli::Inspect) -> Result<(), Failure> {
    let input = Input::open(&args.file)?;
    let (name, len) = (input.to_string(), input.len);
    let mut input = input.watch(Progress::new(true, None));
    let mut header = [0; size_of::<Header>()];
    let unauthentic = |why| Failure::new(Code::Unauthentic, format_args!("{name}: {why}"));
    let io = |error| Failure::io(&name, error);
    match input.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(unauthentic("not a sealed file, or truncated: it is shorter than a header of 56 bytes".into()));
        }
        result => result.map_err(io)?,
    }
    // The length of a pipe is known at its end only.
    let sealed = match len {
        Some(len) => len,
        None => header.len() as u64 + io::copy(&mut input, &mut io::sink()).map_err(io)?,
    };
    let text = text_len(sealed).map_err(|_| unauthentic(format!("no sealed file has {sealed} bytes: it is truncated, or none")))?;
    let chunks = chunks(text).map_err(|error| Failure::file(&name, error))?;
    let (salt, commitment) = header.split_at(SALT_LEN);
    print(format!(
        "file        {name}\n\
         format      Cobblestone-256 or Cobblestone-128 (only the key tells)\n\
         size        {sealed} bytes\n\
         text        {text} bytes\n\
         chunks      {chunks}: {} of {CHUNK_LEN} bytes, the last of {}, a tag of {TAG_LEN} bytes each\n\
         salt        {}\n\
         commitment  {}\n\
         nothing of this is verified without the key\n",
        chunks - 1,
        text % CHUNK_LEN as u64,
        hex(salt),
        hex(commitment)
    ))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

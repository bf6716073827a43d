//! `fastgcm inspect`

use crate::{
    cli,
    failure::{Code, Failure, escaped},
    input::{Input, each, refuse_two_dashes},
    keyfile::{KeyFile, Purpose, Wanted, fingerprint},
    print,
    progress::Progress,
};
use fastgcm_file::{CHUNK_LEN, HEADER_LEN, SALT_LEN, TAG_LEN, chunks, sealed_len, text_len};
use std::{
    io::{self, Read},
    path::Path,
};

/// Prints what a file reveals without the key, which is little; with the key, all of it is verified.
pub(crate) fn run(args: &cli::Inspect) -> Result<(), Failure> {
    let common = &args.common;
    let backend = common.machine.backend()?;
    let path = args.key.as_deref();
    let wanted = Wanted { path, format: args.format, purpose: Purpose::Open, reading: &args.reading, backend, read: None };
    let mut wanted = (args.verify || args.key.is_some()).then_some(wanted);
    if wanted.is_none() && (!common.context.is_empty() || args.format.is_some()) {
        return Err(Failure::usage("a context and a format cannot be verified without the key: say -k KEY, too"));
    }
    each(&args.files, "inspected", true, |file| inspect(args, file, wanted.as_mut()))
}

fn inspect(args: &cli::Inspect, file: &Path, wanted: Option<&mut Wanted<'_>>) -> Result<(), Failure> {
    let common = &args.common;
    refuse_two_dashes(file, args.key.as_deref())?;
    let input = Input::open(file)?;
    let (name, len) = (input.to_string(), input.len);
    let key = wanted.map(Wanted::get).transpose()?;
    let mut input = input.watch(Progress::new(common.quiet || key.is_none(), len));
    let unauthentic = |why: &str| Failure::new(Code::Unauthentic, format_args!("{name}: {why}"));
    let io = |error| Failure::io(&name, error);
    let mut header = [0; HEADER_LEN];
    match input.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(unauthentic("no sealed file, or truncated: it is shorter than a header of 56 bytes"));
        }
        result => result.map_err(io)?,
    }

    let (sealed, verified) = match key {
        Some(file) => {
            let text = fastgcm_file::open(&file.key, common.context.as_bytes(), header.chain(input), io::sink(), common.threads());
            (text.and_then(sealed_len).map_err(|error| file.failure(&name, error))?, Some(file))
        }
        // The length of a pipe is known only at its end.
        None => match len {
            Some(len) => (len, None),
            None => (HEADER_LEN as u64 + io::copy(&mut input, &mut io::sink()).map_err(io)?, None),
        },
    };
    let text = text_len(sealed)
        .map_err(|_| unauthentic(&format!("no sealed file has {sealed} bytes: this is one that was truncated, or none")))?;
    // A salt and a commitment look random. The chance that 56 random bytes are ASCII is 2^-56; texts and zeros are ASCII.
    if verified.is_none() && header.is_ascii() {
        return Err(unauthentic("no sealed file: one begins with 56 random bytes, and this begins with plain ASCII"));
    }
    let facts = Facts { sealed, text, chunks: chunks(text).map_err(|error| Failure::file(&name, error))?, header };
    // Each of several files has lines of its own.
    let end = if args.files.len() > 1 { "\n" } else { "" };
    print(format!("file        {}\n{}{end}", escaped(&name), facts.lines(verified)?))
}

/// The public facts of a sealed file.
struct Facts {
    sealed: u64,
    text: u64,
    chunks: u64,
    header: [u8; HEADER_LEN],
}

impl Facts {
    /// Returns a line for each fact, as certain as it is: with the key it has been verified.
    fn lines(&self, verified: Option<&KeyFile>) -> Result<String, Failure> {
        let Self { sealed, text, chunks, header } = self;
        let (salt, commitment) = header.split_at(SALT_LEN);
        let (key, format, verdict) = match verified {
            Some(file) => (
                format!("key         {}, fingerprint {}\n", escaped(&file.name), fingerprint(&file.key)?),
                file.key.format().name(),
                "verified: this is what was sealed with this key and this context, unchanged and complete",
            ),
            None => (
                String::new(),
                "could be cobblestone-256 or cobblestone-128, or none: its length fits, and more cannot be told without the key",
                "all of this holds only if it is a sealed file, which -k KEY verifies",
            ),
        };
        Ok(format!(
            "{key}format      {format}\n\
             size        {sealed} bytes\n\
             text        {text} bytes\n\
             chunks      {chunks}: {} of {CHUNK_LEN} bytes, the last of {}, a tag of {TAG_LEN} bytes each\n\
             salt        {}\n\
             commitment  {}\n\
             {verdict}\n",
            chunks - 1,
            text % CHUNK_LEN as u64,
            hex(salt),
            hex(commitment)
        ))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

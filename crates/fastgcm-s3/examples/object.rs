//! Seals a file as an object of the S3 Encryption Client, or opens one: `object seal|open FILE KEY`. What the official client would ask KMS for comes
//! from the environment: `DATA_KEY` and `WRAPPED` (base64) and `CONTEXT` (`name=value`). `BUCKET` and `AWS_ENDPOINT` say where. `envelope KEY` prints what
//! KMS is to unwrap. The last line is the peak of memory, in KiB.

use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use fastgcm_s3::{Envelope, Options, Reader, upload};
use object_store::{ObjectStore, aws::AmazonS3Builder, path::Path};
use std::{collections::BTreeMap, env, error::Error, fs::File, io::Write, ops::Range, os::unix::fs::FileExt, sync::Arc};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = AmazonS3Builder::from_env().with_bucket_name(env::var("BUCKET")?).with_allow_http(true).build()?;
    let store = Arc::new(store);
    let arguments: Vec<String> = env::args().skip(1).collect();
    let user = env::var("CONTEXT").ok();
    let user: BTreeMap<_, _> = user.iter().filter_map(|pair| pair.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    let data_key = || -> Result<[u8; 32], Box<dyn Error>> {
        BASE64.decode(env::var("DATA_KEY")?)?.try_into().map_err(|_| "DATA_KEY has not 32 bytes".into())
    };
    let options = Options { part: 5 << 20, workers: 2, ..Options::default() };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["seal", file, name] => {
            let file = Arc::new(File::open(file)?);
            let sealing = Envelope::create(&data_key()?, BASE64.decode(env::var("WRAPPED")?)?, Envelope::context(&user)?)?;
            let len = file.metadata()?.len();
            let read = move |range: Range<u64>| {
                let file = file.clone();
                async move {
                    let mut text = vec![0; (range.end - range.start) as usize];
                    file.read_exact_at(&mut text, range.start).map(|()| text)
                }
            };
            upload(store, Path::from(name), sealing, len, options, read).await?;
        }
        ["open", file, name] => {
            let path = Path::from(name);
            let content = Envelope::fetch(&*store, &path, &user, options).await?.content(&data_key()?)?;
            let object = Reader::verified(store, path, content, options).await?;
            let mut file = File::create_new(file)?;
            for start in (0..object.len()).step_by(options.part as usize) {
                file.write_all(&object.read(start..object.len().min(start + options.part)).await?)?;
            }
        }
        ["envelope", name] => {
            let envelope = Envelope::fetch(&*store as &dyn ObjectStore, &Path::from(name), &user, options).await?;
            println!("{}", BASE64.encode(envelope.wrapped()));
        }
        _ => return Err("object seal|open FILE KEY, or object envelope KEY".into()),
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    eprintln!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    Ok(())
}

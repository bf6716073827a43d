//! Objects of the Amazon S3 Encryption Client, version 4, whose parts are sealed and opened in parallel.
//!
//! That client makes one AES-GCM message of an object (suite `ALG_AES_256_GCM_HKDF_SHA512_COMMIT_KEY`, 115). Its official implementations
//! seal the parts of a multipart upload one after the other. GHASH of a message is a sum over its parts, so the parts need no order: here
//! each worker reads, seals and uploads parts in any order, and the tag is combined last. The official clients open what [`upload`] wrote,
//! and [`Reader`] opens what they wrote.
//!
//! A worker holds one part. A part whose upload failed is read and sealed again. If its text has changed, the part is refused before any of
//! its bytes leave the worker: two texts under one key and nonce would give each other away.
//!
//! **What is not protected**: the length of the object, its name, and metadata of other origin. Anybody who may write to the bucket can put
//! back an older object, or an object under another name: put the name into the encryption context if that matters.
//!
//! ```
//! # use fastgcm_s3::{Envelope, MIN_PART, Options, Reader, upload};
//! # use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
//! # use std::{collections::BTreeMap, sync::Arc};
//! # async fn example(store: Arc<object_store::aws::AmazonS3>) -> Result<(), Box<dyn std::error::Error>> {
//! let user = BTreeMap::from([("name".into(), "backup".into())]);
//! let context = Envelope::context(&user)?; // KMS: GenerateDataKey with this context, for 32 bytes
//! let (data_key, wrapped) = ([7; 32], vec![8; 100]); // what it returned
//! let sealing = Envelope::create(&data_key, wrapped, context)?;
//!
//! let path = Path::from("backup");
//! let read = |range: std::ops::Range<u64>| async move { Ok(vec![0; (range.end - range.start) as usize]) }; // the same bytes each time
//! upload(store.clone(), path.clone(), sealing, 100 << 20, Options::default(), read).await?;
//!
//! let envelope = Envelope::fetch(&*store, &path, &user, Options::default()).await?;
//! let content = envelope.content(&data_key)?; // KMS: Decrypt envelope.wrapped() with envelope.stored_context()
//! let object = Reader::verified(store, path, content, Options::default()).await?;
//! let text = object.read(1000..2000).await?;
//! # Ok(())
//! # }
//! ```

mod envelope;
mod error;
mod read;
mod upload;

pub use envelope::{Content, Envelope, SEALED_HASH_LEN, Sealing};
pub use error::Error;
pub use read::Reader;
pub use upload::upload;

/// The smallest part that S3 accepts, in bytes, except for the last.
pub const MIN_PART: u64 = 5 << 20;

/// The largest part that S3 accepts, in bytes.
pub const MAX_PART: u64 = 5 << 30;

/// The most parts of an object in S3.
pub const MAX_PARTS: u64 = 10_000;

/// The parameters for processing an object in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The bytes of text in a part: a multiple of 16, at least [`MIN_PART`], at most [`MAX_PART`] less 16.
    pub part: u64,
    /// The number of parts in work at a time. Each part takes `part` bytes of memory.
    pub workers: usize,
    /// The number of attempts for each request, and each part, before the whole operation fails. What the store refuses (there is no such object)
    /// and what is not authentic is not tried again.
    pub attempts: usize,
}

impl Default for Options {
    /// Uses parts of 8 MiB, four at a time, each tried three times.
    fn default() -> Self {
        Self { part: 8 << 20, workers: 4, attempts: 3 }
    }
}

impl Options {
    fn check(&self, len: u64) -> Result<(), Error> {
        if !self.part.is_multiple_of(16) || !(MIN_PART..=MAX_PART - 16).contains(&self.part) {
            return Err(Error::Options("part is no multiple of 16 bytes, or not within what S3 takes"));
        }
        if len / self.part >= MAX_PARTS {
            return Err(Error::Options("more than 10,000 parts: make them longer"));
        }
        if self.workers == 0 || self.attempts == 0 { Err(Error::Options("no worker, or no attempt")) } else { Ok(()) }
    }
}

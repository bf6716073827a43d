//! The metadata of an object, and the keys that follow from the metadata and the data key.

use crate::{Error, Options};
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use fastgcm::{
    Key, Tag,
    hazmat::{PartHash, Plan, hash_part, open_part, seal_part},
};
use hkdf::Hkdf;
use object_store::{Attribute, Attributes, ObjectStore, path::Path};
use sha2::Sha512;
use std::{collections::BTreeMap, fmt};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The suite's number, 115, as `info` of HKDF and the associated data of the message contain it.
const SUITE: [u8; 2] = [0x00, 0x73];
/// The key is derived for one message, so the nonce is fixed.
const NONCE: [u8; 12] = [1; 12];
/// The context names the suite to KMS under this key.
const RESERVED: (&str, &str) = ("aws:x-amz-cek-alg", "115");
/// KMS wrapped the data key, with a context.
const KMS: &str = "12";

// The names of S3's metadata.
const CIPHER: &str = "x-amz-c";
const WRAPPED: &str = "x-amz-3";
const WRAPPED_BY: &str = "x-amz-w";
const CONTEXT: &str = "x-amz-t";
const COMMITMENT: &str = "x-amz-d";
const MESSAGE_ID: &str = "x-amz-i";
/// The names of older formats: an object that has one of these beside ours is ambiguous, and is refused.
const OLDER: [&str; 2] = ["x-amz-key", "x-amz-key-v2"];

const ID_LEN: usize = 28;

/// The length in bytes of a [`PartHash`] that travels encrypted: a nonce, the hash and a tag.
pub const SEALED_HASH_LEN: usize = 12 + PartHash::LEN + 16;

/// The metadata of an object. The metadata are not secret: with them, and with the right to use KMS, any worker derives the [`Content`]
/// key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    wrapped: Vec<u8>,
    context: BTreeMap<String, String>,
    id: [u8; ID_LEN],
    commitment: [u8; ID_LEN],
}

/// An object that is about to be sealed. [`upload`](crate::upload) consumes it, because a message has one text.
#[derive(Debug)]
pub struct Sealing {
    pub(crate) envelope: Envelope,
    pub(crate) content: Content,
}

impl Sealing {
    /// Returns envelope and key separately, for workers on many machines: the envelope goes to the workers, each of which asks KMS for the
    /// data key and calls [`Envelope::content`].
    ///
    /// A caller that separates them must ensure that each part has one text: by one [`Content::plan`], as its documentation says.
    pub fn into_parts(self) -> (Envelope, Content) {
        (self.envelope, self.content)
    }
}

impl Envelope {
    /// Returns the context for KMS: the user's, and the suite.
    ///
    /// # Errors
    /// Returns [`Metadata`](Error::Metadata) if the user's context has the client's own name `aws:x-amz-cek-alg`, or text that is not
    /// ASCII, which S3 does not keep unchanged.
    pub fn context(user: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Error> {
        if user.contains_key(RESERVED.0) {
            return Err(Error::Metadata("aws:x-amz-cek-alg is the client's own name in a context"));
        }
        if !user.iter().all(|(name, value)| name.is_ascii() && value.is_ascii()) {
            return Err(Error::Metadata("a context that is not ASCII"));
        }
        let mut context = user.clone();
        context.insert(RESERVED.0.into(), RESERVED.1.into());
        Ok(context)
    }

    /// Makes a new message, with a random message ID, under a data key of 32 bytes, which KMS has wrapped with this
    /// [`context`](Self::context).
    ///
    /// # Errors
    /// Returns `Metadata` if `context` does not name the suite, or [`Gcm`](Error::Gcm) if the operating system has no random bytes.
    pub fn create(data_key: &[u8; 32], wrapped: Vec<u8>, context: BTreeMap<String, String>) -> Result<Sealing, Error> {
        if context.get(RESERVED.0).map(String::as_str) != Some(RESERVED.1) {
            return Err(Error::Metadata("the context does not name the suite"));
        }
        let mut id = [0; ID_LEN];
        getrandom::fill(&mut id).map_err(|_| fastgcm::Error::NoEntropy)?;
        let (content, commitment) = Content::derived(data_key, &id);
        Ok(Sealing { envelope: Self { wrapped, context, id, commitment }, content })
    }

    /// Returns the data key in the form in which KMS has wrapped it.
    pub fn wrapped(&self) -> &[u8] {
        &self.wrapped
    }

    /// Returns the context that unwraps the data key, with the suite.
    pub fn stored_context(&self) -> &BTreeMap<String, String> {
        &self.context
    }

    /// Derives the key of the content.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the object was not sealed with this data key. The comparison takes constant time.
    pub fn content(&self, data_key: &[u8; 32]) -> Result<Content, Error> {
        let (content, commitment) = Content::derived(data_key, &self.id);
        if bool::from(commitment.ct_eq(&self.commitment)) { Ok(content) } else { Err(Error::Unauthentic) }
    }

    /// Returns the metadata of the object: names and values.
    pub fn metadata(&self) -> [(&'static str, String); 6] {
        [
            (CIPHER, RESERVED.1.into()),
            (WRAPPED_BY, KMS.into()),
            (WRAPPED, BASE64.encode(&self.wrapped)),
            (MESSAGE_ID, BASE64.encode(self.id)),
            (COMMITMENT, BASE64.encode(self.commitment)),
            (CONTEXT, serde_json::json!(self.context).to_string()),
        ]
    }

    /// Returns the metadata in the form that a store takes.
    pub fn attributes(&self) -> Attributes {
        self.metadata().into_iter().map(|(name, value)| (Attribute::Metadata(name.into()), value)).collect()
    }

    /// Reads an object's envelope. `get` finds a value of its metadata by name; `user` is the context that the caller expects.
    ///
    /// # Errors
    /// Returns [`Metadata`](Error::Metadata) if the object has another format, another context, or a data key that was not wrapped by KMS
    /// with a context.
    pub fn of<'a>(get: impl Fn(&str) -> Option<&'a str>, user: &BTreeMap<String, String>) -> Result<Self, Error> {
        if OLDER.iter().any(|name| get(name).is_some()) {
            return Err(Error::Metadata("it has a data key of an older version"));
        }
        let value = |name, missing| get(name).ok_or(Error::Metadata(missing));
        if value(CIPHER, "no x-amz-c")? != RESERVED.1 {
            return Err(Error::Metadata("x-amz-c is not 115"));
        }
        if value(WRAPPED_BY, "no x-amz-w")? != KMS {
            return Err(Error::Metadata("x-amz-w is not 12: the data key was not wrapped by KMS"));
        }
        let bytes = |name, missing| BASE64.decode(value(name, missing)?).map_err(|_| Error::Metadata("a value that is not base64"));
        let id = |bytes: Vec<u8>| <[u8; ID_LEN]>::try_from(bytes).map_err(|_| Error::Metadata("x-amz-i or x-amz-d has not 28 bytes"));
        let context: BTreeMap<String, String> = match get(CONTEXT) {
            Some(json) => serde_json::from_str(json).map_err(|_| Error::Metadata("x-amz-t is no JSON of strings"))?,
            None => BTreeMap::new(),
        };
        let mut stored = context.clone();
        stored.remove(RESERVED.0);
        if stored != *user {
            return Err(Error::Metadata("another context than the expected one"));
        }
        Ok(Self {
            wrapped: bytes(WRAPPED, "no x-amz-3")?,
            id: id(bytes(MESSAGE_ID, "no x-amz-i")?)?,
            commitment: id(bytes(COMMITMENT, "no x-amz-d")?)?,
            context,
        })
    }

    /// Reads the envelope of an object in a store.
    ///
    /// # Errors
    /// Fails like [`of`](Self::of), or with errors of the store.
    pub async fn fetch(store: &dyn ObjectStore, path: &Path, user: &BTreeMap<String, String>, options: Options) -> Result<Self, Error> {
        let found = crate::read::head(store, path, options).await?;
        let attributes = &found.attributes;
        Self::of(|name| attributes.get(&Attribute::Metadata(name.to_owned().into())).map(|value| &**value), user)
    }
}

/// The key of one object's content. It is wiped when it is dropped.
pub struct Content {
    key: Key,
    /// The hashes of parts travel under this key.
    hashes: Key,
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Content")
    }
}

impl Content {
    /// Returns the key, and the commitment to it.
    fn derived(data_key: &[u8; 32], id: &[u8; ID_LEN]) -> (Self, [u8; ID_LEN]) {
        let extracted = Hkdf::<Sha512>::new(Some(id), data_key);
        let key = |name: &[u8]| {
            let mut bytes = Zeroizing::new([0; 32]);
            extracted.expand_multi_info(&[&SUITE, name], &mut *bytes).unwrap_or_else(|_| unreachable!("32 bytes are not too many"));
            Key::aes256(&bytes)
        };
        let mut commitment = [0; ID_LEN];
        extracted.expand_multi_info(&[&SUITE, b"COMMITKEY"], &mut commitment).unwrap_or_else(|_| unreachable!("28 bytes are not too many"));
        (Self { key: key(b"DERIVEKEY"), hashes: key(b"fastgcm hashes of parts") }, commitment)
    }

    /// Plans an object of `len` bytes in parts of `part` bytes. The plan stays where the work is handed out. A worker seals a part into
    /// memory, sends the hash ([`seal_hash`](Self::seal_hash)), and uploads only what the plan has accepted.
    ///
    /// # Errors
    /// Fails like [`Plan::new`].
    pub fn plan(&self, len: u64, part: u64) -> Result<Plan, Error> {
        Ok(Plan::new(NONCE, len, part)?)
    }

    /// Encrypts the part that begins at byte `offset` in place: see [`seal_part`].
    ///
    /// # Errors
    /// Fails like [`seal_part`]. `text` is untouched.
    pub fn seal_part(&self, offset: u64, text: &mut [u8]) -> Result<PartHash, Error> {
        Ok(seal_part(&self.key, NONCE, offset, text)?)
    }

    pub(crate) fn open_part(&self, offset: u64, text: &mut [u8]) -> Result<PartHash, Error> {
        Ok(open_part(&self.key, NONCE, offset, text)?)
    }

    pub(crate) fn hash_part(&self, offset: u64, ciphertext: &[u8]) -> Result<PartHash, Error> {
        Ok(hash_part(&self.key, offset, ciphertext)?)
    }

    /// Returns the tag, which is the last 16 bytes of the object, once all parts are accepted.
    ///
    /// # Errors
    /// Returns [`Gcm`](Error::Gcm) if a part is missing.
    pub fn tag(&self, plan: &Plan) -> Result<Tag, Error> {
        Ok(plan.tag(&self.key, &SUITE)?)
    }

    /// Encrypts the hash of a part for its way to the plan, with a random nonce.
    ///
    /// # Errors
    /// Returns [`Gcm`](Error::Gcm) if the operating system has no random bytes.
    pub fn seal_hash(&self, hash: &PartHash) -> Result<[u8; SEALED_HASH_LEN], Error> {
        let mut sealed = [0; SEALED_HASH_LEN];
        let (nonce, rest) = sealed.split_at_mut(12);
        getrandom::fill(nonce).map_err(|_| fastgcm::Error::NoEntropy)?;
        let (text, tag) = rest.split_at_mut(PartHash::LEN);
        text.copy_from_slice(&*Zeroizing::new(hash.to_bytes()));
        let nonce: [u8; 12] = (&*nonce).try_into().unwrap_or_default();
        tag.copy_from_slice(self.hashes.seal(nonce, b"", text)?.as_ref());
        Ok(sealed)
    }

    /// Decrypts the hash of a part that [`seal_hash`](Self::seal_hash) encrypted.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if no worker of this object made it.
    pub fn open_hash(&self, sealed: &[u8; SEALED_HASH_LEN]) -> Result<PartHash, Error> {
        let mut text = Zeroizing::new([0; PartHash::LEN]);
        text.copy_from_slice(&sealed[12..12 + PartHash::LEN]);
        let nonce: [u8; 12] = sealed[..12].try_into().unwrap_or_default();
        let tag: [u8; 16] = sealed[12 + PartHash::LEN..].try_into().unwrap_or_default();
        self.hashes.open(nonce, b"", &mut *text, &Tag::from(tag))?;
        Ok(PartHash::from_bytes(&text)?)
    }
}

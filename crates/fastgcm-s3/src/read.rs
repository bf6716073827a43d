use crate::{Content, Error, Options};
use fastgcm::{Tag, hazmat::Plan};
use object_store::{GetOptions, GetResult, ObjectStore, path::Path};
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::task::JoinSet;
use zeroize::Zeroize;

/// An object whose tag was verified, and whose parts are opened on demand.
///
/// One tag covers the whole text, so the whole object must be read before any of its bytes may be used. [`verified`](Self::verified) does
/// so, part by part and in parallel, and keeps the hash of each part, 32 bytes. [`read`](Self::read) compares each part that it fetches
/// with that hash. So only verified text comes out, even if the object has changed meanwhile. Each request after the first asks for the
/// first one's state of the object, by its ETag, and each is tried up to [`Options::attempts`] times.
#[derive(Debug)]
pub struct Reader {
    store: Arc<dyn ObjectStore>,
    path: Path,
    /// The store's name of this state of the object, which each request demands.
    etag: Option<String>,
    content: Content,
    plan: Mutex<Plan>,
    len: u64,
    options: Options,
}

impl Reader {
    /// Reads and verifies the object. Each worker holds one part in memory; nothing is decrypted.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the tag is wrong; `Options`; `Store` if the store refuses a request, or the object was
    /// replaced meanwhile; or after the last attempt `Store`, `Body` or `Lost`.
    pub async fn verified(store: Arc<dyn ObjectStore>, path: Path, content: Content, options: Options) -> Result<Arc<Self>, Error> {
        let meta = head(&*store, &path, options).await?.meta;
        let size = meta.size;
        let len = size.checked_sub(16).ok_or(Error::Unauthentic)?;
        options.check(len)?;
        let plan = Mutex::new(content.plan(len, options.part)?);
        let reader = Arc::new(Self { store, path, etag: meta.e_tag, content, plan, len, options });
        let hashed = |index| {
            let reader = reader.clone();
            move || async move {
                let range = reader.part(index);
                let ciphertext = reader.fetch_once(range.clone()).await?;
                reader.accept(reader.content.hash_part(range.start, &ciphertext)?)
            }
        };
        each(0..len.div_ceil(options.part) as usize, options, hashed).await?;
        let tag: [u8; 16] = reader.fetch(len..size).await?.try_into().map_err(|_| Error::Unauthentic)?;
        let expected = reader.content.tag(&reader.plan.lock().unwrap_or_else(PoisonError::into_inner))?;
        if expected == Tag::from(tag) { Ok(reader) } else { Err(Error::Unauthentic) }
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the text of a range. The parts of the range are fetched whole, one after the other, and compared with what was verified.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the bytes have changed, [`Gcm`](Error::Gcm) if the range ends behind the text, `Store`
    /// if the store refuses a request, or the object was replaced, or after the last attempt `Store` or `Body`. No text is then given out.
    pub async fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::Gcm(fastgcm::Error::InvalidLength));
        }
        let mut text = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let part = self.part((at / self.options.part) as usize);
            let mut opened = self.fetch(part.clone()).await.inspect_err(|_| text.zeroize())?;
            let hash = self.content.open_part(part.start, &mut opened)?;
            if let Err(error) = self.accept(hash) {
                opened.zeroize();
                text.zeroize();
                return Err(error);
            }
            let end = range.end.min(part.end);
            text.extend_from_slice(&opened[(at - part.start) as usize..(end - part.start) as usize]);
            at = end;
        }
        Ok(text)
    }

    fn part(&self, index: usize) -> Range<u64> {
        let start = index as u64 * self.options.part;
        start..self.len.min(start + self.options.part)
    }

    async fn fetch(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        attempted(self.options, || self.fetch_once(range.clone())).await
    }

    async fn fetch_once(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        let wanted = range.end - range.start;
        let options = GetOptions { range: Some(range.into()), if_match: self.etag.clone(), ..GetOptions::default() };
        let bytes = self.store.get_opts(&self.path, options).await?.bytes().await?;
        let came = bytes.len() as u64;
        if came == wanted { Ok(bytes.into()) } else { Err(Error::Body { wanted, came }) }
    }

    /// The first hash of a part counts; any other hash differs from what was verified.
    fn accept(&self, hash: fastgcm::hazmat::PartHash) -> Result<(), Error> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).accept(hash).map_err(|_| Error::Unauthentic)
    }
}

/// Asks for size and metadata.
pub(crate) async fn head(store: &dyn ObjectStore, path: &Path, options: Options) -> Result<GetResult, Error> {
    let request = || async { Ok(store.get_opts(path, GetOptions { head: true, ..GetOptions::default() }).await?) };
    attempted(options, request).await
}

/// Makes a request, up to `attempts` times.
pub(crate) async fn attempted<T>(options: Options, request: impl AsyncFn() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..options.attempts {
        match request().await {
            Err(error) if error.passes() => {}
            done => return done,
        }
    }
    request().await
}

/// Runs a task for each index, so many at a time, each up to `attempts` times. If a task fails for good, the other tasks are ended.
pub(crate) async fn each<T, A, F>(indices: Range<usize>, options: Options, task: impl Fn(usize) -> A) -> Result<BTreeMap<usize, T>, Error>
where
    T: Send + 'static,
    A: FnOnce() -> F + Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let (mut set, mut running, mut done) = (JoinSet::new(), BTreeMap::new(), BTreeMap::new());
    let mut waiting: Vec<_> = indices.rev().map(|index| (index, 1)).collect();
    loop {
        while running.len() < options.workers
            && let Some((index, attempt)) = waiting.pop()
        {
            running.insert(set.spawn(task(index)()).id(), (index, attempt));
        }
        let Some(ended) = set.join_next_with_id().await else { return Ok(done) };
        let (id, result) = match ended {
            Ok((id, result)) => (id, result),
            Err(lost) => (lost.id(), Err(Error::Lost)),
        };
        let Some((index, attempt)) = running.remove(&id) else { continue };
        match result {
            Ok(value) => drop(done.insert(index, value)),
            Err(error) if error.passes() && attempt < options.attempts => waiting.push((index, attempt + 1)),
            Err(error) => return Err(error),
        }
    }
}

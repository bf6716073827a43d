use crate::{Content, Error, Options};
use fastgcm::{Tag, hazmat::Plan};
use object_store::{GetOptions, ObjectStore, path::Path};
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
/// with that hash. So only verified text comes out, even if the object has changed meanwhile.
#[derive(Debug)]
pub struct Reader {
    store: Arc<dyn ObjectStore>,
    path: Path,
    content: Content,
    plan: Mutex<Plan>,
    len: u64,
    options: Options,
}

impl Reader {
    /// Reads and verifies the object. Each worker holds one part in memory; nothing is decrypted.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the tag is wrong, `Options`, or after the last attempt `Store` or `Lost`.
    pub async fn verified(store: Arc<dyn ObjectStore>, path: Path, content: Content, options: Options) -> Result<Arc<Self>, Error> {
        let size = store.get_opts(&path, GetOptions { head: true, ..GetOptions::default() }).await?.meta.size;
        let len = size.checked_sub(16).ok_or(Error::Unauthentic)?;
        options.check(len)?;
        let plan = Mutex::new(content.plan(len, options.part)?);
        let reader = Arc::new(Self { store, path, content, plan, len, options });
        let hashed = |index| {
            let reader = reader.clone();
            move || async move {
                let range = reader.part(index);
                let ciphertext = reader.fetch(range.clone()).await?;
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
    /// Returns [`Unauthentic`](Error::Unauthentic) if the object has changed, or [`Gcm`](Error::Gcm) if the range ends behind the text. No
    /// text is then given out.
    pub async fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::Gcm(fastgcm::Error::InvalidLength));
        }
        let mut text = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let part = self.part((at / self.options.part) as usize);
            let mut opened = self.fetch(part.clone()).await?;
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
        let wanted = range.end - range.start;
        let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
        let bytes = self.store.get_opts(&self.path, options).await?.bytes().await?;
        if bytes.len() as u64 == wanted { Ok(bytes.into()) } else { Err(Error::Unauthentic) }
    }

    /// The first hash of a part counts; any other hash differs from what was verified.
    fn accept(&self, hash: fastgcm::hazmat::PartHash) -> Result<(), Error> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).accept(hash).map_err(|_| Error::Unauthentic)
    }
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

use crate::{Content, Error, Options, Sealing, read::attempted};
use fastgcm::hazmat::Plan;
use object_store::{
    MultipartId, PutMultipartOptions, PutResult,
    multipart::{MultipartStore, PartId},
    path::Path,
};
use std::{
    io,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// Seals `len` bytes of text as the object at `path`: parts in parallel, in tasks of the current Tokio runtime.
///
/// `read` returns a range of the text. It may be called again for a range, and must then return identical bytes. Each worker holds one part
/// in memory and seals it in place. The object appears when all parts are there. The last part, with the tag behind it, is uploaded last.
///
/// # Errors
/// Returns [`OtherText`](Error::OtherText) if `read` returned other bytes for a part that was sealed before; none of these bytes have been
/// sent. Returns `Read`, `Store` or `Lost` after the last attempt; `Options`; or [`Gcm`](Error::Gcm) if the text is longer than
/// [`fastgcm::limits::TEXT`]. The upload is then aborted, and there is no object, unless only the answer to the last request, which completes
/// the upload, was lost. If the future is dropped, or the process ends, there is
/// no object either, but S3 keeps the parts until a rule of the bucket (`AbortIncompleteMultipartUpload`) removes them.
pub async fn upload<S, F, R>(store: Arc<S>, path: Path, sealing: Sealing, len: u64, options: Options, read: F) -> Result<PutResult, Error>
where
    S: MultipartStore + ?Sized,
    F: Fn(Range<u64>) -> R + Send + Sync + 'static,
    R: Future<Output = io::Result<Vec<u8>>> + Send,
{
    options.check(len)?;
    let Sealing { envelope, content } = sealing;
    let plan = Mutex::new(content.plan(len, options.part)?);
    let attributes = PutMultipartOptions { attributes: envelope.attributes(), ..PutMultipartOptions::default() };
    let created = || async { Ok(store.create_multipart_opts(&path, attributes.clone()).await?) };
    let id = attempted(options, created).await?;
    let work = Arc::new(Work { store, path, id, content, plan, len, part: options.part, read });
    let done = match parts(&work, options).await {
        Ok(parts) => {
            let completed = || async { Ok(work.store.complete_multipart(&work.path, &work.id, parts.clone()).await?) };
            attempted(options, completed).await
        }
        Err(error) => Err(error),
    };
    if done.is_err() {
        // The function reports the first error.
        let _ = work.store.abort_multipart(&work.path, &work.id).await;
    }
    done
}

struct Work<S: ?Sized, F> {
    path: Path,
    id: MultipartId,
    content: Content,
    plan: Mutex<Plan>,
    len: u64,
    part: u64,
    read: F,
    store: Arc<S>,
}

/// Seals all parts, in order. The last part is the rest, which may be empty, and the tag.
async fn parts<S, F, R>(work: &Arc<Work<S, F>>, options: Options) -> Result<Vec<PartId>, Error>
where
    S: MultipartStore + ?Sized,
    F: Fn(Range<u64>) -> R + Send + Sync + 'static,
    R: Future<Output = io::Result<Vec<u8>>> + Send,
{
    let last = (work.len / work.part) as usize;
    let spawned = |index| {
        let work = work.clone();
        move || async move { work.attempt(index).await }
    };
    let mut done = crate::read::each(0..last, options, spawned).await?;
    done.extend(crate::read::each(last..last + 1, options, spawned).await?);
    Ok(done.into_values().collect())
}

impl<S, F, R> Work<S, F>
where
    S: MultipartStore + ?Sized,
    F: Fn(Range<u64>) -> R + Send + Sync,
    R: Future<Output = io::Result<Vec<u8>>> + Send,
{
    /// Reads, seals and uploads one part.
    async fn attempt(&self, index: usize) -> Result<PartId, Error> {
        let start = index as u64 * self.part;
        let end = self.len.min(start + self.part);
        let mut text = Vec::new();
        if start < end {
            text = (self.read)(start..end).await?;
            if text.len() as u64 != end - start {
                return Err(Error::OtherText);
            }
            let hash = self.content.seal_part(start, &mut text)?;
            self.plan().accept(hash).inspect_err(|_| text.fill(0))?;
        }
        if end - start < self.part {
            text.extend_from_slice(self.content.tag(&self.plan())?.as_ref());
        }
        Ok(self.store.put_part(&self.path, &self.id, index, text.into()).await?)
    }

    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

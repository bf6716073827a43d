//! Walks over every public function, which are found in the sources: sizes beyond 2^32, each half of what is compared or drawn, what comes after a refused
//! call, and texts that must show no secret.

use super::*;
use fastgcm_s3::{Content, SEALED_HASH_LEN};
use object_store::Attribute;
use std::sync::OnceLock;

/// Each public function, and the walks that call it.
const WALKED: [(&str, &str); 20] = [
    ("attributes", "sizes"),
    ("content", "halves, afterwards"),
    ("context", "afterwards"),
    ("create", "halves"),
    ("fetch", "sizes"),
    ("into_parts", "halves"),
    ("is_empty", "sizes"),
    ("len", "sizes"),
    ("metadata", "halves"),
    ("of", "halves, afterwards"),
    ("open_hash", "halves, afterwards"),
    ("plan", "sizes, afterwards"),
    ("read", "sizes, afterwards"),
    ("seal_hash", "halves"),
    ("seal_part", "sizes, afterwards"),
    ("stored_context", "afterwards"),
    ("tag", "sizes"),
    ("upload", "sizes"),
    ("verified", "sizes"),
    ("wrapped", "of each object that a test opens"),
];

/// A new function or type is missed here until a walk has it.
#[test]
fn every_public_function_is_walked() {
    let names = WALKED.map(|(name, _)| name.to_owned());
    let found: BTreeSet<String> = sources().iter().flat_map(|source| functions(source)).collect();
    assert_eq!(BTreeSet::from(names), found);
}

fn sources() -> Vec<String> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    folder.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

fn functions(source: &str) -> Vec<String> {
    let behind = source.split("pub fn ").skip(1).chain(source.split("pub async fn ").skip(1));
    behind.map(|rest| rest.split(['(', '<']).next().unwrap().to_owned()).collect()
}

/// The object of a text of zeros that is longer than 2^32 bytes. Its bytes are made when they are asked for, and none is kept.
#[derive(Debug, Default)]
struct Giant {
    /// Since the upload began.
    content: OnceLock<(Content, Attributes)>,
    tag: Mutex<Vec<u8>>,
}

impl Giant {
    fn part(&self, range: Range<u64>) -> Vec<u8> {
        let mut bytes = vec![0; (range.end.min(GIANT) - range.start.min(GIANT)) as usize];
        self.content.get().unwrap().0.seal_part(range.start.next_multiple_of(16), &mut bytes).unwrap();
        bytes
    }
}

impl std::fmt::Display for Giant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("giant")
    }
}

#[async_trait]
impl MultipartStore for Giant {
    async fn create_multipart(&self, _: &Path) -> Result<MultipartId> {
        unreachable!("the object would have no metadata")
    }

    async fn create_multipart_opts(&self, _: &Path, options: PutMultipartOptions) -> Result<MultipartId> {
        let attributes = options.attributes;
        let envelope = Envelope::of(|name| attributes.get(&Attribute::Metadata(name.to_owned().into())).map(|value| &**value), &user());
        self.content.set((envelope.unwrap().content(&DATA_KEY).unwrap(), attributes)).unwrap();
        Ok("id".into())
    }

    async fn put_part(&self, _: &Path, _: &MultipartId, index: usize, data: PutPayload) -> Result<PartId> {
        let mut bytes: Vec<u8> = data.into_iter().flatten().collect();
        let start = index as u64 * PART_OF_GIANT;
        let text = (GIANT - start).min(PART_OF_GIANT);
        let tag = bytes.split_off(text as usize);
        assert!(bytes == self.part(start..start + text), "part {index}");
        self.tag.lock().unwrap().extend(tag);
        Ok(PartId { content_id: index.to_string() })
    }

    async fn complete_multipart(&self, path: &Path, _: &MultipartId, _: Vec<PartId>) -> Result<PutResult> {
        InMemory::new().put(path, PutPayload::new()).await
    }

    async fn abort_multipart(&self, _: &Path, _: &MultipartId) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl ObjectStore for Giant {
    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let range = if let Some(GetRange::Bounded(range)) = options.range { range } else { 0..0 };
        let mut bytes = self.part(range.clone());
        if range.end > GIANT {
            bytes.extend_from_slice(&self.tag.lock().unwrap());
        }
        let store = InMemory::new();
        let attributes = self.content.get().unwrap().1.clone();
        store.put_opts(path, bytes.into(), PutOptions { attributes, ..PutOptions::default() }).await?;
        let mut got = store.get_opts(path, GetOptions::default()).await?;
        got.meta.size = GIANT + 16;
        Ok(got)
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        unreachable!("only read")
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        unreachable!("only read")
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        unreachable!("only read")
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        unreachable!("only read")
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        unreachable!("only read")
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        unreachable!("only read")
    }
}

const PART_OF_GIANT: u64 = 64 << 20;
const GIANT: u64 = (1 << 32) + PART_OF_GIANT + 21;

/// 2^32 bytes and some more go up, are verified, and are read on both sides of 2^32: each offset, length and range counts in 64 bits.
#[tokio::test(flavor = "multi_thread")]
async fn sizes() {
    let options = Options { part: PART_OF_GIANT, workers: 2, ..OPTIONS };
    let (giant, ranges) = (Arc::new(Giant::default()), Arc::new(Mutex::new(Vec::new())));
    let seen = ranges.clone();
    let read = move |range: Range<u64>| {
        seen.lock().unwrap().push((range.start, range.end));
        async move { Ok(vec![0; (range.end - range.start) as usize]) }
    };
    upload(giant.clone(), path(), sealing(), GIANT, options, read).await.unwrap();
    let mut ranges = std::mem::take(&mut *ranges.lock().unwrap());
    ranges.sort_unstable();
    assert!(ranges[0].0 == 0 && ranges.windows(2).all(|two| two[0].1 == two[1].0) && ranges.last().unwrap().1 == GIANT);
    // The tag is the one of these parts.
    let content = &giant.content.get().unwrap().0;
    let mut plan = content.plan(GIANT, PART_OF_GIANT).unwrap();
    for (start, end) in ranges {
        plan.accept(content.seal_part(start, &mut vec![0; (end - start) as usize]).unwrap()).unwrap();
    }
    assert_eq!(*giant.tag.lock().unwrap(), content.tag(&plan).unwrap().as_ref());
    let store: Arc<dyn ObjectStore> = giant.clone();
    let fetched = Envelope::fetch(&*store, &path(), &user(), options).await.unwrap();
    let reader = Reader::verified(store, path(), fetched.content(&DATA_KEY).unwrap(), options).await.unwrap();
    assert!(reader.len() == GIANT && !reader.is_empty());
    for (start, end) in [((1 << 32) - 5, (1 << 32) + 5), (1 << 32, (1 << 32) + 70_000), (GIANT - 21, GIANT), (70_000, 140_001)] {
        assert!(reader.read(start..end).await.unwrap() == vec![0; (end - start) as usize], "{start}..{end}");
    }
    for (start, end) in [(GIANT - 1, GIANT + 1), (1 << 32, 1 << 31), (GIANT + (1 << 32), GIANT + (1 << 32))] {
        assert!(matches!(reader.read(start..end).await, Err(Error::Gcm(_))), "{start}..{end}");
    }
}

/// Each byte of what is drawn is drawn, and each of what is compared is compared.
#[test]
fn halves() {
    let drawn = |name: &'static str| {
        let value = move || sealing().into_parts().0.metadata().into_iter().find(|(found, _)| *found == name).unwrap().1;
        secrets::drawn(name, || BASE64.decode(value()).unwrap());
    };
    drawn("x-amz-i");
    drawn("x-amz-d"); // it follows from the former
    let (envelope, content) = sealing().into_parts();
    let hash = content.seal_part(16, &mut [1; 40]).unwrap();
    secrets::drawn("the nonce of a hash", || content.seal_hash(&hash).unwrap()[..12].to_vec());
    let metadata = BTreeMap::from(envelope.metadata());
    let changed = |name: &str, at: usize| {
        let mut bytes = BASE64.decode(&metadata[name]).unwrap();
        bytes[at] ^= 0x80;
        let value = BASE64.encode(bytes);
        Envelope::of(|found| if found == name { Some(value.clone().leak()) } else { metadata.get(found).map(String::as_str) }, &user())
            .unwrap()
    };
    for at in 0..28 {
        for name in ["x-amz-d", "x-amz-i"] {
            assert!(matches!(changed(name, at).content(&DATA_KEY), Err(Error::Unauthentic)), "byte {at} of {name}");
        }
    }
    for at in 0..32 {
        let mut other = DATA_KEY;
        other[at] ^= 1;
        assert!(matches!(envelope.content(&other), Err(Error::Unauthentic)), "byte {at} of the key");
    }
    let sealed = content.seal_hash(&hash).unwrap();
    for at in 0..SEALED_HASH_LEN {
        let mut sealed = sealed;
        sealed[at] ^= 0x80;
        assert!(matches!(content.open_hash(&sealed), Err(Error::Unauthentic)), "byte {at} of a hash");
    }
}

/// After a refused call the next one does what it does without the refused one.
#[tokio::test(flavor = "multi_thread")]
async fn afterwards() {
    let (envelope, content) = sealing().into_parts();
    let (mut right, mut wrong) = ([3; 16], [4; 16]);
    let mut plan = content.plan(32, 16).unwrap();
    assert!(content.plan(32, 17).is_err() && content.seal_part(8, &mut wrong).is_err() && wrong == [4; 16]);
    plan.accept(content.seal_part(0, &mut right).unwrap()).unwrap();
    assert!(plan.accept(content.seal_part(0, &mut wrong).unwrap()).is_err(), "another text");
    assert!(content.tag(&plan).is_err(), "a part is missing");
    let sealed = content.seal_hash(&content.seal_part(16, &mut [5; 16]).unwrap()).unwrap();
    let mut forged = sealed;
    forged[SEALED_HASH_LEN - 1] ^= 1;
    assert!(content.open_hash(&forged).is_err());
    plan.accept(content.open_hash(&sealed).unwrap()).unwrap();
    let mut whole = [[3; 16], [5; 16]].concat();
    let other = envelope.content(&DATA_KEY).unwrap();
    let mut alone = other.plan(32, 32).unwrap();
    alone.accept(other.seal_part(0, &mut whole).unwrap()).unwrap();
    assert_eq!(content.tag(&plan).unwrap(), other.tag(&alone).unwrap());
    assert!(whole[..16] == right && whole != [[3; 16], [5; 16]].concat());
    assert!(envelope.content(&[8; 32]).is_err() && envelope.content(&DATA_KEY).is_ok() && envelope.stored_context().len() == 2);
    assert!(Envelope::context(&BTreeMap::from([("name".into(), "ä".into())])).is_err() && Envelope::context(&user()).is_ok());
    // A reader goes on where a range was refused, and when the object is there again that was replaced.
    let store = Arc::new(Losing::default());
    written(&store, 100).await.unwrap();
    let reader = opened(&store).await.unwrap();
    assert!(reader.read(0..101).await.is_err() && reader.read(3..99).await.unwrap() == text(3..99));
    store.store.delete(&path()).await.unwrap();
    assert!(reader.read(3..99).await.is_err() && opened(&store).await.is_err());
    // And a path takes a second upload after one that was broken off.
    let broken = upload(store.clone(), path(), sealing(), 100, OPTIONS, |_| async { Err(io::Error::other("no")) }).await;
    assert!(broken.is_err() && store.aborted.load(Relaxed) == 1 && store.store.head(&path()).await.is_err());
    written(&store, 100).await.unwrap();
    assert!(opened(&store).await.unwrap().read(0..100).await.unwrap() == text(0..100));
}

/// No text of an object or of an error shows a byte of the data key, of the text, or of a hash.
#[tokio::test(flavor = "multi_thread")]
async fn quiet() {
    let secret = secrets::secret(32);
    let create = || Envelope::create(secret[..].try_into().unwrap(), b"wrapped".to_vec(), Envelope::context(&user()).unwrap()).unwrap();
    let mut shown = vec![("Options", format!("{OPTIONS:?}")), ("Sealing", format!("{0:?} {0:#?}", create()))];
    let (envelope, content) = create().into_parts();
    let mut other: [u8; 32] = secret[..].try_into().unwrap();
    other[0] ^= 1;
    let store = Arc::new(Losing::default());
    let text = secret.clone();
    upload(store.clone(), path(), create(), 32, OPTIONS, move |_| std::future::ready(Ok(text.clone()))).await.unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(store.store.clone());
    let fetched = Envelope::fetch(&*store, &path(), &user(), OPTIONS).await.unwrap();
    let reader = Reader::verified(store, path(), fetched.content(secret[..].try_into().unwrap()).unwrap(), OPTIONS).await.unwrap();
    let errors = [
        envelope.content(&other).unwrap_err(),
        content.seal_part(8, &mut secret.clone()).unwrap_err(),
        content.open_hash(&secret.repeat(2)[..SEALED_HASH_LEN].try_into().unwrap()).unwrap_err(),
        reader.read(0..33).await.unwrap_err(),
    ];
    shown.extend([("Envelope", format!("{envelope:?}")), ("Content", format!("{content:?}")), ("Reader", format!("{reader:?}"))]);
    shown.extend(errors.iter().map(|error| ("Error", format!("{error} {error:?}"))));
    shown.iter().for_each(|(name, shown)| secrets::quiet(name, shown, &secret[1..]));
    let sources = sources();
    let types: BTreeSet<_> = sources.iter().flat_map(|source| secrets::types(source)).collect();
    assert!(types.len() > 4 && types.iter().all(|name| shown.iter().any(|(shown, _)| shown == name)), "{types:?}");
}

//! Objects are sealed in parallel parts, parts are lost and sealed again, and whatever is not what was sealed is refused.

#[path = "../../../fastgcm/tests/support/secrets.rs"]
mod secrets;
mod walk;

use async_trait::async_trait;
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use fastgcm_s3::{Envelope, Error, MIN_PART, Options, Reader, Sealing, upload};
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use hkdf::Hkdf;
use object_store::{
    Attributes, CopyOptions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartId, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    memory::InMemory,
    multipart::{MultipartStore, PartId},
    path::Path,
};
use sha2::Sha512;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::timeout;

const DATA_KEY: [u8; 32] = [7; 32];
const PART: usize = MIN_PART as usize;
const OPTIONS: Options = Options { part: MIN_PART, workers: 3, attempts: 3 };

fn user() -> BTreeMap<String, String> {
    BTreeMap::from([("name".into(), "object".into())])
}

fn sealing() -> Sealing {
    Envelope::create(&DATA_KEY, b"wrapped".to_vec(), Envelope::context(&user()).unwrap()).unwrap()
}

/// Bytes that tell where they lie.
fn text(range: Range<u64>) -> Vec<u8> {
    range.map(|at| (at * 31 + at / 251) as u8).collect()
}

/// A store of multipart uploads that loses parts, and remembers all that ever reached it.
#[derive(Debug, Default)]
struct Losing {
    store: InMemory,
    attributes: Mutex<Attributes>,
    /// What each part was, each time that it came.
    came: Mutex<BTreeMap<usize, BTreeSet<Vec<u8>>>>,
    calls: AtomicUsize,
    /// How often a beginning and an end fail before they succeed.
    begins: AtomicUsize,
    ends: AtomicUsize,
    /// What happens to the n-th part that comes.
    fault: Option<fn(usize) -> Fault>,
    aborted: AtomicUsize,
}

enum Fault {
    None,
    Refused,
    Panic,
    /// It arrives, and the answer is lost.
    Unanswered,
}

fn fails(times: &AtomicUsize) -> Result<()> {
    let fails = times.fetch_update(Relaxed, Relaxed, |times| times.checked_sub(1)).is_ok();
    if fails { Err(object_store::Error::Generic { store: "losing", source: "lost".into() }) } else { Ok(()) }
}

#[async_trait]
impl MultipartStore for Losing {
    async fn create_multipart(&self, _: &Path) -> Result<MultipartId> {
        unreachable!("the object would have no metadata")
    }

    async fn create_multipart_opts(&self, _: &Path, options: PutMultipartOptions) -> Result<MultipartId> {
        *self.attributes.lock().unwrap() = options.attributes;
        fails(&self.begins)?;
        Ok("id".into())
    }

    async fn put_part(&self, path: &Path, _: &MultipartId, index: usize, data: PutPayload) -> Result<PartId> {
        let lost = || Err(object_store::Error::Generic { store: "losing", source: "lost".into() });
        let fault = self.fault.map_or(Fault::None, |fault| fault(self.calls.fetch_add(1, Relaxed)));
        if matches!(fault, Fault::Refused) {
            return lost();
        }
        let bytes: Vec<u8> = data.into_iter().flatten().collect();
        self.came.lock().unwrap().entry(index).or_default().insert(bytes.clone());
        match fault {
            Fault::Unanswered => return lost(),
            Fault::Panic => panic!("the worker is killed"),
            _ => {}
        }
        self.store.put(&Path::from(format!("{path}.{index}")), bytes.into()).await?;
        Ok(PartId { content_id: index.to_string() })
    }

    async fn complete_multipart(&self, path: &Path, _: &MultipartId, parts: Vec<PartId>) -> Result<PutResult> {
        fails(&self.ends)?;
        let mut object = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            assert_eq!(part.content_id, index.to_string());
            object.extend_from_slice(&self.store.get(&Path::from(format!("{path}.{index}"))).await?.bytes().await?);
        }
        let attributes = self.attributes.lock().unwrap().clone();
        self.store.put_opts(path, object.into(), PutOptions { attributes, ..PutOptions::default() }).await
    }

    async fn abort_multipart(&self, _: &Path, _: &MultipartId) -> Result<()> {
        self.aborted.fetch_add(1, Relaxed);
        Ok(())
    }
}

fn path() -> Path {
    Path::from("object")
}

/// What is tried without end hangs no test.
async fn ends<T>(work: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(60), work).await.expect("it is tried without end")
}

async fn written(store: &Arc<Losing>, len: u64) -> std::result::Result<PutResult, Error> {
    upload(store.clone(), path(), sealing(), len, OPTIONS, |range| async move { Ok(text(range)) }).await
}

async fn opened(store: &Arc<Losing>) -> std::result::Result<Arc<Reader>, Error> {
    let store: Arc<dyn ObjectStore> = Arc::new(store.store.clone());
    let envelope = Envelope::fetch(&*store, &path(), &user(), OPTIONS).await?;
    assert_eq!(envelope.wrapped(), b"wrapped");
    Reader::verified(store, path(), envelope.content(&DATA_KEY)?, OPTIONS).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_length() {
    let mut checked = 0;
    for len in [0, 1, 15, 16, PART - 1, PART, PART + 1, 2 * PART, 3 * PART + 5] {
        let store = Arc::new(Losing::default());
        written(&store, len as u64).await.unwrap();
        let reader = opened(&store).await.unwrap();
        assert_eq!(reader.len(), len as u64);
        for (start, end) in [(0, len), (0, len.min(1)), (len / 2, len), (len - len.min(1), len), (PART.min(len), len), (len, len)] {
            assert!(reader.read(start as u64..end as u64).await.unwrap() == text(start as u64..end as u64));
            checked += 1;
        }
        assert!(matches!(reader.read(0..len as u64 + 1).await, Err(Error::Gcm(_))));
    }
    assert!(checked > 0);
}

/// What the official client for Python, 4.0.0, makes of this text with this data key and message ID.
#[test]
fn an_object_of_the_official_client() {
    const OBJECT: &str = "04a6cdf1730362ad76b19af87e6696d5977e32c07839f480f1f4067bfcb4d8d2bcffa18e7eacaf9fc7beb2c223292f";
    let metadata = BTreeMap::from([
        ("x-amz-c", "115"),
        ("x-amz-w", "12"),
        ("x-amz-3", "d3JhcHBlZA=="),
        ("x-amz-i", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw=="),
        ("x-amz-d", "bo5IwDi9IPzv7BqBAwi4WlFVZ9xFixz75Xjhhg=="),
        ("x-amz-t", r#"{"name": "object", "aws:x-amz-cek-alg": "115"}"#),
    ]);
    let content = Envelope::of(|name| metadata.get(name).copied(), &user()).unwrap().content(&DATA_KEY).unwrap();
    let mut sealed = *b"what the official client sealed";
    let mut plan = content.plan(sealed.len() as u64, 16).unwrap();
    let (first, second) = sealed.split_at_mut(16);
    plan.accept(content.seal_part(16, second).unwrap()).unwrap(); // the second one first
    plan.accept(content.seal_part(0, first).unwrap()).unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(&sealed) + &hex(content.tag(&plan).unwrap().as_ref()), OBJECT);
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_parts_are_sealed_again() {
    let faults: [fn(usize) -> Fault; 4] = [
        |n| if n == 0 { Fault::Refused } else { Fault::None },
        |n| if n == 1 { Fault::Panic } else { Fault::None },
        |n| if n % 2 == 0 { Fault::Unanswered } else { Fault::None },
        |n| if n == 4 { Fault::Panic } else { Fault::None }, // the last one, with the tag
    ];
    let mut checked = 0;
    for fault in faults {
        let store = Arc::new(Losing { fault: Some(fault), ..Losing::default() });
        let len = 4 * MIN_PART + 100;
        upload(store.clone(), path(), sealing(), len, Options { attempts: 9, ..OPTIONS }, |range| async move { Ok(text(range)) })
            .await
            .unwrap();
        assert!(store.calls.load(Relaxed) > 5, "nothing was lost");
        // Nothing was sealed twice under one nonce: whatever came for a part is the same.
        assert!(store.came.lock().unwrap().values().all(|came| came.len() == 1));
        assert!(opened(&store).await.unwrap().read(0..len).await.unwrap() == text(0..len));
        checked += 1;
    }
    // What is lost for good leaves no object, and is tried as often as was said.
    let forever = |fault, attempts| async move {
        let store = Arc::new(Losing { fault: Some(fault), ..Losing::default() });
        let read = |range| async move { Ok(text(range)) };
        let options = Options { workers: 1, attempts, ..OPTIONS };
        (ends(upload(store.clone(), path(), sealing(), 2 * MIN_PART, options, read)).await, store)
    };
    for attempts in [1, 3] {
        let (result, store) = forever(|_| Fault::Panic, attempts).await;
        assert!(matches!(result, Err(Error::Lost)));
        assert_eq!(store.calls.load(Relaxed), attempts);
    }
    let (result, store) = forever(|_| Fault::Refused, 2).await;
    assert!(matches!(result, Err(Error::Store(_))));
    assert_eq!((store.aborted.load(Relaxed), store.calls.load(Relaxed)), (1, 2));
    assert!(store.store.head(&path()).await.is_err());
    assert!(checked > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_text_is_refused() {
    let mut checked = 0;
    // A byte at either end of a part has changed when it is read again, or the length.
    for (at, longer) in [(0, 0), (PART - 1, 0), (0, 1)] {
        let store = Arc::new(Losing { fault: Some(|n| if n == 1 { Fault::Unanswered } else { Fault::None }), ..Losing::default() });
        let reads = Arc::new(Mutex::new(BTreeMap::<u64, usize>::new()));
        let read = move |range: Range<u64>| {
            let mut reads = reads.lock().unwrap();
            let times = reads.entry(range.start).or_default();
            *times += 1;
            let changed = *times > 1;
            async move {
                let mut text = text(range);
                if changed {
                    text[at] ^= 1;
                    text.resize(text.len() + longer, 0);
                }
                Ok(text)
            }
        };
        let result = upload(store.clone(), path(), sealing(), 4 * MIN_PART, OPTIONS, read).await;
        assert!(matches!(result, Err(Error::OtherText)), "{result:?}");
        assert!(store.came.lock().unwrap().values().all(|came| came.len() == 1), "the other text was sent");
        assert!(store.store.head(&path()).await.is_err());
        assert_eq!(store.aborted.load(Relaxed), 1);
        checked += 1;
    }
    // A text that cannot be read.
    let store = Arc::new(Losing::default());
    let read = |_| async { Err(io::Error::other("no")) };
    assert!(matches!(ends(upload(store.clone(), path(), sealing(), 1, OPTIONS, read)).await, Err(Error::Read(_))));
    assert!(checked > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_objects_are_refused() {
    let (len, mut checked) = (2 * PART + 100, 0);
    let store = Arc::new(Losing::default());
    written(&store, len as u64).await.unwrap();
    let reader = opened(&store).await.unwrap();
    let object = store.store.get(&path()).await.unwrap().bytes().await.unwrap();
    let attributes = store.attributes.lock().unwrap().clone();
    let put = |object: Vec<u8>| {
        let (store, options) = (store.store.clone(), PutOptions { attributes: attributes.clone(), ..PutOptions::default() });
        async move { store.put_opts(&path(), object.into(), options).await }
    };
    let flipped = |at: usize| {
        let mut object = object.to_vec();
        object[at] ^= 1;
        object
    };
    let swapped = [&object[PART..2 * PART], &object[..PART], &object[2 * PART..]].concat();
    let mut changes = vec![swapped, object[..len + 15].to_vec(), object[..15].to_vec(), Vec::new(), [&object[..], &[0]].concat()];
    changes.extend([0, PART - 1, PART, len - 1, len, len + 15].map(flipped));
    for changed in changes {
        put(changed).await.unwrap();
        assert!(matches!(opened(&store).await, Err(Error::Unauthentic)));
        checked += 1;
    }
    // It is replaced after it was verified.
    put(flipped(PART + 5)).await.unwrap();
    for range in [0..PART, PART..PART + 1, 0..len, 2 * PART - 1..len] {
        let replaced = reader.read(range.start as u64..range.end as u64).await;
        assert!(matches!(replaced, Err(Error::Store(object_store::Error::Precondition { .. }))));
        checked += 1;
    }
    assert!(checked > 0);
}

/// A store that spoils its answer to one request for an object, and counts the requests.
#[derive(Debug)]
struct Spoiling {
    store: InMemory,
    asked: AtomicUsize,
    /// Which request is spoiled, and how; `usize::MAX` for all after the first.
    at: usize,
    how: Spoil,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Spoil {
    Unavailable,
    /// The body ends early, and the connection looks as if that were all.
    Short,
    /// The connection is cut in the body.
    Cut,
    Missing,
    /// The bytes of another place.
    Forged,
}

impl std::fmt::Display for Spoiling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("spoiling")
    }
}

#[async_trait]
impl ObjectStore for Spoiling {
    async fn get_opts(&self, path: &Path, mut options: GetOptions) -> Result<GetResult> {
        let asked = self.asked.fetch_add(1, Relaxed);
        let unavailable = || object_store::Error::Generic { store: "spoiling", source: "503".into() };
        if asked != self.at && (self.at != usize::MAX || asked == 0) {
            return self.store.get_opts(path, options).await;
        }
        match (self.how, &mut options.range) {
            (Spoil::Unavailable, _) | (Spoil::Short | Spoil::Cut, None) => return Err(unavailable()),
            (Spoil::Missing, _) => return Err(object_store::Error::NotFound { path: path.to_string(), source: "404".into() }),
            (Spoil::Short, Some(GetRange::Bounded(range))) => range.end -= 7,
            (Spoil::Forged, Some(GetRange::Bounded(range))) => *range = 3..range.end - range.start + 3,
            _ => {}
        }
        let mut got = self.store.get_opts(path, options).await?;
        if self.how == Spoil::Cut {
            let part = got.bytes().await?.slice(0..5);
            got = self.store.get_opts(path, GetOptions::default()).await?;
            got.payload = GetResultPayload::Stream(stream::iter([Ok(part), Err(unavailable())]).boxed());
        }
        Ok(got)
    }

    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.store.put_opts(path, payload, options).await
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

/// Each request is tried again, if nothing has said no: the two for size and metadata, of each part, of the tag, and of each part that is read.
#[tokio::test(flavor = "multi_thread")]
async fn each_request_has_attempts() {
    let len = 2 * PART + 100;
    let store = Arc::new(Losing::default());
    written(&store, len as u64).await.unwrap();
    let open = async |at, how| {
        let spoiling = Arc::new(Spoiling { store: store.store.clone(), asked: 0.into(), at, how });
        let store: Arc<dyn ObjectStore> = spoiling.clone();
        let options = Options { workers: 1, ..OPTIONS };
        let done = async {
            let envelope = Envelope::fetch(&*store, &path(), &user(), options).await?;
            let reader = Reader::verified(store.clone(), path(), envelope.content(&DATA_KEY)?, options).await?;
            reader.read(5..len as u64).await
        };
        (ends(done).await, spoiling.asked.load(Relaxed))
    };
    let (right, requests) = open(usize::MAX - 1, Spoil::Unavailable).await;
    assert!(right.unwrap() == text(5..len as u64) && requests == 2 + 3 + 1 + 3);
    let mut checked = 0;
    for at in 0..requests {
        for how in [Spoil::Unavailable, Spoil::Short, Spoil::Cut] {
            let (opened, asked) = open(at, how).await;
            assert!(opened.is_ok_and(|opened| opened == text(5..len as u64)) && asked == requests + 1, "{how:?} at {at}");
            checked += 1;
        }
        let (missing, asked) = open(at, Spoil::Missing).await;
        assert!(matches!(missing, Err(Error::Store(object_store::Error::NotFound { .. }))) && asked == at + 1);
        if at > 1 {
            let (forged, asked) = open(at, Spoil::Forged).await;
            // All parts are hashed before the tag says so.
            assert!(matches!(forged, Err(Error::Unauthentic)) && asked == if at < 6 { 6 } else { at + 1 }, "{at}: {asked}");
        }
        checked += 2;
    }
    let (unavailable, asked) = open(usize::MAX, Spoil::Unavailable).await;
    assert!(matches!(unavailable, Err(Error::Store(object_store::Error::Generic { .. }))) && asked == 1 + 3);
    assert!(checked > 0);
}

/// A body that is always short is no forgery; and the first and the last request of an upload are tried again, too.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_end_early() {
    let store = Arc::new(Losing { begins: 1.into(), ends: 2.into(), ..Losing::default() });
    written(&store, 100).await.unwrap();
    let envelope = Envelope::fetch(&store.store, &path(), &user(), OPTIONS).await.unwrap();
    let short = Arc::new(Spoiling { store: store.store.clone(), asked: 0.into(), at: usize::MAX, how: Spoil::Short });
    let refused = Reader::verified(short, path(), envelope.content(&DATA_KEY).unwrap(), OPTIONS).await;
    assert!(matches!(refused, Err(Error::Body { wanted: 100, came: 93 })));
    assert_eq!(refused.unwrap_err().to_string(), "the store was asked for 100 bytes, and sent 93");
}

#[test]
fn envelopes() {
    let (envelope, content) = sealing().into_parts();
    let metadata: BTreeMap<_, _> = envelope.metadata().into();
    let of = |metadata: &BTreeMap<&'static str, String>, user: &BTreeMap<String, String>| {
        Envelope::of(|name| metadata.get(name).map(String::as_str), user)
    };
    assert_eq!(of(&metadata, &user()).unwrap(), envelope);
    let mut checked = 1;
    for name in ["x-amz-c", "x-amz-w", "x-amz-3", "x-amz-i", "x-amz-d", "x-amz-t"] {
        for value in [None, Some("!"), Some("AAAA")] {
            let mut metadata = metadata.clone();
            metadata.remove(name);
            metadata.extend(value.map(|value| (name, value.to_owned())));
            let result = of(&metadata, &user());
            assert_eq!(result.is_ok(), name == "x-amz-3" && value == Some("AAAA"), "{name} {value:?}");
            checked += 1;
        }
    }
    for older in ["x-amz-key", "x-amz-key-v2"] {
        let mut metadata = metadata.clone();
        metadata.insert(older, String::new());
        assert!(matches!(of(&metadata, &user()), Err(Error::Metadata(_))));
        checked += 1;
    }
    assert!(matches!(of(&metadata, &BTreeMap::new()), Err(Error::Metadata(_))));
    for user in [("aws:x-amz-cek-alg", "115"), ("name", "ä")] {
        assert!(Envelope::context(&BTreeMap::from([(user.0.into(), user.1.into())])).is_err());
    }
    assert!(Envelope::create(&DATA_KEY, Vec::new(), user()).is_err());
    // Key commitment: any other data key, and any other commitment.
    assert!(matches!(envelope.content(&[8; 32]), Err(Error::Unauthentic)));
    // Hashes of parts travel encrypted, and only between workers of one object.
    let hash = content.seal_part(16, &mut [1; 40]).unwrap();
    let sealed = content.seal_hash(&hash).unwrap();
    assert_eq!(content.open_hash(&sealed).unwrap().to_bytes(), hash.to_bytes());
    assert!(sealed.windows(16).all(|window| window != &hash.to_bytes()[16..]));
    for at in 0..sealed.len() {
        let mut sealed = sealed;
        sealed[at] ^= 1;
        assert!(matches!(content.open_hash(&sealed), Err(Error::Unauthentic)));
        checked += 1;
    }
    assert!(sealing().into_parts().1.open_hash(&sealed).is_err(), "another object's");
    // Under one key, so with another nonce each time.
    let nonces: BTreeSet<_> = (0..50).map(|_| content.seal_hash(&hash).unwrap()[..12].to_vec()).collect();
    assert_eq!(nonces.len(), 50);
    assert!(checked > 0);
}

/// Each key of an object has a label of its own: that of the hashes is not that of the text.
#[test]
fn labels() {
    let (envelope, content) = sealing().into_parts();
    let metadata = envelope.metadata();
    let value = |name| metadata.iter().find(|(found, _)| *found == name).unwrap().1.clone();
    let extracted = Hkdf::<Sha512>::new(Some(&BASE64.decode(value("x-amz-i")).unwrap()), &DATA_KEY);
    let derived = |label: &[u8], key: &mut [u8]| extracted.expand_multi_info(&[&[0x00, 0x73], label], key).unwrap();
    let key = |label| {
        let mut bytes = [0; 32];
        derived(label, &mut bytes);
        fastgcm::Key::aes256(&bytes)
    };
    let mut commitment = [0; 28];
    derived(b"COMMITKEY", &mut commitment);
    assert_eq!(BASE64.encode(commitment), value("x-amz-d"));
    let mut text = [1; 40];
    let hash = content.seal_part(0, &mut text).unwrap();
    let mut expected = [1; 40];
    key(b"DERIVEKEY").seal([1; 12], b"", &mut expected).unwrap();
    assert_eq!(text, expected);
    let sealed = content.seal_hash(&hash).unwrap();
    let (nonce, tag) = (<[u8; 12]>::try_from(&sealed[..12]).unwrap(), <[u8; 16]>::try_from(&sealed[44..]).unwrap());
    let opened = |label| {
        let mut travelled: [u8; 32] = sealed[12..44].try_into().unwrap();
        key(label).open(nonce, b"", &mut travelled, &fastgcm::Tag::from(tag)).map(|()| travelled)
    };
    assert_eq!(opened(b"fastgcm hashes of parts"), Ok(hash.to_bytes()));
    assert!(opened(b"DERIVEKEY").is_err());
}

#[tokio::test]
async fn options() {
    let store = Arc::new(Losing::default());
    let wrong = [
        (Options { part: MIN_PART - 16, ..OPTIONS }, 1),
        (Options { part: MIN_PART + 8, ..OPTIONS }, 1),
        (Options { part: 5 << 30, ..OPTIONS }, 1),
        (Options { workers: 0, ..OPTIONS }, 1),
        (Options { attempts: 0, ..OPTIONS }, 1),
        (OPTIONS, 10_000 * MIN_PART),
    ];
    for (options, len) in wrong {
        let result = upload(store.clone(), path(), sealing(), len, options, |_| async { unreachable!() }).await;
        assert!(matches!(result, Err(Error::Options(_))), "{result:?}");
    }
    let longest = Options { part: 1 << 30, ..OPTIONS };
    assert!(matches!(upload(store, path(), sealing(), 1 << 36, longest, |_| async { unreachable!() }).await, Err(Error::Gcm(_))));
}

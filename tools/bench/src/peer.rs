//! Loads shared objects: a copy of the file for each processor level, so that each level has variables of its own.

use crate::{
    buffer::Buffer,
    level::{self, Variant},
    place::LINES,
    work::{self, Buffers, Place, Work},
};
use aead_load::{Built, open, string};
use aead_plugin::{Message, SYMBOL, Table};
use fastgcm_measure::Contender;
use std::{
    env,
    ffi::{CString, c_void},
    fs,
    hint::black_box,
    path::Path,
    ptr,
};

/// Bytes of the tag.
pub(crate) const TAG: usize = 16;

/// A rival's shared object.
pub(crate) struct Library {
    /// Its name, which is the table's column.
    pub(crate) name: String,
    pub(crate) built: Built,
    /// True for fastgcm, of this tree or another.
    pub(crate) ours: bool,
}

/// The flag of Linux's dlfcn.h with which a library prefers its own symbols to those of other libraries.
const RTLD_DEEPBIND: i32 = 8;

/// A rival at one level.
pub(crate) struct Loaded {
    pub(crate) table: &'static Table,
    /// The name of its column. fastgcm's includes the level.
    pub(crate) name: String,
    /// The processor level at which it is compared.
    pub(crate) level: String,
    pub(crate) version: String,
}

/// Loads a rival at every level of this machine that it supports. Returns the reasons where that failed, too.
pub(crate) fn load(library: &Library) -> Result<(Vec<Loaded>, Vec<String>), String> {
    let (name, variants) = (&library.name, variants(&library.built.object)?);
    let (mut loaded, mut failed) = (Vec::new(), Vec::new());
    for variant in &variants {
        match Loaded::new(library, variant) {
            Ok(peer) => loaded.push(peer),
            Err(why) => failed.push(format!("{name} at {}: {why}", variant.level)),
        }
    }
    // The control: fastgcm a second time, at its highest level.
    if name == "fastgcm"
        && let Some(first) = variants.first()
    {
        match Loaded::new(library, first) {
            Ok(again) => loaded.push(Loaded { name: again.name.clone() + " again", ..again }),
            Err(why) => failed.push(format!("{name} again: {why}")),
        }
    }
    Ok((loaded, failed))
}

/// Loads a rival once more, at the level that it chooses by itself. Its code and its keys lie in other pages than before.
pub(crate) fn load_again(library: &Library) -> Result<Loaded, String> {
    let variants = variants(&library.built.object)?;
    Loaded::new(library, variants.first().ok_or("it has no level of this machine")?)
}

/// Returns the levels of a shared object.
pub(crate) fn variants(object: &Path) -> Result<Vec<Variant>, String> {
    let table = open(object, SYMBOL, RTLD_DEEPBIND)?;
    // SAFETY: what plug-ins return are strings.
    Ok(level::variants(&table.levels.map(|levels| unsafe { string(levels()) }).unwrap_or_default()))
}

impl Loaded {
    /// Loads a copy of the shared object. The variant's environment variable is set while the rival is
    /// loaded and makes its first key.
    fn new(library: &Library, variant: &Variant) -> Result<Self, String> {
        // dlopen returns the library already loaded for a path seen before, so each copy has a path of its own, which nobody else can create.
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if let Some((name, value)) = &variant.variable {
            // SAFETY: there is no other thread yet.
            unsafe { env::set_var(name, value) };
        }
        let object = &library.built.object;
        let copy = folder.path().join(object.file_name().unwrap_or_default());
        let started = fs::copy(object, &copy).map_err(|error| error.to_string()).and_then(|_| start(&copy, variant));
        drop(folder);
        if let Some((name, _)) = &variant.variable {
            // SAFETY: there is no other thread yet.
            unsafe { env::remove_var(name) };
        }
        let (table, level) = (started?, &variant.level);
        let name = if library.ours { format!("{} {level}", library.name) } else { library.name.clone() };
        // SAFETY: what plug-ins return are strings.
        let own = table.version.map(|version| unsafe { string(version()) }).unwrap_or_default();
        let version = [own, library.built.version.clone()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        Ok(Self { table, name, level: level::of_backend(level).into(), version })
    }
}

/// Loads a plug-in, starts it, and makes a key.
fn start(object: &Path, variant: &Variant) -> Result<&'static Table, String> {
    let table = open(object, SYMBOL, RTLD_DEEPBIND)?;
    if table.seal.is_none() || table.open.is_none() {
        return Err("it has no whole messages".into());
    }
    let argument = variant.argument.as_deref().map(CString::new).transpose().map_err(|error| error.to_string())?;
    if let Some(start) = table.start {
        // SAFETY: NULL or a string; the result is a string, too.
        let why = unsafe { string(start(argument.as_ref().map_or(ptr::null(), |argument| argument.as_ptr()))) };
        if !why.is_empty() {
            return Err(why);
        }
    }
    if Key::new(table, &[1; 32]).is_none() { Err("it makes no key".into()) } else { Ok(table) }
}

/// Returns a message with a nonce of 12 bytes and a tag of 16.
#[inline(always)]
pub(crate) fn message(
    nonce: *const u8,
    aad: (*const u8, usize),
    input: *const u8,
    output: *mut u8,
    length: usize,
    tag: *mut u8,
) -> Message {
    let (aad, aad_length) = aad;
    Message { tag, nonce, input, aad_length, output, aad, nonce_length: 12, length, tag_length: TAG }
}

/// A message of `expect`: `open` and `start` have checked these functions.
const CHECKED: &str = "a table with these functions";

/// A key of a rival.
pub(crate) struct Key {
    table: &'static Table,
    key: *mut c_void,
}

impl Key {
    /// Makes a key. Returns `None` if the rival has no keys of this length.
    pub(crate) fn new(table: &'static Table, bytes: &[u8]) -> Option<Self> {
        // `keys` has a bit for each supported length.
        if table.keys >> (bytes.len() / 8 - 2) & 1 == 0 {
            return None;
        }
        // SAFETY: a pointer and a length of one slice.
        let key = unsafe { table.key.expect(CHECKED)(bytes.as_ptr(), bytes.len()) };
        (!key.is_null()).then(|| Self { table, key })
    }

    /// Replaces the key by another one of the same length.
    #[inline(always)]
    pub(crate) fn rekey(&mut self, bytes: &[u8]) {
        match self.table.rekey {
            // SAFETY: a key, and a pointer and a length of one slice.
            Some(rekey) => unsafe { rekey(self.key, bytes.as_ptr(), bytes.len()) },
            None => self.replace(bytes),
        }
    }

    #[inline(never)]
    fn replace(&mut self, bytes: &[u8]) {
        if let Some(new) = Self::new(self.table, bytes) {
            *self = new;
        }
    }

    /// Makes a key by value and stores it in one `Option`, this often.
    pub(crate) fn put(&self, bytes: &[u8], times: u64) {
        match self.table.put {
            // SAFETY: a pointer and a length of one slice.
            Some(put) => unsafe { put(bytes.as_ptr(), bytes.len(), times) },
            None => (0..times).for_each(|_| drop(black_box(Self::new(self.table, black_box(bytes))))),
        }
    }

    /// Returns the address of the memory that a message reads.
    pub(crate) fn at(&self) -> *const c_void {
        self.key
    }

    /// Encrypts.
    ///
    /// # Safety
    /// The pointers of `message` are as `aead.h` says.
    #[inline(always)]
    pub(crate) unsafe fn seal(&mut self, message: &Message) {
        // SAFETY: the caller's promise; `start` has seen that the function is there.
        if unsafe { self.table.seal.unwrap_unchecked()(self.key, message) } == 0 {
            refused();
        }
    }

    /// Decrypts. Returns false if the tag was wrong.
    ///
    /// # Safety
    /// As [`Key::seal`].
    #[inline(always)]
    pub(crate) unsafe fn open(&mut self, message: &Message) -> bool {
        // SAFETY: as in `seal`.
        unsafe { self.table.open.unwrap_unchecked()(self.key, message) != 0 }
    }
}

/// Panics, in a function of its own to keep the inner loop small.
#[cold]
#[inline(never)]
fn refused() -> ! {
    panic!("it refuses to seal")
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { self.table.free.expect(CHECKED)(self.key) }
    }
}

/// Returns a key for each of the [`LINES`] of a page: the first of [`MADE`] keys whose context begins with this line. If none begins there,
/// a key at any place stands for it. `None` if the rival has no keys of this length.
pub(crate) fn keys_at_each_line(table: &'static Table, bytes: &[u8]) -> Option<Vec<Key>> {
    /// The number of keys to try. An allocator that returns multiples of 128, for example, reaches only half of the lines.
    const MADE: usize = 1500;
    let mut rng = fastrand::Rng::with_seed(LINES as u64);
    let (mut between, mut others) = (Vec::new(), Vec::new());
    let mut found: [Option<Key>; LINES] = [const { None }; LINES];
    while others.len() < MADE && found.iter().any(Option::is_none) {
        between.push(Vec::<u8>::with_capacity((1 + rng.usize(..256)) * 16));
        let key = Key::new(table, bytes)?;
        match &mut found[key.at().addr() / 64 % LINES] {
            empty @ None => *empty = Some(key),
            Some(_) => others.push(key),
        }
    }
    Some(found.into_iter().filter_map(|key| key.or_else(|| others.pop())).collect())
}

impl Loaded {
    /// Returns its contender, or `None` if it has no keys of this length.
    pub(crate) fn contender<'a>(&self, work: &Work, buffers: &'a Buffers) -> Option<Contender<'a>> {
        work::contender(&self.name, self.table, work, buffers)
    }

    /// Returns ciphertext and tag of a message after checking that they open, and that a wrong tag is refused. `None` without such a key.
    pub(crate) fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let Some(mut key) = Key::new(self.table, &vec![0; key.len()]).map(|mut new| {
            new.rekey(key);
            new
        }) else {
            return Ok(None);
        };
        let len = text.len();
        let [mut given, mut sealed, mut opened] = [0; 3].map(|_| Buffer::new(len + TAG, 0));
        let mut aad_buffer = Buffer::new(aad.len(), 0);
        let mut answer: Option<Vec<u8>> = None;
        for place in [Place::Aligned, Place::Odd, Place::PageEnd] {
            let output = sealed.at(place, len + TAG);
            let no_aad = (ptr::dangling(), aad.len());
            let mut message = message(nonce.as_ptr(), no_aad, given.at(place, len), output, len, output.wrapping_add(len));
            if !aad.is_empty() {
                aad_buffer.bytes(place, aad.len()).copy_from_slice(aad);
                message.aad = aad_buffer.at(place, aad.len());
            }
            // From one buffer to another and back, then in place, then with a wrong tag.
            given.bytes(place, len).copy_from_slice(text);
            // SAFETY: buffers as `Message` requires, each used by one message at a time.
            unsafe { key.seal(&message) };
            (message.input, message.output) = (message.output, opened.at(place, len + TAG));
            // SAFETY: as above.
            if !unsafe { key.open(&message) } || opened.bytes(place, len + TAG)[..len] != *text {
                return Err(format!("does not open what it sealed, {place:?}"));
            }
            opened.bytes(place, len + TAG)[..len].copy_from_slice(text);
            (message.input, message.tag) = (message.output, message.output.wrapping_add(len));
            // SAFETY: as above.
            unsafe { key.seal(&message) };
            let sealed = sealed.bytes(place, len + TAG).to_vec();
            if opened.bytes(place, len + TAG) != sealed {
                return Err(format!("seals to something else in place, {place:?}"));
            }
            opened.bytes(place, len + TAG)[len + len % 16] ^= 0x40;
            // SAFETY: as above.
            if unsafe { key.open(&message) } {
                return Err(format!("opens with a wrong tag, {place:?}"));
            }
            if *answer.get_or_insert_with(|| sealed.clone()) != sealed {
                return Err(format!("seals to something else, {place:?}"));
            }
        }
        Ok(answer)
    }
}

//! Shared objects, loaded: a copy of the file for each processor level, so that each has variables of its own.

use crate::{
    buffer::Buffer,
    place::LINES,
    work::{self, Buffers, Peer, Place, Work},
};
use fastgcm_measure::Contender;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use plugin::{INTERFACE, Message, SYMBOL, TAG, Table, level};
use std::{
    env,
    ffi::{CStr, CString, c_char, c_void},
    fs,
    path::Path,
    ptr,
};

/// Of dlfcn.h, for Linux: a library's own symbols come before those that others have loaded.
const RTLD_DEEPBIND: i32 = 8;

/// One rival at one level.
pub(crate) struct Loaded {
    table: &'static Table,
    name: String,
    level: String,
    version: String,
}

/// One rival at every level of this machine that it can be held to; and where that failed, why.
/// If it is a build of ours of other sources, by the name of those.
pub(crate) fn load(library: &Path, sources: Option<&str>) -> Result<(Vec<Loaded>, Vec<String>), String> {
    let probe = open(library)?;
    let name = sources.map_or_else(|| string((probe.name)()), str::to_owned);
    let variants = string((probe.variants)());
    let (mut loaded, mut failed) = (Vec::new(), Vec::new());
    for variant in variants.lines() {
        match Loaded::new(library, &name, variant, sources.is_some() || name == "fastgcm") {
            Ok(peer) => loaded.push(peer),
            Err(why) => failed.push(format!("{name} at {variant}: {why}")),
        }
    }
    // The control: the same code a second time, at the level that matters most.
    if name == "fastgcm"
        && let Some(first) = variants.lines().next()
    {
        match Loaded::new(library, &name, first, true) {
            Ok(again) => loaded.push(Loaded { name: again.name.clone() + " again", ..again }),
            Err(why) => failed.push(format!("{name} again: {why}")),
        }
    }
    Ok((loaded, failed))
}

/// One rival once more, at the level that it chooses by itself: its code and its keys lie in other pages.
pub(crate) fn load_again(library: &Path, sources: Option<&str>) -> Result<Loaded, String> {
    let probe = open(library)?;
    let (name, variants) = (sources.map_or_else(|| string((probe.name)()), str::to_owned), string((probe.variants)()));
    Loaded::new(library, &name, variants.lines().next().unwrap_or_default(), sources.is_some() || name == "fastgcm")
}

impl Loaded {
    /// Loads a copy of its own, named by its level too if it is `ours`; `variant` is `LEVEL` or `LEVEL NAME=VALUE`, of which the environment holds while it is loaded and makes its
    /// first key.
    fn new(library: &Path, name: &str, variant: &str, ours: bool) -> Result<Self, String> {
        let (level, setting) = variant.split_once(' ').unwrap_or((variant, ""));
        let setting = setting.split_once('=');
        // No two of the same name, for of these the second would be the first again; and none that somebody else could have made.
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        if let Some((name, value)) = setting {
            // SAFETY: there is no other thread yet.
            unsafe { env::set_var(name, value) };
        }
        let file = library.file_name().unwrap_or_default().to_string_lossy();
        let copy = folder.path().join(&*file);
        let started = fs::copy(library, &copy).map_err(|error| error.to_string()).and_then(|_| open(&copy)).and_then(|table| {
            let text = CString::new(level).map_err(|error| error.to_string())?;
            // SAFETY: a string.
            let why = unsafe { (table.start)(text.as_ptr()) };
            if !why.is_null() {
                return Err(string(why));
            }
            if Key::new(table, &[1; 32]).is_none() {
                return Err("it makes no key".into());
            }
            Ok(table)
        });
        drop(folder);
        if let Some((name, _)) = setting {
            // SAFETY: there is no other thread yet.
            unsafe { env::remove_var(name) };
        }
        let table = started?;
        let name = if ours { format!("{name} {level}") } else { name.to_owned() };
        Ok(Self { table, name, level: level::of_backend(level).into(), version: string((table.version)()) })
    }
}

/// The table of a shared object, which stays loaded.
fn open(library: &Path) -> Result<&'static Table, String> {
    // SAFETY: ours, by a name that nobody else has; its version is compared before anything is called.
    unsafe {
        let library = Library::open(Some(library), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND).map_err(|error| error.to_string())?;
        let table = *library.get::<&'static Table>(SYMBOL.as_bytes()).map_err(|error| error.to_string())?;
        std::mem::forget(library);
        if table.interface == INTERFACE { Ok(table) } else { Err("it was built for another version of this program".into()) }
    }
}

fn string(text: *const c_char) -> String {
    // SAFETY: what plug-ins return are strings.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into()
}

/// A key of a rival.
pub(crate) struct Key {
    table: &'static Table,
    key: *mut c_void,
}

impl Key {
    /// `None` if it has no keys of that length.
    pub(crate) fn new(table: &'static Table, bytes: &[u8]) -> Option<Self> {
        // SAFETY: so many bytes.
        let key = unsafe { (table.new)(bytes.as_ptr(), bytes.len()) };
        (!key.is_null()).then(|| Self { table, key })
    }

    /// Replaces it by another of the same length.
    #[inline(always)]
    pub(crate) fn rekey(&mut self, bytes: &[u8]) {
        // SAFETY: a key, and so many bytes.
        unsafe { (self.table.rekey)(self.key, bytes.as_ptr(), bytes.len()) }
    }

    /// So often, a key is made by value and put into the same `Option`.
    pub(crate) fn put(&self, bytes: &[u8], times: u64) {
        // SAFETY: so many bytes.
        unsafe { (self.table.put)(bytes.as_ptr(), bytes.len(), times) }
    }

    /// Where the memory lies that a message reads of it, and how many bytes that is.
    pub(crate) fn context(&self) -> (*const u8, usize) {
        let mut len = 0;
        // SAFETY: a key, and room for a number.
        let at = unsafe { (self.table.context)(self.key, &mut len) };
        (at, len)
    }

    /// Encrypts.
    ///
    /// # Safety
    /// As [`plugin::Rival::seal`].
    #[inline(always)]
    pub(crate) unsafe fn seal(&mut self, message: &Message) {
        // SAFETY: the caller's promise.
        unsafe { (self.table.seal)(self.key, message) }
    }

    /// Decrypts; false if the tag was wrong.
    ///
    /// # Safety
    /// As [`plugin::Rival::open`].
    #[inline(always)]
    pub(crate) unsafe fn open(&mut self, message: &Message) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (self.table.open)(self.key, message) }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { (self.table.free)(self.key) }
    }
}

/// A key for each of the [`LINES`] of a page: of so many that are made, the first whose context begins with that line. Where an implementation
/// has none that begins there, a key at any place stands for it. `None` if it has no keys of that length.
pub(crate) fn key_of_each_line(table: &'static Table, bytes: &[u8]) -> Option<Vec<Key>> {
    /// Beyond that some line has no key: of an allocator that returns multiples of 128, for example.
    const MADE: usize = 1500;
    let mut rng = fastrand::Rng::with_seed(LINES as u64);
    let (mut between, mut others) = (Vec::new(), Vec::new());
    let mut found: [Option<Key>; LINES] = [const { None }; LINES];
    while others.len() < MADE && found.iter().any(Option::is_none) {
        between.push(Vec::<u8>::with_capacity((1 + rng.usize(..256)) * 16));
        let key = Key::new(table, bytes)?;
        match &mut found[key.context().0.addr() / 64 % LINES] {
            empty @ None => *empty = Some(key),
            Some(_) => others.push(key),
        }
    }
    Some(found.into_iter().filter_map(|key| key.or_else(|| others.pop())).collect())
}

impl Peer for Loaded {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn level(&self) -> String {
        self.level.clone()
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn table(&self) -> Option<&'static Table> {
        Some(self.table)
    }

    fn contender<'a>(&'a self, name: &str, work: &Work, buffers: &'a Buffers) -> Option<Contender<'a>> {
        work::contender(name, self.table, work, buffers)
    }

    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String> {
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
            let mut message = Message {
                nonce: nonce.as_ptr(),
                aad: ptr::dangling(),
                aad_len: aad.len(),
                input: given.at(place, len),
                output: sealed.at(place, len + TAG),
                len,
            };
            if !aad.is_empty() {
                aad_buffer.bytes(place, aad.len()).copy_from_slice(aad);
                message.aad = aad_buffer.at(place, aad.len());
            }
            // From one buffer to another and back; then in place; then with a wrong tag.
            given.bytes(place, len).copy_from_slice(text);
            // SAFETY: buffers as `Message` wants them, each used through one message at a time.
            unsafe { key.seal(&message) };
            (message.input, message.output) = (message.output, opened.at(place, len + TAG));
            // SAFETY: as above.
            if !unsafe { key.open(&message) } || opened.bytes(place, len + TAG)[..len] != *text {
                return Err(format!("does not open what it sealed, {place:?}"));
            }
            opened.bytes(place, len + TAG)[..len].copy_from_slice(text);
            message.input = message.output;
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

//! Every public verb has its row: a public function of the library that takes or makes a secret is called in the table of verbs, which the tests of right answers,
//! of guard pages, of constant time and of wiping walk. docs/adding.md says how a row is added.
//!
//! What is public is read off the sources, with every feature: what `lib.rs` exports, the public functions of these types and modules, and their traits.

use quote::ToTokens;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};
use syn::{Expr, ImplItem, Item, Token, UseTree, Visibility, punctuated::Punctuated};

/// Public functions that neither take nor make a secret, and why not.
const WITHOUT_SECRETS: &[(&str, &str)] = &[
    ("ApprovedKey::backend", "a name"),
    ("approved::self_test", "known answers"),
    ("Backend::available", "which processor this is"),
    ("Backend::c_name", "a name"),
    ("Backend::detect", "which processor this is"),
    ("Backend::features", "which processor this is"),
    ("Backend::is_available", "which processor this is"),
    ("Backend::is_compiled", "how the program was compiled"),
    ("Backend::name", "a name"),
    ("Backend::run", "for `internals`, inside of a macro"),
    ("AesGcmSiv::backend", "a name"),
    ("Blocks::after", "a count"),
    ("Blocks::confidentiality", "a count"),
    ("Blocks::integrity", "a count"),
    ("Blocks::left", "a count"),
    ("Blocks::refused", "lengths"),
    ("Blocks::sealed", "a length"),
    ("Blocks::take", "a count"),
    ("Blocks::used", "a count"),
    ("CounterNonces::draw", "nonces are public"),
    ("CounterNonces::new", "nonces are public"),
    ("CounterNonces::position", "nonces are public"),
    ("CounterNonces::starting_at", "nonces are public"),
    ("Key::backend", "a name"),
    ("Key::key_len", "a length"),
    ("Nonce::any", "whether a length is right"),
    ("Nonce::to_array", "nonces are public"),
    ("OpeningKey::backend", "a name"),
    ("OpeningKey::blocks", "a count"),
    ("OpeningKey::blocks_left", "a count"),
    ("Packet::in_place", "a struct of references"),
    ("Packet::to", "a struct of references"),
    ("PartHash::length", "a length"),
    ("PartHash::offset", "a length"),
    ("Plan::missing", "lengths"),
    ("Plan::new", "lengths, and a nonce"),
    ("Plan::nonce", "nonces are public"),
    ("Plan::parts", "lengths"),
    ("RandomNonces::after", "a count"),
    ("RandomNonces::draw", "nonces are public"),
    ("RandomNonces::new", "a count"),
    ("RandomNonces::used", "a count"),
    ("RootKey::backend", "a name"),
    ("SealingKey::backend", "a name"),
    ("SealingKey::blocks", "a count"),
    ("SealingKey::blocks_left", "a count"),
    ("SealingKey::nonces", "nonces are public"),
    ("XorNonces::at", "a nonce is public when it is used"),
    ("XorNonces::draw", "a nonce is public when it is used"),
    ("XorNonces::new", "nonces are public"),
    ("XorNonces::position", "a count"),
    ("XorNonces::starting_at", "nonces are public"),
    ("batch::repeats_a_nonce", "nonces are public"),
    ("hazmat::is_short", "lengths"),
];

/// Public types that keep no secret in themselves, and why not. Of all others `tests/memory.rs` looks at what is left where they were dropped.
const PLAIN: &[(&str, &str)] = &[
    ("Aad", "a phase"),
    ("Aes128", "the name of a length of keys"),
    ("Aes192", "the name of a length of keys"),
    ("Aes256", "the name of a length of keys"),
    ("AnyTag", "a trait"),
    ("AesGcm", "a key and nothing else: `f16_dropped_rustcrypto_ciphers_are_wiped`"),
    ("Backend", "a name"),
    ("CommittingTag", "tags are public"),
    ("Blocks", "counts"),
    ("CounterNonces", "nonces are public"),
    ("Dndk", "the name of a scheme"),
    ("Error", "an error"),
    ("KcXaes", "the name of a scheme"),
    ("KcXaes256Gcm", "a `RootKey`"),
    ("Nonce", "nonces are public"),
    ("Packet", "references"),
    ("Parallel", "references"),
    ("Plan", "lengths, and values of `PartHash` on the heap"),
    ("RandomNonces", "a count"),
    ("Scheme", "a trait"),
    ("ShortTag", "tags are public"),
    ("Tag", "tags are public"),
    ("Text", "references; and a phase, which is dropped with its `Sealer`"),
    ("UnknownBackend", "an error"),
    ("Xaes", "the name of a scheme"),
    ("Xaes256Gcm", "a `RootKey`"),
    ("XorNonces", "nonces are public, and give the IV away"),
];

/// Traits whose functions do with a secret no more than move or show it, or nothing.
const QUIET: &[&str] = &[
    "AsRef",
    "AeadCore",
    "Clone",
    "Debug",
    "Default",
    "Deref",
    "Derives",
    "Display",
    "Drop",
    "SchemeTag",
    "Error",
    "From",
    "FromStr",
    "KeySizeUser",
    "Nonces",
    "Sealed",
    "TagSize",
    "TryFrom",
    "ZeroizeOnDrop",
    "AnyTag",
];

/// What the library shows to a program.
#[derive(Default)]
struct Public {
    /// Functions by the names that the table has for them.
    functions: BTreeSet<String>,
    types: BTreeSet<String>,
    traits: BTreeSet<String>,
    /// Functions that change their object, and types with `Clone`.
    changing: BTreeSet<String>,
    cloned: BTreeSet<String>,
}

/// A file of the library: its module's name, and what stands in it.
type Files = BTreeMap<String, syn::File>;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(folder: &Path, files: &mut Files) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.strip_prefix(package().join("src"))?.with_extension("").to_string_lossy().into_owned();
            files.insert(name, syn::parse_file(&fs::read_to_string(&path)?).map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    Ok(())
}

/// The library's.
fn library() -> Files {
    let mut files = Files::new();
    read(&package().join("src"), &mut files).unwrap();
    files
}

/// The names at the end of a `use`, where it names any of this crate.
fn used(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => used(&path.tree, names),
        UseTree::Name(name) => names.push(name.ident.to_string()),
        UseTree::Rename(name) => names.push(name.rename.to_string()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, names)),
        UseTree::Glob(_) => names.push("*".into()),
        #[allow(unreachable_patterns)] // a use that syn will know one day
        _ => {}
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().replace(' ', "") == "#[doc(hidden)]")
}

impl Public {
    fn of(files: &Files) -> Result<Self> {
        let mut public = Self::default();
        public.module("", &files.get("lib").ok_or("lib.rs")?.items, files)?;
        // What stands wherever it stands: functions of the types, and of their traits.
        for file in files.values() {
            public.implementations(&file.items);
        }
        // Types are no functions: a name that begins with a small letter is one.
        let functions =
            public.types.iter().filter(|name| name.rsplit("::").next().is_some_and(|name| name.starts_with(char::is_lowercase)));
        public.functions.extend(functions.cloned());
        public.types.retain(|name| name.contains(char::is_lowercase) && !name.contains("::") && name.starts_with(char::is_uppercase));
        Ok(public)
    }

    /// What a module shows, and what the public modules in it show, in the file or in one of their own.
    fn module(&mut self, name: &str, items: &[Item], files: &Files) -> Result<()> {
        let named = |item: &str| if name.is_empty() { item.to_owned() } else { format!("{name}::{item}") };
        for item in items {
            match item {
                Item::Mod(module) if is_public(&module.vis) && !is_hidden(&module.attrs) => {
                    let name = named(&module.ident.to_string());
                    let file = || files.get(&name.replace("::", "/")).or_else(|| files.get(&(name.replace("::", "/") + "/mod")));
                    match &module.content {
                        Some((_, items)) => self.module(&name, items, files)?,
                        None => self.module(&name, &file().ok_or_else(|| name.clone())?.items, files)?,
                    }
                }
                Item::Trait(item) if is_public(&item.vis) => _ = self.traits.insert(item.ident.to_string()),
                Item::Use(item) if is_public(&item.vis) && !item.to_token_stream().to_string().contains("aead") => {
                    let mut names = Vec::new();
                    used(&item.tree, &mut names);
                    if names.contains(&"*".into()) {
                        return Err(format!("{name}: `pub use` of all that is there hides what is public").into());
                    }
                    for item in names {
                        // A type has its own name wherever it is shown.
                        self.types.insert(if item.starts_with(char::is_lowercase) { named(&item) } else { item });
                    }
                }
                Item::Fn(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    self.functions.insert(named(&item.sig.ident.to_string()));
                }
                Item::Struct(item) if is_public(&item.vis) => _ = self.types.insert(item.ident.to_string()),
                Item::Enum(item) if is_public(&item.vis) => _ = self.types.insert(item.ident.to_string()),
                _ => {}
            }
        }
        Ok(())
    }

    /// One that a module has, or that a `pub use` shows.
    fn has_trait(&self, name: &str) -> bool {
        self.traits.contains(name) || self.types.contains(name)
    }

    fn implementations(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(module) if module.ident != "tests" => {
                    self.implementations(module.content.as_ref().map_or(&[], |(_, items)| items));
                }
                // What a trait provides is a function of each type that has it.
                Item::Trait(item) if self.has_trait(&item.ident.to_string()) && !QUIET.contains(&item.ident.to_string().as_str()) => {
                    let provided = item.items.iter().filter_map(|item| match item {
                        syn::TraitItem::Fn(function) => function.default.as_ref().map(|_| function.sig.ident.to_string()),
                        _ => None,
                    });
                    self.functions.extend(provided.map(|function| format!("{}::{function}", item.ident)));
                }
                Item::Struct(item) if item.attrs.iter().any(|derive| derive.to_token_stream().to_string().contains("Clone")) => {
                    self.cloned.insert(item.ident.to_string());
                }
                item => self.implementation(item),
            }
        }
    }

    fn implementation(&mut self, item: &Item) {
        if let Item::Macro(item) = item {
            // A macro that makes public functions hides whose they are.
            let tokens = item.mac.tokens.to_string();
            let words: Vec<&str> = tokens.split_whitespace().collect();
            let names = words.windows(2).enumerate().filter(|(at, pair)| {
                let before = &words[at.saturating_sub(2)..*at];
                pair[0] == "fn" && (before.ends_with(&["pub"]) || matches!(before, ["pub", "const" | "unsafe"]))
            });
            self.functions.extend(names.map(|(_, pair)| format!("Backend::{}", pair[1].trim_end_matches(['(', '<']))));
        }
        let Item::Impl(item) = item else { return };
        let syn::Type::Path(path) = &*item.self_ty else { return };
        let Some(name) = path.path.segments.last().map(|segment| segment.ident.to_string()) else { return };
        if !self.types.contains(&name) {
            return;
        }
        if item.trait_.as_ref().is_some_and(|(path, _)| path.is_ident("Clone")) {
            self.cloned.insert(name.clone());
        }
        let from = item.trait_.as_ref().and_then(|(path, _)| path.segments.last()).map(|segment| segment.ident.to_string());
        for function in &item.items {
            let ImplItem::Fn(function) = function else { continue };
            let shown = match &from {
                None => is_public(&function.vis) && !is_hidden(&function.attrs),
                Some(from) => !QUIET.contains(&from.as_str()),
            };
            if shown {
                let function_of_type = format!("{name}::{}", function.sig.ident);
                if function.sig.receiver().is_some_and(|me| me.to_token_stream().to_string() == "& mut self") {
                    self.changing.insert(function_of_type.clone());
                }
                self.functions.insert(function_of_type);
            }
        }
    }
}

/// What the rows of the table call. A row that does not call what it says is an error.
fn rows(table: &str) -> Result<BTreeSet<String>> {
    let file = syn::parse_file(table)?;
    let statements = file.items.iter().flat_map(|item| if let Item::Fn(item) = item { &item.block.stmts[..] } else { &[] });
    let lists = statements.filter_map(|statement| match statement {
        syn::Stmt::Macro(list) => Some(&list.mac),
        syn::Stmt::Expr(Expr::Macro(list), None) => Some(&list.mac),
        syn::Stmt::Local(local) => match local.init.as_ref().map(|init| &*init.expr) {
            Some(Expr::Macro(list)) => Some(&list.mac),
            _ => None,
        },
        _ => None,
    });
    let lists = lists.filter(|list| list.path.is_ident("vec"));
    let mut list = Vec::new();
    for part in lists {
        list.extend(part.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated)?);
    }
    if list.is_empty() {
        return Err("the table is a `vec!`, or several".into());
    }
    let mut called = BTreeSet::new();
    for row in &list {
        let mut call = row;
        if let Expr::Struct(row) = row {
            call = row.rest.as_deref().ok_or("a row is a call of `row`, or ends with one")?;
        }
        let Expr::Call(call) = call else { return Err(format!("no row: {}", call.to_token_stream()).into()) };
        let code = call.args.last().ok_or("a row has its code")?.to_token_stream().to_string();
        let words: BTreeSet<&str> = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        let names = call.args.iter().rev().nth(1).ok_or("a row has names")?.to_token_stream().to_string();
        for name in names.split('"').skip(1).step_by(2) {
            let function = name.rsplit("::").next().unwrap_or(name);
            let is_called = if function == "eq" { code.contains("==") } else { words.contains(function) };
            if !is_called {
                return Err(format!("a row says that it calls {name}, and does not").into());
            }
            called.insert(name.to_owned());
        }
    }
    Ok(called)
}

/// What is wrong: functions without a row, rows without a function, types that nobody drops.
fn faults(public: &Public, called: &BTreeSet<String>, memory: &str, kinds: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let quiet: BTreeSet<&str> = WITHOUT_SECRETS.iter().map(|(name, _)| *name).collect();
    for function in &public.functions {
        match (called.contains(function), quiet.contains(&function[..])) {
            (false, false) => faults.push(format!("{function} has no row in tests/support/verbs.rs (docs/adding.md)")),
            (true, true) => faults.push(format!("{function} has a row, and is said to have no secret")),
            _ => {}
        }
    }
    let gone = |name: &&str| !public.functions.contains(*name);
    faults.extend(called.iter().map(String::as_str).filter(gone).map(|name| format!("a row calls {name}, which is not public")));
    faults.extend(quiet.into_iter().filter(gone).map(|name| format!("WITHOUT_SECRETS has {name}, which is not public")));
    for function in &public.changing {
        let (of, name) = function.rsplit_once("::").unwrap_or_default();
        if !kinds.contains(&format!("lives(\"{of}\"")) || !kinds.contains(&format!(".{name}(")) {
            faults.push(format!("{function} changes its object: tests/api/kinds.rs asks what comes behind a refused call"));
        }
    }
    for name in public.types.iter().filter(|name| !PLAIN.iter().any(|(plain, _)| plain == name)) {
        if public.cloned.contains(name) && !kinds.contains(&format!("cloned!(\"{name}\"")) {
            faults.push(format!("{name} is cloned, and tests/api/kinds.rs has no clone of it"));
        }
        if !kinds.contains(&format!("\"{name}\"&")) && !kinds.contains(&format!("quiet(\"{name}\"")) {
            faults.push(format!("{name}: tests/api/kinds.rs asks what its `Debug` shows"));
        }
    }
    for name in &public.types {
        let (plain, dropped) = (PLAIN.iter().any(|(plain, _)| plain == name), memory.contains(&format!("dropped!(\"{name}\"")));
        if plain == dropped {
            faults.push(format!(
                "{name}: tests/memory.rs looks at what it leaves where it is dropped, or PLAIN says why not; one of the two"
            ));
        }
    }
    faults
}

#[test]
fn every_public_verb_has_a_row() {
    let public = Public::of(&library()).unwrap();
    let tests = package().join("tests");
    let table = fs::read_to_string(tests.join("support/verbs.rs")).unwrap();
    let memory = fs::read_to_string(tests.join("memory.rs")).unwrap();
    let kinds: String = fs::read_to_string(tests.join("api/kinds.rs")).unwrap().split_whitespace().collect();
    let found = faults(&public, &rows(&table).unwrap(), &memory, &kinds);
    assert!(found.is_empty(), "{}", found.join("\n"));
    // All of these walk the table.
    for walker in
        ["api/forgery.rs", "api/kinds.rs", "guard_pages.rs", "constant_time/traces.rs", "constant_time/undefined.rs", "wiping.rs", "mix.rs"]
    {
        let walker = fs::read_to_string(tests.join(walker)).unwrap();
        assert!(walker.contains("table()"), "{walker}");
    }
}

/// Each way to add a verb is noticed.
#[test]
fn a_new_verb_is_noticed() {
    let planted = [
        ("gmac", "impl Key { pub fn new_verb(&self) {} }", "Key::new_verb"),
        ("hazmat", "pub fn new_verb(key: &Key) {}", "hazmat::new_verb"),
        ("lib", "pub use once::new_verb;", "new_verb"),
        ("hazmat", "pub use crate::parts::new_verb;", "hazmat::new_verb"),
        ("siv", "impl NewTrait for AesGcmSiv { fn new_verb(&self) {} }", "AesGcmSiv::new_verb"),
        ("parts", "impl PartHash { pub const fn new_verb(self) {} }", "PartHash::new_verb"),
        ("hazmat", "pub trait NewTrait { fn new_verb(&self) {} } impl NewTrait for Key {}", "NewTrait::new_verb"),
        ("hazmat", "pub mod more { pub fn new_verb(key: &Key) {} }", "hazmat::more::new_verb"),
        ("lib", "pub mod more { pub mod again { pub use crate::once::new_verb; } }", "more::again::new_verb"),
        ("gmac", "mod more { impl Key { pub fn new_verb(&self) {} } }", "Key::new_verb"),
        ("key", "new_verbs! { impl Key { pub fn new_verb(&self) {} } }", "Backend::new_verb"),
    ];
    let library = library();
    for (file, code, expected) in planted {
        let mut files = library.clone();
        files.get_mut(file).unwrap().items.extend(syn::parse_file(code).unwrap().items);
        assert!(Public::of(&files).unwrap().functions.contains(expected), "{code}");
    }
    let mut files = library;
    files.get_mut("nonces").unwrap().items.extend(syn::parse_file("pub struct NewType(Key);").unwrap().items);
    assert!(Public::of(&files).unwrap().types.contains("NewType"));
    assert!(
        rows("fn all() -> Vec<Verb> { vec![seals(InPlace, &[\"Key::seal\"], |job| job.key.open())] }").is_err(),
        "it does not call what it says"
    );
}

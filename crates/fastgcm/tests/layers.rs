//! The rules of ARCHITECTURE.md that can be read off the source: which module uses which, where `unsafe` may stand, where the machine
//! may be asked for.

use proc_macro2::{TokenStream, TokenTree};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The library's modules from the top down, a floor in each line. A module uses those below it, never one above.
const LAYERS: &str = "\
lib rustcrypto internals
hazmat parallel xaes draft approved
root
parts once gathered batch nonces siv
seal stream gmac place
key
running
row
gcm
packet
tag nonce
aes ghash
inout
isa
limits
error";

/// The floors inside two of them.
const INSIDE: &[(&str, &str)] =
    &[("gcm", "mod\nbatch software\ntail\nsiv drive\nahead\nkey turn\ncounter\nplan"), ("row", "mod\ntable\nwoven software\nverbs")];

/// `unsafe` may stand here only.
const UNSAFE: &[&str] = &["isa", "inout", "row", "lib"];

/// `cfg(target_arch)` may stand here only.
const MACHINE: &[&str] = &["isa/mod.rs", "row/table.rs"];

/// The proof of the multiplications: tests only. It stands beside what it proves, reaches up to the table for the rows, and calls what a
/// row offers to tests.
const PROOF: &str = "ghash/proof/";

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { files(path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

#[test]
fn no_module_uses_one_above() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = files(source.clone());
    let check_file = |file: &PathBuf| check(&file.strip_prefix(&source).unwrap().to_string_lossy(), &fs::read_to_string(file).unwrap());
    let faults: Vec<String> = files.iter().flat_map(check_file).collect();
    assert!(faults.is_empty(), "layers:\n  {}", faults.join("\n  "));
}

#[test]
fn what_is_planted_is_found() {
    let planted = "use crate::{Block, key::Key, isa::{Isa, x86}};\nunsafe { crate::seal::x() }\n#[cfg(target_arch = \"x86_64\")]\n";
    assert_eq!(check("ghash/mod.rs", planted).len(), 4);
    let planted = [
        ("gcm/turn.rs", "use super::{\n    drive::{self, begin},\n    plan::lengths,\n    siv,\n};\nsuper::lengths();\n", 4),
        ("gcm/plan.rs", "use crate::gcm::drive as up;", 1),
        ("gcm/plan.rs", "use super::super::gcm::{tail, drive::begin as b};", 2),
        ("gcm/plan.rs", "use crate::gcm as all;", 1),
        ("gcm/plan.rs", "use {crate::{gcm::{self as all}}};", 1),
        ("gcm/plan.rs", "mod inner { use super::super::drive; }", 1),
        ("gcm/plan.rs", "some_macro! { crate::gcm::drive::begin() }", 1),
        ("gcm/plan.rs", "use crate as root;", 1),
        ("gcm/plan.rs", "extern crate std; extern crate self as root;", 1),
        ("ghash/powers.rs", "use super::super::{key as k};", 1),
        ("ghash/powers.rs", "use crate::{self as root};", 1),
        ("ghash/powers.rs", "pub(crate) fn f() {} pub(super) fn g(self) {} #[cfg(test)] mod tests { use crate::key::Key; }", 0),
    ];
    for (name, planted, faults) in planted {
        assert_eq!(check(name, planted).len(), faults, "{name}: {planted}");
    }
}

/// No modules of a crate use each other in a circle: of this crate, of those beside it in the repository, and of the prover, in which no files do either.
#[test]
fn no_crate_has_a_circle() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = fs::read_dir(&beside).unwrap().map(|entry| entry.unwrap().path().join("src")).filter(|source| source.is_dir());
    let prover = beside.join("../tools/prove/src");
    let sources: Vec<PathBuf> = crates.chain([prover.clone()]).collect();
    let first = |path: &[String]| path.first().cloned();
    for source in &sources {
        let circle = circle(uses(source, first));
        assert!(circle.is_empty(), "modules use each other in a circle: {}: {}", source.display(), circle.join(", "));
    }
    let is_file = |path: &String| prover.join(path).with_extension("rs").exists() || prover.join(path).join("mod.rs").exists();
    let file = |path: &[String]| (1..=path.len()).map(|n| path[..n].join("/")).take_while(is_file).last();
    let circle_of_files = circle(uses(&prover, file));
    assert!(circle_of_files.is_empty(), "files of the prover use each other in a circle: {}", circle_of_files.join(", "));
    let planted = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "c")].map(|(module, used)| (module.into(), [used.into()].into()));
    assert_eq!(circle(planted.into_iter().collect()), ["b", "c"]);
}

/// Which modules each module uses: those that `module` finds in a path. A module may use what it is a part of, and its parts.
fn uses(source: &Path, module: impl Fn(&[String]) -> Option<String>) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files(source.to_path_buf()) {
        let name = file.strip_prefix(source).unwrap().to_string_lossy();
        let parts: Vec<String> = name.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").map(String::from).collect();
        let Some(own) = module(&parts) else { continue };
        if !["lib", "main"].contains(&&*own) && !name.starts_with(PROOF) && !name.ends_with("tests.rs") {
            let used = used(&name, &fs::read_to_string(&file).unwrap()).into_iter().filter_map(|path| module(&path));
            let is_part = |used: &String| format!("{own}/").starts_with(&format!("{used}/")) || used.starts_with(&format!("{own}/"));
            uses.entry(own.clone()).or_default().extend(used.filter(|used| !is_part(used)));
        }
    }
    uses
}

/// The modules of circles, and those between two of them.
fn circle(mut uses: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        // What uses none of the others is in no circle, and neither is what none of the others uses.
        let left: Vec<String> = uses.keys().cloned().collect();
        uses.retain(|_, used| used.iter().any(|used| left.contains(used)));
        let used: BTreeSet<String> = uses.values().flatten().cloned().collect();
        uses.retain(|module, _| used.contains(module));
        if uses.len() == left.len() {
            return left;
        }
    }
}

/// What is wrong with one file.
fn check(name: &str, text: &str) -> Vec<String> {
    let floor = |module: &str| LAYERS.lines().position(|floor| floor.split(' ').any(|other| other == module));
    let module = name.split(['/', '.']).next().unwrap_or(name);
    let Some(own) = floor(module) else { return vec![format!("{name}: in no layer")] };
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let is_proof = name.starts_with(PROOF);
    let used = used(name, text);
    // What is in no layer is an item of the crate's root (`Block`, `Error`), or a macro. The root itself, under another name, could be any of them.
    let above = used
        .iter()
        .filter(|used| !is_proof && module != "lib" && used.first().is_none_or(|used| floor(used).is_some_and(|floor| floor < own)));
    let mut faults: Vec<String> = above.map(|used| format!("uses `crate::{}`, which is above `{module}`", used.join("::"))).collect();
    faults.extend(upwards_inside(name, &used));
    let enables_dq = code.lines().any(|line| line.contains("enable") && line.contains("avx512dq"));
    for (is_wrong, what) in [
        (!UNSAFE.contains(&module) && !is_proof && code.contains("unsafe"), format!("`unsafe` outside {UNSAFE:?}")),
        (!MACHINE.contains(&name) && code.contains("target_arch"), format!("asks for the machine outside {MACHINE:?}")),
        (enables_dq, "enables avx512dq, which this rustc miscompiles (rust-lang/rust#158622)".into()),
    ] {
        faults.extend(is_wrong.then_some(what));
    }
    faults.iter().map(|fault| format!("{name}: {fault}")).collect()
}

/// What a file of a module in [`INSIDE`] uses of its neighbours and of its parent that is not below it.
fn upwards_inside(name: &str, used: &[Vec<String>]) -> Vec<String> {
    let Some((module, floors, file)) =
        INSIDE.iter().find_map(|(module, floors)| Some((module, floors, name.strip_prefix(&format!("{module}/"))?)))
    else {
        return Vec::new();
    };
    let floor = |file: &str| floors.lines().position(|floor| floor.split(' ').any(|other| other == file));
    let own = file.trim_end_matches(".rs").split('/').next().unwrap_or(file);
    if own == "mod" || file.ends_with("tests.rs") {
        return Vec::new();
    }
    let Some(own_floor) = floor(own) else { return vec![format!("`{own}` is in no floor of its module")] };
    // What is no file is an item of the parent, and so is the parent itself.
    let neighbours =
        used.iter().filter(|path| path.first().is_some_and(|first| first == *module) && path.get(1).is_none_or(|used| used != own));
    let above = neighbours.filter(|path| path.get(1).and_then(|used| floor(used)).unwrap_or(0) <= own_floor);
    above.map(|path| format!("uses `crate::{}`, which is not below `{own}`", path.join("::"))).collect()
}

/// All that a file names by a path from the crate's root, or from its own place in it (`super`, `self`), as paths from the root: in `use`, written out, and
/// in macros. Its tests may name what they want.
fn used(name: &str, text: &str) -> Vec<Vec<String>> {
    let place: Vec<String> =
        name.trim_end_matches(".rs").split('/').filter(|part| !["mod", "lib"].contains(part)).map(String::from).collect();
    let tokens = text.parse::<TokenStream>().unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut used = Vec::new();
    walk(&place, tokens, &mut used);
    used
}

fn walk(place: &[String], tokens: TokenStream, used: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Ident(word) if *word == "mod" => {
                // A module in the file: one level further down.
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) = (tokens.get(at), tokens.get(at + 1)) {
                    if *name != "tests" {
                        walk(&[place, &[name.to_string()]].concat(), body.stream(), used);
                    }
                    at += 2;
                }
            }
            TokenTree::Ident(word) => {
                let before = |word: &str| at > 1 && is_word(&tokens[at - 2], word);
                let start = match word.to_string().as_str() {
                    "crate" if before("extern") => None, // `extern crate std`
                    "self" if before("crate") && at > 2 && is_word(&tokens[at - 3], "extern") => Some(Vec::new()), // `extern crate self as root`
                    "crate" => Some(Vec::new()),
                    "self" if is_colons(&tokens[at..]) => Some(place.to_vec()),
                    "super" => Some(place[..place.len().saturating_sub(1)].to_vec()),
                    _ => None,
                };
                if let Some(start) = start {
                    at += path(start, &tokens[at..], used);
                }
            }
            TokenTree::Group(group) if !is_only_a_word(group.stream()) => walk(place, group.stream(), used),
            _ => {}
        }
    }
}

/// `pub(crate)`, `pub(super)`.
fn is_only_a_word(tokens: TokenStream) -> bool {
    matches!(&tokens.into_iter().collect::<Vec<_>>()[..], [TokenTree::Ident(word)] if ["crate", "super"].contains(&word.to_string().as_str()))
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(other) if *other == word)
}

fn is_colons(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Punct(one), TokenTree::Punct(two), ..] if one.as_char() == ':' && two.as_char() == ':')
}

/// Goes on with a path behind what has been read of it. Returns how many tokens it has.
fn path(mut so_far: Vec<String>, tokens: &[TokenTree], used: &mut Vec<Vec<String>>) -> usize {
    let mut at = 0;
    while is_colons(&tokens[at..]) {
        match tokens.get(at + 2) {
            Some(TokenTree::Ident(word)) => {
                match word.to_string().as_str() {
                    "super" => _ = so_far.pop(),
                    "self" => {}
                    word => so_far.push(word.into()),
                }
                at += 3;
            }
            Some(TokenTree::Group(list)) => {
                let list: Vec<TokenTree> = list.stream().into_iter().collect();
                for name in list.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')) {
                    if let Some(TokenTree::Ident(word)) = name.first() {
                        let own = if *word == "self" { Vec::new() } else { vec![word.to_string()] };
                        path([so_far.clone(), own].concat(), &name[1..], used);
                    }
                }
                return at + 3;
            }
            // `*`, or a generic argument
            _ => break,
        }
    }
    used.push(so_far);
    at
}

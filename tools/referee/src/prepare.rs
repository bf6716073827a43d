//! Builds plug-ins: turns a name (a source file, a folder, a shared object) into an object to load or a command to start.

use crate::{
    peer::MODEL,
    switches::{self, Settings},
};
use aead_load::{Home, Options, comment, run};
use include_dir::{Dir, include_dir};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// A plug-in that is ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    /// The path by which it was named.
    pub(crate) path: PathBuf,
    /// Its environment variables: `NAME=VALUE`.
    pub(crate) settings: Vec<String>,
    /// The shared object, or the command.
    pub(crate) command: Vec<String>,
    /// The settings that cripple the processor by its own switches.
    pub(crate) crippled: Vec<Settings>,
}

/// The model's switches, which affect its faults.
pub(crate) const MODEL_WITHOUT: &str = "MODEL_WITHOUT=aes MODEL_WITHOUT=vaes MODEL_WITHOUT=avx512f MODEL_WITHOUT=pclmulqdq";

/// The parts of `tools/aead` that an installed referee contains.
static CARRIED: [(&str, Dir<'_>); 3] = [
    ("libraries", include_dir!("$CARGO_MANIFEST_DIR/../../tools/aead/libraries")),
    ("templates", include_dir!("$CARGO_MANIFEST_DIR/../../tools/aead/templates")),
    ("src", include_dir!("$CARGO_MANIFEST_DIR/../../tools/aead/src")),
];

/// Returns `tools/aead` of this repository, or a copy in the user's cache without a repository.
pub(crate) fn home() -> &'static Home {
    static HOME: OnceLock<Home> = OnceLock::new();
    HOME.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        if let Ok(root) = root.canonicalize()
            && root.join("tools/aead/aead.h").exists()
        {
            return Home::of_tree(&root);
        }
        let cache = carried().unwrap_or_else(|error| {
            eprintln!("referee: no cache for its plug-ins: {error}");
            std::process::exit(2)
        });
        Home { target: cache.join("target"), aead: cache }
    })
}

fn carried() -> std::io::Result<PathBuf> {
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let unknown = || std::io::Error::other("neither XDG_CACHE_HOME nor HOME is set"); // any user could own a name in /tmp
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home).ok_or_else(unknown)?.join("fastgcm-referee");
    for (name, folder) in &CARRIED {
        fs::create_dir_all(cache.join(name))?;
        folder.extract(cache.join(name))?;
    }
    fs::write(cache.join("aead.h"), include_str!("../../../tools/aead/aead.h"))?;
    Ok(cache)
}

/// Returns all plug-ins of the repository by name, without those for the bench only.
pub(crate) fn here() -> Result<Vec<PathBuf>, String> {
    let text = |error: std::io::Error| error.to_string();
    let crates = home().aead.join("../../crates");
    let mut found = vec![crates.join("fastgcm/interop/referee"), crates.join("fastgcm-capi/interop/referee.c")];
    found.retain(|path| path.exists());
    for entry in fs::read_dir(home().aead.join("libraries")).map_err(text)? {
        let path = entry.map_err(text)?.path();
        let is = |ending| path.extension().is_some_and(|found| found == ending);
        if path.join("go.mod").exists()
            || ["c", "cc", "py", "java", "js"].into_iter().any(is)
                && path.file_stem().is_none_or(|stem| !["referee", "node-memory"].iter().any(|no| stem == *no))
        {
            found.push(path);
        }
    }
    found.sort();
    found.extend(home().builds().into_iter().filter(|name| name != "openssl-system").map(PathBuf::from));
    Ok(found)
}

/// Returns true for a word like `NAME=VALUE`.
pub(crate) fn is_setting(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Builds the plug-in of `NAME=VALUE... PATH`. Fetches libraries, and builds them from source, only if `fetch` is set.
pub(crate) fn plugin(path: &Path, fetch: bool) -> Result<Plugin, String> {
    let words = path.to_string_lossy().into_owned();
    // A word that begins with a hyphen continues the value before it.
    let is_word = |word: &&str| !path.exists() && (is_setting(word) || word.starts_with('-'));
    let mut settings: Vec<String> = Vec::new();
    for word in words.split(' ').take_while(is_word) {
        match settings.last_mut() {
            Some(last) if !is_setting(word) => *last += &format!(" {word}"),
            _ => settings.push(word.to_owned()),
        }
    }
    let behind: usize = settings.iter().map(|word| word.len() + 1).sum();
    let path = Path::new(words.get(behind..).unwrap_or_default());
    if path == Path::new(MODEL) && !path.exists() {
        let command = [&settings[..], &[MODEL.into()]].concat();
        return Ok(Plugin { path: path.into(), settings, command, crippled: switches::of(MODEL_WITHOUT, "") });
    }
    let named = || home().page(&path.display().to_string());
    let path = Some(path.to_owned()).filter(|path| path.exists()).or_else(named).ok_or("there is no such file and no such plug-in")?;
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    let text = path.display().to_string();
    let of = |program: &str| vec![program.to_owned(), text.clone()];
    // A folder's first comment is that of its source.
    let sources = [path.clone(), path.join("plugin.go"), path.join("src/lib.rs")];
    let source = sources.iter().filter(|path| path.is_file()).find_map(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let crippled = switches::of(&comment(&source, "without:"), &comment(&source, "levels:"));
    let mut command = settings.clone();
    command.extend(match path.extension().and_then(|ending| ending.to_str()) {
        Some("so") => vec![text],
        Some("py") => of(&env::var("REFEREE_PYTHON").unwrap_or("python3".into())),
        Some("java") => of("java"),
        Some("js") => [node_memory(&path).into_iter().collect(), of("node")].concat(),
        _ => {
            let built = home().build(&path, Options { fetch, ..Options::default() });
            let unknown = "it is not a shared object, a known kind of source, or a folder with a go.mod or a Cargo.toml";
            vec![built.ok_or(unknown)??.object.display().to_string()]
        }
    });
    Ok(Plugin { path, settings, command, crippled })
}

/// Builds the add-on that gives Node the referee's memory. Returns `None` if it cannot be built.
fn node_memory(path: &Path) -> Option<String> {
    let (source, out) = (home().aead.join("libraries/node-memory.c"), home().out(path, "").ok()?.with_extension("node"));
    let mut command = Command::new("cc");
    command.args(["-O2", "-shared", "-fPIC", "-I/usr/include/node", "-I/usr/local/include/node", "-o"]).arg(&out).arg(source);
    run(&mut command).ok().map(|_| format!("REFEREE_NODE_MEMORY={}", out.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings stand before a path, which may have spaces and `=`.
    #[test]
    fn settings_and_a_path() {
        let folder = tempfile::Builder::new().prefix("referee a=b ").tempdir().unwrap();
        let file = folder.path().join("mine c=d.js");
        fs::write(&file, "").unwrap();
        let text = file.display().to_string();
        for settings in [vec![], vec!["A=1".to_owned()], vec!["A=1".to_owned(), "B=x/y=z".to_owned()]] {
            let named = [&settings[..], std::slice::from_ref(&text)].concat().join(" ");
            let plugin = plugin(Path::new(&named), false).unwrap();
            let node = ["node".to_owned(), file.canonicalize().unwrap().display().to_string()];
            // With Node's headers the command has the setting of Node's memory.
            let command: Vec<_> = plugin.command.into_iter().filter(|word| !word.starts_with("REFEREE_NODE_MEMORY=")).collect();
            assert_eq!((plugin.settings, command), (settings.clone(), [settings, node.to_vec()].concat()));
        }
        for nothing in ["", "A=1", "A=1 nothing", "A=1 "] {
            assert!(plugin(Path::new(nothing), false).is_err(), "{nothing}");
        }
    }
}

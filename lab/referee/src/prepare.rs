//! From what one names (a source file, a folder, a shared object) to what is loaded or started.

use crate::{
    peer::MODEL,
    switches::{self, Settings},
};
use include_dir::{Dir, include_dir};
use serde_json::Value;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// A plug-in, ready.
#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    /// What it was named.
    pub(crate) path: PathBuf,
    /// What is put into its environment: `NAME=VALUE`.
    pub(crate) settings: Vec<String>,
    /// A shared object, or a command.
    pub(crate) command: Vec<String>,
    /// What its own switches make of the processor.
    pub(crate) crippled: Vec<Settings>,
}

/// The model's features, which mean something to its faults.
pub(crate) const MODEL_WITHOUT: &str = "MODEL_WITHOUT=aes MODEL_WITHOUT=vaes MODEL_WITHOUT=avx512f MODEL_WITHOUT=pclmulqdq";

/// What an installed referee carries with it.
static CARRIED: [(&str, Dir<'_>); 3] = [
    ("plugins", include_dir!("$CARGO_MANIFEST_DIR/plugins")),
    ("templates", include_dir!("$CARGO_MANIFEST_DIR/templates")),
    ("interface", include_dir!("$CARGO_MANIFEST_DIR/interface")),
];

/// The folder of the referee in its repository, or where that is not, one in the user's cache with what it carries.
pub(crate) fn home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        if here.join("referee.h").exists() {
            return here.to_owned();
        }
        carried().unwrap_or_else(|error| {
            eprintln!("referee: no cache for its plug-ins: {error}");
            std::process::exit(2)
        })
    })
}

fn carried() -> std::io::Result<PathBuf> {
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let none = || std::io::Error::other("neither XDG_CACHE_HOME nor HOME is set"); // a name in /tmp would be anybody's
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home).ok_or_else(none)?.join("fastgcm-referee");
    for (name, folder) in &CARRIED {
        fs::create_dir_all(cache.join(name))?;
        folder.extract(cache.join(name))?;
    }
    fs::write(cache.join("referee.h"), include_str!("../referee.h"))?;
    Ok(cache)
}

/// All plug-ins that are here, by name.
pub(crate) fn here() -> Result<Vec<PathBuf>, String> {
    let text = |error: std::io::Error| error.to_string();
    let crates = home().join("../../crates");
    let mut found = vec![crates.join("fastgcm/interop/referee"), crates.join("fastgcm-capi/interop/referee.c")];
    found.retain(|path| path.exists());
    for entry in fs::read_dir(home().join("plugins")).map_err(text)? {
        let path = entry.map_err(text)?.path();
        let is = |ending| path.extension().is_some_and(|found| found == ending);
        let folder = path.join("go.mod").exists() || path.join("Cargo.toml").exists();
        if folder
            || ["c", "cc", "py", "java", "js"].into_iter().any(is)
                && path.file_stem().is_none_or(|stem| stem != "referee" && stem != "node-memory")
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// `NAME=VALUE`.
pub(crate) fn is_setting(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Builds what has to be built, of `NAME=VALUE... PATH`. Libraries are fetched from elsewhere, and built from source, only if we may `fetch`.
pub(crate) fn plugin(path: &Path, fetch: bool) -> Result<Plugin, String> {
    let words = path.to_string_lossy().into_owned();
    // What begins with a hyphen goes on with the value before it.
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
    let known = |path: PathBuf| path.exists().then_some(path);
    let named = || {
        ["", ".c", ".cc", ".py", ".java", ".js"]
            .iter()
            .find_map(|end| known(home().join("plugins").join(format!("{}{end}", path.display()))))
    };
    let path = known(path.to_owned()).or_else(named).or_else(|| known(rivals().join(format!("{}.rs", path.display()))));
    let path = path.ok_or("there is no such file, plug-in or rival")?;
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    let text = path.display().to_string();
    let of = |program: &str| vec![program.to_owned(), text.clone()];
    // A folder's first comment is that of its source.
    let sources = [path.clone(), path.join("plugin.go"), path.join("src/lib.rs")];
    let source = sources.iter().filter(|path| path.is_file()).find_map(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let crippled = switches::of(&said(&source, "without:"), &said(&source, "levels:"));
    let mut command = settings.clone();
    command.extend(match path.extension().and_then(|ending| ending.to_str()) {
        Some("so") => vec![text],
        Some(ending @ ("c" | "cc")) => {
            vec![compiled(&path, if ending == "c" { "cc" } else { "c++" }, fetch)?]
        }
        Some("py") => of(&env::var("REFEREE_PYTHON").unwrap_or("python3".into())),
        Some("java") => of("java"),
        Some("js") => [node_memory(&path).into_iter().collect(), of("node")].concat(),
        Some("rs") if path.with_file_name("make.sh").exists() => vec![plugin_of(&path, fetch)?],
        _ if path.join("go.mod").exists() => vec![go(&path)?],
        _ if path.join("Cargo.toml").exists() => vec![plugin_of(&path, fetch)?],
        _ => return Err("it is no shared object, no source that is known, and no folder with a go.mod or a Cargo.toml".into()),
    });
    Ok(Plugin { path, settings, command, crippled })
}

/// Where what is built goes.
fn out(path: &Path) -> Result<PathBuf, String> {
    let folder = home().join("target/plugins");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder.join(format!("{}.so", path.file_stem().unwrap_or_default().display())))
}

/// What lends Node the referee's memory, if it can be built.
fn node_memory(path: &Path) -> Option<String> {
    let (source, out) = (home().join("plugins/node-memory.c"), out(path).ok()?.with_extension("node"));
    let mut command = Command::new("cc");
    command.args(["-O2", "-shared", "-fPIC", "-I/usr/include/node", "-I/usr/local/include/node", "-o"]).arg(&out).arg(source);
    run(&mut command).ok().map(|_| format!("REFEREE_NODE_MEMORY={}", out.display()))
}

/// What the lines of a first comment say that begin with this word.
fn said(source: &str, key: &str) -> String {
    let lines = source.lines().take(30).filter_map(|line| line.trim_start_matches(['/', '*', ' ', '!', '#']).strip_prefix(key));
    lines.map(|line| line.trim_end_matches("*/").trim()).collect::<Vec<_>>().join(" ")
}

/// A C or C++ file. Its first comment may have `link:` (what follows goes to the compiler; more lines of it, too), `before:` (a command for bash, in the
/// root of the project), `made:` (a rival of `lab/bench` of which `make.sh` fetches the library, to `$MADE`) and `built:` (a rival that
/// cargo builds with its library; `$(CRATE)` is where the build script of that crate puts it).
fn compiled(path: &Path, compiler: &str, fetch: bool) -> Result<String, String> {
    let source = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let said = |key: &str| Some(said(&source, key)).filter(|said| !said.is_empty());
    let root = home().join("../..").canonicalize().unwrap_or_else(|_| home().into());
    if let Some(before) = said("before:") {
        run(Command::new("bash").args(["-c", &before]).current_dir(&root))?;
    }
    let mut link = said("link:").unwrap_or_default().replace("$ROOT", &root.display().to_string());
    if let Some(rival) = said("made:") {
        link = link.replace("$MADE", &made(&rival, fetch)?.display().to_string());
    }
    if let Some(rival) = said("built:") {
        if !fetch {
            return Err("its library is built from source, which takes minutes: --fetch does that".into());
        }
        for message in cargo(&rivals().join(format!("{rival}.rs")), fetch)? {
            if let Some(out) = message["out_dir"].as_str() {
                // `registry+https://...#NAME@VERSION`, or of a folder that is named like its package `path+file:///.../NAME#VERSION`.
                let (at, id) = message["package_id"].as_str().unwrap_or_default().rsplit_once('#').unwrap_or_default();
                let name = id.split_once('@').map_or_else(|| at.rsplit('/').next().unwrap_or_default(), |(name, _)| name);
                link = link.replace(&format!("$({name})"), out);
            }
        }
    }
    let out = out(path)?;
    let mut command = Command::new(env::var(if compiler == "cc" { "CC" } else { "CXX" }).unwrap_or(compiler.into()));
    command.args(["-O2", "-g", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wno-deprecated-declarations", "-I"]);
    // Two libraries may have symbols of one name: whose are in the plug-in stay there.
    command.arg(home()).args(["-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL"]);
    run(command.arg("-o").arg(&out).arg(path).args(link.split_whitespace()))?;
    Ok(out.display().to_string())
}

fn rivals() -> PathBuf {
    home().join("../bench/rivals")
}

/// What `make.sh` of the rivals has fetched from where no registry of Cargo reaches, where the program of `lab/bench` looks for it, too.
fn made(rival: &str, fetch: bool) -> Result<PathBuf, String> {
    let folder = home().join("../../target/made").join(rival);
    if !folder.join("version").exists() {
        if !fetch {
            return Err("its library is not fetched yet: --fetch does that".into());
        }
        eprintln!("fetching {rival} ...");
        run(Command::new(rivals().join("make.sh")).arg(rival).arg(&folder))?;
    }
    folder.canonicalize().map_err(|error| error.to_string())
}

/// A module of Go.
fn go(path: &Path) -> Result<String, String> {
    let out = out(path)?;
    let mut command = Command::new("go");
    command.env("CGO_CFLAGS", format!("-O2 -I{}", home().display()));
    run(command.args(["build", "-buildmode=c-shared", "-o"]).arg(&out).arg(".").current_dir(path))?;
    Ok(out.display().to_string())
}

/// A crate whose `cdylib` is a plug-in, or one page of `lab/bench/rivals`.
fn plugin_of(path: &Path, fetch: bool) -> Result<String, String> {
    let manifest = if path.is_dir() { path.join("Cargo.toml") } else { path.with_file_name("Cargo.toml") };
    let manifest = manifest.display().to_string();
    let mut objects = cargo(path, fetch)?.into_iter().filter(|made| made["manifest_path"].as_str() == Some(&manifest)).filter_map(|made| {
        let mut files = made["filenames"].as_array()?.iter().filter_map(|file| file.as_str());
        files.find(|file| file.ends_with(".so")).map(str::to_owned)
    });
    objects.next_back().ok_or_else(|| format!("{manifest} makes no shared object (crate-type = [\"cdylib\"])"))
}

/// Builds a crate, and says what cargo says of it.
fn cargo(path: &Path, fetch: bool) -> Result<Vec<Value>, String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--release", "--message-format=json-render-diagnostics"]);
    if path.is_dir() {
        command.current_dir(path);
    } else {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let example = name.replace('.', "-");
        command.args(["--example", &example, "--features", &example]).current_dir(rivals());
        let fetched = fs::read_to_string(rivals().join("make.sh")).map_err(|error| error.to_string())?;
        if fetched.lines().any(|line| line.trim_end_matches(['*', ')']) == name) {
            command.env("RIVAL_NAME", &*name).env("RIVAL_MADE", made(&name, fetch)?);
        }
    }
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        command.env_remove(name);
    }
    Ok(run(&mut command)?.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Runs a command, and returns what it prints; if it fails, what it said of errors, or its last lines.
fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let tells = |line: &&str| ["error", "cannot find", "undefined reference"].iter().any(|word| line.contains(word));
    let errors: Vec<&str> = said.lines().filter(tells).take(3).collect();
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    Err(if errors.is_empty() { last.join("; ") } else { errors.join("; ") })
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
            // Where Node's headers are, its memory stands before it.
            let command: Vec<_> = plugin.command.into_iter().filter(|word| !word.starts_with("REFEREE_NODE_MEMORY=")).collect();
            assert_eq!((plugin.settings, command), (settings.clone(), [settings, node.to_vec()].concat()));
        }
        for nothing in ["", "A=1", "A=1 nothing", "A=1 "] {
            assert!(plugin(Path::new(nothing), false).is_err(), "{nothing}");
        }
    }
}

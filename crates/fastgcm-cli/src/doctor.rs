//! `fastgcm doctor`: whether programs use the OpenSSL provider by a configuration, as OpenSSL's own program tells.

use crate::{
    cli,
    failure::{Code, Failure},
    output::{BY_UMASK, Target},
    print,
};
use fastgcm::Backend;
use std::{
    env, fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{self, Path},
    process::{Command, Stdio},
};

/// The configuration that the provider's crate hands out.
const CONFIGURATION: &str = include_str!("fastgcm.cnf");

/// Where that is, once it is installed.
const INSTALLED: &str = "/etc/ssl/fastgcm.cnf";

const UNREACHED: &str = "It reaches no program in Go or Java, with rustls or BoringSSL, nor one with an OpenSSL of its own that does not read OPENSSL_CONF,\n\
    such as Node.js from nodejs.org (there: node --openssl-shared-config).\n";

/// Checks a configuration, and measures what it gains.
pub(crate) fn run(args: &cli::Doctor) -> Result<(), Failure> {
    let named = args.write.clone().or_else(|| args.file.clone());
    let named = named.or_else(|| env::var_os("OPENSSL_CONF").filter(|name| !name.is_empty()).map(Into::into));
    // The program that uses it may run in another folder.
    let file = path::absolute(named.unwrap_or_else(|| INSTALLED.into())).map_err(|error| Failure::io("this folder", error))?;
    let version = openssl(None, &["version"])?;
    if let Some(new) = &args.write {
        write(new, args.module.as_deref())?;
    }
    // OpenSSL passes over a file that it cannot read.
    let mut text = fs::read_to_string(&file).map_err(|error| Failure::io(file.display(), error))?;
    include(&mut text);
    let list = openssl(Some(&file), &["list", "-providers", "-verbose"])?;
    let ciphers = openssl(Some(&file), &["list", "-cipher-algorithms"])?;

    let mut problems = Vec::new();
    let mut check = |well: bool, problem: &str| {
        if !well {
            problems.push(problem.to_owned())
        }
    };
    let active = provider(&list, "fastgcm").is_some();
    check(active, &if active { String::new() } else { why_not(&text) });
    check(
        provider(&list, "default").is_some(),
        "OpenSSL's own provider is not active, so all but AES-GCM is missing: activate `default` too",
    );
    for name in ["fastgcm", "default"] {
        let activate = value(&text, &["openssl_conf", "providers", name, "activate"]).unwrap_or_default();
        let off = ["0", "no", "false", "off"].iter().any(|off| activate.eq_ignore_ascii_case(off));
        check(
            !off,
            &format!("`activate = {activate}` of `{name}` is a yes to OpenSSL 3.0 and a no to newer ones: say `1`, or leave the line out"),
        );
    }
    let properties = value(&text, &["openssl_conf", "alg_section", "default_properties"]).unwrap_or_default();
    let plain = |property: &str| property.chars().filter(|letter| !letter.is_whitespace() && !"\"'".contains(*letter)).collect::<String>();
    let properties: Vec<_> = properties.split(',').map(plain).collect();
    let has = |wanted: &str| properties.iter().any(|property| property == wanted);
    let fips = ["fips=yes", "?fips=yes", "fips", "?fips"].into_iter().any(has) || provider(&list, "fips").is_some();
    check(!fips, "FIPS is in force, and this provider is not validated: do not use it here");
    let only = properties.iter().find(|property| property.starts_with("provider") || property.starts_with("x.fastgcm"));
    let named = only.map(|property| property.split('=').next().unwrap_or_default()).unwrap_or_default();
    check(only.is_none(), &format!("`{named}` without `?` refuses what other providers have"));
    check(
        only.is_some() || has("?x.fastgcm=yes") || has("?x.fastgcm") || has("?provider=fastgcm"),
        "AES-GCM is not taken from the provider: the algorithms' section needs `default_properties = ?x.fastgcm=yes`",
    );
    if let Some(name) = env::var_os("FASTGCM_BACKEND") {
        let known = name.to_str().and_then(|name| name.parse::<Backend>().ok()).filter(|backend| backend.is_available());
        let names = Backend::available().map(Backend::name).collect::<Vec<_>>().join(", ");
        let problem = format!("FASTGCM_BACKEND={} is passed over: this machine has {names}", name.display());
        check(known.is_some(), &problem);
    }
    let offered = ciphers.contains("aes-256-gcm, id-aes256-GCM } @ fastgcm");
    check(offered || fips || !active, "with these properties OpenSSL finds no AES-GCM of the provider");

    let shown = file.display();
    let mut report = format!("{}\n", version.trim());
    if problems.is_empty() {
        let back_end = provider(&list, "fastgcm").and_then(|lines| lines.split_once("build info: ")?.1.lines().next()).unwrap_or("unknown");
        let (without, with) = (speed(None)?, speed(Some(&file))?);
        report += &format!("{shown}: the provider loads, with the back end {back_end}\n");
        report += &format!("AES-256-GCM, 16 KiB: {with:.2} GB/s with it, {without:.2} without it: {:.2} times the speed\n", with / without);
        report += &format!("A program uses it that is started with OPENSSL_CONF={shown}\n");
        let module = value(&text, &["openssl_conf", "providers", "fastgcm", "module"]).map(Path::new);
        for closed in [Some(&*file), module].into_iter().flatten().filter_map(closed) {
            report += &format!("Other users cannot read {}: a program that runs as one of them does not use it\n", closed.display());
        }
    }
    print(report + UNREACHED)?;
    let mut problems = problems.into_iter();
    let Some(first) = problems.next() else { return Ok(()) };
    let failure = Failure::new(Code::Provider, format_args!("{shown}: {first}"));
    Err(problems.fold(failure, Failure::note))
}

/// The part of a path that keeps other users from reading the file: itself, or a folder.
fn closed(path: &Path) -> Option<&Path> {
    let lacks = |part: &Path, right| fs::metadata(part).is_ok_and(|data| data.permissions().mode() & right == 0);
    path.ancestors().enumerate().find(|&(depth, part)| lacks(part, if depth == 0 { 0o4 } else { 0o1 })).map(|(_, part)| part)
}

/// Writes a new configuration, with that module in it.
fn write(file: &Path, module: Option<&Path>) -> Result<(), Failure> {
    let mut text = CONFIGURATION.to_owned();
    if let Some(module) = module {
        let path = module.canonicalize().map_err(|error| Failure::io(module.display(), error))?;
        let path = path.to_str().filter(|path| !path.contains(['$', '#', '\\', '"', '\'', '`', '\n']) && path.trim() == *path);
        let path = path.ok_or_else(|| Failure::usage(format_args!("{}: OpenSSL's configurations have no such names", module.display())))?;
        text = text.replace("\nmodule = fastgcm.so\n", &format!("\nmodule = {path}\n"));
    }
    let target = Target::plan(file, false, BY_UMASK)?;
    target.refuse_existing()?;
    let mut output = target.create()?;
    output.write_all(text.as_bytes()).map_err(|error| Failure::io(file.display(), error))?;
    output.commit()
}

/// What OpenSSL's program says with that configuration, or with none.
fn openssl(file: Option<&Path>, arguments: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new("openssl");
    command.args(arguments).env("OPENSSL_CONF", file.unwrap_or("/dev/null".as_ref())).stdin(Stdio::null());
    let failure = |why: &str| Failure::new(Code::Provider, format_args!("openssl {}: {why}", arguments.join(" ")));
    let output = command.output().map_err(|error| failure(&error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    // The most telling line is that of the module; else it is the first.
    let why = errors.lines().find(|line| line.contains("filename(")).or_else(|| errors.lines().next());
    Err(failure(why.unwrap_or("it failed")))
}

/// What `openssl list -providers` says of a provider that is active.
fn provider<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let (_, lines) = list.split_once(&format!("\n  {name}\n"))?;
    let end = lines.match_indices("\n  ").find(|(at, _)| !lines[at + 3..].starts_with(' '));
    Some(&lines[..end.map_or(lines.len(), |(at, _)| at)]).filter(|lines| lines.contains("status: active"))
}

/// Why the provider is not active.
fn why_not(text: &str) -> String {
    let Some(module) = value(text, &["openssl_conf", "providers", "fastgcm", "module"]) else {
        return "it has no section of a provider `fastgcm` with a `module`".into();
    };
    let mut arguments = vec!["list", "-providers"];
    if let Some(folder) = Path::new(module).parent().and_then(Path::to_str).filter(|folder| !folder.is_empty()) {
        arguments.extend(["-provider-path", folder]);
    }
    arguments.extend(["-provider", Path::new(module).file_stem().and_then(|stem| stem.to_str()).unwrap_or(module)]);
    match openssl(None, &arguments) {
        Ok(_) => "the provider is not active: its section needs `activate = 1`".into(),
        Err(failure) => failure.message().into(),
    }
}

/// Puts what a configuration includes in the place of each `.include`: a file, or those of a folder whose names end with `.cnf` or `.conf`. OpenSSL passes
/// over one that it cannot read. A file that includes itself ends at some depth.
fn include(text: &mut String) {
    let included = |line: &str| {
        let name = line.trim().strip_prefix(".include").filter(|rest| rest.starts_with([' ', '\t', '=']))?;
        let path = Path::new(name.trim_start_matches([' ', '\t', '=']).trim());
        let base = env::var_os("OPENSSL_CONF_INCLUDE").unwrap_or_default();
        let path = Path::new(&base).join(path);
        let mut files = vec![path.clone()];
        if let Ok(folder) = fs::read_dir(&path) {
            files = folder
                .filter_map(|file| Some(file.ok()?.path()))
                .filter(|file| file.extension().is_some_and(|end| end == "cnf" || end == "conf"))
                .collect();
            files.sort();
        }
        Some(files.iter().filter_map(|file| fs::read_to_string(file).ok()).map(|text| text + "\n").collect::<String>())
    };
    for _ in 0..5 {
        *text = text.lines().map(|line| included(line).unwrap_or_else(|| format!("{line}\n"))).collect();
    }
}

/// What is found in a configuration on the way of those keys: each value but the last names the section with the next.
fn value<'a>(text: &'a str, way: &[&str]) -> Option<&'a str> {
    way.iter().try_fold("", |section, key| {
        let (mut at, mut found) = ("", None);
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            match (line.strip_prefix('['), line.split_once('=')) {
                (Some(name), _) => at = name.trim_end_matches(']').trim(),
                (None, Some((name, value))) if at == section && name.trim() == *key => found = Some(value.trim()),
                _ => {}
            }
        }
        found
    })
}

/// GB/s of AES-256-GCM, in calls of 16 KiB.
fn speed(file: Option<&Path>) -> Result<f64, Failure> {
    let said = openssl(file, &["speed", "-seconds", "1", "-bytes", "16384", "-evp", "aes-256-gcm"])?;
    let thousands = said.split_whitespace().last().and_then(|last| last.strip_suffix('k')?.parse::<f64>().ok());
    thousands.map(|thousands| thousands / 1e6).ok_or_else(|| Failure::new(Code::Provider, "openssl speed does not say how fast it is"))
}

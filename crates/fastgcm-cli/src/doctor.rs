//! `fastgcm doctor`: whether programs use the OpenSSL provider with a configuration, according to OpenSSL's own program.

mod configuration;

use crate::{
    cli,
    failure::{Code, Failure, escaped},
    input::is_dash,
    output::{Output, PRIVATE, Target},
    print,
    report::quoted,
};
use configuration::Configuration;
use fastgcm::Backend;
use rustix::fs::Mode;
use std::{
    env, fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{self, Path, PathBuf},
    process::{Command, Stdio},
};

/// The path of an installed configuration.
const INSTALLED: &str = "/etc/ssl/fastgcm.cnf";

/// The instructions for users of Java.
const JAVA: &str = "It reaches no program in Java. That gets AES-GCM from the provider fastgcm-java: `java -jar fastgcm-java-0.1.0.jar` says whether it does, and how \
     (docs/java.md).";

/// The programs that no configuration reaches, one line each.
const UNREACHED: [&str; 4] = [
    JAVA,
    "It reaches no program in Go, with rustls or BoringSSL, nor one with an OpenSSL of its own that does not read OPENSSL_CONF, such as Node.js \
     from nodejs.org (there: node --openssl-shared-config).",
    "It reaches no program that has more rights than who started it (setuid, or capabilities of its file), nor one whose environment was cleared: Postfix \
     and Dovecot hand on what `import_environment` names.",
    "`grep fastgcm.so /proc/PID/maps` says whether a process that runs has loaded the provider.",
];

/// The mode of a new configuration, before the umask: it names code that programs load, so nobody else may change it, whatever the umask
/// is.
const OWNERS_TO_CHANGE: Mode = PRIVATE.union(Mode::RGRP).union(Mode::ROTH);

/// A configuration in the form that OpenSSL's program gets.
#[derive(Clone, Copy)]
enum Given<'a> {
    None,
    File(&'a Path),
    /// A configuration that has no name yet.
    New(&'a Output),
}

/// Checks a configuration, and measures what it gains.
pub(crate) fn run(args: &cli::Doctor) -> Result<(), Failure> {
    let named = args.write.clone().or_else(|| args.file.clone());
    let named = named.or_else(|| env::var_os("OPENSSL_CONF").filter(|name| !name.is_empty()).map(Into::into));
    let is_named = named.is_some();
    // The program that uses it may run in another folder.
    let file = path::absolute(named.unwrap_or_else(|| INSTALLED.into())).map_err(|error| Failure::io("this folder", error))?;
    let version = openssl(Given::None, &["version"])?;
    if !is_named && !file.exists() {
        let lacks = format!("no program uses the provider: OPENSSL_CONF names no configuration, and there is no {INSTALLED}");
        let advice = "name a configuration (`fastgcm doctor FILE`), or write one: `fastgcm doctor --write FILE`";
        return Err(Failure::new(Code::Provider, lacks).note(advice));
    }
    let machine = machine()?;
    let new = args.write.as_ref().map(|name| write(name, &file, args.module.as_deref(), machine.as_ref())).transpose()?;
    let given = new.as_ref().map_or(Given::File(&file), |(output, _)| Given::New(output));
    // OpenSSL skips a file that it cannot read.
    let read = new.as_ref().map_or_else(|| Configuration::read(&file), |(_, text)| Ok(Configuration::of(text)))?;
    let problems = problems(&read, given)?;

    let shown = file.display();
    let mut report = vec![version.trim().to_owned()];
    if let [first, others @ ..] = &problems[..] {
        tell(&report)?;
        let failure = Failure::new(Code::Provider, format_args!("{shown}: {first}"));
        let of_write = ["nothing was written: `--module MODULE` names a provider that is not among OpenSSL's modules"];
        let more = if new.is_some() { &of_write[..] } else { &UNREACHED };
        return Err(others.iter().map(String::as_str).chain(more.iter().copied()).fold(failure, Failure::note));
    }
    let list = openssl(given, &["list", "-providers", "-verbose"])?;
    let back_end = provider(&list, "fastgcm").and_then(|lines| lines.split_once("build info: ")?.1.lines().next()).unwrap_or("unknown");
    let (without, with) = (speed(Given::None)?, speed(given)?);
    report.push(format!("{shown}: the provider loads, with the back end {back_end}"));
    report.push(format!("AES-256-GCM, 16 KiB: {with:.2} GB/s with it, {without:.2} without it: {:.2} times the speed", with / without));
    report.push(match file.to_str().and_then(quoted) {
        Some(file) => format!("A program uses it that is started with OPENSSL_CONF={file}"),
        None => "A program uses it that is started with its name in OPENSSL_CONF".into(),
    });
    if let Some((own, machine)) = &machine {
        report.extend(dropped(&read, &list, own, machine)?);
    }
    // The configuration gets its name only now, when all is well with it.
    if let Some((output, _)) = new {
        output.commit().map_err(|failure| taken(failure, &file))?;
    }
    let module = read.at(&["openssl_conf", "providers", "fastgcm", "module"]).map(Path::new);
    for path in [Some(&*file), module].into_iter().flatten() {
        if let Some(closed) = closed(path) {
            report.push(format!("Other users cannot read {}: a program that runs as one of them does not use it", closed.display()));
        }
        if let Some(open) = open(path) {
            report.push(format!("Other users can change {}: what they put there runs in each program that uses it", open.display()));
        }
    }
    report.extend(UNREACHED.map(String::from));
    tell(&report)
}

/// Prints lines. They contain names that others chose: files, processes, and what OpenSSL says.
fn tell(lines: &[String]) -> Result<(), Failure> {
    print(lines.iter().map(|line| escaped(line) + "\n").collect::<String>())
}

/// Returns what is wrong with a configuration; the possible cause of the rest comes first.
fn problems(read: &Configuration, given: Given) -> Result<Vec<String>, Failure> {
    let list = openssl(given, &["list", "-providers", "-verbose"])?;
    let ciphers = openssl(given, &["list", "-cipher-algorithms"])?;
    let mut problems = Vec::new();
    let mut check = |well: bool, problem: &str| {
        if !well {
            problems.push(problem.to_owned())
        }
    };
    let properties = properties(read);
    let has = |wanted: &str| properties.iter().any(|property| property == wanted);
    let fips = ["fips=yes", "?fips=yes", "fips", "?fips"].into_iter().any(has) || provider(&list, "fips").is_some();
    check(!fips, "FIPS is in force, and this provider is not validated: do not use it here");
    // What OpenSSL does with the rest of a file that lacks a section is not the cause of anything.
    if let Some(missing) = missing(read) {
        check(false, &missing);
        return Ok(problems);
    }
    let active = provider(&list, "fastgcm").is_some();
    check(active, &if active { String::new() } else { why_not(read) });
    check(
        provider(&list, "default").is_some(),
        "OpenSSL's own provider is not active, so all but AES-GCM is missing: activate `default` too",
    );
    for name in ["fastgcm", "default"] {
        let activate = read.at(&["openssl_conf", "providers", name, "activate"]).unwrap_or_default();
        let off = ["0", "no", "false", "off"].iter().any(|off| activate.eq_ignore_ascii_case(off));
        check(
            !off,
            &format!("`activate = {activate}` of `{name}` is a yes to OpenSSL 3.0 and a no to newer ones: say `1`, or leave the line out"),
        );
    }
    let only = properties.iter().find(|property| property.starts_with("provider") || property.starts_with("x.fastgcm"));
    let named = only.map(|property| property.split('=').next().unwrap_or_default()).unwrap_or_default();
    check(only.is_none(), &format!("`{named}` without `?` refuses what other providers have"));
    check(
        only.is_some() || has("?x.fastgcm=yes") || has("?x.fastgcm") || has("?provider=fastgcm"),
        "AES-GCM is not taken from the provider: the section that `alg_section` names needs `default_properties = ?x.fastgcm=yes`",
    );
    if let Some(name) = env::var_os("FASTGCM_BACKEND") {
        let known = name.to_str().and_then(|name| name.parse::<Backend>().ok()).filter(|backend| backend.is_available());
        let names = Backend::available().map(Backend::name).collect::<Vec<_>>().join(", ");
        let problem = format!("FASTGCM_BACKEND={} is passed over: this machine has {names}", name.display());
        check(known.is_some(), &problem);
    }
    let offered = ciphers.contains("aes-256-gcm, id-aes256-GCM } @ fastgcm");
    check(offered || fips || !active, "with these properties OpenSSL finds no AES-GCM of the provider");
    Ok(problems)
}

/// Returns what is needed to get to the provider, but is missing.
fn missing(read: &Configuration) -> Option<String> {
    let Some(init) = read.at(&["openssl_conf"]) else {
        return Some("it has no line `openssl_conf = SECTION` before its first section, so OpenSSL reads nothing of it".into());
    };
    let Some(providers) = read.value(init, "providers") else {
        return Some(match read.has(init) {
            true => format!("its section [{init}], which `openssl_conf` names, has no line `providers = SECTION`"),
            false => format!("it has no section [{init}], which `openssl_conf` names"),
        });
    };
    if read.value(providers, "fastgcm").is_none() {
        return Some(match read.has(providers) {
            true => format!("its section [{providers}], which `providers` names, has no line `fastgcm = SECTION`"),
            false => format!("it has no section [{providers}], which `providers` names"),
        });
    }
    let mut named = read.settings(providers);
    let (name, section) = named.find(|(_, section)| !read.has(section))?;
    Some(format!("it has no section [{section}], which `{name}` in [{providers}] names: OpenSSL stops there"))
}

/// Returns the properties that are requested by default.
fn properties(read: &Configuration) -> Vec<String> {
    let plain = |property: &str| property.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    let properties = read.at(&["openssl_conf", "alg_section", "default_properties"]).unwrap_or_default();
    properties.split(',').map(plain).filter(|property| !property.is_empty()).collect()
}

/// Returns the configuration that programs read without OPENSSL_CONF, if there is one.
fn machine() -> Result<Option<(PathBuf, Configuration)>, Failure> {
    let said = openssl(Given::None, &["version", "-d"])?;
    let folder = said.split('"').nth(1).unwrap_or_default();
    let file = Path::new(folder).join("openssl.cnf");
    if file.exists() { Ok(Some((file.clone(), Configuration::read(&file)?))) } else { Ok(None) }
}

/// Says what programs lose that read a configuration in place of the machine's own.
fn dropped(read: &Configuration, list: &str, own: &Path, machine: &Configuration) -> Result<Option<String>, Failure> {
    let shown = own.display();
    let mut lost = Vec::new();
    let settings = read.lost(machine);
    let mut sections: Vec<_> = settings.iter().map(|(section, _)| format!("[{section}]")).collect();
    sections.dedup();
    if !settings.is_empty() {
        let more = if sections.len() > 3 { format!(" and {} other sections", sections.len() - 3) } else { String::new() };
        sections.truncate(3);
        lost.push(format!("{} settings of {}{more}", settings.len(), sections.join(", ")));
    }
    let before = openssl(Given::File(own), &["list", "-providers", "-verbose"])?;
    let names = before.lines().filter_map(|line| line.strip_prefix("  ").filter(|name| !name.starts_with(' ')));
    lost.extend(
        names.filter(|name| provider(&before, name).is_some() && provider(list, name).is_none()).map(|name| format!("provider `{name}`")),
    );
    let asked = properties(read);
    lost.extend(
        properties(machine).into_iter().filter(|property| !asked.contains(property)).map(|property| format!("property `{property}`")),
    );
    if lost.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!("Such a program loses what {shown} says: {}. `fastgcm doctor --write FILE` keeps all of that", lost.join(", "))))
}

/// Returns the part of a path that keeps other users from reading the file: the file itself, if it lacks the right to read, or a folder, if
/// it lacks the right to search.
fn closed(path: &Path) -> Option<&Path> {
    let lacks = |part: &Path, right| fs::metadata(part).is_ok_and(|data| data.permissions().mode() & right == 0);
    path.ancestors().enumerate().find(|&(depth, part)| lacks(part, if depth == 0 { 0o4 } else { 0o1 })).map(|(_, part)| part)
}

/// Returns the part of a path that lets every user change the file: the file itself, or a folder in which anybody can put another file in
/// its place. In a sticky folder nobody can.
fn open(path: &Path) -> Option<&Path> {
    let mode = |part: &Path| fs::metadata(part).map_or(0, |data| data.permissions().mode());
    path.ancestors().enumerate().find(|&(depth, part)| mode(part) & if depth == 0 { 0o2 } else { 0o1002 } == 0o2).map(|(_, part)| part)
}

/// Writes a new configuration, which has no name yet: everything that the machine's own says, and the provider in the sections that it
/// names. Also returns its text. The user has called the file `name`.
fn write(name: &Path, file: &Path, module: Option<&Path>, machine: Option<&(PathBuf, Configuration)>) -> Result<(Output, String), Failure> {
    let text = text(file, module, machine)?;
    // `-` means standard output.
    let target = Target::plan(if is_dash(name) { name } else { file }, false, OWNERS_TO_CHANGE)?;
    target.refuse_existing().map_err(|failure| taken(failure, file))?;
    let mut output = target.create()?;
    if output.is_stream() {
        return Err(Failure::usage(format_args!("{}: it is no file, and programs read their configuration from one", name.display())));
    }
    output.write_all(text.as_bytes()).map_err(|error| Failure::io(file.display(), error))?;
    Ok((output, text))
}

/// An existing configuration is not replaced: programs may use it.
fn taken(failure: Failure, file: &Path) -> Failure {
    let command = file.to_str().and_then(quoted).map(|file| format!("check it with `fastgcm doctor {file}`, or "));
    let advice = format!("{}name another file", command.unwrap_or_default());
    let is_taken = failure.code() == Code::Exists && file.is_file();
    if is_taken { Failure::new(Code::Exists, format_args!("{} exists: {advice}", file.display())) } else { failure }
}

/// Returns the text of a new configuration.
fn text(file: &Path, module: Option<&Path>, machine: Option<&(PathBuf, Configuration)>) -> Result<String, Failure> {
    let module = module.map(|module| module.canonicalize().map_err(|error| Failure::io(module.display(), error))).transpose()?;
    let module = plain_path(module.as_deref().unwrap_or("fastgcm.so".as_ref()))?.to_owned();
    let nothing = Configuration::default();
    let (own, machine) = machine.map_or((None, &nothing), |(own, machine)| (Some(own), machine));
    let init = machine.at(&["openssl_conf"]);
    let named = |name| init.and_then(|init| machine.value(init, name));
    let (providers, algorithms) = (named("providers").unwrap_or("fastgcm_providers"), named("alg_section").unwrap_or("fastgcm_algorithms"));
    let default = machine.value(providers, "default").unwrap_or("fastgcm_default");
    let mut asked = properties(machine);
    if asked.iter().any(|property| property.trim_start_matches('?').starts_with("fips")) {
        return Err(Failure::new(
            Code::Provider,
            "FIPS is in force on this machine, and this provider is not validated: do not use it here",
        ));
    }
    asked.retain(|property| property != "?x.fastgcm=yes");
    asked.push("?x.fastgcm=yes".into());
    let asked = asked.join(",");
    for name in [init.unwrap_or_default(), providers, algorithms, default, &asked] {
        plain(name)?;
    }
    let mut text = format!(
        "# A program that is started with OPENSSL_CONF={} has AES-GCM and GMAC of fastgcm, and all else as before.\n",
        escaped(&file.display().to_string())
    );
    if init.is_none() {
        text += "openssl_conf = fastgcm_init\n";
    }
    if let Some(own) = own {
        text += &format!(".include {}\n", plain_path(own)?);
    }
    text += &format!(
        "\n# The sections that it names go on here.\n[{}]\nproviders = {providers}\nalg_section = {algorithms}\n\n\
         [{providers}]\ndefault = {default}\nfastgcm = fastgcm_provider\n\n[{default}]\nactivate = 1\n\n\
         # By its name alone OpenSSL looks for it among its modules (`openssl version -m`).\n[fastgcm_provider]\nmodule = {module}\nactivate = 1\n\n\
         # A preference, for what fastgcm has. (`?provider=fastgcm` would be forgotten where a program asks for a provider by itself, as stunnel does.)\n\
         [{algorithms}]\ndefault_properties = {asked}\n",
        init.unwrap_or("fastgcm_init"),
    );
    Ok(text)
}

/// Returns a path that a configuration can contain unchanged.
fn plain_path(path: &Path) -> Result<&str, Failure> {
    let none = || Failure::usage(format_args!("{}: it is no UTF-8, as names in OpenSSL's configurations are", path.display()));
    plain(path.to_str().ok_or_else(none)?)
}

/// Returns a text that a configuration can contain unchanged, as a part of a line.
fn plain(text: &str) -> Result<&str, Failure> {
    let means_more = |letter: char| letter.is_control() || "$#\\\"'`".contains(letter);
    if text.contains(means_more) || text.trim() != text {
        return Err(Failure::usage(format_args!("{text}: OpenSSL's configurations have no such names")));
    }
    Ok(text)
}

/// Returns what OpenSSL's program says with this configuration, or with none.
fn openssl(given: Given, arguments: &[&str]) -> Result<String, Failure> {
    let (name, input) = match given {
        Given::None => (Path::new("/dev/null"), Stdio::null()),
        Given::File(file) => (file, Stdio::null()),
        Given::New(output) => (Path::new("/dev/stdin"), output.read_back().map_err(|error| Failure::io("the new file", error))?.into()),
    };
    let mut command = Command::new("openssl");
    command.args(arguments).env("OPENSSL_CONF", name).stdin(input);
    let failure = |why: &str| Failure::new(Code::Provider, format_args!("openssl {}: {why}", arguments.join(" ")));
    let output = command.output().map_err(|error| failure(&error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    // The most telling line is that of the module; otherwise it is the first.
    let why = errors.lines().find(|line| line.contains("filename(")).or_else(|| errors.lines().next());
    Err(failure(why.unwrap_or("it failed")))
}

/// Returns what `openssl list -providers` says about an active provider.
fn provider<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let (_, lines) = list.split_once(&format!("\n  {name}\n"))?;
    let end = lines.match_indices("\n  ").find(|(at, _)| !lines[at + 3..].starts_with(' '));
    Some(&lines[..end.map_or(lines.len(), |(at, _)| at)]).filter(|lines| lines.contains("status: active"))
}

/// Says why the provider is not active, though its section is there.
fn why_not(read: &Configuration) -> String {
    let module = read.at(&["openssl_conf", "providers", "fastgcm", "module"]).unwrap_or("fastgcm"); // what OpenSSL takes for it
    let mut arguments = vec!["list", "-providers"];
    if let Some(folder) = Path::new(module).parent().and_then(Path::to_str).filter(|folder| !folder.is_empty()) {
        arguments.extend(["-provider-path", folder]);
    }
    arguments.extend(["-provider", Path::new(module).file_stem().and_then(|stem| stem.to_str()).unwrap_or(module)]);
    match openssl(Given::None, &arguments) {
        Ok(_) => "the provider is not active: its section needs `activate = 1`".into(),
        Err(failure) => failure.message().into(),
    }
}

/// Measures GB/s of AES-256-GCM, in calls of 16 KiB.
fn speed(given: Given) -> Result<f64, Failure> {
    let said = openssl(given, &["speed", "-seconds", "1", "-bytes", "16384", "-evp", "aes-256-gcm"])?;
    let thousands = said.split_whitespace().last().and_then(|last| last.strip_suffix('k')?.parse::<f64>().ok());
    thousands.map(|thousands| thousands / 1e6).ok_or_else(|| Failure::new(Code::Provider, "openssl speed does not say how fast it is"))
}

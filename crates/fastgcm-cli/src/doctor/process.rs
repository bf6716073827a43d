//! Whether a process that runs has loaded the provider, and if not, why that may be.

use super::{JAVA, tell};
use crate::{
    failure::{Code, Failure},
    report::quoted,
};
use std::{fs, path::Path};

/// What the kernel calls the mark of a program that has more rights than who started it.
const AT_SECURE: usize = 23;

pub(super) fn run(pid: u32) -> Result<(), Failure> {
    let read = |name: &str| {
        let file = format!("/proc/{pid}/{name}");
        fs::read(&file).map_err(|error| Failure::io(file, error))
    };
    let maps = String::from_utf8_lossy(&read("maps")?).into_owned();
    let name = String::from_utf8_lossy(&read("comm").unwrap_or_default()).trim().to_owned();
    let mut files = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    // A file that was replaced is `... (deleted)` here.
    let has = |file: &&str, names: &[&str]| {
        let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        names.iter().any(|begin| name.starts_with(begin))
    };
    if let Some(module) = files.clone().find(|file| has(file, &["fastgcm.so", "libfastgcm_openssl.so"])) {
        let replaced = module.ends_with(" (deleted)");
        let then = replaced.then(|| "That file was replaced since: the process has the new one when it is started again.".into());
        let mut said = vec![format!("{name} ({pid}) has loaded {module}")];
        said.extend(then);
        return tell(&said);
    }
    // Java unpacks its library to a file of this name.
    if files.clone().any(|file| has(&file, &[&format!("fastgcm-{pid}-"), "libfastgcm_java.so"])) {
        return tell(&[format!("{name} ({pid}) is a Java, and has loaded fastgcm-java")]);
    }
    let mut failure = Failure::new(Code::Provider, format_args!("{name} ({pid}) has not loaded the provider"));
    if files.clone().any(|file| has(&file, &["libjvm.so"])) {
        return Err(failure.note(JAVA));
    }
    if !files.any(|file| has(&file, &["libcrypto.so.3", "libcrypto.so.4"])) {
        failure = failure.note(
            "it has no library of OpenSSL 3 or 4 loaded: it has one of its own in itself, another library, or has not asked for any yet",
        );
    }
    let auxiliary = read("auxv").unwrap_or_default();
    let words: Vec<_> =
        auxiliary.chunks_exact(size_of::<usize>()).map(|word| usize::from_ne_bytes(word.try_into().unwrap_or_default())).collect();
    if words.chunks_exact(2).any(|pair| pair == [AT_SECURE, 1]) {
        return Err(failure.note(
            "it has more rights than who started it (setuid, or capabilities of its file): OpenSSL passes over OPENSSL_CONF there, and reads \
             the machine's openssl.cnf only",
        ));
    }
    let environment = read("environ").unwrap_or_default();
    let named = environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(b"OPENSSL_CONF="));
    Err(failure.note(match named {
        Some(file) => {
            // The process chose it, and somebody may type what stands here.
            let command = str::from_utf8(file).ok().and_then(quoted).map(|file| format!(": `fastgcm doctor {file}` checks that"));
            format!("it was started with OPENSSL_CONF={}{}", String::from_utf8_lossy(file), command.unwrap_or_default())
        }
        None => "it was started without OPENSSL_CONF: who started it has cleared the environment (see `fastgcm doctor --help`), or never had that".into(),
    }))
}

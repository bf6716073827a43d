//! The module as a file, and OpenSSL's program with it.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_openssl_interop::{Context, OpenSsl, Whose, control};
use std::{
    env, fs,
    os::unix::fs::{PermissionsExt, chown},
    path::PathBuf,
    process::Command,
    thread,
};
use suite::passed;

fn modules() -> PathBuf {
    env::var_os("FASTGCM_MODULES").expect("FASTGCM_MODULES names the folder of fastgcm.so").into()
}

/// What a program prints, if it succeeds.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// One function is exported; OpenSSL is not linked; `dlclose` leaves it loaded.
#[test]
fn module() {
    let file = modules().join("fastgcm.so");
    let names = output(Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(&file));
    assert_eq!(names, "OSSL_provider_init\n");
    let dynamic = output(Command::new("readelf").arg("-d").arg(&file));
    assert!(dynamic.contains("NODELETE") && !dynamic.contains("libcrypto") && !dynamic.contains("libssl"), "{dynamic}");
    passed("openssl::module", 2, 2);
}

/// The configuration file that is handed out, with the folder filled in, makes it the first choice of every program.
#[test]
fn program() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let configuration = folder.join("fastgcm.cnf");
    let text = fs::read_to_string("../fastgcm.cnf").unwrap();
    assert_eq!(text.matches("\nmodule = fastgcm.so\n").count(), 1);
    let module = format!("\nmodule = {}\n", modules().join("fastgcm.so").display());
    fs::write(&configuration, text.replace("\nmodule = fastgcm.so\n", &module)).unwrap();
    let openssl = || {
        let mut command = Command::new("openssl");
        command.env("OPENSSL_CONF", &configuration).current_dir(folder);
        command
    };
    let providers = output(openssl().args(["list", "-providers", "-verbose"]));
    assert!(["default", "    name: fastgcm", "status: active"].iter().all(|line| providers.contains(line)), "{providers}");
    assert!(!providers.contains("WARNING"), "{providers}");
    let ciphers = output(openssl().args(["list", "-cipher-algorithms"]));
    assert_eq!(ciphers.matches("@ fastgcm").count(), 8, "{ciphers}");
    assert_eq!(output(openssl().args(["list", "-mac-algorithms"])).matches("@ fastgcm").count(), 1);
    let speed = output(openssl().args(["speed", "-seconds", "1", "-bytes", "16384", "-aead", "-evp", "aes-256-gcm"]));
    assert!(speed.contains("AES-256-GCM"), "{speed}");
    let mac = |configured: bool| {
        let mut command = if configured { openssl() } else { Command::new("openssl") };
        let key = "hexkey:000102030405060708090a0b0c0d0e0f";
        command.args([
            "mac",
            "-cipher",
            "AES-128-GCM",
            "-macopt",
            key,
            "-macopt",
            "hexiv:000102030405060708090a0b",
            "-in",
            "/proc/version",
            "GMAC",
        ]);
        output(&mut command)
    };
    assert_eq!(mac(true), mac(false));
    passed("openssl::program", 6, 6);
}

/// The commands of the provider's page, as they stand there, but for the last one, which starts a server.
#[test]
fn readme() {
    let text = fs::read_to_string("../README.md").unwrap();
    let (_, section) = text.split_once("\n## Faster TLS").expect("the page has that section");
    let (_, block) = section.split_once("\n```bash\n").expect("the page has a block of bash there");
    let (block, _) = block.split_once("\n```").unwrap();
    let (commands, server) = block.rsplit_once('\n').unwrap();
    assert!(server.starts_with("OPENSSL_CONF=/etc/ssl/fastgcm.cnf nginx"), "{server}");
    let folder = output(Command::new("openssl").args(["version", "-m"]));
    let files = [PathBuf::from(folder.split('"').nth(1).unwrap()).join("fastgcm.so"), "/etc/ssl/fastgcm.cnf".into()];
    // What is installed here stays.
    let kept = files.each_ref().map(|file| fs::rename(file, file.with_extension("kept")).is_ok());
    let said = output(Command::new("bash").args(["-euo", "pipefail", "-c", commands]).current_dir("../../.."));
    for (file, kept) in files.iter().zip(kept) {
        fs::remove_file(file).unwrap();
        assert!(!kept || fs::rename(file.with_extension("kept"), file).is_ok());
    }
    assert!(said.contains("name: fastgcm") && said.contains("name: OpenSSL Default Provider"), "{said}");
    passed("openssl::readme", commands.lines().count(), 5);
}

/// The back end is the machine's best, that which `FASTGCM_BACKEND` names, or the best again where that is none; and where the program has more rights
/// than who started it, the variable is not looked at.
#[test]
fn back_ends() {
    let program = env!("CARGO_BIN_EXE_told");
    let told =
        |program: &str, backend: &str| output(Command::new(program).env("FASTGCM_BACKEND", backend).env("FASTGCM_MODULES", modules()));
    let best = output(Command::new(program).env_remove("FASTGCM_BACKEND").env("FASTGCM_MODULES", modules()));
    assert!(best.starts_with("secure: 0, back end: "), "{best}");
    assert_eq!(told(program, "portable"), "secure: 0, back end: portable\n");
    for unknown in ["", "no such", "aes-neon", "PORTABLE", "portable "] {
        assert_eq!(told(program, unknown), best);
    }
    // Owned by another user, and with his rights whoever starts it.
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let copies = ["told", "fastgcm.so"].map(|name| folder.join(name));
    fs::copy(program, &copies[0]).unwrap();
    fs::copy(modules().join("fastgcm.so"), &copies[1]).unwrap();
    chown(&copies[0], Some(65534), Some(65534)).unwrap();
    fs::set_permissions(&copies[0], fs::Permissions::from_mode(0o4755)).unwrap();
    let secure = output(Command::new(&copies[0]).env("FASTGCM_BACKEND", "portable").env("FASTGCM_MODULES", folder));
    assert_eq!(secure, best.replace("secure: 0", "secure: 1"));
    passed("openssl::back_ends", 8, 8);
}

/// Again and again, also from a thread that ends afterwards.
#[test]
fn unloaded_and_loaded_again() {
    for _ in 0..20 {
        let openssl = OpenSsl::new();
        let mut context = Context::new();
        context.init(openssl.cipher(Whose::Fastgcm, 16), Some(&[1; 16]), Some(&[2; 12]), 1);
        assert_eq!(context.text(&mut [0; 50]).0 & context.finish(), 1);
        assert_eq!(context.control(control::GET_TAG, &mut [0; 16]), 1);
        drop(context);
        openssl.free();
    }
    // A thread that ends when the provider has been unloaded.
    thread::spawn(|| OpenSsl::new().free()).join().unwrap();
    passed("openssl::unloaded_and_loaded_again", 21, 21);
}

/// What the README says in C of KC-XAES-256-GCM is the middle of a program, which does what it says.
#[test]
fn readme_in_c() {
    let (readme, program) = (fs::read_to_string("../README.md").unwrap(), fs::read_to_string("commits.c").unwrap());
    let shown = readme.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    let lines: Vec<_> = shown.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") }).collect();
    assert!(lines.len() > 10 && program.contains(&lines.join("\n")), "{shown}");
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let configuration = "openssl_conf = a\n[a]\nproviders = b\n[b]\ndefault = c\nfastgcm = c\n[c]\nactivate = 1\n";
    fs::write(folder.join("openssl.cnf"), configuration).unwrap();
    output(Command::new("cc").args(["-Wall", "-Wextra", "-Werror", "commits.c", "-lcrypto", "-o"]).arg(folder.join("commits")));
    let mut commits = Command::new(folder.join("commits"));
    commits.env("OPENSSL_CONF", folder.join("openssl.cnf")).env("OPENSSL_MODULES", modules());
    assert_eq!(output(&mut commits), "commits.c ok\n");
    passed("openssl::readme_in_c", 1, 1);
}

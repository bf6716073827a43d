//! `fastgcm doctor`, with a configuration that is right, and with every fault that it knows; on machines
//! whose own configuration says little, or much.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use suite::passed;

/// A machine, as `fastgcm` sees one: its OpenSSL looks for its own configuration in a folder of the test.
struct Machine {
    folder: PathBuf,
    module: PathBuf,
}

impl Machine {
    fn new(name: &str) -> Self {
        let folder = tempfile::Builder::new().prefix(&format!("fastgcm-doctor-{name}-")).tempdir().unwrap().keep();
        for part in ["bin", "machine", "empty"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let modules = PathBuf::from(env::var_os("FASTGCM_MODULES").expect("FASTGCM_MODULES names the folder of fastgcm.so"));
        let new = Self { module: fs::canonicalize(modules.join("fastgcm.so")).unwrap(), folder };
        let script = format!(
            "#!/bin/sh\nif [ \"$*\" = 'version -d' ]; then echo 'OPENSSLDIR: \"{}\"'; else exec {} \"$@\"; fi\n",
            new.folder.join("machine").display(),
            openssl().display()
        );
        fs::write(new.folder.join("bin/openssl"), script).unwrap();
        fs::set_permissions(new.folder.join("bin/openssl"), fs::Permissions::from_mode(0o755)).unwrap();
        new
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A program in the folder.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let path = format!("{}:{}", self.path("bin").display(), env::var("PATH").unwrap());
        // No module is installed, whatever the machine of the test has.
        command.env("PATH", path).env_remove("OPENSSL_CONF").env("OPENSSL_MODULES", self.path("empty")).current_dir(&self.folder);
        command
    }

    /// `fastgcm doctor`: how it ends, and what it says.
    fn doctor(&self, arguments: &[&str], variable: (&str, &str)) -> (Option<i32>, String) {
        let program = fs::canonicalize(env::var_os("FASTGCM_PROGRAM").expect("FASTGCM_PROGRAM is the program `fastgcm`")).unwrap();
        let output = self.command(program).arg("doctor").args(arguments).env(variable.0, variable.1).output().unwrap();
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        (output.status.code(), said)
    }

    /// Writes a configuration.
    fn written(&self, name: &str) -> (String, String) {
        let (code, said) = self.doctor(&["--write", name, "--module", self.module.to_str().unwrap()], PORTABLE);
        assert!(code == Some(0) && said.contains("with the back end portable\n") && said.contains(" times the speed"), "{said}");
        (self.read(name), said)
    }

    /// What OpenSSL's program says with a configuration.
    fn says(&self, configuration: &str, arguments: &[&str]) -> String {
        let output = self.command("openssl").args(arguments).env("OPENSSL_CONF", self.path(configuration)).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.folder);
    }
}

const PORTABLE: (&str, &str) = ("FASTGCM_BACKEND", "portable");

/// OpenSSL's own program.
fn openssl() -> PathBuf {
    env::split_paths(&env::var_os("PATH").unwrap()).map(|folder| folder.join("openssl")).find(|program| program.exists()).unwrap()
}

/// The number before those words.
fn before(said: &str, words: &str) -> f64 {
    said.split(words).next().unwrap().split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn doctor() {
    let machine = Machine::new("faults");
    let (run, folder) = (|arguments: &[&str], variable| machine.doctor(arguments, variable), &machine.folder);
    let (right, said) = machine.written("right.cnf");
    // `portable` takes many times as long as OpenSSL's own.
    let [with, without, ratio] = [" GB/s with it", " without it", " times the speed"].map(|words| before(&said, words));
    assert!(with > 0.0 && with < without && without < 1000.0 && (ratio - with / without).abs() < 0.02, "{said}");
    let mut seen = 1;

    let module = machine.module.to_str().unwrap();
    let garbage = folder.join("garbage.so");
    fs::write(&garbage, "no module".repeat(100)).unwrap();
    let garbage = garbage.to_str().unwrap();
    let faults = [
        (module, "/no/such/fastgcm.so", "/no/such/fastgcm.so"),
        (module, garbage, "invalid ELF header"),
        ("openssl_conf = fastgcm_init\n", "", "no line `openssl_conf = SECTION` before its first section"),
        ("openssl_conf = ", "openssl_config = ", "no line `openssl_conf = SECTION`"),
        ("[fastgcm_init]", "[another]", "no section [fastgcm_init], which `openssl_conf` names"),
        ("providers = fastgcm_providers\n", "", "section [fastgcm_init], which `openssl_conf` names, has no line `providers = SECTION`"),
        ("[fastgcm_providers]", "[another]", "no section [fastgcm_providers], which `providers` names"),
        ("fastgcm = fastgcm_provider\n", "", "section [fastgcm_providers], which `providers` names, has no line `fastgcm = SECTION`"),
        ("[fastgcm_provider]", "[another]", "no section [fastgcm_provider], which `fastgcm` in [fastgcm_providers] names"),
        ("[fastgcm_default]", "[another]", "no section [fastgcm_default], which `default` in [fastgcm_providers] names"),
        ("\nactivate = 1\n\n# A preference", "\n\n# A preference", "its section needs `activate = 1`"),
        ("[fastgcm_default]\nactivate = 1", "[fastgcm_default]", "activate `default` too"),
        ("[fastgcm_default]\nactivate = 1", "[fastgcm_default]\nactivate = no", "`activate = no` of `default` is a yes to OpenSSL 3.0"),
        ("default_properties = ?x.fastgcm=yes", "", "needs `default_properties = ?x.fastgcm=yes`"),
        ("alg_section", "no_section", "needs `default_properties = ?x.fastgcm=yes`"),
        ("[fastgcm_algorithms]", "[another]", "needs `default_properties = ?x.fastgcm=yes`"),
        ("?x.fastgcm=yes", "x.fastgcm=yes", "`x.fastgcm` without `?`"),
        ("?x.fastgcm=yes", "provider=fastgcm", "`provider` without `?`"),
        ("?x.fastgcm=yes", "?x.fastgcm=yes, provider = default", "`provider` without `?`"),
        ("?x.fastgcm=yes", "?fastgcm=yes", "needs `default_properties = ?x.fastgcm=yes`"),
        ("?x.fastgcm=yes", "?x.fastgcm=yes, fips = yes", "FIPS is in force"),
        ("?x.fastgcm=yes", "?x.fastgcm=yes, ?fips=yes", "FIPS is in force"),
        ("?x.fastgcm=yes", "?x.fastgcm=yes, ?fips", "FIPS is in force"),
        ("?x.fastgcm=yes", "?x.fastgcm=yes, fips", "FIPS is in force"),
        ("?x.fastgcm=yes", "fips=yes", "FIPS is in force"),
        (module, "fastgcm.so", "fastgcm.so: cannot open shared object file"),
    ];
    for (what, fault, wanted) in faults {
        assert_eq!(right.matches(what).count(), 1, "{what}");
        fs::write(folder.join("wrong.cnf"), right.replace(what, fault)).unwrap();
        let (code, said) = run(&[], ("OPENSSL_CONF", "wrong.cnf"));
        // The reason comes first.
        let first = said.lines().nth(1).unwrap_or_default();
        assert!(code == Some(7) && first.contains(wanted) && !said.contains("times the speed"), "{fault}: {code:?} {said}");
        seen += 1;
    }

    // The preference of most manuals does it too.
    fs::write(folder.join("provider.cnf"), right.replace("?x.fastgcm=yes", "?provider=fastgcm")).unwrap();
    let (code, said) = run(&["provider.cnf"], PORTABLE);
    assert!(code == Some(0) && said.contains(" times the speed"), "{said}");
    seen += 1;

    // Sections in files of their own.
    let (head, tail) = right.split_at(right.find("[fastgcm_algorithms]").unwrap());
    fs::create_dir(folder.join("parts")).unwrap();
    fs::write(folder.join("parts/algorithms.cnf"), tail).unwrap();
    for how in [".include parts/algorithms.cnf", ".include=parts"] {
        fs::write(folder.join("including.cnf"), format!("{head}{how}\n")).unwrap();
        let (code, said) = run(&["including.cnf"], PORTABLE);
        assert!(code == Some(0) && said.contains(" times the speed"), "{how}: {said}");
        seen += 1;
    }

    // A back end that nobody has: the provider passes it over, and a program would not notice.
    for name in ["nonsense", "", "aes-neon"] {
        let (code, said) = run(&["provider.cnf"], ("FASTGCM_BACKEND", name));
        assert!(code == Some(7) && said.contains(&format!("FASTGCM_BACKEND={name} is passed over: this machine has ")), "{said}");
        seen += 1;
    }

    // What cannot be read or written, and a machine without OpenSSL's program. No file is written, and none is changed.
    for (code, arguments, path, wanted) in [
        (1, &["missing.cnf"][..], "/usr/bin", "missing.cnf: No such file"),
        (1, &["."], "/usr/bin", "directory"),
        (5, &["--write", "right.cnf"], "/usr/bin", "right.cnf exists: check it with `fastgcm doctor "),
        (2, &["--write", "-", "--module", module], "/usr/bin", "it is no file"),
        (2, &["--write", "/dev/null", "--module", module], "/usr/bin", "it is no file"),
        (7, &["--write", "new.cnf", "--module", garbage], "/usr/bin", "note: nothing was written"),
        (7, &["--write", "new.cnf"], "/usr/bin", "note: nothing was written"),
        (1, &["--write", "new.cnf", "--module", "no.so"], "/usr/bin", "no.so: No such file"),
        (7, &["--write", "new.cnf"], "/no/such", "openssl version: No such file"),
    ] {
        let (ended, said) = run(arguments, ("PATH", path));
        assert!(ended == Some(code) && said.contains(wanted), "{arguments:?}: {ended:?} {said}");
        assert!(!folder.join("new.cnf").exists() && machine.read("right.cnf") == right);
        assert!(!said.contains("--force") && !said.contains(" -o"), "an option that is not there: {said}");
        seen += 1;
    }
    // Without a file, and without one in its place.
    if !Path::new("/etc/ssl/fastgcm.cnf").exists() {
        let (code, said) = run(&[], PORTABLE);
        assert!(code == Some(7) && said.contains("no configuration") && said.contains("`fastgcm doctor --write FILE`"), "{said}");
    }
    passed("openssl::doctor", seen, 1 + 26 + 1 + 2 + 3 + 9);
}

/// What is written keeps what the machine's own configuration says, whatever names that has; and a
/// configuration that drops some of it is told.
#[test]
fn nothing_is_dropped() {
    let machine = Machine::new("machines");
    let own = machine.path("machine/openssl.cnf");
    let mut seen = 0;

    // Debian's names its section, and says nothing there: what is handed out is made for it.
    fs::write(&own, "openssl_conf = openssl_init\n[openssl_init]\n").unwrap();
    let (written, _) = machine.written("debian.cnf");
    let shipped = fs::read_to_string("../fastgcm.cnf").unwrap();
    let mut made = written.replace(machine.module.to_str().unwrap(), "fastgcm.so");
    made = made.replace(machine.path("debian.cnf").to_str().unwrap(), "/etc/ssl/fastgcm.cnf");
    assert_eq!(made.replace(own.to_str().unwrap(), "/usr/lib/ssl/openssl.cnf"), shipped);
    seen += 1;

    // A policy for TLS, another provider, properties, and what requests of certificates want, by names of its
    // own.
    let policy = "openssl_conf = all\n[all]\nproviders = every\nssl_conf = tls\nalg_section = how\n[every]\nlegacy = old\ndefault = own\n[old]\nactivate = 1\n\
        [own]\nactivate = 1\n[how]\ndefault_properties = ?x.other=yes\n[tls]\nsystem_default = policy\n[policy]\nCiphersuites = TLS_AES_256_GCM_SHA384\n\
        CipherString = @SECLEVEL=3:kEECDH\nMinProtocol = TLSv1.3\n[req]\ndistinguished_name = who\nx509_extensions = more\n[who]\n\
        commonName = name\n[more]\nbasicConstraints = critical,CA:true\n";
    fs::write(&own, policy).unwrap();
    // With the modules of OpenSSL itself.
    let modules = String::from_utf8(Command::new(openssl()).args(["version", "-m"]).output().unwrap().stdout).unwrap();
    std::os::unix::fs::symlink(Path::new(modules.split('"').nth(1).unwrap()).join("legacy.so"), machine.path("empty/legacy.so")).unwrap();
    let (written, said) = machine.written("policy.cnf");
    assert!(!said.contains("loses") && written.contains("default_properties = ?x.other=yes,?x.fastgcm=yes\n"), "{said} {written}");
    let providers = machine.says("policy.cnf", &["list", "-providers"]);
    assert!(["  legacy\n", "  default\n", "  fastgcm\n"].iter().all(|name| providers.contains(name)), "{providers}");
    let suites = ["policy.cnf", "machine/openssl.cnf", "debian.cnf"].map(|file| machine.says(file, &["ciphers"]));
    assert_eq!(suites[0], suites[1]);
    fs::write(&own, "openssl_conf = openssl_init\n[openssl_init]\n").unwrap();
    assert_ne!(suites[0], machine.says("debian.cnf", &["ciphers"]), "the policy is not in force");
    fs::write(&own, policy).unwrap();
    let request =
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-keyout", "k", "-text"];
    assert!(machine.says("policy.cnf", &request).contains("CA:TRUE"));
    seen += 1;

    // A configuration that stands alone, one that names another section after it has included all, and one
    // that lists other providers.
    let alone = shipped
        .replace(".include /usr/lib/ssl/openssl.cnf", "openssl_conf = openssl_init")
        .replace("= fastgcm.so", &format!("= {}", machine.module.display()));
    let including = format!(".include {}\n[default]\n{alone}", own.display());
    let in_place = written.replace("[every]\ndefault = own\n", "[all]\nproviders = mine\n[mine]\ndefault = own\n");
    for (text, wanted) in [
        (&alone, "settings of [default], [all], ["),
        (&including, "1 settings of [default], provider `legacy`, property `?x.other=yes`"),
        (&in_place, "openssl.cnf says: provider `legacy`. "),
        (&written.replace("?x.other=yes,", ""), "openssl.cnf says: property `?x.other=yes`. "),
    ] {
        fs::write(machine.path("drops.cnf"), text).unwrap();
        let (code, said) = machine.doctor(&["drops.cnf"], PORTABLE);
        assert!(code == Some(0) && said.contains("Such a program loses") && said.contains(wanted), "{wanted}: {code:?} {said}");
        seen += 1;
    }

    // Where FIPS is in force nothing is written.
    fs::write(&own, policy.replace("?x.other=yes", "fips=yes")).unwrap();
    let (code, said) = machine.doctor(&["--write", "fips.cnf"], PORTABLE);
    assert!(code == Some(7) && said.contains("FIPS is in force on this machine") && !machine.path("fips.cnf").exists(), "{said}");
    passed("openssl::nothing_is_dropped", seen + 1, 7);
}

/// What other users cannot read is told, since servers run as one of them: of a folder the right to search it counts. And what they can
/// change, but for a folder in which each has what is his.
#[test]
fn rights() {
    let machine = Machine::new("rights");
    machine.written("right.cnf");
    let mut seen = 0;
    fs::create_dir(machine.path("within")).unwrap();
    fs::copy(machine.path("right.cnf"), machine.path("within/right.cnf")).unwrap();
    for (part, mode, told) in [
        ("within/right.cnf", 0o600, "cannot read"),
        ("within/right.cnf", 0o646, "can change"),
        ("within/right.cnf", 0o644, ""),
        ("within", 0o754, "cannot read"),
        ("within", 0o751, ""),
        ("within", 0o1777, ""),
        ("within", 0o777, "can change"),
    ] {
        fs::set_permissions(machine.path(part), fs::Permissions::from_mode(mode)).unwrap();
        let (code, said) = machine.doctor(&["within/right.cnf"], PORTABLE);
        for words in ["cannot read", "can change"] {
            let tells = said.contains(&format!("Other users {words} {}: ", machine.path(part).display()));
            assert!(code == Some(0) && tells == (words == told), "{part} {mode:o}: {said}");
        }
        seen += 1;
    }
    passed("openssl::rights", seen, 7);
}

/// Whoever may change a configuration chooses what programs load: whatever the umask is, that is its owner. And no name of a folder
/// becomes a line of it.
#[test]
fn written_safely() {
    let machine = Machine::new("safely");
    let program = fs::canonicalize(env::var_os("FASTGCM_PROGRAM").unwrap()).unwrap();
    let mut seen = 0;
    for (umask, mode) in [("000", 0o644), ("002", 0o644), ("022", 0o644), ("077", 0o600)] {
        let file = format!("{umask}.cnf");
        let script = format!("umask {umask}; exec \"$@\"");
        let mut command = machine.command("sh");
        command.args([
            "-c",
            &script,
            "sh",
            program.to_str().unwrap(),
            "doctor",
            "--write",
            &file,
            "--module",
            machine.module.to_str().unwrap(),
        ]);
        assert!(command.env(PORTABLE.0, PORTABLE.1).stdout(Stdio::null()).status().unwrap().success());
        assert_eq!(fs::metadata(machine.path(&file)).unwrap().permissions().mode() & 0o777, mode, "{umask}");
        seen += 1;
    }
    let folder = machine.path("x\n.include evil\n#\u{61c}\r");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("y.cnf");
    let (code, said) = machine.doctor(&["--write", file.to_str().unwrap(), "--module", machine.module.to_str().unwrap()], PORTABLE);
    assert!(code == Some(0) && said.contains("x\\n.include evil\\n#\\u{61c}\\r/y.cnf") && !said.contains(['\r', '\u{61c}']), "{said:?}");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.lines().next().unwrap().contains("\\n.include evil\\n#") && !written.contains("\n.include evil"), "{written}");
    // A module in such a folder has a name that no configuration can have.
    let module = folder.join("fastgcm.so");
    fs::copy(&machine.module, &module).unwrap();
    let (code, said) = machine.doctor(&["--write", "z.cnf", "--module", module.to_str().unwrap()], PORTABLE);
    assert!(code == Some(2) && said.contains("have no such names") && !machine.path("z.cnf").exists(), "{said}");
    passed("openssl::written_safely", seen + 2, 6);
}

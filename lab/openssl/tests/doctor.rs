//! `fastgcm doctor`, with a configuration that is right, and with every fault that it knows.

#[path = "../../../crates/fastgcm/tests/support/suite.rs"]
mod suite;

use std::{env, fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Command};
use suite::passed;

#[test]
fn doctor() {
    let program = fs::canonicalize(env::var_os("FASTGCM_PROGRAM").expect("FASTGCM_PROGRAM is the program `fastgcm`")).unwrap();
    let module = PathBuf::from(env::var_os("FASTGCM_MODULES").expect("FASTGCM_MODULES names the folder of fastgcm.so")).join("fastgcm.so");
    let folder = env::temp_dir().join(format!("fastgcm-doctor-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let run = |arguments: &[&str], variable: (&str, &str)| {
        let mut command = Command::new(&program);
        let output =
            command.arg("doctor").args(arguments).env_remove("OPENSSL_CONF").env(variable.0, variable.1).current_dir(&folder).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        (output.status.code(), said)
    };
    let module = module.to_str().unwrap();
    let (code, said) = run(&["--write", "right.cnf", "--module", module], ("FASTGCM_BACKEND", "portable"));
    assert!(code == Some(0) && said.contains("with the back end portable\n") && said.contains(" times the speed"), "{said}");
    let right = fs::read_to_string(folder.join("right.cnf")).unwrap();
    let mut seen = 1;

    let garbage = folder.join("garbage.so");
    fs::write(&garbage, "no module".repeat(100)).unwrap();
    let garbage = garbage.to_str().unwrap();
    let faults: [(&str, &str, &str); 18] = [
        (module, "/no/such/fastgcm.so", "/no/such/fastgcm.so"),
        (module, garbage, "invalid ELF header"),
        ("fastgcm = fastgcm_provider\n", "", "no section of a provider `fastgcm`"),
        ("\nactivate = 1\n\n[algorithms]", "\n[algorithms]", "its section needs `activate = 1`"),
        ("[default_provider]\nactivate = 1", "[default_provider]", "activate `default` too"),
        ("[default_provider]\nactivate = 1", "[default_provider]\nactivate = no", "`activate = no` of `default` is a yes to OpenSSL 3.0"),
        ("default_properties = ?x.fastgcm=yes", "", "needs `default_properties = ?x.fastgcm=yes`"),
        ("alg_section", "no_section", "needs `default_properties = ?x.fastgcm=yes`"),
        ("?x.fastgcm=yes", "x.fastgcm=yes", "`x.fastgcm` without `?`"),
        ("?x.fastgcm=yes", "provider=fastgcm", "`provider` without `?`"),
        ("?x.fastgcm=yes", "?x.fastgcm=yes, fips = yes", "FIPS is in force"),
        ("?x.fastgcm=yes", "?x.fastgcm=yes, provider = default", "`provider` without `?`"),
        ("?x.fastgcm=yes", "?fastgcm=yes", "needs `default_properties = ?x.fastgcm=yes`"),
        (module, "fastgcm.so", "fastgcm.so: cannot open shared object file"),
        ("openssl_conf = ", "openssl_config = ", "no section of a provider `fastgcm`"),
        ("[fastgcm_provider]", "[fastgcm_providers]", "no section of a provider `fastgcm`"),
        ("[algorithms]", "[algorithm]", "needs `default_properties = ?x.fastgcm=yes`"),
        ("?x.fastgcm=yes", "fips=yes", "FIPS is in force"),
    ];
    for (what, fault, wanted) in faults {
        assert_eq!(right.matches(what).count(), 1, "{what}");
        fs::write(folder.join("wrong.cnf"), right.replace(what, fault)).unwrap();
        let (code, said) = run(&[], ("OPENSSL_CONF", "wrong.cnf"));
        assert!(code == Some(7) && said.contains(wanted) && !said.contains("times the speed"), "{fault}: {code:?} {said}");
        seen += 1;
    }

    // What other users cannot read is told: servers run as one of them.
    for (mode, told) in [(0o644, false), (0o600, true)] {
        fs::set_permissions(folder.join("right.cnf"), fs::Permissions::from_mode(mode)).unwrap();
        let (code, said) = run(&["right.cnf"], ("FASTGCM_BACKEND", "portable"));
        let closed = format!("Other users cannot read {}: ", folder.join("right.cnf").display());
        assert!(code == Some(0) && said.contains(&closed) == told, "{mode:o}: {said}");
        seen += 1;
    }

    // The preference of most manuals does it too.
    fs::write(folder.join("provider.cnf"), right.replace("?x.fastgcm=yes", "?provider=fastgcm")).unwrap();
    let (code, said) = run(&["provider.cnf"], ("FASTGCM_BACKEND", "portable"));
    assert!(code == Some(0) && said.contains(" times the speed"), "{said}");
    seen += 1;

    // Sections in files of their own.
    let (head, tail) = right.split_at(right.find("[algorithms]").unwrap());
    fs::create_dir(folder.join("parts")).unwrap();
    fs::write(folder.join("parts/algorithms.cnf"), tail).unwrap();
    for how in [".include parts/algorithms.cnf", ".include=parts"] {
        fs::write(folder.join("including.cnf"), format!("{head}{how}\n")).unwrap();
        let (code, said) = run(&["including.cnf"], ("FASTGCM_BACKEND", "portable"));
        assert!(code == Some(0) && said.contains(" times the speed"), "{how}: {said}");
        seen += 1;
    }

    // A back end that nobody has: the provider passes it over, and a program would not notice.
    fs::write(folder.join("wrong.cnf"), &right).unwrap();
    for name in ["nonsense", "", "aes-neon"] {
        let mut command = Command::new(&program);
        command.args(["doctor", "wrong.cnf"]).env("FASTGCM_BACKEND", name).current_dir(&folder);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(7) && said.contains(&format!("FASTGCM_BACKEND={name} is passed over: this machine has ")),
            "{said}"
        );
        seen += 1;
    }

    // What cannot be read or written, and a machine without OpenSSL's program. No file is written, and none is changed.
    for (code, arguments, path, wanted) in [
        (1, &["missing.cnf"][..], "/usr/bin", "missing.cnf: No such file"),
        (1, &["."], "/usr/bin", "directory"),
        (5, &["--write", "right.cnf"], "/usr/bin", "exists"),
        (1, &["--write", "new.cnf", "--module", "no.so"], "/usr/bin", "no.so: No such file"),
        (7, &["--write", "new.cnf"], "/no/such", "openssl version: No such file"),
    ] {
        let (ended, said) = run(arguments, ("PATH", path));
        assert!(ended == Some(code) && said.contains(wanted), "{arguments:?}: {ended:?} {said}");
        assert!(!folder.join("new.cnf").exists() && fs::read_to_string(folder.join("right.cnf")).unwrap() == right);
        seen += 1;
    }
    fs::remove_dir_all(folder).unwrap();
    passed("openssl::doctor", seen, 1 + 18 + 2 + 1 + 2 + 3 + 5);
}

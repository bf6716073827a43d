//! The Debian package of the provider.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use std::{fs, process::Command};
use suite::passed;

/// The packages of the module and of the program: installed, the module is found by its configuration alone; removed, nothing of them is left.
#[test]
fn package() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).env("OPENSSL_CONF", "/etc/ssl/fastgcm.cnf").output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let files = run("../deb.sh", &[folder.to_str().unwrap()]);
    run("dpkg", &[&["-i"], &files.lines().collect::<Vec<_>>()[..]].concat());
    let providers = run("openssl", &["list", "-providers"]);
    let written = fs::read_to_string("/etc/ssl/fastgcm.cnf").unwrap();
    run("dpkg", &["--purge", "fastgcm-openssl", "fastgcm"]);
    let left =
        Command::new("find").args(["/usr/bin", "/usr/lib", "/etc/ssl", "/usr/share/doc", "-name", "*fastgcm*"]).output().unwrap().stdout;
    assert!(providers.contains("name: fastgcm") && left.is_empty(), "{providers}, left: {}", String::from_utf8_lossy(&left));
    assert!(written.contains(".include /usr/lib/ssl/openssl.cnf\n"), "{written}");
    passed("openssl::package", 2, 2);
}

//! The commands of the program's page on locked keys, as they stand there.
#![cfg(feature = "age")]

use crate::support::Bench;
use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

#[test]
fn readme() {
    if !["age-keygen", "ssh-keygen"]
        .iter()
        .all(|tool| Command::new(tool).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok())
    {
        println!("SKIPPED locked::readme: age-keygen or ssh-keygen is not here");
        return;
    }
    let block = include_str!("../../README.md").split("\n```bash\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let bench = Bench::new();
    bench.write("backup.tar", b"a backup");
    bench.write("secret", b"passphrase\n");
    fs::set_permissions(bench.path("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    // The people whom the page means by `age1...` and by `ssh-ed25519 ...`; the second is the reader.
    fs::create_dir_all(bench.path("home/.ssh")).unwrap();
    let shell = |line: &str| {
        let path = format!("{}:{}", Path::new(env!("CARGO_BIN_EXE_fastgcm")).parent().unwrap().display(), env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", line]).current_dir(bench.path("."));
        let output = bash.env("PATH", path).env("HOME", bench.path("home")).env("FASTGCM_PASSPHRASE_FILE", "secret").output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    shell("age-keygen -o age.id 2> /dev/null; ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519");
    let of_age = shell("age-keygen -y age.id");
    let of_ssh = shell("cut -d' ' -f1,2 ~/.ssh/id_ed25519.pub");
    let mut typed = 0;
    shell("fastgcm keygen -o my.key; fastgcm seal -k my.key backup.tar"); // which the block takes for granted
    for line in block.lines() {
        shell(&line.replace("age1...", of_age.trim()).replace("ssh-ed25519 ...", of_ssh.trim()));
        typed += 1;
    }
    // What they say came of it: both open what the team sealed, and the one person what is sealed under the first key.
    for identity in ["age.id", "~/.ssh/id_ed25519"] {
        assert_eq!(shell(&format!("fastgcm open -k team.key -i {identity} -o - team.sealed")), "a backup");
    }
    shell(
        "fastgcm seal -k my.key -o mine.sealed backup.tar; fastgcm open -k theirs.key -i age.id -o again mine.sealed; cmp again backup.tar",
    );
    assert_eq!(typed, 4);
}

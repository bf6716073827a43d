//! The example client at the example server, as programs of their own.
#![cfg(feature = "tls12")] // both versions of TLS

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Cargo builds examples beside tests.
fn example(name: &str) -> Command {
    let folder = env::current_exe().unwrap().ancestors().nth(2).map(PathBuf::from).unwrap();
    Command::new(folder.join("examples").join(name).with_extension(env::consts::EXE_EXTENSION))
}

/// It ends with the test, also with one that fails.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("the server ends");
    }
}

#[test]
fn client_and_server() {
    let certificate = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates/ecdsa.pem"); // with its key
    let child = example("server").arg("0").args([&certificate, &certificate]).stdout(Stdio::piped()).spawn().unwrap();
    let mut server = Server(child);
    let mut said = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let port = said.trim_end().rsplit(':').next().unwrap();

    let suites = ["TLS13_AES_128_GCM_SHA256", "TLS13_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"];
    let text = "a line of text\n".repeat(10_000);
    for suite in suites {
        let mut client = example("client");
        client.args(["localhost", port]).arg(&certificate).arg(suite);
        let mut client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        client.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = client.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout == text.as_bytes(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stderr).trim_end(), format!("Some({suite})"));
    }
}

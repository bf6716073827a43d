//! Against the programs `openssl s_client` and `openssl s_server` of this machine.

#[path = "../../tests/against/support.rs"]
mod support;

use rustls::{CipherSuite, ClientConnection, ServerConfig, ServerConnection, StreamOwned, crypto::ring};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};
use support::{SUITES, bytes, client, passed, server};

/// Whoever waits longer has failed.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

fn certificates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/certificates")
}

fn is_tls13(suite: CipherSuite) -> bool {
    format!("{suite:?}").starts_with("TLS13")
}

/// Arguments that choose one suite, as OpenSSL calls it.
fn only(suite: CipherSuite) -> Vec<String> {
    let name = format!("{suite:?}");
    if is_tls13(suite) {
        return vec!["-tls1_3".into(), "-ciphersuites".into(), name.replace("TLS13_", "TLS_")];
    }
    let name = name.trim_start_matches("TLS_").replace("WITH_AES_", "AES").replace('_', "-");
    vec!["-tls1_2".into(), "-cipher".into(), name]
}

/// What a server got: as early data, and after that.
type Got = (Vec<u8>, Vec<u8>);

/// Our server for one connection, at that port: it sends back what it gets.
fn echo(config: &Arc<ServerConfig>) -> (u16, JoinHandle<Got>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = config.clone();
    let server = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(PATIENCE).unwrap();
        let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), socket);
        let (mut early, mut all, mut buffer) = (Vec::new(), Vec::new(), vec![0; 1 << 16]);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).unwrap();
            if let Some(mut data) = stream.conn.early_data() {
                data.read_to_end(&mut early).unwrap();
            }
        }
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            all.extend_from_slice(&buffer[..n]);
            // A client that has left may have left before it read.
            if stream.write_all(&buffer[..n]).and_then(|()| stream.flush()).is_err() {
                break;
            }
        }
        (early, all)
    });
    (port, server)
}

fn s_client(port: u16, suite: CipherSuite, arguments: &[&str]) -> Child {
    let (folder, kind) = (certificates(), if format!("{suite:?}").contains("RSA") { "rsa.pem" } else { "ecdsa.pem" });
    let mut command = Command::new("openssl");
    command.args(["s_client", "-connect", &format!("127.0.0.1:{port}"), "-servername", "localhost", "-verify_return_error"]);
    command.arg("-CAfile").arg(folder.join(kind)).args(only(suite)).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("openssl")
}

/// A file goes there and back.
#[test]
fn every_suite_with_s_client() {
    let mut connections = 0;
    for (suite, _) in SUITES {
        let config = Arc::new(server(rustls_fastgcm::with(ring::default_provider()), suite));
        for (length, arguments) in [(1, &[][..]), (100, &["-record_padding", "300"]), (16_384, &[]), (300_000, &["-max_send_frag", "600"])]
        {
            let (port, server) = echo(&config);
            let mut text = bytes(length, 1);
            text.iter_mut().for_each(|byte| *byte = b'a' + *byte % 26);
            let mut child = s_client(port, suite, &[&["-quiet"][..], arguments].concat());
            let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let sent = text.clone();
            let writer = thread::spawn(move || stdin.write_all(&sent).map(|()| stdin).unwrap());
            let mut answer = vec![0; length];
            stdout.read_exact(&mut answer).unwrap();
            assert!(answer == text, "{suite:?}");
            writer.join().unwrap();
            child.kill().unwrap(); // with -quiet it does not leave
            child.wait().unwrap();
            assert!(server.join().unwrap().1 == text, "{suite:?}");
            connections += 1;
        }
    }
    passed("every_suite_with_s_client", connections, 6 * 4);
}

/// OpenSSL's own updates of keys, which ask for ours.
#[test]
fn key_updates_with_s_client() {
    let mut updates = 0;
    for (suite, _) in &SUITES[..2] {
        let (port, server) = echo(&Arc::new(server(rustls_fastgcm::with(ring::default_provider()), *suite)));
        let mut child = s_client(port, *suite, &["-no_ign_eof", "-msg"]);
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut seen = Vec::new();
        for line in ["text 0", "K", "text 1", "K", "text 2", "k", "the end"] {
            stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
            if line.len() == 1 {
                thread::sleep(Duration::from_millis(100)); // a command must be all that OpenSSL reads at once
                continue;
            }
            loop {
                let mut read = String::new();
                assert_ne!(stdout.read_line(&mut read).unwrap(), 0, "{line} did not come back");
                seen.push(read);
                if seen.last().is_some_and(|read| read.trim_end() == line) {
                    break;
                }
            }
        }
        stdin.write_all(b"Q\n").unwrap();
        child.wait().unwrap();
        assert_eq!(String::from_utf8(server.join().unwrap().1).unwrap(), "text 0\ntext 1\ntext 2\nthe end\n");
        // K asks for an update of ours, k does not.
        let messages = |way: &str| seen.iter().filter(|line| line.starts_with(way) && line.contains("KeyUpdate")).count();
        assert_eq!((messages(">>>"), messages("<<<")), (3, 2), "{suite:?}");
        updates += messages(">>>") + messages("<<<");
    }
    passed("key_updates_with_s_client", updates, 2 * 5);
}

/// A ticket in a file, and early data in the next connection.
#[test]
fn early_data_from_s_client() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (ticket, early) = (folder.join("ticket"), folder.join("early"));
    fs::write(&early, bytes(3000, 2)).unwrap();
    let [ticket, early] = [&ticket, &early].map(|path| path.to_str().unwrap());
    let mut taken = 0;
    for (suite, _) in &SUITES[..2] {
        let config = Arc::new(server(rustls_fastgcm::with(ring::default_provider()), *suite));
        for arguments in [["-sess_out", ticket, "-quiet", "-no_ign_eof"], ["-sess_in", ticket, "-early_data", early]] {
            let (port, server) = echo(&config);
            let mut child = s_client(port, *suite, &arguments);
            let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
            stdin.write_all(b"a line\n").unwrap();
            let mut seen = Vec::new();
            while !seen.ends_with(b"a line\n") {
                assert_ne!(stdout.read_until(b'\n', &mut seen).unwrap(), 0);
            }
            drop(stdin);
            child.wait().unwrap();
            let (data, _) = server.join().unwrap();
            if arguments[0] == "-sess_in" {
                assert!(data == bytes(3000, 2), "{suite:?}: {} bytes of early data", data.len());
                taken += 1;
            }
        }
    }
    passed("early_data_from_s_client", taken, 2);
}

/// Our client at OpenSSL's server, which sends each line back reversed.
#[test]
fn every_suite_with_s_server() {
    let mut lines = 0;
    for (suite, _) in SUITES {
        let both = certificates().join(if format!("{suite:?}").contains("RSA") { "rsa.pem" } else { "ecdsa.pem" });
        // A port that was free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-accept", &format!("127.0.0.1:{port}"), "-rev", "-quiet", "-cert"]).arg(&both);
        command.arg("-key").arg(&both).args(only(suite)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("openssl");
        let socket = (0..200)
            .find_map(|_| {
                thread::sleep(Duration::from_millis(20));
                TcpStream::connect(("127.0.0.1", port)).ok()
            })
            .expect("s_server accepts no connection");
        socket.set_read_timeout(PATIENCE).unwrap();
        let config = Arc::new(client(rustls_fastgcm::with(ring::default_provider()), suite));
        let connection = ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
        let mut stream = BufReader::new(StreamOwned::new(connection, socket));
        for length in [1, 2, 15, 16, 17, 100, 1000, 10_000] {
            let line: Vec<u8> = bytes(length, 3).iter().map(|byte| b'a' + byte % 26).collect();
            if is_tls13(suite) && length > 1 {
                stream.get_mut().conn.refresh_traffic_keys().unwrap();
            }
            stream.get_mut().write_all(&[&line[..], b"\n"].concat()).unwrap();
            let mut answer = Vec::new();
            stream.read_until(b'\n', &mut answer).unwrap();
            assert!(answer.trim_ascii_end().iter().rev().eq(&line), "{suite:?}");
            lines += 1;
        }
        assert_eq!(stream.get_ref().conn.negotiated_cipher_suite().unwrap().suite(), suite);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    passed("every_suite_with_s_server", lines, 6 * 8);
}

//! A TLS client: sends its standard input to a server, and shows what comes back.
//! `cargo run --example client -- localhost 4433 roots.pem [NAME OF A SUITE]`.

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use std::{
    error::Error,
    io::{self, Read, Write},
    net::TcpStream,
    sync::Arc,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, host, port, roots, suite @ ..] = &arguments[..] else { return Err("client HOST PORT ROOTS [SUITE]".into()) };
    let mut store = RootCertStore::empty();
    for root in CertificateDer::pem_file_iter(roots)? {
        store.add(root?)?;
    }

    let mut provider = rustls_fastgcm::with(rustls::crypto::ring::default_provider());
    if let [suite] = suite {
        provider.cipher_suites.retain(|one| format!("{:?}", one.suite()) == *suite);
    }
    let config = ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(store)
        .with_no_client_auth();

    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text)?;
    let connection = ClientConnection::new(Arc::new(config), ServerName::try_from(host.clone())?)?;
    let mut stream = StreamOwned::new(connection, TcpStream::connect((host.as_str(), port.parse()?))?);
    stream.write_all(&text)?;
    stream.flush()?;
    let mut answer = vec![0; text.len()];
    stream.read_exact(&mut answer)?;
    stream.conn.send_close_notify();
    stream.flush()?;
    io::stdout().write_all(&answer)?;
    eprintln!("{:?}", stream.conn.negotiated_cipher_suite().map(|suite| suite.suite()));
    Ok(())
}

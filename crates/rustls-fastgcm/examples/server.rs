//! A TLS server on this machine that sends back what it gets: `cargo run --example server -- 4433 certificate.pem key.pem`.

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{error::Error, io, net::TcpListener, sync::Arc, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, port, certificate, key] = &arguments[..] else { return Err("server PORT CERTIFICATE KEY".into()) };
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;

    let provider = rustls_fastgcm::with(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    let config = Arc::new(config);

    let listener = TcpListener::bind(("127.0.0.1", port.parse()?))?;
    println!("listening on {}", listener.local_addr()?);
    for socket in listener.incoming() {
        let (socket, connection) = (socket?, ServerConnection::new(config.clone())?);
        thread::spawn(move || {
            let mut stream = StreamOwned::new(connection, socket);
            if let Err(error) = echo(&mut stream) {
                eprintln!("{error}");
            }
        });
    }
    Ok(())
}

/// Until the other end says that it has finished.
fn echo(stream: &mut (impl io::Read + io::Write)) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            n => stream.write_all(&buffer[..n])?,
        }
        stream.flush()?;
    }
}

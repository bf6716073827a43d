//! QUIC over fastgcm: a server of quinn that sends back what it gets, and a client.
//! `cargo run --example quic_echo` (in Cargo.toml: `quinn`, `rustls` with `ring`, `rustls-fastgcm`, `tokio`).

use quinn::{
    ClientConfig, Endpoint, ServerConfig,
    crypto::rustls::{QuicClientConfig, QuicServerConfig},
};
use rustls::{
    RootCertStore,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{error::Error, net::Ipv4Addr, sync::Arc};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Of `localhost`. Its key is known to everybody.
const CERTIFICATE: &[u8] = include_bytes!("../../tests/certificates/ecdsa.pem");
const KEY: &[u8] = include_bytes!("../../tests/certificates/ecdsa.key");

/// AES-GCM by fastgcm, everything else by ring. This line is all that differs from another program with quinn.
fn provider() -> Arc<CryptoProvider> {
    rustls_fastgcm::with(ring::default_provider()).into()
}

#[tokio::main]
async fn main() -> Result<()> {
    let server = Endpoint::server(server()?, (Ipv4Addr::LOCALHOST, 0).into())?;
    let address = server.local_addr()?;
    let echo = tokio::spawn(echo(server));

    let mut endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
    endpoint.set_default_client_config(client()?);
    let connection = endpoint.connect(address, "localhost")?.await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(b"is there anybody?").await?;
    send.finish()?;
    let answer = receive.read_to_end(1000).await?;
    assert_eq!(answer, b"is there anybody?");
    println!("{address} says: {}", answer.escape_ascii());

    connection.close(0_u32.into(), b"");
    endpoint.wait_idle().await;
    echo.await?
}

fn server() -> Result<ServerConfig> {
    let (certificate, key) = (CertificateDer::from_pem_slice(CERTIFICATE)?, PrivateKeyDer::from_pem_slice(KEY)?);
    let config = rustls::ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&rustls::version::TLS13])?;
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key)?;
    Ok(ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(config)?)))
}

fn client() -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE)?)?;
    let config = rustls::ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&rustls::version::TLS13])?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(ClientConfig::new(Arc::new(QuicClientConfig::try_from(config)?)))
}

/// Serves one connection: each stream gets back what it sent.
async fn echo(server: Endpoint) -> Result<()> {
    let connection = server.accept().await.ok_or("no client")?.await?;
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        send.write_all(&receive.read_to_end(1000).await?).await?;
        send.finish()?;
    }
    Ok(())
}

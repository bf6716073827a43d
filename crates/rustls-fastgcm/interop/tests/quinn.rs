//! QUIC end to end: quinn over this machine's network, with ours at one end, at the other, and at both.

#[path = "../../tests/against/support.rs"]
mod support;

use quinn::{
    ClientConfig, Endpoint, ServerConfig,
    crypto::rustls::{QuicClientConfig, QuicServerConfig},
};
use rustls::{
    CipherSuite,
    crypto::{CryptoProvider, ring},
    quic::Suite,
};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};
use support::{SUITES, bytes, client, passed, server};
use tokio::net::UdpSocket;

#[tokio::test]
async fn streams() {
    let ours = || rustls_fastgcm::with(ring::default_provider());
    let mut streams = 0;
    for (suite, _) in SUITES[..2].iter().copied() {
        for (of_client, of_server) in [(ours(), ring::default_provider()), (ring::default_provider(), ours()), (ours(), ours())] {
            streams += run(of_client, of_server, suite, None).await;
        }
    }
    passed("streams", streams, 2 * 3 * 6);
}

/// Every seventh packet is lost, in each direction: what is sent again has another number, and keys are updated around it.
#[tokio::test]
async fn streams_over_a_lossy_network() {
    let ours = || rustls_fastgcm::with(ring::default_provider());
    let mut streams = 0;
    for (suite, _) in SUITES[..2].iter().copied() {
        for (of_client, of_server) in [(ours(), ring::default_provider()), (ring::default_provider(), ours())] {
            streams += run(of_client, of_server, suite, Some(7)).await;
        }
    }
    passed("streams_over_a_lossy_network", streams, 2 * 2 * 6);
}

/// Carries packets to a server and back, but for each `nth`, until the program ends. Returns where the client finds it.
async fn lossy(server: SocketAddr, nth: usize) -> SocketAddr {
    let front = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let back = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = front.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut there, mut here, mut client, mut count) = ([0; 1 << 16], [0; 1 << 16], None, [1, 4]);
        loop {
            tokio::select! {
                Ok((n, from)) = front.recv_from(&mut there) => {
                    client = Some(from);
                    count[0] += 1;
                    if count[0] % nth != 0 {
                        back.send_to(&there[..n], server).await.unwrap();
                    }
                }
                Ok((n, _)) = back.recv_from(&mut here) => {
                    count[1] += 1;
                    if count[1] % nth != 0 && let Some(client) = client {
                        front.send_to(&here[..n], client).await.unwrap();
                    }
                }
            }
        }
    });
    address
}

/// Whatever the suite, QUIC begins with AES-128.
fn initial(provider: &CryptoProvider) -> Suite {
    let suite = provider.cipher_suites.iter().find(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256).unwrap();
    suite.tls13().unwrap().quic_suite().unwrap()
}

async fn run(of_client: CryptoProvider, of_server: CryptoProvider, suite: CipherSuite, loses: Option<usize>) -> usize {
    let (first, last) = (initial(&of_server), initial(&of_client));
    let mut config = server(of_server, suite);
    config.max_early_data_size = u32::MAX;
    let config = QuicServerConfig::with_initial(config.into(), first).unwrap();
    let server = Endpoint::server(ServerConfig::with_crypto(Arc::new(config)), (Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let mut address = server.local_addr().unwrap();
    if let Some(nth) = loses {
        address = lossy(address, nth).await;
    }
    let echo = tokio::spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        while let Ok((mut send, mut receive)) = connection.accept_bi().await {
            let text = receive.read_to_end(usize::MAX).await.unwrap();
            send.write_all(&text).await.unwrap();
            send.finish().unwrap();
        }
        server.wait_idle().await;
    });

    let mut endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let config = QuicClientConfig::with_initial(client(of_client, suite).into(), last).unwrap();
    endpoint.set_default_client_config(ClientConfig::new(Arc::new(config)));
    let connection = endpoint.connect(address, "localhost").unwrap().await.unwrap();
    let mut streams = 0;
    for length in [0, 1, 100, 1200, 100_000, 3_000_000] {
        let text = bytes(length, 1);
        let (mut send, mut receive) = connection.open_bi().await.unwrap();
        let sent = text.clone();
        let sending = tokio::spawn(async move {
            send.write_all(&sent).await.unwrap();
            send.finish().unwrap();
        });
        assert!(receive.read_to_end(usize::MAX).await.unwrap() == text, "{suite:?}, {length} bytes");
        sending.await.unwrap();
        connection.force_key_update();
        streams += 1;
    }
    connection.close(0_u32.into(), b"");
    endpoint.wait_idle().await;
    echo.await.unwrap();
    streams
}

//! Connections that end as they should not: wrong certificates, and streams that are cut off.

use crate::{
    base,
    support::{CipherSuite, Pair, SUITES, bytes, certificate, client, passed, server},
};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ConnectionCommon, Error, RootCertStore, ServerConfig, SideData,
    SupportedProtocolVersion, crypto::CryptoProvider, pki_types::UnixTime, server::WebPkiClientVerifier, time_provider::TimeProvider,
};
use std::{
    io::{self, ErrorKind, Read, Write},
    ops::DerefMut,
    sync::Arc,
    time::Duration,
};

fn ours() -> CryptoProvider {
    rustls_fastgcm::with(base())
}

fn both_ways() -> [(CryptoProvider, CryptoProvider); 3] {
    [(ours(), base()), (base(), ours()), (ours(), ours())]
}

fn is_rsa(suite: CipherSuite) -> bool {
    format!("{suite:?}").contains("RSA")
}

fn roots(rsa: bool) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(rsa).0).unwrap();
    roots.into()
}

fn version(provider: &mut CryptoProvider, suite: CipherSuite) -> [&'static SupportedProtocolVersion; 1] {
    provider.cipher_suites.retain(|one| one.suite() == suite);
    [provider.cipher_suites[0].version()]
}

/// When no certificate of the tests is valid any more: in the year 2150.
#[derive(Debug)]
struct Later;

impl TimeProvider for Later {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(180 * 365 * 86_400)))
    }
}

/// What the client says to the server's certificate, and the server hears of it: the alert goes through the cipher in TLS 1.3.
fn refused(mut pair: Pair) -> (Error, Error) {
    let of_client = pair.run().unwrap_err();
    (of_client, pair.alert_of_client().unwrap_err())
}

#[test]
fn wrong_certificates() {
    let mut checked = 0;
    for (suite, _) in SUITES {
        for (of_client, of_server) in both_ways() {
            let server = Arc::new(server(of_server.clone(), suite));
            // Of somebody else.
            let mut provider = of_client.clone();
            let version = version(&mut provider, suite);
            let config = || ClientConfig::builder_with_provider(provider.clone().into()).with_protocol_versions(&version).unwrap();
            let distrustful = config().with_root_certificates(RootCertStore::empty()).with_no_client_auth();
            let (error, alert) = refused(Pair::new(&distrustful.into(), &server));
            assert_eq!(error, Error::InvalidCertificate(CertificateError::UnknownIssuer), "{suite:?}");
            assert_eq!(alert, Error::AlertReceived(AlertDescription::UnknownCA), "{suite:?}");
            // Of another name.
            let trusting = Arc::new(client(of_client.clone(), suite));
            let (error, alert) = refused(Pair::named(&trusting, &server, "example.org"));
            assert!(format!("{error:?}").starts_with("InvalidCertificate(NotValidForName"), "{suite:?}: {error:?}");
            assert_eq!(alert, Error::AlertReceived(AlertDescription::BadCertificate), "{suite:?}");
            // Of another time.
            let mut late = client(of_client.clone(), suite);
            late.time_provider = Arc::new(Later);
            let (error, alert) = refused(Pair::new(&late.into(), &server));
            assert!(format!("{error:?}").starts_with("InvalidCertificate(Expired"), "{suite:?}: {error:?}");
            assert_eq!(alert, Error::AlertReceived(AlertDescription::CertificateExpired), "{suite:?}");
            // No certificate, another one, and the right one of a client that must have one.
            let verifier = WebPkiClientVerifier::builder_with_provider(roots(false), of_server.clone().into()).build().unwrap();
            let (own, key) = certificate(is_rsa(suite));
            let demanding = ServerConfig::builder_with_provider(of_server.into()).with_safe_default_protocol_versions().unwrap();
            let demanding = Arc::new(demanding.with_client_cert_verifier(verifier).with_single_cert(vec![own], key).unwrap());
            let outcome = Pair::new(&trusting, &demanding).run();
            assert_eq!(outcome, Err(Error::NoCertificatesPresented), "{suite:?}");
            for rsa in [true, false] {
                let (own, key) = certificate(rsa);
                let with_own = config().with_root_certificates(roots(is_rsa(suite))).with_client_auth_cert(vec![own], key).unwrap();
                let mut pair = Pair::new(&with_own.into(), &demanding);
                let outcome = pair.run();
                if rsa {
                    assert!(matches!(outcome, Err(Error::InvalidCertificate(_))), "{suite:?}: {outcome:?}");
                } else {
                    assert_eq!(outcome, Ok(()), "{suite:?}");
                    pair.send_to_server(&[&bytes(5000, 1)]);
                }
            }
            checked += 6;
        }
    }
    passed("wrong_certificates", checked, 6 * 3 * 6);
}

/// A text, of which `to` gets the first bytes that go over the wire, and then nothing more. `keep` is told where
/// records end. Returns what arrives, and how that ends.
fn cut_off<A: SideData, B: SideData>(
    from: &mut impl DerefMut<Target = ConnectionCommon<A>>,
    to: &mut impl DerefMut<Target = ConnectionCommon<B>>,
    text: &[u8],
    keep: impl FnOnce(&[usize]) -> usize,
    says_goodbye: bool,
) -> (Vec<u8>, io::Result<usize>) {
    from.writer().write_all(text).unwrap();
    if says_goodbye {
        from.send_close_notify();
    }
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire).unwrap();
    }
    let (mut ends, mut end) = (Vec::new(), 0);
    while end < wire.len() {
        end += 5 + usize::from(u16::from_be_bytes([wire[end + 3], wire[end + 4]]));
        ends.push(end);
    }
    let keep = keep(&ends);
    let (mut rest, mut arrived, mut buffer) = (&wire[..keep], Vec::new(), vec![0; 1 << 16]);
    while !rest.is_empty() {
        to.read_tls(&mut rest).unwrap();
        to.process_new_packets().unwrap();
        while let Ok(n @ 1..) = to.reader().read(&mut buffer) {
            arrived.extend_from_slice(&buffer[..n]);
        }
    }
    assert_eq!(to.read_tls(&mut io::empty()).unwrap(), 0);
    to.process_new_packets().unwrap();
    (arrived, to.reader().read(&mut buffer))
}

/// What was whole arrives, of a record that was not nothing does, and an end that nobody has announced is an error.
#[test]
fn cut_connections() {
    type Place = fn(&[usize]) -> usize;
    const WHOLE: usize = 1 << 14;
    /// How much of the wire arrives, and how much text.
    const PLACES: [(Place, usize); 7] = [
        (|_| 0, 0),
        (|_| 3, 0),
        (|ends| ends[0] / 2, 0),
        (|ends| ends[0] - 1, 0),
        (|ends| ends[0], WHOLE),
        (|ends| ends[1] + 100, 2 * WHOLE),
        (|ends| ends[2], 40_000),
    ];
    let (text, mut checked) = (bytes(40_000, 1), 0);
    for (suite, _) in SUITES {
        for (of_client, of_server) in both_ways() {
            let (client, server) = (Arc::new(client(of_client, suite)), Arc::new(server(of_server, suite)));
            let run = |to_server: bool, keep: Place, says_goodbye: bool| {
                let Pair { mut client, mut server } = Pair::connected(&client, &server);
                match to_server {
                    true => cut_off(&mut client, &mut server, &text, keep, says_goodbye),
                    false => cut_off(&mut server, &mut client, &text, keep, says_goodbye),
                }
            };
            for to_server in [true, false] {
                for (keep, expected) in PLACES {
                    let (arrived, end) = run(to_server, keep, false);
                    assert!(arrived == text[..expected], "{suite:?}: {} of {expected}", arrived.len());
                    assert_eq!(end.unwrap_err().kind(), ErrorKind::UnexpectedEof, "{suite:?}");
                    checked += 1;
                }
                let (arrived, end) = run(to_server, |ends| ends[ends.len() - 1], true);
                assert!(arrived == text && end.unwrap() == 0, "{suite:?}: an end that was announced");
                checked += 1;
            }
        }
    }
    passed("cut_connections", checked, 6 * 3 * 2 * 8);
}

//! Connections that end as they should not: a certificate of another name, and records that are cut off.

use crate::{
    base,
    support::{Pair, SUITES, bytes, client, passed, server},
};
use rustls::crypto::CryptoProvider;
use std::sync::Arc;

fn both_ways() -> [(CryptoProvider, CryptoProvider); 3] {
    let ours = || rustls_fastgcm::with(base());
    [(ours(), base()), (base(), ours()), (ours(), ours())]
}

/// The client refuses, and the server hears of it: in TLS 1.3 the alert goes through the cipher.
#[test]
fn wrong_names() {
    let mut refused = 0;
    for (suite, _) in SUITES {
        for (of_client, of_server) in both_ways() {
            let mut pair = Pair::named(&client(of_client, suite).into(), &server(of_server, suite).into(), "example.org");
            let error = format!("{:?}", pair.run());
            assert!(error.starts_with("Err(InvalidCertificate(NotValidForName"), "{suite:?}: {error}");
            assert_eq!(format!("{:?}", pair.alert_of_client()), "Err(AlertReceived(BadCertificate))", "{suite:?}");
            refused += 1;
        }
    }
    passed("wrong_names", refused, 6 * 3);
}

/// What was whole arrives, and of a record that was not, nothing does.
#[test]
fn cut_records() {
    let (text, mut checked) = (bytes(40_000, 1), 0);
    for (suite, _) in SUITES {
        for (of_client, of_server) in both_ways() {
            // What a record has beside the text: a type or an explicit nonce, and the tag.
            let overhead = if format!("{suite:?}").starts_with("TLS13") { 1 + 16 } else { 8 + 16 };
            let (client, server) = (Arc::new(client(of_client, suite)), Arc::new(server(of_server, suite)));
            // Of three records: none, the header of the first, half of it, all but a byte, all; half of the second; all but a byte of the last.
            for (place, records) in [(0, 0), (3, 0), (1, 0), (2, 0), (4, 1), (5, 1), (6, 2)] {
                let mut expected = 0;
                let mut pair = Pair::connected(&client, &server);
                let arrived = pair.forged_to_server(&text, |wire| {
                    let length = usize::from(u16::from_be_bytes([wire[3], wire[4]]));
                    expected = records * (length - overhead);
                    let first = 5 + length;
                    let keep = match place {
                        1 => first / 2,
                        2 => first - 1,
                        4 => first,
                        5 => first + first / 2,
                        6 => wire.len() - 1,
                        few => few,
                    };
                    wire.truncate(keep);
                });
                let arrived = arrived.unwrap();
                assert!(arrived == text[..expected], "{suite:?}, {place}: {} of {expected}", arrived.len());
                checked += 1;
            }
        }
    }
    passed("cut_records", checked, 6 * 3 * 7);
}

//! Each suite of TLS against the other provider: handshakes, records of all lengths, keys of the right length, updates, early data, forgeries.

use crate::{
    base,
    support::{CipherSuite, Pair, SUITES, bytes, client, extracted, passed, server},
};
use rustls::{ClientConfig, ConnectionTrafficSecrets, Error, ServerConfig, crypto::CryptoProvider};
use std::sync::Arc;

fn ours() -> CryptoProvider {
    rustls_fastgcm::with(base())
}

/// Who is who.
fn both_ways(suite: CipherSuite) -> [(Arc<ClientConfig>, Arc<ServerConfig>); 3] {
    [(ours(), base()), (base(), ours()), (ours(), ours())]
        .map(|(of_client, of_server)| (client(of_client, suite).into(), server(of_server, suite).into()))
}

#[test]
fn every_suite() {
    let mut sent = 0;
    for (suite, _) in SUITES {
        for (client, server) in both_ways(suite) {
            let mut pair = Pair::connected(&client, &server);
            assert_eq!(pair.suite(), suite);
            for length in (1..=66).chain([255, 1400, 4096, 16382, 16383, 16384, 16385, 32768, 100_000]) {
                let text = bytes(length, 1);
                pair.send_to_server(&[&text]);
                // A chunk of each length, none in between, and ends of records in the middle of chunks.
                let (a, b) = text.split_at(length / 3);
                pair.send_to_client(&[&[], a, b"", &b[..b.len() / 2], &b[b.len() / 2..], b"end"]);
                sent += 2;
            }
        }
    }
    passed("every_suite", sent, 6 * 3 * 75 * 2);
}

/// rustls-openssl#37: a suite of 256 bits with a key of 128. Both ends would agree, so it is the secrets that are looked at.
#[test]
fn keys_of_the_right_length() {
    let mut checked = 0;
    for (suite, length) in SUITES {
        for (client, server) in both_ways(suite) {
            for ends in Pair::connected(&client, &server).secrets() {
                let [ours, theirs] = ends.map(|end| secrets(&end));
                assert_eq!((ours.0, ours.1), (length, length), "{suite:?}");
                // In TLS 1.2 the rest of the IV comes with each record.
                let shared = if format!("{suite:?}").contains("TLS13") { 12 } else { 4 };
                assert!(ours.0 == theirs.0 && ours.2 == theirs.2 && ours.3[..shared] == theirs.3[..shared], "{suite:?}");
                checked += 1;
            }
        }
    }
    passed("keys_of_the_right_length", checked, 6 * 3 * 2);
}

/// What the kernel is told is what there is: the key, and the IV with the part of TLS 1.2 that comes with each record (RFC 5288, section 3) behind the salt. Two
/// ends of a connection would agree on any other.
#[test]
fn secrets_for_the_kernel() {
    let mut checked = 0;
    for (suite, length) in SUITES {
        for provider in [ours(), base()] {
            let (key, iv) = (std::array::from_fn(|i| 7 * i as u8 + 1), std::array::from_fn(|i| 0xf0 - 11 * i as u8));
            let found = secrets(&extracted(&provider, suite, key, iv));
            assert_eq!((found.0, found.2, found.3), (length, key.to_vec(), iv.to_vec()), "{suite:?}");
            checked += 1;
        }
    }
    passed("secrets_for_the_kernel", checked, 6 * 2);
}

/// Length by its variant, length, key, IV.
fn secrets(secrets: &ConnectionTrafficSecrets) -> (usize, usize, Vec<u8>, Vec<u8>) {
    match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (16, key.as_ref().len(), key.as_ref().to_vec(), iv.as_ref().to_vec()),
        ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (32, key.as_ref().len(), key.as_ref().to_vec(), iv.as_ref().to_vec()),
        _ => panic!("another cipher"),
    }
}

#[test]
fn key_updates() {
    let mut updates = 0;
    for (suite, _) in &SUITES[..2] {
        for (client, server) in both_ways(*suite) {
            let mut pair = Pair::connected(&client, &server);
            for i in 0..8 {
                pair.update_keys(i % 2 == 0);
                pair.send_to_server(&[&bytes(5000 + i, 2)]);
                pair.send_to_client(&[&bytes(20_000 + i, 3)]);
                updates += 1;
            }
        }
    }
    passed("key_updates", updates, 2 * 3 * 8);
}

/// Early data: taken by the server that gave the ticket; skipped, record by record, by one that cannot read it.
#[test]
fn early_data() {
    let (mut taken, mut skipped) = (0, 0);
    for (suite, _) in &SUITES[..2] {
        for ((client, first), (_, other)) in both_ways(*suite).into_iter().zip(both_ways(*suite)) {
            let mut pair = Pair::connected(&client, &first);
            pair.send_to_client(&[b"and tickets"]);
            for server in [first, other] {
                let mut pair = Pair::new(&client, &server);
                let early = bytes(2000, 4); // rustls counts a record more than once that it skips, up to 16384 bytes
                let read = pair.early(&early);
                match &read {
                    Some(read) => {
                        assert!(*read == early);
                        taken += 1;
                    }
                    None => skipped += 1,
                }
                pair.run().unwrap();
                assert_eq!(pair.is_early_data_accepted(), read.is_some());
                pair.send_to_server(&[&bytes(20_000, 5)]);
                pair.send_to_client(&[&bytes(20_000, 6)]);
            }
        }
    }
    passed("early_data", taken, 2 * 3);
    passed("early_data_skipped", skipped, 2 * 3);
}

/// A changed byte anywhere, and a record that is too short for a tag, end the connection.
#[test]
fn forged_records() {
    let mut refused = 0;
    for (suite, _) in SUITES {
        let (client, server) = (Arc::new(client(ours(), suite)), Arc::new(server(ours(), suite)));
        for place in 5..5 + 8 + 20 + 1 + 16 {
            let mut pair = Pair::connected(&client, &server);
            let mut changed = false;
            let outcome = pair.forged_to_server(&bytes(20, 7), |record| {
                if let Some(byte) = record.get_mut(place) {
                    *byte ^= 0x10;
                    changed = true;
                }
            });
            assert_eq!(outcome, if changed { Err(Error::DecryptError) } else { Ok(bytes(20, 7)) }, "{suite:?}, byte {place}");
            refused += usize::from(changed);
        }
        // Shorter than a record with one byte of text.
        let short = 1..=if format!("{suite:?}").contains("TLS13") { 17 } else { 24 };
        for length in short {
            let mut pair = Pair::connected(&client, &server);
            let outcome = pair.forged_to_client(b"a", |record| {
                record.truncate(5 + length);
                record[4] = length as u8;
            });
            assert_eq!(outcome, Err(Error::DecryptError), "{suite:?}, {length} bytes");
            assert_eq!(format!("{:?}", pair.alert_of_client()), "Err(AlertReceived(BadRecordMac))", "{suite:?}");
            refused += 1;
        }
    }
    passed("forged_records", refused, 2 * (37 + 17) + 4 * (44 + 24));
}

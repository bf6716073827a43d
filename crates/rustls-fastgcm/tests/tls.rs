//! Each suite of TLS against ring: handshakes, records of all kinds, keys of the right length.

mod support;

use rustls::{
    AlertDescription, CipherSuite, ClientConfig, ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion, ServerConfig,
    SupportedCipherSuite,
    crypto::{
        CryptoProvider,
        cipher::{AeadKey, InboundOpaqueMessage, Iv, OutboundChunks, OutboundPlainMessage, make_tls13_aad},
        ring,
    },
};
use std::{io::Read, sync::Arc};
use support::{Pair, SUITES, bytes, carry, client, passed, send, server};

fn ours() -> CryptoProvider {
    rustls_fastgcm::with(ring::default_provider())
}

/// Who is who: ours and ring's.
fn both_ways(suite: CipherSuite) -> [(Arc<ClientConfig>, Arc<ServerConfig>); 3] {
    let ring = ring::default_provider;
    [(ours(), ring()), (ring(), ours()), (ours(), ours())]
        .map(|(of_client, of_server)| (client(of_client, suite).into(), server(of_server, suite).into()))
}

#[test]
fn every_suite_with_ring() {
    let mut sent = 0;
    for (suite, _) in SUITES {
        for (client, server) in both_ways(suite) {
            let Pair { mut client, mut server } = Pair::connected(&client, &server);
            assert_eq!(client.negotiated_cipher_suite().unwrap().suite(), suite);
            for length in (1..=66).chain([255, 1400, 4096, 16382, 16383, 16384, 16385, 32768, 100_000]) {
                let text = bytes(length, 1);
                send(&mut client, &mut server, &[&text]);
                // A chunk of each length, none in between, and ends of records in the middle of chunks.
                let (a, b) = text.split_at(length / 3);
                send(&mut server, &mut client, &[&[], a, b"", &b[..b.len() / 2], &b[b.len() / 2..], b"end"]);
                sent += 2;
            }
        }
    }
    passed("tls::every_suite_with_ring", sent, 6 * 3 * 75 * 2);
}

/// rustls-openssl#37: a suite of 256 bits with a key of 128. Both ends would agree, so it is the secrets that are looked at.
#[test]
fn keys_of_the_right_length() {
    let mut checked = 0;
    for (suite, length) in SUITES {
        for (client, server) in both_ways(suite) {
            let Pair { client, server } = Pair::connected(&client, &server);
            let (client, server) = (client.dangerous_extract_secrets().unwrap(), server.dangerous_extract_secrets().unwrap());
            for (ours, theirs) in [(client.tx, server.rx), (server.tx, client.rx)] {
                let (ours, theirs) = (secrets(&ours.1), secrets(&theirs.1));
                assert_eq!((ours.0, ours.1), (length, length), "{suite:?}");
                // In TLS 1.2 the rest of the IV comes with each record.
                let shared = if format!("{suite:?}").contains("TLS13") { 12 } else { 4 };
                assert!(ours.0 == theirs.0 && ours.2 == theirs.2 && ours.3[..shared] == theirs.3[..shared], "{suite:?}");
                checked += 1;
            }
        }
    }
    passed("tls::keys_of_the_right_length", checked, 6 * 3 * 2);
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
                match i % 2 {
                    0 => pair.client.refresh_traffic_keys().unwrap(),
                    _ => pair.server.refresh_traffic_keys().unwrap(),
                }
                pair.run().unwrap();
                send(&mut pair.client, &mut pair.server, &[&bytes(5000 + i, 2)]);
                send(&mut pair.server, &mut pair.client, &[&bytes(20_000 + i, 3)]);
                updates += 1;
            }
        }
    }
    passed("tls::key_updates", updates, 2 * 3 * 8);
}

/// Early data: taken by the server that gave the ticket; skipped, record by record, by one that cannot read it.
#[test]
fn early_data() {
    let (mut taken, mut skipped) = (0, 0);
    for (suite, _) in &SUITES[..2] {
        for ((client, first), (_, other)) in both_ways(*suite).into_iter().zip(both_ways(*suite)) {
            let mut pair = Pair::connected(&client, &first);
            send(&mut pair.server, &mut pair.client, &[b"and tickets"]);
            for server in [first, other] {
                let mut pair = Pair::new(&client, &server);
                let early = bytes(2000, 4); // rustls counts a record more than once that it skips, up to 16384 bytes
                std::io::Write::write_all(&mut pair.client.early_data().unwrap(), &early).unwrap();
                let mut received = Vec::new();
                carry(&mut pair.client, &mut pair.server, |_| ()).unwrap();
                match pair.server.early_data() {
                    Some(mut data) => {
                        data.read_to_end(&mut received).unwrap();
                        assert!(received == early);
                        taken += 1;
                    }
                    None => skipped += 1,
                }
                pair.run().unwrap();
                assert_eq!(pair.client.is_early_data_accepted(), !received.is_empty());
                send(&mut pair.client, &mut pair.server, &[&bytes(20_000, 5)]);
                send(&mut pair.server, &mut pair.client, &[&bytes(20_000, 6)]);
            }
        }
    }
    passed("tls::early_data", taken, 2 * 3);
    passed("tls::early_data_skipped", skipped, 2 * 3);
}

/// A changed byte anywhere, and a record that is too short for a tag, end the connection.
#[test]
fn forged_records() {
    let mut refused = 0;
    for (suite, _) in SUITES {
        let (client, server) = (Arc::new(client(ours(), suite)), Arc::new(server(ours(), suite)));
        for place in 5..5 + 8 + 20 + 1 + 16 {
            let mut pair = Pair::connected(&client, &server);
            std::io::Write::write_all(&mut pair.client.writer(), &bytes(20, 7)).unwrap();
            let mut changed = false;
            let outcome = carry(&mut pair.client, &mut pair.server, |record| {
                if let Some(byte) = record.get_mut(place) {
                    *byte ^= 0x10;
                    changed = true;
                }
            });
            assert_eq!(outcome, if changed { Err(Error::DecryptError) } else { Ok(()) }, "{suite:?}, byte {place}");
            refused += usize::from(changed);
        }
        // Shorter than a record with one byte of text.
        let short = 1..=if format!("{suite:?}").contains("TLS13") { 17 } else { 24 };
        for length in short {
            let mut pair = Pair::connected(&client, &server);
            std::io::Write::write_all(&mut pair.server.writer(), b"a").unwrap();
            let outcome = carry(&mut pair.server, &mut pair.client, |record| {
                record.truncate(5 + length);
                record[4] = length as u8;
            });
            assert_eq!(outcome, Err(Error::DecryptError), "{suite:?}, {length} bytes");
            let alert = Error::AlertReceived(AlertDescription::BadRecordMac);
            assert_eq!(carry(&mut pair.client, &mut pair.server, |_| ()), Err(alert), "{suite:?}");
            refused += 1;
        }
    }
    passed("tls::forged_records", refused, 2 * (37 + 17) + 4 * (44 + 24));
}

/// Record by record the bytes are ring's; the key is one of 256 bits, because rustls lets nobody make another.
#[test]
fn records_are_those_of_ring() {
    let suite = |provider: CryptoProvider, id| *provider.cipher_suites.iter().find(|suite| suite.suite() == id).unwrap();
    let key = || AeadKey::from(<[u8; 32]>::try_from(bytes(32, 8)).unwrap());
    let iv = || Iv::from(<[u8; 12]>::try_from(bytes(12, 9)).unwrap());
    let mut records = 0;
    for id in [CipherSuite::TLS13_AES_256_GCM_SHA384, CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384] {
        let [(mut seal, mut open), (mut ring_seals, mut ring_opens)] =
            [ours(), ring::default_provider()].map(|provider| match suite(provider, id) {
                SupportedCipherSuite::Tls13(suite) => (suite.aead_alg.encrypter(key(), iv()), suite.aead_alg.decrypter(key(), iv())),
                SupportedCipherSuite::Tls12(suite) => {
                    let shape = suite.aead_alg.key_block_shape();
                    assert_eq!((shape.enc_key_len, shape.fixed_iv_len, shape.explicit_nonce_len), (32, 4, 8));
                    let (salt, explicit) = (bytes(4, 10), bytes(8, 11));
                    (suite.aead_alg.encrypter(key(), &salt, &explicit), suite.aead_alg.decrypter(key(), &salt))
                }
            });
        let text = bytes(1 << 14, 12);
        for (seq, length) in (0..=600).chain([1400, 4096, 8000, 16000, 16383, 16384]).enumerate() {
            let seq = if length == 600 { u64::MAX } else { seq as u64 };
            let chunks: Vec<&[u8]> = text.chunks(1 + length / 3).collect();
            let (_, behind) = OutboundChunks::new(&chunks).split_at(text.len() - length);
            for payload in [OutboundChunks::from(&text[text.len() - length..]), behind] {
                let message = || OutboundPlainMessage {
                    typ: ContentType::ApplicationData,
                    version: ProtocolVersion::TLSv1_2,
                    payload: payload.clone(),
                };
                assert_eq!(seal.encrypted_payload_len(length), ring_seals.encrypted_payload_len(length));
                let [record, theirs] = [&mut seal, &mut ring_seals].map(|seal| seal.encrypt(message(), seq).unwrap().encode());
                assert!(record == theirs, "{length}");
                assert_eq!(record.len(), 5 + seal.encrypted_payload_len(length));
                for open in [&mut open, &mut ring_opens] {
                    let mut record = record[5..].to_vec();
                    let inbound = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, &mut record);
                    let opened = open.decrypt(inbound, seq).unwrap();
                    assert_eq!((opened.typ, opened.payload), (ContentType::ApplicationData, &text[text.len() - length..]));
                }
                records += 1;
            }
        }
    }
    passed("tls::records_are_those_of_ring", records, 2 * 607 * 2);
}

/// What a peer may send, and no rustls sends: padding, and records that are too long.
#[test]
fn padding_and_long_records() {
    let provider = ours();
    let suite = provider.cipher_suites[0].tls13().unwrap();
    assert_eq!(suite.common.suite, CipherSuite::TLS13_AES_256_GCM_SHA384);
    let key = fastgcm::Key::aes256(&[7; 32]);
    let mut open = suite.aead_alg.decrypter([7; 32].into(), [0; 12].into());
    let mut read = |text: &[u8]| {
        let mut record = [text, &[0; 16]].concat();
        let aad = make_tls13_aad(record.len());
        key.seal_appended([0; 12], &aad, &mut record).unwrap();
        let inbound = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, &mut record);
        open.decrypt(inbound, 0).map(|message| (message.typ, message.payload.to_vec()))
    };
    for padding in 0..=300 {
        let padded = [&b"text\x17"[..], &vec![0; padding]].concat();
        assert_eq!(read(&padded), Ok((ContentType::ApplicationData, b"text".to_vec())));
    }
    assert!(read(&[0; 40]).is_err(), "no type");
    assert!(read(&[]).is_err(), "not even a type");
    let longest = [vec![1; 1 << 14], vec![0x17]].concat();
    assert_eq!(read(&longest).unwrap().1.len(), 1 << 14);
    assert_eq!(read(&[&longest[..], &[0]].concat()), Err(Error::PeerSentOversizedRecord));
    let suite = provider.cipher_suites.iter().find_map(|suite| match suite {
        SupportedCipherSuite::Tls12(suite) if suite.common.suite == CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => Some(suite),
        _ => None,
    });
    let mut open = suite.unwrap().aead_alg.decrypter([7; 32].into(), &[0; 4]);
    let mut record = vec![0; 8 + (1 << 14) + 1 + 16];
    let inbound = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, &mut record);
    assert_eq!(open.decrypt(inbound, 0).err(), Some(Error::PeerSentOversizedRecord));
    passed("tls::padding_and_long_records", 301 + 5, 306);
}

#[test]
fn only_the_cipher_changes() {
    let (base, ours) = (ring::default_provider(), ours());
    let names = |provider: &CryptoProvider| provider.cipher_suites.iter().map(|suite| suite.suite()).collect::<Vec<_>>();
    assert_eq!(names(&base), names(&ours));
    let at = |suite: &SupportedCipherSuite| match suite {
        SupportedCipherSuite::Tls13(suite) => std::ptr::from_ref(*suite).addr(),
        SupportedCipherSuite::Tls12(suite) => std::ptr::from_ref(*suite).addr(),
    };
    let changed = base.cipher_suites.iter().zip(&ours.cipher_suites).filter(|(base, ours)| at(base) != at(ours)).count();
    // However often it is called, and on what it made itself.
    let again = rustls_fastgcm::with(rustls_fastgcm::with(ring::default_provider()));
    assert!(ours.cipher_suites.iter().map(at).eq(again.cipher_suites.iter().map(at)));
    assert!(!ours.fips() && ours.cipher_suites.iter().all(|suite| !suite.fips()));
    for suite in &ours.cipher_suites {
        let name = format!("{:?}", suite.suite());
        let common = match suite {
            SupportedCipherSuite::Tls13(suite) => &suite.common,
            SupportedCipherSuite::Tls12(suite) => &suite.common,
        };
        assert_eq!(common.confidentiality_limit, if name.contains("GCM") { 1 << 24 } else { u64::MAX });
    }
    passed("tls::only_the_cipher_changes", changed, 6);
}

//! Records by themselves, which no two versions of rustls make in the same way.

use crate::{
    base,
    support::{bytes, passed},
};
use rustls::{
    CipherSuite, ContentType, Error, ProtocolVersion, SupportedCipherSuite,
    crypto::{
        CryptoProvider,
        cipher::{AeadKey, InboundOpaqueMessage, Iv, OutboundChunks, OutboundPlainMessage, make_tls13_aad},
    },
};

fn ours() -> CryptoProvider {
    rustls_fastgcm::with(base())
}

/// Record by record the bytes are the other provider's; the key is one of 256 bits, because rustls lets nobody make another.
#[test]
fn records_agree() {
    let suite = |provider: CryptoProvider, id| *provider.cipher_suites.iter().find(|suite| suite.suite() == id).unwrap();
    let key = || AeadKey::from(<[u8; 32]>::try_from(bytes(32, 8)).unwrap());
    let iv = || Iv::from(<[u8; 12]>::try_from(bytes(12, 9)).unwrap());
    let mut records = 0;
    for id in [CipherSuite::TLS13_AES_256_GCM_SHA384, CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384] {
        let [(mut seal, mut open), (mut their_seal, mut their_open)] = [ours(), base()].map(|provider| match suite(provider, id) {
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
                assert_eq!(seal.encrypted_payload_len(length), their_seal.encrypted_payload_len(length));
                let [record, theirs] = [&mut seal, &mut their_seal].map(|seal| seal.encrypt(message(), seq).unwrap().encode());
                assert!(record == theirs, "{length}");
                assert_eq!(record.len(), 5 + seal.encrypted_payload_len(length));
                for open in [&mut open, &mut their_open] {
                    let mut record = record[5..].to_vec();
                    let inbound = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, &mut record);
                    let opened = open.decrypt(inbound, seq).unwrap();
                    assert_eq!((opened.typ, opened.payload), (ContentType::ApplicationData, &text[text.len() - length..]));
                }
                records += 1;
            }
        }
    }
    passed("records_agree", records, 2 * 607 * 2);
}

/// What a peer may send, and no rustls sends: padding, and records that are too long.
#[test]
fn padding_and_long_records() {
    let provider = ours();
    let suite = provider
        .cipher_suites
        .iter()
        .find_map(|suite| suite.tls13().filter(|suite| suite.common.suite == CipherSuite::TLS13_AES_256_GCM_SHA384))
        .unwrap();
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
    passed("padding_and_long_records", 301 + 5, 306);
}

#[test]
fn only_the_cipher_changes() {
    let (theirs, ours) = (base(), ours());
    let names = |provider: &CryptoProvider| provider.cipher_suites.iter().map(|suite| suite.suite()).collect::<Vec<_>>();
    assert_eq!(names(&theirs), names(&ours));
    let at = |suite: &SupportedCipherSuite| match suite {
        SupportedCipherSuite::Tls13(suite) => std::ptr::from_ref(*suite).addr(),
        SupportedCipherSuite::Tls12(suite) => std::ptr::from_ref(*suite).addr(),
    };
    let changed = theirs.cipher_suites.iter().zip(&ours.cipher_suites).filter(|(base, ours)| at(base) != at(ours)).count();
    // However often it is called, and on what it made itself.
    let again = rustls_fastgcm::with(rustls_fastgcm::with(base()));
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
    passed("only_the_cipher_changes", changed, 6);
}

/// No size wraps, and a record that is refused, in the middle of a connection, leaves nothing: the one behind it opens, and is sealed as without it.
#[test]
fn sizes_and_errors_in_the_middle() {
    let mut calls = 0;
    let provider = ours();
    for suite in &provider.cipher_suites {
        // Rustls lets nobody make a key of 128 bits.
        let (mut seal, mut open) = match suite {
            SupportedCipherSuite::Tls13(suite) if suite.common.suite == CipherSuite::TLS13_AES_256_GCM_SHA384 => {
                (suite.aead_alg.encrypter([7; 32].into(), [1; 12].into()), suite.aead_alg.decrypter([7; 32].into(), [1; 12].into()))
            }
            SupportedCipherSuite::Tls12(suite) if suite.common.suite == CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => {
                (suite.aead_alg.encrypter([7; 32].into(), &[1; 4], &[2; 8]), suite.aead_alg.decrypter([7; 32].into(), &[1; 4]))
            }
            _ => continue,
        };
        for size in [1usize << 31, 1 << 32, 1 << 63].into_iter().flat_map(|at| at - 40..=at + 40).chain(usize::MAX - 80..=usize::MAX) {
            assert!(seal.encrypted_payload_len(size) >= size, "{size} wraps");
            calls += 1;
        }
        let text = bytes(50, 3);
        let message = || OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_2,
            payload: OutboundChunks::from(&text[..]),
        };
        for seq in 0..4 {
            let record = seal.encrypt(message(), seq).unwrap().encode().split_off(5);
            let mut read = |mut record: Vec<u8>| {
                let inbound = InboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, &mut record);
                open.decrypt(inbound, seq).map(|message| message.payload.to_vec())
            };
            for at in 0..record.len() {
                let mut forged = record.clone();
                forged[at] ^= 1;
                assert_eq!(read(forged), Err(Error::DecryptError));
                assert_eq!(read(record[..at].to_vec()), Err(Error::DecryptError));
                assert_eq!(read(record.clone()).as_ref(), Ok(&text));
                calls += 2;
            }
            assert_eq!(seal.encrypt(message(), seq).unwrap().encode()[5..], record);
        }
    }
    passed("sizes_and_errors_in_the_middle", calls, 2 * (3 * 81 + 81) + 2 * 4 * (67 + 74));
}

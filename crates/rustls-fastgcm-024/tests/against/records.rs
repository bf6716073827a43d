//! Records by themselves, which no two versions of rustls make in the same way.

use crate::{
    base,
    support::{CipherSuite, bytes, passed},
};
use rustls::{
    Error, Tls12CipherSuite, Tls13CipherSuite,
    crypto::{
        CryptoProvider,
        cipher::{AeadKey, EncodableVersion, InboundOpaque, OutboundPlain, Record, RecordDecrypter, RecordEncrypter, make_tls13_aad},
    },
    enums::{ContentType, ProtocolVersion},
    error::ApiMisuse,
    pki_types::FipsStatus,
};

fn ours() -> CryptoProvider {
    rustls_fastgcm::with(base())
}

fn tls13(provider: &CryptoProvider, id: CipherSuite) -> &'static Tls13CipherSuite {
    provider.tls13_cipher_suites.iter().find(|suite| suite.common.suite == id).unwrap()
}

fn tls12(provider: &CryptoProvider, id: CipherSuite) -> &'static Tls12CipherSuite {
    provider.tls12_cipher_suites.iter().find(|suite| suite.common.suite == id).unwrap()
}

fn key(length: usize) -> AeadKey {
    match length {
        16 => <[u8; 16]>::try_from(bytes(16, 8)).unwrap().into(),
        _ => <[u8; 32]>::try_from(bytes(32, 8)).unwrap().into(),
    }
}

type Ends = (Box<dyn RecordEncrypter>, Box<dyn RecordDecrypter>);

fn ends(provider: &CryptoProvider, id: CipherSuite, length: usize) -> Ends {
    if format!("{id:?}").contains("TLS13") {
        let (aead, iv) = (tls13(provider, id).aead_alg, || <[u8; 12]>::try_from(bytes(12, 9)).unwrap().into());
        assert_eq!((aead.key_len(), aead.iv_len()), (length, 12));
        (aead.encrypter(key(length), iv()), aead.decrypter(key(length), iv()))
    } else {
        let (aead, salt) = (tls12(provider, id).aead_alg, bytes(4, 10));
        let shape = aead.key_block_shape();
        assert_eq!((shape.enc_key_len, shape.fixed_iv_len, shape.explicit_nonce_len), (length, 4, 8));
        (aead.encrypter(key(length), &salt, &bytes(8, 11)), aead.decrypter(key(length), &salt))
    }
}

const VERSION: EncodableVersion = EncodableVersion::Legacy(ProtocolVersion::TLSv1_2);

/// Record by record the bytes are the other provider's, in one chunk or in four; what lies behind the record stays, and so does all if there is no room.
#[test]
fn records_agree() {
    let mut records = 0;
    for (id, key) in crate::support::SUITES {
        let [(mut seal, mut open), (mut their_seal, mut their_open)] = [ours(), base()].map(|provider| ends(&provider, id, key));
        let text = bytes(1 << 14, 12);
        for (seq, length) in (0..=600).chain([1400, 4096, 8000, 12287, 12288, 16000, 16383, 16384]).enumerate() {
            let seq = if length == 600 { u64::MAX } else { seq as u64 };
            let text = &text[text.len() - length..];
            let chunks: Vec<&[u8]> = text.chunks(1 + length / 3).collect();
            for payload in [OutboundPlain::from(text), OutboundPlain::new(&chunks)] {
                let record = || Record::new(ContentType::ApplicationData, VERSION, payload.clone());
                let needed = seal.encrypted_payload_len(length);
                assert_eq!(needed, their_seal.encrypted_payload_len(length));
                let mut short = vec![0xee; needed - 1];
                let error = seal.encrypt(record(), seq, &mut short).map(drop);
                assert_eq!(error, Err(ApiMisuse::EncryptBufferTooSmall { required: needed, provided: needed - 1 }.into()));
                assert!(short.iter().all(|byte| *byte == 0xee));
                let [sealed, theirs] = [&mut seal, &mut their_seal].map(|seal| {
                    let mut out = vec![0xee; needed + 9];
                    let record = seal.encrypt(record(), seq, &mut out).unwrap();
                    assert_eq!((record.typ, record.payload.len()), (ContentType::ApplicationData, needed));
                    assert_eq!(out[needed..], [0xee; 9]);
                    out
                });
                assert!(sealed == theirs, "{id:?}, {length}");
                for open in [&mut open, &mut their_open] {
                    let mut sealed = sealed[..needed].to_vec();
                    let opened = open.decrypt(Record::new(ContentType::ApplicationData, VERSION, InboundOpaque(&mut sealed)), seq).unwrap();
                    assert_eq!((opened.typ, opened.payload), (ContentType::ApplicationData, text));
                }
                records += 1;
            }
        }
    }
    passed("records_agree", records, 6 * 609 * 2);
}

/// What a peer may send, and no rustls sends: padding, and records that are too long.
#[test]
fn padding_and_long_records() {
    let provider = ours();
    let mut open = tls13(&provider, CipherSuite::TLS13_AES_256_GCM_SHA384).aead_alg.decrypter([7; 32].into(), [0; 12].into());
    let key = fastgcm::Key::aes256(&[7; 32]);
    let typ = ContentType::ApplicationData;
    let mut read = |text: &[u8]| {
        let mut record = [text, &[0; 16]].concat();
        let aad = make_tls13_aad(typ, ProtocolVersion::TLSv1_2, record.len());
        key.seal_appended([0; 12], &aad, &mut record).unwrap();
        let opened = open.decrypt(Record::new(typ, VERSION, InboundOpaque(&mut record)), 0);
        opened.map(|record| (record.typ, record.payload.to_vec()))
    };
    for padding in 0..=300 {
        let padded = [&b"text\x17"[..], &vec![0; padding]].concat();
        assert_eq!(read(&padded), Ok((typ, b"text".to_vec())));
    }
    assert!(read(&[0; 40]).is_err(), "no type");
    assert!(read(&[]).is_err(), "not even a type");
    let longest = [vec![1; 1 << 14], vec![0x17]].concat();
    assert_eq!(read(&longest).unwrap().1.len(), 1 << 14);
    assert_eq!(read(&[&longest[..], &[0]].concat()), Err(Error::PeerSentOversizedRecord));
    let suite = tls12(&provider, CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384);
    let mut open = suite.aead_alg.decrypter([7; 32].into(), &[0; 4]);
    let mut record = vec![0; 8 + (1 << 14) + 1 + 16];
    let opened = open.decrypt(Record::new(typ, VERSION, InboundOpaque(&mut record)), 0);
    assert_eq!(opened.err(), Some(Error::PeerSentOversizedRecord));
    passed("padding_and_long_records", 301 + 5, 306);
}

#[test]
fn only_the_cipher_changes() {
    let (theirs, ours) = (base(), ours());
    // However often it is called, and on what it made itself.
    let again = rustls_fastgcm::with(rustls_fastgcm::with(base()));
    assert_eq!(ours.fips(), FipsStatus::Unvalidated);
    let mut changed = 0;
    macro_rules! compare {
        ($suites:ident) => {
            assert_eq!(theirs.$suites.len(), ours.$suites.len());
            for ((theirs, ours), again) in theirs.$suites.iter().zip(ours.$suites.iter()).zip(again.$suites.iter()) {
                assert_eq!(theirs.common.suite, ours.common.suite);
                assert!(std::ptr::eq(*ours, *again));
                let is_gcm = format!("{:?}", ours.common.suite).contains("GCM");
                assert_eq!(ours.common.confidentiality_limit, if is_gcm { 1 << 24 } else { u64::MAX });
                assert_eq!(std::ptr::eq(*theirs, *ours), !is_gcm);
                changed += usize::from(is_gcm);
            }
        };
    }
    compare!(tls13_cipher_suites);
    compare!(tls12_cipher_suites);
    passed("only_the_cipher_changes", changed, 6);
}

/// No size wraps, and a record that is refused, in the middle of a connection, leaves nothing: the one behind it opens, and is sealed as without it.
#[test]
fn sizes_and_errors_in_the_middle() {
    let mut calls = 0;
    for (id, key) in crate::support::SUITES {
        let (mut seal, mut open) = ends(&ours(), id, key);
        for size in [1usize << 31, 1 << 32, 1 << 63].into_iter().flat_map(|at| at - 40..=at + 40).chain(usize::MAX - 80..=usize::MAX) {
            assert!(seal.encrypted_payload_len(size) >= size, "{size} wraps");
            calls += 1;
        }
        let text = bytes(50, 3);
        let record = || Record::new(ContentType::ApplicationData, VERSION, OutboundPlain::from(&text[..]));
        let needed = seal.encrypted_payload_len(50);
        for seq in 0..4 {
            let mut sealed = vec![0; needed];
            seal.encrypt(record(), seq, &mut sealed).unwrap();
            let mut read = |mut record: Vec<u8>| {
                let payload = InboundOpaque(&mut record);
                open.decrypt(Record::new(ContentType::ApplicationData, VERSION, payload), seq).map(|record| record.payload.to_vec())
            };
            for at in 0..needed {
                let mut forged = sealed.clone();
                forged[at] ^= 1;
                assert_eq!(read(forged), Err(Error::DecryptError));
                assert_eq!(read(sealed[..at].to_vec()), Err(Error::DecryptError));
                assert!(seal.encrypt(record(), seq, &mut vec![0; at]).is_err());
                assert_eq!(read(sealed.clone()).as_ref(), Ok(&text));
                calls += 3;
            }
            let mut again = vec![0; needed];
            seal.encrypt(record(), seq, &mut again).unwrap();
            assert_eq!(again, sealed);
        }
    }
    passed("sizes_and_errors_in_the_middle", calls, 6 * 4 * 81 + 3 * 4 * (2 * 67 + 4 * 74));
}

//! How many bytes of a record are copied. rustls 0.24 hands its text and the buffer for the record to the cipher, and a copy between them would be seen as
//! bytes of the buffer that are written twice. Each instruction is asked for what it writes there.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "../../../../crates/fastgcm/tests/support/allocator.rs"]
mod allocator;
#[path = "../../../../crates/fastgcm/tests/constant_time/trace.rs"]
#[allow(dead_code)]
mod trace;

use rustls::{
    crypto::{
        CipherSuite, CryptoProvider,
        cipher::{EncodableVersion, OutboundPlain, Record, RecordEncrypter},
    },
    enums::{ContentType, ProtocolVersion},
};
use trace::Tracer;

struct Call<'a> {
    encrypter: Box<dyn RecordEncrypter>,
    text: OutboundPlain<'a>,
    record: &'a mut [u8],
}

impl Call<'_> {
    extern "sysv64" fn perform(&mut self) {
        let version = EncodableVersion::Legacy(ProtocolVersion::TLSv1_2);
        let record = Record::new(ContentType::ApplicationData, version, self.text.clone());
        self.encrypter.encrypt(record, 7, self.record).expect("a record");
    }
}

/// Bytes that are written to the record's buffer, for each byte of the record in hundredths.
fn written(provider: &CryptoProvider, text: OutboundPlain<'_>) -> u64 {
    let id = CipherSuite::TLS13_AES_256_GCM_SHA384;
    let suite = provider.tls13_cipher_suites.iter().find(|suite| suite.common.suite == id).unwrap();
    let encrypter = suite.aead_alg.encrypter([7; 32].into(), [0; 12].into());
    let mut record = vec![0; encrypter.encrypted_payload_len(text.len())];
    let watched = record.as_ptr_range();
    let mut call = Call { encrypter, text, record: &mut record };
    let mut tracer = Tracer::default();
    tracer.watched = watched.start.addr() as u64..watched.end.addr() as u64;
    _ = tracer.trace(&mut call, Call::perform); // it also says what is not meant here: divisions
    tracer.written * 100 / record.len() as u64
}

#[test]
fn no_byte_of_a_long_record_is_copied() {
    let (ours, theirs) = (rustls_fastgcm::with(rustls_aws_lc_rs::DEFAULT_PROVIDER), rustls_aws_lc_rs::DEFAULT_PROVIDER);
    let text = vec![0x61; 16384];
    let chunks: Vec<&[u8]> = text.chunks(3000).collect();
    let mut told = 0;
    for (name, provider, payload, times) in [
        ("one chunk", &ours, OutboundPlain::from(&text), 100..=102),
        ("six chunks", &ours, OutboundPlain::new(&chunks), 100..=105),
        ("1400 bytes", &ours, OutboundPlain::from(&text[..1400]), 195..=215),
        ("AWS-LC, six chunks", &theirs, OutboundPlain::new(&chunks), 195..=215),
    ] {
        let written = written(provider, payload);
        println!("{name}: each byte of the record is written {}.{:02} times", written / 100, written % 100);
        assert!(times.contains(&written), "{name}: {written}");
        told += 1;
    }
    println!("aws-lc-0.24::copies ok {told}");
}

//! Processor time of records and packets: rustls over fastgcm, ring and AWS-LC, sample by sample in turn. Prints the table of the
//! README: picoseconds a byte, best and median.

use rustix::time::{ClockId, clock_gettime};
use rustls::{
    CipherSuite, ContentType, ProtocolVersion, Side,
    crypto::{
        CryptoProvider, aws_lc_rs,
        cipher::{InboundOpaqueMessage, OutboundPlainMessage},
        ring,
    },
    quic::Version,
};
use std::hint::black_box;

/// Samples of each, of which the best and the middle one are told.
const SAMPLES: usize = 41;

/// Bytes of a sample.
const BYTES: usize = 2 << 20;

/// Nanoseconds that this thread has run.
fn now() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    (time.tv_sec * 1_000_000_000 + time.tv_nsec) as u64
}

/// What takes a sample of sealing and one of opening: nanoseconds.
type Sampler = Box<dyn FnMut() -> [u64; 2]>;

/// What is measured, and of how many bytes.
type Case = (&'static str, fn(&CryptoProvider, usize) -> Sampler, usize);

/// Records of TLS 1.3 with AES-256.
fn records(provider: &CryptoProvider, length: usize) -> Sampler {
    let is_it = |suite: &&rustls::SupportedCipherSuite| suite.suite() == CipherSuite::TLS13_AES_256_GCM_SHA384;
    let aead = provider.cipher_suites.iter().find(is_it).and_then(|suite| suite.tls13()).expect("the suite").aead_alg;
    let text = vec![0x61; length];
    Box::new(move || {
        let encrypter = || aead.encrypter([7; 32].into(), [1; 12].into());
        let (typ, version) = (ContentType::ApplicationData, ProtocolVersion::TLSv1_2);
        let message = || OutboundPlainMessage { typ, version, payload: black_box(&text[..]).into() };
        let (count, mut seal) = ((BYTES / length) as u64, encrypter());
        let begun = now();
        for seq in 0..count {
            black_box(seal.encrypt(message(), seq).expect("a record"));
        }
        let between = now();
        let (mut seal, mut open) = (encrypter(), aead.decrypter([7; 32].into(), [1; 12].into()));
        let mut records: Vec<Vec<u8>> = (0..count).map(|seq| seal.encrypt(message(), seq).expect("a record").encode()).collect();
        let opening = now();
        for (seq, record) in records.iter_mut().enumerate() {
            let inbound = InboundOpaqueMessage::new(typ, version, &mut record[5..]);
            black_box(open.decrypt(inbound, seq as u64).expect("a text").payload.len());
        }
        [between - begun, now() - opening]
    })
}

/// Packets of QUIC with AES-128.
fn packets(provider: &CryptoProvider, length: usize) -> Sampler {
    let is_it = |suite: &&rustls::SupportedCipherSuite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256;
    let suite = provider.cipher_suites.iter().find(is_it).and_then(|suite| suite.tls13()).and_then(|suite| suite.quic_suite());
    let suite = suite.expect("a suite of QUIC");
    let mut memory: Vec<Vec<u8>> = vec![vec![0x61; length + 16]; BYTES / length];
    Box::new(move || {
        let [client, server] = [Side::Client, Side::Server].map(|side| suite.keys(b"connection", side, Version::V1));
        let begun = now();
        for (number, packet) in memory.iter_mut().enumerate() {
            let (text, tag) = packet.split_at_mut(length);
            let (mut first, mut short) = (0x43, (number as u32).to_be_bytes());
            tag.copy_from_slice(client.local.packet.encrypt_in_place(number as u64, &[0x43; 13], text).expect("a packet").as_ref());
            client.local.header.encrypt_in_place(&text[..16], &mut first, &mut short).expect("a header");
            black_box((first, short));
        }
        let between = now();
        for (number, packet) in memory.iter_mut().enumerate() {
            let (mut first, mut short) = (0x43, (number as u32).to_be_bytes());
            server.remote.header.decrypt_in_place(&packet[..16], &mut first, &mut short).expect("a header");
            black_box((first, short));
            black_box(server.remote.packet.decrypt_in_place(number as u64, &[0x43; 13], packet).expect("a text").len());
        }
        [between - begun, now() - between]
    })
}

fn main() {
    let names = ["fastgcm", "ring", "AWS-LC"];
    let providers = [rustls_fastgcm::with(ring::default_provider()), ring::default_provider(), aws_lc_rs::default_provider()];
    println!("| | | {} | best, of ring's | best, of AWS-LC's |", names.join(" | "));
    println!("|---|---|---|---|---|---|---|");
    let cases: [Case; 4] = [
        ("records of 16 KiB", records, 16384),
        ("records of 1 KiB", records, 1024),
        ("records of 64 bytes", records, 64),
        ("packets of 1200 bytes", packets, 1200),
    ];
    for (what, sampler, length) in cases {
        let mut samplers = providers.each_ref().map(|provider| sampler(provider, length));
        let mut times: [[Vec<u64>; 3]; 2] = Default::default();
        for _ in 0..SAMPLES {
            for (i, sample) in samplers.iter_mut().enumerate() {
                let [seal, open] = sample();
                times[0][i].push(seal);
                times[1][i].push(open);
            }
        }
        let bytes = (BYTES / length * length) as u64;
        for (way, times) in ["seal", "open"].iter().zip(times) {
            let told = times.map(|mut of| {
                of.sort_unstable();
                [of[0], of[SAMPLES / 2]].map(|time| time * 1000 / bytes)
            });
            let cells = told.map(|[best, median]| format!("{best}, {median}")).join(" | ");
            let ratio = |of: usize| told[0][0] as f64 / told[of][0] as f64;
            println!("| {what} | {way} | {cells} | {:.2} | {:.2} |", ratio(1), ratio(2));
        }
    }
}

//! Calls of fastgcm that are more than one message under a ready key, each beside what one does with a rival: in one process, in turn, after all have
//! given the same bytes. Prints tables in Markdown.
//!
//! `verbs` measures all of one core, `verbs threads` the threads.

mod ipsec;

use aes_gcm::{
    Aes128Gcm, KeyInit,
    aead::{AeadInOut, inout::InOutBuf},
};
use fastgcm::{AesGcmSiv, Key, Packet, Tag, Xaes256Gcm, seal_once};
use fastgcm_measure::{Case, Contender, Machine, Sampler};
use fastgcm_protocols::{esp, quic};
use ipsec::Ipsec;
use openssl::{
    cipher::Cipher,
    cipher_ctx::{CipherCtx, CipherCtxRef},
};
use std::{cell::RefCell, time::Duration};

/// Seals what is in the first buffer to the second, which ends with the tags.
type Call<'a> = Box<dyn FnMut(&[u8], &mut [u8]) + 'a>;

const KEY: [u8; 16] = [7; 16];
const KEY32: [u8; 32] = [7; 32];
const NONCE: [u8; 12] = [1; 12];
const AAD: &[u8] = b"authentic 12";

/// One row: all must give the same; then they are measured, and told beside the first.
fn row(name: &str, bytes: usize, tags: usize, calls: Vec<(&str, Call<'_>)>) {
    measure(name, bytes, tags, calls, &Sampler::default());
}

fn measure(name: &str, bytes: usize, tags: usize, mut calls: Vec<(&str, Call<'_>)>, sampler: &Sampler) {
    let text: Vec<u8> = (0..bytes).map(|i| (i * 7) as u8).collect();
    let mut expected = Vec::new();
    for (who, call) in &mut calls {
        let mut out = vec![0; bytes + tags];
        call(&text, &mut out);
        assert!(expected.is_empty() || out == expected, "{name}: {who} seals something else");
        expected = out;
    }
    let out = RefCell::new(expected);
    let (text, out) = (&text, &out);
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for (who, mut call) in calls {
        contenders.push(Contender::new(who, move || call(text, &mut out.borrow_mut())));
    }
    let measured = sampler.run(Case::of_bytes("verbs", bytes as u64), &mut contenders, &mut |_| ());
    let (ours, others) = measured.contenders.split_first().expect("ours is the first");
    print!("| {name} | {:.0} |", ours.best_ns);
    for other in others {
        print!(" {} {:.2} ({:.2}) |", other.contender, other.best_ns / ours.best_ns, ours.times_faster_than(other));
    }
    println!();
}

fn group(title: &str) {
    println!("\n## {title}\n\n| | fastgcm, ns | times as long |\n|---|--:|---|");
}

fn openssl(cipher: &str, key: &[u8]) -> CipherCtx {
    let cipher = Cipher::fetch(None, cipher, None).expect("OpenSSL has it");
    let mut context = CipherCtx::new().expect("memory");
    context.encrypt_init(Some(&cipher), Some(key), Some(&NONCE)).expect("a key");
    context
}

fn openssl_seal<'a>(
    context: &mut CipherCtxRef,
    nonce: &[u8; 12],
    aad: &[u8],
    from: impl IntoIterator<Item = &'a [u8]>,
    to: &mut [u8],
    tag: &mut [u8],
) {
    context.encrypt_init(None, None, Some(nonce)).expect("a nonce");
    context.cipher_update(aad, None).expect("AAD");
    let mut at = 0;
    for piece in from {
        at += context.cipher_update(piece, Some(&mut to[at..])).expect("text");
    }
    context.cipher_final(&mut []).expect("the end");
    context.tag(tag).expect("a tag");
}

fn rust_crypto<A: AeadInOut>(key: &A, nonce: &[u8], aad: &[u8], from: &[u8], to: &mut [u8], tag: &mut [u8]) {
    let nonce = nonce.try_into().expect("its length");
    let text = InOutBuf::new(from, to).expect("one length");
    tag.copy_from_slice(&key.encrypt_inout_detached(nonce, aad, text).expect("not too long"));
}

fn nonces(n: usize) -> Vec<[u8; 12]> {
    (0..n as u32).map(|i| [[5; 8].as_slice(), &i.to_be_bytes()].concat().try_into().expect("12 bytes")).collect()
}

/// One call for each message of these lengths.
fn each(
    lengths: &[u64],
    nonces: &[[u8; 12]],
    text: &[u8],
    out: &mut [u8],
    mut seal: impl FnMut(&[u8; 12], &[u8], &mut [u8], &mut [u8; 16]),
) {
    let (mut to, tags) = out.split_at_mut(text.len());
    let mut from = text;
    for ((length, nonce), tag) in lengths.iter().zip(nonces).zip(tags.as_chunks_mut::<16>().0) {
        let (this, rest) = from.split_at(*length as usize);
        let (written, behind) = to.split_at_mut(*length as usize);
        (from, to) = (rest, behind);
        seal(nonce, this, written, tag);
    }
}

fn batches(key: &Key, ipsec: &Ipsec, peer: &Aes128Gcm) {
    const PACKETS: usize = 32;
    group("A batch of 32 packets (`Key::seal_batch`, packets described anew each time), AES-128, 12 bytes of AAD");
    for size in [16, 64, 128, 256, 1420, 0] {
        let lengths: Vec<u64> = (0..PACKETS).map(|i| if size == 0 { [64, 576, 1420][i % 3] } else { size }).collect();
        let (lengths, all) = (&lengths[..], lengths.iter().sum::<u64>() as usize);
        let nonces = &nonces(PACKETS)[..];
        let mut context = openssl("AES-128-GCM", &KEY);
        let name = if size == 0 { "64, 576, 1420 B in turn".into() } else { format!("{size} B") };
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(|text, out| {
                    let mut packets = Vec::with_capacity(PACKETS);
                    let (mut to, tags) = out.split_at_mut(text.len());
                    let mut from = text;
                    for (length, nonce) in lengths.iter().zip(nonces) {
                        let (this, rest) = from.split_at(*length as usize);
                        let (written, behind) = to.split_at_mut(*length as usize);
                        (from, to) = (rest, behind);
                        packets.push(Packet::to(*nonce, AAD, this, written, Tag([0; 16])));
                    }
                    key.seal_batch(&mut packets).expect("sealed");
                    tags.as_chunks_mut().0.iter_mut().zip(&packets).for_each(|(tag, packet)| *tag = packet.tag.0);
                }),
            ),
            (
                "fastgcm, a loop",
                Box::new(|text, out| {
                    each(lengths, nonces, text, out, |nonce, from, to, tag| {
                        *tag = key.seal_detached_to(*nonce, AAD, from, to).expect("sealed").0
                    })
                }),
            ),
            (
                "ipsec-mb, a burst",
                Box::new(|text, out| {
                    let (to, tags) = out.split_at_mut(text.len());
                    ipsec.burst(lengths, nonces, AAD, text, to, tags);
                }),
            ),
            (
                "ipsec-mb, a loop",
                Box::new(|text, out| each(lengths, nonces, text, out, |nonce, from, to, tag| ipsec.seal(nonce, AAD, from, to, tag))),
            ),
            (
                "OpenSSL, a loop",
                Box::new(move |text, out| {
                    each(lengths, nonces, text, out, |nonce, from, to, tag| openssl_seal(&mut context, nonce, AAD, [from], to, tag))
                }),
            ),
            (
                "RustCrypto, a loop",
                Box::new(|text, out| each(lengths, nonces, text, out, |nonce, from, to, tag| rust_crypto(peer, nonce, AAD, from, to, tag))),
            ),
        ];
        row(&name, all, 16 * PACKETS, calls);
    }
}

fn pieces(key: &Key, ipsec: &Ipsec) {
    group("A message in pieces (`Sealer::seal_to`), AES-128");
    for (bytes, piece) in [(1 << 20, 64 << 10), (1 << 20, 1 << 10), (4096, 16)] {
        let mut context = openssl("AES-128-GCM", &KEY);
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    let mut sealer = key.sealer(NONCE);
                    sealer.aad(AAD).expect("AAD");
                    let mut sealer = sealer.text();
                    text.chunks(piece).zip(to.chunks_mut(piece)).for_each(|(from, to)| sealer.seal_to(from, to).expect("a piece"));
                    tag.copy_from_slice(&sealer.finish().0);
                }),
            ),
            (
                "ipsec-mb, update",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    ipsec.begin(&NONCE, AAD);
                    text.chunks(piece).zip(to.chunks_mut(piece)).for_each(|(from, to)| ipsec.update(from, to));
                    ipsec.finish(tag.as_mut_array().expect("16 bytes"));
                }),
            ),
            (
                "OpenSSL, update",
                Box::new(move |text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    openssl_seal(&mut context, &NONCE, AAD, text.chunks(piece), to, tag);
                }),
            ),
        ];
        row(&format!("{bytes} B in pieces of {piece}"), bytes, 16, calls);
    }
}

fn gathered(key: &Key, ipsec: &Ipsec) {
    group("Text gathered from four chunks (`Key::seal_gathered`), AES-128");
    for bytes in [1420, 16 << 10] {
        let chunks = |text: &'_ [u8]| -> [usize; 3] { [text.len() / 8, text.len() / 3, text.len() - 100] };
        let mut context = openssl("AES-128-GCM", &KEY);
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(move |text, out| {
                    let ([a, b, c], (to, tag)) = (chunks(text), out.split_at_mut(text.len()));
                    let sealed = key.seal_gathered(NONCE, &[AAD], &[&text[..a], &text[a..b], &text[b..c]], &text[c..], to);
                    tag.copy_from_slice(&sealed.expect("sealed").0);
                }),
            ),
            (
                "fastgcm, copied to its place and sealed there",
                Box::new(move |text, out| {
                    let ([a, b, c], (to, tag)) = (chunks(text), out.split_at_mut(text.len()));
                    [0..a, a..b, b..c, c..text.len()].into_iter().for_each(|chunk| to[chunk.clone()].copy_from_slice(&text[chunk]));
                    tag.copy_from_slice(&key.seal(NONCE, AAD, to).expect("sealed").0);
                }),
            ),
            (
                "fastgcm, `concat` and sealed",
                Box::new(move |text, out| {
                    let ([a, b, c], (to, tag)) = (chunks(text), out.split_at_mut(text.len()));
                    let together = [&text[..a], &text[a..b], &text[b..c], &text[c..]].concat();
                    tag.copy_from_slice(&key.seal_detached_to(NONCE, AAD, &together, to).expect("sealed").0);
                }),
            ),
            (
                "ipsec-mb, copied to its place and sealed there",
                Box::new(move |text, out| {
                    let ([a, b, c], (to, tag)) = (chunks(text), out.split_at_mut(text.len()));
                    [0..a, a..b, b..c, c..text.len()].into_iter().for_each(|chunk| to[chunk.clone()].copy_from_slice(&text[chunk]));
                    ipsec.seal_in_place(&NONCE, AAD, to, tag.as_mut_array().expect("16 bytes"));
                }),
            ),
            (
                "OpenSSL, four updates",
                Box::new(move |text, out| {
                    let ([a, b, c], (to, tag)) = (chunks(text), out.split_at_mut(text.len()));
                    openssl_seal(&mut context, &NONCE, AAD, [&text[..a], &text[a..b], &text[b..c], &text[c..]], to, tag);
                }),
            ),
        ];
        row(&format!("{bytes} B"), bytes, 16, calls);
    }
}

/// ESP and QUIC: the packet, header and all, is copied, and sealed in place.
fn packets(key: &Key, ipsec: &Ipsec) {
    group("A packet of ESP (RFC 4106) in place, AES-128");
    let sa = esp::Sa::<16>::new(&[&KEY[..], &[0; 4]].concat(), esp::Mode::Gcm).expect("a key");
    for bytes in [64, 1420] {
        let nonce = |packet: &[u8]| -> [u8; 12] {
            let mut nonce = [0; 12];
            nonce[4..].copy_from_slice(&packet[8..16]);
            nonce
        };
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(|text, out| {
                    out[..text.len()].copy_from_slice(text);
                    sa.seal(out, None).expect("sealed");
                }),
            ),
            (
                "fastgcm, `Key::seal`",
                Box::new(move |text, out| {
                    out[..text.len()].copy_from_slice(text);
                    let (nonce, (header, rest)) = (nonce(out), out.split_at_mut(16));
                    let (payload, tag) = rest.split_at_mut(text.len() - 16);
                    tag.copy_from_slice(&key.seal(nonce, &header[..8], payload).expect("sealed").0);
                }),
            ),
            (
                "ipsec-mb",
                Box::new(move |text, out| {
                    out[..text.len()].copy_from_slice(text);
                    let (nonce, (header, rest)) = (nonce(out), out.split_at_mut(16));
                    let (payload, tag) = rest.split_at_mut(text.len() - 16);
                    ipsec.seal_in_place(&nonce, &header[..8], payload, tag.as_mut_array().expect("16 bytes"));
                }),
            ),
        ];
        row(&format!("{bytes} B of payload"), 16 + bytes, 16, calls);
    }
    group("A packet of QUIC (RFC 9001) in place, with its header's protection, AES-128");
    let keys = quic::Keys::new(&KEY, &NONCE, &[8; 16]).expect("keys");
    for bytes in [64, 1200] {
        let mut context = openssl("AES-128-GCM", &KEY);
        let block = Cipher::fetch(None, "AES-128-ECB", None).expect("OpenSSL has it");
        let mut header_key = CipherCtx::new().expect("memory");
        header_key.encrypt_init(Some(&block), Some(&[8; 16]), None).expect("a key");
        // One byte, an ID of eight, and a packet number of four.
        let head = |text: &[u8], out: &mut [u8]| {
            out[..text.len()].copy_from_slice(text);
            out[0] = 0x43;
            out[9..13].copy_from_slice(&9_u32.to_be_bytes());
        };
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(|text, out| {
                    head(text, out);
                    keys.seal(out, 9, 9).expect("sealed");
                }),
            ),
            (
                "OpenSSL, two contexts",
                Box::new(move |text, out| {
                    head(text, out);
                    let mut nonce = NONCE;
                    nonce[11] ^= 9;
                    let (header, rest) = out.split_at_mut(13);
                    let (payload, tag) = rest.split_at_mut(text.len() - 13);
                    context.encrypt_init(None, None, Some(&nonce)).expect("a nonce");
                    context.cipher_update(header, None).expect("AAD");
                    context.cipher_update_inplace(payload, text.len() - 13).expect("text");
                    context.cipher_final(&mut []).expect("the end");
                    context.tag(tag).expect("a tag");
                    let mut mask = [0; 32];
                    header_key.cipher_update(&out[13..29], Some(&mut mask)).expect("a mask");
                    out[0] ^= mask[0] & 0x1f;
                    out[9..13].iter_mut().zip(&mask[1..]).for_each(|(byte, mask)| *byte ^= mask);
                }),
            ),
        ];
        row(&format!("{bytes} B"), 13 + bytes, 16, calls);
    }
}

fn other_ciphers() {
    group("XAES-256-GCM");
    let (xaes, theirs) = (Xaes256Gcm::new(&KEY32), xaes_256_gcm::Xaes256Gcm::new(&KEY32.into()));
    for bytes in [64, 1420, 16 << 10] {
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    to.copy_from_slice(text);
                    tag.copy_from_slice(&xaes.seal(&[1; 24], AAD, to).expect("sealed").0);
                }),
            ),
            (
                "xaes-256-gcm",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    rust_crypto(&theirs, &[1; 24], AAD, text, to, tag);
                }),
            ),
        ];
        row(&format!("{bytes} B"), bytes, 16, calls);
    }
    group("AES-256-GCM-SIV");
    let (siv, theirs) = (AesGcmSiv::aes256(&KEY32), aes_gcm_siv::Aes256GcmSiv::new(&KEY32.into()));
    for bytes in [64, 1 << 10, 16 << 10] {
        let mut context = openssl("AES-256-GCM-SIV", &KEY32);
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    tag.copy_from_slice(&siv.seal_detached_to(&NONCE, AAD, text, to).expect("sealed").0);
                }),
            ),
            (
                "aes-gcm-siv",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    rust_crypto(&theirs, &NONCE, AAD, text, to, tag);
                }),
            ),
            (
                "OpenSSL",
                Box::new(move |text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    openssl_seal(&mut context, &NONCE, AAD, [text], to, tag);
                }),
            ),
        ];
        row(&format!("{bytes} B"), bytes, 16, calls);
    }
}

fn fresh_keys() {
    group("A fresh key with one message (`seal_once`), AES-128");
    let ipsec = Ipsec::new(&KEY);
    for bytes in [16, 256, 1420, 16 << 10] {
        let cipher = Cipher::fetch(None, "AES-128-GCM", None).expect("OpenSSL has it");
        let mut context = CipherCtx::new().expect("memory");
        let calls: Vec<(&str, Call<'_>)> = vec![
            (
                "",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    to.copy_from_slice(text);
                    tag.copy_from_slice(&seal_once(&KEY, NONCE, AAD, to).expect("sealed").0);
                }),
            ),
            (
                "fastgcm, `Key::aes128` and `seal`",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    to.copy_from_slice(text);
                    tag.copy_from_slice(&Key::aes128(&KEY).seal(NONCE, AAD, to).expect("sealed").0);
                }),
            ),
            (
                "ipsec-mb",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    ipsec.rekey(&KEY);
                    ipsec.seal(&NONCE, AAD, text, to, tag.as_mut_array().expect("16 bytes"));
                }),
            ),
            (
                "OpenSSL",
                Box::new(move |text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    context.encrypt_init(Some(&cipher), Some(&KEY), Some(&NONCE)).expect("a key");
                    openssl_seal(&mut context, &NONCE, AAD, [text], to, tag);
                }),
            ),
            (
                "RustCrypto",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    rust_crypto(&Aes128Gcm::new(&KEY.into()), &NONCE, AAD, text, to, tag);
                }),
            ),
        ];
        row(&format!("{bytes} B"), bytes, 16, calls);
    }
}

/// The same message by one thread, and by two.
fn threads(key: &Key) {
    group("Threads (`Key::parallel`), AES-128, from one buffer to another");
    let [one, two] = [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"));
    for kib in [64, 128, 256, 384, 512, 768, 1024, 2048, 4096, 16 << 10, 64 << 10] {
        let parallel = |text: &[u8], out: &mut [u8]| {
            let (to, tag) = out.split_at_mut(text.len());
            tag.copy_from_slice(&key.parallel().seal_detached_to(NONCE, AAD, text, to).expect("sealed").0);
        };
        let calls: Vec<(&str, Call<'_>)> = vec![
            ("two", Box::new(|text, out| two.install(|| parallel(text, out)))),
            ("one thread of a pool", Box::new(|text, out| one.install(|| parallel(text, out)))),
            (
                "`Key::seal_detached_to`",
                Box::new(|text, out| {
                    let (to, tag) = out.split_at_mut(text.len());
                    tag.copy_from_slice(&key.seal_detached_to(NONCE, AAD, text, to).expect("sealed").0);
                }),
            ),
        ];
        let sampler = Sampler { rounds: 21..=301, budget: Duration::from_secs(3), ..Sampler::default() };
        measure(&format!("{kib} KiB, two threads"), kib << 10, 16, calls, &sampler);
    }
}

fn main() {
    let key = Key::aes128(&KEY);
    println!(
        "{}; {}; {}. Best sample, and in brackets the median of the ratios within a round.",
        Machine::here("").processor,
        key.backend(),
        openssl::version::version()
    );
    if std::env::args().nth(1).as_deref() == Some("threads") {
        return threads(&key);
    }
    let (ipsec, peer) = (Ipsec::new(&KEY), Aes128Gcm::new(&KEY.into()));
    batches(&key, &ipsec, &peer);
    pieces(&key, &ipsec);
    gathered(&key, &ipsec);
    packets(&key, &ipsec);
    other_ciphers();
    fresh_keys();
}

//! QUIC's keys against those of the other provider, and the first packet of RFC 9001.

use crate::{
    base,
    support::{SUITES, Side, bytes, client, open_packet, passed, quic_keys, quic_suite, seal_packet, server},
};
use rustls::{
    crypto::CryptoProvider,
    quic::{Keys, PacketKey, Version},
};

fn ours() -> CryptoProvider {
    rustls_fastgcm::with(base())
}

/// RFC 9001, appendix A.2: the header of a client's first packet.
#[test]
fn rfc_9001() {
    let keys = initial(ours(), Version::V1, Side::Client);
    let sample = [0xd1, 0xb1, 0xc9, 0x8d, 0xd7, 0x68, 0x9f, 0xb8, 0xec, 0x11, 0xd2, 0x42, 0xb1, 0x23, 0xdc, 0x9b];
    let (mut first, mut number) = (0xc3, [0, 0, 0, 2]);
    keys.local.header.encrypt_in_place(&sample, &mut first, &mut number).unwrap();
    assert_eq!((first, number), (0xc0, [0x7b, 0x9a, 0xec, 0x34]));
    keys.local.header.decrypt_in_place(&sample, &mut first, &mut number).unwrap();
    assert_eq!((first, number), (0xc3, [0, 0, 0, 2]));
    passed("quic::rfc_9001", 2, 2);
}

fn initial(provider: CryptoProvider, version: Version, side: Side) -> Keys {
    let id = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
    quic_suite(&provider, SUITES[0].0).keys(&id, side, version)
}

#[test]
fn initial_keys_agree() {
    let mut checked = 0;
    for version in [Version::V1, Version::V2] {
        let (ours, theirs) = (initial(ours(), version, Side::Client), initial(base(), version, Side::Client));
        checked += same(&*ours.local.packet, &*theirs.local.packet) + same(&*ours.remote.packet, &*theirs.remote.packet);
        checked += headers(&ours, &theirs);
    }
    passed("quic::initial_keys_agree", checked, 2 * (2 * 3 * 406 + 256 * 6));
}

/// Packets of each length: their bytes are the same, and each opens the other's.
fn same(ours: &dyn PacketKey, theirs: &dyn PacketKey) -> usize {
    assert_eq!((ours.tag_len(), ours.confidentiality_limit(), ours.integrity_limit()), (16, 1 << 23, 1 << 52));
    assert_eq!((ours.confidentiality_limit(), ours.integrity_limit()), (theirs.confidentiality_limit(), theirs.integrity_limit()));
    let mut checked = 0;
    for length in (0..=400).chain([1199, 1200, 1350, 1452, 65_535]) {
        let (text, header) = (bytes(length, 1), bytes(length % 50, 2));
        for (number, path) in [(length as u64, None), (u64::MAX >> 2, None), (7, Some(0xdead_beef))] {
            let [one, other] = [ours, theirs].map(|key| {
                let mut packet = text.clone();
                let tag = seal_packet(key, path, number, &header, &mut packet).unwrap();
                packet.extend_from_slice(tag.as_ref());
                packet
            });
            assert!(one == other, "{length}");
            let open = |mut packet: Vec<u8>| open_packet(ours, path, number, &header, &mut packet).map(<[u8]>::to_vec);
            let mut forged = other.clone();
            forged[length] ^= 1;
            open(forged).unwrap_err();
            open(other[..length.min(15)].to_vec()).unwrap_err();
            assert!(open(other).unwrap() == text);
            checked += 1;
        }
    }
    checked
}

/// Every first byte, packet numbers of every length; and two that are wrong.
fn headers(ours: &Keys, theirs: &Keys) -> usize {
    let mut checked = 0;
    assert_eq!(ours.local.header.sample_len(), 16);
    for first in 0..=255 {
        let sample = bytes(16, first as u64);
        for length in 1..=4 {
            let number = bytes(length, 3);
            let masked = [ours, theirs].map(|keys| {
                let (mut first, mut number) = (first, number.clone());
                keys.local.header.encrypt_in_place(&sample, &mut first, &mut number).unwrap();
                (first, number)
            });
            assert_eq!(masked[0], masked[1]);
            let unmasked = [ours, theirs].map(|keys| {
                let (mut first, mut number) = masked[0].clone();
                keys.local.header.decrypt_in_place(&sample, &mut first, &mut number).unwrap();
                (first, number)
            });
            assert_eq!(unmasked, [(first, number.clone()), (first, number)]);
            checked += 1;
        }
        let (mut same, mut number) = (first, [1, 2, 3, 4, 5]);
        ours.local.header.encrypt_in_place(&sample[1..], &mut same, &mut number[..4]).unwrap_err();
        ours.local.header.encrypt_in_place(&sample, &mut same, &mut number).unwrap_err();
        assert_eq!((same, number), (first, [1, 2, 3, 4, 5]), "an error changes nothing");
        checked += 2;
    }
    checked
}

/// Handshakes over QUIC with the other provider at the other end, and keys updated three times.
#[test]
fn handshakes() {
    let mut checked = 0;
    for (suite, _) in &SUITES[..2] {
        for (of_client, of_server) in [(ours(), base()), (base(), ours())] {
            let (client, mut server) = (client(of_client, *suite), server(of_server, *suite));
            server.max_early_data_size = u32::MAX; // QUIC has no other
            let [(client_keys, mut of_client), (server_keys, mut of_server)] = quic_keys(client, server);
            checked += opens(&*client_keys.local.packet, &*server_keys.remote.packet);
            checked += opens(&*server_keys.local.packet, &*client_keys.remote.packet);
            for _ in 0..3 {
                let (client, server) = (of_client.next_packet_keys(), of_server.next_packet_keys());
                checked += opens(&*client.local, &*server.remote) + opens(&*server.local, &*client.remote);
            }
        }
    }
    passed("quic::handshakes", checked, 2 * 2 * (2 + 3 * 2) * 20);
}

fn opens(from: &dyn PacketKey, to: &dyn PacketKey) -> usize {
    for number in 0..20 {
        let text = bytes(60 * number as usize, number);
        let mut packet = text.clone();
        let tag = seal_packet(from, None, number, b"header", &mut packet).unwrap();
        packet.extend_from_slice(tag.as_ref());
        assert!(open_packet(to, None, number, b"header", &mut packet).unwrap() == text);
    }
    20
}

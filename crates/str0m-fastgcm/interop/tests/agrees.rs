//! Ours beside the provider that it is made of: the same bytes, and each opens the other's.

use str0m_proto::crypto::{CryptoError, CryptoProvider};

/// Around a block and a turn; packets of audio and video; more than one path may carry.
const LENGTHS: [usize; 18] = [0, 1, 15, 16, 17, 63, 64, 65, 100, 160, 255, 512, 513, 1150, 1200, 1452, 9000, 65_519];

fn theirs() -> CryptoProvider {
    str0m_aws_lc_rs::default_provider()
}

fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

fn failed<T>(result: Result<T, CryptoError>) -> bool {
    matches!(result, Err(CryptoError::Other(_)))
}

macro_rules! suite {
    ($test:ident, $suite:ident, $length:literal) => {
        #[test]
        fn $test() {
            let providers = [str0m_fastgcm::with(theirs()), theirs()];
            let mut checked = 0;
            for (seed, length) in LENGTHS.into_iter().enumerate() {
                let (key, iv) = (bytes($length, seed as u64).try_into().unwrap(), bytes(12, 1).try_into().unwrap());
                // Which direction a cipher is made for changes nothing of ours.
                let mut ours = providers[0].srtp_provider.$suite().create_cipher(key, seed % 2 == 0);
                let mut theirs = providers[1].srtp_provider.$suite().create_cipher(key, true);
                for aad in [12, 16, 20, 72] {
                    let (text, aad) = (bytes(length, 2), bytes(aad, 3));
                    let (mut sealed, mut other) = (vec![0xee; length + 20], vec![0xee; length + 20]);
                    ours.encrypt(&iv, &aad, &text, &mut sealed).unwrap();
                    theirs.encrypt(&iv, &aad, &text, &mut other).unwrap();
                    assert!(sealed == other, "{length}");
                    assert_eq!(sealed[length + 16..], [0xee; 4]);
                    let packet = &sealed[..length + 16];
                    for aads in [&[&aad[..]][..], &[&aad[..8], &aad[8..]], &[&aad[..8], b"", &aad[8..12], &aad[12..]]] {
                        let mut opened = vec![0xee; length + 1];
                        assert_eq!(ours.decrypt(&iv, aads, packet, &mut opened).unwrap(), length);
                        assert!(opened[..length] == text && opened[length] == 0xee);
                        opened.fill(0);
                        assert_eq!(theirs.decrypt(&iv, aads, packet, &mut opened).unwrap(), length);
                        assert!(opened[..length] == text);
                        // A changed tag, byte or AAD: no text.
                        for place in [0, length / 2, length + 15] {
                            let mut forged = packet.to_vec();
                            forged[place] ^= 4;
                            opened.fill(0xee);
                            assert!(failed(ours.decrypt(&iv, aads, &forged, &mut opened)));
                            assert!(opened[..length].iter().all(|byte| *byte == 0));
                        }
                        assert!(failed(ours.decrypt(&iv, &aads[1..], packet, &mut opened)));
                        checked += 1;
                    }
                    // Too short, each of them: nothing is written.
                    let mut output = vec![0xee; length + 15];
                    assert!(failed(ours.encrypt(&iv, &aad, &text, &mut output)));
                    assert!(failed(ours.decrypt(&iv, &[&aad], &packet[..15], &mut output)));
                    assert!(length == 0 || failed(ours.decrypt(&iv, &[&aad], packet, &mut output[..length - 1])));
                    assert!(output.iter().all(|byte| *byte == 0xee));
                }
            }
            assert_eq!(checked, LENGTHS.len() * 4 * 3);
        }
    };
}

suite!(aes_128, aead_aes_128_gcm, 16);
suite!(aes_256, aead_aes_256_gcm, 32);

/// What is not AES-GCM is the other provider's.
#[test]
fn the_rest_is_delegated() {
    let (ours, theirs) = (str0m_fastgcm::with(theirs()), theirs());
    let (srtp, their_srtp) = (ours.srtp_provider, theirs.srtp_provider);
    let [mut one, mut other] = [srtp, their_srtp].map(|srtp| srtp.aes_128_cm_sha1_80().create_cipher([7; 16], true));
    let (mut sealed, mut expected) = ([0; 100], [0; 100]);
    one.encrypt(&[1; 16], &[2; 100], &mut sealed).unwrap();
    other.encrypt(&[1; 16], &[2; 100], &mut expected).unwrap();
    assert_eq!(sealed, expected);
    let (mut round, mut expected) = ([[0; 32]; 2], [[0; 32]; 2]);
    srtp.srtp_aes_128_ecb_round(&[3; 16], &[4; 16], &mut round[0]);
    srtp.srtp_aes_256_ecb_round(&[3; 32], &[4; 16], &mut round[1]);
    their_srtp.srtp_aes_128_ecb_round(&[3; 16], &[4; 16], &mut expected[0]);
    their_srtp.srtp_aes_256_ecb_round(&[3; 32], &[4; 16], &mut expected[1]);
    assert_eq!(round, expected);
    assert_ne!(round[0], round[1]);
    assert!(std::ptr::eq(ours.dtls_provider, theirs.dtls_provider), "and so for what is no part of SRTP");
}

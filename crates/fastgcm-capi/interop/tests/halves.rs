//! Each bit of a tag counts, whatever its length, in each function that is given one; and each byte of a piece is there, whatever its length.

#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;

use fastgcm_capi::{fastgcm_scheme::*, fastgcm_status::*, *};
use fastgcm_capi_interop::functions;
use std::ptr::{null, null_mut};
use suite::passed;

const AAD: [u8; 13] = [2; 13];
const NONCE: [u8; 24] = [3; 24];

/// Opens 40 bytes: its function, the lengths of its tags, and the call.
type Opens<'k> = (&'static str, &'static [usize], &'k dyn Fn(&[u8], &[u8], *mut u8) -> i32);

#[test]
fn every_bit_of_a_tag() {
    let (mut key, mut xaes, mut kc, mut refused) = (null_mut(), null_mut(), null_mut(), 0);
    let (a, n, bytes) = (AAD.as_ptr(), NONCE.as_ptr(), [1; 32]);
    // SAFETY: slices with their lengths.
    unsafe {
        assert_eq!(fastgcm_key_new(&mut key, bytes.as_ptr(), 32, null()), 0);
        for (root, scheme) in [(&mut xaes, FASTGCM_XAES_256_GCM), (&mut kc, FASTGCM_KC_XAES_256_GCM)] {
            assert_eq!(fastgcm_root_key_new(root, scheme as i32, bytes.as_ptr(), 32, null()), 0);
        }
        let opens: &[Opens<'_>] = &[
            ("fastgcm_open", &[4, 8, 12, 13, 14, 15, 16], &|from, tag, to| {
                fastgcm_open(key, n, 12, a, 13, from.as_ptr(), from.len(), tag.as_ptr(), tag.len(), to)
            }),
            ("fastgcm_pieces_verify", &[4, 8, 12, 13, 14, 15, 16], &|from, tag, to| {
                let mut pieces = null_mut();
                assert_eq!(fastgcm_pieces_new(&mut pieces, key, n, 12), 0);
                assert_eq!(fastgcm_pieces_aad(pieces, key, a, 13), 0);
                assert_eq!(fastgcm_pieces_open(pieces, key, from.as_ptr(), from.len(), to), 0);
                let done = fastgcm_pieces_verify(pieces, key, tag.as_ptr(), tag.len());
                fastgcm_pieces_free(pieces);
                done
            }),
            ("fastgcm_open_gathered", &[16], &|from, tag, to| {
                let (aad, text) = (fastgcm_slice { data: a, size: 13 }, fastgcm_slice { data: from.as_ptr(), size: from.len() });
                fastgcm_open_gathered(key, n, 12, &aad, 1, &text, 1, tag.as_ptr(), to, from.len())
            }),
            ("fastgcm_open_batch", &[16], &|from, tag, to| {
                let (nonce, tag) = (*n.cast(), tag.try_into().unwrap());
                let mut packet = fastgcm_packet { nonce, status: -7, aad: a, aad_size: 13, from: from.as_ptr(), to, size: from.len(), tag };
                fastgcm_open_batch(key, &mut packet, 1)
            }),
            ("fastgcm_root_open", &[16, 48], &|from, tag, to| {
                let root = if tag.len() == 16 { xaes } else { kc };
                fastgcm_root_open(root, n, 24, a, 13, from.as_ptr(), from.len(), tag.as_ptr(), tag.len(), to)
            }),
        ];
        let given = functions().into_iter().filter(|(name, arguments)| {
            name.contains("open_batch")
                || arguments.iter().any(|argument| argument.starts_with("const uint8_t") && argument.contains("tag"))
        });
        assert!(given.map(|(name, _)| name).eq([
            "fastgcm_open",
            "fastgcm_open_gathered",
            "fastgcm_open_batch",
            "fastgcm_pieces_verify",
            "fastgcm_root_open"
        ]));
        for (name, lengths, open) in opens {
            for &length in *lengths {
                let (text, mut sealed, mut tag, mut to) = ([5u8; 40], [0u8; 40], vec![0u8; length.max(16)], [0u8; 40]);
                let (t, s, g) = (text.as_ptr(), sealed.as_mut_ptr(), tag.as_mut_ptr());
                let done = match (*name, length) {
                    ("fastgcm_root_open", 16) => fastgcm_root_seal(xaes, n, 24, a, 13, t, 40, s, g, 16),
                    ("fastgcm_root_open", _) => fastgcm_root_seal(kc, n, 24, a, 13, t, 40, s, g, 48),
                    _ => fastgcm_seal(key, n, 12, a, 13, t, 40, s, g),
                };
                tag.truncate(length);
                assert_eq!((done, open(&sealed, &tag, to.as_mut_ptr()), to), (0, 0, text), "{name}");
                for bit in 0..8 * length {
                    tag[bit / 8] ^= 1 << (bit % 8);
                    assert_eq!(open(&sealed, &tag, to.as_mut_ptr()), FASTGCM_UNAUTHENTIC as i32, "{name}: bit {bit} of {length} bytes");
                    tag[bit / 8] ^= 1 << (bit % 8);
                    refused += 1;
                }
            }
        }
        fastgcm_key_free(key);
        [xaes, kc].into_iter().for_each(|root| fastgcm_root_key_free(root));
    }
    passed("capi::halves::every_bit_of_a_tag", refused, 8 * (2 * (4 + 8 + 12 + 13 + 14 + 15 + 16) + 16 + 16 + 16 + 48));
}

/// A message in two pieces, each way, is what it is at once.
#[test]
fn every_byte_of_a_piece() {
    let (mut key, mut pieces, mut checked, n) = (null_mut(), null_mut(), 0, NONCE.as_ptr());
    let text = suite::bytes((1 << 16) + 200, 7);
    // SAFETY: slices with their lengths.
    unsafe {
        assert_eq!(fastgcm_key_new(&mut key, [1; 16].as_ptr(), 16, null()), 0);
        for first in 0..=34 {
            for second in (0..=34).chain([100, (1 << 16) + 77]) {
                let (size, mut tag) = (first + second, [[0; 16]; 2]);
                let mut sealed = vec![0; size];
                assert_eq!(fastgcm_seal(key, n, 12, null(), 0, text.as_ptr(), size, sealed.as_mut_ptr(), tag[0].as_mut_ptr()), 0);
                for (seals, in_place) in [(true, true), (true, false), (false, true), (false, false)] {
                    let (from, wanted) = if seals { (&text[..size], &sealed[..]) } else { (&sealed[..], &text[..size]) };
                    let mut to = if in_place { from.to_vec() } else { vec![0; size] };
                    assert_eq!(fastgcm_pieces_new(&mut pieces, key, n, 12), 0);
                    for range in [0..first, first..size] {
                        let call = if seals { fastgcm_pieces_seal } else { fastgcm_pieces_open };
                        let at = to.as_mut_ptr().add(range.start);
                        let from = if in_place { at.cast_const() } else { from.as_ptr().add(range.start) };
                        assert_eq!(call(pieces, key, from, range.len(), at), 0);
                    }
                    assert_eq!(fastgcm_pieces_finish(pieces, key, tag[1].as_mut_ptr()), 0);
                    fastgcm_pieces_free(pieces);
                    assert!(to == *wanted && tag[0] == tag[1], "{first} and {second} bytes, sealed {seals}, in place {in_place}");
                    checked += 1;
                }
            }
        }
        fastgcm_key_free(key);
    }
    passed("capi::halves::every_byte_of_a_piece", checked, 35 * 37 * 4);
}

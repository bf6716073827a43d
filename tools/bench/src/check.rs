//! Checks that all implementations give identical answers, before any is measured.

use crate::peer::Loaded;

/// Lengths of text around every boundary of implementations: blocks, vectors, and iterations of eight and sixteen vectors.
const LENGTHS: [usize; 21] = [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 200, 255, 256, 300, 500, 512, 1023, 1420, 4095, 4096, 16400];
const AADS: [usize; 7] = [0, 12, 13, 16, 64, 128, 300];

/// Checks that all implementations seal every message to the same bytes, open it, and refuse a wrong tag. Returns the number of answers.
pub(crate) fn all(peers: &[Loaded]) -> Result<usize, String> {
    let bytes: Vec<u8> = (0..20_000u32).map(|i| (i * i / 8) as u8).collect();
    let mut answers = 0;
    for key in [16, 24, 32] {
        for len in LENGTHS {
            for aad in AADS {
                let nonce = [(len + aad) as u8; 12];
                let mut first: Option<(String, Vec<u8>)> = None;
                for peer in peers {
                    let at = |what: &str| format!("{} at {}, AES-{}, {len} bytes, {aad} of AAD: {what}", peer.name, peer.level, key * 8);
                    let answer = peer.answer(&bytes[500..][..key], &nonce, &bytes[7..][..aad], &bytes[..len]);
                    let Some(answer) = answer.map_err(|what| at(&what))? else { continue };
                    match &first {
                        Some((other, expected)) if *expected != answer => {
                            return Err(at(&format!("the answer differs from that of {other}")));
                        }
                        Some(_) => {}
                        None => first = Some((peer.name.clone(), answer)),
                    }
                    answers += 1;
                }
            }
        }
    }
    Ok(answers)
}

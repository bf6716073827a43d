//! F16: of keys, salts and IVs nothing is left where they were dropped.

#[path = "../../fastgcm/tests/support/dropped.rs"]
mod dropped;

use dropped::leaves_nothing;
use fastgcm_protocols::{
    Backend,
    esp::{Mode, Outbound, Sa},
    quic::{HeaderKey, Keys, PacketKey},
    srtp::Session,
    tls::{Opener, Sealer},
};

/// Bytes that differ everywhere for each `number`; one byte in 256 may not.
fn secret<const N: usize>(number: u64) -> [u8; N] {
    std::array::from_fn(|i| ((i as u64 + 1000 * number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
}

/// Bytes of round keys that differ, at the least.
const ROUND_KEYS: usize = 9 * 16 * 15 / 10;

#[test]
fn f16_dropped_keys_and_salts_are_wiped() {
    for backend in Backend::available() {
        let mut wiped = 0;
        macro_rules! dropped {
            ($name:literal, $salt:literal, $make:expr) => {
                leaves_nothing(&format!("{} of {backend}", $name), ROUND_KEYS + $salt, |number| {
                    $make(number, secret::<32>(number)).unwrap()
                });
                wiped += 1;
            };
        }
        let sa = |number, _| Sa::<16>::with_backend(&secret::<36>(number), Mode::Gcm, backend);
        dropped!("Sa", 3, sa);
        dropped!("Outbound", 3, |number, key| sa(number, key).map(|sa| Outbound::new(sa, 7, true)));
        dropped!("tls::Sealer 1.3", 10, |number, key: [u8; 32]| Sealer::with_backend(&key, &secret::<12>(number + 9), backend));
        dropped!("tls::Opener 1.3", 10, |number, key: [u8; 32]| Opener::with_backend(&key, &secret::<12>(number + 9), backend));
        dropped!("tls::Sealer 1.2", 3, |number, key: [u8; 32]| Sealer::with_backend(&key, &secret::<4>(number + 9), backend));
        dropped!("tls::Opener 1.2", 3, |number, key: [u8; 32]| Opener::with_backend(&key, &secret::<4>(number + 9), backend));
        dropped!("PacketKey", 10, |number, key: [u8; 32]| PacketKey::with_backend(&key, &secret(number + 9), backend));
        dropped!("HeaderKey", 0, |_, key: [u8; 32]| HeaderKey::with_backend(&key, backend));
        dropped!("Keys", 10, |number, key: [u8; 32]| Keys::with_backend(&key, &secret(number + 9), &secret::<32>(number + 5), backend));
        dropped!("Session", 10, |number, key: [u8; 32]| Session::with_backend(&key, &secret(number + 9), backend));
        assert!(wiped > 0);
    }
}

//! The same program against RustCrypto's `aes-gcm` and against this crate: both return the same, and leave the same in every buffer. `version.rs` has
//! what one version of `aes-gcm` calls otherwise than the other; the other crate has links to the other files.

/// What was called, and what it returned or left.
type Entry = (&'static str, Vec<u8>);

/// Around a block, around a turn of the widest back end (512 bytes) and of the narrowest (128), and a few turns.
const LENGTHS: [usize; 16] = [0, 1, 12, 15, 16, 17, 63, 64, 65, 127, 128, 129, 511, 513, 1500, 5000];

mod ours {
    use super::{Entry, LENGTHS, bytes};
    use fastgcm_aes_gcm as subject;
    include!("version.rs");
    include!("transcript.rs");

    /// F3: a nonce of no bytes is an error in both directions, and the buffer is as it was.
    #[test]
    fn f03_no_empty_nonce() {
        use subject::aead::consts::U0;
        let (cipher, nonce) = (AesGcm::<Aes128, U0>::new(&[7; 16].into()), Nonce::default());
        let mut buffer = *b"untouched";
        assert_eq!(seal(&cipher, &nonce, b"", &mut buffer), Err(Error));
        assert_eq!(open(&cipher, &nonce, b"", &mut buffer, &[0; 16].into()), Err(Error));
        assert_eq!(&buffer, b"untouched");
    }

    #[test]
    fn what_the_readme_says_is_different() {
        fn is_wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let cipher = Aes256Gcm::new(&[7; 32].into());
        is_wiped(&cipher);
        assert_eq!(format!("{cipher:?}"), "AesGcm { .. }");
    }
}

mod theirs {
    use super::{Entry, LENGTHS, bytes};
    use aes_gcm as subject;
    include!("version.rs");
    include!("transcript.rs");
}

#[test]
fn agrees() {
    let (ours, theirs) = (ours::transcript(), theirs::transcript());
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours.0, theirs.0);
        assert!(ours.1 == theirs.1, "{number}: {}", ours.0);
    }
    assert_eq!((ours.len(), theirs.len()), (ours::ENTRIES, theirs::ENTRIES));
}

/// Deterministic bytes that differ everywhere.
fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

//! What walks over kinds of faults ask: whether a text shows a secret, and whether each byte of a nonce is drawn.
#![allow(dead_code)] // no test needs all of it

/// Bytes that stand in no message by chance.
pub(crate) fn secret(n: usize) -> Vec<u8> {
    (0..n as u8).map(|i| 0xc9 ^ i.wrapping_mul(0x5b)).collect()
}

/// Fails if `shown` has three bytes of `secret` in a row: as they are, or in hexadecimal or decimal digits, whatever stands between them.
pub(crate) fn quiet(what: &str, shown: &str, secret: &[u8]) {
    let squeezed: String = shown.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    for three in secret.windows(3) {
        let written = |as_digits: fn(&u8) -> String| three.iter().map(as_digits).collect::<String>();
        let forms = [written(|b| format!("{b:02x}")), written(|b| format!("0x{b:x}")), written(u8::to_string)];
        assert!(!forms.iter().any(|form| squeezed.contains(form)), "{what} shows a secret: {shown}");
        assert!(!shown.as_bytes().windows(3).any(|bytes| bytes == three), "{what} shows a secret: {shown}");
    }
}

/// Fails unless each byte of what was drawn differs from draw to draw.
pub(crate) fn drawn(what: &str, draw: impl Fn() -> Vec<u8>) {
    let draws: Vec<Vec<u8>> = (0..20).map(|_| draw()).collect();
    for at in 0..draws[0].len() {
        assert!(draws.iter().any(|one| one[at] != draws[0][at]), "{what}: byte {at} of {} is not drawn", draws[0].len());
    }
}

/// The names of the public types in a source: each is one whose texts a test must have looked at.
pub(crate) fn types(source: &str) -> impl Iterator<Item = &str> {
    source.split("pub struct ").skip(1).filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next())
}

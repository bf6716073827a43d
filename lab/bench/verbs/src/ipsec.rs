//! ipsec-mb 2 (of Debian's testing): `ipsec.c`, safely.

use std::ffi::c_void;

unsafe extern "C" {
    safe fn ipsec_new() -> *mut c_void;
    fn ipsec_rekey(state: *mut c_void, key: *const u8);
    fn ipsec_seal(state: *mut c_void, nonce: *const u8, aad: *const u8, aad_len: u64, from: *const u8, to: *mut u8, len: u64, tag: *mut u8);
    fn ipsec_begin(state: *mut c_void, nonce: *const u8, aad: *const u8, aad_len: u64);
    fn ipsec_update(state: *mut c_void, from: *const u8, to: *mut u8, len: u64);
    fn ipsec_finish(state: *mut c_void, tag: *mut u8);
    fn ipsec_burst(
        state: *mut c_void,
        n: u32,
        lengths: *const u64,
        nonces: *const u8,
        aad: *const u8,
        aad_len: u64,
        from: *const u8,
        to: *mut u8,
        tags: *mut u8,
    ) -> u32;
}

/// A key, a context and a manager, which live as long as the process.
pub(crate) struct Ipsec(*mut c_void);

impl Ipsec {
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        let new = Self(ipsec_new());
        new.rekey(key);
        new
    }

    pub(crate) fn rekey(&self, key: &[u8; 16]) {
        // SAFETY: our state, and a key of the length that it has.
        unsafe { ipsec_rekey(self.0, key.as_ptr()) }
    }

    /// `to` has room for the text; so it has in all others.
    pub(crate) fn seal(&self, nonce: &[u8; 12], aad: &[u8], from: &[u8], to: &mut [u8], tag: &mut [u8; 16]) {
        assert_eq!(from.len(), to.len());
        let (aad, aad_len, len) = (aad.as_ptr(), aad.len() as u64, from.len() as u64);
        // SAFETY: buffers of these lengths.
        unsafe { ipsec_seal(self.0, nonce.as_ptr(), aad, aad_len, from.as_ptr(), to.as_mut_ptr(), len, tag.as_mut_ptr()) }
    }

    pub(crate) fn seal_in_place(&self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8], tag: &mut [u8; 16]) {
        let (len, text) = (text.len() as u64, text.as_mut_ptr());
        // SAFETY: buffers of these lengths; source and destination may be one.
        unsafe { ipsec_seal(self.0, nonce.as_ptr(), aad.as_ptr(), aad.len() as u64, text, text, len, tag.as_mut_ptr()) }
    }

    pub(crate) fn begin(&self, nonce: &[u8; 12], aad: &[u8]) {
        // SAFETY: our state, and buffers of these lengths.
        unsafe { ipsec_begin(self.0, nonce.as_ptr(), aad.as_ptr(), aad.len() as u64) }
    }

    pub(crate) fn update(&self, from: &[u8], to: &mut [u8]) {
        assert_eq!(from.len(), to.len());
        // SAFETY: likewise.
        unsafe { ipsec_update(self.0, from.as_ptr(), to.as_mut_ptr(), from.len() as u64) }
    }

    pub(crate) fn finish(&self, tag: &mut [u8; 16]) {
        // SAFETY: our state.
        unsafe { ipsec_finish(self.0, tag.as_mut_ptr()) }
    }

    /// One burst of the messages that lie behind each other in `from`.
    pub(crate) fn burst(&self, lengths: &[u64], nonces: &[[u8; 12]], aad: &[u8], from: &[u8], to: &mut [u8], tags: &mut [u8]) {
        let (n, all) = (lengths.len(), lengths.iter().sum::<u64>() as usize);
        assert!(n == nonces.len() && all == from.len() && all == to.len() && 16 * n == tags.len());
        let (lengths, nonces, aad_len) = (lengths.as_ptr(), nonces.as_ptr().cast(), aad.len() as u64);
        // SAFETY: buffers of these lengths. AES-GCM is done when the call returns: it has no lanes that wait for others.
        let done = unsafe {
            ipsec_burst(self.0, n as u32, lengths, nonces, aad.as_ptr(), aad_len, from.as_ptr(), to.as_mut_ptr(), tags.as_mut_ptr())
        };
        assert_eq!(done as usize, n, "a burst is done at once");
    }
}

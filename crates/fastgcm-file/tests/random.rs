//! What is drawn: every salt and every new key, each byte of it; and without random bytes nothing is sealed.

use fastgcm_file::{Cipher, Format, Key, SALT_LEN, Writer, seal};
use std::{collections::BTreeSet, num::NonZero};

/// In 64 draws a byte takes about 56 values. Fewer than 30 would be a miracle.
fn assert_drawn(what: &str, draw: impl Fn() -> Vec<u8>) {
    let draws: Vec<Vec<u8>> = (0..64).map(|_| draw()).collect();
    for at in 0..draws[0].len() {
        let values: BTreeSet<u8> = draws.iter().map(|draw| draw[at]).collect();
        assert!(values.len() >= 30, "{what}: byte {at} takes {} values", values.len());
    }
}

#[test]
fn each_byte_of_salts_and_keys_is_drawn() {
    let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
    assert_drawn("Cipher", || Cipher::create(&key, b"").unwrap().0[..SALT_LEN].to_vec());
    assert_drawn("Writer", || Writer::new(&key, b"", Vec::new()).unwrap().finish().unwrap());
    assert_drawn("seal", || {
        let mut sealed = Vec::new();
        seal(&key, b"", &b"the same text"[..], &mut sealed, NonZero::<usize>::MIN).unwrap();
        sealed
    });
    for format in Format::ALL {
        assert_drawn(format.name(), || Key::generate(*format).unwrap().as_bytes().to_vec());
    }
    println!("each_byte_of_salts_and_keys_is_drawn ok 5");
}

/// In a thread that the system gives no random bytes.
#[cfg(target_os = "linux")]
#[test]
fn without_random_bytes_nothing_is_sealed() {
    use fastgcm_file::Error;
    use libc::{
        BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, EIO, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SYS_getrandom, sock_filter,
    };

    let operation = |code: u32, k: u32, jf: u8| sock_filter { code: code as u16, jt: 0, jf, k };
    let mut filter = [
        operation(BPF_LD | BPF_W | BPF_ABS, 0, 0), // the number of the system call
        operation(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom as u32, 1),
        operation(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO as u32, 0),
        operation(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0),
    ];
    let key = Key::new(Format::Cobblestone256, &[1; 32]).unwrap();
    let refused = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: the program outlives the calls, which copy it; they change this thread only.
        let filtered = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        };
        // A C library that draws without a system call cannot be stopped so.
        if !filtered || getrandom::fill(&mut [0; 1]).is_ok() {
            println!("SKIPPED without_random_bytes_nothing_is_sealed: the system call cannot be made to fail");
            return;
        }
        let io = |error: Error| matches!(error, Error::Io(error) if error.raw_os_error() == Some(EIO));
        let mut written = Vec::new();
        assert!(io(Key::generate(Format::Cobblestone256).unwrap_err()));
        assert!(io(Cipher::create(&key, b"").map(drop).unwrap_err()));
        assert!(io(Writer::new(&key, b"", &mut written).map(drop).unwrap_err()));
        assert!(io(seal(&key, b"", &b"text"[..], &mut written, NonZero::<usize>::MIN).unwrap_err()));
        assert!(written.is_empty());
        println!("without_random_bytes_nothing_is_sealed ok 4");
    };
    std::thread::spawn(refused).join().unwrap();
}

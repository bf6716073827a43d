//! A thread that the operating system gives no random bytes.

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SYS_getrandom, sock_filter};
use std::thread;

/// Does `work` in a thread whose every call of `getrandom` fails with `EIO`. `None`, and nothing is done, where the system call cannot be made to fail: a C
/// library may draw without it, and an emulator may know no filters.
pub(crate) fn without_random_bytes<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let operation = |code: u32, k: u32, jf: u8| sock_filter { code: code as u16, jt: 0, jf, k };
    let mut filter = [
        operation(BPF_LD | BPF_W | BPF_ABS, 0, 0), // the number of the system call
        operation(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom as u32, 1),
        operation(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | libc::EIO as u32, 0),
        operation(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0),
    ];
    let filtered = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: the program outlives the calls, which copy it; they change this thread only.
        let filtered = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        };
        (filtered && getrandom::fill(&mut [0; 1]).is_err()).then(work)
    };
    thread::scope(|scope| scope.spawn(filtered).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

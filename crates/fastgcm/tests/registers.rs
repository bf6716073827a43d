//! What a call leaves in the processor: the registers that a function must keep, and the upper halves that it must clear.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[path = "support/backends.rs"]
mod backends;

use backends::{Tally, backends, key};
use fastgcm::{AesGcmSiv, Key, Nonce, Tag, Xaes256Gcm};
use std::arch::{asm, global_asm, x86_64::__cpuid_count};

/// One message of every shape: in the tail, in the turns, with a nonce whose counter is secret.
const SHAPES: [(usize, usize); 12] =
    [(0, 12), (1, 12), (16, 12), (100, 12), (300, 12), (1000, 12), (5000, 12), (140_000, 12), (0, 8), (50, 16), (500, 20), (5000, 8)];

/// A message that is sealed and opened, by a key that was made for it: all that crosses into vector code.
struct Message {
    key: Key,
    length: usize,
    nonce: usize,
}

extern "sysv64" fn seal_and_open(message: &Message) {
    let Message { key, length, nonce } = message;
    let nonce = &[7; 32][..*nonce];
    let nonce = Nonce::any(nonce).unwrap();
    let mut key = key.clone();
    key.rekey(&[9; 32]).unwrap();
    let mut text = vec![1; *length];
    let tag = key.seal(nonce, b"aad", &mut text).unwrap();
    key.open_verified_first(nonce, b"aad", &mut text, &tag).unwrap();
    key.seal(nonce, b"aad", &mut text).unwrap();
    key.open(nonce, b"aad", &mut text, &tag).unwrap();
    key.open(nonce, b"aad", &mut text, &Tag([0; 16])).unwrap_err();
    #[cfg(feature = "hazmat")]
    {
        use fastgcm::hazmat::{combine, seal_part};
        let hash = seal_part(&key, nonce, 0, &mut text).unwrap();
        combine(&key, nonce, b"aad", [&hash]).unwrap();
    }
    let siv = AesGcmSiv::with_backend(&[9; 32], key.backend()).unwrap();
    let tag = siv.seal(&[7; 12], b"aad", &mut text).unwrap();
    siv.open(&[7; 12], b"aad", &mut text, &tag).unwrap();
    let xaes = Xaes256Gcm::with_backend(&[9; 32], key.backend()).unwrap();
    let tag = xaes.seal(&[7; 24], b"aad", &mut text).unwrap();
    xaes.open(&[7; 24], b"aad", &mut text, &tag).unwrap();
}

fn messages() -> impl Iterator<Item = Message> {
    backends()
        .into_iter()
        .flat_map(|backend| SHAPES.into_iter().map(move |(length, nonce)| Message { key: key(&[1; 16], backend), length, nonce }))
}

/// F10: rbx, rbp and r12 to r15 come back as they were (System V ABI, section 3.2.1). The compiler sees to that, but for what stands in
/// an `asm!` by hand. On Windows xmm6 to xmm15 are among them; `source.rs` checks that nothing stands there.
#[test]
fn f10_callee_saved_registers() {
    let mut calls = Tally::default();
    for message in messages() {
        assert_eq!(changed_by(seal_and_open, &message), 0, "{:?}, {} bytes", message.key, message.length);
        calls.add(&message.key, 1);
    }
    // The control: a function that changes two of them.
    assert_eq!(changed_by(changes_two, &messages().next().unwrap()), 0b010010);
    calls.passed("registers::f10_callee_saved_registers", SHAPES.len());
}

global_asm!(".globl fastgcm_test_changes_two", "fastgcm_test_changes_two:", "inc rbp", "inc r14", "ret");

#[allow(improper_ctypes)] // it never looks at the message
unsafe extern "sysv64" {
    #[link_name = "fastgcm_test_changes_two"]
    safe fn changes_two(message: &Message);
}

/// Calls `f` with known values in the six registers, and returns which of them it changed: bit 0 is rbx, then rbp, r12, r13, r14, r15.
fn changed_by(f: extern "sysv64" fn(&Message), message: &Message) -> u32 {
    const KNOWN: u64 = 0x5ec2_e7ca_11ee_5a7e;
    let (rbx, rbp, r12, r13, r14, r15);
    // SAFETY: a call by the System V ABI, with the stack aligned; the two registers that an operand cannot name are saved around it.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "mov rbx, r12",
            "mov rbp, r12",
            "call rax",
            "mov rax, rbx",
            "mov rcx, rbp",
            "pop rbp",
            "pop rbx",
            inout("rax") f => rbx,
            inout("rdi") message => _,
            out("rcx") rbp,
            inout("r12") KNOWN => r12,
            inout("r13") KNOWN => r13,
            inout("r14") KNOWN => r14,
            inout("r15") KNOWN => r15,
            clobber_abi("sysv64"),
        );
    }
    let after: [u64; 6] = [rbx, rbp, r12, r13, r14, r15];
    after.iter().enumerate().map(|(i, &value)| u32::from(value != KNOWN) << i).sum()
}

/// F20: the upper halves of the vector registers are clear, and known by the processor to be. If they were not, SSE code after us would be
/// slow, and what was in them would be there for whoever can look.
///
/// (The standard's name for that is XINUSE: Intel's manual, volume 1, section 13.6. zmm16 to zmm31 have no upper half in that sense.)
#[test]
fn f20_upper_halves_are_clear() {
    #[allow(unused_unsafe)] // it is an unsafe function in Rust 1.89, our oldest
    // SAFETY: leaf 13 exists where AVX does; elsewhere CPUID answers something, and `avx` is asked too.
    let says_in_use = unsafe { __cpuid_count(13, 1) }.eax >> 2 & 1 == 1;
    if !is_x86_feature_detected!("avx") || !says_in_use {
        println!("SKIPPED f20_upper_halves_are_clear: this processor does not say which registers are in use");
        return;
    }
    // The control: they are in use after a write, and not after VZEROUPPER.
    // SAFETY: AVX is here, and the register is declared.
    unsafe { asm!("vcmptrueps ymm15, ymm15, ymm15", out("ymm15") _) }
    let dirty = upper_halves_in_use();
    // SAFETY: AVX is here; every register that changes is declared.
    unsafe { asm!("vzeroupper", clobber_abi("sysv64")) }
    assert_eq!((dirty, upper_halves_in_use()), (true, false), "the control");

    let mut calls = Tally::default();
    for message in messages() {
        seal_and_open(&message);
        assert!(!upper_halves_in_use(), "{:?}, {} bytes", message.key, message.length);
        calls.add(&message.key, 1);
    }
    calls.passed("registers::f20_upper_halves_are_clear", SHAPES.len());
}

/// Bits 2 and 6 of XINUSE: the upper half of some ymm, or of some zmm below 16, is not zero.
fn upper_halves_in_use() -> bool {
    let in_use: u32;
    // SAFETY: XGETBV of register 1 exists: the caller has asked. It only reads.
    unsafe { asm!("xgetbv", in("ecx") 1, out("eax") in_use, out("edx") _, options(nomem, nostack, preserves_flags)) }
    in_use & (1 << 2 | 1 << 6) != 0
}

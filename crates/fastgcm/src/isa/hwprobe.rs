//! What a RISC-V processor has. User code cannot ask the processor; Linux answers `riscv_hwprobe` from 6.4 on
//! (Documentation/arch/riscv/hwprobe.rst), for what all processors of the machine have. `std` makes this call
//! too, but exposes the answer only to a nightly compiler. On other systems no feature is found.

use super::detect::Features;

/// Returns the features of this machine.
#[cfg(target_os = "linux")]
pub(crate) fn features() -> Features {
    const NAMES: [(u32, Features); 5] = [
        (2, Features::named("v")),
        (18, Features::named("zvbc")),
        (19, Features::named("zvkb")),
        (21, Features::named("zvkned")),
        (26, Features::named("zvkt")),
    ];
    let bits = extensions();
    NAMES
        .iter()
        .filter(|(bit, _)| bits >> bit & 1 == 1)
        .fold(Features::NONE, |found, (_, name)| found.and(*name))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn features() -> Features {
    Features::NONE
}

/// Returns `RISCV_HWPROBE_KEY_IMA_EXT_0` of <asm/hwprobe.h>, or nothing if the kernel does not know the key
/// or keeps vectors from this process.
#[cfg(target_os = "linux")]
fn extensions() -> u64 {
    const HWPROBE: usize = 258;
    const PRCTL: usize = 167;
    const PR_RISCV_V_GET_CONTROL: usize = 70;
    const OFF: isize = 1;
    const V: u64 = 1 << 2;
    // Key and value.
    let mut pair = [4_u64, 0];
    // SAFETY: the kernel writes one pair; no set of processors, no flags.
    let failed = unsafe { system_call(HWPROBE, [(&raw mut pair) as usize, 1, 0, 0, 0]) };
    let [key, bits] = pair;
    if failed != 0 || key != 4 {
        return 0;
    }
    // SAFETY: the call only asks. A kernel that cannot keep vectors from a process returns an error.
    let control = unsafe { system_call(PRCTL, [PR_RISCV_V_GET_CONTROL, 0, 0, 0, 0]) };
    if control > 0 && control & 3 == OFF { bits & !V } else { bits }
}

/// # Safety
/// The caller knows what the call does to memory.
#[cfg(target_os = "linux")]
unsafe fn system_call(number: usize, arguments: [usize; 5]) -> isize {
    let mut result = arguments[0] as isize;
    // SAFETY: the caller's promise; Linux keeps all registers but a0 and the vectors.
    unsafe {
        core::arch::asm!("ecall", inlateout("a0") result, in("a1") arguments[1], in("a2") arguments[2], in("a3") arguments[3],
            in("a4") arguments[4], in("a7") number, clobber_abi("C"), options(nostack));
    }
    result
}

//! A processor that lacks a feature, as far as a program can tell. qemu emulates no AArch64 without AES and has no switch that takes it
//! away; but user code cannot read the identification registers, it asks the kernel, and the kernel's answer lies on the program's stack
//! (the auxiliary vector). qemu stops before the first instruction and waits for a debugger, which takes the bits away.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    thread,
    time::Duration,
};

/// Bits of `AT_HWCAP` on AArch64 (<asm/hwcap.h>).
pub(super) const AES: u64 = 1 << 3;
pub(super) const PMULL: u64 = 1 << 4;
pub(super) const SHA3: u64 = 1 << 17;

const AT_HWCAP: u64 = 16;

/// Waits for the qemu that was started with `-g SOCKET`, takes `bits` away, and lets it go.
pub(super) fn take_away(socket: &Path, bits: u64) -> Result<(), String> {
    let mut stub = Stub(connect(socket)?);
    // X0 to X30, then the stack pointer: 16 hexadecimal digits each, lowest byte first.
    let registers = stub.ask("g")?;
    let mut at = number(registers.get(31 * 16..32 * 16).ok_or("no stack pointer")?)?;

    // From the stack pointer on: argc; arguments and a zero; environment and a zero; pairs of the auxiliary vector.
    let mut next = |stub: &mut Stub| -> Result<u64, String> {
        let word = number(&stub.ask(&format!("m{at:x},8"))?)?;
        at += 8;
        Ok(word)
    };
    next(&mut stub)?;
    for _ in ["arguments", "environment"] {
        while next(&mut stub)? != 0 {}
    }
    loop {
        match next(&mut stub)? {
            0 => return Err("no AT_HWCAP on the stack".into()),
            AT_HWCAP => break,
            _ => drop(next(&mut stub)?),
        }
    }
    let had = next(&mut stub)?;
    if had & bits != bits {
        return Err(format!("the processor never had {bits:x}: {had:x}"));
    }
    let bytes: String = (had & !bits).to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    stub.ask(&format!("M{:x},8:{bytes}", at - 8))?;
    stub.ask("D").map(drop)
}

fn connect(socket: &Path) -> Result<UnixStream, String> {
    for _ in 0..500 {
        if let Ok(stream) = UnixStream::connect(socket) {
            return Ok(stream);
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err("qemu does not wait for a debugger".into())
}

/// GDB's remote protocol: `$command#sum`, acknowledged by `+`, and the answer likewise.
struct Stub(UnixStream);

impl Stub {
    fn ask(&mut self, command: &str) -> Result<String, String> {
        let sum = command.bytes().fold(0, u8::wrapping_add);
        self.0.write_all(format!("${command}#{sum:02x}").as_bytes()).map_err(|e| e.to_string())?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"#") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).map_err(|e| format!("{command}: {e}"))?;
            if byte == *b"$" {
                answer.clear();
            } else {
                answer.push(byte[0]);
            }
        }
        self.0.read_exact(&mut [0; 2]).and_then(|()| self.0.write_all(b"+")).map_err(|e| e.to_string())?;
        answer.pop();
        match String::from_utf8_lossy(&answer).into_owned() {
            error if error.starts_with('E') => Err(format!("{command}: {error}")),
            answer => Ok(answer),
        }
    }
}

/// Sixteen hexadecimal digits, lowest byte first.
fn number(digits: &str) -> Result<u64, String> {
    u64::from_str_radix(digits, 16).map(u64::swap_bytes).map_err(|e| format!("{digits}: {e}"))
}

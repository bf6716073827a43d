#!/usr/bin/env python3
"""Run a static x86-64 Linux program on an emulated CPU that has AVX-512, VAES and VPCLMULQDQ.

    python3 lab/emulate/emulate.py [--cpu MODEL] [--no-avx512] [--timeout SECONDS] [--file [NAME=]PATH]...
                             BINARY [ARGS...] [then BINARY [ARGS...]]...

As a cargo runner, for which `--target` keeps build scripts out of it:

    export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="python3 $PWD/lab/emulate/emulate.py"
    RUSTFLAGS="-C target-feature=+crt-static" cargo test --release --target x86_64-unknown-linux-gnu --lib --tests

The emulator is Bochs, which models a whole machine, so the program runs under Debian's own kernel. There is no BIOS
and no boot loader: a ROM of 256 bytes reads the kernel and an initramfs from the disk and enters the kernel. The
initramfs holds BusyBox, the program, and each --file: a file or a folder, NAME being its path inside. NAME and PATH are
relative to the current folder, which has the same name inside. The program sees the RUST_*, FASTGCM_* and
CARGO_MANIFEST_* environment variables, one processor, and a clock on which 20 million instructions take a second.
The exit status is the program's own (127 if it is not static and what it is linked with is not among the files), 124 if
it ran past --timeout, 125 if Bochs failed.
Needs Debian (tried on 12), and root for apt-get the first time. Booting takes about 15 s: several programs, with the
word `then` between them, share it. They run in turn; the first that fails is the last.
"""
import argparse, fcntl, os, pathlib, pty, re, select, shlex, shutil, signal, struct, subprocess, sys, tempfile, time

CACHE = pathlib.Path(__file__).resolve().parents[2] / "target" / "emulate"
MEMORY, SPEED = 1024, 20_000_000  # of the machine: MiB of RAM, instructions in a second of its own time
COMMAND_LINE = " ".join((
    f"console=ttyS0,115200 loglevel=1 rdinit=/init reboot=t panic=-1 tsc_early_khz={SPEED // 1000} idle=halt",
    # No firmware describes the machine. It needs only the timer, the serial port and RDRAND.
    "acpi=off pci=off nolapic noapic nokaslr mitigations=off random.trust_cpu=on",
    # Disable slow parts that are not needed: self-tests, signatures, tracing.
    "cryptomgr.notests initcall_blacklist=load_system_certificate_list,trace_eval_init,init_kprobe_trace",
    # Bochs 2.7 lacks the CPUID leaf of the XSAVE state of PKRU and the APERF register, gives a wrong size for the
    # compacted XSAVE format, and has fast short REP MOVS without enabling fast REP MOVS (which breaks Linux's memmove).
    "clearcpuid=pku,ospke,aperfmperf,xsaves,xsavec,fsrm"))
# The boot ROM: the last 256 bytes below 4 GiB. The processor starts in real mode at offset 0xf0, with a jump to 0.
# (They are written as the end of 64 KiB; Bochs 2.7 misreads a smaller file.)
ROM = """
    fa 2e660f011677ff                    ; cli; lgdt [gdtr]
    0f20c0 0c01 0f22c0 66ea18ffffff1000  ; cr0 |= 1; jmp 0x10:next, into 32-bit code
    b818000000 8ed8 8ec0 8ed0            ; next: ds = es = ss = 0x18
    bf LOAD 31db                         ; edi = LOAD; ebx = 0, the number of a chunk of 256 sectors, 128 KiB
    baf2010000 31c0 ee 42 ee             ; chunk: port 0x1f2 = 0, for 256 sectors; port 0x1f3 = 0
    42 88d8 ee 42 88f8 ee 42 b0e0 ee     ; port 0x1f4 = bl; port 0x1f5 = bh; port 0x1f6 = 0xe0: sector 256 * ebx
    42 b020 ee be00010000                ; port 0x1f7 = READ SECTORS; esi = 256
    ec a808 74fb                         ; sector: wait for port 0x1f7 & DATA READY
    b2f0 b980000000 f36d b2f7            ; read 4 * 128 bytes from port 0x1f0 to [edi]
    4e 75ed 43 81fb CHUNKS 75c5          ; if (--esi) goto sector; if (++ebx != CHUNKS) goto chunk
    be LOAD 31db 31ff 31ed b8 ENTRY ffe0 ; esi = LOAD; ebx = edi = ebp = 0; goto ENTRY
    1f007dffffff                         ; gdtr: the limit and the address of
    0000000000000000 0000000000000000    ; gdt: nothing
    ffff0000009bcf00 ffff00000093cf00    ; 0x10: flat code; 0x18: flat data
"""

INIT = """#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc; /bin/busybox mount -t devtmpfs dev /dev
/bin/busybox stty raw
cd {folder}
{{ {commands}; }} </dev/null
/bin/busybox printf '\\0EXIT %s.' $?
exec /bin/busybox sleep 1000000
"""


def fail(message, status=125):
    print(f"emulate: {message}", file=sys.stderr)
    sys.exit(status)


def call(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})
    return done.stdout if done.returncode == 0 else fail(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


def prepare():
    """Install Bochs; put a kernel and a static BusyBox, not installed, into CACHE. Return the contents of these two."""
    CACHE.mkdir(parents=True, exist_ok=True)
    kernel, busybox = CACHE / "vmlinuz", CACHE / "busybox"
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shutil.which("bochs-bin") and busybox.exists() and kernel.exists()):
            # Checks run in parallel, and one of two apt-get at a time fails: this is the lock of .ci/need.
            alone = ["flock", "/var/lock/fastgcm-packages", "apt-get"]
            call(*alone, "update")
            call(*alone, "install", "-y", "--no-install-recommends", "bochs", "bochs-term")
            image = re.search(r"Depends: (\S+)", call("apt-cache", "depends", "linux-image-cloud-amd64")).group(1)
            with tempfile.TemporaryDirectory(dir=CACHE) as folder:
                call("apt-get", "download", image, "busybox-static", cwd=folder)
                for package in pathlib.Path(folder).glob("*.deb"):
                    call("dpkg-deb", "-x", str(package), folder)
                os.replace(f"{folder}/bin/busybox", busybox)
                os.replace(next(pathlib.Path(folder).glob("boot/vmlinuz-*")), kernel)
    return kernel.read_bytes(), busybox.read_bytes()


def initramfs(files):
    """Return a `newc` cpio archive of {absolute path: content} and of the parent folders."""
    needed = [*files, "/dev/x", "/proc/x", "/tmp/x", os.path.join(os.getcwd(), "x")]
    folders = {str(parent) for path in needed for parent in pathlib.PurePath(path).parents} - {"/"}
    entries = [(path, 0o40777, b"") for path in sorted(folders)]
    entries += [(path, 0o100755, content) for path, content in files.items()]
    entries += [("/dev/console", 0o20600, b""), ("/TRAILER!!!", 0, b"")]
    archive = bytearray()
    for number, (path, mode, content) in enumerate(entries):
        name = os.fsencode(path[1:]) + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 5, 1, len(name), 0)  # 5, 1: the device, if it is one
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name
        archive += bytes(-len(archive) % 4) + content + bytes(-len(content) % 4)
    return archive


def write_machine(folder, kernel, command_line, archive, cpu, output):
    """Write the ROM, the disk and the configuration of Bochs. See Documentation/x86/{boot,zero-page}.rst of Linux."""
    # The disk is read into contiguous memory: boot parameters, command line, initramfs, and from `entry` the kernel.
    entry = -(-max(0x1000000, 0x102000 + len(archive)) // 0x200000) * 0x200000
    load = (entry - 0x2000 - len(archive)) & ~0xfff
    parameters = bytearray(0x1000)
    parameters[0x1f1:0x202 + kernel[0x201]] = kernel[0x1f1:0x202 + kernel[0x201]]
    parameters[0x210] = 0xff  # an unregistered boot loader
    struct.pack_into("<IIQI", parameters, 0x218, load + 0x2000, len(archive), 0, load + 0x1000)
    parameters[0x1e8] = 2  # pieces of RAM
    struct.pack_into("<QQIQQI", parameters, 0x2d0, 0, 0x9f000, 1, 0x100000, (MEMORY - 1) << 20, 1)
    disk = (parameters + command_line.encode().ljust(0x1000, b"\0") + archive).ljust(entry - load, b"\0")
    disk += kernel[(kernel[0x1f1] + 1) * 512:] + bytes(0x20000)  # so that whole chunks cover it
    (folder / "disk").write_bytes(disk + bytes(-len(disk) % (16 * 63 * 512)))  # and whole cylinders hold it
    code = "".join(line.partition(";")[0] for line in ROM.splitlines()).replace(" ", "")
    for name, value in ("LOAD", load), ("CHUNKS", len(disk) // 0x20000), ("ENTRY", entry):
        code = code.replace(name, struct.pack("<I", value).hex())
    (folder / "rom").write_bytes(bytes(0xff00) + bytes.fromhex(code.ljust(0xf0 * 2, "0") + "e90dff".ljust(16 * 2, "0")))
    (folder / "commands").write_text("continue\n")  # Debian's Bochs begins in its debugger
    (folder / "bochsrc").write_text(f"""
        cpu: model={cpu}, ips={SPEED}, reset_on_triple_fault=0
        memory: guest={MEMORY}, host={MEMORY}
        romimage: file=rom
        vga: extension=none
        ata0-master: type=disk, mode=flat, path=disk
        com1: enabled=1, mode=file, dev=/dev/fd/{output}
        display_library: term
        sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
        panic: action=fatal
        """)


def run(folder, serial, output, timeout):
    """Run Bochs on the machine in `folder`, forward the program's output, and exit with its status."""
    screen, terminal = pty.openpty()  # Bochs shows the machine's screen on a terminal; there is nothing to see
    log = folder / "log"
    bochs = subprocess.Popen(["bochs-bin", "-q", "-f", "bochsrc", "-rc", "commands"], cwd=folder, pass_fds=[output],
                             env={**os.environ, "TERM": "linux"}, stdin=terminal, stdout=terminal, stderr=log.open("w"))
    os.close(terminal)
    os.close(output)
    deadline, held = time.monotonic() + timeout, b""
    try:
        while time.monotonic() < deadline:
            ready = select.select([serial, screen], [], [], 1)[0]
            if serial in ready:
                held += os.read(serial, 65536) or fail("Bochs stopped:\n" + log.read_text(errors="replace")[-3000:])
                status = re.search(rb"\0EXIT (\d+)\.", held)
                cut = status.start() if status else held.find(b"\0", -9) % (len(held) + 1)  # hold what may begin that
                os.write(sys.stdout.fileno(), held[:cut])
                if status:
                    sys.exit(int(status.group(1)))
                held = held[cut:]
            elif screen in ready:
                os.read(screen, 65536)
        fail(f"no end after {timeout:g} seconds", 124)
    finally:
        bochs.kill()
        bochs.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", default="corei7_icelake_u", help="one that `bochs-bin --help cpu` lists")
    parser.add_argument("--no-avx512", action="store_true", help="VAES and VPCLMULQDQ of 256 bits only")
    parser.add_argument("--timeout", type=float, default=3600, metavar="SECONDS")
    parser.add_argument("--file", action="append", default=[], metavar="[NAME=]PATH")
    parser.add_argument("binary")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by way of `finally` in run()
    kernel, busybox = prepare()
    programs = [[]]
    for word in [options.binary, *options.args]:
        programs.append([]) if word == "then" else programs[-1].append(word)
    programs = [[os.path.abspath(binary), *args] for binary, *args in programs]
    files = {"/bin/busybox": busybox} | {binary: pathlib.Path(binary).read_bytes() for binary, *_ in programs}
    for option in options.file:
        name, _, path = option.rpartition("=")
        path = pathlib.Path(path)
        for source in filter(pathlib.Path.is_file, path.rglob("*")) if path.is_dir() else [path]:
            files[os.path.abspath((name or path) / source.relative_to(path))] = source.read_bytes()
    kept = [f"{k}={v}" for k, v in os.environ.items() if k.startswith(("RUST_", "FASTGCM_", "CARGO_MANIFEST_"))]
    commands = (shlex.join(["/bin/busybox", "env", "-i", "PATH=/bin", *kept, *program]) for program in programs)
    files["/init"] = INIT.format(folder=shlex.quote(os.getcwd()), commands=" &&\n".join(commands)).encode()
    serial, output = os.pipe()  # the machine's serial port
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command_line = COMMAND_LINE + (",avx512f" if options.no_avx512 else "")  # the kernel then has it off in XCR0
        write_machine(pathlib.Path(folder), kernel, command_line, initramfs(files), options.cpu, output)
        run(pathlib.Path(folder), serial, output, options.timeout)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        fail(error)

//! The other machines of `cargo xtask cross`. Most processors are emulated by qemu.

/// A machine, and how programs are built for it and run there.
pub(crate) struct Machine {
    /// Its name on the command line, and as rustc calls it.
    pub(crate) name: &'static str,
    pub(crate) triple: &'static str,
    /// The linker: Debian's. It links statically where there is a C library, because qemu then needs no files of that machine, but not for this
    /// machine's own, which chooses its functions by features that qemu does not hide from it.
    pub(crate) linker: &'static str,
    /// Further programs that must exist, and the Debian packages that contain them.
    pub(crate) needs: &'static [&'static str],
    pub(crate) packages: &'static str,
    /// Lines for bash that run first in the folder of these builds.
    pub(crate) prepare: &'static str,
    /// The command that runs a program on the processor `CPU`; `HERE` is the folder of these builds.
    pub(crate) runner: &'static str,
    /// Lines of `ROWS: PROCESSOR; PROCESSOR`, with the rows that these must have besides `portable` (`*`: any). The first of all runs all tests, and
    /// each runs 1,000 random messages.
    pub(crate) on: &'static str,
}

impl Machine {
    /// Returns the processors, each with its rows.
    pub(crate) fn processors(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let lines = self.on.lines().filter_map(|line| line.trim().split_once(':'));
        lines.flat_map(|(rows, processors)| processors.split("; ").map(move |processor| (processor.trim(), rows)))
    }
}

const NOTHING: Machine = Machine { name: "", triple: "", linker: "", needs: &[], packages: "", prepare: "", runner: "", on: "" };

pub(crate) const MACHINES: [Machine; 9] = [
    Machine {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        linker: "aarch64-linux-gnu-gcc",
        needs: &["qemu-aarch64", "gdb-multiarch"],
        packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user gdb-multiarch",
        runner: "qemu-aarch64 -cpu CPU",
        // With AES and without, and with features that the kernel conceals. rustc says that a Cortex-A72 has AES; a Raspberry Pi 4 has none.
        on: "aes-neon-eor3 aes-neon vpaes-neon: max
            aes-neon vpaes-neon: max lacking sha3; cortex-a53; cortex-a72; neoverse-n1; a64fx
            vpaes-neon: max lacking pmull; cortex-a53 lacking aes; cortex-a72 lacking aes; neoverse-n1 lacking aes; a64fx lacking aes
            vpaes-neon: cortex-a72 lacking aes built for it",
        ..NOTHING
    },
    Machine {
        name: "i686",
        triple: "i686-unknown-linux-gnu",
        linker: "i686-linux-gnu-gcc",
        packages: "gcc-i686-linux-gnu libc6-dev-i386-cross",
        on: ": native",
        ..NOTHING
    },
    Machine {
        name: "s390x",
        triple: "s390x-unknown-linux-gnu",
        linker: "s390x-linux-gnu-gcc",
        needs: &["qemu-s390x"],
        packages: "gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user",
        runner: "qemu-s390x -cpu CPU",
        on: ": max",
        ..NOTHING
    },
    Machine {
        name: "ppc64le",
        triple: "powerpc64le-unknown-linux-gnu",
        linker: "powerpc64le-linux-gnu-gcc",
        needs: &["qemu-ppc64le"],
        packages: "gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross qemu-user",
        runner: "qemu-ppc64le -cpu CPU",
        on: ": power10",
        ..NOTHING
    },
    Machine {
        name: "riscv64",
        triple: "riscv64gc-unknown-linux-gnu",
        linker: "riscv64-linux-gnu-gcc",
        packages: "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross",
        // qemu 10 of Debian 12's backports: earlier ones lack vector cryptography. It is unpacked here, and the machine's own stays as it is.
        prepare: r#"
            if [ -e qemu/usr/bin/qemu-riscv64 ]; then exit; fi
            mkdir -p qemu/lists/partial qemu/cache/archives/partial && cd qemu
            debian='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian'
            echo "deb $debian bookworm-backports main" > sources.list
            sources="-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::SourceList=$PWD/sources.list"
            apt="apt-get -qq $sources -o Dir::State::Lists=$PWD/lists -o Dir::Cache=$PWD/cache"
            $apt update && $apt download qemu-user && dpkg-deb -x qemu-user_*.deb ."#,
        runner: "HERE/qemu/usr/bin/qemu-riscv64 -cpu CPU",
        // With vector cryptography, registers of 128, 256 and 1024 bits; then without each single extension that the row names.
        on: "aes-zvkned: max; max,vlen=256; max,vlen=1024
            : rv64; max,zvkned=false; max,zvbc=false; max,zvkb=false,zvbb=false; max,zvkt=false",
        ..NOTHING
    },
    Machine {
        name: "wasm32",
        triple: "wasm32-wasip1",
        linker: "rust-lld",
        needs: &["node"],
        packages: "nodejs",
        // node gives a program of WASI arguments, environment and files.
        prepare: r#"
cat > wasi.mjs << 'END'
import { WASI } from 'node:wasi';
import { readFile } from 'node:fs/promises';
const [program, ...options] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: [program, ...options], env: process.env, preopens: { '/': '/' } });
const module = await WebAssembly.compile(await readFile(program));
wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
END"#,
        runner: "node --no-warnings HERE/wasi.mjs",
        on: "vpaes-simd128: node built with simd128
            : node",
    },
    Machine {
        name: "windows",
        triple: "x86_64-pc-windows-gnu",
        linker: "x86_64-w64-mingw32-gcc",
        needs: &["/usr/lib/wine/wine64"],
        packages: "gcc-mingw-w64-x86-64 wine64",
        // Debian's wine lacks `bcryptprimitives.dll`, from which Rust's standard library gets the seeds of its hash tables.
        prepare: r#"
mkdir -p wine && cat > wine/prng.c << 'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL ProcessPrng(PBYTE data, SIZE_T n) { return RtlGenRandom(data, (ULONG)n); }
END
x86_64-w64-mingw32-gcc -shared -o wine/bcryptprimitives.dll wine/prng.c -ladvapi32"#,
        runner: "env WINEDEBUG=-all WINEPREFIX=HERE/wine/c WINEPATH=Z:HERE/wine /usr/lib/wine/wine64",
        on: "*: native",
    },
    // No operating system, no allocation, no vector registers: `portable` alone, and only built.
    Machine { name: "bare", triple: "x86_64-unknown-none", linker: "rust-lld", ..NOTHING },
    // `cargo xtask dispatch`. qemu's own emulation has neither VPCLMULQDQ nor AVX-512, so the rows that need them must be refused everywhere here; the check
    // `emulated` runs those.
    Machine {
        name: "x86",
        triple: "x86_64-unknown-linux-gnu",
        linker: "cc",
        needs: &["qemu-x86_64"],
        packages: "qemu-user",
        runner: "qemu-x86_64 -cpu CPU",
        // The best; without each single feature that a row needs, and without some that none needs (AVX and wider registers are of no use where the
        // operating system cannot save them); and processors of several makers and years, none of which the library asks for by name.
        on: "aesni-avx aesni-sse vpaes-ssse3: max; max,-avx2; max,-bmi2; max,-vaes; max,-sse4.2; max,-movbe; max,-sha-ni
            aesni-avx aesni-sse vpaes-ssse3: SandyBridge; IvyBridge; Haswell; Skylake-Client; Opteron_G5; EPYC; EPYC-Milan
            aesni-sse vpaes-ssse3: max,-avx; max,-xsave; Westmere; Denverton
            vpaes-ssse3: max,-aes; max,-pclmulqdq; max,-sse4.1; Conroe; Penryn; Nehalem
            : max,-ssse3; qemu64; Opteron_G3",
        ..NOTHING
    },
];

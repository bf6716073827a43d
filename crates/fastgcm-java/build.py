"""Makes the jar: `python3 build.py OUT [--java25 HOME --ecj JAR] [--machines x86_64 aarch64 x86_64-musl aarch64-musl]`.

Without options it has this machine's library, and the classes for Java 17 and later, which call it by JNI: it wants Rust and a JDK 17 or later. With `--java25`, a
runtime of Java 25, and `--ecj`, Eclipse's compiler, it has the classes that call it by foreign functions too. With `--machines` it has the libraries of those machines for any
glibc from 2.17 on, or for musl: the Python that runs this has `cargo-zigbuild` and `ziglang` then. Beside such a jar lie what is published with it: its sources, its
documentation, its POM and the list of what is in it (CycloneDX). The same sources make the same jar.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

CRATE = pathlib.Path(__file__).resolve().parent
ROOT = CRATE.parents[1]
SOURCES, NEWER = CRATE / "src/main/java", CRATE / "src/main/java25"
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]
MANIFEST = """Manifest-Version: 1.0
Multi-Release: true
Main-Class: io.github.fastgcm.Main
Enable-Native-Access: ALL-UNNAMED
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def libraries(machines):
    """The shared library of each machine."""
    manifest = ["--manifest-path", CRATE / "Cargo.toml"]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    if not machines:
        run("cargo", "build", "--release", "--locked", *manifest)
        return {platform.machine(): target / "release/libfastgcm_java.so"}
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    made = {}
    for machine in machines:
        processor, _, musl = machine.partition("-")
        triple, oldest = (f"{processor}-unknown-linux-musl", "") if musl else (f"{processor}-unknown-linux-gnu", ".2.17")
        environment = {**os.environ, "PATH": path, **({"RUSTFLAGS": "-C target-feature=-crt-static"} if musl else {})}
        run("cargo", "zigbuild", "--release", "--locked", "--target", triple + oldest, *manifest, env=environment)
        made[machine] = target / triple / "release/libfastgcm_java.so"
    return made


def classes(out, java25, ecj):
    shutil.rmtree(out, ignore_errors=True)
    run("javac", "--release", "17", "-Xlint:all", "-Werror", "-d", out, *files(SOURCES))
    if java25:
        newer = ["--system", java25, "-24", "-nowarn", "-classpath", out, "-d", out / "META-INF/versions/25"]
        run(pathlib.Path(java25) / "bin/java", "-jar", ecj, *newer, *files(NEWER))


def contents():
    """What is in the jar, as CycloneDX has it: this package, and the crates that its library is made of."""
    tree = ["cargo", "tree", "--locked", "--edges", "normal,no-proc-macro", "--no-dedupe", "--prefix", "depth", "--format", " {p} {l}"]
    lines = run(*tree, "--manifest-path", CRATE / "Cargo.toml", stdout=subprocess.PIPE, text=True).stdout.splitlines()
    components, depends, above = {}, {}, []
    for line in lines:
        depth, name, version, *_, license = re.fullmatch(r"(\d+) (\S+) v(\S+) (\(.*\) )?(.*)", line).groups()
        license = license.replace("/", " OR ")
        reference = f"pkg:cargo/{name}@{version}"
        above = [*above[: int(depth)], reference]
        entry = {"type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference}
        components[reference] = {**entry, "licenses": [{"expression": license}]}
        depends.setdefault(reference, set())
        if len(above) > 1:
            depends[above[-2]].add(reference)
    version = next(iter(components.values()))["version"]
    jar = f"pkg:maven/io.github.fastgcm/fastgcm-java@{version}"
    named = {"type": "library", "bom-ref": jar, "group": "io.github.fastgcm", "name": "fastgcm-java", "version": version, "purl": jar}
    depends = {jar: [next(iter(components))], **depends}
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": named}}
    graph = [{"ref": each, "dependsOn": sorted(needs)} for each, needs in depends.items()]
    return version, {**bom, "components": list(components.values()), "dependencies": graph}


def pack(jar, entries):
    """A jar of these names and bytes."""
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def tree(folder):
    return [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in files(folder)]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("out", type=pathlib.Path)
    options.add_argument("--java25", type=pathlib.Path)
    options.add_argument("--ecj", type=pathlib.Path)
    options.add_argument("--machines", nargs="+", default=[])
    options = options.parse_args()
    out = options.out.resolve()
    version, bom = contents()
    made = libraries(options.machines)
    classes(out / "classes", options.java25, options.ecj)
    license = [(f"META-INF/{name}", (ROOT / name).read_bytes()) for name in LICENSES]
    entries = [("META-INF/MANIFEST.MF", MANIFEST), *license, *tree(CRATE / "src/main/resources"), *tree(out / "classes")]
    entries += [(f"META-INF/native/linux-{machine}/libfastgcm_java.so", path.read_bytes()) for machine, path in made.items()]
    entries += [("META-INF/sbom/bom.json", json.dumps(bom, indent=1))]
    pack(out / f"fastgcm-java-{version}.jar", entries)
    if options.machines:
        manifest = ("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
        shutil.rmtree(out / "javadoc", ignore_errors=True)
        run("javadoc", "-quiet", "--release", "17", "-notimestamp", "-d", out / "javadoc", *files(SOURCES))
        pack(out / f"fastgcm-java-{version}-sources.jar", [manifest, *license, *tree(SOURCES)])
        pack(out / f"fastgcm-java-{version}-javadoc.jar", [manifest, *license, *tree(out / "javadoc")])
        shutil.copy(CRATE / "pom.xml", out / f"fastgcm-java-{version}.pom")
        (out / f"fastgcm-java-{version}-cyclonedx.json").write_text(json.dumps(bom, indent=1))
    print(out / f"fastgcm-java-{version}.jar")


if __name__ == "__main__":
    main()

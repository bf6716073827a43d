"""Runs the workflow's job that makes a release as a runner does: in a bare root of Debian, in a checkout that belongs to another user. The release is
then in the folder `made` of that checkout.

    python3 release/runner.py REPOSITORY v0.1.0     REPOSITORY has this tag and signed-0.1.0; root, on Debian 12 with mmdebstrap
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from make import output, run  # noqa: E402
from rehearse import COMPARED, IMAGE, MAKE, step  # noqa: E402

CERTIFICATES = "/usr/local/share/ca-certificates"  # of the network, where it has its own


def main(repository, tag):
    root = pathlib.Path(tempfile.mkdtemp(prefix="fastgcm-runner-"))
    run("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "bookworm", root, "/etc/apt/sources.list.d/debian.sources")
    (root / "etc/apt/sources.list").unlink(missing_ok=True)
    run("cp", "/etc/apt/sources.list.d/debian.sources", root / "etc/apt/sources.list.d")
    run("cp", "-r", CERTIFICATES, (root / CERTIFICATES[1:]).parent)
    checkout, path, bundle = root / "__w/fastgcm/fastgcm", root / "github/path", "/etc/ssl/certs/ca-certificates.crt"
    (root / "github/home").mkdir(parents=True)
    path.touch()
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/github/home",
        "CI": "true",
        "GITHUB_PATH": "/github/path",
        "GITHUB_REF_NAME": tag,
        "GITHUB_SHA": output("git", "rev-parse", f"{tag}^{{commit}}", cwd=repository),
        **{name: bundle for name in ("PIP_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")},
    }
    # A container's root is a mount.
    inside = 'mount --bind "$0" "$0"; for each in proc sys dev; do mount --rbind "/$each" "$0/$each"; done; exec chroot "$0" sh -ec "cd $1; $2"'
    for name in (IMAGE, MAKE, COMPARED):
        if name == MAKE:  # the checkout
            run("git", "clone", "--quiet", "--branch", tag, repository, checkout)
            run("chown", "-R", "1001:1001", checkout)
        else:
            (root / "__w").mkdir(exist_ok=True)
        environment["PATH"] = ":".join([*reversed(path.read_text().split()), environment["PATH"]])
        print(f"runner: {name}", flush=True)
        where = "/__w" if name == IMAGE else "/__w/fastgcm/fastgcm"
        run("unshare", "--mount", "sh", "-ec", inside, root, where, step(pathlib.Path(repository), name), env=environment)
    print(f"runner: ok, {len(list((checkout / 'made').iterdir()))} files are in {checkout / 'made'}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])

#!/bin/sh
# Puts the AES-GCM assembly of Linux 6.12 into FOLDER, from this machine's package of the kernel's source, and says in `version` which that is:
# make.sh FOLDER. Needs dpkg, tar and xz, and reads 150 MB for three files.
set -eu
mkdir -p "$1"
cd "$1"
apt-get -q -o APT::Sandbox::User=root download linux-source-6.12 >&2
dpkg-deb --fsys-tarfile linux-source-6.12_*.deb | tar --extract --to-stdout ./usr/src/linux-source-6.12.tar.xz |
    tar --extract --xz --strip-components 4 --wildcards '*/arch/x86/crypto/aes-gcm-*.S' '*/arch/x86/crypto/aesni-intel_asm.S'
echo "Debian's $(dpkg-deb --field linux-source-6.12_*.deb Version)" >version.new
rm linux-source-6.12_*.deb
# Last, for whoever looks whether it is there: all of it.
mv version.new version

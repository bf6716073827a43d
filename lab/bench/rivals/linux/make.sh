#!/bin/sh
# Puts the AES-GCM code of Linux 6.12, or of VERSION, into FOLDER, from this machine's package of the kernel's source, and says in `version` which
# that is: make.sh FOLDER [VERSION]. Needs dpkg, tar and xz, and reads 150 MB for a few files.
set -eu
linux=linux-source-${2:-6.12}
mkdir -p "$1"
cd "$1"
apt-get -q -o APT::Sandbox::User=root download "$linux" >&2
dpkg-deb --fsys-tarfile "$linux"_*.deb | tar --extract --to-stdout "./usr/src/$linux.tar.xz" |
    tar --extract --xz --strip-components 4 --wildcards '*/arch/x86/crypto/aes*-intel_*' '*/arch/x86/crypto/aes-gcm-*.S' 2>missing ||
    grep -q 'aes-gcm-' missing # older ones have none of that name
rm missing
echo "Debian's $(dpkg-deb --field "$linux"_*.deb Version)" >version.new
rm "$linux"_*.deb
# Last, for whoever looks whether it is there: all of it.
mv version.new version

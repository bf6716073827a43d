#!/bin/sh
# Builds a Debian package of the program `fastgcm` for this machine's architecture, with manual, completions and open.html: deb.sh [FOLDER], prints the file's name.
set -eu
cd "$(dirname "$0")"
folder=$(realpath "${1:-.}")
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' ../../Cargo.toml)
architecture=$(dpkg --print-architecture)
cargo build --quiet --release --locked --package fastgcm-cli --features age
program=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/fastgcm
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
install -D -m 755 "$program" "$tree/usr/bin/fastgcm"
install -D -m 644 README.md "$tree/usr/share/doc/fastgcm/README.md"
install -D -m 644 open.html "$tree/usr/share/fastgcm/open.html"
install -D -m 644 LICENSE-MIT "$tree/usr/share/doc/fastgcm/copyright"
page() { gzip -9n | install -D -m 644 /dev/stdin "$tree/usr/share/man/man1/$1.1.gz"; }
"$program" man | page fastgcm
for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -v help); do
    "$program" man "$command" | page "fastgcm-$command"
done
completion() { "$program" completions "$1" | install -D -m 644 /dev/stdin "$tree/usr/share/$2"; }
completion bash bash-completion/completions/fastgcm
completion zsh zsh/vendor-completions/_fastgcm
completion fish fish/vendor_completions.d/fastgcm.fish
install -d "$tree/DEBIAN"
cat > "$tree/DEBIAN/control" <<CONTROL
Package: fastgcm
Version: $version
Architecture: $architecture
Section: utils
Priority: optional
Maintainer: The fastgcm developers <fastgcm@localhost>
Depends: libc6 (>= $(ldd --version | sed -n '1s/.* //p')), libgcc-s1
Description: seals and opens files with AES-GCM at the speed of the disk
 Sealed files are in Cobblestone format (C2SP chunked encryption), which other
 software opens. Key files can be locked with age. The page
 /usr/share/fastgcm/open.html opens sealed files in a browser.
CONTROL
dpkg-deb --root-owner-group --build "$tree" "$folder/fastgcm_${version}_$architecture.deb" >&2
echo "$folder/fastgcm_${version}_$architecture.deb"

# Common functions of the crates' scripts `deb.sh`, which source this file. TARGET is rustc's name of another machine (Cargo's variable then has its linker),
# and RUNNER the command that runs its programs here. DEBFULLNAME and DEBEMAIL are the maintainer's, as for Debian's tools.
set -eu
root=../..
folder=$(realpath "${1:-.}")
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' $root/Cargo.toml)
case ${TARGET:-} in
    '') architecture=$(dpkg --print-architecture) ;;
    aarch64-*) architecture=arm64 ;;
    x86_64-*) architecture=amd64 ;;
    *) echo "Debian's name of $TARGET is not known here" >&2; exit 1 ;;
esac
built=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/${TARGET:+$TARGET/}release
libc="libc6 (>= $(ldd --version | sed -n '1s/.* //p'))" # the C library of the building machine
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}
export SOURCE_DATE_EPOCH
maintainer="${DEBFULLNAME:-The fastgcm developers} <${DEBEMAIL:-fastgcm@localhost}>"
trees=$(mktemp -d)
trap 'rm -rf "$trees"' EXIT
chmod 755 "$trees"

# put MODE FROM TO adds a file to the package. packed TO adds compressed standard input.
put() { install -D -m "$1" "$2" "$tree/$3"; }
packed() { gzip -9n | install -D -m 644 /dev/stdin "$tree/$1"; }

# package NAME SECTION DEPENDS < DESCRIPTION makes the package of $trees/NAME, and prints its file. Further fields of `control` are in $fields.
package() {
    tree=$trees/$1
    put 644 /dev/stdin "usr/share/doc/$1/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: fastgcm
Source: $(sed -n 's/^repository = "\(.*\)"/\1/p' $root/Cargo.toml)

Files: *
Copyright: 2026 The fastgcm developers
License: Expat or Apache-2.0

License: Expat
$(sed '1,/^Copyright/d;1,/^$/d;s/^$/./;s/^/ /' $root/LICENSE-MIT)

License: Apache-2.0
 On Debian systems the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
END
    packed "usr/share/doc/$1/changelog.gz" <<END
fastgcm ($version) unstable; urgency=medium

  * CHANGELOG.md of version $version tells what is new:
    $(sed -n 's/^repository = "\(.*\)"/\1/p' $root/Cargo.toml)

 -- $maintainer  $(LC_ALL=C date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")
END
    mkdir -p "$tree/DEBIAN"
    cat > "$tree/DEBIAN/control" <<END
Package: $1
Source: fastgcm
Version: $version
Architecture: $architecture
Section: $2
Priority: optional
Maintainer: $maintainer
Homepage: $(sed -n 's/^repository = "\(.*\)"/\1/p' $root/Cargo.toml)
Installed-Size: $(du -k --apparent-size --summarize "$tree" | cut -f1)
Depends: $3
${fields:+$fields
}Description: $(cat)
END
    (cd "$tree" && find usr etc -type f -exec md5sum {} + 2> /dev/null | LC_ALL=C sort -k 2 > DEBIAN/md5sums) || true
    chmod 644 "$tree/DEBIAN/md5sums" "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$tree" "$folder/$1_${version}_$architecture.deb" >&2
    echo "$folder/$1_${version}_$architecture.deb"
}
# stripped FILE removes the debugging symbols of a program or library.
stripped() { "${STRIP:-strip}" --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/$1"; }

#!/bin/sh
# Verifies a downloaded release: that the current folder has all of its files and no others. verify.sh KEY VERSION
# KEY is the owner's public key in two words, from SECURITY.md, and VERSION is, for example, 0.1.0. Take the script from the repository or from an earlier
# release, never from the folder that it verifies. Signatures have a namespace for each version, so that no other release passes for this one.
set -eu
key=${1:?KEY is missing: the public key that SECURITY.md has} version=${2:?VERSION is missing: such as 0.1.0}
# Removes control characters of file names, which could change the terminal.
refuse() { printf 'refused: %s\n' "$1" | LC_ALL=C tr -c '[:print:]\n' '?' >&2; exit 1; }
case $key in *[!a-zA-Z0-9@.+/=\ -]* | *' '*' '*) refuse 'KEY is not one public key in two words' ;; esac
others=$(find . ! -name . ! -type f)
[ -z "$others" ] || refuse "this is not a file, and a release has only files: $others"
signers=$(mktemp)
trap 'rm "$signers"' EXIT
printf 'fastgcm %s\n' "$key" > "$signers"
differences=$(find . -type f ! -name SHA256SUMS ! -name SHA256SUMS.sig -exec sha256sum {} + | sed 's|  \./|  |' | LC_ALL=C sort | diff SHA256SUMS -) ||
    refuse "the files (>) are not those of SHA256SUMS (<): $differences"
ssh-keygen -Y verify -f "$signers" -I fastgcm -n "fastgcm-$version" -s SHA256SUMS.sig < SHA256SUMS

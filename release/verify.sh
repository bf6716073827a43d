#!/bin/sh
# Whether the files beside this are those of the release: verify.sh [SIGNERS]. SIGNERS is a file with the key that you trust: `fastgcm ssh-ed25519 ...`.
# Without it the key beside this serves, and you compare its fingerprint, which is printed, with that of an earlier release or of the repository.
set -eu
signers=$(realpath "${1:-$(dirname "$0")/signers}")
cd "$(dirname "$0")"
ssh-keygen -q -Y verify -f "$signers" -I fastgcm -n fastgcm-release -s SHA256SUMS.sig < SHA256SUMS
sha256sum --check --strict --quiet SHA256SUMS
unknown=$(find . -type f ! -name 'SHA256SUMS*' | sed 's|^\./||' | sort | while read -r file; do grep -qF "  $file" SHA256SUMS || echo "$file"; done)
if [ -n "$unknown" ]; then echo "not in SHA256SUMS: $unknown" >&2; exit 1; fi
echo "$(wc -l < SHA256SUMS) files are those that were signed with $(sed 's/^fastgcm //' "$signers" | ssh-keygen -lf - | cut -d' ' -f2)"

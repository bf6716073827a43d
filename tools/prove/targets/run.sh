#!/usr/bin/env bash
# Gets libraries, and proves what each target asks of them: run.sh [TARGET...] [-- OPTION...]. All targets and the quick plan, if nothing is said; options are
# gcm-prove's, --sweep and --plant for example. What came of it lies in target/prove/NAME.txt and NAME.json, the table of calls in NAME.csv, in the columns of
# results/calls.csv. The exit status is that of the machinery: what is not proved is a row of a table. Two more, `fastgcm` and `aws-lc`, are proved for AArch64
# with CC=aarch64-linux-gnu-gcc and qemu-aarch64.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
cd "$here/../../.."
all=(linux ipsec-mb boringssl aws-lc openssl-3 openssl-4 libgcrypt wolfssl mbedtls ring rustcrypto graviola botan go)
targets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do targets+=("$1"); shift; done
[ $# -eq 0 ] || shift
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
cargo build --quiet --release --manifest-path tools/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}" -p gcm-prove
built=$(realpath "${CARGO_TARGET_DIR:-target}")/release/gcm-prove
export ROOT=$PWD CC=${CC-cc}
other=$("$CC" -dumpmachine | sed "s/^$(uname -m)-.*//; s/^\([^-]*\)-.*/-\1/")
for target in "${targets[@]}"; do
    export MADE=$PWD/target/prove/$target$other
    mkdir -p "$MADE"
    if ! "$here/get.sh" "$target" "$MADE" > "$MADE.log" 2>&1; then
        echo "$target: it could not be got or built: $MADE.log"
        continue
    fi
    # What the compiler is to be told stands in the first lines of the target; one that is not C is a program already.
    more=("$MADE/$target")
    if [ -e "$here/$target.c" ]; then
        read -ra more < <(sed -n 's/^ \* link: //p' "$here/$target.c" | sed 's, \*/$,,' | sed "s,\$ROOT,$ROOT,g; s,\$MADE,$MADE,g")
        more=("$here/$target.c" "${more[@]}")
    fi
    seconds=$SECONDS
    (cd "$MADE"; "$built" "${more[@]}" --json "$MADE.json" "$@") > "$MADE.txt" 2> "$MADE.log" || [ $? -eq 1 ] || cat "$MADE.log"
    awk -F ' *[|] *' -v OFS=, -v name="$target$other,$(cat "$MADE/version")" '
        / [|] calls [|] proved /, !/^[|]/ { if (/^[|] / && !/ calls /) { split($11, path, ", that of "); print name, $2, $3, $4, $5, $6, $7, $8, $9, path[1], path[2] } }
    ' "$MADE.txt" > "$MADE.csv"
    echo
    echo "**$target$other** ($(cat "$MADE/version")), $((SECONDS - seconds)) s"
    sed -n '/ | calls | proved /,$p; /| fault | executed at /,$p; /| of any length |/,$p' "$MADE.txt"
done

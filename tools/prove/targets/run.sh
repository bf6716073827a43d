#!/usr/bin/env bash
# Gets libraries, and proves the calls of their wrappers: run.sh [LIBRARY...] [-- OPTION...]. A library is a name in tools/aead/libraries (builds.txt, too), or a wrapper of yours in C,
# by its path; without one it is each of `all`. Options are gcm-prove's, --sweep and --plant for example; the quick plan without. What came of it lies in
# target/prove/NAME.txt and NAME.json, the table of calls in NAME.csv, in the first columns of results/calls.csv. The exit status is that of the machinery: what is not proved is a row of a table. With CC=aarch64-linux-gnu-gcc aws-lc is proved
# for AArch64, under qemu-aarch64.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../../..")
libraries=$root/tools/aead/libraries
all=(linux ipsec-mb-2 boringssl aws-lc openssl-system openssl-4.0 libgcrypt wolfssl-5.9 mbedtls ring rustcrypto-0.11 graviola botan go)
asked=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do asked+=("$1"); shift; done
[ $# -eq 0 ] || shift
[ ${#asked[@]} -gt 0 ] || asked=("${all[@]}")
machine=$("${CC-cc}" -dumpmachine)
other=
[ "${machine%%-*}" = "$(uname -m)" ] || other=-${machine%%-*}
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
mkdir -p "$target/prove"
(cd "$root" && cargo build --quiet --release --manifest-path tools/Cargo.toml --target-dir "$target" -p gcm-prove)

# Builds what gcm-prove is to be told of the wrapper `page`: `more`; and `version`, if somebody else than the library says it.
built() {
    local made folder packages link
    line() { sed -n "1,30s,^ \* $1: \([^*]*[^* ]\).*,\1,p" "$page" | xargs; }
    case $page in
    *.rs)
        more=$(basename "$page" .rs)
        cargo rustc --release --locked --manifest-path "$libraries/Cargo.toml" --target-dir "$target" --features "${more//./-}" --example "${more//./-}" --crate-type staticlib || return
        more=("$target/release/examples/lib${more//[.-]/_}.a")
        ;;
    *)
        (cd "$root" && bash -c "$(line before)") || return
        made=$(line made)
        folder=$target/made/$made$other
        [ -z "$made" ] || [ -e "$folder/version" ] || sh "$libraries/make.sh" "$made" "$folder" || return
        version=$([ -z "$made" ] || cat "$folder/version")
        read -ra packages <<< "$(line debian)"
        [ ${#packages[@]} -eq 0 ] || dpkg -s "${packages[@]}" || "$root/.ci/need" - "${packages[@]}" || return
        link=$(line link | sed "s,\$ROOT,$root,g; s,\$HERE,$libraries,g; s,\$MADE,$folder,g")
        read -ra more <<< "-w $page $link"
        ;;
    esac
    more=("-I$root/tools/aead" "-I$here" "${more[@]}")
    case $page in *.cc) more+=(-lstdc++ -lm) ;; esac
}

# Writes the page of a build of builds.txt, which includes its wrapper.
page_of_build() {
    awk -v name="$1:" -v libraries="$libraries" '
        $1 == name { wrapper = $2; print "/*"; own = 1; next }
        /^[^ ]/ { own = 0 }
        own { sub(/^ +/, " * "); print }
        END { printf " */\n#include \"%s/%s\"\n", libraries, wrapper }
    ' "$libraries/builds.txt"
}

for name in "${asked[@]}"; do
    page=$(ls "$libraries/$name".{c,cc,rs} "$name" 2> /dev/null | head -1) || true
    if [ -z "$page" ] && grep -q "^$name: " "$libraries/builds.txt"; then
        page=$target/prove/$name.page.c
        page_of_build "$name" > "$page"
    fi
    name=$(basename "${name%.c}")$other version= seconds=$SECONDS
    folder=$target/prove/$name
    mkdir -p "$folder"
    # Go is a program already.
    if [ "$name" = go ]; then
        (cd "$here/go" && CGO_ENABLED=0 go build -trimpath -o "$folder/go" .) && version=$(go version)
        more=("$folder/go")
    elif built > "$folder.log" 2>&1; then
        echo "#include \"$here/aead.c\"" > "$folder/$name.c"
        more=("$folder/$name.c" "${more[@]}")
    else
        echo "$name: it could not be got or built: $folder.log"
        continue
    fi
    (cd "$folder" && "$target/release/gcm-prove" "${more[@]}" --json "$folder.json" "$@") > "$folder.txt" 2> "$folder.log" || [ $? -eq 1 ] || cat "$folder.log"
    echo
    about=$(sed -n "s/.*before the marker: \(.*\): each call.*/\1/p" "$folder.txt" | head -1)
    echo "**$name** ($about${about:+${version:+, }}$version), $((SECONDS - seconds)) s"
    awk -F ' *[|] *' -v OFS=, -v name="$name,\"$about${about:+${version:+; }}$version\"" '
        / [|] calls [|] proved /, !/^[|]/ { if (/^[|] / && !/ calls /) { split($11, path, ", that of "); print name, $2, $3, $4, $5, $6, $7, $8, $9, path[1], path[2] } }
    ' "$folder.txt" > "$folder.csv"
    sed -n '/ | calls | proved /,$p; /| fault | executed at /,$p; /| of any length |/,$p' "$folder.txt"
done

#!/bin/bash
# Holds the library of this working tree against that of a commit. README.md says how.
#
#     before.sh messages|cold|verbs [--backend NAME|all] [--only PART OF A GROUP OR CELL] [--quick]
#     before.sh sizes
#
# OLD and NEW are commits or folders of working trees. RUN comes before the program that measures. ORDERS is `1 2`, or one of these.
set -euo pipefail
cd "$(dirname "$0")"
old=${OLD:-0d62d85} new=${NEW:-$(realpath ../../..)} run=${RUN:-} orders=${ORDERS:-1 2}
# One at a time: what it builds has one place.
mkdir -p target
exec 9> target/lock
flock 9

# Names of functions tell their row.
export RUSTFLAGS="-C symbol-mangling-version=v0 ${RUSTFLAGS:-}"

# place old|new COMMIT|FOLDER NAME: a package with those sources. The name decides which of the two comes first in a program. A feature that
# nothing asks for tells cargo that these are other sources, which their dates need not.
place() {
    local from=$2 mark
    if [[ ! -d $from ]]; then
        from=target/at/$(git rev-parse --verify "$2^{commit}")
        if [[ ! -d $from ]]; then
            mkdir -p "$from.new"
            git -C ../../.. archive "${from##*/}" crates/fastgcm | tar -x -C "$from.new"
            mv "$from.new" "$from"
        fi
    fi
    from=$(realpath "$from")/crates/fastgcm
    mark=at-$(cksum <<< "$from" | cut -d' ' -f1)
    mkdir -p "target/$1"
    ln -sfn "$from/src" "target/$1/src"
    {
        printf '[package]\nname = "fastgcm-%s"\nversion = "0.0.0"\nedition = "2024"\n[lib]\nname = "%s"\n' "$1" "$3"
        printf '[lints.rust]\nunexpected_cfgs = "allow"\n'
        sed -n '/^\[features\]/,/^\[dev-dependencies\]/p' "$from/Cargo.toml" | sed '$d' |
            sed "s/^default = \[/$mark = []\ndefault = [\"$mark\", /"
    } > "target/$1/Cargo.toml"
}

# Which of them the linker sees first.
order() {
    if [[ $1 == 1 ]]; then
        place old "$old" gcm_first && place new "$new" gcm_second
    else
        place new "$new" gcm_first && place old "$old" gcm_second
    fi
}

measure() {
    # Functions that are the same in both libraries stay two: the linker would make them one, which is never slower than itself (LLVM 21 and later).
    RUSTFLAGS+=" -C llvm-args=-opt-disable=mergefunc"
    for order in $orders; do
        order "$order"
        cargo build --quiet --release
        cp target/release/fastgcm-before "target/order-$order"
    done
    # Cold caches: which pages the system gives to a program counts, so it starts several times. Some
    # starts are up to 25 % off, hence the median of them.
    local starts=1 files=()
    if [[ $1 == cold ]]; then starts=5; fi
    for order in $orders; do
        for launch in $(seq $starts); do
            files+=("target/cells-$order-$launch")
            # shellcheck disable=SC2086
            $run "target/order-$order" "$@" > "${files[-1]}"
        done
    done
    "target/order-${orders%% *}" report "${files[@]}"
}

# The text of one program, stripped: code and constants.
text() { size "$1" | awk 'NR == 2 { print $1 }'; }

# How much larger a program is than an empty one.
grows() { echo $(($(text "target/size-$1-$2") - $(text "target/size-$1-none"))); }

# Bytes of a program's functions of the library, by row; key set-up apart.
functions() {
    nm -S -t d --demangle --defined-only "$1" | awk '
        $3 !~ /^[tT]$/ || !/gcm_(first|second)::/ || seen[$1]++ { next }
        /::(expand|derive|wipe)/ { bytes["key set-up"] += $2; next }
        /vaes_avx512|Vaes512/ { row = "vaes-avx512" }
        /vaes_avx2:|Vaes256/ { row = "vaes-avx2" }
        /aesni_avx|AesAvx/ { row = "aesni-avx" }
        /aesni_sse|AesSse/ { row = "aesni-sse" }
        { bytes["these four"] += row ? $2 : 0 }
        !row { row = /ssse3|Ssse3/ ? "vpaes-ssse3" : /portable|Portable/ ? "portable" : "shared" }
        { bytes[row] += $2; row = "" }
        END { for (row in bytes) print row "\t" bytes[row] }'
}

# One row of what `functions` told.
of() { awk -F '\t' -v row="$1" '$1 == row { bytes = $2 } END { print bytes + 0 }' "target/functions-$2"; }

line() { printf '    %-44s %8d %8d\n' "$@"; }

sizes() {
    order 1
    local which what name
    for which in old new; do
        for what in none message all; do
            cargo build --quiet --release --bin fastgcm-size --features "size-$what,size-$which"
            cp target/release/fastgcm-size "target/size-$which-$what"
        done
    done
    printf 'bytes of machine code%36s %8s\n' old new
    for what in message all; do
        [[ $what == all ]] && echo 'with pieces, lists, batch, once, SIV, XAES' || echo 'seal and open'
        for which in old new; do functions "target/size-$which-$what" > "target/functions-$which-$what"; done
        for name in vaes-avx512 vaes-avx2 aesni-avx aesni-sse 'these four' vpaes-ssse3 portable 'key set-up' shared; do
            line "$name" "$(of "$name" "old-$what")" "$(of "$name" "new-$what")"
        done
        line 'the program grows by' "$(grows old $what)" "$(grows new $what)"
    done
    echo "compile time, release, user, s"
    for which in old new; do
        cargo build --quiet --profile alone --package fastgcm-$which
        cargo clean --quiet --profile alone --package fastgcm-$which
        TIMEFORMAT="    $which %U"
        time cargo build --quiet --profile alone --package fastgcm-$which
    done
}

case ${1:-} in
    messages | cold | verbs) measure "$@" ;;
    sizes) sizes ;;
    *) sed -n '2,7s/^# \?//p' "$0"; exit 2 ;;
esac

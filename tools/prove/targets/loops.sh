#!/usr/bin/env bash
# Loops as libraries have them, by induction: what is right is proved, and what is wrong is not. loops.sh GCM-PROVE
set -euo pipefail
target=$(dirname "$(realpath "$0")")/loops.c
count=0
# Whether it is proved; the verb; what else gcm-prove is told.
says() {
    local want=$1 verb=$2 got=0
    shift 2
    "$program" "$target" -O2 -maes -mpclmul -mssse3 -msse4.1 --row aesni-sse --lengths --verb "$verb" "$@" >"$told" || got=$?
    if [ $got != "$want" ]; then
        echo "$verb $*: $got, not $want" >&2
        cat "$told" >&2
        exit 1
    fi
    count=$((count + 1))
}
program=$(realpath "$1")
told=$(mktemp)
trap 'rm "$told"' EXIT
says 1 seal -DFAULT=1
says 1 seal -DFAULT=2
says 1 seal -DFAULT=3
says 1 'open in place, lagging' -DFAULT=4
says 0 'open in place, lagging'
says 1 'seal, nested' -DFAULT=5
says 0 'open, nested' --every 61
echo "proof::loops ok $count"

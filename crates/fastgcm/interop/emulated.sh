#!/usr/bin/env bash
# Right answers of the back ends that few machines can run, those that FASTGCM_ONLY names, on an emulated processor (lab/emulate). It executes some 20
# million instructions a second: so the suites are quick, and on one boot. A step of a trace takes as long as 4,000 instructions there, since the kernel stands
# between any two: fewer secrets (`FASTGCM_EMULATED`). Programs are linked statically: there is nothing else on that machine. It has no valgrind, which
# knows neither VAES nor AVX-512, and no traces of 128 KiB, a quarter of a minute for each.
set -euo pipefail
cd "$(dirname "$0")/../../.."
programs=()
built() { # FEATURES, what the harness is told, and what Cargo builds
    found=$(RUSTFLAGS='-C target-feature=+crt-static' cargo test --no-run --message-format json -p fastgcm --target x86_64-unknown-linux-gnu \
        --target-dir target/emulated --features "$1" "${@:3}" | grep -o '"executable":"[^"]*"' | cut -d'"' -f4)
    for program in $found; do programs+=(then "$program" --nocapture --test-threads=1 $2); done
}
built hazmat '' --test known_answers --test long_known_answers --test api --test aliasing --test registers \
    --test guard_pages --test every_length --test once --test siv
built hazmat f16 --test memory # F5 is refused before any row is asked
built draft,hazmat 'vectors_of is_a_derived f01' --test xaes --test committing
if [ -n "${FASTGCM_FULL+set}" ]; then # ten minutes more
    built hazmat proof::compiled --lib
    built hazmat 'traces::f14 traces::f15' --test constant_time
    built hazmat '' --test wiping
    built hazmat,scrub '' --test wiping
fi
# Where Cargo runs tests.
emulate() { (unset FASTGCM_FULL && cd crates/fastgcm && python3 ../../lab/emulate/emulate.py --timeout 3600 --file "$PWD/../../testdata" "$@"); }
FASTGCM_QUICK=1 FASTGCM_EMULATED=1 emulate "${programs[@]:1}"
# All lengths up to 16 MiB, but not of every key and nonce: minutes.
if [ -n "${FASTGCM_FULL+set}" ]; then emulate "$(printf '%s\n' "${programs[@]}" | grep /long_known_answers-)" --nocapture --test-threads=1; fi

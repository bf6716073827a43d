#!/usr/bin/env bash
# The known answers on optimised builds of every kind (F11). A project of intrinsics has put the compiler where others have assembly, and compilers are
# wrong too: code that is right at one level of optimisation, for one processor, may be wrong at another. Two values of any two columns meet in one of
# these builds, but for the level of optimisation with the processor (24 pairs, 14 here) and with LTO (18, 14 here), which fourteen cannot hold.
# FASTGCM_SHARD=i/n: the i-th part of n.
set -euo pipefail
cd "$(dirname "$0")/../../.."
IFS=/ read -r part parts <<<"${FASTGCM_SHARD:-1/1}"
unset FASTGCM_FULL # without optimisation, all lines of the long answers take an hour
builds=0
while read -r opt cpu lto toolchain <&3; do
    name="opt-level $opt, $cpu, LTO $lto, $toolchain" builds=$((builds + 1))
    ((builds % parts == part % parts)) || continue
    if [ "$toolchain" = nightly ] && ! RUSTUP_TOOLCHAIN=nightly rustc --version; then echo "SKIPPED compilers: $name: no nightly toolchain"; continue; fi
    case $cpu in x86-64-v3) flag=avx2 ;; x86-64-v4) flag=avx512vl ;; *) flag=flags ;; esac
    if ! grep -qw "$flag" /proc/cpuinfo; then echo "SKIPPED compilers: $name: no $flag on this processor"; continue; fi
    (
        if [ "$toolchain" = nightly ]; then export RUSTUP_TOOLCHAIN=nightly && unset RUSTC; fi
        if [ "$cpu" != default ]; then export RUSTFLAGS="-C target-cpu=$cpu"; fi
        if [ "$opt" = 0 ]; then export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true; fi
        CARGO_TARGET_DIR=target/compilers CARGO_PROFILE_RELEASE_OPT_LEVEL=$opt CARGO_PROFILE_RELEASE_LTO=$lto cargo test --release -p fastgcm \
            --test known_answers --test long_known_answers --test compiler -- --nocapture
    ) > target/compilers.log 2>&1 || { cat target/compilers.log; echo "wrong in the build with $name" >&2; exit 1; }
    grep 'compiler: ' target/compilers.log # what the canary said. It is dead in some builds, and the library has nothing that this fault of LLVM is about:
    programs=$(sed -n 's/.*known_answers\.rs (\(.*\))$/\1/p' target/compilers.log)
    for program in ${programs:?}; do cargo run --quiet --release --target-dir target/proof -p fastgcm-asm -- --signs "$program"; done
    echo "compilers: $name: right"
done 3<<'END'
3 native thin stable
z x86-64-v3 off stable
3 default off stable
0 x86-64-v4 off nightly
2 x86-64-v3 fat stable
z native thin nightly
1 default fat nightly
1 x86-64-v4 thin stable
s native fat stable
s x86-64-v3 thin nightly
3 x86-64-v4 fat nightly
0 x86-64-v3 fat stable
2 native off nightly
2 default thin stable
END
((builds == 14))

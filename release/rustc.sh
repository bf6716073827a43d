#!/bin/sh
# Cargo's RUSTC_WRAPPER: one name stands for each folder of the machine that builds, so that its name is in no file.
exec "$@" "--remap-path-prefix=$FASTGCM_SOURCE=/source" "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=/crates"

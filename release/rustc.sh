#!/bin/sh
# Cargo's RUSTC_WRAPPER: replaces the folders of the building machine by fixed names, so that no file contains them.
exec "$@" "--remap-path-prefix=$FASTGCM_SOURCE=/source" "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=/crates"

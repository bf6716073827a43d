#!/usr/bin/env bash
# quinn's own tests with `rustls-fastgcm`. In the copy of `quinn-proto` the provider that it takes by default is wrapped, and `quinn` is built over it.
set -euo pipefail
cd "$(dirname "$0")/../../.."
workspace=$'\n[workspace]\n[profile.dev]\ndebug = false\n'
.ci/foreign quinn-proto 0.11.19 quinn-proto <<< "[dependencies.rustls-fastgcm]
path = \"$PWD/crates/rustls-fastgcm\"
$workspace"
taken='rustls::crypto::ring::default_provider()' source=target/others/quinn-proto/src/crypto/rustls.rs
[ "$(grep -c "$taken" "$source")" = 1 ]
sed -i "s/$taken/rustls_fastgcm::with(&)/" "$source"
.ci/foreign --test quinn-proto --lib
.ci/foreign quinn 0.11.12 quinn <<< "[patch.crates-io]
quinn-proto = { path = \"../quinn-proto\" }
$workspace"
.ci/foreign --test quinn --lib

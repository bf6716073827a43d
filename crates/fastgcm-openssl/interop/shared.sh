#!/bin/bash
# Threads and forks with the provider, with ASan and under valgrind: shared.sh MODULE, from the repository's root.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed "s|^module = fastgcm.so|module = $(realpath "$1")|" crates/fastgcm-openssl/fastgcm.cnf > "$folder/openssl.cnf"
export OPENSSL_CONF=$folder/openssl.cnf
build() { cc -std=gnu11 -Wall -Wextra -Werror -g crates/fastgcm-openssl/interop/shared.c "$@" -lcrypto -lpthread; }
build -fsanitize=address,undefined -fno-sanitize-recover=all -o "$folder/asan"
build -o "$folder/plain"
count=0
run() { [[ $("$@") == "shared ok" ]] && count=$((count + 1)); }
run "$folder/plain"
run "$folder/asan"
FASTGCM_BACKEND=portable run "$folder/asan"
run valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect --trace-children=yes "$folder/plain"
echo "openssl::shared ok $count"

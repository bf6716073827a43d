#!/bin/sh
# linux.sh FOLDER fetches AES-GCM of Linux, before and after the commit of 2024, and builds libraries of it. `6.1` and `6.12` hold the kernel's sources
# and objects; `6.1.so` and `6.12.so` are the libraries.
# Needs the tools of tools/aead/libraries/make.sh for it, and a C compiler.
#
# The kernel has addresses of 31 bits, a library any address. So two loads become relative to the program counter: one of another mode, and one for the
# end of AAD whose length is not a multiple of 16, which has one more instruction then.
set -eu
libraries=$(realpath "$(dirname "$0")/../../tools/aead/libraries")
mkdir -p "$1"
cd "$1"
for version in 6.1 6.12; do
    [ -e "$version/version" ] || "$libraries/make.sh" linux "$version" "$version"
    mkdir -p moved
    for source in "$version"/*.S; do
        moved=moved/${source##*/}
        sed 's/movaps .Lbswap_mask,/movaps .Lbswap_mask(%rip),/
            s/vmovdqu  aad_shift_arr(%r11)/lea aad_shift_arr(%rip), %rax; vmovdqu (%rax, %r11)/' "$source" >"$moved"
        cc -c -I "$libraries/stubs" -o "${source%.S}.o" "$source"
    done
    cc -shared -nostdlib -DVISIBLE -I "$libraries/stubs" -o "$version.so" moved/*.S
    rm -r moved
done

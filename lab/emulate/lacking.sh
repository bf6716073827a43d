#!/usr/bin/env bash
# lacking.sh BITS QEMU... runs a program on a processor that seems to lack a feature. qemu emulates no AArch64 without AES and has no switch for it; but user
# code cannot read the identification registers and asks the kernel, whose answer (`AT_HWCAP`, 16) lies on the program's stack, in the auxiliary vector.
# qemu stops before the first instruction and waits for gdb, which clears the bits.
set -euo pipefail
bits=$1 socket=$(mktemp -u) qemu=$2
"$qemu" -g "$socket" "${@:3}" &
until [ -S "$socket" ]; do sleep 0.02; done
# The stack has argc; arguments and a zero; environment and a zero; pairs of the auxiliary vector.
cat > "$socket.gdb" << EOF
set architecture aarch64
target remote $socket
set \$word = (long *)\$sp + 1
while *\$word++ != 0
end
while *\$word++ != 0
end
while *\$word != 16
  if *\$word == 0
    quit 1
  end
  set \$word = \$word + 2
end
if (\$word[1] & $bits) != $bits
  quit 1
end
set var \$word[1] = \$word[1] & ~$bits
detach
EOF
timeout 60 gdb-multiarch -nx -batch -x "$socket.gdb" > "$socket.log" 2>&1 || { cat "$socket.log" >&2; exit 1; }
rm -f "$socket"*
wait $!

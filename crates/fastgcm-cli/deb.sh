#!/bin/sh
# Builds a Debian package of the program `fastgcm`, with manual, completions and open.html: deb.sh [FOLDER], prints the file's name. release/deb.sh says how
# to do it for another machine.
set -eu
cd "$(dirname "$0")"
. ../../release/deb.sh
cargo build --quiet --release --locked --package fastgcm-cli --features age ${TARGET:+--target "$TARGET"}
tree=$trees/fastgcm
program() { ${RUNNER:-} "$built/fastgcm" "$@"; }
put 755 "$built/fastgcm" usr/bin/fastgcm
stripped usr/bin/fastgcm
put 644 README.md usr/share/doc/fastgcm/README.md
put 644 open.html usr/share/fastgcm/open.html
page() { packed "usr/share/man/man1/$1.1.gz"; }
program man | page fastgcm
for command in $(program --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -v help); do
    program man "$command" | page "fastgcm-$command"
done
completion() { program completions "$1" | put 644 /dev/stdin "usr/share/$2"; }
completion bash bash-completion/completions/fastgcm
completion zsh zsh/vendor-completions/_fastgcm
completion fish fish/vendor_completions.d/fastgcm.fish
package fastgcm utils "$libc, libgcc-s1" <<'END'
seals and opens files with AES-GCM at the speed of the disk
 Sealed files are in Cobblestone format (C2SP chunked encryption), which other
 software opens. Key files can be locked with age. The page
 /usr/share/fastgcm/open.html opens sealed files in a browser.
END

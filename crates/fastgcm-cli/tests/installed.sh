#!/usr/bin/env bash
# Installs the program in each way that its page names, and seals and opens a file with what was installed: installed.sh, as root on Debian.
set -euo pipefail
cd "$(dirname "$0")/../../.."
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
count=0
# It works, with locked key files, too.
works() {
    rm -rf "$there/try" && mkdir "$there/try" && cp README.md "$there/try/text" && echo secret > "$there/try/passphrase" && chmod 600 "$there/try/passphrase"
    (
        cd "$there/try"
        export FASTGCM_PASSPHRASE_FILE=passphrase
        "$1" selftest --quiet
        "$1" keygen -p -o key
        "$1" seal -q -k key text
        "$1" open -k key -o opened text.sealed
        cmp text opened
    )
    count=$((count + 1))
}

line=$(grep -oE 'cargo install (--locked )?--path crates/fastgcm-cli( --features age)?' crates/fastgcm-cli/README.md | head -1)
bash -c "${line/ --locked/} --locked --root '$there/cargo' --target-dir target"
works "$there/cargo/bin/fastgcm"

# From the repository, as git has it: what is committed.
cargo install --git "file://$PWD" --locked --features age --root "$there/git" --target-dir target fastgcm-cli
works "$there/git/bin/fastgcm"

package=$(crates/fastgcm-cli/deb.sh "$there")
dpkg -i "$package"
works /usr/bin/fastgcm
# What a container of Debian's leaves out when it installs: the manual.
dpkg-deb -x "$package" "$there/files"
share=$there/files/usr/share
for file in man/man1/fastgcm.1.gz man/man1/fastgcm-rekey.1.gz zsh/vendor-completions/_fastgcm fish/vendor_completions.d/fastgcm.fish; do
    [ -s "$share/$file" ]
done
cmp crates/fastgcm-cli/open.html "$share/fastgcm/open.html"
MANROFFSEQ='' man --warnings --local-file "$share/man/man1/fastgcm-seal.1.gz" 2> "$there/warnings" > "$there/page"
grep -q 'A password is no key' "$there/page"
[ ! -s "$there/warnings" ]
bash -c 'source "$0"; COMP_WORDS=(fastgcm rek) COMP_CWORD=1; _fastgcm fastgcm rek fastgcm; [ "${COMPREPLY[*]}" = rekey ]' \
    "$share/bash-completion/completions/fastgcm"
dpkg --purge fastgcm
[ ! -e /usr/bin/fastgcm ]

if rustup target add x86_64-unknown-linux-musl; then
    line=$(grep -o 'cargo build --release -p fastgcm-cli --features age --target x86_64-unknown-linux-musl' crates/fastgcm-cli/README.md | head -1)
    bash -c "$line --locked"
    static=target/x86_64-unknown-linux-musl/release/fastgcm
    if ldd "$static" 2> /dev/null | grep -q '=>'; then exit 1; fi
    works "$PWD/$static"
else
    echo 'SKIPPED installed::musl: rustup has no standard library for musl here'
fi
echo "installed ok $count"

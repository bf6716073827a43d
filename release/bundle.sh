#!/bin/sh
# Makes the bundle for Maven Central, bundle.zip next to the folder of a release: bundle.sh FOLDER [OPTION OF GPG].... It has the layout of a repository,
# each file with its sums and the owner's signature.
set -eu
release=$(realpath "$1") folder=$(mktemp -d)
bundle=$(dirname "$release")/bundle.zip
shift
trap 'rm -r "$folder"' EXIT
place=$folder/io/github/fastgcm/fastgcm-java/$(basename "$release")
mkdir -p "$place"
cp "$release"/fastgcm-java-*.jar "$release"/fastgcm-java-*.pom "$place"
cd "$place"
for file in *; do
    gpg "$@" --armor --detach-sign "$file"
    for sum in md5 sha1; do "${sum}sum" < "$file" | cut -d' ' -f1 > "$file.$sum"; done
done
cd "$folder"
python3 -m zipfile -c "$bundle" io

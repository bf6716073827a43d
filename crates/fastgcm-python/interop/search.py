"""Is the key anywhere? `search.py FOLDER` looks for FASTGCM_KEY, raw, in hex and in base64, in all files below: what engines have serialized, logged, and
left in temporary files. One file with the key is planted, and must be found."""

import base64
import os
import pathlib
import sys


def forms(key):
    yield from (key, key.hex().encode(), key.hex().upper().encode(), repr(key)[2:-1].encode())
    yield from (base64.b64encode(key).rstrip(b"="), base64.urlsafe_b64encode(key).rstrip(b"="))
    # Base64 of something longer has the key at one of three places.
    yield from (base64.b64encode(bytes(shift) + key)[4 : 4 * (len(key) // 3)] for shift in (1, 2))


def no_key_anywhere(folder, name="data"):
    key = bytes.fromhex(os.environ["FASTGCM_KEY"])
    wanted = set(forms(key))
    planted = folder / "planted"
    planted.write_bytes(b"x" * 100 + base64.b64encode(b"zz" + key))
    found, searched = [], 0
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "text":
            data = path.read_bytes()
            searched += 1
            found += [path for form in wanted if form in data]
    planted.unlink()
    if set(found) != {planted}:
        sys.exit(f"the key stands in {sorted(set(map(str, found)) - {str(planted)}) or 'no file, not even in the planted one'}")
    print(f"looked for the key in {searched} files")
    print(f"{name}::no_key_anywhere ok 1", flush=True)


if __name__ == "__main__":
    no_key_anywhere(pathlib.Path(sys.argv[1]))

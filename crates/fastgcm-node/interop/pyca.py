"""Sealed files between the package for Node and pyca/cryptography (>= 50), both ways, as streams, as files and in ranges:

    python crates/fastgcm-node/interop/pyca.py NODE_MODULE [SEED]

NODE_MODULE is what `require` finds: crates/fastgcm-node.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "crates/fastgcm-cli/tests"))
from pyca_interop import FORMATS, crypt, lengths  # noqa: E402

# It opens theirs in each way, and seals the texts.
NODE = """
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pipeline } = require('node:stream/promises');
const [module_, folder] = process.argv.slice(1);
const { CobblestoneOpener, CobblestoneSealer, SealedFile, openFile, sealFile } = require(module_);

async function main() {
    const cases = JSON.parse(fs.readFileSync(path.join(folder, 'cases.json'), 'utf8'));
    for (const [number, { key, context, range }] of cases.entries()) {
        const at = (name) => path.join(folder, `${number}.${name}`);
        const [bytes, options] = [Buffer.from(key, 'hex'), { context: Buffer.from(context) }];
        const text = fs.readFileSync(at('text'));
        const same = (opened) => assert.ok(opened.equals(text), `${number}`);
        await pipeline(fs.createReadStream(at('theirs')), new CobblestoneOpener(bytes, options), fs.createWriteStream(at('opened')));
        same(fs.readFileSync(at('opened')));
        await openFile(bytes, at('theirs'), at('opened'), { ...options, overwrite: true });
        same(fs.readFileSync(at('opened')));
        const file = await SealedFile.open(bytes, at('theirs'), options);
        same(await file.read());
        assert.ok((await file.read(...range)).equals(text.subarray(...range)), `${number}: ${range}`);
        await file.close();
        await pipeline(fs.createReadStream(at('text')), new CobblestoneSealer(bytes, options), fs.createWriteStream(at('stream')));
        await sealFile(bytes, at('text'), at('file'), options);
    }
}

main();
"""


def main(module, seed):
    print("seed", seed)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        folder, cases = pathlib.Path(directory), []
        for _, key_len, encryptor, decryptor in FORMATS:
            for length in lengths(rng):
                key, text = rng.randbytes(key_len), rng.randbytes(length)
                number, context = len(cases), "context %d \u00e9" % len(cases) if len(cases) % 3 else ""
                (folder / f"{number}.text").write_bytes(text)
                (folder / f"{number}.theirs").write_bytes(crypt(encryptor, key, context, text))
                ends = sorted(rng.randrange(length + 1) for _ in range(2))
                cases.append({"key": key.hex(), "context": context, "range": ends, "decryptor": decryptor})
        described = [{name: case[name] for name in ("key", "context", "range")} for case in cases]
        (folder / "cases.json").write_text(json.dumps(described))
        subprocess.run(["node", "-e", NODE, pathlib.Path(module).resolve(), folder], check=True)
        for number, case in enumerate(cases):
            text = (folder / f"{number}.text").read_bytes()
            for name in ("stream", "file"):
                sealed = (folder / f"{number}.{name}").read_bytes()
                if crypt(case["decryptor"], bytes.fromhex(case["key"]), case["context"], sealed) != text:
                    sys.exit(f"pyca refuses {name} {number}, or finds another text in it")
    print("node::pyca ok", 5 * len(cases))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32))

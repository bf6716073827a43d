'use strict';
// The part of pyca.py that Node does: `node pyca.js MODULE FOLDER`.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pipeline } = require('node:stream/promises');
const [, , module_, folder] = process.argv;
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

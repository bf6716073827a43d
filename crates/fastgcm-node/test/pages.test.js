'use strict';
// The code of README.md and docs/node.md: each block is a file that somebody types and runs. (Those in
// TypeScript are for crates/fastgcm-node/interop/packages.py.)

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { folder: newFolder, suite } = require('./support.js');

const passed = suite('pages');
const here = path.join(__dirname, '..');
const folder = newFolder();
fs.writeFileSync(path.join(folder, 'package.json'), '{ "name": "project", "type": "commonjs" }');
fs.mkdirSync(path.join(folder, 'node_modules'));
fs.symlinkSync(here, path.join(folder, 'node_modules/fastgcm'));

for (const page of ['README.md', '../../docs/node.md']) {
    const blocks = fs.readFileSync(path.join(here, page), 'utf8').matchAll(/^```js\n(.*?)^```/gms);
    for (const [number, [, code]] of [...blocks].entries()) {
        test(`${page}, block ${number}`, () => {
            // As `npm init` makes a project, files in .js are CommonJS.
            const ending = /\brequire\(/.test(code) ? 'js' : 'mjs';
            const file = path.join(folder, `${path.basename(page, '.md')}-${number}.${ending}`);
            fs.writeFileSync(file, code);
            // Who tries an example tries it twice.
            for (let round = 0; round < 2; round++) {
                const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
                // A wrong assertion of `console` only says so.
                assert.deepEqual([status, stdout, stderr], [0, '', '']);
            }
            passed(1);
        });
    }
}

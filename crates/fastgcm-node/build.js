'use strict';
// Builds the library of this machine with Rust, where lib/native.js looks for it first.

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

execFileSync('cargo', ['build', '--release', '--locked', ...process.argv.slice(2)], {
    cwd: __dirname,
    stdio: 'inherit',
});
const target = process.env.CARGO_TARGET_DIR ?? path.join(__dirname, 'target');
const libc = fs.readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-') ? 'musl' : 'gnu';
const built = path.join(__dirname, `fastgcm.${process.platform}-${process.arch}-${libc}.node`);
fs.rmSync(built, { force: true }); // a process may have it
fs.copyFileSync(path.join(target, 'release/libfastgcm_node.so'), built);

'use strict';
// Builds the library of this machine with Rust, where lib/native.js looks for it first. Takes Cargo's options.

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const options = process.argv.slice(2);
// Cargo would look for a relative folder from elsewhere.
const target = path.resolve(process.env.CARGO_TARGET_DIR ?? path.join(__dirname, '../../target'));
execFileSync('cargo', ['build', '--release', '--locked', ...options], { cwd: __dirname, stdio: 'inherit', env: { ...process.env, CARGO_TARGET_DIR: target } });
const triple = options[options.indexOf('--target') + 1];
const library = path.join(target, options.includes('--target') ? triple : '', 'release/libfastgcm_node.so');
const libc = fs.readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-') ? 'musl' : 'gnu';
const built = path.join(__dirname, `fastgcm.${process.platform}-${process.arch}-${libc}.node`);
fs.rmSync(built, { force: true }); // a process may have it
fs.copyFileSync(library, built);

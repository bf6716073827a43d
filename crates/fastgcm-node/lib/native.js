'use strict';
// Finds the library of this machine: a package that npm has installed beside this one, or a file that was
// built here.

const { readFileSync } = require('node:fs');
const { version } = require('../package.json');

// Those that are published, as npm names processors; of Linux with the C library. On each machine the first
// that loads is taken.
const PUBLISHED = ['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'linux-arm64-musl'];

function candidates() {
    const here = `${process.platform}-${process.arch}`;
    const mine = PUBLISHED.filter((name) => name.startsWith(`${here}-`));
    let maps = '';
    try {
        maps = readFileSync('/proc/self/maps', 'latin1');
    } catch {
        // Not everybody may read it: glibc is tried first.
    }
    return /\/(ld-musl-|libc\.musl-)/.test(maps) ? mine.reverse() : mine;
}

function load() {
    const tried = [];
    const mine = candidates();
    for (const name of mine) {
        for (const path of [`../fastgcm.${name}.node`, `@fastgcm/${name}`]) {
            try {
                const native = require(path);
                if (native.version() === version) return native;
                tried.push(`${path} is of version ${native.version()}`);
            } catch (error) {
                // Of what is not there nothing need be said.
                if (error.code !== 'MODULE_NOT_FOUND') tried.push(`${path}: ${error.message}`);
            }
        }
    }
    const packages = mine.map((name) => `@fastgcm/${name}`).join(' or ');
    const why =
        mine.length === 0
            ? `fastgcm ${version} has no library for ${process.platform} on ${process.arch}: it has ${PUBLISHED.join(', ')}.`
            : `fastgcm ${version} does not find its library for this machine: the package ${packages}, version ${version}. ` +
              'npm leaves it out with --omit=optional, or with a lock file of another machine: then remove node_modules and the lock file, and install again.';
    const error = new Error([why, ...tried].join('\n'));
    error.code = 'ERR_FASTGCM_NO_LIBRARY';
    throw error;
}

module.exports = load();

'use strict';
// Finds the library of this machine.

const { existsSync, readFileSync } = require('node:fs');
const path = require('node:path');
const { version } = require('./version.js');

/** Where they may be. In a `try`, other bundlers pass over the name that only webpack understands. */
function libraries() {
    if (typeof __webpack_require__ !== 'function') return require('./libraries.js');
    try {
        return require('!!./webpack.js!./libraries.js');
    } catch (error) {
        throw error;
    }
}
const { LIBRARIES } = libraries();

// Those that are published, as npm names processors; of Linux with the C library. On each machine the first
// that loads is taken.
const PUBLISHED = Object.keys(LIBRARIES);

// An ES module that a bundler has made has no `__dirname`.
const here = typeof __dirname === 'string' ? __dirname : path.dirname(process.argv[1] ?? '.');

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
        for (const required of LIBRARIES[name]) {
            try {
                const native = opened(required());
                if (native.version() === version) return native;
                tried.push(`a library for ${name} is of version ${native.version()}`);
            } catch (error) {
                // Of what is not there nothing need be said.
                if (error.code !== 'MODULE_NOT_FOUND') tried.push(`${name}: ${error.message}`);
            }
        }
    }
    const error = new Error([why(mine), ...tried].join('\n'));
    error.code = 'ERR_FASTGCM_NO_LIBRARY';
    throw error;
}

/** What a library exports. Of a bundler that copies files (the loader `file` of esbuild) `require` returns the name of the copy. */
function opened(found) {
    if (found instanceof Error) throw found;
    if (typeof found !== 'string') return found;
    const library = { exports: {} };
    process.dlopen(library, path.resolve(here, found));
    return library.exports;
}

function why(mine) {
    if (mine.length === 0)
        return `fastgcm ${version} has no library for ${process.platform} on ${process.arch}: it has ${PUBLISHED.join(', ')}.`;
    // This is a copy of the repository.
    const build = path.join(here, '../build.js');
    if (existsSync(build)) return `fastgcm ${version} was not built here: \`node ${build}\` builds its library, with Rust.`;
    const packages = mine.map((name) => `@fastgcm/${name}`).join(' or ');
    return (
        `fastgcm ${version} does not find its library for this machine: the package ${packages}, version ${version}. ` +
        'npm leaves it out with --omit=optional, or with a lock file of another machine: then remove node_modules and the lock file, and install again. ' +
        'A bundle must have it inside, or node_modules beside it: docs/node.md says how, for each bundler.'
    );
}

module.exports = load();

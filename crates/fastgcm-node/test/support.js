'use strict';
// What the tests share.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

/** Counts what passed. At its end the process prints `node::NAME ok COUNT`. */
exports.suite = (name) => {
    const row = 'FASTGCM_BACKEND' in process.env ? `/${process.env.FASTGCM_BACKEND}` : '';
    let count = 0;
    process.on('exit', (code) => {
        if (code === 0) console.log(`\nnode::${name}${row} ok ${count}`);
    });
    return (passed) => {
        count += passed;
    };
};

/** What this machine or this run does not do. */
exports.skipped = (what, why) => console.log(`\nSKIPPED ${what}: ${why}`);

/** A new folder, which is gone when the process ends. */
exports.folder = () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fastgcm-'));
    process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    return folder;
};

/** Numbers that look random and are the same in every run. */
exports.numbers = (seed) => {
    let state = BigInt(seed) * 0x9e3779b97f4a7c15n + 1n;
    return (below) => {
        state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
        return Number((state >> 33n) % BigInt(below));
    };
};

exports.full = 'FASTGCM_FULL' in process.env;

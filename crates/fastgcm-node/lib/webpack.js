'use strict';
// webpack runs this at build time, in place of reading libraries.js, because it has no loader for libraries of its own: each library that is
// installed becomes a file beside the bundle, whose name stands in the bundle.

const { readFileSync } = require('node:fs');
const path = require('node:path');
const { LIBRARIES } = require('./libraries.js');

module.exports = function () {
    const names = Object.keys(LIBRARIES).map((name) => {
        const found = [`../fastgcm.${name}.node`, `@fastgcm/${name}`].map(resolved).find(Boolean);
        if (found) this.emitFile(path.basename(found), readFileSync(found));
        return `'${name}': [${found ? `() => there + ${JSON.stringify(path.basename(found))}` : ''}]`;
    });
    // ncc, which is built on webpack, says where its files lie.
    return `const there = __webpack_require__.ab ?? ''; module.exports = { LIBRARIES: { ${names.join(', ')} } };`;
};

function resolved(name) {
    try {
        return require.resolve(name);
    } catch {
        return undefined;
    }
}

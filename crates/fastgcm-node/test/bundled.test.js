'use strict';
// What bundlers, and packages that are linked, need of this one. (crates/fastgcm-node/interop/packages.py runs bundles of six bundlers.)

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { version } = require('..');
const { LIBRARIES } = require('../lib/libraries.js');
const { folder: newFolder, suite } = require('./support.js');

const passed = suite('bundled');
const here = path.join(__dirname, '..');
const folder = newFolder();
const read = (name) => fs.readFileSync(path.join(here, name), 'utf8');
const described = JSON.parse(read('package.json'));
const sources = ['index.js', 'hazmat.js', ...fs.readdirSync(path.join(here, 'lib')).map((name) => `lib/${name}`)];

/** Runs a program of a folder. Returns what it has printed. */
function ran(program, where, environment = {}) {
    const { stdout, stderr } = spawnSync(process.execPath, [program], {
        cwd: where,
        encoding: 'utf8',
        env: { ...process.env, ...environment },
    });
    return stdout + stderr;
}

test('each library has a literal require in a try of its own', () => {
    const names = Object.keys(LIBRARIES);
    assert.deepEqual(
        names.map((name) => `@fastgcm/${name}`),
        Object.keys(described.optionalDependencies),
    );
    const text = read('lib/libraries.js');
    for (const name of names) {
        for (const required of [`../fastgcm.${name}.node`, `@fastgcm/${name}`])
            assert.match(text, new RegExp(`try {\\s+return require\\('${required.replaceAll('.', '\\.')}'\\);\\s+} catch`));
        assert.equal(LIBRARIES[name].length, 2);
        passed(1);
    }
    // No bundler follows a name that is computed. (lib/webpack.js runs in webpack itself.)
    for (const name of sources.filter((name) => name !== 'lib/webpack.js')) {
        for (const [call] of read(name).matchAll(/\brequire\([^)]*\)/g)) assert.match(call, /^require\('[^']+'\)$/, name);
        passed(1);
    }
});

test('the version stands in four places', () => {
    assert.equal(version, described.version);
    assert.match(read('Cargo.toml'), new RegExp(`^version = "${version}"$`, 'm'));
    for (const one of Object.values(described.optionalDependencies)) assert.equal(one, version);
    passed(1);
});

test('webpack copies what there is', () => {
    const emitted = {};
    const made = require('../lib/webpack.js').call({ emitFile: (name, bytes) => (emitted[name] = bytes) });
    const [name] = Object.keys(emitted);
    assert.ok(/^fastgcm\.[\w-]+\.node$/.test(name), name);
    // As a bundle: one file, and the library beside it.
    fs.mkdirSync(path.join(folder, 'bundle'));
    for (const [name, bytes] of Object.entries(emitted)) fs.writeFileSync(path.join(folder, 'bundle', name), bytes);
    const modules = ['errors', 'memory', 'aead', 'version', 'native'].map(
        (name) => `'./${name}.js': (module, require) => {${read(`lib/${name}.js`)}},`,
    );
    fs.writeFileSync(
        path.join(folder, 'bundle/main.js'),
        `const __webpack_require__ = () => 0;
        const all = { ${modules.join('\n')} '!!./webpack.js!./libraries.js': (module) => { ${made} } };
        const outside = require;
        function inside(name) {
            if (!all[name]) return outside(name);
            const module = { exports: {} };
            all[name](module, inside);
            return module.exports;
        }
        const { AESGCM } = inside('./aead.js');
        console.log(new AESGCM(Buffer.alloc(16)).seal(Buffer.alloc(12), Buffer.alloc(1)).length);`,
    );
    assert.equal(ran('main.js', path.join(folder, 'bundle')), '17\n');
    passed(1);
});

test('where there is no library', () => {
    // A copy that was not built, an installed package, and a bundle.
    const copies = { built: ['build.js'], installed: [] };
    for (const [name, more] of Object.entries(copies)) {
        const copy = path.join(folder, name);
        for (const file of ['index.js', 'lib', ...more]) fs.cpSync(path.join(here, file), path.join(copy, file), { recursive: true });
        const said = ran('index.js', copy);
        assert.match(said, /ERR_FASTGCM_NO_LIBRARY/);
        if (more.length > 0) assert.ok(said.includes(`node ${path.join(copy, 'build.js')}`), said);
        else assert.match(said, /npm leaves it out[^]*bundle/);
        passed(1);
    }
});

test('a linked package is CommonJS, whatever stands above it', () => {
    assert.equal(described.type, 'commonjs');
    assert.ok(described.files.includes('*.node')); // for a copy that was built: `npm install --install-links`
    const above = path.join(folder, 'above');
    fs.mkdirSync(path.join(above, 'node_modules'), { recursive: true });
    fs.symlinkSync(here, path.join(above, 'node_modules/fastgcm'));
    fs.writeFileSync(path.join(above, 'package.json'), '{ "type": "module" }');
    fs.writeFileSync(path.join(above, 'a.js'), "import { AESGCM } from 'fastgcm'; console.log(AESGCM.generateKey().length);");
    assert.equal(ran('a.js', above), '32\n');
    passed(1);
});

'use strict';
// Keys are wiped, text of what was refused is nowhere, and nothing grows. Another process looks at the memory
// of this one.

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { setImmediate: turn } = require('node:timers/promises');
const test = require('node:test');
const v8 = require('node:v8');
const vm = require('node:vm');
const { AESGCM, AESGCMSIV, CobblestoneOpener, CobblestoneSealer, KCXAES256GCM, RandomNonces } = require('..');
const { SealedFile, Sealer, SealingKey, XAES256GCM } = require('..');
const { full, skipped, suite } = require('./support.js');

const passed = suite('memory');
v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');

// How often each of the secrets whose complements it is given stands in the memory of that process.
const COUNT = `
    const fs = require('node:fs');
    const [, pid, ...complements] = process.argv;
    const wanted = complements.map((text) => Buffer.from(text, 'hex').map((byte) => ~byte));
    const counts = wanted.map(() => 0);
    const memory = fs.openSync('/proc/' + pid + '/mem', 'r');
    const PIECE = 1 << 22;
    for (const line of fs.readFileSync('/proc/' + pid + '/maps', 'latin1').split('\\n')) {
        const found = /^(\\w+)-(\\w+) rw/.exec(line);
        if (!found) continue;
        const [start, end] = [Number('0x' + found[1]), Number('0x' + found[2])];
        for (let at = start; at < end; at += PIECE) {
            const piece = Buffer.alloc(Math.min(end - at, PIECE + 64));
            try { fs.readSync(memory, piece, 0, piece.length, at); } catch { continue; }
            wanted.forEach((secret, number) => {
                for (let here = piece.indexOf(secret); here >= 0 && here < PIECE; here = piece.indexOf(secret, here + 1)) counts[number]++;
            });
        }
    }
    console.log(JSON.stringify(counts));
`;
/** The complement of a secret: the secret itself stands nowhere then. */
const complement = (secret) => Buffer.from(secret.map((byte) => ~byte)).toString('hex');
const counts = (wanted) => JSON.parse(execFileSync(process.execPath, ['-e', COUNT, String(process.pid), ...wanted], { encoding: 'utf8' }));

function looks() {
    try {
        return counts([complement(crypto.randomBytes(16).fill(7))])[0] > 0;
    } catch {
        return false;
    }
}
const blind = !looks() && 'no process may look at the memory of another';

/** Each class with a key; and how it is ended. */
const classes = {
    AESGCM: [(key) => new AESGCM(key), (aead) => aead.destroy()],
    AESGCMSIV: [(key) => new AESGCMSIV(key), (aead) => aead.destroy()],
    SealingKey: [(key) => new SealingKey(key, new RandomNonces()), (key) => key.destroy()],
    XAES256GCM: [(key) => new XAES256GCM(key), (aead) => aead.destroy()],
    KCXAES256GCM: [(key) => new KCXAES256GCM(key), (aead) => aead.destroy()],
    Sealer: [
        (key) => {
            const aead = new AESGCM(key);
            const sealer = new Sealer(aead, Buffer.alloc(12));
            aead.destroy();
            return sealer;
        },
        (sealer) => sealer.final(),
    ],
    CobblestoneOpener: [(key) => new CobblestoneOpener(key), (opener) => opener.destroy()],
    'AESGCM of a KeyObject': [
        (key) => {
            const object = crypto.createSecretKey(key);
            const aead = new AESGCM(object);
            return Object.assign(aead, { object: undefined });
        },
        (aead) => aead.destroy(),
    ],
};

if (blind) skipped('node memory', blind);

test('keys are wiped', { skip: blind }, async () => {
    const all = Object.entries(classes).flatMap(([name, [make, end]]) =>
        ['ended', 'collected'].map((how) => {
            const key = crypto.randomBytes(32);
            // The second round key of AES-256 is the second half of the key. (Who frees memory writes to its
            // beginning.)
            const wanted = complement(key.subarray(16));
            const made = make(key);
            key.fill(0);
            return { name: `${name}, ${how}`, wanted, made, end: () => how === 'ended' && (end(made), true) };
        }),
    );
    const wanted = all.map((each) => each.wanted);
    const key = crypto.randomBytes(32);
    wanted.push(complement(key.subarray(16)));
    const sealer = new CobblestoneSealer(key);
    const bytes = Buffer.concat([sealer.update(Buffer.alloc(100)), sealer.final()]);
    const file = await SealedFile.open(key, { size: bytes.length, read: (at, length) => bytes.subarray(at, at + length) });
    key.fill(0);
    await file.read();
    const before = counts(wanted);
    all.forEach(({ name }, number) => assert.ok(before[number] > 0, `${name}: the test does not find the key`));
    await file.close();
    const names = all.map(({ name }) => name);
    // What was ended is not collected: it must be wiped already.
    const kept = all.filter((each) => each.end());
    all.length = 0;
    for (let round = 0; round < 5; round++) {
        await turn();
        collect();
    }
    const after = counts(wanted);
    [...names, 'SealedFile'].forEach((name, number) => assert.equal(after[number], 0, `${name}: ${before[number]} before`));
    assert.equal(kept.length, Object.keys(classes).length);
    passed(names.length + 1);
});

test('a key stands in one place', { skip: blind }, () => {
    const made = [];
    for (const [name, [make]] of Object.entries(classes)) {
        const key = crypto.randomBytes(32);
        const wanted = complement(key.subarray(16));
        made.push(make(key));
        key.fill(0);
        // Nothing is called between: the next call may overwrite a copy that lies on the stack, and may not. (A KeyObject has a copy of its own.)
        assert.ok(counts([wanted])[0] <= (name === 'AESGCM of a KeyObject' ? 2 : 1), name);
    }
    passed(made.length);
});

/** Node calls finalizers in the collector from these versions on. */
const [major, minor] = process.versions.node.split('.').map(Number);
const atOnce = major > 20 || (major === 20 && minor >= 10) || (major === 18 && minor >= 20);

test('keys end with the collector, and not only when the event loop turns', { skip: blind || !atOnce }, () => {
    const wanted = Object.entries(classes).map(([name, [make]]) => {
        const key = crypto.randomBytes(32);
        make(key);
        const secret = complement(key.subarray(16));
        key.fill(0);
        return [name, secret];
    });
    // A later collection may take what the first one has left; a copy of a key never goes.
    let left = [1];
    for (let round = 0; round < 5 && left.some((count) => count > 0); round++) {
        collect();
        collect();
        left = counts(wanted.map(([, secret]) => secret));
    }
    left.forEach((count, number) => assert.equal(count, 0, wanted[number][0]));
    const key = crypto.randomBytes(32);
    const resident = () => process.memoryUsage().rss;
    const some = () => {
        for (let round = 0; round < 50_000; round++) new AESGCM(key).seal(key.subarray(0, 12), key);
    };
    some();
    const before = resident();
    some();
    const grown = resident() - before;
    assert.ok(grown < 32 << 20, `${grown} bytes more after 50,000 keys`);
    passed(wanted.length + 1);
});

test('no text of a refused message', { skip: blind }, async () => {
    const aead = new AESGCM(crypto.randomBytes(32));
    const [nonce, other] = [crypto.randomBytes(12), crypto.randomBytes(12)];
    const all = [64, 3000, 100_000].map((length) => {
        const text = crypto.randomBytes(length);
        const wanted = complement(text.subarray(length - 48, length - 16));
        const sealed = aead.seal(nonce, text);
        text.fill(0);
        return { wanted, sealed };
    });
    const wanted = all.map((each) => each.wanted);
    for (const { sealed } of all) {
        sealed[sealed.length - 1] ^= 1;
        for (let round = 0; round < 20; round++) {
            assert.throws(() => aead.open(nonce, sealed));
            assert.throws(() => aead.openDetached(nonce, sealed.subarray(0, -16), sealed.subarray(-16)));
            assert.throws(() => aead.openBatch([nonce, other], [sealed, sealed]));
            await assert.rejects(aead.openAsync(nonce, sealed));
        }
        sealed[sealed.length - 1] ^= 1;
        passed(1);
    }
    assert.deepEqual(counts(wanted), [0, 0, 0]);
    const opened = all.map(({ sealed }) => aead.open(nonce, sealed));
    assert.ok(
        counts(wanted).every((count) => count > 0),
        'the test does not find the text',
    );
    opened.forEach((text) => text.fill(0));
});

test('nothing grows', async () => {
    const calls = full ? 10_000_000 : 100_000;
    const key = crypto.randomBytes(32);
    const aead = new AESGCM(key);
    const [nonce, text, aad, out] = [crypto.randomBytes(12), Buffer.alloc(16), Buffer.alloc(5), Buffer.alloc(32)];
    const sealed = aead.seal(nonce, text, aad);
    const wrong = Buffer.from(sealed).fill(0, 20);
    const resident = () => {
        collect();
        return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'latin1'))[1]) << 10;
    };
    const some = async (rounds) => {
        for (let round = 0; round < rounds; round++) {
            aead.seal(nonce, text, aad);
            aead.open(nonce, sealed, aad);
            aead.sealInto(nonce, text, out, aad);
            aead.openInto(nonce, sealed, text, aad);
            aead.seal(nonce, text);
            if (round % 20 === 0) {
                assert.throws(() => aead.open(nonce, wrong, aad));
                assert.throws(() => aead.seal(nonce, 'text'));
                aead.sealBatch([nonce], [text], [aad]);
                new AESGCM(key).seal(nonce, text);
                const sealer = new CobblestoneSealer(key);
                sealer.update(text);
            }
            if (round % 1000 === 0) {
                await aead.openAsync(nonce, await aead.sealAsync(nonce, text));
                await turn();
            }
        }
    };
    await some(calls / 2); // until the collector has the room that it wants
    const before = resident();
    await some(calls / 5);
    const grown = resident() - before;
    assert.ok(grown < 8 << 20, `${grown} bytes more after ${calls} calls`);
    passed(calls);
});

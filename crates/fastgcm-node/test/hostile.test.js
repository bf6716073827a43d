'use strict';
// Wrong arguments in each place of each call: an error with a code, and nothing changes. Buffers that change
// while they are used.

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { once } = require('node:events');
const { pipeline } = require('node:stream/promises');
const { Readable, Writable } = require('node:stream');
const test = require('node:test');
const { inspect } = require('node:util');
const { Worker } = require('node:worker_threads');
const fastgcm = require('..');
const {
    AESGCM,
    AESGCMSIV,
    CobblestoneOpener,
    CobblestoneSealer,
    CounterNonces,
    InvalidTag,
    KCXAES256GCM,
    RandomNonces,
    SealedFile,
    Sealer,
    SealingKey,
    XAES256GCM,
} = fastgcm;
const { UnverifiedOpener } = require('../hazmat.js');
const { AAD, KEY, table } = require('./calls.js');
const { numbers, suite } = require('./support.js');

const passed = suite('hostile');
const random = (count) => crypto.randomBytes(count);
const ALL = [AESGCM, AESGCMSIV, XAES256GCM, KCXAES256GCM];

const resizable = () => {
    const buffer = new ArrayBuffer(8, { maxByteLength: 16 });
    return buffer.resizable ? new Uint8Array(buffer) : undefined; // Node 18 has none
};
const detached = (length) => {
    const bytes = new Uint8Array(length);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    return bytes;
};
/** What is no buffer for any argument. */
const noBuffers = [
    ['a string', 'twelve bytes', TypeError],
    ['a number', 12, TypeError],
    ['a bigint', 12n, TypeError],
    ['a boolean', true, TypeError],
    ['an object', {}, TypeError],
    ['one that lies', { byteLength: 12, length: 12, buffer: { resizable: false } }, TypeError],
    ['a list', [1, 2, 3], TypeError],
    ['a function', () => 0, TypeError],
    ['a symbol', Symbol('x'), TypeError],
    ['a proxy', new Proxy(new Uint8Array(12), {}), TypeError],
    ['a promise', Promise.resolve(new Uint8Array(12)), TypeError],
    ['shared', new Uint8Array(new SharedArrayBuffer(12)), TypeError],
    ['shared itself', new SharedArrayBuffer(12), TypeError],
    ['resizable', resizable(), TypeError],
    ['resizable itself', resizable()?.buffer, TypeError],
    ['detached', detached(12), TypeError],
    ['detached itself', detached(12).buffer, TypeError],
    [
        'a detached view',
        (() => {
            const view = new DataView(new ArrayBuffer(12));
            structuredClone(view.buffer, { transfer: [view.buffer] });
            return view;
        })(),
        TypeError,
    ],
].filter(([, value]) => value !== undefined);
const missing = [
    ['undefined', undefined, TypeError],
    ['null', null, TypeError],
];

/** Each place of a buffer, or of a list of buffers, in right arguments: what to call it, whether it must be there, and the arguments with another thing in it. */
function* places(args) {
    for (const [at, value] of args.entries()) {
        const put = (bad) => Object.assign([...args], { [at]: bad });
        if (value instanceof Uint8Array) yield [`argument ${at}`, value !== AAD, put];
        if (Array.isArray(value)) {
            yield [`argument ${at}`, value[0] !== AAD, put];
            yield [`a list in argument ${at}`, true, (bad) => put([value[0], bad])];
        }
        if (value?.constructor === Object && value.read === undefined) {
            const names = Object.keys(value).filter((name) => value[name] instanceof Uint8Array);
            yield* names.map((name) => [`option ${name}`, false, (bad) => put({ ...value, [name]: bad })]);
        }
    }
}

/** The error that it throws or rejects with. */
async function errorOf(work) {
    try {
        await work();
    } catch (error) {
        return error;
    }
    return undefined;
}

test('each bad argument of each call', async () => {
    for (const [name, make] of Object.entries(table)) {
        const before = inspect((await make()).args, { depth: null, maxArrayLength: null });
        for (const [place, isNeeded, put] of places((await make()).args)) {
            for (const [what, bad, Class] of isNeeded ? [...noBuffers, ...missing] : noBuffers) {
                const { call } = await make();
                const error = await errorOf(() => call(...put(bad)));
                const how = `${name}, ${place} is ${what}`;
                assert.ok(error instanceof Class, `${how}: ${error}`);
                const takesLists = /Batch/.test(name) && what === 'a list';
                assert.ok(takesLists || (typeof error.code === 'string' && error.message.length > 10), `${how}: ${error.stack}`);
                passed(1);
            }
        }
        assert.equal(inspect((await make()).args, { depth: null, maxArrayLength: null }), before, name);
    }
    // What a source gives, but for a promise, which it may give.
    const sealer = new CobblestoneSealer(KEY);
    const sealed = Buffer.concat([sealer.update(random(30)), sealer.final()]);
    for (const [what, bad, Class] of [...noBuffers, ...missing].filter(([what]) => what !== 'a promise')) {
        const read = (at, length) => (at === 0 ? sealed.subarray(at, at + length) : bad);
        assert.ok((await errorOf(() => SealedFile.open(KEY, { size: sealed.length, read }))) instanceof Class, `what is read is ${what}`);
        passed(1);
    }
});

test('lengths and places', () => {
    for (const Class of ALL) {
        const aead = new Class(Buffer.alloc(32, 5));
        const [nonce, TAG] = [random(Class.nonceLength), Class === KCXAES256GCM ? 48 : 16];
        const [text, SEALED] = [random(40), 40 + TAG];
        const sealed = aead.seal(nonce, text);
        const memory = Buffer.alloc(300, 7);
        const at = (start, length) => memory.subarray(start, start + length);
        const value = { code: 'ERR_INVALID_ARG_VALUE' };
        const wrong = [
            [value, () => aead.seal(Buffer.alloc(0), text)],
            ...(Class === AESGCM ? [] : [[value, () => aead.seal(random(16), text)]]),
            [value, () => aead.sealInto(nonce, text, at(0, SEALED - 1))],
            [value, () => aead.sealInto(nonce, text, at(0, SEALED + 1))],
            [value, () => aead.openInto(nonce, sealed, at(0, 39))],
            [value, () => aead.openInto(nonce, sealed, at(0, 41))],
            [value, () => aead.sealDetachedInto(nonce, text, at(0, 41), at(100, TAG))],
            [value, () => aead.sealDetachedInto(nonce, text, at(0, 40), at(100, TAG - 1))],
            [value, () => aead.openDetached(nonce, text, at(100, TAG + 1))],
            // Over each other.
            [value, () => aead.sealInto(nonce, at(1, 40), at(0, SEALED))],
            [value, () => aead.sealInto(nonce, at(1, 40), at(2, SEALED))],
            [value, () => aead.sealInto(nonce, at(0, 40), at(0, SEALED), at(SEALED - 1, 3))],
            [value, () => aead.sealInto(nonce, text, at(0, SEALED), at(20, 3))],
            [value, () => aead.openInto(nonce, at(3, SEALED), at(1, 40))],
            [value, () => aead.openInto(nonce, sealed, at(1, 40), at(40, 1))],
            [value, () => aead.sealDetachedInto(nonce, text, at(0, 40), at(39, TAG))],
            [value, () => aead.sealDetachedInto(nonce, at(100, 40), at(0, 40), at(139, TAG))],
            [value, () => aead.sealDetachedInto(nonce, text, at(0, 40), at(100, TAG), at(100 + TAG - 1, 2))],
            [value, () => aead.sealBatchInto([nonce], [at(0, 40)], at(0, SEALED))],
            [value, () => aead.sealBatchInto([nonce], [text], at(0, SEALED), at(50, 9))],
            [value, () => aead.sealBatchInto(at(0, nonce.length), [text], at(0, SEALED))],
            [value, () => aead.sealBatchInto([nonce], [text], at(0, SEALED + 1))],
            [value, () => aead.sealBatch([nonce, nonce], [text, text])],
            [value, () => aead.sealBatch([nonce], [text, text])],
            [value, () => aead.sealBatch([nonce], [text], [text, text])],
            [value, () => aead.sealBatch(random(nonce.length + 1), [text])],
            [value, () => aead.sealBatch([random(nonce.length - 1)], [text])],
            [value, () => aead.sealBatch(random(2 * nonce.length), random(41))],
            [value, () => aead.sealBatch([], text)],
            // Too short for a tag.
            ...[0, 1, 15, TAG - 1].flatMap((length) => [
                [{ code: 'ERR_INVALID_TAG' }, () => aead.open(nonce, random(length))],
                [{ code: 'ERR_INVALID_TAG' }, () => aead.openInto(nonce, random(length), at(0, 0))],
                [{ code: 'ERR_INVALID_TAG' }, () => aead.openBatch([nonce], [random(length)])],
                [{ code: 'ERR_INVALID_TAG' }, () => aead.openBatch(nonce, random(length))],
            ]),
        ];
        for (const [error, call] of wrong) {
            assert.throws(call, error, String(call));
            assert.deepEqual(memory, Buffer.alloc(300, 7), String(call));
            passed(1);
        }
        // A tag that stands apart may lie where the text goes: it is read before.
        const over = Buffer.from(sealed);
        const tag = over.subarray(0, TAG);
        over.set(sealed.subarray(40), 0);
        assert.deepEqual(aead.openDetachedInto(nonce, sealed.subarray(0, 40), tag, over.subarray(0, 40)), text);
        // A nonce may lie where is written.
        assert.deepEqual(aead.sealInto(Object.assign(at(0, nonce.length), nonce), text, at(0, SEALED)), sealed);
        memory.fill(7);
    }
    for (const length of [0, 1, 15, 17, 23, 25, 31, 33, 64]) {
        for (const make of [
            (key) => new AESGCM(key),
            (key) => new AESGCMSIV(key),
            (key) => new XAES256GCM(key),
            (key) => new KCXAES256GCM(key),
            (key) => new CobblestoneSealer(key),
        ]) {
            assert.throws(() => make(random(length)), { name: 'RangeError', code: 'ERR_INVALID_ARG_VALUE' });
            passed(1);
        }
    }
    assert.throws(() => new AESGCMSIV(random(24)), RangeError);
    assert.throws(() => new AESGCM(crypto.generateKeyPairSync('ed25519').publicKey), TypeError);
    for (const bits of [0, 64, 127, 512, '256', NaN]) assert.throws(() => AESGCM.generateKey(bits), RangeError);
    for (const bad of [-1, 1.5, NaN, Infinity, '1', 2 ** 60, -1n, 2n ** 64n, {}]) {
        assert.throws(() => new CounterNonces(Buffer.alloc(4), bad), { code: 'ERR_OUT_OF_RANGE' }, String(bad));
        assert.throws(() => new RandomNonces(bad), { code: 'ERR_OUT_OF_RANGE' }, String(bad));
        passed(2);
    }
    for (const bad of [-1, 1.5, NaN, Infinity, '1', 1n])
        assert.throws(() => new RandomNonces().drawBatch(bad), { code: 'ERR_OUT_OF_RANGE' });
    for (const length of [0, 3, 12]) assert.throws(() => new CounterNonces(Buffer.alloc(length)), { code: 'ERR_INVALID_ARG_VALUE' });
    assert.throws(() => new CounterNonces(Buffer.alloc(11), 256), { code: 'ERR_NONCES_EXHAUSTED' });
    for (const bad of [undefined, null, {}, 'x', new AESGCM(Buffer.alloc(16))])
        assert.throws(() => new SealingKey(Buffer.alloc(16), bad), TypeError);
    for (const bad of [undefined, null, {}, new XAES256GCM(Buffer.alloc(32)), Object.create(AESGCM.prototype)])
        assert.throws(() => new Sealer(bad, Buffer.alloc(12)), TypeError);
});

test('a wrong length is told as the class has it', async () => {
    const text = Buffer.alloc(5);
    for (const [Class, keys, nonce, tag] of [
        [AESGCM, '16, 24 or 32', 12, 16],
        [AESGCMSIV, '16 or 32', 12, 16],
        [XAES256GCM, '32', 24, 16],
        [KCXAES256GCM, '32', 24, 48],
    ]) {
        const one = new Class(Buffer.alloc(32));
        const wrong = Buffer.alloc(Class === AESGCM ? 0 : 20);
        const right = Buffer.alloc(nonce);
        const [ofNonce, ofNonces] = [`nonce has the wrong length: ${nonce} bytes`, `nonces has the wrong length: ${nonce} bytes for each`];
        const ofOut = `out has the wrong length: as many bytes as the text, and ${tag} more for a tag`;
        for (const [call, message] of [
            [() => new Class(Buffer.alloc(5)), `key has the wrong length: ${keys} bytes`],
            [() => one.seal(wrong, text), ofNonce],
            [() => one.open(wrong, Buffer.alloc(60)), ofNonce],
            [() => one.sealInto(wrong, text, Buffer.alloc(5 + tag)), ofNonce],
            [() => one.sealInto(right, text, text), ofOut],
            [() => one.sealAsync(wrong, text), ofNonce],
            [() => one.sealBatch([wrong], [text]), `message 0: ${ofNonce}`],
            [() => one.sealBatch(Buffer.alloc(nonce + 1), [text]), ofNonces],
            [() => one.openDetached(right, text, Buffer.alloc(7)), `tag has the wrong length: ${tag} bytes`],
        ]) {
            await assert.rejects(async () => call(), { code: 'ERR_INVALID_ARG_VALUE', message });
            passed(1);
        }
    }
    assert.throws(() => new CobblestoneSealer(Buffer.alloc(24)), { message: 'key has the wrong length: 16 or 32 bytes' });
});

test('the library looks for itself', async () => {
    // Whatever comes past lib/, a call answers with a number that says what is wrong, or does what it should.
    const native = require('../lib/native.js');
    const below = numbers(3);
    const out = Buffer.alloc(56, 7);
    const key = native.gcm(Buffer.alloc(16));
    for (const [what, bad] of noBuffers) {
        // What may be resized is safe during a call. It is refused before, for clarity.
        if (what.startsWith('resizable')) continue;
        assert.equal(typeof native.gcm(bad), 'number');
        for (let at = 1; at < 4; at++) {
            const given = [key, Buffer.alloc(12), Buffer.alloc(40), Buffer.alloc(3), out];
            given[at] = bad;
            assert.equal(typeof native.seal(...given), 'number');
            assert.deepEqual(out, Buffer.alloc(56, 7));
            passed(1);
        }
    }
    const header = Buffer.alloc(56);
    const make = () => [
        native.gcm(Buffer.alloc(16)),
        native.siv(Buffer.alloc(32)),
        native.xaes(Buffer.alloc(32)),
        native.kcXaes(Buffer.alloc(32)),
        native.randomNonces(0),
        native.counterNonces(Buffer.alloc(4), 5),
        native.pieces(key, Buffer.alloc(12)),
        native.stream(Buffer.alloc(16), header, true),
        native.stream(Buffer.alloc(16), header, false),
    ];
    const plain = () => [undefined, null, true, false, 0, 1, 16, -1, 2 ** 53, 3n, 'x', {}, [], header, ...noBuffers.map(([, bad]) => bad)];
    const lengths = [0, 1, 11, 12, 13, 16, 24, 28, 32, 40, 48, 56, 64, 72, 88, 16400, 32800];
    const names = Object.keys(native);
    let answers = 0;
    for (let round = 0; round < 300; round++) {
        const [objects, values] = [make(), plain()];
        const buffers = lengths.map((length) => Buffer.alloc(length));
        const any = () => {
            const from = [objects, values, buffers, buffers][below(4)];
            const one = from[below(from.length)];
            return below(12) === 0 ? [one, buffers[below(buffers.length)]] : one;
        };
        for (let calls = 0; calls < 60; calls++) {
            const answer = native[names[below(names.length)]](
                below(5) ? objects[below(objects.length)] : any(),
                ...[0, 0, 0, 0, 0].map(any),
            );
            if (answer instanceof Promise) await answer;
            answers += typeof answer !== 'number';
        }
        passed(1);
    }
    assert.ok(answers > 500, `${answers} calls were right`);
});

test('what was destroyed, or has ended', async () => {
    for (const [name, make] of Object.entries(table).filter(([name]) => /(GCM|SIV)\.prototype\.(?!destroy)/.test(name))) {
        const { self, call, args } = await make();
        const kept = name.endsWith('.sealAsync') ? call(...args) : undefined;
        self.destroy();
        self[Symbol.dispose ?? Symbol.for('nodejs.dispose')](); // once more
        assert.equal((await errorOf(() => call(...args)))?.code, 'ERR_DESTROYED', name);
        // What was begun before ends.
        if (kept) assert.equal((await kept).length, args[1].length + self.constructor.tagLength);
        passed(1);
    }
    const aead = new AESGCM(Buffer.alloc(16));
    const sealer = new Sealer(aead, Buffer.alloc(12));
    aead.destroy();
    sealer.update(Buffer.alloc(3));
    assert.throws(() => sealer.updateAad(Buffer.alloc(3)), { code: 'ERR_OUT_OF_ORDER' });
    sealer.final();
    for (const call of [() => sealer.update(Buffer.alloc(3)), () => sealer.final(), () => new Sealer(aead, Buffer.alloc(12))]) {
        assert.throws(call, { code: 'ERR_DESTROYED' });
    }
    assert.throws(() => AESGCM.prototype.seal.call({}, Buffer.alloc(12), Buffer.alloc(1)), TypeError);
    assert.throws(() => AESGCM(Buffer.alloc(16)), TypeError);
    passed(4);
});

test('buffers that change while they are used', async () => {
    const aead = new AESGCM(Buffer.alloc(32, 5));
    const [nonce, aad] = [random(12), random(100)];
    const text = new Uint8Array(random(3_000_000)); // of its own
    const sealed = aead.seal(nonce, text, aad);
    // All that is read was read when the call returns.
    for (let round = 0; round < 4; round++) {
        const arguments_ = [nonce, round % 2 ? sealed : text, aad].map((bytes) => Uint8Array.from(bytes));
        const work = round % 2 ? aead.openAsync(...arguments_) : aead.sealAsync(...arguments_);
        for (const bytes of arguments_) {
            bytes.fill(1);
            if (round > 1) structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
        }
        assert.ok((await work).equals(round % 2 ? Buffer.from(text) : sealed));
        passed(1);
    }
    // A getter in a list runs before any byte is looked at.
    const taken = Uint8Array.from(text.subarray(0, 64));
    const list = [taken, taken];
    let runs = 0;
    Object.defineProperty(list, 1, {
        get() {
            if (++runs > 1 && taken.byteLength > 0) structuredClone(taken.buffer, { transfer: [taken.buffer] });
            return Buffer.alloc(64);
        },
    });
    const out = Buffer.alloc(160, 7);
    const error = await errorOf(() => aead.sealBatchInto([nonce, random(12)], list, out));
    assert.equal(error?.code, 'ERR_INVALID_ARG_TYPE', error?.stack);
    assert.deepEqual(out, Buffer.alloc(160, 7));
    const throwing = Object.defineProperty([0], 0, {
        get: () => {
            throw new Error('mine');
        },
    });
    assert.throws(() => aead.sealBatchInto([nonce], throwing, out), { message: 'mine' });
    // A piece of a stream that is taken away between two of its parts.
    for (const stream of [new Sealer(aead, nonce), new CobblestoneSealer(Buffer.alloc(32))]) {
        const piece = Uint8Array.from(text);
        stream.on('data', () => piece.byteLength > 0 && structuredClone(piece.buffer, { transfer: [piece.buffer] }));
        stream.on('end', () => assert.fail('it ended as if all had come'));
        stream.write(piece);
        stream.end();
        const [error] = await once(stream, 'error');
        assert.ok(error instanceof TypeError, String(error));
        passed(1);
    }
    passed(3);
});

test('streams', async () => {
    const aead = new AESGCM(Buffer.alloc(32, 5));
    const [nonce, aad, text] = [random(12), random(9), random(1_000_003)];
    const collect = async (...streams) => {
        const pieces = [];
        await pipeline(...streams, new Writable({ write: (piece, _, callback) => (pieces.push(piece), callback()) }));
        return Buffer.concat(pieces);
    };
    const sealed = aead.seal(nonce, text, aad);
    for (const size of [1 << 20, 65536, 9999, 17]) {
        const pieces = () =>
            Readable.from(
                (function* () {
                    const short = size < 100 ? text.subarray(0, 5000) : text;
                    for (let at = 0; at < short.length; at += size) yield short.subarray(at, at + size);
                })(),
            );
        const whole = size < 100 ? aead.seal(nonce, text.subarray(0, 5000), aad) : sealed;
        assert.deepEqual(await collect(pieces(), new Sealer(aead, nonce, { aad })), whole);
        const apart = new Sealer(aead, nonce, { aad, appendTag: false });
        assert.equal(apart.tag, null);
        assert.deepEqual(await collect(pieces(), apart), whole.subarray(0, -16));
        assert.deepEqual(apart.tag, whole.subarray(-16));
        assert.deepEqual(await collect(Readable.from([whole]), new UnverifiedOpener(aead, nonce, { aad })), await collect(pieces()));
        assert.deepEqual(
            await collect(Readable.from([whole.subarray(0, -16)]), new UnverifiedOpener(aead, nonce, { aad, tag: apart.tag })),
            await collect(pieces()),
        );
        const key = Buffer.alloc(16, 3);
        assert.deepEqual(
            await collect(pieces(), new CobblestoneSealer(key, { context: aad }), new CobblestoneOpener(key, { context: aad })),
            await collect(pieces()),
        );
        passed(6);
    }
    for (const opener of [new UnverifiedOpener(aead, nonce), new UnverifiedOpener(aead, nonce, { aad, tag: Buffer.alloc(16) })]) {
        await assert.rejects(collect(Readable.from([sealed]), opener), InvalidTag);
        passed(1);
    }
    await assert.rejects(collect(Readable.from([sealed.subarray(0, 15)]), new UnverifiedOpener(aead, nonce)), InvalidTag);
    // Other events have their turn while a long piece is worked on.
    const stream = new Sealer(aead, nonce);
    let turns = 0;
    const ticking = setImmediate(function tick() {
        turns++;
        ticking.next = setImmediate(tick);
    });
    await collect(Readable.from([Buffer.alloc(8 << 20)]), stream);
    clearImmediate(ticking);
    clearImmediate(ticking.next);
    assert.ok(turns >= 16, `${turns} turns`);
    passed(2);
});

test('options that are not there, and keys that are none', async () => {
    const aead = new AESGCM(Buffer.alloc(32, 5));
    const source = { size: 0, read: () => Buffer.alloc(0) };
    for (const call of [
        (options) => new Sealer(aead, Buffer.alloc(12), options),
        (options) => new UnverifiedOpener(aead, Buffer.alloc(12), options),
        (options) => new CobblestoneSealer(Buffer.alloc(32), options),
        (options) => new CobblestoneOpener(Buffer.alloc(32), options),
        (options) => SealedFile.open(Buffer.alloc(32), source, options),
        (options) => fastgcm.sealFile(Buffer.alloc(32), __filename, `${__filename}.never`, options),
        (options) => fastgcm.openFile(Buffer.alloc(32), __filename, `${__filename}.never`, options),
    ]) {
        for (const options of [{ contxt: random(3) }, { transform: () => 0 }, null, 'context', random(3), 7]) {
            const error = await errorOf(() => call(options));
            assert.ok(error instanceof TypeError && /^ERR_INVALID_ARG/.test(error.code), `${call}: ${error?.stack}`);
            passed(1);
        }
    }
    assert.throws(() => new Sealer(aead, Buffer.alloc(12), { appendTag: 'no' }), { code: 'ERR_INVALID_ARG_TYPE' });
    assert.throws(
        () => new AESGCM('password'),
        (error) => /scrypt/.test(error.message) && !/UTF-8/.test(error.message),
    );
    assert.throws(() => aead.seal(Buffer.alloc(12), 'text'), /Buffer\.from\(text\)/);
    passed(3);
});

test('a nonce that comes twice, wherever', () => {
    for (const Class of ALL) {
        const aead = new Class(Buffer.alloc(32, 5));
        const [a, b, c] = [200, 1, 99].map((fill) => Buffer.alloc(Class.nonceLength, fill));
        for (const list of [
            [a, a],
            [a, b, a],
            [b, a, b],
            [a, b, c, a],
            [c, a, b, a],
        ]) {
            for (const nonces of [list, Buffer.concat(list)]) {
                assert.throws(
                    () =>
                        aead.sealBatch(
                            nonces,
                            list.map(() => random(20)),
                        ),
                    /a nonce comes twice/,
                );
                passed(1);
            }
        }
        aead.sealBatch([a, b, c], [a, b, c]);
    }
});

test('the longest text, by its number', () => {
    // A buffer says that it is longer than it is. Of a length that may be, only memory is missing; more is refused before memory is asked for.
    const saying = (length) => Object.defineProperty(new Uint8Array(100), 'byteLength', { value: length });
    const { allocUnsafe, allocUnsafeSlow } = Buffer;
    let asked = 0;
    const none = (length) => {
        asked = length;
        throw new RangeError('Array buffer allocation failed');
    };
    Object.assign(Buffer, { allocUnsafe: none, allocUnsafeSlow: none });
    try {
        for (const Class of ALL) {
            const [aead, nonce, tag] = [new Class(new Uint8Array(32)), new Uint8Array(Class.nonceLength), Class === KCXAES256GCM ? 48 : 16];
            const verbs = [
                ['seal', 0, tag, (data) => aead.seal(nonce, data)],
                ['open', tag, 0, (data) => aead.open(nonce, data)],
                ['sealDetached', 0, tag, (data) => aead.sealDetached(nonce, data)],
                ['openDetached', 0, 0, (data) => aead.openDetached(nonce, data, new Uint8Array(tag))],
                ['sealRandom', 0, 24 + tag, (data) => aead.sealRandom(data)],
                ['openRandom', 24 + tag, 0, (data) => aead.openRandom(data)],
            ];
            for (const [name, before, behind, call] of verbs) {
                if (!(name in aead)) continue;
                const how = `${Class.name}.${name}`;
                asked = 0;
                assert.throws(() => call(saying(2 ** 36 - 32 + before)), { code: 'ERR_MEMORY_ALLOCATION_FAILED' }, how);
                assert.equal(asked, 2 ** 36 - 32 + behind, how);
                asked = 0;
                assert.throws(() => call(saying(2 ** 36 - 31 + before)), { code: 'ERR_OUT_OF_RANGE', message: /longer than AES-GCM/ }, how);
                assert.equal(asked, 0, how);
                passed(1);
            }
        }
    } finally {
        Object.assign(Buffer, { allocUnsafe, allocUnsafeSlow });
    }
});

test('two draws are two buffers', () => {
    for (const nonces of [new CounterNonces(Buffer.alloc(4)), new RandomNonces()]) {
        for (const draw of [() => nonces.draw(), () => nonces.drawBatch(1), () => nonces.drawBatch(3)]) {
            const kept = Array.from({ length: 5 }, draw);
            assert.equal(new Set(kept.map((nonce) => nonce.toString('hex'))).size, 5);
            passed(1);
        }
    }
});

test('a key that a getter destroys', () => {
    const aead = new AESGCM(Buffer.alloc(32, 5));
    const nonces = [0];
    let reads = 0;
    // The second look is the library's own.
    Object.defineProperty(nonces, 0, { get: () => (reads++ === 1 && aead.destroy(), Buffer.alloc(12)) });
    const [sealed] = aead.sealBatch(nonces, [Buffer.alloc(20)]);
    assert.deepEqual(sealed, new AESGCM(Buffer.alloc(32, 5)).seal(Buffer.alloc(12), Buffer.alloc(20))); // what is under way ends
    assert.throws(() => aead.seal(Buffer.alloc(12), Buffer.alloc(1)), { code: 'ERR_DESTROYED' });
    passed(1);
});

test('memory that threads share is refused while it changes, and a copy is not', async () => {
    const shared = new SharedArrayBuffer(1 << 16);
    const code = "const { workerData } = require('node:worker_threads'); const all = new Uint8Array(workerData); for (;;) all[5] ^= 255;";
    const worker = new Worker(code, { eval: true, workerData: shared });
    await once(worker, 'online');
    const [aead, nonce, view] = [new AESGCM(Buffer.alloc(32, 5)), Buffer.alloc(12), new Uint8Array(shared)];
    for (let round = 0; round < 200; round++) {
        assert.throws(() => aead.seal(nonce, view), { code: 'ERR_INVALID_ARG_TYPE' });
        assert.throws(() => aead.sealInto(nonce, Buffer.alloc(view.length - 16), view), { code: 'ERR_INVALID_ARG_TYPE' });
        const copy = Buffer.from(view);
        assert.deepEqual(aead.open(nonce, aead.seal(nonce, copy)), copy);
        passed(1);
    }
    await worker.terminate();
});

test('streams that are cut at each length', async () => {
    const [aead, nonce, aad, key] = [new AESGCM(Buffer.alloc(32, 5)), random(12), random(9), Buffer.alloc(32, 6)];
    const through = async (stream, whole, cut) => {
        const out = [];
        stream.on('data', (piece) => out.push(piece));
        const ended = once(stream, 'end');
        for (let at = 0; at < whole.length; at += cut) stream.write(whole.subarray(at, at + cut));
        stream.end();
        await ended;
        return Buffer.concat(out);
    };
    for (let length = 0; length < 70; length++) {
        const text = random(length);
        const sealed = aead.seal(nonce, text, aad);
        for (let cut = 1; cut <= sealed.length; cut += cut < 34 ? 1 : 9) {
            assert.deepEqual(await through(new Sealer(aead, nonce, { aad }), text, cut), sealed);
            assert.deepEqual(
                await through(new UnverifiedOpener(aead, nonce, { aad }), sealed, cut),
                text,
                `${length} bytes, cut at ${cut}`,
            );
            const tag = sealed.subarray(-16);
            assert.deepEqual(await through(new UnverifiedOpener(aead, nonce, { aad, tag }), sealed.subarray(0, -16), cut), text);
            const file = await through(new CobblestoneSealer(key), text, cut);
            assert.deepEqual(await through(new CobblestoneOpener(key), file, cut), text);
            passed(5);
        }
    }
});

test('threads', async () => {
    const code = `
        const { parentPort, workerData } = require('node:worker_threads');
        const { AESGCM, cpu } = require(workerData);
        const aead = new AESGCM(Buffer.alloc(32, 5));
        for (let round = 0; round < 50; round++) aead.sealAsync(Buffer.alloc(12), Buffer.alloc(300_000)); // and ends meanwhile
        parentPort.postMessage(aead.seal(Buffer.alloc(12), Buffer.from('text')));
    `;
    const here = new AESGCM(Buffer.alloc(32, 5)).seal(Buffer.alloc(12), Buffer.from('text'));
    await Promise.all(
        Array.from({ length: 4 }, async (_, number) => {
            const worker = new Worker(code, { eval: true, workerData: require.resolve('..') });
            const ended = once(worker, 'exit');
            const [message] = await once(worker, 'message');
            assert.deepEqual(Buffer.from(message), here);
            if (number % 2) worker.terminate();
            await ended;
            passed(1);
        }),
    );
});

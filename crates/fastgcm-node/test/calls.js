'use strict';
// Each function of the package with right arguments, for walk.test.js and hostile.test.js.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { Transform } = require('node:stream');
const fastgcm = require('..');
const hazmat = require('../hazmat.js');
const { folder: newFolder } = require('./support.js');

const { AESGCM, AESGCMSIV, CobblestoneOpener, CobblestoneSealer, CounterNonces, KCXAES256GCM, RandomNonces, XorNonces } = fastgcm;
const { SealedFile, Sealer, SealingKey, XAES256GCM } = fastgcm;
const { UnverifiedOpener } = hazmat;
/** Bytes that have their memory to themselves. */
const bytes = (length, fill) => new Uint8Array(length).fill(fill);
// walk.test.js makes the table once more, of other ones (`of`).
const { KEY = bytes(32, 5), TEXT = bytes(3000, 3), AAD = bytes(9, 4) } = globalThis.fastgcmCalls ?? {};
const sealedFile = (text) => {
    const sealer = new CobblestoneSealer(KEY, { context: AAD });
    return new Uint8Array(Buffer.concat([sealer.update(text), sealer.final()]));
};
const SEALED = sealedFile(TEXT);
/** Of more than a chunk. */
const CHUNKS = new Uint8Array(Buffer.concat([bytes(16384, 6), TEXT]));
const openedBy = (sealed) => {
    const opener = new CobblestoneOpener(KEY, { context: AAD });
    return Buffer.concat([opener.update(sealed), opener.final()]);
};

/**
 * Each function by its name: what makes an object, the call, right arguments, those that are written (`written`), what a result is
 * compared by (`by`: what the object does then belongs to it), whether the next call gives another result (`moves`), and of arguments that are numbers what comes of others (`numbers`: the
 * right result, or `undefined` where it must refuse).
 */
const table = {};
const add = (name, make) => {
    table[name] = async () => {
        const { by = (result) => result, written = [], ...rest } = await make();
        return { by, written, ...rest };
    };
};
const whole = (value, below) => (typeof value === 'bigint' || Number.isSafeInteger(value)) && value >= 0 && BigInt(value) < below;

for (const Class of [AESGCM, AESGCMSIV, XAES256GCM, KCXAES256GCM]) {
    const isRoot = Class === XAES256GCM || Class === KCXAES256GCM;
    const TAG = Class === KCXAES256GCM ? 48 : 16;
    const [nonce, other] = [1, 2].map((fill) => bytes(Class.nonceLength, fill));
    const model = new Class(KEY);
    const [sealed, second] = [nonce, other].map((nonce) => new Uint8Array(model.seal(nonce, TEXT, AAD)));
    const [ciphertext, tag] = [sealed.slice(0, -TAG), sealed.slice(-TAG)];
    const out = (length) => bytes(length, 7);
    const verbs = {
        seal: [[nonce, TEXT, AAD], []],
        open: [[nonce, sealed, AAD], []],
        sealInto: [[nonce, TEXT, out(TEXT.length + TAG), AAD], [2]],
        openInto: [[nonce, sealed, out(TEXT.length), AAD], [2]],
        sealDetached: [[nonce, TEXT, AAD], []],
        openDetached: [[nonce, ciphertext, tag, AAD], []],
        sealDetachedInto: [
            [nonce, TEXT, out(TEXT.length), out(TAG), AAD],
            [2, 3],
        ],
        openDetachedInto: [[nonce, ciphertext, tag, out(TEXT.length), AAD], [3]],
        sealAsync: [[nonce, TEXT, AAD], []],
        openAsync: [[nonce, sealed, AAD], []],
        sealBatch: [
            [
                [nonce, other],
                [TEXT, TEXT],
                [AAD, AAD],
            ],
            [],
        ],
        openBatch: [
            [
                [nonce, other],
                [sealed, second],
                [AAD, AAD],
            ],
            [],
        ],
        sealBatchInto: [[[nonce, other], [TEXT, TEXT], out(2 * (TEXT.length + TAG)), AAD], [2]],
        openBatchInto: [[[nonce, other], [sealed, second], out(2 * TEXT.length), AAD], [2]],
    };
    const method = (name, args, written = [], by = (result) => result) =>
        add(`${Class.name}.prototype.${name}`, () => {
            const self = new Class(KEY);
            return { self, call: (...given) => self[name](...given), args, written, by };
        });
    for (const [name, [args, written]] of Object.entries(verbs)) method(name, args, written);
    if (isRoot) {
        method('sealRandom', [TEXT, AAD], [], (sealed) => model.openRandom(sealed, AAD));
        method('openRandom', [new Uint8Array(model.sealRandom(TEXT, AAD)), AAD]);
    }
    method('destroy', []);
    add(`new ${Class.name}`, () => ({ call: (key) => new Class(key), args: [KEY], by: (aead) => aead.seal(nonce, TEXT, AAD) }));
    add(`${Class.name}.generateKey`, () => ({
        call: (bits) => Class.generateKey(bits),
        args: isRoot ? [] : [256],
        by: (key) => key.length,
        numbers: { 0: () => undefined },
    }));
    add(`${Class.name}.handle`, () => ({ call: () => typeof Class.handle(model), args: [] }));
}

for (const Class of [CounterNonces, XorNonces, RandomNonces]) {
    const make = () => (Class === RandomNonces ? new RandomNonces() : new Class(bytes(Class === XorNonces ? 12 : 4, 1)));
    const by = Class === RandomNonces ? (nonces) => nonces.length : (nonces) => nonces;
    for (const [name, args] of [
        ['draw', []],
        ['drawBatch', [3]],
    ]) {
        const numbers = { 0: (count) => (whole(count, 4n) ? by(make().drawBatch(count)) : undefined) };
        add(`${Class.name}.prototype.${name}`, () => {
            const self = make();
            return { self, call: (...given) => self[name](...given), args, by, numbers, moves: true };
        });
    }
    const name = Class === RandomNonces ? 'used' : 'position';
    add(`${Class.name}.prototype.${name}`, () => ({ call: () => make()[name], args: [] }));
    add(`${Class.name}.handle`, () => ({ call: () => typeof Class.handle(make()), args: [] }));
    add(`${Class.name}.is`, () => ({ call: () => Class.is(make()), args: [] }));
}
add('new CounterNonces', () => ({
    call: (fixed, start) => new CounterNonces(fixed, start),
    args: [bytes(4, 1), 7],
    by: (nonces) => [nonces.position, nonces.draw()],
    numbers: { 1: (start) => (whole(start, 1n << 64n) ? [BigInt(start), new CounterNonces(bytes(4, 1), start).draw()] : undefined) },
}));
const xored = (iv, number) => {
    const nonce = Buffer.from(iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ BigInt(number), 4);
    return nonce;
};
const ends = (start) => (whole(start, 1n << 64n) ? [null, null] : undefined);
add('new XorNonces', () => ({
    call: (iv, start) => new XorNonces(iv, start),
    args: [bytes(12, 1), 7],
    by: (nonces) => [nonces.position, nonces.position === null ? null : nonces.draw()],
    numbers: { 1: (start) => (whole(start, (1n << 64n) - 1n) ? [BigInt(start), xored(bytes(12, 1), start)] : ends(start)) },
}));
add('XorNonces.at', () => ({
    call: (iv, number) => XorNonces.at(iv, number),
    args: [bytes(12, 1), 7],
    by: (nonce) => nonce,
    numbers: { 1: (number) => (whole(number, 1n << 64n) ? xored(bytes(12, 1), number) : undefined) },
}));
add('new RandomNonces', () => ({
    call: (used) => new RandomNonces(used),
    args: [7],
    by: (nonces) => nonces.used,
    numbers: { 0: (used) => (whole(used, 1n << 64n) ? Number(used) : undefined) },
}));

const sealing = (nonces = new CounterNonces(bytes(4, 1))) => new SealingKey(KEY, nonces);
for (const [name, args] of [
    ['seal', [TEXT, AAD]],
    ['open', [new Uint8Array(sealing().seal(TEXT, AAD)), AAD]],
    ['destroy', []],
]) {
    add(`SealingKey.prototype.${name}`, () => {
        const self = sealing();
        // A call that was refused may have lost a nonce, which is safe.
        const by = name === 'seal' ? (sealed) => self.open(sealed, AAD) : undefined;
        return { self, call: (...given) => self[name](...given), args, by };
    });
}
for (const name of ['blocksLeft', 'blocksSealed']) add(`SealingKey.prototype.${name}`, () => ({ call: () => sealing()[name], args: [] }));
add('new SealingKey', () => ({
    call: (key) => new SealingKey(key, new CounterNonces(bytes(4, 1))),
    args: [KEY],
    by: (key) => key.seal(TEXT),
}));

const aesgcm = new AESGCM(KEY);
const [nonce, tag] = [bytes(12, 1), new Uint8Array(aesgcm.seal(bytes(12, 1), TEXT, AAD)).slice(-16)];
// The tags of other messages: of TEXT as ciphertext, and of associated data that comes twice.
const ofText = new Uint8Array(aesgcm.seal(nonce, aesgcm.seal(nonce, TEXT).subarray(0, -16), AAD)).slice(-16);
const ofAad = new Uint8Array(aesgcm.seal(nonce, bytes(0), Buffer.concat([AAD, AAD])));
const streams = {
    Sealer: [() => new Sealer(aesgcm, nonce, { aad: AAD }), TEXT, (s, made) => [made, s.final()]],
    UnverifiedOpener: [() => new UnverifiedOpener(aesgcm, nonce, { aad: AAD }), TEXT, (s, made) => [made, s.verify(made ? ofText : ofAad)]],
    CobblestoneSealer: [() => new CobblestoneSealer(KEY, { context: AAD }), CHUNKS, (s, made) => openedBy(Buffer.concat([made, s.final()]))],
    CobblestoneOpener: [() => new CobblestoneOpener(KEY, { context: AAD }), sealedFile(CHUNKS), (s, made) => [made, s.final()]],
};
for (const [name, [make, data, use]] of Object.entries(streams)) {
    const method = (method, args, before = () => 0, by) =>
        add(`${name}.prototype.${method}`, () => {
            const self = make();
            before(self);
            return { self, call: (...given) => self[method](...given), args, by: by && ((made) => by(self, made)), moves: true };
        });
    const isFile = name.startsWith('Cobblestone');
    method('update', [data], () => 0, use);
    if (!isFile) method('updateAad', [AAD], () => 0, use);
    if (name === 'UnverifiedOpener') method('verify', [tag], (self) => self.update(aesgcm.seal(nonce, TEXT, AAD).subarray(0, -16)));
    else method('final', [], (self) => self.update(data), name === 'CobblestoneSealer' ? (_, end) => end.length : undefined);
    if (name === 'Sealer') add('Sealer.prototype.tag', () => ({ call: () => make().tag, args: [] }));
    const Class = fastgcm[name] ?? hazmat[name];
    const given = isFile ? [KEY, { context: AAD }] : [nonce, { aad: AAD }];
    add(`new ${name}`, () => ({
        call: isFile ? (key, options) => new Class(key, options) : (nonce, options) => new Class(aesgcm, nonce, options),
        args: given,
        by: (stream) => use(stream, stream.update(data)),
    }));
}

// Files, and ranges of one.
const folder = newFolder();
const place = (name) => path.join(folder, name);
fs.writeFileSync(place('text'), TEXT);
fs.writeFileSync(place('sealed'), SEALED);
for (const [name, from, opened] of [
    ['sealFile', 'text', (bytes) => openedBy(bytes)],
    ['openFile', 'sealed', (bytes) => bytes],
]) {
    add(name, () => ({
        call: async (key, options) => {
            const own = fs.mkdtempSync(place('made-')); // a call may come in the middle of another
            const made = path.join(own, 'made');
            try {
                await fastgcm[name](key, place(from), made, options);
                return fs.readFileSync(made);
            } finally {
                fs.rmSync(made, { force: true });
                // Nothing else is left, whatever happens.
                assert.deepEqual(fs.readdirSync(own), []);
                fs.rmdirSync(own);
            }
        },
        args: [KEY, { context: AAD, overwrite: false }],
        by: (bytes) => Buffer.from(opened(bytes)),
    }));
}
const source = () => ({ size: SEALED.length, read: (at, length) => SEALED.slice(at, at + length), close: () => undefined });
add('SealedFile.open', () => ({
    call: (key, source, options) => SealedFile.open(key, source, options),
    args: [KEY, source(), { context: AAD }],
    by: (file) => file.length,
}));
const collected = async (stream) => {
    const pieces = [];
    for await (const piece of stream) pieces.push(piece);
    return Buffer.concat(pieces);
};
const within = (start, end) => [start, end].every((at) => whole(at, BigInt(TEXT.length) + 1n)) && start <= end;
const part = (start, end) => (within(start, end) ? Buffer.from(TEXT.slice(Number(start), Number(end))) : undefined);
for (const name of ['read', 'stream', 'length', 'close']) {
    add(`SealedFile.prototype.${name}`, async () => {
        const self = await SealedFile.open(KEY, source(), { context: AAD });
        const takes = name === 'read' || name === 'stream';
        return {
            self,
            call: (...given) =>
                takes
                    ? name === 'read'
                        ? self.read(...given)
                        : collected(self.stream(...given))
                    : name === 'close'
                      ? self.close()
                      : self.length,
            args: takes ? [10, TEXT.length - 1000] : [],
            numbers: [(start) => part(start, TEXT.length - 1000), (end) => part(10, end)],
        };
    });
}
add('cpu', () => ({ call: () => fastgcm.cpu(), args: [] }));

/** The names of all that the package exports, and of what those have. */
function exported() {
    const names = [];
    for (const [name, value] of Object.entries({ ...fastgcm, ...hazmat })) {
        if (typeof value !== 'function') continue;
        if (name === 'InvalidTag') continue; // an error, without functions of its own
        if (value.prototype === undefined || !/^class /.test(Function.prototype.toString.call(value))) {
            names.push(name);
            continue;
        }
        if (value !== SealedFile) names.push(`new ${name}`); // its constructor refuses everybody
        for (let at = value; at !== Function.prototype && at !== Transform; at = Object.getPrototypeOf(at)) {
            const statics = Object.getOwnPropertyNames(at).filter((own) => typeof at[own] === 'function' && own !== 'prototype');
            names.push(...statics.map((own) => `${name}.${own}`));
            const methods = Object.getOwnPropertyNames(at.prototype).filter((own) => own !== 'constructor' && !own.startsWith('_'));
            names.push(...methods.map((own) => `${name}.prototype.${own}`));
        }
    }
    return [...new Set(names)].sort();
}

/** This module, of another key, text and associated data. */
function of(KEY, TEXT, AAD) {
    delete require.cache[__filename];
    globalThis.fastgcmCalls = { KEY, TEXT, AAD };
    const made = require('./calls.js');
    globalThis.fastgcmCalls = undefined;
    return made;
}

module.exports = { AAD, KEY, exported, of, place, sealing, table };

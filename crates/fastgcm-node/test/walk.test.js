'use strict';
// Walks through every function of the package. The first gives sizes that no buffer has, around 2^31, 2^32, 2^53 and 2^63, negative ones,
// fractions and BigInts. The second forces an error at every point where a function leaves our code: a getter of a buffer, of a list or of the
// options, a function of a source, and the allocation of a result. Whatever happens there, the call does what it should or refuses with a code, no
// text comes out, and the object then works as if that call had not been. Then come four for faults of four kinds: a size that is cut, something that is
// compared or drawn in part, a state that a refused call leaves, a secret in a message.

const assert = require('node:assert/strict');
const test = require('node:test');
const { constants } = require('node:buffer');
const crypto = require('node:crypto');
const fs = require('node:fs');
const fsp = require('node:fs/promises');
const path = require('node:path');
const { inspect, isDeepStrictEqual } = require('node:util');
const { AESGCM, AESGCMSIV, CobblestoneSealer, CounterNonces, KCXAES256GCM, RandomNonces, SealedFile, Sealer, XAES256GCM } = require('..');
const { UnverifiedOpener } = require('../hazmat.js');
const calls = require('./calls.js');
const { exported, table } = calls;
const { suite } = require('./support.js');

const passed = suite('walk');

test('each function is in the walk', () => {
    assert.deepEqual(Object.keys(table).sort(), exported());
    passed(exported().length);
});

/** A copy of arguments, in memory of its own; buffers as `change` makes them. */
function copied(value, change = (copy) => copy) {
    if (value instanceof Uint8Array) return change(Uint8Array.from(value));
    if (Array.isArray(value)) return value.map((item) => copied(item, change));
    if (value?.constructor !== Object) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copied(item, change)]));
}

/** A result without what its buffers say of themselves. */
function shown(value) {
    if (value === 0) return 0; // and not -0
    if (value instanceof Uint8Array) return Buffer.from(Uint8Array.from(value)).toString('hex');
    if (Array.isArray(value)) return value.map(shown);
    if (value?.constructor !== Object) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(item)]));
}

/** What came of a call: what its result is compared by, or the error. */
async function outcome({ call, by }, given) {
    try {
        return { result: shown(await by(await call(...given))) };
    } catch (error) {
        return { error };
    }
}

const right = async (make) => {
    const one = await make();
    return (await outcome(one, copied(one.args))).result;
};

/** Right, or refused with a code, and then no text stands in what is written. Returns the error. */
async function refusedOrRight(how, one, given, wanted) {
    const { result, error } = await outcome(one, given);
    if (error === undefined) {
        assert.deepEqual(result, wanted, how);
        return undefined;
    }
    assert.ok(error.code !== undefined || error.message === 'mine', `${how}: ${error.stack}`);
    assert.notEqual(error.code, 'ERR_INTERNAL', how);
    for (const at of one.written) {
        if (ofView('length').call(given[at]) === 0) continue; // it was taken away
        const all = Buffer.from(Uint8Array.from(given[at]));
        assert.ok(all.equals(Buffer.alloc(all.length)) || all.equals(Buffer.alloc(all.length, 7)), `${how}: text in argument ${at}`);
    }
    return error;
}

/** With right arguments the same object does what it should. */
async function worksStill(how, one, wanted) {
    const { result, error } = await outcome(one, copied(one.args));
    assert.equal(error, undefined, `behind ${how}: ${error?.stack}`);
    assert.deepEqual(result, wanted, `behind ${how}`);
}

/** What ends an object: it is refused from then on. */
const ENDS = /\.(final|verify|destroy|close)$/;
const NUMBERS = [2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 64].flatMap((size) => [
    ...[size - 1, size, size + 1, -size],
    ...[BigInt(size) - 1n, BigInt(size), -BigInt(size)],
]);
const SIZES = [...NUMBERS, -1, -16, -17, 0, -0, 0.5, 1e21, NaN, Infinity, -Infinity, -1n, 5n, '5', null, {}, { valueOf: () => 5 }];

test('sizes that nothing has', async () => {
    for (const [name, make] of Object.entries(table)) {
        const wanted = await right(make);
        for (let at = 0; at < (await make()).args.length; at++) {
            for (const size of SIZES) {
                const how = `${name}, argument ${at} of size ${typeof size} ${typeof size === 'object' ? JSON.stringify(size) : String(size)}`;
                const one = await make();
                const given = copied(one.args);
                if (typeof given[at] === 'number') {
                    given[at] = size;
                    const expected = shown(await one.numbers[at](size));
                    const error = await refusedOrRight(how, one, given, expected);
                    assert.equal(error === undefined, expected !== undefined, `${how}: ${error}`);
                    if (error && !ENDS.test(name)) await worksStill(how, one, wanted);
                } else {
                    // A buffer says that it has that size, the argument or one in it.
                    given[at] = copied(given[at], (copy) => Object.defineProperty(copy, 'byteLength', { value: size }));
                    const error = await refusedOrRight(how, one, given, wanted);
                    if (error ? !/\.(final|verify)$/.test(name) : !one.moves && !ENDS.test(name)) await worksStill(how, one, wanted);
                }
                passed(1);
            }
        }
    }
    for (const size of SIZES) {
        const read = (_, length) => Buffer.alloc(Math.min(length, 100_000));
        await assert.rejects(SealedFile.open(Buffer.alloc(32), { size, read }), (error) => typeof error.code === 'string', String(size));
        passed(1);
    }
});

test('buffers that have such sizes', async () => {
    // The kernel gives memory only where something is written: these cost none.
    for (const size of [2 ** 31 - 1, 2 ** 31, 2 ** 31 + 16, 2 ** 32].filter((size) => size <= constants.MAX_LENGTH)) {
        const giant = new Uint8Array(size);
        for (const [name, make] of Object.entries(table)) {
            const { args, written } = await make();
            for (let at = 0; at < args.length; at++) {
                // No result may have that size here, and AES-GCM takes nonces and associated data of that length.
                const isRead = written.length === 0 && !/^new .*(GCM|SIV|Key)/.test(name);
                if (!(args[at] instanceof Uint8Array) || isRead || args[at].length <= 12) continue;
                const one = await make();
                const given = Object.assign(copied(one.args), { [at]: giant });
                const { error } = await outcome({ ...one, written: [] }, given);
                assert.equal(typeof error?.code, 'string', `${name}, argument ${at} of ${size} bytes: ${error?.stack}`);
                passed(1);
            }
        }
    }
});

const ofView = (name) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), name).get;

/** Arguments that call `leave` wherever our code leaves to theirs. */
function watched(value, leave) {
    if (typeof value === 'function') return (...given) => (leave(), value(...given));
    if (value instanceof Uint8Array) {
        const copy = Uint8Array.from(value);
        for (const name of ['byteLength', 'buffer', 'byteOffset', 'length'])
            Object.defineProperty(copy, name, { get: () => (leave(), ofView(name).call(copy)), configurable: true });
        return copy;
    }
    if (!Array.isArray(value) && value?.constructor !== Object) return value;
    const list = Array.isArray(value) ? new Array(value.length) : {};
    for (const name of Object.keys(value)) {
        const item = watched(value[name], leave);
        Object.defineProperty(list, name, { get: () => (leave(), item), enumerable: true, configurable: true });
    }
    return list;
}

/** All buffers in some arguments. */
function buffersOf(value) {
    if (value instanceof Uint8Array) return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(buffersOf) : [];
}

function take(view) {
    const memory = ofView('buffer').call(view);
    if (memory.byteLength > 0) structuredClone(memory, { transfer: [memory] });
}

/** What they may do there. */
const EVILS = {
    throws: () => {
        throw new Error('mine');
    },
    destroys: (one) => (one.self?.close ?? one.self?.destroy)?.call(one.self),
    'takes memory': (_, buffers) => buffers.forEach(take),
    'calls again': async (one) => outcome(one, copied(one.args)),
};

test('an error wherever our code leaves', async () => {
    for (const [name, make] of Object.entries(table)) {
        const wanted = await right(make);
        let points = 0;
        const counted = await make();
        await outcome(
            counted,
            watched(counted.args, () => points++),
        );
        for (const [what, evil] of Object.entries(EVILS)) {
            for (let point = 0; point < points; point++) {
                const how = `${name}, ${what} at ${point} of ${points}`;
                const one = await make();
                if (what === 'calls again' && (one.moves || ENDS.test(name))) break;
                let [left, counts, buffers, again] = [0, false, [], undefined];
                const given = watched(one.args, () => {
                    if (!counts || left++ !== point) return;
                    counts = false;
                    again = evil(one, buffers);
                    counts = true;
                });
                buffers = buffersOf(given);
                counts = true;
                const done = outcome(one, given);
                const { result, error } = await done;
                counts = false;
                await again;
                const checked = { ...one, call: () => (error ? Promise.reject(error) : result), by: (same) => same };
                await refusedOrRight(how, checked, given, wanted);
                if (what === 'destroys' && one.self && (one.self.destroy || one.self.close)) {
                    const { error } = await outcome(one, copied(one.args));
                    if (!/length$/.test(name)) assert.ok(error && error.code !== 'ERR_INTERNAL', `${how}: it works still`);
                } else if (!ENDS.test(name) && (error || !one.moves)) {
                    await worksStill(how, one, wanted);
                }
                passed(1);
            }
        }
    }
});

test('no memory for a result', async () => {
    const { allocUnsafe, allocUnsafeSlow } = Buffer;
    for (const [name, make] of Object.entries(table)) {
        const wanted = await right(make);
        for (let fails = 0, reached = true; reached && fails < 20; fails++) {
            const [one, how] = [await make(), `${name}, without memory ${fails}`];
            const given = copied(one.args);
            let calls = 0;
            reached = false;
            for (const [name, allocate] of Object.entries({ allocUnsafe, allocUnsafeSlow })) {
                Buffer[name] = (length) => {
                    // Node's own streams ask for memory too.
                    if (!/memory\.js/.test(new Error().stack) || calls++ !== fails) return allocate(length);
                    reached = true;
                    throw new RangeError('Array buffer allocation failed');
                };
            }
            const { error } = await outcome({ ...one, by: (result) => result }, given);
            Object.assign(Buffer, { allocUnsafe, allocUnsafeSlow });
            if (!error) continue;
            assert.equal(error.code, 'ERR_MEMORY_ALLOCATION_FAILED', `${how}: ${error.stack}`);
            await worksStill(how, one, wanted);
            passed(1);
        }
    }
});

// ---- sizes

const gcm = (key, nonce, text, aad) => {
    const cipher = crypto.createCipheriv(`aes-${8 * key.length}-gcm`, key, nonce).setAAD(aad);
    return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
};

test('far away', async () => {
    // Associated data of 2^32 bytes, to which nobody has written, are what pieces of them are.
    const [key, nonce] = [crypto.randomBytes(32), Buffer.alloc(12, 1)];
    const [aead, giant] = [new AESGCM(key), new Uint8Array(Math.min(2 ** 32, constants.MAX_LENGTH))];
    const pieces = new Sealer(aead, nonce);
    for (let at = 0; at < giant.length; at += 2 ** 30) pieces.updateAad(giant.subarray(at, at + 2 ** 30));
    assert.deepEqual(aead.seal(nonce, Buffer.alloc(0), giant), pieces.final());
    // Of 2^16 messages and a few the last one is refused; and as many nonces are drawn.
    assert.equal(new RandomNonces().drawBatch(65_541).length, 12 * 65_541);
    assert.equal(new CounterNonces(Buffer.alloc(4)).drawBatch(65_541).readUInt32BE(12 * 65_541 - 4), 65_540);
    const nonces = Buffer.from(Uint32Array.from({ length: 3 * 65_541 }, (_, at) => at).buffer);
    const sealed = aead.sealBatch(nonces, Buffer.alloc(65_541));
    sealed[sealed.length - 1] ^= 1;
    assert.throws(() => aead.openBatch(nonces, sealed), { row: 65_540, message: /message 65540:/ });
    // A sealed file (RFC 5869, C2SP's chunked encryption) of which three chunks are there, beyond 2^32 bytes and 2^32 chunks.
    const info = Buffer.concat([Buffer.from('c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0'), Buffer.alloc(24, 's')]);
    const hmac = (...parts) => crypto.createHmac('sha512', key).update(Buffer.concat(parts)).digest();
    const first = hmac(info, Buffer.of(1));
    const all = Buffer.concat([first, hmac(first, info, Buffer.of(2))]);
    for (const number of [2 ** 18 - 1, 2 ** 32 - 1, 2 ** 32, 2 ** 38 - 3]) {
        const texts = [Buffer.alloc(16384, 1), Buffer.alloc(16384, 2), Buffer.from('the end')];
        const chunks = texts.map((text, at) => {
            const of = (BigInt(`0x${all.subarray(32, 44).toString('hex')}`) ^ BigInt(number + at)).toString(16).padStart(24, '0');
            return gcm(all.subarray(0, 32), Buffer.from(of, 'hex'), text, Buffer.alloc(0));
        });
        const start = 56 + number * 16400;
        const read = (at, length) => (at === 0 ? Buffer.concat([info.subarray(-24), all.subarray(44, 76)]) : Buffer.concat(chunks).subarray(at - start, at - start + length));
        const file = await SealedFile.open(key, { size: start + 2 * 16400 + 23, read });
        assert.equal(file.length, (number + 2) * 16384 + 7);
        assert.deepEqual(await file.read(number * 16384), Buffer.concat(texts));
        assert.deepEqual(await file.read((number + 1) * 16384 - 3, (number + 1) * 16384 + 5), Buffer.concat(texts).subarray(16381, 16389));
        passed(1);
    }
});

// ---- halves, and what comes after an error

const flipped = (bytes, at) => {
    const made = bytes.slice();
    made[at] ^= 1 << at % 8;
    return made;
};

/** What takes the place of an argument: a bit is another one (`isFlip`), or it has another size or kind. */
function* wrongs(value) {
    if (value instanceof Uint8Array) {
        const { length } = value;
        const counts = (at) => (length > 1 << 16 ? [0, 65_541, length - 1].includes(at) : at < 64 || at >= length - 64 || at % 997 === 0);
        for (let at = 0; at < length; at++) if (counts(at)) yield [true, flipped(value, at)];
        if (length > 1 << 16) return;
        const sizes = [value.slice(1), value.slice(0, length / 2), new Uint8Array(length + 1).fill(7), new Uint8Array(0)];
        const text = Buffer.from(value);
        for (const wrong of [...sizes, text.toString('latin1'), text.toString('hex'), Array.from(value), { ...value }]) yield [false, wrong];
    } else if (Array.isArray(value)) {
        for (const [at, item] of value.entries()) for (const [isFlip, wrong] of wrongs(item)) yield [isFlip, [...value.slice(0, at), wrong, ...value.slice(at + 1)]];
        yield* [value.slice(1), [...value, ...value], null].map((wrong) => [false, wrong]);
    } else if (value?.constructor === Object) {
        for (const name of Object.keys(value)) for (const [isFlip, wrong] of wrongs(value[name])) yield [isFlip, { ...value, [name]: wrong }];
        yield* [7, { ...value, othr: 1 }].map((wrong) => [false, wrong]);
    } else if (typeof value === 'number' || typeof value === 'string') {
        yield* [-1, 2 ** 60, 'nothing', Symbol('x')].map((wrong) => [false, wrong]);
    }
}

/** Files are rows of their own: that one is open, or stays. */
const rows = (calls) => ({
    ...calls.table,
    'SealedFile.open of a path': async () => ({
        call: (key, source, options) => SealedFile.open(key, source, options),
        args: [calls.KEY, calls.place('sealed'), { context: calls.AAD }],
        by: (file) => file.read().finally(() => file.close()),
        written: [],
    }),
    'UnverifiedOpener as a stream': async () => {
        const [aead, nonce] = [new AESGCM(calls.KEY), new Uint8Array(12)];
        const sealed = aead.seal(nonce, calls.KEY);
        return {
            call: (nonce, options) => new UnverifiedOpener(aead, nonce, options),
            args: [nonce, { tag: new Uint8Array(sealed.subarray(-16)) }],
            by: (opener) => (opener.end(sealed.subarray(0, -16)), opener.toArray()),
            written: [],
        };
    },
});

/** The outcome, with what was written. */
const whole = (one, given) => outcome({ ...one, by: async (made) => [await one.by(made), one.written.map((at) => given[at])] }, given);

const descriptors = () => fs.readdirSync('/proc/self/fd').length;
async function closed(how, before) {
    for (let round = 0; descriptors() > before && round < 100; round++) await new Promise(setImmediate); // streams close theirs later
    assert.equal(descriptors(), before, `${how}: a descriptor stays`);
}

async function bits(all, kinds) {
    for (const [name, make] of Object.entries(all)) {
        const wanted = await right(make);
        const one = await make();
        const asItIs = (await whole(one, copied(one.args))).result;
        for (let at = 0; at < one.args.length; at++) {
            for (const [isFlip, wrong] of wrongs((await make()).args[at])) {
                const [one, how] = [await make(), `${name}, argument ${at}: ${isFlip} ${inspect(wrong).slice(0, 99)}`];
                if (!kinds.includes(isFlip) || (isFlip && one.written.includes(at))) continue;
                const before = descriptors();
                let refused;
                const call = async (...given) => {
                    try {
                        return await one.call(...given);
                    } catch (error) {
                        throw (refused = error);
                    }
                };
                const { result, error } = await whole({ ...one, call }, Object.assign(copied(one.args), { [at]: wrong }));
                assert.ok(!isFlip || error || !isDeepStrictEqual(result, asItIs), `${how}: nothing is seen of it`);
                await closed(how, before);
                if (!refused) continue;
                const ends = refused.code === 'ERR_INVALID_TAG' && /^CobblestoneOpener.prototype|verify$/.test(name);
                if (!ends) await worksStill(how, one, wanted);
                else assert.equal((await outcome(one, copied(one.args))).error?.code, 'ERR_DESTROYED', `behind ${how}: it goes on`);
                passed(1);
            }
        }
    }
}

test('each bit counts, and what was refused leaves nothing', () => bits(rows(calls), [true, false]));

// beside.test.js and known.test.js have the answers for such lengths.
test('of a little more than 2^16 bytes each bit counts, too', () => {
    const [key, text, aad] = [32, 70_003, 65_600].map((length) => new Uint8Array(crypto.randomBytes(length)));
    return bits(calls.of(key, text, aad).table, [true]);
});

test('each byte is drawn', async () => {
    const key = crypto.randomBytes(32);
    const drawn = {
        ...Object.fromEntries([AESGCM, AESGCMSIV, XAES256GCM, KCXAES256GCM].map((Class) => [`${Class.name}.generateKey`, () => Class.generateKey()])),
        ...Object.fromEntries([XAES256GCM, KCXAES256GCM].map((Class) => [`${Class.name}.sealRandom`, () => new Class(key).sealRandom(key).subarray(0, 24)])),
        RandomNonces: () => new RandomNonces().drawBatch(3),
        SealingKey: () => calls.sealing(new RandomNonces()).seal(key).subarray(0, 12),
        CobblestoneSealer: () => new CobblestoneSealer(key).final().subarray(0, 24),
    };
    for (const [name, draw] of Object.entries(drawn)) {
        const all = Array.from({ length: 64 }, draw);
        all[0].forEach((_, at) => assert.ok(new Set(all.map((one) => one[at])).size > 16, `${name}, byte ${at}`));
        passed(1);
    }
});

test('each call of the file system fails once', async () => {
    const handle = await fsp.open(calls.place('text'));
    const Handle = Object.getPrototypeOf(handle);
    await handle.close();
    const native = require('../lib/native.js');
    const places = [...['lstat', 'open'].map((name) => [fsp, name]), ...['writeFile', 'sync', 'stat', 'read', 'close'].map((name) => [Handle, name]), [native, 'publish']];
    for (const name of ['sealFile', 'openFile', 'SealedFile.open of a path']) {
        // Before it does anything, or behind that; or somebody else makes the target meanwhile.
        for (const when of ['early', 'late', 'there']) {
            for (let fails = 0, isReached = true; isReached; fails++) {
                const [one, before, how] = [await rows(calls)[name](), descriptors(), `${name}, ${when} at call ${fails}`];
                const real = places.map(([of, method]) => of[method]);
                let [count, isThrown] = [0, false];
                places.forEach(([of, method], number) => {
                    of[method] = async function (...given) {
                        const now = count++ === fails;
                        if (now && when === 'there' && method === 'lstat') process.nextTick(() => fs.writeFileSync(given[0], 'mine'));
                        if (!now || when === 'there' || (when === 'late' && method === 'open')) return real[number].apply(this, given);
                        if (when === 'late' || method === 'close') await real[number].apply(this, given).catch(() => undefined);
                        isThrown = true;
                        throw Object.assign(new Error('planted'), { code: 'EIO' });
                    };
                });
                const { error } = await outcome(one, copied(one.args)); // the row looks at what is left
                places.forEach(([of, method], number) => (of[method] = real[number]));
                isReached = count > fails;
                const wanted = when !== 'there' ? isThrown && 'EIO' : fails === 0 && name.endsWith('File') && 'EEXIST';
                assert.equal(error?.code ?? false, wanted, `${how}: ${error?.stack}`);
                await closed(how, before);
                passed(1);
            }
        }
    }
});

// ---- what is shown

test('no byte of a secret is shown', async () => {
    // Under two keys and two texts all is said in the same words.
    const said = [];
    for (const number of [0, 1]) {
        const [key, text] = [32, 300].map((length) => Uint8Array.from({ length }, (_, at) => at * 37 + 11 + 101 * number));
        const lines = [];
        for (const [name, make] of Object.entries(rows(calls.of(key, text, calls.AAD)))) {
            for (let at = 0; at < (await make()).args.length; at++) {
                for (const [, wrong] of wrongs((await make()).args[at])) {
                    const one = await make();
                    const shown = (what) => {
                        const all = what instanceof Error ? { ...what, message: what.message, cause: what.cause } : what; // without the frames of these tests
                        const text = `${name} ${inspect(all, { depth: null, showHidden: true })} ${String(what)} ${JSON.stringify(all)}`;
                        lines.push(text.replace(/fastgcm-\w+|made-\w+/g, ''));
                    };
                    try {
                        const result = await one.call(...Object.assign(copied(one.args), { [at]: wrong }));
                        if (result?.constructor !== Object && !Array.isArray(result) && !(result instanceof Uint8Array)) shown(result);
                        await result?.close?.();
                    } catch (error) {
                        shown(error);
                    }
                }
            }
        }
        said.push(lines);
    }
    said[0].forEach((line, at) => assert.equal(line, said[1][at]));
    assert.equal(said[0].length, said[1].length);
    passed(said[0].length);
});

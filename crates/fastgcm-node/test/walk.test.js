'use strict';
// Two walks through every function of the package. The first gives sizes that no buffer has, around 2^31, 2^32, 2^53 and 2^63, negative ones,
// fractions and BigInts. The second forces an error at every point where a function leaves our code: a getter of a buffer, of a list or of the
// options, a function of a source, and the allocation of a result. Whatever happens there, the call does what it should or refuses with a code, no
// text comes out, and the object then works as if that call had not been.

const assert = require('node:assert/strict');
const test = require('node:test');
const { constants } = require('node:buffer');
const { SealedFile } = require('..');
const { exported, table } = require('./calls.js');
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

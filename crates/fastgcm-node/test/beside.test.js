'use strict';
// Random calls of every kind beside node:crypto: each gives the same bytes.

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const test = require('node:test');
const { AESGCM, AESGCMSIV, CounterNonces, InvalidTag, KCXAES256GCM, RandomNonces, Sealer, SealingKey, XAES256GCM, XorNonces } = require('..');
const { UnverifiedOpener } = require('../hazmat.js');
const { full, numbers, suite } = require('./support.js');

const passed = suite('beside');
const below = numbers(7);
/** Buffers of all kinds with that content: what a caller may have. */
const kinds = [
    (bytes) => Buffer.from(bytes),
    (bytes) => new Uint8Array(bytes),
    (bytes) => new DataView(Uint8Array.from([1, ...bytes, 2]).buffer, 1, bytes.length),
    (bytes) => Uint8Array.from(bytes).buffer,
    (bytes) => new Uint16Array(Uint8Array.from([9, 9, ...bytes, 9]).buffer.slice(0, (2 + bytes.length) & ~1), 2),
];
const kind = (bytes) => kinds[below(bytes.length % 2 === 0 && bytes.length < 5000 ? 5 : 4)](bytes);
const length = () => [below(20), below(300), below(300), below(2000), below(20000)][below(5)];
const random = (count) => crypto.randomBytes(count);

/** What node:crypto makes of it: ciphertext and tag. */
function theirs(key, nonce, text, aad) {
    const cipher = crypto.createCipheriv(`aes-${8 * key.length}-gcm`, key, nonce);
    cipher.setAAD(aad);
    return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

test('random calls', async () => {
    for (let round = 0; round < (full ? 20000 : 1500); round++) {
        const key = random([16, 24, 32][below(3)]);
        const nonce = random(below(4) === 0 ? 1 + below(128) : 12);
        const [text, aad] = [random(length()), random(below(3) === 0 ? length() : below(40))];
        const sealed = theirs(key, nonce, text, aad);
        const [ciphertext, tag] = [sealed.subarray(0, -16), sealed.subarray(-16)];
        const aead = new AESGCM(below(2) === 0 ? kind(key) : crypto.createSecretKey(key));
        const optional = aad.length === 0 && below(2) === 0 ? [undefined, null][below(2)] : kind(aad);

        assert.deepEqual(aead.seal(kind(nonce), kind(text), optional), sealed);
        assert.deepEqual(aead.open(kind(nonce), kind(sealed), optional), text);

        const out = Buffer.alloc(sealed.length + 2, 7);
        aead.sealInto(nonce, text, out.subarray(1, -1), aad);
        assert.deepEqual(out, Buffer.concat([Buffer.of(7), sealed, Buffer.of(7)]));
        aead.openInto(nonce, sealed, out.subarray(1, 1 + text.length), aad);
        assert.deepEqual(out, Buffer.concat([Buffer.of(7), text, tag, Buffer.of(7)]));

        const place = Buffer.concat([text, Buffer.alloc(16)]);
        aead.sealInto(nonce, place.subarray(0, text.length), place, aad);
        assert.deepEqual(place, sealed);
        aead.openInto(nonce, place, place.subarray(0, text.length), aad);
        assert.deepEqual(place.subarray(0, text.length), text);

        const apart = aead.sealDetached(nonce, text, aad);
        assert.deepEqual([apart.ciphertext, apart.tag], [ciphertext, tag]);
        assert.deepEqual(aead.openDetached(nonce, ciphertext, tag, aad), text);
        const [here, found] = [Buffer.from(text), Buffer.alloc(16)];
        aead.sealDetachedInto(nonce, here, here, found, aad);
        assert.deepEqual([here, found], [ciphertext, tag]);
        aead.openDetachedInto(nonce, here, found, here, aad);
        assert.deepEqual(here, text);

        const [sealer, opener] = [new Sealer(aead, nonce, { aad }), new UnverifiedOpener(aead, nonce, { aad })];
        const pieces = [];
        for (let at = 0; at < text.length;) {
            const piece = text.subarray(at, (at += 1 + below(1 + below(3000))));
            pieces.push(sealer.update(piece));
            assert.deepEqual(opener.update(pieces.at(-1)), piece);
        }
        assert.deepEqual(Buffer.concat([...pieces, sealer.final()]), sealed);
        opener.verify(sealer.tag);

        if (round % 16 === 0) {
            assert.deepEqual(await aead.sealAsync(nonce, text, aad), sealed);
            assert.deepEqual(await aead.openAsync(nonce, sealed, aad), text);
        }
        // One bit of what is opened.
        const at = below(8 * sealed.length);
        const forged = Buffer.from(sealed);
        forged[at >> 3] ^= 1 << (at & 7);
        const zeroed = Buffer.alloc(text.length, 7);
        assert.throws(() => aead.openInto(nonce, forged, zeroed, aad), InvalidTag);
        assert.deepEqual(zeroed, Buffer.alloc(text.length));
        aead.openInto(nonce, sealed, zeroed, aad);
        passed(1);
    }
});

test('results keep what they are', () => {
    const aead = new AESGCM(random(32));
    const kept = [];
    for (let number = 0; number < 1500; number++) {
        const [nonce, text] = [random(12), Buffer.alloc([below(100), 900 + below(4000), below(40000)][below(3)], number)];
        kept.push({ nonce, text, sealed: aead.seal(nonce, text), opened: aead.open(nonce, aead.seal(nonce, text)) });
    }
    for (const { nonce, text, sealed, opened } of kept) {
        assert.ok(opened.equals(text));
        assert.ok(aead.open(nonce, sealed).equals(text));
        passed(1);
    }
    // The memory of several cannot be taken away with one of them. (Node's pool says so too.)
    const [sealed] = aead.sealBatch([random(12), random(12)], [random(9), random(9)]);
    for (const one of [sealed, aead.seal(random(12), random(2000)), aead.seal(random(12), random(9000))]) {
        const length = one.byteLength;
        try {
            structuredClone(one.buffer, { transfer: [one.buffer] });
        } catch {
            // Node 20.9 and later throw, others make a copy.
        }
        assert.equal(one.byteLength, length);
        passed(1);
    }
});

test('batches', () => {
    for (let round = 0; round < 150; round++) {
        const xaes = below(3) === 0;
        const key = random(32);
        const aead = new (xaes ? [XAES256GCM, KCXAES256GCM] : [AESGCM, AESGCMSIV])[below(2)](key);
        const count = below(40);
        const nonces = Array.from({ length: count }, () => random(xaes ? 24 : 12));
        const datas = nonces.map(() => random(below(200)));
        const aads = [undefined, random(9), nonces.map(() => random(below(30)))][below(3)];
        const aad = (row) => (Array.isArray(aads) ? aads[row] : aads);
        const one = datas.map((data, row) => aead.seal(nonces[row], data, aad(row)));
        const given = below(2) === 0 ? nonces : Buffer.concat(nonces);
        assert.deepEqual(aead.sealBatch(given, datas, aads), one);
        assert.deepEqual(aead.openBatch(given, one, aads), datas);
        const [out, text] = [Buffer.concat(one.map((sealed) => Buffer.alloc(sealed.length))), Buffer.concat(datas)];
        assert.deepEqual(aead.sealBatchInto(given, datas, out, aads), Buffer.concat(one));
        assert.deepEqual(aead.openBatchInto(given, one, Buffer.alloc(text.length), aads), text);

        const records = random(32 * count);
        const sealed = aead.sealBatch(given, records, aads);
        assert.deepEqual(
            sealed,
            Buffer.concat(nonces.map((nonce, row) => aead.seal(nonce, records.subarray(32 * row, 32 * row + 32), aad(row)))),
        );
        assert.deepEqual(aead.openBatch(given, sealed, aads), records);
        if (count > 0) {
            const row = below(count);
            const forged = one.map((sealed) => Buffer.from(sealed));
            forged[row][below(forged[row].length)] ^= 1;
            const zeroed = Buffer.alloc(text.length, 7);
            assert.throws(() => aead.openBatchInto(given, forged, zeroed, aads), { name: 'InvalidTag', row });
            assert.deepEqual(zeroed, Buffer.alloc(text.length));
        }
        passed(1);
    }
});

test('blocks', () => {
    const [key, limit] = [random(16), 24_296_003_998n]; // the square root of 2^(129 - 60), less one
    const drawn = () => new RandomNonces();
    assert.equal(new SealingKey(key, drawn()).blocksLeft, 398_065_729_532_859n);
    assert.equal(new SealingKey(key, drawn(), { confidentiality: 60 }).blocksLeft, limit);
    for (const none of [undefined, null, {}]) assert.equal(new SealingKey(key, drawn(), none).blocksSealed, 0n);
    const destroyed = new SealingKey(key, drawn(), { blocks: 5 });
    destroyed.destroy();
    assert.throws(() => destroyed.seal(random(3)), { code: 'ERR_DESTROYED' });
    assert.equal(destroyed.blocksSealed, 5n); // what is refused takes nothing, whatever refuses it
    assert.equal(new SealingKey(key, drawn(), { confidentiality: 60n, sealers: 10, blocks: 7 }).blocksLeft, limit / 10n - 7n);
    assert.equal(new SealingKey(key, drawn(), { confidentiality: 2 ** 33, blocks: 2n ** 64n - 1n }).blocksLeft, 0n);
    const nonces = new CounterNonces(Buffer.from('left'));
    const sealing = new SealingKey(key, nonces, { confidentiality: 60, blocks: limit - 10n });
    sealing.seal(random(33));
    for (const length of [81, 96, 1 << 20]) assert.throws(() => sealing.seal(random(length)), { code: 'ERR_NONCES_EXHAUSTED' });
    assert.deepEqual([sealing.blocksLeft, nonces.position], [6n, 1n]); // a refused message takes nothing
    const sealed = sealing.seal(random(80), random(3000));
    assert.deepEqual([sealed.readBigUInt64BE(4), sealing.blocksLeft, sealing.blocksSealed], [1n, 0n, limit]);
    assert.throws(() => sealing.seal(random(0)), { code: 'ERR_NONCES_EXHAUSTED' });
    const ended = new SealingKey(key, new CounterNonces(Buffer.from('eleven byte'), 255));
    ended.seal(random(0));
    assert.throws(() => ended.seal(random(0)), { code: 'ERR_NONCES_EXHAUSTED' });
    assert.equal(ended.blocksSealed, 1n); // nonces that end take no block
    for (const bad of [-1, 1.5, NaN, 2 ** 53, -1n, 2n ** 64n, '1', null]) {
        for (const name of ['confidentiality', 'blocks', 'sealers'])
            if (bad !== 2 ** 53 || name !== 'sealers')
                assert.throws(() => new SealingKey(key, drawn(), { [name]: bad }), { code: 'ERR_OUT_OF_RANGE' }, `${name} ${String(bad)}`);
    }
    for (const bad of [0, 0n, 2 ** 32]) assert.throws(() => new SealingKey(key, drawn(), { sealers: bad }), { code: 'ERR_OUT_OF_RANGE' });
    passed(1);
});

test('nonces', () => {
    const fixed = Buffer.from('left');
    for (const start of [0, 1, 255, 2 ** 32, 2n ** 63n]) {
        const nonces = new CounterNonces(fixed, start);
        const [first, two] = [nonces.draw(), nonces.drawBatch(2)];
        const numbered = [first, two.subarray(0, 12), two.subarray(12)].map((nonce) => nonce.readBigUInt64BE(4));
        assert.deepEqual(
            numbered,
            [0n, 1n, 2n].map((more) => BigInt(start) + more),
        );
        assert.deepEqual(first.subarray(0, 4), fixed);
        assert.equal(nonces.position, BigInt(start) + 3n);
    }
    const last = new CounterNonces(Buffer.from('eleven byte'), 254);
    last.drawBatch(2);
    assert.equal(last.position, null);
    assert.throws(() => last.draw(), { code: 'ERR_NONCES_EXHAUSTED' });
    const near = new RandomNonces(2 ** 32 - 1);
    assert.equal(near.draw().length, 12);
    assert.equal(near.used, 2 ** 32);
    assert.throws(() => near.draw(), { code: 'ERR_NONCES_EXHAUSTED' });

    const key = random(16);
    const left = new SealingKey(key, new CounterNonces(fixed));
    const seen = new Set();
    for (let round = 0; round < 100; round++) {
        const [text, aad] = [random(below(300)), random(9)];
        for (const sealing of [left, new SealingKey(key, new RandomNonces(round))]) {
            const sealed = sealing.seal(text, aad);
            seen.add(sealed.toString('hex', 0, 12));
            assert.deepEqual(sealed.subarray(12), theirs(key, sealed.subarray(0, 12), text, aad));
            assert.deepEqual(sealing.open(sealed, aad), text);
            assert.throws(() => sealing.open(sealed), InvalidTag);
        }
        for (const [Class, tag] of [
            [XAES256GCM, 16],
            [KCXAES256GCM, 48],
        ]) {
            const xaes = new Class(Buffer.alloc(32, round));
            const sealed = xaes.sealRandom(text, aad);
            seen.add(sealed.toString('hex', 0, 24));
            assert.equal(sealed.length, 24 + text.length + tag);
            assert.deepEqual(xaes.open(sealed.subarray(0, 24), sealed.subarray(24), aad), text);
            assert.deepEqual(xaes.openRandom(sealed, aad), text);
            for (const short of [sealed.subarray(1), sealed.subarray(0, -1), sealed.subarray(0, 24 + tag - 1)])
                assert.throws(() => xaes.openRandom(short, aad), InvalidTag);
        }
        passed(4);
    }
    assert.equal(seen.size, 400);
    // A static IV, XOR a number: what is opened by the number.
    const iv = random(12);
    for (const start of [0, 1, 255, 2 ** 32, 2n ** 63n, 2n ** 64n - 2n]) {
        const nonces = new XorNonces(iv, start);
        const sealed = new SealingKey(key, nonces).seal(iv, fixed);
        assert.deepEqual(sealed.subarray(0, 12), XorNonces.at(iv, start));
        assert.equal(sealed.readBigUInt64BE(4) ^ iv.readBigUInt64BE(4), BigInt(start));
        assert.deepEqual([sealed.subarray(0, 4), sealed.subarray(12)], [iv.subarray(0, 4), theirs(key, sealed.subarray(0, 12), iv, fixed)]);
        assert.equal(nonces.position, BigInt(start) === 2n ** 64n - 2n ? null : BigInt(start) + 1n);
    }
    for (const length of [0, 11, 13])
        for (const make of [(iv) => new XorNonces(iv), (iv) => XorNonces.at(iv, 0)])
            assert.throws(() => make(Buffer.alloc(length)), { code: 'ERR_INVALID_ARG_VALUE', message: /iv has the wrong length: 12 bytes/ });
    assert.throws(() => new XorNonces(iv, 2n ** 64n - 1n).draw(), { code: 'ERR_NONCES_EXHAUSTED' });
    // The nonces of an object that ended seal nothing.
    const ended = new SealingKey(key, near);
    assert.throws(() => ended.seal(random(3)), { code: 'ERR_NONCES_EXHAUSTED' });
    // What is refused before takes none.
    const counted = new CounterNonces(fixed);
    assert.throws(() => new SealingKey(key, counted).seal('text'), TypeError);
    assert.equal(counted.position, 0n);
});

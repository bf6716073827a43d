'use strict';
// Sealed files: whole, in ranges, changed in every place, and what is left of what failed.

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const test = require('node:test');
const { CobblestoneOpener, CobblestoneSealer, InvalidTag, SealedFile, openFile, sealFile } = require('..');
const { folder: newFolder, full, numbers, suite } = require('./support.js');

const passed = suite('files');
const below = numbers(11);
const folder = newFolder();
const at = (name) => path.join(folder, name);
const context = Buffer.from('a context');

test('whole files', async () => {
    for (const length of [0, 1, 16383, 16384, 16385, 32768, 262144, 1_000_003]) {
        const key = crypto.randomBytes(below(2) ? 16 : 32);
        const text = crypto.randomBytes(length);
        fs.writeFileSync(at('text'), text);
        await sealFile(key, at('text'), at('sealed'), { context });
        await openFile(below(2) ? key : crypto.createSecretKey(key), pathToFileURL(at('sealed')), pathToFileURL(at('opened')), { context });
        assert.deepEqual(fs.readFileSync(at('opened')), text);
        assert.equal(fs.statSync(at('opened')).mode & 0o777, 0o600);
        assert.equal(fs.statSync(at('sealed')).size, 56 + length + 16 * (Math.floor(length / 16384) + 1));
        for (const name of ['text', 'sealed', 'opened']) fs.unlinkSync(at(name));
        passed(1);
    }
    assert.deepEqual(fs.readdirSync(folder), []);
});

test('a file appears complete or not at all', async () => {
    const key = crypto.randomBytes(32);
    fs.writeFileSync(at('text'), crypto.randomBytes(100_000));
    await sealFile(key, at('text'), at('sealed'));
    await assert.rejects(sealFile(key, at('text'), at('sealed')), { code: 'EEXIST' });
    fs.writeFileSync(at('there'), 'before');
    const sealed = fs.readFileSync(at('sealed'));
    for (const change of [
        () => sealed.subarray(0, -1),
        () => sealed.subarray(0, 56 + 16400),
        () => Buffer.concat([sealed, Buffer.of(0)]),
        () => sealed.subarray(0, 30),
        () => Buffer.from(sealed).fill(1, 50_000, 50_001),
    ]) {
        fs.writeFileSync(at('changed'), change());
        await assert.rejects(openFile(key, at('changed'), at('opened')), InvalidTag);
        await assert.rejects(openFile(key, at('changed'), at('there'), { overwrite: true }), InvalidTag);
        passed(2);
    }
    await assert.rejects(openFile(key, at('sealed'), at('opened'), { context }), InvalidTag);
    await assert.rejects(openFile(crypto.randomBytes(16), at('sealed'), at('opened')), InvalidTag);
    await assert.rejects(openFile(key, at('nothing'), at('opened')), { code: 'ENOENT' });
    await assert.rejects(sealFile(key, at('text'), path.join(folder, 'no folder', 'x')), { code: 'ENOENT' });
    await assert.rejects(sealFile(key, at('text'), at('opened'), { signal: AbortSignal.abort() }), { name: 'AbortError' });
    await assert.rejects(sealFile(Buffer.alloc(24), at('text'), at('opened')), RangeError);
    assert.equal(fs.readFileSync(at('there'), 'utf8'), 'before');
    // A link stays, and what it leads to is replaced.
    fs.symlinkSync('there', at('link'));
    await openFile(key, at('sealed'), at('link'), { overwrite: true });
    assert.ok(fs.lstatSync(at('link')).isSymbolicLink());
    assert.deepEqual(fs.readFileSync(at('there')), fs.readFileSync(at('text')));
    assert.deepEqual(fs.readdirSync(folder).sort(), ['changed', 'link', 'sealed', 'text', 'there']);
    for (const name of fs.readdirSync(folder)) fs.unlinkSync(at(name));
    passed(8);
});

test('it is on the disk before it appears', async () => {
    // Content first, then the name, then the folder that has the name.
    const promises = fs.promises;
    fs.writeFileSync(at('text'), 'text');
    const handle = await promises.open(at('text'));
    const Handle = Object.getPrototypeOf(handle);
    await handle.close();
    const before = { sync: Handle.sync, link: promises.link, rename: promises.rename };
    const done = [];
    Handle.sync = async function () {
        done.push((await this.stat()).isDirectory() ? 'folder' : 'file');
        return before.sync.call(this);
    };
    for (const name of ['link', 'rename']) promises[name] = (...names) => (done.push('name'), before[name](...names));
    try {
        const key = crypto.randomBytes(32);
        for (const [call, from, to] of [
            [sealFile, 'text', 'sealed'],
            [openFile, 'sealed', 'opened'],
        ]) {
            for (const overwrite of [false, true]) {
                await call(key, at(from), at(to), { overwrite });
                assert.deepEqual(done.splice(0), ['file', 'name', 'folder']);
                passed(1);
            }
        }
    } finally {
        Handle.sync = before.sync;
        Object.assign(promises, { link: before.link, rename: before.rename });
    }
    for (const name of ['text', 'sealed', 'opened']) fs.unlinkSync(at(name));
});

test('ranges', async () => {
    for (const length of [0, 1, 16384, 16385, 300_000, 16384 * 17]) {
        const key = crypto.randomBytes(32);
        const text = crypto.randomBytes(length);
        const sealer = new CobblestoneSealer(key, { context });
        const sealed = Buffer.concat([sealer.update(text), sealer.final()]);
        fs.writeFileSync(at('sealed'), sealed);
        const reads = [];
        const inMemory = {
            size: sealed.length,
            read: async (offset, length) => (reads.push(length), new Uint8Array(sealed.subarray(offset, offset + length))),
        };
        for (const source of [at('sealed'), pathToFileURL(at('sealed')), inMemory]) {
            const file = await SealedFile.open(key, source, { context });
            assert.equal(file.length, length);
            const ends = [0, 1, 16383, 16384, 16385, length - 1, length].filter((end) => end >= 0 && end <= length);
            for (let round = 0; round < 30; round++) {
                const [start, end] = [0, 0].map(() => (below(2) ? ends[below(ends.length)] : below(length + 1))).sort((a, b) => a - b);
                assert.deepEqual(await file.read(start, end), text.subarray(start, end));
                if (round % 8 === 0) {
                    const pieces = [];
                    for await (const piece of file.stream(start, end)) pieces.push(piece);
                    assert.deepEqual(Buffer.concat(pieces), text.subarray(start, end));
                }
                passed(1);
            }
            for (const [start, end] of [
                [1, 0],
                [0, length + 1],
                [-1, 0],
                [0.5, 1],
                [0, NaN],
                ['0', 1],
            ]) {
                await assert.rejects(file.read(start, end), { code: 'ERR_OUT_OF_RANGE' });
                assert.throws(() => file.stream(start, end), { code: 'ERR_OUT_OF_RANGE' });
            }
            await file.close();
            await file.close();
            await assert.rejects(file.read(), { code: 'ERR_DESTROYED' });
        }
        // No more is read than the chunks of a range.
        reads.length = 0;
        const file = await SealedFile.open(key, inMemory, { context });
        if (length > 20_000) await file.read(16384, 16385);
        assert.ok(reads.reduce((sum, length) => sum + length, 0) <= 56 + 2 * 16400);
        fs.unlinkSync(at('sealed'));
    }
    assert.throws(() => new SealedFile(), TypeError);
});

test('each changed byte, and each length', async () => {
    const key = crypto.randomBytes(16);
    const text = crypto.randomBytes(40_000);
    const sealer = new CobblestoneSealer(key);
    const sealed = Buffer.concat([sealer.update(text), sealer.final()]);
    const all = (bytes) => {
        const opener = new CobblestoneOpener(key);
        return Buffer.concat([opener.update(bytes), opener.final()]);
    };
    const source = (bytes) => ({ size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) });
    const rounds = full ? 4000 : 400;
    for (let round = 0; round < rounds; round++) {
        const changed = Buffer.from(sealed);
        const place = [below(56), 56 + below(16400), below(sealed.length), sealed.length - 1 - below(7300)][round % 4];
        changed[place] ^= 1 << below(8);
        assert.throws(() => all(changed), InvalidTag);
        await assert.rejects(async () => (await SealedFile.open(key, source(changed))).read(), InvalidTag);
        const cut = sealed.subarray(0, round < 100 ? round : below(sealed.length));
        assert.throws(() => all(cut), InvalidTag);
        await assert.rejects(SealedFile.open(key, source(cut)), InvalidTag);
        passed(4);
    }
    // Chunks in another order, and a file that goes on behind its end.
    const chunk = (number) => sealed.subarray(56 + 16400 * number, 56 + 16400 * (number + 1));
    assert.throws(() => all(Buffer.concat([sealed.subarray(0, 56), chunk(1), chunk(0), chunk(2)])), InvalidTag);
    assert.throws(() => all(Buffer.concat([sealed, chunk(2)])), InvalidTag);
    // A source that gives other bytes than it said.
    const lies = { size: sealed.length, read: (offset, length) => sealed.subarray(offset, offset + length - 1) };
    await assert.rejects(SealedFile.open(key, lies), InvalidTag);
    assert.deepEqual(all(sealed), text);
    passed(4);
});

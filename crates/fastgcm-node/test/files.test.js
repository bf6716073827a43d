'use strict';
// Sealed files: whole, in ranges, changed in every place, and what is left of what failed.

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const test = require('node:test');
const { CobblestoneOpener, CobblestoneSealer, InvalidTag, SealedFile, openFile, sealFile } = require('..');
const { folder: newFolder, full, numbers, skipped, suite } = require('./support.js');

const passed = suite('files');
const below = numbers(11);
const folder = newFolder();
const at = (name) => path.join(folder, name);
const context = Buffer.from('a context');
/** Whether a process of this Node starts another one. */
const hasChildren = spawnSync(process.execPath, ['-e', 'console.log(1)'], { encoding: 'utf8' }).stdout === '1\n';

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
        () => Buffer.from(sealed).fill(sealed[50_000] ^ 1, 50_000, 50_001),
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
    // All of its content first, then the name, then the folder that has the name.
    if (!hasChildren || spawnSync('strace', ['--version']).error) {
        skipped('node::files/synced', 'there is no strace, or this Node was not started by its own name');
        return;
    }
    const key = crypto.randomBytes(32);
    fs.writeFileSync(at('text'), Buffer.alloc(600_000, 1));
    await sealFile(key, at('text'), at('sealed'));
    const options = { encoding: 'utf8', env: { ...process.env, UV_THREADPOOL_SIZE: '1', UV_USE_IO_URING: '0' } };
    for (const [fault, ends, name] of [
        ['EINVAL', 'done', 'sealFile'], // a file system that cannot sync a folder
        ['EINVAL', 'done', 'openFile'],
        ['EIO', 'EIO', 'openFile'],
    ]) {
        for (const overwrite of [false, true]) {
            const names = [name === 'sealFile' ? 'text' : 'sealed', 'made'].map((name) => JSON.stringify(at(name)));
            if (overwrite) fs.writeFileSync(at('made'), 'before');
            const program = `require(${JSON.stringify(path.join(__dirname, '..'))}).${name}(Buffer.from('${key.toString('hex')}', 'hex'), ${names}, { overwrite: ${overwrite} })
                .then(() => 'done', (error) => error.code).then(console.log)`;
            const inject = ['-e', 'trace=write,pwrite64,writev,pwritev,fsync,fdatasync,renameat,renameat2', '-e', `inject=fsync:error=${fault}:when=2`];
            const { stdout, stderr } = spawnSync('strace', ['-f', '-y', ...inject, process.execPath, '-e', program], options);
            const calls = stderr.split('\n').filter((line) => /sync\(|rename|write.*\.partial>/.test(line));
            assert.match(calls.map((line) => /write|sync|rename/.exec(line)[0]).join(' '), /^(write ){3,}sync rename sync$/, stderr);
            const [first, renamed, last] = calls.slice(-3);
            assert.ok(/fsync.*\.partial>/.test(first) && /rename.*"[^"]*made"/.test(renamed), stderr);
            assert.ok(last.includes(`${folder}>`) && last.includes('INJECTED'), last);
            assert.equal(stdout, `${ends}\n`);
            assert.deepEqual(fs.readdirSync(folder).sort(), ['made', 'sealed', 'text']);
            fs.unlinkSync(at('made'));
            passed(1);
        }
    }
    for (const name of ['text', 'sealed']) fs.unlinkSync(at(name));
});

test('without links', async () => {
    // A file system that has neither hard links nor a rename that replaces nothing: exFAT by FUSE.
    if (!process.env.FASTGCM_UNLINKED) {
        skipped('node::files/without_links', 'there is no file system without links (`.ci/run node` makes one)');
        return;
    }
    const folder = fs.mkdtempSync(path.join(process.env.FASTGCM_UNLINKED, 'node-'));
    const at = (name) => path.join(folder, name);
    try {
        const [key, text] = [crypto.randomBytes(32), crypto.randomBytes(100_000)];
        fs.writeFileSync(at('text'), text);
        assert.throws(() => fs.linkSync(at('text'), at('link')));
        await sealFile(key, at('text'), at('sealed'));
        await openFile(key, at('sealed'), at('opened'));
        await assert.rejects(openFile(key, at('sealed'), at('opened')), { code: 'EEXIST' });
        assert.deepEqual(fs.readFileSync(at('opened')), text);
        // It comes while the file is written.
        fs.writeFileSync(at('long'), crypto.randomBytes(5_000_000));
        const late = assert.rejects(sealFile(key, at('long'), at('late')), { code: 'EEXIST' });
        let isOver = false;
        late.catch(() => undefined).finally(() => (isOver = true));
        while (!isOver && !fs.readdirSync(folder).some((name) => name.endsWith('.partial'))) await new Promise(setImmediate);
        fs.writeFileSync(at('late'), 'precious');
        await late;
        assert.equal(fs.readFileSync(at('late'), 'utf8'), 'precious');
        await sealFile(key, at('text'), at('late'), { overwrite: true });
        assert.deepEqual(fs.readdirSync(folder).sort(), ['late', 'long', 'opened', 'sealed', 'text']);
        passed(6);
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
});

test('what a stranger put there', async () => {
    if (process.getuid() !== 0) {
        skipped('node::files/stranger', 'only the superuser makes a file of another user');
        return;
    }
    const stranger = 65534;
    const key = crypto.randomBytes(32);
    fs.writeFileSync(at('text'), 'text');
    fs.writeFileSync(at('own'), 'precious');
    const shared = at('shared');
    fs.mkdirSync(shared);
    fs.chmodSync(shared, 0o1777);
    const link = path.join(shared, 'link');
    const pipe = path.join(shared, 'pipe');
    fs.symlinkSync(at('own'), link);
    execFileSync('mkfifo', [pipe]);
    fs.symlinkSync(link, at('through'));
    for (const name of [link, pipe]) {
        fs.lchownSync(name, stranger, stranger);
        await assert.rejects(sealFile(key, at('text'), name), { code: 'EEXIST' });
        await assert.rejects(sealFile(key, at('text'), name, { overwrite: true }), { code: 'EACCES' });
    }
    await assert.rejects(sealFile(key, at('text'), at('through'), { overwrite: true }), /EACCES: belongs to another user/);
    assert.equal(fs.readFileSync(at('own'), 'utf8'), 'precious');
    assert.deepEqual(fs.readdirSync(shared).sort(), ['link', 'pipe']);
    // One's own link.
    fs.lchownSync(link, 0, 0);
    await sealFile(key, at('text'), link, { overwrite: true });
    assert.equal(fs.readFileSync(at('own')).length, 56 + 4 + 16);
    for (const name of fs.readdirSync(folder)) fs.rmSync(at(name), { recursive: true });
    passed(6);
});

test('a folder that may not be listed', async () => {
    if (process.getuid() !== 0 || !hasChildren) {
        skipped('node::files/unlisted', 'only the superuser becomes another user');
        return;
    }
    const stranger = 65534;
    fs.chmodSync(folder, 0o711);
    fs.writeFileSync(at('text'), 'text', { mode: 0o644 });
    const box = at('box');
    fs.mkdirSync(box);
    fs.chmodSync(box, 0o733);
    const program = `const { openFile, sealFile } = require(${JSON.stringify(path.join(__dirname, '..'))});
        process.setgroups([]), process.setgid(${stranger}), process.setuid(${stranger});
        const key = Buffer.alloc(32);
        (async () => {
            await sealFile(key, ${JSON.stringify(at('text'))}, ${JSON.stringify(path.join(box, 'sealed'))});
            await openFile(key, ${JSON.stringify(path.join(box, 'sealed'))}, ${JSON.stringify(path.join(box, 'opened'))});
        })().catch((error) => console.log(error.message));`;
    assert.equal(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }), '');
    assert.deepEqual(fs.readdirSync(box).sort(), ['opened', 'sealed']);
    for (const name of fs.readdirSync(folder)) fs.rmSync(at(name), { recursive: true });
    passed(2);
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
        for (const source of [at('sealed'), pathToFileURL(at('sealed')), inMemory, { ...inMemory, size: BigInt(sealed.length) }]) {
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
            // A BigInt is a number, too, and what is none is named.
            assert.deepEqual(await file.read(0n, BigInt(length)), text);
            assert.deepEqual(await file.read(BigInt(length)), Buffer.alloc(0));
            await assert.rejects(file.read(0n, 1n << 64n), { message: 'end must be a whole number from 0 on' });
            await assert.rejects(file.read(-1n), { message: 'start must be a whole number from 0 on' });
            await assert.rejects(file.read('0', 1), { message: 'start must be a whole number from 0 on' });
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

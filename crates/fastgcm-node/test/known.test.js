'use strict';
// Answers that others have published: Wycheproof's, and those of C2SP for XAES-256-GCM.

const assert = require('node:assert/strict');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { finished } = require('node:stream/promises');
const test = require('node:test');
const zlib = require('node:zlib');
const { AESGCM, AESGCMSIV, CobblestoneOpener, InvalidTag, KCXAES256GCM, SealedFile, XAES256GCM } = require('..');
const { skipped, suite } = require('./support.js');

const passed = suite('known');
const hex = (text) => Buffer.from(text, 'hex');
const folder = process.env.FASTGCM_WYCHEPROOF;

/** Groups of Wycheproof's tests. */
function groups(name) {
    return JSON.parse(fs.readFileSync(path.join(folder, `${name}_test.json`), 'utf8')).testGroups;
}

/** Each way to open a message: the text, or an error. */
function opened(key, nonce, ct, tag, aad) {
    const apart = Buffer.alloc(ct.length, 7);
    const inPlace = Buffer.concat([ct, tag]);
    return [
        () => key.open(nonce, Buffer.concat([ct, tag]), aad),
        () => key.openDetached(nonce, ct, tag, aad),
        () => key.openDetachedInto(nonce, ct, tag, apart, aad),
        () => key.openInto(nonce, inPlace, inPlace.subarray(0, ct.length), aad),
    ];
}

for (const [name, Class] of [
    ['aes_gcm', AESGCM],
    ['aes_gcm_siv', AESGCMSIV],
]) {
    test(name, { skip: !folder && 'FASTGCM_WYCHEPROOF names no folder' }, () => {
        for (const group of groups(name)) {
            for (const { tcId, key, iv, aad, msg, ct, tag, result, flags } of group.tests) {
                const [nonce, more, text] = [hex(iv), hex(aad), hex(msg)];
                if (nonce.length === 0) {
                    assert.throws(() => new Class(hex(key)).seal(nonce, text, more), { code: 'ERR_INVALID_ARG_VALUE' });
                    passed(1);
                    continue;
                }
                const aead = new Class(hex(key));
                for (const open of opened(aead, nonce, hex(ct), hex(tag), more)) {
                    if (result === 'valid') assert.deepEqual(open(), text, `${name} ${tcId}`);
                    else assert.throws(open, InvalidTag, `${name} ${tcId} ${flags}`);
                }
                if (result === 'valid') assert.equal(aead.seal(nonce, text, more).toString('hex'), ct + tag, `${name} ${tcId}`);
                passed(1);
            }
        }
    });
}

for (const bits of [128, 256]) {
    const name = `c2sp_chunked_encryption_aes_${bits}_gcm`;
    test(name, { skip: !folder && 'FASTGCM_WYCHEPROOF names no folder' }, async () => {
        const sha = (text) => createHash('sha512').update(text).digest('hex');
        for (const { tcId, key, ctx, ct, msgLength, msgSha512, result, flags } of groups(name).flatMap((group) => group.tests)) {
            const [sealed, context] = [zlib.inflateSync(hex(ct)), hex(ctx)];
            const opener = () => new CobblestoneOpener(hex(key), { context });
            const all = () => {
                const stream = opener();
                return Buffer.concat([stream.update(sealed), stream.final()]);
            };
            const range = async () => {
                const read = (at, length) => sealed.subarray(at, at + length);
                return (await SealedFile.open(hex(key), { size: sealed.length, read }, { context })).read();
            };
            // Pieces that the stream gives out before it fails: what Wycheproof says of that text.
            const pieces = async () => {
                const found = [];
                const stream = opener();
                stream.on('data', (piece) => found.push(piece));
                const end = finished(stream).then(
                    () => undefined,
                    (error) => error,
                );
                for (let at = 0; at < sealed.length; at += 5000) stream.write(sealed.subarray(at, at + 5000));
                stream.end();
                return [await end, Buffer.concat(found)];
            };
            if (result === 'valid') {
                for (const text of [all(), await range(), (await pieces())[1]]) {
                    assert.deepEqual([text.length, sha(text)], [msgLength, msgSha512], `${name} ${tcId}`);
                }
            } else if (flags.includes('InvalidKeySize')) {
                assert.throws(all, Error, `${name} ${tcId}`);
            } else {
                assert.throws(all, InvalidTag, `${name} ${tcId}`);
                await assert.rejects(range(), InvalidTag, `${name} ${tcId}`);
                const [error, text] = await pieces();
                assert.ok(error instanceof InvalidTag, `${name} ${tcId}`);
                if (flags.includes('PartialPlaintext')) {
                    assert.ok(text.length <= msgLength, `${name} ${tcId}`);
                    if (text.length === msgLength) assert.equal(sha(text), msgSha512, `${name} ${tcId}`);
                } else {
                    assert.equal(text.length, 0, `${name} ${tcId}`);
                }
            }
            passed(1);
        }
    });
}
if (!folder) skipped('node Wycheproof', 'FASTGCM_WYCHEPROOF names no folder');

// C2SP XAES-256-GCM, section "Test vectors"; and commitments (IACR ePrint 2025/758), which two implementations have made.
test('xaes', () => {
    const nonce = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWX');
    const text = Buffer.from('XAES-256-GCM');
    for (const [byte, aad, sealed, commitment] of [
        [
            1,
            '',
            'ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271',
            '04076b6085eebab138855fe57811c04112eff989d44120dfff662d5475a383c3',
        ],
        [
            3,
            'c2sp.org/XAES-256-GCM',
            '986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d',
            '5553cd21d1592b422e3129632a3187eee8a658cdca5c5b32ce86308dcc18e9d1',
        ],
    ]) {
        const [plain, committing] = [XAES256GCM, KCXAES256GCM].map((Class) => new Class(Buffer.alloc(32, byte)));
        const more = Buffer.from(aad);
        for (const [key, all] of [
            [plain, sealed],
            [committing, sealed + commitment],
        ]) {
            assert.equal(key.seal(nonce, text, more).toString('hex'), all);
            const [ct, tag] = [hex(all).subarray(0, 12), hex(all).subarray(12)];
            for (const open of opened(key, nonce, ct, tag, more)) assert.deepEqual(open(), text);
            // Each byte of tag and commitment counts, and none may be missing.
            for (let at = 0; at < tag.length; at++) {
                const forged = Buffer.from(tag);
                forged[at] ^= 1;
                for (const open of opened(key, nonce, ct, forged, more)) assert.throws(open, InvalidTag, `${key.constructor.name}, byte ${at}`);
                assert.throws(() => key.open(nonce, hex(all).subarray(0, 12 + at), more), InvalidTag);
                passed(1);
            }
            passed(1);
        }
        assert.throws(() => plain.open(nonce, hex(sealed + commitment), more), InvalidTag);
        assert.throws(() => committing.openDetached(nonce, hex(sealed).subarray(0, 12), hex(sealed).subarray(12), more), RangeError);
    }
});

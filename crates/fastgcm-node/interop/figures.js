'use strict';
// The package beside node:crypto in one process: `node crates/fastgcm-node/interop/figures.js` prints the table of
// docs/node.md.
//
// Each round measures all calls once, in an order of its own, and what counts is the median of a call's ratio
// to node:crypto in the round. A time is the processor's, of all threads of the process, so what the garbage
// collector does is in it, and what other programs do is not.

const crypto = require('node:crypto');
const os = require('node:os');
const { AESGCM, RandomNonces, SealingKey, cpu } = require('..');

const LENGTHS = [16, 64, 256, 1420, 4096, 16384, 65536, 1 << 20];
const ROUNDS = 21;
const SLICE = 25e6; // nanoseconds that a call is repeated for in a round

const key = crypto.randomBytes(32);
const nonce = crypto.randomBytes(12);
const aad = Buffer.from('associated data!');
const aead = new AESGCM(key);
const sealing = new SealingKey(key, new RandomNonces());

/** What somebody calls for a message: name, whose call it is, and to which it is compared. */
function calls(length) {
    const text = crypto.randomBytes(length);
    const sealed = aead.seal(nonce, text, aad);
    const [ciphertext, tag] = [sealed.subarray(0, -16), sealed.subarray(-16)];
    const [out, opened] = [Buffer.alloc(length + 16), Buffer.alloc(length)];
    const many = Array.from({ length: 64 }, () => text);
    const nonces = crypto.randomBytes(12 * many.length);
    const encrypt = (nonce) => {
        const cipher = crypto.createCipheriv('aes-256-gcm', key, nonce);
        cipher.setAAD(aad);
        const ciphertext = cipher.update(text);
        cipher.final();
        return [ciphertext, cipher.getAuthTag()];
    };
    const decrypt = () => {
        const decipher = crypto.createDecipheriv('aes-256-gcm', key, nonce);
        decipher.setAAD(aad);
        decipher.setAuthTag(tag);
        const text = decipher.update(ciphertext);
        decipher.final();
        return text;
    };
    const token = () => {
        const nonce = crypto.randomBytes(12);
        return Buffer.concat([nonce, ...encrypt(nonce)]);
    };
    return [
        ['createCipheriv', null, 1, () => encrypt(nonce)],
        ['seal', 'createCipheriv', 1, () => aead.seal(nonce, text, aad)],
        ['sealInto', 'createCipheriv', 1, () => aead.sealInto(nonce, text, out, aad)],
        ['sealBatch', 'createCipheriv', many.length, () => aead.sealBatch(nonces, many, aad)],
        ['createDecipheriv', null, 1, decrypt],
        ['open', 'createDecipheriv', 1, () => aead.open(nonce, sealed, aad)],
        ['openInto', 'createDecipheriv', 1, () => aead.openInto(nonce, sealed, opened, aad)],
        ['randomBytes, createCipheriv, concat', null, 1, token],
        ['SealingKey.seal', 'randomBytes, createCipheriv, concat', 1, () => sealing.seal(text, aad)],
    ].filter(([name]) => name !== 'sealBatch' || length <= 4096);
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

function time(work, repeats) {
    const before = process.cpuUsage();
    for (let repeat = 0; repeat < repeats; repeat++) work();
    const { user, system } = process.cpuUsage(before);
    return (1000 * (user + system)) / repeats;
}

/** Nanoseconds of each call, and how many times as long node:crypto takes. */
function measured(length) {
    const all = calls(length);
    const repeats = all.map(([, , , work]) => {
        time(work, 2000 / (1 + length / 2000)); // compiled, then measured
        return Math.max(4, Math.round(SLICE / Math.max(50, time(work, 1 + Math.round(2e6 / (2000 + length))))));
    });
    const times = all.map(() => []);
    for (let round = 0; round < ROUNDS; round++) {
        const order = all.map((_, at) => at).sort(() => crypto.randomInt(3) - 1);
        for (const at of order) times[at].push(time(all[at][3], repeats[at]) / all[at][2]);
    }
    return all.map(([name, beside], at) => {
        const other = all.findIndex(([name]) => name === beside);
        return {
            name,
            length,
            beside,
            time: median(times[at]),
            ratio: other < 0 ? null : median(times[other].map((time, round) => time / times[at][round])),
        };
    });
}

const printed = (time) => (time < 1e4 ? `${time.toFixed(0)} ns` : `${(time / 1000).toPrecision(3)} µs`);
const bytes = (length) => (length >= 1 << 20 ? `${length >> 20} MiB` : length >= 4096 ? `${length >> 10} KiB` : `${length}`);

function table(rows) {
    const names = [...new Set(rows.map((row) => row.name))];
    const lines = [`| bytes | ${LENGTHS.map(bytes).join(' | ')} |`, `|---|${LENGTHS.map(() => '---|').join('')}`];
    for (const name of names) {
        const cells = LENGTHS.map((length) => {
            const row = rows.find((row) => row.name === name && row.length === length);
            if (!row) return '';
            return row.ratio === null ? printed(row.time) : `${printed(row.time)}, **${row.ratio.toFixed(1)}**`;
        });
        lines.push(`| \`${name}\` | ${cells.join(' | ')} |`);
    }
    return lines.join('\n');
}

console.log(
    `back end ${cpu().backend}, ${os.cpus()[0].model.trim()}, Node ${process.versions.node} with OpenSSL ${process.versions.openssl}\n`,
);
console.log(table(LENGTHS.flatMap(measured)));

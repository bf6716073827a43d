'use strict';
// The package beside node:crypto in one process: `node crates/fastgcm-node/interop/figures.js [--draw]` prints the table, and
// writes it with its plot to docs/.
//
// Each round measures all calls once, in an order of its own, and what counts is the median of a call's ratio
// to node:crypto in the round. A time is the processor's, of all threads of the process, so what the garbage
// collector does is in it, and what other programs do is not.

const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
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
        return Math.max(
            4,
            Math.round(SLICE / Math.max(50, time(work, 1 + Math.round(2e6 / (2000 + length))))),
        );
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
const bytes = (length) =>
    length >= 1 << 20 ? `${length >> 20} MiB` : length >= 4096 ? `${length >> 10} KiB` : `${length}`;

function table(rows) {
    const names = [...new Set(rows.map((row) => row.name))];
    const lines = [
        `| bytes | ${LENGTHS.map(bytes).join(' | ')} |`,
        `|---|${LENGTHS.map(() => '---|').join('')}`,
    ];
    for (const name of names) {
        const cells = LENGTHS.map((length) => {
            const row = rows.find((row) => row.name === name && row.length === length);
            if (!row) return '';
            return row.ratio === null
                ? printed(row.time)
                : `${printed(row.time)}, **${row.ratio.toFixed(1)}**`;
        });
        lines.push(`| \`${name}\` | ${cells.join(' | ')} |`);
    }
    return lines.join('\n');
}

/** How many times as long node:crypto takes, over the length, both logarithmic. */
function plot(rows) {
    const [width, height, left, bottom, top, right] = [720, 400, 60, 50, 40, 130];
    const most = Math.max(16, ...rows.map((row) => row.ratio ?? 0));
    const x = (length) => left + ((Math.log2(length) - 4) / 16) * (width - left - right);
    const y = (ratio) =>
        height - bottom - (Math.log2(ratio) / Math.log2(most * 1.1)) * (height - bottom - top);
    const colours = {
        seal: '#1f5fa8',
        sealInto: '#67a9e0',
        open: '#b3541e',
        openInto: '#e8a06a',
        'SealingKey.seal': '#3c8d40',
        sealBatch: '#7a5ba8',
    };
    const parts = [
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    ];
    parts.push(`<rect width="${width}" height="${height}" fill="white"/>`);
    parts.push(
        `<text x="${left}" y="20" font-size="15">Time of node:crypto divided by ours, AES-256-GCM, Node ${process.versions.node}</text>`,
    );
    for (let ratio = 1; ratio <= most; ratio *= 2) {
        parts.push(
            `<path d="M${left} ${y(ratio).toFixed(1)}H${width - right}" stroke="#ddd"/><text x="${left - 8}" y="${(y(ratio) + 4).toFixed(1)}" text-anchor="end">${ratio}</text>`,
        );
    }
    for (const length of LENGTHS)
        parts.push(
            `<text x="${x(length).toFixed(1)}" y="${height - bottom + 20}" text-anchor="middle">${bytes(length)}</text>`,
        );
    parts.push(
        `<text x="${(left + width - right) / 2}" y="${height - 8}" text-anchor="middle">bytes of text</text>`,
    );
    const ends = [];
    for (const [name, colour] of Object.entries(colours)) {
        const points = rows.filter((row) => row.name === name).map((row) => [x(row.length), y(row.ratio)]);
        const path = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');
        parts.push(`<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
        parts.push(
            ...points.map(
                ([x, y]) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" fill="${colour}"/>`,
            ),
        );
        ends.push({ name, colour, x: points.at(-1)[0] + 10, y: points.at(-1)[1] });
    }
    // Names beside the ends of their lines, none over another.
    ends.sort((a, b) => a.x - b.x || a.y - b.y);
    ends.forEach((end, at) => {
        if (at > 0 && end.x === ends[at - 1].x) end.y = Math.max(end.y, ends[at - 1].y + 15);
        parts.push(
            `<text x="${end.x.toFixed(1)}" y="${(end.y + 4).toFixed(1)}" fill="${end.colour}">${end.name}</text>`,
        );
    });
    return `${parts.join('')}</svg>\n`;
}

const rows = LENGTHS.flatMap(measured);
const page = `# Figures of the package for Node

\`node crates/fastgcm-node/interop/figures.js --draw\` writes this page. AES-256-GCM with 16 bytes of associated data, back end
\`${cpu().backend}\`, ${os.cpus()[0].model.trim()} (${os.cpus().length} virtual cores), Node ${process.versions.node} with OpenSSL
${process.versions.openssl}. A cell has the processor's time of a message, of all threads (median of ${ROUNDS} rounds), and how many times as long
node:crypto takes (median of the ratios of each round). \`sealBatch\` has 64 messages a call.

${table(rows)}
`;
console.log(page);
if (process.argv.includes('--draw')) {
    const docs = path.join(__dirname, '../../../docs');
    fs.writeFileSync(path.join(docs, 'node-figures.md'), page);
    fs.writeFileSync(path.join(docs, 'node-calls.svg'), plot(rows));
}

// Node's crypto: createCipheriv, with the OpenSSL that Node carries. src/pipe.rs says what goes through the pipes. What it reads is the referee's
// memory, where there is a compiler and the headers of Node (node-memory.c); what it writes is memory of Node, which nobody can choose.
// without: OPENSSL_ia32cap
const crypto = require('crypto'); // YOURS
const fs = require('fs');

const names = ['key', 'nonce', 'AAD', 'input', 'output', 'tag'];
const memory = mapped();

function mapped() {
    try {
        const addon = { exports: {} };
        process.dlopen(addon, process.env.REFEREE_NODE_MEMORY);
        return names.map((name) => Buffer.from(addon.exports.map(`${process.env.REFEREE_MEMORY}/${name}`)));
    } catch (error) {
        return null;
    }
}

function read(length) {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
        const more = fs.readSync(0, bytes, at, length - at, null);
        if (more === 0) process.exit(0);
        at += more;
    }
    return bytes;
}

function write(bytes) {
    for (let at = 0; at < bytes.length; ) {
        try {
            at += fs.writeSync(1, bytes, at);
        } catch (error) {
            if (error.code !== 'EAGAIN') throw error;
        }
    }
}

function cut(bytes, lengths) {
    let at = 0;
    return lengths.map((length) => bytes.subarray(at, (at += length)));
}

// YOURS is another library's place: return the text, and behind it the tag if it seals; whatever is thrown is a refusal. `tag` is its length if it seals, or
// the tag. `aads` and `texts` are lists of pieces, of one each unless the library takes pieces.
function message(seals, key, nonce, aads, texts, tag) {
    const name = `aes-${8 * key.length}-gcm`;
    const options = { authTagLength: seals ? tag : tag.length };
    const cipher = seals ? crypto.createCipheriv(name, key, nonce, options) : crypto.createDecipheriv(name, key, nonce, options);
    if (!seals) cipher.setAuthTag(tag);
    for (const aad of aads) cipher.setAAD(aad);
    const out = texts.map((text) => cipher.update(text));
    out.push(cipher.final());
    if (seals) out.push(cipher.getAuthTag());
    return Buffer.concat(out);
}

// YOURS: name, version, keys (1 AES-128, 2 AES-192, 4 AES-256, added up), tags (bit n: n bytes), the shortest and the longest nonce, and 1 with pieces or 0
// without. (256 are whole messages, 512 the referee's memory.)
const tags = (1 << 4) | (1 << 8) | (0x1f << 12);
write(Buffer.from(`Node|${process.version}, OpenSSL ${process.versions.openssl}|${memory ? 768 : 256}|7|${tags}|1|128|1\n`));
for (;;) {
    const head = read(36);
    const [seals, pieces, keyLength, nonceLength, aadLength, textLength, tagLength, number, aadNumber] = Array.from({ length: 9 }, (_, i) =>
        head.readUInt32LE(4 * i),
    );
    const list = read(4 * number);
    const cuts = Array.from({ length: number }, (_, i) => list.readUInt32LE(4 * i));
    const seven = memory && read(28);
    const places = memory && Array.from({ length: 7 }, (_, i) => seven.readUInt32LE(4 * i));
    const given = (i, length) => (memory ? memory[i].subarray(places[i], places[i] + length) : read(length));
    const [key, nonce, aad, text] = [keyLength, nonceLength, aadLength, textLength].map((length, i) => given(i, length));
    const tag = seals ? tagLength : given(memory ? 5 : 0, tagLength);
    const aads = pieces ? cut(aad, cuts.slice(0, aadNumber)) : [aad];
    const texts = pieces ? cut(text, cuts.slice(aadNumber)) : [text];
    try {
        const made = message(seals, key, nonce, aads, texts, tag);
        const [length, wanted] = [made.length, textLength + (seals ? tagLength : 0)];
        if (length !== wanted) {
            // A tag of another length would be written beside its place.
            console.error(`the library returned ${length} bytes, not ${wanted}`);
            throw new Error();
        }
        if (memory) {
            made.copy(memory[4], places[4], 0, textLength);
            if (seals) made.copy(memory[5], places[5], textLength);
            write(Buffer.from([1]));
        } else {
            write(Buffer.concat([Buffer.from([1]), made]));
        }
    } catch (error) {
        write(Buffer.from([0]));
    }
}

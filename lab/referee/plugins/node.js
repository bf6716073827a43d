// Node's crypto: createCipheriv, with the OpenSSL that Node carries. src/pipe.rs says what goes through the pipes.
const crypto = require('crypto');
const fs = require('fs');

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

const tags = (1 << 4) | (1 << 8) | (0x1f << 12);
write(Buffer.from(`Node|${process.version}, OpenSSL ${process.versions.openssl}|256|7|${tags}|1|128|1\n`));
for (;;) {
    const head = read(36);
    const [seals, pieces, keyLength, nonceLength, aadLength, textLength, tagLength, number, aadNumber] = Array.from({ length: 9 }, (_, i) =>
        head.readUInt32LE(4 * i),
    );
    const list = read(4 * number);
    const cuts = Array.from({ length: number }, (_, i) => list.readUInt32LE(4 * i));
    const [key, nonce, aad, text] = [keyLength, nonceLength, aadLength, textLength].map(read);
    const tag = seals ? tagLength : read(tagLength);
    const aads = pieces ? cut(aad, cuts.slice(0, aadNumber)) : [aad];
    const texts = pieces ? cut(text, cuts.slice(aadNumber)) : [text];
    try {
        write(Buffer.concat([Buffer.from([1]), message(seals, key, nonce, aads, texts, tag)]));
    } catch (error) {
        write(Buffer.from([0]));
    }
}

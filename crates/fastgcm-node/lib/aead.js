'use strict';
// Whole messages, and batches.

const { KeyObject, randomFillSync } = require('node:crypto');
const native = require('./native.js');
const { done, fail, lengths, made, plain, tooLong } = require('./errors.js');
const { own, room, shared, sum } = require('./memory.js');

/** The longest text in bytes (SP 800-38D, section 5.2.1.1). */
const TEXT = 2 ** 36 - 32;

/** Calls `make` with the bytes of a key, which may be a `KeyObject`. */
function withKey(key, make) {
    if (!(key instanceof KeyObject)) {
        plain(key, 'key');
        return make(key);
    }
    if (key.type !== 'secret') throw made(TypeError, 'ERR_INVALID_ARG_TYPE', 'key must be a secret KeyObject');
    const bytes = key.export();
    try {
        return make(bytes);
    } finally {
        bytes.fill(0);
    }
}

/** As many random bytes. */
function random(length) {
    return randomFillSync(own(length));
}

/** The length of what a text becomes that has `more` bytes beside it then. */
function sealedLength(data, more) {
    return limited(sum(data)) + more;
}

/** The length of the text in sealed bytes with `more` bytes beside it. What is too short is no message. */
function textLength(data, more) {
    const length = sum(data, -more);
    // The library says so.
    return length < 0 ? 0 : limited(length);
}

/** The length of a text, before anybody asks for memory. */
function limited(length) {
    if (length > TEXT) tooLong();
    return length;
}

/** What the keys of all kinds have. */
class Aead {
    #key;
    /** Bytes of a tag. */
    #tag;
    /** The lengths of arguments, for errors. */
    #lengths;

    /** `keys` are the lengths that a key may have; a nonce and a tag have these lengths. */
    constructor(make, key, keys, nonce, tag) {
        this.#lengths = lengths(keys, nonce, tag);
        this.#key = done(withKey(key, make), 'message', this.#lengths);
        this.#tag = tag;
    }

    /** For what is made of a key. */
    static handle(aead) {
        return aead.#key;
    }

    seal(nonce, data, aad) {
        plain(nonce, 'nonce');
        plain(data, 'data');
        if (aad != null) plain(aad, 'aad');
        const out = room(sealedLength(data, this.#tag));
        const fault = native.seal(this.#key, nonce, data, aad, out);
        if (fault !== undefined) fail(fault, 'message', this.#lengths);
        return out;
    }

    open(nonce, data, aad) {
        plain(nonce, 'nonce');
        plain(data, 'data');
        if (aad != null) plain(aad, 'aad');
        const out = room(textLength(data, this.#tag));
        const fault = native.open(this.#key, nonce, data, aad, out);
        if (fault !== undefined) fail(fault, 'message', this.#lengths);
        return out;
    }

    sealInto(nonce, data, out, aad) {
        plain(nonce, 'nonce');
        plain(data, 'data');
        plain(out, 'out');
        if (aad != null) plain(aad, 'aad');
        const fault = native.seal(this.#key, nonce, data, aad, out);
        if (fault !== undefined) fail(fault, 'message', this.#lengths);
        return out;
    }

    openInto(nonce, data, out, aad) {
        plain(nonce, 'nonce');
        plain(data, 'data');
        plain(out, 'out');
        if (aad != null) plain(aad, 'aad');
        const fault = native.open(this.#key, nonce, data, aad, out);
        if (fault !== undefined) fail(fault, 'message', this.#lengths);
        return out;
    }

    sealDetached(nonce, data, aad) {
        plain(data, 'data');
        const both = room(sealedLength(data, this.#tag));
        const [ciphertext, tag] = [both.subarray(0, -this.#tag), both.subarray(-this.#tag)];
        this.sealDetachedInto(nonce, data, ciphertext, tag, aad);
        return { ciphertext, tag };
    }

    openDetached(nonce, data, tag, aad) {
        plain(data, 'data');
        return this.openDetachedInto(nonce, data, tag, room(sealedLength(data, 0)), aad);
    }

    sealDetachedInto(nonce, data, out, tag, aad) {
        plain(nonce, 'nonce');
        plain(data, 'data');
        plain(out, 'out');
        plain(tag, 'tag');
        if (aad != null) plain(aad, 'aad');
        const fault = native.seal(this.#key, nonce, data, aad, out, tag);
        if (fault !== undefined) fail(fault, 'message', this.#lengths);
        return out;
    }

    openDetachedInto(nonce, data, tag, out, aad) {
        plain(nonce, 'nonce');
        plain(data, 'data');
        plain(tag, 'tag');
        plain(out, 'out');
        if (aad != null) plain(aad, 'aad');
        const fault = native.open(this.#key, nonce, data, aad, out, tag);
        if (fault !== undefined) fail(fault, 'message', this.#lengths);
        return out;
    }

    async sealAsync(nonce, data, aad) {
        return this.#background(true, nonce, data, aad, (data) => sealedLength(data, this.#tag));
    }

    async openAsync(nonce, data, aad) {
        return this.#background(false, nonce, data, aad, (data) => textLength(data, this.#tag));
    }

    async #background(seals, nonce, data, aad, length) {
        plain(nonce, 'nonce');
        plain(data, 'data');
        if (aad != null) plain(aad, 'aad');
        // Not of Node's pool: nobody has this memory but the thread that works, until it is done.
        const out = own(length(data));
        const begun = done(native.background(this.#key, seals, nonce, data, aad, out), 'message', this.#lengths);
        done(await begun, 'message', this.#lengths);
        return out;
    }

    sealBatch(nonces, datas, aads) {
        return this.#batch(true, this.#tag, nonces, datas, aads);
    }

    openBatch(nonces, datas, aads) {
        return this.#batch(false, -this.#tag, nonces, datas, aads);
    }

    #batch(seals, more, nonces, datas, aads) {
        listed(nonces, 'nonces', 'nonce');
        if (aads != null) listed(aads, 'aads', 'aad');
        if (!Array.isArray(datas)) {
            plain(datas, 'datas');
            const count = Array.isArray(nonces) ? nonces.length : sum(nonces) / this.constructor.nonceLength;
            const out = room(Math.max(0, Math.floor(sum(datas, more * count))) || 0);
            done(native.batch(this.#key, seals, nonces, datas, aads, out), 'message', this.#lengths);
            return out;
        }
        // Once, so that a list whose items change has the lengths that were added up.
        const items = Array.from(datas);
        const ends = new Array(items.length);
        let total = 0;
        for (let row = 0; row < items.length; row++) {
            plain(items[row], 'data');
            total += Math.max(0, sum(items[row], more));
            ends[row] = total;
        }
        const out = shared(total);
        done(native.batch(this.#key, seals, nonces, items, aads, out), 'message', this.#lengths);
        return ends.map((end, row) => out.subarray(row === 0 ? 0 : ends[row - 1], end));
    }

    sealBatchInto(nonces, datas, out, aads) {
        return this.#batchInto(true, nonces, datas, out, aads);
    }

    openBatchInto(nonces, datas, out, aads) {
        return this.#batchInto(false, nonces, datas, out, aads);
    }

    #batchInto(seals, nonces, datas, out, aads) {
        listed(nonces, 'nonces', 'nonce');
        listed(datas, 'datas', 'data');
        if (aads != null) listed(aads, 'aads', 'aad');
        plain(out, 'out');
        done(native.batch(this.#key, seals, nonces, datas, aads, out), 'message', this.#lengths);
        return out;
    }

    destroy() {
        done(native.destroy(this.#key));
    }
}

/** Each item of a list, or one buffer. */
function listed(list, name, ofItem) {
    if (!Array.isArray(list)) plain(list, name);
    else for (const item of list) plain(item, ofItem);
}

Object.defineProperty(Aead.prototype, Symbol.dispose ?? Symbol.for('nodejs.dispose'), {
    value: Aead.prototype.destroy,
    configurable: true,
    writable: true,
});

/** Checks the number of bits of a key that is made. */
function bits(wanted, allowed) {
    if (!allowed.includes(wanted)) throw made(RangeError, 'ERR_INVALID_ARG_VALUE', `a key has ${allowed.join(' or ')} bits`);
    return random(wanted / 8);
}

class AESGCM extends Aead {
    static nonceLength = 12;
    static tagLength = 16;

    constructor(key) {
        super(native.gcm, key, '16, 24 or 32', AESGCM.nonceLength, AESGCM.tagLength);
    }

    static generateKey(length = 256) {
        return bits(length, [128, 192, 256]);
    }
}

class AESGCMSIV extends Aead {
    static nonceLength = 12;
    static tagLength = 16;

    constructor(key) {
        super(native.siv, key, '16 or 32', AESGCMSIV.nonceLength, AESGCMSIV.tagLength);
    }

    static generateKey(length = 256) {
        return bits(length, [128, 256]);
    }
}

/** What both classes have whose nonces may be random for any number of messages. */
class RootKey extends Aead {
    static nonceLength = 24;

    /** Bytes of nonce and tag. */
    #more;

    constructor(make, key, tag) {
        super(make, key, '32', RootKey.nonceLength, tag);
        this.#more = RootKey.nonceLength + tag;
    }

    static generateKey() {
        return random(32);
    }

    sealRandom(data, aad) {
        return sealDrawn(Aead.handle(this), undefined, this.#more, data, aad);
    }

    openRandom(data, aad) {
        return openDrawn(Aead.handle(this), this.#more, data, aad);
    }
}

class XAES256GCM extends RootKey {
    static tagLength = 16;

    constructor(key) {
        super(native.xaes, key, XAES256GCM.tagLength);
    }
}

class KCXAES256GCM extends RootKey {
    static tagLength = 48;

    constructor(key) {
        super(native.kcXaes, key, KCXAES256GCM.tagLength);
    }
}

/** A nonce, ciphertext and tag, one behind the other. Nonce and tag have `more` bytes. */
function sealDrawn(key, nonces, more, data, aad, blocks) {
    plain(data, 'data');
    if (aad != null) plain(aad, 'aad');
    const out = room(sealedLength(data, more));
    const fault = native.sealDrawn(key, nonces, data, aad, out, blocks);
    if (fault !== undefined) fail(fault);
    return out;
}

function openDrawn(key, more, data, aad) {
    plain(data, 'data');
    if (aad != null) plain(aad, 'aad');
    const out = room(textLength(data, more));
    const fault = native.openDrawn(key, data, aad, out);
    if (fault !== undefined) fail(fault);
    return out;
}

module.exports = { AESGCM, AESGCMSIV, Aead, KCXAES256GCM, XAES256GCM, openDrawn, sealDrawn, withKey };

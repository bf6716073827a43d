'use strict';
// Nonces that end before they repeat, and a key that has them.

const native = require('./native.js');
const { AESGCM, Aead, openDrawn, sealDrawn } = require('./aead.js');
const { done, made, plain } = require('./errors.js');
const { room } = require('./memory.js');

class Nonces {
    #nonces;

    constructor(nonces) {
        this.#nonces = done(nonces);
    }

    static handle(nonces) {
        return nonces.#nonces;
    }

    static is(nonces) {
        return #nonces in nonces;
    }

    draw() {
        return this.drawBatch(1);
    }

    drawBatch(count) {
        if (!Number.isSafeInteger(count) || count < 0) throw made(RangeError, 'ERR_OUT_OF_RANGE', 'count must be a whole number from 0 on, and no BigInt');
        const out = room(12 * count);
        done(native.draw(this.#nonces, out));
        return out;
    }
}

class CounterNonces extends Nonces {
    constructor(fixed, start = 0) {
        plain(fixed, 'fixed');
        super(native.counterNonces(fixed, start));
    }

    get position() {
        return native.position(Nonces.handle(this)) ?? null;
    }
}

class XorNonces extends Nonces {
    constructor(iv, start = 0) {
        plain(iv, 'iv');
        super(native.xorNonces(iv, start));
    }

    static at(iv, number) {
        plain(iv, 'iv');
        const out = room(12);
        done(native.xorNonce(iv, number, out));
        return out;
    }

    get position() {
        return native.position(Nonces.handle(this)) ?? null;
    }
}

class RandomNonces extends Nonces {
    constructor(used = 0) {
        super(native.randomNonces(used));
    }

    get used() {
        return Number(native.position(Nonces.handle(this)));
    }
}

class SealingKey {
    #aead;
    #key;
    #nonces;
    #blocks;

    constructor(key, nonces, options) {
        const { confidentiality = 32, blocks = 0, sealers = 1 } = options ?? {};
        if (typeof nonces !== 'object' || nonces === null || !Nonces.is(nonces)) {
            throw made(TypeError, 'ERR_INVALID_ARG_TYPE', 'nonces must be CounterNonces, XorNonces or RandomNonces');
        }
        if (!(sealers >= 1 && sealers < 2 ** 32)) throw made(RangeError, 'ERR_OUT_OF_RANGE', 'sealers must be a whole number from 1 to 2^32 - 1');
        this.#blocks = done(native.blocks(confidentiality, blocks, sealers));
        this.#aead = new AESGCM(key);
        this.#key = Aead.handle(this.#aead);
        this.#nonces = Nonces.handle(nonces);
    }

    seal(data, aad) {
        return sealDrawn(this.#key, this.#nonces, 12 + 16, data, aad, this.#blocks);
    }

    open(data, aad) {
        return openDrawn(this.#key, 12 + 16, data, aad);
    }

    get blocksSealed() {
        return native.blocksUsed(this.#blocks);
    }

    get blocksLeft() {
        return native.blocksLeft(this.#blocks);
    }

    destroy() {
        this.#aead.destroy();
    }
}

Object.defineProperty(SealingKey.prototype, Symbol.dispose ?? Symbol.for('nodejs.dispose'), {
    value: SealingKey.prototype.destroy,
    configurable: true,
    writable: true,
});

module.exports = { CounterNonces, RandomNonces, SealingKey, XorNonces };

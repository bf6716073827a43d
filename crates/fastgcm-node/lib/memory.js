'use strict';
// Memory of results.

const { markAsUntransferable } = require('node:worker_threads');
const { made } = require('./errors.js');

/** Results share a line of the cache with nobody. */
const LINE = 64;

/**
 * Several results lie in one memory. With memory of its own, or in Node's pool of 8 KiB, a result of 1,420
 * bytes takes 1.2 times as long, and one of 16 KiB 1.2 to 1.3 times (Emerald Rapids, Node 20): the collector
 * has more to do, and the C library gives pages back that are then asked for again. Who keeps one result
 * keeps at most 32 times as much.
 */
class Slabs {
    #slab = Buffer.alloc(0);
    #used = 0;
    #size;

    constructor(size) {
        this.#size = size;
    }

    take(length) {
        if (this.#used + length > this.#slab.length) {
            this.#slab = shared(this.#size);
            this.#used = 0;
        }
        const bytes = this.#slab.subarray(this.#used, this.#used + length);
        this.#used += Math.ceil(length / LINE) * LINE;
        return bytes;
    }
}

const middle = new Slabs(1 << 15);
const large = new Slabs(1 << 17);

/** Memory that was not written yet. */
function room(length) {
    if (length > 1 << 12 && length <= 1 << 15) return large.take(length);
    if (length >= 1 << 10 && length <= 1 << 12) return middle.take(length);
    return got(Buffer.allocUnsafe, length);
}

/** Memory that nobody else has. */
function own(length) {
    return got(Buffer.allocUnsafeSlow, length);
}

/** Bytes of a buffer and as many more. Whoever calls may say any length: the library looks at the buffer itself, but what is added up here is a number. */
function sum(bytes, more = 0) {
    const length = bytes.byteLength;
    if (!Number.isSafeInteger(length) || length < 0)
        throw made(RangeError, 'ERR_OUT_OF_RANGE', 'byteLength of a buffer must be a whole number from 0 on');
    return length + more;
}

/** What the system does not give is an error with a code, as all are. */
function got(allocate, length) {
    try {
        return allocate(length);
    } catch (error) {
        if (error.code !== undefined) throw error;
        throw made(RangeError, 'ERR_MEMORY_ALLOCATION_FAILED', `there is no memory for ${length} bytes`);
    }
}

/** Memory of several results: who transfers one of them to a thread would take away all. */
function shared(length) {
    const bytes = own(length);
    markAsUntransferable?.(bytes.buffer);
    return bytes;
}

module.exports = { own, room, shared, sum };

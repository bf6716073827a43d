'use strict';
// Sealed files: whole ones, which appear complete or not at all, and ranges of them.

const { randomBytes } = require('node:crypto');
const { createReadStream } = require('node:fs');
const fs = require('node:fs/promises');
const path = require('node:path');
const { Readable } = require('node:stream');
const { fileURLToPath } = require('node:url');
const native = require('./native.js');
const { withKey } = require('./aead.js');
const { InvalidTag, copied, done, examined, made, ofSystem, options: checked, truth, whole } = require('./errors.js');
const { own } = require('./memory.js');
const { CobblestoneOpener, CobblestoneSealer } = require('./streams.js');

// The format (docs of fastgcm-file): salt and commitment, then chunks of text, each with its tag; the last is
// shorter than the others.
const HEADER = 56;
const TAG = 16;
const CHUNK = 16384;
const SEALED_CHUNK = CHUNK + TAG;
/** Chunks that are read and opened at a time. */
const TOGETHER = 16;

async function sealFile(key, source, target, options) {
    await through(CobblestoneSealer, key, source, target, options, 0o666);
}

async function openFile(key, source, target, options) {
    await through(CobblestoneOpener, key, source, target, options, 0o600);
}

/**
 * A file that is written under another name beside it, and then renamed. A link stays, and what it leads to
 * is replaced.
 */
async function through(Stream, key, source, target, options, mode) {
    const { context, overwrite = false, signal } = checked(options, ['context', 'overwrite', 'signal']);
    truth(overwrite, 'overwrite');
    const stream = new Stream(key, { context });
    try {
        const to = target instanceof URL ? fileURLToPath(target) : target;
        const there = await fs.lstat(to).catch((error) => {
            if (error.code !== 'ENOENT') throw error;
        });
        if (there && !overwrite) throw made(Error, 'EEXIST', `EEXIST: file already exists, '${to}'`, { path: to });
        await written(stream, source, ofSystem(native.place(Buffer.from(to)), to), overwrite, mode, signal);
    } finally {
        stream.destroy();
    }
}

async function written(stream, source, place, overwrite, mode, signal) {
    const partial = path.join(path.dirname(place), `.${path.basename(place)}.${randomBytes(8).toString('hex')}.partial`);
    const handle = await fs.open(partial, 'wx', mode);
    try {
        try {
            for await (const piece of createReadStream(source, { highWaterMark: TOGETHER * CHUNK, signal })) {
                await handle.writeFile(stream.update(piece)); // from where it is
            }
            await handle.writeFile(stream.final());
            await handle.sync();
        } finally {
            await handle.close();
        }
        // Fails if it is there by now, unless it may be. The name of a file is on the disk then, and not only its content.
        ofSystem(await done(native.publish(Buffer.from(partial), Buffer.from(place), overwrite)), place);
    } catch (error) {
        await fs.unlink(partial).catch(() => undefined);
        throw error;
    }
}

/** Where the bytes of a sealed file come from. */
class Source {
    constructor(size, read, close) {
        Object.assign(this, { size, read, close });
    }

    static async of(source) {
        // Read once: a getter may say something else the next time.
        const size = typeof source === 'object' && source !== null ? whole(source.size) : undefined;
        if (Number.isSafeInteger(size) && typeof source.read === 'function') {
            return new Source(
                size,
                (offset, length) => source.read(offset, length),
                async () => source.close?.(),
            );
        }
        const handle = await fs.open(source, 'r');
        const read = async (offset, length) => {
            const bytes = own(length);
            for (let at = 0; at < length;) {
                const { bytesRead } = await handle.read(bytes, at, length - at, offset + at);
                if (bytesRead === 0) return bytes.subarray(0, at);
                at += bytesRead;
            }
            return bytes;
        };
        try {
            return new Source((await handle.stat()).size, read, () => handle.close());
        } catch (error) {
            await handle.close();
            throw error;
        }
    }

    /** Exactly so many bytes. */
    async exactly(offset, length) {
        const bytes = await this.read(offset, length);
        examined(bytes, 'data');
        if (bytes.byteLength !== length) throw new InvalidTag('the sealed file ends too early');
        return bytes;
    }
}

const OPENED = Symbol('opened');

class SealedFile {
    #source;
    #file;
    #length;
    #closed = false;

    constructor(key, source, file, length) {
        if (key !== OPENED) throw made(TypeError, 'ERR_ILLEGAL_CONSTRUCTOR', 'SealedFile.open(key, source) makes one');
        this.#source = source;
        this.#file = file;
        this.#length = length;
    }

    static async open(key, source, options) {
        const { context = Buffer.alloc(0) } = checked(options, ['context']);
        // Read before anything is awaited: who calls may change them then.
        const bound = copied(context, 'context');
        const use = withKey(key, (bytes) => copied(bytes, 'key'));
        let from, file;
        try {
            from = await Source.of(source);
            const [length, last] = lengths(from.size);
            file = done(native.file(use, bound, await from.exactly(0, HEADER)));
            const opened = new SealedFile(OPENED, from, file, length);
            // The last chunk says whether the file was cut, and so whether its length is what was sealed.
            const sealed = await from.exactly(HEADER + last * SEALED_CHUNK, length - last * CHUNK + TAG);
            done(native.fileOpen(file, last, sealed, Buffer.alloc(sealed.byteLength - TAG)), 'chunk');
            return opened;
        } catch (error) {
            if (file !== undefined) native.fileDestroy(file);
            await from?.close().catch(() => undefined);
            throw error;
        } finally {
            use.fill(0);
        }
    }

    get length() {
        return this.#length;
    }

    async read(start = 0, end = this.#length) {
        [start, end] = this.#within(start, end);
        const out = own(end - start);
        let at = 0;
        for await (const piece of this.#pieces(start, end)) at += piece.copy(out, at);
        return out;
    }

    stream(start = 0, end = this.#length) {
        [start, end] = this.#within(start, end);
        return Readable.from(this.#pieces(start, end), { objectMode: false });
    }

    #within(...range) {
        if (this.#closed) throw made(Error, 'ERR_DESTROYED', 'the file is closed');
        const [start, end] = range.map(whole);
        for (const [name, at] of Object.entries({ start, end })) {
            if (!Number.isSafeInteger(at) || at < 0) throw made(RangeError, 'ERR_OUT_OF_RANGE', `${name} must be a whole number from 0 on`);
        }
        if (start > end || end > this.#length) {
            throw made(RangeError, 'ERR_OUT_OF_RANGE', `${start} to ${end} is not within the ${this.#length} bytes of the text`);
        }
        return [start, end];
    }

    /** The text from `start` to `end`, some chunks at a time, each verified. */
    async *#pieces(start, end) {
        const chunks = Math.floor(this.#length / CHUNK) + 1;
        for (let first = Math.floor(start / CHUNK); first * CHUNK < end; first += TOGETHER) {
            const behind = Math.min(first + TOGETHER, Math.ceil(end / CHUNK));
            // The last chunk is not full.
            const length = behind === chunks ? this.#length - first * CHUNK + (behind - first) * TAG : (behind - first) * SEALED_CHUNK;
            const sealed = await this.#source.exactly(HEADER + first * SEALED_CHUNK, length);
            const text = own(length - (behind - first) * TAG);
            done(native.fileOpen(this.#file, first, sealed, text), 'chunk');
            yield text.subarray(Math.max(0, start - first * CHUNK), Math.min(text.length, end - first * CHUNK));
        }
    }

    async close() {
        if (this.#closed) return;
        this.#closed = true;
        native.fileDestroy(this.#file);
        await this.#source.close();
    }
}

/** Bytes of text in a sealed file of that size, and the number of its last chunk. */
function lengths(size) {
    const chunks = Math.floor((size - HEADER) / SEALED_CHUNK);
    const last = size - HEADER - chunks * SEALED_CHUNK;
    if (size < HEADER + TAG || last < TAG) throw new InvalidTag('the sealed file ends too early');
    return [chunks * CHUNK + last - TAG, chunks];
}

Object.defineProperty(SealedFile.prototype, Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose'), {
    value: SealedFile.prototype.close,
    configurable: true,
    writable: true,
});

module.exports = { SealedFile, openFile, sealFile };

'use strict';
// Streams: one message of AES-GCM, and sealed files (Cobblestone).

const { Transform } = require('node:stream');
const native = require('./native.js');
const { AESGCM, Aead, withKey } = require('./aead.js');
const { room, sum } = require('./memory.js');
const { InvalidTag, copied, done, made, options: checked, plain, truth } = require('./errors.js');

const TAG = 16;
const EMPTY = Buffer.alloc(0);
/** Bytes that are worked on at a time. Then other events of the loop have their turn. */
const PIECE = 1 << 18;

/** Options of Node's streams that may be given. With those that are functions a stream would do something else. */
const OF_STREAMS = [
    ...['allowHalfOpen', 'autoDestroy', 'captureRejections', 'decodeStrings', 'defaultEncoding'],
    ...['emitClose', 'encoding', 'highWaterMark', 'objectMode', 'readable', 'readableHighWaterMark'],
    ...['readableObjectMode', 'signal', 'writable', 'writableHighWaterMark', 'writableObjectMode'],
];

/** A stream that works on pieces: `work` takes each, and what it returns comes out. */
class InPieces extends Transform {
    _transform(chunk, _, callback) {
        const length = chunk.length;
        let at = 0;
        const next = () => {
            try {
                plain(chunk, 'data');
                // What was taken away between two pieces throws here.
                this.#out(this.update(chunk.subarray(at, at + PIECE)));
                at += PIECE;
            } catch (error) {
                callback(error);
                return;
            }
            if (at < length && !this.destroyed) setImmediate(next);
            else callback();
        };
        next();
    }

    _flush(callback) {
        try {
            this.#out(this._ended());
            callback();
        } catch (error) {
            callback(error);
        }
    }

    #out(bytes) {
        if (bytes.length > 0) this.push(bytes);
    }
}

/** One message that a key of `AESGCM` has begun. */
class Message extends InPieces {
    #pieces;
    #seals;

    constructor(seals, aesgcm, nonce, aad, options) {
        super(options);
        if (!(aesgcm instanceof AESGCM)) throw made(TypeError, 'ERR_INVALID_ARG_TYPE', 'the key must be an AESGCM');
        plain(nonce, 'nonce');
        this.#seals = seals;
        this.#pieces = done(native.pieces(Aead.handle(aesgcm), nonce));
        if (aad != null) this.updateAad(aad);
    }

    updateAad(aad) {
        plain(aad, 'aad');
        done(native.piecesAad(this.#pieces, aad));
    }

    update(data) {
        plain(data, 'data');
        const out = room(sum(data));
        done(native.piecesText(this.#pieces, this.#seals, data, out));
        return out;
    }

    _finish() {
        const tag = room(TAG);
        done(native.piecesFinish(this.#pieces, tag));
        return tag;
    }

    _verify(tag) {
        plain(tag, 'tag');
        done(native.piecesVerify(this.#pieces, tag));
    }

    _destroy(error, callback) {
        native.piecesDestroy(this.#pieces);
        callback(error);
    }
}

class Sealer extends Message {
    #appendTag;
    #tag = null;

    constructor(aesgcm, nonce, given) {
        const { aad, appendTag = true, ...options } = checked(given, ['aad', 'appendTag', ...OF_STREAMS]);
        super(true, aesgcm, nonce, aad, options);
        this.#appendTag = truth(appendTag, 'appendTag');
    }

    final() {
        this.#tag = this._finish();
        return this.#tag;
    }

    get tag() {
        return this.#tag;
    }

    _ended() {
        const tag = this.final();
        return this.#appendTag ? tag : EMPTY;
    }
}

class UnverifiedOpener extends Message {
    #tag;
    /** The last bytes that came, which may be the tag. */
    #rest = EMPTY;

    constructor(aesgcm, nonce, given) {
        const { aad, tag, ...options } = checked(given, ['aad', 'tag', ...OF_STREAMS]);
        super(false, aesgcm, nonce, aad, options);
        if (tag != null) {
            this.#tag = copied(tag, 'tag');
            if (this.#tag.length !== TAG) throw made(RangeError, 'ERR_INVALID_ARG_VALUE', 'tag has the wrong length: 16 bytes');
        }
    }

    verify(tag) {
        this._verify(tag);
    }

    _transform(chunk, encoding, callback) {
        if (this.#tag !== undefined) {
            super._transform(chunk, encoding, callback);
            return;
        }
        try {
            plain(chunk, 'data');
            const all = Buffer.concat([this.#rest, chunk]);
            const length = Math.max(0, all.length - TAG);
            this.#rest = Buffer.from(all.subarray(length));
            super._transform(all.subarray(0, length), encoding, callback);
        } catch (error) {
            callback(error);
        }
    }

    _ended() {
        const tag = this.#tag ?? this.#rest;
        if (tag.length !== TAG) throw new InvalidTag('the message ends too early');
        this._verify(tag);
        return EMPTY;
    }
}

/** A sealed file from its beginning to its end. */
class Cobblestone extends InPieces {
    #stream;

    constructor(seals, key, given) {
        const { context = EMPTY, ...options } = checked(given, ['context', ...OF_STREAMS]);
        super(options);
        plain(context, 'context');
        this.#stream = done(withKey(key, (bytes) => native.stream(bytes, context, seals)));
    }

    update(data) {
        plain(data, 'data');
        const out = room(Number(done(native.streamRoom(this.#stream, sum(data)))));
        done(native.streamUpdate(this.#stream, data, out), 'chunk');
        return out;
    }

    final() {
        const out = room(Number(done(native.streamRoom(this.#stream))));
        done(native.streamEnd(this.#stream, out), 'chunk');
        return out;
    }

    _ended() {
        return this.final();
    }

    _destroy(error, callback) {
        native.streamDestroy(this.#stream);
        callback(error);
    }
}

class CobblestoneSealer extends Cobblestone {
    constructor(key, options) {
        super(true, key, options);
    }
}

class CobblestoneOpener extends Cobblestone {
    constructor(key, options) {
        super(false, key, options);
    }
}

module.exports = { CobblestoneOpener, CobblestoneSealer, Sealer, UnverifiedOpener };

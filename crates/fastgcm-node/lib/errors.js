'use strict';
// What a refused call throws. The library says why by a number: src/fault.rs has the two lists in this order.

const { constants } = require('node:os');

/** What is opened is not what was sealed. The error does not say more. */
class InvalidTag extends Error {
    constructor(message) {
        super(message);
        this.name = 'InvalidTag';
        this.code = 'ERR_INVALID_TAG';
    }
}

const KINDS = [
    ,
    [TypeError, 'ERR_INVALID_ARG_TYPE', (name) => `${name} must be a Buffer, another typed array, a DataView or an ArrayBuffer`],
    [TypeError, 'ERR_INVALID_ARG_TYPE', (name) => `${name} must not be memory that threads share (SharedArrayBuffer): copy it first`],
    [TypeError, 'ERR_INVALID_ARG_TYPE', (name) => `${name} is detached: its memory was transferred to another thread`],
    [RangeError, 'ERR_INVALID_ARG_VALUE', (name, of) => `${name} has the wrong length${of[name] ? `: ${of[name]}` : ''}`],
    [
        RangeError,
        'ERR_INVALID_ARG_VALUE',
        (name) => `${name} lies over another argument: both must be apart, or data and out begin with one byte`,
    ],
    [InvalidTag, 'ERR_INVALID_TAG', () => 'the message is not what was sealed'],
    [RangeError, 'ERR_OUT_OF_RANGE', () => 'the message or its associated data is longer than AES-GCM allows'],
    [Error, 'ERR_NONCES_EXHAUSTED', () => 'the nonces of this key, or the blocks that it may seal, are used up'],
    [Error, 'ERR_DESTROYED', () => 'it has ended, or was destroyed'],
    [Error, 'ERR_NO_RANDOM_BYTES', () => 'the operating system gives no random bytes'],
    [RangeError, 'ERR_INVALID_ARG_VALUE', () => 'a nonce comes twice in the batch'],
    [RangeError, 'ERR_OUT_OF_RANGE', (name) => `${name} must be a whole number from 0 on`],
    [InvalidTag, 'ERR_INVALID_TAG', () => 'the key or the context is not that of this file, or it is no sealed file'],
    [InvalidTag, 'ERR_INVALID_TAG', () => 'the sealed file ends too early'],
    [RangeError, 'ERR_OUT_OF_RANGE', () => 'the range is not within the text'],
    [TypeError, 'ERR_INVALID_ARG_TYPE', (name) => `${name} must be a list of buffers, or one buffer`],
    [Error, 'ERR_MEMORY_ALLOCATION_FAILED', () => 'there is not enough memory'],
    [Error, 'ERR_INTERNAL', () => 'a fault of fastgcm: please report it'],
    [Error, 'ERR_OUT_OF_ORDER', () => 'associated data come before the text, and all before the end'],
    [TypeError, 'ERR_INVALID_ARG_TYPE', () => 'the key is not of the right kind'],
    [Error, 'ERR_BUSY', () => 'a call that is under way uses it'],
    [Error, 'ERR_SYSTEM', () => 'a call of the operating system failed'], // `ofSystem` says more
    [Error, 'EACCES', () => 'EACCES: belongs to another user, in a folder in which others may make files'],
];
const NAMES = [
    '',
    'key',
    'nonce',
    'data',
    'aad',
    'out',
    'tag',
    'fixed',
    'start',
    'used',
    'context',
    'header',
    'first',
    'nonces',
    'datas',
    'aads',
    'path',
    'iv',
    'number',
    'confidentiality',
    'blocks',
    'sealers',
];
/** The lengths that arguments must have, of a class with such keys, nonces and tags. */
function lengths(key, nonce, tag) {
    return {
        key: `${key} bytes`,
        nonce: `${nonce} bytes`,
        out: `as many bytes as the text, and ${tag} more for a tag`,
        tag: `${tag} bytes`,
        fixed: '4 to 11 bytes',
        iv: '12 bytes',
        nonces: `${nonce} bytes for each`,
        datas: 'one message, or one record of equal length, for each nonce',
        aads: 'one for each nonce',
    };
}
/** Of messages in pieces, which a key of AESGCM has begun, and of files. */
const LENGTHS = lengths('16 or 32', 12, 16);

/**
 * Throws what a number of the library says. `what` is what a row is: a message of a batch, or a chunk of a
 * file. `of` are the lengths that arguments must have.
 */
function fail(number, what = 'message', of = LENGTHS) {
    const [Class, code, message] = KINDS[number % 32];
    const row = Math.floor(number / 1024) - 1;
    const text = message(NAMES[Math.floor(number / 32) % 32], of);
    throw made(Class, code, row < 0 ? text : `${what} ${row}: ${text}`, row < 0 ? {} : { row });
}

/** The result of a call that uses files, or its error as Node's own functions for files throw it. */
function ofSystem(result, path) {
    if (typeof result === 'number' && result % 32 === KINDS.length - 2) {
        const number = Math.floor(result / 1024) - 1;
        const [code = 'ERR_SYSTEM'] = Object.entries(constants.errno).find(([, value]) => value === number) ?? [];
        throw made(Error, code, `${code}: ${MEANINGS[code] ?? 'the file did not get its name'}, '${path}'`, { errno: -number, path });
    }
    return done(result);
}
const MEANINGS = { EEXIST: 'file already exists', ENOENT: 'no such file or directory', EISDIR: 'illegal operation on a directory' };

/** Throws what the library says of a text that is too long (`Kind::TooLong`). */
function tooLong() {
    fail(7);
}

function made(Class, code, message, more) {
    return Object.assign(new Class(message), { code }, more);
}

/** The result of a call, unless it is a number that says why there is none. */
function done(result, what, of) {
    if (typeof result === 'number') fail(result, what, of);
    return result;
}

const OF_A_STRING = ". Buffer.from(text) makes a buffer of a string's UTF-8";
const OF_A_KEY =
    ". A key that is written in hex is Buffer.from(text, 'hex'). A password is no key: crypto.scryptSync(password, salt, 32) makes one of it";

/** Throws unless these are bytes that nobody can change, shorten or take away during a call. */
function plain(bytes, name) {
    try {
        // One look is all that most bytes take: of what is no view, shared, or resizable, this is not
        // `false`.
        if (bytes?.buffer?.resizable === false && bytes.byteLength >= 0) return;
    } catch {
        // A proxy is no view, and a DataView of detached memory has no length.
    }
    examined(bytes, name);
}

/** Likewise, of what may be anything. */
function examined(bytes, name) {
    const buffer = ArrayBuffer.isView(bytes) ? bytes.buffer : bytes;
    const kind = Object.prototype.toString.call(buffer);
    if (kind === '[object SharedArrayBuffer]') throw made(TypeError, ...say(2, name));
    if (kind !== '[object ArrayBuffer]') {
        const hint = typeof bytes !== 'string' ? '' : name === 'key' ? OF_A_KEY : OF_A_STRING;
        const [code, message] = say(1, name);
        throw made(TypeError, code, message + hint);
    }
    if (buffer.resizable) throw made(TypeError, 'ERR_INVALID_ARG_TYPE', `${name} must not be resizable: copy it first`);
    try {
        new Uint8Array(buffer);
    } catch {
        throw made(TypeError, ...say(3, name));
    }
}

/** A copy, which nobody else has. */
function copied(bytes, name) {
    examined(bytes, name);
    const [buffer, offset, length] = ArrayBuffer.isView(bytes) ? [bytes.buffer, bytes.byteOffset, bytes.byteLength] : [bytes, 0, undefined];
    try {
        return Buffer.from(new Uint8Array(buffer, offset, length));
    } catch {
        throw made(TypeError, ...say(3, name)); // or it says that it is longer than its memory
    }
}

/** Options of a call: an object with these names and no others, since a name with a slip of the pen would count for nothing. */
function options(given, names) {
    if (given === undefined) return {};
    if (typeof given !== 'object' || given === null || ArrayBuffer.isView(given))
        throw made(TypeError, 'ERR_INVALID_ARG_TYPE', `options must be an object with ${names.join(', ')}`);
    for (const name in given) {
        if (!names.includes(name)) {
            throw made(TypeError, 'ERR_INVALID_ARG_VALUE', `there is no option ${JSON.stringify(name)}: there are ${names.join(', ')}`);
        }
    }
    return given;
}

/** What is either true or false. */
function truth(value, name) {
    if (typeof value !== 'boolean') throw made(TypeError, 'ERR_INVALID_ARG_TYPE', `${name} must be true or false`);
    return value;
}

/** A number that may be given as a BigInt, as `fs.stat` with `bigint` does. What is no number stays what it is. */
function whole(number) {
    return typeof number === 'bigint' ? Number(number) : number;
}

function say(kind, name) {
    const [, code, message] = KINDS[kind];
    return [code, message(name)];
}

module.exports = { InvalidTag, copied, done, examined, fail, lengths, made, ofSystem, options, plain, tooLong, truth, whole };

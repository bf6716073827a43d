/// <reference types="node" />

import { KeyObject } from 'node:crypto';
import { Readable, Transform, TransformOptions } from 'node:stream';

/**
 * Bytes that a call reads: a `Buffer`, any typed array, a `DataView` or an `ArrayBuffer`. Not shared, not
 * resizable.
 */
export type Bytes = NodeJS.ArrayBufferView | ArrayBuffer;

/** Bytes that a call writes. */
export type Target = NodeJS.ArrayBufferView | ArrayBuffer;

/** A secret key: bytes, or a `KeyObject`. */
export type Key = Bytes | KeyObject;

/**
 * What is opened is not what was sealed: another key, nonce or associated data, or something changed. No text
 * comes out.
 */
export class InvalidTag extends Error {
    readonly name: 'InvalidTag';
    readonly code: 'ERR_INVALID_TAG';
    /** Which message of a batch, or which chunk of a file. */
    readonly row?: number;
}

/** What `AESGCM`, `AESGCMSIV`, `XAES256GCM` and `KCXAES256GCM` have. Tags have 16 bytes, those of `KCXAES256GCM` 48. */
declare abstract class Aead {
    protected constructor();

    /**
     * Encrypts `data`. Returns the ciphertext and, behind it, the tag.
     *
     * @param nonce 12 bytes (24 for `XAES256GCM` and `KCXAES256GCM`), **never the same twice with one key**.
     * @param aad What is authenticated and not encrypted. Opening takes the same.
     */
    seal(nonce: Bytes, data: Bytes, aad?: Bytes | null): Buffer;

    /**
     * Decrypts what `seal` has returned.
     *
     * @throws {InvalidTag} if anything is not as it was sealed.
     */
    open(nonce: Bytes, data: Bytes, aad?: Bytes | null): Buffer;

    /**
     * `seal` to `out`, which is longer than `data` by a tag, and is apart from it or begins with the same
     * byte. Returns `out`.
     */
    sealInto<T extends Target>(nonce: Bytes, data: Bytes, out: T, aad?: Bytes | null): T;

    /**
     * `open` to `out`, which is shorter than `data` by a tag, and is apart from it or begins with the same
     * byte. Returns `out`.
     *
     * @throws {InvalidTag} and `out` is all zero.
     */
    openInto<T extends Target>(nonce: Bytes, data: Bytes, out: T, aad?: Bytes | null): T;

    /** Encrypts `data`. Ciphertext and tag stand apart. */
    sealDetached(nonce: Bytes, data: Bytes, aad?: Bytes | null): { ciphertext: Buffer; tag: Buffer };

    /**
     * Decrypts a ciphertext whose tag stands apart.
     *
     * @throws {InvalidTag} if anything is not as it was sealed.
     */
    openDetached(nonce: Bytes, data: Bytes, tag: Bytes, aad?: Bytes | null): Buffer;

    /**
     * `sealDetached` to `out`, as long as `data`, and `tag`, as long as a tag. `out` may be `data`. Returns `out`.
     */
    sealDetachedInto<T extends Target>(nonce: Bytes, data: Bytes, out: T, tag: Target, aad?: Bytes | null): T;

    /**
     * `openDetached` to `out`, as long as `data`, which it may be. Returns `out`.
     *
     * @throws {InvalidTag} and `out` is all zero.
     */
    openDetachedInto<T extends Target>(nonce: Bytes, data: Bytes, tag: Bytes, out: T, aad?: Bytes | null): T;

    /**
     * `seal` in a thread of Node's pool: for messages of megabytes. What is read is copied before the call
     * returns.
     */
    sealAsync(nonce: Bytes, data: Bytes, aad?: Bytes | null): Promise<Buffer>;

    /** `open` in a thread of Node's pool. Rejects with `InvalidTag`. */
    openAsync(nonce: Bytes, data: Bytes, aad?: Bytes | null): Promise<Buffer>;

    /**
     * Encrypts many messages in one call.
     *
     * @param nonces One for each message: a list, or one buffer with one nonce behind the other.
     * @param datas A list of messages; or one buffer of records of equal length, then the result is one
     * buffer too.
     * @param aads A list, or one for all.
     */
    sealBatch(nonces: Bytes | readonly Bytes[], datas: readonly Bytes[], aads?: Bytes | readonly Bytes[] | null): Buffer[];
    sealBatch(nonces: Bytes | readonly Bytes[], datas: Bytes, aads?: Bytes | readonly Bytes[] | null): Buffer;

    /**
     * Decrypts what `sealBatch` has returned.
     *
     * @throws {InvalidTag} if any message is not as it was sealed: `row` says which is the first, and no text
     * comes out.
     */
    openBatch(nonces: Bytes | readonly Bytes[], datas: readonly Bytes[], aads?: Bytes | readonly Bytes[] | null): Buffer[];
    openBatch(nonces: Bytes | readonly Bytes[], datas: Bytes, aads?: Bytes | readonly Bytes[] | null): Buffer;

    /** `sealBatch` to `out`: one sealed message behind the other. Returns `out`. */
    sealBatchInto<T extends Target>(
        nonces: Bytes | readonly Bytes[],
        datas: Bytes | readonly Bytes[],
        out: T,
        aads?: Bytes | readonly Bytes[] | null,
    ): T;

    /**
     * `openBatch` to `out`: one text behind the other. Returns `out`.
     *
     * @throws {InvalidTag} and `out` is all zero.
     */
    openBatchInto<T extends Target>(
        nonces: Bytes | readonly Bytes[],
        datas: Bytes | readonly Bytes[],
        out: T,
        aads?: Bytes | readonly Bytes[] | null,
    ): T;

    /** Wipes the key now, and not when the garbage collector finds it. Calls that are under way end. */
    destroy(): void;
    [Symbol.dispose](): void;
}

/** AES-GCM with a key of 16, 24 or 32 bytes. Nonces have 12 bytes, or any other length but 0. */
export class AESGCM extends Aead {
    #private;
    constructor(key: Key);
    /** A random key. */
    static generateKey(bits?: 128 | 192 | 256): Buffer;
    static readonly nonceLength: 12;
    static readonly tagLength: 16;
}

/**
 * AES-GCM-SIV (RFC 8452) with a key of 16 or 32 bytes: a nonce that comes twice tells only whether two
 * messages are equal.
 */
export class AESGCMSIV extends Aead {
    #private;
    constructor(key: Key);
    /** A random key. */
    static generateKey(bits?: 128 | 256): Buffer;
    static readonly nonceLength: 12;
    static readonly tagLength: 16;
}

/** What `XAES256GCM` and `KCXAES256GCM` have beside that. */
declare abstract class RootKey extends Aead {
    /** A random key. */
    static generateKey(): Buffer;
    static readonly nonceLength: 24;
    /**
     * Encrypts `data` under a random nonce. Returns nonce, ciphertext and tag, one behind the other: 40 bytes
     * more than `data` (72 for `KCXAES256GCM`).
     */
    sealRandom(data: Bytes, aad?: Bytes | null): Buffer;
    /**
     * Decrypts what `sealRandom` has returned.
     *
     * @throws {InvalidTag} if anything is not as it was sealed.
     */
    openRandom(data: Bytes, aad?: Bytes | null): Buffer;
}

/**
 * XAES-256-GCM (C2SP) with a key of 32 bytes: nonces of 24 bytes, which may be random for any number of
 * messages.
 */
export class XAES256GCM extends RootKey {
    #private;
    constructor(key: Key);
    static readonly tagLength: 16;
}

/**
 * KC-XAES-256-GCM (IACR ePrint 2025/758) with a key of 32 bytes: XAES-256-GCM, and a commitment of 32 bytes
 * to the key. Nobody can make a message that opens under two keys, even if they know both. The tag has 48
 * bytes: that of XAES-256-GCM, then the commitment. A key is for one scheme: do not give its bytes to another
 * class.
 */
export class KCXAES256GCM extends RootKey {
    #private;
    constructor(key: Key);
    static readonly tagLength: 48;
}

declare abstract class Nonces {
    protected constructor();
    /**
     * The next nonce, 12 bytes. Throws an error with the code `ERR_NONCES_EXHAUSTED` when they are used up.
     */
    draw(): Buffer;
    /** The next nonces, one behind the other. If there are not as many, all that are left are lost. */
    drawBatch(count: number): Buffer;
}

/**
 * Nonces that count (SP 800-38D, section 8.2.1): `fixed`, 4 to 11 bytes, names who seals, and the rest is a
 * big-endian number. No two that seal may have the same key and the same `fixed`.
 */
export class CounterNonces extends Nonces {
    #private;
    constructor(fixed: Bytes, start?: number | bigint);
    /** The number of the next nonce, or `null` when they are used up. */
    readonly position: bigint | null;
}

/**
 * Random nonces, for at most 2^32 messages under one key, of all that seal with it together (SP 800-38D,
 * section 8.2.2).
 */
export class RandomNonces extends Nonces {
    #private;
    /** @param used How many of them the key has had before. */
    constructor(used?: number | bigint);
    /** How many there were, those before included. */
    readonly used: number;
}

/** A key of AES-GCM that chooses its nonces itself: for tokens, say. */
export class SealingKey {
    #private;
    constructor(key: Key, nonces: CounterNonces | RandomNonces);
    /**
     * Encrypts `data`. Returns nonce, ciphertext and tag, one behind the other: 28 bytes more than `data`.
     */
    seal(data: Bytes, aad?: Bytes | null): Buffer;
    /**
     * Decrypts what `seal` has returned.
     *
     * @throws {InvalidTag} if anything is not as it was sealed.
     */
    open(data: Bytes, aad?: Bytes | null): Buffer;
    /** Wipes the key. */
    destroy(): void;
    [Symbol.dispose](): void;
}

/** Options of Node's streams that may be given: those that are no functions. */
export type StreamOptions = Omit<TransformOptions, 'construct' | 'destroy' | 'final' | 'flush' | 'read' | 'transform' | 'write' | 'writev'>;

export interface SealerOptions extends StreamOptions {
    /** Associated data. */
    aad?: Bytes | null;
    /** Whether the tag comes behind the ciphertext. Otherwise `tag` has it. */
    appendTag?: boolean;
}

/**
 * Encrypts one message of at most 64 GiB: a transform stream, or `update` and `final`. Whoever opens it in
 * pieces has text that nobody has verified; `CobblestoneSealer` has no such gap.
 */
export class Sealer extends Transform {
    constructor(key: AESGCM, nonce: Bytes, options?: SealerOptions);
    /** Takes more associated data, before the first text. */
    updateAad(aad: Bytes): void;
    /** Encrypts the next piece of text. */
    update(data: Bytes): Buffer;
    /** Ends the message. Returns its tag. */
    final(): Buffer;
    /** The tag, once the message has ended. */
    readonly tag: Buffer | null;
}

export interface CobblestoneOptions extends StreamOptions {
    /** What the file is, and where it belongs. It is not stored. Opening takes the same. */
    context?: Bytes;
}

/**
 * Seals a file of any length as Cobblestone-256 (a key of 32 bytes) or -128 (16): a transform stream, or
 * `update` and `final`.
 */
export class CobblestoneSealer extends Transform {
    constructor(key: Key, options?: CobblestoneOptions);
    /** Takes the next bytes of text. Returns what is sealed so far. */
    update(data: Bytes): Buffer;
    /** Ends the file. Returns the rest of it. */
    final(): Buffer;
}

/**
 * Opens what `CobblestoneSealer` has sealed. Text comes out chunk by chunk (16 KiB), each of them verified.
 */
export class CobblestoneOpener extends Transform {
    constructor(key: Key, options?: CobblestoneOptions);
    /**
     * Takes the next bytes of the file. Returns the text of the chunks that are whole.
     *
     * @throws {InvalidTag} if one is not as it was sealed. Then the object takes nothing more.
     */
    update(data: Bytes): Buffer;
    /**
     * Ends the file. Returns the text of its last chunk.
     *
     * @throws {InvalidTag} if the file was cut.
     */
    final(): Buffer;
}

export interface FileOptions {
    /** What the file is, and where it belongs: its name, say. It is not stored. */
    context?: Bytes;
    /** Whether a target that is there is replaced. Otherwise that is an error with the code `EEXIST`. */
    overwrite?: boolean;
    signal?: AbortSignal;
}

/**
 * Seals the file `source` as the Cobblestone file `target`, which appears when it is complete and on the
 * disk.
 */
export function sealFile(key: Key, source: string | URL, target: string | URL, options?: FileOptions): Promise<void>;

/**
 * Opens what `sealFile` has sealed. `target` appears when all of it was verified, and only its owner may read
 * it. Rejects with `InvalidTag`.
 */
export function openFile(key: Key, source: string | URL, target: string | URL, options?: FileOptions): Promise<void>;

/** Where a sealed file is that is not on this machine: an object in a store, say. */
export interface FileSource {
    /** Bytes of the sealed file. */
    readonly size: number;
    /** So many bytes from `offset` on. */
    read(offset: number, length: number): Promise<Bytes> | Bytes;
    close?(): Promise<void> | void;
}

/** Ranges of a sealed file, without opening the rest. */
export class SealedFile {
    private constructor();
    /**
     * Reads the header and verifies the last chunk, and so that nothing was cut off. Rejects with
     * `InvalidTag`.
     *
     * @param source A path, or where else the file is.
     */
    static open(key: Key, source: string | URL | FileSource, options?: { context?: Bytes }): Promise<SealedFile>;
    /** Bytes of text. */
    readonly length: number;
    /** The text from byte `start` up to, and without, byte `end`. Rejects with `InvalidTag`. */
    read(start?: number, end?: number): Promise<Buffer>;
    /** Likewise as a stream. Each piece was verified before it comes. */
    stream(start?: number, end?: number): Readable;
    /** Wipes the key and closes the file. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** What this machine runs: the back end in use, and those that the processor could run, best first. */
export function cpu(): { backend: string; available: string[] };

/** The version of this package. */
export const version: string;

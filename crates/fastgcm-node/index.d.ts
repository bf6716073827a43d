/// <reference types="node" />

import { KeyObject } from 'node:crypto';
import { Readable, Transform, TransformOptions } from 'node:stream';

/**
 * Bytes that a call reads: a `Buffer`, any typed array, a `DataView` or an `ArrayBuffer`. The memory must be
 * neither shared nor resizable.
 */
export type Bytes = NodeJS.ArrayBufferView | ArrayBuffer;

/** Bytes that a call writes. */
export type Target = NodeJS.ArrayBufferView | ArrayBuffer;

/** A secret key: bytes, or a `KeyObject`. */
export type Key = Bytes | KeyObject;

/**
 * The message is not what was sealed: the key, the nonce or the associated data is another one, or something
 * was changed. The call returns no text.
 */
export class InvalidTag extends Error {
    readonly name: 'InvalidTag';
    readonly code: 'ERR_INVALID_TAG';
    /** The number of the message in a batch, or of the chunk in a file. */
    readonly row?: number;
}

/** The methods of `AESGCM`, `AESGCMSIV`, `XAES256GCM` and `KCXAES256GCM`. Tags have 16 bytes, `KCXAES256GCM` 48. */
declare abstract class Aead {
    protected constructor();

    /**
     * Encrypts `data`. Returns the ciphertext with the tag behind it.
     *
     * @param nonce 12 bytes (24 for `XAES256GCM` and `KCXAES256GCM`), **unique for every message under one key**.
     * @param aad Data that is authenticated and not encrypted. Opening needs it again.
     */
    seal(nonce: Bytes, data: Bytes, aad?: Bytes | null): Buffer;

    /**
     * Decrypts a message that `seal` has returned.
     *
     * @throws {InvalidTag} if anything differs from what was sealed.
     */
    open(nonce: Bytes, data: Bytes, aad?: Bytes | null): Buffer;

    /**
     * Does what `seal` does, and writes to `out`, which is one tag longer than `data`. `out` must not overlap
     * `data`, or must begin with its first byte. Returns `out`.
     */
    sealInto<T extends Target>(nonce: Bytes, data: Bytes, out: T, aad?: Bytes | null): T;

    /**
     * Does what `open` does, and writes to `out`, which is one tag shorter than `data`. `out` must not overlap
     * `data`, or must begin with its first byte. Returns `out`.
     *
     * @throws {InvalidTag} as `open` does; `out` is then all zero.
     */
    openInto<T extends Target>(nonce: Bytes, data: Bytes, out: T, aad?: Bytes | null): T;

    /** Encrypts `data`. Returns ciphertext and tag separately. */
    sealDetached(nonce: Bytes, data: Bytes, aad?: Bytes | null): { ciphertext: Buffer; tag: Buffer };

    /**
     * Decrypts a ciphertext whose tag is separate.
     *
     * @throws {InvalidTag} if anything differs from what was sealed.
     */
    openDetached(nonce: Bytes, data: Bytes, tag: Bytes, aad?: Bytes | null): Buffer;

    /**
     * Does what `sealDetached` does, and writes to `out`, which is as long as `data` and may be `data`, and to
     * `tag`, which is as long as a tag. Returns `out`.
     */
    sealDetachedInto<T extends Target>(nonce: Bytes, data: Bytes, out: T, tag: Target, aad?: Bytes | null): T;

    /**
     * Does what `openDetached` does, and writes to `out`, which is as long as `data` and may be `data`.
     * Returns `out`.
     *
     * @throws {InvalidTag} as `openDetached` does; `out` is then all zero.
     */
    openDetachedInto<T extends Target>(nonce: Bytes, data: Bytes, tag: Bytes, out: T, aad?: Bytes | null): T;

    /**
     * Does what `seal` does, in a thread of Node's pool: for messages of megabytes. The inputs are copied
     * before the call returns.
     */
    sealAsync(nonce: Bytes, data: Bytes, aad?: Bytes | null): Promise<Buffer>;

    /** Does what `open` does, in a thread of Node's pool. Rejects with `InvalidTag`. */
    openAsync(nonce: Bytes, data: Bytes, aad?: Bytes | null): Promise<Buffer>;

    /**
     * Encrypts many messages in one call.
     *
     * @param nonces One nonce for each message: a list, or one buffer with one nonce behind the other.
     * @param datas A list of messages, or one buffer of records of equal length. The result of one buffer is
     * also one buffer.
     * @param aads A list, or one value for all messages.
     */
    sealBatch(nonces: Bytes | readonly Bytes[], datas: readonly Bytes[], aads?: Bytes | readonly Bytes[] | null): Buffer[];
    sealBatch(nonces: Bytes | readonly Bytes[], datas: Bytes, aads?: Bytes | readonly Bytes[] | null): Buffer;

    /**
     * Decrypts messages that `sealBatch` has returned.
     *
     * @throws {InvalidTag} if any message differs from what was sealed: `row` is the number of the first such
     * message, and the call returns no text.
     */
    openBatch(nonces: Bytes | readonly Bytes[], datas: readonly Bytes[], aads?: Bytes | readonly Bytes[] | null): Buffer[];
    openBatch(nonces: Bytes | readonly Bytes[], datas: Bytes, aads?: Bytes | readonly Bytes[] | null): Buffer;

    /** Does what `sealBatch` does, and writes one sealed message behind the other to `out`. Returns `out`. */
    sealBatchInto<T extends Target>(
        nonces: Bytes | readonly Bytes[],
        datas: Bytes | readonly Bytes[],
        out: T,
        aads?: Bytes | readonly Bytes[] | null,
    ): T;

    /**
     * Does what `openBatch` does, and writes one text behind the other to `out`. Returns `out`.
     *
     * @throws {InvalidTag} as `openBatch` does; `out` is then all zero.
     */
    openBatchInto<T extends Target>(
        nonces: Bytes | readonly Bytes[],
        datas: Bytes | readonly Bytes[],
        out: T,
        aads?: Bytes | readonly Bytes[] | null,
    ): T;

    /** Wipes the key now, without waiting for the garbage collector. Calls that are under way still end normally. */
    destroy(): void;
    [Symbol.dispose](): void;
}

/** AES-GCM with a key of 16, 24 or 32 bytes. Nonces have 12 bytes, or any other length but 0. */
export class AESGCM extends Aead {
    #private;
    constructor(key: Key);
    /** Returns a random key. */
    static generateKey(bits?: 128 | 192 | 256): Buffer;
    static readonly nonceLength: 12;
    static readonly tagLength: 16;
}

/**
 * AES-GCM-SIV (RFC 8452) with a key of 16 or 32 bytes: a repeated nonce tells only whether two of its messages
 * are equal.
 */
export class AESGCMSIV extends Aead {
    #private;
    constructor(key: Key);
    /** Returns a random key. */
    static generateKey(bits?: 128 | 256): Buffer;
    static readonly nonceLength: 12;
    static readonly tagLength: 16;
}

/** The additional methods of `XAES256GCM` and `KCXAES256GCM`. */
declare abstract class RootKey extends Aead {
    /** Returns a random key. */
    static generateKey(): Buffer;
    static readonly nonceLength: 24;
    /**
     * Encrypts `data` under a random nonce. Returns nonce, ciphertext and tag, one behind the other: 40 bytes
     * more than `data` (72 for `KCXAES256GCM`).
     */
    sealRandom(data: Bytes, aad?: Bytes | null): Buffer;
    /**
     * Decrypts a message that `sealRandom` has returned.
     *
     * @throws {InvalidTag} if anything differs from what was sealed.
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
 * KC-XAES-256-GCM (IACR ePrint 2025/758) with a key of 32 bytes: XAES-256-GCM with a commitment of 32 bytes
 * to the key. Nobody can make a message that opens under two keys, even with both keys at hand. The tag has 48
 * bytes: the tag of XAES-256-GCM, then the commitment. A key is for one scheme: do not use its bytes with
 * another class.
 */
export class KCXAES256GCM extends RootKey {
    #private;
    constructor(key: Key);
    static readonly tagLength: 48;
}

declare abstract class Nonces {
    protected constructor();
    /**
     * Returns the next nonce, 12 bytes. Throws an error with the code `ERR_NONCES_EXHAUSTED` when the nonces are
     * used up.
     */
    draw(): Buffer;
    /** Returns the next nonces, one behind the other. If too few are left, all of these are lost. */
    drawBatch(count: number): Buffer;
}

/**
 * Nonces that count (SP 800-38D, section 8.2.1): `fixed`, 4 to 11 bytes, names the sealer, and the rest is a
 * big-endian number. No two sealers may share a key and a `fixed`.
 */
export class CounterNonces extends Nonces {
    #private;
    constructor(fixed: Bytes, start?: number | bigint);
    /** The number of the next nonce, or `null` when the nonces are used up. */
    readonly position: bigint | null;
}

/**
 * A static IV of 12 bytes XOR a number of 64 bits, which begins at `start`: the nonces of TLS 1.3, QUIC and HPKE.
 */
export class XorNonces extends Nonces {
    #private;
    constructor(iv: Bytes, start?: number | bigint);
    /** Returns the nonce of message `number`, for the opener. */
    static at(iv: Bytes, number: number | bigint): Buffer;
    /** The number of the next message, or `null` when the nonces are used up. */
    readonly position: bigint | null;
}

/**
 * Random nonces, for at most 2^32 messages under one key, counting all sealers together (SP 800-38D, section
 * 8.2.2).
 */
export class RandomNonces extends Nonces {
    #private;
    /** @param used How many random nonces the key has had before. */
    constructor(used?: number | bigint);
    /** The number of nonces so far, including `used` of the constructor. */
    readonly used: number;
}

export interface SealingKeyOptions {
    /**
     * `seal` throws an error with the code `ERR_NONCES_EXHAUSTED` before the blocks of 16 bytes that the key has
     * sealed give an attacker an advantage of more than 2^-`confidentiality`. 32 by default.
     */
    confidentiality?: number | bigint;
    /** The blocks that the key sealed before, in another run of the program. */
    blocks?: number | bigint;
    /** How many seal under the key, this one included: each has an equal share of the blocks. */
    sealers?: number;
}

/** A key of AES-GCM that chooses its nonces itself, for example for tokens, and counts what it seals. */
export class SealingKey {
    #private;
    constructor(key: Key, nonces: CounterNonces | XorNonces | RandomNonces, options?: SealingKeyOptions | null);
    /**
     * Encrypts `data`. Returns nonce, ciphertext and tag, one behind the other: 28 bytes more than `data`.
     */
    seal(data: Bytes, aad?: Bytes | null): Buffer;
    /**
     * Decrypts a message that `seal` has returned.
     *
     * @throws {InvalidTag} if anything differs from what was sealed.
     */
    open(data: Bytes, aad?: Bytes | null): Buffer;
    /** How many blocks the key has sealed, including `blocks` of the constructor. */
    readonly blocksSealed: bigint;
    /** How many blocks are left. */
    readonly blocksLeft: bigint;
    /** Wipes the key. */
    destroy(): void;
    [Symbol.dispose](): void;
}

/** The options of Node's streams that are allowed: all that are not functions. */
export type StreamOptions = Omit<TransformOptions, 'construct' | 'destroy' | 'final' | 'flush' | 'read' | 'transform' | 'write' | 'writev'>;

export interface SealerOptions extends StreamOptions {
    /** Associated data. */
    aad?: Bytes | null;
    /** Whether the tag follows the ciphertext. Otherwise `tag` has it. */
    appendTag?: boolean;
}

/**
 * Encrypts one message of at most 64 GiB, as a transform stream or by `update` and `final`. Opening it in pieces
 * yields text that nobody has verified; `CobblestoneSealer` has no such gap.
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
    /** Says what the file is, and where it belongs. It is not stored. Opening needs it again. */
    context?: Bytes;
}

/**
 * Seals a file of any length as Cobblestone-256 (a key of 32 bytes) or -128 (16 bytes), as a transform stream or
 * by `update` and `final`.
 */
export class CobblestoneSealer extends Transform {
    constructor(key: Key, options?: CobblestoneOptions);
    /** Takes the next bytes of text. Returns the chunks that are now sealed. */
    update(data: Bytes): Buffer;
    /** Ends the file. Returns its rest. */
    final(): Buffer;
}

/**
 * Opens a file that `CobblestoneSealer` has sealed. Text comes out chunk by chunk (16 KiB), each chunk verified.
 */
export class CobblestoneOpener extends Transform {
    constructor(key: Key, options?: CobblestoneOptions);
    /**
     * Takes the next bytes of the file. Returns the text of the whole chunks.
     *
     * @throws {InvalidTag} if a chunk differs from what was sealed. The object then accepts nothing more.
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
    /** Says what the file is, and where it belongs, for example its name. It is not stored. */
    context?: Bytes;
    /** Whether an existing target is replaced. Otherwise it is an error with the code `EEXIST`. */
    overwrite?: boolean;
    signal?: AbortSignal;
}

/**
 * Seals the file `source` as the Cobblestone file `target`, which appears when it is complete and on the
 * disk.
 */
export function sealFile(key: Key, source: string | URL, target: string | URL, options?: FileOptions): Promise<void>;

/**
 * Opens a file that `sealFile` has sealed. `target` appears when all of it was verified, and only its owner may
 * read it. Rejects with `InvalidTag`.
 */
export function openFile(key: Key, source: string | URL, target: string | URL, options?: FileOptions): Promise<void>;

/** The place of a sealed file that is not on this machine, for example an object in a store. */
export interface FileSource {
    /** The length of the sealed file in bytes. */
    readonly size: number | bigint;
    /** Returns `length` bytes from `offset` on. */
    read(offset: number, length: number): Promise<Bytes> | Bytes;
    close?(): Promise<void> | void;
}

/** Reads ranges of a sealed file without opening the rest. */
export class SealedFile {
    private constructor();
    /**
     * Reads the header and verifies the last chunk, which proves that nothing was cut off. Rejects with
     * `InvalidTag`.
     *
     * @param source A path, or another place of the file.
     */
    static open(key: Key, source: string | URL | FileSource, options?: { context?: Bytes }): Promise<SealedFile>;
    /** The length of the text in bytes. */
    readonly length: number;
    /** Returns the text from byte `start` up to, but not including, byte `end`. Rejects with `InvalidTag`. */
    read(start?: number | bigint, end?: number | bigint): Promise<Buffer>;
    /** Returns this text as a stream. Each piece is verified before it comes out. */
    stream(start?: number | bigint, end?: number | bigint): Readable;
    /** Wipes the key and closes the file. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** Returns the back end in use, and all back ends that the processor can run, best first. */
export function cpu(): { backend: string; available: string[] };

/** The version of this package. */
export const version: string;

/// <reference types="node" />

import { Transform } from 'node:stream';
import { AESGCM, Bytes, StreamOptions } from './index.js';

export interface UnverifiedOpenerOptions extends StreamOptions {
    /** Associated data. */
    aad?: Bytes | null;
    /** The tag, if it does not follow the ciphertext. */
    tag?: Bytes | null;
}

/**
 * Decrypts one message of AES-GCM in pieces, and hands out **text that nobody has verified**. The text must have
 * no effect before the stream has ended without an error, or before `verify` has returned.
 */
export class UnverifiedOpener extends Transform {
    constructor(key: AESGCM, nonce: Bytes, options?: UnverifiedOpenerOptions);
    /** Takes more associated data, before the first ciphertext. */
    updateAad(aad: Bytes): void;
    /** Decrypts the next piece, which is not verified. */
    update(data: Bytes): Buffer;
    /**
     * Ends the message.
     *
     * @throws {InvalidTag} if `tag` is not its tag. The caller must then destroy all text.
     */
    verify(tag: Bytes): void;
}

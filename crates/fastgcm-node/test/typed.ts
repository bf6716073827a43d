// What the types say, as `tsc --strict` reads it: each line that is wrong is marked, and each mark must be wanted.

import { createSecretKey } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
    AESGCM,
    AESGCMSIV,
    CobblestoneOpener,
    CobblestoneSealer,
    CounterNonces,
    InvalidTag,
    KCXAES256GCM,
    RandomNonces,
    SealedFile,
    Sealer,
    SealingKey,
    XorNonces,
    XAES256GCM,
    cpu,
    openFile,
    sealFile,
    version,
    type Bytes,
    type FileSource,
} from 'fastgcm';
import { UnverifiedOpener } from 'fastgcm/hazmat';

const bytes = new Uint8Array(12);
export const aead: AESGCM = new AESGCM(AESGCM.generateKey(256));
for (const key of [new Uint8Array(16), new ArrayBuffer(16), new DataView(new ArrayBuffer(16)), Buffer.alloc(16), createSecretKey(bytes)])
    new AESGCM(key);
const sealed: Buffer = aead.seal(bytes, new Uint16Array(4), null);
const opened: Buffer = aead.open(bytes, sealed);
const out: Float32Array = aead.sealInto(bytes, opened, new Float32Array(6));
const both: { ciphertext: Buffer; tag: Buffer } = aead.sealDetached(bytes, opened, bytes);
const many: Buffer[] = aead.sealBatch([bytes], [opened], [bytes]);
const one: Buffer = aead.sealBatch(bytes, opened);
const later: Promise<Buffer> = aead.sealAsync(bytes, opened);
const place: bigint | null = new CounterNonces(bytes, 3n).position;
const used: number = new RandomNonces(3).used;
const token: Buffer = new SealingKey(bytes, new RandomNonces()).seal(bytes);
const blocksLeft: bigint = new SealingKey(bytes, new XorNonces(bytes, 3n), { confidentiality: 60, blocks: 7n, sealers: 2 }).blocksLeft;
const random: Buffer = new XAES256GCM(bytes).sealRandom(bytes, null);
const committing: Buffer = new KCXAES256GCM(KCXAES256GCM.generateKey()).openRandom(bytes);
const room: 48 = KCXAES256GCM.tagLength;
const tag: Buffer | null = new Sealer(aead, bytes, { aad: bytes, appendTag: false, highWaterMark: 1 }).tag;
const names: string[] = cpu().available.concat(version);
const source: FileSource = { size: 3, read: async (offset, length) => new Uint8Array(offset + length) };

export async function files(): Promise<void> {
    await sealFile(bytes, 'a', new URL('file:///b'), { context: bytes, overwrite: true, signal: new AbortController().signal });
    await openFile(bytes, 'a', 'b');
    const file = await SealedFile.open(bytes, source, { context: bytes });
    const text: Buffer = await file.read(0, file.length);
    const stream: Readable = file.stream(1);
    await pipeline(
        stream,
        new CobblestoneSealer(bytes),
        new CobblestoneOpener(bytes, { context: text }),
        new UnverifiedOpener(aead, bytes, { tag }),
        new Writable(),
    );
    await file.close();
}

export function refused(error: unknown): number | undefined {
    if (!(error instanceof InvalidTag)) return undefined;
    const code: 'ERR_INVALID_TAG' = error.code;
    return code.length + (error.row ?? 0);
}

// @ts-expect-error a string is no text
aead.seal(bytes, 'text');
// @ts-expect-error the nonce is missing
aead.seal(bytes);
// @ts-expect-error no such key
new AESGCM('key');
// @ts-expect-error no such length
AESGCMSIV.generateKey(192);
// @ts-expect-error a stream of AES-GCM only
new Sealer(new XAES256GCM(bytes), bytes);
// @ts-expect-error a key of another scheme
export const other: XAES256GCM = new KCXAES256GCM(bytes);
// @ts-expect-error nonces are not optional
new SealingKey(bytes);
// @ts-expect-error `open` makes one
new SealedFile();
// @ts-expect-error a list of texts makes a list
export const wrong: Buffer = aead.sealBatch([bytes], [opened]);
// @ts-expect-error the way is not known before
new RandomNonces().used = 3;

export const all: Bytes[] = [out, both.tag, ...many, one, token, random, committing, bytes];
export { blocksLeft, later, names, place, room, used };

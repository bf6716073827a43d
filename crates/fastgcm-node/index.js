'use strict';

const { AESGCM, AESGCMSIV, KCXAES256GCM, XAES256GCM } = require('./lib/aead.js');
const { InvalidTag } = require('./lib/errors.js');
const { SealedFile, openFile, sealFile } = require('./lib/files.js');
const native = require('./lib/native.js');
const { CounterNonces, RandomNonces, SealingKey, XorNonces } = require('./lib/nonces.js');
const { CobblestoneOpener, CobblestoneSealer, Sealer } = require('./lib/streams.js');
const { version } = require('./lib/version.js');

function cpu() {
    const [backend, ...available] = native.cpu().split(' ');
    return { backend, available };
}

module.exports = {
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
    XAES256GCM,
    XorNonces,
    cpu,
    openFile,
    sealFile,
    version,
};
